func.func @main(%a: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
