// Integers without a sign as starts and indices: the upper half of each type is no negative number.
func.func @ui8() {
  %a = stablehlo.iota dim = 0 : tensor<300xi32>
  %top = stablehlo.constant dense<255> : tensor<ui8>
  %half = stablehlo.constant dense<128> : tensor<ui8>
  %s0 = stablehlo.dynamic_slice %a, %top, sizes = [3] : (tensor<300xi32>, tensor<ui8>) -> tensor<3xi32>
  check.expect_eq_const %s0, dense<[255, 256, 257]> : tensor<3xi32>
  %n0 = stablehlo.constant dense<[-1, -2, -3]> : tensor<3xi32>
  %u0 = stablehlo.dynamic_update_slice %a, %n0, %top : (tensor<300xi32>, tensor<3xi32>, tensor<ui8>) -> tensor<300xi32>
  %v0 = stablehlo.slice %u0 [254:258] : (tensor<300xi32>) -> tensor<4xi32>
  check.expect_eq_const %v0, dense<[254, -1, -2, -3]> : tensor<4xi32>
  %s1 = stablehlo.dynamic_slice %a, %half, sizes = [3] : (tensor<300xi32>, tensor<ui8>) -> tensor<3xi32>
  check.expect_eq_const %s1, dense<[128, 129, 130]> : tensor<3xi32>
  %n1 = stablehlo.constant dense<[-1, -2, -3]> : tensor<3xi32>
  %u1 = stablehlo.dynamic_update_slice %a, %n1, %half : (tensor<300xi32>, tensor<3xi32>, tensor<ui8>) -> tensor<300xi32>
  %v1 = stablehlo.slice %u1 [127:131] : (tensor<300xi32>) -> tensor<4xi32>
  check.expect_eq_const %v1, dense<[127, -1, -2, -3]> : tensor<4xi32>
  %at = stablehlo.constant dense<[[255], [128], [5]]> : tensor<3x1xui8>
  %g = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2>}> : (tensor<300xi32>, tensor<3x1xui8>) -> tensor<3x2xi32>
  check.expect_eq_const %g, dense<[[255, 256], [128, 129], [5, 6]]> : tensor<3x2xi32>
  %two = stablehlo.constant dense<[2]> : tensor<1xi32>
  %d = "stablehlo.dynamic_gather"(%a, %at, %two) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>}> : (tensor<300xi32>, tensor<3x1xui8>, tensor<1xi32>) -> tensor<3x2xi32>
  check.expect_eq %d, %g : tensor<3x2xi32>
  %w = stablehlo.constant dense<[[-1, -2], [-3, -4], [-5, -6]]> : tensor<3x2xi32>
  %c = "stablehlo.scatter"(%a, %at, %w) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    stablehlo.return %y : tensor<i32>
  }) : (tensor<300xi32>, tensor<3x1xui8>, tensor<3x2xi32>) -> tensor<300xi32>
  %c0 = stablehlo.slice %c [0:8] : (tensor<300xi32>) -> tensor<8xi32>
  check.expect_eq_const %c0, dense<[0, 1, 2, 3, 4, -5, -6, 7]> : tensor<8xi32>
  %c1 = stablehlo.slice %c [126:131] : (tensor<300xi32>) -> tensor<5xi32>
  check.expect_eq_const %c1, dense<[126, 127, -3, -4, 130]> : tensor<5xi32>
  %c2 = stablehlo.slice %c [253:258] : (tensor<300xi32>) -> tensor<5xi32>
  check.expect_eq_const %c2, dense<[253, 254, -1, -2, 257]> : tensor<5xi32>
  %c3 = stablehlo.slice %c [296:300] : (tensor<300xi32>) -> tensor<4xi32>
  check.expect_eq_const %c3, dense<[296, 297, 298, 299]> : tensor<4xi32>
  return
}

// -----

func.func @ui16() {
  %a = stablehlo.iota dim = 0 : tensor<300xi32>
  %top = stablehlo.constant dense<65535> : tensor<ui16>
  %half = stablehlo.constant dense<32768> : tensor<ui16>
  %s0 = stablehlo.dynamic_slice %a, %top, sizes = [3] : (tensor<300xi32>, tensor<ui16>) -> tensor<3xi32>
  check.expect_eq_const %s0, dense<[297, 298, 299]> : tensor<3xi32>
  %n0 = stablehlo.constant dense<[-1, -2, -3]> : tensor<3xi32>
  %u0 = stablehlo.dynamic_update_slice %a, %n0, %top : (tensor<300xi32>, tensor<3xi32>, tensor<ui16>) -> tensor<300xi32>
  %v0 = stablehlo.slice %u0 [296:300] : (tensor<300xi32>) -> tensor<4xi32>
  check.expect_eq_const %v0, dense<[296, -1, -2, -3]> : tensor<4xi32>
  %s1 = stablehlo.dynamic_slice %a, %half, sizes = [3] : (tensor<300xi32>, tensor<ui16>) -> tensor<3xi32>
  check.expect_eq_const %s1, dense<[297, 298, 299]> : tensor<3xi32>
  %n1 = stablehlo.constant dense<[-1, -2, -3]> : tensor<3xi32>
  %u1 = stablehlo.dynamic_update_slice %a, %n1, %half : (tensor<300xi32>, tensor<3xi32>, tensor<ui16>) -> tensor<300xi32>
  %v1 = stablehlo.slice %u1 [296:300] : (tensor<300xi32>) -> tensor<4xi32>
  check.expect_eq_const %v1, dense<[296, -1, -2, -3]> : tensor<4xi32>
  %at = stablehlo.constant dense<[[65535], [32768], [5]]> : tensor<3x1xui16>
  %g = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2>}> : (tensor<300xi32>, tensor<3x1xui16>) -> tensor<3x2xi32>
  check.expect_eq_const %g, dense<[[298, 299], [298, 299], [5, 6]]> : tensor<3x2xi32>
  %two = stablehlo.constant dense<[2]> : tensor<1xi32>
  %d = "stablehlo.dynamic_gather"(%a, %at, %two) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>}> : (tensor<300xi32>, tensor<3x1xui16>, tensor<1xi32>) -> tensor<3x2xi32>
  check.expect_eq %d, %g : tensor<3x2xi32>
  %w = stablehlo.constant dense<[[-1, -2], [-3, -4], [-5, -6]]> : tensor<3x2xi32>
  %c = "stablehlo.scatter"(%a, %at, %w) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    stablehlo.return %y : tensor<i32>
  }) : (tensor<300xi32>, tensor<3x1xui16>, tensor<3x2xi32>) -> tensor<300xi32>
  %c0 = stablehlo.slice %c [0:8] : (tensor<300xi32>) -> tensor<8xi32>
  check.expect_eq_const %c0, dense<[0, 1, 2, 3, 4, -5, -6, 7]> : tensor<8xi32>
  %c1 = stablehlo.slice %c [126:131] : (tensor<300xi32>) -> tensor<5xi32>
  check.expect_eq_const %c1, dense<[126, 127, 128, 129, 130]> : tensor<5xi32>
  %c2 = stablehlo.slice %c [253:258] : (tensor<300xi32>) -> tensor<5xi32>
  check.expect_eq_const %c2, dense<[253, 254, 255, 256, 257]> : tensor<5xi32>
  %c3 = stablehlo.slice %c [296:300] : (tensor<300xi32>) -> tensor<4xi32>
  check.expect_eq_const %c3, dense<[296, 297, 298, 299]> : tensor<4xi32>
  return
}

// -----

func.func @ui32() {
  %a = stablehlo.iota dim = 0 : tensor<300xi32>
  %top = stablehlo.constant dense<4294967295> : tensor<ui32>
  %half = stablehlo.constant dense<2147483648> : tensor<ui32>
  %s0 = stablehlo.dynamic_slice %a, %top, sizes = [3] : (tensor<300xi32>, tensor<ui32>) -> tensor<3xi32>
  check.expect_eq_const %s0, dense<[297, 298, 299]> : tensor<3xi32>
  %n0 = stablehlo.constant dense<[-1, -2, -3]> : tensor<3xi32>
  %u0 = stablehlo.dynamic_update_slice %a, %n0, %top : (tensor<300xi32>, tensor<3xi32>, tensor<ui32>) -> tensor<300xi32>
  %v0 = stablehlo.slice %u0 [296:300] : (tensor<300xi32>) -> tensor<4xi32>
  check.expect_eq_const %v0, dense<[296, -1, -2, -3]> : tensor<4xi32>
  %s1 = stablehlo.dynamic_slice %a, %half, sizes = [3] : (tensor<300xi32>, tensor<ui32>) -> tensor<3xi32>
  check.expect_eq_const %s1, dense<[297, 298, 299]> : tensor<3xi32>
  %n1 = stablehlo.constant dense<[-1, -2, -3]> : tensor<3xi32>
  %u1 = stablehlo.dynamic_update_slice %a, %n1, %half : (tensor<300xi32>, tensor<3xi32>, tensor<ui32>) -> tensor<300xi32>
  %v1 = stablehlo.slice %u1 [296:300] : (tensor<300xi32>) -> tensor<4xi32>
  check.expect_eq_const %v1, dense<[296, -1, -2, -3]> : tensor<4xi32>
  %at = stablehlo.constant dense<[[4294967295], [2147483648], [5]]> : tensor<3x1xui32>
  %g = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2>}> : (tensor<300xi32>, tensor<3x1xui32>) -> tensor<3x2xi32>
  check.expect_eq_const %g, dense<[[298, 299], [298, 299], [5, 6]]> : tensor<3x2xi32>
  %two = stablehlo.constant dense<[2]> : tensor<1xi32>
  %d = "stablehlo.dynamic_gather"(%a, %at, %two) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>}> : (tensor<300xi32>, tensor<3x1xui32>, tensor<1xi32>) -> tensor<3x2xi32>
  check.expect_eq %d, %g : tensor<3x2xi32>
  %w = stablehlo.constant dense<[[-1, -2], [-3, -4], [-5, -6]]> : tensor<3x2xi32>
  %c = "stablehlo.scatter"(%a, %at, %w) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    stablehlo.return %y : tensor<i32>
  }) : (tensor<300xi32>, tensor<3x1xui32>, tensor<3x2xi32>) -> tensor<300xi32>
  %c0 = stablehlo.slice %c [0:8] : (tensor<300xi32>) -> tensor<8xi32>
  check.expect_eq_const %c0, dense<[0, 1, 2, 3, 4, -5, -6, 7]> : tensor<8xi32>
  %c1 = stablehlo.slice %c [126:131] : (tensor<300xi32>) -> tensor<5xi32>
  check.expect_eq_const %c1, dense<[126, 127, 128, 129, 130]> : tensor<5xi32>
  %c2 = stablehlo.slice %c [253:258] : (tensor<300xi32>) -> tensor<5xi32>
  check.expect_eq_const %c2, dense<[253, 254, 255, 256, 257]> : tensor<5xi32>
  %c3 = stablehlo.slice %c [296:300] : (tensor<300xi32>) -> tensor<4xi32>
  check.expect_eq_const %c3, dense<[296, 297, 298, 299]> : tensor<4xi32>
  return
}

// -----

func.func @ui64() {
  %a = stablehlo.iota dim = 0 : tensor<300xi32>
  %top = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %half = stablehlo.constant dense<9223372036854775808> : tensor<ui64>
  %s0 = stablehlo.dynamic_slice %a, %top, sizes = [3] : (tensor<300xi32>, tensor<ui64>) -> tensor<3xi32>
  check.expect_eq_const %s0, dense<[297, 298, 299]> : tensor<3xi32>
  %n0 = stablehlo.constant dense<[-1, -2, -3]> : tensor<3xi32>
  %u0 = stablehlo.dynamic_update_slice %a, %n0, %top : (tensor<300xi32>, tensor<3xi32>, tensor<ui64>) -> tensor<300xi32>
  %v0 = stablehlo.slice %u0 [296:300] : (tensor<300xi32>) -> tensor<4xi32>
  check.expect_eq_const %v0, dense<[296, -1, -2, -3]> : tensor<4xi32>
  %s1 = stablehlo.dynamic_slice %a, %half, sizes = [3] : (tensor<300xi32>, tensor<ui64>) -> tensor<3xi32>
  check.expect_eq_const %s1, dense<[297, 298, 299]> : tensor<3xi32>
  %n1 = stablehlo.constant dense<[-1, -2, -3]> : tensor<3xi32>
  %u1 = stablehlo.dynamic_update_slice %a, %n1, %half : (tensor<300xi32>, tensor<3xi32>, tensor<ui64>) -> tensor<300xi32>
  %v1 = stablehlo.slice %u1 [296:300] : (tensor<300xi32>) -> tensor<4xi32>
  check.expect_eq_const %v1, dense<[296, -1, -2, -3]> : tensor<4xi32>
  %at = stablehlo.constant dense<[[18446744073709551615], [9223372036854775808], [5]]> : tensor<3x1xui64>
  %g = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2>}> : (tensor<300xi32>, tensor<3x1xui64>) -> tensor<3x2xi32>
  check.expect_eq_const %g, dense<[[298, 299], [298, 299], [5, 6]]> : tensor<3x2xi32>
  %two = stablehlo.constant dense<[2]> : tensor<1xi32>
  %d = "stablehlo.dynamic_gather"(%a, %at, %two) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>}> : (tensor<300xi32>, tensor<3x1xui64>, tensor<1xi32>) -> tensor<3x2xi32>
  check.expect_eq %d, %g : tensor<3x2xi32>
  %w = stablehlo.constant dense<[[-1, -2], [-3, -4], [-5, -6]]> : tensor<3x2xi32>
  %c = "stablehlo.scatter"(%a, %at, %w) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    stablehlo.return %y : tensor<i32>
  }) : (tensor<300xi32>, tensor<3x1xui64>, tensor<3x2xi32>) -> tensor<300xi32>
  %c0 = stablehlo.slice %c [0:8] : (tensor<300xi32>) -> tensor<8xi32>
  check.expect_eq_const %c0, dense<[0, 1, 2, 3, 4, -5, -6, 7]> : tensor<8xi32>
  %c1 = stablehlo.slice %c [126:131] : (tensor<300xi32>) -> tensor<5xi32>
  check.expect_eq_const %c1, dense<[126, 127, 128, 129, 130]> : tensor<5xi32>
  %c2 = stablehlo.slice %c [253:258] : (tensor<300xi32>) -> tensor<5xi32>
  check.expect_eq_const %c2, dense<[253, 254, 255, 256, 257]> : tensor<5xi32>
  %c3 = stablehlo.slice %c [296:300] : (tensor<300xi32>) -> tensor<4xi32>
  check.expect_eq_const %c3, dense<[296, 297, 298, 299]> : tensor<4xi32>
  return
}
