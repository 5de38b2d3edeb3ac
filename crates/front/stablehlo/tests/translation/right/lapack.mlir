// The routines of LAPACK that JAX calls on processors.
func.func @lu_exchanges_rows() {
  %a = stablehlo.constant dense<[[1.0, 2.0], [4.0, 6.0], [2.0, 0.0]]> : tensor<3x2xf64>
  %r:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<2xi32>, tensor<i32>)
  check.expect_almost_eq_const %r#0, dense<[[4.0, 6.0], [0.5, -3.0], [0.25, -0.16666666666666666]]> : tensor<3x2xf64>
  check.expect_eq_const %r#1, dense<[2, 3]> : tensor<2xi32>
  check.expect_eq_const %r#2, dense<0> : tensor<i32>
  return
}

func.func @lu_tells_of_a_pivot_that_is_zero() {
  %a = stablehlo.constant dense<[[[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0], [0.0, 1.0]]]> : tensor<2x2x2xf32>
  %r:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {backend_config = {}, api_version = 4 : i32} : (tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2x2xi32>, tensor<2xi32>)
  check.expect_eq_const %r#2, dense<[2, 0]> : tensor<2xi32>
  return
}

func.func @cholesky_keeps_the_other_triangle() {
  %a = stablehlo.constant dense<[[4.0, 7.0], [2.0, 10.0]]> : tensor<2x2xf32>
  %r:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
  check.expect_almost_eq_const %r#0, dense<[[2.0, 7.0], [1.0, 3.0]]> : tensor<2x2xf32>
  check.expect_eq_const %r#1, dense<0> : tensor<i32>
  %b = stablehlo.constant dense<[[1.0, 2.0], [2.0, 1.0]]> : tensor<2x2xf32>
  %s:2 = stablehlo.custom_call @lapack_spotrf_ffi(%b) {mhlo.backend_config = {uplo = 85 : ui8}} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
  check.expect_eq_const %s#1, dense<2> : tensor<i32>
  return
}

func.func @triangular_systems() {
  %a = stablehlo.constant dense<[[(2.0, 0.0), (9.0, 9.0)], [(0.0, 1.0), (4.0, 0.0)]]> : tensor<2x2xcomplex<f64>>
  %b = stablehlo.constant dense<[[(2.0, 0.0), (4.0, 2.0)], [(0.0, 0.0), (8.0, 0.0)]]> : tensor<2x2xcomplex<f64>>
  %x = stablehlo.custom_call @lapack_ztrsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 67 : ui8, uplo = 76 : ui8}} : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
  check.expect_almost_eq_const %x, dense<[[(1.0, 0.0), (2.0, 2.0)], [(0.0, 0.0), (2.0, 0.0)]]> : tensor<2x2xcomplex<f64>>
  return
}

func.func @reflections_are_unitary() {
  %a = stablehlo.constant dense<[[(1.0, 1.0), (2.0, 0.0)], [(0.0, 2.0), (1.0, -1.0)], [(2.0, 0.0), (0.0, 3.0)]]> : tensor<3x2xcomplex<f64>>
  %f:2 = stablehlo.custom_call @lapack_zgeqrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<3x2xcomplex<f64>>) -> (tensor<3x2xcomplex<f64>>, tensor<2xcomplex<f64>>)
  %q = stablehlo.custom_call @lapack_zungqr_ffi(%f#0, %f#1) {mhlo.backend_config = {}} : (tensor<3x2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
  %top = stablehlo.slice %f#0 [0:2, 0:2] : (tensor<3x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
  %i = stablehlo.iota dim = 0 : tensor<2x2xi32>
  %j = stablehlo.iota dim = 1 : tensor<2x2xi32>
  %upper = stablehlo.compare LE, %i, %j : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
  %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<2x2xcomplex<f64>>
  %r = stablehlo.select %upper, %top, %zero : tensor<2x2xi1>, tensor<2x2xcomplex<f64>>
  %product = stablehlo.dot %q, %r : (tensor<3x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
  check.expect_almost_eq %product, %a {tolerance = 1.0e-12 : f64} : tensor<3x2xcomplex<f64>>
  return
}

func.func @eigenvalues() {
  %a = stablehlo.constant dense<[[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]]> : tensor<3x3xf64>
  %r:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xf64>, tensor<i32>)
  check.expect_almost_eq_const %r#1, dense<[0.58578643762690495, 2.0, 3.4142135623730951]> : tensor<3xf64>
  %values = stablehlo.broadcast_in_dim %r#1, dims = [1] : (tensor<3xf64>) -> tensor<3x3xf64>
  %scaled = stablehlo.multiply %r#0, %values : tensor<3x3xf64>
  %product = stablehlo.dot_general %scaled, %r#0, contracting_dims = [1] x [1] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  check.expect_almost_eq %product, %a {tolerance = 1.0e-12 : f64} : tensor<3x3xf64>
  return
}

// Of rank 1, wide, all vectors asked for.
func.func @singular_values() {
  %a = stablehlo.constant dense<[[2.0, 4.0, 4.0], [1.0, 2.0, 2.0]]> : tensor<2x3xf64>
  %r:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%a) {mhlo.backend_config = {mode = 65 : ui8}} : (tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<3x3xf64>, tensor<i32>)
  check.expect_almost_eq_const %r#1, dense<[6.7082039324993694, 0.0]> : tensor<2xf64>
  %identity = stablehlo.constant dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf64>
  %square = stablehlo.dot_general %r#3, %r#3, contracting_dims = [1] x [1] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  check.expect_almost_eq %square, %identity {tolerance = 1.0e-12 : f64} : tensor<3x3xf64>
  %values = stablehlo.broadcast_in_dim %r#1, dims = [1] : (tensor<2xf64>) -> tensor<2x2xf64>
  %scaled = stablehlo.multiply %r#2, %values : tensor<2x2xf64>
  %rows = stablehlo.slice %r#3 [0:2, 0:3] : (tensor<3x3xf64>) -> tensor<2x3xf64>
  %product = stablehlo.dot %scaled, %rows : (tensor<2x2xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  check.expect_almost_eq %product, %a {tolerance = 1.0e-12 : f64} : tensor<2x3xf64>
  return
}

func.func @tridiagonal_reduction_keeps_the_other_triangle() {
  %a = stablehlo.constant dense<[[4.0, 9.0, 9.0, 9.0], [1.0, 3.0, 9.0, 9.0], [2.0, -1.0, 2.0, 9.0], [2.0, 0.0, 1.0, 5.0]]> : tensor<4x4xf64>
  %r:5 = stablehlo.custom_call @lapack_dsytrd_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4xf64>, tensor<3xf64>, tensor<3xf64>, tensor<i32>)
  check.expect_almost_eq_const %r#0, dense<[[4.0, 9.0, 9.0, 9.0], [-3.0, 3.8888888888888884, 9.0, 9.0], [0.5, -1.9404721329525534, 2.6586520947176684, 9.0], [0.5, -0.7920146586219401, 0.42295081967213166, 3.4524590163934423]]> : tensor<4x4xf64>
  check.expect_almost_eq_const %r#1, dense<[4.0, 3.8888888888888884, 2.6586520947176684, 3.4524590163934423]> : tensor<4xf64>
  check.expect_almost_eq_const %r#2, dense<[-3.0, -1.9404721329525534, 0.42295081967213166]> : tensor<3xf64>
  check.expect_almost_eq_const %r#3, dense<[1.3333333333333333, 1.2290393337255472, 0.0]> : tensor<3xf64>
  check.expect_eq_const %r#4, dense<0> : tensor<i32>
  return
}

func.func @tridiagonal_reduction_of_an_upper_triangle() {
  %a = stablehlo.constant dense<[[(2.0, 0.0), (1.0, 1.0), (0.0, 1.0)], [(9.0, 0.0), (3.0, 0.0), (2.0, -1.0)], [(9.0, 0.0), (9.0, 0.0), (1.0, 0.0)]]> : tensor<3x3xcomplex<f64>>
  %r:5 = stablehlo.custom_call @lapack_zhetrd_ffi(%a) {mhlo.backend_config = {uplo = 85 : ui8}} : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3xf64>, tensor<2xf64>, tensor<2xcomplex<f64>>, tensor<i32>)
  check.expect_almost_eq_const %r#0, dense<[[(1.8333333333333326, 0.0), (1.3437096247164246, 0.0), (-0.048081641154691504, 0.21393876913398135)], [(9.0, 0.0), (3.166666666666666, 0.0), (-2.449489742783178, 0.0)], [(9.0, 0.0), (9.0, 0.0), (1.0, 0.0)]]> : tensor<3x3xcomplex<f64>>
  check.expect_almost_eq_const %r#1, dense<[1.8333333333333326, 3.166666666666666, 1.0]> : tensor<3xf64>
  check.expect_almost_eq_const %r#2, dense<[1.3437096247164246, -2.449489742783178]> : tensor<2xf64>
  check.expect_almost_eq_const %r#3, dense<[(1.9970367393181616, -0.07692685129269346), (1.816496580927726, -0.4082482904638631)]> : tensor<2xcomplex<f64>>
  return
}

// Second differences: rotations by small angles must not stretch the vectors.
func.func @eigenvalues_in_single_precision() {
  %i = stablehlo.iota dim = 0 : tensor<32x32xi32>
  %j = stablehlo.iota dim = 1 : tensor<32x32xi32>
  %difference = stablehlo.subtract %i, %j : tensor<32x32xi32>
  %distance = stablehlo.abs %difference : tensor<32x32xi32>
  %none = stablehlo.constant dense<0> : tensor<32x32xi32>
  %one = stablehlo.constant dense<1> : tensor<32x32xi32>
  %own = stablehlo.compare EQ, %distance, %none : (tensor<32x32xi32>, tensor<32x32xi32>) -> tensor<32x32xi1>
  %beside = stablehlo.compare EQ, %distance, %one : (tensor<32x32xi32>, tensor<32x32xi32>) -> tensor<32x32xi1>
  %two = stablehlo.constant dense<2.0> : tensor<32x32xf32>
  %minus = stablehlo.constant dense<-1.0> : tensor<32x32xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<32x32xf32>
  %band = stablehlo.select %beside, %minus, %zero : tensor<32x32xi1>, tensor<32x32xf32>
  %a = stablehlo.select %own, %two, %band : tensor<32x32xi1>, tensor<32x32xf32>
  %r:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32xf32>, tensor<i32>)
  %expected = stablehlo.constant dense<[0.00905615485, 0.0361426055, 0.0810140528, 0.143264134, 0.222329103, 0.317492934, 0.427893811, 0.552531924, 0.690278532, 0.839886181, 1.0, 1.16916997, 1.34586407, 1.52848213, 1.71537032, 1.90483617, 2.09516383, 2.28462968, 2.47151787, 2.65413593, 2.83083003, 3.0, 3.16011382, 3.30972147, 3.44746808, 3.57210619, 3.68250707, 3.7776709, 3.85673587, 3.91898595, 3.96385739, 3.99094385]> : tensor<32xf32>
  check.expect_almost_eq %r#1, %expected {tolerance = 3.0e-6 : f64} : tensor<32xf32>
  return
}
