//! What the kinds share: a device for a test, values out of JSON, and comparison.

use super::Outcome;
use crate::cli::args::Programs;
use crate::values::compare::{Tolerance, compare};
use serde_json::{Map, Value};
use spirula::{CompileOptions, Profile};
use spirula_diagnostics::Diagnostic;
use spirula_opt::{Pipeline, optimise};
use spirula_runtime::data::{Array, Element, Number};
use spirula_runtime::{Buffer, Device, DeviceOptions};
use spirula_spirv::ir::Module;
use spirula_spirv::target::Target;
use std::fs;
use std::path::Path;

/// The name of the CPU device, to which others are compared.
pub const CPU: &str = "cpu";

/// On what tests run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the device.
    pub device: String,
    /// How it is opened.
    pub options: DeviceOptions,
    /// Whether modules are lifted to LLVM assembly and brought back before they run.
    pub lifted: bool,
    /// What modules are compiled for; by default what suits the input.
    pub target: Option<Target>,
    /// What modules are optimised by before they run.
    pub passes: Pipeline,
    /// What tensor programs are scheduled for.
    pub profile: Profile,
    /// How programs come about, and what is left of them.
    pub programs: Programs,
}

impl Options {
    /// A fresh device.
    pub fn open(&self) -> Result<Device, Outcome> {
        Ok(Device::open(&self.device, &self.options)?)
    }

    /// The same on another device.
    pub fn on(&self, device: &str) -> Options {
        Options {
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
    pub fn module(&self, bytes: &[u8]) -> Result<Module, Outcome> {
        let options = CompileOptions {
            target: self.target,
            ..CompileOptions::default()
        };
        let mut module = spirula::compile(bytes, &options)?.into_module()?;
        if self.lifted {
            let first = |all: Vec<Diagnostic>| {
                let first = all.first().map(|d| d.message.clone());
                Outcome::failed(format!("lifting: {}", first.unwrap_or_default()))
            };
            let text = spirula_llvm::print(&spirula_llvm::lift(&module).map_err(first)?);
            module = spirula::compile(text.as_bytes(), &options)?.into_module()?;
        }
        let mut settings = spirula_opt::Options::default();
        optimise(&mut module, &self.passes, &mut settings).map_err(Outcome::failed)?;
        Ok(module)
    }
}

/// The contents of a file that a manifest names.
pub fn read(path: &Path) -> Result<Vec<u8>, Outcome> {
    fs::read(path).map_err(|e| Outcome::failed(format!("cannot read {}: {e}", path.display())))
}

/// A manifest or another JSON file of a folder.
pub fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, String> {
    let bytes = fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    serde_json::from_slice(&bytes).map_err(|e| format!("{}: {e}", path.display()))
}

/// The number that a JSON value is, as its digits stand in the file.
pub fn number(element: Element, value: &Value) -> Result<Number, Outcome> {
    let text = match value {
        Value::Bool(b) => u8::from(*b).to_string(),
        Value::Number(n) => n.to_string(),
        Value::String(s) => s.clone(),
        other => return Err(Outcome::failed(format!("{other} is no {element}"))),
    };
    // Integers may be written as floats, and as unsigned ones of their width.
    let whole = || text.parse::<f64>().ok().filter(|x| x.fract() == 0.0);
    let parsed = element.parse(&text);
    let wide = |_| match whole() {
        Some(x) if !element.is_float() => Ok(Number::Int(x as i128)),
        _ => Err(Outcome::failed(format!("{text} is no {element}"))),
    };
    parsed.or_else(wide)
}

/// The bytes of a scalar written as `{"TYPE": VALUE}`.
pub fn typed_scalar(object: &Map<String, Value>) -> Result<(Element, Vec<u8>), Outcome> {
    let (name, value) = object
        .iter()
        .next()
        .ok_or_else(|| Outcome::failed("an empty value"))?;
    let element: Element = name.parse().map_err(Outcome::failed)?;
    let mut bytes = Vec::new();
    element.encode(number(element, value)?, &mut bytes);
    Ok((element, bytes))
}

/// Compares a buffer with what it should hold; `title` is what it is called.
pub fn expect(
    title: &str,
    element: Element,
    got: Vec<u8>,
    want: Vec<u8>,
    tolerance: Tolerance,
) -> Result<(), Outcome> {
    let array = |bytes: Vec<u8>| {
        let shape = vec![bytes.len() / element.size()];
        Array::new(element, shape, bytes).map_err(Outcome::failed)
    };
    expect_array(title, &array(got)?, &array(want)?, tolerance)
}

/// Compares an array with what it should be.
pub fn expect_array(
    title: &str,
    got: &Array,
    want: &Array,
    tolerance: Tolerance,
) -> Result<(), Outcome> {
    match compare(got, want, tolerance) {
        Ok(None) => Ok(()),
        Ok(Some(difference)) => Err(Outcome::failed(format!("{title}: {difference}"))),
        Err(text) => Err(Outcome::failed(format!("{title}: {text}"))),
    }
}

/// All of a buffer.
pub fn download(device: &mut Device, buffer: Buffer) -> Result<Vec<u8>, Outcome> {
    Ok(device.download(buffer)?)
}
