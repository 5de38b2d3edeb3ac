//! Tile staging: tiles of operands in the workgroup's memory.
//!
//! Of `n` invocations, invocation `i` writes the elements `i`, `i + n`, … of a tile. It writes them at once, or it
//! fetches them into registers and writes them when the tile before is not needed any more.

use super::super::element_write::ElementWrite;
use super::super::node_emitter::{NodeEmitter, TensorStorage};
use super::{DispatchLowering, conjoin_conditions};
use crate::ir::{
    AffineSum, DimExtent, NodeData, NodeGraph, ScalarNode, TensorValue, unflatten_index,
};
use crate::schedule::{PrefetchRound, StagedNode};
use spirula_kernel::ir::{MemorySpace, StmtKind, VarId, VariableType};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};

/// The elements of a tile that an invocation writes.
pub(super) struct TileWrites {
    pub places: Vec<ElementWrite>,
    /// Registers for them, where they are fetched ahead.
    held: Vec<VarId>,
}

/// A node that has a value where a condition holds.
pub(super) struct GuardedNode {
    pub inside: ScalarNode,
    pub value: ScalarNode,
}

impl DispatchLowering<'_> {
    /// The value that stands for a staged tile. These values are numbered after those of the function.
    pub(super) fn staged_value(&self, at: usize) -> TensorValue {
        TensorValue::new(self.function.value_count() + at)
    }

    /// Declares memory of the workgroup, for `count` elements.
    pub(super) fn declare_shared(&mut self, ty: ScalarType, count: i64) -> VarId {
        let to = self
            .e
            .b
            .declare_var("tile", VariableType::Memory(MemorySpace::Shared), false);
        let bytes = self.e.b.make_i64(count * ty.size() as i64);
        self.e.b.push_statement(StmtKind::Alloc { to, bytes });
        to
    }

    /// Reads of the workgroup's memory in place of staged nodes.
    pub(super) fn staged_reads(&self, template: &mut NodeGraph) -> Vec<ScalarNode> {
        let mut reads = Vec::new();
        for (at, staged) in self.staged().iter().enumerate() {
            let points = &self.nest.points;
            let locals = staged.layout.iter().map(|tile| {
                let local = self.nest.tiles[*tile].local;
                template.import_nodes(points, &[local], |_, _, _| None)[0]
            });
            let locals: Vec<ScalarNode> = locals.collect();
            let flat = self.element_place(template, staged, &locals);
            reads.push(template.intern_element(self.staged_value(at), staged.ty, &[flat]));
        }
        reads
    }

    /// The place of an element in memory, from its places in the tiles in the order of the layout.
    pub(super) fn element_place(
        &self,
        body: &mut NodeGraph,
        staged: &StagedNode,
        locals: &[ScalarNode],
    ) -> ScalarNode {
        let mut flat = AffineSum::default();
        for (at, (tile, local)) in staged.layout.iter().zip(locals).enumerate() {
            let mut next = AffineSum::default();
            next.add_scaled(&flat, self.tile_stride(staged, at, *tile));
            next.add_scaled(&AffineSum::from_node(body, *local), 1);
            flat = next;
        }
        flat.into_node(body)
    }

    /// Distance in elements from one place of the tile before a tile of a layout to the next.
    fn tile_stride(&self, staged: &StagedNode, at: usize, tile: usize) -> i64 {
        let is_last = at + 1 == staged.layout.len();
        let padding = if is_last { staged.padding as i64 } else { 0 };
        self.tile_size(tile) + padding
    }

    /// Distance in elements from one row of the fastest tile to the next.
    pub(super) fn row_pitch(&self, staged: &StagedNode) -> i64 {
        let last = staged.layout.len() - 1;
        self.tile_stride(staged, last, staged.layout[last])
    }

    /// Number of elements that a staged tile takes.
    pub(super) fn tile_elements(&self, staged: &StagedNode) -> i64 {
        let rows = staged.layout.iter().enumerate();
        rows.map(|(at, tile)| self.tile_stride(staged, at, *tile))
            .product()
    }

    /// Makes the writes of each tile by an invocation.
    pub(super) fn make_stages(&mut self) {
        for (at, staged) in self.staged().iter().enumerate() {
            let places = self.tile_places(at);
            let held = match self.ahead() {
                Some(_) => {
                    let b = &mut self.e.b;
                    let each = places.iter();
                    each.map(|_| b.declare_var("ahead", VariableType::Scalar(staged.ty), false))
                        .collect()
                }
                None => Vec::new(),
            };
            self.stages.push(TileWrites { places, held });
        }
    }

    /// The elements of a tile that an invocation writes.
    fn tile_places(&mut self, at: usize) -> Vec<ElementWrite> {
        let staged = &self.staged()[at];
        let sizes: Vec<i64> = staged.tiles.iter().map(|t| self.tile_size(*t)).collect();
        let total: i64 = sizes.iter().product();
        let across: i64 = self.nest.workgroup_size().iter().product::<u64>() as i64;
        let memory = self.e.sources.get(&self.staged_value(at)).copied();
        let (Some(local), Some(TensorStorage::Memory(memory))) = (self.local, memory) else {
            return Vec::new();
        };
        let mut places = Vec::new();
        for round in 0..(total + across - 1) / across {
            let mut element = AffineSum::from_node(&self.e.body, local);
            element.constant += round * across;
            let element = element.into_node(&mut self.e.body);
            let limit = self.e.body.intern_i64(total);
            let is_in = self.e.body.apply_op(ScalarOp::SLt, &[element, limit]);
            let position = unflatten_index(&mut self.e.body, element, &sizes);
            let by_tile = |tile: &usize| staged.tiles.iter().position(|t| t == tile);
            let kept = staged.layout.iter().filter_map(by_tile);
            let kept: Vec<ScalarNode> = kept.map(|at| position[at]).collect();
            let mut body = std::mem::take(&mut self.e.body);
            let to = self.element_place(&mut body, staged, &kept);
            self.e.body = body;
            places.push(ElementWrite {
                value: self.tile_element(at, &position),
                memory,
                inside: is_in,
                at: to,
                combiner: None,
                contended: false,
                alone: false,
            });
        }
        places
    }

    /// The value of an element of a tile; 0 outside of the space.
    fn tile_element(&mut self, at: usize, position: &[ScalarNode]) -> ScalarNode {
        let ty = self.staged()[at].ty;
        let GuardedNode { inside, value } = self.tile_value(at, position);
        let zero = self.e.body.intern_literal(ScalarLiteral::new(ty, 0));
        self.e.body.apply_op(ScalarOp::Cond, &[inside, value, zero])
    }

    /// The value of an element of a tile, and whether it is inside of the space.
    pub(super) fn tile_value(&mut self, at: usize, position: &[ScalarNode]) -> GuardedNode {
        let nest = self.nest;
        let staged = &self.staged()[at];
        let points = &nest.points;
        let prefetch = self.plan.staging().and_then(|staging| staging.prefetch);
        let round = |body: &mut NodeGraph, _: ScalarNode, data: &NodeData| match (data, prefetch) {
            (NodeData::Counter(number), Some(loops)) if *number == loops.current => {
                let extent = nest.loop_extent(loops.ahead);
                Some(body.intern_counter(loops.ahead, DimExtent::Static(extent)))
            }
            _ => None,
        };
        let body = &mut self.e.body;
        let mut indices = body.import_nodes(points, &nest.indices, round);
        let mut inside = Vec::new();
        for (tile, local) in staged.tiles.iter().zip(position) {
            let tile = &nest.tiles[*tile];
            let base = body.import_nodes(points, &[tile.base], round)[0];
            let flat = body.apply_op(ScalarOp::Add, &[base, *local]);
            let total = body.intern_i64(tile.place_count());
            inside.push(body.apply_op(ScalarOp::SLt, &[flat, total]));
            let position = unflatten_index(body, flat, &tile.extents);
            for (axis, index) in tile.axes.iter().zip(position) {
                indices[*axis] = index;
            }
        }
        let mut body = std::mem::take(&mut self.e.body);
        let value = self.schedule_nodes(&mut body, &[staged.node], &indices, &[])[0];
        let inside = conjoin_conditions(&mut body, &inside);
        self.e.body = body;
        GuardedNode { inside, value }
    }

    /// Writes a tile at once.
    pub(super) fn stage_tile(&mut self, at: usize) {
        let places = &self.stages[at].places;
        if self
            .plan
            .staging()
            .is_some_and(|staging| staging.reads_first)
        {
            // All reads are issued before the first is waited for.
            let values: Vec<ScalarNode> = places.iter().map(|p| p.value).collect();
            self.e.emit_nodes(&values);
        }
        places.iter().for_each(|p| p.write_guarded(&mut self.e));
    }

    /// Emits code for the tiles of an iteration, if there is such an iteration.
    pub(super) fn at_round(
        &mut self,
        round: PrefetchRound,
        inner: impl FnOnce(&mut NodeEmitter<'_>),
    ) {
        let Some(loops) = self.plan.staging().and_then(|staging| staging.prefetch) else {
            return;
        };
        let rounds = self.nest.loop_extent(loops.current) as i64;
        let (ahead, current) = (
            self.loop_counter(loops.ahead),
            self.loop_counter(loops.current),
        );
        let body = &mut self.e.body;
        let number = match round {
            PrefetchRound::First => body.intern_i64(0),
            PrefetchRound::Next => {
                let one = body.intern_i64(1);
                body.apply_op(ScalarOp::Add, &[current, one])
            }
        };
        let limit = body.intern_i64(rounds);
        let exists = body.apply_op(ScalarOp::SLt, &[number, limit]);
        let numbered = |e: &mut NodeEmitter<'_>| {
            let ty = e.computed_type(ahead);
            let value = e.emit_as(number, ty);
            e.set_value(ahead, value);
            inner(e);
        };
        // Values of one iteration are not those of another.
        self.e.emit_in_scope(|e| e.emit_if(exists, numbered));
    }

    /// Reads the tiles of an iteration into registers, where there is such an iteration.
    pub(super) fn fetch_tiles(&mut self, round: PrefetchRound) {
        let stages = std::mem::take(&mut self.stages);
        self.at_round(round, |e| {
            for stage in &stages {
                for (place, held) in stage.places.iter().zip(&stage.held) {
                    e.emit_if(place.inside, |e| {
                        let value = e.emit_nodes(&[place.value])[0];
                        e.b.push_assignment(*held, value);
                    });
                }
            }
        });
        self.stages = stages;
    }

    /// Writes the tiles that were fetched into the workgroup's memory.
    pub(super) fn commit_tiles(&mut self) {
        let stages = std::mem::take(&mut self.stages);
        for stage in &stages {
            for (place, held) in stage.places.iter().zip(&stage.held) {
                place.write_held(&mut self.e, *held);
            }
        }
        self.stages = stages;
    }
}
