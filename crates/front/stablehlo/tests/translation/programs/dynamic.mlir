// The size of a dimension is followed from the argument to the shapes that are computed from it.
func.func @main(%a: tensor<?x4xf32>, %b: tensor<4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>, tensor<?x4xf32>) {
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
  %2 = stablehlo.concatenate %1, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %3 = stablehlo.dynamic_broadcast_in_dim %b, %2, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %4 = stablehlo.add %a, %3 : tensor<?x4xf32>
  %5 = stablehlo.multiply %1, %four : tensor<1xi32>
  %6 = stablehlo.dynamic_reshape %4, %5 : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?xf32>
  %7 = stablehlo.concatenate %a, %4, dim = 0 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %4, %6, %7 : tensor<?x4xf32>, tensor<?xf32>, tensor<?x4xf32>
}
