// A product with bias: batch, free and contracting dimensions each have an axis.
func.func @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>, %c: tensor<5xf32>) -> tensor<2x3x5xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %1 = stablehlo.broadcast_in_dim %c, dims = [2] : (tensor<5xf32>) -> tensor<2x3x5xf32>
  %2 = stablehlo.add %0, %1 : tensor<2x3x5xf32>
  return %2 : tensor<2x3x5xf32>
}
