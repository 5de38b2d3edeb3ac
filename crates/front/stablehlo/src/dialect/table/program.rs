//! Modules, functions, calls and control flow.

use crate::dialect::custom;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, TrailingTypes, checked, counted, functional, isolated, row,
};
use crate::verify::rules::control;

pub(super) const OPERATIONS: &[OpDefinition] = &[
    counted(
        "0 0 1",
        isolated(row(
            "builtin",
            &["module"],
            "sym_name:string? sym_visibility:string?",
            AssemblyFormat::Custom(custom::module),
        )),
    ),
    counted(
        "0 0 1",
        isolated(row(
            "func",
            &["func"],
            "sym_name:string function_type:type sym_visibility:string? arg_attrs:any? res_attrs:any? \
         no_inline:unit?",
            AssemblyFormat::Custom(custom::function),
        )),
    ),
    row(
        "func",
        &["call"],
        "callee:symbol arg_attrs:any? res_attrs:any? no_inline:unit?",
        functional("<callee:symbol> (%*)"),
    ),
    row(
        "func",
        &["return"],
        "",
        AssemblyFormat::Format("%*", TrailingTypes::Operands),
    ),
    row(
        "stablehlo",
        &["return"],
        "",
        AssemblyFormat::Format("%*", TrailingTypes::Operands),
    ),
    row(
        "stablehlo",
        &["custom_call"],
        "call_target_name:string has_side_effect:bool? backend_config:any? api_version:i32? \
         called_computations:any? operand_layouts:any? result_layouts:any? \
         output_operand_aliases:any? result_tilings:any?",
        functional("<call_target_name:name> (%*)"),
    ),
    row(
        "stablehlo",
        &["composite"],
        "name:string composite_attributes:any? decomposition:symbol version:i32?",
        functional("<name:string> %*"),
    ),
    checked(
        "* * 2",
        control::while_loop,
        row(
            "stablehlo",
            &["while"],
            "",
            AssemblyFormat::Custom(custom::while_loop),
        ),
    ),
    checked(
        "1 * 1+",
        control::case,
        row("stablehlo", &["case"], "", AssemblyFormat::Generic),
    ),
    checked(
        "1 * 2",
        control::if_else,
        row("stablehlo", &["if"], "", AssemblyFormat::Generic),
    ),
];
