//! Commands of a server about entry points, variables and tuning parameters.

use super::served_entry::{ServedEntry, ServedValue};
use super::types::type_name;
use super::variable::{ServerVariable, ValueLayout};
use super::{AnswerResult, ProgramServer, ServerSession};
use spirula_futhark::interface::InterfaceType;
use spirula_program::program::ProgramEntry;
use spirula_program::{CallValue, CompiledProgram, ProgramValue, SizeClass};
use std::fs;
use std::rc::Rc;
use std::time::Instant;

impl ProgramServer {
    /// The names of the entry points.
    pub(super) fn entry_names(&self) -> Vec<String> {
        let entries = self.program.entries.iter();
        entries.map(|entry| entry.name.clone()).collect()
    }

    /// An entry point with the names of its types.
    fn find_served(&self, name: &str) -> Result<&ServedEntry, String> {
        let found = self.entries.iter().find(|entry| entry.name == name);
        found.ok_or_else(|| format!("Unknown entry point: {name}"))
    }

    /// A variable.
    pub(super) fn find_variable(&self, name: &str) -> Result<&ServerVariable, String> {
        let found = self.variables.get(name);
        found.ok_or_else(|| format!("Unknown variable: {name}"))
    }

    /// Fails where a variable exists.
    pub(super) fn require_new(&self, name: &str) -> Result<(), String> {
        if self.variables.contains_key(name) {
            Err(format!("Variable already exists: {name}"))
        } else {
            Ok(())
        }
    }

    /// Makes a variable. The command has no answer.
    pub(super) fn make_variable(
        &mut self,
        name: &str,
        type_name: &str,
        parts: Vec<ProgramValue>,
    ) -> AnswerResult {
        self.require_new(name)?;
        let type_name = type_name.to_owned();
        self.variables
            .insert(name.to_owned(), ServerVariable { type_name, parts });
        Ok(Vec::new())
    }

    /// The parts of variables, which must have these types.
    pub(super) fn take_parts(
        &self,
        names: &[&str],
        types: &[String],
    ) -> Result<Vec<ProgramValue>, String> {
        if names.len() != types.len() {
            let (wanted, given) = (types.len(), names.len());
            return Err(format!("{wanted} values are needed, not {given}"));
        }
        let mut parts = Vec::new();
        for (name, wanted) in names.iter().zip(types) {
            let variable = self.find_variable(name)?;
            if variable.type_name != *wanted {
                let found = &variable.type_name;
                return Err(format!("{name} has the type {found}, not {wanted}"));
            }
            parts.extend(variable.parts.iter().cloned());
        }
        Ok(parts)
    }

    /// `call ENTRY OUT* IN*`: with one variable for each result, or one for all.
    pub(super) fn call_entry(
        &mut self,
        words: &[&str],
        session: &mut ServerSession<'_, '_>,
    ) -> AnswerResult {
        let program = Rc::clone(&self.program);
        let entry = find_entry(&program, words[0])?;
        let (results, parameters) = (entry.results.len(), entry.parameters.len());
        let names = &words[1..];
        let outputs = match names.len().checked_sub(parameters) {
            Some(outputs) if outputs == results || outputs == 1 => outputs,
            _ => {
                let given = names.len();
                return Err(format!(
                    "{} has {results} results and {parameters} parameters, which are not {given} variables",
                    entry.name
                ));
            }
        };
        let (outputs, inputs) = names.split_at(outputs);
        for name in outputs {
            self.require_new(name)?;
        }
        let items = self.make_arguments(entry, inputs)?;
        let describe = |error: spirula_program::ProgramError<_>| error.to_string();
        let prepared = session
            .prepare_items(&entry.name, &items)
            .map_err(describe)?;
        let start = Instant::now();
        let ended = session.execute_call(prepared).map_err(describe)?;
        let time = start.elapsed();
        let items = session.fetch_items(ended).map_err(describe)?;
        self.store_results(entry, outputs, items)?;
        Ok(vec![format!("runtime: {}", time.as_micros())])
    }

    fn make_arguments(
        &self,
        entry: &ProgramEntry,
        names: &[&str],
    ) -> Result<Vec<CallValue>, String> {
        let served = self.find_served(&entry.name)?;
        let mut items = Vec::new();
        for ((parameter, served), name) in
            entry.parameters.iter().zip(&served.parameters).zip(names)
        {
            let wanted = std::slice::from_ref(&served.type_name);
            let mut parts = self.take_parts(&[name], wanted)?;
            items.push(match (&parameter.value, parts.len()) {
                (Some(_), 1) => CallValue::Plain(parts.remove(0)),
                _ => {
                    let name = type_name(parameter.value.as_ref(), parameter.opaque.as_ref());
                    CallValue::Opaque(name, parts)
                }
            });
        }
        Ok(items)
    }

    fn store_results(
        &mut self,
        entry: &ProgramEntry,
        names: &[&str],
        items: Vec<CallValue>,
    ) -> Result<(), String> {
        let into_parts = |item: CallValue| match item {
            CallValue::Plain(value) => vec![value],
            CallValue::Opaque(_, parts) => parts,
        };
        let served = self.find_served(&entry.name)?;
        if let ([name], true) = (names, entry.results.len() != 1) {
            let parts = items.into_iter().flat_map(into_parts).collect();
            let type_name = served.result.type_name.clone();
            self.make_variable(name, &type_name, parts)?;
            return Ok(());
        }
        let types = served.results.iter();
        let types: Vec<String> = types.map(|result| result.type_name.clone()).collect();
        for ((name, type_name), item) in names.iter().zip(&types).zip(items) {
            self.make_variable(name, type_name, into_parts(item))?;
        }
        Ok(())
    }

    /// `restore FILE (VARIABLE TYPE)*`
    pub(super) fn restore_variables(&mut self, words: &[&str]) -> AnswerResult {
        let bytes = fs::read(words[0]);
        let bytes = bytes.map_err(|error| format!("Failed to open {}: {error}", words[0]))?;
        let mut layouts: Vec<(&str, &str, Vec<ValueLayout>)> = Vec::new();
        for pair in words[1..].chunks(2) {
            let [name, type_name] = *pair else {
                return Err("expected variables with their types".to_owned());
            };
            self.require_new(name)?;
            layouts.push((name, type_name, self.types.layout(type_name)?));
        }
        let all = layouts.iter().flat_map(|(.., parts)| parts);
        let wanted: Vec<_> = all
            .map(|part| Some((part.element, part.unsigned)))
            .collect();
        let values = ProgramValue::read_all_as(&bytes, &wanted);
        let values = values.map_err(|error| format!("{}: {error}", words[0]))?;
        let mut values = values.into_iter();
        for (name, type_name, layout) in layouts {
            let parts: Vec<ProgramValue> = values.by_ref().take(layout.len()).collect();
            if !parts.iter().map(ValueLayout::of_value).eq(layout) {
                return Err(format!(
                    "Failed to restore variable {name}.\n{} has no value of type {type_name} there",
                    words[0]
                ));
            }
            self.make_variable(name, type_name, parts)?;
        }
        Ok(Vec::new())
    }

    /// `store FILE VARIABLE*`
    pub(super) fn store_variables(&mut self, words: &[&str]) -> AnswerResult {
        let mut bytes = Vec::new();
        for name in &words[1..] {
            let variable = self.find_variable(name)?;
            bytes.extend(variable.parts.iter().flat_map(ProgramValue::to_binary));
        }
        let written = fs::write(words[0], bytes);
        written.map_err(|error| format!("Failed to open {}: {error}", words[0]))?;
        Ok(Vec::new())
    }

    /// `free VARIABLE*`
    pub(super) fn free_variables(&mut self, words: &[&str]) -> AnswerResult {
        for name in words {
            self.find_variable(name)?;
            self.variables.remove(*name);
        }
        Ok(Vec::new())
    }

    /// `rename OLD NEW`
    pub(super) fn rename_variable(&mut self, words: &[&str]) -> AnswerResult {
        let variable = self.find_variable(words[0])?.clone();
        self.require_new(words[1])?;
        self.variables.remove(words[0]);
        self.make_variable(words[1], &variable.type_name, variable.parts)
    }

    /// `inputs ENTRY`
    pub(super) fn list_inputs(&mut self, words: &[&str]) -> AnswerResult {
        let parameters = self.find_served(words[0])?.parameters.iter();
        Ok(parameters.map(mark_unique).collect())
    }

    /// `output ENTRY`: the type of all results together.
    pub(super) fn list_output(&mut self, words: &[&str]) -> AnswerResult {
        Ok(vec![mark_unique(&self.find_served(words[0])?.result)])
    }

    /// `outputs ENTRY`: the type of each result.
    pub(super) fn list_outputs(&mut self, words: &[&str]) -> AnswerResult {
        let results = self.find_served(words[0])?.results.iter();
        Ok(results.map(mark_unique).collect())
    }

    /// `attributes ENTRY`
    pub(super) fn list_attributes(&mut self, words: &[&str]) -> AnswerResult {
        Ok(self.find_served(words[0])?.attributes.clone())
    }

    /// `type VARIABLE`
    pub(super) fn tell_type(&mut self, words: &[&str]) -> AnswerResult {
        Ok(vec![self.find_variable(words[0])?.type_name.clone()])
    }

    /// `kind TYPE`
    pub(super) fn tell_kind(&mut self, words: &[&str]) -> AnswerResult {
        let kind = match self.types.find(words[0])? {
            InterfaceType::Scalar => "primitive",
            InterfaceType::Array(..) => "array",
            InterfaceType::Record(_) => "record",
            InterfaceType::Sum(_) => "sum",
            InterfaceType::Opaque => "opaque",
        };
        Ok(vec![kind.to_owned()])
    }

    /// `set_tuning_param NAME VALUE`
    pub(super) fn set_parameter(&mut self, words: &[&str]) -> AnswerResult {
        let mut parameters = self.program.parameters.iter();
        if !parameters.any(|parameter| parameter.name == words[0]) {
            return Err(format!("Unknown tuning parameter: {}", words[0]));
        }
        let value = words[1].parse();
        let value = value.map_err(|_| format!("{} is not a number", words[1]))?;
        self.parameters.push((words[0].to_owned(), value));
        Ok(Vec::new())
    }

    /// `tuning_params ENTRY`
    pub(super) fn list_parameters(&mut self, words: &[&str]) -> AnswerResult {
        find_entry(&self.program, words[0])?;
        let parameters = self.program.parameters.iter();
        Ok(parameters
            .map(|parameter| format!("{} {}", parameter.name, class_name(&parameter.class)))
            .collect())
    }

    /// `tuning_param_class NAME`
    pub(super) fn tell_parameter_class(&mut self, words: &[&str]) -> AnswerResult {
        let mut parameters = self.program.parameters.iter();
        let found = parameters.find(|parameter| parameter.name == words[0]);
        let found = found.ok_or_else(|| format!("Unknown tuning parameter: {}", words[0]))?;
        Ok(vec![class_name(&found.class)])
    }
}

fn find_entry<'a>(program: &'a CompiledProgram, name: &str) -> Result<&'a ProgramEntry, String> {
    let found = program.entries.iter().find(|entry| entry.name == name);
    found.ok_or_else(|| format!("Unknown entry point: {name}"))
}

/// The name of a type, with a star where the declaration makes it unique.
fn mark_unique(value: &ServedValue) -> String {
    let star = if value.is_unique { "*" } else { "" };
    format!("{star}{}", value.type_name)
}

/// The name of a class. Thresholds with a default have none of their own.
fn class_name(class: &SizeClass) -> String {
    class.name().unwrap_or("threshold").to_owned()
}
