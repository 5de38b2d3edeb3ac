//! Arguments and results of entry points.

use super::value::EvaluatedValue;
use super::{EvaluateResult, ProgramEvaluator};
use crate::check::types::{PrimitiveType, TypeForm, TypeId};
use crate::intrinsic::{is_unsigned, machine_type};
use crate::typed::DefinitionId;
use spirula_program::ProgramValue;

impl ProgramEvaluator<'_> {
    /// The arguments of an entry point.
    pub(super) fn read_arguments(
        &self,
        id: DefinitionId,
        arguments: &[ProgramValue],
    ) -> EvaluateResult<Vec<EvaluatedValue>> {
        let mut type_id = self.program.definitions[id].type_id;
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let TypeForm::Function(parameter, result) = *self.program.types.form(type_id) else {
                let (wanted, found) = (values.len(), arguments.len());
                return Err(self.fail(format!(
                    "the entry point takes {wanted} arguments, but {found} are given"
                )));
            };
            values.push(self.read_value(parameter, argument)?);
            type_id = result;
        }
        if matches!(self.program.types.form(type_id), TypeForm::Function(..)) {
            let found = arguments.len();
            return Err(self.fail(format!("the entry point takes more than {found} arguments")));
        }
        Ok(values)
    }

    /// A value of a type.
    fn read_value(&self, type_id: TypeId, value: &ProgramValue) -> EvaluateResult<EvaluatedValue> {
        let mut element = type_id;
        for _ in &value.shape {
            match self.program.types.form(element) {
                TypeForm::Array(inner) => element = *inner,
                _ => return Err(self.fail("the argument has more dimensions than the parameter")),
            }
        }
        let scalar = self.scalar_type(element)?;
        if machine_type(scalar) != value.element
            || value.unsigned != is_unsigned(scalar) && value.element.is_int()
        {
            let (wanted, found) = (scalar.spelling(), value.type_name());
            return Err(self.fail(format!(
                "the argument has elements of type {found}, the parameter of type {wanted}"
            )));
        }
        let mut bits = value.elements();
        Ok(build_array(scalar, &value.shape, &mut bits))
    }

    /// The results of an entry point.
    pub(super) fn write_results(
        &self,
        value: &EvaluatedValue,
    ) -> EvaluateResult<Vec<ProgramValue>> {
        match value {
            EvaluatedValue::Record(fields) => fields
                .iter()
                .map(|(_, field)| self.write_value(field))
                .collect(),
            other => Ok(vec![self.write_value(other)?]),
        }
    }

    /// A scalar or an array of scalars as a value of a program.
    fn write_value(&self, value: &EvaluatedValue) -> EvaluateResult<ProgramValue> {
        let shape = value.shape();
        let mut scalars = Vec::new();
        self.collect_scalars(value, &mut scalars)?;
        let scalar = scalars
            .first()
            .map_or(PrimitiveType::Bool, |(scalar, _)| *scalar);
        let element = machine_type(scalar);
        let size = element.size() as usize;
        let bytes = scalars
            .iter()
            .flat_map(|(_, bits)| bits.to_le_bytes()[..size].to_vec());
        Ok(ProgramValue {
            element,
            unsigned: is_unsigned(scalar),
            shape: shape.iter().map(|&length| length as u64).collect(),
            bytes: bytes.collect(),
        })
    }

    fn collect_scalars(
        &self,
        value: &EvaluatedValue,
        out: &mut Vec<(PrimitiveType, u64)>,
    ) -> EvaluateResult<()> {
        match value {
            EvaluatedValue::Scalar(scalar, bits) => out.push((*scalar, *bits)),
            EvaluatedValue::Array(array) => {
                for element in &array.elements {
                    self.collect_scalars(element, out)?;
                }
            }
            _ => return Err(self.fail("the result is an opaque value")),
        }
        Ok(())
    }
}

/// An array of a shape, whose elements come one after the other.
fn build_array(
    scalar: PrimitiveType,
    shape: &[u64],
    bits: &mut impl Iterator<Item = u64>,
) -> EvaluatedValue {
    match shape.split_first() {
        None => EvaluatedValue::Scalar(scalar, bits.next().unwrap_or(0)),
        Some((&length, rest)) => {
            let elements = (0..length)
                .map(|_| build_array(scalar, rest, bits))
                .collect();
            EvaluatedValue::from_elements(
                elements,
                rest.iter().map(|&length| length as i64).collect(),
            )
        }
    }
}
