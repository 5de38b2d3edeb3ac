//! Modules, functions, calls and control flow.

use crate::dialect::MlirOpcode;
use crate::dialect::custom;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, TrailingTypes, define_operation, functional_format,
    with_isolation, with_rule, with_signature,
};
use crate::verify::rules::control;

pub(super) const OPERATIONS: &[OpDefinition] = &[
    with_signature(
        "0 0 1",
        with_isolation(define_operation(
            &[MlirOpcode::Module],
            "sym_name:string? sym_visibility:string?",
            AssemblyFormat::Custom(custom::parse_module),
        )),
    ),
    with_signature(
        "0 0 1",
        with_isolation(define_operation(
            &[MlirOpcode::Func],
            "sym_name:string function_type:type sym_visibility:string? arg_attrs:any? res_attrs:any? \
         no_inline:unit?",
            AssemblyFormat::Custom(custom::parse_function),
        )),
    ),
    define_operation(
        &[MlirOpcode::FuncCall],
        "callee:symbol arg_attrs:any? res_attrs:any? no_inline:unit?",
        functional_format("<callee:symbol> (%*)"),
    ),
    define_operation(
        &[MlirOpcode::FuncReturn],
        "",
        AssemblyFormat::Format("%*", TrailingTypes::Operands),
    ),
    define_operation(
        &[MlirOpcode::Return],
        "",
        AssemblyFormat::Format("%*", TrailingTypes::Operands),
    ),
    define_operation(
        &[MlirOpcode::CustomCall],
        "call_target_name:string has_side_effect:bool? backend_config:any? api_version:i32? \
         called_computations:any? operand_layouts:any? result_layouts:any? \
         output_operand_aliases:any? result_tilings:any?",
        functional_format("<call_target_name:name> (%*)"),
    ),
    define_operation(
        &[MlirOpcode::Composite],
        "name:string composite_attributes:any? decomposition:symbol version:i32?",
        functional_format("<name:string> %*"),
    ),
    with_rule(
        "* * 2",
        control::while_loop,
        define_operation(
            &[MlirOpcode::While],
            "",
            AssemblyFormat::Custom(custom::while_loop),
        ),
    ),
    with_rule(
        "1 * 1+",
        control::verify_case,
        define_operation(&[MlirOpcode::Case], "", AssemblyFormat::Generic),
    ),
    with_rule(
        "1 * 2",
        control::if_else,
        define_operation(&[MlirOpcode::If], "", AssemblyFormat::Generic),
    ),
];
