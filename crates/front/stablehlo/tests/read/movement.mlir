// Attributes between operands and types.
func.func @f(%a: tensor<2x3xf32>, %z: tensor<f32>, %i: tensor<i32>, %s: tensor<2xi32>, %d: tensor<?x3xf32>) {
  %0 = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %1 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi32>) -> tensor<?x?xf32>
  %2 = stablehlo.broadcast %z, sizes = [2, 3] : (tensor<f32>) -> tensor<2x3xf32>
  %3 = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %4 = stablehlo.dynamic_broadcast_in_dim %z, %s, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
  %5 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %6 = stablehlo.reverse %a, dims = [0] : tensor<2x3xf32>
  %7 = stablehlo.concatenate %a, dim = 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = stablehlo.concatenate %a, %a, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %9 = stablehlo.slice %a [0:2:1, 1:3] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  %10 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  %11 = stablehlo.dynamic_update_slice %a, %10, %i, %i : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %12 = stablehlo.pad %a, %z, low = [0, -1], high = [1, 0], interior = [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x6xf32>
  %13 = stablehlo.get_dimension_size %d, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %14 = stablehlo.set_dimension_size %d, %13, dim = 0 : (tensor<?x3xf32>, tensor<i32>) -> tensor<?x3xf32>
  %15 = stablehlo.tuple %a, %z : tuple<tensor<2x3xf32>, tensor<f32>>
  %16 = stablehlo.get_tuple_element %15[1] : (tuple<tensor<2x3xf32>, tensor<f32>>) -> tensor<f32>
  %17 = stablehlo.after_all : !stablehlo.token
  %18 = stablehlo.dynamic_reshape %a, %s : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %19 = stablehlo.real_dynamic_slice %a, %s, %s, %s : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}
