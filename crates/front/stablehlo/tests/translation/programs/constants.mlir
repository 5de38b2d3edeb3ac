// Constants of one value are computed where they are used, others are kept.
func.func @main() -> (tensor<4xf32>, tensor<3xi32>, tensor<2xui4>, tensor<1000xf32>) {
  %0 = stablehlo.constant dense<2.5> : tensor<4xf32>
  %1 = stablehlo.constant dense<[1, -2, 3]> : tensor<3xi32>
  %2 = stablehlo.constant dense<[15, 1]> : tensor<2xui4>
  %3 = stablehlo.iota dim = 0 : tensor<1000xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<3xi32>, tensor<2xui4>, tensor<1000xf32>
}
