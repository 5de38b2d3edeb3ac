//! Fragments: products of matrices by subgroups.

use super::super::node_emitter::TensorStorage;
use super::DispatchLowering;
use crate::ir::{AffineSum, NodeData, ScalarNode, unflatten_index};
use crate::schedule::{FragmentSource, SubgroupMatmul, match_matrix_operand};
use spirula_kernel::ir::{
    FragmentAddress, FragmentElement, FragmentOp, FragmentOrder, FragmentRole, FragmentType,
    MemoryElement, StmtKind, VarId, VariableType,
};
use spirula_program::{ScalarOp, ScalarType};

/// Number of elements of a vector of 16 bytes, of the type of sums.
const VECTOR: usize = 4;

/// The product of factors that have one part.
const WHOLE_PRODUCTS: &[[u64; 2]] = &[[0, 0]];
/// The products of two parts of both factors, 0 for the upper and 1 for the lower part. Each has a part in common with the
/// product before.
const PART_PRODUCTS: &[[u64; 2]] = &[[1, 0], [0, 0], [0, 1]];

/// The fragments of a subgroup.
#[derive(Default)]
pub(super) struct SubgroupFragments {
    /// Sums, row by row.
    sums: Vec<VarId>,
    left: Vec<VarId>,
    right: Vec<VarId>,
    /// Memory that sums are spilled to, a fragment for each subgroup.
    spilled: Option<VarId>,
}

impl DispatchLowering<'_> {
    /// Declares the fragments of a subgroup.
    pub(super) fn declare_fragments(&mut self, matrix: &SubgroupMatmul) {
        let [m, n, k] = matrix.shape.size;
        let [down, across] = matrix.counts;
        let mut declare = |name: &str,
                           number: FragmentElement,
                           role: FragmentRole,
                           size: [u32; 2],
                           count: u64| {
            let ty = VariableType::Fragment(FragmentType {
                number,
                role,
                rows: size[0],
                columns: size[1],
            });
            let each = 0..count;
            let each = each.map(|_| self.e.b.declare_var(name, ty, false));
            each.collect::<Vec<VarId>>()
        };
        let [left, right] = matrix.shape.factors;
        let sums = declare(
            "sums",
            matrix.shape.sum,
            FragmentRole::Sum,
            [m, n],
            down * across,
        );
        let left = declare("left", left, FragmentRole::Left, [m, k], down);
        let right = declare("right", right, FragmentRole::Right, [k, n], across);
        let subgroups: u64 = matrix.grid.iter().product();
        let ty = matrix.shape.sum.storage_type();
        let spilled = self.declare_shared(ty, (subgroups * u64::from(m * n)) as i64);
        self.fragments = SubgroupFragments {
            sums,
            left,
            right,
            spilled: Some(spilled),
        };
    }

    fn push_fragment_op(&mut self, op: FragmentOp) {
        self.e.b.push_statement(StmtKind::Fragment(Box::new(op)));
    }

    pub(super) fn clear_fragments(&mut self) {
        for sum in self.fragments.sums.clone() {
            self.push_fragment_op(FragmentOp::Clear(sum));
        }
    }

    /// Loads the fragments of an iteration's tiles and adds their products.
    pub(super) fn multiply_fragments(&mut self) {
        let Some(matrix) = self.matmul() else {
            return;
        };
        let left = self.fragments.left.clone();
        let right = self.fragments.right.clone();
        let sums = self.fragments.sums.clone();
        let products = if matrix.parts > 1 {
            PART_PRODUCTS
        } else {
            WHOLE_PRODUCTS
        };
        for step in 0..matrix.depth {
            let mut loaded = [None; 2];
            for parts in products {
                for (side, vars) in [&left, &right].into_iter().enumerate() {
                    let part = parts[side];
                    if loaded[side] != Some(part) {
                        for (at, var) in vars.iter().enumerate() {
                            self.load_fragment(matrix, side, part, *var, at as u64, step);
                        }
                        loaded[side] = Some(part);
                    }
                }
                for (row, a) in left.iter().enumerate() {
                    for (column, b) in right.iter().enumerate() {
                        let to = sums[row * right.len() + column];
                        let factors = [*a, *b];
                        self.push_fragment_op(FragmentOp::Accumulate { to, factors });
                    }
                }
            }
        }
    }

    /// Loads a fragment of a factor from the device's memory.
    fn load_from_memory(&mut self, matrix: &SubgroupMatmul, side: usize, to: VarId) {
        let nest = self.nest;
        let factor = matrix.factors[side];
        let steps = matrix.tiles[2];
        let kinds = [matrix.tiles[side], steps].map(|tile| &nest.tiles[tile].axes[..]);
        let Some(operand) = match_matrix_operand(self.function, &nest.op, factor, kinds) else {
            return;
        };
        let Some(TensorStorage::Memory(memory)) = self.e.sources.get(&operand.value).copied()
        else {
            return;
        };
        let body = &mut self.e.body;
        let mut indices = body.import_nodes(&nest.points, &nest.indices, |_, _, _| None);
        for tile in [matrix.tiles[side], steps] {
            let tile = &nest.tiles[tile];
            let base = body.import_nodes(&nest.points, &[tile.base], |_, _, _| None)[0];
            let first = unflatten_index(body, base, &tile.extents);
            for (axis, index) in tile.axes.iter().zip(first) {
                indices[*axis] = index;
            }
        }
        let mut body = std::mem::take(&mut self.e.body);
        let element = self.schedule_nodes(&mut body, &[operand.element], &indices, &[])[0];
        self.e.body = body;
        let place = match self.e.body.node(element) {
            NodeData::Element(_, position) => position.first().copied(),
            _ => None,
        };
        let zero = self.e.body.intern_i64(0);
        let index = self.e.emit_nodes(&[place.unwrap_or(zero)])[0];
        // The first factor's rows are those of its tile, the second's are points of the reduction.
        let [own, along] = operand.strides;
        let (order, stride) = match (side == 0, along == 1) {
            (true, true) => (FragmentOrder::Rows, own),
            (true, false) => (FragmentOrder::Columns, along),
            (false, true) if own != 1 => (FragmentOrder::Columns, own),
            (false, _) => (FragmentOrder::Rows, along),
        };
        let from = FragmentAddress {
            first: element_of(memory, nest.op.body.ty(operand.element), index),
            order,
            stride: self.e.b.make_i64(stride as i64),
        };
        self.push_fragment_op(FragmentOp::Load { to, from });
    }

    /// Loads fragment `at` of a subgroup, at `step` along the reduction, of the part `number` of a factor.
    fn load_fragment(
        &mut self,
        matrix: &SubgroupMatmul,
        side: usize,
        number: u64,
        to: VarId,
        at: u64,
        step: u64,
    ) {
        if matrix.source == FragmentSource::InMemory {
            return self.load_from_memory(matrix, side, to);
        }
        let staged = &self.staged()[side];
        let memory = match self.e.sources.get(&self.staged_value(side)) {
            Some(TensorStorage::Memory(memory)) => *memory,
            _ => return,
        };
        let size = u64::from(matrix.shape.size[side]);
        let along = step * u64::from(matrix.shape.size[2]);
        let across = self.subgroup_share(matrix, side);
        let body = &mut self.e.body;
        let part = body.intern_i64((matrix.counts[side] * size) as i64);
        let first = body.apply_op(ScalarOp::Mul, &[across, part]);
        let offset = body.intern_i64((at * size) as i64);
        let first = body.apply_op(ScalarOp::Add, &[first, offset]);
        let along = body.intern_i64(along as i64);
        let steps = matrix.tiles[2];
        let locals = staged.tiles.iter();
        let locals = locals.map(|tile| if *tile == steps { along } else { first });
        let locals: Vec<ScalarNode> = locals.collect();
        let mut body = std::mem::take(&mut self.e.body);
        let mut place = self.element_place(&mut body, staged, &locals);
        self.e.body = body;
        let prefetch = self.plan.staging().and_then(|staging| staging.prefetch);
        if let Some(loops) = prefetch.filter(|_| self.has_double_buffers()) {
            let current = self.loop_counter(loops.current);
            place = self.in_copy(side, place, current);
        }
        if number > 0 {
            let size = self.tile_elements(staged);
            let body = &mut self.e.body;
            let first = body.intern_i64(number as i64 * size);
            place = body.apply_op(ScalarOp::Add, &[place, first]);
        }
        // The first factor's rows are those of its tile, the second's are points of the reduction.
        let is_fold_last = staged.tiles.last() == Some(&steps);
        let order = if is_fold_last == (side == 0) {
            FragmentOrder::Rows
        } else {
            FragmentOrder::Columns
        };
        let (ty, stride) = (staged.ty, self.row_pitch(staged));
        let from = FragmentAddress {
            first: MemoryElement {
                memory,
                ty,
                index: self.e.emit_nodes(&[place])[0],
                volatile: false,
            },
            order,
            stride: self.e.b.make_i64(stride),
        };
        self.push_fragment_op(FragmentOp::Load { to, from });
    }

    /// The number of the part of a tile's rows, or columns, that the subgroup has.
    fn subgroup_share(&mut self, matrix: &SubgroupMatmul, side: usize) -> ScalarNode {
        let subgroup = self.loop_counter(matrix.loops[0]);
        let body = &mut self.e.body;
        let across = body.intern_i64(matrix.grid[1] as i64);
        let op = if side == 0 {
            ScalarOp::SDiv
        } else {
            ScalarOp::SMod
        };
        body.apply_op(op, &[subgroup, across])
    }

    /// Moves the sums of this iteration's fragment to the accumulators of its points.
    pub(super) fn spill_fragment(&mut self) {
        let Some(matrix) = self.matmul() else {
            return;
        };
        let Some(memory) = self.fragments.spilled else {
            return;
        };
        let [_, lane, down, across] = matrix.loops;
        let round = |number: u32| self.rounds[number as usize] as usize;
        let sum = self.fragments.sums[round(down) * matrix.counts[1] as usize + round(across)];
        let [m, n, _] = matrix.shape.size.map(i64::from);
        let (subgroup, lane) = (self.loop_counter(matrix.loops[0]), self.loop_counter(lane));
        let body = &mut self.e.body;
        let (size, points) = (
            body.intern_i64(m * n),
            body.intern_i64(matrix.points as i64),
        );
        let base = body.apply_op(ScalarOp::Mul, &[subgroup, size]);
        let own = body.apply_op(ScalarOp::Mul, &[lane, points]);
        let own = body.apply_op(ScalarOp::Add, &[base, own]);
        let ty = matrix.shape.sum.storage_type();
        let index = self.e.emit_nodes(&[base])[0];
        let to = FragmentAddress {
            first: element_of(memory, ty, index),
            order: FragmentOrder::Rows,
            stride: self.e.b.make_i64(n),
        };
        self.push_fragment_op(FragmentOp::Store { to, from: sum });
        self.emit_barrier();
        if matrix.source == FragmentSource::InMemory {
            return;
        }
        let accumulators: Vec<VarId> = self.leaves.iter().map(|l| l.accumulators[0]).collect();
        for (at, vars) in accumulators.chunks(VECTOR).enumerate() {
            let body = &mut self.e.body;
            let offset = body.intern_i64((at * VECTOR) as i64);
            let first = body.apply_op(ScalarOp::Add, &[own, offset]);
            let index = self.e.emit_nodes(&[first])[0];
            let from = element_of(memory, ty, index);
            match *vars {
                [to] => self.e.b.push_statement(StmtKind::Read { to, from }),
                _ => {
                    let to = vars.into();
                    self.e.b.push_statement(StmtKind::ReadVector { to, from });
                }
            }
        }
        self.emit_barrier();
    }

    /// Moves sums of a spilled fragment to the accumulators of this row's points.
    pub(super) fn take_row_sums(&mut self) {
        let (Some(matrix), Some(memory)) = (self.matmul(), self.fragments.spilled) else {
            return;
        };
        let [_, lane, row, _] = matrix.loops;
        let lanes = self.nest.loops[lane as usize].extent as i64;
        let (lane, row) = (self.loop_counter(lane), self.loop_counter(row));
        let columns = i64::from(matrix.shape.size[1]);
        let mut first = AffineSum::from_node(&self.e.body, lane);
        first.add_scaled(&AffineSum::from_node(&self.e.body, row), columns);
        for at in 0..self.leaves.len() {
            let to = self.leaves[at].accumulators[0];
            let mut place = first.clone();
            place.constant += at as i64 * lanes;
            let place = place.into_node(&mut self.e.body);
            let index = self.e.emit_nodes(&[place])[0];
            let from = element_of(memory, ScalarType::F32, index);
            self.e.b.push_statement(StmtKind::Read { to, from });
        }
    }
}

fn element_of(memory: VarId, ty: ScalarType, index: spirula_kernel::ir::ExprId) -> MemoryElement {
    MemoryElement {
        memory,
        ty,
        index,
        volatile: false,
    }
}
