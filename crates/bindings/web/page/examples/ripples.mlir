// Ripples of two sources on a pond. Everything but the last sum is one kernel.
func.func @main(%phase: tensor<f32>) -> tensor<96x128xf32> {
  %column = stablehlo.iota dim = 1 : tensor<96x128xf32>
  %row = stablehlo.iota dim = 0 : tensor<96x128xf32>
  %a = func.call @ripple(%column, %row, %phase) : (tensor<96x128xf32>, tensor<96x128xf32>, tensor<f32>) -> tensor<96x128xf32>
  %mirrored = stablehlo.reverse %a, dims = [0, 1] : tensor<96x128xf32>
  %sum = stablehlo.add %a, %mirrored : tensor<96x128xf32>
  return %sum : tensor<96x128xf32>
}

func.func private @ripple(%x: tensor<96x128xf32>, %y: tensor<96x128xf32>, %phase: tensor<f32>) -> tensor<96x128xf32> {
  %cx = stablehlo.constant dense<36.0> : tensor<96x128xf32>
  %cy = stablehlo.constant dense<30.0> : tensor<96x128xf32>
  %dx = stablehlo.subtract %x, %cx : tensor<96x128xf32>
  %dy = stablehlo.subtract %y, %cy : tensor<96x128xf32>
  %xx = stablehlo.multiply %dx, %dx : tensor<96x128xf32>
  %yy = stablehlo.multiply %dy, %dy : tensor<96x128xf32>
  %square = stablehlo.add %xx, %yy : tensor<96x128xf32>
  %distance = stablehlo.sqrt %square : tensor<96x128xf32>
  %rate = stablehlo.constant dense<0.55> : tensor<96x128xf32>
  %angle = stablehlo.multiply %distance, %rate : tensor<96x128xf32>
  %start = stablehlo.broadcast_in_dim %phase, dims = [] : (tensor<f32>) -> tensor<96x128xf32>
  %shifted = stablehlo.subtract %angle, %start : tensor<96x128xf32>
  %wave = stablehlo.cosine %shifted : tensor<96x128xf32>
  %one = stablehlo.constant dense<12.0> : tensor<96x128xf32>
  %damping = stablehlo.add %distance, %one : tensor<96x128xf32>
  %height = stablehlo.divide %wave, %damping : tensor<96x128xf32>
  return %height : tensor<96x128xf32>
}
