// A scan is a loop over slices; a map a region for each element.
func.func @main(%a: tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2xi32>, tensor<2x3xi32>) {
  %init = stablehlo.constant dense<0> : tensor<2xi32>
  %0:2 = chlo.scan(%a) inits(%init) dimension=1 {
  ^bb0(%x: tensor<2xi32>, %y: tensor<2xi32>):
    %1 = stablehlo.add %x, %y : tensor<2xi32>
    stablehlo.return %1, %1 : tensor<2xi32>, tensor<2xi32>
  } : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  %2 = "stablehlo.map"(%a) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%x: tensor<i32>):
    %3 = stablehlo.multiply %x, %x : tensor<i32>
    stablehlo.return %3 : tensor<i32>
  }) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return %0#0, %0#1, %2 : tensor<2x3xi32>, tensor<2xi32>, tensor<2x3xi32>
}
