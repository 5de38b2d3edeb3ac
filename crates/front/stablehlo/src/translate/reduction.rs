//! Reductions: of dimensions, of windows, and the scatter that reverses those of windows.

use super::element::{TensorElement, to_native_type};
use super::error::TranslateResult;
use super::movement::{locate_dilated_element, select_value};
use super::scalar::{ElementValue, ScalarBuilder};
use super::scalar_region;
use super::symbolic_dims::merged_shapes;
use super::translator::{StablehloTranslator, TypedTensor};
use super::window_scan::WindowScan;
use crate::dialect::table::{
    CustomCallAttributes, ReduceAttributes, ReduceWindowAttributes, SelectAndScatterAttributes,
};
use crate::dialect::{IntegerElements, IntegerList};
use crate::mlir::{MlirBlock, MlirFloat, MlirOp};
use spirula_program::{ScalarOp as Scalar, ScalarType as Ty};
use spirula_tensor::ir::{
    AxisKind, DimExtent, NodeGraph, ScalarCombiner, ScalarNode, StructuredOp, StructuredYield,
    TensorReduction, TensorShape, YieldDestination,
};

/// The format that is folded as `f32`: that of all values, if it has 16 bits or less.
fn find_wide_format(elements: &[TensorElement]) -> Option<MlirFloat> {
    let Some(TensorElement::Float(float)) = elements.first().copied() else {
        return None;
    };
    let same = elements
        .iter()
        .all(|element| *element == TensorElement::Float(float));
    (same && float.width() <= 16).then_some(float)
}

/// Folds values by a region from initial values; the accumulators, of the region's types.
pub(super) fn reduce_by_region(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    s: &mut StructuredOp,
    block: MlirBlock,
    initial: &[ElementValue],
    values: &[ElementValue],
) -> TranslateResult<Vec<ElementValue>> {
    let mut types = Vec::new();
    for argument in t.module.arguments(block) {
        types.push(t.tensor_type(op, t.module.type_of(argument))?.0);
    }
    let count = values.len();
    t.ensure_holds(
        op,
        types.len() == 2 * count && count > 0,
        "has a region of another type",
    )?;
    let wide = find_wide_format(&types);
    let inner: Vec<TensorElement> = types
        .iter()
        .map(|e| scalar_region::promote_element(*e, wide))
        .collect();
    let (combiner, results) = scalar_region::build_combiner(t, op, block, &inner, wide)?;
    let found = results.iter().map(|val| val.element);
    t.ensure_holds(
        op,
        found.eq(inner[..count].iter().copied()),
        "has a region of another type",
    )?;
    let mut convert =
        |vals: &[ElementValue], to: &[TensorElement]| -> TranslateResult<Vec<ScalarNode>> {
            let mut nodes = Vec::new();
            for (val, to) in vals.iter().zip(to) {
                let converted = ScalarBuilder::new(&mut s.body).convert_value(val, *to);
                let converted =
                    converted.ok_or_else(|| t.unsupported_error(op, "type in a reduction"))?;
                nodes.extend(converted.nodes);
            }
            Ok(nodes)
        };
    let initial = convert(initial, &inner[..count])?;
    let values = convert(values, &inner[count..])?;
    let mut nodes = s
        .add_reduction(TensorReduction {
            initial,
            values,
            combiner,
        })
        .into_iter();
    let mut folded = Vec::new();
    for (inner, outer) in inner.iter().zip(&types[..count]) {
        let val = ElementValue {
            element: *inner,
            nodes: nodes.by_ref().take(inner.component_count()).collect(),
        };
        let narrow = ScalarBuilder::new(&mut s.body).convert_value(&val, *outer);
        folded.extend(narrow);
    }
    Ok(folded)
}

/// Results of several accumulators at each point.
fn finish_reduction(
    t: &mut StablehloTranslator<'_>,
    mut s: StructuredOp,
    results: &[ElementValue],
) -> Vec<TypedTensor> {
    for node in results.iter().flat_map(|val| &val.nodes) {
        s.add_yield(*node);
    }
    collect_result_tensors(t, s, results)
}

/// The tensors that the results of an operation are.
pub(super) fn collect_result_tensors(
    t: &mut StablehloTranslator<'_>,
    s: StructuredOp,
    results: &[ElementValue],
) -> Vec<TypedTensor> {
    let mut parts = t.builder.add_structured(s).into_iter();
    let tensors = results.iter().map(|val| TypedTensor {
        element: val.element,
        parts: parts.by_ref().take(val.nodes.len()).collect(),
        followed: None,
    });
    tensors.collect()
}

/// Inputs of one shape and as many initial values of rank 0.
fn read_reduction_inputs(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<(Vec<TypedTensor>, Vec<TypedTensor>, TensorShape)> {
    let mut operands = t.tensor_operands(op)?;
    let count = operands.len() / 2;
    t.ensure_holds(
        op,
        operands.len() == 2 * count && count > 0,
        "has a wrong number of operands",
    )?;
    let initial = operands.split_off(count);
    let shape = t.common_shape(op, &operands)?;
    let scalars = initial.iter().all(|value| t.tensor_shape(value).is_empty());
    t.ensure_holds(op, scalars, "has initial values that are no scalars")?;
    Ok((operands, initial, shape))
}

/// `reduce`
pub(super) fn translate_reduce(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let (operands, initial, shape) = read_reduction_inputs(t, op)?;
    let ReduceAttributes { dimensions } = t.read_attributes(op)?;
    let dimensions = t.check_dimensions(op, &dimensions, shape.len())?;
    let block = t.region_block(op, 0)?;
    let mut s = StructuredOp::default();
    let position = s.reduced_position(&shape, &dimensions);
    let initial: Vec<ElementValue> = initial
        .iter()
        .map(|v| t.read_element(&mut s, v, &[]))
        .collect();
    let values: Vec<ElementValue> = operands
        .iter()
        .map(|v| t.read_element(&mut s, v, &position))
        .collect();
    let results = reduce_by_region(t, op, &mut s, block, &initial, &values)?;
    let results = finish_reduction(t, s, &results);
    t.bind_results(op, results)
}

/// How a window lies over one dimension.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowDimension {
    /// Elements of the dimension.
    pub input: DimExtent,
    /// Elements of the window.
    pub size: DimExtent,
    /// From one window to the next.
    pub stride: i64,
    /// In front of the dimension; a node of the sizes' body.
    pub low: ScalarNode,
    /// Behind it.
    pub high: ScalarNode,
    /// From one element of the dimension to the next.
    pub base_dilation: i64,
    /// From one element of the window to the next.
    pub dilation: i64,
}

impl WindowDimension {
    /// Number of windows; none where numbers are out of range.
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
        let count = t.node_by(|c| {
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

    /// The index that an element of a window has in the dimension, and whether there is one.
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
fn window_sizes(
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
fn window_axes(s: &mut StructuredOp, windows: &[WindowDimension]) -> Vec<ScalarNode> {
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

/// The `dynamic_reduce_window` that JAX writes as a custom call: sizes, strides, dilations and
/// padding are operands, the region is a function.
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

/// Folds windows of tensors by a block.
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
fn locate_window_element(
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

/// `select_and_scatter`: of each window the element that the selection prefers is found; then the
/// sources are scattered to those positions.
pub(super) fn select_and_scatter(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operands = t.tensor_operands(op)?;
    t.ensure_holds(op, operands.len() == 3, "has a wrong number of operands")?;
    let [operand, source, initial] = [0, 1, 2].map(|at| operands[at].clone());
    let input = t.tensor_shape(&operand);
    let attributes: SelectAndScatterAttributes = t.read_attributes(op)?;
    let sizes = window_sizes(t, op, attributes.window_dimensions.as_ref(), input.len())?;
    let attributes = WindowAttributes {
        strides: attributes.window_strides,
        padding: attributes.padding,
        ..WindowAttributes::default()
    };
    let windows = read_windows(t, op, &input, &sizes, &attributes)?;
    let shape = compute_windowed_shape(t, op, &windows)?;
    let fits = merged_shapes(&shape, &t.tensor_shape(&source)).is_some()
        && t.tensor_shape(&initial).is_empty();
    t.ensure_holds(op, fits, "has a source of another shape")?;
    let mut s = StructuredOp::with_parallel_axes(&shape);
    let point = s.axis_indices();
    let offsets = window_axes(&mut s, &windows);
    let (position, inside) = locate_window_element(t, &mut s, &windows, &point, &offsets);
    let mut c = ScalarBuilder::new(&mut s.body);
    let none = c.body.intern_i64(-1);
    let mut flat = c.body.intern_i64(0);
    for (index, size) in position.iter().zip(&input) {
        let size = c.body.intern_size(*size);
        flat = c.mul(flat, size);
        flat = c.add(flat, *index);
    }
    let flat = c.select(inside, flat, none);
    let value = t.read_element(&mut s, &operand, &position);
    let zero = ScalarBuilder::new(&mut s.body).make_constant_value(value.element, 0.0);
    let value = select_value(&mut s, inside, &value, &zero);
    let combiner = build_preference_combiner(t, op, operand.element)?;
    let mut initials = zero.nodes.to_vec();
    initials.push(none);
    let mut values = value.nodes.to_vec();
    values.push(flat);
    let chosen = s.add_reduction(TensorReduction {
        initial: initials,
        values,
        combiner,
    });
    s.add_yield(chosen[chosen.len() - 1]);
    let positions = t.builder.add_structured(s)[0];
    let positions = TypedTensor::new(TensorElement::I64, positions);
    scatter_to(t, op, &positions, &source, &initial, &input)
}

/// Of two candidates, each a value and a position, the one that the selection prefers. The one that
/// comes first is asked first, whatever the order of the fold; position -1 is no candidate.
fn build_preference_combiner(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    element: TensorElement,
) -> TranslateResult<ScalarCombiner> {
    let block = t.region_block(op, 0)?;
    let count = element.component_count();
    let mut body = NodeGraph::default();
    let mut arguments = Vec::new();
    for side in 0..2 {
        let first = side * (count + 1);
        let nodes =
            (0..count).map(|at| body.intern_argument((first + at) as u32, element.storage_type()));
        let val = ElementValue {
            element,
            nodes: nodes.collect(),
        };
        let at = body.intern_argument((first + count) as u32, Ty::I64);
        arguments.push((val, at));
    }
    let (a, a_at) = arguments[0].clone();
    let (b, b_at) = arguments[1].clone();
    let mut c = ScalarBuilder::new(&mut body);
    let (zero, is_first) = (c.body.intern_i64(0), c.le(a_at, b_at));
    let pick = |c: &mut ScalarBuilder<'_>, condition, a: &ElementValue, b: &ElementValue| {
        let parts = a.nodes.iter().zip(&b.nodes);
        let nodes = parts.map(|(a, b)| c.select(condition, *a, *b)).collect();
        ElementValue { element, nodes }
    };
    let first = pick(&mut c, is_first, &a, &b);
    let second = pick(&mut c, is_first, &b, &a);
    let keeps =
        scalar_region::translate_scalar_region(t, &mut body, block, vec![first, second], None)?;
    t.ensure_holds(
        op,
        keeps.len() == 1 && keeps[0].element == TensorElement::Bool,
        "has a wrong selection",
    )?;
    let mut c = ScalarBuilder::new(&mut body);
    let differs = c.apply_binary(Scalar::Eq, keeps[0].node(), is_first);
    let (a_none, b_none) = (c.lt(a_at, zero), c.lt(b_at, zero));
    let truth = c.truth_constant(true);
    let takes_a = c.select(b_none, truth, differs);
    let a_some = c.not(a_none);
    let takes_a = c.and(a_some, takes_a);
    let mut results = pick(&mut c, takes_a, &a, &b).nodes.to_vec();
    results.push(c.select(takes_a, a_at, b_at));
    Ok(ScalarCombiner { body, results })
}

/// Sources combined at flat positions of a tensor of an initial value.
fn scatter_to(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    positions: &TypedTensor,
    source: &TypedTensor,
    initial: &TypedTensor,
    sizes: &TensorShape,
) -> TranslateResult<()> {
    let element = source.element;
    t.ensure_holds(
        op,
        initial.element == element,
        "has an initial value of another type",
    )?;
    let count = t.dim_by(sizes, |c, sizes| {
        let one = c.body.intern_i64(1);
        sizes
            .iter()
            .fold(one, |product, size| c.mul(product, *size))
    });
    let flat: TensorShape = [count].into_iter().collect();
    let base = t.broadcast_tensor(op, initial, &flat, Vec::new())?;
    let block = t.region_block(op, 1)?;
    let combiners = super::scatter::part_combiners(t, op, block, element)?;
    let mut s = StructuredOp::with_parallel_axes(&t.tensor_shape(source));
    let point = s.axis_indices();
    let position = t.read_element(&mut s, positions, &point).node();
    let value = t.read_element(&mut s, source, &point);
    for (at, combiner) in combiners.into_iter().enumerate() {
        s.yields.push(StructuredYield {
            value: value.nodes[at],
            destination: YieldDestination::Scatter {
                base: base.parts[at],
                indices: vec![position],
                combiner,
                distinct: false,
            },
        });
    }
    let parts = t.builder.add_structured(s);
    let scattered = TypedTensor::from_components(element, &parts);
    let result = t.reshape_tensor(op, &scattered, sizes.clone())?;
    t.give_one(op, result)
}

/// The type that sums of products are kept in.
pub(super) fn choose_accumulator_type(
    l: TensorElement,
    r: TensorElement,
    result: TensorElement,
) -> TensorElement {
    let widest = |float: MlirFloat| match to_native_type(float) {
        Some(Ty::F64) => MlirFloat::F64,
        _ => MlirFloat::F32,
    };
    let all = [l, r, result];
    let has_f64 = all
        .iter()
        .any(|e| e.component_element() == TensorElement::Float(MlirFloat::F64));
    match result {
        TensorElement::Float(_) if has_f64 => TensorElement::Float(MlirFloat::F64),
        TensorElement::Float(float) => TensorElement::Float(widest(float)),
        TensorElement::Int { signed, .. } => {
            let width = |e: &TensorElement| match e.stored_element() {
                TensorElement::Int { width, .. } => width,
                _ => 0,
            };
            let width = all.iter().map(width).max().unwrap_or(32);
            TensorElement::Int { width, signed }
        }
        other => other,
    }
}

impl StablehloTranslator<'_> {
    /// The sum of products over the reduced axes, as a result's type.
    pub fn sum_of_products(
        &self,
        op: MlirOp,
        s: &mut StructuredOp,
        l: &ElementValue,
        r: &ElementValue,
        guard: Option<ScalarNode>,
        result: TensorElement,
    ) -> TranslateResult<ElementValue> {
        let sum = choose_accumulator_type(l.element, r.element, result);
        let error = || self.unsupported_error(op, format!("product of {}", l.element));
        let mut c = ScalarBuilder::new(&mut s.body);
        let mut l = c.convert_value(l, sum).ok_or_else(error)?;
        let r = c.convert_value(r, sum).ok_or_else(error)?;
        let ty = sum.storage_type();
        let zero = c.integer_constant(ty, 0);
        // Padding is zeros of the first factor, as the specification has it, so that what is folded
        // stays a product.
        if let Some(guard) = guard {
            for node in &mut l.nodes {
                *node = c.select(guard, *node, zero);
            }
        }
        let (products, add) = match sum {
            TensorElement::Bool => (vec![c.and(l.node(), r.node())], Scalar::LogOr),
            TensorElement::Complex(_) => {
                let ([a, b], [x, y]) = (l.as_complex(), r.as_complex());
                let (ax, by) = (c.mul(a, x), c.mul(b, y));
                let (ay, bx) = (c.mul(a, y), c.mul(b, x));
                (vec![c.sub(ax, by), c.add(ay, bx)], Scalar::FAdd)
            }
            TensorElement::Float(_) => (vec![c.mul(l.node(), r.node())], Scalar::FAdd),
            _ => (vec![c.mul(l.node(), r.node())], Scalar::Add),
        };
        let mut nodes = Vec::new();
        for product in products {
            nodes.extend(s.add_reduction(TensorReduction {
                initial: vec![zero],
                values: vec![product],
                combiner: ScalarCombiner::from_op(add, ty),
            }));
        }
        let val = ElementValue {
            element: sum,
            nodes: nodes.into(),
        };
        let mut c = ScalarBuilder::new(&mut s.body);
        c.convert_value(&val, result).ok_or_else(error)
    }
}
