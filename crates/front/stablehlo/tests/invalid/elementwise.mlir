func.func @f(%a: tensor<2x3xf32>) {
  %0 = stablehlo.add %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0 = stablehlo.add %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf64>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0 = stablehlo.and %a, %a : tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2xi32>) {
  %0 = stablehlo.sine %a : tensor<2xi32>
  return
}

// -----

func.func @f(%a: tensor<2xui32>) {
  %0 = stablehlo.abs %a : tensor<2xui32>
  return
}

// -----

func.func @f(%a: tensor<2xcomplex<f32>>) {
  %0 = stablehlo.abs %a : tensor<2xcomplex<f32>>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0 = stablehlo.compare EQ, %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi8>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0 = stablehlo.compare EQ, %a, %a, SIGNED : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %p: tensor<3xi1>) {
  %0 = stablehlo.select %p, %a, %a : tensor<3xi1>, tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %p: tensor<3xf32>) {
  %0 = stablehlo.clamp %p, %a, %p : (tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0 = stablehlo.bitcast_convert %a : (tensor<2x3xf32>) -> tensor<2x3xi16>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0 = stablehlo.convert %a : (tensor<2x3xf32>) -> tensor<3x2xi16>
  return
}

// -----

func.func @f() {
  %0 = "stablehlo.constant"() <{value = dense<1> : tensor<2xi32>}> : () -> tensor<3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0 = stablehlo.complex %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xcomplex<f64>>
  return
}

// -----

func.func @f(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  %0 = stablehlo.uniform_dequantize %a : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xi8>
  return
}
