// The gradient of pooling: the greatest of each window gets what comes from behind.
func.func @main(%a: tensor<6x6xf32>, %g: tensor<3x3xf32>, %i: tensor<1xf32>) -> (tensor<6x6xf32>, tensor<6x6xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%a, %g, %zero) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %2 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<6x6xf32>, tensor<3x3xf32>, tensor<f32>) -> tensor<6x6xf32>
  %3 = stablehlo.slice %a [0:1, 0:6] : (tensor<6x6xf32>) -> tensor<1x6xf32>
  %4 = stablehlo.reshape %3 : (tensor<1x6xf32>) -> tensor<6xf32>
  %5 = "stablehlo.batch_norm_inference"(%a, %4, %4, %4, %4) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<6x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<6x6xf32>
  return %0, %5 : tensor<6x6xf32>, tensor<6x6xf32>
}
