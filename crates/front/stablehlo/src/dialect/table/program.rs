//! Table of modules, functions, calls and control flow.

use crate::dialect::MlirOpcode;
use crate::dialect::custom;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, TrailingTypes, define_operation, functional_format,
    with_isolation, with_rule, with_signature,
};
use crate::dialect::properties::define_attributes;
use crate::dialect::records::{
    CallAttributes, CompositeAttributes, CustomCallAttributes, FuncAttributes,
};
use crate::dialect::values::StringValue;
use crate::verify::rules::control;

pub(super) const OPERATIONS: &[OpDefinition] = &[
    with_signature(
        "0 0 1",
        with_isolation(define_operation(
            &[MlirOpcode::Module],
            define_attributes!(
                sym_name: Option<StringValue<'_>>,
                sym_visibility: Option<StringValue<'_>>,
            ),
            AssemblyFormat::Custom(custom::parse_module),
        )),
    ),
    with_signature(
        "0 0 1",
        with_isolation(define_operation(
            &[MlirOpcode::Func],
            FuncAttributes::DEFINITIONS,
            AssemblyFormat::Custom(custom::parse_function),
        )),
    ),
    define_operation(
        &[MlirOpcode::FuncCall],
        CallAttributes::DEFINITIONS,
        functional_format("<callee:symbol> (%*)"),
    ),
    define_operation(
        &[MlirOpcode::FuncReturn],
        &[],
        AssemblyFormat::Format("%*", TrailingTypes::Operands),
    ),
    define_operation(
        &[MlirOpcode::Return],
        &[],
        AssemblyFormat::Format("%*", TrailingTypes::Operands),
    ),
    define_operation(
        &[MlirOpcode::CustomCall],
        CustomCallAttributes::DEFINITIONS,
        functional_format("<call_target_name:name> (%*)"),
    ),
    define_operation(
        &[MlirOpcode::Composite],
        CompositeAttributes::DEFINITIONS,
        functional_format("<name:string> %*"),
    ),
    with_rule(
        "* * 2",
        control::while_loop,
        define_operation(
            &[MlirOpcode::While],
            &[],
            AssemblyFormat::Custom(custom::while_loop),
        ),
    ),
    with_rule(
        "1 * 1+",
        control::verify_case,
        define_operation(&[MlirOpcode::Case], &[], AssemblyFormat::Generic),
    ),
    with_rule(
        "1 * 2",
        control::if_else,
        define_operation(&[MlirOpcode::If], &[], AssemblyFormat::Generic),
    ),
];
