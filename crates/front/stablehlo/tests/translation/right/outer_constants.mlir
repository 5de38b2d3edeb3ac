// Regions of reductions with constants that are defined outside, in formats that are reduced as f32.
func.func @any_of_halves() {
  %x = stablehlo.constant dense<[0.0, 3.0, 0.0]> : tensor<3xf16>
  %zero = stablehlo.constant dense<0.0> : tensor<f16>
  %one = stablehlo.constant dense<1.0> : tensor<f16>
  %0 = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<3xf16>, tensor<f16>) -> tensor<f16>
    reducer(%a: tensor<f16>, %b: tensor<f16>) {
      %p = stablehlo.compare NE, %a, %zero : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %q = stablehlo.compare NE, %b, %zero : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %r = stablehlo.or %p, %q : tensor<i1>
      %s = stablehlo.select %r, %one, %zero : tensor<i1>, tensor<f16>
      stablehlo.return %s : tensor<f16>
    }
  check.expect_eq_const %0, dense<1.0> : tensor<f16>
  return
}

func.func @clipped_sum_of_bfloats() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xbf16>
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %five = stablehlo.constant dense<5.0> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<3xbf16>, tensor<bf16>) -> tensor<bf16>
    reducer(%a: tensor<bf16>, %b: tensor<bf16>) {
      %s = stablehlo.add %a, %b : tensor<bf16>
      %m = stablehlo.minimum %s, %five : tensor<bf16>
      stablehlo.return %m : tensor<bf16>
    }
  check.expect_eq_const %0, dense<5.0> : tensor<bf16>
  return
}
