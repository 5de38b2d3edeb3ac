//! Programs that scripts call: compiled with the definitions that the scripts name as entry points.

use super::builtin::{load_audio, load_image, restore_values, store_value};
use super::value::ScriptValue;
use super::{ScriptEnvironment, ScriptFault};
use crate::cli::CommandFailure;
use crate::cli::futhark::report_file_faults;
use crate::cli::schedule::choose_schedule_profile;
use crate::server::ServerTypes;
use spirula::{CompileOptions, CompileOutput};
use spirula_entity::StringInterner;
use spirula_futhark::compile::check_files;
use spirula_futhark::interface::{InterfaceType, ProgramInterface, describe_interface};
use spirula_futhark::syntax::parse_file;
use spirula_futhark::syntax::tree::{DeclarationKind, ValueKeyword};
use spirula_program::program::ProgramEntry;
use spirula_program::{CallValue, CompiledProgram, ProgramSession, ProgramValue};
use spirula_runtime::{ComputeDevice, DeviceMachine};
use std::fs;
use std::path::{Path, PathBuf};

/// A compiled program with its interface.
pub struct ScriptProgram {
    /// The program. None where it has no entry point.
    compiled: Option<CompiledProgram>,
    interface: ProgramInterface,
    /// The folder of the source, to which the names of files are relative.
    folder: PathBuf,
}

impl ScriptProgram {
    /// Compiles a source for a device. Definitions of the main file whose names stand in one of `scripts` are entry points.
    ///
    /// # Errors
    /// The program is refused.
    pub fn compile(
        path: &Path,
        text: &str,
        scripts: &[&str],
        device: &str,
    ) -> Result<ScriptProgram, CommandFailure> {
        let main = path.to_string_lossy().into_owned();
        let text = promote_definitions(text, scripts);
        let checked = check_files(&main, &mut |file| {
            if file == main {
                return Ok(text.clone());
            }
            fs::read_to_string(file).map_err(|error| error.to_string())
        });
        let checked = checked.map_err(report_file_faults)?;
        let interface = describe_interface(&checked.program);
        let compiled = if checked.program.entries.is_empty() {
            None
        } else {
            Some(compile_text(&main, &text, device)?)
        };
        Ok(ScriptProgram {
            compiled,
            interface,
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
        })
    }

    /// Begins to run scripts on a device.
    ///
    /// # Errors
    /// The device does not accept the program.
    pub fn start<'p>(
        &'p self,
        device: &'p mut ComputeDevice,
    ) -> Result<ScriptRunner<'p>, CommandFailure> {
        let session = match &self.compiled {
            None => None,
            Some(compiled) => {
                let session = ProgramSession::new(compiled, DeviceMachine::new(device));
                let session = session.map_err(|e| CommandFailure::from_message(e.to_string()))?;
                let types = ServerTypes::new(compiled, &self.interface);
                Some((session, types))
            }
        };
        Ok(ScriptRunner {
            program: self,
            session,
        })
    }
}

fn compile_text(name: &str, text: &str, device: &str) -> Result<CompiledProgram, CommandFailure> {
    let options = CompileOptions {
        profile: choose_schedule_profile(None, device),
        ..CompileOptions::default()
    };
    let compiled = spirula::read_located_input(text.as_bytes(), name)
        .and_then(|read| read.compile_with(&options));
    match compiled.map(|compiled| compiled.output) {
        Ok(CompileOutput::Program(program)) => Ok(*program),
        Ok(CompileOutput::Module(_)) => {
            let text = format!("{name} is a module, not a program");
            Err(CommandFailure::from_message(text))
        }
        Err(error) => Err(CommandFailure::Input {
            name: name.to_owned(),
            bytes: text.as_bytes().to_owned(),
            diagnostics: error.diagnostics,
        }),
    }
}

/// Makes entry points of the definitions whose names stand in a script. A malformed text is returned unchanged.
fn promote_definitions(text: &str, scripts: &[&str]) -> String {
    let mut names = StringInterner::default();
    let Ok(tree) = parse_file(text, &mut names) else {
        return text.to_owned();
    };
    let is_part = |c: char| c.is_alphanumeric() || "_'".contains(c);
    let is_named = |name: &str| {
        let mut words = scripts
            .iter()
            .flat_map(|script| script.split(|c| !is_part(c)));
        words.any(|word| word == name)
    };
    let mut promoted = text.to_owned();
    for declaration in tree.declarations.iter().rev() {
        if let DeclarationKind::Value(value) = &declaration.kind
            && value.keyword != ValueKeyword::Entry
            && is_named(&names[value.name.name])
        {
            let start = declaration.range.start as usize;
            promoted.replace_range(start..start + "def".len(), "entry");
        }
    }
    promoted
}

/// A program on a device, as scripts see it.
pub struct ScriptRunner<'p> {
    program: &'p ScriptProgram,
    session: Option<(ProgramSession<'p, DeviceMachine<'p>>, ServerTypes)>,
}

impl ScriptRunner<'_> {
    /// A value of a type of its parts, which are taken from `parts`.
    fn open_parts(
        types: &ServerTypes,
        name: &str,
        parts: &mut std::slice::Iter<'_, ProgramValue>,
    ) -> Option<ScriptValue> {
        let count = types.layout(name).ok()?.len();
        match types.find(name).ok()? {
            InterfaceType::Record(fields) => {
                let opened = fields.iter().map(|(field, name)| {
                    let part = Self::open_parts(types, name, parts)?;
                    Some((field.clone(), part))
                });
                let opened: Vec<(String, ScriptValue)> = opened.collect::<Option<_>>()?;
                let mut numbered = opened.iter().enumerate();
                let is_tuple = opened.len() != 1
                    && numbered.all(|(index, (field, _))| *field == index.to_string());
                Some(if is_tuple {
                    ScriptValue::Tuple(opened.into_iter().map(|(_, part)| part).collect())
                } else {
                    ScriptValue::Record(opened)
                })
            }
            InterfaceType::Scalar => {
                Some(ScriptValue::Item(CallValue::Plain(parts.next()?.clone())))
            }
            InterfaceType::Array(_, element)
                if count == 1 && types.find(&element) == Ok(InterfaceType::Scalar) =>
            {
                Some(ScriptValue::Item(CallValue::Plain(parts.next()?.clone())))
            }
            _ => {
                let parts = parts.by_ref().take(count).cloned().collect();
                Some(ScriptValue::Item(CallValue::Opaque(name.to_owned(), parts)))
            }
        }
    }

    /// The path of a file that a script names.
    fn locate_file(&self, name: &str) -> PathBuf {
        self.program.folder.join(name)
    }
}

impl ScriptEnvironment for ScriptRunner<'_> {
    type Fault = ScriptFault;

    fn find_entry(&self, name: &str) -> Option<ProgramEntry> {
        let compiled = self.program.compiled.as_ref()?;
        compiled
            .entries
            .iter()
            .find(|entry| entry.name == name)
            .cloned()
    }

    fn call_entry(
        &mut self,
        name: &str,
        items: &[CallValue],
    ) -> Result<Vec<CallValue>, ScriptFault> {
        match &mut self.session {
            Some((session, _)) => session
                .call_items(name, items)
                .map_err(|error| ScriptFault::failed(format!("{name}: {error}"))),
            None => Err(ScriptFault::failed("the program has no entry point")),
        }
    }

    fn read_file(&self, name: &str) -> Result<Vec<u8>, ScriptFault> {
        let path = self.locate_file(name);
        fs::read(&path).map_err(|error| {
            ScriptFault::failed(format!("cannot read {}: {error}", path.display()))
        })
    }

    fn open_value(&self, value: &CallValue) -> Option<ScriptValue> {
        let (CallValue::Opaque(name, parts), Some((_, types))) = (value, &self.session) else {
            return None;
        };
        Self::open_parts(types, name, &mut parts.iter())
    }

    fn call_builtin(
        &mut self,
        name: &str,
        given: &[ScriptValue],
    ) -> Result<ScriptValue, ScriptFault> {
        match name {
            "$loadimg" => load_image(self, given),
            "$loadaudio" => load_audio(self, given),
            "$restore" => restore_values(self, given),
            "$store" => store_value(|name| self.locate_file(name), given),
            _ => Err(ScriptFault::failed(format!("there is no function {name}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::promote_definitions;

    #[test]
    fn named_definitions_are_entry_points() {
        let text = "def f x = x + 1\nlet g = 2\n-- f\ndef g' = 3\nentry f2 = 4\n";
        assert_eq!(
            promote_definitions(text, &["f 1", "(g, f2)"]),
            "entry f x = x + 1\nentry g = 2\n-- f\ndef g' = 3\nentry f2 = 4\n"
        );
        assert_eq!(promote_definitions("def", &["def"]), "def");
    }
}
