//! Functions of the compiler.

use super::pattern::float_bits;
use super::value::{EvaluatedValue, FunctionValue};
use super::{EvaluateResult, ProgramEvaluator};
use crate::check::types::{PrimitiveType, TypeId};
use crate::intrinsic::{find_conversion, find_operator, is_unsigned, machine_type};
use crate::typed::IntrinsicId;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator};
use std::rc::Rc;

/// The code of a function.
type BuiltinFunction =
    fn(&mut ProgramEvaluator<'_>, &[TypeId], Vec<EvaluatedValue>) -> EvaluateResult<EvaluatedValue>;

/// A function that is no scalar operator.
struct BuiltinRow {
    name: &'static str,
    arity: usize,
    function: BuiltinFunction,
}

/// A row of [`BUILTINS`].
const fn row(name: &'static str, arity: usize, function: BuiltinFunction) -> BuiltinRow {
    BuiltinRow {
        name,
        arity,
        function,
    }
}

/// The functions that are no scalar operators.
const BUILTINS: &[BuiltinRow] = &[
    row("==", 2, |evaluator, _, values| {
        Ok(evaluator.compare_values(&values[0], &values[1]))
    }),
    row("!=", 2, |evaluator, _, values| {
        let is_equal = evaluator.compare_values(&values[0], &values[1]).is_true();
        Ok(EvaluatedValue::from_bool(!is_equal))
    }),
    row(">", 2, |evaluator, _, values| {
        evaluator.apply_operator("<", &[values[1].clone(), values[0].clone()])
    }),
    row(">=", 2, |evaluator, _, values| {
        evaluator.apply_operator("<=", &[values[1].clone(), values[0].clone()])
    }),
    row("convert", 1, |evaluator, types, values| {
        evaluator.convert(&values[0], types[1])
    }),
    row("bitcast", 1, |evaluator, types, values| {
        let scalar = evaluator.scalar_type(types[1])?;
        let Some((source, _)) = values[0].to_scalar() else {
            return Err(evaluator.fail("a scalar is expected"));
        };
        let (from, to) = (machine_type(source), machine_type(scalar));
        let operator = ScalarOperator::from_conversion(ScalarOp::Bits, from, to);
        Ok(evaluator.apply_scalar(operator, &values, scalar))
    }),
    row("num_bits", 1, |evaluator, types, _| {
        let width = machine_type(evaluator.scalar_type(types[0])?).width();
        let int32 = PrimitiveType::Number(crate::syntax::tree::NumberType::I32);
        Ok(EvaluatedValue::Scalar(int32, u64::from(width)))
    }),
    row("trunc", 1, |evaluator, _, values| {
        let is_negative =
            evaluator.apply_operator("<", &[values[0].clone(), evaluator.zero_like(&values[0])])?;
        let name = if is_negative.is_true() {
            "ceil"
        } else {
            "floor"
        };
        evaluator.apply_operator(name, &values)
    }),
    row("abs", 1, |_, _, mut values| Ok(values.remove(0))),
    row("concat", 2, |evaluator, _, values| {
        let (first, second) = (
            evaluator.require_array(&values[0])?,
            evaluator.require_array(&values[1])?,
        );
        let row_shape = if first.elements.is_empty() {
            second.row_shape.clone()
        } else {
            first.row_shape.clone()
        };
        let elements = first
            .elements
            .iter()
            .chain(&second.elements)
            .cloned()
            .collect();
        Ok(EvaluatedValue::from_elements(elements, row_shape))
    }),
    row("transpose", 1, |evaluator, _, values| {
        evaluator.transpose(&values[0])
    }),
    row("flatten", 1, |evaluator, _, values| {
        let rows = evaluator.require_array(&values[0])?;
        let mut elements = Vec::new();
        for row in &rows.elements {
            elements.extend(evaluator.require_array(row)?.elements.iter().cloned());
        }
        let row_shape = rows.row_shape.iter().skip(1).copied().collect();
        Ok(EvaluatedValue::from_elements(elements, row_shape))
    }),
    row("unflatten", 3, |evaluator, _, values| {
        let (rows, columns) = (values[0].to_int(), values[1].to_int());
        let array = evaluator.require_array(&values[2])?;
        if rows < 0 || columns < 0 || rows.wrapping_mul(columns) != array.elements.len() as i64 {
            return Err(evaluator.fail(format!(
                "an array of {} elements has no rows of {columns}",
                array.elements.len()
            )));
        }
        let row = |index: i64| {
            let start = (index * columns) as usize;
            let elements = array.elements[start..start + columns as usize].to_vec();
            EvaluatedValue::from_elements(elements, array.row_shape.clone())
        };
        let mut row_shape = vec![columns];
        row_shape.extend(&array.row_shape);
        Ok(EvaluatedValue::from_elements(
            (0..rows).map(row).collect(),
            row_shape,
        ))
    }),
    row("replicate", 2, |evaluator, _, values| {
        let count = values[0].to_int();
        if !(0..1 << 28).contains(&count) {
            return Err(evaluator.fail(format!(
                "Value of (desired) shape [{count}] is too large or negative"
            )));
        }
        Ok(EvaluatedValue::from_elements(
            vec![values[1].clone(); count as usize],
            values[1].shape(),
        ))
    }),
    row("manifest", 1, |_, _, mut values| Ok(values.remove(0))),
    row("opaque", 1, |_, _, mut values| Ok(values.remove(0))),
    row("map", 2, |evaluator, _, values| {
        let function = evaluator.require_function(values[0].clone())?;
        let array = evaluator.require_array(&values[1])?;
        let elements = array
            .elements
            .iter()
            .map(|element| evaluator.call(&function, vec![element.clone()]));
        let elements = elements.collect::<EvaluateResult<Vec<_>>>()?;
        evaluator.require_regular(&elements)?;
        Ok(EvaluatedValue::from_elements(elements, Vec::new()))
    }),
    row("reduce", 3, |evaluator, _, values| evaluator.reduce(values)),
    row("reduce_comm", 3, |evaluator, _, values| {
        evaluator.reduce(values)
    }),
    row("scan", 3, |evaluator, _, values| {
        let function = evaluator.require_function(values[0].clone())?;
        let array = evaluator.require_array(&values[2])?;
        let mut elements: Vec<EvaluatedValue> = Vec::with_capacity(array.elements.len());
        for element in &array.elements {
            let next = match elements.last() {
                Some(last) => evaluator.call(&function, vec![last.clone(), element.clone()])?,
                None => element.clone(),
            };
            elements.push(next);
        }
        Ok(EvaluatedValue::from_elements(
            elements,
            array.row_shape.clone(),
        ))
    }),
    row("zip", 2, |evaluator, _, values| {
        let (first, second) = (
            evaluator.require_array(&values[0])?,
            evaluator.require_array(&values[1])?,
        );
        if first.elements.len() != second.elements.len() {
            return Err(evaluator.fail("arrays of different sizes are combined"));
        }
        let pairs = first.elements.iter().zip(&second.elements);
        let pairs = pairs
            .map(|(first, second)| evaluator.make_pair(first.clone(), second.clone()))
            .collect();
        Ok(EvaluatedValue::from_elements(pairs, Vec::new()))
    }),
    row("unzip", 1, |evaluator, _, values| {
        let array = evaluator.require_array(&values[0])?;
        let mut parts = [Vec::new(), Vec::new()];
        for element in &array.elements {
            let EvaluatedValue::Record(fields) = element else {
                return Err(evaluator.fail("an array of pairs is expected"));
            };
            for (part, (_, field)) in parts.iter_mut().zip(fields.iter()) {
                part.push(field.clone());
            }
        }
        let [first, second] = parts.map(|part| EvaluatedValue::from_elements(part, Vec::new()));
        Ok(evaluator.make_pair(first, second))
    }),
    row("filter", 2, |evaluator, _, values| {
        Ok(evaluator.partition(&values)?.0)
    }),
    row("partition", 2, |evaluator, _, values| {
        let (accepted, rejected) = evaluator.partition(&values)?;
        Ok(evaluator.make_pair(accepted, rejected))
    }),
    row("flatmap", 2, |evaluator, _, values| {
        evaluator.flatmap(&values)
    }),
    row("scatter", 3, |evaluator, _, values| {
        evaluator.scatter(values)
    }),
    row("scatter_2d", 3, |evaluator, _, values| {
        evaluator.scatter(values)
    }),
    row("scatter_3d", 3, |evaluator, _, values| {
        evaluator.scatter(values)
    }),
    row("hist", 5, |evaluator, _, values| {
        evaluator.histogram(values)
    }),
    row("hist_2d", 5, |evaluator, _, values| {
        evaluator.histogram(values)
    }),
    row("hist_3d", 5, |evaluator, _, values| {
        evaluator.histogram(values)
    }),
    row("acc_write", 3, |evaluator, _, values| {
        let EvaluatedValue::Accumulator(accumulator) = &values[0] else {
            return Err(evaluator.fail("an accumulator is expected"));
        };
        let index = values[1].to_int();
        let (before, combine) = {
            let state = accumulator.borrow();
            (
                state
                    .array
                    .elements
                    .get(usize::try_from(index).unwrap_or(usize::MAX))
                    .cloned(),
                state.combine.clone(),
            )
        };
        if let Some(before) = before {
            let value = match combine {
                Some(combine) => evaluator.call(&combine, vec![before, values[2].clone()])?,
                None => values[2].clone(),
            };
            accumulator.borrow_mut().array.elements[index as usize] = value;
        }
        Ok(values[0].clone())
    }),
    row("scatter_stream", 3, |evaluator, _, values| {
        evaluator.accumulate(&values[0], None, values[1].clone(), &values[2])
    }),
    row("hist_stream", 5, |evaluator, _, values| {
        let combine = evaluator.require_function(values[1].clone())?;
        evaluator.accumulate(&values[0], Some(combine), values[3].clone(), &values[4])
    }),
    row("jvp2", 3, |evaluator, _, values| {
        evaluator.evaluate_forward(&values)
    }),
    row("vjp2", 3, |evaluator, _, values| {
        evaluator.evaluate_reverse(&values)
    }),
    row("jmp2", 3, |evaluator, _, values| {
        evaluator.evaluate_directions(&values, ProgramEvaluator::evaluate_forward)
    }),
    row("mjp2", 3, |evaluator, _, values| {
        evaluator.evaluate_directions(&values, ProgramEvaluator::evaluate_reverse)
    }),
    row("with_vjp", 3, |evaluator, _, values| {
        evaluator.evaluate_custom(&values)
    }),
    row("flat_index_2d", 6, |evaluator, _, values| {
        evaluator.flat_index(&values)
    }),
    row("flat_index_3d", 8, |evaluator, _, values| {
        evaluator.flat_index(&values)
    }),
    row("flat_index_4d", 10, |evaluator, _, values| {
        evaluator.flat_index(&values)
    }),
    row("flat_update_2d", 5, |evaluator, _, values| {
        evaluator.flat_update(values)
    }),
    row("flat_update_3d", 6, |evaluator, _, values| {
        evaluator.flat_update(values)
    }),
    row("flat_update_4d", 7, |evaluator, _, values| {
        evaluator.flat_update(values)
    }),
];

/// Number of parameters of a function of the compiler.
pub(crate) fn find_arity(name: &str) -> usize {
    if let Some(row) = BUILTINS.iter().find(|row| row.name == name) {
        return row.arity;
    }
    let scalars = PrimitiveType::all();
    let operators = scalars.filter_map(|scalar| find_operator(name, scalar));
    operators
        .map(|operator| operator.arity())
        .next()
        .unwrap_or(1)
}

impl ProgramEvaluator<'_> {
    /// The value of a function of the compiler that is no call: the function, or a constant.
    pub(super) fn evaluate_builtin(
        &mut self,
        id: IntrinsicId,
        types: &[TypeId],
    ) -> EvaluateResult<EvaluatedValue> {
        let name = &self.program.names[self.program.intrinsics[id]];
        if matches!(name, "highest" | "lowest" | "epsilon" | "inf" | "nan") {
            let scalar = self.scalar_type(types[0])?;
            return Ok(EvaluatedValue::Scalar(scalar, constant_bits(name, scalar)));
        }
        Ok(EvaluatedValue::Function(Rc::new(FunctionValue::Intrinsic(
            id,
            types.to_vec(),
        ))))
    }

    /// Calls a function of the compiler with all its arguments.
    pub(super) fn call_builtin(
        &mut self,
        id: IntrinsicId,
        types: &[TypeId],
        arguments: Vec<EvaluatedValue>,
        shapes: &[Vec<i64>],
    ) -> EvaluateResult<EvaluatedValue> {
        let program = self.program;
        let name = &program.names[program.intrinsics[id]];
        if let Some((scalar, _)) = arguments.first().and_then(EvaluatedValue::to_scalar)
            && find_operator(name, scalar).is_some()
        {
            return self.apply_operator(name, &arguments);
        }
        match BUILTINS.iter().find(|row| row.name == name) {
            Some(row) if name == "map" => {
                let value = (row.function)(self, types, arguments)?;
                Ok(match (value, shapes.get(1)) {
                    (EvaluatedValue::Array(array), Some(shape)) if array.elements.is_empty() => {
                        EvaluatedValue::from_elements(Vec::new(), shape.clone())
                    }
                    (value, _) => value,
                })
            }
            Some(row) => (row.function)(self, types, arguments),
            None => Err(self.fail(format!("the evaluator has no function `{name}`"))),
        }
    }

    /// Applies a scalar operator.
    fn apply_operator(
        &mut self,
        name: &str,
        arguments: &[EvaluatedValue],
    ) -> EvaluateResult<EvaluatedValue> {
        let scalars = arguments.iter().map(|argument| {
            let scalar = argument.to_scalar();
            scalar.ok_or_else(|| self.fail("a scalar is expected"))
        });
        let scalars = scalars.collect::<EvaluateResult<Vec<_>>>()?;
        let scalar = scalars[0].0;
        let Some(operator) = find_operator(name, scalar) else {
            return Err(self.fail(format!(
                "there is no operator `{name}` of `{}`",
                scalar.spelling()
            )));
        };
        let divides = matches!(name, "/" | "%" | "//" | "%%") && !machine_type(scalar).is_float();
        if divides && scalars[1].1 == 0 {
            return Err(self.fail("division by zero"));
        }
        let machine = machine_type(scalar);
        let has_sign = machine.is_int() && !is_unsigned(scalar);
        if name == "**" && has_sign && ScalarLiteral::new(machine, scalars[1].1).to_signed() < 0 {
            return Err(self.fail("negative exponent"));
        }
        let result = result_type(operator, scalar);
        Ok(self.apply_scalar(operator, arguments, result))
    }

    /// Converts a scalar.
    fn convert(
        &mut self,
        value: &EvaluatedValue,
        target: TypeId,
    ) -> EvaluateResult<EvaluatedValue> {
        let target = self.scalar_type(target)?;
        let Some((source, _)) = value.to_scalar() else {
            return Err(self.fail("a scalar is expected"));
        };
        let operators = find_conversion(source, target);
        let converted = operators
            .into_iter()
            .fold(value.clone(), |value, operator| {
                let operands = std::slice::from_ref(&value);
                self.apply_scalar(operator, operands, target)
            });
        Ok(super::derivative::retype(&converted, target))
    }

    /// Zero of the type of a scalar.
    fn zero_like(&self, value: &EvaluatedValue) -> EvaluatedValue {
        match value.to_scalar() {
            Some((scalar, _)) => EvaluatedValue::Scalar(scalar, 0),
            None => value.clone(),
        }
    }
}

/// The type of the result of an operator on a scalar type.
pub(crate) fn result_type(operator: ScalarOperator, scalar: PrimitiveType) -> PrimitiveType {
    use spirula_program::ScalarOpSignature;
    match operator.op.row().shape {
        ScalarOpSignature::Test(_) => PrimitiveType::Bool,
        ScalarOpSignature::Count => PrimitiveType::Number(crate::syntax::tree::NumberType::I32),
        _ => scalar,
    }
}

/// The bits of a constant of a type.
pub(crate) fn constant_bits(name: &str, scalar: PrimitiveType) -> u64 {
    let machine = machine_type(scalar);
    if machine.is_float() {
        let (highest, epsilon) = match machine {
            spirula_program::ScalarType::F16 => (65504.0, 2f64.powi(-10)),
            spirula_program::ScalarType::F32 => (f64::from(f32::MAX), 2f64.powi(-23)),
            _ => (f64::MAX, f64::EPSILON),
        };
        let value = match name {
            "highest" => highest,
            "lowest" => -highest,
            "epsilon" => epsilon,
            "inf" => f64::INFINITY,
            _ => f64::NAN,
        };
        return float_bits(value, scalar);
    }
    let ones = machine.truncate_bits(u64::MAX);
    let sign = 1 << (machine.width() - 1);
    match (name, is_unsigned(scalar)) {
        ("highest", true) => ones,
        ("highest", false) => ones ^ sign,
        ("lowest", false) => sign,
        _ => 0,
    }
}
