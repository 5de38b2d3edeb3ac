// Functions that are made of other operations, and tests.
func.func @f(%a: tensor<4xf32>, %z: tensor<f32>) {
  %0 = chlo.erf %a : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.tan %a : tensor<4xf32>
  %2 = chlo.zeta %a, %0 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %3 = chlo.broadcast_add %a, %z : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = chlo.broadcast_compare %a, %z {comparison_direction = #chlo<comparison_direction LT>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  %values, %indices = chlo.top_k(%a, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  %5:2 = chlo.scan(%a) inits(%z) dimension=0 attributes {is_reverse = true} {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s, %s : tensor<f32>, tensor<f32>
  } : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  check.expect_eq %0, %1 : tensor<4xf32>
  check.expect_almost_eq %0, %1, tolerance = 0.1 : tensor<4xf32>
  check.expect_close %0, %1, max_ulp_difference = 3 : tensor<4xf32>, tensor<4xf32>
  check.expect_eq_const %a, dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  check.expect_serialized_eq %a, probe_id = "p", iter = 2 : tensor<4xf32>
  func.return
}
