//! Subgroup matmul strategy: products of narrow numbers by the matrix units of a device.
//!
//! Products of `f32` in reduced precision are products of parts. Each factor is the sum of two `bf16`, and three of the four
//! products of parts are added. See Henry, Tang, Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For
//! Higher-Precision Computations", 2019.
//!
//! The contraction is computed in tiles as others are, but the subgroups of a workgroup share a tile. Each has a part
//! of it as fragments (`spirula_kernel::ir::Fragment`). It loads the fragments of the factors from the workgroup's
//! memory and adds their products to sums that it keeps. At the end each sum is spilled to the workgroup's memory,
//! from where each invocation takes the points that it finishes as in any other schedule.

use crate::ir::{NodeGraph, ProductPrecision, ScalarNode, StructuredOp, unflatten_index};
use crate::schedule::dispatch::nest_loops;
use crate::schedule::distribute::{assign_loops, group_tile_rows};
use crate::schedule::promote::promote_factors;
use crate::schedule::tile_loops::{add_batch_loop, add_tile, sum_scaled_counters};
use crate::schedule::{
    AxisTile, ContractionAxes, DispatchStep, FragmentShape, FragmentSource, LoopMapping,
    MatrixProfile, SchedulePlan, ScheduleProfile, ScheduleRequest, StagingPlan, SubgroupMatmul,
    TensorLoopNest, match_contraction,
};
use spirula_kernel::ir::FragmentElement;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarType};

/// Fewest rows and columns of a tile of products in parts.
const LEAST_OF_PARTS: u64 = 64;

/// Fewest rows and columns of a product in parts.
const LEAST_SIDE_OF_PARTS: u64 = 128;

/// Points of sums that products in parts are quicker for, even if there are fewer of them.
const LONG_SUM: u64 = 512;

/// Points of the reduction of a tile below which its sides shrink where memory is short, and not its depth.
const LEAST_DEPTH: u64 = 32;

/// Whether an operation is a product that a device's subgroups compute.
pub(crate) fn is_matrix_product(op: &StructuredOp, profile: &ScheduleProfile) -> bool {
    MatmulTiles::from_op(&mut op.clone(), profile).is_some()
}

/// The tiles of such a product.
pub(crate) struct MatrixTiling {
    /// Number of tiles along rows and columns.
    pub counts: [u64; 2],
    /// Whether products are computed in parts.
    pub is_in_parts: bool,
}

/// The tiles of an operation, if it is such a product.
pub(crate) fn plan_matrix_tiling(
    op: &StructuredOp,
    profile: &ScheduleProfile,
) -> Option<MatrixTiling> {
    let tiles = MatmulTiles::from_op(&mut op.clone(), profile)?;
    Some(MatrixTiling {
        counts: tiles.counts(),
        is_in_parts: tiles.parts > 1,
    })
}

/// The tiles of a product by subgroups.
struct MatmulTiles {
    shape: FragmentShape,
    factors: [ScalarNode; 2],
    /// Number of parts of each factor.
    parts: u64,
    /// Numbers of rows, columns and points of the reduction.
    extents: [u64; 3],
    /// The same of a tile.
    tile: [u64; 3],
    /// Number of subgroups down and across a tile.
    grid: [u64; 2],
    /// Number of copies of each tile.
    buffers: u64,
}

impl MatmulTiles {
    /// The tiles of an operation, if it is such a product. Narrow factors may become new nodes of its body.
    fn from_op(op: &mut StructuredOp, profile: &ScheduleProfile) -> Option<MatmulTiles> {
        let matrices = profile.matrices?;
        let contraction = match_contraction(op)?;
        let initial = op.body.as_literal(op.reductions[0].initial[0])?;
        // Parts of reductions that are split begin with the neutral element of sums.
        let negative_zero = u64::from((-0.0f32).to_bits());
        let is_zero =
            initial.bits == 0 || initial.ty == ScalarType::F32 && initial.bits == negative_zero;
        let folds = op.axes.len() - op.parallel_rank();
        if !is_zero || contraction.steps.len() != folds {
            return None;
        }
        let sum = match initial.ty {
            ScalarType::F32 => FragmentElement::F32,
            ScalarType::I32 => FragmentElement::I32,
            _ => return None,
        };
        let MatmulFactors {
            nodes,
            types,
            parts,
        } = MatmulFactors::from_contraction(op, &contraction)?;
        let shape = matrices.choose_shape(types, sum)?;
        let total = |axes: &[usize]| op.count_static_points(axes.iter().copied());
        let extents = [
            total(&contraction.rows)?,
            total(&contraction.columns)?,
            total(&contraction.steps)?,
        ];
        let all = op.count_static_points(0..op.axes.len())?;
        let batches = all.checked_div(extents.iter().product())?;
        let least = shape.size.map(u64::from);
        let mut pairs = extents.iter().zip(least);
        if pairs.any(|(extent, least)| *extent < least) {
            return None;
        }
        let mut tiles = MatmulTiles {
            shape,
            factors: nodes,
            parts,
            extents,
            tile: matrices.tile,
            grid: matrices.grid,
            buffers: matrices.buffers,
        };
        tiles.shrink_to_fit(&matrices, batches, profile.busy);
        tiles.deepen_to_fit(&matrices);
        (parts == 1 || tiles.are_worth_parts(&matrices, batches, profile.busy)).then_some(tiles)
    }

    /// Number of tiles along rows and columns.
    fn counts(&self) -> [u64; 2] {
        [0, 1].map(|at| self.extents[at].div_ceil(self.tile[at]))
    }

    /// Shrinks tiles until there are enough of them, and they fit the memory.
    fn shrink_to_fit(&mut self, matrices: &MatrixProfile, batches: u64, busy: u64) {
        let mut least = self.shape.size.map(u64::from);
        for (at, least) in least.iter().enumerate() {
            let whole = self.extents[at].next_multiple_of(*least);
            self.tile[at] = self.tile[at].clamp(*least, whole.next_power_of_two());
        }
        self.tile[2] = self.tile[2].next_multiple_of(least[2]);
        if self.parts > 1 {
            least[0] = least[0].max(LEAST_OF_PARTS);
            least[1] = least[1].max(LEAST_OF_PARTS);
        }
        loop {
            let fragment = self.shape.size.map(u64::from);
            for (grid, (tile, size)) in self.grid.iter_mut().zip(self.tile.iter().zip(fragment)) {
                *grid = (*grid).min(tile / size).max(1);
            }
            let tiles = batches * self.counts().iter().product::<u64>();
            let is_large = self.memory_bytes() > matrices.memory;
            if !is_large && tiles >= busy {
                return;
            }
            let larger = usize::from(self.tile[1] >= self.tile[0]);
            let sides = [larger, 1 - larger];
            let side = sides.into_iter().find(|at| self.tile[*at] > least[*at]);
            match side {
                _ if is_large && self.tile[2] > LEAST_DEPTH.max(least[2]) => self.tile[2] /= 2,
                _ if is_large && self.buffers > 1 => self.buffers = 1,
                Some(at) if self.tile[at] > 2 * least[at] || is_large => self.tile[at] /= 2,
                _ => return,
            }
        }
    }

    /// Makes tiles as deep as the profile asks for, if there is memory again after sides have shrunk.
    fn deepen_to_fit(&mut self, matrices: &MatrixProfile) {
        while self.tile[2] * 2 <= matrices.tile[2] {
            self.tile[2] *= 2;
            if self.memory_bytes() > matrices.memory {
                self.tile[2] /= 2;
                return;
            }
        }
    }

    /// Whether tiles are so large, and results so many, that products of parts are quicker than products of `f32`. Sums cost
    /// the more at their end, the shorter they are. Parts of a factor cost the more, the fewer rows or columns use them.
    fn are_worth_parts(&self, matrices: &MatrixProfile, batches: u64, busy: u64) -> bool {
        let results = batches * self.extents[0] * self.extents[1];
        let whole_tiles = results.div_ceil(matrices.tile[0] * matrices.tile[1]);
        let enough = if self.extents[2] >= LONG_SUM {
            busy
        } else {
            busy + busy / 2
        };
        let is_wide = self.extents[0].min(self.extents[1]) >= LEAST_SIDE_OF_PARTS;
        is_wide && self.tile[0].min(self.tile[1]) >= LEAST_OF_PARTS && whole_tiles >= enough
    }

    /// Bytes of the workgroup's memory that tiles and spilled sums take.
    fn memory_bytes(&self) -> u64 {
        let sizes = self.shape.factors.map(|n| n.storage_type().size());
        let [rows, columns, depth] = self.tile;
        // A tile may be stored either way.
        let stored = |side: u64, size: u64| (side * depth * size) + side.max(depth) * 16;
        let tiles = self.parts * (stored(rows, sizes[0]) + stored(columns, sizes[1]));
        let [m, n, _] = self.shape.size.map(u64::from);
        self.buffers * tiles + self.grid[0] * self.grid[1] * m * n * 4
    }
}

/// The factors of a product that fragments hold.
struct MatmulFactors {
    nodes: [ScalarNode; 2],
    types: [FragmentElement; 2],
    /// Number of parts of each.
    parts: u64,
}

impl MatmulFactors {
    /// The factors of a contraction. Narrow factors may become new nodes of the body.
    fn from_contraction(
        op: &mut StructuredOp,
        contraction: &ContractionAxes,
    ) -> Option<MatmulFactors> {
        let factors = contraction.factors;
        let narrow = factors.map(|factor| match_narrow_factor(&mut op.body, factor));
        if let [Some((a, a_type)), Some((b, b_type))] = narrow {
            return Some(MatmulFactors {
                nodes: [a, b],
                types: [a_type, b_type],
                parts: 1,
            });
        }
        let is_float = factors.map(|factor| op.body.ty(factor) == ScalarType::F32);
        let is_split = op.precision == ProductPrecision::Reduced && is_float == [true; 2];
        is_split.then_some(MatmulFactors {
            nodes: factors,
            types: [FragmentElement::Bf16; 2],
            parts: 2,
        })
    }
}

/// The narrow number that a factor is widened from, and its type.
fn match_narrow_factor(
    body: &mut NodeGraph,
    node: ScalarNode,
) -> Option<(ScalarNode, FragmentElement)> {
    let (operator, operands) = body.as_apply(node)?;
    let operands = operands.to_vec();
    let types = (operator.op, operator.from, operator.to);
    match types {
        (ScalarOp::FConv, ScalarType::F16, ScalarType::F32) => {
            Some((operands[0], FragmentElement::F16))
        }
        (ScalarOp::SExt, ScalarType::I8, ScalarType::I32) => {
            Some((operands[0], FragmentElement::I8))
        }
        (ScalarOp::ZExt, ScalarType::I8, ScalarType::I32) => {
            Some((operands[0], FragmentElement::U8))
        }
        (ScalarOp::Bits, ScalarType::I32, ScalarType::F32) => match_bf16_factor(body, operands[0]),
        (ScalarOp::Cond, ..) => {
            let zero = |body: &NodeGraph, node| body.as_literal(node).is_some_and(|l| l.bits == 0);
            let (value, number) = match_narrow_factor(body, operands[1])?;
            if !zero(body, operands[2]) {
                return None;
            }
            let zero = body.intern_literal(ScalarLiteral::new(number.storage_type(), 0));
            Some((
                body.apply_op(ScalarOp::Cond, &[operands[0], value, zero]),
                number,
            ))
        }
        _ => None,
    }
}

/// The 16 bits that are the upper half of a binary32.
fn match_bf16_factor(body: &NodeGraph, node: ScalarNode) -> Option<(ScalarNode, FragmentElement)> {
    let (shift, operands) = body.as_apply(node)?;
    let [wide, by] = *operands else { return None };
    let is_shift = shift.op == ScalarOp::Shl && body.as_literal(by)?.bits == 16;
    let (widen, operands) = body.as_apply(wide)?;
    let is_widening = (widen.op, widen.from) == (ScalarOp::ZExt, ScalarType::I16);
    (is_shift && is_widening).then_some((operands[0], FragmentElement::Bf16))
}

#[derive(Debug, Default)]
struct MatmulPlan {
    /// The loops over the tiles of rows and of columns, once tiled.
    grid: Option<[u32; 2]>,
    matmul: Option<SubgroupMatmul>,
    /// The contraction, and the loop over the tiles of its reduced axes.
    steps: Option<(ContractionAxes, u32)>,
    staging: Option<StagingPlan>,
}

/// Suits products of narrow numbers, on devices with matrix units for them.
pub(super) fn plan_subgroup_matmul(request: &ScheduleRequest<'_>) -> Option<Box<dyn SchedulePlan>> {
    let suits = is_matrix_product(request.op, request.profile);
    suits.then(|| Box::new(MatmulPlan::default()) as Box<dyn SchedulePlan>)
}

impl SchedulePlan for MatmulPlan {
    fn tile(&mut self, nest: &mut TensorLoopNest) {
        let profile = nest.profile;
        let Some(tiles) = MatmulTiles::from_op(&mut nest.op, &profile) else {
            return;
        };
        let (Some(contraction), Some(matrices)) = (match_contraction(&nest.op), profile.matrices)
        else {
            return;
        };
        let [m, n, k] = tiles.shape.size.map(u64::from);
        let counts = [
            tiles.tile[0] / (tiles.grid[0] * m),
            tiles.tile[1] / (tiles.grid[1] * n),
        ];
        let points = m * n / matrices.subgroup;
        let extents = nest.take_extents();
        let batch = add_batch_loop(nest, &contraction.tiled_axes(), &extents);
        let grid = [0, 1].map(|at| {
            let count = tiles.extents[at].div_ceil(tiles.tile[at]);
            nest.add_loop(count, LoopMapping::Parallel)
        });
        let subgroups = tiles.grid[0] * tiles.grid[1];
        let subgroup = nest.add_loop(subgroups, LoopMapping::Subgroup);
        let lane = nest.add_loop(matrices.subgroup, LoopMapping::Lane);
        let down = nest.add_loop(counts[0], LoopMapping::Repeated);
        let across = nest.add_loop(counts[1], LoopMapping::Repeated);
        let point = nest.add_loop(points, LoopMapping::Unrolled);
        nest.add_loop(subgroups * matrices.subgroup, LoopMapping::Invocation(0));
        let depths = tiles.extents[2].div_ceil(tiles.tile[2]);
        let outer = nest.add_loop(depths, LoopMapping::Sequential);

        let within = sum_scaled_counters(nest, &[(lane, points), (point, 1)]);
        let within = unflatten_index(&mut nest.points, within, &[m as i64, n as i64]);
        let number = nest.loop_counter(subgroup);
        let of_grid = unflatten_index(&mut nest.points, number, &tiles.grid.map(|n| n as i64));
        let axes = [&contraction.rows, &contraction.columns];
        for at in 0..2 {
            let base = sum_scaled_counters(nest, &[(grid[at], tiles.tile[at])]);
            let size = [m, n][at];
            let fragment = sum_scaled_counters(nest, &[([down, across][at], size)]);
            let body = &mut nest.points;
            let part = body.intern_i64((counts[at] * size) as i64);
            let part = body.apply_op(ScalarOp::Mul, &[of_grid[at], part]);
            let local = body.apply_op(ScalarOp::Add, &[part, fragment]);
            let local = body.apply_op(ScalarOp::Add, &[local, within[at]]);
            let tile = AxisTile::new(axes[at], &extents, base, local, tiles.tile[at]);
            let guard = add_tile(nest, tile);
            nest.guards.extend(guard);
        }
        let base = sum_scaled_counters(nest, &[(outer, tiles.tile[2])]);
        let local = nest.points.intern_i64(0);
        let tile = AxisTile::new(&contraction.steps, &extents, base, local, tiles.tile[2]);
        add_tile(nest, tile);

        self.matmul = Some(SubgroupMatmul {
            shape: tiles.shape,
            factors: tiles.factors,
            parts: tiles.parts,
            source: FragmentSource::Staged,
            tiles: [0, 1, 2],
            grid: tiles.grid,
            counts,
            depth: tiles.tile[2] / k,
            buffers: tiles.buffers,
            loops: [subgroup, lane, down, across],
            points,
        });
        let mut steps = vec![DispatchStep::Clear];
        steps.extend(nest_loops(&[outer], vec![DispatchStep::Multiply]));
        steps.extend(nest_loops(
            &[down, across],
            vec![DispatchStep::Spill, DispatchStep::Store],
        ));
        self.grid = Some(grid);
        self.steps = Some((contraction, outer));
        let mut outermost: Vec<u32> = batch.into_iter().collect();
        outermost.extend(grid);
        nest.steps = nest_loops(&outermost, steps);
    }

    fn promote(&mut self, nest: &mut TensorLoopNest) {
        if let Some((contraction, outer)) = &self.steps {
            self.staging = Some(promote_factors(
                nest,
                contraction,
                self.matmul.as_ref(),
                *outer,
            ));
        }
    }

    fn distribute(&mut self, nest: &mut TensorLoopNest) {
        group_tile_rows(nest, self.grid);
        assign_loops(nest);
    }

    fn staging(&self) -> Option<&StagingPlan> {
        self.staging.as_ref()
    }

    fn matmul(&self) -> Option<&SubgroupMatmul> {
        self.matmul.as_ref()
    }
}
