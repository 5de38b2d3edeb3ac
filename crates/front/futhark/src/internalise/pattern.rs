//! Patterns, and sizes that are taken from values.

use super::call_key::DefinitionCall;
use super::message::describe_shape;
use super::value::{StaticFrame, StaticValue, TypeArguments};
use super::{InternaliseResult, SourceInternaliser};
use crate::check::types::{PrimitiveType, TypeForm, TypeId};
use crate::evaluate::read_literal;
use crate::intrinsic::machine_type;
use crate::syntax::tree::NumberType;
use crate::typed::{
    DefinitionId, SizeTerm, SizedType, SizedTypeId, TypedLiteral as SourceScalar, TypedPatternId,
    TypedPatternKind,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType as MachineType};
use spirula_soac::ir::{SoacMessagePart, SoacOperand};

impl SourceInternaliser<'_> {
    /// The truth value of a constant.
    pub(super) fn truth(&self, value: bool) -> SoacOperand {
        SoacOperand::Constant(ScalarLiteral::new(MachineType::Bool, u64::from(value)))
    }

    /// Binds the variables of a pattern that matches every value.
    pub(super) fn bind_pattern(
        &mut self,
        id: TypedPatternId,
        value: StaticValue,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<()> {
        self.match_pattern(id, value, frame).map(|_| ())
    }

    /// Binds the variables of a pattern. Returns the condition under which it matches.
    pub(super) fn match_pattern(
        &mut self,
        id: TypedPatternId,
        value: StaticValue,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<SoacOperand> {
        let program = self.program;
        let pattern = &program.patterns[id];
        if let Some(ascribed) = pattern.ascribed {
            self.bind_sizes(ascribed, &value, frame);
        }
        self.bind_pattern_sizes(id, &value, frame);
        let mut condition = self.truth(true);
        match &pattern.kind {
            TypedPatternKind::Local(local) => frame.locals.set(*local, Some(value)),
            TypedPatternKind::Wildcard => {}
            TypedPatternKind::Ascribed(inner) => return self.match_pattern(*inner, value, frame),
            TypedPatternKind::Scalar(literal) => {
                let literal = self.internalise_scalar(literal, pattern.type_id, frame)?;
                let StaticValue::Scalar(scalar, operand) = value else {
                    return Err(self.fail("a scalar is expected"));
                };
                let equal = ScalarOperator::with_type(ScalarOp::Eq, machine_type(scalar));
                return Ok(self.builder.add_scalar(equal, &[operand, literal.1]));
            }
            TypedPatternKind::Record(fields) => {
                let StaticValue::Record(values) = value else {
                    return Err(self.fail("a record is expected"));
                };
                for (name, field) in fields {
                    let Some((_, part)) = values.iter().find(|(other, _)| other == name) else {
                        return Err(self.fail("a field is missing"));
                    };
                    let matches = self.match_pattern(*field, part.clone(), frame)?;
                    condition = self.add_and(condition, matches);
                }
            }
            TypedPatternKind::Constructor(name, payload) => {
                let StaticValue::Sum(tag, clauses) = value else {
                    return Err(self.fail("a value of a sum is expected"));
                };
                let Some(index) = clauses.iter().position(|(other, _)| other == name) else {
                    return Err(self.fail("a constructor is missing"));
                };
                let number =
                    SoacOperand::Constant(ScalarLiteral::new(MachineType::I8, index as u64));
                let equal = ScalarOperator::with_type(ScalarOp::Eq, MachineType::I8);
                if clauses.len() > 1 {
                    condition = self.builder.add_scalar(equal, &[tag, number]);
                }
                for (&part, value) in payload.iter().zip(&clauses[index].1) {
                    let matches = self.match_pattern(part, value.clone(), frame)?;
                    condition = self.add_and(condition, matches);
                }
            }
        }
        Ok(condition)
    }

    /// The conjunction of two truth values.
    pub(super) fn add_and(&mut self, left: SoacOperand, right: SoacOperand) -> SoacOperand {
        let and = ScalarOperator::with_type(ScalarOp::LogAnd, MachineType::Bool);
        self.builder.add_scalar(and, &[left, right])
    }

    /// The scalar type of a type.
    pub(super) fn scalar_type(
        &mut self,
        id: TypeId,
        frame: &StaticFrame,
    ) -> InternaliseResult<PrimitiveType> {
        let id = self.concretise(id, &frame.types);
        match self.types.form(id) {
            TypeForm::Scalar(scalar) => Ok(*scalar),
            _ => {
                let printed = self.types.print(id, &self.program.names);
                Err(self.fail(format!("`{printed}` is no scalar type")))
            }
        }
    }

    /// A literal at a type.
    pub(super) fn internalise_scalar(
        &mut self,
        literal: &SourceScalar,
        type_id: TypeId,
        frame: &StaticFrame,
    ) -> InternaliseResult<(PrimitiveType, SoacOperand)> {
        let scalar = self.scalar_type(type_id, frame)?;
        match read_literal(literal, scalar) {
            Some(bits) => Ok((
                scalar,
                SoacOperand::Constant(ScalarLiteral::new(machine_type(scalar), bits)),
            )),
            None => Err(self.fail("the literal is no number")),
        }
    }

    /// Gives the size parameters of a type that have no value the sizes of a value.
    pub(super) fn bind_sizes(&self, id: SizedTypeId, value: &StaticValue, frame: &mut StaticFrame) {
        match (&self.program.sized_types[id], value) {
            (SizedType::Array(size, element), StaticValue::Array(array)) => {
                if let SizeTerm::Local(local) = size
                    && frame.locals.get(*local).is_none()
                {
                    let int64 = PrimitiveType::Number(NumberType::I64);
                    let length = StaticValue::Scalar(int64, array.length);
                    frame.locals.set(*local, Some(length));
                }
                self.bind_sizes(*element, &array.element, frame);
            }
            (SizedType::Record(fields), StaticValue::Record(values)) => {
                for ((_, field), (_, value)) in fields.iter().zip(values) {
                    self.bind_sizes(*field, value, frame);
                }
            }
            (SizedType::Sum(clauses), StaticValue::Sum(_, values)) => {
                for ((_, payload), (_, values)) in clauses.iter().zip(values) {
                    for (&part, value) in payload.iter().zip(values) {
                        self.bind_sizes(part, value, frame);
                    }
                }
            }
            (SizedType::Unique(inner) | SizedType::Existential(_, inner), value) => {
                self.bind_sizes(*inner, value, frame);
            }
            _ => {}
        }
    }

    /// The value with the sizes of a type, which are checked.
    pub(super) fn coerce(
        &mut self,
        id: SizedTypeId,
        value: StaticValue,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let program = self.program;
        match (&program.sized_types[id], value) {
            (SizedType::Array(..), value @ StaticValue::Array(_)) => {
                self.coerce_array(id, value, frame)
            }
            (SizedType::Record(fields), StaticValue::Record(values)) => {
                let parts = fields.iter().zip(values);
                let parts = parts.map(|((_, field), (name, value))| {
                    Ok((name, self.coerce(*field, value, frame)?))
                });
                Ok(StaticValue::Record(
                    parts.collect::<InternaliseResult<_>>()?,
                ))
            }
            (SizedType::Unique(inner) | SizedType::Existential(_, inner), value) => {
                self.coerce(*inner, value, frame)
            }
            (_, value) => Ok(value),
        }
    }

    /// An array with the sizes of a type, which are checked.
    fn coerce_array(
        &mut self,
        id: SizedTypeId,
        value: StaticValue,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let program = self.program;
        let place = self.place;
        let (mut sized, mut element) = (id, value);
        let (mut found, mut lengths, mut equal) = (Vec::new(), Vec::new(), None);
        loop {
            match (&program.sized_types[sized], element) {
                (SizedType::Unique(inner), value) => (sized, element) = (*inner, value),
                (SizedType::Array(size, inner), StaticValue::Array(array)) => {
                    let wanted = self.internalise_size(*size, frame)?;
                    found.push(array.length);
                    lengths.push(wanted.unwrap_or(array.length));
                    if let Some(wanted) = wanted {
                        let same = self.builder.add_int64(ScalarOp::Eq, wanted, array.length);
                        equal = Some(self.add_conjunct(equal, same));
                    }
                    (sized, element) = (*inner, array.element);
                }
                (_, value) => {
                    element = value;
                    break;
                }
            }
        }
        if let Some(equal) = equal {
            let mut message = vec![SoacMessagePart::Text("Value of (dynamic) shape ".into())];
            describe_shape(&found, &mut message);
            message.push(SoacMessagePart::Text(
                " cannot match shape of type \"".into(),
            ));
            describe_shape(&lengths, &mut message);
            let name = match program.sized_types[sized] {
                SizedType::Plain(plain) => program.types.print(plain, &program.names),
                _ => String::new(),
            };
            message.push(SoacMessagePart::Text(format!("{name}\".")));
            self.place = place;
            self.add_check(equal, message);
        }
        let element = self.coerce(sized, element, frame)?;
        let outwards = lengths.into_iter().rev();
        Ok(outwards.fold(element, |element, length| {
            StaticValue::from_element(length, element)
        }))
    }

    /// Checks that the arguments of an entry point have the sizes that the types of the parameters give them. Arrays that the types
    /// give one size then have one length, so that operations over them are seen to be of one width.
    pub(super) fn unify_entry_sizes(
        &mut self,
        entry: DefinitionId,
        arguments: &mut [StaticValue],
    ) -> InternaliseResult<()> {
        let definition = &self.program.definitions[entry];
        let call = DefinitionCall {
            types: TypeArguments::default(),
            instance: None,
            arguments: arguments.to_vec(),
        };
        let mut frame = self.bind_arguments(entry, call)?;
        let mut equal = None;
        let facts = &self.program.sizes;
        let (named, unnamed) = arguments.split_at_mut(definition.parameters.len());
        for (parameter, argument) in definition.parameters.iter().zip(named) {
            if let Some(produced) = facts.patterns.get(parameter) {
                self.unify_sizes(produced.sized, argument, &mut frame, &mut equal);
            }
        }
        let types = facts.unnamed.get(&entry).into_iter().flatten();
        for (&sized, argument) in types.zip(unnamed) {
            self.unify_sizes(sized, argument, &mut frame, &mut equal);
        }
        if let Some(equal) = equal {
            let text = "Entry point arguments have invalid sizes.";
            self.place = Some(definition.place);
            self.add_check(equal, vec![SoacMessagePart::Text(text.into())]);
        }
        self.place = None;
        Ok(())
    }

    /// Adds to a condition that the arrays of a value have the sizes of a type, as far as they are known, and gives them these.
    fn unify_sizes(
        &mut self,
        id: SizedTypeId,
        value: &mut StaticValue,
        frame: &mut StaticFrame,
        equal: &mut Option<SoacOperand>,
    ) {
        let program = self.program;
        match (&program.sized_types[id], value) {
            (SizedType::Array(size, element), StaticValue::Array(array)) => {
                match (self.find_size(*size, frame), *size) {
                    (Some(wanted), _) if wanted != array.length => {
                        let same = self.builder.add_int64(ScalarOp::Eq, wanted, array.length);
                        *equal = Some(self.add_conjunct(*equal, same));
                        array.length = wanted;
                    }
                    (None, SizeTerm::Local(local)) => {
                        let int64 = PrimitiveType::Number(NumberType::I64);
                        let length = StaticValue::Scalar(int64, array.length);
                        frame.locals.set(local, Some(length));
                    }
                    _ => {}
                }
                self.unify_sizes(*element, &mut array.element, frame, equal);
            }
            (SizedType::Record(fields), StaticValue::Record(values)) => {
                for ((_, field), (_, value)) in fields.iter().zip(values) {
                    self.unify_sizes(*field, value, frame, equal);
                }
            }
            (SizedType::Unique(inner), value) => self.unify_sizes(*inner, value, frame, equal),
            _ => {}
        }
    }

    /// A condition and another one.
    pub(super) fn add_conjunct(
        &mut self,
        first: Option<SoacOperand>,
        second: SoacOperand,
    ) -> SoacOperand {
        match first {
            Some(first) => self.add_and(first, second),
            None => second,
        }
    }

    /// The value of a size. None if it is anonymous, or a variable without a value.
    fn internalise_size(
        &mut self,
        size: SizeTerm,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<Option<SoacOperand>> {
        let value = match size {
            SizeTerm::Anonymous => return Ok(None),
            SizeTerm::Local(local) => match frame.locals.get(local) {
                Some(value) => value.clone(),
                None => return Ok(None),
            },
            SizeTerm::Expression(id) => self.internalise(id, frame)?,
        };
        match value {
            StaticValue::Scalar(_, operand) => Ok(Some(operand)),
            _ => Err(self.fail("a size is no scalar")),
        }
    }
}
