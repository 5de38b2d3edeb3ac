sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x", "x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<1xf32>) {
    sdy.return %a : tensor<1xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
