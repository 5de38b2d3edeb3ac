//! Test cases of the corpus' compute manifest: modules with buffers and dispatches.

use serde_json::{Map, Value};
use spirula_runtime::data::{BufferFill, ElementNumber, ElementType, generate_elements};
use spirula_runtime::{
    BufferHandle, ComputeDevice, DeviceOptions, IndexSpace, KernelLaunch, LaunchBinding,
    LaunchInputs,
};
use spirula_spirv::ir::SpirvModule;
use std::path::Path;
use std::time::Instant;

/// Number of runs of which the fastest counts.
const ROUNDS: usize = 7;

/// A test and its module.
pub struct Case {
    id: String,
    test: Value,
    bytes: Vec<u8>,
}

/// The outcome of a run.
pub struct Found {
    /// Final contents of all buffers.
    pub buffers: Vec<Vec<u8>>,
    /// Number of executed instructions.
    pub instructions: u64,
    /// Time of the fastest run.
    pub seconds: f64,
}

/// The tests of a corpus.
pub fn read(folder: &Path) -> Vec<Case> {
    let path = folder.join("compute/manifest.json");
    let text = std::fs::read(&path).expect("the corpus has a manifest");
    let manifest: Value = serde_json::from_slice(&text).expect("the manifest is JSON");
    let tests = manifest["tests"]
        .as_array()
        .expect("the manifest has tests");
    let case = |test: &Value| {
        let name = test["module"].as_str().unwrap_or_default();
        let bytes = std::fs::read(folder.join("modules").join(name)).ok()?;
        Some(Case {
            id: test["id"].as_str()?.to_owned(),
            test: test.clone(),
            bytes,
        })
    };
    tests.iter().filter_map(case).collect()
}

impl Case {
    /// Its name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its module.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Runs the test with another module; `None` if the device rejects it.
    pub fn run(&self, bytes: &[u8], timed: bool) -> Option<Found> {
        let module = SpirvModule::from_bytes(bytes).ok()?;
        let (buffers, instructions, _) = self.on("cpu+count", &module)?;
        let mut seconds = f64::INFINITY;
        for _ in 0..if timed { ROUNDS } else { 0 } {
            seconds = seconds.min(self.on("cpu", &module)?.2);
        }
        Some(Found {
            buffers,
            instructions,
            seconds,
        })
    }

    /// Buffers, instructions and seconds.
    fn on(&self, device: &str, module: &SpirvModule) -> Option<(Vec<Vec<u8>>, u64, f64)> {
        let options = DeviceOptions {
            threads: Some(1),
            ..DeviceOptions::default()
        };
        let mut device = ComputeDevice::open(device, &options).ok()?;
        let none = Map::new();
        let spec = self.test["spec"].as_object().unwrap_or(&none);
        let spec: Vec<(u32, u64)> = spec.iter().filter_map(specialisation).collect();
        let kernel = device.create_kernel(module, "main", &spec).ok()?;
        let specs = self.test["buffers"].as_array()?;
        let mut buffers = Vec::new();
        for (at, spec) in specs.iter().enumerate() {
            buffers.push(device.upload_data(&contents(spec, at as u64)?).ok()?);
        }
        let bindings = bindings(specs, &buffers);
        let mut seconds = 0.0;
        for dispatch in self.test["dispatches"].as_array()? {
            let groups = dispatch["groups"].as_array()?;
            let groups = [0, 1, 2].map(|n| groups[n].as_u64().unwrap_or(1) as u32);
            let push = push_constants(&dispatch["push"], &mut device, &buffers)?;
            let launch = KernelLaunch {
                kernel,
                size: IndexSpace::Groups(groups),
                inputs: LaunchInputs::Resources {
                    bindings: bindings.clone(),
                    push,
                },
            };
            let began = Instant::now();
            device.launch_kernel(&launch).ok()?;
            device.wait_idle().ok()?;
            seconds += began.elapsed().as_secs_f64();
        }
        let instructions = device.instruction_count().unwrap_or(0);
        let found = buffers.iter().map(|b| device.download_buffer(*b).ok());
        Some((found.collect::<Option<_>>()?, instructions, seconds))
    }
}

/// The bytes of a scalar written as `{"TYPE": VALUE}`.
fn scalar(object: &Map<String, Value>) -> Option<(ElementType, Vec<u8>)> {
    let (name, value) = object.iter().next()?;
    let element: ElementType = name.parse().ok()?;
    let mut bytes = Vec::new();
    element.encode_number(number(value)?, &mut bytes);
    Some((element, bytes))
}

fn number(value: &Value) -> Option<ElementNumber> {
    match value {
        Value::Bool(b) => Some(ElementNumber::Int(i128::from(*b))),
        Value::Number(n) => match (n.as_i64(), n.as_u64()) {
            (Some(n), _) => Some(ElementNumber::Int(n.into())),
            (_, Some(n)) => Some(ElementNumber::Int(n.into())),
            _ => n.as_f64().map(ElementNumber::Float),
        },
        _ => None,
    }
}

fn specialisation((id, value): (&String, &Value)) -> Option<(u32, u64)> {
    let (_, mut bytes) = scalar(value.as_object()?)?;
    bytes.resize(8, 0);
    let bits = u64::from_le_bytes(*bytes.first_chunk()?);
    Some((id.parse().ok()?, bits))
}

/// Initial contents of a buffer. Random contents need not be the manifest's numbers.
fn contents(spec: &Value, at: u64) -> Option<Vec<u8>> {
    let element: ElementType = spec["type"].as_str()?.parse().ok()?;
    let reals = |low| BufferFill::Reals {
        low,
        high: 1.0,
        seed: at,
        diagonal: None,
    };
    let fill = match &spec["init"] {
        Value::String(rule) => match (rule.as_str(), element.is_float()) {
            ("zero", _) => BufferFill::Zeros,
            ("pos", _) => reals(0.1),
            (_, true) => reals(-1.0),
            ("mod256", _) => BufferFill::Integers {
                low: 0,
                high: 256,
                seed: at,
                order: spirula_runtime::data::RandomOrder::AsDrawn,
            },
            _ => BufferFill::Bits { seed: at },
        },
        Value::Array(list) => BufferFill::List(list.iter().map(number).collect::<Option<_>>()?),
        ramp => BufferFill::Ramp {
            start: number(&ramp["iota"][0])?,
            step: number(&ramp["iota"][1])?,
        },
    };
    generate_elements(element, spec["n"].as_u64()? as usize, &fill).ok()
}

/// Descriptors; buffers that share a binding are the elements of its array.
fn bindings(specs: &[Value], buffers: &[BufferHandle]) -> Vec<LaunchBinding> {
    let mut out: Vec<LaunchBinding> = Vec::new();
    for (spec, buffer) in specs.iter().zip(buffers) {
        let Some(binding) = spec["binding"].as_u64() else {
            continue;
        };
        let (set, binding) = (spec["set"].as_u64().unwrap_or(0) as u32, binding as u32);
        let same = out.iter().filter(|b| (b.set, b.binding) == (set, binding));
        let index = same.count() as u32;
        out.push(LaunchBinding {
            set,
            binding,
            index,
            resource: (*buffer).into(),
            region: None,
        });
    }
    out
}

fn push_constants(
    items: &Value,
    device: &mut ComputeDevice,
    buffers: &[BufferHandle],
) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for item in items.as_array().into_iter().flatten() {
        let item = item.as_object()?;
        let (align, bytes) = if item.contains_key("bytes") {
            return None;
        } else if let Some(number) = item.get("address") {
            let buffer = buffers.get(number.as_u64()? as usize)?;
            (
                8,
                device.buffer_address(*buffer).ok()?.to_le_bytes().to_vec(),
            )
        } else {
            let (element, bytes) = scalar(item)?;
            (element.size(), bytes)
        };
        out.resize(out.len().next_multiple_of(align), 0);
        out.extend_from_slice(&bytes);
    }
    Some(out)
}
