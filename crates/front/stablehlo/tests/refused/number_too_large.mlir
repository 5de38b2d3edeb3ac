func.func @f() {
  %0 = stablehlo.constant dense<[1, 256]> : tensor<2xi8>
  return
}
