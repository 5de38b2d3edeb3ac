//! Sorts as structured operations.
//!
//! Short ones, and those whose length is known only when run, by counting: the place of an element is the number of elements that come before it.
//! Longer ones by a bitonic network, a map for each step: Batcher, "Sorting networks and their
//! applications" (1968), in the form in which every comparison puts the smaller element first, so
//! that lengths need not be powers of two. Both are stable, the network since it carries the places
//! that elements came from.

use crate::ir::{
    AxisKind, Body, Combiner, Destination, Dim, Function, Node, Op, OpKind, Reduction, Shape, Sort,
    Structured, TensorType, Value, Yield,
};
use spirula_program::{Literal, Op as ScalarOp, Scalar};
use spirula_source::Place;

/// Longest sort by counting, whose work is quadratic.
const COUNTED: u64 = 128;

/// Replaces all sorts.
pub(super) fn run(function: &mut Function) {
    for block in function.block_ids() {
        let ops = std::mem::take(&mut function.block_mut(block).ops);
        let mut replaced = Vec::with_capacity(ops.len());
        for op in ops {
            match &op.kind {
                OpKind::Sort(sort) => expand(function, sort, &op, &mut replaced),
                _ => replaced.push(op),
            }
        }
        function.block_mut(block).ops = replaced;
    }
}

fn expand(function: &mut Function, sort: &Sort, op: &Op, ops: &mut Vec<Op>) {
    let shape = function.ty(sort.operands[0]).shape.clone();
    let Some(length) = shape.get(sort.dimension).copied() else {
        return;
    };
    let mut expansion = Expansion {
        function,
        sort,
        shape,
        length,
        place: op.place,
        ops,
    };
    match length.known().filter(|n| *n > COUNTED) {
        Some(length) => expansion.network(length, &op.results),
        None => expansion.count(&op.results),
    }
}

struct Expansion<'a> {
    function: &'a mut Function,
    sort: &'a Sort,
    shape: Shape,
    length: Dim,
    place: Place,
    ops: &'a mut Vec<Op>,
}

impl Expansion<'_> {
    fn push(&mut self, op: Structured, results: Vec<Value>) {
        self.ops.push(Op {
            kind: OpKind::Structured(Box::new(op)),
            results,
            place: self.place,
        });
    }

    fn element_types(&self) -> Vec<Scalar> {
        let types = self
            .sort
            .operands
            .iter()
            .map(|v| self.function.ty(*v).element);
        types.collect()
    }

    /// Elements of values at a position whose index along the sorted dimension is given.
    fn read(&self, body: &mut Body, values: &[Value], point: &[Node], index: Node) -> Vec<Node> {
        let mut position = point[..self.shape.len()].to_vec();
        position[self.sort.dimension] = index;
        let element = |v: &Value| body.element(*v, self.function.ty(*v).element, &position);
        values.iter().map(element).collect()
    }

    /// Whether one element comes before another; equal ones by what they are numbered.
    fn before(&self, body: &mut Body, one: (&[Node], Node), other: (&[Node], Node)) -> Node {
        let forwards = compare(body, &self.sort.comparator, one.0, other.0);
        let backwards = compare(body, &self.sort.comparator, other.0, one.0);
        let earlier = body.op(ScalarOp::SLt, &[one.1, other.1]);
        let not_after = body.op(ScalarOp::Not, &[backwards]);
        let equal = body.op(ScalarOp::LogAnd, &[not_after, earlier]);
        body.op(ScalarOp::LogOr, &[forwards, equal])
    }

    /// By counting what comes before each element.
    fn count(&mut self, results: &[Value]) {
        let mut op = Structured::parallel(&self.shape);
        let point = op.point();
        let other = op.axis(self.length, AxisKind::Reduction);
        let own = point[self.sort.dimension];
        let mine = self.read(&mut op.body, &self.sort.operands, &point, own);
        let theirs = self.read(&mut op.body, &self.sort.operands, &point, other);
        let before = self.before(&mut op.body, (&theirs, other), (&mine, own));
        let one = op.body.convert(ScalarOp::FromBool, Scalar::I64, before);
        let zero = op.body.i64(0);
        let counted = op.fold(Reduction {
            initial: vec![zero],
            values: vec![one],
            combiner: Combiner::of(ScalarOp::Add, Scalar::I64),
        });
        op.give(counted[0]);
        let place = self.function.new_value(TensorType {
            element: Scalar::I64,
            shape: self.shape.clone(),
        });
        self.push(op, vec![place]);
        for (result, operand) in results.iter().zip(&self.sort.operands.clone()) {
            self.put(*result, *operand, place);
        }
    }

    /// Writes elements where they belong.
    fn put(&mut self, result: Value, operand: Value, place: Value) {
        let ty = self.function.ty(operand).clone();
        let mut zeros = Structured::parallel(&self.shape);
        let zero = zeros.body.literal(Literal::new(ty.element, 0));
        zeros.give(zero);
        let base = self.function.new_value(ty.clone());
        self.push(zeros, vec![base]);
        let mut op = Structured::parallel(&self.shape);
        let point = op.point();
        let value = op.body.element(operand, ty.element, &point);
        let mut indices = point.clone();
        indices[self.sort.dimension] = op.body.element(place, Scalar::I64, &point);
        op.yields.push(Yield {
            value,
            destination: Destination::Scatter {
                base,
                indices,
                combiner: None,
            },
        });
        self.push(op, vec![result]);
    }

    /// By a network of comparisons of elements at a distance.
    fn network(&mut self, length: u64, results: &[Value]) {
        let mut values = self.sort.operands.clone();
        values.push(self.numbers());
        let levels = 64 - (length - 1).leading_zeros();
        let merges = (1..=levels).flat_map(|level| {
            let first = (1i64 << level) - 1;
            let rest = (0..level - 1).rev().map(|step| 1i64 << step);
            std::iter::once(first).chain(rest)
        });
        let steps: Vec<i64> = merges.collect();
        for (at, mask) in steps.iter().enumerate() {
            values = self.step(&values, *mask, (at + 1 == steps.len()).then_some(results));
        }
    }

    /// The index along the sorted dimension, as a tensor.
    fn numbers(&mut self) -> Value {
        let mut op = Structured::parallel(&self.shape);
        let index = op.point()[self.sort.dimension];
        op.give(index);
        let value = self.function.new_value(TensorType {
            element: Scalar::I64,
            shape: self.shape.clone(),
        });
        self.push(op, vec![value]);
        value
    }

    /// Each element and its partner, whose index differs in the bits of a mask, in order.
    fn step(&mut self, values: &[Value], mask: i64, last: Option<&[Value]>) -> Vec<Value> {
        let mut op = Structured::parallel(&self.shape);
        let point = op.point();
        let own = point[self.sort.dimension];
        let body = &mut op.body;
        let (mask, length) = (body.i64(mask), body.size(self.length));
        let partner = body.op(ScalarOp::Xor, &[own, mask]);
        let is_there = body.op(ScalarOp::SLt, &[partner, length]);
        let is_first = body.op(ScalarOp::SLt, &[own, partner]);
        let mine = self.read(body, values, &point, own);
        let theirs = self.read(body, values, &point, partner);
        let operands = values.len() - 1;
        let numbered = |nodes: &[Node]| (nodes[..operands].to_vec(), nodes[operands]);
        let ((a, a_number), (b, b_number)) = (numbered(&mine), numbered(&theirs));
        let theirs_before = self.before(body, (&b, b_number), (&a, a_number));
        // The first of a pair takes what comes before, the second what does not.
        let swaps = body.op(ScalarOp::Eq, &[theirs_before, is_first]);
        let no = body.literal(Literal::new(Scalar::Bool, 0));
        let swaps = body.op(ScalarOp::Cond, &[is_there, swaps, no]);
        let mut results = Vec::new();
        let mut types = self.element_types();
        types.push(Scalar::I64);
        for (at, (mine, theirs)) in mine.iter().zip(&theirs).enumerate() {
            let result = match last {
                Some(last) if at == last.len() => break,
                Some(last) => last[at],
                None => self.function.new_value(TensorType {
                    element: types[at],
                    shape: self.shape.clone(),
                }),
            };
            let taken = op.body.op(ScalarOp::Cond, &[swaps, *theirs, *mine]);
            op.give(taken);
            results.push(result);
        }
        self.push(op, results.clone());
        results
    }
}

/// The comparator on two elements of each operand.
fn compare(body: &mut Body, comparator: &Combiner, one: &[Node], other: &[Node]) -> Node {
    let copies = body.import(&comparator.body, &comparator.results, |_, node, _| {
        let number = comparator.body.as_argument(node)? as usize;
        let side = if number.is_multiple_of(2) { one } else { other };
        side.get(number / 2).copied()
    });
    copies[0]
}
