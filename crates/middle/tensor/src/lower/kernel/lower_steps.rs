//! Lowering of steps and loops.

use super::DispatchLowering;
use crate::ir::ScalarNode;
use crate::schedule::{DispatchStep, FoldSharing, LoopMapping};
use spirula_kernel::ir::{StmtKind, VariableType};
use spirula_program::ScalarLiteral;

impl DispatchLowering<'_> {
    /// Lowers all steps, under one condition where the guard of the points is around all of them.
    pub(super) fn lower_guarded_steps(&mut self, steps: &[DispatchStep]) {
        if !self.plan.has_outer_guard() {
            return self.lower_steps(steps);
        }
        let mut inner = steps;
        while let [DispatchStep::For(number, next)] = inner {
            if !self.is_distributed(*number) {
                break;
            }
            inner = next;
        }
        let guard = self.leaves[0].guard;
        if self.e.body.as_literal(guard).is_some() {
            return self.lower_steps(inner);
        }
        let condition = self.e.emit_nodes(&[guard])[0];
        self.e.b.begin_block();
        let mark = self.e.begin_scope();
        self.lower_steps(inner);
        self.e.end_scope(mark);
        let then = self.e.b.end_block();
        self.e.b.begin_block();
        let otherwise = self.e.b.end_block();
        self.e.b.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
    }

    fn is_distributed(&self, number: u32) -> bool {
        let run = self.nest.loops[number as usize].run;
        matches!(run, LoopMapping::Workgroup(_) | LoopMapping::Invocation(_))
    }

    fn lower_steps(&mut self, steps: &[DispatchStep]) {
        let is_matrix = self.matmul().is_some();
        for step in steps {
            match step {
                DispatchStep::For(number, inner) => self.lower_loop(*number, inner),
                DispatchStep::Initialise => self.initialise_accumulators(),
                DispatchStep::Accumulate => self.accumulate_leaves(),
                DispatchStep::Combine(number) if self.nest.saved.is_some() => {
                    self.combine_saved(*number);
                }
                DispatchStep::Combine(number) => self.combine_invocations(*number),
                DispatchStep::Store => self.store_results(),
                DispatchStep::Stage(at) if is_matrix => self.copy_tile(*at),
                DispatchStep::Fetch(round) if is_matrix => self.fetch_runs(*round),
                DispatchStep::Commit(round) if is_matrix => self.commit_runs(*round),
                DispatchStep::Stage(at) => self.stage_tile(*at),
                DispatchStep::Fetch(round) => self.fetch_tiles(*round),
                DispatchStep::Commit(_) => self.commit_tiles(),
                DispatchStep::InitialiseCarry => self.initialise_carry(),
                DispatchStep::Scan(number) => self.scan_invocations(*number),
                DispatchStep::SelectReduction(at) => self.only = Some(*at),
                DispatchStep::Broadcast => self.broadcast_reductions(),
                DispatchStep::Clear => self.clear_fragments(),
                DispatchStep::Multiply => self.multiply_fragments(),
                DispatchStep::Spill => self.spill_fragment(),
                DispatchStep::TakeRow => self.take_row_sums(),
                DispatchStep::Save => self.save_accumulators(),
                DispatchStep::Restore => self.restore_accumulators(),
                DispatchStep::Barrier => self.emit_barrier(),
            }
        }
    }

    /// Lowers a loop. Unrolled loops are part of the points, distributed ones of the launch.
    fn lower_loop(&mut self, number: u32, inner: &[DispatchStep]) {
        let data = self.nest.loops[number as usize];
        if data.run == LoopMapping::Repeated {
            return self.repeat_steps(number, data.extent, inner);
        }
        if data.run != LoopMapping::Sequential || data.extent == 1 {
            return self.lower_steps(inner);
        }
        self.hoist_invariants(inner);
        let node = self.loop_counter(number);
        let ty = self.e.computed_type(node);
        let counter = self.e.b.new_var("i", VariableType::Scalar(ty));
        let bound = match data.iterations {
            Some(iterations) => {
                let points = &self.nest.points;
                let copies = self
                    .e
                    .body
                    .import_nodes(points, &[iterations], |_, _, _| None);
                self.e.emit_as(copies[0], ty)
            }
            None => self.e.b.make_literal(ScalarLiteral::new(ty, data.extent)),
        };
        let value = self.e.b.read_var(counter);
        self.e.b.begin_block();
        let mark = self.e.begin_scope();
        self.e.set_value(node, value);
        self.open |= 1 << number;
        self.lower_steps(inner);
        self.open &= !(1 << number);
        self.e.end_scope(mark);
        let body = self.e.b.end_block();
        self.e.b.push_statement(StmtKind::For {
            counter,
            bound,
            body,
        });
    }

    /// Lowers the iterations of a loop one after the other.
    fn repeat_steps(&mut self, number: u32, rounds: u64, inner: &[DispatchStep]) {
        let node = self.loop_counter(number);
        let ty = self.e.computed_type(node);
        for round in 0..rounds {
            let mark = self.e.begin_scope();
            let value = self.e.b.make_literal(ScalarLiteral::new(ty, round));
            self.e.set_value(node, value);
            self.rounds[number as usize] = round;
            self.lower_steps(inner);
            self.e.end_scope(mark);
        }
    }

    fn initialise_accumulators(&mut self) {
        for at in 0..self.leaves.len() {
            let initial = self.choose_initial(at);
            self.leaves[at].given = self.find_single_valued(&initial);
            let range = self.accumulator_range();
            let values = self.e.emit_nodes(&initial[range.clone()]);
            for (var, value) in self.leaves[at].accumulators[range].iter().zip(values) {
                self.e.b.push_assignment(*var, value);
            }
        }
    }

    /// The initial values of a point's accumulators. The operation's own initial values count once, where several
    /// points or invocations accumulate together; the other accumulators begin with neutral elements.
    fn choose_initial(&mut self, at: usize) -> Vec<ScalarNode> {
        let initial = self.leaves[at].initial.clone();
        match self.plan.fold_sharing() {
            FoldSharing::Alone => initial,
            // The carry begins with the operation's initial values.
            FoldSharing::Scan => self.neutralise_initial(initial),
            FoldSharing::First | FoldSharing::FirstOfEach | FoldSharing::Broadcast => {
                if at > 0 || self.nest.saved.is_some() {
                    self.neutralise_initial(initial)
                } else {
                    self.first_only(initial)
                }
            }
        }
    }
}
