//! Activity analysis: which variables depend on the inputs in a way that has a derivative.
//!
//! Only active variables get tangents or adjoints. Conditions, positions and sizes have no derivative.

use super::custom::CustomRule;
use super::scalar_rule::{PartialDerivative, ScalarAlgebra, find_partials, has_derivative};
use crate::build::SoacBuilder;
use crate::ir::{
    SoacAccumulation, SoacBody, SoacHistogram, SoacLambda, SoacOperand, SoacOperation,
    SoacStatement, SoacVariableId,
};
use rustc_hash::FxHashMap;
use spirula_entity::EntitySet;
use spirula_program::{ScalarLiteral, ScalarOperator};

/// The active variables.
#[derive(Clone, Debug, Default)]
pub(super) struct ActivitySet {
    active: EntitySet<SoacVariableId>,
    /// Variables that are not made active, such as the arguments of functions whose gradient is given.
    cut: EntitySet<SoacVariableId>,
    /// The results of such functions, which are active if an argument is.
    linked: FxHashMap<SoacVariableId, Vec<SoacOperand>>,
    /// The results that stand for the arrays of an accumulator.
    targets: FxHashMap<SoacVariableId, Vec<SoacVariableId>>,
}

/// Scalars of which nothing is known, to ask a rule for its form.
pub(super) struct UnknownAlgebra;

impl ScalarAlgebra for UnknownAlgebra {
    type Scalar = ();

    fn add_constant(&mut self, _: ScalarLiteral) {}

    fn apply(&mut self, _: ScalarOperator, _: &[()]) {}
}

impl ActivitySet {
    /// Makes a variable active, if its type has derivatives.
    pub(super) fn insert(&mut self, builder: &SoacBuilder, id: SoacVariableId) -> bool {
        let scalar = builder.type_of(SoacOperand::Variable(id)).element();
        has_derivative(scalar) && !self.cut.contains(id) && self.active.insert(id)
    }

    /// Keeps a variable from becoming active.
    pub(super) fn freeze(&mut self, id: SoacVariableId) {
        self.cut.insert(id);
    }

    /// Treats the statements of functions whose gradient is given as one step.
    pub(super) fn link<'r>(&mut self, rules: impl IntoIterator<Item = &'r CustomRule>) {
        for rule in rules {
            for &copy in &rule.copies {
                self.cut.insert(copy);
            }
            for &result in &rule.results {
                self.linked.insert(result, rule.arguments.clone());
            }
        }
    }

    /// Whether a variable is active.
    pub(super) fn contains(&self, id: SoacVariableId) -> bool {
        self.active.contains(id)
    }

    /// Whether an operand is an active variable.
    pub(super) fn has_operand(&self, operand: SoacOperand) -> bool {
        match operand {
            SoacOperand::Variable(id) => self.contains(id),
            SoacOperand::Constant(_) => false,
        }
    }

    fn has_any(&self, operands: &[SoacOperand]) -> bool {
        operands.iter().any(|&operand| self.has_operand(operand))
    }

    /// Finds the active variables of a body.
    pub(super) fn visit_body(&mut self, builder: &SoacBuilder, body: &SoacBody) {
        for statement in &body.statements {
            self.visit_statement(builder, statement);
        }
    }

    /// Finds the active results of a statement, and the active variables in its bodies.
    pub(super) fn visit_statement(&mut self, builder: &SoacBuilder, statement: &SoacStatement) {
        let linked = statement.results.first();
        if let Some(arguments) = linked.and_then(|result| self.linked.get(result)) {
            if self.has_any(arguments) {
                self.insert(builder, statement.results[0]);
            }
            return;
        }
        let is_active = match &statement.operation {
            SoacOperation::Scalar(operator, operands) => self.has_derivative(*operator, operands),
            // Combinators are fused after derivation.
            SoacOperation::Check(..) | SoacOperation::Parameter(..) | SoacOperation::Fused(_) => {
                false
            }
            SoacOperation::Call(_, arguments) => {
                let mut arguments = arguments.iter();
                arguments.any(|argument| self.has_operand(argument.operand))
            }
            SoacOperation::Slice(array, _)
            | SoacOperation::Reshape(array, _)
            | SoacOperation::Rearrange(array, _)
            | SoacOperation::Manifest(array)
            | SoacOperation::Replicate(_, array) => self.has_operand(*array),
            SoacOperation::Update(array, _, value) => self.has_any(&[*array, *value]),
            SoacOperation::Literal(operands) | SoacOperation::Concat(operands) => {
                self.has_any(operands)
            }
            SoacOperation::Iota(count, first, step) => self.has_any(&[*count, *first, *step]),
            SoacOperation::Scatter(array, _, values) => self.has_any(&[*array, *values]),
            SoacOperation::If(_, accept, reject) => {
                for body in [accept, reject] {
                    self.visit_body(builder, body);
                    self.follow_operands(builder, &statement.results, &body.results);
                }
                false
            }
            SoacOperation::Loop(parameters, _, body) => {
                self.visit_loop(builder, statement, parameters, body);
                false
            }
            SoacOperation::Map(_, arrays, function) => {
                self.follow_operands(builder, &function.parameters, arrays);
                self.visit_body(builder, &function.body);
                self.follow_operands(builder, &statement.results, &function.body.results);
                false
            }
            SoacOperation::Reduce(_, arrays, neutral, function, _)
            | SoacOperation::Scan(_, arrays, neutral, function) => {
                self.visit_fold(builder, &statement.results, function, &[arrays, neutral]);
                false
            }
            SoacOperation::Histogram(histogram) => {
                self.visit_histogram(builder, statement, histogram);
                false
            }
            SoacOperation::Accumulate(accumulator, _, values) => {
                let targets = self.targets.get(accumulator).cloned().unwrap_or_default();
                self.follow_operands(builder, &targets, values);
                false
            }
            SoacOperation::WithAccumulators(accumulation) => {
                self.visit_accumulation(builder, statement, accumulation);
                false
            }
        };
        if is_active {
            for &result in &statement.results {
                self.insert(builder, result);
            }
        }
    }

    /// Whether the result of an operator has a derivative by one of its operands that is active.
    fn has_derivative(&self, operator: ScalarOperator, operands: &[SoacOperand]) -> bool {
        let unknown = vec![(); operands.len()];
        let partials = find_partials(&mut UnknownAlgebra, operator, &unknown, &());
        operands.iter().zip(partials).any(|(&operand, partial)| {
            self.has_operand(operand) && !matches!(partial, PartialDerivative::Zero)
        })
    }

    /// Makes the variables active whose operands are. Returns whether there was such a variable that was not active before.
    fn follow_operands(
        &mut self,
        builder: &SoacBuilder,
        ids: &[SoacVariableId],
        operands: &[SoacOperand],
    ) -> bool {
        let mut has_changed = false;
        for (&id, &operand) in ids.iter().zip(operands) {
            if self.has_operand(operand) {
                has_changed |= self.insert(builder, id);
            }
        }
        has_changed
    }

    /// Visits the body of a loop until no further parameter becomes active.
    fn visit_loop(
        &mut self,
        builder: &SoacBuilder,
        statement: &SoacStatement,
        parameters: &[(SoacVariableId, SoacOperand)],
        body: &SoacBody,
    ) {
        let (ids, initial): (Vec<_>, Vec<_>) = parameters.iter().copied().unzip();
        self.follow_operands(builder, &ids, &initial);
        loop {
            self.visit_body(builder, body);
            if !self.follow_operands(builder, &ids, &body.results) {
                break;
            }
        }
        for (&id, &result) in ids.iter().zip(&statement.results) {
            if self.contains(id) {
                self.insert(builder, result);
            }
        }
    }

    fn visit_histogram(
        &mut self,
        builder: &SoacBuilder,
        statement: &SoacStatement,
        histogram: &SoacHistogram,
    ) {
        let operands = [&histogram.targets, &histogram.values, &histogram.neutral];
        self.visit_fold(builder, &statement.results, &histogram.function, &operands);
    }

    fn visit_accumulation(
        &mut self,
        builder: &SoacBuilder,
        statement: &SoacStatement,
        accumulation: &SoacAccumulation,
    ) {
        let mut rest = statement.results.as_slice();
        for accumulator in &accumulation.accumulators {
            let (targets, others) = rest.split_at(accumulator.targets.len());
            rest = others;
            self.targets.insert(accumulator.variable, targets.to_vec());
            for (&id, &target) in targets.iter().zip(&accumulator.targets) {
                if self.has_operand(target) {
                    self.insert(builder, id);
                }
            }
        }
        self.visit_body(builder, &accumulation.body);
        self.follow_operands(builder, rest, &accumulation.body.results);
        for accumulator in &accumulation.accumulators {
            let targets = self.find_targets(accumulator.variable).to_vec();
            let written = targets
                .iter()
                .map(|&id| SoacOperand::Variable(id))
                .collect();
            if let Some(function) = &accumulator.combine {
                self.visit_fold(builder, &targets, function, &[&written]);
            }
        }
    }

    /// The results that stand for the arrays of an accumulator.
    pub(super) fn find_targets(&self, accumulator: SoacVariableId) -> &[SoacVariableId] {
        self.targets.get(&accumulator).map_or(&[], Vec::as_slice)
    }

    /// A function that combines values: a component is active in both operands and the result, or in none of them.
    fn visit_fold(
        &mut self,
        builder: &SoacBuilder,
        results: &[SoacVariableId],
        function: &SoacLambda,
        operands: &[&Vec<SoacOperand>],
    ) {
        let count = results.len();
        let (left, right) = function
            .parameters
            .split_at(count.min(function.parameters.len()));
        for list in operands {
            for (index, &operand) in list.iter().enumerate().take(count) {
                if self.has_operand(operand) {
                    self.insert(builder, left[index]);
                }
            }
        }
        loop {
            for (&left, &right) in left.iter().zip(right) {
                if self.contains(left) {
                    self.insert(builder, right);
                }
            }
            self.visit_body(builder, &function.body);
            if !self.follow_operands(builder, left, &function.body.results) {
                break;
            }
        }
        for (&left, &result) in left.iter().zip(results) {
            if self.contains(left) {
                self.insert(builder, result);
            }
        }
    }
}
