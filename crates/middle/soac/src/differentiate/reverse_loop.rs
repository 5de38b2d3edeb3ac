//! Reverse mode of loops.
//!
//! A loop keeps the values of each iteration that the sweep in reverse reads: parameters, and scalars that were read from
//! arrays which change from iteration to iteration. The arrays themselves are kept only where a whole one is read. A loop
//! with a condition is run twice: first to count its iterations.

use super::adjoint::AdjointMap;
use super::alias::AliasTable;
use super::arithmetic::{add_zero, zero_constant};
use super::copy::BodyCopier;
use super::need::{NeedAnalysis, visit_body_reads, visit_bound, visit_reads};
use super::reverse::{ReverseTransform, SweepRecord};
use crate::ir::{
    SliceSelector, SoacBody, SoacLoopForm, SoacOperand, SoacOperation, SoacStatement, SoacType,
    SoacVariableId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};
use std::collections::BTreeSet;

/// The values that a loop kept.
#[derive(Clone, Debug)]
pub(super) struct LoopTape {
    /// Number of iterations.
    count: SoacOperand,
    /// The variable that counts the iterations of the loop.
    counter: SoacVariableId,
    /// Variables of the loop with the arrays of their values, one for each iteration.
    kept: Vec<(SoacVariableId, SoacOperand)>,
}

/// A loop that is run.
struct TapedLoop {
    results: Vec<SoacVariableId>,
    certificates: Vec<SoacVariableId>,
    parameters: Vec<(SoacVariableId, SoacOperand)>,
    counter: SoacVariableId,
    bound: SoacOperand,
    body: SoacBody,
}

impl ReverseTransform<'_> {
    /// Runs a loop, and keeps what its reverse reads.
    pub(super) fn run_loop(&mut self, statement: SoacStatement) -> SweepRecord {
        let SoacOperation::Loop(parameters, form, body) = statement.operation.clone() else {
            return SweepRecord {
                statement,
                tape: None,
            };
        };
        let (counter, bound) = match form {
            SoacLoopForm::For(counter, bound) => (counter, bound),
            SoacLoopForm::While(position) => {
                let count = self.count_iterations(&statement, &parameters, position, &body);
                let int64 = SoacType::Scalar(ScalarType::I64);
                (self.builder.add_variable("i", int64), count)
            }
        };
        let kept = self.choose_kept(&parameters, counter, &body);
        let tape = self.add_taped_loop(
            TapedLoop {
                results: statement.results.clone(),
                certificates: statement.certificates.clone(),
                parameters,
                counter,
                bound,
                body,
            },
            &kept,
        );
        SweepRecord {
            statement,
            tape: Some(tape),
        }
    }

    /// The number of iterations of a loop with a condition.
    fn count_iterations(
        &mut self,
        statement: &SoacStatement,
        parameters: &[(SoacVariableId, SoacOperand)],
        position: usize,
        body: &SoacBody,
    ) -> SoacOperand {
        let mut aliases = AliasTable::default();
        let consumed = aliases.visit_statement(statement);
        let mut copier = BodyCopier::default();
        let (ids, initial): (Vec<_>, Vec<_>) = parameters.iter().copied().unzip();
        let mut firsts = Vec::with_capacity(initial.len() + 1);
        for operand in initial {
            let operand_type = self.builder.type_of(operand);
            let roots = aliases.find_roots(operand);
            let is_consumed = roots.iter().any(|root| consumed.contains(root));
            let is_array = matches!(operand_type, SoacType::Array(..));
            firsts.push(if is_array && is_consumed {
                let copy = SoacOperation::Manifest(operand);
                self.builder.add_single("again", operand_type, copy)
            } else {
                operand
            });
        }
        firsts.push(SoacOperand::from_int64(0));
        let int64 = SoacType::Scalar(ScalarType::I64);
        let mut ids = copier.copy_variables(self.builder, &ids);
        let number = self.builder.add_variable("n", int64.clone());
        ids.push(number);
        let copy = copier.copy_body(self.builder, body);
        self.builder.resume_body(copy.clone());
        let one = SoacOperand::from_int64(1);
        let next = self
            .builder
            .add_int64(ScalarOp::Add, SoacOperand::Variable(number), one);
        let mut results = copy.results;
        results.push(next);
        let body = self.builder.end_body(results);
        let mut outer = copier.copy_variables(self.builder, &statement.results);
        let count = self.builder.add_variable("n", int64);
        outer.push(count);
        let parameters = ids.into_iter().zip(firsts).collect();
        let form = SoacLoopForm::While(position);
        self.builder
            .add_statement(outer, SoacOperation::Loop(parameters, form, body));
        SoacOperand::Variable(count)
    }

    /// The variables of a loop whose values are kept.
    fn choose_kept(
        &mut self,
        parameters: &[(SoacVariableId, SoacOperand)],
        counter: SoacVariableId,
        body: &SoacBody,
    ) -> Vec<SoacVariableId> {
        let is_array = |transform: &Self, id: SoacVariableId| {
            let variable_type = transform.builder.type_of(SoacOperand::Variable(id));
            matches!(variable_type, SoacType::Array(..))
        };
        let mut changing: FxHashSet<SoacVariableId> = parameters
            .iter()
            .map(|(id, _)| *id)
            .filter(|&id| is_array(self, id))
            .collect();
        let mut cuts = FxHashSet::default();
        for statement in &body.statements {
            let mut reads_changing = false;
            visit_reads(statement, &mut |operand| {
                if let SoacOperand::Variable(id) = operand {
                    reads_changing |= changing.contains(&id);
                }
            });
            if !reads_changing {
                continue;
            }
            for &result in &statement.results {
                changing.insert(result);
                let result_type = self.builder.type_of(SoacOperand::Variable(result));
                if matches!(result_type, SoacType::Scalar(_)) {
                    cuts.insert(result);
                }
            }
        }
        let mut analysis = NeedAnalysis {
            builder: self.builder,
            active: &self.active,
            rules: &self.rules,
            needed: FxHashSet::default(),
        };
        for statement in &body.statements {
            analysis.need_reverse(statement);
        }
        analysis.need_definitions(body, |_, result| cuts.contains(&result));
        let needed = analysis.needed;
        let ids = parameters.iter().map(|(id, _)| *id);
        let mut kept: Vec<_> = ids.filter(|id| needed.contains(id)).collect();
        let results = body
            .statements
            .iter()
            .flat_map(|statement| &statement.results);
        kept.extend(results.filter(|id| cuts.contains(id) && needed.contains(id)));
        self.require_fixed_sizes(&kept, parameters, counter, body);
        kept
    }

    /// Requires that the sizes of kept values do not change from iteration to iteration.
    fn require_fixed_sizes(
        &mut self,
        kept: &[SoacVariableId],
        parameters: &[(SoacVariableId, SoacOperand)],
        counter: SoacVariableId,
        body: &SoacBody,
    ) {
        let mut bound: FxHashSet<_> = parameters.iter().map(|(id, _)| *id).collect();
        bound.insert(counter);
        for statement in &body.statements {
            visit_bound(statement, &mut |id| {
                bound.insert(id);
            });
        }
        for &id in kept {
            let variable_type = self.builder.type_of(SoacOperand::Variable(id));
            let is_fixed = variable_type.shape().iter().all(|size| match size {
                SoacOperand::Variable(size) => !bound.contains(size),
                SoacOperand::Constant(_) => true,
            });
            if !is_fixed {
                let reason =
                    "a loop whose arrays change their sizes has no derivative in reverse mode";
                self.fault = Some(reason.to_owned());
            }
        }
    }

    /// A counter as an `i64`.
    fn widen(&mut self, counter: SoacOperand) -> SoacOperand {
        let from = self.builder.type_of(counter).element();
        if from == ScalarType::I64 {
            return counter;
        }
        let operator = ScalarOperator::from_conversion(ScalarOp::SExt, from, ScalarType::I64);
        self.builder.add_scalar(operator, &[counter])
    }

    fn add_taped_loop(&mut self, taped: TapedLoop, kept: &[SoacVariableId]) -> LoopTape {
        let wide = self.widen(taped.bound);
        let zero = zero_constant(ScalarType::I64);
        let count = self.builder.add_int64(ScalarOp::SMax, wide, zero);
        let mut parameters = taped.parameters.clone();
        let mut results = taped.results.clone();
        let mut tapes = Vec::with_capacity(kept.len());
        for &id in kept {
            let variable_type = self.builder.type_of(SoacOperand::Variable(id));
            let mut shape = vec![count];
            shape.extend(variable_type.shape());
            let tape_type = SoacType::Array(variable_type.element(), shape);
            let initial = add_zero(self.builder, &tape_type);
            let tape = self.builder.add_variable("tape", tape_type.clone());
            parameters.push((tape, initial));
            tapes.push((id, tape, tape_type.clone()));
            results.push(self.builder.add_variable("tape", tape_type));
        }
        self.builder.begin_body();
        let index = self.widen(SoacOperand::Variable(taped.counter));
        let is_parameter =
            |id: SoacVariableId| taped.parameters.iter().any(|(other, _)| *other == id);
        let mut written = FxHashMap::default();
        for (id, tape, tape_type) in tapes.iter().filter(|(id, ..)| is_parameter(*id)) {
            written.insert(*id, self.write_tape(*tape, index, *id, tape_type));
        }
        for statement in taped.body.statements {
            if let Some(stripped) = self.strip_writes(statement) {
                self.builder.push_statement(stripped);
            }
        }
        for (id, tape, tape_type) in tapes.iter().filter(|(id, ..)| !is_parameter(*id)) {
            written.insert(*id, self.write_tape(*tape, index, *id, tape_type));
        }
        let mut next = taped.body.results;
        next.extend(kept.iter().filter_map(|id| written.get(id)));
        let body = self.builder.end_body(next);
        let first = taped.results.len();
        let arrays = results[first..].iter().map(|&id| SoacOperand::Variable(id));
        let kept = kept.iter().copied().zip(arrays).collect();
        let form = SoacLoopForm::For(taped.counter, taped.bound);
        self.builder.require_certificates(&taped.certificates);
        self.builder
            .add_statement(results, SoacOperation::Loop(parameters, form, body));
        LoopTape {
            count,
            counter: taped.counter,
            kept,
        }
    }

    fn write_tape(
        &mut self,
        tape: SoacVariableId,
        index: SoacOperand,
        value: SoacVariableId,
        tape_type: &SoacType,
    ) -> SoacOperand {
        let update = SoacOperation::Update(
            SoacOperand::Variable(tape),
            vec![SliceSelector::Point(index)],
            SoacOperand::Variable(value),
        );
        self.builder.add_single("tape", tape_type.clone(), update)
    }

    /// Sweeps a loop in reverse: from the last iteration to the first.
    pub(super) fn reverse_loop(
        &mut self,
        statement: &SoacStatement,
        tape: &LoopTape,
        adjoints: &[Option<SoacOperand>],
    ) {
        let SoacOperation::Loop(parameters, _, body) = &statement.operation else {
            return;
        };
        let mut state = Vec::new();
        let mut initial = Vec::new();
        for (index, &(id, _)) in parameters.iter().enumerate() {
            if self.active.contains(id) {
                let result = SoacOperand::Variable(statement.results[index]);
                let adjoint = adjoints[index].unwrap_or_else(|| {
                    let result_type = self.builder.type_of(result);
                    add_zero(self.builder, &result_type)
                });
                state.push(index);
                initial.push(adjoint);
            }
        }
        let outside = self.find_outside(parameters, body);
        for &id in &outside {
            let adjoint = self.take_or_zero(SoacOperand::Variable(id));
            initial.push(adjoint);
        }
        let mut carried = Vec::with_capacity(initial.len());
        let mut results = Vec::with_capacity(initial.len());
        for &adjoint in &initial {
            let adjoint_type = self.builder.type_of(adjoint);
            carried.push(self.builder.add_variable("d", adjoint_type.clone()));
            results.push(self.builder.add_variable("d", adjoint_type));
        }
        let inner = AdjointMap {
            values: outside
                .iter()
                .zip(&carried[state.len()..])
                .map(|(&id, &adjoint)| (id, SoacOperand::Variable(adjoint)))
                .collect(),
            foreign_bound: self.adjoints.foreign_bound,
            collects: false,
            sparse: Vec::new(),
        };
        let outer = std::mem::replace(&mut self.adjoints, inner);
        let int64 = SoacType::Scalar(ScalarType::I64);
        let step = self.builder.add_variable("i", int64);
        self.builder.begin_body();
        let swept = self.sweep_iteration(parameters, body, tape, step, &state, &carried);
        let mut next = Vec::with_capacity(initial.len());
        for id in swept {
            next.push(self.take_or_zero(SoacOperand::Variable(id)));
        }
        for &id in &outside {
            next.push(self.take_or_zero(SoacOperand::Variable(id)));
        }
        let body = self.builder.end_body(next);
        self.adjoints = outer;
        let loop_parameters = carried.into_iter().zip(initial).collect();
        let form = SoacLoopForm::For(step, tape.count);
        let operation = SoacOperation::Loop(loop_parameters, form, body);
        self.builder.add_statement(results.clone(), operation);
        let (inner, outer) = results.split_at(state.len());
        for (&id, &result) in outside.iter().zip(outer) {
            let sum = SoacOperand::Variable(result);
            self.adjoints.values.insert(id, sum);
        }
        for (&index, &result) in state.iter().zip(inner) {
            self.add_adjoint(parameters[index].1, SoacOperand::Variable(result));
        }
    }

    /// The active variables from outside that a loop reads.
    pub(super) fn find_outside(
        &self,
        parameters: &[(SoacVariableId, SoacOperand)],
        body: &SoacBody,
    ) -> Vec<SoacVariableId> {
        let mut bound: FxHashSet<_> = parameters.iter().map(|(id, _)| *id).collect();
        let mut outside = BTreeSet::new();
        for statement in &body.statements {
            visit_bound(statement, &mut |id| {
                bound.insert(id);
            });
        }
        let mut visit = |operand: SoacOperand| {
            if let SoacOperand::Variable(id) = operand
                && self.active.contains(id)
                && !bound.contains(&id)
            {
                outside.insert(self.find_original(id));
            }
        };
        visit_body_reads(body, &mut visit);
        outside.into_iter().collect()
    }

    /// Runs an iteration again from what was kept, and sweeps it in reverse. Returns the active parameters of the iteration.
    fn sweep_iteration(
        &mut self,
        parameters: &[(SoacVariableId, SoacOperand)],
        body: &SoacBody,
        tape: &LoopTape,
        step: SoacVariableId,
        state: &[usize],
        adjoints: &[SoacVariableId],
    ) -> Vec<SoacVariableId> {
        let one = SoacOperand::from_int64(1);
        let last = self.builder.add_int64(ScalarOp::Sub, tape.count, one);
        let step = SoacOperand::Variable(step);
        let index = self.builder.add_int64(ScalarOp::Sub, last, step);
        let mut copier = self.make_copier();
        let counter_type = self
            .builder
            .type_of(SoacOperand::Variable(tape.counter))
            .element();
        let mut counter = index;
        if counter_type != ScalarType::I64 {
            let narrow =
                ScalarOperator::from_conversion(ScalarOp::SExt, ScalarType::I64, counter_type);
            counter = self.builder.add_scalar(narrow, &[index]);
        }
        copier.replace(tape.counter, counter);
        let kept: FxHashMap<_, _> = tape.kept.iter().copied().collect();
        let consumed = AliasTable::default().visit_body(body);
        let mut copies = Vec::with_capacity(parameters.len());
        for &(id, _) in parameters {
            let array = kept.get(&id).map(|&array| (array, consumed.contains(&id)));
            let copy = self.recall_parameter(&copier, id, array, index);
            copier.replace(id, SoacOperand::Variable(copy));
            copies.push(copy);
        }
        let ids: Vec<_> = parameters.iter().map(|(id, _)| *id).collect();
        self.copy_consumed(&mut copier, &ids, body);
        let mut statements = Vec::with_capacity(body.statements.len());
        let mut recalled = Vec::new();
        for statement in &body.statements {
            let copy = copier.copy_statement(self.builder, statement);
            let pairs: Vec<_> = statement.results.iter().zip(&copy.results).collect();
            let mut recalls = Vec::new();
            for (&id, &result) in pairs {
                let Some(&array) = kept.get(&id) else {
                    continue;
                };
                let value_type = self.builder.type_of(SoacOperand::Variable(result));
                let value = self.builder.add_variable("kept", value_type);
                let point = vec![SliceSelector::Point(index)];
                recalls.push(SoacStatement {
                    results: vec![value],
                    certificates: Vec::new(),
                    operation: SoacOperation::Slice(array, point),
                });
                recalled.push((result, value));
                copier.replace(id, SoacOperand::Variable(value));
            }
            statements.push(copy);
            statements.extend(recalls);
        }
        self.adopt_copies(&copier);
        for (result, value) in recalled {
            self.link_copy(result, SoacOperand::Variable(value));
        }
        let records = self.sweep_forward(statements);
        for (&index, &adjoint) in state.iter().zip(adjoints) {
            let result = copier.operand(body.results[index]);
            self.add_adjoint(result, SoacOperand::Variable(adjoint));
        }
        self.sweep_reverse(&records);
        state.iter().map(|&index| copies[index]).collect()
    }

    /// The value of a parameter in an iteration: from the array of kept values, which says whether the iteration consumes
    /// it. Values that were not kept are not read.
    fn recall_parameter(
        &mut self,
        copier: &BodyCopier,
        id: SoacVariableId,
        array: Option<(SoacOperand, bool)>,
        index: SoacOperand,
    ) -> SoacVariableId {
        let variable_type = self.builder.type_of(SoacOperand::Variable(id));
        let value_type = copier.copy_type(&variable_type);
        let (source, selectors) = match array {
            Some((array, _)) => (array, vec![SliceSelector::Point(index)]),
            None => (add_zero(self.builder, &value_type), Vec::new()),
        };
        let copy = self.builder.add_variable("p", value_type.clone());
        let slice = SoacOperation::Slice(source, selectors);
        let is_consumed = array.is_some_and(|(_, is_consumed)| is_consumed);
        if is_consumed && matches!(value_type, SoacType::Array(..)) {
            let view = self.builder.add_single("p", value_type, slice);
            self.builder
                .add_statement(vec![copy], SoacOperation::Manifest(view));
        } else {
            self.builder.add_statement(vec![copy], slice);
        }
        if self.active.contains(id) {
            self.active.insert(self.builder, copy);
        }
        copy
    }
}
