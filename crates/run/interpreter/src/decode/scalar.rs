//! Operations component by component, products of vectors and matrices.

use super::{CodeDecoder, DecodeResult};
use crate::facts::{ScalarKind, refuse};
use crate::operation::ScalarOperation;
use crate::step::{CodeStep, ProductSum, Slot};
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::fold::list_rules;
use spirula_scalar::table::ScalarExtSet;
use spirula_scalar::{FloatEncoding, FloatRounding};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::ir::InstRef;

impl<'m> CodeDecoder<'m> {
    /// Decodes an instruction on numbers. Returns whether it is one.
    ///
    /// # Errors
    /// When its types are not supported.
    pub(super) fn decode_scalar(&mut self, inst: InstRef<'m>) -> Result<bool, SourceDiagnostic> {
        match inst.op() {
            Op::Bitcast => self.decode_bitcast(inst)?,
            Op::Any => self.combine_components(inst, Op::LogicalOr)?,
            Op::All => self.combine_components(inst, Op::LogicalAnd)?,
            Op::Dot => {
                let [a, b] = [inst.id_operand(0), inst.id_operand(1)];
                let count = self.count_of(a)?;
                let (to, a, b) = (
                    self.result_slot(inst)?,
                    self.value_slot(a)?,
                    self.value_slot(b)?,
                );
                let format = self.float_format(inst)?;
                self.push_step(CodeStep::ProductSum(Box::new(ProductSum {
                    to,
                    a,
                    a_stride: 1,
                    b,
                    count,
                    format,
                })));
            }
            Op::VectorTimesScalar | Op::MatrixTimesScalar => {
                let kind = self.facts.component_kind(self.result_type(inst)?)?;
                let operands = [inst.id_operand(0), inst.id_operand(1)];
                let operation = ScalarOperation::from_core(Op::FMul, kind, &[kind, kind]);
                let operation = operation.ok_or_else(|| self.refuse_inst(inst))?;
                self.apply_components(inst, operation, &operands)?;
            }
            Op::VectorTimesMatrix
            | Op::MatrixTimesVector
            | Op::MatrixTimesMatrix
            | Op::OuterProduct => self.multiply_matrices(inst)?,
            Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => {
                self.extended_arithmetic(inst)?;
            }
            Op::SConvert
            | Op::UConvert
            | Op::FConvert
            | Op::ConvertFToS
            | Op::ConvertFToU
            | Op::ConvertSToF
            | Op::ConvertUToF => self.decode_conversion(inst)?,
            op if list_rules()
                .iter()
                .all(|rule| rule.opcode != u32::from(op.0)) =>
            {
                return Ok(false);
            }
            op => {
                let operands: Vec<Id> = inst.id_operands(0).collect();
                let mut kinds = Vec::new();
                for operand in &operands {
                    kinds.push(self.facts.component_kind(self.facts.type_of(*operand)?)?);
                }
                let Some(ty) = inst.result_type() else {
                    return Ok(false);
                };
                let result = self.facts.component_kind(ty)?;
                match ScalarOperation::from_core(op, result, &kinds) {
                    Some(operation) => self.apply_components(inst, operation, &operands)?,
                    None => return Ok(false),
                }
            }
        }
        Ok(true)
    }

    /// Appends an operation on components. Operands with a stride of 0 are the same for all; without strides all have 1.
    pub(super) fn push_apply(
        &mut self,
        operation: ScalarOperation,
        to: Slot,
        operands: &[Slot],
        strides: &[u8],
        count: u32,
    ) {
        // Operands that the operation does not have are read too.
        let filler = operands.first().copied().unwrap_or(to);
        let mut slots = [filler; 4];
        let mut steps = [0; 4];
        for (n, slot) in operands.iter().take(4).enumerate() {
            slots[n] = *slot;
            steps[n] = strides.get(n).copied().unwrap_or(1);
        }
        self.push_step(CodeStep::Apply {
            operation,
            to,
            operands: slots,
            strides: steps,
            count,
        });
    }

    /// Applies an operation to each component of the result. Operands with one component are the same for all.
    pub(super) fn apply_components(
        &mut self,
        inst: InstRef<'m>,
        operation: ScalarOperation,
        operands: &[Id],
    ) -> DecodeResult {
        let count = self.facts.count_scalars(self.result_type(inst)?)?;
        let to = self.result_slot(inst)?;
        let (mut slots, mut strides) = (Vec::new(), Vec::new());
        for operand in operands {
            let components = self.count_of(*operand)?;
            if components != count && components != 1 {
                return Err(refuse(
                    inst,
                    "operands have different numbers of components",
                ));
            }
            slots.push(self.value_slot(*operand)?);
            strides.push(u8::from(components == count));
        }
        self.push_apply(operation, to, &slots, &strides, count);
        Ok(())
    }

    /// Conversions with decorations saturate or round as those say.
    fn decode_conversion(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let id = inst.result().unwrap_or(inst.id_operand(0));
        let from = self
            .facts
            .component_kind(self.facts.type_of(inst.id_operand(0))?)?;
        let to = self.facts.component_kind(self.result_type(inst)?)?;
        let saturates = self
            .facts
            .decoration(id, Decoration::SaturatedConversion)
            .is_some();
        let rounding = self.facts.decoration(id, Decoration::FPRoundingMode);
        let rounding = rounding.and_then(FloatRounding::from_number);
        let is_signed = matches!(inst.op(), Op::SConvert | Op::ConvertFToS | Op::ConvertSToF);
        let is_integer = matches!(inst.op(), Op::SConvert | Op::UConvert);
        let operation = match rounding {
            _ if saturates && is_integer => {
                Some(ScalarOperation::saturate(from.bits(), to.bits(), is_signed))
            }
            Some(rounding) if !is_integer => Some(ScalarOperation::round(
                from.to_fold_type(),
                to.to_fold_type(),
                is_signed,
                rounding,
            )),
            _ => ScalarOperation::from_core(inst.op(), to, &[from]),
        };
        let operation = operation.ok_or_else(|| self.refuse_inst(inst))?;
        self.apply_components(inst, operation, &[inst.id_operand(0)])
    }

    /// A bitcast. Between types with different numbers of components the bits pass through memory.
    fn decode_bitcast(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let operand = inst.id_operand(0);
        let ty = self.result_type(inst)?;
        let from_ty = self.facts.type_of(operand)?;
        if self.count_of(operand)? == self.facts.count_scalars(ty)? {
            return self.copy_to_result(inst, operand);
        }
        let offset = self.reserve_frame(64 * 8, 16);
        let address = self.reserve_registers(1);
        self.push_step(CodeStep::LocalAddress {
            to: address,
            offset,
        });
        let from = self.value_slot(operand)?;
        self.push_store(address, from, from_ty, Default::default())?;
        let to = self.result_slot(inst)?;
        let cells = self.cells_of(ty, Default::default())?;
        self.push_step(CodeStep::Load { to, address, cells });
        Ok(())
    }

    /// `OpAny` and `OpAll`.
    fn combine_components(&mut self, inst: InstRef<'m>, op: Op) -> DecodeResult {
        let operand = inst.id_operand(0);
        let (to, from) = (self.result_slot(inst)?, self.value_slot(operand)?);
        self.push_step(CodeStep::Copy { to, from, count: 1 });
        let kinds = [ScalarKind::Bool; 2];
        for n in 1..self.count_of(operand)? {
            self.push_operation(op, ScalarKind::Bool, &kinds, to, &[to, from + n])?;
        }
        Ok(())
    }

    /// The format of the numbers of an instruction's result.
    pub(super) fn float_format(
        &self,
        inst: InstRef<'m>,
    ) -> Result<FloatEncoding, SourceDiagnostic> {
        match self.facts.component_kind(self.result_type(inst)?)? {
            ScalarKind::Float(format) => Ok(format),
            _ => Err(refuse(
                inst,
                "the instruction is for floating-point numbers",
            )),
        }
    }

    /// A product of matrices, or of a matrix and a vector, which counts as a matrix with one column or row.
    fn multiply_matrices(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let (a_id, b_id) = (inst.id_operand(0), inst.id_operand(1));
        let (a_type, b_type) = (self.facts.type_of(a_id)?, self.facts.type_of(b_id)?);
        let (to, a, b) = (
            self.result_slot(inst)?,
            self.value_slot(a_id)?,
            self.value_slot(b_id)?,
        );
        let ((a_columns, a_rows), b_columns) = match inst.op() {
            Op::MatrixTimesVector => (self.matrix_shape(a_type)?, 1),
            Op::VectorTimesMatrix => {
                let (columns, rows) = self.matrix_shape(b_type)?;
                ((rows, 1), columns)
            }
            Op::OuterProduct => ((1, self.count_of(a_id)?), self.count_of(b_id)?),
            _ => (self.matrix_shape(a_type)?, self.matrix_shape(b_type)?.0),
        };
        let format = self.float_format(inst)?;
        for column in 0..b_columns {
            for row in 0..a_rows {
                self.push_step(CodeStep::ProductSum(Box::new(ProductSum {
                    to: to + column * a_rows + row,
                    a: a + row,
                    a_stride: a_rows,
                    b: b + column * a_columns,
                    count: a_columns,
                    format,
                })));
            }
        }
        Ok(())
    }

    /// Sums, differences and products with a second result: a structure of two values.
    fn extended_arithmetic(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let (first, second) = (inst.id_operand(0), inst.id_operand(1));
        let kind = self.facts.component_kind(self.facts.type_of(first)?)?;
        let count = self.count_of(first)?;
        let (a, b) = (self.value_slot(first)?, self.value_slot(second)?);
        let to = self.result_slot(inst)?;
        let core =
            |op: Op, result: ScalarKind| ScalarOperation::from_core(op, result, &[kind, kind]);
        let named = |name: &str| {
            let row = ScalarExtSet::OpenCl.find_named_function(name)?;
            ScalarOperation::from_extended(row, kind)
        };
        let (low, high, high_operands) = match inst.op() {
            // A sum that is less than an operand has wrapped.
            Op::IAddCarry => (
                core(Op::IAdd, kind),
                core(Op::ULessThan, ScalarKind::Bool),
                [to, a],
            ),
            Op::ISubBorrow => (
                core(Op::ISub, kind),
                core(Op::ULessThan, ScalarKind::Bool),
                [a, b],
            ),
            Op::UMulExtended => (core(Op::IMul, kind), named("u_mul_hi"), [a, b]),
            _ => (core(Op::IMul, kind), named("s_mul_hi"), [a, b]),
        };
        let (Some(low), Some(high)) = (low, high) else {
            return Err(self.refuse_inst(inst));
        };
        self.push_apply(low, to, &[a, b], &[], count);
        self.push_apply(high, to + count, &high_operands, &[], count);
        Ok(())
    }
}
