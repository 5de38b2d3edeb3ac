func.func @the_sign_of_nan_is_nan() {
  %0 = stablehlo.constant dense<[(0x7FF8000000000000, 0.0), (0.0, 0x7FF8000000000000), (0.0, 0.0), (3.0, -4.0)]> : tensor<4xcomplex<f64>>
  %1 = stablehlo.sign %0 : tensor<4xcomplex<f64>>
  check.expect_almost_eq_const %1, dense<[(0x7FF8000000000000, 0x7FF8000000000000), (0x7FF8000000000000, 0x7FF8000000000000), (0.0, 0.0), (0.6, -0.8)]> : tensor<4xcomplex<f64>>
  return
}

// Real numbers have real results, also where these are infinite.
func.func @exponential_of_large_numbers() {
  %0 = stablehlo.constant dense<[(1.0e9, 0.0), (-1.0e9, 0.0), (0x7FF0000000000000, 0.0)]> : tensor<3xcomplex<f64>>
  %1 = stablehlo.exponential_minus_one %0 : tensor<3xcomplex<f64>>
  check.expect_almost_eq_const %1, dense<[(0x7FF0000000000000, 0.0), (-1.0, 0.0), (0x7FF0000000000000, 0.0)]> : tensor<3xcomplex<f64>>
  return
}

func.func @hyperbolic_tangent_of_infinities() {
  %0 = stablehlo.constant dense<[(0x7FF0000000000000, 0x7FF0000000000000), (0xFFF0000000000000, 2.0), (1.0e9, 0x7FF0000000000000), (1.0e9, 2.0)]> : tensor<4xcomplex<f64>>
  %1 = stablehlo.tanh %0 : tensor<4xcomplex<f64>>
  check.expect_almost_eq_const %1, dense<[(1.0, 0.0), (-1.0, 0.0), (0x7FF8000000000000, 0x7FF8000000000000), (1.0, 0.0)]> : tensor<4xcomplex<f64>>
  return
}
