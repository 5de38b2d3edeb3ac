//! Manual computations.

use super::programs::{bytes_of, compare_text, find_error};
use spirula_partition::{PartitionOptions, asks_for_layouts, inspect_layouts};
use spirula_stablehlo::mlir::parse_text;

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

/// Arguments, results and constraints that are sums over devices.
#[test]
fn sums_over_devices_cross_the_boundary() {
    for (given, wanted) in [
        (r#"[{"x"}, {}], unreduced={"y"}"#, "[{}, {}]"),
        ("[{}, {}]", r#"[{"y"}, {}], unreduced={"x"}"#),
        (
            r#"[{}, {}], unreduced={"x", "y"}"#,
            r#"[{}, {"x"}], unreduced={"y"}"#,
        ),
    ] {
        let report = compare_text(&format!(
            r#"
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<8x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, {given}>}}) -> (tensor<8x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, {wanted}>}}) {{
  %0 = stablehlo.multiply %a, %a : tensor<8x4xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{{"x"}}, {{}}], unreduced={{"y"}}> : tensor<8x4xf32>
  %2 = stablehlo.add %1, %a : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}}"#
        ));
        let sums = bytes_of(&report, "all_reduce");
        assert_eq!(sums > 0.0, given.contains("unreduced"), "{given}");
    }
}

/// The body of a manual computation has summands.
#[test]
fn sums_over_devices_enter_manual_computations() {
    compare_text(
        r#"
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<2x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %1:2 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}], unreduced={"y"}>] out_shardings=[<@mesh, [{"x"}, {}], unreduced={"y"}>, <@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%p: tensor<2x4xf32>, %q: tensor<2x4xf32>) {
    %s = stablehlo.subtract %p, %q : tensor<2x4xf32>
    %r = "stablehlo.all_reduce"(%q) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
    ^bb0(%l: tensor<f32>, %m: tensor<f32>):
      %t = stablehlo.add %l, %m : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    sdy.return %s, %r : tensor<2x4xf32>, tensor<2x4xf32>
  } : (tensor<8x4xf32>, tensor<2x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  return %1#0, %1#1 : tensor<8x4xf32>, tensor<8x4xf32>
}"#,
    );
}

#[test]
fn groups_name_axes_of_a_mesh() {
    for (axes, devices) in [("\"x\"", 4), ("\"y\"", 2)] {
        let axes = format!("#stablehlo.axis_ref<name = {axes}>");
        let rows = 8 / 4 * devices;
        compare_text(&format!(
            r#"
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}}) -> tensor<{}x{}xf32> {{
  %1 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{{"x"}}, {{"y"}}]>] out_shardings=[<@mesh, [{{"x"}}, {{"y"}}]>] manual_axes={{"x", "y"}} (%p: tensor<2x4xf32>) {{
    %s = "stablehlo.all_gather"(%p) <{{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [{axes}]>, use_global_device_ids}}> : (tensor<2x4xf32>) -> tensor<{rows}x4xf32>
    sdy.return %s : tensor<{rows}x4xf32>
  }} : (tensor<8x8xf32>) -> tensor<{}x{}xf32>
  return %1 : tensor<{}x{}xf32>
}}"#,
            rows * 4,
            8,
            rows * 4,
            8,
            rows * 4,
            8
        ));
    }
}

/// A product in a computation that is manual along `x`, over a dimension that `y` splits.
fn make_free_axes(weights: &str) -> String {
    format!(
        r#"
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}},
                %w: tensor<16x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}, {{}}]>}}) -> tensor<8x4xf32> {{
  %1 = sdy.manual_computation(%a, %w) in_shardings=[<@mesh, [{{"x", ?}}, {{?}}]>, <@mesh, {weights}>] out_shardings=[<@mesh, [{{"x", ?}}, {{?}}]>] manual_axes={{"x"}} (%p: tensor<2x16xf32>, %q: tensor<16x4xf32>) {{
    %m = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
    %s = "stablehlo.all_reduce"(%m) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}}> ({{
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %t = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }}) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %i = stablehlo.partition_id : tensor<ui32>
    %f = stablehlo.constant dense<2> : tensor<ui32>
    %j = stablehlo.divide %i, %f : tensor<ui32>
    %k = stablehlo.convert %j : (tensor<ui32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %n = stablehlo.add %s, %b : tensor<2x4xf32>
    %d = stablehlo.subtract %n, %m : tensor<2x4xf32>
    sdy.return %d : tensor<2x4xf32>
  }} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}}"#
    )
}

#[test]
fn free_axes_split_the_body() {
    let report = compare_text(&make_free_axes("[{?}, {?}]"));
    // The product of two rows is summed over `y`; the program's own sum is not counted.
    assert_eq!(report.moved_bytes(), 2.0 * 32.0 * 0.5);
    assert_eq!(bytes_of(&report, "all_gather"), 0.0);
    // A closed dimension keeps the weights whole.
    let report = compare_text(&make_free_axes("[{}, {}]"));
    assert!(report.moved_bytes() > 32.0);
}

#[test]
fn manual_computations_nest() {
    let report = compare_text(
        r#"
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"z"}]>}) -> tensor<8x8xf32> {
  %1 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}, {?}]>] out_shardings=[<@mesh, [{"x", ?}, {?}]>] manual_axes={"x"} (%p: tensor<4x8xf32>) {
    %t = stablehlo.tanh %p : tensor<4x8xf32>
    %2 = sdy.manual_computation(%t) in_shardings=[<@mesh, [{"y"}, {?}]>] out_shardings=[<@mesh, [{"y"}, {?}]>] manual_axes={"y"} (%q: tensor<2x8xf32>) {
      %s = "stablehlo.all_gather"(%q) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3], [4, 6], [5, 7]]> : tensor<4x2xi64>, use_global_device_ids}> : (tensor<2x8xf32>) -> tensor<4x8xf32>
      %u = stablehlo.slice %s [1:3, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
      %d = stablehlo.subtract %q, %u : tensor<2x8xf32>
      sdy.return %d : tensor<2x8xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    sdy.return %2 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}"#,
    );
    assert_eq!(report.moved_bytes(), 0.0);
}

#[test]
fn wrong_manual_computations_are_refused() {
    let make = |outer: &str, inner: &str, axes: &str| {
        format!(
            r#"
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {{
  %1 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{outer}, {{}}]>] out_shardings=[<@mesh, [{outer}, {{}}]>] manual_axes={{"x"}} (%p: tensor<4x8xf32>) {{
    %2 = sdy.manual_computation(%p) in_shardings=[<@mesh, [{inner}, {{}}]>] out_shardings=[<@mesh, [{inner}, {{}}]>] manual_axes={{{axes}}} (%q: tensor<2x8xf32>) {{
      sdy.return %q : tensor<2x8xf32>
    }} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    sdy.return %2 : tensor<4x8xf32>
  }} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}}"#
        )
    };
    let cases = [
        (
            r#"{"y", "x"}"#,
            r#"{"y"}"#,
            r#""y""#,
            "a manual axis stands after another one",
        ),
        (
            r#"{"x"}"#,
            r#"{"x"}"#,
            r#""x""#,
            "an axis that is manual already",
        ),
        (r#"{"x"}"#, r#"{}"#, r#""y""#, "have other sizes"),
    ];
    for (outer, inner, axes, wanted) in cases {
        let message = find_error(&make(outer, inner, axes));
        assert!(message.contains(wanted), "{message}");
    }
}

/// Slices of different sizes, and a collective that begins and ends in two operations. Other dimensions stay split.
#[test]
fn exchanges_become_simpler_collectives() {
    compare_text(
        r#"
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %starts = stablehlo.constant dense<[0, 1, 0, 1]> : tensor<4xi32>
  %counts = stablehlo.constant dense<[1, 2, 1, 1]> : tensor<4xi32>
  %targets = stablehlo.constant dense<[0, 0, 1, 2]> : tensor<4xi32>
  %0 = sdy.manual_computation(%a, %b, %starts, %counts, %targets) in_shardings=[<@mesh, [{"x"}, {?}]>, <@mesh, [{"x"}, {?}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}, {?}]>] manual_axes={"x"} (%p: tensor<3x4xf32>, %q: tensor<4x4xf32>, %s: tensor<2xi32>, %c: tensor<2xi32>, %t: tensor<2xi32>) {
    %1 = stablehlo.custom_call @ragged_all_to_all(%p, %q, %s, %c, %t, %c) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}} : (tensor<3x4xf32>, tensor<4x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x4xf32>
    %f = "stablehlo.async_start"(%1) ({
    ^bb0(%u: tensor<4x4xf32>):
      %v = "stablehlo.all_reduce"(%u) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %w = stablehlo.add %l, %r : tensor<f32>
        stablehlo.return %w : tensor<f32>
      }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      stablehlo.return %v : tensor<4x4xf32>
    }) : (tensor<4x4xf32>) -> !stablehlo.future<tensor<4x4xf32>>
    %d = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4x4xf32>>) -> tensor<4x4xf32>
    %z = stablehlo.subtract %d, %1 : tensor<4x4xf32>
    sdy.return %z : tensor<4x4xf32>
  } : (tensor<6x4xf32>, tensor<8x4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}"#,
    );
}

/// Layouts that a program asks for: of results, of values in functions that are called, and in manual computations.
#[test]
fn layouts_are_reported() {
    let text = r#"
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func private @inspect(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.sine %a : tensor<4x8xf32>
  %1 = stablehlo.custom_call @InspectSharding(%0) {backend_config = "sine", has_side_effect = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x4xf32> {
  %0 = call @inspect(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.custom_call @InspectSharding(%1) {backend_config = "turned", has_side_effect = true} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%p: tensor<4x4xf32>) {
    %4 = stablehlo.custom_call @InspectSharding(%p) {backend_config = "manual", has_side_effect = true} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    sdy.return %p : tensor<4x4xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}"#;
    let module = parse_text(text.as_bytes()).expect("a program");
    assert!(asks_for_layouts(&module));
    let found = inspect_layouts(&module, "main", &PartitionOptions::default());
    let found = found.expect("layouts");
    let shown: Vec<String> = found
        .iter()
        .map(|own| format!("{} {:?} {:?}", own.key, own.tiles, own.devices))
        .collect();
    assert_eq!(
        shown,
        [
            "sine [1, 2, 2] [0, 1, 2, 3]",
            "turned [2, 1, 2] [0, 1, 2, 3]",
            "manual [] []",
        ]
    );
    compare_text(text);
}
