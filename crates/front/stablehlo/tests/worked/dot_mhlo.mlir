// Example 1 as the document writes it.
"func.func"() ({
^bb0(%0: tensor<32x24xf32>, %1: tensor<24x16xf32>):
  %2 = "mhlo.dot"(%0, %1) {precision_config = ["DEFAULT", "DEFAULT"]} : (tensor<32x24xf32>, tensor<24x16xf32>) -> tensor<32x16xf32>
  "func.return"(%2) : (tensor<32x16xf32>) -> ()
}) {function_type = (tensor<32x24xf32>, tensor<24x16xf32>) -> tensor<32x16xf32>, sym_name = "main"} : () -> ()
