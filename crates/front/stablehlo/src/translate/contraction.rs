//! Contractions: products of matrices and tensors, and convolutions.

use super::dims::merge_dims;
use super::error::TranslateResult;
use super::product::choose_precision;
use super::scalar::ScalarBuilder;
use super::translator::StablehloTranslator;
use super::window::{WindowAttributes, WindowDimension, compute_windowed_shape, read_windows};
use crate::dialect::records::{ConvolutionAttributes, DotAttributes, DotGeneralAttributes};
use crate::dialect::{DotNumbers, IntegerList, PrecisionConfig, TensorLayout};
use crate::mlir::MlirOp;
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{AxisKind, DimExtent, ScalarNode, StructuredOp, TensorShape};

/// Dimensions of the operands of a product that correspond.
pub(super) struct DotDimensions {
    pub batch: [Vec<usize>; 2],
    pub contracting: [Vec<usize>; 2],
}

/// Checks dimension numbers against the ranks of the operands.
pub(super) fn check_dimension_pairs(
    t: &StablehloTranslator<'_>,
    op: MlirOp,
    numbers: &DotNumbers,
) -> TranslateResult<DotDimensions> {
    let rank = |at: usize| {
        let operand = t.tensor_operand(op, at)?;
        Ok(t.tensor_shape(&operand).len())
    };
    let (l, r) = (rank(0)?, rank(1)?);
    let pair = |[left, right]: &[IntegerList; 2]| {
        Ok([
            t.check_dimensions(op, left, l)?,
            t.check_dimensions(op, right, r)?,
        ])
    };
    Ok(DotDimensions {
        batch: pair(&numbers.batching)?,
        contracting: pair(&numbers.contracting)?,
    })
}

/// `dot_general`
pub(super) fn dot_general(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let attributes: DotGeneralAttributes = t.read_attributes(op)?;
    let pairs = check_dimension_pairs(t, op, &attributes.dot_dimension_numbers)?;
    // An algorithm asks for its own precision, which full precision exceeds.
    let mut config = attributes.precision_config.unwrap_or_default();
    config.is_highest |= attributes.algorithm.is_some();
    translate_product(t, op, &pairs, config)
}

/// `dot`: the last dimension of one with the first of the other.
pub(super) fn translate_dot(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let attributes: DotAttributes = t.read_attributes(op)?;
    let operand = t.tensor_operand(op, 0)?;
    let rank = t.tensor_shape(&operand).len();
    t.ensure_holds(op, rank > 0, "has an operand of rank 0")?;
    let pairs = DotDimensions {
        batch: [Vec::new(), Vec::new()],
        contracting: [vec![rank - 1], vec![0]],
    };
    let config = attributes.precision_config.unwrap_or_default();
    translate_product(t, op, &pairs, config)
}

/// The index along each dimension of both operands, if it has one so far.
pub(super) struct DotPositions<'a> {
    shapes: &'a [TensorShape; 2],
    pub positions: [Vec<Option<ScalarNode>>; 2],
}

impl<'a> DotPositions<'a> {
    pub fn new(shapes: &'a [TensorShape; 2]) -> Self {
        let positions = [0, 1].map(|side| vec![None; shapes[side].len()]);
        DotPositions { shapes, positions }
    }

    /// Adds an axis for each dimension that has none yet and is not contracted.
    pub fn add_free_axes(&mut self, s: &mut StructuredOp, pairs: &DotDimensions) {
        for side in 0..2 {
            for (at, size) in self.shapes[side].iter().enumerate() {
                let position = &mut self.positions[side][at];
                if position.is_none() && !pairs.contracting[side].contains(&at) {
                    *position = Some(s.add_axis(*size, AxisKind::Parallel));
                }
            }
        }
    }

    /// The complete positions.
    pub fn into_positions(self) -> [Vec<ScalarNode>; 2] {
        self.positions
            .map(|nodes| nodes.into_iter().flatten().collect())
    }
}

/// Translates a product with these pairs of dimensions.
pub(super) fn translate_product(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    pairs: &DotDimensions,
    config: PrecisionConfig,
) -> TranslateResult<()> {
    let (l, r) = (t.tensor_operand(op, 0)?, t.tensor_operand(op, 1)?);
    let result = t.result_element(op, 0)?;
    let shapes = [t.tensor_shape(&l), t.tensor_shape(&r)];
    let mut s = StructuredOp::default();
    let mut sides = DotPositions::new(&shapes);
    add_pair_axes(t, op, &mut s, &mut sides, &pairs.batch, AxisKind::Parallel)?;
    sides.add_free_axes(&mut s, pairs);
    let contracting = &pairs.contracting;
    add_pair_axes(t, op, &mut s, &mut sides, contracting, AxisKind::Reduction)?;
    let [l_at, r_at] = sides.into_positions();
    let values = (
        t.read_element(&mut s, &l, &l_at),
        t.read_element(&mut s, &r, &r_at),
    );
    s.precision = choose_precision(config, [values.0.element, values.1.element]);
    let value = t.sum_of_products(op, &mut s, &values.0, &values.1, None, result)?;
    let tensor = t.finish_structured(s, &value);
    t.bind_result(op, tensor)
}

/// Adds an axis for each pair of dimensions.
pub(super) fn add_pair_axes(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    s: &mut StructuredOp,
    sides: &mut DotPositions<'_>,
    pairs: &[Vec<usize>; 2],
    kind: AxisKind,
) -> TranslateResult<()> {
    let same = pairs[0].len() == pairs[1].len();
    t.ensure_holds(op, same, "has different numbers of dimensions")?;
    let (shapes, positions) = (sides.shapes, &mut sides.positions);
    for (l, r) in pairs[0].iter().zip(&pairs[1]) {
        let valid = *l < shapes[0].len() && *r < shapes[1].len();
        let merged = if valid {
            t.builder.demand_equal(shapes[0][*l], shapes[1][*r]);
            merge_dims(shapes[0][*l], shapes[1][*r])
        } else {
            None
        };
        let free = valid && positions[0][*l].is_none() && positions[1][*r].is_none();
        let size = merged.filter(|_| free);
        t.ensure_holds(op, size.is_some(), "has operands of different sizes")?;
        let index = s.add_axis(size.unwrap_or(DimExtent::Static(0)), kind);
        positions[0][*l] = Some(index);
        positions[1][*r] = Some(index);
    }
    Ok(())
}

/// Dimensions of one side of a convolution.
struct ConvolutionLayout {
    first: usize,
    second: usize,
    spatial: Vec<usize>,
}

fn check_layout(
    t: &StablehloTranslator<'_>,
    op: MlirOp,
    layout: &TensorLayout,
    rank: usize,
) -> TranslateResult<ConvolutionLayout> {
    let all = t.check_dimensions(op, &layout.all_dimensions(), rank)?;
    t.ensure_holds(op, all.len() == rank, "has dimensions of another rank")?;
    Ok(ConvolutionLayout {
        first: all[0],
        second: all[1],
        spatial: all[2..].to_vec(),
    })
}

/// `convolution`
pub(super) fn translate_convolution(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    translate_padded_convolution(t, op, None)
}

/// `dynamic_conv`: the padding is an operand.
pub(super) fn dynamic_convolution(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let padding = t.find_tracked_operand(op, 2)?;
    translate_padded_convolution(t, op, Some(&padding))
}

/// A convolution whose attributes and shapes are consistent.
struct ConvolutionGeometry {
    /// Dimensions of the input.
    from: ConvolutionLayout,
    /// Dimensions of the kernel.
    by: ConvolutionLayout,
    /// Dimensions of the result.
    to: ConvolutionLayout,
    windows: Vec<WindowDimension>,
    /// Whether each window is read backwards.
    reversed: Vec<bool>,
    /// Number of groups of features.
    feature_groups: u64,
    /// Number of groups of batches.
    batch_groups: u64,
    /// Features of the result.
    output_features: u64,
    /// Features of the input that each feature of the result sums over.
    input_features: u64,
    /// Batches of the result.
    batch: DimExtent,
}

/// Translates a convolution. Its padding comes from attributes, or as nodes of the sizes' body.
fn translate_padded_convolution(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    padding: Option<&[ScalarNode]>,
) -> TranslateResult<()> {
    let (l, r) = (t.tensor_operand(op, 0)?, t.tensor_operand(op, 1)?);
    let result = t.result_element(op, 0)?;
    let (input, kernel) = (t.tensor_shape(&l), t.static_sizes(op, &r)?);
    let convolution = ConvolutionGeometry::from_operation(t, op, &input, &kernel, padding)?;
    let mut shape: TensorShape = std::iter::repeat_n(DimExtent::Static(0), input.len()).collect();
    let to = &convolution.to;
    shape[to.first] = convolution.batch;
    shape[to.second] = DimExtent::Static(convolution.output_features);
    for (at, size) in to
        .spatial
        .iter()
        .zip(compute_windowed_shape(t, op, &convolution.windows)?)
    {
        shape[*at] = size;
    }
    let mut s = StructuredOp::with_parallel_axes(&shape);
    let (l_at, r_at, guard) = convolution.compute_positions(t, &mut s);
    let values = (
        t.read_element(&mut s, &l, &l_at),
        t.read_element(&mut s, &r, &r_at),
    );
    let attributes: ConvolutionAttributes = t.read_attributes(op)?;
    let config = attributes.precision_config.unwrap_or_default();
    s.precision = choose_precision(config, [values.0.element, values.1.element]);
    let value = t.sum_of_products(op, &mut s, &values.0, &values.1, Some(guard), result)?;
    let tensor = t.finish_structured(s, &value);
    t.bind_result(op, tensor)
}

impl ConvolutionGeometry {
    fn from_operation(
        t: &mut StablehloTranslator<'_>,
        op: MlirOp,
        input: &TensorShape,
        kernel: &[u64],
        padding: Option<&[ScalarNode]>,
    ) -> TranslateResult<Self> {
        let rank = input.len();
        let fits = rank >= 2 && kernel.len() == rank;
        t.ensure_holds(op, fits, "has operands of wrong ranks")?;
        let attributes: ConvolutionAttributes = t.read_attributes(op)?;
        let numbers = &attributes.dimension_numbers;
        let from = check_layout(t, op, &numbers.input, rank)?;
        let by = check_layout(t, op, &numbers.kernel, rank)?;
        let to = check_layout(t, op, &numbers.output, rank)?;
        let spatial: Vec<DimExtent> = from.spatial.iter().map(|at| input[*at]).collect();
        let taps = by.spatial.iter().map(|at| DimExtent::Static(kernel[*at]));
        let taps: Vec<DimExtent> = taps.collect();
        let mut window = WindowAttributes {
            strides: attributes.window_strides,
            base_dilations: attributes.lhs_dilation,
            window_dilations: attributes.rhs_dilation,
            padding: attributes.padding,
        };
        // JAX writes two strides for dynamic convolutions along one dimension; the first counts.
        if let Some(strides) = &mut window.strides
            && padding.is_some()
        {
            strides.values.truncate(spatial.len());
        }
        let mut windows = read_windows(t, op, &spatial, &taps, &window)?;
        if let Some(padding) = padding {
            t.ensure_holds(op, padding.len() == 2 * windows.len(), "has wrong padding")?;
            for (window, padding) in windows.iter_mut().zip(padding.chunks_exact(2)) {
                (window.low, window.high) = (padding[0], padding[1]);
            }
        }
        let reversed = attributes.window_reversal.map(|list| list.0);
        let reversed = t.integers_or(op, reversed.as_ref(), windows.len(), 0)?;
        let feature_groups = attributes.feature_group_count.max(1) as u64;
        let batch_groups = attributes.batch_group_count.max(1) as u64;
        let (output_features, input_features) = (kernel[by.second], kernel[by.first]);
        let batch = match (input[from.first], batch_groups) {
            (size, 1) => size,
            (DimExtent::Static(size), count) if size.is_multiple_of(count) => {
                DimExtent::Static(size / count)
            }
            _ => {
                return Err(
                    t.invalid_error(op, "a convolution has wrong numbers of batches or groups")
                );
            }
        };
        let given = DimExtent::Static(input_features.saturating_mul(feature_groups));
        let fits = merge_dims(input[from.second], given).is_some()
            && output_features.is_multiple_of(feature_groups)
            && output_features.is_multiple_of(batch_groups);
        t.ensure_holds(op, fits, "has wrong numbers of features or groups")?;
        Ok(ConvolutionGeometry {
            reversed: reversed.iter().map(|reversed| *reversed != 0).collect(),
            from,
            by,
            to,
            windows,
            feature_groups,
            batch_groups,
            output_features,
            input_features,
            batch,
        })
    }

    /// Positions in the input and the kernel that an element of the result reads, and whether they
    /// are inside.
    fn compute_positions(
        &self,
        t: &mut StablehloTranslator<'_>,
        s: &mut StructuredOp,
    ) -> (Vec<ScalarNode>, Vec<ScalarNode>, ScalarNode) {
        let ConvolutionGeometry { from, by, to, .. } = self;
        let point = s.axis_indices();
        let (mut l_at, mut r_at) = (point.clone(), point.clone());
        let windows = self.windows.iter();
        let offsets: Vec<ScalarNode> = windows
            .map(|window| s.add_axis(window.size, AxisKind::Reduction))
            .collect();
        let (outputs, inputs) = (self.output_features, self.input_features);
        let feature = s.add_axis(DimExtent::Static(inputs), AxisKind::Reduction);
        let mut guard = ScalarBuilder::new(&mut s.body).truth_constant(true);
        for (at, window) in self.windows.iter().enumerate() {
            let (index, inside) = window.locate_element(t, s, point[to.spatial[at]], offsets[at]);
            let mut c = ScalarBuilder::new(&mut s.body);
            guard = c.and(guard, inside);
            l_at[from.spatial[at]] = index;
            let size = c.body.intern_size(window.size);
            let last = c.add_constant(size, -1.0);
            r_at[by.spatial[at]] = if self.reversed[at] {
                c.sub(last, offsets[at])
            } else {
                offsets[at]
            };
        }
        let mut c = ScalarBuilder::new(&mut s.body);
        // A feature of the result belongs to one group, which has `size` features or batches.
        let mut within = |count: u64, size: DimExtent, rest: ScalarNode| match count {
            1 => rest,
            _ => {
                let by = c.body.intern_i64((outputs / count).max(1) as i64);
                let group = c.apply_binary(Scalar::SDiv, point[to.second], by);
                let size = c.body.intern_size(size);
                let first = c.mul(group, size);
                c.add(first, rest)
            }
        };
        l_at[from.second] = within(self.feature_groups, DimExtent::Static(inputs), feature);
        l_at[from.first] = within(self.batch_groups, self.batch, point[to.first]);
        r_at[by.first] = feature;
        r_at[by.second] = point[to.second];
        (l_at, r_at, guard)
    }
}
