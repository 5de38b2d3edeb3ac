func.func @f(%a: tensor<2xf32>) {
  %0 = stablehlo.abs %a : tensor<2xf32>
  %0 = stablehlo.abs %a : tensor<2xf32>
  return
}
