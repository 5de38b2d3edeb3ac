// The format has neither sign nor zero; what is in the middle goes up.
func.func @powers_of_two_are_positive() {
  %0 = stablehlo.constant dense<[1.0, 1.4, 1.5, 3.0, -1.0, 0.0, -0.0]> : tensor<7xf32>
  %1 = stablehlo.convert %0 : (tensor<7xf32>) -> tensor<7xf8E8M0FNU>
  %2 = stablehlo.bitcast_convert %1 : (tensor<7xf8E8M0FNU>) -> tensor<7xui8>
  check.expect_eq_const %2, dense<[127, 127, 128, 129, 255, 255, 255]> : tensor<7xui8>
  return
}
