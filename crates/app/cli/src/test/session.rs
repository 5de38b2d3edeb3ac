//! What the kinds share: a device for a test, values out of JSON, and comparison.

use super::TestOutcome;
use crate::cli::args::ProgramArgs;
use crate::values::compare::{ArrayTolerance, compare_arrays};
use serde_json::{Map, Value};
use spirula::{CompileOptions, ScheduleProfile};
use spirula_diagnostics::SourceDiagnostic;
use spirula_opt::{PassPipeline, optimise_module};
use spirula_runtime::data::{ElementArray, ElementNumber, ElementType};
use spirula_runtime::{ComputeDevice, DeviceBuffer, DeviceOptions};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::target::SpirvTarget;
use std::fs;
use std::path::Path;

/// The name of the CPU device, to which others are compared.
pub const CPU: &str = "cpu";

/// On what tests run.
#[derive(Clone, Debug)]
pub struct TestEnvironment {
    /// Name of the device.
    pub device: String,
    /// How it is opened.
    pub options: DeviceOptions,
    /// Whether modules are lifted to LLVM assembly and brought back before they run.
    pub lifted: bool,
    /// What modules are compiled for; by default what suits the input.
    pub target: Option<SpirvTarget>,
    /// What modules are optimised by before they run.
    pub passes: PassPipeline,
    /// What tensor programs are scheduled for.
    pub profile: ScheduleProfile,
    /// How programs come about, and what is left of them.
    pub programs: ProgramArgs,
}

impl TestEnvironment {
    /// A fresh device.
    pub fn open_device(&self) -> Result<ComputeDevice, TestOutcome> {
        Ok(ComputeDevice::open(&self.device, &self.options)?)
    }

    /// The same on another device.
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

    /// The module that an input becomes.
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

/// The contents of a file that a manifest names.
pub fn read_referenced_file(path: &Path) -> Result<Vec<u8>, TestOutcome> {
    fs::read(path).map_err(|e| TestOutcome::failed(format!("cannot read {}: {e}", path.display())))
}

/// A manifest or another JSON file of a folder.
pub fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, String> {
    let bytes = fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    serde_json::from_slice(&bytes).map_err(|e| format!("{}: {e}", path.display()))
}

/// The number that a JSON value is, as its digits stand in the file.
pub fn parse_json_number(
    element: ElementType,
    value: &Value,
) -> Result<ElementNumber, TestOutcome> {
    let text = match value {
        Value::Bool(b) => u8::from(*b).to_string(),
        Value::Number(n) => n.to_string(),
        Value::String(s) => s.clone(),
        other => return Err(TestOutcome::failed(format!("{other} is no {element}"))),
    };
    // Integers may be written as floats, and as unsigned ones of their width.
    let whole = || text.parse::<f64>().ok().filter(|x| x.fract() == 0.0);
    let parsed = element.parse_number(&text);
    let wide = |_| match whole() {
        Some(x) if !element.is_float() => Ok(ElementNumber::Int(x as i128)),
        _ => Err(TestOutcome::failed(format!("{text} is no {element}"))),
    };
    parsed.or_else(wide)
}

/// The bytes of a scalar written as `{"TYPE": VALUE}`.
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

/// Compares a buffer with what it should hold; `title` is what it is called.
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

/// Compares an array with what it should be.
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

/// All of a buffer.
pub fn download_buffer(
    device: &mut ComputeDevice,
    buffer: DeviceBuffer,
) -> Result<Vec<u8>, TestOutcome> {
    Ok(device.download_buffer(buffer)?)
}
