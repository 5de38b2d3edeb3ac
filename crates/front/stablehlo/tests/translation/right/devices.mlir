// Where values are to lie says nothing about them; one device sends to itself.
sdy.mesh @mesh = <["x"=2]>

func.func @shared() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<2xf32>
  %1 = "builtin.unrealized_conversion_cast"(%0) : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %1, dense<[1.0, 2.0]> : tensor<2xf32>
  return
}

func.func @alone() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<0> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<[1.0, 2.0]> : tensor<2xf32>
  return
}

// A region sees constants of the function, also behind marks of their places.
func.func @constants_from_outside() {
  %x = stablehlo.constant dense<[1.0, -2.0, 3.0]> : tensor<3xf32>
  %c = stablehlo.constant dense<0.5> : tensor<f32>
  %cast = "builtin.unrealized_conversion_cast"(%c) : (tensor<f32>) -> tensor<f32>
  %zero = sdy.sharding_constraint %cast <@mesh, []> : tensor<f32>
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %a, %zero : tensor<f32>
    %2 = stablehlo.multiply %b, %zero : tensor<f32>
    %3 = stablehlo.compare LT, %1, %2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const %0, dense<[-2.0, 1.0, 3.0]> : tensor<3xf32>
  return
}

func.func @layout() {
  %x = stablehlo.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %0 = stablehlo.custom_call @LayoutConstraint(%x) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  check.expect_eq_const %0, dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  return
}
