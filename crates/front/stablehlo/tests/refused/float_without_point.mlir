func.func @f() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xf32>
  return
}
