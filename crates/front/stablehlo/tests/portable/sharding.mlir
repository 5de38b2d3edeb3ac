module @sharding {
  sdy.mesh @mesh = <["x"=1]>
  func.func public @main(%arg0: tensor<2x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<2x3xf32> {
    %0 = stablehlo.negate %arg0 : tensor<2x3xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<2x3xf32>
    %2 = stablehlo.abs %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
}
