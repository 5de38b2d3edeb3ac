// What JAX writes of shardings.
module @shared {
  sdy.mesh @mesh = <["x"=2, "y"=1]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}}
  sdy.mesh @one = <[], device_ids=[0]>
  func.func @main(%a: tensor<4x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x5xf32> {
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {?}]> : tensor<4x5xf32>
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<2x5xf32>) {
      %2 = stablehlo.negate %b : tensor<2x5xf32>
      sdy.return %2 : tensor<2x5xf32>
    } : (tensor<4x5xf32>) -> tensor<4x5xf32>
    sdy.sharding_group %1 group_id=0 : tensor<4x5xf32>
    return %1 : tensor<4x5xf32>
  }
  func.func @comparator(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }
}
