// Windows that reach to the first or the last element are scans; others are not.
func.func @sums_from_the_first_and_from_the_last() {
  %a = stablehlo.constant dense<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]> : tensor<10xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%a, %zero) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {window_dimensions = array<i64: 10>, padding = dense<[[9, 0]]> : tensor<1x2xi64>} : (tensor<10xi32>, tensor<i32>) -> tensor<10xi32>
  check.expect_eq_const %0, dense<[1, 3, 6, 10, 15, 21, 28, 36, 45, 55]> : tensor<10xi32>
  %1 = "stablehlo.reduce_window"(%a, %zero) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {window_dimensions = array<i64: 10>, padding = dense<[[0, 9]]> : tensor<1x2xi64>} : (tensor<10xi32>, tensor<i32>) -> tensor<10xi32>
  check.expect_eq_const %1, dense<[55, 54, 52, 49, 45, 40, 34, 27, 19, 10]> : tensor<10xi32>
  %2 = "stablehlo.reduce_window"(%a, %zero) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {window_dimensions = array<i64: 10>, padding = dense<[[8, 1]]> : tensor<1x2xi64>} : (tensor<10xi32>, tensor<i32>) -> tensor<10xi32>
  check.expect_eq_const %2, dense<[3, 6, 10, 15, 21, 28, 36, 45, 55, 54]> : tensor<10xi32>
  return
}

// -----

// The first of the greatest so far, and its index, down the columns.
func.func @two_values_together() {
  %a = stablehlo.constant dense<[[3, 1], [1, 4], [4, 1], [1, 5], [5, 9], [9, 2], [2, 6], [6, 5], [5, 3]]> : tensor<9x2xi32>
  %i = stablehlo.iota dim = 0 : tensor<9x2xi32>
  %least = stablehlo.constant dense<-2147483648> : tensor<i32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = "stablehlo.reduce_window"(%a, %i, %least, %none) ({
  ^bb0(%x: tensor<i32>, %xi: tensor<i32>, %y: tensor<i32>, %yi: tensor<i32>):
    %first = stablehlo.compare GE, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = stablehlo.select %first, %x, %y : tensor<i1>, tensor<i32>
    %si = stablehlo.select %first, %xi, %yi : tensor<i1>, tensor<i32>
    stablehlo.return %s, %si : tensor<i32>, tensor<i32>
  }) {window_dimensions = array<i64: 9, 1>, padding = dense<[[8, 0], [0, 0]]> : tensor<2x2xi64>} : (tensor<9x2xi32>, tensor<9x2xi32>, tensor<i32>, tensor<i32>) -> (tensor<9x2xi32>, tensor<9x2xi32>)
  check.expect_eq_const %0#0, dense<[[3, 1], [3, 4], [4, 4], [4, 5], [5, 9], [9, 9], [9, 9], [9, 9], [9, 9]]> : tensor<9x2xi32>
  check.expect_eq_const %0#1, dense<[[0, 0], [0, 1], [2, 1], [2, 3], [4, 4], [5, 4], [5, 4], [5, 4], [5, 4]]> : tensor<9x2xi32>
  return
}

// -----

// What windows have beyond the tensor is the initial value: where that is not neutral, they are no scans.
func.func @from_what_is_not_neutral() {
  %a = stablehlo.constant dense<1> : tensor<10xi32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%a, %two) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {window_dimensions = array<i64: 10>, padding = dense<[[9, 0]]> : tensor<1x2xi64>} : (tensor<10xi32>, tensor<i32>) -> tensor<10xi32>
  check.expect_eq_const %0, dense<[21, 20, 19, 18, 17, 16, 15, 14, 13, 12]> : tensor<10xi32>
  return
}
