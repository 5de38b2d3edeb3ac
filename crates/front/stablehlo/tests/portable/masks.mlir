module {
  func.func public @main(%arg0: tensor<20xf32>) -> (tensor<20xf32>, tensor<20xf32>) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<[true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false, false, true, false]> : tensor<20xi1>
    %c_1 = stablehlo.constant dense<true> : tensor<20xi1>
    %c_2 = stablehlo.constant dense<[true, false, false, true, false]> : tensor<5xi1>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = call @_where(%c, %arg0, %cst_3) : (tensor<20xi1>, tensor<20xf32>, tensor<f32>) -> tensor<20xf32>
    %1 = call @_where(%c_1, %arg0, %cst_0) : (tensor<20xi1>, tensor<20xf32>, tensor<f32>) -> tensor<20xf32>
    %2 = stablehlo.slice %arg0 [0:5] : (tensor<20xf32>) -> tensor<5xf32>
    %3 = call @_where_0(%c_2, %2, %cst) : (tensor<5xi1>, tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
    %4 = stablehlo.reduce(%3 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %6 = stablehlo.add %1, %5 : tensor<20xf32>
    return %0, %6 : tensor<20xf32>, tensor<20xf32>
  }
  func.func private @_where(%arg0: tensor<20xi1>, %arg1: tensor<20xf32>, %arg2: tensor<f32>) -> tensor<20xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<20xi1>, tensor<20xf32>
    return %2 : tensor<20xf32>
  }
  func.func private @_where_0(%arg0: tensor<5xi1>, %arg1: tensor<5xf32>, %arg2: tensor<f32>) -> tensor<5xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<5xi1>, tensor<5xf32>
    return %2 : tensor<5xf32>
  }
}
