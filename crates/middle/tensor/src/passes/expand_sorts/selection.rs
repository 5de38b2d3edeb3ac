//! Selections in place of sorts: on processors, sorts of which only a few of the first elements are read.
//!
//! The words of the keys are those of radix sorts ([`super::radix_words`]), or of 64 bits. Rows are cut into chunks where they are
//! long: the least words of the chunks are candidates, of which the least are selected again. A chunk that is not full has greatest
//! words at its end. They come after all real words in the order of equal words.

use super::SortExpansion;
use super::radix_words::emit_unsigned;
use super::sort_keys::SortKey;
use crate::ir::{
    DenseTensorType, DimExtent, NodeData, NodeGraph, OpKind, ScalarNode, StructuredOp,
    TensorFunction, TensorOp, TensorShape, TensorSort, TensorValue, WordSelection,
};
use rustc_hash::FxHashMap;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};

/// Most words that are selected of a row. Where each word is less than those before it, each is a replacement, whose time grows with the
/// logarithm of their number.
const MOST_SELECTED: u64 = 128;

/// Least words of a row for each that is selected.
const LEAST_SHARE: u64 = 32;

/// Words of a chunk of a long row.
const CHUNK: u64 = 1 << 14;

/// Most chunks of a row.
const MOST_CHUNKS: u64 = 64;

/// For each result of a sort, the number of its first elements along the sorted dimension that are read.
#[derive(Default)]
pub(super) struct KeptLengths {
    /// None for results that are used in another way than by reading elements.
    counts: FxHashMap<TensorValue, Option<u64>>,
}

impl KeptLengths {
    /// Finds the elements of the results of all sorts that a function reads.
    pub fn find_in_function(function: &TensorFunction) -> KeptLengths {
        let mut dimensions = FxHashMap::default();
        for block in function.block_ids() {
            for op in &function.block(block).ops {
                if let OpKind::Sort(sort) = &op.kind {
                    let results = op.results.iter();
                    dimensions.extend(results.map(|&result| (result, sort.dimension)));
                }
            }
        }
        let counts = dimensions.keys().map(|&value| (value, Some(0))).collect();
        let mut kept = KeptLengths { counts };
        if dimensions.is_empty() {
            return kept;
        }
        let demanded = function.demands.iter().flat_map(|demand| demand.sizes);
        kept.keep_all(demanded.filter_map(|dim| dim.as_value()));
        for block in function.block_ids() {
            let data = function.block(block);
            kept.keep_all(data.results.iter().copied());
            for op in &data.ops {
                match &op.kind {
                    OpKind::Structured(structured) => kept.note_reads(structured, &dimensions),
                    kind => kept.keep_all(kind.collect_operands()),
                }
            }
        }
        kept
    }

    /// Notes values of which all elements are used.
    fn keep_all(&mut self, values: impl IntoIterator<Item = TensorValue>) {
        for value in values {
            if let Some(count) = self.counts.get_mut(&value) {
                *count = None;
            }
        }
    }

    /// Notes the elements that an operation reads.
    fn note_reads(&mut self, op: &StructuredOp, dimensions: &FxHashMap<TensorValue, usize>) {
        let body = &op.body;
        let mut read = Vec::new();
        for node in body.node_ids() {
            let NodeData::Element(value, _) = body.node(node) else {
                continue;
            };
            let Some(&dimension) = dimensions.get(value) else {
                continue;
            };
            read.push(*value);
            let end = find_index_end(op, body.operands(node)[dimension]);
            if let Some(count) = self.counts.get_mut(value) {
                *count = count.zip(end).map(|(count, end)| count.max(end));
            }
        }
        let others = op.collect_operands().into_iter();
        self.keep_all(others.filter(|value| !read.contains(value)));
    }

    /// The number of first elements that are read of the results of a sort, if that is known.
    pub fn find_count(&self, results: &[TensorValue]) -> Option<u64> {
        let counts = results.iter().map(|value| *self.counts.get(value)?);
        counts.collect::<Option<Vec<u64>>>()?.into_iter().max()
    }
}

/// The end of the values of a node that is the index of an axis.
fn find_index_end(op: &StructuredOp, node: ScalarNode) -> Option<u64> {
    let axis = op.body.as_index(node)?;
    op.axes.get(axis as usize)?.extent.as_static()
}

/// The chunks of a row.
#[derive(Clone, Copy)]
struct RowChunks {
    /// Elements of the row.
    length: u64,
    /// Elements of a chunk; there may be fewer in the last one.
    chunk: u64,
    /// Number of chunks.
    count: u64,
}

impl RowChunks {
    fn from_length(length: u64) -> RowChunks {
        let count = (length / CHUNK).clamp(1, MOST_CHUNKS);
        let chunk = length.div_ceil(count);
        RowChunks {
            length,
            chunk,
            count: length.div_ceil(chunk),
        }
    }
}

impl SortExpansion<'_> {
    /// Whether selecting a number of elements is faster than sorting all.
    pub(super) fn is_worth_selecting(&self, count: u64) -> bool {
        let is_static = self.shape.iter().all(|dim| dim.as_static().is_some());
        let length = self.length.as_static().unwrap_or(0);
        is_static
            && length <= i32::MAX as u64
            && (1..=MOST_SELECTED).contains(&count)
            && count * LEAST_SHARE <= length
    }

    /// Selects the first elements in the order of a key. The results have no others.
    pub(super) fn select_by_words(&mut self, key: &SortKey, count: u64, results: &[TensorValue]) {
        let Some(length) = self.length.as_static() else {
            return;
        };
        let mut outer = self.shape.clone();
        outer.remove(self.sort.dimension);
        let chunks = RowChunks::from_length(length);
        let order = if chunks.count > 1 {
            self.select_of_chunks(key, &outer, chunks, count)
        } else {
            let shape = extend_shape(&outer, &[length]);
            let words = self.compute_unsigned(key, &shape, |_, point| ElementIndex {
                index: point[point.len() - 1],
                end: None,
            });
            self.push_selection(words, &outer, count)
        };
        self.shape[self.sort.dimension] = DimExtent::Static(count);
        for result in results {
            let shape = self.shape.clone();
            self.function.values[result.index()].ty.shape = shape;
        }
        self.gather_elements(order, results);
    }

    /// Selects of each chunk of a row, and then of what was selected.
    fn select_of_chunks(
        &mut self,
        key: &SortKey,
        outer: &TensorShape,
        chunks: RowChunks,
        count: u64,
    ) -> TensorValue {
        let end = Some(chunks.length);
        let shape = extend_shape(outer, &[chunks.count, chunks.chunk]);
        let words = self.compute_unsigned(key, &shape, |body, point| {
            let [chunk, within] = [point[point.len() - 2], point[point.len() - 1]];
            let index = index_in_row(body, chunks, chunk, within);
            ElementIndex { index, end }
        });
        let by_chunk = extend_shape(outer, &[chunks.count]);
        let least = self.push_selection(words, &by_chunk, count);
        let candidate = |body: &mut NodeGraph, point: &[ScalarNode], number: ScalarNode| {
            let each = body.intern_i64(count as i64);
            let chunk = body.apply_op(ScalarOp::SDiv, &[number, each]);
            let rank = body.apply_op(ScalarOp::SMod, &[number, each]);
            let mut place = point[..point.len() - 1].to_vec();
            place.extend([chunk, rank]);
            let within = read_number(body, least, &place);
            index_in_row(body, chunks, chunk, within)
        };
        let shape = extend_shape(outer, &[chunks.count * count]);
        let words = self.compute_unsigned(key, &shape, |body, point| {
            let index = candidate(body, point, point[point.len() - 1]);
            ElementIndex { index, end }
        });
        let chosen = self.push_selection(words, outer, count);
        let shape = extend_shape(outer, &[count]);
        let mut op = StructuredOp::with_parallel_axes(&shape);
        let point = op.axis_indices();
        let number = read_number(&mut op.body, chosen, &point);
        let index = candidate(&mut op.body, &point, number);
        let index = op
            .body
            .apply_conversion(ScalarOp::SExt, ScalarType::I32, index);
        op.add_yield(index);
        let order = self.new_numbers(ScalarType::I32, shape);
        self.push_structured(op, vec![order]);
        order
    }

    fn push_selection(
        &mut self,
        words: TensorValue,
        outer: &TensorShape,
        count: u64,
    ) -> TensorValue {
        let selected = self.new_numbers(ScalarType::I32, extend_shape(outer, &[count]));
        self.ops.push(TensorOp {
            kind: OpKind::WordSelection(WordSelection { words, count }),
            results: vec![selected],
            place: self.place,
        });
        selected
    }

    fn new_numbers(&mut self, element: ScalarType, shape: TensorShape) -> TensorValue {
        self.function.new_value(DenseTensorType { element, shape })
    }

    /// The keys of elements as unsigned words. The first dimensions of the words are all but the sorted one.
    fn compute_unsigned(
        &mut self,
        key: &SortKey,
        shape: &TensorShape,
        place: impl FnOnce(&mut NodeGraph, &[ScalarNode]) -> ElementIndex,
    ) -> TensorValue {
        let sort: &TensorSort = self.sort;
        let mut op = StructuredOp::with_parallel_axes(shape);
        let point = op.axis_indices();
        let body = &mut op.body;
        let ElementIndex { index, end } = place(body, &point);
        let mut read = index;
        if let Some(end) = end {
            let last = body.intern_i64(end as i64 - 1);
            read = body.apply_op(ScalarOp::SMin, &[index, last]);
        }
        let mut position = point[..self.shape.len() - 1].to_vec();
        position.insert(sort.dimension, read);
        let elements = self.read_elements(body, &sort.operands, &position, read);
        let comparator = &sort.comparator.body;
        let number = body.import_nodes(comparator, &[key.node], |_, node, _| {
            let argument = comparator.as_argument(node)? as usize;
            elements.get(argument / 2).copied()
        });
        let mut word = emit_unsigned(body, key, number[0]);
        if body.ty(word) != ScalarType::I64 {
            word = body.apply_conversion(ScalarOp::ZExt, ScalarType::I32, word);
        }
        let element = body.ty(word);
        if let Some(end) = end {
            let end = body.intern_i64(end as i64);
            let is_inside = body.apply_op(ScalarOp::SLt, &[index, end]);
            let greatest = body.intern_literal(ScalarLiteral::new(element, u64::MAX));
            word = body.apply_op(ScalarOp::Cond, &[is_inside, word, greatest]);
        }
        op.add_yield(word);
        let words = self.new_numbers(element, shape.clone());
        self.push_structured(op, vec![words]);
        words
    }
}

/// The index of an element along the sorted dimension.
struct ElementIndex {
    index: ScalarNode,
    /// The end of the elements, where indices may be beyond it.
    end: Option<u64>,
}

/// The index in a row of an element of a chunk.
fn index_in_row(
    body: &mut NodeGraph,
    chunks: RowChunks,
    chunk: ScalarNode,
    within: ScalarNode,
) -> ScalarNode {
    let size = body.intern_i64(chunks.chunk as i64);
    let first = body.apply_op(ScalarOp::Mul, &[chunk, size]);
    body.apply_op(ScalarOp::Add, &[first, within])
}

/// A number of a selection as an `i64`.
fn read_number(body: &mut NodeGraph, numbers: TensorValue, point: &[ScalarNode]) -> ScalarNode {
    let number = body.intern_element(numbers, ScalarType::I32, point);
    body.apply_conversion(ScalarOp::SExt, ScalarType::I64, number)
}

/// A shape with further dimensions.
fn extend_shape(outer: &TensorShape, sizes: &[u64]) -> TensorShape {
    let mut shape = outer.clone();
    shape.extend(sizes.iter().map(|&size| DimExtent::Static(size)));
    shape
}
