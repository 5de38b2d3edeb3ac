//! Operations that move elements: reshapes, broadcasts, transposes, padding, concatenation.

use super::dims::{merge_dims, merged_shapes};
use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::{StablehloTranslator, TypedTensor};
use crate::dialect::IntegerList;
use crate::dialect::records::{
    BroadcastInDimAttributes, ConcatenateAttributes, DynamicBroadcastInDimAttributes,
    IotaAttributes, PadAttributes, ReverseAttributes, TransposeAttributes,
};
use crate::mlir::MlirOp;
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{DimExtent, ScalarNode, StructuredOp, TensorShape, TensorValue};

/// `reshape`
pub(super) fn translate_reshape(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let (_, shape) = t.result_type(op, 0)?;
    let result = t.reshape_tensor(op, &operand, shape)?;
    t.bind_result(op, result)
}

/// `dynamic_reshape`
pub(super) fn dynamic_reshape(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let shape = t.shape_operand(op, 1)?;
    let result = t.reshape_tensor(op, &operand, shape)?;
    t.bind_result(op, result)
}

impl StablehloTranslator<'_> {
    /// The same elements in another shape.
    pub fn reshape_tensor(
        &mut self,
        op: MlirOp,
        operand: &TypedTensor,
        shape: TensorShape,
    ) -> TranslateResult<TypedTensor> {
        let count = |shape: &TensorShape| {
            let sizes = shape.iter().map(|dim| dim.as_static());
            sizes
                .map(|size| size.map(u128::from))
                .product::<Option<u128>>()
        };
        let counts = (count(&self.tensor_shape(operand)), count(&shape));
        let same = match counts {
            (Some(before), Some(after)) => before == after,
            _ => true,
        };
        self.ensure_holds(op, same, "changes the number of elements")?;
        let parts = operand.parts.iter();
        let parts: Vec<TensorValue> = parts
            .map(|part| self.builder.add_reshape(*part, shape.clone()))
            .collect();
        Ok(TypedTensor::from_components(operand.element, &parts))
    }
}

/// `broadcast_in_dim`
pub(super) fn broadcast_in_dim(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let (_, shape) = t.result_type(op, 0)?;
    let BroadcastInDimAttributes {
        broadcast_dimensions,
    } = t.read_attributes(op)?;
    broadcast_to(t, op, &shape, broadcast_dimensions)
}

/// `dynamic_broadcast_in_dim`
pub(super) fn dynamic_broadcast_in_dim(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let shape = t.shape_operand(op, 1)?;
    let attributes: DynamicBroadcastInDimAttributes = t.read_attributes(op)?;
    broadcast_to(t, op, &shape, attributes.broadcast_dimensions)
}

fn broadcast_to(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    shape: &TensorShape,
    dimensions: IntegerList,
) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let result = t.broadcast_tensor(op, &operand, shape, dimensions.values)?;
    t.bind_result(op, result)
}

impl StablehloTranslator<'_> {
    /// A tensor repeated along the dimensions of a shape that none of its own is mapped to.
    pub fn broadcast_tensor(
        &mut self,
        op: MlirOp,
        operand: &TypedTensor,
        shape: &TensorShape,
        dimensions: Vec<i64>,
    ) -> TranslateResult<TypedTensor> {
        let own = self.tensor_shape(operand);
        let dimensions = IntegerList {
            name: "broadcast_dimensions",
            values: dimensions,
        };
        let dimensions = self.check_dimensions(op, &dimensions, shape.len())?;
        self.ensure_holds(
            op,
            dimensions.len() == own.len(),
            "has too few or many dimensions",
        )?;
        let pairs = own.iter().zip(&dimensions);
        for (size, at) in pairs {
            let fits = *size == DimExtent::Static(1) || merge_dims(*size, shape[*at]).is_some();
            self.ensure_holds(op, fits, "broadcasts to another size")?;
            self.builder.demand_repeated(*size, shape[*at]);
        }
        if own == *shape && dimensions.is_sorted() {
            return Ok(operand.clone());
        }
        self.gather_elements(operand, shape, |c, point| {
            let pairs = own.iter().zip(&dimensions);
            pairs
                .map(|(size, at)| {
                    let zero = c.body.intern_i64(0);
                    match *size {
                        DimExtent::Static(1) => zero,
                        // The size may be 1 at run time.
                        DimExtent::Value(_) if *size != shape[*at] => {
                            let (size, one) = (c.body.intern_size(*size), c.body.intern_i64(1));
                            let is_one = c.eq(size, one);
                            c.select(is_one, zero, point[*at])
                        }
                        _ => point[*at],
                    }
                })
                .collect()
        })
    }
}

/// `broadcast`: new leading dimensions.
pub(super) fn translate_broadcast(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let (_, shape) = t.result_type(op, 0)?;
    let rank = t.tensor_shape(&operand).len();
    t.ensure_holds(
        op,
        rank <= shape.len(),
        "has a result of too few dimensions",
    )?;
    let first = shape.len() - rank;
    let dimensions: Vec<i64> = (first..shape.len()).map(|at| at as i64).collect();
    let result = t.broadcast_tensor(op, &operand, &shape, dimensions)?;
    t.bind_result(op, result)
}

/// `transpose`
pub(super) fn translate_transpose(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let own = t.tensor_shape(&operand);
    let TransposeAttributes { permutation } = t.read_attributes(op)?;
    let permutation = t.check_dimensions(op, &permutation, own.len())?;
    t.ensure_holds(op, permutation.len() == own.len(), "has too few dimensions")?;
    let shape: TensorShape = permutation.iter().map(|at| own[*at]).collect();
    let result = t.gather_elements(&operand, &shape, |_, point| {
        let mut position = point.to_vec();
        for (to, from) in permutation.iter().enumerate() {
            position[*from] = point[to];
        }
        position
    })?;
    t.bind_result(op, result)
}

/// `reverse`
pub(super) fn translate_reverse(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let shape = t.tensor_shape(&operand);
    let ReverseAttributes { dimensions } = t.read_attributes(op)?;
    let dimensions = t.check_dimensions(op, &dimensions, shape.len())?;
    let result = t.gather_elements(&operand, &shape, |c, point| {
        let mut position = point.to_vec();
        for at in dimensions {
            let size = c.body.intern_size(shape[at]);
            let last = c.add_constant(size, -1.0);
            position[at] = c.sub(last, point[at]);
        }
        position
    })?;
    t.bind_result(op, result)
}

/// `iota`
pub(super) fn translate_iota(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
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
    let IotaAttributes { iota_dimension } = t.read_attributes(op)?;
    let dimension = t.check_dimension(op, iota_dimension, shape.len())?;
    let result = t.map_points(shape, |t, s, point| {
        let index = ElementValue::new(TensorElement::I64, point[dimension]);
        let value = ScalarBuilder::new(&mut s.body).convert_value(&index, element);
        value.ok_or_else(|| t.unsupported_error(op, format!("iota of {element}")))
    })?;
    t.bind_result(op, result)
}

/// `pad`
pub(super) fn translate_pad(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let rank = t.tensor_shape(&operand).len();
    let attributes: PadAttributes = t.read_attributes(op)?;
    let low = t.integers_or(op, Some(&attributes.edge_padding_low), rank, 0)?;
    let high = t.integers_or(op, Some(&attributes.edge_padding_high), rank, 0)?;
    let interior = t.integers_or(op, Some(&attributes.interior_padding), rank, 0)?;
    let limit = 1 << 40;
    let is_small = low.iter().chain(&high).all(|n| n.unsigned_abs() < limit);
    t.ensure_holds(op, is_small, "pads too much")?;
    let (low, high) = (t.number_nodes(&low), t.number_nodes(&high));
    pad_operand(t, op, &low, &high, &interior)
}

/// `dynamic_pad`
pub(super) fn dynamic_pad(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let (low, high) = (
        t.find_tracked_operand(op, 2)?,
        t.find_tracked_operand(op, 3)?,
    );
    let interior = t.known_numbers(op, 4)?;
    pad_operand(t, op, &low, &high, &interior)
}

/// Pads by amounts that are nodes of the sizes' body.
fn pad_operand(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    low: &[ScalarNode],
    high: &[ScalarNode],
    interior: &[i64],
) -> TranslateResult<()> {
    let (operand, padding) = (t.tensor_operand(op, 0)?, t.tensor_operand(op, 1)?);
    let own = t.tensor_shape(&operand);
    let rank = own.len();
    let complete = [low.len(), high.len(), interior.len()] == [rank; 3];
    let is_scalar = t.tensor_shape(&padding).is_empty() && padding.element == operand.element;
    t.ensure_holds(op, complete && is_scalar, "is padded with another type")?;
    let is_small = interior.iter().all(|n| (0..1 << 20).contains(n))
        && own
            .iter()
            .all(|dim| dim.as_static().is_none_or(|size| size < 1 << 40));
    t.ensure_holds(op, is_small, "pads too much")?;
    let mut shape = TensorShape::new();
    for at in 0..rank {
        let size = t.node_from_dim(own[at]);
        let size = t.compute_node(|c| {
            let (zero, by) = (c.body.intern_i64(0), c.body.intern_i64(interior[at]));
            let gaps = c.add_constant(size, -1.0);
            let gaps = c.apply_binary(Scalar::SMax, gaps, zero);
            let gaps = c.mul(gaps, by);
            let size = c.add(size, gaps);
            let size = c.add(size, low[at]);
            c.add(size, high[at])
        });
        shape.push(t.dim_from_node(size));
    }
    let result = t.map_points(&shape, |t, s, point| {
        let mut position = Vec::new();
        let mut inside = ScalarBuilder::new(&mut s.body).truth_constant(true);
        for (at, dilation) in interior.iter().enumerate() {
            let low = t.import_node(s, low[at]);
            let c = &mut ScalarBuilder::new(&mut s.body);
            let place = c.sub(point[at], low);
            let (index, is_inside) = locate_dilated_element(c, place, dilation + 1, own[at]);
            position.push(index);
            inside = c.and(inside, is_inside);
        }
        let element = t.read_element(s, &operand, &position);
        let padding = t.read_element(s, &padding, &[]);
        Ok(select_value(s, inside, &element, &padding))
    })?;
    t.bind_result(op, result)
}

/// One of two values.
pub(super) fn select_value(
    s: &mut StructuredOp,
    condition: ScalarNode,
    then: &ElementValue,
    otherwise: &ElementValue,
) -> ElementValue {
    let mut c = ScalarBuilder::new(&mut s.body);
    let parts = then.nodes.iter().zip(&otherwise.nodes);
    ElementValue {
        element: then.element,
        nodes: parts.map(|(a, b)| c.select(condition, *a, *b)).collect(),
    }
}

/// The index of the element at a position of a dimension whose elements are `dilation` apart, and
/// whether there is an element.
pub(super) fn locate_dilated_element(
    c: &mut ScalarBuilder<'_>,
    position: ScalarNode,
    dilation: i64,
    size: DimExtent,
) -> (ScalarNode, ScalarNode) {
    let (zero, by) = (c.body.intern_i64(0), c.body.intern_i64(dilation));
    let size = c.body.intern_size(size);
    let last = c.add_constant(size, -1.0);
    let last = c.mul(last, by);
    let end = c.add_constant(last, 1.0);
    let inside = c.is_between(position, [zero, end]);
    if dilation == 1 {
        return (position, inside);
    }
    let rest = c.apply_binary(Scalar::SMod, position, by);
    let is_whole = c.eq(rest, zero);
    let index = c.apply_binary(Scalar::SDiv, position, by);
    (index, c.and(inside, is_whole))
}

/// `concatenate`
pub(super) fn translate_concatenate(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operands = t.tensor_operands(op)?;
    t.ensure_holds(op, !operands.is_empty(), "has no operands")?;
    let ConcatenateAttributes { dimension } = t.read_attributes(op)?;
    let rank = t.tensor_shape(&operands[0]).len();
    let dimension = t.check_dimension(op, dimension, rank)?;
    let result = t.concatenate_tensors(op, &operands, dimension)?;
    t.bind_result(op, result)
}

impl StablehloTranslator<'_> {
    /// Tensors one after the other along a dimension.
    pub fn concatenate_tensors(
        &mut self,
        op: MlirOp,
        operands: &[TypedTensor],
        dimension: usize,
    ) -> TranslateResult<TypedTensor> {
        let t = self;
        let mut shape = t.tensor_shape(&operands[0]);
        let mut ends = Vec::new();
        let mut total = t.number_nodes(&[0])[0];
        for operand in operands {
            let mut own = t.tensor_shape(operand);
            let same = own.len() == shape.len() && operand.element == operands[0].element;
            t.ensure_holds(op, same, "has operands of different types")?;
            let size = t.node_from_dim(own[dimension]);
            own[dimension] = shape[dimension];
            let merged = merged_shapes(&shape, &own);
            t.ensure_holds(op, merged.is_some(), "has operands of different shapes")?;
            shape = merged.unwrap_or(shape);
            total = t.compute_node(|c| c.add(total, size));
            ends.push(total);
        }
        shape[dimension] = t.dim_from_node(total);
        t.map_points(&shape, |t, s, point| {
            let mut value: Option<ElementValue> = None;
            // The last operand needs no test; each of the others is selected by one.
            for (at, operand) in operands.iter().enumerate().rev() {
                if t.tensor_shape(operand)[dimension] == DimExtent::Static(0) {
                    continue;
                }
                let mut position = point.to_vec();
                if at > 0 {
                    let start = t.import_node(s, ends[at - 1]);
                    position[dimension] =
                        ScalarBuilder::new(&mut s.body).sub(point[dimension], start);
                }
                let element = t.read_element(s, operand, &position);
                value = Some(match value {
                    None => element,
                    Some(rest) => {
                        let end = t.import_node(s, ends[at]);
                        let is_before = ScalarBuilder::new(&mut s.body).lt(point[dimension], end);
                        select_value(s, is_before, &element, &rest)
                    }
                });
            }
            match value {
                Some(value) => Ok(value),
                None => Ok(t.read_element(s, &operands[0], point)),
            }
        })
    }
}
