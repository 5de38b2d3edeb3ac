//! Spaces: points, and how invocations share them.

use super::offload::InvocationGrid;
use super::view::{ArrayView, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use crate::ir::{ParallelOperation, SegmentKind, SpaceDimension};
use spirula_program::ScalarOp;
use spirula_soac::ir::SoacVariableId;

/// Points of a space that invocations share.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedItems {
    /// Their number.
    pub(super) count: ScalarRef,
    /// Whether an invocation may have several. It has memory of its own, or the items are so many that each costs less than an
    /// invocation.
    pub(super) is_chunked: bool,
    /// Whether one invocation has all: several would combine values with the same element at once.
    pub(super) is_single: bool,
}

impl FunctionLowering<'_> {
    /// Lowers parallel code to kernels.
    pub(super) fn lower_parallel(
        &mut self,
        results: &[SoacVariableId],
        operation: &ParallelOperation,
    ) -> Result<(), String> {
        self.deferred = self.find_deferred(operation);
        let lowered = match &operation.kind {
            SegmentKind::Map if operation.space.is_empty() => self.lower_single(results, operation),
            SegmentKind::Map => self.lower_space_map(results, operation),
            SegmentKind::Reduce(fold) => self.lower_space_reduce(results, operation, fold),
            SegmentKind::Scan(fold) => self.lower_space_scan(results, operation, fold),
            SegmentKind::Histogram(histogram) => {
                self.lower_space_histogram(results, operation, histogram)
            }
            SegmentKind::Scatter(targets) => self.lower_space_scatter(results, operation, targets),
        };
        self.deferred.clear();
        lowered
    }

    /// The sizes of a space.
    pub(super) fn space_sizes(
        &self,
        operation: &ParallelOperation,
    ) -> Result<Vec<ScalarRef>, String> {
        let sizes = operation.space.iter();
        sizes.map(|dimension| self.scalar(dimension.size)).collect()
    }

    /// The position in each dimension of the point with a number.
    pub(super) fn unflatten(&mut self, number: ScalarRef, sizes: &[ScalarRef]) -> Vec<ScalarRef> {
        let mut rest = number;
        let mut point = Vec::with_capacity(sizes.len());
        for (dimension, &size) in sizes.iter().enumerate().rev() {
            if dimension == 0 {
                point.push(rest);
                break;
            }
            let quotient = self.int64(ScalarOp::UDiv, rest, size);
            let whole = self.int64(ScalarOp::Mul, quotient, size);
            point.push(self.int64(ScalarOp::Sub, rest, whole));
            rest = quotient;
        }
        point.reverse();
        point
    }

    /// The number of a point.
    pub(super) fn flatten_point(&mut self, point: &[ScalarRef], sizes: &[ScalarRef]) -> ScalarRef {
        let mut number = ScalarRef::from_int64(0);
        for (&position, &size) in point.iter().zip(sizes) {
            let before = self.int64(ScalarOp::Mul, number, size);
            number = self.int64(ScalarOp::Add, before, position);
        }
        number
    }

    /// Binds the variables of positions.
    pub(super) fn bind_point(&mut self, space: &[SpaceDimension], point: &[ScalarRef]) {
        for (dimension, &position) in space.iter().zip(point) {
            self.set(dimension.index, LoweredValue::Scalar(position));
        }
    }

    /// The part of an array at a point.
    pub(super) fn point_view(&mut self, array: &ArrayView, point: &[ScalarRef]) -> ArrayView {
        let mut view = array.clone();
        for &position in point {
            view = self.row_view(&view, position);
        }
        view
    }

    /// Makes a kernel whose invocations share items.
    pub(super) fn offload_items(
        &mut self,
        items: SharedItems,
        body: impl FnOnce(&mut Self, ScalarRef) -> Result<(), String>,
    ) -> Result<(), String> {
        let SharedItems {
            count, is_chunked, ..
        } = items;
        if items.is_single {
            let grid = InvocationGrid {
                width: ScalarRef::from_int64(1),
                group_size: ScalarRef::from_int64(1),
            };
            return self.offload(grid, |lowering, _| lowering.count_to(count, body));
        }
        if !is_chunked {
            let grid = InvocationGrid {
                width: count,
                group_size: ScalarRef::from_int64(self.profile.group_size),
            };
            return self.offload(grid, body);
        }
        let most = ScalarRef::from_int64(self.profile.chunk_count);
        let width = self.int64(ScalarOp::SMin, count, most);
        let one = ScalarRef::from_int64(1);
        let divisor = self.int64(ScalarOp::SMax, width, one);
        let length = self.int64(ScalarOp::SDivUp, count, divisor);
        let is_contiguous = self.profile.chunk_group_size == 1;
        let grid = InvocationGrid {
            width,
            group_size: ScalarRef::from_int64(self.profile.chunk_group_size),
        };
        self.offload(grid, |lowering, invocation| {
            let first = lowering.int64(ScalarOp::Mul, invocation, length);
            lowering.count_to(length, |lowering, step| {
                let item = if is_contiguous {
                    lowering.int64(ScalarOp::Add, first, step)
                } else {
                    let before = lowering.int64(ScalarOp::Mul, step, width);
                    lowering.int64(ScalarOp::Add, before, invocation)
                };
                lowering.if_inside(item, count, |lowering| body(lowering, item))
            })
        })
    }
}
