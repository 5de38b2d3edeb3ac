// The first elements along a dimension, in the order of a function, with what lies beside them.
func.func @approximate_top_k() {
  %x = stablehlo.constant dense<[[3.0, -1.0], [7.0, 4.0], [7.0, 2.0], [0.0, 9.0]]> : tensor<4x2xf32>
  %i = stablehlo.iota dim = 0 : tensor<4x2xi32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %least, %none) {called_computations = [@greater], mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.95 : f32, reduction_dim = 0 : i64, top_k = 2 : i64}} : (tensor<4x2xf32>, tensor<4x2xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  check.expect_eq_const %0#0, dense<[[7.0, 9.0], [7.0, 4.0]]> : tensor<2x2xf32>
  check.expect_eq_const %0#1, dense<[[1, 3], [2, 1]]> : tensor<2x2xi32>
  return
}

func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}

func.func @sinks_have_no_results() {
  %a = stablehlo.constant dense<1.0> : tensor<2xf32>
  stablehlo.custom_call @dce_sink(%a) {has_side_effect = true} : (tensor<2xf32>) -> ()
  check.expect_eq_const %a, dense<1.0> : tensor<2xf32>
  return
}

// Operations of MHLO, as XLA writes those that StableHLO lacks.
func.func @operations_of_mhlo() {
  %x = stablehlo.constant dense<[0.0, 0.5, -1.0]> : tensor<3xf32>
  %0 = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  check.expect_almost_eq_const %0, dense<[0.0, 0.520499878, -0.842700793]> : tensor<3xf32>
  %1 = stablehlo.custom_call @mhlo.sinh(%x) {mhlo.version = 1 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  check.expect_almost_eq_const %1, dense<[0.0, 0.521095305, -1.175201194]> : tensor<3xf32>
  %y = stablehlo.constant dense<[[3, 9, -4, 7], [1, 1, 0, 2]]> : tensor<2x4xi32>
  %2:2 = stablehlo.custom_call @mhlo.topk(%y) {mhlo.attributes = {k = 2 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<2x4xi32>) -> (tensor<2x2xi32>, tensor<2x2xi32>)
  check.expect_eq_const %2#0, dense<[[9, 7], [2, 1]]> : tensor<2x2xi32>
  check.expect_eq_const %2#1, dense<[[1, 3], [3, 0]]> : tensor<2x2xi32>
  %3:2 = stablehlo.custom_call @mhlo.topk(%y) {mhlo.attributes = {k = 1 : i64, largest = false}, mhlo.version = 1 : i64} : (tensor<2x4xi32>) -> (tensor<2x1xi32>, tensor<2x1xi32>)
  check.expect_eq_const %3#0, dense<[[-4], [0]]> : tensor<2x1xi32>
  check.expect_eq_const %3#1, dense<[[2], [2]]> : tensor<2x1xi32>
  return
}
