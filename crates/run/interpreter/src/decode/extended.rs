//! Extended instructions: OpenCL.std and GLSL.std.450.

use super::{CodeDecoder, DecodeResult};
use crate::facts::{ScalarKind, refuse};
use crate::geometry::GeometryFunction;
use crate::operation::ScalarOperation;
use crate::step::{
    AddressTerm, CodeStep, GeometryStep, HalfAccess, SecondResult, SecondResultStep, Slot,
    TableRange,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::table::{ExtInstBody, PackingFn, RealFn, ScalarExtInst, ScalarExtSet};
use spirula_scalar::{FloatEncoding, FloatRounding};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// The numbers of functions on vectors in OpenCL.std.
const OPENCL_GEOMETRY: &[(u32, GeometryFunction)] = &[
    (104, GeometryFunction::Cross),
    (105, GeometryFunction::ExactDistance),
    (106, GeometryFunction::ExactLength),
    (107, GeometryFunction::ExactNormalize),
    (108, GeometryFunction::Distance),
    (109, GeometryFunction::Length),
    (110, GeometryFunction::Normalize),
];

/// Those in GLSL.std.450.
const GLSL_GEOMETRY: &[(u32, GeometryFunction)] = &[
    (33, GeometryFunction::Determinant),
    (34, GeometryFunction::Inverse),
    (66, GeometryFunction::Length),
    (67, GeometryFunction::Distance),
    (68, GeometryFunction::Cross),
    (69, GeometryFunction::Normalize),
    (70, GeometryFunction::FaceForward),
    (71, GeometryFunction::Reflect),
    (72, GeometryFunction::Refract),
];

impl<'m> CodeDecoder<'m> {
    /// Decodes an extended instruction.
    ///
    /// # Errors
    /// When it is not supported.
    pub(super) fn decode_extended(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let import = self.facts.define(inst.id_operand(0))?;
        let name = import.string_operand(0);
        if name.starts_with("NonSemantic.") {
            return Ok(());
        }
        let set = ScalarExtSet::from_name(&name);
        let set =
            set.ok_or_else(|| refuse(inst, format!("the interpreter lacks the set {name}")))?;
        let number = inst.operand_word(1);
        let rows = match set {
            ScalarExtSet::OpenCl => OPENCL_GEOMETRY,
            ScalarExtSet::Glsl => GLSL_GEOMETRY,
        };
        if let Some((_, function)) = rows.iter().find(|row| row.0 == number) {
            return self.decode_geometry(inst, *function);
        }
        match (set, number) {
            (ScalarExtSet::OpenCl, 171) => self.load_vector(inst),
            (ScalarExtSet::OpenCl, 172) => self.store_vector(inst),
            (ScalarExtSet::OpenCl, 173..=181) => self.access_halves(inst, number),
            (ScalarExtSet::OpenCl, 182 | 183) => self.shuffle_by_mask(inst, number == 183),
            (ScalarExtSet::OpenCl, 185) => Ok(()),
            (ScalarExtSet::OpenCl, 186) => self.select_bits(inst),
            (ScalarExtSet::OpenCl, 187) => self.select_by_sign(inst),
            _ => match set.find_function(number) {
                Some(function) => self.decode_function_row(inst, function),
                None => {
                    let message =
                        format!("the interpreter lacks the instruction {number} of {name}");
                    Err(refuse(inst, message))
                }
            },
        }
    }

    fn operands_of(&self, inst: InstRef<'m>) -> Vec<Id> {
        inst.id_operands(2).collect()
    }

    fn decode_geometry(&mut self, inst: InstRef<'m>, function: GeometryFunction) -> DecodeResult {
        let format = self.float_format(inst)?;
        let (mut operands, mut counts) = ([0; 3], [0; 3]);
        for (n, id) in self.operands_of(inst).into_iter().take(3).enumerate() {
            operands[n] = self.value_slot(id)?;
            counts[n] = self.count_of(id)?;
        }
        let to = self.result_slot(inst)?;
        let to_count = self.facts.count_scalars(self.result_type(inst)?)?;
        self.push_step(CodeStep::Geometry(Box::new(GeometryStep {
            function,
            format,
            to,
            to_count,
            operands,
            counts,
        })));
        Ok(())
    }

    /// An instruction with a row in the table of `spirula_scalar`.
    fn decode_function_row(&mut self, inst: InstRef<'m>, row: &ScalarExtInst) -> DecodeResult {
        let operands = self.operands_of(inst);
        if let ExtInstBody::Real { f32, f64, .. } = row.body
            && matches!(
                f32,
                RealFn::AndReal(_) | RealFn::AndInt(_) | RealFn::BinaryAndInt(_)
            )
        {
            return self.decode_second_result(inst, f32, f64);
        }
        if let ExtInstBody::Packing(packing) = row.body {
            return self.decode_packing(inst, packing, row);
        }
        let result = self.result_type(inst)?;
        let own = self.facts.component_kind(result)?;
        let first = self
            .facts
            .component_kind(self.facts.type_of(operands[0])?)?;
        let kind = match row.body {
            ExtInstBody::Real { .. } if matches!(own, ScalarKind::Float(_)) => own,
            _ => first,
        };
        let operation = ScalarOperation::from_extended(row, kind);
        let operation = operation
            .ok_or_else(|| refuse(inst, format!("{} is not possible on these types", row.name)))?;
        self.apply_components(inst, operation, &operands)
    }

    /// A packing function: vectors are passed component by component.
    fn decode_packing(
        &mut self,
        inst: InstRef<'m>,
        packing: PackingFn,
        row: &ScalarExtInst,
    ) -> DecodeResult {
        let operand = inst.id_operand(2);
        let operation = ScalarOperation::from_extended(row, ScalarKind::Bool);
        let operation = operation.ok_or_else(|| self.refuse_inst(inst))?;
        let (to, from) = (self.result_slot(inst)?, self.value_slot(operand)?);
        let count = self.facts.count_scalars(self.result_type(inst)?)?;
        match packing {
            PackingFn::Unpack(_) | PackingFn::UnpackDouble(_) => {
                for n in 0..count {
                    let index = self.pool_constants(&[n.into()]);
                    self.push_apply(operation, to + n, &[from, index], &[], 1);
                }
            }
            _ => {
                let parts: Vec<Slot> = (0..self.count_of(operand)?).map(|n| from + n).collect();
                self.push_apply(operation, to, &parts, &[], 1);
            }
        }
        Ok(())
    }

    /// A function with a second result, which goes through a pointer or is the second member of a structure.
    fn decode_second_result(
        &mut self,
        inst: InstRef<'m>,
        single: RealFn<f32>,
        double: RealFn<f64>,
    ) -> DecodeResult {
        let operands = self.operands_of(inst);
        let is_binary = matches!(single, RealFn::BinaryAndInt(_));
        let is_second_real = matches!(single, RealFn::AndReal(_));
        let kind = self
            .facts
            .component_kind(self.facts.type_of(operands[0])?)?;
        let ScalarKind::Float(format) = kind else {
            return Err(self.refuse_inst(inst));
        };
        let count = self.count_of(operands[0])?;
        let (to, a) = (self.result_slot(inst)?, self.value_slot(operands[0])?);
        let b = if is_binary {
            self.value_slot(operands[1])?
        } else {
            a
        };
        let pointer = operands.get(if is_binary { 2 } else { 1 });
        let pointer = match pointer {
            Some(pointer) => {
                let cells = self
                    .facts
                    .list_cells(self.pointee_of(*pointer)?, Default::default())?;
                Some((self.value_slot(*pointer)?, cells))
            }
            None => None,
        };
        for n in 0..count {
            let second = match &pointer {
                Some((address, cells)) => {
                    let cell = cells
                        .get(n as usize)
                        .ok_or_else(|| self.refuse_inst(inst))?;
                    SecondResult::Memory(*address, cell.offset, cell.bytes)
                }
                None => SecondResult::Register(to + count + n),
            };
            self.push_step(CodeStep::SecondResult(Box::new(SecondResultStep {
                single,
                double,
                format,
                is_second_real,
                to: to + n,
                a: a + n,
                b: b + n,
                second,
            })));
        }
        Ok(())
    }

    /// The address of the vector that an offset in vectors leads to.
    fn vector_address(
        &mut self,
        offset: Id,
        pointer: Id,
        stride: u64,
    ) -> Result<Slot, SourceDiagnostic> {
        let width = self
            .facts
            .component_kind(self.facts.type_of(offset)?)?
            .bits();
        let term = AddressTerm {
            slot: self.value_slot(offset)?,
            width,
            stride,
        };
        let first = self.code.terms.len() as u32;
        self.code.terms.push(term);
        let base = self.value_slot(pointer)?;
        let to = self.reserve_registers(1);
        self.push_step(CodeStep::Address {
            to,
            base,
            offset: 0,
            terms: TableRange { first, count: 1 },
        });
        Ok(to)
    }

    /// Scalars in a row, without the gap after vectors of three.
    fn row_cells(&mut self, bytes: u64, count: u32) -> TableRange {
        let first = self.code.cells.len() as u32;
        self.code
            .cells
            .extend((0..count).map(|n| crate::facts::MemoryCell {
                offset: u64::from(n) * bytes,
                bytes: bytes as u8,
            }));
        TableRange { first, count }
    }

    /// `vloadn`: offset, pointer, number of components.
    fn load_vector(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let ty = self.result_type(inst)?;
        let count = self.facts.count_scalars(ty)?;
        let bytes = u64::from(self.facts.component_kind(ty)?.bits().div_ceil(8));
        let (offset, pointer) = (inst.id_operand(2), inst.id_operand(3));
        let address = self.vector_address(offset, pointer, bytes * u64::from(count))?;
        let (to, cells) = (self.result_slot(inst)?, self.row_cells(bytes, count));
        self.push_step(CodeStep::Load { to, address, cells });
        Ok(())
    }

    /// `vstoren`: data, offset, pointer.
    fn store_vector(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let value = inst.id_operand(2);
        let count = self.count_of(value)?;
        let kind = self.facts.component_kind(self.facts.type_of(value)?)?;
        let bytes = u64::from(kind.bits().div_ceil(8));
        let (offset, pointer) = (inst.id_operand(3), inst.id_operand(4));
        let address = self.vector_address(offset, pointer, bytes * u64::from(count))?;
        let (from, cells) = (self.value_slot(value)?, self.row_cells(bytes, count));
        self.push_step(CodeStep::Store {
            address,
            from,
            cells,
        });
        Ok(())
    }

    /// `vload_half`, `vstore_half` and their variants.
    fn access_halves(&mut self, inst: InstRef<'m>, number: u32) -> DecodeResult {
        let is_load = matches!(number, 173 | 174 | 179);
        let (value_type, offset_at) = if is_load {
            (self.result_type(inst)?, 2)
        } else {
            (self.facts.type_of(inst.id_operand(2))?, 3)
        };
        let count = self.facts.count_scalars(value_type)?;
        let ScalarKind::Float(format) = self.facts.component_kind(value_type)? else {
            return Err(self.refuse_inst(inst));
        };
        // Three halves take the room of four where they are aligned.
        let stride = match (number, count) {
            (179..=181, 3) => 8,
            _ => 2 * u64::from(count),
        };
        let (offset, pointer) = (inst.id_operand(offset_at), inst.id_operand(offset_at + 1));
        let address = self.vector_address(offset, pointer, stride)?;
        let rounding = match number {
            176 | 178 | 181 => FloatRounding::from_number(inst.operand_word(5)),
            _ => None,
        };
        let value = if is_load {
            self.result_slot(inst)?
        } else {
            self.value_slot(inst.id_operand(2))?
        };
        self.push_step(CodeStep::HalfAccess(HalfAccess {
            is_load,
            value,
            address,
            count,
            format,
            rounding: rounding.unwrap_or(FloatRounding::NearestEven),
        }));
        Ok(())
    }

    /// `shuffle` and `shuffle2`: one or two vectors, then a mask of indices.
    fn shuffle_by_mask(&mut self, inst: InstRef<'m>, has_two: bool) -> DecodeResult {
        let operands = self.operands_of(inst);
        let count = self.count_of(operands[0])?;
        let total = if has_two { 2 * count } else { count };
        let row = self.reserve_registers(total);
        for (n, vector) in operands
            .iter()
            .take(if has_two { 2 } else { 1 })
            .enumerate()
        {
            let from = self.value_slot(*vector)?;
            let to = row + n as Slot * count;
            self.push_step(CodeStep::Copy { to, from, count });
        }
        let mask_id = operands[if has_two { 2 } else { 1 }];
        let kind = self.facts.component_kind(self.facts.type_of(mask_id)?)?;
        let (to, mask) = (self.result_slot(inst)?, self.value_slot(mask_id)?);
        let low = self.pool_constants(&[u64::from(total.next_power_of_two()) - 1]);
        for n in 0..self.count_of(mask_id)? {
            let index = self.reserve_registers(1);
            self.push_operation(Op::BitwiseAnd, kind, &[kind, kind], index, &[mask + n, low])?;
            self.push_step(CodeStep::PickComponent {
                to: to + n,
                vector: row,
                count: total,
                index,
            });
        }
        Ok(())
    }

    /// `select(a, b, c)`: b where c is not 0, in vectors where its highest bit is set; else a.
    fn select_by_sign(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let operands = self.operands_of(inst);
        let [a, b, c] = operands[..] else {
            return Err(self.refuse_inst(inst));
        };
        let kind = self.facts.component_kind(self.facts.type_of(c)?)?;
        let count = self.count_of(c)?;
        let op = if count > 1 {
            Op::SLessThan
        } else {
            Op::INotEqual
        };
        let (a, b, c) = (
            self.value_slot(a)?,
            self.value_slot(b)?,
            self.value_slot(c)?,
        );
        let (to, zero) = (self.result_slot(inst)?, self.pool_constants(&[0]));
        for n in 0..count {
            let chosen = self.reserve_registers(1);
            self.push_operation(op, ScalarKind::Bool, &[kind, kind], chosen, &[c + n, zero])?;
            self.push_apply(
                ScalarOperation::select(),
                to + n,
                &[chosen, b + n, a + n],
                &[],
                1,
            );
        }
        Ok(())
    }

    /// `bitselect(a, b, c)`: bits of b where c has ones, else of a.
    fn select_bits(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let operands = self.operands_of(inst);
        let [a, b, c] = operands[..] else {
            return Err(self.refuse_inst(inst));
        };
        let bits = match self.facts.component_kind(self.result_type(inst)?)? {
            ScalarKind::Float(format) if format != FloatEncoding::F64 => format.width(),
            kind => kind.bits(),
        };
        let (kind, count) = (ScalarKind::Int(bits), self.count_of(a)?);
        let (a, b, c) = (
            self.value_slot(a)?,
            self.value_slot(b)?,
            self.value_slot(c)?,
        );
        let to = self.result_slot(inst)?;
        for n in 0..count {
            let part = self.reserve_registers(3);
            let two = [kind, kind];
            self.push_operation(Op::BitwiseAnd, kind, &two, part, &[b + n, c + n])?;
            self.push_operation(Op::Not, kind, &[kind], part + 1, &[c + n])?;
            self.push_operation(Op::BitwiseAnd, kind, &two, part + 2, &[a + n, part + 1])?;
            self.push_operation(Op::BitwiseOr, kind, &two, to + n, &[part, part + 2])?;
        }
        Ok(())
    }
}
