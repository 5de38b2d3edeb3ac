//! Simplification: constants are folded, copies, repetitions, checks that hold and dead code are removed, and what does not
//! depend on a loop or a combinator's element moves out of it.
//!
//! A sweep visits each statement once, after everything that it depends on; operands are in their simplest form by then, so
//! that one visit is enough for most rules. Dead-code elimination follows. A further sweep is made only where a rule or the
//! elimination removed parameters or results, as new constants and copies may come of it.
//!
//! A value that replaces a variable brings the certificates of the statement that made the variable: the statements that use
//! it need them from then on.

mod combinator;
mod control;
mod dead;
mod index;
mod place;
mod scalar;
mod signature;

use crate::consumption::{FunctionResults, find_consumed};
use crate::ir::{
    SoacBody, SoacFunction, SoacMessage, SoacOperand, SoacOperation, SoacStatement, SoacType,
    SoacVariable, SoacVariableId,
};
pub use dead::{DeadCodeOutcome, remove_dead_code};
use place::BodyFrame;
use rustc_hash::FxHashMap;
use scalar::{ScalarForm, read_truth};
pub use signature::prune_signatures;
use spirula_entity::{EntityArena, EntitySet};
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};
use std::rc::Rc;

/// How often a function is swept at most.
const MAX_SWEEPS: usize = 4;

/// How many rules are applied to a statement at most.
const MAX_REWRITES: usize = 32;

/// Simplifies a function and those that it calls.
pub fn simplify_function(function: &mut SoacFunction) {
    if !function.callees.is_empty() {
        prune_signatures(function);
        let ids: Vec<_> = function.callees.ids().collect();
        for id in ids {
            simplify_alone(&mut function.callees[id], FunctionResults::New);
        }
    }
    simplify_alone(function, FunctionResults::Shared);
}

/// Simplifies a function without those that it calls.
fn simplify_alone(function: &mut SoacFunction, results: FunctionResults) {
    remove_dead_code(function);
    for _ in 0..MAX_SWEEPS {
        let needs_again = sweep_function(function, results);
        let outcome = remove_dead_code(function);
        if !needs_again && outcome == DeadCodeOutcome::Statements {
            return;
        }
    }
}

/// Applies the rules to each statement once. Returns whether another sweep may find more.
fn sweep_function(function: &mut SoacFunction, results: FunctionResults) -> bool {
    let consumed = find_consumed(function, results);
    let uses = count_uses(function);
    let mut naturals = EntitySet::default();
    for &parameter in &function.parameters {
        for &size in function.variables[parameter].variable_type.shape() {
            if let SoacOperand::Variable(id) = size {
                naturals.insert(id);
            }
        }
    }
    let body = std::mem::take(&mut function.body);
    let mut simplifier = FunctionSimplifier {
        variables: &mut function.variables,
        consumed,
        fresh: EntitySet::default(),
        uses,
        replacements: FxHashMap::default(),
        holding: FxHashMap::default(),
        definitions: FxHashMap::default(),
        depths: FxHashMap::default(),
        upper_bounds: FxHashMap::default(),
        naturals,
        frames: Vec::new(),
        needs_again: false,
    };
    let body = simplifier.simplify_body(body, BodyKind::Once);
    let needs_again = simplifier.needs_again;
    function.body = body;
    needs_again
}

/// How often each variable is an operand, a result or a size.
fn count_uses(function: &SoacFunction) -> Vec<u32> {
    let mut uses = vec![0; function.variables.len()];
    function.for_each_use(&mut |id| {
        uses[id.index()] += 1;
    });
    uses
}

/// How often a body runs for each run of the body around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyKind {
    /// Once.
    Once,
    /// Once or not at all.
    Branch,
    /// Any number of times: this one, if it is known.
    Repeated(Option<SoacOperand>),
}

impl BodyKind {
    fn is_repeated(self) -> bool {
        matches!(self, BodyKind::Repeated(_))
    }
}

/// An operand in place of a variable.
#[derive(Clone, Debug)]
struct ReplacementValue {
    operand: SoacOperand,
    /// The conditions of its use.
    certificates: Vec<SoacVariableId>,
}

/// The outcome of a rule.
#[derive(Clone, Debug)]
enum StatementRewrite {
    /// The results are operands.
    Operands(Vec<SoacOperand>),
    /// The results are those of another operation.
    Operation(SoacOperation),
    /// The results are those of another operation, which needs more certificates.
    Certified(SoacOperation, Vec<SoacVariableId>),
}

/// State of a sweep.
struct FunctionSimplifier<'f> {
    variables: &'f mut EntityArena<SoacVariableId, SoacVariable>,
    /// The variables that share elements with an array that is changed in place.
    consumed: EntitySet<SoacVariableId>,
    /// Arrays that no other array shares elements with when their statement is done.
    fresh: EntitySet<SoacVariableId>,
    /// How often each variable is used.
    uses: Vec<u32>,
    /// The values of variables that are gone.
    replacements: FxHashMap<SoacVariableId, ReplacementValue>,
    /// Certificates that follow from others, or from nothing.
    holding: FxHashMap<SoacVariableId, Vec<SoacVariableId>>,
    /// The statements without bodies that define variables.
    definitions: FxHashMap<SoacVariableId, Rc<SoacStatement>>,
    /// For each variable the number of bodies around its statement.
    depths: FxHashMap<SoacVariableId, usize>,
    /// Variables that are at least zero and less than an operand.
    upper_bounds: FxHashMap<SoacVariableId, SoacOperand>,
    /// Variables that are not negative.
    naturals: EntitySet<SoacVariableId>,
    /// The bodies that are being made, outermost first.
    frames: Vec<BodyFrame>,
    needs_again: bool,
}

impl FunctionSimplifier<'_> {
    /// The statement without bodies that defines an operand.
    fn definition(&self, operand: SoacOperand) -> Option<&Rc<SoacStatement>> {
        match operand {
            SoacOperand::Variable(id) => self.definitions.get(&id),
            SoacOperand::Constant(_) => None,
        }
    }

    fn type_of(&self, operand: SoacOperand) -> SoacType {
        match operand {
            SoacOperand::Constant(literal) => SoacType::Scalar(literal.ty),
            SoacOperand::Variable(id) => self.variables[id].variable_type.clone(),
        }
    }

    fn add_variable(&mut self, name: &str, variable_type: SoacType) -> SoacVariableId {
        self.uses.push(0);
        self.variables.push(SoacVariable {
            name: name.to_owned(),
            variable_type,
        })
    }

    /// Whether an operand is an array that is changed in place, or shares elements with one.
    fn is_consumed(&self, operand: SoacOperand) -> bool {
        match operand {
            SoacOperand::Variable(id) => self.consumed.contains(id),
            SoacOperand::Constant(_) => false,
        }
    }

    /// Uses an operand in place of a variable, where certificates hold.
    fn replace(
        &mut self,
        id: SoacVariableId,
        operand: SoacOperand,
        certificates: &[SoacVariableId],
    ) {
        if operand == SoacOperand::Variable(id) {
            return;
        }
        if let SoacOperand::Variable(other) = operand {
            self.uses[other.index()] += self.uses[id.index()];
            if self.naturals.contains(id) {
                self.naturals.insert(other);
            }
        }
        let certificates = certificates.to_vec();
        self.replacements.insert(
            id,
            ReplacementValue {
                operand,
                certificates,
            },
        );
    }

    /// The operand in place of another. Certificates that it needs are added.
    fn substitute(
        &self,
        operand: SoacOperand,
        certificates: &mut Vec<SoacVariableId>,
    ) -> SoacOperand {
        let mut operand = operand;
        while let SoacOperand::Variable(id) = operand
            && let Some(value) = self.replacements.get(&id)
        {
            operand = value.operand;
            certificates.extend(&value.certificates);
        }
        operand
    }

    /// The operand in place of a size. Sizes need no certificates.
    fn substitute_size(&self, size: SoacOperand) -> SoacOperand {
        self.substitute(size, &mut Vec::new())
    }

    fn substitute_type(&mut self, id: SoacVariableId) {
        if let SoacType::Array(element, shape) = &self.variables[id].variable_type {
            let shape = shape.iter().map(|&size| self.substitute_size(size));
            let variable_type = SoacType::Array(*element, shape.collect());
            self.variables[id].variable_type = variable_type;
        }
    }

    /// The certificates that others follow from, each once.
    fn resolve_certificates(&self, certificates: &mut Vec<SoacVariableId>) {
        let mut index = 0;
        while index < certificates.len() {
            let id = certificates[index];
            if let Some(causes) = self.holding.get(&id) {
                certificates.splice(index..=index, causes.iter().copied());
            } else if certificates[..index].contains(&id) {
                certificates.remove(index);
            } else {
                index += 1;
            }
        }
    }

    /// Uses the values of variables that are gone, in a statement apart from its bodies.
    fn substitute_statement(&mut self, statement: &mut SoacStatement) {
        let mut certificates = std::mem::take(&mut statement.certificates);
        for operand in statement.operation.operands_mut() {
            *operand = self.substitute(*operand, &mut certificates);
        }
        self.resolve_certificates(&mut certificates);
        statement.certificates = certificates;
        for &id in &statement.results {
            self.substitute_type(id);
        }
    }

    /// Simplifies a body. Its frame is a new one.
    fn simplify_body(&mut self, body: SoacBody, kind: BodyKind) -> SoacBody {
        self.frames.push(BodyFrame::new(kind));
        let mut results = body.results;
        for statement in body.statements {
            self.simplify_statement(statement);
        }
        for result in &mut results {
            *result = self.substitute_result(*result);
        }
        let frame = self.frames.pop();
        SoacBody {
            statements: frame.map(|frame| frame.statements).unwrap_or_default(),
            results,
        }
    }

    /// The operand in place of a result of a body. A copy takes the certificates that it needs.
    fn substitute_result(&mut self, result: SoacOperand) -> SoacOperand {
        let mut certificates = Vec::new();
        let operand = self.substitute(result, &mut certificates);
        self.resolve_certificates(&mut certificates);
        if certificates.is_empty() {
            return operand;
        }
        let variable_type = self.type_of(operand);
        let id = self.add_variable("ok", variable_type);
        if self.is_consumed(operand) {
            self.consumed.insert(id);
        }
        self.place_apart(SoacStatement {
            results: vec![id],
            certificates,
            operation: SoacOperation::Slice(operand, Vec::new()),
        });
        SoacOperand::Variable(id)
    }

    /// Simplifies a statement and adds it to the body that is made.
    fn simplify_statement(&mut self, mut statement: SoacStatement) {
        self.substitute_statement(&mut statement);
        for _ in 0..MAX_REWRITES {
            match self.rewrite(&statement) {
                None => break,
                Some(StatementRewrite::Operands(operands)) => {
                    let SoacStatement {
                        results,
                        certificates,
                        ..
                    } = statement;
                    for (id, operand) in results.into_iter().zip(operands) {
                        self.replace(id, operand, &certificates);
                    }
                    return;
                }
                Some(StatementRewrite::Operation(operation)) => statement.operation = operation,
                Some(StatementRewrite::Certified(operation, certificates)) => {
                    statement.operation = operation;
                    statement.certificates.extend(certificates);
                }
            }
            self.substitute_statement(&mut statement);
        }
        match statement.operation {
            SoacOperation::Check(..) => self.simplify_check(statement),
            SoacOperation::If(..) => self.simplify_if(statement),
            SoacOperation::Loop(..) => self.simplify_loop(statement),
            SoacOperation::Map(..) | SoacOperation::Fused(..) => self.simplify_map(statement),
            SoacOperation::Reduce(..) | SoacOperation::Scan(..) | SoacOperation::Histogram(_) => {
                self.simplify_fold(statement);
            }
            SoacOperation::WithAccumulators(_) => self.simplify_accumulation(statement),
            _ => self.place(statement),
        }
    }

    /// The first rule that applies to a statement.
    fn rewrite(&mut self, statement: &SoacStatement) -> Option<StatementRewrite> {
        match &statement.operation {
            SoacOperation::Scalar(operator, operands) => {
                let form = self.simplify_scalar(*operator, operands)?;
                Some(match form {
                    ScalarForm::Operand(operand) => StatementRewrite::Operands(vec![operand]),
                    ScalarForm::Operator(operator, operands) => {
                        StatementRewrite::Operation(SoacOperation::Scalar(operator, operands))
                    }
                })
            }
            SoacOperation::Slice(array, selectors) => {
                self.rewrite_slice(*array, selectors, statement.results[0])
            }
            SoacOperation::Replicate(sizes, value) => self.rewrite_replicate(sizes, *value),
            SoacOperation::Concat(arrays) => self.rewrite_concat(arrays),
            SoacOperation::Reshape(array, sizes) => self.rewrite_reshape(*array, sizes),
            SoacOperation::Rearrange(array, permutation) => {
                self.rewrite_rearrange(*array, permutation)
            }
            SoacOperation::Manifest(array) => self.rewrite_manifest(*array, statement.results[0]),
            _ => None,
        }
    }

    /// Removes a check that holds. A constant condition that does not hold stays: the program fails when it runs.
    fn simplify_check(&mut self, statement: SoacStatement) {
        let SoacOperation::Check(condition, _) = &statement.operation else {
            return;
        };
        let certificate = statement.results[0];
        if read_truth(*condition) == Some(true) {
            self.holding.insert(certificate, statement.certificates);
            return;
        }
        let key = SoacOperation::Check(*condition, SoacMessage::default());
        if let Some(found) = self.find_available(&key) {
            let mut causes = statement.certificates;
            causes.extend(found);
            self.holding.insert(certificate, causes);
            return;
        }
        match self.find_trips(&statement) {
            Some(trips) => self.hoist_check(statement, trips),
            None => self.place(statement),
        }
    }

    /// The result of a scalar operator, in its simplest form.
    fn add_scalar(&mut self, operator: ScalarOperator, operands: Vec<SoacOperand>) -> SoacOperand {
        let id = self.add_variable("s", SoacType::Scalar(operator.to));
        self.simplify_statement(SoacStatement {
            results: vec![id],
            certificates: Vec::new(),
            operation: SoacOperation::Scalar(operator, operands),
        });
        self.substitute_size(SoacOperand::Variable(id))
    }

    /// The result of an operator on `i64`.
    fn add_int64(&mut self, op: ScalarOp, left: SoacOperand, right: SoacOperand) -> SoacOperand {
        let operator = ScalarOperator::with_type(op, ScalarType::I64);
        self.add_scalar(operator, vec![left, right])
    }

    /// Whether a variable is bound outside of the body that is made.
    fn is_outside(&self, operand: SoacOperand, depth: usize) -> bool {
        match operand {
            SoacOperand::Constant(_) => true,
            SoacOperand::Variable(id) => self.depths.get(&id).is_none_or(|&own| own < depth),
        }
    }
}
