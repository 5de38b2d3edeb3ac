func.func @main(%x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.real %x : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %1 = stablehlo.imag %x : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %2 = stablehlo.negate %1 : tensor<3xf32>
  %3 = stablehlo.complex %0, %2 : tensor<3xcomplex<f32>>
  return %3 : tensor<3xcomplex<f32>>
}
