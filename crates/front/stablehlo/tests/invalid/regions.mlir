func.func @f(%a: tensor<2x3xf32>, %z: tensor<f32>) {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %z: tensor<f32>) {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %z: tensor<1xf32>) {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 1, 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.sort"(%a) <{dimension = 2 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%c: tensor<i1>, %a: tensor<2x3xf32>) {
  %0 = stablehlo.while(%i = %a) : tensor<2x3xf32>
   cond {
    stablehlo.return %i : tensor<2x3xf32>
  } do {
    stablehlo.return %i : tensor<2x3xf32>
  }
  return
}

// -----

func.func @f(%c: tensor<i1>, %a: tensor<2x3xf32>) {
  %0 = stablehlo.while(%i = %a) : tensor<2x3xf32>
   cond {
    stablehlo.return %c : tensor<i1>
  } do {
    stablehlo.return %c : tensor<i1>
  }
  return
}

// -----

func.func @f(%c: tensor<i1>, %a: tensor<2x3xf32>) {
  %0 = "stablehlo.if"(%c) ({
    stablehlo.return %c : tensor<i1>
  }, {
    stablehlo.return %a : tensor<2x3xf32>
  }) : (tensor<i1>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%c: tensor<i1>) {
  %0 = "stablehlo.case"(%c) ({
    stablehlo.return %c : tensor<i1>
  }) : (tensor<i1>) -> tensor<i1>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  %0 = "stablehlo.map"(%a) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %src: tensor<3xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%a, %src, %z) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>, tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<2xf32>):
    %s = stablehlo.slice %x [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    stablehlo.return %s : tensor<1xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<3xf32>):
    %s = stablehlo.slice %x [0:1] : (tensor<3xf32>) -> tensor<1xf32>
    stablehlo.return %s : tensor<1xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<1xf32>>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  %0 = "stablehlo.async_done"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: !stablehlo.future<tensor<2xf32>>) {
  %0 = "stablehlo.async_done"(%a) : (!stablehlo.future<tensor<2xf32>>) -> tensor<3xf32>
  return
}
