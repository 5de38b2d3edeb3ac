//! Operations that move elements: shapes, slices, padding, concatenation.

use super::assertion;
use super::dims::{merged, merged_shapes};
use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::{StablehloTranslator, TypedTensor};
use crate::mlir::MlirOp;
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{DimExtent, ScalarNode, StructuredOp, TensorShape, TensorValue};

/// `reshape`
pub(super) fn reshape(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operand = t.operand(op, 0)?;
    let (_, shape) = t.result_type(op, 0)?;
    let result = t.reshaped(op, &operand, shape)?;
    t.give_one(op, result)
}

/// `dynamic_reshape`
pub(super) fn dynamic_reshape(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operand = t.operand(op, 0)?;
    let shape = t.shape_operand(op, 1)?;
    let result = t.reshaped(op, &operand, shape)?;
    t.give_one(op, result)
}

impl StablehloTranslator<'_> {
    /// The same elements in another shape.
    pub fn reshaped(
        &mut self,
        op: MlirOp,
        operand: &TypedTensor,
        shape: TensorShape,
    ) -> TranslateResult<TypedTensor> {
        let count = |shape: &TensorShape| {
            let sizes = shape.iter().map(|dim| dim.known());
            sizes
                .map(|size| size.map(u128::from))
                .product::<Option<u128>>()
        };
        let counts = (count(&self.shape(operand)), count(&shape));
        let same = match counts {
            (Some(before), Some(after)) => before == after,
            _ => true,
        };
        self.ensure(op, same, "changes the number of elements")?;
        let parts = operand.parts.iter();
        let parts: Vec<TensorValue> = parts
            .map(|part| self.builder.reshape(*part, shape.clone()))
            .collect();
        Ok(TypedTensor::of(operand.element, &parts))
    }
}

/// `broadcast_in_dim`
pub(super) fn broadcast_in_dim(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let (_, shape) = t.result_type(op, 0)?;
    broadcast_to(t, op, &shape)
}

/// `dynamic_broadcast_in_dim`
pub(super) fn dynamic_broadcast_in_dim(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let shape = t.shape_operand(op, 1)?;
    broadcast_to(t, op, &shape)
}

fn broadcast_to(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    shape: &TensorShape,
) -> TranslateResult<()> {
    let operand = t.operand(op, 0)?;
    let dimensions = t.integers(op, "broadcast_dimensions")?;
    let result = t.broadcast(op, &operand, shape, &dimensions)?;
    t.give_one(op, result)
}

impl StablehloTranslator<'_> {
    /// A tensor repeated along the dimensions of a shape that none of its own is mapped to.
    pub fn broadcast(
        &mut self,
        op: MlirOp,
        operand: &TypedTensor,
        shape: &TensorShape,
        dimensions: &[i64],
    ) -> TranslateResult<TypedTensor> {
        let own = self.shape(operand);
        let name = "broadcast_dimensions";
        let dimensions = self.dimensions(op, name, dimensions, shape.len())?;
        self.ensure(
            op,
            dimensions.len() == own.len(),
            "has too few or many dimensions",
        )?;
        let pairs = own.iter().zip(&dimensions);
        for (size, at) in pairs {
            let fits = *size == DimExtent::Static(1) || merged(*size, shape[*at]).is_some();
            self.ensure(op, fits, "broadcasts to another size")?;
            self.builder.demand_repeated(*size, shape[*at]);
        }
        if own == *shape && dimensions.is_sorted() {
            return Ok(operand.clone());
        }
        self.moved(operand, shape, |c, point| {
            let pairs = own.iter().zip(&dimensions);
            pairs
                .map(|(size, at)| {
                    let zero = c.body.i64(0);
                    match *size {
                        DimExtent::Static(1) => zero,
                        // It may turn out to be 1.
                        DimExtent::Value(_) if *size != shape[*at] => {
                            let (size, one) = (c.body.size(*size), c.body.i64(1));
                            let is_one = c.eq(size, one);
                            c.cond(is_one, zero, point[*at])
                        }
                        _ => point[*at],
                    }
                })
                .collect()
        })
    }
}

/// `broadcast`: dimensions in front.
pub(super) fn broadcast(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operand = t.operand(op, 0)?;
    let (_, shape) = t.result_type(op, 0)?;
    let rank = t.shape(&operand).len();
    t.ensure(
        op,
        rank <= shape.len(),
        "has a result of too few dimensions",
    )?;
    let first = shape.len() - rank;
    let dimensions: Vec<i64> = (first..shape.len()).map(|at| at as i64).collect();
    let result = t.broadcast(op, &operand, &shape, &dimensions)?;
    t.give_one(op, result)
}

/// `transpose`
pub(super) fn transpose(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operand = t.operand(op, 0)?;
    let own = t.shape(&operand);
    let permutation = t.integers(op, "permutation")?;
    let permutation = t.dimensions(op, "permutation", &permutation, own.len())?;
    t.ensure(op, permutation.len() == own.len(), "has too few dimensions")?;
    let shape: TensorShape = permutation.iter().map(|at| own[*at]).collect();
    let result = t.moved(&operand, &shape, |_, point| {
        let mut position = point.to_vec();
        for (to, from) in permutation.iter().enumerate() {
            position[*from] = point[to];
        }
        position
    })?;
    t.give_one(op, result)
}

/// `reverse`
pub(super) fn reverse(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operand = t.operand(op, 0)?;
    let shape = t.shape(&operand);
    let dimensions = t.integers(op, "dimensions")?;
    let dimensions = t.dimensions(op, "dimensions", &dimensions, shape.len())?;
    let result = t.moved(&operand, &shape, |c, point| {
        let mut position = point.to_vec();
        for at in dimensions {
            let size = c.body.size(shape[at]);
            let last = c.plus(size, -1.0);
            position[at] = c.sub(last, point[at]);
        }
        position
    })?;
    t.give_one(op, result)
}

/// `iota`
pub(super) fn iota(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let (_, shape) = t.result_type(op, 0)?;
    iota_of(t, op, &shape)
}

/// `dynamic_iota`
pub(super) fn dynamic_iota(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let shape = t.shape_operand(op, 0)?;
    iota_of(t, op, &shape)
}

fn iota_of(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    shape: &TensorShape,
) -> TranslateResult<()> {
    let element = t.result_element(op, 0)?;
    let dimension = t.dimension(op, "iota_dimension", shape.len())?;
    let result = t.map(shape, |t, s, point| {
        let index = ElementValue::new(TensorElement::I64, point[dimension]);
        let value = ScalarBuilder::new(&mut s.body).convert(&index, element);
        value.ok_or_else(|| t.unsupported(op, format!("iota of {element}")))
    })?;
    t.give_one(op, result)
}

/// `slice`
pub(super) fn slice(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operand = t.operand(op, 0)?;
    let own = t.shape(&operand);
    let starts = t.integers(op, "start_indices")?;
    let limits = t.integers(op, "limit_indices")?;
    let strides = t.integers(op, "strides")?;
    let rank = own.len();
    let complete = [&starts, &limits, &strides]
        .iter()
        .all(|list| list.len() == rank);
    t.ensure(op, complete, "has too few or many bounds")?;
    for at in 0..rank {
        let (start, limit) = (starts[at], limits[at]);
        let inside = own[at].known().is_none_or(|size| limit as u64 <= size);
        let fits = 0 <= start && start <= limit && inside && strides[at] > 0;
        t.ensure(op, fits, "has bounds outside of its operand")?;
    }
    let [starts, limits, strides] = [starts, limits, strides].map(|list| t.number_nodes(&list));
    sliced(t, op, &operand, [&starts, &limits, &strides])
}

/// `real_dynamic_slice`: bounds are operands. A slice that would leave the operand moves back into it, as those of
/// `dynamic_slice` do; one that is larger than the operand fails.
pub(super) fn real_dynamic_slice(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operand = t.operand(op, 0)?;
    let (mut starts, mut limits) = (t.numbers(op, 1)?.to_vec(), t.numbers(op, 2)?.to_vec());
    let strides = t.numbers(op, 3)?;
    let rank = t.shape(&operand).len();
    let complete = [starts.len(), limits.len(), strides.len()] == [rank; 3];
    t.ensure(op, complete, "has too few or many bounds")?;
    for (at, dim) in t.shape(&operand).iter().enumerate() {
        let size = t.size(*dim);
        let (start, limit, stride) = (starts[at], limits[at], strides[at]);
        let fits = t.node_by(|c| {
            let (zero, one) = (c.body.i64(0), c.body.i64(1));
            let span = c.sub(limit, start);
            let pairs = [(zero, span), (span, size), (one, stride)];
            let all = pairs.map(|(low, high)| c.le(low, high));
            all.into_iter().reduce(|all, fits| c.and(all, fits))
        });
        let shown = [
            ("a slice from ", start),
            (" to ", limit),
            (" in steps of ", stride),
            (" does not fit into a dimension of ", size),
        ];
        if let Some(fits) = fits {
            assertion::demand(t, op, fits, &shown)?;
        }
        starts[at] = t.node_by(|c| {
            let span = c.sub(limit, start);
            let last = c.sub(size, span);
            let start = c.op2(Scalar::SMin, start, last);
            let zero = c.body.i64(0);
            c.op2(Scalar::SMax, start, zero)
        });
        limits[at] = t.node_by(|c| {
            let span = c.sub(limit, start);
            c.add(starts[at], span)
        });
    }
    sliced(t, op, &operand, [&starts, &limits, &strides])
}

/// The elements between bounds, which are nodes of the sizes' body.
fn sliced(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    operand: &TypedTensor,
    [starts, limits, strides]: [&[ScalarNode]; 3],
) -> TranslateResult<()> {
    let mut shape = TensorShape::new();
    for ((start, limit), stride) in starts.iter().zip(limits).zip(strides) {
        let size = t.node_by(|c| {
            let span = c.sub(*limit, *start);
            let span = c.add(span, *stride);
            let span = c.plus(span, -1.0);
            c.op2(Scalar::SDiv, span, *stride)
        });
        shape.push(t.dim(size));
    }
    let result = t.map(&shape, |t, s, point| {
        let mut position = Vec::new();
        for (at, index) in point.iter().enumerate() {
            let (start, stride) = (t.imported(s, starts[at]), t.imported(s, strides[at]));
            let mut c = ScalarBuilder::new(&mut s.body);
            let index = c.mul(*index, stride);
            position.push(c.add(index, start));
        }
        Ok(t.read(s, operand, &position))
    })?;
    t.give_one(op, result)
}

/// `pad`
pub(super) fn pad(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operand = t.operand(op, 0)?;
    let rank = t.shape(&operand).len();
    let low = t.integers_or(op, "edge_padding_low", rank, 0)?;
    let high = t.integers_or(op, "edge_padding_high", rank, 0)?;
    let interior = t.integers_or(op, "interior_padding", rank, 0)?;
    let limit = 1 << 40;
    let is_small = low.iter().chain(&high).all(|n| n.unsigned_abs() < limit);
    t.ensure(op, is_small, "pads too much")?;
    let (low, high) = (t.number_nodes(&low), t.number_nodes(&high));
    padded(t, op, &low, &high, &interior)
}

/// `dynamic_pad`
pub(super) fn dynamic_pad(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let (low, high) = (t.numbers(op, 2)?, t.numbers(op, 3)?);
    let interior = t.known_numbers(op, 4)?;
    padded(t, op, &low, &high, &interior)
}

/// Pads by nodes of the sizes' body.
fn padded(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    low: &[ScalarNode],
    high: &[ScalarNode],
    interior: &[i64],
) -> TranslateResult<()> {
    let (operand, padding) = (t.operand(op, 0)?, t.operand(op, 1)?);
    let own = t.shape(&operand);
    let rank = own.len();
    let complete = [low.len(), high.len(), interior.len()] == [rank; 3];
    let is_scalar = t.shape(&padding).is_empty() && padding.element == operand.element;
    t.ensure(op, complete && is_scalar, "is padded with another type")?;
    let is_small = interior.iter().all(|n| (0..1 << 20).contains(n))
        && own
            .iter()
            .all(|dim| dim.known().is_none_or(|size| size < 1 << 40));
    t.ensure(op, is_small, "pads too much")?;
    let mut shape = TensorShape::new();
    for at in 0..rank {
        let size = t.size(own[at]);
        let size = t.node_by(|c| {
            let (zero, by) = (c.body.i64(0), c.body.i64(interior[at]));
            let gaps = c.plus(size, -1.0);
            let gaps = c.op2(Scalar::SMax, gaps, zero);
            let gaps = c.mul(gaps, by);
            let size = c.add(size, gaps);
            let size = c.add(size, low[at]);
            c.add(size, high[at])
        });
        shape.push(t.dim(size));
    }
    let result = t.map(&shape, |t, s, point| {
        let mut position = Vec::new();
        let mut inside = ScalarBuilder::new(&mut s.body).truth(true);
        for (at, dilation) in interior.iter().enumerate() {
            let low = t.imported(s, low[at]);
            let c = &mut ScalarBuilder::new(&mut s.body);
            let place = c.sub(point[at], low);
            let (index, is_inside) = dilated(c, place, dilation + 1, own[at]);
            position.push(index);
            inside = c.and(inside, is_inside);
        }
        let element = t.read(s, &operand, &position);
        let padding = t.read(s, &padding, &[]);
        Ok(choose(s, inside, &element, &padding))
    })?;
    t.give_one(op, result)
}

/// One of two values.
pub(super) fn choose(
    s: &mut StructuredOp,
    condition: ScalarNode,
    then: &ElementValue,
    otherwise: &ElementValue,
) -> ElementValue {
    let mut c = ScalarBuilder::new(&mut s.body);
    let parts = then.nodes.iter().zip(&otherwise.nodes);
    ElementValue {
        element: then.element,
        nodes: parts.map(|(a, b)| c.cond(condition, *a, *b)).collect(),
    }
}

/// The index that a position has in a dimension whose elements lie `dilation` apart, and whether
/// there is an element.
pub(super) fn dilated(
    c: &mut ScalarBuilder<'_>,
    position: ScalarNode,
    dilation: i64,
    size: DimExtent,
) -> (ScalarNode, ScalarNode) {
    let (zero, by) = (c.body.i64(0), c.body.i64(dilation));
    let size = c.body.size(size);
    let last = c.plus(size, -1.0);
    let last = c.mul(last, by);
    let end = c.plus(last, 1.0);
    let inside = c.is_between(position, [zero, end]);
    if dilation == 1 {
        return (position, inside);
    }
    let rest = c.op2(Scalar::SMod, position, by);
    let is_whole = c.eq(rest, zero);
    let index = c.op2(Scalar::SDiv, position, by);
    (index, c.and(inside, is_whole))
}

/// `concatenate`
pub(super) fn concatenate(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operands = t.operands(op)?;
    t.ensure(op, !operands.is_empty(), "has no operands")?;
    let mut shape = t.shape(&operands[0]);
    let dimension = t.dimension(op, "dimension", shape.len())?;
    let mut ends = Vec::new();
    let mut total = t.number_nodes(&[0])[0];
    for operand in &operands {
        let mut own = t.shape(operand);
        let same = own.len() == shape.len() && operand.element == operands[0].element;
        t.ensure(op, same, "has operands of different types")?;
        let size = t.size(own[dimension]);
        own[dimension] = shape[dimension];
        let merged = merged_shapes(&shape, &own);
        t.ensure(op, merged.is_some(), "has operands of different shapes")?;
        shape = merged.unwrap_or(shape);
        total = t.node_by(|c| c.add(total, size));
        ends.push(total);
    }
    shape[dimension] = t.dim(total);
    let result = t.map(&shape, |t, s, point| {
        let mut value: Option<ElementValue> = None;
        // The last operand is what remains; before it stand the others, each with its test.
        for (at, operand) in operands.iter().enumerate().rev() {
            if t.shape(operand)[dimension] == DimExtent::Static(0) {
                continue;
            }
            let mut position = point.to_vec();
            if at > 0 {
                let start = t.imported(s, ends[at - 1]);
                position[dimension] = ScalarBuilder::new(&mut s.body).sub(point[dimension], start);
            }
            let element = t.read(s, operand, &position);
            value = Some(match value {
                None => element,
                Some(rest) => {
                    let end = t.imported(s, ends[at]);
                    let is_before = ScalarBuilder::new(&mut s.body).lt(point[dimension], end);
                    choose(s, is_before, &element, &rest)
                }
            });
        }
        match value {
            Some(value) => Ok(value),
            None => Ok(t.read(s, &operands[0], point)),
        }
    })?;
    t.give_one(op, result)
}

impl StablehloTranslator<'_> {
    /// Indices of rank 0, brought between 0 and the last place of a slice in an operand.
    fn clamped(
        &self,
        op: MlirOp,
        s: &mut StructuredOp,
        indices: &[TypedTensor],
        (sizes, slice): (&TensorShape, &TensorShape),
    ) -> TranslateResult<Vec<ScalarNode>> {
        self.ensure(
            op,
            indices.len() == sizes.len(),
            "has too few or many indices",
        )?;
        let mut nodes = Vec::new();
        for (at, index) in indices.iter().enumerate() {
            let is_index = matches!(index.element, TensorElement::Int { .. });
            let fits = is_index && self.shape(index).is_empty();
            self.ensure(op, fits, "has an index of rank above 0")?;
            let index = self.read_index(s, index, &[]);
            nodes.push(clamp(
                &mut ScalarBuilder::new(&mut s.body),
                index,
                sizes[at],
                slice[at],
            ));
        }
        Ok(nodes)
    }

    /// Whether slices may lie in an operand.
    pub fn check_slice(
        &self,
        op: MlirOp,
        sizes: &TensorShape,
        slice: &TensorShape,
    ) -> TranslateResult<()> {
        let fits = sizes.iter().zip(slice).all(|pair| match pair {
            (DimExtent::Static(size), DimExtent::Static(slice)) => slice <= size,
            _ => true,
        });
        let same = sizes.len() == slice.len();
        self.ensure(op, fits && same, "has a slice larger than its operand")
    }
}

/// An index brought between 0 and the last place of a slice.
pub(super) fn clamp(
    c: &mut ScalarBuilder<'_>,
    index: ScalarNode,
    size: DimExtent,
    slice: DimExtent,
) -> ScalarNode {
    let zero = c.body.i64(0);
    let (size, slice) = (c.body.size(size), c.body.size(slice));
    let greatest = c.sub(size, slice);
    if greatest == zero {
        return zero;
    }
    let index = c.op2(Scalar::SMax, index, zero);
    c.op2(Scalar::SMin, index, greatest)
}

/// Static sizes of an attribute.
pub(super) fn static_sizes(
    t: &StablehloTranslator<'_>,
    op: MlirOp,
    sizes: &[i64],
) -> TranslateResult<TensorShape> {
    t.ensure(
        op,
        sizes.iter().all(|size| *size >= 0),
        "has a negative size",
    )?;
    Ok(sizes
        .iter()
        .map(|size| DimExtent::Static(*size as u64))
        .collect())
}

/// `dynamic_slice`
pub(super) fn dynamic_slice(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let slice = t.integers(op, "slice_sizes")?;
    let slice = static_sizes(t, op, &slice)?;
    let operands = t.operands(op)?;
    let operand = t.operand(op, 0)?;
    let sizes = t.shape(&operand);
    t.check_slice(op, &sizes, &slice)?;
    let result = t.map(&slice, |t, s, point| {
        let starts = t.clamped(op, s, &operands[1..], (&sizes, &slice))?;
        let mut c = ScalarBuilder::new(&mut s.body);
        let pairs = point.iter().zip(starts);
        let position: Vec<ScalarNode> = pairs.map(|(index, start)| c.add(*index, start)).collect();
        Ok(t.read(s, &operand, &position))
    })?;
    t.give_one(op, result)
}

/// `dynamic_update_slice`
pub(super) fn dynamic_update_slice(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operands = t.operands(op)?;
    let (operand, update) = (t.operand(op, 0)?, t.operand(op, 1)?);
    let (sizes, slice) = (t.shape(&operand), t.shape(&update));
    t.check_slice(op, &sizes, &slice)?;
    t.ensure(
        op,
        operand.element == update.element,
        "has an update of another type",
    )?;
    let result = t.map(&sizes, |t, s, point| {
        let starts = t.clamped(op, s, &operands[2..], (&sizes, &slice))?;
        let mut c = ScalarBuilder::new(&mut s.body);
        let mut inside = c.truth(true);
        let mut position = Vec::new();
        for (at, start) in starts.iter().enumerate() {
            let index = c.sub(point[at], *start);
            position.push(index);
            if slice[at] != sizes[at] {
                let range = [c.body.i64(0), c.body.size(slice[at])];
                let within = c.is_between(index, range);
                inside = c.and(inside, within);
            }
        }
        let new = t.read(s, &update, &position);
        let old = t.read(s, &operand, point);
        Ok(choose(s, inside, &new, &old))
    })?;
    t.give_one(op, result)
}
