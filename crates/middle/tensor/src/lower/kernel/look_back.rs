//! Decoupled look-back: scans whose workgroups read the sums of those that began before them.
//!
//! Workgroups take chunks in the order in which they begin, so that none waits for one that has not begun. The status of a
//! chunk is that nothing is known of it, its own sum, or the sum of all chunks up to its end. Each invocation of the first
//! subgroup polls some chunks before its own at once. It polls further ones until one has the sum of all before it.
//! Source: Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016).

use super::super::element_write::AccumulatorArrays;
use super::super::node_emitter::NodeEmitter;
use super::combine_accumulators::shuffle_variables;
use super::workgroup_scan::ScanAccumulators;
use super::{DispatchLowering, shuffle_words};
use crate::ir::DimExtent;
use crate::schedule::{LoopMapping, TensorDispatch};
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{
    AtomicOp, AtomicStmt, BlockSize, ExprId, KernelCapture, KernelData, KernelId, LaunchIndex,
    MemoryElement, MemorySpace, StmtKind, VarId, VariableType,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// Memory of the chunks of a scan.
///
/// It has the number of workgroups that have begun. From [`FIRST`] on there are words of each chunk for each
/// accumulator. They are pieces of its bits, each below a mark that names the value of which it is a piece. Words of
/// two different writes have different marks, so that neither fences nor wide accesses are needed.
pub(crate) struct LookBackStatus {
    memory: VarId,
    /// Number of chunks.
    chunks: u64,
}

/// The first word of the chunks. It is in another cache line than the number of workgroups.
const FIRST: u64 = 32;

/// The mark of a chunk's own sum.
const OWN: i32 = 1;
/// The mark of the sum of all chunks up to its end.
const ALL: i32 = 2;

/// Number of bits of a piece.
const PIECE: i32 = 16;

/// Number of chunks that an invocation polls at once. The latency is that of one.
const ASKED: i32 = 8;

impl LookBackStatus {
    /// Allocates memory for the chunks of a scan, and launches the kernel `number`, which clears it. Returns that kernel too.
    pub fn new(
        b: &mut ProgramBuilder,
        dispatch: &TensorDispatch,
        number: KernelId,
    ) -> (LookBackStatus, KernelData) {
        let chunks = dispatch.nest.workgroups()[0];
        let types = super::accumulator_types(&dispatch.nest.op);
        let pieces = types.iter().map(|ty| count_pieces(*ty) as u64);
        let count = FIRST + pieces.sum::<u64>() * chunks;
        let memory = b.declare_var("progress", VariableType::Memory(MemorySpace::Device), false);
        let bytes = b.make_i64((count * ScalarType::I32.size()) as i64);
        b.push_statement(StmtKind::Alloc { to: memory, bytes });
        b.push_statement(StmtKind::Launch(number));
        let clear = build_clear_kernel(b, memory, count, dispatch);
        (LookBackStatus { memory, chunks }, clear)
    }

    /// The capture of a kernel that looks back.
    pub(super) fn as_capture(&self) -> KernelCapture {
        KernelCapture::Memory(self.memory)
    }

    /// Frees the memory.
    pub fn free_memory(&self, b: &mut ProgramBuilder) {
        b.push_statement(StmtKind::Free(self.memory));
    }

    /// A word that other workgroups may change.
    fn word_at(&self, index: ExprId) -> MemoryElement {
        MemoryElement {
            memory: self.memory,
            ty: ScalarType::I32,
            index,
            volatile: true,
        }
    }
}

/// A kernel that writes zeros.
fn build_clear_kernel(
    b: &mut ProgramBuilder,
    memory: VarId,
    count: u64,
    dispatch: &TensorDispatch,
) -> KernelData {
    let invocations = dispatch.nest.profile.flat;
    b.begin_block();
    let mut position = |name, part| {
        let to = b.declare_var(name, VariableType::Scalar(ScalarType::I32), false);
        let dimension = 0;
        b.push_statement(StmtKind::Position {
            to,
            part,
            dimension,
        });
        b.read_var(to)
    };
    let [group, local] =
        [("group", LaunchIndex::Group), ("local", LaunchIndex::Local)].map(|(n, w)| position(n, w));
    let width = b.make_literal(ScalarLiteral::from_i32(invocations as i32));
    let first = b.apply_op(ScalarOp::Mul, &[group, width]);
    let at = b.apply_op(ScalarOp::Add, &[first, local]);
    let limit = b.make_literal(ScalarLiteral::from_i32(count as i32));
    let condition = b.apply_op(ScalarOp::SLt, &[at, limit]);
    b.begin_block();
    let index = b.apply_operator(
        ScalarOperator::from_conversion(ScalarOp::SExt, ScalarType::I32, ScalarType::I64),
        &[at],
    );
    let value = b.make_literal(ScalarLiteral::from_i32(0));
    let to = MemoryElement {
        memory,
        ty: ScalarType::I32,
        index,
        volatile: false,
    };
    b.push_statement(StmtKind::Write { to, value });
    let then = b.end_block();
    b.begin_block();
    let otherwise = b.end_block();
    b.push_statement(StmtKind::If {
        condition,
        then,
        otherwise,
    });
    let body = b.end_block();
    KernelData {
        label: Some("clear_status".to_owned()),
        blocks: vec![b.make_i64(count.div_ceil(invocations) as i64)],
        block_size: vec![BlockSize::Constant(b.make_i64(invocations as i64))],
        captures: vec![KernelCapture::Memory(memory)],
        failure_tolerant: true,
        body,
        place: dispatch.place,
    }
}

impl DispatchLowering<'_> {
    /// Takes the next chunk for the workgroup, where workgroups take chunks.
    pub(super) fn take_chunk(&mut self) {
        let counter = self.counter_of(LoopMapping::Arrival);
        let (Some(counter), Some(status), Some(local)) = (counter, self.status, self.local) else {
            return;
        };
        let types = [ScalarType::I32];
        let memory = [self.declare_shared(ScalarType::I32, 1)];
        let memory = AccumulatorArrays::new(&types, &memory);
        let zero = self.e.body.intern_i64(0);
        let is_first = self.e.body.apply_op(ScalarOp::Eq, &[local, zero]);
        self.e.emit_if(is_first, |e| {
            let number =
                e.b.declare_var("number", VariableType::Scalar(ScalarType::I32), false);
            let index = e.b.make_i64(0);
            let value = e.b.make_literal(ScalarLiteral::from_i32(1));
            e.b.push_statement(StmtKind::Atomic(Box::new(AtomicStmt {
                op: AtomicOp::Add,
                element: status.word_at(index),
                value,
                expected: None,
                old: Some(number),
            })));
            memory.write_elements(e, zero, &[number]);
        });
        self.emit_barrier();
        let number = memory.read_elements(&mut self.e, zero)[0];
        self.bind_counter(counter, number);
    }

    /// Adds the sums of the chunks before it in its row to `before`, where workgroups look back. `all` is the sum of the
    /// workgroup's own chunk.
    pub(super) fn look_back(
        &mut self,
        sums: &ScanAccumulators<'_>,
        before: &[VarId],
        all: &[VarId],
    ) {
        let numbers = [
            LoopMapping::Arrival,
            LoopMapping::Subgroup,
            LoopMapping::Lane,
        ]
        .map(|run| self.counter_of(run));
        let ([Some(arrival), Some(subgroup), Some(lane)], Some(status)) = (numbers, self.status)
        else {
            return;
        };
        let rows = self.nest.op.parallel_shape();
        let rows = rows.filter_map(DimExtent::as_static).product::<u64>();
        let count = self.e.body.intern_i64((status.chunks / rows) as i64);
        let number = self.e.body.apply_op(ScalarOp::SMod, &[arrival, count]);
        let initial = self.leaves[0].initial.clone();
        let initial = self.e.emit_nodes(&initial);
        let view = LookBackView {
            status,
            sums,
            lanes: self.extent_of(LoopMapping::Lane) as i32,
            place: self.e.emit_as(arrival, ScalarType::I32),
            number: self.e.emit_as(number, ScalarType::I32),
            lane: self.e.emit_as(lane, ScalarType::I32),
            initial,
        };
        let memory = sums.types.iter().map(|ty| self.declare_shared(*ty, 1));
        let memory: Vec<VarId> = memory.collect();
        let memory = AccumulatorArrays::new(&sums.types, &memory);
        let body = &mut self.e.body;
        let zero = body.intern_i64(0);
        let [is_looking, is_telling] =
            [subgroup, lane].map(|n| body.apply_op(ScalarOp::Eq, &[n, zero]));
        self.e.emit_if(is_looking, |e| {
            e.emit_if(is_telling, |e| view.publish_sums(e, OWN, all));
            let earlier = sums.declare_neutral(e);
            view.gather_earlier_sums(e, &earlier);
            e.emit_if(is_telling, |e| {
                memory.write_elements(e, zero, &earlier);
                let values = sums.read_values(e, all);
                sums.fold_values(e, &earlier, &values);
                view.publish_sums(e, ALL, &earlier);
            });
        });
        self.emit_barrier();
        let values = memory.read_elements(&mut self.e, zero);
        sums.fold_values(&mut self.e, before, &values);
    }
}

/// The view of the chunks that an invocation of the first subgroup has.
struct LookBackView<'a> {
    status: &'a LookBackStatus,
    sums: &'a ScanAccumulators<'a>,
    /// Number of invocations of a subgroup.
    lanes: i32,
    /// The number of this workgroup's chunk among all.
    place: ExprId,
    /// The number of this workgroup's chunk in its row.
    number: ExprId,
    /// The number of the invocation.
    lane: ExprId,
    /// The initial values of a row.
    initial: Vec<ExprId>,
}

/// A chunk that is polled.
struct LookBackQuery {
    /// Distance to this workgroup's chunk.
    distance: ExprId,
    /// Its words.
    words: Vec<MemoryElement>,
    /// The values that were read of them.
    found: Vec<VarId>,
}

impl LookBackQuery {
    fn read_words(&self, e: &mut NodeEmitter<'_>) {
        for (from, to) in self.words.iter().zip(&self.found) {
            let (from, to) = (*from, *to);
            e.b.push_statement(StmtKind::Read { to, from });
        }
    }
}

impl LookBackView<'_> {
    /// The words of a chunk, one after the other for each accumulator.
    fn chunk_words(&self, e: &mut NodeEmitter<'_>, chunk: ExprId) -> Vec<MemoryElement> {
        let count = self.sums.types.iter().map(|ty| count_pieces(*ty)).sum();
        let numbers: std::ops::Range<usize> = 0..count;
        let words = numbers.map(|number| {
            let first = FIRST + number as u64 * self.status.chunks;
            let first = e.b.make_literal(ScalarLiteral::from_i32(first as i32));
            let at = e.b.apply_op(ScalarOp::Add, &[chunk, first]);
            let wide =
                ScalarOperator::from_conversion(ScalarOp::SExt, ScalarType::I32, ScalarType::I64);
            self.status.word_at(e.b.apply_operator(wide, &[at]))
        });
        words.collect()
    }

    /// Publishes sums of this workgroup's chunk, with a mark.
    fn publish_sums(&self, e: &mut NodeEmitter<'_>, what: i32, vars: &[VarId]) {
        let mark = e.b.make_literal(ScalarLiteral::from_i32(what << PIECE));
        let mut to = self.chunk_words(e, self.place).into_iter();
        for (ty, var) in self.sums.types.iter().zip(vars) {
            let value = e.b.read_var(*var);
            for piece in split_into_pieces(e, value, *ty) {
                let value = e.b.apply_op(ScalarOp::Or, &[piece, mark]);
                if let Some(to) = to.next() {
                    e.b.push_statement(StmtKind::Write { to, value });
                }
            }
        }
    }

    /// Adds the sums of the chunks before this one.
    fn gather_earlier_sums(&self, e: &mut NodeEmitter<'_>, earlier: &[VarId]) {
        let back =
            e.b.declare_var("back", VariableType::Scalar(ScalarType::I32), false);
        let one = e.b.make_literal(ScalarLiteral::from_i32(1));
        let first = e.b.apply_op(ScalarOp::Add, &[self.lane, one]);
        e.b.push_assignment(back, first);
        let goes_on =
            e.b.declare_var("goes_on", VariableType::Scalar(ScalarType::Bool), false);
        let yes = e.b.make_literal(ScalarLiteral::new(ScalarType::Bool, 1));
        e.b.push_assignment(goes_on, yes);
        let body = e.emit_block(|e| {
            let begun = e.b.read_var(back);
            let asked = (0..ASKED).map(|number| self.make_query(e, begun, number));
            let asked: Vec<LookBackQuery> = asked.collect();
            self.poll_queries(e, &asked);
            let near = self.find_nearest_complete(e, &asked);
            let found = self.sums.declare_neutral(e);
            for one in &asked {
                let is_counted = e.b.apply_op(ScalarOp::SLe, &[one.distance, near]);
                let values = self.load_sums(e, one);
                self.sums.fold_if(e, is_counted, &found, &values);
            }
            self.each_bit(|mask| {
                let others = shuffle_variables(e, mask, &found, &self.sums.types);
                self.sums.fold_values(e, &found, &others);
            });
            let values = self.sums.read_values(e, &found);
            self.sums.fold_values(e, earlier, &values);
            let step =
                e.b.make_literal(ScalarLiteral::from_i32(self.lanes * ASKED));
            let further = e.b.apply_op(ScalarOp::Add, &[begun, step]);
            e.b.push_assignment(back, further);
            let none = e.b.make_literal(ScalarLiteral::from_i32(i32::MAX));
            let is_none = e.b.apply_op(ScalarOp::Eq, &[near, none]);
            e.b.push_assignment(goes_on, is_none);
        });
        let condition = e.b.read_var(goes_on);
        e.b.push_statement(StmtKind::While { condition, body });
    }

    /// One of the chunks that an invocation polls. Beyond the row's beginning it is the first chunk.
    fn make_query(&self, e: &mut NodeEmitter<'_>, begun: ExprId, number: i32) -> LookBackQuery {
        let offset =
            e.b.make_literal(ScalarLiteral::from_i32(number * self.lanes));
        let distance = e.b.apply_op(ScalarOp::Add, &[begun, offset]);
        let distance = e.bind_to_variable(distance, ScalarType::I32);
        let nearest = e.b.apply_op(ScalarOp::SMin, &[distance, self.number]);
        let chunk = e.b.apply_op(ScalarOp::Sub, &[self.place, nearest]);
        let chunk = e.bind_to_variable(chunk, ScalarType::I32);
        let words = self.chunk_words(e, chunk);
        let read = words.iter();
        let read = read.map(|_| {
            e.b.declare_var("word", VariableType::Scalar(ScalarType::I32), false)
        });
        LookBackQuery {
            distance,
            found: read.collect(),
            words,
        }
    }

    /// Reads the status of some chunks until something is known of each. Far chunks have published theirs long ago.
    fn poll_queries(&self, e: &mut NodeEmitter<'_>, asked: &[LookBackQuery]) {
        asked.iter().for_each(|one| one.read_words(e));
        for one in asked.iter().rev() {
            let condition = self.is_open(e, one);
            let body = e.emit_block(|e| one.read_words(e));
            e.b.push_statement(StmtKind::While { condition, body });
        }
    }

    /// Whether the words of a chunk are not yet written, or are of different writes.
    fn is_open(&self, e: &mut NodeEmitter<'_>, one: &LookBackQuery) -> ExprId {
        let marks = one.found.iter().map(|word| extract_status(e, *word));
        let marks: Vec<ExprId> = marks.collect();
        let least = marks[1..].iter();
        let least = least.fold(marks[0], |least, mark| {
            e.b.apply_op(ScalarOp::SMin, &[least, *mark])
        });
        let most = marks[1..].iter();
        let most = most.fold(marks[0], |most, mark| {
            e.b.apply_op(ScalarOp::SMax, &[most, *mark])
        });
        let zero = e.b.make_literal(ScalarLiteral::from_i32(0));
        let is_nothing = e.b.apply_op(ScalarOp::Eq, &[least, zero]);
        let is_mixed = e.b.apply_op(ScalarOp::SLt, &[least, most]);
        e.b.apply_op(ScalarOp::LogOr, &[is_nothing, is_mixed])
    }

    /// The distance of the nearest chunk that has the sum of all before it, or of the row's beginning. It is the greatest
    /// number where neither is among the chunks that are polled.
    fn find_nearest_complete(&self, e: &mut NodeEmitter<'_>, asked: &[LookBackQuery]) -> ExprId {
        let near =
            e.b.declare_var("near", VariableType::Scalar(ScalarType::I32), false);
        let value = e.b.read_var(near);
        let [none, all] = [i32::MAX, ALL].map(|n| e.b.make_literal(ScalarLiteral::from_i32(n)));
        e.b.push_assignment(near, none);
        for one in asked {
            let mark = extract_status(e, one.found[0]);
            let is_all = e.b.apply_op(ScalarOp::Eq, &[mark, all]);
            let is_before = e.b.apply_op(ScalarOp::SLt, &[self.number, one.distance]);
            let ends = e.b.apply_op(ScalarOp::LogOr, &[is_all, is_before]);
            let own = e.b.apply_op(ScalarOp::Cond, &[ends, one.distance, none]);
            let nearer = e.b.apply_op(ScalarOp::SMin, &[value, own]);
            e.b.push_assignment(near, nearer);
        }
        self.each_bit(|mask| {
            let other = shuffle_variables(e, mask, &[near], &[ScalarType::I32])[0];
            let nearer = e.b.apply_op(ScalarOp::SMin, &[value, other]);
            e.b.push_assignment(near, nearer);
        });
        value
    }

    /// The sums of a chunk, or the initial values of the row before its first chunk.
    fn load_sums(&self, e: &mut NodeEmitter<'_>, one: &LookBackQuery) -> Vec<ExprId> {
        let is_before = e.b.apply_op(ScalarOp::SLt, &[self.number, one.distance]);
        let mut found = &one.found[..];
        let values = self.sums.types.iter().zip(&self.initial);
        let values = values.map(|(ty, initial)| {
            let (own, others) = found.split_at(count_pieces(*ty));
            found = others;
            let value = join_pieces(e, own, *ty);
            let value = e.b.apply_op(ScalarOp::Cond, &[is_before, *initial, value]);
            e.bind_to_variable(value, *ty)
        });
        values.collect()
    }

    /// Calls a function for each bit of the numbers of a subgroup's invocations.
    fn each_bit(&self, mut what: impl FnMut(u32)) {
        let bits = 0..self.lanes.ilog2();
        bits.for_each(|bit| what(1 << bit));
    }
}

/// Number of pieces of a type.
fn count_pieces(ty: ScalarType) -> usize {
    ty.width().div_ceil(PIECE as u32) as usize
}

/// The pieces of a number, the lowest first.
fn split_into_pieces(e: &mut NodeEmitter<'_>, value: ExprId, ty: ScalarType) -> Vec<ExprId> {
    let [mask, piece] =
        [(1 << PIECE) - 1, PIECE].map(|n| e.b.make_literal(ScalarLiteral::from_i32(n)));
    let mut cut = Vec::new();
    for word in shuffle_words::split_into_words(e, value, ty) {
        let word = e.bind_to_variable(word, ScalarType::I32);
        cut.push(e.b.apply_op(ScalarOp::And, &[word, mask]));
        cut.push(e.b.apply_op(ScalarOp::LShr, &[word, piece]));
    }
    cut.truncate(count_pieces(ty));
    cut
}

/// The number whose pieces some words have.
fn join_pieces(e: &mut NodeEmitter<'_>, found: &[VarId], ty: ScalarType) -> ExprId {
    let [mask, piece] =
        [(1 << PIECE) - 1, PIECE].map(|n| e.b.make_literal(ScalarLiteral::from_i32(n)));
    let words = found.chunks(2).map(|halves| {
        let low = e.b.read_var(halves[0]);
        let low = e.b.apply_op(ScalarOp::And, &[low, mask]);
        match halves.get(1) {
            Some(high) => {
                let high = e.b.read_var(*high);
                let high = e.b.apply_op(ScalarOp::Shl, &[high, piece]);
                e.b.apply_op(ScalarOp::Or, &[low, high])
            }
            None => low,
        }
    });
    let words: Vec<ExprId> = words.collect();
    shuffle_words::join_words(e, &words, ty)
}

/// The mark of a word.
fn extract_status(e: &mut NodeEmitter<'_>, word: VarId) -> ExprId {
    let piece = e.b.make_literal(ScalarLiteral::from_i32(PIECE));
    let word = e.b.read_var(word);
    e.b.apply_op(ScalarOp::LShr, &[word, piece])
}
