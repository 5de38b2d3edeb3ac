//! Operations that move elements: shapes, slices, padding, concatenation.

use super::element::Element;
use super::error::Result;
use super::scalar::{Calc, Val};
use super::translator::{Tensor, Translator};
use crate::mlir::Op;
use spirula_program::{Op as Scalar, Scalar as Ty};
use spirula_tensor::ir::{Dim, Node, Shape, Structured};

/// `reshape`
pub(super) fn reshape(t: &mut Translator<'_>, op: Op) -> Result<()> {
    let operand = t.operand(op, 0)?;
    let (_, shape) = t.result_type(op, 0)?;
    let result = t.reshaped(op, &operand, shape)?;
    t.give_one(op, result)
}

impl Translator<'_> {
    /// The same elements in another shape.
    pub fn reshaped(&mut self, op: Op, operand: &Tensor, shape: Shape) -> Result<Tensor> {
        let count = |shape: &Shape| {
            let sizes = shape.iter().map(|dim| dim.known());
            sizes
                .map(|size| size.map(u128::from))
                .product::<Option<u128>>()
        };
        let same = count(&self.shape(operand)) == count(&shape);
        self.ensure(op, same, "changes the number of elements")?;
        let parts = operand.parts.iter();
        Ok(Tensor {
            element: operand.element,
            parts: parts
                .map(|part| self.builder.reshape(*part, shape.clone()))
                .collect(),
        })
    }
}

/// `broadcast_in_dim`
pub(super) fn broadcast_in_dim(t: &mut Translator<'_>, op: Op) -> Result<()> {
    let operand = t.operand(op, 0)?;
    let (_, shape) = t.result_type(op, 0)?;
    let dimensions = t.integers(op, "broadcast_dimensions")?;
    let result = t.broadcast(op, &operand, &shape, &dimensions)?;
    t.give_one(op, result)
}

impl Translator<'_> {
    /// A tensor repeated along the dimensions of a shape that none of its own is mapped to.
    pub fn broadcast(
        &mut self,
        op: Op,
        operand: &Tensor,
        shape: &Shape,
        dimensions: &[i64],
    ) -> Result<Tensor> {
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
            let fits = *size == Dim::Static(1) || *size == shape[*at];
            self.ensure(op, fits, "broadcasts to another size")?;
        }
        if own == *shape && dimensions.is_sorted() {
            return Ok(operand.clone());
        }
        self.moved(operand, shape, |c, point| {
            let pairs = own.iter().zip(&dimensions);
            pairs
                .map(|(size, at)| match *size {
                    Dim::Static(1) => c.body.i64(0),
                    _ => point[*at],
                })
                .collect()
        })
    }
}

/// `broadcast`: dimensions in front.
pub(super) fn broadcast(t: &mut Translator<'_>, op: Op) -> Result<()> {
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
pub(super) fn transpose(t: &mut Translator<'_>, op: Op) -> Result<()> {
    let operand = t.operand(op, 0)?;
    let own = t.shape(&operand);
    let permutation = t.integers(op, "permutation")?;
    let permutation = t.dimensions(op, "permutation", &permutation, own.len())?;
    t.ensure(op, permutation.len() == own.len(), "has too few dimensions")?;
    let shape: Shape = permutation.iter().map(|at| own[*at]).collect();
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
pub(super) fn reverse(t: &mut Translator<'_>, op: Op) -> Result<()> {
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
pub(super) fn iota(t: &mut Translator<'_>, op: Op) -> Result<()> {
    let (element, shape) = t.result_type(op, 0)?;
    let dimension = t.dimension(op, "iota_dimension", shape.len())?;
    let result = t.map(&shape, |t, s, point| {
        let index = Val::new(Element::I64, point[dimension]);
        let value = Calc::new(&mut s.body).convert(&index, element);
        value.ok_or_else(|| t.unsupported(op, format!("iota of {element}")))
    })?;
    t.give_one(op, result)
}

/// `slice`
pub(super) fn slice(t: &mut Translator<'_>, op: Op) -> Result<()> {
    let operand = t.operand(op, 0)?;
    let sizes = t.sizes(op, &operand)?;
    let starts = t.integers(op, "start_indices")?;
    let limits = t.integers(op, "limit_indices")?;
    let strides = t.integers(op, "strides")?;
    let rank = sizes.len();
    let complete = [&starts, &limits, &strides]
        .iter()
        .all(|list| list.len() == rank);
    t.ensure(op, complete, "has too few or many bounds")?;
    let mut shape = Shape::new();
    for at in 0..rank {
        let (start, limit, stride) = (starts[at], limits[at], strides[at]);
        let fits = 0 <= start && start <= limit && limit as u64 <= sizes[at] && stride > 0;
        t.ensure(op, fits, "has bounds outside of its operand")?;
        shape.push(Dim::Static(
            ((limit - start) as u64).div_ceil(stride as u64),
        ));
    }
    let result = t.moved(&operand, &shape, |c, point| {
        let strided = |(at, index): (usize, &Node)| {
            let (stride, start) = (c.body.i64(strides[at]), c.body.i64(starts[at]));
            let index = c.mul(*index, stride);
            c.add(index, start)
        };
        point.iter().enumerate().map(strided).collect()
    })?;
    t.give_one(op, result)
}

/// `pad`
pub(super) fn pad(t: &mut Translator<'_>, op: Op) -> Result<()> {
    let (operand, padding) = (t.operand(op, 0)?, t.operand(op, 1)?);
    let sizes = t.sizes(op, &operand)?;
    let rank = sizes.len();
    let low = t.integers_or(op, "edge_padding_low", rank, 0)?;
    let high = t.integers_or(op, "edge_padding_high", rank, 0)?;
    let interior = t.integers_or(op, "interior_padding", rank, 0)?;
    let is_scalar = t.shape(&padding).is_empty() && padding.element == operand.element;
    t.ensure(op, is_scalar, "is padded with another type")?;
    let mut shape = Shape::new();
    let mut windows = Vec::new();
    for at in 0..rank {
        let limit = 1 << 40;
        let is_small = low[at].abs() < limit && high[at].abs() < limit && sizes[at] < 1 << 40;
        t.ensure(
            op,
            is_small && (0..limit >> 20).contains(&interior[at]),
            "pads too much",
        )?;
        let spread = (sizes[at] as i64 - 1).max(0) * interior[at] + sizes[at] as i64;
        let size = spread + low[at] + high[at];
        t.ensure(op, size >= 0, "has a negative size")?;
        shape.push(Dim::Static(size as u64));
        windows.push((low[at], interior[at] + 1));
    }
    let result = t.map(&shape, |t, s, point| {
        let mut position = Vec::new();
        let mut inside = s.body.literal(spirula_program::Literal::new(Ty::Bool, 1));
        for (at, (low, dilation)) in windows.iter().enumerate() {
            let c = &mut Calc::new(&mut s.body);
            let offset = c.body.i64(-low);
            let padded = c.add(point[at], offset);
            let (index, is_inside) = dilated(c, padded, *dilation, sizes[at]);
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
pub(super) fn choose(s: &mut Structured, condition: Node, then: &Val, otherwise: &Val) -> Val {
    let mut c = Calc::new(&mut s.body);
    let parts = then.nodes.iter().zip(&otherwise.nodes);
    Val {
        element: then.element,
        nodes: parts.map(|(a, b)| c.cond(condition, *a, *b)).collect(),
    }
}

/// The index that a position has in a dimension whose elements lie `dilation` apart, and whether
/// there is an element.
pub(super) fn dilated(c: &mut Calc<'_>, position: Node, dilation: i64, size: u64) -> (Node, Node) {
    let (zero, by) = (c.body.i64(0), c.body.i64(dilation));
    let end = c.body.i64((size as i64 - 1) * dilation + 1);
    let not_before = c.le(zero, position);
    let not_behind = c.lt(position, end);
    let inside = c.and(not_before, not_behind);
    if dilation == 1 {
        return (position, inside);
    }
    let rest = c.op2(Scalar::SMod, position, by);
    let is_whole = c.eq(rest, zero);
    let index = c.op2(Scalar::SDiv, position, by);
    (index, c.and(inside, is_whole))
}

/// `concatenate`
pub(super) fn concatenate(t: &mut Translator<'_>, op: Op) -> Result<()> {
    let operands = t.operands(op)?;
    t.ensure(op, !operands.is_empty(), "has no operands")?;
    let mut shape = t.shape(&operands[0]);
    let dimension = t.dimension(op, "dimension", shape.len())?;
    let mut starts = Vec::new();
    let mut total = 0u64;
    for operand in &operands {
        let sizes = t.sizes(op, operand)?;
        let mut own = t.shape(operand);
        let same_rank = own.len() == shape.len() && operand.element == operands[0].element;
        t.ensure(op, same_rank, "has operands of different types")?;
        own[dimension] = shape[dimension];
        t.ensure(op, own == shape, "has operands of different shapes")?;
        starts.push(total);
        total = total.saturating_add(sizes[dimension]);
    }
    shape[dimension] = Dim::Static(total);
    let result = t.map(&shape, |t, s, point| {
        let mut value: Option<Val> = None;
        // The last operand is what remains; before it stand the others, each with its test.
        for (operand, start) in operands.iter().zip(&starts).rev() {
            if t.shape(operand)[dimension] == Dim::Static(0) {
                continue;
            }
            let mut position = point.to_vec();
            let offset = s.body.i64(-(*start as i64));
            position[dimension] = Calc::new(&mut s.body).add(point[dimension], offset);
            let element = t.read(s, operand, &position);
            value = Some(match value {
                None => element,
                Some(rest) => {
                    let sizes = t.sizes(op, operand)?;
                    let end = s.body.i64((*start + sizes[dimension]) as i64);
                    let is_before = Calc::new(&mut s.body).lt(point[dimension], end);
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

impl Translator<'_> {
    /// Indices of rank 0, brought between 0 and the greatest that each may be.
    pub fn clamped(
        &self,
        op: Op,
        s: &mut Structured,
        indices: &[Tensor],
        greatest: &[u64],
    ) -> Result<Vec<Node>> {
        self.ensure(
            op,
            indices.len() == greatest.len(),
            "has too few or many indices",
        )?;
        let mut nodes = Vec::new();
        for (index, greatest) in indices.iter().zip(greatest) {
            let is_index = matches!(index.element, Element::Int { .. });
            self.ensure(
                op,
                is_index && self.shape(index).is_empty(),
                "has an index of rank above 0",
            )?;
            let index = self.read_index(s, index, &[]);
            nodes.push(clamp(&mut Calc::new(&mut s.body), index, *greatest));
        }
        Ok(nodes)
    }
}

/// An index brought between 0 and the greatest that it may be.
pub(super) fn clamp(c: &mut Calc<'_>, index: Node, greatest: u64) -> Node {
    if greatest == 0 {
        return c.body.i64(0);
    }
    let (zero, greatest) = (c.body.i64(0), c.body.i64(greatest as i64));
    let index = c.op2(Scalar::SMax, index, zero);
    c.op2(Scalar::SMin, index, greatest)
}

/// `dynamic_slice`
pub(super) fn dynamic_slice(t: &mut Translator<'_>, op: Op) -> Result<()> {
    let operands = t.operands(op)?;
    let operand = t.operand(op, 0)?;
    let sizes = t.sizes(op, &operand)?;
    let slice = t.integers(op, "slice_sizes")?;
    t.ensure(op, slice.len() == sizes.len(), "has too few or many sizes")?;
    let mut greatest = Vec::new();
    for (size, slice) in sizes.iter().zip(&slice) {
        let rest = u64::try_from(*slice)
            .ok()
            .and_then(|slice| size.checked_sub(slice));
        t.ensure(op, rest.is_some(), "is larger than its operand")?;
        greatest.extend(rest);
    }
    let shape: Shape = slice.iter().map(|size| Dim::Static(*size as u64)).collect();
    let result = t.map(&shape, |t, s, point| {
        let starts = t.clamped(op, s, &operands[1..], &greatest)?;
        let mut c = Calc::new(&mut s.body);
        let pairs = point.iter().zip(starts);
        let position: Vec<Node> = pairs.map(|(index, start)| c.add(*index, start)).collect();
        Ok(t.read(s, &operand, &position))
    })?;
    t.give_one(op, result)
}

/// `dynamic_update_slice`
pub(super) fn dynamic_update_slice(t: &mut Translator<'_>, op: Op) -> Result<()> {
    let operands = t.operands(op)?;
    let (operand, update) = (t.operand(op, 0)?, t.operand(op, 1)?);
    let (sizes, slice) = (t.sizes(op, &operand)?, t.sizes(op, &update)?);
    let same = slice.len() == sizes.len() && operand.element == update.element;
    t.ensure(op, same, "has an update of another type")?;
    let fits = slice.iter().zip(&sizes).all(|(slice, size)| slice <= size);
    t.ensure(op, fits, "is larger than its operand")?;
    let pairs = sizes.iter().zip(&slice);
    let greatest: Vec<u64> = pairs.map(|(size, slice)| size - slice).collect();
    let shape = t.shape(&operand);
    let result = t.map(&shape, |t, s, point| {
        let starts = t.clamped(op, s, &operands[2..], &greatest)?;
        let mut c = Calc::new(&mut s.body);
        let mut inside = c.truth(true);
        let mut position = Vec::new();
        for (at, start) in starts.iter().enumerate() {
            let index = c.sub(point[at], *start);
            position.push(index);
            if slice[at] != sizes[at] {
                let (zero, end) = (c.body.i64(0), c.body.i64(slice[at] as i64));
                let (first, last) = (c.le(zero, index), c.lt(index, end));
                let within = c.and(first, last);
                inside = c.and(inside, within);
            }
        }
        let new = t.read(s, &update, &position);
        let old = t.read(s, &operand, point);
        Ok(choose(s, inside, &new, &old))
    })?;
    t.give_one(op, result)
}
