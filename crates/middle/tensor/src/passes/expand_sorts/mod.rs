//! Expansion of sorts to structured operations.
//!
//! Short sorts count: the place of an element is the number of elements that come before it. Longer ones by keys are
//! radix sorts of the keys' words ([`radix_words`]), or selections where few of their elements are read ([`selection`]). Others of a known length are a bitonic network, a map for each step.
//! It has the form in which every comparison puts the smaller element first, so that lengths need not be powers of two.
//! All are stable; the network carries the original places of elements for that.
//! Source: Batcher, "Sorting networks and their applications" (1968).

mod radix_words;
mod selection;
mod sort_keys;

use crate::ir::{
    AxisKind, DenseTensorType, DimExtent, NodeGraph, OpKind, RadixSort, ScalarCombiner, ScalarNode,
    StructuredOp, StructuredYield, TensorFunction, TensorOp, TensorReduction, TensorShape,
    TensorSort, TensorValue, YieldDestination,
};
use crate::schedule::ScheduleProfile;
use selection::KeptLengths;
use spirula_diagnostics::SourceLocation;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};

/// Longest sort by counting; its work is quadratic.
const COUNTED: u64 = 128;

/// Replaces all sorts.
pub(super) fn expand_sorts(function: &mut TensorFunction, profile: &ScheduleProfile) {
    let kept = if profile.is_processor() {
        KeptLengths::find_in_function(function)
    } else {
        KeptLengths::default()
    };
    for block in function.block_ids() {
        let ops = std::mem::take(&mut function.block_mut(block).ops);
        let mut replaced = Vec::with_capacity(ops.len());
        for op in ops {
            match &op.kind {
                OpKind::Sort(sort) => expand_sort(function, sort, &op, &kept, &mut replaced),
                _ => replaced.push(op),
            }
        }
        function.block_mut(block).ops = replaced;
    }
}

fn expand_sort(
    function: &mut TensorFunction,
    sort: &TensorSort,
    op: &TensorOp,
    kept: &KeptLengths,
    ops: &mut Vec<TensorOp>,
) {
    let shape = function.ty(sort.operands[0]).shape.clone();
    let Some(length) = shape.get(sort.dimension).copied() else {
        return;
    };
    let mut expansion = SortExpansion {
        function,
        sort,
        shape,
        length,
        place: op.place,
        ops,
    };
    let is_short = length.as_static().is_some_and(|n| n <= COUNTED);
    let is_countable = length
        .as_static()
        .is_none_or(|n| n <= RadixSort::MOST_ELEMENTS);
    let keys = sort_keys::find_sort_keys(&sort.comparator);
    let count = kept.find_count(&op.results);
    if let (Some([key]), Some(count)) = (keys.as_deref(), count)
        && !is_short
        && expansion.is_worth_selecting(count)
    {
        return expansion.select_by_words(key, count, &op.results);
    }
    match (keys, length.as_static()) {
        (Some(keys), _) if is_countable && !is_short => {
            expansion.sort_by_words(&keys, &op.results);
        }
        (_, Some(length)) if !is_short => expansion.sort_by_network(length, &op.results),
        _ => expansion.sort_by_counting(&op.results),
    }
}

/// An element of each tensor that is sorted.
#[derive(Clone, Copy)]
struct SortedElement<'a> {
    values: &'a [ScalarNode],
    /// The place that orders equal elements.
    number: ScalarNode,
}

struct SortExpansion<'a> {
    function: &'a mut TensorFunction,
    sort: &'a TensorSort,
    shape: TensorShape,
    length: DimExtent,
    place: SourceLocation,
    ops: &'a mut Vec<TensorOp>,
}

impl SortExpansion<'_> {
    fn push_structured(&mut self, op: StructuredOp, results: Vec<TensorValue>) {
        self.ops.push(TensorOp {
            kind: OpKind::Structured(Box::new(op)),
            results,
            place: self.place,
        });
    }

    /// Elements of values at a position that has `index` along the sorted dimension.
    fn read_elements(
        &self,
        body: &mut NodeGraph,
        values: &[TensorValue],
        point: &[ScalarNode],
        index: ScalarNode,
    ) -> Vec<ScalarNode> {
        let mut position = point[..self.shape.len()].to_vec();
        position[self.sort.dimension] = index;
        let element =
            |v: &TensorValue| body.intern_element(*v, self.function.ty(*v).element, &position);
        values.iter().map(element).collect()
    }

    /// Whether one element comes before another. Equal elements are ordered by their numbers.
    fn emit_is_before(
        &self,
        body: &mut NodeGraph,
        one: SortedElement<'_>,
        other: SortedElement<'_>,
    ) -> ScalarNode {
        let comparator = &self.sort.comparator;
        let forwards = emit_comparator(body, comparator, one.values, other.values);
        let backwards = emit_comparator(body, comparator, other.values, one.values);
        let earlier = body.apply_op(ScalarOp::SLt, &[one.number, other.number]);
        let not_after = body.apply_op(ScalarOp::Not, &[backwards]);
        let equal = body.apply_op(ScalarOp::LogAnd, &[not_after, earlier]);
        body.apply_op(ScalarOp::LogOr, &[forwards, equal])
    }

    /// Sorts by counting the elements that come before each element.
    fn sort_by_counting(&mut self, results: &[TensorValue]) {
        let mut op = StructuredOp::with_parallel_axes(&self.shape);
        let point = op.axis_indices();
        let other = op.add_axis(self.length, AxisKind::Reduction);
        let own = point[self.sort.dimension];
        let mine = self.read_elements(&mut op.body, &self.sort.operands, &point, own);
        let theirs = self.read_elements(&mut op.body, &self.sort.operands, &point, other);
        let [theirs, mine] = [(&theirs, other), (&mine, own)]
            .map(|(values, number)| SortedElement { values, number });
        let before = self.emit_is_before(&mut op.body, theirs, mine);
        let one = op
            .body
            .apply_conversion(ScalarOp::FromBool, ScalarType::I64, before);
        let zero = op.body.intern_i64(0);
        let counted = op.add_reduction(TensorReduction {
            initial: vec![zero],
            values: vec![one],
            combiner: ScalarCombiner::from_op(ScalarOp::Add, ScalarType::I64),
        });
        op.add_yield(counted[0]);
        let place = self.function.new_value(DenseTensorType {
            element: ScalarType::I64,
            shape: self.shape.clone(),
        });
        self.push_structured(op, vec![place]);
        for (result, operand) in results.iter().zip(&self.sort.operands.clone()) {
            self.scatter_elements(*result, *operand, place);
        }
    }

    /// Writes elements to their places.
    fn scatter_elements(&mut self, result: TensorValue, operand: TensorValue, place: TensorValue) {
        let ty = self.function.ty(operand).clone();
        let mut zeros = StructuredOp::with_parallel_axes(&self.shape);
        let zero = zeros.body.intern_literal(ScalarLiteral::new(ty.element, 0));
        zeros.add_yield(zero);
        let base = self.function.new_value(ty.clone());
        self.push_structured(zeros, vec![base]);
        let mut op = StructuredOp::with_parallel_axes(&self.shape);
        let point = op.axis_indices();
        let value = op.body.intern_element(operand, ty.element, &point);
        let mut indices = point.clone();
        indices[self.sort.dimension] = op.body.intern_element(place, ScalarType::I64, &point);
        op.yields.push(StructuredYield {
            value,
            destination: YieldDestination::Scatter {
                base,
                indices,
                combiner: None,
                distinct: true,
            },
        });
        self.push_structured(op, vec![result]);
    }

    /// Sorts by a network of comparisons of elements at a distance.
    fn sort_by_network(&mut self, length: u64, results: &[TensorValue]) {
        let number = match i32::try_from(length) {
            Ok(_) => ScalarType::I32,
            Err(_) => ScalarType::I64,
        };
        let mut values = self.sort.operands.clone();
        values.push(self.make_index_tensor(number));
        let levels = 64 - (length - 1).leading_zeros();
        let merges = (1..=levels).flat_map(|level| {
            let far = BitonicPartner::Mirrored(1 << level);
            let rest = (0..level - 1).rev();
            std::iter::once(far).chain(rest.map(|step| BitonicPartner::Away(1 << step)))
        });
        let steps: Vec<BitonicPartner> = merges.collect();
        for (at, partner) in steps.iter().enumerate() {
            let last = (at + 1 == steps.len()).then_some(results);
            values = self.compare_exchange(&values, *partner, length as i64, last);
        }
    }

    /// The index along the sorted dimension, as a tensor.
    fn make_index_tensor(&mut self, element: ScalarType) -> TensorValue {
        let mut op = StructuredOp::with_parallel_axes(&self.shape);
        let index = op.axis_indices()[self.sort.dimension];
        let number = op.body.apply_conversion(ScalarOp::SExt, element, index);
        op.add_yield(number);
        let value = self.function.new_value(DenseTensorType {
            element,
            shape: self.shape.clone(),
        });
        self.push_structured(op, vec![value]);
        value
    }

    /// Puts each element and its partner in order. An element without a partner is its own.
    fn compare_exchange(
        &mut self,
        values: &[TensorValue],
        partner: BitonicPartner,
        length: i64,
        last: Option<&[TensorValue]>,
    ) -> Vec<TensorValue> {
        let mut op = StructuredOp::with_parallel_axes(&self.shape);
        let point = op.axis_indices();
        let own = point[self.sort.dimension];
        let body = &mut op.body;
        let partner = partner.emit_index(body, own, length);
        let is_first = body.apply_op(ScalarOp::SLt, &[own, partner]);
        let mine = self.read_elements(body, values, &point, own);
        let theirs = self.read_elements(body, values, &point, partner);
        let operands = values.len() - 1;
        let [one, other] = [&theirs, &mine].map(|nodes| SortedElement {
            values: &nodes[..operands],
            number: nodes[operands],
        });
        let theirs_before = self.emit_is_before(body, one, other);
        // The first of a pair takes the element that comes before, the second the other one.
        let swaps = body.apply_op(ScalarOp::Eq, &[theirs_before, is_first]);
        let mut results = Vec::new();
        let types = values.iter().map(|v| self.function.ty(*v).element);
        let types: Vec<ScalarType> = types.collect();
        for (at, (mine, theirs)) in mine.iter().zip(&theirs).enumerate() {
            let result = match last {
                Some(last) if at == last.len() => break,
                Some(last) => last[at],
                None => self.function.new_value(DenseTensorType {
                    element: types[at],
                    shape: self.shape.clone(),
                }),
            };
            let taken = op.body.apply_op(ScalarOp::Cond, &[swaps, *theirs, *mine]);
            op.add_yield(taken);
            results.push(result);
        }
        self.push_structured(op, results.clone());
        results
    }
}

/// The element that an element is compared with.
#[derive(Clone, Copy)]
enum BitonicPartner {
    /// The one with the same distance to the middle of a block of this size.
    Mirrored(i64),
    /// The one at this distance, in pairs of blocks of this size.
    Away(i64),
}

impl BitonicPartner {
    /// The index of an element's partner; its own, where that is not below the length. Distances and comparisons are
    /// uniform for as many neighbours as the sizes allow.
    fn emit_index(self, body: &mut NodeGraph, own: ScalarNode, length: i64) -> ScalarNode {
        let (block, partner) = match self {
            BitonicPartner::Mirrored(block) => {
                let size = body.intern_i64(block);
                let within = body.apply_op(ScalarOp::SMod, &[own, size]);
                let (two, last) = (body.intern_i64(2), body.intern_i64(block - 1));
                let twice = body.apply_op(ScalarOp::Mul, &[within, two]);
                let away = body.apply_op(ScalarOp::Sub, &[last, twice]);
                (block, body.apply_op(ScalarOp::Add, &[own, away]))
            }
            BitonicPartner::Away(distance) => {
                let away = pair_distance(body, own, distance);
                (2 * distance, body.apply_op(ScalarOp::Add, &[own, away]))
            }
        };
        if length % block == 0 {
            return partner;
        }
        let is_there = match self {
            BitonicPartner::Mirrored(_) => {
                let length = body.intern_i64(length);
                body.apply_op(ScalarOp::SLt, &[partner, length])
            }
            BitonicPartner::Away(distance) => {
                let unit = 1 << length.trailing_zeros().min(distance.trailing_zeros());
                let (size, count) = (body.intern_i64(unit), body.intern_i64(length / unit));
                let own = body.apply_op(ScalarOp::SDiv, &[own, size]);
                let away = pair_distance(body, own, distance / unit);
                let partner = body.apply_op(ScalarOp::Add, &[own, away]);
                body.apply_op(ScalarOp::SLt, &[partner, count])
            }
        };
        body.apply_op(ScalarOp::Cond, &[is_there, partner, own])
    }
}

/// Distance to the other block of a pair.
fn pair_distance(body: &mut NodeGraph, own: ScalarNode, distance: i64) -> ScalarNode {
    let [distance, two] = [distance, 2].map(|value| body.intern_i64(value));
    let block = body.apply_op(ScalarOp::SDiv, &[own, distance]);
    let side = body.apply_op(ScalarOp::SMod, &[block, two]);
    let back = body.apply_op(ScalarOp::Mul, &[side, two]);
    let back = body.apply_op(ScalarOp::Mul, &[back, distance]);
    body.apply_op(ScalarOp::Sub, &[distance, back])
}

/// Applies the comparator to two elements of each operand.
fn emit_comparator(
    body: &mut NodeGraph,
    comparator: &ScalarCombiner,
    one: &[ScalarNode],
    other: &[ScalarNode],
) -> ScalarNode {
    let copies = body.import_nodes(&comparator.body, &comparator.results, |_, node, _| {
        let number = comparator.body.as_argument(node)? as usize;
        let side = if number.is_multiple_of(2) { one } else { other };
        side.get(number / 2).copied()
    });
    copies[0]
}
