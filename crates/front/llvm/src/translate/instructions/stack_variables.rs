//! Stack variables: allocations of constant size, and of sizes that are computed at run time.

use super::partword_atomics::WORD;
use crate::ir::{InstructionExtra, LlvmBlock, LlvmInst, LlvmOpcode, LlvmValue};
use crate::translate::function_body::FunctionTranslator;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, StorageClass};

impl FunctionTranslator<'_, '_> {
    /// Declares the variables of all static allocations at the beginning of the function, as SPIR-V
    /// requires.
    pub(in crate::translate) fn make_stack_variables(&mut self, order: &[LlvmBlock]) {
        let function = self.function;
        let mut made = Vec::new();
        for &block in order {
            for inst in function.block_insts(block) {
                if function.inst(inst).opcode != LlvmOpcode::Alloca {
                    continue;
                }
                match self.make_stack_variable(inst) {
                    Ok(Some(id)) => made.push((inst, id)),
                    Ok(None) => {}
                    Err(refusal) => {
                        self.t
                            .report_refusal(self.func, function.inst_place(inst), &refusal);
                        self.define_placeholder(inst, LlvmOpcode::Alloca);
                    }
                }
            }
        }
        if made.is_empty() {
            return;
        }
        for (inst, id) in made {
            self.name_result(inst, id);
            self.apply_instruction_decorations(inst, id);
            let joined = self.is_phi_operand(self.local_of(inst));
            match self.adapt_stack_variable(inst, id, joined) {
                Ok(adapted) => {
                    if adapted != id {
                        self.generic_casts.push((adapted, id));
                    }
                    self.set_result(inst, adapted);
                }
                Err(refusal) => {
                    self.t
                        .report_refusal(self.func, function.inst_place(inst), &refusal);
                    self.define_placeholder(inst, LlvmOpcode::Alloca);
                }
            }
        }
    }

    /// A variable as its allocation's result. It is cast if the result is a generic pointer. Casts
    /// to the pointee type are made at the uses, except for phis, where no cast can be placed.
    fn adapt_stack_variable(&mut self, inst: LlvmInst, id: Id, joined: bool) -> LlvmResult<Id> {
        let ty = self.function.inst(inst).ty;
        let space = self.t.module.types.address_space(ty).unwrap_or(0);
        let class = self.t.storage_class(space)?;
        let id = self.cast_space(id, class)?;
        if joined {
            self.adapt_result(inst, id)
        } else {
            Ok(id)
        }
    }

    /// The variable of an allocation; `None` if its size is not constant.
    fn make_stack_variable(&mut self, inst: LlvmInst) -> LlvmResult<Option<Id>> {
        let InstructionExtra::Alloca { ty, align } = self.function.inst(inst).extra else {
            return Err(make_refusal("an allocation without a type"));
        };
        let count = self.function.operands(inst)[0];
        let mut pointee = self.t.memory_type(ty)?;
        let natural = self.t.module.layout.abi_align(&self.t.module.types, ty);
        let needed = if self.t.uses_partword_atomics {
            natural.max(WORD)
        } else {
            natural
        };
        if let Some(count) = self.t.module.as_u64(count) {
            if count != 1 {
                pointee = self.t.array_type(pointee, count)?;
            }
            let size = self.t.module.layout.alloc_size(&self.t.module.types, ty);
            let size = size.map(|size| size.saturating_mul(count));
            if let Some(padding) = self.t.make_padding_type(size)? {
                pointee = self.t.struct_type("", &[pointee, padding], false);
            }
        } else if let Some(count) = self.specialised_element_count(count)? {
            pointee = self.t.b.array_type(pointee, count);
        } else {
            return Ok(None);
        }
        let pointer = self.t.pointer_type(StorageClass::Function, pointee);
        let class = StorageClass::Function.0;
        let id = self.t.b.append_value(Op::Variable, pointer, &[class]);
        let align = align.to_bytes().unwrap_or(1).max(needed);
        if align > natural
            && let Ok(align) = u32::try_from(align)
        {
            self.t
                .decorate_by_row(id, Decoration::Alignment, vec![align]);
        }
        Ok(Some(id))
    }

    /// A number of elements that is a specialisation constant.
    fn specialised_element_count(&mut self, count: LlvmValue) -> LlvmResult<Option<Id>> {
        let Some(inst) = count
            .as_local()
            .and_then(|local| self.function.inst_of(local))
        else {
            return Ok(None);
        };
        if !self.is_spec_constant_call(inst) {
            return Ok(None);
        }
        if let Some(id) = self.find_translated(self.local_of(inst)) {
            return Ok(Some(id));
        }
        let id = self.lower_instruction(inst)?;
        if let Some(id) = id {
            self.set_result(inst, id);
            self.name_result(inst, id);
        }
        Ok(id)
    }

    /// Whether the function has allocations whose size is computed at run time.
    pub(in crate::translate) fn has_dynamic_allocation(&self) -> bool {
        self.function.insts.iter().any(|inst| {
            let count = self.function.value_pool[inst.operands.to_range()].first();
            inst.opcode == LlvmOpcode::Alloca
                && count.is_some_and(|count| self.t.module.as_u64(*count).is_none())
        })
    }

    /// An allocation of a number of elements that is computed at run time.
    pub(super) fn lower_dynamic_allocation(&mut self, inst: LlvmInst) -> LlvmResult<Id> {
        let InstructionExtra::Alloca { ty, align } = self.function.inst(inst).extra else {
            return Err(make_refusal("an allocation without a type"));
        };
        let pointee = self.t.memory_type(ty)?;
        let count = self.lower_value(self.function.operands(inst)[0])?;
        let pointer = self.t.pointer_type(StorageClass::Function, pointee);
        let id = self.emit_op(Op::VariableLengthArrayINTEL, pointer, [count]);
        if let Some(align) = align.to_bytes().and_then(|a| u32::try_from(a).ok()) {
            self.decorate_result(id, Decoration::Alignment, &[align]);
        }
        self.adapt_stack_variable(inst, id, false)
    }
}
