//! Inputs of Futhark tests: values, random values and scripts.

use super::cases::{FutharkCaseInput, TestDataSource};
use super::listing::FutharkTest;
use super::random;
use crate::cli::files::decompress_gzip;
use crate::script::{ScriptEnvironment, evaluate_arguments};
use crate::test::TestOutcome;
use crate::test::session::{TestEnvironment, read_referenced_file};
use crate::values::items::{group_into_items, value_types};
use spirula_program::program::ProgramEntry;
use spirula_program::{CallValue, CompiledProgram, ProgramSession, ProgramValue, ScalarType};
use spirula_runtime::DeviceMachine;

impl FutharkTest {
    /// Loads the arguments of the call. Numbers without a type have those of the parameters.
    pub fn load_call_items(
        &self,
        program: &CompiledProgram,
        session: &TestEnvironment,
    ) -> Result<Vec<CallValue>, TestOutcome> {
        let entry = find_entry(program, &self.case.entry);
        let values = match &self.case.input {
            FutharkCaseInput::Values(source) => {
                let parameters = entry.iter().flat_map(|entry| &entry.parameters);
                let wanted =
                    parameters.flat_map(|p| value_types(p.value.as_ref(), p.opaque.as_ref()));
                self.read_typed_values(source, &wanted.collect::<Vec<_>>())?
            }
            FutharkCaseInput::Random(types) => {
                random::make_random_values(types).map_err(TestOutcome::failed)?
            }
            FutharkCaseInput::Script(source) => {
                return self.evaluate_script_arguments(source, program, session);
            }
            FutharkCaseInput::Nothing | FutharkCaseInput::Candidates => Vec::new(),
        };
        Ok(match entry {
            Some(entry) => group_into_items(values, entry),
            None => values.into_iter().map(CallValue::Plain).collect(),
        })
    }

    /// Reads the expected results. Numbers without a type have those of the entry point's results.
    pub fn read_expected_values(
        &self,
        source: &TestDataSource,
        program: &CompiledProgram,
    ) -> Result<Vec<ProgramValue>, TestOutcome> {
        let entry = find_entry(program, &self.case.entry);
        let results = entry.iter().flat_map(|entry| &entry.results);
        let wanted = results.flat_map(|r| value_types(r.value.as_ref(), r.opaque.as_ref()));
        self.read_typed_values(source, &wanted.collect::<Vec<_>>())
    }

    /// Evaluates a script, with the program on the tested device.
    fn evaluate_script_arguments(
        &self,
        source: &TestDataSource,
        program: &CompiledProgram,
        session: &TestEnvironment,
    ) -> Result<Vec<CallValue>, TestOutcome> {
        let text = self.read_source_bytes(source)?;
        let mut device = session.open_device()?;
        let mut host = ScriptHost {
            test: self,
            program,
            session: ProgramSession::new(program, DeviceMachine::new(&mut device))?,
        };
        let name = &self.case.entry;
        let entry = host.find_entry(name);
        let entry = entry.ok_or_else(|| TestOutcome::failed(format!("no entry point {name}")))?;
        evaluate_arguments(&String::from_utf8_lossy(&text), &entry, &mut host)
    }

    /// Reads the values of a source. Numbers without a type have the wanted types.
    fn read_typed_values(
        &self,
        source: &TestDataSource,
        wanted: &[Option<(ScalarType, bool)>],
    ) -> Result<Vec<ProgramValue>, TestOutcome> {
        let bytes = self.read_source_bytes(source)?;
        ProgramValue::read_all_wrapped(&bytes, wanted).map_err(TestOutcome::failed)
    }

    fn read_source_bytes(&self, source: &TestDataSource) -> Result<Vec<u8>, TestOutcome> {
        match source {
            TestDataSource::Text(text) => Ok(text.clone().into_bytes()),
            TestDataSource::File(name) => self.read_neighbour_file(name),
        }
    }

    fn read_neighbour_file(&self, name: &str) -> Result<Vec<u8>, TestOutcome> {
        decompress_gzip(read_referenced_file(&self.beside.join(name))?).map_err(TestOutcome::failed)
    }
}

fn find_entry<'a>(program: &'a CompiledProgram, name: &str) -> Option<&'a ProgramEntry> {
    program.entries.iter().find(|entry| entry.name == name)
}

/// Script environment of a test: its program on a device, and the files beside its source.
struct ScriptHost<'a> {
    test: &'a FutharkTest,
    program: &'a CompiledProgram,
    session: ProgramSession<'a, DeviceMachine<'a>>,
}

impl ScriptEnvironment for ScriptHost<'_> {
    type Fault = TestOutcome;

    fn find_entry(&self, name: &str) -> Option<ProgramEntry> {
        find_entry(self.program, name).cloned()
    }

    fn call_entry(
        &mut self,
        name: &str,
        items: &[CallValue],
    ) -> Result<Vec<CallValue>, TestOutcome> {
        Ok(self.session.call_items(name, items)?)
    }

    fn read_file(&self, name: &str) -> Result<Vec<u8>, TestOutcome> {
        self.test.read_neighbour_file(name)
    }
}
