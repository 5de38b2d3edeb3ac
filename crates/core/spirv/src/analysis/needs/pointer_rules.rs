//! Needs of variable pointers: pointers in logical addressing that are selected, compared, loaded, passed or returned.

use super::rules::RequirementRules;
use crate::Id;
use crate::grammar::Op;
use crate::grammar::enumerants::{Capability, StorageClass};
use crate::ir::InstRef;

impl RequirementRules<'_> {
    /// The capabilities that variable pointers of this storage class require.
    fn variable_class(&self, ty: Id) -> Option<&'static [Capability]> {
        let pointer = self.defining_inst(ty)?;
        let is_pointer = matches!(pointer.op(), Op::TypePointer | Op::TypeUntypedPointerKHR);
        match is_pointer.then(|| StorageClass(pointer.operand_word(0)))? {
            StorageClass::StorageBuffer => Some(&[
                Capability::VariablePointersStorageBuffer,
                Capability::VariablePointers,
            ]),
            StorageClass::Workgroup => Some(&[Capability::VariablePointers]),
            _ => None,
        }
    }

    /// Pointers that are selected, compared, loaded or returned.
    pub(super) fn inspect_pointer(&mut self, inst: InstRef<'_>) {
        if matches!(inst.op(), Op::PtrEqual | Op::PtrNotEqual | Op::PtrDiff) {
            let ty = self.value_type(inst.id_operand(0));
            if let Some(any) = ty.and_then(|ty| self.variable_class(ty)) {
                self.require_any(any, inst, "comparing pointers");
            }
            return;
        }
        let chosen = inst.op().selects_element()
            || matches!(
                inst.op(),
                Op::Phi | Op::Select | Op::Load | Op::FunctionCall | Op::ConstantNull
            );
        if !chosen {
            return;
        }
        if let Some(any) = inst.result_type().and_then(|ty| self.variable_class(ty)) {
            let what = format!("{} of a pointer", inst.op());
            self.require_any(any, inst, &what);
        }
    }

    /// Pointers that functions return, whether they are called or not.
    pub(super) fn inspect_returned_pointer(&mut self, inst: InstRef<'_>) {
        let ty = self.value_type(inst.id_operand(0));
        if let Some(any) = ty.and_then(|ty| self.variable_class(ty)) {
            self.require_any(any, inst, "returning a pointer");
        }
    }

    /// Pointers to pointers.
    pub(super) fn inspect_inner_pointer(&mut self, inst: InstRef<'_>) {
        if !self.is_logical {
            return;
        }
        if let Some(any) = inst.get_id(1).and_then(|inner| self.variable_class(inner)) {
            self.require_any(any, inst, "a pointer in a variable");
        }
    }

    /// Pointers into variables that are passed to functions.
    pub(super) fn inspect_pointer_arguments(&mut self, inst: InstRef<'_>) {
        for argument in inst.id_operands(1) {
            let whole = self.defining_inst(argument).is_some_and(|given| {
                matches!(
                    given.op(),
                    Op::Variable | Op::UntypedVariableKHR | Op::FunctionParameter
                )
            });
            let Some(any) = self
                .value_type(argument)
                .and_then(|ty| self.variable_class(ty))
            else {
                continue;
            };
            // Pointers into buffers cannot be passed without them.
            if !whole || any.len() > 1 {
                self.require_any(any, inst, "a pointer into a variable that is passed");
            }
        }
    }
}
