//! Lifting of matrices, which become arrays of their columns.

use super::body::{FunctionLifter, LiftSource};
use crate::ir::{
    ConstKind, InstructionExtra, LlvmInstFlags, LlvmOpcode, LlvmType, LlvmTypeKind, LlvmValue,
};
use crate::{LlvmResult, make_refusal};

impl<'s> FunctionLifter<'_, 's> {
    fn float_op(
        &mut self,
        opcode: LlvmOpcode,
        flags: LlvmInstFlags,
        operands: [LlvmValue; 2],
    ) -> LlvmValue {
        let ty = self.type_of(operands[0]);
        self.push_with(opcode, flags, ty, &operands, InstructionExtra::None)
    }

    /// A scalar in every lane of a vector type.
    fn splat_scalar(&mut self, scalar: LlvmValue, ty: LlvmType) -> LlvmResult<LlvmValue> {
        let LlvmTypeKind::Vector { len, .. } = *self.l.out.types.kind(ty) else {
            return Err(make_refusal("a factor is not a vector"));
        };
        let poison =
            LlvmValue::from_constant(self.l.out.consts.intern_constant(ty, ConstKind::Poison));
        let one = self.insert_lane(poison, scalar, 0);
        self.push_shuffle(one, poison, &vec![0; len as usize])
    }

    fn extract_columns(&mut self, matrix: LlvmValue) -> LlvmResult<Vec<LlvmValue>> {
        let count = self.l.out.types.element_count(self.type_of(matrix));
        let count = count.ok_or("a factor is not a matrix")? as u32;
        (0..count)
            .map(|column| self.extract_value(matrix, &[column]))
            .collect()
    }

    fn of_columns(&mut self, ty: LlvmType, columns: &[LlvmValue]) -> LlvmValue {
        let mut whole =
            LlvmValue::from_constant(self.l.out.consts.intern_constant(ty, ConstKind::Poison));
        for (index, column) in columns.iter().enumerate() {
            whole = self.insert_value(whole, *column, &[index as u32]);
        }
        whole
    }

    /// The sum of the columns, each multiplied by a lane of a vector.
    fn combine_columns(
        &mut self,
        columns: &[LlvmValue],
        vector: LlvmValue,
        flags: LlvmInstFlags,
    ) -> LlvmResult<LlvmValue> {
        let mut sum = None;
        for (index, &column) in columns.iter().enumerate() {
            let weight = self.extract_lane(vector, index as u32)?;
            let ty = self.type_of(column);
            let weight = self.splat_scalar(weight, ty)?;
            let part = self.float_op(LlvmOpcode::FMul, flags, [column, weight]);
            sum = Some(match sum {
                Some(sum) => self.float_op(LlvmOpcode::FAdd, flags, [sum, part]),
                None => part,
            });
        }
        sum.ok_or_else(|| make_refusal("a matrix without columns"))
    }

    /// `OpVectorTimesScalar`
    pub(super) fn lift_vector_times_scalar(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let (vector, scalar) = (
            self.operand_value(source, 0)?,
            self.operand_value(source, 1)?,
        );
        let flags = self.fast_math(source);
        let scalar = self.splat_scalar(scalar, self.type_of(vector))?;
        Ok(Some(self.float_op(
            LlvmOpcode::FMul,
            flags,
            [vector, scalar],
        )))
    }

    /// `OpMatrixTimesScalar`
    pub(super) fn lift_matrix_times_scalar(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let (matrix, scalar) = (
            self.operand_value(source, 0)?,
            self.operand_value(source, 1)?,
        );
        let flags = self.fast_math(source);
        let mut columns = self.extract_columns(matrix)?;
        for column in &mut columns {
            let scalar = self.splat_scalar(scalar, self.type_of(*column))?;
            *column = self.float_op(LlvmOpcode::FMul, flags, [*column, scalar]);
        }
        Ok(Some(self.of_columns(self.type_of(matrix), &columns)))
    }

    /// `OpMatrixTimesVector`
    pub(super) fn lift_matrix_times_vector(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let (matrix, vector) = (
            self.operand_value(source, 0)?,
            self.operand_value(source, 1)?,
        );
        let flags = self.fast_math(source);
        let columns = self.extract_columns(matrix)?;
        self.combine_columns(&columns, vector, flags).map(Some)
    }

    /// `OpVectorTimesMatrix`: products with each column.
    pub(super) fn lift_vector_times_matrix(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let (vector, matrix) = (
            self.operand_value(source, 0)?,
            self.operand_value(source, 1)?,
        );
        let flags = self.fast_math(source);
        let rows = self.transpose_columns(matrix)?;
        self.combine_columns(&rows, vector, flags).map(Some)
    }

    /// `OpMatrixTimesMatrix`
    pub(super) fn lift_matrix_times_matrix(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let (left, right) = (
            self.operand_value(source, 0)?,
            self.operand_value(source, 1)?,
        );
        let flags = self.fast_math(source);
        let left = self.extract_columns(left)?;
        let mut columns = self.extract_columns(right)?;
        for column in &mut columns {
            *column = self.combine_columns(&left, *column, flags)?;
        }
        let ty = self.result_type(source)?;
        Ok(Some(self.of_columns(ty, &columns)))
    }

    /// `OpOuterProduct`
    pub(super) fn lift_outer_product(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let (column, row) = (
            self.operand_value(source, 0)?,
            self.operand_value(source, 1)?,
        );
        let flags = self.fast_math(source);
        let ty = self.result_type(source)?;
        let count = self.l.out.types.element_count(ty).unwrap_or(0) as u32;
        let mut columns = Vec::new();
        for index in 0..count {
            let weight = self.extract_lane(row, index)?;
            let weight = self.splat_scalar(weight, self.type_of(column))?;
            columns.push(self.float_op(LlvmOpcode::FMul, flags, [column, weight]));
        }
        Ok(Some(self.of_columns(ty, &columns)))
    }

    /// `OpTranspose`
    pub(super) fn lift_transpose(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LlvmResult<Option<LlvmValue>> {
        let matrix = self.operand_value(source, 0)?;
        let rows = self.transpose_columns(matrix)?;
        let ty = self.result_type(source)?;
        Ok(Some(self.of_columns(ty, &rows)))
    }

    /// The rows of a matrix.
    fn transpose_columns(&mut self, matrix: LlvmValue) -> LlvmResult<Vec<LlvmValue>> {
        let columns = self.extract_columns(matrix)?;
        let first = columns.first().ok_or("a matrix without columns")?;
        let column = self.type_of(*first);
        let element = self.l.out.types.scalar_type(column);
        let rows = self.l.out.types.element_count(column).unwrap_or(0) as u32;
        let ty = self
            .l
            .out
            .types
            .make_vector(element, columns.len() as u32, false);
        let mut all = Vec::new();
        for row in 0..rows {
            let mut lanes =
                LlvmValue::from_constant(self.l.out.consts.intern_constant(ty, ConstKind::Poison));
            for (index, &column) in (0..).zip(&columns) {
                let lane = self.extract_lane(column, row)?;
                lanes = self.insert_lane(lanes, lane, index);
            }
            all.push(lanes);
        }
        Ok(all)
    }
}
