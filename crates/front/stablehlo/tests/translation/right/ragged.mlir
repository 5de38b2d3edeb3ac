// Groups of steps, each with a result of its own; one is empty.
func.func @steps_in_groups() {
  %l = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %r = stablehlo.constant dense<[[1.0], [10.0], [100.0], [1000.0]]> : tensor<4x1xf32>
  %sizes = stablehlo.constant dense<[1, 0, 2]> : tensor<3xi32>
  %0 = "chlo.ragged_dot"(%l, %r, %sizes) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1], rhs_group_dimensions = []>} : (tensor<2x4xf32>, tensor<4x1xf32>, tensor<3xi32>) -> tensor<3x2x1xf32>
  check.expect_almost_eq_const %0, dense<[[[1.0], [5.0]], [[0.0], [0.0]], [[320.0], [760.0]]]> : tensor<3x2x1xf32>
  return
}

// Groups of rows, fewer than there are: the others are zeros.
func.func @rows_in_groups() {
  %l = stablehlo.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
  %r = stablehlo.constant dense<[[[10.0]], [[100.0]]]> : tensor<2x1x1xf32>
  %sizes = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %0 = "chlo.ragged_dot"(%l, %r, %sizes) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<4x1xf32>, tensor<2x1x1xf32>, tensor<2xi64>) -> tensor<4x1xf32>
  check.expect_almost_eq_const %0, dense<[[10.0], [200.0], [300.0], [0.0]]> : tensor<4x1xf32>
  return
}
