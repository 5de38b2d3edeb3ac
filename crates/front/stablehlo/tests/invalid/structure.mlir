func.func @f(%a: tensor<2xf32>) {
  %1 = stablehlo.abs %0 : tensor<2xf32>
  %0 = stablehlo.abs %a : tensor<2xf32>
  return
}

// -----

func.func @f(%c: tensor<i1>, %a: tensor<2xf32>) {
  %r = "stablehlo.if"(%c) ({
    %x = stablehlo.abs %a : tensor<2xf32>
    stablehlo.return %x : tensor<2xf32>
  }, {
    stablehlo.return %r : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  "cf.cond_br"()[^x, ^y] : () -> ()
  ^x:
  %0 = stablehlo.abs %a : tensor<2xf32>
  "cf.br"()[^y] : () -> ()
  ^y:
  %1 = stablehlo.abs %0 : tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  "func.return"() : () -> ()
  %1 = stablehlo.abs %a : tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  %1 = stablehlo.abs %a : tensor<2xf32>
}

// -----

func.func @f(%a: tensor<2xf32>) {
  stablehlo.return %a : tensor<2xf32>
}

// -----

func.func @f() { return }
func.func @f() { return }

// -----

func.func @f(%a: tensor<2xf32>) -> tensor<3xf32> {
  return %a : tensor<2xf32>
}

// -----

func.func @f(%a: tensor<2xf32>) {
  %0 = call @g(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func private @g(tensor<3xf32>) -> tensor<2xf32>
func.func @f(%a: tensor<2xf32>) {
  %0 = call @g(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @g(tensor<3xf32>) -> tensor<2xf32>

// -----

"func.func"() <{function_type = (tensor<2xf32>) -> (), sym_name = "f"}> ({
^bb0(%a: tensor<3xf32>):
  "func.return"() : () -> ()
}) : () -> ()

// -----

"func.func"() <{function_type = i32, sym_name = "f"}> ({
  "func.return"() : () -> ()
}) : () -> ()
