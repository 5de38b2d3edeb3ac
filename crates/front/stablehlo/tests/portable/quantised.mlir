func.func @main(%a: tensor<4x!quant.uniform<u8:f32, 0.5:200>>, %b: tensor<2x4x!quant.uniform<i8<-127:127>:f32:1, {0.5, 0.25:3, 0.125, 1.0:-4}>>) -> (tensor<4xf32>, tensor<2x4xf32>) {
  %0 = stablehlo.uniform_dequantize %a : (tensor<4x!quant.uniform<u8:f32, 0.5:200>>) -> tensor<4xf32>
  %1 = stablehlo.uniform_dequantize %b : (tensor<2x4x!quant.uniform<i8<-127:127>:f32:1, {0.5, 0.25:3, 0.125, 1.0:-4}>>) -> tensor<2x4xf32>
  return %0, %1 : tensor<4xf32>, tensor<2x4xf32>
}
