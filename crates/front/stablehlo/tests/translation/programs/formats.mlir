// bf16 is bits in an i16; i4 is kept in 8 bits with its sign.
func.func @main(%a: tensor<4xbf16>, %b: tensor<4xi4>, %c: tensor<4xui4>) -> (tensor<4xbf16>, tensor<4xi4>, tensor<4xui4>) {
  %0 = stablehlo.add %a, %a : tensor<4xbf16>
  %1 = stablehlo.multiply %b, %b : tensor<4xi4>
  %2 = stablehlo.subtract %c, %c : tensor<4xui4>
  return %0, %1, %2 : tensor<4xbf16>, tensor<4xi4>, tensor<4xui4>
}
