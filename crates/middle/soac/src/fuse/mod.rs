//! Fusion: combinators and those that use the elements of their results become one, and so do reductions or scatters of the same
//! arrays.
//!
//! A producer moves to its consumer. It is fused if no statement between them uses its results or changes an array that it reads,
//! and if the consumer uses the results that it shares with it by their elements only. No work is done twice: results that other
//! statements use stay results of the fused combinator. A scatter moves to a later one if no statement between them uses its array.
//! The method is that of Henriksen, Oancea, "A T2 graph-reduction approach to fusion" (FHPC 2013), on statements in order.

mod body;
mod node;

use crate::consumption::{SharingClasses, find_classes};
use crate::ir::{SoacBody, SoacFunction, SoacOperand, SoacStatement, SoacType, SoacVariableId};
use crate::visit::for_each_used_variable;
use body::BodyFusion;
use node::{FunctionVariables, is_combinator};
use rustc_hash::FxHashMap;

/// The combinators that are fused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FusionScope {
    /// Maps, with maps only.
    Maps,
    /// All.
    All,
}

/// Fuses the combinators of a function.
pub fn fuse_function(function: &mut SoacFunction, scope: FusionScope) {
    let mut uses = FxHashMap::default();
    function.for_each_use(&mut |id| *uses.entry(id).or_insert(0) += 1);
    let classes = find_classes(function);
    let mut body = std::mem::take(&mut function.body);
    let mut fusion = FunctionFusion {
        variables: &mut function.variables,
        scope,
        uses,
        classes,
        replacements: FxHashMap::default(),
    };
    fusion.fuse_body(&mut body);
    fusion.substitute_body(&mut body);
    fusion.substitute_types();
    function.body = body;
}

/// State of the fusion of a function.
struct FunctionFusion<'f> {
    variables: &'f mut FunctionVariables,
    scope: FusionScope,
    /// How often each variable is used.
    uses: FxHashMap<SoacVariableId, usize>,
    classes: SharingClasses,
    /// The values of parameters that are gone.
    replacements: FxHashMap<SoacVariableId, SoacOperand>,
}

impl FunctionFusion<'_> {
    /// Fuses the statements of a body, then those of the bodies within it.
    fn fuse_body(&mut self, body: &mut SoacBody) {
        let is_combinator = |statement: &&SoacStatement| is_combinator(&statement.operation);
        if body.statements.iter().filter(is_combinator).count() > 1 {
            if !self.replacements.is_empty() {
                self.substitute_body(body);
            }
            let statements = std::mem::take(&mut body.statements);
            body.statements = BodyFusion::new(self, statements).run();
        }
        for statement in &mut body.statements {
            for body in statement.operation.bodies_mut() {
                self.fuse_body(body);
            }
        }
    }

    fn resolve(&self, operand: SoacOperand) -> SoacOperand {
        let mut operand = operand;
        while let SoacOperand::Variable(id) = operand
            && let Some(&value) = self.replacements.get(&id)
        {
            operand = value;
        }
        operand
    }

    fn substitute_body(&self, body: &mut SoacBody) {
        for statement in &mut body.statements {
            for operand in statement.operation.operands_mut() {
                *operand = self.resolve(*operand);
            }
            for body in statement.operation.bodies_mut() {
                self.substitute_body(body);
            }
        }
        for result in &mut body.results {
            *result = self.resolve(*result);
        }
    }

    fn substitute_types(&mut self) {
        let ids: Vec<_> = self.variables.ids().collect();
        for id in ids {
            if let SoacType::Array(element, shape) = &self.variables[id].variable_type {
                let shape = shape.iter().map(|&size| self.resolve(size)).collect();
                self.variables[id].variable_type = SoacType::Array(*element, shape);
            }
        }
    }

    /// Calls a function with each variable that a statement uses.
    fn for_each_use(&self, statement: &SoacStatement, visit: &mut dyn FnMut(SoacVariableId)) {
        for_each_used_variable(self.variables, statement, visit);
    }
}
