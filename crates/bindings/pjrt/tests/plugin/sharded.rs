//! Programs for several logical devices.

use crate::caller::{TestBuffer, TestClient};
use spirula_pjrt::generated::PjrtErrorCode;

/// Adds the halves of a vector, which two devices have, and doubles the vector.
const SUM: &str = r#"module @sum {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<2xf32>) {
      %s = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %t = stablehlo.add %l, %r : tensor<f32>
        stablehlo.return %t : tensor<f32>
      }) : (tensor<2xf32>) -> tensor<2xf32>
      %i = stablehlo.partition_id : tensor<ui32>
      %f = stablehlo.convert %i : (tensor<ui32>) -> tensor<f32>
      %n = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2xf32>
      %u = stablehlo.add %s, %n : tensor<2xf32>
      sdy.return %u : tensor<2xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}"#;

fn download_all(buffers: &[TestBuffer]) -> Vec<Vec<f32>> {
    let buffers = buffers.iter();
    buffers
        .map(|buffer| buffer.download().expect("it is there"))
        .collect()
}

#[test]
fn devices_have_shards_of_arguments_and_results() {
    for is_partitioning in [false, true] {
        compare_sum(&TestClient::with_partition(3, is_partitioning));
    }
}

fn compare_sum(client: &TestClient) {
    let before = client.bytes_in_use();
    let sum = client.compile_sharded(SUM, 2).expect("it compiles");
    let loaded = client
        .deserialize(&sum.serialize())
        .expect("it is an executable");
    for executable in [&sum, &loaded] {
        let first = client.upload_to(client.devices[0], &[1.0, 2.0], &[2], &[]);
        let second = client.upload_to(client.devices[1], &[3.0, 4.0], &[2], &[]);
        let results = executable.run_sharded(&[&first, &second]).expect("it runs");
        assert_eq!(download_all(&results), [[4.0, 6.0], [5.0, 7.0]]);
        assert!(first.is_deleted() && second.is_deleted());
    }
    assert_eq!(client.bytes_in_use(), before);
}

#[test]
fn wrong_devices_are_refused() {
    let client = TestClient::with_devices(2);
    let sum = client.compile_sharded(SUM, 2).expect("it compiles");
    let shard = || client.upload_to(client.devices[1], &[3.0, 4.0], &[2], &[]);
    let (one, other) = (shard(), shard());
    let refused = sum
        .run_sharded(&[&one, &other])
        .map(drop)
        .expect_err("the first is on another device");
    assert!(
        refused.message.contains("another device"),
        "{}",
        refused.message
    );
    let refused = sum
        .run(&[&one])
        .map(drop)
        .expect_err("it is for two devices");
    assert!(
        refused.message.contains("the program is for 2"),
        "{}",
        refused.message
    );
    assert!(!one.is_deleted());
    let refused = client.compile_sharded(SUM, 4).expect_err("there are two");
    assert_eq!(refused.code, PjrtErrorCode::INVALID_ARGUMENT);
    assert!(
        refused.message.contains("the client has 2"),
        "{}",
        refused.message
    );
}

/// The product of a matrix, whose columns four devices have, and its transpose. Devices have rows of the result.
const PRODUCT: &str = r#"module @product {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
      -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}"#;

#[test]
fn partitioned_products_are_those_of_whole_arrays() {
    let mut found = Vec::new();
    for is_partitioning in [false, true] {
        let client = TestClient::with_partition(4, is_partitioning);
        let before = client.bytes_in_use();
        let product = client.compile_sharded(PRODUCT, 4).expect("it compiles");
        let stored = product.serialize();
        let mark = format!("\"is_partitioned\":{is_partitioning},\"parameters\"");
        let is_marked = |window: &[u8]| window == mark.as_bytes();
        assert!(stored.windows(mark.len()).any(is_marked), "{mark}");
        let loaded = client.deserialize(&stored).expect("it is an executable");
        for executable in [&product, &loaded] {
            let shards: Vec<TestBuffer> = (0..4)
                .map(|device| {
                    let numbers = (0..8).map(|at| (at * 4 + device) as f32);
                    let numbers: Vec<f32> = numbers.collect();
                    client.upload_to(client.devices[device], &numbers, &[4, 2], &[])
                })
                .collect();
            let shards: Vec<&TestBuffer> = shards.iter().collect();
            let results = executable.run_sharded(&shards).expect("it runs");
            found.push(download_all(&results));
        }
        assert_eq!(client.bytes_in_use(), before);
    }
    assert_eq!(found[0].len(), 4);
    assert!(found.iter().all(|results| *results == found[0]));
}
