func.func @f(%a: tensor<2x3xf32>) {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<2x3xf32> -> (tensor<2x4xf32>, tensor<2x4xi32>)
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0:2 = chlo.top_k(%a, k = 2) : tensor<2x3xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0 = chlo.erf %a : tensor<2x3xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  check.expect_eq %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<i1>
  return
}
