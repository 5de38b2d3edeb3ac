func.func @f(%a: tensor<4x5xf32>, %i: tensor<7x1xi32>) {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<7x1xi32>) -> tensor<7x4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %i: tensor<7x1xi32>) {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 5>}> : (tensor<4x5xf32>, tensor<7x1xi32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %i: tensor<7x1xi32>) {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x5xf32>, tensor<7x1xi32>) -> tensor<7x6xf32>
  return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %i: tensor<7x1xi32>) {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<7x1xi32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %i: tensor<7x1xi32>) {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<7x1xi32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %i: tensor<7x1xi32>) {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<7x1xi32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %i: tensor<7x1xi32>) {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3>, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<7x1xi32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %i: tensor<7x1xi32>, %u: tensor<6x5xf32>) {
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<7x1xi32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %i: tensor<7x1xi32>, %u: tensor<7x6xf32>) {
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<7x1xi32>, tensor<7x6xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x5xf32>, %i: tensor<7x1xi32>, %u: tensor<7xf32>) {
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<7x1xi32>, tensor<7xf32>) -> tensor<4x5xf32>
  return
}
