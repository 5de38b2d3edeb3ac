#loc2 = loc("-":2:17)
#loc4 = loc("-":4:12)
#loc6 = loc("-":6:14)
#loc7 = loc("-":6:34)
module {
  func.func @main(%arg0: tensor<32xf32> loc("-":2:17)) -> tensor<32xf32> {
    %0 = "stablehlo.async_start"(%arg0) ({
    ^bb0(%arg1: tensor<32xf32> loc("-":4:12)):
      %2 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32> loc("-":6:14), %arg3: tensor<f32> loc("-":6:34)):
        %3 = stablehlo.add %arg2, %arg3 : tensor<f32> loc(#loc8)
        stablehlo.return %3 : tensor<f32> loc(#loc9)
      }) : (tensor<32xf32>) -> tensor<32xf32> loc(#loc5)
      stablehlo.return %2 : tensor<32xf32> loc(#loc10)
    }) : (tensor<32xf32>) -> !stablehlo.future<tensor<32xf32>> loc(#loc3)
    %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<32xf32>>) -> tensor<32xf32> loc(#loc11)
    return %1 : tensor<32xf32> loc(#loc12)
  } loc(#loc1)
} loc(#loc)
#loc = loc("-":0:0)
#loc1 = loc("-":2:1)
#loc3 = loc("-":3:12)
#loc5 = loc("-":5:14)
#loc8 = loc("-":7:16)
#loc9 = loc("-":8:11)
#loc10 = loc("-":10:9)
#loc11 = loc("-":12:12)
#loc12 = loc("-":13:7)
