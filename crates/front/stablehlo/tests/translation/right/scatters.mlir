// Values that depend on each other are combined one index after the other.
func.func @complex_products() {
  %a = stablehlo.constant dense<[(1.0, 0.0), (1.0, 1.0), (0.0, 2.0)]> : tensor<3xcomplex<f32>>
  %at = stablehlo.constant dense<[[1], [2], [1], [7], [-1]]> : tensor<5x1xi32>
  %by = stablehlo.constant dense<[(0.0, 1.0), (2.0, 0.0), (1.0, -1.0), (5.0, 5.0), (6.0, 6.0)]> : tensor<5xcomplex<f32>>
  %0 = "stablehlo.scatter"(%a, %at, %by) ({
  ^bb0(%x: tensor<complex<f32>>, %y: tensor<complex<f32>>):
    %s = stablehlo.multiply %x, %y : tensor<complex<f32>>
    stablehlo.return %s : tensor<complex<f32>>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<3xcomplex<f32>>, tensor<5x1xi32>, tensor<5xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  check.expect_eq_const %0, dense<[(1.0, 0.0), (0.0, 2.0), (0.0, 4.0)]> : tensor<3xcomplex<f32>>
  return
}

// -----

// The greatest of each row so far with what came with it, rows of two at a time.
func.func @greatest_with_their_names() {
  %a = stablehlo.constant dense<0> : tensor<3x2xi32>
  %n = stablehlo.constant dense<-1> : tensor<3x2xi32>
  %at = stablehlo.constant dense<[[2, 0], [2, 1]]> : tensor<2x2xi32>
  %v = stablehlo.constant dense<[[[5, 1], [2, 8]], [[7, 9], [3, -4]]]> : tensor<2x2x2xi32>
  %w = stablehlo.constant dense<[[[10, 11], [12, 13]], [[20, 21], [22, 23]]]> : tensor<2x2x2xi32>
  %0:2 = "stablehlo.scatter"(%a, %n, %at, %v, %w) ({
  ^bb0(%x: tensor<i32>, %xn: tensor<i32>, %y: tensor<i32>, %yn: tensor<i32>):
    %first = stablehlo.compare GE, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = stablehlo.select %first, %x, %y : tensor<i1>, tensor<i32>
    %sn = stablehlo.select %first, %xn, %yn : tensor<i1>, tensor<i32>
    stablehlo.return %s, %sn : tensor<i32>, tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>} : (tensor<3x2xi32>, tensor<3x2xi32>, tensor<2x2xi32>, tensor<2x2x2xi32>, tensor<2x2x2xi32>) -> (tensor<3x2xi32>, tensor<3x2xi32>)
  check.expect_eq_const %0#0, dense<[[2, 8], [3, 0], [7, 9]]> : tensor<3x2xi32>
  check.expect_eq_const %0#1, dense<[[12, 13], [22, -1], [20, 21]]> : tensor<3x2xi32>
  return
}
