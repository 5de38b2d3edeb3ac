func.func @main(%a: tensor<64xf32>, %i: tensor<1000x1xi32>, %u: tensor<1000xf32>) -> tensor<64xf32> {
  %0 = "stablehlo.scatter"(%a, %i, %u) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false} : (tensor<64xf32>, tensor<1000x1xi32>, tensor<1000xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
