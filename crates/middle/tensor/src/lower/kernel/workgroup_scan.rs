//! Workgroup scans: prefixes of the points that the invocations of a workgroup have.

use super::super::element_write::AccumulatorArrays;
use super::super::node_emitter::NodeEmitter;
use super::combine_accumulators::{fold_into_accumulators, shuffle_variables};
use super::{DispatchLowering, accumulator_types};
use crate::ir::{ScalarNode, TensorReduction};
use crate::schedule::LoopMapping;
use spirula_kernel::ir::{ExprId, VarId, VariableType};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// The reductions of a scan, with the types and neutral elements of their accumulators.
pub(super) struct ScanAccumulators<'a> {
    reductions: &'a [TensorReduction],
    pub types: Vec<ScalarType>,
    neutral: Vec<ScalarLiteral>,
}

impl ScanAccumulators<'_> {
    /// Declares variables with initial values.
    pub fn declare_initialised(&self, e: &mut NodeEmitter<'_>, values: &[ExprId]) -> Vec<VarId> {
        let both = self.types.iter().zip(values);
        let vars = both.map(|(ty, value)| {
            let var = e.b.declare_var("before", VariableType::Scalar(*ty), false);
            e.b.push_assignment(var, *value);
            var
        });
        vars.collect()
    }

    /// Declares variables whose initial values are neutral elements.
    pub fn declare_neutral(&self, e: &mut NodeEmitter<'_>) -> Vec<VarId> {
        let neutral = self
            .neutral
            .iter()
            .map(|literal| e.b.make_literal(*literal));
        let neutral: Vec<ExprId> = neutral.collect();
        self.declare_initialised(e, &neutral)
    }

    /// Combines accumulators with values.
    pub fn fold_values(&self, e: &mut NodeEmitter<'_>, into: &[VarId], values: &[ExprId]) {
        fold_into_accumulators(e, self.reductions, into, values);
    }

    /// The same where a condition holds.
    pub fn fold_if(
        &self,
        e: &mut NodeEmitter<'_>,
        condition: ExprId,
        into: &[VarId],
        values: &[ExprId],
    ) {
        let chosen = self.types.iter().zip(&self.neutral).zip(values);
        let chosen = chosen.map(|((ty, neutral), value)| {
            let neutral = e.b.make_literal(*neutral);
            let choice = ScalarOperator::with_type(ScalarOp::Cond, *ty);
            let chosen = e.b.apply_operator(choice, &[condition, *value, neutral]);
            e.bind_to_variable(chosen, *ty)
        });
        let chosen: Vec<ExprId> = chosen.collect();
        self.fold_values(e, into, &chosen);
    }

    pub fn read_values(&self, e: &mut NodeEmitter<'_>, vars: &[VarId]) -> Vec<ExprId> {
        vars.iter().map(|var| e.b.read_var(*var)).collect()
    }
}

/// A run of adjacent points of an invocation, scanned.
struct ScannedRun {
    /// The sum of the points before the run.
    before: Vec<VarId>,
    /// The sum of the points up to its end.
    all: Vec<VarId>,
}

impl<'a> DispatchLowering<'a> {
    fn make_scan_accumulators(&self) -> ScanAccumulators<'a> {
        let op = &self.nest.op;
        let types = accumulator_types(op);
        let neutral = op.reductions.iter().zip(&types);
        let neutral = neutral.filter_map(|(reduction, ty)| reduction.combiner.neutral_element(*ty));
        ScanAccumulators {
            reductions: &op.reductions,
            neutral: neutral.collect(),
            types,
        }
    }

    /// Sets the carry of a scan to its initial values. Workgroups that look back begin with neutral elements and find the
    /// initial values before the first chunk.
    pub(super) fn initialise_carry(&mut self) {
        let mut initial = self.leaves[0].initial.clone();
        if self.status.is_some() {
            initial = self.neutralise_initial(initial);
        }
        let values = self.e.emit_nodes(&initial);
        self.carried = self
            .make_scan_accumulators()
            .declare_initialised(&mut self.e, &values);
    }

    /// Adds to each accumulator of each invocation of a loop those before it, and the carry.
    ///
    /// An invocation adds its own one after the other, those of a subgroup by shuffles, and those of other subgroups
    /// through the workgroup's memory.
    pub(super) fn scan_invocations(&mut self, number: u32) {
        let sums = self.make_scan_accumulators();
        let leaves = self.leaves.iter().map(|leaf| leaf.accumulators.clone());
        let leaves: Vec<Vec<VarId>> = leaves.collect();
        let lanes = self.extent_of(LoopMapping::Lane);
        let runs = self.scan_runs(&sums, lanes, &leaves);
        let Some(ScannedRun { all, .. }) = runs.last() else {
            return;
        };
        let carried = std::mem::take(&mut self.carried);
        let values = sums.read_values(&mut self.e, &carried);
        let before = sums.declare_initialised(&mut self.e, &values);
        let subgroups = self.nest.loops[number as usize].extent / lanes;
        if subgroups == 1 {
            let values = sums.read_values(&mut self.e, all);
            sums.fold_values(&mut self.e, &carried, &values);
        } else {
            self.scan_subgroups(&sums, subgroups, &before, &carried, all);
        }
        self.look_back(&sums, &before, &carried);
        self.carried = carried;
        let outside = sums.read_values(&mut self.e, &before);
        let points = leaves.len() / runs.len();
        for (leaves, run) in leaves.chunks(points).zip(&runs) {
            sums.fold_values(&mut self.e, &run.before, &outside);
            let values = sums.read_values(&mut self.e, &run.before);
            for leaf in leaves {
                sums.fold_values(&mut self.e, leaf, &values);
            }
        }
    }

    /// Scans the adjacent points of each run.
    fn scan_runs(
        &mut self,
        sums: &ScanAccumulators<'_>,
        lanes: u64,
        leaves: &[Vec<VarId>],
    ) -> Vec<ScannedRun> {
        let mut loops = self.nest.loops.iter().rev();
        let innermost = loops.find(|l| l.run == LoopMapping::Unrolled);
        let points = innermost.map_or(1, |l| l.extent) as usize;
        let mut runs: Vec<ScannedRun> = Vec::new();
        for run in leaves.chunks(points) {
            for pair in run.windows(2) {
                let values = sums.read_values(&mut self.e, &pair[0]);
                sums.fold_values(&mut self.e, &pair[1], &values);
            }
            let own = sums.read_values(&mut self.e, &run[run.len() - 1]);
            let all = sums.declare_initialised(&mut self.e, &own);
            let before = sums.declare_neutral(&mut self.e);
            self.scan_lanes(sums, lanes, &before, &all);
            if let Some(earlier) = runs.last() {
                let values = sums.read_values(&mut self.e, &earlier.all);
                sums.fold_values(&mut self.e, &before, &values);
                sums.fold_values(&mut self.e, &all, &values);
            }
            runs.push(ScannedRun { before, all });
        }
        runs
    }

    /// Adds the sums of the invocations before it in its subgroup to `before`, and those of all of them to `all`: halves
    /// of ever larger blocks exchange their sums.
    fn scan_lanes(
        &mut self,
        sums: &ScanAccumulators<'_>,
        lanes: u64,
        before: &[VarId],
        all: &[VarId],
    ) {
        let Some(lane) = self.counter_of(LoopMapping::Lane) else {
            return;
        };
        let mut mask = 1;
        while mask < lanes {
            let others = shuffle_variables(&mut self.e, mask as u32, all, &sums.types);
            let body = &mut self.e.body;
            let [half, block] = [mask, 2 * mask].map(|n| body.intern_i64(n as i64));
            let place = body.apply_op(ScalarOp::SMod, &[lane, block]);
            let is_upper = body.apply_op(ScalarOp::SLe, &[half, place]);
            let is_upper = self.e.emit_nodes(&[is_upper])[0];
            sums.fold_if(&mut self.e, is_upper, before, &others);
            sums.fold_values(&mut self.e, all, &others);
            mask *= 2;
        }
    }

    /// Adds the sums of the subgroups before it to `before`, and those of all subgroups to the carry.
    fn scan_subgroups(
        &mut self,
        sums: &ScanAccumulators<'_>,
        count: u64,
        before: &[VarId],
        carried: &[VarId],
        all: &[VarId],
    ) {
        let Some(local) = self.local else { return };
        let (subgroup, writes) = self.place_left(local);
        let memory = sums.types.iter();
        let memory: Vec<VarId> = memory
            .map(|ty| self.declare_shared(*ty, count as i64))
            .collect();
        let memory = AccumulatorArrays::new(&sums.types, &memory);
        self.wait_for_iteration_before();
        self.e
            .emit_if(writes, |e| memory.write_elements(e, subgroup, all));
        self.emit_barrier();
        let places = (0..count).map(|at| self.e.body.intern_i64(at as i64));
        let places: Vec<ScalarNode> = places.collect();
        let read = places
            .iter()
            .map(|at| memory.read_elements(&mut self.e, *at));
        let read: Vec<Vec<ExprId>> = read.collect();
        for (at, values) in places.iter().zip(&read) {
            let is_before = self.e.body.apply_op(ScalarOp::SLt, &[*at, subgroup]);
            let is_before = self.e.emit_nodes(&[is_before])[0];
            sums.fold_if(&mut self.e, is_before, before, values);
            sums.fold_values(&mut self.e, carried, values);
        }
    }
}
