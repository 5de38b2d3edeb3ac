//! The layout of arrays that invocations read and write by rows.
//!
//! On a device whose invocations run in lockstep, the dimension that neighbouring invocations differ in becomes the innermost in
//! memory, where rows are wide. How wide they are is known when the program runs, so that strides are values of the host.

use super::view::{ArrayView, ElementOrder, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use crate::ir::{HostOperation, ParallelOperation, SegmentBody, SegmentKind};
use crate::row_access::{RowAccess, find_row_accesses};
use spirula_kernel::ir::{ExprId, MemorySpace, VariableType};
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};
use spirula_soac::ir::{SoacOperand, SoacVariableId};

/// Bytes between elements of neighbouring invocations from which on each needs a transfer of its own.
const WIDE_ROW: i64 = 128;

/// Invocations from which on an array is worth a copy in another layout.
const LEAST_ROWS: i64 = 1 << 10;

/// Variables whose values are replaced for a while.
pub(super) type ReplacedValues = Vec<(SoacVariableId, Option<LoweredValue>)>;

impl FunctionLowering<'_> {
    /// An array of the host whose first dimensions are those of a space, for invocations that write rows.
    pub(super) fn new_row_array(
        &mut self,
        element: ScalarType,
        shape: Vec<ScalarRef>,
        dimension: usize,
    ) -> ArrayView {
        let array = self.new_array(element, shape);
        let distance = self.row_bytes(&array, dimension);
        if let Some(bytes) = distance.to_int64() {
            return if bytes < WIDE_ROW {
                array
            } else {
                ArrayView {
                    strides: self.column_strides(&array.shape, dimension),
                    order: ElementOrder::Strided,
                    ..array
                }
            };
        }
        let is_narrow = self.is_narrow_row(distance);
        let columns = self.column_strides(&array.shape, dimension);
        ArrayView {
            strides: self.choose_strides(is_narrow, &array.strides, &columns),
            order: ElementOrder::Chosen,
            ..array
        }
    }

    /// Gives the arrays that a body reads by rows a layout for it, by copies where theirs is another one. Returns the values that
    /// they had.
    pub(super) fn arrange_rows(
        &mut self,
        operation: &ParallelOperation,
    ) -> Result<ReplacedValues, String> {
        if !self.interleaves_scratch() {
            return Ok(Vec::new());
        }
        let accesses = find_row_accesses(self.function, operation);
        self.arrange_accesses(accesses)
    }

    /// Gives the arrays that the body of a loop of the host reads by rows a layout for it, before the loop.
    pub(super) fn arrange_loop_rows(
        &mut self,
        body: &SegmentBody,
    ) -> Result<ReplacedValues, String> {
        if self.kernel.is_some() || !self.interleaves_scratch() {
            return Ok(Vec::new());
        }
        let mut accesses = Vec::new();
        self.collect_row_accesses(body, &mut accesses);
        self.arrange_accesses(accesses)
    }

    /// Gives variables the values that they had.
    pub(super) fn restore_values(&mut self, replaced: ReplacedValues) {
        for (id, value) in replaced {
            self.values[id.index()] = value;
        }
    }

    fn collect_row_accesses(&self, body: &SegmentBody, accesses: &mut Vec<RowAccess>) {
        for statement in &body.statements {
            match &statement.operation {
                HostOperation::If(_, accept, reject) => {
                    self.collect_row_accesses(accept, accesses);
                    self.collect_row_accesses(reject, accesses);
                }
                HostOperation::Loop(_, _, body)
                | HostOperation::WithAccumulators(_, body)
                | HostOperation::Grouped(_, body) => self.collect_row_accesses(body, accesses),
                HostOperation::Parallel(operation) if self.reads_rows(operation) => {
                    accesses.extend(find_row_accesses(self.function, operation));
                }
                HostOperation::Parallel(_) | HostOperation::Plain(_) => {}
            }
        }
    }

    /// Whether invocations read rows one element after the other: those of maps, and of folds of arrays.
    fn reads_rows(&self, operation: &ParallelOperation) -> bool {
        match &operation.kind {
            SegmentKind::Map => true,
            SegmentKind::Reduce(fold) | SegmentKind::Scan(fold) => {
                let is_array =
                    |&neutral: &SoacOperand| !self.function.type_of(neutral).shape().is_empty();
                fold.neutral.iter().any(is_array)
            }
            SegmentKind::Histogram(_) | SegmentKind::Scatter(_) => false,
        }
    }

    fn arrange_accesses(&mut self, accesses: Vec<RowAccess>) -> Result<ReplacedValues, String> {
        let mut replaced = Vec::new();
        for RowAccess { array, dimension } in accesses {
            let Some(LoweredValue::Array(view)) = self.values[array.index()].clone() else {
                continue;
            };
            let Some(arranged) = self.arrange_array(&view, dimension)? else {
                continue;
            };
            let before = self.values[array.index()].replace(LoweredValue::Array(arranged));
            replaced.push((array, before));
        }
        Ok(replaced)
    }

    /// The array with a dimension innermost in memory, if elements along it are far from each other and many. None if they never are.
    fn arrange_array(
        &mut self,
        view: &ArrayView,
        dimension: usize,
    ) -> Result<Option<ArrayView>, String> {
        let distance = self.row_bytes(view, dimension);
        if distance.to_int64().is_some_and(|bytes| bytes < WIDE_ROW) {
            return Ok(None);
        }
        let rows = self.product(&view.shape[..=dimension]);
        let least = ScalarRef::from_int64(LEAST_ROWS);
        let is_few = self.compare(ScalarOp::SLt, rows, least);
        let is_narrow = self.is_narrow_row(distance);
        let is_narrow = self.read(is_narrow);
        let or = ScalarOperator::with_type(ScalarOp::LogOr, ScalarType::Bool);
        let stays = self.builder.apply_operator(or, &[is_few, is_narrow]);
        let stays = self.assign("c", ScalarType::Bool, stays);
        let columns = self.column_strides(&view.shape, dimension);
        let device = VariableType::Memory(MemorySpace::Device);
        let memory = self.builder.declare_var("rows", device, false);
        let copy = ArrayView {
            memory,
            element: view.element,
            offset: ScalarRef::from_int64(0),
            strides: columns.clone(),
            shape: view.shape.clone(),
            order: ElementOrder::Strided,
        };
        let condition = self.read(stays);
        self.alias_or_copy(condition, &copy, view)?;
        Ok(Some(ArrayView {
            offset: self.choose_scalar(stays, view.offset, copy.offset),
            strides: self.choose_strides(stays, &view.strides, &columns),
            ..copy
        }))
    }

    /// Bytes between elements that follow each other along a dimension.
    fn row_bytes(&mut self, view: &ArrayView, dimension: usize) -> ScalarRef {
        let size = ScalarRef::from_int64(view.element.size() as i64);
        self.int64(ScalarOp::Mul, view.strides[dimension], size)
    }

    fn is_narrow_row(&mut self, bytes: ScalarRef) -> ScalarRef {
        let wide = ScalarRef::from_int64(WIDE_ROW);
        let is_narrow = self.compare(ScalarOp::SLt, bytes, wide);
        self.assign("c", ScalarType::Bool, is_narrow)
    }

    /// The strides of an array whose dimensions up to one are the innermost in memory, in their order.
    fn column_strides(&mut self, shape: &[ScalarRef], dimension: usize) -> Vec<ScalarRef> {
        let (outer, inner) = shape.split_at(dimension + 1);
        let rows = self.product(outer);
        let mut strides = self.dense_strides(outer);
        for stride in self.dense_strides(inner) {
            strides.push(self.int64(ScalarOp::Mul, stride, rows));
        }
        strides
    }

    fn choose_strides(
        &mut self,
        condition: ScalarRef,
        accept: &[ScalarRef],
        reject: &[ScalarRef],
    ) -> Vec<ScalarRef> {
        let pairs = accept.iter().zip(reject);
        pairs
            .map(|(&accept, &reject)| self.choose_scalar(condition, accept, reject))
            .collect()
    }

    /// One of two `i64`.
    fn choose_scalar(
        &mut self,
        condition: ScalarRef,
        accept: ScalarRef,
        reject: ScalarRef,
    ) -> ScalarRef {
        if accept == reject {
            return accept;
        }
        let operands = [condition, accept, reject].map(|operand| self.read(operand));
        let operator = ScalarOperator::with_type(ScalarOp::Cond, ScalarType::I64);
        let value = self.builder.apply_operator(operator, &operands);
        self.assign("i", ScalarType::I64, value)
    }

    /// Whether the elements of an array fill its block from its beginning, in row-major order.
    pub(super) fn compare_strides(&mut self, view: &ArrayView) -> ExprId {
        let dense = self.dense_strides(&view.shape);
        let and = ScalarOperator::with_type(ScalarOp::LogAnd, ScalarType::Bool);
        let mut is_dense = self.compare(ScalarOp::Eq, view.offset, ScalarRef::from_int64(0));
        for (&stride, &dense) in view.strides.iter().zip(&dense) {
            if stride != dense {
                let is_equal = self.compare(ScalarOp::Eq, stride, dense);
                is_dense = self.builder.apply_operator(and, &[is_dense, is_equal]);
            }
        }
        is_dense
    }
}
