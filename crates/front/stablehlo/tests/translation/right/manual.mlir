// Programs of one device that all devices of a mesh run.
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @line = <["x"=4]>

func.func @collectives() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %0:6 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{}, {"y"}]>, <@mesh, [{"x"}, {}]>, <@mesh, [{"x", "y"}]>, <@mesh, [{"x"}, {"y"}]>, <@mesh, [{}, {"x", "y"}]>, <@mesh, [{"x", "y"}]>] manual_axes={"x", "y"} (%a: tensor<1x1xi32>) {
    %sum = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%l: tensor<i32>, %r: tensor<i32>):
      %s = stablehlo.add %l, %r : tensor<i32>
      %c = sdy.sharding_constraint %s <@mesh, []> : tensor<i32>
      stablehlo.return %c : tensor<i32>
    }) : (tensor<1x1xi32>) -> tensor<1x1xi32>
    %all = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 2>]>, axes = [#stablehlo.axis_ref<name = "y">]>, use_global_device_ids}> : (tensor<1x1xi32>) -> tensor<1x2xi32>
    %id = stablehlo.partition_id : tensor<ui32>
    %ids = stablehlo.reshape %id : (tensor<ui32>) -> tensor<1xui32>
    %sent = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 3], [3, 1]]> : tensor<2x2xi64>}> : (tensor<1x1xi32>) -> tensor<1x1xi32>
    %ten = stablehlo.constant dense<10> : tensor<1x1xi32>
    %more = stablehlo.add %a, %ten : tensor<1x1xi32>
    %pair = stablehlo.concatenate %a, %more, dim = 1 : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x2xi32>
    %turned = "stablehlo.all_to_all"(%pair) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, concat_dimension = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y">]>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<1x2xi32>) -> tensor<2x1xi32>
    %long = stablehlo.reshape %pair : (tensor<1x2xi32>) -> tensor<2xi32>
    %part = "stablehlo.reduce_scatter"(%long) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
    ^bb0(%l: tensor<i32>, %r: tensor<i32>):
      %s = stablehlo.maximum %l, %r : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<2xi32>) -> tensor<1xi32>
    sdy.return %sum, %all, %ids, %sent, %turned, %part : tensor<1x1xi32>, tensor<1x2xi32>, tensor<1xui32>, tensor<1x1xi32>, tensor<2x1xi32>, tensor<1xi32>
  } : (tensor<2x2xi32>) -> (tensor<1x2xi32>, tensor<2x2xi32>, tensor<4xui32>, tensor<2x2xi32>, tensor<2x4xi32>, tensor<4xi32>)
  check.expect_eq_const %0#0, dense<[[4, 6]]> : tensor<1x2xi32>
  check.expect_eq_const %0#1, dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  check.expect_eq_const %0#2, dense<[0, 1, 2, 3]> : tensor<4xui32>
  check.expect_eq_const %0#3, dense<[[0, 4], [0, 1]]> : tensor<2x2xi32>
  check.expect_eq_const %0#4, dense<[[1, 11, 3, 13], [2, 12, 4, 14]]> : tensor<2x4xi32>
  check.expect_eq_const %0#5, dense<[2, 12, 4, 14]> : tensor<4xi32>
  return
}

// Axes become manual one after the other; groups name devices that differ along axes which are not manual.
func.func @nested() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %0:2 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x", ?}, {"y", ?}]>] out_shardings=[<@mesh, [{?}, {?}]>, <@mesh, [{"x", ?}, {?}]>] manual_axes={"x"} (%a: tensor<1x2xi32>) {
    %sum = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%l: tensor<i32>, %r: tensor<i32>):
      %s = stablehlo.add %l, %r : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<1x2xi32>) -> tensor<1x2xi32>
    %1 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {"y"}]>] out_shardings=[<@mesh, [{}, {"y"}]>] manual_axes={"y"} (%b: tensor<1x1xi32>) {
      %id = stablehlo.partition_id : tensor<ui32>
      %id1 = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
      %id2 = stablehlo.reshape %id1 : (tensor<i32>) -> tensor<1x1xi32>
      %ten = stablehlo.constant dense<10> : tensor<1x1xi32>
      %tens = stablehlo.multiply %id2, %ten : tensor<1x1xi32>
      %c = stablehlo.add %b, %tens : tensor<1x1xi32>
      sdy.return %c : tensor<1x1xi32>
    } : (tensor<1x2xi32>) -> tensor<1x2xi32>
    sdy.return %sum, %1 : tensor<1x2xi32>, tensor<1x2xi32>
  } : (tensor<2x2xi32>) -> (tensor<1x2xi32>, tensor<2x2xi32>)
  check.expect_eq_const %0#0, dense<[[4, 6]]> : tensor<1x2xi32>
  check.expect_eq_const %0#1, dense<[[1, 12], [23, 34]]> : tensor<2x2xi32>
  return
}

// Shards iterate as often as their numbers say, and add up over pairs while both do.
func.func @loops() {
  %x = stablehlo.constant dense<[2, 2, 5, 5]> : tensor<4xi32>
  %0:3 = sdy.manual_computation(%x) in_shardings=[<@line, [{"x"}]>] out_shardings=[<@line, [{"x"}]>, <@line, [{"x"}]>, <@line, [{"x"}]>] manual_axes={"x"} (%a: tensor<1xi32>) {
    %limit = stablehlo.reshape %a : (tensor<1xi32>) -> tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %id = stablehlo.partition_id : tensor<ui32>
    %own = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %1:2 = stablehlo.while(%i = %zero, %v = %own) : tensor<i32>, tensor<i32>
    cond {
      %goes = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %goes : tensor<i1>
    } do {
      %s = "stablehlo.all_reduce"(%v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%l: tensor<i32>, %r: tensor<i32>):
        %t = stablehlo.add %l, %r : tensor<i32>
        stablehlo.return %t : tensor<i32>
      }) : (tensor<i32>) -> tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %s : tensor<i32>, tensor<i32>
    }
    %three = stablehlo.constant dense<3> : tensor<i32>
    %2:2 = stablehlo.while(%i = %zero, %v = %own) : tensor<i32>, tensor<i32>
    cond {
      %goes = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %goes : tensor<i1>
    } do {
      %s = "stablehlo.collective_permute"(%v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<i32>) -> tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %s : tensor<i32>, tensor<i32>
    }
    %3:2 = stablehlo.while(%i = %zero, %v = %own) : tensor<i32>, tensor<i32>
    cond {
      %goes = stablehlo.compare LT, %i, %own : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %goes : tensor<i1>
    } do {
      %s = stablehlo.add %v, %i : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %s : tensor<i32>, tensor<i32>
    }
    %4 = stablehlo.reshape %1#1 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.reshape %2#1 : (tensor<i32>) -> tensor<1xi32>
    %6 = stablehlo.reshape %3#1 : (tensor<i32>) -> tensor<1xi32>
    sdy.return %4, %5, %6 : tensor<1xi32>, tensor<1xi32>, tensor<1xi32>
  } : (tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>)
  check.expect_eq_const %0#0, dense<[2, 2, 80, 80]> : tensor<4xi32>
  check.expect_eq_const %0#1, dense<[1, 2, 3, 0]> : tensor<4xi32>
  check.expect_eq_const %0#2, dense<[0, 1, 3, 6]> : tensor<4xi32>
  return
}

// Pairs of shards take different branches, in which they communicate.
func.func @branches() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0:2 = sdy.manual_computation(%x) in_shardings=[<@line, [{"x"}]>] out_shardings=[<@line, [{"x"}]>, <@line, [{"x"}]>] manual_axes={"x"} (%a: tensor<1xi32>) {
    %id = stablehlo.partition_id : tensor<ui32>
    %two = stablehlo.constant dense<2> : tensor<ui32>
    %pair = stablehlo.divide %id, %two : tensor<ui32>
    %index = stablehlo.convert %pair : (tensor<ui32>) -> tensor<i32>
    %1 = "stablehlo.case"(%index) ({
      %s = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<1xi32>) -> tensor<1xi32>
      stablehlo.return %s : tensor<1xi32>
    }, {
      %m = stablehlo.negate %a : tensor<1xi32>
      %s = "stablehlo.collective_permute"(%m) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[2, 3], [3, 2]]> : tensor<2x2xi64>}> : (tensor<1xi32>) -> tensor<1xi32>
      stablehlo.return %s : tensor<1xi32>
    }) : (tensor<i32>) -> tensor<1xi32>
    %yes = stablehlo.constant dense<true> : tensor<i1>
    %2 = "stablehlo.if"(%yes) ({
      %s = "stablehlo.collective_permute"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 3], [3, 0]]> : tensor<2x2xi64>}> : (tensor<1xi32>) -> tensor<1xi32>
      stablehlo.return %s : tensor<1xi32>
    }, {
      stablehlo.return %a : tensor<1xi32>
    }) : (tensor<i1>) -> tensor<1xi32>
    sdy.return %1, %2 : tensor<1xi32>, tensor<1xi32>
  } : (tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  check.expect_eq_const %0#0, dense<[2, 1, -4, -3]> : tensor<4xi32>
  check.expect_eq_const %0#1, dense<[4, 0, 0, 1]> : tensor<4xi32>
  return
}
