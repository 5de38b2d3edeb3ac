//! Rules that need elements of other devices: lookups, repeated reductions, halos and batches of custom calls.

use super::programs::{bytes_of, compare_text};

/// A program of some shardings over a mesh of `x` and `y`, with its body.
fn make_program(arguments: &str, body: &str) -> String {
    let arguments = arguments.replace("<[", "{sdy.sharding = #sdy.sharding<@mesh, [");
    let arguments = arguments.replace("]>", "]>}");
    format!("sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\nfunc.func @main({arguments}) -> {body}\n")
}

#[test]
fn tables_are_looked_up_where_they_are() {
    for (index, convert) in [
        ("i32", "i32"),
        ("ui32", "ui32"),
        ("i64", "i64"),
        ("i8", "i8"),
    ] {
        let report = compare_text(&make_program(
            r#"%table: tensor<64x8xf32> <[{"x"}, {"y"}]>, %x: tensor<6xf32>"#,
            &format!(
                r#"tensor<6x8xf32> {{
  %scale = stablehlo.constant dense<100.0> : tensor<6xf32>
  %0 = stablehlo.multiply %x, %scale : tensor<6xf32>
  %1 = stablehlo.abs %0 : tensor<6xf32>
  %i = stablehlo.convert %1 : (tensor<6xf32>) -> tensor<6x{convert}>
  %2 = "stablehlo.gather"(%table, %i) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>, indices_are_sorted = false}}> : (tensor<64x8xf32>, tensor<6x{index}>) -> tensor<6x8xf32>
  return %2 : tensor<6x8xf32>
}}"#
            ),
        ));
        // A device has four of eight columns of the result.
        assert_eq!(
            bytes_of(&report, "all_reduce"),
            2.0 * 96.0 * 0.75,
            "{index}"
        );
    }
}

#[test]
fn components_select_along_several_dimensions() {
    let report = compare_text(&make_program(
        r#"%table: tensor<8x6x4xf32> <[{"x"}, {"y"}, {}]>, %x: tensor<5x2xf32>"#,
        r#"tensor<5x4xf32> {
  %scale = stablehlo.constant dense<9.0> : tensor<5x2xf32>
  %0 = stablehlo.multiply %x, %scale : tensor<5x2xf32>
  %i = stablehlo.convert %0 : (tensor<5x2xf32>) -> tensor<5x2xi32>
  %1 = "stablehlo.gather"(%table, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [1, 0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<8x6x4xf32>, tensor<5x2xi32>) -> tensor<5x4xf32>
  return %1 : tensor<5x4xf32>
}"#,
    ));
    assert_eq!(bytes_of(&report, "all_reduce"), 2.0 * 80.0 * 0.875);
    assert_eq!(bytes_of(&report, "all_gather"), 0.0);
}

/// Shardings of indices and updates.
const SPLIT_UPDATES: [&str; 2] = [r#"<[{"x"}]>"#, r#"<[{"x"}, {}]>"#];

/// A change of a table of 64 rows by 256 updates.
fn make_scatter(operation: &str, table: &str, updates: [&str; 2]) -> String {
    let [indices, rows] = updates;
    make_program(
        &format!(
            r#"%table: tensor<64x8xf32> {table}, %x: tensor<256xf32> {indices}, %u: tensor<256x8xf32> {rows}"#
        ),
        &format!(
            r#"tensor<64x8xf32> {{
  %scale = stablehlo.constant dense<70.0> : tensor<256xf32>
  %0 = stablehlo.multiply %x, %scale : tensor<256xf32>
  %i = stablehlo.convert %0 : (tensor<256xf32>) -> tensor<256xi32>
  %1 = "stablehlo.scatter"(%table, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    {operation}
  }}) : (tensor<64x8xf32>, tensor<256xi32>, tensor<256x8xf32>) -> tensor<64x8xf32>
  return %1 : tensor<64x8xf32>
}}"#
        ),
    )
}

#[test]
fn tables_are_changed_where_they_are() {
    let add = "%s = stablehlo.add %a, %b : tensor<f32>\n stablehlo.return %s : tensor<f32>";
    let replace = "stablehlo.return %b : tensor<f32>";
    for operation in [add, replace] {
        let text = make_scatter(operation, r#"<[{"x"}, {"y"}]>"#, ["", ""]);
        let report = compare_text(&text);
        assert_eq!(report.moved_bytes(), 0.0);
    }
}

#[test]
fn updates_that_are_split_are_summed() {
    for name in ["add", "multiply", "maximum"] {
        let operation = format!(
            "%s = stablehlo.{name} %a, %b : tensor<f32>\n stablehlo.return %s : tensor<f32>"
        );
        let text = make_scatter(&operation, "", SPLIT_UPDATES);
        let report = compare_text(&text);
        assert_eq!(
            bytes_of(&report, "all_reduce"),
            2.0 * 2048.0 * 0.75,
            "{name}"
        );
    }
    // The order of updates matters where the last one remains.
    let text = make_scatter("stablehlo.return %b : tensor<f32>", "", SPLIT_UPDATES);
    let report = compare_text(&text);
    assert_eq!(bytes_of(&report, "all_reduce"), 0.0);
}

#[test]
fn single_elements_are_sliced_and_updated_where_they_are() {
    for index in ["i32", "ui8", "i64"] {
        let report = compare_text(&make_program(
            r#"%cache: tensor<16x64xf32> <[{"x"}, {"y"}]>, %new: tensor<1x64xf32> <[{}, {"y"}]>, %p: tensor<f32>"#,
            &format!(
                r#"(tensor<16x64xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}}, tensor<1x64xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"y"}}]>}}) {{
  %ten = stablehlo.constant dense<20.0> : tensor<f32>
  %0 = stablehlo.multiply %p, %ten : tensor<f32>
  %1 = stablehlo.abs %0 : tensor<f32>
  %i = stablehlo.convert %1 : (tensor<f32>) -> tensor<{index}>
  %z = stablehlo.constant dense<0> : tensor<{index}>
  %2 = stablehlo.dynamic_update_slice %cache, %new, %i, %z : (tensor<16x64xf32>, tensor<1x64xf32>, tensor<{index}>, tensor<{index}>) -> tensor<16x64xf32>
  %3 = stablehlo.dynamic_slice %2, %i, %z, sizes = [1, 64] : (tensor<16x64xf32>, tensor<{index}>, tensor<{index}>) -> tensor<1x64xf32>
  return %2, %3 : tensor<16x64xf32>, tensor<1x64xf32>
}}"#
            ),
        ));
        // The row of 32 columns that one device has is added to zeros of the others.
        assert_eq!(report.moved_bytes(), 2.0 * 128.0 * 0.75, "{index}");
    }
}

#[test]
fn reductions_of_several_operands_are_repeated() {
    let report = compare_text(&make_program(
        r#"%x: tensor<8x32xf32> <[{"y"}, {"x"}]>"#,
        r#"(tensor<8xf32>, tensor<8xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<8x32xi32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %least), (%i init: %zero) across dimensions = [1] : (tensor<8x32xf32>, tensor<8x32xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
  reducer(%a: tensor<f32>, %b: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %more = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %same = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %first = stablehlo.compare LT, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tie = stablehlo.and %same, %first : tensor<i1>
    %take = stablehlo.or %more, %tie : tensor<i1>
    %v = stablehlo.select %take, %a, %b : tensor<i1>, tensor<f32>
    %w = stablehlo.select %take, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xi32>
}"#,
    ));
    // Numbers and positions of four rows, from three other devices.
    assert_eq!(report.moved_bytes(), 2.0 * (3.0 * 16.0));
}

/// The first value of a sum counts once.
#[test]
fn initial_values_count_once() {
    for init in ["0.0", "5.0"] {
        let report = compare_text(&make_program(
            r#"%x: tensor<32xf32> <[{"x"}]>"#,
            &format!(
                r#"tensor<f32> {{
  %init = stablehlo.constant dense<{init}> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}}"#
            ),
        ));
        assert_eq!(report.moved_bytes(), 2.0 * 4.0 * 0.75);
    }
}

fn make_convolution(size: u64, output: u64, window: &str) -> String {
    make_program(
        &format!(
            r#"%x: tensor<1x{size}x8x4xf32> <[{{}}, {{"x"}}, {{}}, {{}}]>, %k: tensor<3x3x4x4xf32>"#
        ),
        &format!(
            r#"(tensor<1x{output}x8x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"x"}}, {{}}, {{}}]>}}) {{
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{{window}}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : (tensor<1x{size}x8x4xf32>, tensor<3x3x4x4xf32>) -> tensor<1x{output}x8x4xf32>
  return %0 : tensor<1x{output}x8x4xf32>
}}"#
        ),
    )
}

#[test]
fn convolutions_exchange_halos() {
    let row = 8.0 * 4.0 * 4.0;
    let cases = [
        (32, 32, "pad = [[1, 1], [1, 1]]", 2.0),
        (32, 32, "pad = [[2, 2], [1, 1]], rhs_dilate = [2, 1]", 4.0),
        (32, 32, "pad = [[2, 0], [1, 1]]", 2.0),
        (32, 16, "stride = [2, 1], pad = [[0, 1], [1, 1]]", 1.0),
        (32, 16, "stride = [2, 1], pad = [[1, 1], [1, 1]]", 1.0),
        (16, 32, "pad = [[2, 1], [1, 1]], lhs_dilate = [2, 1]", 1.0),
        (16, 32, "pad = [[1, 2], [1, 1]], lhs_dilate = [2, 1]", 1.0),
        (
            16,
            32,
            "pad = [[1, 2], [1, 1]], lhs_dilate = [2, 1], reverse = [true, false]",
            1.0,
        ),
    ];
    for (size, output, window, rows) in cases {
        let report = compare_text(&make_convolution(size, output, window));
        assert_eq!(
            bytes_of(&report, "collective_permute"),
            rows * row,
            "{window}"
        );
        assert_eq!(report.moved_bytes(), rows * row, "{window}");
    }
}

/// The gradient of a kernel is a convolution whose kernel is as large as the input.
#[test]
fn gradients_of_kernels_exchange_halos() {
    let report = compare_text(&make_program(
        r#"%x: tensor<2x32x4x8xf32> <[{}, {"x"}, {}, {}]>, %g: tensor<2x32x4x8xf32> <[{}, {"x"}, {}, {}]>"#,
        r#"tensor<3x3x8x8xf32> {
  %0 = stablehlo.convolution(%x, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x32x4x8xf32>, tensor<2x32x4x8xf32>) -> tensor<3x3x8x8xf32>
  return %0 : tensor<3x3x8x8xf32>
}"#,
    ));
    assert_eq!(
        bytes_of(&report, "collective_permute"),
        2.0 * (2.0 * 4.0 * 8.0 * 4.0)
    );
    assert_eq!(bytes_of(&report, "all_gather"), 0.0);
}

#[test]
fn windows_exchange_halos() {
    let cases = [
        (
            "stablehlo.maximum",
            "0xFF800000",
            16,
            "window_dimensions = array<i64: 2>, window_strides = array<i64: 2>",
            0.0,
        ),
        (
            "stablehlo.maximum",
            "0xFF800000",
            32,
            "window_dimensions = array<i64: 3>, padding = dense<[[1, 1]]> : tensor<1x2xi64>",
            2.0,
        ),
        (
            "stablehlo.add",
            "1.0",
            32,
            "window_dimensions = array<i64: 4>, padding = dense<[[0, 3]]> : tensor<1x2xi64>",
            3.0,
        ),
        (
            "stablehlo.add",
            "0.0",
            16,
            "window_dimensions = array<i64: 1>, window_strides = array<i64: 2>",
            0.0,
        ),
    ];
    for (name, init, output, window, elements) in cases {
        let report = compare_text(&make_program(
            r#"%x: tensor<32xf32> <[{"x"}]>"#,
            &format!(
                r#"(tensor<{output}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) {{
  %init = stablehlo.constant dense<{init}> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %init) <{{{window}}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = {name} %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) : (tensor<32xf32>, tensor<f32>) -> tensor<{output}xf32>
  return %0 : tensor<{output}xf32>
}}"#
            ),
        ));
        assert_eq!(report.moved_bytes(), 4.0 * elements, "{window}");
    }
}

#[test]
fn batches_of_matrices_stay_split() {
    let report = compare_text(&make_program(
        r#"%a: tensor<8x3x3xf32> <[{"x"}, {}, {}]>, %b: tensor<8x3x2xf32> <[{"x"}, {}, {}]>"#,
        r#"(tensor<8x3x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, tensor<8x3x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<8x3x3xf32>) -> (tensor<8x3x3xf32>, tensor<8x3xi32>, tensor<8xi32>)
  %1 = "stablehlo.triangular_solve"(%0#0, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<8x3x3xf32>, tensor<8x3x2xf32>) -> tensor<8x3x2xf32>
  return %0#0, %1 : tensor<8x3x3xf32>, tensor<8x3x2xf32>
}"#,
    ));
    assert_eq!(report.moved_bytes(), 0.0);
    assert_eq!(report.gathered_count(), 0);
}

/// A sort along a dimension that devices share: they exchange its parts for those of the other dimension.
#[test]
fn whole_dimensions_are_exchanged_for_others() {
    let report = compare_text(&make_program(
        r#"%x: tensor<64x16xf32> <[{"x"}, {}]>"#,
        r#"(tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<64x16xf32>) -> tensor<64x16xf32>
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = "stablehlo.reduce_window"(%x, %init) <{window_dimensions = array<i64: 64, 1>, padding = dense<[[63, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<64x16xf32>, tensor<f32>) -> tensor<64x16xf32>
  return %0, %1 : tensor<64x16xf32>, tensor<64x16xf32>
}"#,
    ));
    // A device exchanges three quarters of its part. The second operation finds the operand of the first.
    assert_eq!(report.moved_bytes(), 3.0 * 1024.0 * 0.75);
    assert_eq!(bytes_of(&report, "all_gather"), 0.0);
    assert_eq!(report.joined.len(), 1);
}

/// A convolution with windows along its first spatial dimension, as far as it has an output. Returns the bytes of halos.
fn compare_geometry(size: u64, kernel: u64, strides: [u64; 3], padding: [i64; 2]) -> Option<f64> {
    let [stride, base, dilation] = strides;
    let extent = (kernel - 1) * dilation + 1;
    let padded = ((size - 1) * base + 1) as i64 + padding[0] + padding[1];
    let output = u64::try_from(padded - extent as i64).ok()? / stride + 1;
    let [low, high] = padding;
    let report = compare_text(&make_program(
        &format!(
            r#"%x: tensor<1x{size}x2xf32> <[{{}}, {{"x"}}, {{}}]>, %k: tensor<{kernel}x2x2xf32>"#
        ),
        &format!(
            r#"tensor<1x{output}x2xf32> {{
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {{stride = [{stride}], pad = [[{low}, {high}]], lhs_dilate = [{base}], rhs_dilate = [{dilation}]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : (tensor<1x{size}x2xf32>, tensor<{kernel}x2x2xf32>) -> tensor<1x{output}x2xf32>
  return %0 : tensor<1x{output}x2xf32>
}}"#
        ),
    ));
    Some(bytes_of(&report, "collective_permute"))
}

#[test]
fn convolutions_of_any_geometry_are_equal() {
    let (mut count, mut exchanged) = (0, 0);
    for code in 0..3 * 3 * 2 * 2 * 2 {
        let strides = [1 + code / 4 % 2, 1 + code / 2 % 2, 1 + code % 2];
        let size = [16, 8, 12][code as usize / 8 % 3];
        let kernel = 1 + code / 24 % 3;
        for padding in [[0, 0], [1, 1], [0, 1], [2, 1], [-1, 2], [3, 0]] {
            if let Some(bytes) = compare_geometry(size, kernel, strides, padding) {
                count += 1;
                exchanged += u64::from(bytes > 0.0);
            }
        }
    }
    assert!(count > 400, "{count}");
    assert!(exchanged > 20, "{exchanged}");
}

#[test]
fn elements_of_any_type_are_looked_up() {
    for ty in [
        "i1",
        "ui8",
        "i64",
        "f16",
        "bf16",
        "f64",
        "complex<f32>",
        "f8E4M3FNUZ",
    ] {
        let report = compare_text(&make_program(
            &format!(r#"%table: tensor<512x{ty}> <[{{"x"}}]>, %x: tensor<5xf32>"#),
            &format!(
                r#"tensor<5x{ty}> {{
  %scale = stablehlo.constant dense<600.0> : tensor<5xf32>
  %0 = stablehlo.multiply %x, %scale : tensor<5xf32>
  %i = stablehlo.convert %0 : (tensor<5xf32>) -> tensor<5xi32>
  %1 = "stablehlo.gather"(%table, %i) <{{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}}> : (tensor<512x{ty}>, tensor<5xi32>) -> tensor<5x{ty}>
  return %1 : tensor<5x{ty}>
}}"#
            ),
        ));
        assert_eq!(bytes_of(&report, "all_gather"), 0.0, "{ty}");
    }
}

/// The reciprocals of looked-up zeros are infinities of the same sign.
#[test]
fn looked_up_zeros_keep_their_sign() {
    let report = compare_text(&make_program(
        r#"%table: tensor<512xf32> <[{"x"}]>"#,
        r#"tensor<6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<512xf32>
  %signed = stablehlo.multiply %table, %zeros : tensor<512xf32>
  %i = stablehlo.constant dense<[0, 100, 200, 300, 400, 511]> : tensor<6xi32>
  %0 = "stablehlo.gather"(%signed, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<512xf32>, tensor<6xi32>) -> tensor<6xf32>
  %one = stablehlo.constant dense<1.0> : tensor<6xf32>
  %1 = stablehlo.divide %one, %0 : tensor<6xf32>
  return %1 : tensor<6xf32>
}"#,
    ));
    assert!(bytes_of(&report, "all_reduce") > 0.0);
}

/// Quantised results are rounded, so that partial ones are not added up.
#[test]
fn quantised_products_are_whole() {
    let report = compare_text(&make_program(
        r#"%a: tensor<4x64xf32> <[{}, {"x"}]>, %b: tensor<64x4xf32> <[{"x"}, {}]>"#,
        r#"tensor<4x4xf32> {
  %0 = stablehlo.uniform_quantize %a : (tensor<4x64xf32>) -> tensor<4x64x!quant.uniform<i8:f32, 0.02:3>>
  %1 = stablehlo.uniform_quantize %b : (tensor<64x4xf32>) -> tensor<64x4x!quant.uniform<i8:f32, 0.02>>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<4x64x!quant.uniform<i8:f32, 0.02:3>>, tensor<64x4x!quant.uniform<i8:f32, 0.02>>) -> tensor<4x4x!quant.uniform<i8:f32, 0.1:-5>>
  %3 = stablehlo.uniform_dequantize %2 : (tensor<4x4x!quant.uniform<i8:f32, 0.1:-5>>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}"#,
    ));
    assert_eq!(bytes_of(&report, "all_reduce"), 0.0);
}

/// Shifts by padding, elements that are spread, and every second element.
#[test]
fn pads_and_slices_with_strides_exchange_halos() {
    let cases = [
        (
            "pad %x, %f, low = [2], high = [-2], interior = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<32xf32>",
            32,
            2.0,
        ),
        (
            "pad %x, %f, low = [-1], high = [1], interior = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<32xf32>",
            32,
            1.0,
        ),
        (
            "pad %x, %f, low = [1], high = [0], interior = [1] : (tensor<32xf32>, tensor<f32>) -> tensor<64xf32>",
            64,
            0.0,
        ),
        (
            "pad %x, %f, low = [3], high = [-1], interior = [2] : (tensor<32xf32>, tensor<f32>) -> tensor<96xf32>",
            96,
            1.0,
        ),
        (
            "slice %x [1:32:2] : (tensor<32xf32>) -> tensor<16xf32>",
            16,
            0.0,
        ),
        (
            "slice %x [0:31:2] : (tensor<32xf32>) -> tensor<16xf32>",
            16,
            0.0,
        ),
        (
            "slice %x [2:31:4] : (tensor<32xf32>) -> tensor<8xf32>",
            8,
            0.0,
        ),
    ];
    for (operation, size, elements) in cases {
        let report = compare_text(&make_program(
            r#"%x: tensor<32xf32> <[{"x"}]>"#,
            &format!(
                r#"(tensor<{size}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) {{
  %f = stablehlo.constant dense<5.0> : tensor<f32>
  %0 = stablehlo.{operation}
  return %0 : tensor<{size}xf32>
}}"#
            ),
        ));
        assert_eq!(report.moved_bytes(), 4.0 * elements, "{operation}");
    }
}

#[test]
fn rotations_exchange_halos() {
    for (by, elements) in [(1, 1.0), (8, 8.0), (30, 2.0), (16, 24.0)] {
        let rest = 32 - by;
        let report = compare_text(&make_program(
            r#"%x: tensor<32xf32> <[{"x"}]>"#,
            &format!(
                r#"(tensor<32xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) {{
  %0 = stablehlo.slice %x [{by}:32] : (tensor<32xf32>) -> tensor<{rest}xf32>
  %1 = stablehlo.slice %x [0:{by}] : (tensor<32xf32>) -> tensor<{by}xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<{rest}xf32>, tensor<{by}xf32>) -> tensor<32xf32>
  %3 = stablehlo.add %x, %2 : tensor<32xf32>
  return %3 : tensor<32xf32>
}}"#
            ),
        ));
        // Elements of parts beyond the neighbours are gathered.
        assert_eq!(report.moved_bytes(), 4.0 * elements, "{by}");
    }
}

/// Convolutions whose features or batches are in groups, of which each device has some.
#[test]
fn groups_of_convolutions_are_shared() {
    let features = make_program(
        r#"%x: tensor<2x8x8xf32> <[{}, {}, {"x"}]>, %k: tensor<3x1x16xf32>"#,
        r#"(tensor<2x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<2x8x8xf32>, tensor<3x1x16xf32>) -> tensor<2x8x16xf32>
  return %0 : tensor<2x8x16xf32>
}"#,
    );
    let batches = make_program(
        r#"%x: tensor<8x8x4xf32> <[{"x"}, {}, {}]>, %k: tensor<3x4x16xf32>"#,
        r#"(tensor<2x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<8x8x4xf32>, tensor<3x4x16xf32>) -> tensor<2x8x16xf32>
  return %0 : tensor<2x8x16xf32>
}"#,
    );
    for text in [features, batches] {
        assert_eq!(compare_text(&text).moved_bytes(), 0.0);
    }
}
