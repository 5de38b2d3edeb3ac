func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) {
  %0 = "stablehlo.dot_general"(%a,%b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[0]>, precision_config = [#stablehlo<precision DEFAULT>,#stablehlo<precision DEFAULT>,#stablehlo<precision DEFAULT>]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @main(%a: tensor<1x8x8x3xf32>, %b: tensor<3x3x3x4xi32>) {
  %0 = "stablehlo.convolution"(%a,%b) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xi32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

func.func @main(%a: tensor<4xi32>) {
  %0 = "stablehlo.real"(%a) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @main(%a: tensor<4x!quant.uniform<i8:f32, 0.5:1>>) {
  %0 = stablehlo.convert %a : (tensor<4x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%a: tensor<4xf32>) {
  %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:1>>
  return
}

// -----

func.func @main(%a: tensor<4xf64>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<4xf64>) -> tensor<4x!quant.uniform<i8:f32, 0.5:1>>
  return
}

// -----

func.func @main(%a: tensor<4x!quant.uniform<i8:f32, 0.5:1>>) {
  %0 = stablehlo.uniform_dequantize %a : (tensor<4x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<4xf64>
  return
}

// -----

func.func @main(%a: tensor<4xcomplex<f32>>) {
  %0 = stablehlo.bitcast_convert %a : (tensor<4xcomplex<f32>>) -> tensor<4x2xf32>
  return
}

// -----

func.func @main(%a: tensor<4xf32>, %b: tensor<2xi64>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%a,%b) {broadcast_dimensions = array<i64: 0>, known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4x4xf32>
  return
}

// -----

func.func @main(%a: tensor<4x4xf32>, %b: tensor<i32>, %c: tensor<i64>) {
  %0 = stablehlo.dynamic_slice %a, %b, %c, sizes = [1, 1] : (tensor<4x4xf32>, tensor<i32>, tensor<i64>) -> tensor<1x1xf32>
  return
}

// -----

func.func @main(%a: tensor<4x4xf32>, %b: tensor<i32>, %c: tensor<i64>) {
  %0 = stablehlo.dynamic_update_slice %a, %a, %b, %c : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<i64>) -> tensor<4x4xf32>
  return
}

// -----

func.func @main(%a: tensor<4xf32>, %b: tensor<f32>) {
  %0 = "stablehlo.reduce"(%a,%b) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>): %z = stablehlo.add %x, %y : tensor<i32> "stablehlo.return"(%z) : (tensor<i32>) -> () 
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<i32>
  return
}

// -----

func.func @main(%a: tensor<4xf32>, %b: tensor<f32>) {
  %0 = "stablehlo.reduce"(%a,%b) ({
  ^bb0(%x: tensor<f16>, %y: tensor<f16>): %z = stablehlo.add %x, %y : tensor<f16> "stablehlo.return"(%z) : (tensor<f16>) -> () 
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f16>
  return
}

// -----

func.func @main(%a: tensor<4xf32>, %b: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%a,%b) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>): %z = stablehlo.add %x, %y : tensor<i32> "stablehlo.return"(%z) : (tensor<i32>) -> () 
  }) {window_dimensions = array<i64: 2>} : (tensor<4xf32>, tensor<f32>) -> tensor<3xi32>
  return
}

// -----

func.func @main(%a: tensor<4xf32>, %b: tensor<2xf32>, %c: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%a,%b,%c) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>): %z = stablehlo.compare GE, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1> "stablehlo.return"(%z) : (tensor<i1>) -> () }, {
  ^bb0(%x: tensor<f32>, %y: tensor<f32>): %z = stablehlo.add %x, %y : tensor<f32> "stablehlo.return"(%z) : (tensor<f32>) -> () 
  }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>} : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%a: tensor<4xf32>, %b: tensor<2xf32>, %c: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%a,%b,%c) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>): %z = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%z) : (tensor<i1>) -> () }, {
  ^bb0(%x: tensor<i32>, %y: tensor<i32>): %z = stablehlo.add %x, %y : tensor<i32> "stablehlo.return"(%z) : (tensor<i32>) -> () 
  }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>} : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%a: tensor<4xf32>) {
  %0 = "stablehlo.map"(%a) ({
  ^bb0(%x: tensor<i32>): "stablehlo.return"(%x) : (tensor<i32>) -> () 
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%a: tensor<4x4xf32>) {
  %0 = "stablehlo.map"(%a) ({
  ^bb0(%x: tensor<f32>): "stablehlo.return"(%x) : (tensor<f32>) -> () 
  }) {dimensions = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) {
  %0 = "stablehlo.triangular_solve"(%a,%b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @main(%a: tensor<2x4xf32>, %s: tensor<4xf32>) {
  %0:3 = "stablehlo.batch_norm_grad"(%a,%s,%s,%s,%s) {epsilon = 0.1 : f32, feature_index = 1 : i64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @main(%a: tensor<i64>) {
  %0 = "stablehlo.case"(%a) ({ "stablehlo.return"(%a) : (tensor<i64>) -> () }) : (tensor<i64>) -> tensor<i64>
  return
}

// -----

func.func @main(%a: tensor<4xf32>) {
  %0 = "stablehlo.get_dimension_size"(%a) {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<i64>
  return
}

// -----

func.func @main(%a: tensor<4xf32>) {
  %0 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>): %z = stablehlo.add %x, %y : tensor<i32> "stablehlo.return"(%z) : (tensor<i32>) -> () 
  }) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @main(%a: tensor<4x!quant.uniform<i8:f32, 0.5>>, %b: tensor<4x!quant.uniform<i16:f32, 0.5>>) {
  %0 = "stablehlo.add"(%a,%b) : (tensor<4x!quant.uniform<i8:f32, 0.5>>, tensor<4x!quant.uniform<i16:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return
}
