//! Specialised lengths: array lengths and matrix sizes that are specialisation constants, which
//! LLVM's types cannot express.
//!
//! Such an array is a structure of its own whose only member is an array of the default length:
//! `%array.7 = type { [64 x float] }`. A row `!{%array.7 undef, LENGTH}` of `!spirv.Lengths` states
//! the length. It is a constant; or a specialisation constant, `!{i32 50, i32 NUMBER, DEFAULT}` (50
//! is `OpSpecConstant`); or an operation on these, `!{i32 OPCODE, TYPE undef, OPERANDS…}`.
//!
//! The type of a cooperative matrix has all default numbers, and one more, the number of the type
//! in the module, which makes it distinct. Its row has all numbers in their order.

use super::lifted_entities::{LiftedTypeShape, SpecialisableNumber};
use super::lifter::SpirvLifter;
use crate::ir::{ConstKind, LlvmType, LlvmValue};
use crate::{LlvmResult, make_refusal};
use spirula_scalar::fold::{self, eval_core};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::ir::InstRef;

impl SpirvLifter<'_> {
    /// Records a specialisation constant that a length may be computed from.
    pub(super) fn note_number(&mut self, inst: InstRef<'_>) {
        let number = match inst.op() {
            Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                self.specialised_number(inst)
            }
            Op::SpecConstantOp if inst.operand_word(0) == u32::from(Op::CompositeExtract.0) => {
                self.extracted_number(inst)
            }
            Op::SpecConstantOp => self.computed_number(inst),
            _ => None,
        };
        if let (Some(id), Some(number)) = (inst.result(), number) {
            self.lengths.known.set(id, Some(number));
        }
    }

    fn specialised_number(&mut self, inst: InstRef<'_>) -> Option<SpecialisableNumber> {
        let (id, ty) = (inst.result()?, inst.result_type()?);
        let default = self.default_number(id, ty)?;
        let constant = {
            let ty = self.find_type(ty).ok()?;
            let out = &mut self.out;
            out.consts.make_int(&out.types, ty, default.bits)
        };
        let default_node = self.md_constant(constant);
        let number = self.find_decoration(id, Decoration::SpecId);
        let node = match number.and_then(|words| words.first().copied()) {
            Some(number) => {
                let parts = [u32::from(Op::SpecConstant.0), number].map(|n| self.md_number(n));
                self.md_node(&[parts[0], parts[1], default_node])
            }
            None => default_node,
        };
        Some(SpecialisableNumber { default, node })
    }

    /// The value of an integer or Boolean constant, with its type.
    fn default_number(&self, id: Id, ty: Id) -> Option<fold::FoldConstant> {
        let bits = self.definitions.default_value(self.source, id)?;
        Some(fold::FoldConstant {
            ty: self.number_type(ty)?,
            bits,
        })
    }

    fn number_type(&self, ty: Id) -> Option<fold::FoldType> {
        let inst = self.definitions.get(self.source, ty)?;
        match inst.op() {
            Op::TypeBool => Some(fold::FoldType::Bool),
            Op::TypeInt => Some(fold::FoldType::Int {
                width: inst.operand_word(0),
            }),
            _ => None,
        }
    }

    /// An operand of a constant operation.
    fn number_of(&mut self, id: Id) -> Option<SpecialisableNumber> {
        if let Some(known) = self.lengths.known[id] {
            return Some(known);
        }
        let constant = self.find_constant(id).ok()?;
        let default = self.default_number(id, self.type_of(id).ok()?)?;
        let node = self.md_constant(constant);
        Some(SpecialisableNumber { default, node })
    }

    fn extracted_number(&mut self, inst: InstRef<'_>) -> Option<SpecialisableNumber> {
        let whole = self.definitions.get(self.source, inst.get_id(1)?)?;
        let &[_, _, at] = inst.operands() else {
            return None;
        };
        let part = whole.get_id(usize::try_from(at).ok()?)?;
        self.number_of(part)
    }

    fn computed_number(&mut self, inst: InstRef<'_>) -> Option<SpecialisableNumber> {
        let (op, result) = (inst.operand_word(0), inst.result_type()?);
        let ty = self.number_type(result)?;
        let undefined = {
            let ty = self.find_type(result).ok()?;
            self.out.consts.intern_constant(ty, ConstKind::Undef)
        };
        let mut nodes = vec![self.md_number(op), self.md_constant(undefined)];
        let mut values = Vec::new();
        for operand in inst.id_operands(1) {
            let number = self.number_of(operand)?;
            values.push(number.default);
            nodes.push(number.node);
        }
        let bits = eval_core(op, ty, &values)?;
        let node = self.md_node(&nodes);
        let default = fold::FoldConstant { ty, bits };
        Some(SpecialisableNumber { default, node })
    }

    /// The LLVM counterpart of an array whose length can be specialised; `None` for other arrays.
    pub(super) fn lift_specialised_array(
        &mut self,
        inst: InstRef<'_>,
    ) -> LlvmResult<Option<(LlvmType, LiftedTypeShape)>> {
        let (Some(id), part, length) = (inst.result(), inst.id_operand(0), inst.id_operand(1))
        else {
            return Ok(None);
        };
        let Some(number) = self.lengths.known[length] else {
            return Ok(None);
        };
        if self.find_decoration(id, Decoration::ArrayStride).is_some() {
            let why = "an array with both a stride and a specialised length has no counterpart";
            return Err(make_refusal(why));
        }
        let element = self.find_type(part)?;
        let array = self
            .out
            .types
            .make_array(element, self.length_within(number.default.bits)?);
        let name = self.type_name(&format!("array.{}", id.word()));
        let ty = self.out.types.named_struct(name);
        self.out.types.set_body(ty, [array].into(), false);
        let undefined = self.out.consts.intern_constant(ty, ConstKind::Undef);
        let undefined = self.md_constant(undefined);
        let row = self.md_node(&[undefined, number.node]);
        self.lengths.rows.push(row);
        Ok(Some((ty, LiftedTypeShape::SpecialisedArray(part))))
    }

    /// The default value of a parameter of a SPIR-V type, if the parameter can be specialised.
    pub(super) fn find_spec_default(&self, id: Id) -> Option<u64> {
        Some(self.lengths.known[id]?.default.bits)
    }

    /// Notes the numbers of such a type.
    pub(super) fn note_numbers(&mut self, ty: LlvmType, numbers: &[Id]) -> LlvmResult<()> {
        let undefined = self.out.consts.intern_constant(ty, ConstKind::Undef);
        let mut nodes = vec![self.md_constant(undefined)];
        for &id in numbers {
            let number = self.number_of(id);
            nodes.push(
                number
                    .ok_or_else(|| make_refusal(format!("{id} is not a number")))?
                    .node,
            );
        }
        let row = self.md_node(&nodes);
        self.lengths.rows.push(row);
        Ok(())
    }

    /// Lists the lengths of the module.
    pub(super) fn list_lengths(&mut self) {
        let rows = std::mem::take(&mut self.lengths.rows);
        self.md_named("spirv.Lengths", rows);
    }

    /// The index that must precede an index into this type: it selects the member of a structure
    /// that stands for an array.
    pub(super) fn step_before(&mut self, within: Id) -> LlvmResult<Option<LlvmValue>> {
        Ok(match self.find_lowered_type(within)?.shape {
            LiftedTypeShape::SpecialisedArray(_) => {
                Some(LlvmValue::from_constant(self.make_i32(0)))
            }
            _ => None,
        })
    }
}
