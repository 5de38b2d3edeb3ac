//! Calls of functions of programs.

use crate::array::{DeviceArray, PythonArray};
use crate::call_arguments::order_arguments;
use crate::failure::PythonFailure;
use crate::host_array::HostArray;
use crate::opaque::{OpaqueParts, PythonOpaque};
use crate::open_device::{LoadedProgram, OpenDeviceHeap, ReleasedObject};
use crate::signature::{EntrySignature, ValueForm, ValueSignature, format_array_type};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use spirula_program::ResidentValue;
use spirula_program::program::{EntryValueType, HostSlot};
use std::sync::Arc;

/// An argument of a call.
pub enum GivenValue {
    Device(Arc<DeviceArray>),
    Host(HostArray),
    Opaque(Arc<OpaqueParts>),
}

/// The outcome of a call: results, or a failure, and what the program printed.
pub struct CallOutcome {
    results: Result<Vec<ResidentValue>, PythonFailure>,
    traced: Vec<String>,
}

/// Binds arguments to the parameters of a function.
///
/// # Errors
/// When they do not fit.
pub fn bind_arguments(
    loaded: &Arc<LoadedProgram>,
    signature: &EntrySignature,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<GivenValue>> {
    let parameters = &signature.parameters;
    let names: Vec<Option<&str>> = parameters.iter().map(|p| Some(p.name.as_str())).collect();
    let objects = order_arguments(&signature.name, &names, args, kwargs)?;
    let values = objects.into_iter().zip(parameters);
    values
        .map(|(object, parameter)| bind_value(loaded, &object, parameter))
        .collect()
}

/// The argument of a parameter.
fn bind_value(
    loaded: &Arc<LoadedProgram>,
    object: &Bound<'_, PyAny>,
    parameter: &ValueSignature,
) -> PyResult<GivenValue> {
    let refuse = |found: String| {
        let (name, wanted) = (&parameter.name, parameter.format_type());
        let message = format!("argument {name} is {found}, the program takes {wanted}");
        PyErr::from(PythonFailure::argument(message))
    };
    let (element, shape) = match &parameter.form {
        ValueForm::Array(element, shape) => (*element, shape),
        ValueForm::Opaque(type_name) => {
            let found = object.cast::<PythonOpaque>();
            let found = found.ok().map(|opaque| opaque.get().content.clone());
            let fits = found.filter(|found| found.type_name == *type_name && found.is_of(loaded));
            return match fits {
                Some(found) => Ok(GivenValue::Opaque(found)),
                None => Err(refuse(object.get_type().name()?.to_string())),
            };
        }
        ValueForm::Unknown(_) => return Err(refuse("of a type that NumPy has".to_owned())),
    };
    let value = match object.cast::<PythonArray>() {
        Ok(array) => {
            let content = array.get().content.clone();
            if !Arc::ptr_eq(&content.device, &loaded.device) {
                return Err(refuse(format!("on the device {}", content.device.info.id)));
            }
            GivenValue::Device(content)
        }
        Err(_) => {
            let array = HostArray::from_object(object, Some(element));
            GivenValue::Host(array.inspect_err(|error| {
                // The note is advice only.
                let _ = error.add_note(object.py(), format!("argument {}", parameter.name));
            })?)
        }
    };
    let (found, sizes) = match &value {
        GivenValue::Device(array) => (array.element, &array.shape),
        GivenValue::Host(array) => (array.element, &array.shape),
        GivenValue::Opaque(_) => return Ok(value),
    };
    let fits = |(size, wanted): (&u64, &Option<u64>)| wanted.is_none_or(|wanted| wanted == *size);
    if found != element || sizes.len() != shape.len() || !sizes.iter().zip(shape).all(fits) {
        let sizes: Vec<Option<u64>> = sizes.iter().copied().map(Some).collect();
        return Err(refuse(format_array_type(found, &sizes)));
    }
    Ok(value)
}

/// Calls an entry point on its device. Arrays of the caller that the entry point consumes are copied before.
pub fn call_entry(
    loaded: &LoadedProgram,
    signature: &EntrySignature,
    given: &[GivenValue],
) -> CallOutcome {
    let mut state = loaded.device.lock();
    let mut traced = Vec::new();
    let entries = &mut loaded.program.entries.iter();
    let entry = entries.find(|entry| entry.name == signature.name);
    let entry = entry.ok_or_else(|| PythonFailure::argument("the program has no such function"));
    let results = entry.and_then(|entry| {
        let parts: Vec<&EntryValueType> = entry.parameter_parts().map(|(_, part)| part).collect();
        let values = make_values(&mut state.heap, signature, given, &parts)?;
        let called = state.with_session(loaded, |session| {
            let values: Vec<ResidentValue> = values;
            let references: Vec<&ResidentValue> = values.iter().collect();
            let prepared = session.prepare_resident(&entry.name, &references);
            // The program has references of its own to the arrays, and drops them when it needs them no more.
            let values = values.into_iter();
            values.for_each(|value| session.release_value(value));
            let ended = prepared.and_then(|prepared| session.execute_call(prepared));
            traced = session.take_traced();
            Ok(session.keep_results(ended?)?)
        })?;
        separate_results(&mut state.heap, given, called)
    });
    CallOutcome { results, traced }
}

/// The values of arguments in the form that the parts of the parameters take.
fn make_values(
    heap: &mut OpenDeviceHeap,
    signature: &EntrySignature,
    given: &[GivenValue],
    parts: &[&EntryValueType],
) -> Result<Vec<ResidentValue>, PythonFailure> {
    let mut values = Vec::new();
    let mut made = Ok(());
    let mut parts = parts.iter();
    'arguments: for (argument, parameter) in given.iter().zip(&signature.parameters) {
        let count = match argument {
            GivenValue::Opaque(opaque) => opaque.values.len(),
            GivenValue::Device(_) | GivenValue::Host(_) => 1,
        };
        for (at, part) in (0..count).zip(&mut parts) {
            match make_value(heap, argument, at, part, parameter.is_consumed) {
                Ok(value) => values.push(value),
                Err(failure) => {
                    made = Err(failure);
                    break 'arguments;
                }
            }
        }
    }
    if let Err(failure) = made {
        values
            .into_iter()
            .for_each(|value| heap.release_value(value));
        return Err(failure);
    }
    Ok(values)
}

/// The value of a part of an argument.
fn make_value(
    heap: &mut OpenDeviceHeap,
    argument: &GivenValue,
    number: usize,
    part: &EntryValueType,
    is_consumed: bool,
) -> Result<ResidentValue, PythonFailure> {
    let resident = match argument {
        GivenValue::Host(array) => match part.slot {
            HostSlot::Scalar(_) => return Ok(part.make_scalar(array.bytes())),
            HostSlot::Memory(_) => {
                let sizes = array.element.program_sizes(&array.shape);
                let bytes = array.bytes();
                return Ok(heap.upload_array(part.element, part.unsigned, sizes, bytes)?);
            }
        },
        GivenValue::Device(array) => array.value()?,
        GivenValue::Opaque(opaque) => &opaque.values[number],
    };
    let value = if is_consumed {
        heap.copy_value(resident)?
    } else {
        heap.share_value(resident)
    };
    Ok(heap.adapt_value(value, part)?)
}

/// Gives memory of its own to each result that is an argument or another result: kernels may change arrays in place.
fn separate_results(
    heap: &mut OpenDeviceHeap,
    given: &[GivenValue],
    results: Vec<ResidentValue>,
) -> Result<Vec<ResidentValue>, PythonFailure> {
    let mut separate: Vec<ResidentValue> = Vec::new();
    let mut failed = None;
    for result in results {
        let mut arguments = given.iter().flat_map(|argument| match argument {
            GivenValue::Device(array) => array.value().map(std::slice::from_ref).unwrap_or(&[]),
            GivenValue::Opaque(opaque) => &opaque.values,
            GivenValue::Host(_) => &[],
        });
        let is_other = arguments.any(|other| heap.is_shared(other, &result))
            || separate.iter().any(|other| heap.is_shared(other, &result));
        if !is_other {
            separate.push(result);
            continue;
        }
        match heap.copy_value(&result) {
            Ok(copy) => separate.push(copy),
            Err(error) => failed = Some(error),
        }
        heap.release_value(result);
    }
    match failed {
        None => Ok(separate),
        Some(error) => {
            let values = separate.into_iter();
            values.for_each(|value| heap.release_value(value));
            Err(error.into())
        }
    }
}

/// The tuple of a call's results. Printed text of the program goes to `sys.stderr`.
///
/// # Errors
/// When the call failed.
pub fn make_results<'py>(
    py: Python<'py>,
    loaded: &Arc<LoadedProgram>,
    signature: &EntrySignature,
    outcome: CallOutcome,
) -> PyResult<Bound<'py, PyTuple>> {
    if !outcome.traced.is_empty() {
        let stream = py.import("sys")?.getattr("stderr")?;
        let text = outcome.traced.join("\n");
        stream.call_method1("write", (format!("{text}\n"),))?;
    }
    let mut values = outcome.results?.into_iter();
    let mut results: Vec<Bound<'py, PyAny>> = Vec::new();
    for result in &signature.results {
        let parts: Vec<ResidentValue> = values.by_ref().take(result.part_count).collect();
        results.push(make_result(py, loaded, result, parts)?);
    }
    // Further results are those of checks.
    values.for_each(|value| loaded.device.release(ReleasedObject::Value(value)));
    PyTuple::new(py, results)
}

fn make_result<'py>(
    py: Python<'py>,
    loaded: &Arc<LoadedProgram>,
    result: &ValueSignature,
    mut parts: Vec<ResidentValue>,
) -> PyResult<Bound<'py, PyAny>> {
    let type_name = match &result.form {
        ValueForm::Opaque(name) | ValueForm::Unknown(name) => name,
        ValueForm::Array(element, shape) => {
            let value = parts.pop();
            let value = value.ok_or_else(|| PythonFailure::argument("a result is missing"))?;
            let sizes = value.shape[..shape.len().min(value.shape.len())].to_vec();
            let content = DeviceArray::new(&loaded.device, element, sizes, value);
            return Ok(Bound::new(py, PythonArray::new(content))?.into_any());
        }
    };
    let content = Arc::new(OpaqueParts::new(loaded, type_name, parts));
    Ok(Bound::new(py, PythonOpaque { content })?.into_any())
}
