module {
  func.func public @main() -> (tensor<0x3xf32>, tensor<2x0xi1>, tensor<0xcomplex<f64>>) {
    %real = stablehlo.constant dense<1.0> : tensor<0x3xf32>
    %truth = stablehlo.constant dense<true> : tensor<2x0xi1>
    %complex = stablehlo.constant dense<(1.0, 2.0)> : tensor<0xcomplex<f64>>
    return %real, %truth, %complex : tensor<0x3xf32>, tensor<2x0xi1>, tensor<0xcomplex<f64>>
  }
}
