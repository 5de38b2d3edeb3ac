func.func @main(%a: tensor<4x!quant.uniform<i8:f32:{0:3}, {0.5}>>) {
  return
}
