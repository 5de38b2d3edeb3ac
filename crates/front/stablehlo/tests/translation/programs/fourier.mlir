// A length of 12 is transformed at once, one of 24 as 12 and 2.
func.func @main(%a: tensor<12xcomplex<f32>>, %b: tensor<2x24xf32>) -> (tensor<12xcomplex<f32>>, tensor<2x13xcomplex<f32>>) {
  %0 = stablehlo.fft %a, type = FFT, length = [12] : (tensor<12xcomplex<f32>>) -> tensor<12xcomplex<f32>>
  %1 = stablehlo.fft %b, type = RFFT, length = [24] : (tensor<2x24xf32>) -> tensor<2x13xcomplex<f32>>
  return %0, %1 : tensor<12xcomplex<f32>>, tensor<2x13xcomplex<f32>>
}
