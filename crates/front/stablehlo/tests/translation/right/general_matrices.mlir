// Routines of LAPACK for general matrices, that JAX calls on processors.
func.func @hessenberg_form_of_a_real_matrix() {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 9.0], [2.0, 1.0, 0.0, 3.0], [4.0, -1.0, 2.0, 2.0]]> : tensor<4x4xf64>
  %r:3 = stablehlo.custom_call @lapack_dgehrd_ffi(%a) {mhlo.backend_config = {low = 1 : i32, high = 4 : i32}} : (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<3xf64>, tensor<i32>)
  check.expect_almost_eq_const %r#0, dense<[[1.0, -4.770278351999551, -2.004633916067034, -1.4919407853524875], [-6.708203932499369, 10.266666666666664, 4.536568043514765, 3.143528687443911], [0.1708203932499369, -6.657994359331408, -0.3856760911703767, -1.0006482665703387], [0.3416407864998738, 0.8260988219540821, 0.3409925199295353, -1.8809905754962903]]> : tensor<4x4xf64>
  check.expect_almost_eq_const %r#1, dense<[1.7453559924999298, 1.1887501933830136, 0.0]> : tensor<3xf64>
  check.expect_eq_const %r#2, dense<0> : tensor<i32>
  return
}

func.func @hessenberg_form_of_a_complex_matrix() {
  %a = stablehlo.constant dense<[[(1.0, 1.0), (2.0, 0.0), (3.0, -1.0)], [(0.0, 2.0), (1.0, 0.0), (1.0, 0.0)], [(3.0, 0.0), (1.0, -2.0), (2.0, 0.0)]]> : tensor<3x3xcomplex<f64>>
  %r:3 = stablehlo.custom_call @lapack_zgehrd_ffi(%a) {mhlo.backend_config = {low = 1 : i32, high = 3 : i32}} : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<2xcomplex<f64>>, tensor<i32>)
  check.expect_almost_eq_const %r#0, dense<[[(1.0, 1.0), (-2.496150883013531, -0.27735009811261424), (-2.729227514155844, 0.4935836993686107)], [(-3.6055512754639896, 0.0), (2.615384615384615, 0.0), (0.004026337866078089, -1.360902198734556)], [(0.6362737544936452, -0.3529411764705882), (1.4696133211186764, 0.0), (0.3846153846153846, 0.0)]]> : tensor<3x3xcomplex<f64>>
  check.expect_almost_eq_const %r#1, dense<[(1.0, 0.554700196225229), (1.261437537602009, 0.965220396558526)]> : tensor<2xcomplex<f64>>
  return
}

func.func @pivoted_factorisation() {
  %a = stablehlo.constant dense<[[1.0, 4.0, 2.0], [2.0, 5.0, -1.0], [3.0, 6.0, 0.0], [1.0, 0.0, 1.0]]> : tensor<4x3xf64>
  %free = stablehlo.constant dense<0> : tensor<3xi32>
  %r:3 = stablehlo.custom_call @lapack_dgeqp3_ffi(%a, %free) {mhlo.backend_config = {}} : (tensor<4x3xf64>, tensor<3xi32>) -> (tensor<4x3xf64>, tensor<3xi32>, tensor<3xf64>)
  check.expect_almost_eq_const %r#0, dense<[[-8.77496438739212, -0.34188172937891403, -3.646738446708415], [0.3913905235567314, 2.4255137359159367, -0.10173236419956402], [0.46966862826807765, 0.2533123034845715, -1.3003650362006305], [0.0, -0.23030309453770562, 0.5205576734990536]]> : tensor<4x3xf64>
  check.expect_eq_const %r#1, dense<[2, 3, 1]> : tensor<3xi32>
  check.expect_almost_eq_const %r#2, dense<[1.455842305838552, 1.7901791227934656, 1.5735885233405182]> : tensor<3xf64>
  return
}

func.func @columns_that_have_to_lead() {
  %a = stablehlo.constant dense<[[3.0, 1.0, 2.0], [0.0, 1.0, 2.0]]> : tensor<2x3xf32>
  %lead = stablehlo.constant dense<[0, 1, 0]> : tensor<3xi32>
  %r:3 = stablehlo.custom_call @lapack_sgeqp3_ffi(%a, %lead) {mhlo.backend_config = {}} : (tensor<2x3xf32>, tensor<3xi32>) -> (tensor<2x3xf32>, tensor<3xi32>, tensor<2xf32>)
  check.expect_eq_const %r#1, dense<[2, 1, 3]> : tensor<3xi32>
  return
}

func.func @reflections_as_a_factor_left_adjoint() {
  %a = stablehlo.constant dense<[[(1.0, 1.0), (2.0, 0.0), (1.0, 0.0)], [(0.0, 2.0), (1.0, -1.0), (0.0, 0.0)], [(2.0, 0.0), (0.0, 3.0), (1.0, 1.0)]]> : tensor<3x3xcomplex<f64>>
  %f:2 = stablehlo.custom_call @lapack_zgeqrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>)
  %q = stablehlo.custom_call @lapack_zungqr_ffi(%f#0, %f#1) {mhlo.backend_config = {}} : (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
  %c = stablehlo.constant dense<[[(1.0, 0.0), (2.0, 1.0)], [(0.0, 1.0), (1.0, 0.0)], [(3.0, 0.0), (0.0, -1.0)]]> : tensor<3x2xcomplex<f64>>
  %r = stablehlo.custom_call @lapack_zunmqr_ffi(%f#0, %f#1, %c) {mhlo.backend_config = {left = true, transpose = true}} : (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
  %t = stablehlo.transpose %q, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
  %re = stablehlo.real %t : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
  %im = stablehlo.imag %t : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
  %minus = stablehlo.negate %im : tensor<3x3xf64>
  %factor = stablehlo.complex %re, %minus : tensor<3x3xcomplex<f64>>
  %expected = stablehlo.dot %factor, %c : (tensor<3x3xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
  check.expect_almost_eq %r, %expected {tolerance = 1.0e-12 : f64} : tensor<3x2xcomplex<f64>>
  return
}

func.func @reflections_as_a_factor_left_product() {
  %a = stablehlo.constant dense<[[(1.0, 1.0), (2.0, 0.0), (1.0, 0.0)], [(0.0, 2.0), (1.0, -1.0), (0.0, 0.0)], [(2.0, 0.0), (0.0, 3.0), (1.0, 1.0)]]> : tensor<3x3xcomplex<f64>>
  %f:2 = stablehlo.custom_call @lapack_zgeqrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>)
  %q = stablehlo.custom_call @lapack_zungqr_ffi(%f#0, %f#1) {mhlo.backend_config = {}} : (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
  %c = stablehlo.constant dense<[[(1.0, 0.0), (2.0, 1.0)], [(0.0, 1.0), (1.0, 0.0)], [(3.0, 0.0), (0.0, -1.0)]]> : tensor<3x2xcomplex<f64>>
  %r = stablehlo.custom_call @lapack_zunmqr_ffi(%f#0, %f#1, %c) {mhlo.backend_config = {left = true, transpose = false}} : (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
  %expected = stablehlo.dot %q, %c : (tensor<3x3xcomplex<f64>>, tensor<3x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
  check.expect_almost_eq %r, %expected {tolerance = 1.0e-12 : f64} : tensor<3x2xcomplex<f64>>
  return
}

func.func @reflections_as_a_factor_right_adjoint() {
  %a = stablehlo.constant dense<[[(1.0, 1.0), (2.0, 0.0), (1.0, 0.0)], [(0.0, 2.0), (1.0, -1.0), (0.0, 0.0)], [(2.0, 0.0), (0.0, 3.0), (1.0, 1.0)]]> : tensor<3x3xcomplex<f64>>
  %f:2 = stablehlo.custom_call @lapack_zgeqrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>)
  %q = stablehlo.custom_call @lapack_zungqr_ffi(%f#0, %f#1) {mhlo.backend_config = {}} : (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
  %c = stablehlo.constant dense<[[(1.0, 0.0), (2.0, 1.0), (0.0, 1.0)], [(1.0, 0.0), (3.0, 0.0), (0.0, -1.0)]]> : tensor<2x3xcomplex<f64>>
  %r = stablehlo.custom_call @lapack_zunmqr_ffi(%f#0, %f#1, %c) {mhlo.backend_config = {left = false, transpose = true}} : (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
  %t = stablehlo.transpose %q, dims = [1, 0] : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
  %re = stablehlo.real %t : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
  %im = stablehlo.imag %t : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
  %minus = stablehlo.negate %im : tensor<3x3xf64>
  %factor = stablehlo.complex %re, %minus : tensor<3x3xcomplex<f64>>
  %expected = stablehlo.dot %c, %factor : (tensor<2x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
  check.expect_almost_eq %r, %expected {tolerance = 1.0e-12 : f64} : tensor<2x3xcomplex<f64>>
  return
}

func.func @reflections_as_a_factor_right_product() {
  %a = stablehlo.constant dense<[[(1.0, 1.0), (2.0, 0.0), (1.0, 0.0)], [(0.0, 2.0), (1.0, -1.0), (0.0, 0.0)], [(2.0, 0.0), (0.0, 3.0), (1.0, 1.0)]]> : tensor<3x3xcomplex<f64>>
  %f:2 = stablehlo.custom_call @lapack_zgeqrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>)
  %q = stablehlo.custom_call @lapack_zungqr_ffi(%f#0, %f#1) {mhlo.backend_config = {}} : (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
  %c = stablehlo.constant dense<[[(1.0, 0.0), (2.0, 1.0), (0.0, 1.0)], [(1.0, 0.0), (3.0, 0.0), (0.0, -1.0)]]> : tensor<2x3xcomplex<f64>>
  %r = stablehlo.custom_call @lapack_zunmqr_ffi(%f#0, %f#1, %c) {mhlo.backend_config = {left = false, transpose = false}} : (tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<2x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
  %expected = stablehlo.dot %c, %q : (tensor<2x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<2x3xcomplex<f64>>
  check.expect_almost_eq %r, %expected {tolerance = 1.0e-12 : f64} : tensor<2x3xcomplex<f64>>
  return
}

func.func @tridiagonal_system_with_exchanges() {
  %low = stablehlo.constant dense<[9.0, 3.0, 1.0, 2.0]> : tensor<4xf64>
  %own = stablehlo.constant dense<[1.0, 2.0, 1.0, 4.0]> : tensor<4xf64>
  %high = stablehlo.constant dense<[2.0, 1.0, 3.0, 9.0]> : tensor<4xf64>
  %b = stablehlo.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf64>
  %r:5 = stablehlo.custom_call @lapack_dgtsv_ffi(%low, %own, %high, %b) {mhlo.backend_config = {}} : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4x1xf64>) -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4x1xf64>, tensor<i32>)
  check.expect_almost_eq_const %r#1, dense<[3.0, 1.3333333333333333, 2.0, 0.5]> : tensor<4xf64>
  check.expect_almost_eq_const %r#3, dense<[[0.0], [0.5], [1.0], [0.5]]> : tensor<4x1xf64>
  check.expect_eq_const %r#4, dense<0> : tensor<i32>
  return
}

// The second row of U begins with zero.
func.func @singular_tridiagonal_system() {
  %low = stablehlo.constant dense<[[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]> : tensor<2x3xf32>
  %own = stablehlo.constant dense<[[1.0, 1.0, 1.0], [1.0, 2.0, 1.0]]> : tensor<2x3xf32>
  %high = stablehlo.constant dense<1.0> : tensor<2x3xf32>
  %b = stablehlo.constant dense<1.0> : tensor<2x3x1xf32>
  %r:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%low, %own, %high, %b) {mhlo.backend_config = {}} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3x1xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3x1xf32>, tensor<2xi32>)
  check.expect_eq_const %r#4, dense<[2, 0]> : tensor<2xi32>
  %x = stablehlo.custom_call @tridiagonal_solve_perturbed_ffi(%low, %own, %high, %b) {mhlo.backend_config = {}} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %size = stablehlo.abs %x : tensor<2x3x1xf32>
  %infinity = stablehlo.constant dense<0x7F800000> : tensor<2x3x1xf32>
  %finite = stablehlo.compare LT, %size, %infinity : (tensor<2x3x1xf32>, tensor<2x3x1xf32>) -> tensor<2x3x1xi1>
  check.expect_eq_const %finite, dense<true> : tensor<2x3x1xi1>
  return
}

// Its characteristic polynomial is (λ² − 2 λ + 5) (λ − 3); the second matrix is not finite.
func.func @schur_form_of_real_matrices() {
  %a = stablehlo.constant dense<[[[1.0, 2.0, 4.0], [-2.0, 1.0, 1.0], [0.0, 0.0, 3.0]], [[1.0, 0x7FF0000000000000, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]> : tensor<2x3x3xf64>
  %u = stablehlo.constant dense<[[2.0, -1.0, 2.0], [2.0, 2.0, -1.0], [-1.0, 2.0, 2.0]]> : tensor<3x3xf64>
  %third = stablehlo.constant dense<0.33333333333333333> : tensor<3x3xf64>
  %turn = stablehlo.multiply %u, %third : tensor<3x3xf64>
  %rows = stablehlo.dot_general %turn, %a, contracting_dims = [1] x [1] : (tensor<3x3xf64>, tensor<2x3x3xf64>) -> tensor<3x2x3xf64>
  %both = stablehlo.dot_general %rows, %turn, contracting_dims = [2] x [1] : (tensor<3x2x3xf64>, tensor<3x3xf64>) -> tensor<3x2x3xf64>
  %b = stablehlo.transpose %both, dims = [1, 0, 2] : (tensor<3x2x3xf64>) -> tensor<2x3x3xf64>
  %r:6 = stablehlo.custom_call @lapack_dgees_ffi(%b) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}} : (tensor<2x3x3xf64>) -> (tensor<2x3x3xf64>, tensor<2x3x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>, tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %r#5, dense<[0, 3]> : tensor<2xi32>
  %form = stablehlo.slice %r#0 [0:1, 0:3, 0:3] : (tensor<2x3x3xf64>) -> tensor<1x3x3xf64>
  %t = stablehlo.reshape %form : (tensor<1x3x3xf64>) -> tensor<3x3xf64>
  %vectors = stablehlo.slice %r#1 [0:1, 0:3, 0:3] : (tensor<2x3x3xf64>) -> tensor<1x3x3xf64>
  %q = stablehlo.reshape %vectors : (tensor<1x3x3xf64>) -> tensor<3x3xf64>
  %square = stablehlo.dot_general %q, %q, contracting_dims = [0] x [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  %identity = stablehlo.constant dense<[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]> : tensor<3x3xf64>
  check.expect_almost_eq %square, %identity {tolerance = 1.0e-12 : f64} : tensor<3x3xf64>
  %left = stablehlo.dot %q, %t : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  %product = stablehlo.dot_general %left, %q, contracting_dims = [1] x [1] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  %first = stablehlo.slice %b [0:1, 0:3, 0:3] : (tensor<2x3x3xf64>) -> tensor<1x3x3xf64>
  %given = stablehlo.reshape %first : (tensor<1x3x3xf64>) -> tensor<3x3xf64>
  check.expect_almost_eq %product, %given {tolerance = 1.0e-12 : f64} : tensor<3x3xf64>
  %im = stablehlo.slice %r#3 [0:1, 0:3] : (tensor<2x3xf64>) -> tensor<1x3xf64>
  %sorted = "stablehlo.sort"(%im) <{dimension = 1 : i64}> ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %less = stablehlo.compare LT, %x, %y : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<1x3xf64>) -> tensor<1x3xf64>
  check.expect_almost_eq_const %sorted, dense<[[-2.0, 0.0, 2.0]]> : tensor<1x3xf64>
  return
}

func.func @schur_form_of_a_complex_matrix() {
  %a = stablehlo.constant dense<[[(1.0, 1.0), (2.0, 0.0), (3.0, -1.0)], [(0.0, 2.0), (1.0, 0.0), (1.0, 0.0)], [(3.0, 0.0), (1.0, -2.0), (2.0, 0.0)]]> : tensor<3x3xcomplex<f64>>
  %r:5 = stablehlo.custom_call @lapack_zgees_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}} : (tensor<3x3xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %r#4, dense<0> : tensor<i32>
  %below = stablehlo.slice %r#0 [1:3, 0:1] : (tensor<3x3xcomplex<f64>>) -> tensor<2x1xcomplex<f64>>
  check.expect_eq_const %below, dense<(0.0, 0.0)> : tensor<2x1xcomplex<f64>>
  %left = stablehlo.dot %r#1, %r#0 : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
  %right = stablehlo.dot %a, %r#1 : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
  check.expect_almost_eq %left, %right {tolerance = 1.0e-12 : f64} : tensor<3x3xcomplex<f64>>
  return
}

// The third power is the identity: one real eigenvalue and a pair.
func.func @eigenvectors_of_a_real_matrix() {
  %a = stablehlo.constant dense<[[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]> : tensor<3x3xf64>
  %r:5 = stablehlo.custom_call @lapack_dgeev_ffi(%a) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}} : (tensor<3x3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<i32>)
  check.expect_eq_const %r#4, dense<0> : tensor<i32>
  %re:2 = "stablehlo.sort"(%r#0, %r#1) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>, %u: tensor<f64>, %v: tensor<f64>):
    %less = stablehlo.compare LT, %u, %v : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  check.expect_almost_eq_const %re#0, dense<[-0.5, 1.0, -0.5]> : tensor<3xf64>
  check.expect_almost_eq_const %re#1, dense<[-0.86602540378443864, 0.0, 0.86602540378443864]> : tensor<3xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<3x3xf64>
  %matrix = stablehlo.complex %a, %zero : tensor<3x3xcomplex<f64>>
  %values = stablehlo.complex %r#0, %r#1 : tensor<3xcomplex<f64>>
  %along = stablehlo.broadcast_in_dim %values, dims = [1] : (tensor<3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
  %right = stablehlo.dot %matrix, %r#3 : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
  %scaled = stablehlo.multiply %r#3, %along : tensor<3x3xcomplex<f64>>
  check.expect_almost_eq %right, %scaled {tolerance = 1.0e-12 : f64} : tensor<3x3xcomplex<f64>>
  // The transpose has the left vectors, conjugated, as right vectors.
  %re_left = stablehlo.real %r#2 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
  %im_left = stablehlo.imag %r#2 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
  %minus = stablehlo.negate %im_left : tensor<3x3xf64>
  %conjugate = stablehlo.complex %re_left, %minus : tensor<3x3xcomplex<f64>>
  %left = stablehlo.dot_general %matrix, %conjugate, contracting_dims = [0] x [0] : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
  %left_scaled = stablehlo.multiply %conjugate, %along : tensor<3x3xcomplex<f64>>
  check.expect_almost_eq %left, %left_scaled {tolerance = 1.0e-12 : f64} : tensor<3x3xcomplex<f64>>
  return
}

func.func @eigenvectors_of_a_complex_matrix() {
  %a = stablehlo.constant dense<[[(1.0, 1.0), (2.0, 0.0), (3.0, -1.0)], [(0.0, 2.0), (1.0, 0.0), (1.0, 0.0)], [(3.0, 0.0), (1.0, -2.0), (2.0, 0.0)]]> : tensor<3x3xcomplex<f64>>
  %r:4 = stablehlo.custom_call @lapack_zgeev_ffi(%a) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 86 : ui8}} : (tensor<3x3xcomplex<f64>>) -> (tensor<3xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>, tensor<i32>)
  %along = stablehlo.broadcast_in_dim %r#0, dims = [1] : (tensor<3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
  %right = stablehlo.dot %a, %r#2 : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
  %scaled = stablehlo.multiply %r#2, %along : tensor<3x3xcomplex<f64>>
  check.expect_almost_eq %right, %scaled {tolerance = 1.0e-12 : f64} : tensor<3x3xcomplex<f64>>
  %size = stablehlo.abs %r#2 : (tensor<3x3xcomplex<f64>>) -> tensor<3x3xf64>
  %square = stablehlo.multiply %size, %size : tensor<3x3xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %norm = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3x3xf64>, tensor<f64>) -> tensor<3xf64>
  check.expect_almost_eq_const %norm, dense<1.0> : tensor<3xf64>
  return
}

// One matrix is not finite; the other is badly scaled and defective.
func.func @eigenvalues_of_unusual_matrices() {
  %a = stablehlo.constant dense<[[[1.0, 0x7FC00000], [1.0, 1.0]], [[2.0, 1.0e+12], [0.0, 2.0]]]> : tensor<2x2x2xf32>
  %r:5 = stablehlo.custom_call @lapack_sgeev_ffi(%a) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 86 : ui8}} : (tensor<2x2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2x2xcomplex<f32>>, tensor<2x2x2xcomplex<f32>>, tensor<2xi32>)
  check.expect_eq_const %r#4, dense<[-4, 0]> : tensor<2xi32>
  %last = stablehlo.slice %r#0 [1:2, 0:2] : (tensor<2x2xf32>) -> tensor<1x2xf32>
  check.expect_eq_const %last, dense<2.0> : tensor<1x2xf32>
  return
}
