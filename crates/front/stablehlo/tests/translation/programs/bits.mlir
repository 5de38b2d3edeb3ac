// Bits of random numbers, taken apart and put together.
func.func @main(%s: tensor<2xui64>, %a: tensor<4xf32>) -> (tensor<2xui64>, tensor<6xui32>, tensor<4x2xi16>, tensor<2xf64>) {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<6xui32>)
  %2 = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4x2xi16>
  %3 = stablehlo.reshape %a : (tensor<4xf32>) -> tensor<2x2xf32>
  %4 = stablehlo.bitcast_convert %3 : (tensor<2x2xf32>) -> tensor<2xf64>
  return %0, %1, %2, %4 : tensor<2xui64>, tensor<6xui32>, tensor<4x2xi16>, tensor<2xf64>
}
