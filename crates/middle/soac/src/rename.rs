//! Copies of code with fresh variables.

use crate::ir::{
    SoacBody, SoacLambda, SoacOperand, SoacOperation, SoacStatement, SoacType, SoacVariable,
    SoacVariableId,
};
use rustc_hash::FxHashMap;
use spirula_entity::EntityArena;

/// Copies statements. Variables that they bind become fresh ones.
#[derive(Debug)]
pub struct CodeCopier<'f> {
    /// The variables of the function.
    variables: &'f mut EntityArena<SoacVariableId, SoacVariable>,
    /// Operands in place of variables.
    replacements: FxHashMap<SoacVariableId, SoacOperand>,
}

impl<'f> CodeCopier<'f> {
    /// A copier that adds variables to a function's.
    pub fn new(variables: &'f mut EntityArena<SoacVariableId, SoacVariable>) -> Self {
        CodeCopier {
            variables,
            replacements: FxHashMap::default(),
        }
    }

    /// Uses an operand in place of a variable.
    pub fn replace(&mut self, id: SoacVariableId, operand: SoacOperand) {
        self.replacements.insert(id, operand);
    }

    /// The operand in place of another.
    pub fn copy_operand(&self, operand: SoacOperand) -> SoacOperand {
        match operand {
            SoacOperand::Variable(id) => self.replacements.get(&id).copied().unwrap_or(operand),
            SoacOperand::Constant(_) => operand,
        }
    }

    /// A fresh variable in place of another.
    pub fn bind_variable(&mut self, id: SoacVariableId) -> SoacVariableId {
        let variable = &self.variables[id];
        let name = variable.name.clone();
        let variable_type = match &variable.variable_type {
            SoacType::Array(element, shape) => {
                let shape = shape.iter().map(|&size| self.copy_operand(size));
                SoacType::Array(*element, shape.collect())
            }
            other => other.clone(),
        };
        let fresh = self.variables.push(SoacVariable {
            name,
            variable_type,
        });
        self.replace(id, SoacOperand::Variable(fresh));
        fresh
    }

    /// A copy of a body.
    pub fn copy_body(&mut self, body: &SoacBody) -> SoacBody {
        let statements = body.statements.iter();
        let statements = statements.map(|statement| self.copy_statement(statement));
        let statements = statements.collect();
        let results = body.results.iter();
        let results = results.map(|&result| self.copy_operand(result)).collect();
        SoacBody {
            statements,
            results,
        }
    }

    /// A copy of the function of a combinator.
    pub fn copy_lambda(&mut self, function: &SoacLambda) -> SoacLambda {
        let parameters = function.parameters.iter();
        SoacLambda {
            parameters: parameters.map(|&id| self.bind_variable(id)).collect(),
            body: self.copy_body(&function.body),
        }
    }

    /// A copy of a statement.
    pub fn copy_statement(&mut self, statement: &SoacStatement) -> SoacStatement {
        let certificates = statement.certificates.iter();
        let certificates =
            certificates.filter_map(|&id| match self.copy_operand(SoacOperand::Variable(id)) {
                SoacOperand::Variable(id) => Some(id),
                SoacOperand::Constant(_) => None,
            });
        let certificates = certificates.collect();
        let mut operation = statement.operation.clone();
        for operand in operation.operands_mut() {
            *operand = self.copy_operand(*operand);
        }
        if let SoacOperation::Accumulate(accumulator, ..) = &mut operation
            && let SoacOperand::Variable(id) =
                self.copy_operand(SoacOperand::Variable(*accumulator))
        {
            *accumulator = id;
        }
        for id in operation.bound_mut() {
            *id = self.bind_variable(*id);
        }
        for body in operation.bodies_mut() {
            *body = self.copy_body(body);
        }
        let results = statement.results.iter();
        let results = results.map(|&id| self.bind_variable(id)).collect();
        SoacStatement {
            results,
            certificates,
            operation,
        }
    }
}
