//! Work-item functions: components of built-in variables.

use crate::translate::call_rules::ExternalCall;
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::NumericShape;
use crate::translate::translator::LlvmTranslator;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{BuiltIn, Decoration, MemoryAccess, StorageClass};

/// Number of lanes of a built-in variable, and whether they are of `size_t` or of 32 bits.
const VARIABLES: &[(BuiltIn, u32, bool)] = &[
    (BuiltIn::WorkDim, 1, false),
    (BuiltIn::GlobalSize, 3, true),
    (BuiltIn::GlobalInvocationId, 3, true),
    (BuiltIn::WorkgroupSize, 3, true),
    (BuiltIn::EnqueuedWorkgroupSize, 3, true),
    (BuiltIn::LocalInvocationId, 3, true),
    (BuiltIn::NumWorkgroups, 3, true),
    (BuiltIn::WorkgroupId, 3, true),
    (BuiltIn::GlobalOffset, 3, true),
    (BuiltIn::GlobalLinearId, 1, true),
    (BuiltIn::LocalInvocationIndex, 1, true),
    (BuiltIn::SubgroupSize, 1, false),
    (BuiltIn::SubgroupMaxSize, 1, false),
    (BuiltIn::NumSubgroups, 1, false),
    (BuiltIn::NumEnqueuedSubgroups, 1, false),
    (BuiltIn::SubgroupId, 1, false),
    (BuiltIn::SubgroupLocalInvocationId, 1, false),
    (BuiltIn::SubgroupEqMask, 4, false),
    (BuiltIn::SubgroupGeMask, 4, false),
    (BuiltIn::SubgroupGtMask, 4, false),
    (BuiltIn::SubgroupLeMask, 4, false),
    (BuiltIn::SubgroupLtMask, 4, false),
];

impl LlvmTranslator<'_> {
    /// The shape of a built-in variable.
    fn builtin_shape(&self, builtin: BuiltIn) -> LlvmResult<NumericShape> {
        match VARIABLES.iter().find(|row| row.0 == builtin) {
            Some(&(_, lanes, size)) => {
                let width = if size { self.pointer_bits } else { 32 };
                Ok(NumericShape::new_int(width, lanes))
            }
            None => Err(make_refusal(format!(
                "the built-in variable {builtin} is not supported"
            ))),
        }
    }

    /// A built-in variable.
    pub(in crate::translate) fn builtin_variable(&mut self, builtin: BuiltIn) -> LlvmResult<Id> {
        let known = self.builtin_variables.iter().find(|v| v.0 == builtin.0);
        if let Some((_, id)) = known {
            return Ok(*id);
        }
        let shape = self.builtin_shape(builtin)?;
        let ty = self.shape_type(shape);
        let pointer = self.pointer_type(StorageClass::Input, ty);
        let id = self.b.builtin_variable(pointer, builtin);
        if !self.is_shader() {
            self.b.decorate_id(id, Decoration::Constant, &[]);
        }
        self.name_id(id, &format!("__spirv_BuiltIn{builtin}"));
        self.variables.set(id, true);
        self.builtin_variables.push((builtin.0, id));
        Ok(id)
    }
}

impl FunctionTranslator<'_, '_> {
    /// A component of a built-in variable, selected by its number, or the whole of a scalar one.
    pub(in crate::translate) fn lower_work_item(
        &mut self,
        builtin: BuiltIn,
        default: u32,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let shape = self.t.builtin_shape(builtin)?;
        let result = self.result_shape(call.inst)?;
        if let Some(&dimension) = call.args.first()
            && let Some(n) = self.t.module.as_u64(dimension)
            && shape.lanes > 1
            && n >= u64::from(shape.lanes)
        {
            return Ok(self.t.make_splat(result, u64::from(default)));
        }
        let variable = self.t.builtin_variable(builtin)?;
        self.mark_variable(variable);
        let ty = self.t.shape_type(shape);
        let align = (shape.width / 8) * shape.lanes.next_power_of_two();
        let words = [variable.word(), MemoryAccess::Aligned.0, align];
        let all = self.t.b.append_value(Op::Load, ty, &words);
        if result.lanes == shape.lanes && call.args.is_empty() {
            return Ok(self.resize_integer(shape, result, all, false));
        }
        if shape.lanes == 1 {
            return Ok(self.resize_integer(shape, result, all, false));
        }
        let id = self.select_id_component(shape, all, default, call)?;
        Ok(self.resize_integer(shape.to_scalar(), result, id, false))
    }

    fn select_id_component(
        &mut self,
        shape: NumericShape,
        all: Id,
        default: u32,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let dimension = call.arg(0)?;
        match self.t.module.as_u64(dimension) {
            Some(n) => Ok(self.extract_lane(shape, all, n as u32)),
            None => {
                let index_shape = self.shape_of(dimension)?;
                let index = self.lower_value(dimension)?;
                let bool = self.t.b.bool_type();
                let count = self.t.make_splat(index_shape, u64::from(shape.lanes));
                let within = self.emit_op(Op::ULessThan, bool, [index, count]);
                let zero = self.t.make_zero(index_shape);
                let index_type = self.t.shape_type(index_shape);
                let safe = self.emit_select(index_type, within, index, zero);
                let ty = self.t.shape_type(shape.to_scalar());
                let found = self.emit_op(Op::VectorExtractDynamic, ty, [all, safe]);
                let outside = self.t.make_splat(shape.to_scalar(), u64::from(default));
                Ok(self.emit_select(ty, within, found, outside))
            }
        }
    }
}
