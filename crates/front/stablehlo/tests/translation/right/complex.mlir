func.func @the_sign_of_nan_is_nan() {
  %0 = stablehlo.constant dense<[(0x7FF8000000000000, 0.0), (0.0, 0x7FF8000000000000), (0.0, 0.0), (3.0, -4.0)]> : tensor<4xcomplex<f64>>
  %1 = stablehlo.sign %0 : tensor<4xcomplex<f64>>
  check.expect_almost_eq_const %1, dense<[(0x7FF8000000000000, 0x7FF8000000000000), (0x7FF8000000000000, 0x7FF8000000000000), (0.0, 0.0), (0.6, -0.8)]> : tensor<4xcomplex<f64>>
  return
}
