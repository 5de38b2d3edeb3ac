//! `spirula script`: evaluates an expression over the entry points of a program.

use crate::cli::args::ScriptArgs;
use crate::cli::{CommandFailure, CommandResult, files};
use crate::script::{ScriptProgram, ScriptValue, evaluate_expression};
use spirula_program::CallValue;
use spirula_runtime::{ComputeDevice, DeviceOptions};
use std::path::Path;

/// Runs `spirula script`. Expressions are evaluated in order, and the last value is shown.
pub fn run_script(args: &ScriptArgs) -> CommandResult {
    let mut scripts = args.expressions.clone();
    for path in &args.files {
        scripts.push(read_text(path)?);
    }
    scripts.extend(args.expression.clone());
    let Some((last, first)) = scripts.split_last() else {
        let text = "there is no expression: give one after the program, or with -e or -f";
        return Err(CommandFailure::Usage(text.to_owned()));
    };
    let text = read_text(&args.path)?;
    let all: Vec<&str> = scripts.iter().map(String::as_str).collect();
    let program = ScriptProgram::compile(&args.path, &text, &all, &args.device)?;
    let mut device = ComputeDevice::open(&args.device, &DeviceOptions::default())
        .map_err(|e| CommandFailure::from_message(e.to_string()))?;
    let mut runner = program.start(&mut device)?;
    let mut evaluate = |script: &str| {
        evaluate_expression(script.trim(), &mut runner)
            .map_err(|fault| CommandFailure::from_message(fault.to_string()))
    };
    for script in first {
        evaluate(script)?;
    }
    let value = evaluate(last)?;
    if value.has_function() {
        let text = format!("{value} is a function without all of its arguments");
        return Err(CommandFailure::from_message(text));
    }
    let out = Path::new("-");
    match value {
        ScriptValue::Item(CallValue::Plain(value)) if args.binary => {
            files::write_binary(out, &value.to_binary())
        }
        value if args.binary => {
            let text = format!("{value} has no binary form");
            Err(CommandFailure::from_message(text))
        }
        value => files::write_text(out, &format!("{value}\n")),
    }
}

fn read_text(path: &Path) -> Result<String, CommandFailure> {
    let input = files::read_input_file(path)?;
    String::from_utf8(input.bytes)
        .map_err(|_| CommandFailure::from_message(format!("{} is not UTF-8", input.name)))
}
