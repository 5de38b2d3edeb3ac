//! `cholesky` and `triangular_solve`: loops over the columns or rows of matrices.

use super::dims::{merged, merged_shapes};
use super::element::{Element, native};
use super::error::Result;
use super::scalar::{Calc, Val};
use super::translator::{Tensor, Translator};
use crate::mlir::{Float, Op};
use spirula_program::Op as Scalar;
use spirula_tensor::ir::{AxisKind, Dim, Node, Shape, Structured, Value};

/// The type that a factorisation is computed in.
fn computed(t: &Translator<'_>, op: Op, element: Element) -> Result<Element> {
    match element {
        Element::Complex(_) => Ok(element),
        Element::Float(float) if float.width() >= 32 && native(float).is_some() => Ok(element),
        Element::Float(_) => Ok(Element::Float(Float::F32)),
        _ => Err(t.unsupported(op, format!("factorisation of {element}"))),
    }
}

impl Translator<'_> {
    /// A tensor with each element as another type.
    pub fn converted(&mut self, op: Op, tensor: &Tensor, to: Element) -> Result<Tensor> {
        if tensor.element == to {
            return Ok(tensor.clone());
        }
        let shape = self.shape(tensor);
        self.map(&shape, |t, s, point| {
            let value = t.read(s, tensor, point);
            let converted = Calc::new(&mut s.body).convert(&value, to);
            converted.ok_or_else(|| {
                let what = format!("conversion of {} to {to}", tensor.element);
                t.unsupported(op, what)
            })
        })
    }
}

/// Batch dimensions and the sizes of the matrices.
pub(super) fn matrices(t: &Translator<'_>, op: Op, tensor: &Tensor) -> Result<(Shape, Dim, Dim)> {
    let sizes = t.shape(tensor);
    let rank = sizes.len();
    t.ensure(op, rank >= 2, "has no matrices")?;
    let batch = sizes[..rank - 2].iter().copied().collect();
    Ok((batch, sizes[rank - 2], sizes[rank - 1]))
}

/// A position in a batch of matrices.
pub(super) fn at(batch: &[Node], row: Node, column: Node) -> Vec<Node> {
    let mut position = batch.to_vec();
    position.extend([row, column]);
    position
}

/// `cholesky`: an upper factor is the conjugate transpose of the lower one.
pub(super) fn cholesky(t: &mut Translator<'_>, op: Op) -> Result<()> {
    let operand = t.operand(op, 0)?;
    let lower = t.module.boolean(op, "lower").unwrap_or(false);
    let element = computed(t, op, operand.element)?;
    let a = t.converted(op, &operand, element)?;
    let factor = t.cholesky(op, &a, lower)?;
    let result = t.converted(op, &factor, operand.element)?;
    t.give_one(op, result)
}

impl Translator<'_> {
    /// The lower or upper factor of positive definite matrices, of which the same triangle is read;
    /// NaN where there is none. Columns of the lower one are computed one after the other.
    pub fn cholesky(&mut self, op: Op, a: &Tensor, lower: bool) -> Result<Tensor> {
        let element = a.element;
        let (batch, n, columns) = matrices(self, op, a)?;
        let n = merged(n, columns);
        let n = n.ok_or_else(|| self.invalid(op, "cholesky has matrices that are not square"))?;
        let shape = self.shape(a);
        let zeros = self.zeros(element, &shape);
        let factor = self.rounds_of_one(zeros, n, |t, l, column| {
            let sums = column_sums(t, op, (a, l), (&batch, n, lower), column)?;
            t.map(&shape, |t, s, point| {
                let (outer, row, at_column) = split(point);
                let j = s.body.element(column, spirula_program::Scalar::I64, &[]);
                let mut diagonal = outer.to_vec();
                diagonal.push(j);
                let pivot = t.read(s, &sums, &diagonal);
                let mut own = outer.to_vec();
                own.push(row);
                let sum = t.read(s, &sums, &own);
                let old = t.read(s, l, point);
                let mut c = Calc::new(&mut s.body);
                let root = c.op1(Scalar::Sqrt, pivot.node());
                let nodes = sum.nodes.iter().map(|node| c.div(*node, root)).collect();
                let below = Val { element, nodes };
                let nothing = c.known(element, 0.0);
                let corner = c.of_real(element, root);
                let (is_above, is_corner) = (c.lt(row, j), c.eq(row, j));
                let new = c.choice(is_corner, &corner, &below);
                let new = c.choice(is_above, &nothing, &new);
                let is_column = c.eq(at_column, j);
                Ok(c.choice(is_column, &new, &old))
            })
        })?;
        match lower {
            true => Ok(factor),
            false => self.map(&shape, |t, s, point| {
                let (outer, row, column) = split(point);
                let val = t.read(s, &factor, &at(outer, column, row));
                Ok(Calc::new(&mut s.body).conjugate(&val))
            }),
        }
    }
}

/// The batch, row and column of a position.
pub(super) fn split(point: &[Node]) -> (&[Node], Node, Node) {
    let rank = point.len();
    (&point[..rank - 2], point[rank - 2], point[rank - 1])
}

/// A column of the matrix less what the columns of the factor so far give.
fn column_sums(
    t: &mut Translator<'_>,
    op: Op,
    (a, l): (&Tensor, &Tensor),
    (batch, n, lower): (&Shape, Dim, bool),
    column: Value,
) -> Result<Tensor> {
    let mut s = Structured::parallel(batch);
    let outer = s.point();
    let row = s.axis(n, AxisKind::Parallel);
    let k = s.axis(n, AxisKind::Reduction);
    let j = s.body.element(column, spirula_program::Scalar::I64, &[]);
    let left = t.read(&mut s, l, &at(&outer, row, k));
    let right = t.read(&mut s, l, &at(&outer, j, k));
    let right = Calc::new(&mut s.body).conjugate(&right);
    let sum = t.sum_of_products(op, &mut s, (&left, &right), None, a.element)?;
    let position = if lower {
        at(&outer, row, j)
    } else {
        at(&outer, j, row)
    };
    let mut own = t.read(&mut s, a, &position);
    let mut c = Calc::new(&mut s.body);
    if !lower {
        own = c.conjugate(&own);
    }
    let value = c.difference(&own, &sum);
    Ok(t.finish(s, &value))
}

/// A triangular system as it is written: `op(a) x = b`, or `x op(a) = b`.
pub(super) struct Triangular<'a> {
    /// Whether the matrix stands on the left.
    pub left: bool,
    /// Which triangle is read.
    pub lower: bool,
    /// Whether the diagonal counts as ones.
    pub unit: bool,
    /// `NO_TRANSPOSE`, `TRANSPOSE` or `ADJOINT`.
    pub transpose: &'a str,
}

/// How the matrix of a triangular system is read: as one on the left, its triangle below.
struct System {
    batch: Shape,
    n: Dim,
    /// Whether its rows are columns of the operand.
    flipped: bool,
    conjugated: bool,
    /// Whether the last row is solved first.
    backwards: bool,
    left: bool,
    unit: bool,
}

/// `triangular_solve`
pub(super) fn triangular_solve(t: &mut Translator<'_>, op: Op) -> Result<()> {
    let (a, b) = (t.operand(op, 0)?, t.operand(op, 1)?);
    let is_set = |name| t.module.boolean(op, name).unwrap_or(false);
    let triangular = Triangular {
        left: is_set("left_side"),
        lower: is_set("lower"),
        unit: is_set("unit_diagonal"),
        transpose: t
            .module
            .keyword(op, "transpose_a")
            .unwrap_or("NO_TRANSPOSE"),
    };
    let result = t.triangular(op, (&a, &b), &triangular)?;
    t.give_one(op, result)
}

impl Translator<'_> {
    /// The unknowns of triangular systems, their rows one after the other.
    pub fn triangular(
        &mut self,
        op: Op,
        (a, b): (&Tensor, &Tensor),
        triangular: &Triangular<'_>,
    ) -> Result<Tensor> {
        let (batch, n, columns) = matrices(self, op, a)?;
        let (other_batch, rows, others) = matrices(self, op, b)?;
        let left = triangular.left;
        let n = merged(n, columns).and_then(|n| merged(n, if left { rows } else { others }));
        let fits = n.is_some();
        let n = n.unwrap_or(columns);
        let same = merged_shapes(&batch, &other_batch).is_some() && a.element == b.element;
        self.ensure(op, fits && same, "has matrices that do not fit")?;
        let is_transposed = matches!(triangular.transpose, "TRANSPOSE" | "ADJOINT");
        // x A = b is Aᵀ xᵀ = bᵀ.
        let flipped = is_transposed == left;
        let system = System {
            batch,
            n,
            flipped,
            conjugated: triangular.transpose == "ADJOINT",
            backwards: triangular.lower == flipped,
            left,
            unit: triangular.unit,
        };
        let element = computed(self, op, a.element)?;
        let wide = [a, b].map(|tensor| self.converted(op, tensor, element));
        let [wide_a, wide_b] = wide;
        let (wide_a, wide_b) = (wide_a?, wide_b?);
        let shape = self.shape(b);
        let zeros = self.zeros(element, &shape);
        let solved = self.rounds_of_one(zeros, n, |t, x, round| {
            let row = row_of(t, op, &system, [&wide_a, &wide_b, x], round)?;
            t.map(&shape, |t, s, point| {
                let (outer, first, second) = split(point);
                let (own, other) = if left {
                    (first, second)
                } else {
                    (second, first)
                };
                let i = solved_row(s, &system, round);
                let mut position = outer.to_vec();
                position.push(other);
                let (new, old) = (t.read(s, &row, &position), t.read(s, x, point));
                let mut c = Calc::new(&mut s.body);
                let is_row = c.eq(own, i);
                Ok(c.choice(is_row, &new, &old))
            })
        })?;
        self.converted(op, &solved, b.element)
    }
}

/// The row that a round solves.
fn solved_row(s: &mut Structured, system: &System, round: Value) -> Node {
    let round = s.body.element(round, spirula_program::Scalar::I64, &[]);
    let mut c = Calc::new(&mut s.body);
    match system.backwards {
        true => {
            let size = c.body.size(system.n);
            let last = c.plus(size, -1.0);
            c.sub(last, round)
        }
        false => round,
    }
}

/// The unknowns of a row, from those that are solved.
fn row_of(
    t: &mut Translator<'_>,
    op: Op,
    system: &System,
    [a, b, x]: [&Tensor; 3],
    round: Value,
) -> Result<Tensor> {
    let others = t.shape(b)[system.batch.len() + usize::from(system.left)];
    let mut s = Structured::parallel(&system.batch);
    let outer = s.point();
    let other = s.axis(others, AxisKind::Parallel);
    let k = s.axis(system.n, AxisKind::Reduction);
    let i = solved_row(&mut s, system, round);
    let matrix = |t: &Translator<'_>, s: &mut Structured, row, column| {
        let position = match system.flipped {
            true => at(&outer, column, row),
            false => at(&outer, row, column),
        };
        let val = t.read(s, a, &position);
        match system.conjugated {
            true => Calc::new(&mut s.body).conjugate(&val),
            false => val,
        }
    };
    let unknown = |t: &Translator<'_>, s: &mut Structured, of: &Tensor, row| {
        let position = match system.left {
            true => at(&outer, row, other),
            false => at(&outer, other, row),
        };
        t.read(s, of, &position)
    };
    let factor = matrix(t, &mut s, i, k);
    let known = unknown(t, &mut s, x, k);
    // The other triangle may hold anything.
    let mut c = Calc::new(&mut s.body);
    let is_solved = match system.backwards {
        true => c.lt(i, k),
        false => c.lt(k, i),
    };
    let sum = t.sum_of_products(op, &mut s, (&factor, &known), Some(is_solved), a.element)?;
    let own = unknown(t, &mut s, b, i);
    let pivot = matrix(t, &mut s, i, i);
    let mut c = Calc::new(&mut s.body);
    let rest = c.difference(&own, &sum);
    let value = match system.unit {
        true => rest,
        false => c.quotient(&rest, &pivot),
    };
    Ok(t.finish(s, &value))
}
