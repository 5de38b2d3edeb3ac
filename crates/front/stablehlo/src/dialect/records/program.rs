//! Attributes of functions, calls and custom calls.

use crate::dialect::properties::attribute_record;
use crate::dialect::values::{StringValue, SymbolName, SymbolNames, UnitAttribute};
use crate::mlir::{MlirAttr, MlirType};

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
    /// Attributes of `composite`. The version has 32 bits, or 64 where StableHLO's serialisation has added the default.
    struct CompositeAttributes<'m> {
        decomposition: SymbolName<'m>,
    }
    unread {
        name: StringValue<'m>,
        composite_attributes: Option<MlirAttr>,
        version: Option<MlirAttr>,
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
    /// Attributes of `custom_call` of a foreign function.
    struct ForeignCallAttributes {
        has_side_effect: Option<bool>,
        api_version: Option<i32>,
        typed as "mhlo.backend_config": Option<MlirAttr>,
        backend_config: Option<MlirAttr>,
        operand_layouts: Option<MlirAttr>,
        result_layouts: Option<MlirAttr>,
        output_operand_aliases: Option<MlirAttr>,
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
    /// Attributes of `custom_call @mhlo.…`, an operation that StableHLO does not have.
    struct MhloCallAttributes {
        attributes as "mhlo.attributes": Option<MlirAttr>,
    }
}

attribute_record! {
    /// Attributes of `custom_call @shape_assertion`.
    struct ShapeAssertionAttributes<'m> {
        error_message: Option<StringValue<'m>>,
    }
}
