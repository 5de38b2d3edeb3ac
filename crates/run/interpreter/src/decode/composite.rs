//! Composites: parts of vectors, matrices and structures are ranges of registers.

use super::{CodeDecoder, DecodeResult};
use crate::facts::refuse;
use crate::step::{CodeStep, Slot};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

impl<'m> CodeDecoder<'m> {
    /// Decodes an instruction on composites. Returns whether it is one.
    ///
    /// # Errors
    /// When its types are not supported.
    pub(super) fn decode_composite(&mut self, inst: InstRef<'m>) -> Result<bool, SourceDiagnostic> {
        match inst.op() {
            Op::CopyObject | Op::CopyLogical | Op::ExpectKHR | Op::FreezeKHR => {
                self.copy_to_result(inst, inst.id_operand(0))?;
            }
            Op::CompositeConstruct => self.construct(inst)?,
            Op::CompositeExtract => {
                let whole = inst.id_operand(0);
                let ty = self.facts.type_of(whole)?;
                let offset = self.find_part(inst, ty, &inst.operands()[1..])?;
                let from = self.value_slot(whole)? + offset;
                let to = self.result_slot(inst)?;
                let count = self.facts.count_scalars(self.result_type(inst)?)?;
                self.push_step(CodeStep::Copy { to, from, count });
            }
            Op::CompositeInsert => {
                let (part, whole) = (inst.id_operand(0), inst.id_operand(1));
                let ty = self.facts.type_of(whole)?;
                let offset = self.find_part(inst, ty, &inst.operands()[2..])?;
                self.copy_to_result(inst, whole)?;
                let to = self.result_slot(inst)? + offset;
                let (from, count) = (self.value_slot(part)?, self.count_of(part)?);
                self.push_step(CodeStep::Copy { to, from, count });
            }
            Op::VectorShuffle => self.shuffle_vectors(inst)?,
            Op::VectorExtractDynamic => {
                let (vector, index) = (inst.id_operand(0), inst.id_operand(1));
                let to = self.result_slot(inst)?;
                let step = CodeStep::PickComponent {
                    to,
                    vector: self.value_slot(vector)?,
                    count: self.count_of(vector)?,
                    index: self.value_slot(index)?,
                };
                self.push_step(step);
            }
            Op::VectorInsertDynamic => {
                let vector = inst.id_operand(0);
                self.copy_to_result(inst, vector)?;
                let step = CodeStep::PutComponent {
                    to: self.result_slot(inst)?,
                    value: self.value_slot(inst.id_operand(1))?,
                    count: self.count_of(vector)?,
                    index: self.value_slot(inst.id_operand(2))?,
                };
                self.push_step(step);
            }
            Op::Transpose => self.transpose(inst)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn construct(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let mut to = self.result_slot(inst)?;
        for part in inst.id_operands(0) {
            let (from, count) = (self.value_slot(part)?, self.count_of(part)?);
            self.push_step(CodeStep::Copy { to, from, count });
            to += count;
        }
        Ok(())
    }

    /// The first scalar of a part of a type.
    fn find_part(
        &self,
        inst: InstRef<'m>,
        mut ty: Id,
        indices: &[u32],
    ) -> Result<Slot, SourceDiagnostic> {
        let mut offset = 0;
        for index in indices {
            let outer = self.facts.define(ty)?;
            let fault = || refuse(inst, "an index is outside of its composite");
            if outer.op() == Op::TypeStruct {
                for member in outer.id_operands(0).take(*index as usize) {
                    offset += self.facts.count_scalars(member)?;
                }
                ty = outer.get_id(*index as usize).ok_or_else(fault)?;
            } else {
                let whole = self.facts.count_scalars(ty)?;
                ty = outer.get_id(0).ok_or_else(fault)?;
                let part = self.facts.count_scalars(ty)?;
                if u64::from(part) * (u64::from(*index) + 1) > u64::from(whole) {
                    return Err(fault());
                }
                offset += part * index;
            }
        }
        Ok(offset)
    }

    fn shuffle_vectors(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let (first, second) = (inst.id_operand(0), inst.id_operand(1));
        let to = self.result_slot(inst)?;
        let (a, b) = (self.value_slot(first)?, self.value_slot(second)?);
        let (a_count, b_count) = (self.count_of(first)?, self.count_of(second)?);
        for (n, component) in inst.operands()[2..].iter().enumerate() {
            let from = match component.checked_sub(a_count) {
                None => a + component,
                Some(other) if other < b_count => b + other,
                // The component is undefined.
                Some(_) => self.pool_constants(&[0]),
            };
            self.push_step(CodeStep::Copy {
                to: to + n as Slot,
                from,
                count: 1,
            });
        }
        Ok(())
    }

    /// Columns and rows of a matrix type.
    pub(super) fn matrix_shape(&self, ty: Id) -> Result<(u32, u32), SourceDiagnostic> {
        let matrix = self.facts.define(ty)?;
        if matrix.op() != Op::TypeMatrix {
            return Err(refuse(matrix, format!("{ty} is no matrix")));
        }
        let column = self.facts.define(matrix.id_operand(0))?;
        Ok((matrix.operand_word(1), column.operand_word(1)))
    }

    fn transpose(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let matrix = inst.id_operand(0);
        let (columns, rows) = self.matrix_shape(self.facts.type_of(matrix)?)?;
        let (to, from) = (self.result_slot(inst)?, self.value_slot(matrix)?);
        for column in 0..columns {
            for row in 0..rows {
                self.push_step(CodeStep::Copy {
                    to: to + row * columns + column,
                    from: from + column * rows + row,
                    count: 1,
                });
            }
        }
        Ok(())
    }
}
