func.func @f() {
  %0 = stablehlo.constant dense<0> : tensor<?xi32>
  return
}
