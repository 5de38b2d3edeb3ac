// What only moves elements is a position in the operand; what may be outside is tested.
func.func @main(%a: tensor<4x6xf32>, %p: tensor<f32>, %i: tensor<i32>) -> (tensor<2x9xf32>, tensor<8x6xf32>, tensor<6x4xf32>, tensor<2x6xf32>) {
  %0 = stablehlo.slice %a [0:4:2, 1:5] : (tensor<4x6xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.pad %0, %p, low = [0, 1], high = [0, 1], interior = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x9xf32>
  %2 = stablehlo.reverse %a, dims = [0] : tensor<4x6xf32>
  %3 = stablehlo.concatenate %a, %2, dim = 0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %4 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %5 = stablehlo.dynamic_slice %a, %i, %i, sizes = [2, 6] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x6xf32>
  return %1, %3, %4, %5 : tensor<2x9xf32>, tensor<8x6xf32>, tensor<6x4xf32>, tensor<2x6xf32>
}
