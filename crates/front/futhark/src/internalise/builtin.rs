//! Functions of the compiler.

use super::value::{StaticFunction, StaticValue};
use super::{InternaliseResult, SourceInternaliser};
use crate::check::types::{PrimitiveType, TypeForm, TypeId};
use crate::evaluate::{constant_bits, result_type};
use crate::intrinsic::{find_operator, is_unsigned, machine_type};
use crate::syntax::tree::NumberType;
use crate::typed::IntrinsicId;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType as MachineType};
use spirula_soac::ir::{
    ReductionOrder, SoacLambda, SoacMessagePart, SoacOperand, SoacOperation, SoacType,
};
use std::rc::Rc;

impl SourceInternaliser<'_> {
    /// The scalar type of a type that has no parameters.
    fn scalar_form(&self, id: TypeId) -> InternaliseResult<PrimitiveType> {
        match self.types.form(id) {
            TypeForm::Scalar(scalar) => Ok(*scalar),
            _ => Err(self.fail("a scalar type is expected")),
        }
    }

    /// A function of the compiler that is no call: the function, or a constant.
    pub(super) fn internalise_intrinsic(
        &mut self,
        id: IntrinsicId,
        types: Vec<TypeId>,
    ) -> InternaliseResult<StaticValue> {
        let name = &self.program.names[self.program.intrinsics[id]];
        if matches!(name, "highest" | "lowest" | "epsilon" | "inf" | "nan") {
            let scalar = self.scalar_form(types[0])?;
            let literal = ScalarLiteral::new(machine_type(scalar), constant_bits(name, scalar));
            return Ok(StaticValue::Scalar(scalar, SoacOperand::Constant(literal)));
        }
        Ok(StaticValue::Function(Rc::new(StaticFunction::Intrinsic(
            id, types,
        ))))
    }

    /// Calls a function of the compiler with all its arguments.
    pub(super) fn call_builtin(
        &mut self,
        id: IntrinsicId,
        types: &[TypeId],
        mut arguments: Vec<StaticValue>,
    ) -> InternaliseResult<StaticValue> {
        let program = self.program;
        let name = &program.names[program.intrinsics[id]];
        if let Some(StaticValue::Scalar(scalar, _)) = arguments.first()
            && find_operator(name, *scalar).is_some()
        {
            return self.apply_operator(name, &arguments);
        }
        match name {
            "==" => {
                let equal = self.compare(&arguments[0], &arguments[1])?;
                Ok(StaticValue::Scalar(PrimitiveType::Bool, equal))
            }
            "!=" => {
                let equal = self.compare(&arguments[0], &arguments[1])?;
                let not = ScalarOperator::with_type(ScalarOp::Not, MachineType::Bool);
                Ok(StaticValue::Scalar(
                    PrimitiveType::Bool,
                    self.builder.add_scalar(not, &[equal]),
                ))
            }
            ">" | ">=" => {
                arguments.reverse();
                self.apply_operator(if name == ">" { "<" } else { "<=" }, &arguments)
            }
            "abs" | "opaque" => Ok(arguments.remove(0)),
            "convert" => self.convert(&arguments[0], types[1]),
            "bitcast" => self.bitcast(&arguments[0], types[1]),
            "num_bits" => {
                let width = machine_type(self.scalar_form(types[0])?).width();
                let literal = ScalarLiteral::from_i32(width as i32);
                let int32 = PrimitiveType::Number(NumberType::I32);
                Ok(StaticValue::Scalar(int32, SoacOperand::Constant(literal)))
            }
            "trunc" => self.truncate(arguments),
            "concat" => self.concatenate(arguments),
            "transpose" | "flatten" | "unflatten" | "replicate" | "manifest" => {
                self.arrange(name, arguments)
            }
            "zip" => {
                let second = arguments
                    .pop()
                    .ok_or_else(|| self.fail("an array is missing"))?;
                let second = self.require_array(second)?;
                let first = self.require_array(arguments.remove(0))?;
                let pair = self.make_pair(first.element, second.element);
                Ok(StaticValue::from_element(first.length, pair))
            }
            "unzip" => {
                let array = self.require_array(arguments.remove(0))?;
                let StaticValue::Record(fields) = array.element else {
                    return Err(self.fail("an array of pairs is expected"));
                };
                let mut parts = fields
                    .into_iter()
                    .map(|(_, field)| StaticValue::from_element(array.length, field));
                match (parts.next(), parts.next()) {
                    (Some(first), Some(second)) => Ok(self.make_pair(first, second)),
                    _ => Err(self.fail("an array of pairs is expected")),
                }
            }
            "jvp2" | "vjp2" | "jmp2" | "mjp2" | "with_vjp" => {
                self.call_derivative(name, &arguments)
            }
            _ => self.call_combinator(name, arguments),
        }
    }

    /// Calls a second-order combinator.
    fn call_combinator(
        &mut self,
        name: &str,
        arguments: Vec<StaticValue>,
    ) -> InternaliseResult<StaticValue> {
        let array = |internaliser: &Self, index: usize| {
            internaliser.require_array(arguments[index].clone())
        };
        let function = |internaliser: &Self, index: usize| {
            internaliser.require_function(arguments[index].clone())
        };
        match name {
            "map" => self.map_elements(&function(self, 0)?, &array(self, 1)?, &[]),
            "reduce" | "reduce_comm" => {
                let order = if name == "reduce" {
                    ReductionOrder::Ordered
                } else {
                    ReductionOrder::Commutative
                };
                self.reduce_elements(&function(self, 0)?, &arguments[1], &array(self, 2)?, order)
            }
            "scan" => self.scan_elements(&function(self, 0)?, &arguments[1], &array(self, 2)?),
            "filter" => self.filter_elements(&function(self, 0)?, &array(self, 1)?),
            "partition" => self.partition_elements(&function(self, 0)?, &array(self, 1)?),
            "scatter" | "scatter_2d" | "scatter_3d" => {
                let (positions, values) = (array(self, 1)?, array(self, 2)?);
                self.scatter_elements(arguments[0].clone(), &positions, &values, find_rank(name))
            }
            "hist" | "hist_2d" | "hist_3d" => {
                let (positions, values) = (array(self, 3)?, array(self, 4)?);
                let operator = function(self, 1)?;
                let target = arguments[0].clone();
                self.histogram_elements(
                    target,
                    &operator,
                    &arguments[2],
                    &positions,
                    &values,
                    find_rank(name),
                )
            }
            "flatmap" => self.flatten_results(&function(self, 0)?, &array(self, 1)?),
            "scatter_stream" => {
                let target = arguments[0].clone();
                self.accumulate_elements(target, None, &function(self, 1)?, &array(self, 2)?)
            }
            "hist_stream" => {
                let (combine, target) = (function(self, 1)?, arguments[0].clone());
                let (writer, elements) = (function(self, 3)?, array(self, 4)?);
                self.accumulate_elements(target, Some(&combine), &writer, &elements)
            }
            "acc_write" => {
                let position = self.require_operand(&arguments[1])?;
                self.write_accumulator(&arguments[0], position, &arguments[2])
            }
            _ if name.starts_with("flat_index") => self.index_flat(arguments),
            _ if name.starts_with("flat_update") => self.update_flat(arguments),
            _ => Err(self.fail(format!("`{name}` cannot be compiled yet"))),
        }
    }

    /// Applies a scalar operator.
    fn apply_operator(
        &mut self,
        name: &str,
        arguments: &[StaticValue],
    ) -> InternaliseResult<StaticValue> {
        let mut operands = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let StaticValue::Scalar(_, operand) = argument else {
                return Err(self.fail("a scalar is expected"));
            };
            operands.push(*operand);
        }
        let StaticValue::Scalar(scalar, _) = arguments[0] else {
            return Err(self.fail("a scalar is expected"));
        };
        let Some(operator) = find_operator(name, scalar) else {
            return Err(self.fail(format!(
                "there is no operator `{name}` of `{}`",
                scalar.spelling()
            )));
        };
        let machine = machine_type(scalar);
        if matches!(name, "/" | "%" | "//" | "%%") && machine.is_int() {
            let equal = ScalarOperator::with_type(ScalarOp::Eq, machine);
            let is_zero = self
                .builder
                .add_scalar(equal, &[operands[1], self.constant(machine, 0)]);
            let not = ScalarOperator::with_type(ScalarOp::Not, MachineType::Bool);
            let is_nonzero = self.builder.add_scalar(not, &[is_zero]);
            // Devices give no result where this is left out.
            self.add_certain_check(
                is_nonzero,
                vec![SoacMessagePart::Text("division by zero".into())],
            );
        }
        if name == "**" && machine.is_int() && !is_unsigned(scalar) {
            let less = ScalarOperator::with_type(ScalarOp::SLe, machine);
            let is_natural = self
                .builder
                .add_scalar(less, &[self.constant(machine, 0), operands[1]]);
            self.add_check(
                is_natural,
                vec![SoacMessagePart::Text("negative exponent".into())],
            );
        }
        let result = self.builder.add_scalar(operator, &operands);
        Ok(StaticValue::Scalar(result_type(operator, scalar), result))
    }

    /// Converts a scalar.
    fn convert(&mut self, value: &StaticValue, target: TypeId) -> InternaliseResult<StaticValue> {
        let target = self.scalar_form(target)?;
        let StaticValue::Scalar(source, operand) = *value else {
            return Err(self.fail("a scalar is expected"));
        };
        Ok(StaticValue::Scalar(
            target,
            self.convert_operand(source, target, operand),
        ))
    }

    /// The bits of a scalar as another type of the same width.
    fn bitcast(&mut self, value: &StaticValue, target: TypeId) -> InternaliseResult<StaticValue> {
        let target = self.scalar_form(target)?;
        let StaticValue::Scalar(source, operand) = *value else {
            return Err(self.fail("a scalar is expected"));
        };
        let (from, to) = (machine_type(source), machine_type(target));
        let operator = ScalarOperator::from_conversion(ScalarOp::Bits, from, to);
        Ok(StaticValue::Scalar(
            target,
            self.builder.add_scalar(operator, &[operand]),
        ))
    }

    /// A number rounded towards zero.
    fn truncate(&mut self, arguments: Vec<StaticValue>) -> InternaliseResult<StaticValue> {
        let StaticValue::Scalar(scalar, operand) = arguments[0] else {
            return Err(self.fail("a scalar is expected"));
        };
        let machine = machine_type(scalar);
        let unary = |internaliser: &mut Self, op| {
            internaliser
                .builder
                .add_scalar(ScalarOperator::with_type(op, machine), &[operand])
        };
        let (up, down) = (unary(self, ScalarOp::Ceil), unary(self, ScalarOp::Floor));
        let zero = SoacOperand::Constant(ScalarLiteral::new(machine, 0));
        let less = ScalarOperator::with_type(ScalarOp::FLt, machine);
        let is_negative = self.builder.add_scalar(less, &[operand, zero]);
        let select = ScalarOperator::with_type(ScalarOp::Cond, machine);
        Ok(StaticValue::Scalar(
            scalar,
            self.builder.add_scalar(select, &[is_negative, up, down]),
        ))
    }

    /// Two arrays one after the other.
    fn concatenate(&mut self, mut arguments: Vec<StaticValue>) -> InternaliseResult<StaticValue> {
        let second = arguments
            .pop()
            .ok_or_else(|| self.fail("an array is missing"))?;
        let second = self.require_array(second)?;
        let first = self.require_array(arguments.remove(0))?;
        let length = self
            .builder
            .add_int64(ScalarOp::Add, first.length, second.length);
        let is_empty = first.length == SoacOperand::from_int64(0);
        let element = if is_empty {
            &second.element
        } else {
            &first.element
        };
        let structure = StaticValue::from_element(length, element.clone());
        let leaves = first
            .element
            .leaves()
            .into_iter()
            .zip(second.element.leaves());
        let results = leaves
            .zip(structure.leaf_types())
            .map(|((first, second), result)| {
                self.builder
                    .add_single("cat", result, SoacOperation::Concat(vec![first, second]))
            });
        let results: Vec<_> = results.collect();
        Ok(structure.with_leaves(&results))
    }

    /// Arranges the elements of an array in another way.
    fn arrange(
        &mut self,
        name: &str,
        mut arguments: Vec<StaticValue>,
    ) -> InternaliseResult<StaticValue> {
        let last = arguments
            .pop()
            .ok_or_else(|| self.fail("an argument is missing"))?;
        match name {
            "manifest" => Ok(self.copy_arrays(&last)),
            "replicate" => {
                let count = self.require_operand(&arguments[0])?;
                let is_valid =
                    self.builder
                        .add_int64(ScalarOp::SLe, SoacOperand::from_int64(0), count);
                let message = vec![
                    SoacMessagePart::Text("Range 0..1..<".into()),
                    SoacMessagePart::Value(count),
                    SoacMessagePart::Text(" is invalid.".into()),
                ];
                self.add_check(is_valid, message);
                let element = last.map_leaves(&mut |leaf| self.replicate_operand(&[count], leaf));
                Ok(StaticValue::from_element(count, element))
            }
            "transpose" => {
                let rows = self.require_array(last)?;
                let columns = self.require_array(rows.element)?;
                let row = StaticValue::from_element(rows.length, columns.element);
                let structure = StaticValue::from_element(columns.length, row);
                let mut types = structure.leaf_types().into_iter();
                Ok(structure.map_leaves(&mut |leaf| {
                    let result = types.next().unwrap_or(SoacType::Certificate);
                    let mut permutation: Vec<usize> = (0..result.shape().len()).collect();
                    permutation.swap(0, 1);
                    self.builder.add_single(
                        "tr",
                        result,
                        SoacOperation::Rearrange(leaf, permutation),
                    )
                }))
            }
            "flatten" => {
                let rows = self.require_array(last)?;
                let columns = self.require_array(rows.element)?;
                let length = self
                    .builder
                    .add_int64(ScalarOp::Mul, rows.length, columns.length);
                Ok(self.reshape(&StaticValue::from_element(length, columns.element)))
            }
            _ => {
                let rows = self.require_operand(&arguments[0])?;
                let columns = self.require_operand(&arguments[1])?;
                let array = self.require_array(last)?;
                let row = StaticValue::from_element(columns, array.element);
                Ok(self.reshape(&StaticValue::from_element(rows, row)))
            }
        }
    }

    /// The operand of a scalar.
    pub(super) fn require_operand(&self, value: &StaticValue) -> InternaliseResult<SoacOperand> {
        match value {
            StaticValue::Scalar(_, operand) => Ok(*operand),
            _ => Err(self.fail("a scalar is expected")),
        }
    }

    /// Whether two values are equal.
    fn compare(
        &mut self,
        left: &StaticValue,
        right: &StaticValue,
    ) -> InternaliseResult<SoacOperand> {
        match (left, right) {
            (StaticValue::Scalar(scalar, left), StaticValue::Scalar(_, right)) => {
                let equal = ScalarOperator::with_type(ScalarOp::Eq, machine_type(*scalar));
                Ok(self.builder.add_scalar(equal, &[*left, *right]))
            }
            (StaticValue::Record(left), StaticValue::Record(right)) => {
                let mut all = self.truth(true);
                for ((_, left), (_, right)) in left.iter().zip(right) {
                    let equal = self.compare(left, right)?;
                    all = self.add_and(all, equal);
                }
                Ok(all)
            }
            (StaticValue::Sum(tag, clauses), StaticValue::Sum(other, others)) => {
                let equal = ScalarOperator::with_type(ScalarOp::Eq, MachineType::I8);
                let mut all = self.builder.add_scalar(equal, &[*tag, *other]);
                let or = ScalarOperator::with_type(ScalarOp::LogOr, MachineType::Bool);
                let not = ScalarOperator::with_type(ScalarOp::Not, MachineType::Bool);
                for (index, ((_, payload), (_, other_payload))) in
                    clauses.iter().zip(others).enumerate()
                {
                    let number = self.constant(MachineType::I8, index as i64);
                    let is_taken = self.builder.add_scalar(equal, &[*tag, number]);
                    let is_other = self.builder.add_scalar(not, &[is_taken]);
                    for (left, right) in payload.iter().zip(other_payload) {
                        let same = self.compare(left, right)?;
                        let same = self.builder.add_scalar(or, &[is_other, same]);
                        all = self.add_and(all, same);
                    }
                }
                Ok(all)
            }
            (StaticValue::Array(left), StaticValue::Array(right)) => {
                let same_length = self
                    .builder
                    .add_int64(ScalarOp::Eq, left.length, right.length);
                let (left, right) = (left.clone(), right.clone());
                let value = self.choose(
                    same_length,
                    &mut |internaliser| {
                        let all = internaliser.compare_elements(&left, &right)?;
                        Ok(StaticValue::Scalar(PrimitiveType::Bool, all))
                    },
                    &mut |internaliser| {
                        Ok(StaticValue::Scalar(
                            PrimitiveType::Bool,
                            internaliser.truth(false),
                        ))
                    },
                )?;
                self.require_operand(&value)
            }
            _ => Err(self.fail("these values cannot be compared")),
        }
    }

    /// Whether two arrays of the same length have equal elements.
    fn compare_elements(
        &mut self,
        left: &super::value::StaticArray,
        right: &super::value::StaticArray,
    ) -> InternaliseResult<SoacOperand> {
        let width = left.length;
        let parts = [&left.element, &right.element].map(|element| {
            let types = element.leaf_types();
            let ids: Vec<_> = types
                .into_iter()
                .map(|leaf| self.builder.add_variable("p", leaf))
                .collect();
            let operands: Vec<_> = ids.iter().map(|&id| SoacOperand::Variable(id)).collect();
            (ids, element.with_leaves(&operands))
        });
        self.builder.begin_body();
        let equal = self.compare(&parts[0].1, &parts[1].1)?;
        let body = self.builder.end_body(vec![equal]);
        let [(mut parameters, _), (others, _)] = parts;
        parameters.extend(others);
        let lambda = SoacLambda { parameters, body };
        let mut arrays = left.element.leaves();
        arrays.extend(right.element.leaves());
        let result = SoacType::Array(MachineType::Bool, vec![width]);
        let flags =
            self.builder
                .add_single("eq", result, SoacOperation::Map(width, arrays, lambda));
        let bool_type = SoacType::Scalar(MachineType::Bool);
        let parameters = vec![
            self.builder.add_variable("a", bool_type.clone()),
            self.builder.add_variable("b", bool_type.clone()),
        ];
        self.builder.begin_body();
        let both = self.add_and(
            SoacOperand::Variable(parameters[0]),
            SoacOperand::Variable(parameters[1]),
        );
        let body = self.builder.end_body(vec![both]);
        let lambda = SoacLambda { parameters, body };
        let neutral = vec![self.truth(true)];
        let reduce = SoacOperation::Reduce(
            width,
            vec![flags],
            neutral,
            lambda,
            ReductionOrder::Commutative,
        );
        Ok(self.builder.add_single("all", bool_type, reduce))
    }
}

/// The number of dimensions that the positions of a scatter or histogram have.
fn find_rank(name: &str) -> usize {
    match name.rsplit('_').next() {
        Some("2d") => 2,
        Some("3d") => 3,
        _ => 1,
    }
}
