// Singular values and vectors of matrices with many columns.
// Sweeps from the beginning take more work than a test may have.
func.func @vectors_of_many_columns() {
  %row = stablehlo.iota dim = 0 : tensor<44x36xf64>
  %column = stablehlo.iota dim = 1 : tensor<44x36xf64>
  %product_of_indices = stablehlo.multiply %row, %column : tensor<44x36xf64>
  %angle = stablehlo.add %product_of_indices, %row : tensor<44x36xf64>
  %a = stablehlo.sine %angle : tensor<44x36xf64>
  %r:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}} : (tensor<44x36xf64>) -> (tensor<44x36xf64>, tensor<36xf64>, tensor<44x36xf64>, tensor<36x36xf64>, tensor<i32>)
  check.expect_eq_const %r#4, dense<0> : tensor<i32>
  %values = stablehlo.broadcast_in_dim %r#1, dims = [1] : (tensor<36xf64>) -> tensor<44x36xf64>
  %scaled = stablehlo.multiply %r#2, %values : tensor<44x36xf64>
  %product = stablehlo.dot %scaled, %r#3 : (tensor<44x36xf64>, tensor<36x36xf64>) -> tensor<44x36xf64>
  check.expect_almost_eq %product, %a {tolerance = 1.0e-12 : f64} : tensor<44x36xf64>
  %i = stablehlo.iota dim = 0 : tensor<36x36xf64>
  %j = stablehlo.iota dim = 1 : tensor<36x36xf64>
  %own = stablehlo.compare EQ, %i, %j : (tensor<36x36xf64>, tensor<36x36xf64>) -> tensor<36x36xi1>
  %one = stablehlo.constant dense<1.0> : tensor<36x36xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<36x36xf64>
  %unit = stablehlo.select %own, %one, %zero : tensor<36x36xi1>, tensor<36x36xf64>
  %left = stablehlo.dot_general %r#2, %r#2, contracting_dims = [0] x [0] : (tensor<44x36xf64>, tensor<44x36xf64>) -> tensor<36x36xf64>
  check.expect_almost_eq %left, %unit {tolerance = 1.0e-12 : f64} : tensor<36x36xf64>
  %right = stablehlo.dot_general %r#3, %r#3, contracting_dims = [1] x [1] : (tensor<36x36xf64>, tensor<36x36xf64>) -> tensor<36x36xf64>
  check.expect_almost_eq %right, %unit {tolerance = 1.0e-12 : f64} : tensor<36x36xf64>
  return
}

// D. Hilbert's matrix: most values are below the rounding of the largest.
func.func @vectors_of_small_values() {
  %row = stablehlo.iota dim = 0 : tensor<18x24xf64>
  %column = stablehlo.iota dim = 1 : tensor<18x24xf64>
  %sum = stablehlo.add %row, %column : tensor<18x24xf64>
  %first = stablehlo.constant dense<1.0> : tensor<18x24xf64>
  %below = stablehlo.add %sum, %first : tensor<18x24xf64>
  %a = stablehlo.divide %first, %below : tensor<18x24xf64>
  %r:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}} : (tensor<18x24xf64>) -> (tensor<18x24xf64>, tensor<18xf64>, tensor<18x18xf64>, tensor<18x24xf64>, tensor<i32>)
  check.expect_eq_const %r#4, dense<0> : tensor<i32>
  %values = stablehlo.broadcast_in_dim %r#1, dims = [1] : (tensor<18xf64>) -> tensor<18x18xf64>
  %scaled = stablehlo.multiply %r#2, %values : tensor<18x18xf64>
  %product = stablehlo.dot %scaled, %r#3 : (tensor<18x18xf64>, tensor<18x24xf64>) -> tensor<18x24xf64>
  check.expect_almost_eq %product, %a {tolerance = 1.0e-13 : f64} : tensor<18x24xf64>
  %i = stablehlo.iota dim = 0 : tensor<18x18xf64>
  %j = stablehlo.iota dim = 1 : tensor<18x18xf64>
  %own = stablehlo.compare EQ, %i, %j : (tensor<18x18xf64>, tensor<18x18xf64>) -> tensor<18x18xi1>
  %one = stablehlo.constant dense<1.0> : tensor<18x18xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<18x18xf64>
  %unit = stablehlo.select %own, %one, %zero : tensor<18x18xi1>, tensor<18x18xf64>
  %left = stablehlo.dot_general %r#2, %r#2, contracting_dims = [0] x [0] : (tensor<18x18xf64>, tensor<18x18xf64>) -> tensor<18x18xf64>
  check.expect_almost_eq %left, %unit {tolerance = 1.0e-13 : f64} : tensor<18x18xf64>
  %right = stablehlo.dot_general %r#3, %r#3, contracting_dims = [1] x [1] : (tensor<18x24xf64>, tensor<18x24xf64>) -> tensor<18x18xf64>
  check.expect_almost_eq %right, %unit {tolerance = 1.0e-13 : f64} : tensor<18x18xf64>
  return
}

// The first matrix has infinities, the second one is zero.
func.func @values_of_what_is_not_finite() {
  %number = stablehlo.iota dim = 0 : tensor<2x18x20xf64>
  %infinity = stablehlo.constant dense<0x7FF0000000000000> : tensor<2x18x20xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<2x18x20xf64>
  %is_first = stablehlo.compare EQ, %number, %zero : (tensor<2x18x20xf64>, tensor<2x18x20xf64>) -> tensor<2x18x20xi1>
  %a = stablehlo.select %is_first, %infinity, %zero : tensor<2x18x20xi1>, tensor<2x18x20xf64>
  %r:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}} : (tensor<2x18x20xf64>) -> (tensor<2x18x20xf64>, tensor<2x18xf64>, tensor<2x18x18xf64>, tensor<2x18x20xf64>, tensor<2xi32>)
  check.expect_eq_const %r#4, dense<[-4, 0]> : tensor<2xi32>
  %second = stablehlo.slice %r#1 [1:2, 0:18] : (tensor<2x18xf64>) -> tensor<1x18xf64>
  check.expect_eq_const %second, dense<0.0> : tensor<1x18xf64>
  return
}
