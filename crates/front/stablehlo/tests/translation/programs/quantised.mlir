// The sum of what the integers stand for, quantised again; a transposition moves the integers.
func.func @main(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5:-3>>
  %1 = stablehlo.add %0, %0 : (tensor<2x3x!quant.uniform<i8:f32, 0.5:-3>>, tensor<2x3x!quant.uniform<i8:f32, 0.5:-3>>) -> tensor<2x3x!quant.uniform<i8:f32, 1.0:0>>
  %2 = stablehlo.uniform_dequantize %1 : (tensor<2x3x!quant.uniform<i8:f32, 1.0:0>>) -> tensor<2x3xf32>
  %3 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32, 0.5:-3>>) -> tensor<3x2x!quant.uniform<i8:f32, 0.5:-3>>
  %4 = stablehlo.uniform_dequantize %3 : (tensor<3x2x!quant.uniform<i8:f32, 0.5:-3>>) -> tensor<3x2xf32>
  return %2, %4 : tensor<2x3xf32>, tensor<3x2xf32>
}
