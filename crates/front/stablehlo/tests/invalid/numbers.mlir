func.func @f(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.add"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0:2 = "stablehlo.abs"(%a) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.transpose"(%a) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.transpose"(%a) <{permutation = "no"}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0 = stablehlo.compare XX, %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.sort"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
