func.func @main(%a: tensor<4x!quant.uniform<i8<-7:7>:f32, 0.5:8>>) {
  return
}
