//! Matrix operands: factors of products that are matrices as they lie in the device's memory.

use crate::ir::{
    AffineSum, NodeData, NodeGraph, ScalarNode, StructuredOp, TensorFunction, TensorValue,
};
use spirula_kernel::ir::FragmentElement;
use spirula_program::{ScalarOp, ScalarType};

/// A factor as a matrix in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MatrixOperand {
    /// The tensor.
    pub value: TensorValue,
    /// The element that is read, before it is widened.
    pub element: ScalarNode,
    /// Distance in elements from one point of the rows, or columns, to the next, and from one of the reduction.
    pub strides: [u64; 2],
}

/// A factor as a matrix in memory, if it is one. The axes of either kind must have one stride together, and one kind's
/// elements must be contiguous. `kinds` are the axes of the rows or columns, and of the reduction.
pub(crate) fn match_matrix_operand(
    function: &TensorFunction,
    op: &StructuredOp,
    factor: ScalarNode,
    kinds: [&[usize]; 2],
) -> Option<MatrixOperand> {
    let reads = FactorStrides::from_factor(function, op, factor)?;
    let strides = [
        reads.common_stride(op, kinds[0])?,
        reads.common_stride(op, kinds[1])?,
    ];
    strides.contains(&1).then_some(MatrixOperand {
        value: reads.value,
        element: strip_widening(&op.body, factor).0,
        strides,
    })
}

/// The node that a factor reads: itself, or the number of 16 bits that it is widened from.
pub(super) fn strip_widening(
    body: &NodeGraph,
    factor: ScalarNode,
) -> (ScalarNode, FragmentElement) {
    match body.as_apply(factor) {
        Some((how, &[narrow])) if (how.op, how.from) == (ScalarOp::FConv, ScalarType::F16) => {
            (narrow, FragmentElement::F16)
        }
        _ => (factor, FragmentElement::F32),
    }
}

/// How a factor moves through the tensor that it reads.
pub(super) struct FactorStrides {
    /// The tensor.
    pub value: TensorValue,
    /// Distance in elements from one point of each axis to the next.
    pub strides: Vec<u64>,
    /// Row-major place of the first element, where it is known.
    pub first: Option<i64>,
}

impl FactorStrides {
    /// The strides of a factor that is an element at sums of indices.
    pub fn from_factor(
        function: &TensorFunction,
        op: &StructuredOp,
        factor: ScalarNode,
    ) -> Option<FactorStrides> {
        let NodeData::Element(value, position) = op.body.node(strip_widening(&op.body, factor).0)
        else {
            return None;
        };
        let mut strides = vec![0u64; op.axes.len()];
        let mut stride = 1u64;
        for (node, dim) in position.iter().zip(&function.ty(*value).shape).rev() {
            for (term, times) in AffineSum::from_node(&op.body, *node).terms {
                let own = &mut strides[op.body.as_index(term)? as usize];
                let step = stride.checked_mul(u64::try_from(times).ok()?)?;
                *own = own.checked_add(step)?;
            }
            stride = stride.checked_mul(dim.as_static()?)?;
        }
        Some(FactorStrides {
            value: *value,
            strides,
            first: find_first_place(function, op, *value, position),
        })
    }

    /// The stride of axes that have one together.
    fn common_stride(&self, op: &StructuredOp, axes: &[usize]) -> Option<u64> {
        let (stride, count) = self.common_last_stride(op, axes)?;
        (count == axes.len() && stride > 0).then_some(stride)
    }

    /// The stride of as many of the last axes as have one together.
    fn common_last_stride(&self, op: &StructuredOp, axes: &[usize]) -> Option<(u64, usize)> {
        let mut inner: Option<(u64, u64)> = None;
        for (count, axis) in axes.iter().rev().enumerate() {
            let extent = op.axes[*axis].extent.as_static()?;
            if extent == 1 {
                continue;
            }
            let own = self.strides[*axis];
            inner = match inner {
                None => Some((own, own * extent)),
                Some((first, next)) if next == own => Some((first, own * extent)),
                Some((first, _)) => return Some((first, count)),
            };
        }
        inner.map(|(first, _)| (first, axes.len()))
    }

    /// How many of the last axes have one stride together.
    pub fn count_last_axes(&self, op: &StructuredOp, axes: &[usize]) -> usize {
        self.common_last_stride(op, axes)
            .map_or(0, |(_, count)| count)
    }
}

/// Row-major place of the first element that is read.
fn find_first_place(
    function: &TensorFunction,
    op: &StructuredOp,
    value: TensorValue,
    position: &[ScalarNode],
) -> Option<i64> {
    let mut first = 0i64;
    for (node, dim) in position.iter().zip(&function.ty(value).shape) {
        let size = i64::try_from(dim.as_static()?).ok()?;
        let constant = AffineSum::from_node(&op.body, *node).constant;
        first = first.checked_mul(size)?.checked_add(constant)?;
    }
    Some(first)
}
