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
