//! Programs: compiled, run, donated to, stored and refused.

use crate::caller::{TestClient, await_event, call, make_arguments, table};
use spirula_pjrt::generated::{
    PjrtBufferMemoryLayout, PjrtBufferMemoryLayoutTiled, PjrtBufferMemoryLayoutType,
    PjrtBufferToHostBufferArgs, PjrtErrorCode,
};

/// Adds two vectors, the first of which may be donated.
const ADD: &str = "module @add {
  func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}";

const TRANSPOSE: &str = "module @t {
  func.func public @main(%a: tensor<2x3xf32>) -> tensor<3x2xf32> {
    %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return %0 : tensor<3x2xf32>
  }
}";

const DOUBLE_SCALAR: &str = "module @s {
  func.func public @main(%a: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %a, %a : tensor<f32>
    return %0 : tensor<f32>
  }
}";

#[test]
fn results_stay_on_the_device_and_are_arguments() {
    let client = TestClient::new();
    let add = client.compile(ADD).expect("it compiles");
    let ones = client.upload(&[1.0; 4], &[4], &[]);
    let mut sum = client.upload(&[0.0, 1.0, 2.0, 3.0], &[4], &[]);
    for _ in 0..10 {
        sum = add.run(&[&sum, &ones]).expect("it runs");
    }
    assert_eq!(
        sum.download().expect("it is there"),
        [10.0, 11.0, 12.0, 13.0]
    );
}

/// The memory of a donated buffer belongs to the execution, and nothing is left when all buffers have ended.
#[test]
fn donated_buffers_are_deleted() {
    let client = TestClient::new();
    let before = client.bytes_in_use();
    let add = client.compile(ADD).expect("it compiles");
    let (a, b) = (
        client.upload(&[1.0; 4], &[4], &[]),
        client.upload(&[2.0; 4], &[4], &[]),
    );
    let sum = add.run(&[&a, &b]).expect("it runs");
    assert!(a.is_deleted() && !b.is_deleted());
    assert_eq!(sum.download().expect("it is there"), [3.0; 4]);
    let refused = add
        .run(&[&a, &b])
        .map(drop)
        .expect_err("it has no argument");
    assert_eq!(refused.code, PjrtErrorCode::INVALID_ARGUMENT);
    assert!(refused.message.contains("donated"), "{}", refused.message);
    let twice = add
        .run(&[&b, &b])
        .map(drop)
        .expect_err("its result would overwrite an argument");
    assert!(twice.message.contains("donated"), "{}", twice.message);
    assert!(!b.is_deleted());
    drop((a, b, sum));
    assert_eq!(client.bytes_in_use(), before);
}

#[test]
fn columns_are_uploaded_as_rows() {
    let client = TestClient::new();
    let transpose = client.compile(TRANSPOSE).expect("it compiles");
    // The matrix 1 2 3, 4 5 6 by columns.
    let matrix = client.upload(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0], &[2, 3], &[4, 8]);
    assert_eq!(
        matrix.download().expect("it is there"),
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    );
    let columns = transpose.run(&[&matrix]).expect("it runs");
    assert_eq!(
        columns.download().expect("it is there"),
        [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]
    );
}

/// JAX leaves the size of a layout unset.
#[test]
fn layouts_without_a_size_are_read() {
    let client = TestClient::new();
    let matrix = client.upload(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3], &[]);
    let order = [0i64, 1];
    let mut layout = make_arguments::<PjrtBufferMemoryLayout>();
    layout.struct_size = 0;
    layout.ty = PjrtBufferMemoryLayoutType::TILED;
    let mut tiled = make_arguments::<PjrtBufferMemoryLayoutTiled>();
    tiled.minor_to_major = order.as_ptr();
    tiled.minor_to_major_size = order.len();
    layout.variant.tiled = tiled;
    let mut columns = [0f32; 6];
    let mut read = make_arguments::<PjrtBufferToHostBufferArgs>();
    read.src = matrix.0;
    read.host_layout = &raw mut layout;
    read.dst = columns.as_mut_ptr().cast();
    read.dst_size = size_of_val(&columns);
    call(table().buffer_to_host_buffer, &mut read).expect("it is there");
    await_event(read.event).expect("it is copied");
    assert_eq!(columns, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
}

#[test]
fn scalars_and_empty_arrays_are_values() {
    let client = TestClient::new();
    let double = client.compile(DOUBLE_SCALAR).expect("it compiles");
    let number = client.upload(&[1.5], &[], &[]);
    let doubled = double.run(&[&number]).expect("it runs");
    assert_eq!(
        double
            .run(&[&doubled])
            .expect("it runs")
            .download()
            .expect("it is there"),
        [6.0]
    );
    let empty = client.upload(&[], &[0, 3], &[]);
    assert!(empty.download().expect("it is there").is_empty());
}

#[test]
fn executables_are_stored_and_loaded() {
    let client = TestClient::new();
    let stored = client.compile(ADD).expect("it compiles").serialize();
    let add = client.deserialize(&stored).expect("it is loaded");
    let (a, b) = (
        client.upload(&[1.0; 4], &[4], &[]),
        client.upload(&[2.0; 4], &[4], &[]),
    );
    let sum = add.run(&[&a, &b]).expect("it runs");
    assert_eq!(sum.download().expect("it is there"), [3.0; 4]);
    assert!(a.is_deleted(), "donations are stored");
    for length in [0, 5, 21, 40, stored.len() / 2, stored.len() - 1] {
        let refused = client
            .deserialize(&stored[..length])
            .expect_err("it is not whole");
        assert_eq!(
            refused.code,
            PjrtErrorCode::INVALID_ARGUMENT,
            "{}",
            refused.message
        );
    }
}

#[test]
fn wrong_programs_are_refused() {
    let client = TestClient::new();
    let malformed = client.compile("module {").expect_err("it has no end");
    assert_eq!(malformed.code, PjrtErrorCode::INVALID_ARGUMENT);
    let foreign = client
        .compile_format(ADD, "hlo")
        .expect_err("it is another format");
    assert_eq!(foreign.code, PjrtErrorCode::UNIMPLEMENTED);
    let unknown = "module { func.func public @main() -> tensor<f32> {
        %0 = stablehlo.custom_call @no_such_target() : () -> tensor<f32>
        return %0 : tensor<f32> } }";
    let unknown = client
        .compile(unknown)
        .expect_err("nobody knows the target");
    assert_eq!(unknown.code, PjrtErrorCode::UNIMPLEMENTED);
    assert!(
        unknown.message.contains("no_such_target"),
        "{}",
        unknown.message
    );
    let add = client.compile(ADD).expect("it compiles");
    let long = client.upload(&[0.0; 5], &[5], &[]);
    for arguments in [&[&long, &long][..], &[&long], &[]] {
        let refused = add
            .run(arguments)
            .map(drop)
            .expect_err("the arguments do not fit");
        assert_eq!(refused.code, PjrtErrorCode::INVALID_ARGUMENT);
    }
}

/// An array without memory fails where it is used, and the device goes on.
#[test]
fn failures_follow_their_results() {
    let client = TestClient::new();
    let source = "module { func.func public @main(%a: tensor<4096x4096x4096x64xf32>) -> tensor<f32> {
        %0 = stablehlo.slice %a [0:1, 0:1, 0:1, 0:1] : (tensor<4096x4096x4096x64xf32>) -> tensor<1x1x1x1xf32>
        %1 = stablehlo.reshape %0 : (tensor<1x1x1x1xf32>) -> tensor<f32>
        return %1 : tensor<f32> } }";
    let first = client.compile(source).expect("it compiles");
    let double = client.compile(DOUBLE_SCALAR).expect("it compiles");
    let huge = client
        .allocate(&[4096, 4096, 4096, 64])
        .expect("memory is allocated later");
    let (number, event) = first.submit(&[&huge]).expect("it begins");
    let failed = await_event(event).expect_err("there is no memory");
    assert_eq!(
        failed.code,
        PjrtErrorCode::RESOURCE_EXHAUSTED,
        "{}",
        failed.message
    );
    let after = double
        .run(&[&number])
        .map(drop)
        .expect_err("it has no argument");
    assert_eq!(after.code, PjrtErrorCode::RESOURCE_EXHAUSTED);
    let number = client.upload(&[1.0], &[], &[]);
    assert_eq!(
        double
            .run(&[&number])
            .expect("it runs")
            .download()
            .expect("it is there"),
        [2.0]
    );
    let beyond = client
        .allocate(&[i64::MAX, 8])
        .map(drop)
        .expect_err("no address is so large");
    assert_eq!(beyond.code, PjrtErrorCode::RESOURCE_EXHAUSTED);
}
