// Example 2 as the document writes it; mhlo.broadcast puts the new dimension in front.
"func.func"() ({
^bb0(%0: tensor<10x15xf32>, %1: tensor<10x15xf32>, %2: tensor<15xf32>):
  %3 = "mhlo.add"(%0, %1) : (tensor<10x15xf32>, tensor<10x15xf32>) -> tensor<10x15xf32>
  %4 = "mhlo.broadcast"(%2) {broadcast_sizes = dense<10> : tensor<1xi64>} : (tensor<15xf32>) -> tensor<10x15xf32>
  %5 = "mhlo.multiply"(%3, %4) : (tensor<10x15xf32>, tensor<10x15xf32>) -> tensor<10x15xf32>
  "func.return"(%5) : (tensor<10x15xf32>) -> ()
}) {function_type = (tensor<10x15xf32>, tensor<10x15xf32>, tensor<15xf32>) -> tensor<10x15xf32>, sym_name = "main"} : () -> ()
