//! Modules, functions, calls and control flow.

use crate::dialect::MlirOpcode;
use crate::dialect::custom;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, TrailingTypes, define_operation, functional_format,
    with_isolation, with_rule, with_signature,
};
use crate::dialect::properties::{attribute_record, define_attributes};
use crate::dialect::values::{StringValue, SymbolName, SymbolNames, UnitAttribute};
use crate::mlir::{MlirAttr, MlirType};
use crate::verify::rules::control;

attribute_record! {
    /// Attributes of `func.func`.
    struct FuncAttributes<'m> {
        function_type: MlirType,
        sym_visibility: Option<StringValue<'m>>,
    }
    unread {
        sym_name: StringValue<'m>,
        arg_attrs: Option<MlirAttr>,
        res_attrs: Option<MlirAttr>,
        no_inline: Option<UnitAttribute>,
    }
}

attribute_record! {
    /// Attributes of `func.call`.
    struct CallAttributes<'m> {
        callee: SymbolName<'m>,
    }
    unread {
        arg_attrs: Option<MlirAttr>,
        res_attrs: Option<MlirAttr>,
        no_inline: Option<UnitAttribute>,
    }
}

attribute_record! {
    /// Attributes of `composite`.
    struct CompositeAttributes<'m> {
        decomposition: SymbolName<'m>,
    }
    unread {
        name: StringValue<'m>,
        composite_attributes: Option<MlirAttr>,
        version: Option<i32>,
    }
}

attribute_record! {
    /// Attributes of `custom_call`.
    struct CustomCallAttributes<'m> {
        call_target_name: StringValue<'m>,
        called_computations: Option<SymbolNames<'m>>,
    }
    unread {
        has_side_effect: Option<bool>,
        backend_config: Option<MlirAttr>,
        api_version: Option<i32>,
        operand_layouts: Option<MlirAttr>,
        result_layouts: Option<MlirAttr>,
        output_operand_aliases: Option<MlirAttr>,
        result_tilings: Option<MlirAttr>,
    }
}

attribute_record! {
    /// Parameters that JAX gives the target of a `custom_call`: those of XLA's typed interface, or
    /// those of its older one.
    struct TargetParameters {
        typed as "mhlo.backend_config": Option<MlirAttr>,
        backend_config: Option<MlirAttr>,
    }
}

attribute_record! {
    /// Attributes of `custom_call @shape_assertion`.
    struct ShapeAssertionAttributes<'m> {
        error_message: Option<StringValue<'m>>,
    }
}

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
