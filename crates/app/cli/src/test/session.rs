//! Functions that all kinds share: devices, values in JSON, and comparison.

use super::TestOutcome;
use crate::cli::args::ProgramArgs;
use crate::values::compare::{ArrayTolerance, compare_arrays};
use serde_json::{Map, Value};
use spirula::{CompileOptions, ScheduleProfile};
use spirula_diagnostics::SourceDiagnostic;
use spirula_opt::{PassPipeline, optimise_module};
use spirula_runtime::data::{ElementArray, ElementNumber, ElementType};
use spirula_runtime::{BufferHandle, ComputeDevice, DeviceOptions};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::target::SpirvTarget;
use std::fs;
use std::path::Path;

/// Name of the CPU device, which other devices are compared with.
pub const CPU: &str = "cpu";

/// Environment of tests.
#[derive(Clone, Debug)]
pub struct TestEnvironment {
    /// Name of the device.
    pub device: String,
    /// Options of the device.
    pub options: DeviceOptions,
    /// Whether modules are lifted to LLVM assembly and translated again before they run.
    pub lifted: bool,
    /// Environment of compiled modules; by default the one that suits the input.
    pub target: Option<SpirvTarget>,
    /// Passes over modules before they run.
    pub passes: PassPipeline,
    /// Profile for the schedules of tensor programs.
    pub profile: ScheduleProfile,
    /// Options of Futhark programs.
    pub programs: ProgramArgs,
}

impl TestEnvironment {
    /// Opens a new device.
    pub fn open_device(&self) -> Result<ComputeDevice, TestOutcome> {
        Ok(ComputeDevice::open(&self.device, &self.options)?)
    }

    /// The same environment with another device.
    pub fn with_device(&self, device: &str) -> TestEnvironment {
        TestEnvironment {
            device: device.to_owned(),
            options: self.options.clone(),
            lifted: self.lifted,
            target: self.target,
            passes: self.passes.clone(),
            profile: self.profile,
            programs: self.programs.clone(),
        }
    }

    /// Compiles an input to a module.
    pub fn compile_to_module(&self, bytes: &[u8]) -> Result<SpirvModule, TestOutcome> {
        let options = CompileOptions {
            target: self.target,
            ..CompileOptions::default()
        };
        let mut module = spirula::compile_input(bytes, &options)?.into_module()?;
        if self.lifted {
            let first = |all: Vec<SourceDiagnostic>| {
                let first = all.first().map(|d| d.message.clone());
                TestOutcome::failed(format!("lifting: {}", first.unwrap_or_default()))
            };
            let text =
                spirula_llvm::print_assembly(&spirula_llvm::lift_module(&module).map_err(first)?);
            module = spirula::compile_input(text.as_bytes(), &options)?.into_module()?;
        }
        let mut settings = spirula_opt::PipelineOptions::default();
        optimise_module(&mut module, &self.passes, &mut settings).map_err(TestOutcome::failed)?;
        Ok(module)
    }
}

/// Reads a file that a manifest names.
pub fn read_referenced_file(path: &Path) -> Result<Vec<u8>, TestOutcome> {
    fs::read(path).map_err(|e| TestOutcome::failed(format!("cannot read {}: {e}", path.display())))
}

/// Reads a manifest or another JSON file of a folder.
pub fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, String> {
    let bytes = fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    serde_json::from_slice(&bytes).map_err(|e| format!("{}: {e}", path.display()))
}

/// Parses a number from the digits of a JSON value.
pub fn parse_json_number(
    element: ElementType,
    value: &Value,
) -> Result<ElementNumber, TestOutcome> {
    let text = match value {
        Value::Bool(b) => u8::from(*b).to_string(),
        Value::Number(n) => n.to_string(),
        Value::String(s) => s.clone(),
        other => {
            return Err(TestOutcome::failed(format!(
                "{other} is not of type {element}"
            )));
        }
    };
    // Integers may be written as floats, or as unsigned integers of their width.
    let whole = || text.parse::<f64>().ok().filter(|x| x.fract() == 0.0);
    let parsed = element.parse_number(&text);
    let wide = |_| match whole() {
        Some(x) if !element.is_float() => Ok(ElementNumber::Int(x as i128)),
        _ => Err(TestOutcome::failed(format!(
            "{text} is not of type {element}"
        ))),
    };
    parsed.or_else(wide)
}

/// Parses a scalar of the form `{"TYPE": VALUE}` to its bytes.
pub fn typed_scalar(object: &Map<String, Value>) -> Result<(ElementType, Vec<u8>), TestOutcome> {
    let (name, value) = object
        .iter()
        .next()
        .ok_or_else(|| TestOutcome::failed("an empty value"))?;
    let element: ElementType = name.parse().map_err(TestOutcome::failed)?;
    let mut bytes = Vec::new();
    element.encode_number(parse_json_number(element, value)?, &mut bytes);
    Ok((element, bytes))
}

/// Compares a buffer with its expected contents. `title` is its name in messages.
pub fn compare_buffer(
    title: &str,
    element: ElementType,
    got: Vec<u8>,
    want: Vec<u8>,
    tolerance: ArrayTolerance,
) -> Result<(), TestOutcome> {
    let array = |bytes: Vec<u8>| {
        let shape = vec![bytes.len() / element.size()];
        ElementArray::new(element, shape, bytes).map_err(TestOutcome::failed)
    };
    expect_array(title, &array(got)?, &array(want)?, tolerance)
}

/// Compares an array with the expected one.
pub fn expect_array(
    title: &str,
    got: &ElementArray,
    want: &ElementArray,
    tolerance: ArrayTolerance,
) -> Result<(), TestOutcome> {
    match compare_arrays(got, want, tolerance) {
        Ok(None) => Ok(()),
        Ok(Some(difference)) => Err(TestOutcome::failed(format!("{title}: {difference}"))),
        Err(text) => Err(TestOutcome::failed(format!("{title}: {text}"))),
    }
}

/// Downloads a whole buffer.
pub fn download_buffer(
    device: &mut ComputeDevice,
    buffer: BufferHandle,
) -> Result<Vec<u8>, TestOutcome> {
    Ok(device.download_buffer(buffer)?)
}
