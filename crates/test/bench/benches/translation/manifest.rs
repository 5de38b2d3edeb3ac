//! The corpus' manifest of kernels: launches, and rules for the contents of buffers.

use serde::Deserialize;
use serde_json::{Map, Value};
use spirula_runtime::data::{
    BufferFill, ElementNumber, ElementType, RandomOrder, generate_elements,
};
use spirula_runtime::{
    BufferHandle, ComputeDevice, DeviceOptions, IndexSpace, KernelArgument, KernelHandle,
    KernelLaunch, LaunchInputs,
};
use spirula_spirv::ir::SpirvModule;
use std::collections::BTreeMap;
use std::path::Path;

/// Programs with their launches.
#[derive(Deserialize)]
pub struct Manifest {
    /// The programs.
    pub tests: Vec<Program>,
}

/// A program.
#[derive(Deserialize)]
pub struct Program {
    /// Its LLVM IR, from several compilers.
    pub ir: Vec<String>,
    kernels: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    name: String,
    global: Vec<u64>,
    local: Option<Vec<u32>>,
    #[serde(default)]
    offset: Vec<u64>,
    args: Vec<Map<String, Value>>,
}

impl Manifest {
    /// Reads the manifest of a folder.
    pub fn read(folder: &Path) -> Result<Manifest, String> {
        let bytes = std::fs::read(folder.join("manifest.json")).map_err(|e| e.to_string())?;
        serde_json::from_slice(&bytes).map_err(|e| e.to_string())
    }
}

/// A program on a device, ready to be launched; with one thread if the device allows that.
pub struct Run {
    device: ComputeDevice,
    initial: Vec<(BufferHandle, Vec<u8>)>,
    launches: Vec<KernelLaunch>,
}

impl Run {
    /// Compiles the kernels of a module and makes their buffers.
    pub fn new(device: &str, program: &Program, module: &SpirvModule) -> Result<Run, String> {
        let options = DeviceOptions {
            threads: Some(1),
            ..DeviceOptions::default()
        };
        let mut kernels: BTreeMap<&str, KernelHandle> = BTreeMap::new();
        let mut run = Run {
            initial: Vec::new(),
            launches: Vec::new(),
            device: ComputeDevice::open(device, &options).map_err(|e| e.to_string())?,
        };
        let mut named: BTreeMap<String, BufferHandle> = BTreeMap::new();
        for step in &program.kernels {
            let kernel = match kernels.get(step.name.as_str()) {
                Some(kernel) => *kernel,
                None => {
                    let made = run.device.create_kernel(module, &step.name, &[]);
                    let made = made.map_err(|e| e.to_string())?;
                    kernels.insert(&step.name, made);
                    made
                }
            };
            let mut arguments = Vec::new();
            for arg in &step.args {
                arguments.push(run.argument(arg, &mut named)?);
            }
            run.launches.push(KernelLaunch {
                kernel,
                size: IndexSpace::Items {
                    dimensions: step.global.len() as u32,
                    global: three(&step.global, 1),
                    local: step.local.as_deref().map(|l| three(l, 1)),
                    offset: three(&step.offset, 0),
                },
                inputs: LaunchInputs::Arguments(arguments),
            });
        }
        Ok(run)
    }

    /// Gives the buffers their initial contents.
    pub fn reset(&mut self) -> Result<(), String> {
        for (buffer, bytes) in &self.initial {
            let written = self.device.write_buffer(*buffer, 0, bytes);
            written.map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    /// Executes all launches in order.
    pub fn launch(&mut self) -> Result<(), String> {
        for launch in &self.launches {
            self.device
                .launch_kernel(launch)
                .map_err(|e| e.to_string())?;
            self.device.wait_idle().map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    fn argument(
        &mut self,
        arg: &Map<String, Value>,
        named: &mut BTreeMap<String, BufferHandle>,
    ) -> Result<KernelArgument, String> {
        let bad = || {
            format!(
                "an argument that is not understood: {}",
                Value::Object(arg.clone())
            )
        };
        if let Some(element) = arg.get("buf") {
            let element = element_of(element.as_str().ok_or_else(bad)?)?;
            let count = arg.get("n").and_then(Value::as_u64).ok_or_else(bad)? as usize;
            let fill = fill(element, arg.get("init").ok_or_else(bad)?).ok_or_else(bad)?;
            let bytes = generate_elements(element, count, &fill).map_err(|e| e.to_string())?;
            let buffer = self.device.upload_data(&bytes).map_err(|e| e.to_string())?;
            self.initial.push((buffer, bytes));
            let name = arg.get("as").and_then(Value::as_str).ok_or_else(bad)?;
            named.insert(name.to_owned(), buffer);
            return Ok(KernelArgument::from(buffer));
        }
        if let Some(name) = arg.get("ref").and_then(Value::as_str) {
            return named
                .get(name)
                .map(|b| KernelArgument::from(*b))
                .ok_or_else(bad);
        }
        if let Some(text) = arg.get("bytes").and_then(Value::as_str) {
            return hex(text).map(KernelArgument::Bytes).ok_or_else(bad);
        }
        if let Some(size) = arg.get("local").and_then(Value::as_u64) {
            return Ok(KernelArgument::Local(size));
        }
        let (name, value) = arg.iter().next().ok_or_else(bad)?;
        let element = element_of(name)?;
        let mut bytes = Vec::new();
        element.encode_number(number(element, value).ok_or_else(bad)?, &mut bytes);
        Ok(KernelArgument::Bytes(bytes))
    }
}

fn element_of(name: &str) -> Result<ElementType, String> {
    name.parse().map_err(|e| format!("{name}: {e}"))
}

fn three<T: Copy>(sizes: &[T], default: T) -> [T; 3] {
    let mut all = [default; 3];
    for (to, from) in all.iter_mut().zip(sizes) {
        *to = *from;
    }
    all
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

fn number(element: ElementType, value: &Value) -> Option<ElementNumber> {
    let text = match value {
        Value::Bool(b) => u8::from(*b).to_string(),
        Value::Number(n) => n.to_string(),
        Value::String(s) => s.clone(),
        _ => return None,
    };
    let whole = || text.parse::<f64>().ok().filter(|x| x.fract() == 0.0);
    match (element.parse_number(&text), whole()) {
        (Ok(number), _) => Some(number),
        (_, Some(x)) if !element.is_float() => Some(ElementNumber::Int(x as i128)),
        _ => None,
    }
}

/// The rule for initial contents.
fn fill(element: ElementType, init: &Value) -> Option<BufferFill> {
    if init == "zero" {
        return Some(BufferFill::Zeros);
    }
    let object = init.as_object()?;
    let seed = object.get("seed").and_then(Value::as_u64);
    let is_form = |key: &&String| !["seed", "diag"].contains(&key.as_str());
    let form = object.keys().find(is_form)?;
    let value = &object[form];
    let integers = |order| {
        let (low, high): (i64, i64) = serde_json::from_value(value.clone()).ok()?;
        Some(BufferFill::Integers {
            low,
            high,
            seed: seed?,
            order,
        })
    };
    Some(match form.as_str() {
        "fill" => BufferFill::Value(number(element, value)?),
        "iota" => BufferFill::Ramp {
            start: number(element, value.get(0)?)?,
            step: number(element, value.get(1)?)?,
        },
        "values" => {
            let numbers = value.as_array()?.iter().map(|v| number(element, v));
            BufferFill::List(numbers.collect::<Option<_>>()?)
        }
        "text" => BufferFill::Repeat(value.as_str()?.as_bytes().to_vec()),
        "hex" => BufferFill::Bytes(hex(value.as_str()?)?),
        "bits" => BufferFill::Bits { seed: seed? },
        "randi" => integers(RandomOrder::AsDrawn)?,
        "sorted" => integers(RandomOrder::Sorted)?,
        "cumsum" => integers(RandomOrder::Summed)?,
        "rand" => {
            let (low, high): (f64, f64) = serde_json::from_value(value.clone()).ok()?;
            let diagonal = object.get("diag");
            BufferFill::Reals {
                low,
                high,
                seed: seed?,
                diagonal: diagonal.and_then(|d| serde_json::from_value(d.clone()).ok()),
            }
        }
        _ => return None,
    })
}
