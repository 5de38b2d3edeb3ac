//! Reverse mode: a sweep that runs the statements, and one in reverse that computes the adjoints of their operands.
//!
//! Bodies within statements are run again when the sweep in reverse comes to them, so that only loops keep values.

use super::activity::ActivitySet;
use super::adjoint::AdjointMap;
use super::alias::AliasTable;
use super::arithmetic::{add_zero, make_sum, zero_constant};
use super::copy::BodyCopier;
use super::custom::CustomRules;
use super::need::{NeedAnalysis, visit_bound};
use super::reverse_loop::LoopTape;
use super::scalar_rule::{chain_derivative, find_partials};
use crate::build::SoacBuilder;
use crate::ir::{
    ReductionOrder, SliceSelector, SoacBody, SoacLambda, SoacOperand, SoacOperation, SoacStatement,
    SoacType, SoacVariableId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};
use std::collections::BTreeSet;

/// State of the transformation.
pub(super) struct ReverseTransform<'b> {
    pub(super) builder: &'b mut SoacBuilder,
    pub(super) active: ActivitySet,
    pub(super) rules: CustomRules,
    pub(super) adjoints: AdjointMap,
    /// Copies of arrays that are consumed before the reverse sweep reads them.
    pub(super) saved: FxHashMap<SoacVariableId, SoacOperand>,
    /// The variables whose copies have no adjoints of their own.
    pub(super) originals: FxHashMap<SoacVariableId, SoacVariableId>,
    /// The adjoints of the arrays of accumulators whose bodies are swept.
    pub(super) written: FxHashMap<SoacVariableId, Vec<Option<SoacOperand>>>,
    /// Why the transformation is not possible.
    pub(super) fault: Option<String>,
}

/// A statement that was run, for the sweep in reverse.
#[derive(Clone, Debug)]
pub(super) struct SweepRecord {
    pub(super) statement: SoacStatement,
    /// The values that a loop kept.
    pub(super) tape: Option<LoopTape>,
}

impl ReverseTransform<'_> {
    /// Runs statements. Values that the sweep in reverse needs are kept.
    pub(super) fn sweep_forward(&mut self, statements: Vec<SoacStatement>) -> Vec<SweepRecord> {
        let arrays = self.find_read_arrays(&statements);
        let mut bound = FxHashSet::default();
        for statement in &statements {
            visit_bound(statement, &mut |id| {
                bound.insert(id);
            });
        }
        let mut by_root: FxHashMap<SoacVariableId, Vec<SoacVariableId>> = FxHashMap::default();
        for &id in arrays.iter().filter(|&id| !bound.contains(id)) {
            by_root.entry(id).or_default().push(id);
        }
        let mut aliases = AliasTable::default();
        let mut records = Vec::with_capacity(statements.len());
        for statement in statements {
            for root in aliases.visit_statement(&statement) {
                for id in by_root.remove(&root).unwrap_or_default() {
                    self.save(id);
                }
            }
            for &result in &statement.results {
                if arrays.contains(&result) {
                    for root in aliases.find_roots(SoacOperand::Variable(result)) {
                        by_root.entry(root).or_default().push(result);
                    }
                }
            }
            records.push(self.run_statement(statement));
        }
        records
    }

    /// The arrays that the sweep in reverse of statements reads.
    fn find_read_arrays(&self, statements: &[SoacStatement]) -> BTreeSet<SoacVariableId> {
        let mut analysis = NeedAnalysis {
            builder: self.builder,
            active: &self.active,
            rules: &self.rules,
            needed: FxHashSet::default(),
        };
        for statement in statements {
            analysis.need_reverse(statement);
        }
        let is_array = |id: &SoacVariableId| {
            let operand_type = self.builder.type_of(SoacOperand::Variable(*id));
            matches!(operand_type, SoacType::Array(..))
        };
        analysis.needed.into_iter().filter(is_array).collect()
    }

    /// Copies an array that will be consumed.
    fn save(&mut self, id: SoacVariableId) {
        if self.saved.contains_key(&id) {
            return;
        }
        let array = SoacOperand::Variable(id);
        let array_type = self.builder.type_of(array);
        let copy = self
            .builder
            .add_single("saved", array_type, SoacOperation::Manifest(array));
        self.saved.insert(id, copy);
        self.link_copy(id, copy);
    }

    /// Lets contributions to the adjoint of a copy go to that of the original.
    pub(super) fn link_copy(&mut self, id: SoacVariableId, copy: SoacOperand) {
        if let SoacOperand::Variable(copy) = copy
            && self.active.contains(id)
        {
            self.active.insert(self.builder, copy);
            let original = self.find_original(id);
            self.originals.insert(copy, original);
        }
    }

    /// The variable that a variable is a copy of, or itself.
    pub(super) fn find_original(&self, id: SoacVariableId) -> SoacVariableId {
        self.originals.get(&id).copied().unwrap_or(id)
    }

    /// The operand that has the value which an operand had when it was defined.
    pub(super) fn read(&self, operand: SoacOperand) -> SoacOperand {
        match operand {
            SoacOperand::Variable(id) => self.saved.get(&id).copied().unwrap_or(operand),
            SoacOperand::Constant(_) => operand,
        }
    }

    /// A copier that reads saved arrays.
    pub(super) fn make_copier(&self) -> BodyCopier {
        let mut copier = BodyCopier::default();
        for (&id, &copy) in &self.saved {
            copier.replace(id, copy);
        }
        copier
    }

    fn run_statement(&mut self, statement: SoacStatement) -> SweepRecord {
        let is_active = statement.results.iter().any(|&id| self.active.contains(id));
        let writes = statement.operation.writes_accumulator();
        if (is_active || writes) && matches!(statement.operation, SoacOperation::Loop(..)) {
            return self.run_loop(statement);
        }
        if !writes {
            self.builder.push_statement(statement.clone());
        } else if let Some(stripped) = self.strip_writes(statement.clone()) {
            self.builder.push_statement(stripped);
        }
        SweepRecord {
            statement,
            tape: None,
        }
    }

    /// Marks the copies of active variables, and of calls whose gradient is given.
    pub(super) fn adopt_copies(&mut self, copier: &BodyCopier) {
        if !self.rules.is_empty() {
            let first = self.rules.copy(self.builder, copier);
            self.active.link(self.rules.list_from_index(first));
        }
        for &(id, copy) in &copier.copies {
            if self.active.contains(id) {
                self.active.insert(self.builder, copy);
            }
        }
    }

    /// Runs a copy of a body, and sweeps it in reverse for adjoints of its results.
    pub(super) fn reverse_body(
        &mut self,
        mut copier: BodyCopier,
        body: &SoacBody,
        adjoints: &[Option<SoacOperand>],
    ) {
        let copy = copier.copy_body(self.builder, body);
        self.adopt_copies(&copier);
        let records = self.sweep_forward(copy.statements);
        for (&result, adjoint) in copy.results.iter().zip(adjoints) {
            if let Some(adjoint) = *adjoint {
                self.add_adjoint(result, adjoint);
            }
        }
        self.sweep_reverse(&records);
    }

    /// Computes the adjoints of the operands of statements, from the last to the first.
    pub(super) fn sweep_reverse(&mut self, records: &[SweepRecord]) {
        for record in records.iter().rev() {
            self.reverse_statement(record);
        }
    }

    fn reverse_statement(&mut self, record: &SweepRecord) {
        let statement = &record.statement;
        if let Some(&first) = statement.results.first()
            && let Some(rule) = self.rules.find(first)
        {
            if rule.results.first() == Some(&first) {
                self.reverse_custom(first);
            }
            return;
        }
        let taken = statement.results.iter().map(|&id| self.take_adjoint(id));
        let adjoints: Vec<Option<SoacOperand>> = taken.collect();
        let writes = statement.operation.writes_accumulator();
        if adjoints.iter().all(Option::is_none) && !writes {
            return;
        }
        match &statement.operation {
            SoacOperation::Accumulate(accumulator, position, values) => {
                self.reverse_write(*accumulator, *position, values);
            }
            SoacOperation::WithAccumulators(accumulation) => {
                self.reverse_accumulation(accumulation, &adjoints);
            }
            SoacOperation::If(condition, accept, reject) => {
                self.reverse_if(*condition, accept, reject, &adjoints);
            }
            SoacOperation::Loop(..) => {
                if let Some(tape) = &record.tape {
                    self.reverse_loop(statement, tape, &adjoints);
                }
            }
            SoacOperation::Map(width, arrays, function) => {
                self.reverse_map(*width, arrays, function, &adjoints, false);
            }
            SoacOperation::Reduce(width, arrays, neutral, function, _) => {
                self.reverse_reduce(*width, arrays, neutral, function, &adjoints);
            }
            SoacOperation::Scan(width, arrays, neutral, function) => {
                self.reverse_scan(statement, *width, arrays, neutral, function, &adjoints);
            }
            SoacOperation::Histogram(histogram) => {
                self.reverse_histogram(statement, histogram, &adjoints);
            }
            _ => {
                if let Some(adjoint) = adjoints[0] {
                    self.reverse_single(statement, adjoint);
                }
            }
        }
    }

    /// Calls the gradient of a function for the adjoints of its results.
    fn reverse_custom(&mut self, first: SoacVariableId) {
        let Some(rule) = self.rules.find(first).cloned() else {
            return;
        };
        let mut copier = self.make_copier();
        let (values, directions) = rule.gradient.parameters.split_at(rule.results.len());
        let mut is_zero = true;
        for (index, &result) in rule.results.iter().enumerate() {
            let operand = SoacOperand::Variable(result);
            is_zero &= !self.adjoints.values.contains_key(&result);
            let adjoint = self.take_or_zero(operand);
            copier.replace(values[index], self.read(operand));
            copier.replace(directions[index], adjoint);
        }
        if is_zero {
            return;
        }
        let gradient = copier.copy_body(self.builder, &rule.gradient.body);
        for statement in gradient.statements {
            self.builder.push_statement(statement);
        }
        for (&argument, adjoint) in rule.arguments.iter().zip(gradient.results) {
            self.add_adjoint(argument, adjoint);
        }
    }

    /// Adds the adjoints of the operands of an operation that moves elements, or of a scalar operator.
    fn reverse_single(&mut self, statement: &SoacStatement, adjoint: SoacOperand) {
        match &statement.operation {
            SoacOperation::Scalar(operator, operands) => {
                let result = SoacOperand::Variable(statement.results[0]);
                self.reverse_scalar(*operator, operands, result, adjoint);
            }
            SoacOperation::Slice(array, selectors) => {
                self.builder.require_certificates(&statement.certificates);
                self.add_slice_adjoint(*array, selectors, adjoint);
                self.builder.take_certificates();
            }
            SoacOperation::Update(array, selectors, value) => {
                self.builder.require_certificates(&statement.certificates);
                self.reverse_update(*array, selectors, *value, adjoint);
            }
            SoacOperation::Literal(elements) => {
                for (index, &element) in elements.iter().enumerate() {
                    if self.active.has_operand(element) {
                        let point = SliceSelector::Point(SoacOperand::from_int64(index as i64));
                        let element_type = self.builder.type_of(element);
                        let part = self.slice(adjoint, vec![point], element_type);
                        self.add_adjoint(element, part);
                    }
                }
            }
            SoacOperation::Iota(count, first, step) => {
                self.reverse_iota(*count, *first, *step, adjoint);
            }
            SoacOperation::Replicate(sizes, value) => {
                let value_type = self.builder.type_of(*value);
                let sum = self.sum_outer(adjoint, sizes, &value_type);
                self.add_adjoint(*value, sum);
            }
            SoacOperation::Concat(arrays) => self.reverse_concat(arrays, adjoint),
            SoacOperation::Reshape(array, _) => {
                let array_type = self.builder.type_of(*array);
                let sizes = array_type.shape().to_vec();
                let reshape = SoacOperation::Reshape(adjoint, sizes);
                let part = self.builder.add_single("adj", array_type, reshape);
                self.add_adjoint(*array, part);
            }
            SoacOperation::Rearrange(array, permutation) => {
                let mut inverse = vec![0; permutation.len()];
                for (index, &dimension) in permutation.iter().enumerate() {
                    inverse[dimension] = index;
                }
                let array_type = self.builder.type_of(*array);
                let rearrange = SoacOperation::Rearrange(adjoint, inverse);
                let part = self.builder.add_single("adj", array_type, rearrange);
                self.add_adjoint(*array, part);
            }
            SoacOperation::Manifest(array) => self.add_adjoint(*array, adjoint),
            SoacOperation::Scatter(array, positions, values) => {
                self.reverse_scatter(*array, *positions, *values, adjoint);
            }
            _ => {}
        }
    }

    fn reverse_scalar(
        &mut self,
        operator: ScalarOperator,
        operands: &[SoacOperand],
        result: SoacOperand,
        adjoint: SoacOperand,
    ) {
        let partials = find_partials(self.builder, operator, operands, &result);
        for (&operand, partial) in operands.iter().zip(&partials) {
            if !self.active.has_operand(operand) {
                continue;
            }
            let part = chain_derivative(self.builder, operator, partial, &adjoint, true);
            if let Some(part) = part {
                self.add_adjoint(operand, part);
            }
        }
    }

    /// A part of an array.
    pub(super) fn slice(
        &mut self,
        array: SoacOperand,
        selectors: Vec<SliceSelector>,
        part: SoacType,
    ) -> SoacOperand {
        let slice = SoacOperation::Slice(array, selectors);
        self.builder.add_single("e", part, slice)
    }

    fn reverse_update(
        &mut self,
        array: SoacOperand,
        selectors: &[SliceSelector],
        value: SoacOperand,
        adjoint: SoacOperand,
    ) {
        let value_type = self.builder.type_of(value);
        if self.active.has_operand(value) {
            let mut part = self.slice(adjoint, selectors.to_vec(), value_type.clone());
            if let SoacType::Array(..) = value_type {
                let copy = SoacOperation::Manifest(part);
                part = self.builder.add_single("adj", value_type.clone(), copy);
            }
            self.add_adjoint(value, part);
        }
        if self.active.has_operand(array) {
            let zero = add_zero(self.builder, &value_type);
            let array_type = self.builder.type_of(array);
            let update = SoacOperation::Update(adjoint, selectors.to_vec(), zero);
            let rest = self.builder.add_single("adj", array_type, update);
            self.add_adjoint(array, rest);
        }
    }

    /// Numbers that follow each other: the first counts once for each, the step as often as it was added. Futhark lets the
    /// adjoint of the count be the sum, too.
    fn reverse_iota(
        &mut self,
        count: SoacOperand,
        first: SoacOperand,
        step: SoacOperand,
        adjoint: SoacOperand,
    ) {
        let element = self.builder.type_of(adjoint).element();
        let scalar = SoacType::Scalar(element);
        let sum = self.sum_outer(adjoint, &[count], &scalar);
        self.add_adjoint(first, sum);
        if element == ScalarType::I64 {
            self.add_adjoint(count, sum);
        }
        if self.active.has_operand(step) {
            let array_type = SoacType::Array(element, vec![count]);
            let one = SoacOperand::Constant(ScalarLiteral::new(element, 1));
            let iota = SoacOperation::Iota(count, zero_constant(element), one);
            let factors = self.builder.add_single("iota", array_type.clone(), iota);
            let product = self.multiply_elements(count, adjoint, factors, element);
            let sum = self.sum_outer(product, &[count], &scalar);
            self.add_adjoint(step, sum);
        }
    }

    /// The products of the elements of two vectors.
    fn multiply_elements(
        &mut self,
        count: SoacOperand,
        left: SoacOperand,
        right: SoacOperand,
        element: ScalarType,
    ) -> SoacOperand {
        let scalar = SoacType::Scalar(element);
        let parameters = vec![
            self.builder.add_variable("l", scalar.clone()),
            self.builder.add_variable("r", scalar),
        ];
        let operands: Vec<_> = parameters
            .iter()
            .map(|&id| SoacOperand::Variable(id))
            .collect();
        self.builder.begin_body();
        let multiply = ScalarOperator::with_type(ScalarOp::Mul, element);
        let product = self.builder.add_scalar(multiply, &operands);
        let body = self.builder.end_body(vec![product]);
        let function = SoacLambda { parameters, body };
        let result = SoacType::Array(element, vec![count]);
        let map = SoacOperation::Map(count, vec![left, right], function);
        self.builder.add_single("m", result, map)
    }

    /// The sum over the outer dimensions of an array.
    pub(super) fn sum_outer(
        &mut self,
        array: SoacOperand,
        sizes: &[SoacOperand],
        row: &SoacType,
    ) -> SoacOperand {
        let total = self.builder.add_product(sizes);
        let mut flat = array;
        if sizes.len() > 1 {
            let mut shape = vec![total];
            shape.extend(row.shape());
            let flat_type = SoacType::Array(row.element(), shape.clone());
            let reshape = SoacOperation::Reshape(array, shape);
            flat = self.builder.add_single("flat", flat_type, reshape);
        }
        let neutral = add_zero(self.builder, row);
        let function = make_sum(self.builder, row);
        let order = ReductionOrder::Commutative;
        let reduce = SoacOperation::Reduce(total, vec![flat], vec![neutral], function, order);
        self.builder.add_single("sum", row.clone(), reduce)
    }

    fn reverse_concat(&mut self, arrays: &[SoacOperand], adjoint: SoacOperand) {
        let mut start = SoacOperand::from_int64(0);
        let stride = SoacOperand::from_int64(1);
        for &array in arrays {
            let array_type = self.builder.type_of(array);
            let count = array_type.shape()[0];
            if self.active.has_operand(array) {
                let selector = SliceSelector::Stride {
                    start,
                    count,
                    stride,
                };
                let part = self.slice(adjoint, vec![selector], array_type);
                self.add_adjoint(array, part);
            }
            start = self.builder.add_int64(ScalarOp::Add, start, count);
        }
    }
}
