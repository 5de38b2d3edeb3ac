// Keys and what goes with them, the least first.
func.func @main(%k: tensor<3x8xi32>, %v: tensor<3x8xf32>) -> (tensor<3x8xi32>, tensor<3x8xf32>) {
  %0:2 = "stablehlo.sort"(%k, %v) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<3x8xi32>, tensor<3x8xf32>) -> (tensor<3x8xi32>, tensor<3x8xf32>)
  return %0#0, %0#1 : tensor<3x8xi32>, tensor<3x8xf32>
}
