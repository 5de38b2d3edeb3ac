//! Matrix intrinsics of Clang's extension: a matrix is a vector of its columns, one after the
//! other.

use super::super::function_body::FunctionTranslator;
use crate::translate::call_rules::ExternalCall;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::MemoryAccess;

/// `llvm.matrix.transpose(matrix, rows, columns)`
pub(super) fn lower_matrix_transpose(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let lanes = body.lane_values(call.arg(0)?)?;
    let [rows, columns] = body.read_matrix_extents(call, [1, 2], lanes.len())?;
    let all: Vec<Id> = (0..rows)
        .flat_map(|row| (0..columns).map(move |column| row + column * rows))
        .map(|at| lanes[at])
        .collect();
    body.composed_result(call, &all)
}

/// `llvm.matrix.multiply(left, right, rows, inner, columns)`
pub(super) fn lower_matrix_multiply(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let left = body.lane_values(call.arg(0)?)?;
    let right = body.lane_values(call.arg(1)?)?;
    let [rows, inner] = body.read_matrix_extents(call, [2, 3], left.len())?;
    let [_, columns] = body.read_matrix_extents(call, [3, 4], right.len())?;
    let element = body.t.module.types.scalar_type(body.inst_type(call.inst));
    let shape = body.t.require_shape(element)?;
    let (product, sum) = match shape.elem {
        NumericElement::Int => (Op::IMul, Op::IAdd),
        NumericElement::Float => (Op::FMul, Op::FAdd),
        _ => return Err(make_refusal("a product of matrices of this type")),
    };
    let ty = body.t.shape_type(shape);
    let mut all = Vec::with_capacity(rows * columns);
    for column in 0..columns {
        for row in 0..rows {
            let mut total = None;
            for at in 0..inner {
                let factors = [left[row + at * rows], right[at + column * inner]];
                let id = body.emit_op(product, ty, factors);
                total = Some(match total {
                    Some(total) => body.emit_op(sum, ty, [total, id]),
                    None => id,
                });
            }
            let total =
                total.ok_or_else(|| make_refusal("a product of matrices without columns"))?;
            all.push(body.mask_high_bits(shape, total));
        }
    }
    body.composed_result(call, &all)
}

/// `llvm.matrix.column.major.load(pointer, stride, volatile, rows, columns)`
pub(super) fn lower_matrix_load(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let ty = body.inst_type(call.inst);
    let count = body.lane_count(ty) as usize;
    let [rows, columns] = body.read_matrix_extents(call, [3, 4], count)?;
    let element = body.t.module.types.scalar_type(ty);
    let memory = body.t.memory_type(element)?;
    let mut lanes = Vec::with_capacity(count);
    for at in 0..count {
        let pointer = body.matrix_element(call, 0, memory, [at % rows, at / rows])?;
        let access = body.matrix_access(call, 2)?;
        let mut words = vec![pointer.word()];
        words.extend(access);
        let id = body.t.b.append_value(Op::Load, memory, &words);
        lanes.push(body.convert_to_register(element, id)?);
    }
    debug_assert_eq!(lanes.len(), rows * columns);
    body.composed_result(call, &lanes)
}

/// `llvm.matrix.column.major.store(matrix, pointer, stride, volatile, rows, columns)`
pub(super) fn lower_matrix_store(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let matrix = call.arg(0)?;
    let lanes = body.lane_values(matrix)?;
    let [rows, _] = body.read_matrix_extents(call, [4, 5], lanes.len())?;
    let element = body.t.module.types.scalar_type(body.type_of(matrix));
    let memory = body.t.memory_type(element)?;
    for (at, lane) in lanes.into_iter().enumerate() {
        let pointer = body.matrix_element(call, 1, memory, [at % rows, at / rows])?;
        let access = body.matrix_access(call, 3)?;
        let mut words = vec![pointer.word(), lane.word()];
        words.extend(access);
        body.t.b.append_effect(Op::Store, &words);
    }
    Ok(None)
}

impl FunctionTranslator<'_, '_> {
    /// The numbers of rows and columns that two arguments state. Their product must be the number
    /// of lanes.
    fn read_matrix_extents(
        &self,
        call: &ExternalCall<'_>,
        at: [usize; 2],
        lanes: usize,
    ) -> LlvmResult<[usize; 2]> {
        let mut extents = [0; 2];
        for (extent, at) in extents.iter_mut().zip(at) {
            let number = self.t.module.as_u64(call.arg(at)?);
            *extent = number.and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        }
        match extents[0].checked_mul(extents[1]) {
            Some(count) if count == lanes && count > 0 => Ok(extents),
            _ => Err(make_refusal(
                "a matrix with another number of elements than its vector",
            )),
        }
    }

    /// The address of an element by row and column. The stride between columns is the argument
    /// after the pointer.
    fn matrix_element(
        &mut self,
        call: &ExternalCall<'_>,
        pointer: usize,
        memory: Id,
        [row, column]: [usize; 2],
    ) -> LlvmResult<Id> {
        let base = self.lower_pointer(call.arg(pointer)?, memory)?;
        let size = NumericShape::new_int(self.t.pointer_bits, 1);
        let ty = self.t.shape_type(size);
        let stride = call.arg(pointer + 1)?;
        let from = self.shape_of(stride)?;
        let stride = self.lower_value(stride)?;
        let stride = self.resize_integer(from, size, stride, false);
        let [row, column] = [row, column].map(|n| self.t.make_splat(size, n as u64));
        let before = self.emit_op(Op::IMul, ty, [stride, column]);
        let at = self.emit_op(Op::IAdd, ty, [before, row]);
        Ok(self.step_pointer(base, at))
    }

    /// The memory operands of an access to one element.
    fn matrix_access(&self, call: &ExternalCall<'_>, volatile: usize) -> LlvmResult<Vec<u32>> {
        let volatile = self.t.module.as_u64(call.arg(volatile)?) == Some(1);
        Ok(if volatile {
            vec![MemoryAccess::Volatile.0]
        } else {
            Vec::new()
        })
    }
}
