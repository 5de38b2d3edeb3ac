//! Arguments of calls: those by position first, then those by name.

use crate::failure::PythonFailure;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The objects that a call gives to the parameters of a function, in the order of the parameters. Several parameters may have
/// a name; the first of them without an argument is meant.
///
/// # Errors
/// When a parameter has no argument, or an argument no parameter.
pub fn order_arguments<'py>(
    function: &str,
    parameters: &[Option<&str>],
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let takes = parameters.len();
    let given = args.len() + kwargs.map_or(0, |kwargs| kwargs.len());
    if given != takes {
        let message = format!("{function} takes {takes} arguments, {given} are given");
        return Err(PythonFailure::argument(message).into());
    }
    let mut objects: Vec<Option<Bound<'py, PyAny>>> = args.iter().map(Some).collect();
    objects.resize(takes, None);
    for (name, object) in kwargs.into_iter().flatten() {
        let name: String = name.extract()?;
        let mut places = parameters.iter().zip(&objects);
        let place = places
            .position(|(parameter, object)| *parameter == Some(name.as_str()) && object.is_none());
        let place = place.ok_or_else(|| {
            let names: Vec<&str> = parameters.iter().map(|name| name.unwrap_or("_")).collect();
            PythonFailure::argument(format!(
                "{function} has no parameter {name} without an argument; its parameters are: {}",
                names.join(", ")
            ))
        })?;
        objects[place] = Some(object);
    }
    // There are as many arguments as parameters, so each has one.
    Ok(objects.into_iter().flatten().collect())
}
