func.func @f(%a: tensor<2xf32>) {
  "builtin.module"() ({
    "func.func"() <{function_type = () -> (), sym_name = "g"}> ({
      %0 = "stablehlo.abs"(%a) : (tensor<2xf32>) -> tensor<2xf32>
      "func.return"() : () -> ()
    }) : () -> ()
  }) : () -> ()
  return
}
