//! Tile copies: tiles for fragments, copied into the workgroup's memory 16 bytes at a time.
//!
//! Of `n` invocations, invocation `i` copies the runs `i`, `i + n`, … of a tile's elements. Runs that are contiguous in
//! the device's memory too are read as words. The elements of other runs are computed one by one and packed into
//! words.

use super::super::node_emitter::{NodeEmitter, TensorStorage};
use super::DispatchLowering;
use super::split_factors::split_factors;
use super::tile_staging::GuardedNode;
use crate::ir::{AffineSum, NodeData, ScalarNode, unflatten_index};
use crate::schedule::PrefetchRound;
use spirula_kernel::ir::{ExprId, MemoryElement, StmtKind, VarId, VariableType};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// Number of words of a run.
const WORDS: usize = 4;

/// A run of elements that an invocation copies.
pub(super) struct TileCopyRun {
    /// Whether the run is within the tile.
    inside: ScalarNode,
    /// Its place in the workgroup's memory, in words.
    to: ScalarNode,
    /// The place of the lower parts of its elements, where elements have two parts.
    lower: Option<ScalarNode>,
    memory: VarId,
    from: TileCopySource,
    /// Registers for it.
    held: Vec<VarId>,
}

/// Where a run comes from.
enum TileCopySource {
    /// Words of memory, where a condition holds; else zeros.
    Words {
        memory: VarId,
        at: ScalarNode,
        condition: ScalarNode,
    },
    /// Elements, each computed.
    Elements(Vec<ScalarNode>),
}

impl TileCopyRun {
    /// All nodes that the run needs.
    pub(super) fn collect_roots(&self) -> Vec<ScalarNode> {
        let mut roots = vec![self.inside, self.to];
        roots.extend(self.lower);
        match &self.from {
            TileCopySource::Words { at, condition, .. } => roots.extend([*at, *condition]),
            TileCopySource::Elements(elements) => roots.extend(elements),
        }
        roots
    }

    /// Reads the run into its registers.
    fn fetch_to_registers(&self, e: &mut NodeEmitter<'_>) {
        e.emit_if(self.inside, |e| match &self.from {
            TileCopySource::Elements(elements) => {
                let ty = e.body.ty(elements[0]);
                let values = e.emit_nodes(elements);
                let each = values.len() / self.held.len();
                for (held, parts) in self.held.iter().zip(values.chunks(each)) {
                    let word = pack_word(e, ty, parts);
                    e.b.push_assignment(*held, word);
                }
            }
            TileCopySource::Words {
                memory,
                at,
                condition,
            } => {
                if e.body.as_literal(*condition).is_none() {
                    for held in &self.held {
                        let zero = e.b.make_literal(ScalarLiteral::from_i32(0));
                        e.b.push_assignment(*held, zero);
                    }
                }
                e.emit_if(*condition, |e| {
                    for (number, held) in self.held.chunks(WORDS).enumerate() {
                        let first = e.body.intern_i64((number * WORDS) as i64);
                        let at = e.body.apply_op(ScalarOp::Add, &[*at, first]);
                        let from = words_at(e, *memory, at);
                        let to = held.into();
                        e.b.push_statement(StmtKind::ReadVector { to, from });
                    }
                });
            }
        });
    }

    fn write_words(&self, e: &mut NodeEmitter<'_>, at: ScalarNode, values: Vec<ExprId>) {
        let to = words_at(e, self.memory, at);
        let values = values.into();
        e.b.push_statement(StmtKind::WriteVector { to, values });
    }

    /// Writes its registers into the workgroup's memory.
    fn commit_registers(&self, e: &mut NodeEmitter<'_>) {
        e.emit_if(self.inside, |e| match self.lower {
            Some(lower) => {
                let [upper_words, lower_words] = split_factors(e, &self.held);
                self.write_words(e, self.to, upper_words);
                self.write_words(e, lower, lower_words);
            }
            None => {
                let words = self.held.iter().map(|held| e.b.read_var(*held)).collect();
                self.write_words(e, self.to, words);
            }
        });
    }
}

fn words_at(e: &mut NodeEmitter<'_>, memory: VarId, at: ScalarNode) -> MemoryElement {
    MemoryElement {
        memory,
        ty: ScalarType::I32,
        index: e.emit_nodes(&[at])[0],
        volatile: false,
    }
}

/// Elements as a word, the first lowest.
fn pack_word(e: &mut NodeEmitter<'_>, ty: ScalarType, parts: &[ExprId]) -> ExprId {
    let bits = match ty.size() {
        1 => ScalarType::I8,
        2 => ScalarType::I16,
        _ => ScalarType::I32,
    };
    let mut word = None;
    for (at, part) in parts.iter().enumerate() {
        let mut part = *part;
        if ty != bits {
            part = e.b.apply_operator(
                ScalarOperator::from_conversion(ScalarOp::Bits, ty, bits),
                &[part],
            );
        }
        if bits != ScalarType::I32 {
            part = e.b.apply_operator(
                ScalarOperator::from_conversion(ScalarOp::ZExt, bits, ScalarType::I32),
                &[part],
            );
        }
        if at > 0 {
            let by =
                e.b.make_literal(ScalarLiteral::from_i32(at as i32 * bits.width() as i32));
            part = e.b.apply_operator(
                ScalarOperator::with_type(ScalarOp::Shl, ScalarType::I32),
                &[part, by],
            );
        }
        word = Some(match word {
            None => part,
            Some(word) => e.b.apply_operator(
                ScalarOperator::with_type(ScalarOp::Or, ScalarType::I32),
                &[word, part],
            ),
        });
    }
    word.unwrap_or_else(|| e.b.make_literal(ScalarLiteral::from_i32(0)))
}

impl DispatchLowering<'_> {
    /// Makes the runs of each tile that an invocation copies.
    pub(super) fn make_copies(&mut self) {
        for at in 0..self.staged().len() {
            let runs = self.tile_runs(at);
            self.copies.push(runs);
        }
    }

    /// The runs of a tile that an invocation copies.
    fn tile_runs(&mut self, at: usize) -> Vec<TileCopyRun> {
        let staged = &self.staged()[at];
        let count = 16 / staged.ty.size() as i64;
        let sizes: Vec<i64> = staged.tiles.iter().map(|t| self.tile_size(*t)).collect();
        let total: i64 = sizes.iter().product::<i64>() / count;
        let across = self.nest.workgroup_size().iter().product::<u64>() as i64;
        let memory = self.e.sources.get(&self.staged_value(at)).copied();
        let (Some(local), Some(TensorStorage::Memory(memory))) = (self.local, memory) else {
            return Vec::new();
        };
        let mut runs = Vec::new();
        for round in 0..(total + across - 1) / across {
            let mut number = AffineSum::from_node(&self.e.body, local);
            number.constant += round * across;
            let run = number.clone().into_node(&mut self.e.body);
            let limit = self.e.body.intern_i64(total);
            let inside = self.e.body.apply_op(ScalarOp::SLt, &[run, limit]);
            let mut elements = Vec::new();
            let mut first = Vec::new();
            for lane in 0..count {
                let mut element = AffineSum::from_constant(lane);
                element.add_scaled(&number, count);
                let element = element.into_node(&mut self.e.body);
                let position = unflatten_index(&mut self.e.body, element, &sizes);
                elements.push(self.tile_value(at, &position));
                if lane == 0 {
                    first = position;
                }
            }
            let mut body = std::mem::take(&mut self.e.body);
            let to = self.element_place(&mut body, staged, &first);
            self.e.body = body;
            let to = self.in_round(at, to);
            let words = self.e.body.intern_i64(count / WORDS as i64);
            let lower = (staged.parts > 1).then(|| {
                let size = self.tile_elements(staged);
                let size = self.e.body.intern_i64(size);
                let lower = self.e.body.apply_op(ScalarOp::Add, &[to, size]);
                self.e.body.apply_op(ScalarOp::SDiv, &[lower, words])
            });
            let to = self.e.body.apply_op(ScalarOp::SDiv, &[to, words]);
            let from = self.find_copy_source(at, &first, &elements);
            let b = &mut self.e.b;
            let held = (0..staged.parts as usize * WORDS)
                .map(|_| b.declare_var("ahead", VariableType::Scalar(ScalarType::I32), false));
            let held = held.collect();
            runs.push(TileCopyRun {
                inside,
                to,
                lower,
                memory,
                from,
                held,
            });
        }
        runs
    }

    /// A place in the copy of a tile that is fetched into.
    fn in_round(&mut self, at: usize, place: ScalarNode) -> ScalarNode {
        let Some(ahead) = self.ahead().filter(|_| self.has_double_buffers()) else {
            return place;
        };
        let ahead = self.loop_counter(ahead);
        self.in_copy(at, place, ahead)
    }

    /// Whether there are two copies of each tile, for fragments.
    pub(super) fn has_double_buffers(&self) -> bool {
        let buffers = self.matmul().map_or(1, |matmul| matmul.buffers);
        buffers > 1 && self.ahead().is_some()
    }

    /// A place in the copy of a tile that an iteration uses.
    pub(super) fn in_copy(
        &mut self,
        at: usize,
        place: ScalarNode,
        round: ScalarNode,
    ) -> ScalarNode {
        let staged = &self.staged()[at];
        let size = staged.parts as i64 * self.tile_elements(staged);
        let body = &mut self.e.body;
        let (two, size) = (body.intern_i64(2), body.intern_i64(size));
        let copy = body.apply_op(ScalarOp::SMod, &[round, two]);
        let first = body.apply_op(ScalarOp::Mul, &[copy, size]);
        body.apply_op(ScalarOp::Add, &[first, place])
    }

    /// The source of a run of elements.
    fn find_copy_source(
        &mut self,
        at: usize,
        first: &[ScalarNode],
        elements: &[GuardedNode],
    ) -> TileCopySource {
        let count = elements.len() as i64;
        let ty = self.e.body.ty(elements[0].value);
        if let Some((memory, index)) = self.match_consecutive(elements, count)
            && self.ends_even(at, first, count)
        {
            let body = &mut self.e.body;
            let words = body.intern_i64(4 / ty.size() as i64);
            return TileCopySource::Words {
                memory,
                at: body.apply_op(ScalarOp::SDiv, &[index, words]),
                condition: elements[0].inside,
            };
        }
        let body = &mut self.e.body;
        let zero = body.intern_literal(ScalarLiteral::new(ty, 0));
        let each = elements.iter();
        let each = each.map(|e| body.apply_op(ScalarOp::Cond, &[e.inside, e.value, zero]));
        TileCopySource::Elements(each.collect())
    }

    /// The memory and first index of contiguous values that begin at a multiple of their number.
    fn match_consecutive(
        &self,
        elements: &[GuardedNode],
        count: i64,
    ) -> Option<(VarId, ScalarNode)> {
        let body = &self.e.body;
        let element = |node: ScalarNode| match body.node(node) {
            NodeData::Element(value, position) => Some((*value, *position.first()?)),
            _ => None,
        };
        let (value, index) = element(elements[0].value)?;
        let start = AffineSum::from_node(body, index);
        if !is_multiple(&start, count) {
            return None;
        }
        for (lane, own) in elements.iter().enumerate() {
            let (other, at) = element(own.value)?;
            let mut expected = start.clone();
            expected.constant += lane as i64;
            if other != value || AffineSum::from_node(body, at) != expected {
                return None;
            }
        }
        match self.e.sources.get(&value) {
            Some(TensorStorage::Memory(memory)) => Some((*memory, index)),
            _ => None,
        }
    }

    /// Whether no run extends beyond the space.
    fn ends_even(&self, at: usize, first: &[ScalarNode], count: i64) -> bool {
        let staged = &self.staged()[at];
        let (Some(tile), Some(first)) = (staged.tiles.last(), first.last()) else {
            return false;
        };
        let tile = &self.nest.tiles[*tile];
        let is_aligned = is_multiple(&AffineSum::from_node(&self.e.body, *first), count);
        let is_whole = tile.place_count() % count == 0 || self.has_room(at, count);
        is_aligned && is_whole && tile.size as i64 % count == 0
    }

    /// Whether rows of the tensor that a tile is read from extend beyond the space by the rest of a run. Rows and
    /// columns of a product that are outside the space are not used, so they may be anything.
    fn has_room(&self, at: usize, count: i64) -> bool {
        let staged = &self.staged()[at];
        let body = &self.nest.op.body;
        let (Some(number), Some(matmul)) = (staged.tiles.last(), self.matmul()) else {
            return false;
        };
        let tile = &self.nest.tiles[*number];
        let (NodeData::Element(value, position), [axis]) = (body.node(staged.node), &tile.axes[..])
        else {
            return false;
        };
        let last = position.last().and_then(|n| body.as_index(*n));
        let row = self.function.ty(*value).shape.last();
        let row = row.and_then(|dim| dim.as_static()).unwrap_or(0);
        let wanted = (tile.place_count() as u64).next_multiple_of(count as u64);
        *number != matmul.tiles[2] && last == Some(*axis as u32) && row >= wanted
    }

    /// Copies a tile at once.
    pub(super) fn copy_tile(&mut self, at: usize) {
        let copies = std::mem::take(&mut self.copies);
        for run in &copies[at] {
            run.fetch_to_registers(&mut self.e);
            run.commit_registers(&mut self.e);
        }
        self.copies = copies;
    }

    /// Reads the tiles of an iteration into registers, where there is such an iteration.
    pub(super) fn fetch_runs(&mut self, round: PrefetchRound) {
        let copies = std::mem::take(&mut self.copies);
        self.at_round(round, |e| {
            copies
                .iter()
                .flatten()
                .for_each(|run| run.fetch_to_registers(e));
        });
        self.copies = copies;
    }

    /// Writes the tiles that were fetched for an iteration into the workgroup's memory, where there is such an
    /// iteration.
    pub(super) fn commit_runs(&mut self, round: PrefetchRound) {
        let copies = std::mem::take(&mut self.copies);
        self.at_round(round, |e| {
            copies
                .iter()
                .flatten()
                .for_each(|run| run.commit_registers(e));
        });
        self.copies = copies;
    }
}

/// Whether every term is a multiple of a number.
pub(super) fn is_multiple(sum: &AffineSum, of: i64) -> bool {
    sum.constant % of == 0 && sum.terms.iter().all(|(_, factor)| factor % of == 0)
}
