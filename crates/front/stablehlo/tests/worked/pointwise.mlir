// Example 2 of "IREE CPU/GPU Code Generation Pipeline": a sum, a broadcast and a product of elements.
func.func @main(%a: tensor<10x15xf32>, %b: tensor<10x15xf32>, %c: tensor<15xf32>) -> tensor<10x15xf32> {
  %0 = stablehlo.add %a, %b : tensor<10x15xf32>
  %1 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<15xf32>) -> tensor<10x15xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<10x15xf32>
  return %2 : tensor<10x15xf32>
}
