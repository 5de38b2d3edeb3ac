//! Programs with shardings of their own.

use super::compare::{PartitionVerdict, SkipReason, compare_program};
use spirula_partition::PartitionReport;
use spirula_stablehlo::mlir::parse_text;

/// The report of a program whose results are equal.
fn compare_text(text: &str) -> PartitionReport {
    let module = parse_text(text.as_bytes()).expect("a program");
    match compare_program(&module, None, &[], 1 << 22) {
        PartitionVerdict::Equal(report) => report,
        PartitionVerdict::Wrong(message) => panic!("{message}"),
        PartitionVerdict::Skipped(SkipReason::Unsupported) => panic!("not translated"),
        PartitionVerdict::Skipped(SkipReason::Work) => panic!("too long"),
    }
}

/// Bytes that collectives of a kind move.
fn bytes_of(report: &PartitionReport, name: &str) -> f64 {
    report.collectives.get(name).map_or(0.0, |own| own.bytes)
}

#[test]
fn products_are_summed_over_contracted_axes() {
    let report = compare_text(
        r#"
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>},
                %b: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.tanh %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}"#,
    );
    // Four rows of four numbers, of which a device receives three quarters twice.
    assert_eq!(bytes_of(&report, "all_reduce"), 2.0 * 64.0 * 0.75);
    assert_eq!(report.collectives.len(), 1);
}

#[test]
fn sums_that_are_split_are_scattered() {
    let report = compare_text(
        r#"
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                %b: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}"#,
    );
    assert_eq!(report.collectives.len(), 1);
    assert_eq!(bytes_of(&report, "reduce_scatter"), 128.0 * 0.75);
}

#[test]
fn loops_carry_parts() {
    let report = compare_text(
        r#"
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>})
    -> (tensor<8x8xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %x = %a, %v = %w) : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %y = func.call @step(%x, %v) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %next, %y, %v : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0#1 init: %f) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0#1, %1 : tensor<8x8xf32>, tensor<8xf32>
}
func.func private @step(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}"#,
    );
    assert_eq!(report.gathered_count(), 0);
}

#[test]
fn shardings_move_between_dimensions() {
    let report = compare_text(
        r#"
sdy.mesh @mesh = <["x"=4, "y"=2], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xi32>) {
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {"y", "x"}]> : tensor<8x16xf32>
  %1 = sdy.sharding_constraint %a <@mesh, [{"y", "x"}, {}]> : tensor<8x16xf32>
  %2 = sdy.sharding_constraint %a <@mesh, [{"x":(2)2}, {"y"}]> : tensor<8x16xf32>
  %i = stablehlo.iota dim = 1 : tensor<8x16xi32>
  %3 = sdy.sharding_constraint %i <@mesh, [{"x"}, {"y"}]> : tensor<8x16xi32>
  return %0, %1, %2, %3 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xi32>
}"#,
    );
    assert!(bytes_of(&report, "all_to_all") > 0.0);
}

#[test]
fn manual_computations_stay() {
    compare_text(
        r#"
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %a : tensor<8x4xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%p: tensor<2x4xf32>) {
    %s = "stablehlo.all_reduce"(%p) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %t = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %d = stablehlo.subtract %p, %s : tensor<2x4xf32>
    sdy.return %d : tensor<2x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}"#,
    );
}

#[test]
fn shardings_that_do_not_divide_are_refused() {
    let text = r#"
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<6xf32> {
  return %a : tensor<6xf32>
}"#;
    let module = parse_text(text.as_bytes()).expect("a program");
    let verdict = compare_program(&module, None, &[], 1 << 20);
    let PartitionVerdict::Wrong(message) = verdict else {
        panic!("it is partitioned");
    };
    assert!(
        message.contains("4 devices do not divide dimension 0 of 6"),
        "{message}"
    );
}
