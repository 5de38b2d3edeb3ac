//! Fragments: cooperative matrices of subgroups (`SPV_KHR_cooperative_matrix`).
//!
//! Modules with fragments use Vulkan's memory model. In this model accesses to shared memory have to be marked as
//! non-private.

use super::context::KernelLowering;
use super::subgroups::SUBGROUP;
use super::unsupported::unsupported_diagnostic;
use super::vector_access::WIDEST;
use crate::ir::{
    FragmentAddress, FragmentElement, FragmentOp, FragmentOrder, FragmentRole, FragmentType,
    MemorySpace, VarId, VariableType,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// Memory operand of accesses that other invocations see.
pub(super) const NON_PRIVATE: u32 = 0x20;

impl KernelLowering<'_> {
    pub(super) fn lower_fragment_op(&mut self, op: &FragmentOp) -> Result<(), SourceDiagnostic> {
        match op {
            FragmentOp::Clear(var) => {
                let ty = self.fragment_of(*var)?;
                let component = self.number_type(ty.number);
                let zero = self.b.constant_null(component);
                let ty = self.fragment_type(ty);
                let zeros = self.b.constant_composite(ty, &[zero]);
                self.store_fragment_value(*var, ty, zeros);
            }
            FragmentOp::Load { to, from } => {
                let fragment = self.fragment_of(*to)?;
                let ty = self.fragment_type(fragment);
                let stride = self.lower_stride(from)?;
                let order = self.lower_fragment_order(from.order);
                let loaded = self.emit_for_fragment(from, Some(ty), |l, pointer| {
                    let operands = [pointer.word(), order.word(), stride.word(), NON_PRIVATE];
                    Some(l.b.append_value(Op::CooperativeMatrixLoadKHR, ty, &operands))
                })?;
                let loaded = loaded
                    .ok_or_else(|| unsupported_diagnostic(self.place, "memory that is nowhere"))?;
                self.store_fragment_value(*to, ty, loaded);
            }
            FragmentOp::Store { to, from } => {
                let value = self.load_fragment_value(*from)?;
                let stride = self.lower_stride(to)?;
                let order = self.lower_fragment_order(to.order);
                self.emit_for_fragment(to, None, |l, pointer| {
                    let operands = [pointer, value, order, stride].map(Id::word);
                    let operands = [&operands[..], &[NON_PRIVATE]].concat();
                    l.b.append_effect(Op::CooperativeMatrixStoreKHR, &operands);
                    None
                })?;
            }
            FragmentOp::Accumulate { to, factors } => {
                let sum = self.fragment_of(*to)?;
                let signs = [factors[0], factors[1], *to].map(|var| self.fragment_of(var));
                let mut mask = 0;
                for (at, fragment) in signs.into_iter().enumerate() {
                    if fragment?.number.is_signed() {
                        mask |= [1, 2, 4 | 8][at];
                    }
                }
                let ty = self.fragment_type(sum);
                let mut operands = Vec::new();
                for var in [factors[0], factors[1], *to] {
                    operands.push(self.load_fragment_value(var)?.word());
                }
                if mask != 0 {
                    operands.push(mask);
                }
                let sum = self
                    .b
                    .append_value(Op::CooperativeMatrixMulAddKHR, ty, &operands);
                self.store_fragment_value(*to, ty, sum);
            }
        }
        Ok(())
    }

    fn fragment_of(&self, var: VarId) -> Result<FragmentType, SourceDiagnostic> {
        match self.p.var(var).ty {
            VariableType::Fragment(fragment) => Ok(fragment),
            _ => Err(unsupported_diagnostic(
                self.place,
                "a variable that is no fragment",
            )),
        }
    }

    fn number_type(&mut self, number: FragmentElement) -> Id {
        match number {
            FragmentElement::F16 | FragmentElement::F32 => self.scalar_type(number.storage_type()),
            FragmentElement::Bf16 => self.b.declare_type(Op::TypeFloat, &[16, 0]),
            FragmentElement::I8 | FragmentElement::U8 => self.b.int_type(8, number.is_signed()),
            FragmentElement::I32 => self.b.int_type(32, true),
        }
    }

    fn fragment_type(&mut self, fragment: FragmentType) -> Id {
        let component = self.number_type(fragment.number);
        let role = match fragment.role {
            FragmentRole::Left => 0,
            FragmentRole::Right => 1,
            FragmentRole::Sum => 2,
        };
        let numbers = [SUBGROUP, fragment.rows, fragment.columns, role];
        let numbers = numbers.map(|number| self.const_u32(number).word());
        let operands = [&[component.word()], &numbers[..]].concat();
        self.b.declare_type(Op::TypeCooperativeMatrixKHR, &operands)
    }

    /// The variable of a fragment.
    fn fragment_variable(&mut self, var: VarId, ty: Id) -> Id {
        if let Some(variable) = self.slots[var.index()] {
            return variable;
        }
        let variable = self.add_local_variable(ty);
        self.slots[var.index()] = Some(variable);
        variable
    }

    fn store_fragment_value(&mut self, var: VarId, ty: Id, value: Id) {
        let variable = self.fragment_variable(var, ty);
        self.emit_store(variable, value);
    }

    fn load_fragment_value(&mut self, var: VarId) -> Result<Id, SourceDiagnostic> {
        let fragment = self.fragment_of(var)?;
        let ty = self.fragment_type(fragment);
        let variable = self.fragment_variable(var, ty);
        Ok(self.emit_load(ty, variable))
    }

    fn lower_fragment_order(&mut self, order: FragmentOrder) -> Id {
        self.const_u32(match order {
            FragmentOrder::Rows => 0,
            FragmentOrder::Columns => 1,
        })
    }

    /// Size of the pointee of a pointer to a fragment's memory, in bytes.
    fn pointee_size(&mut self, patch: &FragmentAddress) -> Result<u64, SourceDiagnostic> {
        match self.p.var(patch.first.memory).ty {
            VariableType::Memory(MemorySpace::Shared) => {
                let class = self.find_alias_class(patch.first.memory)?;
                Ok(self.shared_variable(class)?.size)
            }
            // Elements of 32 bits may begin at any multiple of 4 bytes.
            _ => Ok(match patch.first.ty.size() {
                4 => 4,
                _ => WIDEST,
            }),
        }
    }

    /// Converts a number of elements to units of the pointee.
    fn scale_to_pointee_units(
        &mut self,
        patch: &FragmentAddress,
        count: Id,
    ) -> Result<Id, SourceDiagnostic> {
        let (own, unit) = (patch.first.ty.size(), self.pointee_size(patch)?);
        let ty = self.uint_type(32);
        if own == unit {
            return Ok(count);
        }
        let (op, ratio) = if own < unit {
            (Op::ShiftRightLogical, unit / own)
        } else {
            (Op::ShiftLeftLogical, own / unit)
        };
        let by = self.const_u32(ratio.trailing_zeros());
        Ok(self.emit_value(op, ty, &[count, by]))
    }

    fn lower_stride(&mut self, patch: &FragmentAddress) -> Result<Id, SourceDiagnostic> {
        let stride = self.lower_index(patch.stride)?;
        self.scale_to_pointee_units(patch, stride)
    }

    /// Calls a closure with a pointer to a fragment's first element.
    fn emit_for_fragment(
        &mut self,
        patch: &FragmentAddress,
        given: Option<Id>,
        mut each: impl FnMut(&mut Self, Id) -> Option<Id>,
    ) -> Result<Option<Id>, SourceDiagnostic> {
        let index = self.lower_index(patch.first.index)?;
        let index = self.scale_to_pointee_units(patch, index)?;
        let words = (self.pointee_size(patch)? / 4) as u32;
        match self.p.var(patch.first.memory).ty {
            VariableType::Memory(MemorySpace::Shared) => {
                let pointer = self.shared_pointer(patch.first.memory, index)?;
                Ok(each(self, pointer))
            }
            _ => self.emit_for_binding(patch.first.memory, given, |l, binding| {
                let pointer = l.device_words(binding, words, index);
                Ok(each(l, pointer))
            }),
        }
    }
}
