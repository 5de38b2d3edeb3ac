// Collectives that begin and end in two operations, and exchanges of slices of different sizes.

sdy.mesh @pair = <["x"=2]>

func.func @asynchronous() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0:2 = sdy.manual_computation(%x) in_shardings=[<@pair, [{"x"}]>] out_shardings=[<@pair, [{"x"}]>, <@pair, [{"x"}]>] manual_axes={"x"} (%a: tensor<2xi32>) {
    %f = "stablehlo.async_start"(%a) ({
    ^bb0(%p: tensor<2xi32>):
      %s = "stablehlo.all_reduce"(%p) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%l: tensor<i32>, %r: tensor<i32>):
        %t = stablehlo.add %l, %r : tensor<i32>
        stablehlo.return %t : tensor<i32>
      }) : (tensor<2xi32>) -> tensor<2xi32>
      stablehlo.return %s : tensor<2xi32>
    }) : (tensor<2xi32>) -> !stablehlo.future<tensor<2xi32>>
    %m = stablehlo.negate %a : tensor<2xi32>
    %d = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xi32>>) -> tensor<2xi32>
    // The future of a result of another one.
    %g = "stablehlo.async_start"(%d) ({
    ^bb0(%p: tensor<2xi32>):
      %s = "stablehlo.collective_permute"(%p) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xi32>) -> tensor<2xi32>
      stablehlo.return %s : tensor<2xi32>
    }) : (tensor<2xi32>) -> !stablehlo.future<tensor<2xi32>>
    %e = "stablehlo.async_done"(%g) : (!stablehlo.future<tensor<2xi32>>) -> tensor<2xi32>
    %u = stablehlo.add %e, %m : tensor<2xi32>
    sdy.return %d, %u : tensor<2xi32>, tensor<2xi32>
  } : (tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  check.expect_eq_const %0#0, dense<[4, 6, 4, 6]> : tensor<4xi32>
  check.expect_eq_const %0#1, dense<[-1, -2, 1, 2]> : tensor<4xi32>
  return
}

// The first device sends a row to itself and two to the second one, which sends a row to each.
func.func @ragged() {
  %x = stablehlo.constant dense<[[1, 10], [2, 20], [2, 21], [3, 30], [4, 40], [0, 0]]> : tensor<6x2xi32>
  %o = stablehlo.constant dense<-1> : tensor<8x2xi32>
  %starts = stablehlo.constant dense<[0, 1, 0, 1]> : tensor<4xi32>
  %counts = stablehlo.constant dense<[1, 2, 1, 1]> : tensor<4xi32>
  %targets = stablehlo.constant dense<[0, 0, 1, 2]> : tensor<4xi32>
  %received = stablehlo.constant dense<[1, 1, 2, 1]> : tensor<4xi32>
  %0 = sdy.manual_computation(%x, %o, %starts, %counts, %targets, %received) in_shardings=[<@pair, [{"x"}, {}]>, <@pair, [{"x"}, {}]>, <@pair, [{"x"}]>, <@pair, [{"x"}]>, <@pair, [{"x"}]>, <@pair, [{"x"}]>] out_shardings=[<@pair, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<3x2xi32>, %b: tensor<4x2xi32>, %s: tensor<2xi32>, %c: tensor<2xi32>, %t: tensor<2xi32>, %r: tensor<2xi32>) {
    %1 = stablehlo.custom_call @ragged_all_to_all(%a, %b, %s, %c, %t, %r) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<3x2xi32>, tensor<4x2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x2xi32>
    sdy.return %1 : tensor<4x2xi32>
  } : (tensor<6x2xi32>, tensor<8x2xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<8x2xi32>
  check.expect_eq_const %0, dense<[[1, 10], [3, 30], [-1, -1], [-1, -1], [2, 20], [2, 21], [4, 40], [-1, -1]]> : tensor<8x2xi32>
  return
}

func.func private @add(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.add %a, %b : tensor<i32>
  return %0 : tensor<i32>
}

// The same as custom calls.
func.func @calls() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0:5 = sdy.manual_computation(%x) in_shardings=[<@pair, [{"x"}]>] out_shardings=[<@pair, [{"x"}]>, <@pair, [{}]>, <@pair, [{"x"}]>, <@pair, [{"x"}]>, <@pair, [{"x"}]>] manual_axes={"x"} (%a: tensor<2xi32>) {
    %1 = stablehlo.custom_call @"all-reduce-start"(%a) {backend_config = "", called_computations = [@add], mhlo.frontend_attributes = {async_collective_config = "{\22replica_groups\22: [[0, 1]], \22use_global_device_ids\22: true, \22channel_id\22: 1}"}} : (tensor<2xi32>) -> tensor<2xi32>
    %2 = stablehlo.custom_call @"all-gather-start"(%a) {backend_config = "", mhlo.frontend_attributes = {async_collective_config = "{\22all_gather_dimension\22: 0, \22replica_groups\22: [[0, 1]], \22use_global_device_ids\22: true, \22channel_id\22: 1}"}} : (tensor<2xi32>) -> tensor<4xi32>
    %3 = stablehlo.custom_call @"reduce-scatter-start"(%a) {backend_config = "", called_computations = [@add], mhlo.frontend_attributes = {async_collective_config = "{\22scatter_dimension\22: 0, \22replica_groups\22: [[0, 1]], \22tiled\22: true, \22use_global_device_ids\22: true, \22channel_id\22: 1}"}} : (tensor<2xi32>) -> tensor<1xi32>
    %4 = stablehlo.custom_call @"all-to-all-start"(%a) {backend_config = "", mhlo.frontend_attributes = {async_collective_config = "{\22split_dimension\22: 0, \22concat_dimension\22: 0, \22split_count\22: 2, \22replica_groups\22: [[0, 1]], \22channel_id\22: 1}"}} : (tensor<2xi32>) -> tensor<2xi32>
    %5 = stablehlo.custom_call @"collective-permute-start"(%a) {backend_config = "", mhlo.frontend_attributes = {async_collective_config = "{\22permutation\22: [[0, 1], [1, 0]], \22channel_id\22: 1}"}} : (tensor<2xi32>) -> tensor<2xi32>
    %6 = stablehlo.custom_call @"all-reduce-done"(%1) {backend_config = ""} : (tensor<2xi32>) -> tensor<2xi32>
    %7 = stablehlo.custom_call @"all-gather-done"(%2) {backend_config = ""} : (tensor<4xi32>) -> tensor<4xi32>
    %8 = stablehlo.custom_call @"reduce-scatter-done"(%3) {backend_config = ""} : (tensor<1xi32>) -> tensor<1xi32>
    %9 = stablehlo.custom_call @"all-to-all-done"(%4) {backend_config = ""} : (tensor<2xi32>) -> tensor<2xi32>
    %10 = stablehlo.custom_call @"collective-permute-done"(%5) {backend_config = ""} : (tensor<2xi32>) -> tensor<2xi32>
    sdy.return %6, %7, %8, %9, %10 : tensor<2xi32>, tensor<4xi32>, tensor<1xi32>, tensor<2xi32>, tensor<2xi32>
  } : (tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<2xi32>, tensor<4xi32>, tensor<4xi32>)
  check.expect_eq_const %0#0, dense<[4, 6, 4, 6]> : tensor<4xi32>
  check.expect_eq_const %0#1, dense<[1, 2, 3, 4]> : tensor<4xi32>
  check.expect_eq_const %0#2, dense<[4, 6]> : tensor<2xi32>
  check.expect_eq_const %0#3, dense<[1, 3, 2, 4]> : tensor<4xi32>
  check.expect_eq_const %0#4, dense<[3, 4, 1, 2]> : tensor<4xi32>
  return
}

// Results that are the greatest and least of those of devices.
func.func @extremes() {
  %x = stablehlo.constant dense<[[1, 8], [4, 2]]> : tensor<2x2xi32>
  %0:2 = sdy.manual_computation(%x) in_shardings=[<@pair, [{"x"}, {}]>] out_shardings=[<@pair, [{}, {}], unreduced=max{"x"}>, <@pair, [{}, {}], unreduced=min{"x"}>] manual_axes={"x"} (%a: tensor<1x2xi32>) {
    %m = stablehlo.negate %a : tensor<1x2xi32>
    sdy.return %a, %m : tensor<1x2xi32>, tensor<1x2xi32>
  } : (tensor<2x2xi32>) -> (tensor<1x2xi32>, tensor<1x2xi32>)
  %1 = sdy.manual_computation(%0#0) in_shardings=[<@pair, [{}, {}], unreduced=max{"x"}>] out_shardings=[<@pair, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<1x2xi32>) {
    sdy.return %a : tensor<1x2xi32>
  } : (tensor<1x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %0#0, dense<[[4, 8]]> : tensor<1x2xi32>
  check.expect_eq_const %0#1, dense<[[-4, -8]]> : tensor<1x2xi32>
  check.expect_eq_const %1, dense<[[4, 8], [4, 8]]> : tensor<2x2xi32>
  return
}
