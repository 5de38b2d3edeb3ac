// Composites with the default version, which the serialisation writes with 64 bits, and with a version.
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.composite "own.twice" %a {decomposition = @own.twice} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "own.twice" %0 {composite_attributes = {kind = "sum"}, decomposition = @own.twice, version = 3 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @own.twice(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
