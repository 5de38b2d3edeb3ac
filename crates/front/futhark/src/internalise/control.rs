//! Choices, matches and loops.

use super::value::{StaticFrame, StaticValue};
use super::{InternaliseResult, SourceInternaliser};
use crate::check::types::PrimitiveType;
use crate::intrinsic::machine_type;
use crate::typed::{TypedExpressionId, TypedLoop, TypedLoopForm, TypedPatternId};
use spirula_program::ScalarType as MachineType;
use spirula_soac::ir::{
    SoacBody, SoacLoopForm, SoacOperand, SoacOperation, SoacType, SoacVariableId,
};

/// The code that makes a value.
type ValueMaker<'a, 'p> =
    &'a mut dyn FnMut(&mut SourceInternaliser<'p>) -> InternaliseResult<StaticValue>;

impl<'p> SourceInternaliser<'p> {
    /// The value of one of two branches. Where their arrays have different sizes, the sizes are results, too.
    pub(super) fn choose(
        &mut self,
        condition: SoacOperand,
        accept: ValueMaker<'_, 'p>,
        reject: ValueMaker<'_, 'p>,
    ) -> InternaliseResult<StaticValue> {
        if let SoacOperand::Constant(literal) = condition {
            return if literal.bits != 0 {
                accept(self)
            } else {
                reject(self)
            };
        }
        let first_inner = self.builder.count_variables();
        let (accept, accept_body) = self.internalise_branch(accept)?;
        let (reject, reject_body) = self.internalise_branch(reject)?;
        let (lengths, others) = (accept.lengths(), reject.lengths());
        let is_common =
            |index: usize| lengths[index] == others[index] && is_outer(lengths[index], first_inner);
        let varying: Vec<usize> = (0..lengths.len())
            .filter(|&index| !is_common(index))
            .collect();
        let results = |value: &StaticValue, lengths: &[SoacOperand]| {
            let mut results: Vec<_> = varying.iter().map(|&index| lengths[index]).collect();
            results.extend(value.leaves());
            results
        };
        let accept_body = SoacBody {
            results: results(&accept, &lengths),
            ..accept_body
        };
        let reject_body = SoacBody {
            results: results(&reject, &others),
            ..reject_body
        };
        let (value, ids) = self.add_results(&accept, &varying);
        self.builder
            .add_statement(ids, SoacOperation::If(condition, accept_body, reject_body));
        Ok(value)
    }

    /// A branch: its value, and its statements.
    fn internalise_branch(
        &mut self,
        branch: ValueMaker<'_, 'p>,
    ) -> InternaliseResult<(StaticValue, SoacBody)> {
        self.builder.begin_body();
        let value = branch(self)?;
        if value.has_function() {
            return Err(self.fail("the value of a choice contains a function"));
        }
        let certificates = self.builder.take_certificates();
        let value = self.certify(value, &certificates);
        Ok((value, self.builder.end_body(Vec::new())))
    }

    /// Variables for a value of a structure whose varying sizes are variables, too: first the sizes, then the data.
    fn add_results(
        &mut self,
        structure: &StaticValue,
        varying: &[usize],
    ) -> (StaticValue, Vec<SoacVariableId>) {
        let mut lengths = structure.lengths();
        let mut ids = Vec::new();
        for &index in varying {
            let id = self
                .builder
                .add_variable("n", SoacType::Scalar(MachineType::I64));
            ids.push(id);
            lengths[index] = SoacOperand::Variable(id);
        }
        let structure = structure.with_lengths(&lengths);
        let mut leaves = Vec::new();
        for leaf_type in structure.leaf_types() {
            let id = self.builder.add_variable("x", leaf_type);
            ids.push(id);
            leaves.push(SoacOperand::Variable(id));
        }
        (structure.with_leaves(&leaves), ids)
    }

    /// The cases of a match, from one on.
    pub(super) fn internalise_cases(
        &mut self,
        subject: &StaticValue,
        cases: &[(TypedPatternId, TypedExpressionId)],
        frame: &StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let Some(((pattern, body), rest)) = cases.split_first() else {
            return Err(self.fail("a match has no cases"));
        };
        let mut inner = frame.clone();
        let condition = self.match_pattern(*pattern, subject.clone(), &mut inner)?;
        if rest.is_empty() {
            return self.internalise(*body, &mut inner);
        }
        self.choose(
            condition,
            &mut |internaliser| internaliser.internalise(*body, &mut inner.clone()),
            &mut |internaliser| internaliser.internalise_cases(subject, rest, frame),
        )
    }

    /// A loop. It is made again with more sizes as parameters, until all that change are.
    pub(super) fn internalise_loop(
        &mut self,
        typed_loop: &TypedLoop,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let initial = self.internalise(typed_loop.initial, frame)?;
        if initial.has_function() {
            return Err(self.fail("the value of a loop contains a function"));
        }
        let outer = match typed_loop.form {
            TypedLoopForm::Count(_, bound) | TypedLoopForm::Elements(_, bound) => {
                Some(self.internalise(bound, frame)?)
            }
            TypedLoopForm::While(_) => None,
        };
        let known = self.loop_sizes.get(&typed_loop.pattern).cloned();
        let mut varying = known.unwrap_or_default();
        let count = initial.lengths().len();
        varying.retain(|&index| index < count);
        self.loop_depth += 1;
        let value = loop {
            let changed = self.try_loop(typed_loop, &initial, outer.as_ref(), &varying, frame)?;
            match changed {
                LoopAttempt::Done(value) => break value,
                LoopAttempt::Changes(more) => varying.extend(more),
            }
            varying.sort_unstable();
        };
        self.loop_depth -= 1;
        if self.loop_depth == 0 {
            self.loop_sizes.clear();
        } else {
            self.loop_sizes.insert(typed_loop.pattern, varying);
        }
        Ok(value)
    }

    /// Makes a loop whose sizes change only where `varying` says so.
    fn try_loop(
        &mut self,
        typed_loop: &TypedLoop,
        initial: &StaticValue,
        outer: Option<&StaticValue>,
        varying: &[usize],
        frame: &StaticFrame,
    ) -> InternaliseResult<LoopAttempt> {
        let mut frame = frame.clone();
        let condition = self.loop_condition(typed_loop, initial.clone(), &mut frame)?;
        let (state, mut ids) = self.add_results(initial, varying);
        let lengths = initial.lengths();
        let mut firsts: Vec<_> = varying.iter().map(|&index| lengths[index]).collect();
        firsts.extend(initial.leaves());
        if let Some(condition) = condition {
            ids.push(
                self.builder
                    .add_variable("go", SoacType::Scalar(MachineType::Bool)),
            );
            firsts.push(condition);
        }
        self.builder.begin_body();
        let form = self.bind_loop_form(typed_loop, outer, ids.len(), &mut frame)?;
        self.bind_pattern(typed_loop.pattern, state.clone(), &mut frame)?;
        let next = self.internalise(typed_loop.body, &mut frame)?;
        let (before, after) = (state.lengths(), next.lengths());
        let changes = (0..before.len())
            .filter(|&index| before[index] != after[index] && !varying.contains(&index));
        let changes: Vec<usize> = changes.collect();
        if !changes.is_empty() {
            self.builder.end_body(Vec::new());
            return Ok(LoopAttempt::Changes(changes));
        }
        let mut results: Vec<_> = varying.iter().map(|&index| after[index]).collect();
        results.extend(next.leaves());
        if let Some(condition) = self.loop_condition(typed_loop, next, &mut frame)? {
            results.push(condition);
        }
        let body = self.builder.end_body(results);
        let (value, mut outer_ids) = self.add_results(initial, varying);
        if matches!(form, SoacLoopForm::While(_)) {
            outer_ids.push(
                self.builder
                    .add_variable("go", SoacType::Scalar(MachineType::Bool)),
            );
        }
        let parameters = ids.into_iter().zip(firsts).collect();
        self.builder
            .add_statement(outer_ids, SoacOperation::Loop(parameters, form, body));
        Ok(LoopAttempt::Done(value))
    }

    /// The condition of a while loop for a value.
    fn loop_condition(
        &mut self,
        typed_loop: &TypedLoop,
        value: StaticValue,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<Option<SoacOperand>> {
        let TypedLoopForm::While(condition) = typed_loop.form else {
            return Ok(None);
        };
        self.bind_pattern(typed_loop.pattern, value, frame)?;
        self.internalise_operand(condition, frame).map(Some)
    }

    /// Binds the counter or the element of an iteration.
    fn bind_loop_form(
        &mut self,
        typed_loop: &TypedLoop,
        outer: Option<&StaticValue>,
        parameters: usize,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<SoacLoopForm> {
        match (typed_loop.form, outer) {
            (TypedLoopForm::Count(local, _), Some(StaticValue::Scalar(scalar, bound))) => {
                let counter = self
                    .builder
                    .add_variable("i", SoacType::Scalar(machine_type(*scalar)));
                let value = StaticValue::Scalar(*scalar, SoacOperand::Variable(counter));
                frame.locals.set(local, Some(value));
                Ok(SoacLoopForm::For(counter, *bound))
            }
            (TypedLoopForm::Elements(pattern, _), Some(StaticValue::Array(array))) => {
                let counter = self
                    .builder
                    .add_variable("i", SoacType::Scalar(MachineType::I64));
                let element = self.element_at(array, SoacOperand::Variable(counter));
                self.bind_pattern(pattern, element, frame)?;
                Ok(SoacLoopForm::For(counter, array.length))
            }
            (TypedLoopForm::While(_), _) => Ok(SoacLoopForm::While(parameters - 1)),
            _ => Err(self.fail("the bound of a loop is no scalar and no array")),
        }
    }

    /// A scalar as an operand of type `i64`.
    pub(super) fn widen(&mut self, scalar: PrimitiveType, operand: SoacOperand) -> SoacOperand {
        let int64 = PrimitiveType::Number(crate::syntax::tree::NumberType::I64);
        self.convert_operand(scalar, int64, operand)
    }

    /// A scalar as an operand of another type.
    pub(super) fn convert_operand(
        &mut self,
        from: PrimitiveType,
        to: PrimitiveType,
        operand: SoacOperand,
    ) -> SoacOperand {
        let operators = crate::intrinsic::find_conversion(from, to);
        operators.into_iter().fold(operand, |operand, operator| {
            self.builder.add_scalar(operator, &[operand])
        })
    }
}

/// The outcome of an attempt to make a loop.
enum LoopAttempt {
    /// The value of the loop.
    Done(StaticValue),
    /// More sizes change from iteration to iteration: their positions.
    Changes(Vec<usize>),
}

/// Whether an operand exists outside of a body whose variables have ids from `first_inner` on.
pub(super) fn is_outer(operand: SoacOperand, first_inner: usize) -> bool {
    match operand {
        SoacOperand::Constant(_) => true,
        SoacOperand::Variable(id) => id.index() < first_inner,
    }
}
