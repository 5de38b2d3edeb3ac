//! Selections of the least words of rows, on processors.
//!
//! An invocation has a row. It keeps the least words so far in a heap with the greatest of them at the root, and compares each
//! further word with the root. Words in a random order are rarely less: some `count * ln(length / count)` of them. At the end the
//! heap is sorted in place. Words that are equal are in the order of their indices.
//! Source: D. Knuth, "The Art of Computer Programming", volume 3 (1998), section 5.2.3.

use super::host_program::HostProgramLowering;
use super::radix_sort::kernel_code::RadixKernelCode;
use crate::ir::{TensorValue, WordSelection};
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{ExprId, KernelData, LaunchIndex, VarId};
use spirula_program::{ScalarOp, ScalarType};

/// The sizes of a selection.
struct SelectionSizes {
    /// Number of rows.
    rows: u64,
    /// Words of a row.
    length: u64,
    /// Words that are selected of a row.
    count: u64,
    /// The type of words.
    word: ScalarType,
}

/// A heap of words with their indices, whose root is the last in order.
struct WordHeap {
    words: VarId,
    indices: VarId,
    word: ScalarType,
}

/// A word and its index.
#[derive(Clone, Copy)]
struct HeapEntry {
    word: ExprId,
    index: ExprId,
}

impl HostProgramLowering<'_> {
    /// Launches the kernel of a selection.
    pub(super) fn lower_word_selection(&mut self, selection: &WordSelection, result: TensorValue) {
        let to = self.allocate_value(result);
        let words = self.as_memory(selection.words);
        let ty = self.function.ty(selection.words);
        let sizes: Option<Vec<u64>> = ty.shape.iter().map(|dim| dim.as_static()).collect();
        let Some((&length, outer)) = sizes.as_deref().and_then(<[u64]>::split_last) else {
            return;
        };
        let sizes = SelectionSizes {
            rows: outer.iter().product(),
            length,
            count: selection.count,
            word: ty.element,
        };
        if sizes.rows > 0 && sizes.count > 0 {
            let kernel = select_rows(&mut self.b, &sizes, words, to);
            self.launch_extra_kernel(kernel);
        }
    }
}

/// A kernel that selects of a row in each invocation.
fn select_rows(
    b: &mut ProgramBuilder,
    sizes: &SelectionSizes,
    words: VarId,
    result: VarId,
) -> KernelData {
    let mut code = RadixKernelCode::begin(b);
    let row = code.position("row", LaunchIndex::Group);
    let [first, to] = [sizes.length, sizes.count].map(|each| {
        let row = code.widen(row);
        let each = code.b.make_i64(each as i64);
        let first = code.apply(ScalarOp::Mul, &[row, each]);
        code.bind("first", first)
    });
    let count = sizes.count as i64;
    let heap = WordHeap {
        words: code.declare_elements("words", sizes.word, count),
        indices: code.declare_array("indices", count),
        word: sizes.word,
    };
    heap.begin_row(&mut code, sizes, words, first);
    heap.take_lesser_words(&mut code, sizes, words, first);
    heap.sort_entries(&mut code, count);
    let bound = code.number(count);
    code.repeat(bound, |code, at| {
        let index = code.load("index", heap.indices, at);
        let at = code.widen(at);
        let place = code.add(to, at);
        code.store(result, place, index);
    });
    let groups = code.b.make_i64(sizes.rows as i64);
    code.finish("select_first", groups, 1)
}

impl WordHeap {
    /// Makes a heap of the first words of a row.
    fn begin_row(
        &self,
        code: &mut RadixKernelCode<'_>,
        sizes: &SelectionSizes,
        words: VarId,
        first: ExprId,
    ) {
        let count = sizes.count as i64;
        let bound = code.number(count);
        code.repeat(bound, |code, at| {
            let from = code.widen(at);
            let from = code.add(first, from);
            let word = code.load_element("word", words, self.word, from);
            self.store_entry(code, at, HeapEntry { word, index: at });
        });
        let halves = code.number(count / 2);
        let last = code.number(count / 2 - 1);
        code.repeat(halves, |code, step| {
            let at = code.apply(ScalarOp::Sub, &[last, step]);
            let at = code.bind("parent", at);
            let entry = self.load_entry(code, at);
            let size = code.number(count);
            self.sift_down(code, at, size, entry);
        });
    }

    /// Replaces the root by each further word of a row that is less.
    fn take_lesser_words(
        &self,
        code: &mut RadixKernelCode<'_>,
        sizes: &SelectionSizes,
        words: VarId,
        first: ExprId,
    ) {
        let count = sizes.count as i64;
        let zero = code.number(0);
        let root = code.load_element("root", self.words, self.word, zero);
        let greatest = code.declare("greatest", root);
        let rest = code.number(sizes.length as i64 - count);
        code.repeat(rest, |code, step| {
            let size = code.number(count);
            let index = code.add(step, size);
            let from = code.widen(index);
            let from = code.add(first, from);
            let word = code.load_element("word", words, self.word, from);
            let limit = code.b.read_var(greatest);
            let is_less = code.apply(ScalarOp::ULt, &[word, limit]);
            code.only_if(is_less, |code| {
                let index = code.bind("index", index);
                let zero = code.number(0);
                self.sift_down(code, zero, size, HeapEntry { word, index });
                let root = code.load_element("root", self.words, self.word, zero);
                code.b.push_assignment(greatest, root);
            });
        });
    }

    /// Sorts the entries: the root is swapped with the last entry, which leaves the heap.
    fn sort_entries(&self, code: &mut RadixKernelCode<'_>, count: i64) {
        let steps = code.number(count - 1);
        code.repeat(steps, |code, step| {
            let last = code.number(count - 1);
            let last = code.apply(ScalarOp::Sub, &[last, step]);
            let last = code.bind("last", last);
            let entry = self.load_entry(code, last);
            let zero = code.number(0);
            let root = self.load_entry(code, zero);
            self.store_entry(code, last, root);
            self.sift_down(code, zero, last, entry);
        });
    }

    /// Puts an entry in the place of a parent, or below it: greater children move up.
    fn sift_down(
        &self,
        code: &mut RadixKernelCode<'_>,
        parent: ExprId,
        size: ExprId,
        entry: HeapEntry,
    ) {
        let hole = code.declare("hole", parent);
        let one = code.number(1);
        let child_of_hole = |code: &mut RadixKernelCode<'_>| {
            let at = code.b.read_var(hole);
            let twice = code.multiply(at, 2);
            code.add(twice, one)
        };
        let first = child_of_hole(code);
        let child = code.declare("child", first);
        let at = code.b.read_var(child);
        let has_child = code.apply(ScalarOp::SLt, &[at, size]);
        code.repeat_while(has_child, |code| {
            let left = code.b.read_var(child);
            let right = code.add(left, one);
            let has_right = code.apply(ScalarOp::SLt, &[right, size]);
            code.only_if(has_right, |code| {
                let entries = [left, right].map(|at| self.load_entry(code, at));
                let is_less = emit_is_before(code, entries[0], entries[1]);
                code.only_if(is_less, |code| code.b.push_assignment(child, right));
            });
            let at = code.b.read_var(child);
            let greater = self.load_entry(code, at);
            let is_less = emit_is_before(code, entry, greater);
            code.only_if(is_less, |code| {
                let to = code.b.read_var(hole);
                self.store_entry(code, to, greater);
                code.b.push_assignment(hole, at);
            });
            let next = child_of_hole(code);
            let next = code.apply(ScalarOp::Cond, &[is_less, next, size]);
            code.b.push_assignment(child, next);
        });
        let to = code.b.read_var(hole);
        self.store_entry(code, to, entry);
    }

    fn load_entry(&self, code: &mut RadixKernelCode<'_>, at: ExprId) -> HeapEntry {
        HeapEntry {
            word: code.load_element("word", self.words, self.word, at),
            index: code.load("index", self.indices, at),
        }
    }

    fn store_entry(&self, code: &mut RadixKernelCode<'_>, at: ExprId, entry: HeapEntry) {
        code.store_element(self.words, self.word, at, entry.word);
        code.store(self.indices, at, entry.index);
    }
}

/// Whether an entry comes before another in order.
fn emit_is_before(code: &mut RadixKernelCode<'_>, one: HeapEntry, other: HeapEntry) -> ExprId {
    let is_less = code.apply(ScalarOp::ULt, &[one.word, other.word]);
    let is_equal = code.apply(ScalarOp::Eq, &[one.word, other.word]);
    let is_earlier = code.apply(ScalarOp::SLt, &[one.index, other.index]);
    let decides = code.apply(ScalarOp::LogAnd, &[is_equal, is_earlier]);
    let is_before = code.apply(ScalarOp::LogOr, &[is_less, decides]);
    code.bind("is_before", is_before)
}
