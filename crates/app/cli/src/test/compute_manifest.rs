//! Compute manifests: SPIR-V shaders with their buffers and dispatches.
//!
//! `manifest.json` lists tests with `dispatches`. `golden/<id>.bin` has the concatenated contents of the buffers in
//! `out`. Modules are in `modules/`, in the folder or beside it.

use super::session::{
    self, compare_buffer, download_buffer, parse_json_number, read_json, read_referenced_file,
    typed_scalar,
};
use super::{MANIFEST, SuiteResult, TestOutcome, TestSuite};
use crate::values::compare::ArrayTolerance;
use crate::values::parse_hex_bytes;
use rand_mt::Mt;
use serde::Deserialize;
use serde_json::{Map, Value};
use spirula_runtime::data::{BufferFill, ElementNumber, ElementType, generate_elements};
use spirula_runtime::{
    BufferHandle, ComputeDevice, IndexSpace, KernelLaunch, LaunchBinding, LaunchInputs,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The entry point of every module.
const ENTRY: &str = "main";

#[derive(Deserialize)]
struct ComputeManifest {
    tests: Vec<ComputeTest>,
}

#[derive(Deserialize)]
struct ComputeTest {
    id: String,
    module: String,
    buffers: Vec<BufferSpec>,
    dispatches: Vec<ComputeDispatch>,
    out: Vec<usize>,
    tol: f64,
    #[serde(default)]
    spec: BTreeMap<String, Map<String, Value>>,
}

#[derive(Deserialize)]
struct BufferSpec {
    r#type: String,
    n: usize,
    init: Value,
    #[serde(default)]
    set: u32,
    /// `None` for a buffer that is accessed by its address.
    binding: Option<u32>,
}

#[derive(Deserialize)]
struct ComputeDispatch {
    groups: [u32; 3],
    #[serde(default)]
    push: Vec<Map<String, Value>>,
}

struct ComputeSuite {
    path: PathBuf,
    tests: Vec<ComputeTest>,
}

/// Loads a folder whose manifest lists tests with dispatches.
pub fn load_compute_suite(path: &Path) -> Option<SuiteResult> {
    if !path.join("golden").is_dir() || !path.join(MANIFEST).is_file() {
        return None;
    }
    let value: Value = match read_json(&path.join(MANIFEST)) {
        Ok(value) => value,
        Err(e) => return Some(Err(e)),
    };
    let first = value.get("tests").and_then(|t| t.get(0));
    first.and_then(|t| t.get("dispatches"))?;
    let manifest: Result<ComputeManifest, _> = serde_json::from_value(value);
    let folder = manifest
        .map_err(|e| e.to_string())
        .map(|manifest| ComputeSuite {
            path: path.to_owned(),
            tests: manifest.tests,
        });
    Some(folder.map(|f| Box::new(f) as Box<dyn TestSuite>))
}

impl TestSuite for ComputeSuite {
    fn test_names(&self) -> Vec<String> {
        self.tests.iter().map(|t| t.id.clone()).collect()
    }

    fn run_test(&self, name: &str, session: &session::TestEnvironment) -> Result<(), TestOutcome> {
        let test = self.tests.iter().find(|t| t.id == name);
        let test = test.ok_or_else(|| TestOutcome::failed("no such test"))?;
        let bytes = read_referenced_file(&self.module_path(&test.module))?;
        let module = session.compile_to_module(&bytes)?;
        let mut device = session.open_device()?;
        let spec = test
            .spec
            .iter()
            .map(|(id, value)| parse_specialisation(id, value));
        let spec = spec.collect::<Result<Vec<_>, _>>()?;
        let kernel = device.create_kernel(&module, ENTRY, &spec)?;
        let buffers = test.buffers.iter().enumerate().map(|(i, b)| {
            let element: ElementType = b.r#type.parse().map_err(TestOutcome::failed)?;
            let buffer = device.upload_data(&make_initial_contents(element, b, i)?)?;
            Ok((element, buffer))
        });
        let buffers = buffers.collect::<Result<Vec<_>, TestOutcome>>()?;
        let bindings = build_bindings(&test.buffers, &buffers);
        for dispatch in &test.dispatches {
            let push = push_constants(&dispatch.push, &mut device, &buffers)?;
            device.launch_kernel(&KernelLaunch {
                kernel,
                size: IndexSpace::Groups(dispatch.groups),
                inputs: LaunchInputs::Resources {
                    bindings: bindings.clone(),
                    push,
                },
            })?;
            device.wait_idle()?;
        }
        let golden =
            read_referenced_file(&self.path.join("golden").join(format!("{}.bin", test.id)))?;
        compare_with_golden(test, &mut device, &buffers, &golden)
    }
}

impl ComputeSuite {
    fn module_path(&self, name: &str) -> PathBuf {
        let own = self.path.join("modules").join(name);
        if own.is_file() {
            own
        } else {
            self.path.join("..").join("modules").join(name)
        }
    }
}

fn parse_specialisation(id: &str, value: &Map<String, Value>) -> Result<(u32, u64), TestOutcome> {
    let number = id
        .parse()
        .map_err(|_| TestOutcome::failed(format!("{id} is not a SpecId")))?;
    let (_, mut bytes) = typed_scalar(value)?;
    bytes.resize(8, 0);
    let bits = bytes.first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
    Ok((number, bits))
}

/// Builds descriptors. Buffers that share a binding are the elements of its array.
fn build_bindings(
    specs: &[BufferSpec],
    buffers: &[(ElementType, BufferHandle)],
) -> Vec<LaunchBinding> {
    let mut out: Vec<LaunchBinding> = Vec::new();
    for (spec, (_, buffer)) in specs.iter().zip(buffers) {
        let Some(binding) = spec.binding else {
            continue;
        };
        let same = |b: &&LaunchBinding| (b.set, b.binding) == (spec.set, binding);
        let index = out.iter().filter(same).count() as u32;
        out.push(LaunchBinding {
            set: spec.set,
            binding,
            index,
            resource: (*buffer).into(),
            region: None,
        });
    }
    out
}

/// Makes the initial contents of buffer number `i`.
fn make_initial_contents(
    element: ElementType,
    spec: &BufferSpec,
    i: usize,
) -> Result<Vec<u8>, TestOutcome> {
    let made =
        |fill: &BufferFill| generate_elements(element, spec.n, fill).map_err(TestOutcome::failed);
    let bad = || TestOutcome::failed(format!("unknown initial contents {}", spec.init));
    // This reserves the memory, or fails.
    let empty = || made(&BufferFill::Zeros);
    match &spec.init {
        Value::String(rule) => match rule.as_str() {
            "zero" => empty(),
            rule => {
                let rule = NumpyRule::from_name(rule).ok_or_else(bad)?;
                let size = empty()?.len();
                Ok(make_numpy_random(element, spec.n, size, rule, i as u32 + 1))
            }
        },
        Value::Array(list) => {
            let numbers = list.iter().map(|v| parse_json_number(element, v));
            made(&BufferFill::List(numbers.collect::<Result<_, _>>()?))
        }
        Value::Object(object) => match object
            .get("iota")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
        {
            Some([start, step]) => made(&BufferFill::Ramp {
                start: parse_json_number(element, start)?,
                step: parse_json_number(element, step)?,
            }),
            _ => Err(bad()),
        },
        _ => Err(bad()),
    }
}

/// Rule for random contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumpyRule {
    /// Floats between -1 and 1, and any integers.
    Any,
    /// Floats between 0.1 and 1, and any integers.
    Positive,
    /// Integers below 256.
    LowBytes,
}

impl NumpyRule {
    fn from_name(name: &str) -> Option<NumpyRule> {
        match name {
            "rand" => Some(NumpyRule::Any),
            "pos" => Some(NumpyRule::Positive),
            "mod256" => Some(NumpyRule::LowBytes),
            _ => None,
        }
    }
}

/// Random contents of NumPy's `RandomState(seed)`.
fn make_numpy_random(
    element: ElementType,
    count: usize,
    size: usize,
    rule: NumpyRule,
    seed: u32,
) -> Vec<u8> {
    let mut generator = Mt::new(seed);
    let mut out = Vec::with_capacity(size);
    if element.is_float() {
        for _ in 0..count {
            let a = f64::from(generator.next_u32() >> 5);
            let b = f64::from(generator.next_u32() >> 6);
            let u = (a * 67_108_864.0 + b) / 9_007_199_254_740_992.0;
            let x = if rule == NumpyRule::Positive {
                0.1 + 0.9 * u
            } else {
                2.0 * u - 1.0
            };
            element.encode_number(ElementNumber::Float(x), &mut out);
        }
        return out;
    }
    while out.len() < size {
        out.extend_from_slice(&generator.next_u32().to_le_bytes());
    }
    out.truncate(size);
    if rule == NumpyRule::LowBytes {
        for chunk in out.chunks_exact_mut(element.size()) {
            chunk[1..].fill(0);
        }
    }
    out
}

fn push_constants(
    items: &[Map<String, Value>],
    device: &mut ComputeDevice,
    buffers: &[(ElementType, BufferHandle)],
) -> Result<Vec<u8>, TestOutcome> {
    let mut out = Vec::new();
    for item in items {
        let (align, bytes) = if let Some(digits) = item.get("bytes") {
            (
                1,
                parse_hex_bytes(digits.as_str().unwrap_or("?")).map_err(TestOutcome::failed)?,
            )
        } else if let Some(number) = item.get("address") {
            let buffer = number.as_u64().and_then(|n| buffers.get(n as usize));
            let (_, buffer) =
                buffer.ok_or_else(|| TestOutcome::failed(format!("no buffer {number}")))?;
            (8, device.buffer_address(*buffer)?.to_le_bytes().to_vec())
        } else {
            let (element, bytes) = typed_scalar(item)?;
            (element.size(), bytes)
        };
        out.resize(out.len().next_multiple_of(align), 0);
        out.extend_from_slice(&bytes);
    }
    Ok(out)
}

fn compare_with_golden(
    test: &ComputeTest,
    device: &mut ComputeDevice,
    buffers: &[(ElementType, BufferHandle)],
    golden: &[u8],
) -> Result<(), TestOutcome> {
    let tolerance = ArrayTolerance {
        absolute: test.tol,
        relative: test.tol,
        ..ArrayTolerance::default()
    };
    let mut rest = golden;
    for &i in &test.out {
        let (element, buffer) = *buffers
            .get(i)
            .ok_or_else(|| TestOutcome::failed(format!("no buffer {i}")))?;
        let got = download_buffer(device, buffer)?;
        let Some((want, after)) = rest.split_at_checked(got.len()) else {
            return Err(TestOutcome::failed("the golden file is too short"));
        };
        rest = after;
        compare_buffer(
            &format!("buffer {i}"),
            element,
            got,
            want.to_vec(),
            tolerance,
        )?;
    }
    if rest.is_empty() {
        Ok(())
    } else {
        Err(TestOutcome::failed("the golden file is too long"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First values of `numpy.random.RandomState(1)`: `random_sample`, `bytes`.
    #[test]
    fn random_contents_are_those_of_numpy() {
        let bytes = make_numpy_random(ElementType::F64, 2, 16, NumpyRule::Any, 1);
        let first = ElementType::F64.decode_number(&bytes).to_f64();
        assert_eq!(first, 2.0 * 0.417_022_004_702_574 - 1.0);
        let bytes = make_numpy_random(ElementType::U32, 1, 4, NumpyRule::Any, 1);
        assert_eq!(bytes, 1_791_095_845_u32.to_le_bytes());
        assert_eq!(
            make_numpy_random(ElementType::U32, 1, 4, NumpyRule::LowBytes, 1),
            [0x25, 0, 0, 0]
        );
    }
}
