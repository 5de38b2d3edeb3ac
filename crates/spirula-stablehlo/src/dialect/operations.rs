//! Operations, one row each; operations that differ in nothing but their names share one.

use super::attributes::Kind;
use super::custom;
use crate::mlir::text::{Draft, Parser, Result};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::LazyLock;

/// What is known of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    /// Dialect and names.
    pub names: (&'static str, &'static [&'static str]),
    /// Attributes that belong to it: `name:kind name:kind …`, `?` behind those that may be
    /// missing.
    pub attributes: &'static str,
    /// How it is written if not generically.
    pub form: Form,
    /// Whether its regions see no values from outside.
    pub isolated: bool,
}

/// How an operation is written if not generically.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// Only in the generic form.
    Generic,
    /// As a format says (see the module `mlir::text::format`).
    Format(&'static str, Types),
    /// As a function reads it, from behind the name up to the location.
    Custom(for<'a, 'b> fn(&'b mut Parser<'a>, &'b mut Draft<'a>) -> Result<()>),
}

/// What types behind an operation mean that are neither `(…) -> …` nor `…, … -> …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Types {
    /// There is no such form.
    Functional,
    /// One type: that of all operands and of the result.
    Same,
    /// The types of the operands, which are those of the results.
    Pairwise,
    /// The types of the operands, or one for all; there are no results.
    Operands,
    /// The types of the condition and of the result.
    Select,
    /// The type of the result, which has the operands as its parts.
    Complex,
    /// The type of the tuple that has the operands as its members.
    Tuple,
}

impl Operation {
    /// The kind of an attribute that belongs to the operation.
    pub fn attribute(&self, name: &str) -> Option<Kind> {
        let mut all = self.attributes.split_ascii_whitespace();
        let kind = all.find_map(|row| row.strip_prefix(name)?.strip_prefix(':'))?;
        Some(match kind.trim_end_matches('?') {
            "i64s" => Kind::I64s,
            "bools" => Kind::Bools,
            "i64" => Kind::Integer(64),
            "i32" => Kind::Integer(32),
            _ => Kind::Any,
        })
    }

    /// The names of the row, for messages.
    pub fn shown(&self) -> String {
        format!("{}.{}", self.names.0, self.names.1.join("/"))
    }
}

const fn row(
    dialect: &'static str,
    names: &'static [&'static str],
    attributes: &'static str,
    form: Form,
) -> Operation {
    Operation {
        names: (dialect, names),
        attributes,
        form,
        isolated: false,
    }
}

const fn isolated(operation: Operation) -> Operation {
    Operation {
        isolated: true,
        ..operation
    }
}

const fn functional(format: &'static str) -> Form {
    Form::Format(format, Types::Functional)
}

const fn same(format: &'static str) -> Form {
    Form::Format(format, Types::Same)
}

/// Attributes that calls of collectives share.
const WINDOW: &str = "window_dimensions:i64s window_strides:i64s? base_dilations:i64s? \
    window_dilations:i64s? padding:elements?";
const CONVOLUTION: &str = "window_strides:i64s? padding:elements? lhs_dilation:i64s? \
    rhs_dilation:i64s? window_reversal:bools? dimension_numbers:conv feature_group_count:i64 \
    batch_group_count:i64 precision_config:precisions?";

/// All operations.
const OPERATIONS: &[Operation] = &[
    isolated(row(
        "builtin",
        &["module"],
        "sym_name:string? sym_visibility:string?",
        Form::Custom(custom::module),
    )),
    isolated(row(
        "func",
        &["func"],
        "sym_name:string function_type:type sym_visibility:string? arg_attrs:any? res_attrs:any? \
         no_inline:unit?",
        Form::Custom(custom::function),
    )),
    row(
        "func",
        &["call"],
        "callee:symbol arg_attrs:any? res_attrs:any? no_inline:unit?",
        functional("<callee:symbol> (%*)"),
    ),
    row("func", &["return"], "", Form::Format("%*", Types::Operands)),
    row(
        "stablehlo",
        &[
            "abs",
            "and",
            "atan2",
            "ceil",
            "count_leading_zeros",
            "divide",
            "floor",
            "imag",
            "is_finite",
            "maximum",
            "minimum",
            "multiply",
            "negate",
            "not",
            "or",
            "popcnt",
            "power",
            "real",
            "remainder",
            "round_nearest_afz",
            "round_nearest_even",
            "shift_left",
            "shift_right_arithmetic",
            "shift_right_logical",
            "sign",
            "subtract",
            "xor",
            "add",
            "uniform_quantize",
            "uniform_dequantize",
            "clamp",
            "convert",
            "after_all",
        ],
        "",
        same("%*"),
    ),
    row(
        "stablehlo",
        &[
            "cbrt",
            "cosine",
            "exponential",
            "exponential_minus_one",
            "log",
            "log_plus_one",
            "logistic",
            "rsqrt",
            "sine",
            "sqrt",
            "tan",
            "tanh",
        ],
        "result_accuracy:any?",
        same("%*"),
    ),
    row(
        "stablehlo",
        &[
            "bitcast_convert",
            "dynamic_pad",
            "dynamic_reshape",
            "dynamic_update_slice",
            "real_dynamic_slice",
            "reshape",
        ],
        "",
        functional("%*"),
    ),
    row(
        "stablehlo",
        &["create_token", "partition_id", "replica_id"],
        "",
        same(""),
    ),
    row(
        "stablehlo",
        &["complex"],
        "",
        Form::Format("%*", Types::Complex),
    ),
    row(
        "stablehlo",
        &["select"],
        "",
        Form::Format("%*", Types::Select),
    ),
    row(
        "stablehlo",
        &["tuple"],
        "",
        Form::Format("%*", Types::Tuple),
    ),
    row(
        "stablehlo",
        &["optimization_barrier"],
        "",
        Form::Format("%*", Types::Pairwise),
    ),
    row(
        "stablehlo",
        &["return"],
        "",
        Form::Format("%*", Types::Operands),
    ),
    row(
        "stablehlo",
        &["constant"],
        "value:elements",
        Form::Custom(custom::constant),
    ),
    row(
        "stablehlo",
        &["compare"],
        "comparison_direction:comparison_direction compare_type:comparison_type?",
        functional(
            "<comparison_direction:stablehlo.comparison_direction>, %, % \
             {, <compare_type:stablehlo.comparison_type>}",
        ),
    ),
    row(
        "stablehlo",
        &["iota"],
        "iota_dimension:i64",
        same("dim = <iota_dimension:i64>"),
    ),
    row(
        "stablehlo",
        &["dynamic_iota"],
        "iota_dimension:i64",
        functional("%, dim = <iota_dimension:i64>"),
    ),
    row(
        "stablehlo",
        &["broadcast"],
        "broadcast_sizes:i64s",
        functional("%, sizes = <broadcast_sizes:i64s>"),
    ),
    row(
        "stablehlo",
        &["broadcast_in_dim"],
        "broadcast_dimensions:i64s",
        functional("%, dims = <broadcast_dimensions:i64s>"),
    ),
    row(
        "stablehlo",
        &["dynamic_broadcast_in_dim"],
        "broadcast_dimensions:i64s known_expanding_dimensions:i64s? \
         known_nonexpanding_dimensions:i64s?",
        functional("%, %, dims = <broadcast_dimensions:i64s>"),
    ),
    row(
        "stablehlo",
        &["transpose"],
        "permutation:i64s",
        functional("%, dims = <permutation:i64s>"),
    ),
    row(
        "stablehlo",
        &["reverse"],
        "dimensions:i64s",
        same("%, dims = <dimensions:i64s>"),
    ),
    row(
        "stablehlo",
        &["concatenate"],
        "dimension:i64",
        functional("%*, dim = <dimension:i64>"),
    ),
    row(
        "stablehlo",
        &["slice"],
        "start_indices:i64s limit_indices:i64s strides:i64s",
        Form::Custom(custom::slice),
    ),
    row(
        "stablehlo",
        &["dynamic_slice"],
        "slice_sizes:i64s",
        functional("%*, sizes = <slice_sizes:i64s>"),
    ),
    row(
        "stablehlo",
        &["pad"],
        "edge_padding_low:i64s edge_padding_high:i64s interior_padding:i64s",
        functional(
            "%, %, low = <edge_padding_low:i64s>, high = <edge_padding_high:i64s>, \
             interior = <interior_padding:i64s>",
        ),
    ),
    row(
        "stablehlo",
        &["get_dimension_size"],
        "dimension:i64",
        functional("%, dim = <dimension:i64>"),
    ),
    row(
        "stablehlo",
        &["set_dimension_size"],
        "dimension:i64",
        functional("%, %, dim = <dimension:i64>"),
    ),
    row(
        "stablehlo",
        &["get_tuple_element"],
        "index:i32",
        functional("% [<index:i32>]"),
    ),
    row(
        "stablehlo",
        &["reduce_precision"],
        "exponent_bits:i32 mantissa_bits:i32",
        Form::Custom(custom::reduce_precision),
    ),
    row(
        "stablehlo",
        &["cholesky"],
        "lower:bool?",
        same("% {, lower = <lower:any>}"),
    ),
    row(
        "stablehlo",
        &["triangular_solve"],
        "left_side:bool lower:bool unit_diagonal:bool transpose_a:transpose",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["fft"],
        "fft_type:fft_type fft_length:i64s",
        functional("%, type = <fft_type:stablehlo.fft_type>, length = <fft_length:i64s>"),
    ),
    row(
        "stablehlo",
        &["dot"],
        "precision_config:precisions?",
        functional("%, % {, precision = <precision_config:precisions>}"),
    ),
    row(
        "stablehlo",
        &["dot_general"],
        "dot_dimension_numbers:dot precision_config:precisions? algorithm:any?",
        Form::Custom(custom::dot_general),
    ),
    row(
        "stablehlo",
        &["convolution", "dynamic_conv"],
        CONVOLUTION,
        Form::Custom(custom::convolution),
    ),
    row(
        "stablehlo",
        &["custom_call"],
        "call_target_name:string has_side_effect:bool? backend_config:any? api_version:i32? \
         called_computations:any? operand_layouts:any? result_layouts:any? \
         output_operand_aliases:any?",
        functional("<call_target_name:name> (%*)"),
    ),
    row(
        "stablehlo",
        &["composite"],
        "name:string composite_attributes:any? decomposition:symbol version:i32?",
        functional("<name:string> %*"),
    ),
    row(
        "stablehlo",
        &["rng"],
        "rng_distribution:rng_distribution",
        functional("%*, distribution = <rng_distribution:stablehlo.rng_distribution>"),
    ),
    row(
        "stablehlo",
        &["rng_bit_generator"],
        "rng_algorithm:rng_algorithm",
        functional("%, algorithm = <rng_algorithm:stablehlo.rng_algorithm>"),
    ),
    row(
        "stablehlo",
        &["reduce"],
        "dimensions:i64s",
        Form::Custom(custom::reduce),
    ),
    row(
        "stablehlo",
        &["while"],
        "",
        Form::Custom(custom::while_loop),
    ),
    row("stablehlo", &["case", "if"], "", Form::Generic),
    row("stablehlo", &["map"], "dimensions:i64s", Form::Generic),
    row(
        "stablehlo",
        &["sort"],
        "dimension:i64? is_stable:bool?",
        Form::Generic,
    ),
    row("stablehlo", &["reduce_window"], WINDOW, Form::Generic),
    row(
        "stablehlo",
        &["select_and_scatter"],
        "window_dimensions:i64s? window_strides:i64s? padding:elements?",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["gather"],
        "dimension_numbers:gather slice_sizes:i64s indices_are_sorted:bool?",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["dynamic_gather"],
        "dimension_numbers:gather indices_are_sorted:bool?",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["scatter"],
        "scatter_dimension_numbers:scatter indices_are_sorted:bool? unique_indices:bool?",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["torch_index_select"],
        "dim:i64 batch_dims:i64",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["einsum", "unary_einsum"],
        "einsum_config:string",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &[
            "batch_norm_inference",
            "batch_norm_training",
            "batch_norm_grad",
        ],
        "epsilon:float feature_index:i64",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["all_gather"],
        "all_gather_dim:i64 replica_groups:any channel_handle:channel_handle? \
         use_global_device_ids:unit?",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["all_reduce"],
        "replica_groups:any channel_handle:channel_handle? use_global_device_ids:unit?",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["reduce_scatter"],
        "scatter_dimension:i64 replica_groups:any channel_handle:channel_handle? \
         use_global_device_ids:unit?",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["all_to_all"],
        "split_dimension:i64 concat_dimension:i64 split_count:i64 replica_groups:any \
         channel_handle:channel_handle?",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["collective_permute"],
        "source_target_pairs:elements channel_handle:channel_handle?",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["collective_broadcast", "cross-replica-sum"],
        "replica_groups:any channel_handle:channel_handle?",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["infeed"],
        "infeed_config:string? layout:any?",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["outfeed"],
        "outfeed_config:string?",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["send", "recv"],
        "channel_handle:channel_handle is_host_transfer:bool? source_target_pairs:any?",
        Form::Generic,
    ),
    row(
        "chlo",
        &[
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atanh",
            "bessel_i1e",
            "conj",
            "cosh",
            "digamma",
            "erf",
            "erf_inv",
            "erfc",
            "is_inf",
            "is_neg_inf",
            "is_pos_inf",
            "lgamma",
            "sinh",
            "square",
            "tan",
            "next_after",
            "polygamma",
            "zeta",
            "mulhi",
            "broadcast_select",
        ],
        "",
        same("%*"),
    ),
    row(
        "chlo",
        &[
            "broadcast_add",
            "broadcast_and",
            "broadcast_atan2",
            "broadcast_complex",
            "broadcast_divide",
            "broadcast_maximum",
            "broadcast_minimum",
            "broadcast_multiply",
            "broadcast_next_after",
            "broadcast_or",
            "broadcast_polygamma",
            "broadcast_power",
            "broadcast_remainder",
            "broadcast_shift_left",
            "broadcast_shift_right_arithmetic",
            "broadcast_shift_right_logical",
            "broadcast_subtract",
            "broadcast_xor",
            "broadcast_zeta",
        ],
        "broadcast_dimensions:i64s?",
        same("%*"),
    ),
    row(
        "chlo",
        &["broadcast_compare"],
        "broadcast_dimensions:i64s? comparison_direction:comparison_direction \
         compare_type:comparison_type?",
        same("%*"),
    ),
    row(
        "chlo",
        &["constant"],
        "value:elements",
        Form::Custom(custom::constant),
    ),
    row("chlo", &["constant_like"], "value:any", same("%*")),
    row("chlo", &["top_k"], "k:i64", functional("(%, k = <k:i64>)")),
    row(
        "chlo",
        &["scan"],
        "dimension:i64 is_reverse:bool? is_associative:any? operandSegmentSizes:any? \
         resultSegmentSizes:any?",
        Form::Custom(custom::scan),
    ),
    row(
        "chlo",
        &["ragged_dot"],
        "ragged_dot_dimension_numbers:ragged_dot precision_config:precisions?",
        Form::Generic,
    ),
    row("chlo", &["dynamic_reshape"], "", functional("%*")),
    row(
        "check",
        &["expect_eq_const", "expect_almost_eq_const"],
        "value:elements tolerance:float? min_ulp_difference:i64? max_ulp_difference:i64?",
        Form::Custom(custom::expect_const),
    ),
    row(
        "check",
        &["expect_eq", "expect_almost_eq"],
        "tolerance:float?",
        Form::Format("%, % {, tolerance = <tolerance:any>}", Types::Operands),
    ),
    row(
        "check",
        &["expect_close"],
        "max_ulp_difference:i64? min_ulp_difference:i64?",
        Form::Format(
            "%, % {, max_ulp_difference = <max_ulp_difference:any>} \
             {, min_ulp_difference = <min_ulp_difference:any>}",
            Types::Operands,
        ),
    ),
    row(
        "check",
        &["expect_serialized_eq"],
        "probe_id:string iteration:i32?",
        Form::Format(
            "%, probe_id = <probe_id:string> {, iter = <iteration:i32>}",
            Types::Operands,
        ),
    ),
    row(
        "interpreter",
        &["run_parallel"],
        "programs:any infeed:any?",
        Form::Generic,
    ),
    row(
        "interpreter",
        &["probe"],
        "probe_id:string",
        same("%, probe_id = <probe_id:string>"),
    ),
    row(
        "interpreter",
        &["print"],
        "",
        Form::Format("%", Types::Operands),
    ),
];

/// Short names: operations whose dialect the custom form leaves out.
const SHORT: &[(&str, &str)] = &[
    ("module", "builtin.module"),
    ("func", "func.func"),
    ("call", "func.call"),
    ("return", "func.return"),
];

static BY_NAME: LazyLock<FxHashMap<String, &'static Operation>> = LazyLock::new(|| {
    let names = |operation: &'static Operation| {
        let (dialect, names) = operation.names;
        let name = move |name: &&str| (format!("{dialect}.{name}"), operation);
        names.iter().map(name)
    };
    OPERATIONS.iter().flat_map(names).collect()
});

/// What is known of an operation.
pub(crate) fn operation(name: &str) -> Option<&'static Operation> {
    BY_NAME.get(name).copied()
}

/// The name of an operation with its dialect; operations of `mhlo` that StableHLO shares are
/// StableHLO's.
pub(crate) fn full_operation_name(name: &str) -> Cow<'_, str> {
    if let Some(rest) = name.strip_prefix("mhlo.") {
        let shared = format!("stablehlo.{rest}");
        if BY_NAME.contains_key(&shared) {
            return shared.into();
        }
    }
    let mut short = SHORT.iter();
    match short.find(|(short, _)| *short == name) {
        Some((_, full)) => (*full).into(),
        None => name.into(),
    }
}
