//! Values of scripts, and their conversion to the parameters of entry points.

use crate::test::TestOutcome;
use spirula_program::program::{EntryOpaque, EntryValueType, ProgramEntry, ProgramEntryParameter};
use spirula_program::{CallValue, ProgramValue, ScalarOp, ScalarOperator, ScalarType};

/// Value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptValue {
    /// A value of a program.
    Item(CallValue),
    /// A string.
    Text(String),
    /// A tuple.
    Tuple(Vec<ScriptValue>),
    /// A record: its fields by name.
    Record(Vec<(String, ScriptValue)>),
}

/// Distributes a value over the parameters of an entry point: one for each part of a tuple of the same length.
pub fn spread_over_parameters(
    made: ScriptValue,
    entry: &ProgramEntry,
) -> Result<Vec<CallValue>, TestOutcome> {
    let parameters = &entry.parameters;
    let parts = match made {
        ScriptValue::Tuple(parts) if parts.len() == parameters.len() => parts,
        whole if parameters.len() == 1 => vec![whole],
        _ => {
            let (name, count) = (&entry.name, parameters.len());
            let text = format!("the script does not give the {count} arguments that {name} takes");
            return Err(TestOutcome::failed(text));
        }
    };
    let both = parts.into_iter().zip(parameters);
    both.map(|(made, parameter)| fit_to_parameter(made, parameter))
        .collect()
}

/// Converts a value to the type of a parameter.
pub fn fit_to_parameter(
    made: ScriptValue,
    parameter: &ProgramEntryParameter,
) -> Result<CallValue, TestOutcome> {
    match (made, &parameter.value, &parameter.opaque) {
        (ScriptValue::Item(CallValue::Plain(value)), Some(wanted), _) => {
            Ok(CallValue::Plain(convert_scalar(value, wanted)))
        }
        (ScriptValue::Item(item), ..) => Ok(item),
        (made @ (ScriptValue::Tuple(_) | ScriptValue::Record(_)), _, Some(opaque)) => {
            compose_opaque_value(made, opaque)
        }
        _ => {
            let text = format!("the script gives something else than {} is", parameter.name);
            Err(TestOutcome::failed(text))
        }
    }
}

/// Composes an opaque value of its parts.
fn compose_opaque_value(made: ScriptValue, opaque: &EntryOpaque) -> Result<CallValue, TestOutcome> {
    let mut parts = Vec::new();
    flatten_script_value(made, &mut parts);
    let fits = |part: &ProgramValue, wanted: &EntryValueType| {
        let rank = wanted.shape.as_ref().map_or(0, Vec::len);
        part.element == wanted.element && part.shape.len() == rank
    };
    let mut parts: Vec<ProgramValue> = if parts.len() == opaque.parts.len() {
        let both = parts.into_iter().zip(&opaque.parts);
        both.map(|(part, wanted)| convert_scalar(part, wanted))
            .collect()
    } else {
        Vec::new()
    };
    let all_fit = parts.len() == opaque.parts.len()
        && parts
            .iter()
            .zip(&opaque.parts)
            .all(|(part, wanted)| fits(part, wanted));
    if all_fit {
        Ok(CallValue::Opaque(
            opaque.name.clone(),
            std::mem::take(&mut parts),
        ))
    } else {
        let text = format!("the script gives other parts than {} has", opaque.name);
        Err(TestOutcome::failed(text))
    }
}

/// Collects the plain values of a value.
fn flatten_script_value(made: ScriptValue, parts: &mut Vec<ProgramValue>) {
    match made {
        ScriptValue::Item(CallValue::Plain(value)) => parts.push(value),
        ScriptValue::Item(CallValue::Opaque(_, inner)) => parts.extend(inner),
        ScriptValue::Text(text) => parts.push(make_byte_array(text.into_bytes())),
        ScriptValue::Tuple(all) => all
            .into_iter()
            .for_each(|made| flatten_script_value(made, parts)),
        ScriptValue::Record(mut fields) => {
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            fields
                .into_iter()
                .for_each(|(_, made)| flatten_script_value(made, parts));
        }
    }
}

/// Converts a scalar to the expected type. Other values are returned unchanged.
fn convert_scalar(value: ProgramValue, wanted: &EntryValueType) -> ProgramValue {
    let (from, to) = (value.element, wanted.element);
    let is_same = from == to && value.unsigned == wanted.unsigned;
    let is_scalar = value.shape.is_empty() && wanted.shape.is_none();
    if is_same || !is_scalar || from == ScalarType::Bool || to == ScalarType::Bool {
        return value;
    }
    let op = match (from.is_float(), to.is_float()) {
        (false, false) if value.unsigned => ScalarOp::ZExt,
        (false, false) => ScalarOp::SExt,
        (false, true) if value.unsigned => ScalarOp::UToF,
        (false, true) => ScalarOp::SToF,
        (true, true) => ScalarOp::FConv,
        (true, false) => return value,
    };
    let bits = value.elements().next().unwrap_or(0);
    let bits = ScalarOperator::from_conversion(op, from, to).eval_operands(&[bits]);
    ProgramValue {
        element: to,
        unsigned: wanted.unsigned,
        shape: Vec::new(),
        bytes: bits.to_le_bytes()[..to.size() as usize].to_vec(),
    }
}

pub fn make_byte_array(bytes: Vec<u8>) -> ProgramValue {
    ProgramValue {
        element: ScalarType::I8,
        unsigned: true,
        shape: vec![bytes.len() as u64],
        bytes,
    }
}

/// Wraps several values in a tuple. A single value is returned unchanged.
pub fn wrap_in_tuple(mut all: Vec<ScriptValue>) -> ScriptValue {
    match all.len() {
        1 => all.remove(0),
        _ => ScriptValue::Tuple(all),
    }
}
