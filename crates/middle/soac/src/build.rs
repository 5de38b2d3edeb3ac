//! Builder of functions. Constants are folded as they are made.

use crate::ir::{
    SoacBody, SoacFunction, SoacLambda, SoacMessage, SoacOperand, SoacOperation, SoacStatement,
    SoacType, SoacVariable, SoacVariableId,
};
use crate::rename::CodeCopier;
use crate::visit::for_each_used_variable;
use spirula_entity::EntitySet;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// A function that is being made: statements are added to the innermost body that is open.
#[derive(Debug, Default)]
pub struct SoacBuilder {
    /// The function, whose body is empty until it is finished.
    function: SoacFunction,
    /// The bodies that are open, innermost last.
    open: Vec<Vec<SoacStatement>>,
    /// The certificates that operations need, for each place where they are asked for.
    certificates: Vec<SoacVariableId>,
}

impl SoacBuilder {
    /// A function without parameters, whose body is open.
    pub fn new(name: &str) -> Self {
        SoacBuilder {
            function: SoacFunction {
                name: name.to_owned(),
                ..SoacFunction::default()
            },
            open: vec![Vec::new()],
            certificates: Vec::new(),
        }
    }

    /// The function with its results, which need the checks that no operation needed yet.
    pub fn finish(mut self, results: Vec<SoacOperand>) -> SoacFunction {
        self.function.body = self.end_body(results);
        self.function
    }

    /// Adds a parameter of the function.
    pub fn add_parameter(&mut self, name: &str, variable_type: SoacType) -> SoacVariableId {
        let id = self.add_variable(name, variable_type);
        self.function.parameters.push(id);
        id
    }

    /// Adds a variable that the caller binds: a parameter of a combinator's function or of a loop.
    pub fn add_variable(&mut self, name: &str, variable_type: SoacType) -> SoacVariableId {
        let name = name.to_owned();
        self.function.variables.push(SoacVariable {
            name,
            variable_type,
        })
    }

    /// Number of variables. Those that are added later have ids from it on.
    pub fn count_variables(&self) -> usize {
        self.function.variables.len()
    }

    /// Changes the type of a variable that nothing was made of yet.
    pub fn set_type(&mut self, id: SoacVariableId, variable_type: SoacType) {
        self.function.variables[id].variable_type = variable_type;
    }

    /// The type of an operand.
    pub fn type_of(&self, operand: SoacOperand) -> SoacType {
        self.function.type_of(operand)
    }

    /// Opens a body within an operation.
    pub fn begin_body(&mut self) {
        self.open.push(Vec::new());
    }

    /// Opens a body that was closed.
    pub fn resume_body(&mut self, body: SoacBody) {
        self.open.push(body.statements);
    }

    /// Closes the innermost body. Its results need the checks in it that no operation needed yet.
    pub fn end_body(&mut self, mut results: Vec<SoacOperand>) -> SoacBody {
        let pending = self.take_certificates();
        if let Some(first) = results.first_mut()
            && !pending.is_empty()
        {
            let result = self.type_of(*first);
            *first = self.certify(*first, result, &pending);
        }
        let statements = self.open.pop().unwrap_or_default();
        SoacBody {
            statements,
            results,
        }
    }

    /// Adds an operation with results of some types.
    pub fn add_operation(
        &mut self,
        name: &str,
        types: Vec<SoacType>,
        operation: SoacOperation,
    ) -> Vec<SoacOperand> {
        let results: Vec<_> = types
            .into_iter()
            .map(|result| self.add_variable(name, result))
            .collect();
        let operands = results
            .iter()
            .map(|&id| SoacOperand::Variable(id))
            .collect();
        self.add_statement(results, operation);
        operands
    }

    /// Adds an operation whose results are variables that exist.
    pub fn add_statement(&mut self, results: Vec<SoacVariableId>, operation: SoacOperation) {
        let certificates = std::mem::take(&mut self.certificates);
        if let Some(body) = self.open.last_mut() {
            body.push(SoacStatement {
                results,
                certificates,
                operation,
            });
        }
    }

    /// Adds a statement as it is.
    pub fn push_statement(&mut self, statement: SoacStatement) {
        if let Some(body) = self.open.last_mut() {
            body.push(statement);
        }
    }

    /// The next operation needs certificates.
    pub fn require_certificates(&mut self, certificates: &[SoacVariableId]) {
        self.certificates.extend(certificates);
    }

    /// The name of a variable.
    pub fn name_of(&self, id: SoacVariableId) -> &str {
        &self.function.variables[id].name
    }

    /// Adds an operation with one result.
    pub fn add_single(
        &mut self,
        name: &str,
        result: SoacType,
        operation: SoacOperation,
    ) -> SoacOperand {
        let id = self.add_variable(name, result);
        self.add_statement(vec![id], operation);
        SoacOperand::Variable(id)
    }

    /// A scalar operator. It is folded if its operands are constants, or if one of them is neutral.
    pub fn add_scalar(
        &mut self,
        operator: ScalarOperator,
        operands: &[SoacOperand],
    ) -> SoacOperand {
        if let Some(folded) = fold_scalar(operator, operands) {
            return folded;
        }
        let result = SoacType::Scalar(operator.to);
        self.add_single(
            "s",
            result,
            SoacOperation::Scalar(operator, operands.to_vec()),
        )
    }

    /// An operator on `i64`.
    pub fn add_int64(
        &mut self,
        op: ScalarOp,
        left: SoacOperand,
        right: SoacOperand,
    ) -> SoacOperand {
        self.add_scalar(
            ScalarOperator::with_type(op, ScalarType::I64),
            &[left, right],
        )
    }

    /// The product of sizes.
    pub fn add_product(&mut self, sizes: &[SoacOperand]) -> SoacOperand {
        let one = SoacOperand::from_int64(1);
        sizes.iter().fold(one, |product, &size| {
            self.add_int64(ScalarOp::Mul, product, size)
        })
    }

    /// Checks a condition. The next operation needs its certificate. Nothing is added where the condition is known to hold.
    pub fn add_check(&mut self, condition: SoacOperand, message: SoacMessage) {
        let holds = SoacOperand::Constant(ScalarLiteral::new(ScalarType::Bool, 1));
        if condition == holds {
            return;
        }
        let pending = std::mem::take(&mut self.certificates);
        let id = self.add_variable("cert", SoacType::Certificate);
        self.add_statement(vec![id], SoacOperation::Check(condition, message));
        self.certificates = pending;
        self.certificates.push(id);
    }
}

impl SoacBuilder {
    /// The certificates of checks that no operation needed yet.
    pub fn take_certificates(&mut self) -> Vec<SoacVariableId> {
        std::mem::take(&mut self.certificates)
    }

    /// An operand that is used only where certificates hold.
    pub fn certify(
        &mut self,
        operand: SoacOperand,
        result: SoacType,
        certificates: &[SoacVariableId],
    ) -> SoacOperand {
        self.certificates = certificates.to_vec();
        self.add_single("ok", result, SoacOperation::Slice(operand, Vec::new()))
    }
}

impl SoacBuilder {
    /// Adds copies of the statements of a function that some of its values depend on. Returns the copies of the values.
    pub fn copy_slice(
        &mut self,
        function: &SoacLambda,
        arguments: &[SoacOperand],
        values: &[SoacOperand],
    ) -> Vec<SoacOperand> {
        let mut needed = EntitySet::<SoacVariableId>::default();
        for &value in values {
            if let SoacOperand::Variable(id) = value {
                needed.insert(id);
            }
        }
        let mut slice = Vec::new();
        for statement in function.body.statements.iter().rev() {
            if statement.results.iter().any(|&id| needed.contains(id)) {
                for_each_used_variable(&self.function.variables, statement, &mut |id| {
                    needed.insert(id);
                });
                slice.push(statement);
            }
        }
        let mut copier = CodeCopier::new(&mut self.function.variables);
        for (&parameter, &argument) in function.parameters.iter().zip(arguments) {
            copier.replace(parameter, argument);
        }
        let statements = slice.into_iter().rev();
        let statements: Vec<_> = statements
            .map(|statement| copier.copy_statement(statement))
            .collect();
        let values = values.iter().map(|&value| copier.copy_operand(value));
        let values = values.collect();
        if let Some(body) = self.open.last_mut() {
            body.extend(statements);
        }
        values
    }
}

/// The value of a scalar operator, if it is known.
pub(crate) fn fold_scalar(
    operator: ScalarOperator,
    operands: &[SoacOperand],
) -> Option<SoacOperand> {
    let constants: Option<Vec<u64>> = operands
        .iter()
        .map(|operand| match operand {
            SoacOperand::Constant(literal) => Some(literal.bits),
            SoacOperand::Variable(_) => None,
        })
        .collect();
    if let Some(bits) = constants {
        return Some(SoacOperand::Constant(ScalarLiteral::new(
            operator.to,
            operator.eval_operands(&bits),
        )));
    }
    let constant = |index: usize| match operands.get(index) {
        Some(SoacOperand::Constant(literal)) => Some(literal.to_signed()),
        _ => None,
    };
    let operand = |index: usize| operands.get(index).copied();
    match operator.op {
        ScalarOp::Add if constant(0) == Some(0) => operand(1),
        ScalarOp::Add | ScalarOp::Sub if constant(1) == Some(0) => operand(0),
        ScalarOp::Mul if constant(0) == Some(1) => operand(1),
        ScalarOp::Mul if constant(1) == Some(1) => operand(0),
        ScalarOp::Mul if constant(0) == Some(0) => operand(0),
        ScalarOp::Mul if constant(1) == Some(0) => operand(1),
        ScalarOp::Sub if operands[0] == operands[1] => {
            Some(SoacOperand::Constant(ScalarLiteral::new(operator.to, 0)))
        }
        ScalarOp::Eq | ScalarOp::SLe if operands[0] == operands[1] && operator.from.is_int() => {
            Some(SoacOperand::Constant(ScalarLiteral::new(
                ScalarType::Bool,
                1,
            )))
        }
        ScalarOp::LogAnd if constant(0) == Some(-1) || constant(0) == Some(1) => operand(1),
        ScalarOp::LogAnd if constant(1) == Some(-1) || constant(1) == Some(1) => operand(0),
        ScalarOp::LogAnd if constant(0) == Some(0) => operand(0),
        ScalarOp::LogAnd if constant(1) == Some(0) => operand(1),
        _ => None,
    }
}
