//! Environment of scripts: the entry points, files and functions that they use.

use super::ScriptFault;
use super::value::{ScriptValue, fit_all_parameters, wrap_in_tuple};
use spirula_program::CallValue;
use spirula_program::program::ProgramEntry;

/// Environment of scripts.
pub trait ScriptEnvironment {
    /// An error of the environment.
    type Fault: From<ScriptFault>;

    /// An entry point.
    fn find_entry(&self, name: &str) -> Option<ProgramEntry>;

    /// Calls an entry point.
    fn call_entry(
        &mut self,
        name: &str,
        items: &[CallValue],
    ) -> Result<Vec<CallValue>, Self::Fault>;

    /// Reads a file.
    fn read_file(&self, name: &str) -> Result<Vec<u8>, Self::Fault>;

    /// The parts of a value without an external form, if its type is a tuple or record.
    fn open_value(&self, _value: &CallValue) -> Option<ScriptValue> {
        None
    }

    /// Calls another function with a dollar than `$loaddata` and `$loadbytes`.
    fn call_builtin(
        &mut self,
        name: &str,
        _given: &[ScriptValue],
    ) -> Result<ScriptValue, Self::Fault> {
        let text = format!("the function {name} of scripts");
        Err(ScriptFault::Unsupported(text).into())
    }
}

/// Applies a function of a script to a value.
///
/// # Errors
/// When it is no function, or fails.
pub fn apply_function<H: ScriptEnvironment>(
    function: &ScriptValue,
    given: Vec<ScriptValue>,
    host: &mut H,
) -> Result<ScriptValue, H::Fault> {
    let ScriptValue::Function(name, first) = function else {
        return Err(ScriptFault::failed(format!("{function} is not a function")).into());
    };
    if given.is_empty() && !first.is_empty() {
        return Ok(function.clone());
    }
    let entry = host.find_entry(name);
    let entry = entry
        .ok_or_else(|| ScriptFault::failed(format!("the program has no entry point {name}")))?;
    let count = entry.parameters.len();
    let mut all = first.clone();
    all.extend(given);
    if let [ScriptValue::Tuple(parts)] = all.as_slice()
        && parts.len() == count
        && count > 1
    {
        all = parts.clone();
    }
    if all.len() < count {
        return Ok(ScriptValue::Function(name.clone(), all));
    }
    if all.len() > count {
        let text = format!(
            "{name} takes {count} arguments, and {} are given",
            all.len()
        );
        return Err(ScriptFault::failed(text).into());
    }
    let items = fit_all_parameters(all, &entry)?;
    let results = host.call_entry(name, &items)?;
    let results = results.into_iter().map(|result| {
        let opened = host.open_value(&result);
        opened.unwrap_or(ScriptValue::Item(result))
    });
    Ok(wrap_in_tuple(results.collect()))
}
