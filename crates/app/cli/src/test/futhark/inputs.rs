//! Inputs of Futhark tests: values, random values and scripts.

use super::cases::{FutharkInput, TestDataSource};
use super::listing::FutharkTest;
use super::{random, script};
use crate::cli::files::decompress_gzip;
use crate::test::TestOutcome;
use crate::test::session::{TestEnvironment, read_referenced_file};
use spirula_program::program::ProgramEntry;
use spirula_program::{CallValue, CompiledProgram, ProgramSession, ProgramValue};
use spirula_runtime::DeviceMachine;

impl FutharkTest {
    /// Loads the arguments of the call.
    pub fn load_call_items(
        &self,
        program: &CompiledProgram,
        session: &TestEnvironment,
    ) -> Result<Vec<CallValue>, TestOutcome> {
        let values = match &self.case.input {
            FutharkInput::Values(source) => self.read_data_values(source)?,
            FutharkInput::Random(types) => {
                random::make_random_values(types).map_err(TestOutcome::failed)?
            }
            FutharkInput::Script(source) => {
                return self.evaluate_script_arguments(source, program, session);
            }
        };
        Ok(values.into_iter().map(CallValue::Plain).collect())
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
        let entry = script::ScriptEnvironment::find_entry(&host, name);
        let entry = entry.ok_or_else(|| TestOutcome::failed(format!("no entry point {name}")))?;
        script::evaluate_arguments(&String::from_utf8_lossy(&text), &entry, &mut host)
    }

    /// Reads the values of a source.
    pub fn read_data_values(
        &self,
        source: &TestDataSource,
    ) -> Result<Vec<ProgramValue>, TestOutcome> {
        ProgramValue::read_all(&self.read_source_bytes(source)?).map_err(TestOutcome::failed)
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

/// Script environment of a test: its program on a device, and the files beside its source.
struct ScriptHost<'a> {
    test: &'a FutharkTest,
    program: &'a CompiledProgram,
    session: ProgramSession<'a, DeviceMachine<'a>>,
}

impl script::ScriptEnvironment for ScriptHost<'_> {
    fn find_entry(&self, name: &str) -> Option<ProgramEntry> {
        let mut entries = self.program.entries.iter();
        entries.find(|entry| entry.name == name).cloned()
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
