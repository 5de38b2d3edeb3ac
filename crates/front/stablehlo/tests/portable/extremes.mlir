module {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%arg0: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], replicated={"y"}>}) -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}], unreduced=max{"x"}>] manual_axes={"x"} (%arg1: tensor<2x2xf32>) {
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %4 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.minimum across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
      sdy.return %4 : tensor<2xf32>
    } : (tensor<4x2xf32>) -> tensor<2xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}]> : tensor<2xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}], unreduced=min{"y"}> : tensor<2xf32>
    %3 = sdy.sharding_constraint %0 <@mesh, [{}], unreduced=max{"x"}> : tensor<2xf32>
    return %3 : tensor<2xf32>
  }
}
