// Eigenvalues and vectors of Hermitian matrices by tridiagonal forms.
// Rotations for all pairs of indices take more work than a test may have.
func.func @eigenvectors_of_many_rows() {
  %i = stablehlo.iota dim = 0 : tensor<40x40xf64>
  %j = stablehlo.iota dim = 1 : tensor<40x40xf64>
  %one = stablehlo.constant dense<1.0> : tensor<40x40xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<40x40xf64>
  %own = stablehlo.compare EQ, %i, %j : (tensor<40x40xf64>, tensor<40x40xf64>) -> tensor<40x40xi1>
  %identity = stablehlo.select %own, %one, %zero : tensor<40x40xi1>, tensor<40x40xf64>
  %product_of_indices = stablehlo.multiply %i, %j : tensor<40x40xf64>
  %sum_of_indices = stablehlo.add %i, %j : tensor<40x40xf64>
  %angle = stablehlo.add %product_of_indices, %sum_of_indices : tensor<40x40xf64>
  %whole = stablehlo.sine %angle : tensor<40x40xf64>
  %is_read = stablehlo.compare GE, %i, %j : (tensor<40x40xf64>, tensor<40x40xf64>) -> tensor<40x40xi1>
  %a = stablehlo.select %is_read, %whole, %i : tensor<40x40xi1>, tensor<40x40xf64>
  %unit = stablehlo.add %identity, %zero : tensor<40x40xf64>
  %r:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<40x40xf64>) -> (tensor<40x40xf64>, tensor<40xf64>, tensor<i32>)
  check.expect_eq_const %r#2, dense<0> : tensor<i32>
  %low = stablehlo.slice %r#1 [0:39] : (tensor<40xf64>) -> tensor<39xf64>
  %high = stablehlo.slice %r#1 [1:40] : (tensor<40xf64>) -> tensor<39xf64>
  %order = stablehlo.compare LE, %low, %high : (tensor<39xf64>, tensor<39xf64>) -> tensor<39xi1>
  check.expect_eq_const %order, dense<true> : tensor<39xi1>
  %factors = stablehlo.broadcast_in_dim %r#1, dims = [1] : (tensor<40xf64>) -> tensor<40x40xf64>
  %scaled = stablehlo.multiply %r#0, %factors : tensor<40x40xf64>
  %product = stablehlo.dot_general %scaled, %r#0, contracting_dims = [1] x [1] : (tensor<40x40xf64>, tensor<40x40xf64>) -> tensor<40x40xf64>
  check.expect_almost_eq %product, %whole {tolerance = 1.0e-12 : f64} : tensor<40x40xf64>
  %square = stablehlo.dot_general %r#0, %r#0, contracting_dims = [1] x [1] : (tensor<40x40xf64>, tensor<40x40xf64>) -> tensor<40x40xf64>
  check.expect_almost_eq %square, %unit {tolerance = 1.0e-12 : f64} : tensor<40x40xf64>
  return
}

// All eigenvalues but one are 1.
func.func @eigenvectors_of_equal_eigenvalues() {
  %i = stablehlo.iota dim = 0 : tensor<24x24xf64>
  %j = stablehlo.iota dim = 1 : tensor<24x24xf64>
  %one = stablehlo.constant dense<1.0> : tensor<24x24xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<24x24xf64>
  %own = stablehlo.compare EQ, %i, %j : (tensor<24x24xf64>, tensor<24x24xf64>) -> tensor<24x24xi1>
  %identity = stablehlo.select %own, %one, %zero : tensor<24x24xi1>, tensor<24x24xf64>
  %ones = stablehlo.add %one, %zero : tensor<24x24xf64>
  %whole = stablehlo.add %ones, %identity : tensor<24x24xf64>
  %a = stablehlo.add %whole, %zero : tensor<24x24xf64>
  %unit = stablehlo.add %identity, %zero : tensor<24x24xf64>
  %r:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<24x24xf64>) -> (tensor<24x24xf64>, tensor<24xf64>, tensor<i32>)
  check.expect_eq_const %r#2, dense<0> : tensor<i32>
  %low = stablehlo.slice %r#1 [0:23] : (tensor<24xf64>) -> tensor<23xf64>
  %high = stablehlo.slice %r#1 [1:24] : (tensor<24xf64>) -> tensor<23xf64>
  %order = stablehlo.compare LE, %low, %high : (tensor<23xf64>, tensor<23xf64>) -> tensor<23xi1>
  check.expect_eq_const %order, dense<true> : tensor<23xi1>
  %factors = stablehlo.broadcast_in_dim %r#1, dims = [1] : (tensor<24xf64>) -> tensor<24x24xf64>
  %scaled = stablehlo.multiply %r#0, %factors : tensor<24x24xf64>
  %product = stablehlo.dot_general %scaled, %r#0, contracting_dims = [1] x [1] : (tensor<24x24xf64>, tensor<24x24xf64>) -> tensor<24x24xf64>
  check.expect_almost_eq %product, %whole {tolerance = 1.0e-13 : f64} : tensor<24x24xf64>
  %square = stablehlo.dot_general %r#0, %r#0, contracting_dims = [1] x [1] : (tensor<24x24xf64>, tensor<24x24xf64>) -> tensor<24x24xf64>
  check.expect_almost_eq %square, %unit {tolerance = 1.0e-13 : f64} : tensor<24x24xf64>
  return
}

// Pairs of eigenvalues of J. H. Wilkinson's matrix are almost equal.
func.func @eigenvectors_of_close_eigenvalues() {
  %i = stablehlo.iota dim = 0 : tensor<24x24xf64>
  %j = stablehlo.iota dim = 1 : tensor<24x24xf64>
  %one = stablehlo.constant dense<1.0> : tensor<24x24xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<24x24xf64>
  %own = stablehlo.compare EQ, %i, %j : (tensor<24x24xf64>, tensor<24x24xf64>) -> tensor<24x24xi1>
  %identity = stablehlo.select %own, %one, %zero : tensor<24x24xi1>, tensor<24x24xf64>
  %difference = stablehlo.subtract %i, %j : tensor<24x24xf64>
  %distance = stablehlo.abs %difference : tensor<24x24xf64>
  %is_beside = stablehlo.compare EQ, %distance, %one : (tensor<24x24xf64>, tensor<24x24xf64>) -> tensor<24x24xi1>
  %middle = stablehlo.constant dense<11.5> : tensor<24x24xf64>
  %offset = stablehlo.subtract %i, %middle : tensor<24x24xf64>
  %size = stablehlo.abs %offset : tensor<24x24xf64>
  %band = stablehlo.select %is_beside, %one, %zero : tensor<24x24xi1>, tensor<24x24xf64>
  %whole = stablehlo.select %own, %size, %band : tensor<24x24xi1>, tensor<24x24xf64>
  %a = stablehlo.add %whole, %zero : tensor<24x24xf64>
  %unit = stablehlo.add %identity, %zero : tensor<24x24xf64>
  %r:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<24x24xf64>) -> (tensor<24x24xf64>, tensor<24xf64>, tensor<i32>)
  check.expect_eq_const %r#2, dense<0> : tensor<i32>
  %low = stablehlo.slice %r#1 [0:23] : (tensor<24xf64>) -> tensor<23xf64>
  %high = stablehlo.slice %r#1 [1:24] : (tensor<24xf64>) -> tensor<23xf64>
  %order = stablehlo.compare LE, %low, %high : (tensor<23xf64>, tensor<23xf64>) -> tensor<23xi1>
  check.expect_eq_const %order, dense<true> : tensor<23xi1>
  %factors = stablehlo.broadcast_in_dim %r#1, dims = [1] : (tensor<24xf64>) -> tensor<24x24xf64>
  %scaled = stablehlo.multiply %r#0, %factors : tensor<24x24xf64>
  %product = stablehlo.dot_general %scaled, %r#0, contracting_dims = [1] x [1] : (tensor<24x24xf64>, tensor<24x24xf64>) -> tensor<24x24xf64>
  check.expect_almost_eq %product, %whole {tolerance = 1.0e-12 : f64} : tensor<24x24xf64>
  %square = stablehlo.dot_general %r#0, %r#0, contracting_dims = [1] x [1] : (tensor<24x24xf64>, tensor<24x24xf64>) -> tensor<24x24xf64>
  check.expect_almost_eq %square, %unit {tolerance = 1.0e-12 : f64} : tensor<24x24xf64>
  return
}

// The elements below the diagonal are not read.
func.func @eigenvectors_of_upper_triangles() {
  %i = stablehlo.iota dim = 0 : tensor<20x20xf32>
  %j = stablehlo.iota dim = 1 : tensor<20x20xf32>
  %one = stablehlo.constant dense<1.0> : tensor<20x20xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<20x20xf32>
  %own = stablehlo.compare EQ, %i, %j : (tensor<20x20xf32>, tensor<20x20xf32>) -> tensor<20x20xi1>
  %identity = stablehlo.select %own, %one, %zero : tensor<20x20xi1>, tensor<20x20xf32>
  %product_of_indices = stablehlo.multiply %i, %j : tensor<20x20xf32>
  %cosines = stablehlo.sine %product_of_indices : tensor<20x20xf32>
  %difference = stablehlo.subtract %i, %j : tensor<20x20xf32>
  %sines = stablehlo.sine %difference : tensor<20x20xf32>
  %whole = stablehlo.complex %cosines, %sines : tensor<20x20xcomplex<f32>>
  %is_read = stablehlo.compare LE, %i, %j : (tensor<20x20xf32>, tensor<20x20xf32>) -> tensor<20x20xi1>
  %other = stablehlo.complex %i, %j : tensor<20x20xcomplex<f32>>
  %a = stablehlo.select %is_read, %whole, %other : tensor<20x20xi1>, tensor<20x20xcomplex<f32>>
  %unit = stablehlo.complex %identity, %zero : tensor<20x20xcomplex<f32>>
  %r:3 = stablehlo.custom_call @lapack_cheevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 85 : ui8}} : (tensor<20x20xcomplex<f32>>) -> (tensor<20x20xcomplex<f32>>, tensor<20xf32>, tensor<i32>)
  check.expect_eq_const %r#2, dense<0> : tensor<i32>
  %low = stablehlo.slice %r#1 [0:19] : (tensor<20xf32>) -> tensor<19xf32>
  %high = stablehlo.slice %r#1 [1:20] : (tensor<20xf32>) -> tensor<19xf32>
  %order = stablehlo.compare LE, %low, %high : (tensor<19xf32>, tensor<19xf32>) -> tensor<19xi1>
  check.expect_eq_const %order, dense<true> : tensor<19xi1>
  %re = stablehlo.real %r#0 : (tensor<20x20xcomplex<f32>>) -> tensor<20x20xf32>
  %im = stablehlo.imag %r#0 : (tensor<20x20xcomplex<f32>>) -> tensor<20x20xf32>
  %minus = stablehlo.negate %im : tensor<20x20xf32>
  %conjugate = stablehlo.complex %re, %minus : tensor<20x20xcomplex<f32>>
  %values = stablehlo.broadcast_in_dim %r#1, dims = [1] : (tensor<20xf32>) -> tensor<20x20xf32>
  %nothing = stablehlo.constant dense<0.0> : tensor<20x20xf32>
  %factors = stablehlo.complex %values, %nothing : tensor<20x20xcomplex<f32>>
  %scaled = stablehlo.multiply %r#0, %factors : tensor<20x20xcomplex<f32>>
  %product = stablehlo.dot_general %scaled, %conjugate, contracting_dims = [1] x [1] : (tensor<20x20xcomplex<f32>>, tensor<20x20xcomplex<f32>>) -> tensor<20x20xcomplex<f32>>
  check.expect_almost_eq %product, %whole {tolerance = 2.0e-5 : f64} : tensor<20x20xcomplex<f32>>
  %square = stablehlo.dot_general %r#0, %conjugate, contracting_dims = [1] x [1] : (tensor<20x20xcomplex<f32>>, tensor<20x20xcomplex<f32>>) -> tensor<20x20xcomplex<f32>>
  check.expect_almost_eq %square, %unit {tolerance = 2.0e-5 : f64} : tensor<20x20xcomplex<f32>>
  return
}

// The first matrix has a NaN, the second one is zero.
func.func @eigenvalues_of_what_is_not_finite() {
  %number = stablehlo.iota dim = 0 : tensor<2x20x20xf64>
  %nan = stablehlo.constant dense<0x7FF8000000000000> : tensor<2x20x20xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<2x20x20xf64>
  %is_first = stablehlo.compare EQ, %number, %zero : (tensor<2x20x20xf64>, tensor<2x20x20xf64>) -> tensor<2x20x20xi1>
  %a = stablehlo.select %is_first, %nan, %zero : tensor<2x20x20xi1>, tensor<2x20x20xf64>
  %r:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<2x20x20xf64>) -> (tensor<2x20x20xf64>, tensor<2x20xf64>, tensor<2xi32>)
  check.expect_eq_const %r#2, dense<[-4, 0]> : tensor<2xi32>
  %second = stablehlo.slice %r#1 [1:2, 0:20] : (tensor<2x20xf64>) -> tensor<1x20xf64>
  check.expect_eq_const %second, dense<0.0> : tensor<1x20xf64>
  return
}
