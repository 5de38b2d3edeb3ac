// Five layers: normalisation, a dense layer, an activation, a residual.
func.func @main(%x: tensor<32x64xf32>, %w0: tensor<64x64xf32>, %b0: tensor<64xf32>, %w1: tensor<64x64xf32>, %b1: tensor<64xf32>, %w2: tensor<64x64xf32>, %b2: tensor<64xf32>, %w3: tensor<64x64xf32>, %b3: tensor<64xf32>, %w4: tensor<64x64xf32>, %b4: tensor<64xf32>) -> tensor<32x64xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.constant dense<64.0> : tensor<32xf32>
  %2 = stablehlo.constant dense<1.0e-5> : tensor<32xf32>
  %3 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %4 = stablehlo.divide %3, %1 : tensor<32xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %6 = stablehlo.subtract %x, %5 : tensor<32x64xf32>
  %7 = stablehlo.multiply %6, %6 : tensor<32x64xf32>
  %8 = stablehlo.reduce(%7 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %9 = stablehlo.divide %8, %1 : tensor<32xf32>
  %10 = stablehlo.add %9, %2 : tensor<32xf32>
  %11 = stablehlo.rsqrt %10 : tensor<32xf32>
  %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %13 = stablehlo.multiply %6, %12 : tensor<32x64xf32>
  %14 = stablehlo.dot_general %13, %w0, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  %15 = stablehlo.broadcast_in_dim %b0, dims = [1] : (tensor<64xf32>) -> tensor<32x64xf32>
  %16 = stablehlo.add %14, %15 : tensor<32x64xf32>
  %17 = stablehlo.tanh %16 : tensor<32x64xf32>
  %18 = stablehlo.reduce(%17 init: %0) applies stablehlo.maximum across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %19 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %20 = stablehlo.subtract %17, %19 : tensor<32x64xf32>
  %21 = stablehlo.exponential %20 : tensor<32x64xf32>
  %22 = stablehlo.add %x, %21 : tensor<32x64xf32>
  %23 = stablehlo.reduce(%22 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %24 = stablehlo.divide %23, %1 : tensor<32xf32>
  %25 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %26 = stablehlo.subtract %22, %25 : tensor<32x64xf32>
  %27 = stablehlo.multiply %26, %26 : tensor<32x64xf32>
  %28 = stablehlo.reduce(%27 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %29 = stablehlo.divide %28, %1 : tensor<32xf32>
  %30 = stablehlo.add %29, %2 : tensor<32xf32>
  %31 = stablehlo.rsqrt %30 : tensor<32xf32>
  %32 = stablehlo.broadcast_in_dim %31, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %33 = stablehlo.multiply %26, %32 : tensor<32x64xf32>
  %34 = stablehlo.dot_general %33, %w1, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  %35 = stablehlo.broadcast_in_dim %b1, dims = [1] : (tensor<64xf32>) -> tensor<32x64xf32>
  %36 = stablehlo.add %34, %35 : tensor<32x64xf32>
  %37 = stablehlo.tanh %36 : tensor<32x64xf32>
  %38 = stablehlo.reduce(%37 init: %0) applies stablehlo.maximum across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %39 = stablehlo.broadcast_in_dim %38, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %40 = stablehlo.subtract %37, %39 : tensor<32x64xf32>
  %41 = stablehlo.exponential %40 : tensor<32x64xf32>
  %42 = stablehlo.add %22, %41 : tensor<32x64xf32>
  %43 = stablehlo.reduce(%42 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %44 = stablehlo.divide %43, %1 : tensor<32xf32>
  %45 = stablehlo.broadcast_in_dim %44, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %46 = stablehlo.subtract %42, %45 : tensor<32x64xf32>
  %47 = stablehlo.multiply %46, %46 : tensor<32x64xf32>
  %48 = stablehlo.reduce(%47 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %49 = stablehlo.divide %48, %1 : tensor<32xf32>
  %50 = stablehlo.add %49, %2 : tensor<32xf32>
  %51 = stablehlo.rsqrt %50 : tensor<32xf32>
  %52 = stablehlo.broadcast_in_dim %51, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %53 = stablehlo.multiply %46, %52 : tensor<32x64xf32>
  %54 = stablehlo.dot_general %53, %w2, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  %55 = stablehlo.broadcast_in_dim %b2, dims = [1] : (tensor<64xf32>) -> tensor<32x64xf32>
  %56 = stablehlo.add %54, %55 : tensor<32x64xf32>
  %57 = stablehlo.tanh %56 : tensor<32x64xf32>
  %58 = stablehlo.reduce(%57 init: %0) applies stablehlo.maximum across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %59 = stablehlo.broadcast_in_dim %58, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %60 = stablehlo.subtract %57, %59 : tensor<32x64xf32>
  %61 = stablehlo.exponential %60 : tensor<32x64xf32>
  %62 = stablehlo.add %42, %61 : tensor<32x64xf32>
  %63 = stablehlo.reduce(%62 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %64 = stablehlo.divide %63, %1 : tensor<32xf32>
  %65 = stablehlo.broadcast_in_dim %64, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %66 = stablehlo.subtract %62, %65 : tensor<32x64xf32>
  %67 = stablehlo.multiply %66, %66 : tensor<32x64xf32>
  %68 = stablehlo.reduce(%67 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %69 = stablehlo.divide %68, %1 : tensor<32xf32>
  %70 = stablehlo.add %69, %2 : tensor<32xf32>
  %71 = stablehlo.rsqrt %70 : tensor<32xf32>
  %72 = stablehlo.broadcast_in_dim %71, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %73 = stablehlo.multiply %66, %72 : tensor<32x64xf32>
  %74 = stablehlo.dot_general %73, %w3, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  %75 = stablehlo.broadcast_in_dim %b3, dims = [1] : (tensor<64xf32>) -> tensor<32x64xf32>
  %76 = stablehlo.add %74, %75 : tensor<32x64xf32>
  %77 = stablehlo.tanh %76 : tensor<32x64xf32>
  %78 = stablehlo.reduce(%77 init: %0) applies stablehlo.maximum across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %79 = stablehlo.broadcast_in_dim %78, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %80 = stablehlo.subtract %77, %79 : tensor<32x64xf32>
  %81 = stablehlo.exponential %80 : tensor<32x64xf32>
  %82 = stablehlo.add %62, %81 : tensor<32x64xf32>
  %83 = stablehlo.reduce(%82 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %84 = stablehlo.divide %83, %1 : tensor<32xf32>
  %85 = stablehlo.broadcast_in_dim %84, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %86 = stablehlo.subtract %82, %85 : tensor<32x64xf32>
  %87 = stablehlo.multiply %86, %86 : tensor<32x64xf32>
  %88 = stablehlo.reduce(%87 init: %0) applies stablehlo.add across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %89 = stablehlo.divide %88, %1 : tensor<32xf32>
  %90 = stablehlo.add %89, %2 : tensor<32xf32>
  %91 = stablehlo.rsqrt %90 : tensor<32xf32>
  %92 = stablehlo.broadcast_in_dim %91, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %93 = stablehlo.multiply %86, %92 : tensor<32x64xf32>
  %94 = stablehlo.dot_general %93, %w4, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>
  %95 = stablehlo.broadcast_in_dim %b4, dims = [1] : (tensor<64xf32>) -> tensor<32x64xf32>
  %96 = stablehlo.add %94, %95 : tensor<32x64xf32>
  %97 = stablehlo.tanh %96 : tensor<32x64xf32>
  %98 = stablehlo.reduce(%97 init: %0) applies stablehlo.maximum across dimensions = [1] : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
  %99 = stablehlo.broadcast_in_dim %98, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %100 = stablehlo.subtract %97, %99 : tensor<32x64xf32>
  %101 = stablehlo.exponential %100 : tensor<32x64xf32>
  %102 = stablehlo.add %82, %101 : tensor<32x64xf32>
  return %102 : tensor<32x64xf32>
}
