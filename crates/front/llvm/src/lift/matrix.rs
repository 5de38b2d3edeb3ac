//! Matrices, which are arrays of their columns.

use super::body::{FunctionLifter, LiftSource};
use super::lifter::LiftResult;
use crate::ir::{
    ConstKind, InstructionExtra, LlvmInstFlags, LlvmOpcode, LlvmType, LlvmTypeKind, LlvmValue,
};

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
    fn spread(&mut self, scalar: LlvmValue, ty: LlvmType) -> LiftResult<LlvmValue> {
        let LlvmTypeKind::Vector { len, .. } = *self.l.out.types.kind(ty) else {
            return Err("a factor is no vector".to_owned());
        };
        let poison = LlvmValue::constant(self.l.out.consts.intern(ty, ConstKind::Poison));
        let one = self.insert_lane(poison, scalar, 0);
        self.shuffled(one, poison, &vec![0; len as usize])
    }

    fn columns(&mut self, matrix: LlvmValue) -> LiftResult<Vec<LlvmValue>> {
        let count = self.l.out.types.element_count(self.type_of(matrix));
        let count = count.ok_or("a factor is no matrix")? as u32;
        (0..count)
            .map(|column| self.extract_value(matrix, &[column]))
            .collect()
    }

    fn of_columns(&mut self, ty: LlvmType, columns: &[LlvmValue]) -> LlvmValue {
        let mut whole = LlvmValue::constant(self.l.out.consts.intern(ty, ConstKind::Poison));
        for (index, column) in columns.iter().enumerate() {
            whole = self.insert_value(whole, *column, &[index as u32]);
        }
        whole
    }

    /// The columns weighted by the lanes of a vector, added up.
    fn combination(
        &mut self,
        columns: &[LlvmValue],
        vector: LlvmValue,
        flags: LlvmInstFlags,
    ) -> LiftResult<LlvmValue> {
        let mut sum = None;
        for (index, &column) in columns.iter().enumerate() {
            let weight = self.extract_lane(vector, index as u32)?;
            let ty = self.type_of(column);
            let weight = self.spread(weight, ty)?;
            let part = self.float_op(LlvmOpcode::FMul, flags, [column, weight]);
            sum = Some(match sum {
                Some(sum) => self.float_op(LlvmOpcode::FAdd, flags, [sum, part]),
                None => part,
            });
        }
        sum.ok_or_else(|| "a matrix without columns".to_owned())
    }

    /// `OpVectorTimesScalar`
    pub(super) fn vector_times_scalar(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LiftResult<Option<LlvmValue>> {
        let (vector, scalar) = (self.operand(source, 0)?, self.operand(source, 1)?);
        let flags = self.fast_math(source);
        let scalar = self.spread(scalar, self.type_of(vector))?;
        Ok(Some(self.float_op(
            LlvmOpcode::FMul,
            flags,
            [vector, scalar],
        )))
    }

    /// `OpMatrixTimesScalar`
    pub(super) fn matrix_times_scalar(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LiftResult<Option<LlvmValue>> {
        let (matrix, scalar) = (self.operand(source, 0)?, self.operand(source, 1)?);
        let flags = self.fast_math(source);
        let mut columns = self.columns(matrix)?;
        for column in &mut columns {
            let scalar = self.spread(scalar, self.type_of(*column))?;
            *column = self.float_op(LlvmOpcode::FMul, flags, [*column, scalar]);
        }
        Ok(Some(self.of_columns(self.type_of(matrix), &columns)))
    }

    /// `OpMatrixTimesVector`
    pub(super) fn matrix_times_vector(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LiftResult<Option<LlvmValue>> {
        let (matrix, vector) = (self.operand(source, 0)?, self.operand(source, 1)?);
        let flags = self.fast_math(source);
        let columns = self.columns(matrix)?;
        self.combination(&columns, vector, flags).map(Some)
    }

    /// `OpVectorTimesMatrix`: products with each column.
    pub(super) fn vector_times_matrix(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LiftResult<Option<LlvmValue>> {
        let (vector, matrix) = (self.operand(source, 0)?, self.operand(source, 1)?);
        let flags = self.fast_math(source);
        let rows = self.transposed(matrix)?;
        self.combination(&rows, vector, flags).map(Some)
    }

    /// `OpMatrixTimesMatrix`
    pub(super) fn matrix_times_matrix(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LiftResult<Option<LlvmValue>> {
        let (left, right) = (self.operand(source, 0)?, self.operand(source, 1)?);
        let flags = self.fast_math(source);
        let left = self.columns(left)?;
        let mut columns = self.columns(right)?;
        for column in &mut columns {
            *column = self.combination(&left, *column, flags)?;
        }
        let ty = self.result_type(source)?;
        Ok(Some(self.of_columns(ty, &columns)))
    }

    /// `OpOuterProduct`
    pub(super) fn outer_product(
        &mut self,
        source: &LiftSource<'s>,
    ) -> LiftResult<Option<LlvmValue>> {
        let (column, row) = (self.operand(source, 0)?, self.operand(source, 1)?);
        let flags = self.fast_math(source);
        let ty = self.result_type(source)?;
        let count = self.l.out.types.element_count(ty).unwrap_or(0) as u32;
        let mut columns = Vec::new();
        for index in 0..count {
            let weight = self.extract_lane(row, index)?;
            let weight = self.spread(weight, self.type_of(column))?;
            columns.push(self.float_op(LlvmOpcode::FMul, flags, [column, weight]));
        }
        Ok(Some(self.of_columns(ty, &columns)))
    }

    /// `OpTranspose`
    pub(super) fn transpose(&mut self, source: &LiftSource<'s>) -> LiftResult<Option<LlvmValue>> {
        let matrix = self.operand(source, 0)?;
        let rows = self.transposed(matrix)?;
        let ty = self.result_type(source)?;
        Ok(Some(self.of_columns(ty, &rows)))
    }

    /// The rows of a matrix.
    fn transposed(&mut self, matrix: LlvmValue) -> LiftResult<Vec<LlvmValue>> {
        let columns = self.columns(matrix)?;
        let first = columns.first().ok_or("a matrix without columns")?;
        let column = self.type_of(*first);
        let element = self.l.out.types.scalar(column);
        let rows = self.l.out.types.element_count(column).unwrap_or(0) as u32;
        let ty = self
            .l
            .out
            .types
            .vector(element, columns.len() as u32, false);
        let mut all = Vec::new();
        for row in 0..rows {
            let mut lanes = LlvmValue::constant(self.l.out.consts.intern(ty, ConstKind::Poison));
            for (index, &column) in (0..).zip(&columns) {
                let lane = self.extract_lane(column, row)?;
                lanes = self.insert_lane(lanes, lane, index);
            }
            all.push(lanes);
        }
        Ok(all)
    }
}
