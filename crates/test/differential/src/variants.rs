//! Execution variants: the ways to compile and run a kernel.

use crate::evaluate::{
    AbstractByte, AbstractScalar, EvaluationStop, LeafType, LlvmEvaluator, bits_to_f64,
};
use crate::generate::{ARGUMENTS, INPUT, ITEMS, KERNEL, OUTPUT};
use spirula_diagnostics::SourceDiagnostic;
use spirula_llvm::ir::LlvmModule;
use spirula_runtime::{
    ComputeDevice, DeviceError, DeviceOptions, IndexSpace, KernelArgument, KernelLaunch,
    LaunchInputs,
};
use spirula_spirv::ir as spirv;
use spirula_spirv::verify;

/// A way to compile and run a kernel.
#[derive(Clone, Copy, Debug)]
pub struct ExecutionVariant {
    /// Its name.
    pub name: &'static str,
    /// The device that runs it.
    device: &'static str,
    /// The transformation of the translated module.
    change: fn(spirv::SpirvModule) -> Result<spirv::SpirvModule, String>,
}

/// All variants.
pub const EXECUTION_VARIANTS: &[ExecutionVariant] = &[
    ExecutionVariant {
        name: "cpu",
        device: "cpu",
        change: Ok,
    },
    ExecutionVariant {
        name: "optimised",
        device: "cpu",
        change: optimise_module,
    },
    ExecutionVariant {
        name: "lifted",
        device: "cpu",
        change: lift_and_translate,
    },
    ExecutionVariant {
        name: "shader",
        device: "cpu",
        change: compile_shader,
    },
    ExecutionVariant {
        name: "vulkan",
        device: "vulkan",
        change: Ok,
    },
];

/// The fault of a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DifferentialFault {
    /// The text cannot be read or evaluated; the variant is not at fault.
    Program(String),
    /// A step refuses the program.
    Refused(String),
    /// A result is wrong.
    Wrong(String),
}

impl std::fmt::Display for DifferentialFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DifferentialFault::Program(text) => write!(f, "bad program: {text}"),
            DifferentialFault::Refused(text) => write!(f, "refused: {text}"),
            DifferentialFault::Wrong(text) => write!(f, "wrong: {text}"),
        }
    }
}

/// The input buffer: bytes of numbers of every magnitude.
fn make_input() -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut bytes = Vec::new();
    for n in 0..ITEMS * INPUT / 8 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend((state >> (n % 8 * 8)).to_le_bytes());
    }
    bytes
}

/// The output buffer after all invocations; `None` if the behaviour is undefined.
///
/// # Errors
/// If the module cannot be evaluated.
pub fn evaluate_module(
    module: &LlvmModule,
) -> Result<Option<Vec<AbstractByte>>, DifferentialFault> {
    let told = |stop: EvaluationStop| DifferentialFault::Program(format!("{stop:?}"));
    let mut evaluator = LlvmEvaluator::new(module).map_err(told)?;
    let (from, to) = (
        evaluator.create_object(&make_input()),
        evaluator.create_object(&vec![0xa5; (ITEMS * OUTPUT) as usize]),
    );
    let scalar = |bytes: &[u8]| {
        let all = bytes.iter().rev();
        AbstractScalar::Bits(all.fold(0, |bits, byte| bits << 8 | u128::from(*byte)))
    };
    let mut args = vec![
        vec![AbstractScalar::Address(from)],
        vec![AbstractScalar::Address(to)],
    ];
    for bytes in ARGUMENTS {
        let size = bytes.len().min(if bytes.len() == 16 { 4 } else { 8 });
        args.push(bytes.chunks(size).map(scalar).collect());
    }
    for item in 0..ITEMS {
        match evaluator.call_by_name(KERNEL, item, &args) {
            Ok(_) => {}
            Err(EvaluationStop::Undefined(_)) => return Ok(None),
            Err(stop) => return Err(told(stop)),
        }
    }
    Ok(Some(evaluator.object_cells(to).to_vec()))
}

/// Compiles a module for a variant.
///
/// # Errors
/// If a step refuses the module.
pub fn compile_variant(
    module: &LlvmModule,
    variant: &ExecutionVariant,
) -> Result<spirv::SpirvModule, DifferentialFault> {
    let options = spirula_llvm::TranslationOptions {
        extensions: spirula_llvm::AllowedExtensions::of_devices(),
        ..spirula_llvm::TranslationOptions::default()
    };
    let translated = spirula_llvm::translate_module(module, &options);
    let refused = |faults: Vec<SourceDiagnostic>| {
        let first = faults.first().map(|f| f.to_string());
        DifferentialFault::Refused(format!("translation: {}", first.unwrap_or_default()))
    };
    let made = translated.map_err(refused)?;
    (variant.change)(made).map_err(DifferentialFault::Refused)
}

/// Checks that a variant's output equals the evaluation's.
///
/// # Errors
/// If it differs, or if a step refuses the module.
pub fn verify_variant(
    module: &LlvmModule,
    expected: &[AbstractByte],
    variant: &ExecutionVariant,
) -> Result<(), DifferentialFault> {
    let made = compile_variant(module, variant)?;
    let output = run_on_device(&made, variant.device).map_err(DifferentialFault::Refused)?;
    compare_output(expected, &output).map_err(DifferentialFault::Wrong)
}

fn optimise_module(mut module: spirv::SpirvModule) -> Result<spirv::SpirvModule, String> {
    let pipeline: spirula_opt::PassPipeline = "O2".parse().map_err(|e| format!("{e}"))?;
    spirula_opt::optimise_module(&mut module, &pipeline, &mut Default::default())
        .map_err(|e| format!("optimiser: {e}"))?;
    Ok(module)
}

/// Compiles the kernels of a module to a shader, which must be valid.
fn compile_shader(module: spirv::SpirvModule) -> Result<spirv::SpirvModule, String> {
    let first = |faults: Vec<SourceDiagnostic>| {
        let first = faults.first().map(|f| f.to_string());
        format!("lowering: {}", first.unwrap_or_default())
    };
    let options = spirula_legalize::VulkanCompileOptions::default();
    let made = spirula_legalize::compile_kernels(&module, &options).map_err(first)?;
    let options = verify::VerifyOptions {
        target: options.target,
        ..verify::VerifyOptions::default()
    };
    verify::verify_module(&made, &options).map_err(|faults| first(faults.into_vec()))?;
    Ok(made)
}

fn lift_and_translate(module: spirv::SpirvModule) -> Result<spirv::SpirvModule, String> {
    let first = |faults: Vec<SourceDiagnostic>| {
        format!(
            "lifting: {}",
            faults.first().map(|f| f.to_string()).unwrap_or_default()
        )
    };
    let lifted = spirula_llvm::lift_module(&module).map_err(first)?;
    let text = spirula_llvm::print_assembly(&lifted);
    let read = spirula_llvm::read_module(text.as_bytes())
        .map_err(|f| format!("reading what was lifted: {f}"))?;
    spirula_llvm::translate_module(&read, &Default::default()).map_err(first)
}

fn run_on_device(module: &spirv::SpirvModule, device: &str) -> Result<Vec<u8>, String> {
    let told = |error: DeviceError| match error {
        DeviceError::Unsupported(faults) => faults[0].message.clone(),
        error => error.to_string(),
    };
    let mut device = ComputeDevice::open(device, &DeviceOptions::default()).map_err(told)?;
    let from = device.upload_data(&make_input()).map_err(told)?;
    let to = device
        .upload_data(&vec![0xa5_u8; (ITEMS * OUTPUT) as usize])
        .map_err(told)?;
    let kernel = device.create_kernel(module, KERNEL, &[]).map_err(told)?;
    let mut arguments = vec![KernelArgument::from(from), KernelArgument::from(to)];
    arguments.extend(
        ARGUMENTS
            .iter()
            .map(|bytes| KernelArgument::Bytes(bytes.to_vec())),
    );
    let launch = KernelLaunch {
        kernel,
        size: IndexSpace::Items {
            dimensions: 1,
            global: [ITEMS, 1, 1],
            local: Some([ITEMS as u32, 1, 1]),
            offset: [0; 3],
        },
        inputs: LaunchInputs::Arguments(arguments),
    };
    device.launch_kernel(&launch).map_err(told)?;
    device.wait_idle().map_err(told)?;
    device.download_buffer(to).map_err(told)
}

fn compare_output(expected: &[AbstractByte], output: &[u8]) -> Result<(), String> {
    for (at, cell) in expected.iter().enumerate() {
        let right = match *cell {
            AbstractByte::Byte(byte) => byte == output[at],
            AbstractByte::Nan(width, 0) => {
                let bytes = &output[at..at + usize::from(width) / 8];
                let bits = bytes
                    .iter()
                    .rev()
                    .fold(0, |bits, b| bits << 8 | u128::from(*b));
                let kind = LeafType::Float(width.into());
                bits_to_f64(kind.bit_width(), bits).is_nan()
            }
            _ => true,
        };
        if !right {
            let (item, slot) = (at as u64 / OUTPUT, at as u64 % OUTPUT);
            return Err(format!(
                "invocation {item}, byte {slot}: {:#x}, not {cell:x?}",
                output[at]
            ));
        }
    }
    Ok(())
}
