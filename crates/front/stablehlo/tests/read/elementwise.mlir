// Short types: one for all, a list, a signature.
func.func @f(%a: tensor<4xf32>, %b: tensor<4xi1>, %c: tensor<4xcomplex<f32>>, %i: tensor<4xi32>) {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  %1 = stablehlo.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.not %b : tensor<4xi1>
  %3 = stablehlo.select %b, %a, %0 : tensor<4xi1>, tensor<4xf32>
  %4 = stablehlo.select %b, %a, %0 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = stablehlo.clamp %a, %0, %1 : tensor<4xf32>
  %6 = stablehlo.complex %a, %0 : tensor<4xcomplex<f32>>
  %7 = stablehlo.complex %a, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
  %8 = stablehlo.real %c : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %9 = stablehlo.is_finite %a : (tensor<4xf32>) -> tensor<4xi1>
  %10 = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xbf16>
  %11 = stablehlo.compare LT, %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %12 = stablehlo.compare NE, %a, %a, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %13 = stablehlo.reduce_precision %a, format = e5m10 : tensor<4xf32>
  %14:2 = stablehlo.optimization_barrier %a, %b : tensor<4xf32>, tensor<4xi1>
  %15 = stablehlo.tanh %a {note = "x"} : tensor<4xf32>
  %16 = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4xi32>
  return
}
