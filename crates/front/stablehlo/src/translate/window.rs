//! Windows: their positions in a tensor, and their reduction by the region of an operation.

use super::error::TranslateResult;
use super::movement::{locate_dilated_element, select_value};
use super::reduction::{finish_reduction, read_reduction_inputs, reduce_by_region};
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::{StablehloTranslator, TypedTensor};
use super::window_scan::WindowScan;
use crate::dialect::records::{CustomCallAttributes, ReduceWindowAttributes};
use crate::dialect::{IntegerElements, IntegerList};
use crate::mlir::{MlirBlock, MlirOp};
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{AxisKind, DimExtent, ScalarNode, StructuredOp, TensorShape};

/// A window along one dimension.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowDimension {
    /// Elements of the dimension.
    pub input: DimExtent,
    /// Elements of the window.
    pub size: DimExtent,
    /// Distance from one window to the next.
    pub stride: i64,
    /// Padding before the dimension; a node of the sizes' body.
    pub low: ScalarNode,
    /// Padding after it.
    pub high: ScalarNode,
    /// Distance from one element of the dimension to the next.
    pub base_dilation: i64,
    /// Distance from one element of the window to the next.
    pub dilation: i64,
}

impl WindowDimension {
    /// Number of windows; `None` if a parameter is out of range.
    pub fn count_windows(&self, t: &mut StablehloTranslator<'_>) -> Option<DimExtent> {
        const LIMIT: i64 = 1 << 31;
        let positive = [self.stride, self.base_dilation, self.dilation];
        let is_small = |dim: DimExtent| dim.as_static().is_none_or(|size| size < LIMIT as u64);
        let in_range = positive.iter().all(|n| (1..LIMIT).contains(n))
            && is_small(self.size)
            && is_small(self.input);
        if !in_range {
            return None;
        }
        let (input, size) = (t.node_from_dim(self.input), t.node_from_dim(self.size));
        let count = t.compute_node(|c| {
            let (zero, by) = (c.body.intern_i64(0), c.body.intern_i64(self.base_dilation));
            let gaps = c.add_constant(input, -1.0);
            let gaps = c.mul(gaps, by);
            let spread = c.add_constant(gaps, 1.0);
            let spread = c.apply_binary(Scalar::SMax, spread, zero);
            let padded = c.add(spread, self.low);
            let padded = c.add(padded, self.high);
            let dilation = c.body.intern_i64(self.dilation);
            let window = c.add_constant(size, -1.0);
            let window = c.mul(window, dilation);
            let window = c.add_constant(window, 1.0);
            let (rest, stride) = (c.sub(padded, window), c.body.intern_i64(self.stride));
            let steps = c.apply_binary(Scalar::SDiv, rest, stride);
            let count = c.add_constant(steps, 1.0);
            c.apply_binary(Scalar::SMax, count, zero)
        });
        Some(t.dim_from_node(count))
    }

    /// The index of a window's element in the dimension, and whether there is one.
    pub fn locate_element(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        window: ScalarNode,
        element: ScalarNode,
    ) -> (ScalarNode, ScalarNode) {
        let low = t.import_node(s, self.low);
        let mut c = ScalarBuilder::new(&mut s.body);
        let (stride, dilation) = (
            c.body.intern_i64(self.stride),
            c.body.intern_i64(self.dilation),
        );
        let start = c.mul(window, stride);
        let offset = c.mul(element, dilation);
        let position = c.add(start, offset);
        let position = c.sub(position, low);
        locate_dilated_element(&mut c, position, self.base_dilation, self.input)
    }
}

/// Attributes of windows that pooling and convolutions share. Strides and dilations are 1 where
/// they are missing, the padding is 0.
#[derive(Default)]
pub(super) struct WindowAttributes {
    pub strides: Option<IntegerList>,
    pub base_dilations: Option<IntegerList>,
    pub window_dilations: Option<IntegerList>,
    pub padding: Option<IntegerElements>,
}

/// Windows over all dimensions, from their attributes.
pub(super) fn read_windows(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    input: &[DimExtent],
    sizes: &[DimExtent],
    attributes: &WindowAttributes,
) -> TranslateResult<Vec<WindowDimension>> {
    let rank = input.len();
    let strides = t.integers_or(op, attributes.strides.as_ref(), rank, 1)?;
    let base = t.integers_or(op, attributes.base_dilations.as_ref(), rank, 1)?;
    let window = t.integers_or(op, attributes.window_dilations.as_ref(), rank, 1)?;
    let padding = attributes.padding.as_ref().map(|padding| &padding.0);
    let padding = t.integers_or(op, padding, 2 * rank, 0)?;
    let is_small = padding.iter().all(|n| n.unsigned_abs() < 1 << 31);
    t.ensure_holds(op, is_small, "pads too much")?;
    let padding = t.number_nodes(&padding);
    let windows = (0..rank).map(|at| WindowDimension {
        input: input[at],
        size: sizes[at],
        stride: strides[at],
        low: padding[2 * at],
        high: padding[2 * at + 1],
        base_dilation: base[at],
        dilation: window[at],
    });
    Ok(windows.collect())
}

/// Sizes of the window dimensions.
pub(super) fn window_sizes(
    t: &StablehloTranslator<'_>,
    op: MlirOp,
    sizes: Option<&IntegerList>,
    rank: usize,
) -> TranslateResult<Vec<DimExtent>> {
    let sizes = t.integers_or(op, sizes, rank, 1)?;
    t.ensure_holds(
        op,
        sizes.iter().all(|size| *size > 0),
        "has an empty window",
    )?;
    let sizes = sizes.into_iter().map(|size| DimExtent::Static(size as u64));
    Ok(sizes.collect())
}

/// Sizes of a tensor of windows.
pub(super) fn compute_windowed_shape(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    windows: &[WindowDimension],
) -> TranslateResult<TensorShape> {
    let counts = windows.iter().map(|window| window.count_windows(t));
    let counts: Option<TensorShape> = counts.collect();
    counts.ok_or_else(|| t.invalid_error(op, "a window is out of range"))
}

/// Axes for the elements of windows; those of one element need none.
pub(super) fn window_axes(s: &mut StructuredOp, windows: &[WindowDimension]) -> Vec<ScalarNode> {
    let index = |window: &WindowDimension| match window.size {
        DimExtent::Static(1) => s.body.intern_i64(0),
        size => s.add_axis(size, AxisKind::Reduction),
    };
    windows.iter().map(index).collect()
}

/// `reduce_window`
pub(super) fn reduce_window(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let (operands, initial, _) = read_reduction_inputs(t, op)?;
    let input = t.tensor_shape(&operands[0]);
    let attributes: ReduceWindowAttributes = t.read_attributes(op)?;
    let sizes = window_sizes(t, op, Some(&attributes.window_dimensions), input.len())?;
    let attributes = WindowAttributes {
        strides: attributes.window_strides,
        base_dilations: attributes.base_dilations,
        window_dilations: attributes.window_dilations,
        padding: attributes.padding,
    };
    let windows = read_windows(t, op, &input, &sizes, &attributes)?;
    let block = t.region_block(op, 0)?;
    pool_windows(t, op, block, &windows, &operands, &initial)
}

/// `dynamic_reduce_window`, which JAX writes as a custom call. Sizes, strides, dilations and
/// padding are operands; the region is a function.
pub(super) fn dynamic_reduce_window(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let (operand, initial) = (t.tensor_operand(op, 0)?, t.tensor_operand(op, 1)?);
    let input = t.tensor_shape(&operand);
    let sizes = t.number_dims(op, 2)?;
    let (strides, base) = (t.known_numbers(op, 3)?, t.known_numbers(op, 4)?);
    let (dilations, padding) = (t.known_numbers(op, 5)?, t.find_tracked_operand(op, 6)?);
    let rank = input.len();
    let counts = [
        sizes.len(),
        strides.len(),
        base.len(),
        dilations.len(),
        padding.len() / 2,
    ];
    let fits = counts == [rank; 5] && t.tensor_shape(&initial).is_empty();
    t.ensure_holds(op, fits, "has too few or many bounds")?;
    let windows: Vec<WindowDimension> = (0..rank)
        .map(|at| WindowDimension {
            input: input[at],
            size: sizes[at],
            stride: strides[at],
            low: padding[2 * at],
            high: padding[2 * at + 1],
            base_dilation: base[at],
            dilation: dilations[at],
        })
        .collect();
    let attributes: CustomCallAttributes<'_> = t.read_attributes(op)?;
    let called = attributes.called_computations.map(|names| names.0);
    let first = called.and_then(|names| names.into_iter().next().flatten());
    let function = first.and_then(|name| t.module.find_function(name.0));
    let function =
        function.ok_or_else(|| t.invalid_error(op, "a custom call names no function"))?;
    let block = t.region_block(function, 0)?;
    pool_windows(t, op, block, &windows, &[operand], &[initial])
}

/// Reduces windows of tensors by a block.
fn pool_windows(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    block: MlirBlock,
    windows: &[WindowDimension],
    operands: &[TypedTensor],
    initial: &[TypedTensor],
) -> TranslateResult<()> {
    if let Some(scan) = WindowScan::from_windows(t, windows)
        && let Some(results) = scan.translate_scan(t, op, block, operands, initial)?
    {
        return t.bind_results(op, results);
    }
    let mut s = StructuredOp::with_parallel_axes(&compute_windowed_shape(t, op, windows)?);
    let point = s.axis_indices();
    let offsets = window_axes(&mut s, windows);
    let (position, inside) = locate_window_element(t, &mut s, windows, &point, &offsets);
    let initial: Vec<ElementValue> = initial
        .iter()
        .map(|v| t.read_element(&mut s, v, &[]))
        .collect();
    let mut values = Vec::new();
    for (operand, initial) in operands.iter().zip(&initial) {
        let value = t.read_element(&mut s, operand, &position);
        values.push(select_value(&mut s, inside, &value, initial));
    }
    let results = reduce_by_region(t, op, &mut s, block, &initial, &values)?;
    let results = finish_reduction(t, s, &results);
    t.bind_results(op, results)
}

/// The position of an element of a window, and whether there is one.
pub(super) fn locate_window_element(
    t: &StablehloTranslator<'_>,
    s: &mut StructuredOp,
    windows: &[WindowDimension],
    point: &[ScalarNode],
    offsets: &[ScalarNode],
) -> (Vec<ScalarNode>, ScalarNode) {
    let mut inside = ScalarBuilder::new(&mut s.body).truth_constant(true);
    let mut position = Vec::new();
    for (window, (index, offset)) in windows.iter().zip(point.iter().zip(offsets)) {
        let (index, is_inside) = window.locate_element(t, s, *index, *offset);
        position.push(index);
        inside = ScalarBuilder::new(&mut s.body).and(inside, is_inside);
    }
    (position, inside)
}
