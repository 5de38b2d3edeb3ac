//! Kernel manifests: OpenCL programs as LLVM IR with their launches, and the expected contents of every buffer.
//!
//! `manifest.json` with `"format": 2` lists programs. Each has IR files that must have the same results, and launches
//! with their arguments. Each IR file is one test. `golden.json` has the expected results. Initial contents are made by
//! a rule and verified by a hash.

use super::session::{
    self, compare_buffer, download_buffer, parse_json_number, read_json, read_referenced_file,
    typed_scalar,
};
use super::{MANIFEST, SuiteResult, TestOutcome, TestSuite};
use crate::values::compare::ArrayTolerance;
use crate::values::parse_hex_bytes;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use spirula_runtime::data::{
    BufferFill, ElementNumber, ElementType, RandomOrder, generate_elements,
};
use spirula_runtime::{
    BufferHandle, ComputeDevice, IndexSpace, KernelArgument, KernelHandle, KernelLaunch,
    LaunchInputs,
};
use spirula_text::hex::write_hex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The supported format.
const FORMAT: u64 = 2;

#[derive(Deserialize)]
struct KernelManifest {
    tests: Vec<KernelTest>,
}

#[derive(Deserialize)]
struct KernelTest {
    id: String,
    ir: Vec<String>,
    tol: Option<f64>,
    kernels: Vec<TestLaunch>,
}

/// A launch.
#[derive(Deserialize)]
struct TestLaunch {
    name: String,
    global: Vec<u64>,
    local: Option<Vec<u32>>,
    #[serde(default)]
    offset: Vec<u64>,
    args: Vec<Map<String, Value>>,
}

/// Expected results of a program.
#[derive(Deserialize)]
struct GoldenOutput {
    buffers: BTreeMap<String, GoldenBuffer>,
}

#[derive(Deserialize)]
struct GoldenBuffer {
    initial: String,
    #[serde(default)]
    same: bool,
    file: Option<String>,
    check: Option<String>,
    #[serde(default)]
    scale: f64,
}

struct KernelSuite {
    path: PathBuf,
    programs: Vec<KernelTest>,
    golden: BTreeMap<String, GoldenOutput>,
}

/// Loads a folder whose manifest has the format above and a `golden.json` beside it.
pub fn load_kernel_suite(path: &Path) -> Option<SuiteResult> {
    let golden = path.join("golden.json");
    if !golden.is_file() || !path.join(MANIFEST).is_file() {
        return None;
    }
    let value: Value = match read_json(&path.join(MANIFEST)) {
        Ok(value) => value,
        Err(e) => return Some(Err(e)),
    };
    if value.get("format").and_then(Value::as_u64) != Some(FORMAT) {
        return None;
    }
    let folder = || -> Result<KernelSuite, String> {
        let manifest: KernelManifest = serde_json::from_value(value).map_err(|e| e.to_string())?;
        Ok(KernelSuite {
            path: path.to_owned(),
            programs: manifest.tests,
            golden: read_json(&golden)?,
        })
    };
    Some(folder().map(|f| Box::new(f) as Box<dyn TestSuite>))
}

impl TestSuite for KernelSuite {
    fn test_names(&self) -> Vec<String> {
        self.programs
            .iter()
            .flat_map(|p| p.ir.iter().cloned())
            .collect()
    }

    fn run_test(&self, name: &str, session: &session::TestEnvironment) -> Result<(), TestOutcome> {
        let lists = |p: &&KernelTest| p.ir.iter().any(|ir| ir == name);
        let program = self
            .programs
            .iter()
            .find(lists)
            .ok_or_else(|| TestOutcome::failed("no such test"))?;
        let golden = self.golden.get(&program.id);
        let golden = golden.ok_or_else(|| TestOutcome::failed("golden.json does not have it"))?;
        let bytes = read_referenced_file(&self.path.join(name))?;
        let module = session.compile_to_module(&bytes)?;
        let mut run = KernelTestRun {
            device: session.open_device()?,
            golden,
            buffers: BTreeMap::new(),
        };
        let mut kernels: BTreeMap<&str, KernelHandle> = BTreeMap::new();
        for step in &program.kernels {
            // All kernels are compiled before anything runs, so that a refusal names the missing feature.
            if !kernels.contains_key(step.name.as_str()) {
                let kernel = run.device.create_kernel(&module, &step.name, &[])?;
                kernels.insert(&step.name, kernel);
            }
        }
        for step in &program.kernels {
            run.run_launch_step(step, kernels[step.name.as_str()])?;
        }
        run.compare_with_golden(program.tol.unwrap_or(0.0), &self.path)
    }
}

/// A buffer of a test.
struct TestBuffer {
    buffer: BufferHandle,
    element: ElementType,
    initial: Vec<u8>,
    slack: u64,
}

/// A running test.
struct KernelTestRun<'a> {
    device: ComputeDevice,
    golden: &'a GoldenOutput,
    buffers: BTreeMap<String, TestBuffer>,
}

impl KernelTestRun<'_> {
    fn run_launch_step(
        &mut self,
        step: &TestLaunch,
        kernel: KernelHandle,
    ) -> Result<(), TestOutcome> {
        let arguments = step.args.iter().map(|a| self.make_kernel_argument(a));
        let arguments = arguments.collect::<Result<_, _>>()?;
        let local = step
            .local
            .as_deref()
            .map(|l| to_three_sizes(l, 1))
            .transpose()?;
        let size = IndexSpace::Items {
            dimensions: step.global.len() as u32,
            global: to_three_sizes(&step.global, 1)?,
            local,
            offset: to_three_sizes(&step.offset, 0)?,
        };
        self.device.launch_kernel(&KernelLaunch {
            kernel,
            size,
            inputs: LaunchInputs::Arguments(arguments),
        })?;
        Ok(self.device.wait_idle()?)
    }

    fn make_kernel_argument(
        &mut self,
        arg: &Map<String, Value>,
    ) -> Result<KernelArgument, TestOutcome> {
        if arg.contains_key("buf") {
            return self.make_buffer(arg).map(KernelArgument::from);
        }
        if let Some(name) = arg.get("ref") {
            let made = name.as_str().and_then(|n| self.buffers.get(n));
            let made = made.ok_or_else(|| TestOutcome::failed(format!("no buffer {name}")))?;
            return Ok(KernelArgument::from(made.buffer));
        }
        if let Some(bytes) = arg.get("bytes") {
            let bytes =
                parse_hex_bytes(bytes.as_str().unwrap_or("?")).map_err(TestOutcome::failed)?;
            return Ok(KernelArgument::Bytes(bytes));
        }
        if let Some(bytes) = arg.get("local") {
            let bytes = bytes.as_u64();
            return bytes
                .map(KernelArgument::Local)
                .ok_or_else(|| make_malformed_outcome("local", arg));
        }
        typed_scalar(arg).map(|(_, bytes)| KernelArgument::Bytes(bytes))
    }

    fn make_buffer(&mut self, arg: &Map<String, Value>) -> Result<BufferHandle, TestOutcome> {
        let name = read_text_field(arg, "as")?;
        let golden = self.golden.buffers.get(name);
        let golden = golden
            .ok_or_else(|| TestOutcome::failed(format!("golden.json has no buffer {name}")))?;
        let (element, initial) = make_initial_contents(arg, golden)?;
        let buffer = self.device.upload_data(&initial)?;
        let made = TestBuffer {
            buffer,
            element,
            initial,
            slack: arg.get("slack").and_then(Value::as_u64).unwrap_or(0),
        };
        self.buffers.insert(name.to_owned(), made);
        Ok(buffer)
    }

    /// Compares every buffer that the golden output names.
    fn compare_with_golden(&mut self, tol: f64, folder: &Path) -> Result<(), TestOutcome> {
        for (name, golden) in &self.golden.buffers {
            let made = self.buffers.get(name);
            let made = made
                .ok_or_else(|| TestOutcome::failed(format!("no launch makes the buffer {name}")))?;
            let mut got = download_buffer(&mut self.device, made.buffer)?;
            let want = match (&golden.check, &golden.file, golden.same) {
                (Some(check), _, _) if check == "none" => continue,
                (_, _, true) => made.initial.clone(),
                (_, Some(file), _) => read_referenced_file(&folder.join(file))?,
                _ => {
                    return Err(TestOutcome::failed(format!(
                        "golden.json does not say what {name} holds"
                    )));
                }
            };
            if golden.check.as_deref() == Some("sorted") {
                got = sort_elements(made.element, &got);
            }
            let tolerance = ArrayTolerance {
                absolute: 0.0,
                relative: tol,
                scale: golden.scale,
                slack: made.slack,
            };
            compare_buffer(
                &format!("buffer {name}"),
                made.element,
                got,
                want,
                tolerance,
            )?;
        }
        Ok(())
    }
}

fn read_text_field<'a>(arg: &'a Map<String, Value>, key: &str) -> Result<&'a str, TestOutcome> {
    let text = arg.get(key).and_then(Value::as_str);
    text.ok_or_else(|| make_malformed_outcome(key, arg))
}

/// Makes the initial contents of a buffer and verifies their hash.
fn make_initial_contents(
    arg: &Map<String, Value>,
    golden: &GoldenBuffer,
) -> Result<(ElementType, Vec<u8>), TestOutcome> {
    let element: ElementType = read_text_field(arg, "buf")?
        .parse()
        .map_err(TestOutcome::failed)?;
    let count = arg.get("n").and_then(Value::as_u64);
    let count = count.and_then(|n| n.try_into().ok());
    let count: usize = count.ok_or_else(|| make_malformed_outcome("n", arg))?;
    let init = arg
        .get("init")
        .ok_or_else(|| make_malformed_outcome("init", arg))?;
    let bytes = generate_elements(element, count, &parse_buffer_fill(element, init)?)
        .map_err(TestOutcome::failed)?;
    let hash = Sha256::digest(&bytes);
    let hash = write_hex(&hash[..8]);
    if hash == golden.initial {
        Ok((element, bytes))
    } else {
        Err(TestOutcome::failed(format!(
            "initial contents of {} hash to {hash}, not {}",
            Value::Object(arg.clone()),
            golden.initial
        )))
    }
}

fn make_malformed_outcome(key: &str, arg: &Map<String, Value>) -> TestOutcome {
    TestOutcome::failed(format!(
        "the manifest has no proper {key:?} in {}",
        Value::Object(arg.clone())
    ))
}

fn to_three_sizes<T: Copy>(sizes: &[T], default: T) -> Result<[T; 3], TestOutcome> {
    let mut out = [default; 3];
    let part = out.get_mut(..sizes.len());
    part.ok_or_else(|| TestOutcome::failed("more than 3 dimensions"))?
        .copy_from_slice(sizes);
    Ok(out)
}

/// Sorts elements in ascending order.
fn sort_elements(element: ElementType, bytes: &[u8]) -> Vec<u8> {
    let mut chunks: Vec<&[u8]> = bytes.chunks_exact(element.size()).collect();
    chunks.sort_by(
        |a, b| match (element.decode_number(a), element.decode_number(b)) {
            (ElementNumber::Int(a), ElementNumber::Int(b)) => a.cmp(&b),
            (a, b) => a.to_f64().total_cmp(&b.to_f64()),
        },
    );
    chunks.concat()
}

/// Parses the rule for initial contents.
fn parse_buffer_fill(element: ElementType, init: &Value) -> Result<BufferFill, TestOutcome> {
    let bad = || TestOutcome::failed(format!("unknown initial contents {init}"));
    if init == "zero" {
        return Ok(BufferFill::Zeros);
    }
    let object = init.as_object().ok_or_else(bad)?;
    let seed = object.get("seed").and_then(Value::as_u64);
    let (form, value) = object
        .iter()
        .find(|(k, _)| !["seed", "diag"].contains(&k.as_str()))
        .ok_or_else(bad)?;
    let seed = || seed.ok_or_else(bad);
    let text = || value.as_str().ok_or_else(bad);
    let list = || value.as_array().ok_or_else(bad);
    let integers = |order| {
        let bounds: (i64, i64) = serde_json::from_value(value.clone()).map_err(|_| bad())?;
        Ok(BufferFill::Integers {
            low: bounds.0,
            high: bounds.1,
            seed: seed()?,
            order,
        })
    };
    match form.as_str() {
        "fill" => Ok(BufferFill::Value(parse_json_number(element, value)?)),
        "iota" => match list()?.as_slice() {
            [start, step] => Ok(BufferFill::Ramp {
                start: parse_json_number(element, start)?,
                step: parse_json_number(element, step)?,
            }),
            _ => Err(bad()),
        },
        "values" => {
            let numbers = list()?.iter().map(|v| parse_json_number(element, v));
            Ok(BufferFill::List(numbers.collect::<Result<_, _>>()?))
        }
        "text" => Ok(BufferFill::Repeat(text()?.as_bytes().to_vec())),
        "hex" => Ok(BufferFill::Bytes(
            parse_hex_bytes(text()?).map_err(TestOutcome::failed)?,
        )),
        "bits" => Ok(BufferFill::Bits { seed: seed()? }),
        "randi" => integers(RandomOrder::AsDrawn),
        "sorted" => integers(RandomOrder::Sorted),
        "cumsum" => integers(RandomOrder::Summed),
        "rand" => {
            let bounds: (f64, f64) = serde_json::from_value(value.clone()).map_err(|_| bad())?;
            let diagonal = object
                .get("diag")
                .map(|d| serde_json::from_value(d.clone()));
            Ok(BufferFill::Reals {
                low: bounds.0,
                high: bounds.1,
                seed: seed()?,
                diagonal: diagonal.transpose().map_err(|_| bad())?,
            })
        }
        _ => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_filled_bytes(element: ElementType, count: usize, init: &str) -> Vec<u8> {
        let init = serde_json::from_str(init).unwrap();
        generate_elements(element, count, &parse_buffer_fill(element, &init).unwrap()).unwrap()
    }

    #[test]
    fn initial_contents_by_each_rule() {
        let bytes = |init| make_filled_bytes(ElementType::I8, 4, init);
        assert_eq!(bytes("\"zero\""), [0; 4]);
        assert_eq!(bytes("{\"fill\": -1}"), [255; 4]);
        assert_eq!(bytes("{\"iota\": [1, 2]}"), [1, 3, 5, 7]);
        assert_eq!(bytes("{\"values\": [9, 8]}"), [9, 8, 0, 0]);
        assert_eq!(bytes("{\"text\": \"abc\"}"), *b"abca");
        assert_eq!(bytes("{\"hex\": \"0aff\"}"), [10, 255, 0, 0]);
        assert_eq!(bytes("{\"bits\": true, \"seed\": 1}")[..2], [0x46, 0xe7]);
        assert_eq!(
            bytes("{\"randi\": [-10, 10], \"seed\": 1}")[..3],
            [251, 8, 2]
        );
        assert_eq!(
            bytes("{\"cumsum\": [-10, 10], \"seed\": 1}")[..3],
            [0, 251, 3]
        );
        let mut drawn = bytes("{\"randi\": [0, 100], \"seed\": 1}");
        drawn.sort_unstable();
        assert_eq!(bytes("{\"sorted\": [0, 100], \"seed\": 1}"), drawn);
        let diagonal = make_filled_bytes(
            ElementType::F64,
            4,
            "{\"rand\": [0, 0], \"seed\": 1, \"diag\": [2, 5]}",
        );
        assert_eq!(diagonal[..8], 5.0_f64.to_le_bytes());
        assert!(parse_buffer_fill(ElementType::I8, &Value::String("what".to_owned())).is_err());
    }
}
