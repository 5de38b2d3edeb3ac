// Scales the rows of a matrix, and tells where the result is large.
module @scale {
  func.func public @main(%x: tensor<2x3xf32>, %by: tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2x3xi1>) {
    %0 = stablehlo.broadcast_in_dim %by, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.multiply %x, %0 : tensor<2x3xf32>
    %2 = stablehlo.constant dense<4.0> : tensor<2x3xf32>
    %3 = stablehlo.compare GE, %1, %2, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    return %1, %3 : tensor<2x3xf32>, tensor<2x3xi1>
  }
  func.func public @twice(%x: tensor<4xbf16>) -> tensor<4xbf16> {
    %0 = stablehlo.add %x, %x : tensor<4xbf16>
    return %0 : tensor<4xbf16>
  }
}
