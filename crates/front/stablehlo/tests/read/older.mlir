// The mhlo spelling, and attributes as older texts have them: elements, in the one dictionary.
module @older {
  func.func @main(%lhs: tensor<32x24xf32>, %rhs: tensor<24x16xf32>, %t: !mhlo.token) -> tensor<32x16xf32> {
    %0 = "mhlo.dot"(%lhs, %rhs) {precision_config = [#mhlo<precision DEFAULT>, #mhlo<precision HIGHEST>]} : (tensor<32x24xf32>, tensor<24x16xf32>) -> tensor<32x16xf32>
    %1 = mhlo.constant dense<2.0> : tensor<f32>
    %2 = "mhlo.broadcast_in_dim"(%1) {broadcast_dimensions = dense<> : tensor<0xi64>} : (tensor<f32>) -> tensor<32x16xf32>
    %3 = mhlo.multiply %0, %2 : tensor<32x16xf32>
    %4 = "mhlo.transpose"(%3) {permutation = dense<[1, 0]> : tensor<2xi64>} : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %5 = "mhlo.dot_general"(%4, %3) {dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>} : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<16x16xf32>
    %6 = "mhlo.compare"(%5, %5) {comparison_direction = #mhlo<comparison_direction GT>} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xi1>
    %7 = mhlo.reduce(%3 init: %1) applies mhlo.add across dimensions = [0] : (tensor<32x16xf32>, tensor<f32>) -> tensor<16xf32>
    %8 = "stablehlo.slice"(%7) {limit_indices = dense<4> : tensor<1xi64>, start_indices = dense<0> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>, mhlo.sharding = "{replicated}"} : (tensor<16xf32>) -> tensor<4xf32>
    return %3 : tensor<32x16xf32>
  }
}
