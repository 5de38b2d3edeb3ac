// Regions and dimension numbers.
func.func @f(%a: tensor<2x3xf32>, %z: tensor<f32>, %x: tensor<1x8x8x4xf32>, %k: tensor<3x3x4x6xf32>, %u: tensor<2xui64>, %c: tensor<4xcomplex<f32>>, %n: tensor<3xi64>) {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
  %1:2 = stablehlo.reduce(%a init: %z), (%a init: %z) across dimensions = [1] {note} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
   reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<f32>, %s: tensor<f32>) {
    %m = stablehlo.add %p, %q : tensor<f32>
    %n2 = stablehlo.multiply %r, %s : tensor<f32>
    stablehlo.return %m, %n2 : tensor<f32>, tensor<f32>
  }
  %2 = stablehlo.while(%v = %z) : tensor<f32> attributes {trip = 3 : i64}
   cond {
    %t = stablehlo.compare LT, %v, %0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %t = stablehlo.add %v, %v : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }
  %3 = stablehlo.dot %a, %5 : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %4 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1], precision = [DEFAULT, HIGH], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %5 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %6 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, f, 1, 0], window = {stride = [2, 1], pad = [[1, 1], [0, 0]], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x6x6x4xf32>
  %7 = stablehlo.fft %c, type = IFFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %8:2 = stablehlo.rng_bit_generator %u, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  %9 = stablehlo.rng %z, %z, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<3xi64>) -> tensor<1x2x3xf32>
  %10 = stablehlo.cholesky %3, lower = true : tensor<2x2xf32>
  %11:2 = stablehlo.custom_call @target(%a, %z) {api_version = 4 : i32, backend_config = {n = 1 : i64}} : (tensor<2x3xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<i32>)
  %12 = stablehlo.composite "a.b" %a {decomposition = @g, version = 2 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
func.func private @g(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  return %a : tensor<2x3xf32>
}
