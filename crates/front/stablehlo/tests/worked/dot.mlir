// Example 1 of "IREE CPU/GPU Code Generation Pipeline": a product of matrices.
func.func @main(%lhs: tensor<32x24xf32>, %rhs: tensor<24x16xf32>) -> tensor<32x16xf32> {
  %0 = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0] : (tensor<32x24xf32>, tensor<24x16xf32>) -> tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}
