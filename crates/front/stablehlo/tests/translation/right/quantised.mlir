// Regions compute with the numbers that their arguments stand for; expected values are numpy's, rounded to even.
!q = !quant.uniform<i8:f32, 0.5:-3>
!c = !quant.uniform<i8:f32, 0.25:0>

func.func @folds() {
  %a = stablehlo.constant() {value = dense<[[-20, 5, 7, 100], [0, -128, 127, 3], [11, 12, -13, 40], [-3, -3, 60, -60]]> : tensor<4x4xi8>} : () -> tensor<4x4x!q>
  %zero = stablehlo.constant() {value = dense<-3> : tensor<i8>} : () -> tensor<!q>
  %least = stablehlo.constant() {value = dense<-128> : tensor<i8>} : () -> tensor<!q>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4x!q>, tensor<!q>) -> tensor<4x!q>
  %1 = stablehlo.bitcast_convert %0 : (tensor<4x!q>) -> tensor<4xi8>
  check.expect_eq_const %1, dense<[101, 11, 59, 3]> : tensor<4xi8>
  %2 = "stablehlo.reduce_window"(%a, %least) ({
  ^bb0(%x: tensor<!q>, %y: tensor<!q>):
    %3 = stablehlo.maximum %x, %y : tensor<!q>
    stablehlo.return %3 : tensor<!q>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4x!q>, tensor<!q>) -> tensor<2x2x!q>
  %4 = stablehlo.bitcast_convert %2 : (tensor<2x2x!q>) -> tensor<2x2xi8>
  check.expect_eq_const %4, dense<[[5, 127], [12, 60]]> : tensor<2x2xi8>
  %source = stablehlo.constant() {value = dense<[[10, -7], [33, -100]]> : tensor<2x2xi8>} : () -> tensor<2x2x!q>
  %5 = "stablehlo.select_and_scatter"(%a, %source, %zero) ({
  ^bb0(%x: tensor<!q>, %y: tensor<!q>):
    %6 = stablehlo.compare GE, %x, %y : (tensor<!q>, tensor<!q>) -> tensor<i1>
    stablehlo.return %6 : tensor<i1>
  }, {
  ^bb0(%x: tensor<!q>, %y: tensor<!q>):
    %6 = stablehlo.add %x, %y : tensor<!q>
    stablehlo.return %6 : tensor<!q>
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4x!q>, tensor<2x2x!q>, tensor<!q>) -> tensor<4x4x!q>
  %7 = stablehlo.bitcast_convert %5 : (tensor<4x4x!q>) -> tensor<4x4xi8>
  check.expect_eq_const %7, dense<[[-3, 10, -3, -3], [-3, -3, -7, -3], [-3, 33, -3, -3], [-3, -3, -100, -3]]> : tensor<4x4xi8>
  return
}

// -----

!q = !quant.uniform<i8:f32, 0.5:-3>

func.func @stored_elements() {
  %a = stablehlo.constant() {value = dense<[[-20, 5, 7, 100], [0, -128, 127, 3], [11, 12, -13, 40], [-3, -3, 60, -60]]> : tensor<4x4xi8>} : () -> tensor<4x4x!q>
  %0 = "stablehlo.sort"(%a) ({
  ^bb0(%x: tensor<!q>, %y: tensor<!q>):
    %1 = stablehlo.compare GT, %x, %y : (tensor<!q>, tensor<!q>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {dimension = 1 : i64} : (tensor<4x4x!q>) -> tensor<4x4x!q>
  %2 = stablehlo.bitcast_convert %0 : (tensor<4x4x!q>) -> tensor<4x4xi8>
  check.expect_eq_const %2, dense<[[100, 7, 5, -20], [127, 3, 0, -128], [40, 12, 11, -13], [60, -3, -3, -60]]> : tensor<4x4xi8>
  %rows = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi32>
  %updates = stablehlo.constant() {value = dense<[[1, 2, 3, 4], [100, 100, -100, -100]]> : tensor<2x4xi8>} : () -> tensor<2x4x!q>
  %3 = "stablehlo.scatter"(%a, %rows, %updates) ({
  ^bb0(%x: tensor<!q>, %y: tensor<!q>):
    %4 = stablehlo.add %x, %y : tensor<!q>
    stablehlo.return %4 : tensor<!q>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims=[1], inserted_window_dims=[0], scatter_dims_to_operand_dims=[0], index_vector_dim=1>} : (tensor<4x4x!q>, tensor<2x1xi32>, tensor<2x4x!q>) -> tensor<4x4x!q>
  %5 = stablehlo.bitcast_convert %3 : (tensor<4x4x!q>) -> tensor<4x4xi8>
  check.expect_eq_const %5, dense<[[83, 108, -90, 3], [0, -128, 127, 3], [15, 17, -7, 47], [-3, -3, 60, -60]]> : tensor<4x4xi8>
  return
}

// -----

!c = !quant.uniform<i8:f32, 0.25:0>

func.func @matrices() {
  %m = stablehlo.constant() {value = dense<[[16, 8, 4], [8, 24, 12], [4, 12, 40]]> : tensor<3x3xi8>} : () -> tensor<3x3x!c>
  %b = stablehlo.constant() {value = dense<[[16, -8], [20, 4], [3, 30]]> : tensor<3x2xi8>} : () -> tensor<3x2x!c>
  %0 = stablehlo.cholesky %m, lower = true : tensor<3x3x!c>
  %1 = stablehlo.bitcast_convert %0 : (tensor<3x3x!c>) -> tensor<3x3xi8>
  %2 = stablehlo.constant dense<[[1, 0, 0], [1, 1, 0], [1, 1, 1]]> : tensor<3x3xi8>
  %3 = stablehlo.multiply %1, %2 : tensor<3x3xi8>
  check.expect_eq_const %3, dense<[[8, 0, 0], [4, 9, 0], [2, 4, 12]]> : tensor<3x3xi8>
  %4 = "stablehlo.triangular_solve"(%m, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3x!c>, tensor<3x2x!c>) -> tensor<3x2x!c>
  %5 = stablehlo.bitcast_convert %4 : (tensor<3x2x!c>) -> tensor<3x2xi8>
  check.expect_eq_const %5, dense<[[4, -2], [2, 1], [-1, 3]]> : tensor<3x2xi8>
  return
}

// -----

!blocks = !quant.uniform<i8:f32:{0:2, 1:2}, {{1.0, 2.0}, {3.0, 4.0}}>

func.func @scales_of_blocks() {
  %a = stablehlo.constant() {value = dense<[[-20, 5, 7, 100], [0, -128, 127, 3], [11, 12, -13, 40], [-3, -3, 60, -60]]> : tensor<4x4xi8>} : () -> tensor<4x4x!blocks>
  %0 = stablehlo.uniform_dequantize %a : (tensor<4x4x!blocks>) -> tensor<4x4xf32>
  check.expect_eq_const %0, dense<[[-20.0, 5.0, 14.0, 200.0], [0.0, -128.0, 254.0, 6.0], [33.0, 36.0, -52.0, 160.0], [-9.0, -9.0, 240.0, -240.0]]> : tensor<4x4xf32>
  return
}

// -----

!q = !quant.uniform<i8:f32, 0.5:-3>
!columns = !quant.uniform<i8<-127:127>:f32:1, {0.125, 0.25, 0.5, 1.0}>
!r = !quant.uniform<i8:f32, 2.0:5>

func.func @product_with_scales_of_columns() {
  %a = stablehlo.constant() {value = dense<[[-20, 5, 7, 100], [0, -128, 127, 3], [11, 12, -13, 40], [-3, -3, 60, -60]]> : tensor<4x4xi8>} : () -> tensor<4x4x!q>
  %b = stablehlo.constant() {value = dense<[[1, 2, 3, 4], [5, -6, 7, -8], [9, 10, -11, 12], [-13, 14, 15, 16]]> : tensor<4x4xi8>} : () -> tensor<4x4x!columns>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x4x!q>, tensor<4x4x!columns>) -> tensor<4x4x!r>
  %1 = stablehlo.bitcast_convert %0 : (tensor<4x4x!r>) -> tensor<4x4xi8>
  check.expect_eq_const %1, dense<[[-33, 96, 127, 127], [20, 127, -128, 127], [-13, 33, 118, 127], [46, -5, -128, -34]]> : tensor<4x4xi8>
  return
}
