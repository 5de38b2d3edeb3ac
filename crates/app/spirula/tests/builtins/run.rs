//! Calls of many functions in few kernels: their LLVM IR and their results.

use crate::case::{BuiltinArg, BuiltinCase, ITEMS};
use crate::number::OpenClScalar;
use spirula_runtime::{
    ComputeDevice, DeviceError, DeviceOptions, IndexSpace, KernelArgument, KernelLaunch,
    LaunchInputs,
};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Cases in a kernel, and kernels in a module.
const IN_KERNEL: usize = 24;
const IN_MODULE: usize = 10;

fn vector(scalar: OpenClScalar, lanes: u32) -> String {
    match lanes {
        1 => scalar.llvm().to_owned(),
        _ => format!("<{lanes} x {}>", scalar.llvm()),
    }
}

/// Builder of a mangled name with substitutions.
struct ItaniumMangler {
    text: String,
    said: Vec<String>,
}

impl ItaniumMangler {
    fn push(&mut self, prefixes: &[String], scalar: OpenClScalar) {
        let mut full = vec![scalar.letters().to_owned()];
        for prefix in prefixes {
            full.push(format!("{prefix}{}", full[full.len() - 1]));
        }
        let known = (1..full.len()).rev().find_map(|at| {
            let index = self.said.iter().position(|said| *said == full[at])?;
            Some((at, index))
        });
        for prefix in prefixes[known.map_or(0, |k| k.0)..].iter().rev() {
            self.text.push_str(prefix);
        }
        match known {
            Some((_, 0)) => self.text.push_str("S_"),
            Some((_, index)) => {
                assert!(index <= 10, "one digit of base 36 that is one of base 10");
                let _ = write!(self.text, "S{}_", index - 1);
            }
            None => self.text.push_str(scalar.letters()),
        }
        self.said.extend(full.drain(known.map_or(1, |k| k.0 + 1)..));
    }
}

impl BuiltinCase {
    /// The mangled name of the function.
    pub fn mangled(&self) -> String {
        let mut name = ItaniumMangler {
            text: format!("_Z{}{}", self.name.len(), self.name),
            said: Vec::new(),
        };
        for arg in &self.args {
            let of_lanes = |lanes: u32| match lanes {
                1 => Vec::new(),
                _ => vec![format!("Dv{lanes}_")],
            };
            let pointer = |lanes, qualifiers: &str| {
                let mut parts = of_lanes(lanes);
                if !qualifiers.is_empty() {
                    parts.push(qualifiers.to_owned());
                }
                parts.push("P".to_owned());
                parts
            };
            match *arg {
                BuiltinArg::Value(scalar, lanes) => name.push(&of_lanes(lanes), scalar),
                BuiltinArg::Const(scalar, _) => name.push(&[], scalar),
                BuiltinArg::Read(scalar, _) => name.push(&pointer(1, "U3AS1K"), scalar),
                BuiltinArg::Out(scalar, lanes) => name.push(&pointer(lanes, ""), scalar),
                BuiltinArg::Write(scalar, _) => name.push(&pointer(1, "U3AS1"), scalar),
                BuiltinArg::Change(scalar) => name.push(&pointer(1, "U3AS1V"), scalar),
                BuiltinArg::Guess(scalar) => name.push(&pointer(1, ""), scalar),
            }
        }
        if self.args.is_empty() {
            name.text.push('v');
        }
        name.text
    }

    /// Types of inputs and outputs, in order.
    fn reads(&self) -> impl Iterator<Item = (OpenClScalar, u32)> + '_ {
        self.args.iter().filter_map(|arg| match *arg {
            BuiltinArg::Value(scalar, lanes) | BuiltinArg::Read(scalar, lanes) => {
                Some((scalar, lanes))
            }
            BuiltinArg::Change(scalar) | BuiltinArg::Guess(scalar) => Some((scalar, 1)),
            _ => None,
        })
    }

    fn writes(&self) -> impl Iterator<Item = (OpenClScalar, u32)> + '_ {
        let pointers = self.args.iter().filter_map(|arg| match *arg {
            BuiltinArg::Out(scalar, lanes) | BuiltinArg::Write(scalar, lanes) => {
                Some((scalar, lanes))
            }
            BuiltinArg::Change(scalar) | BuiltinArg::Guess(scalar) => Some((scalar, 1)),
            _ => None,
        });
        self.result.into_iter().chain(pointers)
    }
}

/// LLVM IR under construction, with the sizes of its buffers.
#[derive(Default)]
struct LlvmTestModule {
    text: String,
    declared: BTreeSet<String>,
    input: Vec<u8>,
    output: usize,
    temporaries: usize,
}

impl LlvmTestModule {
    fn fresh(&mut self) -> String {
        self.temporaries += 1;
        format!("%t{}", self.temporaries)
    }

    fn line(&mut self, line: &str) {
        self.text.push_str("  ");
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The address of the invocation's part after an offset of a buffer.
    fn part(&mut self, buffer: &str, offset: usize, size: usize) -> String {
        let (scaled, at, part) = (self.fresh(), self.fresh(), self.fresh());
        self.line(&format!("{scaled} = mul i64 %gid, {size}"));
        self.line(&format!("{at} = add i64 {scaled}, {offset}"));
        self.line(&format!(
            "{part} = getelementptr i8, ptr addrspace(1) {buffer}, i64 {at}"
        ));
        part
    }

    /// Reserves and fills the inputs of a type for all invocations.
    fn read(
        &mut self,
        scalar: OpenClScalar,
        lanes: u32,
        values: &mut dyn Iterator<Item = &u64>,
    ) -> String {
        while !self.input.len().is_multiple_of(8) {
            self.input.push(0);
        }
        let (offset, size) = (self.input.len(), scalar.bytes() * lanes as usize);
        for value in values {
            self.input
                .extend_from_slice(&value.to_le_bytes()[..scalar.bytes()]);
        }
        assert_eq!(self.input.len() - offset, size * ITEMS);
        self.part("%in", offset, size)
    }

    fn write(&mut self, scalar: OpenClScalar, lanes: u32) -> String {
        self.output = self.output.next_multiple_of(8);
        let (offset, size) = (self.output, scalar.bytes() * lanes as usize);
        self.output += size * ITEMS;
        self.part("%out", offset, size)
    }

    fn load(&mut self, scalar: OpenClScalar, lanes: u32, from: &str) -> String {
        let (value, ty) = (self.fresh(), vector(scalar, lanes));
        let align = scalar.bytes();
        self.line(&format!(
            "{value} = load {ty}, ptr addrspace(1) {from}, align {align}"
        ));
        value
    }

    fn store(&mut self, scalar: OpenClScalar, lanes: u32, value: &str, to: &str) {
        let ty = vector(scalar, lanes);
        let align = scalar.bytes();
        self.line(&format!(
            "store {ty} {value}, ptr addrspace(1) {to}, align {align}"
        ));
    }

    fn case(&mut self, case: &BuiltinCase) {
        let (mut types, mut values) = (Vec::new(), Vec::new());
        let (mut after, mut read) = (Vec::new(), 0);
        let result = case
            .result
            .map(|(scalar, lanes)| (scalar, lanes, self.write(scalar, lanes)));
        for arg in &case.args {
            let mut column = case
                .inputs
                .iter()
                .flat_map(|inputs| inputs.get(read))
                .flatten();
            let (ty, value) = match *arg {
                BuiltinArg::Value(scalar, lanes) => {
                    let from = self.read(scalar, lanes, &mut column);
                    (vector(scalar, lanes), self.load(scalar, lanes, &from))
                }
                BuiltinArg::Const(scalar, value) => (scalar.llvm().to_owned(), value.to_string()),
                BuiltinArg::Read(scalar, lanes) => {
                    let from = self.read(scalar, lanes, &mut column);
                    ("ptr addrspace(1)".to_owned(), from)
                }
                BuiltinArg::Out(scalar, lanes) => {
                    let place = self.fresh();
                    let ty = vector(scalar, lanes);
                    self.line(&format!("{place} = alloca {ty}"));
                    let to = self.write(scalar, lanes);
                    after.push((scalar, lanes, place.clone(), to));
                    ("ptr".to_owned(), place)
                }
                BuiltinArg::Guess(scalar) => {
                    let from = self.read(scalar, 1, &mut column);
                    let value = self.load(scalar, 1, &from);
                    let (place, ty) = (self.fresh(), scalar.llvm());
                    self.line(&format!("{place} = alloca {ty}"));
                    self.line(&format!("store {ty} {value}, ptr {place}"));
                    let to = self.write(scalar, 1);
                    after.push((scalar, 1, place.clone(), to));
                    ("ptr".to_owned(), place)
                }
                BuiltinArg::Write(scalar, lanes) => {
                    ("ptr addrspace(1)".to_owned(), self.write(scalar, lanes))
                }
                BuiltinArg::Change(scalar) => {
                    let from = self.read(scalar, 1, &mut column);
                    let value = self.load(scalar, 1, &from);
                    let to = self.write(scalar, 1);
                    self.store(scalar, 1, &value, &to);
                    ("ptr addrspace(1)".to_owned(), to)
                }
            };
            read += usize::from(matches!(
                arg,
                BuiltinArg::Value(..)
                    | BuiltinArg::Read(..)
                    | BuiltinArg::Change(_)
                    | BuiltinArg::Guess(_)
            ));
            types.push(ty.clone());
            values.push(format!("{ty} {value}"));
        }
        let (name, given) = (case.mangled(), values.join(", "));
        let ty = case.result.map_or("void".to_owned(), |(s, l)| vector(s, l));
        self.declared.insert(format!(
            "declare spir_func {ty} @{name}({})\n",
            types.join(", ")
        ));
        match result {
            None => self.line(&format!("call spir_func void @{name}({given})")),
            Some((scalar, lanes, to)) => {
                let value = self.fresh();
                self.line(&format!("{value} = call spir_func {ty} @{name}({given})"));
                self.store(scalar, lanes, &value, &to);
            }
        }
        for (scalar, lanes, place, to) in after {
            let (value, ty) = (self.fresh(), vector(scalar, lanes));
            self.line(&format!("{value} = load {ty}, ptr {place}"));
            self.store(scalar, lanes, &value, &to);
        }
    }
}

const HEAD: &str = "target datalayout = \"e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024\"\ntarget triple = \"spir64-unknown-unknown\"\n";

/// Runner of cases.
#[derive(Clone, Copy)]
pub struct BuiltinRunner<'a> {
    /// The device.
    pub device: &'a str,
    /// Whether the device gets shaders for Vulkan.
    pub as_shader: bool,
}

impl<'a> BuiltinRunner<'a> {
    /// A runner with a device that gets kernels.
    pub fn of(device: &'a str) -> BuiltinRunner<'a> {
        BuiltinRunner {
            device,
            as_shader: false,
        }
    }
}

/// Runs cases and reports every wrong lane.
pub fn run(runner: BuiltinRunner<'_>, cases: &[BuiltinCase]) -> Vec<String> {
    let mut faults = Vec::new();
    for cases in cases.chunks(IN_KERNEL * IN_MODULE) {
        faults.extend(run_module(runner, cases));
    }
    faults
}

/// Runs cases. Where a kernel is refused, each case gets a kernel of its own, so that all refusals are reported.
fn run_module(runner: BuiltinRunner<'_>, cases: &[BuiltinCase]) -> Vec<String> {
    match try_module(runner, cases) {
        Ok(faults) => faults,
        Err(faults) => match cases {
            [case] => faults
                .iter()
                .map(|fault| format!("{}: {fault}", case.mangled()))
                .collect(),
            _ => {
                let halves = cases.split_at(cases.len() / 2);
                let mut all = run_module(runner, halves.0);
                all.extend(run_module(runner, halves.1));
                all
            }
        },
    }
}

fn try_module(
    runner: BuiltinRunner<'_>,
    cases: &[BuiltinCase],
) -> Result<Vec<String>, Vec<String>> {
    let mut module = LlvmTestModule::default();
    let position = "declare spir_func i64 @_Z13get_global_idj(i32)\n";
    module.declared.insert(position.to_owned());
    let mut kernels = 0;
    for cases in cases.chunks(IN_KERNEL) {
        let head = format!(
            "define spir_kernel void @k{kernels}(ptr addrspace(1) %in, ptr addrspace(1) %out) {{\n  %gid = call spir_func i64 @_Z13get_global_idj(i32 0)\n"
        );
        module.text.push_str(&head);
        for case in cases {
            module.case(case);
        }
        module.text.push_str("  ret void\n}\n");
        kernels += 1;
    }
    let declared: String = module.declared.iter().map(String::as_str).collect();
    let text = format!("{HEAD}{declared}{}", module.text);
    let target = (runner.as_shader).then(|| "vulkan1.3".parse().expect("there is one"));
    let options = spirula::CompileOptions {
        target,
        ..spirula::CompileOptions::default()
    };
    let compiled = spirula::compile_input(text.as_bytes(), &options).and_then(|c| c.into_module());
    let spirv = match compiled {
        Ok(spirv) => spirv,
        Err(error) => {
            let all = error.diagnostics.iter().map(|d| d.message.clone());
            return Err(all.collect());
        }
    };
    let mut device =
        ComputeDevice::open(runner.device, &DeviceOptions::default()).expect("there is the device");
    let input = device
        .upload_data(&module.input)
        .expect("room for the input");
    let output = device
        .upload_data(&vec![0xa5_u8; module.output])
        .expect("room for the output");
    for number in 0..kernels {
        let name = format!("k{number}");
        let kernel = match device.create_kernel(&spirv, &name, &[]) {
            Ok(kernel) => kernel,
            Err(error) => return Err(vec![told(&error)]),
        };
        let launch = KernelLaunch {
            kernel,
            size: IndexSpace::Items {
                dimensions: 1,
                global: [ITEMS as u64, 1, 1],
                local: Some([ITEMS as u32, 1, 1]),
                offset: [0; 3],
            },
            inputs: LaunchInputs::Arguments(vec![
                KernelArgument::from(input),
                KernelArgument::from(output),
            ]),
        };
        device
            .launch_kernel(&launch)
            .expect("the kernel can be launched");
    }
    device.wait_idle().expect("the kernels end");
    let bytes = device
        .download_buffer(output)
        .expect("the output can be read");
    Ok(compare(cases, &bytes))
}

fn told(error: &DeviceError) -> String {
    match error {
        DeviceError::Unsupported(faults) => faults[0].message.clone(),
        error => error.to_string(),
    }
}

/// Number of reported faults of a case.
const FAULTS: usize = 2;

fn compare(cases: &[BuiltinCase], bytes: &[u8]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut offset: usize = 0;
    for case in cases {
        let expected = (case.eval)(&case.inputs);
        let mut told = 0;
        for (number, (scalar, lanes)) in case.writes().enumerate() {
            offset = offset.next_multiple_of(8);
            let size = scalar.bytes() * lanes as usize;
            for (item, expected) in expected.iter().enumerate() {
                for (lane, expect) in expected[number].iter().enumerate() {
                    let at = offset + item * size + lane * scalar.bytes();
                    let mut word = [0; 8];
                    word[..scalar.bytes()].copy_from_slice(&bytes[at..at + scalar.bytes()]);
                    let got = u64::from_le_bytes(word);
                    if let Some(fault) = expect.fault(scalar, got) {
                        told += 1;
                        if told <= FAULTS {
                            faults.push(format!(
                                "{} result {number} lane {lane}: {fault}, of {}",
                                case.mangled(),
                                given(case, item, lane)
                            ));
                        }
                    }
                }
            }
            offset += size * ITEMS;
        }
    }
    faults
}

/// The arguments of a lane.
fn given(case: &BuiltinCase, item: usize, lane: usize) -> String {
    let lanes = case.reads().zip(&case.inputs[item]);
    let all = lanes.map(|((scalar, _), lanes)| {
        let bits = *lanes.get(lane).unwrap_or(&lanes[0]);
        if scalar.is_float() {
            format!("{:e}", scalar.float(bits))
        } else {
            scalar.int(bits).to_string()
        }
    });
    all.collect::<Vec<_>>().join(", ")
}
