// A thousand rounds of a loop, each a launch of a small kernel.
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %rounds = stablehlo.constant dense<1000> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<64xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %rounds : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.multiply %v, %v : tensor<64xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<64xf32>
  }
  return %0#1 : tensor<64xf32>
}
