//! Derivative functions.

use super::value::{StaticArray, StaticFunction, StaticValue};
use super::{InternaliseResult, SourceInternaliser};
use spirula_soac::differentiate::{
    CustomRule, CustomRules, ReverseSweep, add_forward, add_primal, add_reverse,
};
use spirula_soac::ir::{
    SoacBody, SoacLambda, SoacOperand, SoacOperation, SoacType, SoacVariableId,
};
use std::rc::Rc;

impl SourceInternaliser<'_> {
    /// Calls a derivative function.
    pub(super) fn call_derivative(
        &mut self,
        name: &str,
        arguments: &[StaticValue],
    ) -> InternaliseResult<StaticValue> {
        let function = self.require_function(arguments[0].clone())?;
        let point = &arguments[1];
        match name {
            "jvp2" => {
                let (value, tangent) = self.derive_forward(&function, point, &arguments[2])?;
                Ok(self.make_pair(value, tangent))
            }
            "jmp2" => {
                let directions = self.require_array(arguments[2].clone())?;
                let value = self.call_function(&function, vec![point.clone()])?;
                let structure = value.clone();
                let tangents =
                    self.map_directions(&directions, &structure, |internaliser, one| {
                        Ok(internaliser.derive_forward(&function, point, one)?.1)
                    })?;
                Ok(self.make_pair(value, tangents))
            }
            "vjp2" => {
                let point = self.alias_leaves(point);
                let (value, sweep) = self.run_primal(&function, &point)?;
                let gradient = self.derive_reverse(&point, &value, &sweep, &arguments[2])?;
                Ok(self.make_pair(value, gradient))
            }
            "mjp2" => {
                let directions = self.require_array(arguments[2].clone())?;
                let point = self.alias_leaves(point);
                let (value, sweep) = self.run_primal(&function, &point)?;
                let gradients = self.map_directions(&directions, &point, |internaliser, one| {
                    internaliser.derive_reverse(&point, &value, &sweep, one)
                })?;
                Ok(self.make_pair(value, gradients))
            }
            _ => {
                let gradient = self.require_function(arguments[1].clone())?;
                self.call_custom(&function, &gradient, &arguments[2])
            }
        }
    }

    /// The value of a function at a point, which keeps what its derivative in reverse mode needs.
    fn run_primal(
        &mut self,
        function: &Rc<StaticFunction>,
        point: &StaticValue,
    ) -> InternaliseResult<(StaticValue, ReverseSweep)> {
        self.reverse_depth += 1;
        let made = self.make_body(function, point.clone());
        self.reverse_depth -= 1;
        let (value, body) = made?;
        let pairs = pair_variables(point, point);
        let inputs: Vec<_> = pairs.into_iter().map(|(id, _)| id).collect();
        self.refuse_derived_calls(&body, &inputs, &self.custom_rules)?;
        let sweep = add_primal(&mut self.builder, body, &inputs, &self.custom_rules);
        Ok((value, sweep.map_err(|reason| self.fail(reason))?))
    }

    /// The gradient of a function at a point for a direction of its value.
    fn derive_reverse(
        &mut self,
        point: &StaticValue,
        value: &StaticValue,
        sweep: &ReverseSweep,
        direction: &StaticValue,
    ) -> InternaliseResult<StaticValue> {
        let direction = direction.with_lengths(&value.lengths());
        let direction = self.alias_leaves(&direction).leaves();
        let builder = &mut self.builder;
        let gradient = add_reverse(builder, sweep, &direction, &mut self.custom_rules);
        let mut gradient = gradient.map_err(|reason| self.fail(reason))?.into_iter();
        let mut leaves = point.leaves();
        let mut index = 0;
        point.visit_scalars(&mut |scalar| {
            if scalar.is_some()
                && matches!(leaves[index], SoacOperand::Variable(_))
                && let Some(adjoint) = gradient.next()
            {
                leaves[index] = adjoint;
            }
            index += 1;
        });
        Ok(point.with_leaves(&leaves))
    }

    /// Calls a function whose gradient is given. The gradient counts where the call is part of a derivative in reverse mode.
    fn call_custom(
        &mut self,
        function: &Rc<StaticFunction>,
        gradient: &Rc<StaticFunction>,
        point: &StaticValue,
    ) -> InternaliseResult<StaticValue> {
        if self.reverse_depth == 0 {
            return self.call_function(function, vec![point.clone()]);
        }
        let copy = self.alias_leaves(point);
        let value = self.call_function(function, vec![copy.clone()])?;
        let value = self.alias_leaves(&value);
        let mut parameters = Vec::new();
        let mut arguments = Vec::with_capacity(2);
        for _ in 0..2 {
            let mut leaves = Vec::new();
            for leaf_type in value.leaf_types() {
                let parameter = self.builder.add_variable("d", leaf_type);
                parameters.push(parameter);
                leaves.push(SoacOperand::Variable(parameter));
            }
            arguments.push(value.with_leaves(&leaves));
        }
        self.builder.begin_body();
        let adjoint = self.call_function(gradient, arguments)?;
        let body = self.builder.end_body(adjoint.leaves());
        let variables = |value: &StaticValue| {
            let pairs = value.leaves().into_iter();
            let variables = pairs.filter_map(|leaf| match leaf {
                SoacOperand::Variable(id) => Some(id),
                SoacOperand::Constant(_) => None,
            });
            variables.collect::<Vec<_>>()
        };
        self.custom_rules.add(CustomRule {
            arguments: point.leaves(),
            copies: variables(&copy),
            results: variables(&value),
            gradient: SoacLambda { parameters, body },
        });
        Ok(value)
    }

    /// New variables for the data of a value, so that nothing else refers to them.
    fn alias_leaves(&mut self, value: &StaticValue) -> StaticValue {
        let mut types = value.leaf_types().into_iter();
        value.map_leaves(&mut |leaf| {
            let leaf_type = types.next().unwrap_or(SoacType::Certificate);
            let alias = SoacOperation::Slice(leaf, Vec::new());
            self.builder.add_single("x", leaf_type, alias)
        })
    }

    /// A function at a point: its result, and the statements that compute it.
    fn make_body(
        &mut self,
        function: &Rc<StaticFunction>,
        point: StaticValue,
    ) -> InternaliseResult<(StaticValue, SoacBody)> {
        self.builder.begin_body();
        let value = self.call_function(function, vec![point])?;
        if value.has_function() {
            return Err(self.fail("the result of a function that is derived contains a function"));
        }
        let body = self.builder.end_body(value.leaves());
        Ok((value, body))
    }

    /// The value of a function at a point, and its derivative along a direction.
    fn derive_forward(
        &mut self,
        function: &Rc<StaticFunction>,
        point: &StaticValue,
        direction: &StaticValue,
    ) -> InternaliseResult<(StaticValue, StaticValue)> {
        let point = self.alias_leaves(point);
        let direction = direction.with_lengths(&point.lengths());
        let direction = self.alias_leaves(&direction);
        let rules = self.custom_rules.len();
        let (value, body) = self.make_body(function, point.clone())?;
        self.custom_rules.truncate(rules);
        let inputs = pair_variables(&point, &direction);
        let points: Vec<_> = inputs.iter().map(|(id, _)| *id).collect();
        self.refuse_derived_calls(&body, &points, &CustomRules::default())?;
        let tangents = add_forward(&mut self.builder, body, &inputs);
        let tangent = with_derivatives(&value, &tangents);
        Ok((value, tangent))
    }

    /// The derivatives for several directions, one for each element of an array.
    fn map_directions(
        &mut self,
        directions: &StaticArray,
        structure: &StaticValue,
        derive: impl FnOnce(&mut Self, &StaticValue) -> InternaliseResult<StaticValue>,
    ) -> InternaliseResult<StaticValue> {
        let mut parameters = Vec::new();
        for leaf_type in directions.element.leaf_types() {
            parameters.push(self.builder.add_variable("d", leaf_type));
        }
        let leaves: Vec<_> = parameters
            .iter()
            .map(|&id| SoacOperand::Variable(id))
            .collect();
        let direction = directions.element.with_leaves(&leaves);
        self.builder.begin_body();
        let derivative = derive(self, &direction)?;
        let body = self.builder.end_body(derivative.leaves());
        let lambda = SoacLambda { parameters, body };
        let element = derivative.with_lengths(&structure.lengths());
        let array = StaticValue::from_element(directions.length, element);
        let arrays = directions.element.leaves();
        let map = SoacOperation::Map(directions.length, arrays, lambda);
        let results = self.builder.add_operation("d", array.leaf_types(), map);
        Ok(array.with_leaves(&results))
    }
}

/// The variables of a value with the operands of another of the same structure. The numbers of constructors are left out.
fn pair_variables(value: &StaticValue, other: &StaticValue) -> Vec<(SoacVariableId, SoacOperand)> {
    let mut pairs = Vec::new();
    let mut operands = other.leaves().into_iter();
    let mut leaves = value.leaves().into_iter();
    value.visit_scalars(&mut |scalar| {
        if let (Some(SoacOperand::Variable(id)), Some(operand)) = (leaves.next(), operands.next())
            && scalar.is_some()
        {
            pairs.push((id, operand));
        }
    });
    pairs
}

/// The derivative of a value: the numbers of constructors are those of the value.
fn with_derivatives(value: &StaticValue, derivatives: &[SoacOperand]) -> StaticValue {
    let mut chosen = Vec::with_capacity(derivatives.len());
    let mut pairs = value.leaves().into_iter().zip(derivatives);
    value.visit_scalars(&mut |scalar| {
        if let Some((leaf, &derivative)) = pairs.next() {
            chosen.push(if scalar.is_some() { derivative } else { leaf });
        }
    });
    value.with_leaves(&chosen)
}
