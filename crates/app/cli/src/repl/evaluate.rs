//! Declarations and expressions of a session.

use super::print_value::print_value;
use super::session_program::{SessionProgram, list_errors};
use super::{ReplSession, print_line};
use crate::cli::schedule::choose_schedule_profile;
use crate::cli::{CommandFailure, CommandResult};
use crate::values::items::parts_of;
use spirula::{CompileOptions, compile_combinators};
use spirula_futhark::compile::internalise_constant;
use spirula_futhark::query::ValueType;
use spirula_futhark::syntax::token::TextRange;
use spirula_futhark::value_structure::ValueStructure;
use spirula_program::{ProgramError, ProgramSession, ProgramValue};
use spirula_runtime::DeviceMachine;

/// The name of the definition that an expression becomes. It has a quote, so that others hardly have the name.
const RESULT: &str = "repl'it";

/// Beginnings of declarations that would have no effect within a module.
const BARE: &[&str] = &["import", "local"];

impl ReplSession {
    /// Adds declarations to the program. Those of a module hide earlier ones of the same names.
    pub(super) fn declare(&mut self, input: &str, ranges: &[TextRange]) -> CommandResult {
        let mut text = input.to_owned();
        let mut is_bare = false;
        for range in ranges {
            let (start, end) = (range.start as usize, range.end as usize);
            let declaration = &input[start..end];
            is_bare |= BARE.iter().any(|word| declaration.starts_with(word));
            if declaration.starts_with("entry") {
                // Nothing calls the entry points of a session.
                text.replace_range(start..start + "entry".len(), "def  ");
            }
        }
        let (prefix, suffix) = if is_bare {
            ("", "")
        } else {
            ("open {\n", "}\n")
        };
        let name = self.input_name();
        let program = self.program.with_input(&name, prefix, &text, suffix);
        let faults = program.find_errors();
        if faults.is_empty() {
            self.program = program;
            Ok(())
        } else {
            self.print_faults(&program, &faults)
        }
    }

    /// The type of an expression. Its faults are printed, if it has any.
    fn infer_type(&self, input: &str) -> Result<Option<ValueType>, CommandFailure> {
        let prefix = format!("def {RESULT} =\n");
        let program = self
            .program
            .with_input(&self.input_name(), &prefix, input, "");
        let found = program.analyse(|analysis| {
            let faults = list_errors(analysis);
            (faults, analysis.find_value_type(RESULT))
        });
        let Some((faults, value_type)) = found else {
            return Ok(None);
        };
        if faults.is_empty() {
            return Ok(value_type);
        }
        self.print_faults(&program, &faults)?;
        Ok(None)
    }

    /// Prints the type of an expression.
    pub(super) fn show_type(&self, input: &str) -> CommandResult {
        let Some(value_type) = self.infer_type(input)? else {
            return Ok(());
        };
        print_line(&value_type.text)?;
        if value_type.parameters.is_empty() {
            return Ok(());
        }
        let parameters = value_type.parameters.join(" ");
        print_line(&format!("\nPolymorphic in {parameters}."))
    }

    /// Prints what a module specifies.
    pub(super) fn show_module_type(&self, input: &str) -> CommandResult {
        let prefix = format!("module {RESULT} =\n");
        let program = self
            .program
            .with_input(&self.input_name(), &prefix, input, "");
        let found = program.analyse(|analysis| {
            let members = analysis.list_module_members(RESULT);
            (list_errors(analysis), members)
        });
        let Some((faults, members)) = found else {
            return Ok(());
        };
        if !faults.is_empty() {
            return self.print_faults(&program, &faults);
        }
        let members = members.iter().map(|member| format!("  {member}\n"));
        print_line(&format!("{{\n{}}}", members.collect::<String>()))
    }

    /// Evaluates an expression, and prints its value.
    pub(super) fn evaluate(&mut self, input: &str) -> CommandResult {
        let Some(value_type) = self.infer_type(input)? else {
            return Ok(());
        };
        if !value_type.parameters.is_empty() {
            let parameters = value_type.parameters.join(" ");
            return print_line(&format!(
                "The expression has the type {}\nThe following are ambiguous: {parameters}",
                value_type.text
            ));
        }
        if value_type.is_function {
            return print_line("#<fun>");
        }
        // A record of one field is a result of one value, whatever its type is.
        let prefix = format!("entry {RESULT} = {{value =\n");
        let name = self.input_name();
        let program = self.program.with_input(&name, &prefix, input, "}\n");
        self.evaluate_program(&program)
    }

    fn evaluate_program(&mut self, program: &SessionProgram) -> CommandResult {
        let mut read = |name: &str| program.read_file(name);
        let compiled = match internalise_constant(program.path(), &mut read, RESULT) {
            Ok(compiled) => compiled,
            Err(faults) => return self.print_faults(program, &faults),
        };
        let options = CompileOptions {
            profile: choose_schedule_profile(None, "cpu"),
            ..CompileOptions::default()
        };
        let code = match compile_combinators(vec![compiled.function], &options) {
            Ok(code) => code,
            Err(error) => {
                for diagnostic in error.diagnostics {
                    print_line(&format!("Error: {diagnostic}"))?;
                }
                return Ok(());
            }
        };
        let machine = DeviceMachine::new(&mut self.device);
        let mut session = match ProgramSession::new(&code, machine) {
            Ok(session) => session,
            Err(error) => return print_line(&format!("Error: {error}")),
        };
        let called = session.call_items(RESULT, &[]);
        for line in session.take_traced() {
            print_line(&line)?;
        }
        match called {
            Ok(results) => {
                let parts: Vec<ProgramValue> = results.iter().flat_map(parts_of).cloned().collect();
                let value = match &compiled.structure {
                    ValueStructure::Record(fields) if fields.len() == 1 => &fields[0].1,
                    other => other,
                };
                print_line(&print_value(value, &parts))
            }
            Err(ProgramError::Failed(message, places)) => {
                print_line(&format!("Error: {message}"))?;
                let places = places.split(" -> ").filter(|place| !place.is_empty());
                for (number, place) in places.enumerate() {
                    if number == 0 {
                        print_line("Backtrace:")?;
                    }
                    let place = program.describe_place(place);
                    print_line(&format!("-> #{number}  {place}"))?;
                }
                Ok(())
            }
            Err(error) => print_line(&format!("Error: {error}")),
        }
    }
}
