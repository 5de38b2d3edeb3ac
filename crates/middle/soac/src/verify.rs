//! Rules of the soac form, which hold of every program.
//!
//! 1. A variable is bound once, in front of its uses.
//! 2. The operands of a scalar operator have its types; other operands have the number of dimensions that is needed.
//! 3. A body has as many results as what it belongs to.
//! 4. Sizes are scalars of type `i64`.
//! 5. Only an accumulator is written, and a write has no results.
//! 6. An array that was changed in place is not used afterwards ([`crate::consumption`]).
//! 7. A call has the arguments and results of its function. Only the outermost function has functions that are called.
//! 8. A function that is called changes only parameters in place that each call consumes. Its results share elements with no
//!    other parameter, nor with each other.

use crate::calls::visit_calls;
use crate::consumption::{verify_callee, verify_consumption};
use crate::ir::{
    ArgumentOwnership, SoacAccumulation, SoacArgument, SoacBody, SoacFunction, SoacFunctionId,
    SoacFusedMap, SoacLambda, SoacLoopForm, SoacOperand, SoacOperation, SoacProgram, SoacStatement,
    SoacType, SoacVariableId,
};
use spirula_entity::{EntityArena, EntitySet};
use spirula_program::ScalarType;

/// The functions that a function calls.
type CalleeArena = EntityArena<SoacFunctionId, SoacFunction>;

/// Checks a program.
///
/// # Errors
///
/// The first rule that is broken, with the function and the variable.
pub fn verify_program(program: &SoacProgram) -> Result<(), String> {
    let mut functions = program.functions.iter();
    functions.try_for_each(|(_, function)| verify_function(function))
}

/// Checks a function and those that it calls.
fn verify_function(function: &SoacFunction) -> Result<(), String> {
    let callees = &function.callees;
    verify_alone(function, callees)?;
    for (_, callee) in callees.iter() {
        verify_alone(callee, callees)?;
    }
    verify_consumption(function).map_err(|reason| format!("{}: {reason}", function.name))?;
    let lent = find_lent(function);
    for ((_, callee), lent) in callees.iter().zip(&lent) {
        let verified = verify_callee(callee, lent);
        verified.map_err(|reason| format!("{}: {reason}", callee.name))?;
    }
    Ok(())
}

fn verify_alone(function: &SoacFunction, callees: &CalleeArena) -> Result<(), String> {
    let mut verifier = SoacVerifier {
        function,
        callees,
        bound: EntitySet::default(),
    };
    let verified = verifier
        .bind_all(&function.parameters)
        .and_then(|()| verifier.verify_body(&function.body));
    verified.map_err(|reason| format!("{}: {reason}", function.name))
}

/// For each function that is called, the parameters that some call does not consume.
fn find_lent(function: &SoacFunction) -> Vec<EntitySet<SoacVariableId>> {
    let mut lent = vec![EntitySet::<SoacVariableId>::default(); function.callees.len()];
    let mut visit = |id: SoacFunctionId, arguments: &[SoacArgument]| {
        let parameters = &function.callees[id].parameters;
        for (&parameter, argument) in parameters.iter().zip(arguments) {
            if argument.ownership == ArgumentOwnership::Lent {
                lent[id.index()].insert(parameter);
            }
        }
    };
    visit_calls(&function.body, &mut visit);
    for (_, callee) in function.callees.iter() {
        visit_calls(&callee.body, &mut visit);
    }
    lent
}

/// State of the verifier.
struct SoacVerifier<'f> {
    function: &'f SoacFunction,
    /// The functions that may be called.
    callees: &'f CalleeArena,
    /// The variables that are bound. Those of a body stay: they are bound once in the whole function.
    bound: EntitySet<SoacVariableId>,
}

impl SoacVerifier<'_> {
    fn bind_all(&mut self, ids: &[SoacVariableId]) -> Result<(), String> {
        for &id in ids {
            for &size in self.function.variables[id].variable_type.shape() {
                self.require_scalar(size, ScalarType::I64)?;
            }
            if !self.bound.insert(id) {
                return Err(format!("{id:?} is bound twice (rule 1)"));
            }
        }
        Ok(())
    }

    fn require_bound(&self, operand: SoacOperand) -> Result<(), String> {
        match operand {
            SoacOperand::Variable(id) if !self.bound.contains(id) => {
                Err(format!("{id:?} is not bound (rule 1)"))
            }
            _ => Ok(()),
        }
    }

    fn require_scalar(&self, operand: SoacOperand, scalar: ScalarType) -> Result<(), String> {
        self.require_bound(operand)?;
        let found = self.function.type_of(operand);
        if found == SoacType::Scalar(scalar) {
            return Ok(());
        }
        Err(format!(
            "{operand:?} is {found:?}, not {scalar} (rules 2, 4)"
        ))
    }

    fn verify_body(&mut self, body: &SoacBody) -> Result<(), String> {
        body.statements
            .iter()
            .try_for_each(|statement| self.verify_statement(statement))?;
        body.results
            .iter()
            .try_for_each(|&result| self.require_bound(result))
    }

    fn verify_statement(&mut self, statement: &SoacStatement) -> Result<(), String> {
        for &certificate in &statement.certificates {
            self.require_bound(SoacOperand::Variable(certificate))?;
        }
        let mut fault = Ok(());
        statement.operation.for_each_operand(|operand| {
            if fault.is_ok() {
                fault = self.require_bound(operand);
            }
        });
        fault?;
        self.verify_operation(statement)?;
        self.bind_all(&statement.results)
    }

    fn verify_operation(&mut self, statement: &SoacStatement) -> Result<(), String> {
        let count = statement.results.len();
        match &statement.operation {
            SoacOperation::Scalar(operator, operands) => {
                if operands.len() != operator.arity() {
                    return Err(format!(
                        "{operator} has {} operands (rule 2)",
                        operands.len()
                    ));
                }
                for (index, &operand) in operands.iter().enumerate() {
                    self.require_scalar(operand, operator.operand_type(index))?;
                }
                Ok(())
            }
            SoacOperation::Check(condition, _) => self.require_scalar(*condition, ScalarType::Bool),
            SoacOperation::If(condition, accept, reject) => {
                self.require_scalar(*condition, ScalarType::Bool)?;
                for body in [accept, reject] {
                    self.verify_body(body)?;
                    require_count(body, count)?;
                }
                Ok(())
            }
            SoacOperation::Loop(parameters, form, body) => {
                let ids: Vec<_> = parameters.iter().map(|(id, _)| *id).collect();
                self.bind_all(&ids)?;
                match *form {
                    SoacLoopForm::For(counter, _) => self.bind_all(&[counter])?,
                    SoacLoopForm::While(position) => {
                        self.require_scalar(
                            SoacOperand::Variable(ids[position]),
                            ScalarType::Bool,
                        )?;
                    }
                }
                self.verify_body(body)?;
                require_count(body, count)
            }
            SoacOperation::Map(width, arrays, function) => {
                self.require_scalar(*width, ScalarType::I64)?;
                require_parameters(function, arrays.len())?;
                self.verify_lambda(function, count)
            }
            SoacOperation::Reduce(width, arrays, neutral, function, _)
            | SoacOperation::Scan(width, arrays, neutral, function) => {
                self.require_scalar(*width, ScalarType::I64)?;
                if arrays.len() != count
                    || neutral.len() != count
                    || function.parameters.len() != 2 * count
                {
                    return Err(
                        "a reduction or scan has other numbers of arrays and results (rule 3)"
                            .into(),
                    );
                }
                self.verify_lambda(function, count)
            }
            SoacOperation::Accumulate(accumulator, position, _) => {
                self.require_scalar(*position, ScalarType::I64)?;
                let found = &self.function.variables[*accumulator].variable_type;
                if *found == SoacType::Accumulator && count == 0 {
                    return Ok(());
                }
                Err(format!("{accumulator:?} is no accumulator (rule 5)"))
            }
            SoacOperation::WithAccumulators(accumulation) => {
                self.verify_accumulation(accumulation, count)
            }
            SoacOperation::Histogram(histogram) => {
                require_parameters(&histogram.function, 2 * count)?;
                self.verify_lambda(&histogram.function, count)
            }
            SoacOperation::Fused(fused) => self.verify_fused(fused, count),
            SoacOperation::Call(callee, arguments) => {
                self.verify_call(*callee, arguments, &statement.results)
            }
            _ => Ok(()),
        }
    }

    fn verify_call(
        &self,
        callee: SoacFunctionId,
        arguments: &[SoacArgument],
        results: &[SoacVariableId],
    ) -> Result<(), String> {
        if callee.index() >= self.callees.len() {
            return Err(format!("there is no function {callee:?} (rule 7)"));
        }
        let callee = &self.callees[callee];
        let values = &callee.body.results;
        if callee.parameters.len() != arguments.len() || values.len() != results.len() {
            return Err(format!(
                "a call of {} has {} arguments and {} results (rule 7)",
                callee.name,
                arguments.len(),
                results.len()
            ));
        }
        for (&parameter, argument) in callee.parameters.iter().zip(arguments) {
            let wanted = &callee.variables[parameter].variable_type;
            let found = self.function.type_of(argument.operand);
            require_form(callee, wanted, &found)?;
        }
        for (&value, &result) in values.iter().zip(results) {
            let wanted = callee.type_of(value);
            let found = &self.function.variables[result].variable_type;
            require_form(callee, &wanted, found)?;
        }
        Ok(())
    }

    fn verify_accumulation(
        &mut self,
        accumulation: &SoacAccumulation,
        count: usize,
    ) -> Result<(), String> {
        let mut targets = 0;
        for accumulator in &accumulation.accumulators {
            let arrays = accumulator.targets.len();
            targets += arrays;
            if let Some(combine) = &accumulator.combine {
                self.verify_lambda(combine, arrays)?;
            }
            self.bind_all(&[accumulator.variable])?;
        }
        self.verify_body(&accumulation.body)?;
        require_count(&accumulation.body, count.saturating_sub(targets))
    }

    fn verify_fused(&mut self, fused: &SoacFusedMap, count: usize) -> Result<(), String> {
        self.require_scalar(fused.width, ScalarType::I64)?;
        require_parameters(&fused.function, fused.arrays.len())?;
        let taken = fused.sink.count_inputs();
        let Some(others) = count.checked_sub(fused.sink.count_results()) else {
            return Err("a fused map binds too few variables (rule 3)".into());
        };
        self.verify_lambda(&fused.function, taken + others)?;
        match fused.sink.fold() {
            Some(fold) => {
                require_parameters(&fold.function, 2 * fold.neutral.len())?;
                self.verify_lambda(&fold.function, fold.neutral.len())
            }
            None => Ok(()),
        }
    }

    fn verify_lambda(&mut self, function: &SoacLambda, results: usize) -> Result<(), String> {
        self.bind_all(&function.parameters)?;
        self.verify_body(&function.body)?;
        require_count(&function.body, results)
    }
}

/// Requires that an argument or result of a call has the scalar type and the number of dimensions of its function's.
fn require_form(callee: &SoacFunction, wanted: &SoacType, found: &SoacType) -> Result<(), String> {
    let has_data = matches!(found, SoacType::Scalar(_) | SoacType::Array(..));
    let is_equal =
        wanted.element() == found.element() && wanted.shape().len() == found.shape().len();
    if has_data && is_equal {
        return Ok(());
    }
    Err(format!(
        "an argument or result of {} is {found:?}, not {wanted:?} (rule 7)",
        callee.name
    ))
}

fn require_parameters(function: &SoacLambda, count: usize) -> Result<(), String> {
    if function.parameters.len() == count {
        return Ok(());
    }
    Err(format!(
        "a function has {} parameters, not {count} (rule 3)",
        function.parameters.len()
    ))
}

fn require_count(body: &SoacBody, results: usize) -> Result<(), String> {
    if body.results.len() == results {
        return Ok(());
    }
    Err(format!(
        "a body has {} results, not {results} (rule 3)",
        body.results.len()
    ))
}
