//! Programs with shardings of their own.

use super::compare::{PartitionVerdict, SkipReason, compare_program};
use spirula_partition::{PartitionOptions, PartitionReport, partition_module};
use spirula_stablehlo::mlir::parse_text;

/// The report of a program whose results are equal.
pub fn compare_text(text: &str) -> PartitionReport {
    let module = parse_text(text.as_bytes()).expect("a program");
    match compare_program(&module, None, &[], 1 << 22) {
        PartitionVerdict::Equal(report) => report,
        PartitionVerdict::Wrong(message) => panic!("{message}"),
        PartitionVerdict::Skipped(SkipReason::Unsupported) => panic!("not translated"),
        PartitionVerdict::Skipped(SkipReason::Work) => panic!("too long"),
    }
}

/// Bytes that collectives of a kind move.
pub fn bytes_of(report: &PartitionReport, name: &str) -> f64 {
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

/// The message of the error of a partitioning.
pub fn find_error(text: &str) -> String {
    let module = parse_text(text.as_bytes()).expect("a program");
    match partition_module(&module, "main", &PartitionOptions::default()) {
        Ok(_) => panic!("it is partitioned"),
        Err(error) => error.to_string(),
    }
}

/// A constraint that does not divide its tensor leaves it whole.
#[test]
fn constraints_may_be_uneven() {
    compare_text(
        r#"
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<6x3xf32>) -> tensor<6x3xf32> {
  %0 = stablehlo.tanh %a : tensor<6x3xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x", "y"}, {}]> : tensor<6x3xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"y"}]> : tensor<6x3xf32>
  %3 = stablehlo.add %1, %2 : tensor<6x3xf32>
  return %3 : tensor<6x3xf32>
}"#,
    );
}

#[test]
fn wrong_shardings_are_refused() {
    let cases = [
        (
            r#"["x"=4]"#,
            r#"[{"x"}, {}]"#,
            "4 devices do not divide dimension 0 of 6",
        ),
        (
            r#"["x"=2, "y"=2]"#,
            r#"[{"x"}, {"x"}]"#,
            "a sharding splits a tensor by one axis twice",
        ),
        (
            r#"["x"=2]"#,
            r#"[{"x"}]"#,
            "a sharding of 1 dimensions is for a tensor of 2",
        ),
        (
            r#"["x"=4]"#,
            r#"[{"x":(3)2}, {}]"#,
            "a sharding has a wrong part of axis",
        ),
        (
            r#"["x"=2], device_ids=[1, 2]"#,
            r#"[{"x"}, {}]"#,
            "the devices of a mesh are not numbered from zero on",
        ),
        (
            r#"["x"=2]"#,
            r#"[{"x"}, {}], unreduced={"x"}"#,
            "a sharding in `arg_attrs` is malformed",
        ),
    ];
    for (mesh, sharding, wanted) in cases {
        let text = format!(
            r#"
sdy.mesh @mesh = <{mesh}>
func.func @main(%a: tensor<6x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}) -> tensor<6x4xf32> {{
  return %a : tensor<6x4xf32>
}}"#
        );
        let message = find_error(&text);
        assert!(message.contains(wanted), "{sharding}: {message}");
    }
}

#[test]
fn recursion_and_unknown_sizes_are_refused() {
    let recursive = r#"
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @main(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"#;
    assert!(find_error(recursive).contains("a function calls itself"));
    let dynamic = r#"
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  return %a : tensor<?xf32>
}"#;
    assert!(find_error(dynamic).contains("unknown size"));
}

/// The number of operations does not depend on the number of devices.
#[test]
fn programs_for_many_devices_are_no_longer() {
    let count = |side: u64| {
        let body: String = (0..200)
            .map(|at| {
                format!(
                    "  %p{at} = stablehlo.dot_general %x{at}, %w, contracting_dims = [1] x [0] : \
                     (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>\n  \
                     %x{} = stablehlo.tanh %p{at} : tensor<4096x4096xf32>\n",
                    at + 1
                )
            })
            .collect();
        let text = format!(
            r#"
sdy.mesh @mesh = <["x"={side}, "y"={side}]>
func.func @main(%x0: tensor<4096x4096xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}},
                %w: tensor<4096x4096xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}, {{}}]>}}) -> tensor<4096x4096xf32> {{
{body}
  return %x200 : tensor<4096x4096xf32>
}}"#
        );
        let module = parse_text(text.as_bytes()).expect("a program");
        let options = PartitionOptions::default();
        let partitioned = partition_module(&module, "main", &options).expect("it is partitioned");
        partitioned.module.op_count()
    };
    assert_eq!(count(2), count(64));
}
