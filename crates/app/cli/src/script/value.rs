//! Values of scripts, and their conversion to the parameters of entry points.

use super::ScriptFault;
use spirula_program::program::{EntryOpaque, EntryValueType, ProgramEntry, ProgramEntryParameter};
use spirula_program::{CallValue, ProgramValue, ScalarOp, ScalarOperator, ScalarType};
use std::fmt;

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
    /// An entry point with its first arguments.
    Function(String, Vec<ScriptValue>),
}

/// Distributes a value over the parameters of an entry point: one for each part of a tuple of the same length.
pub fn spread_over_parameters(
    made: ScriptValue,
    entry: &ProgramEntry,
) -> Result<Vec<CallValue>, ScriptFault> {
    let parameters = &entry.parameters;
    let parts = match made {
        ScriptValue::Tuple(parts) if parts.len() == parameters.len() => parts,
        whole if parameters.len() == 1 => vec![whole],
        _ => {
            let (name, count) = (&entry.name, parameters.len());
            let text = format!("the script does not give the {count} arguments that {name} takes");
            return Err(ScriptFault::failed(text));
        }
    };
    fit_all_parameters(parts, entry)
}

/// Converts one value for each parameter of an entry point.
pub fn fit_all_parameters(
    given: Vec<ScriptValue>,
    entry: &ProgramEntry,
) -> Result<Vec<CallValue>, ScriptFault> {
    let both = given.into_iter().zip(&entry.parameters);
    both.map(|(made, parameter)| fit_to_parameter(made, parameter))
        .collect()
}

/// Converts a value to the type of a parameter.
fn fit_to_parameter(
    made: ScriptValue,
    parameter: &ProgramEntryParameter,
) -> Result<CallValue, ScriptFault> {
    match (made, &parameter.value, &parameter.opaque) {
        (ScriptValue::Item(CallValue::Plain(value)), Some(wanted), _) => {
            Ok(CallValue::Plain(convert_value(value, wanted)))
        }
        (ScriptValue::Text(text), Some(_), _) => {
            Ok(CallValue::Plain(make_byte_array(text.into_bytes())))
        }
        (ScriptValue::Item(item), ..) => Ok(item),
        (made @ (ScriptValue::Tuple(_) | ScriptValue::Record(_)), _, Some(opaque)) => {
            compose_opaque_value(made, opaque)
        }
        _ => {
            let text = format!("the script gives something else than {} is", parameter.name);
            Err(ScriptFault::failed(text))
        }
    }
}

/// Composes an opaque value of its parts.
fn compose_opaque_value(made: ScriptValue, opaque: &EntryOpaque) -> Result<CallValue, ScriptFault> {
    let mut parts = Vec::new();
    flatten_script_value(made, &mut parts);
    let fits = |part: &ProgramValue, wanted: &EntryValueType| {
        let rank = wanted.shape.as_ref().map_or(0, Vec::len);
        part.element == wanted.element && part.shape.len() == rank
    };
    let mut parts: Vec<ProgramValue> = if parts.len() == opaque.parts.len() {
        let both = parts.into_iter().zip(&opaque.parts);
        both.map(|(part, wanted)| convert_value(part, wanted))
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
        Err(ScriptFault::failed(text))
    }
}

/// Collects the plain values of a value.
fn flatten_script_value(made: ScriptValue, parts: &mut Vec<ProgramValue>) {
    match made {
        ScriptValue::Item(CallValue::Plain(value)) => parts.push(value),
        ScriptValue::Item(CallValue::Opaque(_, inner)) => parts.extend(inner),
        ScriptValue::Text(text) => parts.push(make_byte_array(text.into_bytes())),
        // A function is part of no value.
        ScriptValue::Function(..) => {}
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

/// Converts numbers to the expected type, where a whole number may become a float. Other values are returned unchanged.
fn convert_value(value: ProgramValue, wanted: &EntryValueType) -> ProgramValue {
    let (from, to) = (value.element, wanted.element);
    let is_same = from == to && value.unsigned == wanted.unsigned;
    let rank = wanted.shape.as_ref().map_or(0, Vec::len);
    if is_same || value.shape.len() != rank || from == ScalarType::Bool || to == ScalarType::Bool {
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
    let operator = ScalarOperator::from_conversion(op, from, to);
    let convert = |bits| {
        let bits = operator.eval_operands(&[bits]).to_le_bytes();
        bits.into_iter().take(to.size() as usize)
    };
    ProgramValue {
        element: to,
        unsigned: wanted.unsigned,
        bytes: value.elements().flat_map(convert).collect(),
        shape: value.shape,
    }
}

/// The bytes of a text or of an array of bytes.
pub fn bytes_of(made: &ScriptValue) -> Option<&[u8]> {
    match made {
        ScriptValue::Text(text) => Some(text.as_bytes()),
        ScriptValue::Item(CallValue::Plain(value)) if value.element == ScalarType::I8 => {
            Some(&value.bytes)
        }
        _ => None,
    }
}

/// An array of bytes.
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

/// A field of a tuple or record.
pub fn pick_field(made: &ScriptValue, name: &str) -> Option<ScriptValue> {
    match made {
        ScriptValue::Tuple(parts) => parts.get(name.parse::<usize>().ok()?).cloned(),
        ScriptValue::Record(fields) => {
            let field = fields.iter().find(|(field, _)| field == name);
            field.map(|(_, part)| part.clone())
        }
        _ => None,
    }
}

/// An element of an array, or a row of it.
pub fn pick_element(array: &ScriptValue, indices: &[ScriptValue]) -> Option<ScriptValue> {
    let ScriptValue::Item(CallValue::Plain(array)) = array else {
        return None;
    };
    if indices.len() > array.shape.len() {
        return None;
    }
    let (outer, inner) = array.shape.split_at(indices.len());
    let mut row = 0u64;
    for (index, &size) in indices.iter().zip(outer) {
        let ScriptValue::Item(CallValue::Plain(index)) = index else {
            return None;
        };
        let is_index = index.element.is_int() && index.shape.is_empty();
        let index = index
            .elements()
            .next()
            .filter(|&index| is_index && index < size)?;
        row = row * size + index;
    }
    let bytes = inner.iter().product::<u64>() * array.element.size();
    let start = usize::try_from(row * bytes).ok()?;
    let end = usize::try_from((row + 1) * bytes).ok()?;
    Some(ScriptValue::Item(CallValue::Plain(ProgramValue {
        element: array.element,
        unsigned: array.unsigned,
        shape: inner.to_vec(),
        bytes: array.bytes.get(start..end)?.to_vec(),
    })))
}

impl ScriptValue {
    /// Whether a function is a part of the value, which has then no form to show.
    pub fn has_function(&self) -> bool {
        match self {
            ScriptValue::Function(..) => true,
            ScriptValue::Tuple(parts) => parts.iter().any(ScriptValue::has_function),
            ScriptValue::Record(fields) => fields.iter().any(|(_, part)| part.has_function()),
            ScriptValue::Item(_) | ScriptValue::Text(_) => false,
        }
    }
}

/// Shows values as Futhark writes them: `(1i32, {a=2i32})`.
impl fmt::Display for ScriptValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Each row of an array stands on a line.
            ScriptValue::Item(CallValue::Plain(value)) => {
                f.write_str(&value.to_string().replace("], [", "],\n["))
            }
            ScriptValue::Item(CallValue::Opaque(name, _)) => write!(f, "#<{name}>"),
            ScriptValue::Text(text) => make_byte_array(text.clone().into_bytes()).fmt(f),
            ScriptValue::Tuple(parts) => {
                f.write_str("(")?;
                write_separated(f, parts.iter().map(|part| (None, part)))?;
                f.write_str(")")
            }
            ScriptValue::Record(fields) => {
                f.write_str("{")?;
                write_separated(f, fields.iter().map(|(name, part)| (Some(name), part)))?;
                f.write_str("}")
            }
            ScriptValue::Function(name, _) => write!(f, "#<fun {name}>"),
        }
    }
}

/// Writes parts with their names.
fn write_separated<'v>(
    f: &mut fmt::Formatter<'_>,
    parts: impl Iterator<Item = (Option<&'v String>, &'v ScriptValue)>,
) -> fmt::Result {
    for (index, (name, part)) in parts.enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        if let Some(name) = name {
            write!(f, "{name}=")?;
        }
        write!(f, "{part}")?;
    }
    Ok(())
}
