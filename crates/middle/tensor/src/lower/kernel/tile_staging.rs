//! Tiles in the workgroup's memory.
//!
//! Each invocation writes every so-many-th element of a tile: at once, or first into registers and,
//! when the tile before is not needed any more, from there.

use super::super::node_emitter::{NodeEmitter, TensorStorage};
use super::super::element_write::ElementWrite;
use super::DispatchLowering;
use crate::ir::{AffineSum, NodeGraph, ScalarNode, TensorValue, unflatten_index};
use crate::schedule::{PrefetchRound, StagedNode};
use spirula_kernel::ir::{MemorySpace, StmtKind, VarId, VariableType};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};

/// The elements of a tile that an invocation writes.
pub(super) struct TileWrites {
    pub places: Vec<ElementWrite>,
    /// Registers for them, where they are fetched ahead.
    held: Vec<VarId>,
}

impl DispatchLowering<'_> {
    /// The value that stands for staged memory: numbered after those of the function.
    pub(super) fn staged_value(&self, at: usize) -> TensorValue {
        TensorValue::new(self.function.value_count() + at)
    }

    /// Memory of the workgroup.
    pub(super) fn declare_shared(&mut self, ty: ScalarType, count: i64) -> VarId {
        let to = self
            .e
            .b
            .declare_var("tile", VariableType::Memory(MemorySpace::Shared), false);
        let bytes = self.e.b.make_i64(count * ty.size() as i64);
        self.e.b.push_statement(StmtKind::Alloc { to, bytes });
        to
    }

    /// Reads of the workgroup's memory in place of promoted nodes.
    pub(super) fn staged_reads(&self, template: &mut NodeGraph) -> Vec<ScalarNode> {
        let mut reads = Vec::new();
        for (at, staged) in self.dispatch.staged.iter().enumerate() {
            let points = &self.dispatch.points;
            let locals = staged.layout.iter().map(|tile| {
                let local = self.dispatch.tiles[*tile].local;
                template.import_nodes(points, &[local], |_, _, _| None)[0]
            });
            let locals: Vec<ScalarNode> = locals.collect();
            let flat = self.kept_at(template, staged, &locals);
            reads.push(template.intern_element(self.staged_value(at), staged.ty, &[flat]));
        }
        reads
    }

    /// Where an element is kept, from its places in the tiles in the order of the layout.
    pub(super) fn kept_at(
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

    /// Elements from one place in a tile of a layout to the next in the tile before.
    fn tile_stride(&self, staged: &StagedNode, at: usize, tile: usize) -> i64 {
        let is_last = at + 1 == staged.layout.len();
        let padding = if is_last { staged.padding as i64 } else { 0 };
        self.tile_size(tile) + padding
    }

    /// Elements from one row of the fastest tile to the next.
    pub(super) fn row_pitch(&self, staged: &StagedNode) -> i64 {
        let last = staged.layout.len() - 1;
        self.tile_stride(staged, last, staged.layout[last])
    }

    /// Elements that what is staged takes.
    pub(super) fn kept_size(&self, staged: &StagedNode) -> i64 {
        let rows = staged.layout.iter().enumerate();
        rows.map(|(at, tile)| self.tile_stride(staged, at, *tile))
            .product()
    }

    /// Finds out what each invocation writes of each tile.
    pub(super) fn make_stages(&mut self) {
        for (at, staged) in self.dispatch.staged.iter().enumerate() {
            let places = self.tile_places(at);
            let held = match self.dispatch.ahead {
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

    /// Every so-many-th element of a tile.
    fn tile_places(&mut self, at: usize) -> Vec<ElementWrite> {
        let staged = &self.dispatch.staged[at];
        let sizes: Vec<i64> = staged.tiles.iter().map(|t| self.tile_size(*t)).collect();
        let total: i64 = sizes.iter().product();
        let across: i64 = self.dispatch.workgroup_size().iter().product::<u64>() as i64;
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
            let to = self.kept_at(&mut body, staged, &kept);
            self.e.body = body;
            places.push(ElementWrite {
                value: self.tile_element(at, &position),
                memory,
                inside: is_in,
                at: to,
                combiner: None,
                contended: false,
            });
        }
        places
    }

    /// The value of an element of a tile, 0 outside of the space.
    fn tile_element(&mut self, at: usize, position: &[ScalarNode]) -> ScalarNode {
        let ty = self.dispatch.staged[at].ty;
        let (inside, value) = self.tile_value(at, position);
        let zero = self.e.body.intern_literal(ScalarLiteral::new(ty, 0));
        self.e.body.apply_op(ScalarOp::Cond, &[inside, value, zero])
    }

    /// Does something for a round of tiles, the first or the one after this, if there is such a round.
    pub(super) fn at_round(
        &mut self,
        round: PrefetchRound,
        inner: impl FnOnce(&mut NodeEmitter<'_>),
    ) {
        let (Some(ahead), Some(current)) = (self.dispatch.ahead, self.dispatch.step_loop) else {
            return;
        };
        let rounds = self.dispatch.loops[current as usize].extent as i64;
        let (ahead, current) = (self.loop_counter(ahead), self.loop_counter(current));
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
        // What was emitted for one round is not that of another.
        self.e.emit_in_scope(|e| e.emit_if(exists, numbered));
    }

    /// Reads the tiles of a round into registers, where there is such a round.
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

    /// Writes what was fetched into the workgroup's memory.
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
