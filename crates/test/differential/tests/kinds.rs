//! Kernels in the style of various compilers with their expected results: `kinds/*.ll`.
//!
//! The first line of each file is `; gives`, followed by the 64-bit integers that the four invocations leave in
//! their buffer. The buffer is zero at first. Kernels run as translated and as optimised, on the CPU device with
//! and without vectors and checks.

use spirula_llvm::{AllowedExtensions, TranslationOptions};
use spirula_runtime::{
    ComputeDevice, DeviceOptions, IndexSpace, KernelArgument, KernelLaunch, LaunchInputs,
};
use spirula_spirv::ir::SpirvModule;
use spirula_testing::{SpirvValTool, list_files};
use std::path::Path;

/// Invocations of each launch.
const ITEMS: u64 = 4;

/// Devices that need no driver.
const DEVICES: [&str; 3] = ["cpu", "cpu+scalar", "cpu+san"];

fn translated(text: &[u8]) -> Result<SpirvModule, String> {
    let module = spirula_llvm::read_module(text).map_err(|fault| fault.to_string())?;
    let options = TranslationOptions {
        extensions: AllowedExtensions::of_devices(),
        ..TranslationOptions::default()
    };
    spirula_llvm::translate_module(&module, &options).map_err(|faults| faults[0].to_string())
}

fn optimised(module: &SpirvModule) -> Result<SpirvModule, String> {
    let mut module = module.clone();
    let pipeline: spirula_opt::PassPipeline = "O2".parse().map_err(|e| format!("{e}"))?;
    let mut options = spirula_opt::PipelineOptions {
        verify_each: true,
        observer: None,
    };
    spirula_opt::optimise_module(&mut module, &pipeline, &mut options)
        .map_err(|e| e.to_string())?;
    Ok(module)
}

fn run(module: &SpirvModule, device: &str, count: usize) -> Result<Vec<u64>, String> {
    let mut device =
        ComputeDevice::open(device, &DeviceOptions::default()).map_err(|e| e.to_string())?;
    let buffer = device
        .upload_data(&vec![0_u64; count])
        .map_err(|e| e.to_string())?;
    let kernel = device.create_kernel(module, "k", &[]);
    let kernel = kernel.map_err(|e| format!("{e:?}"))?;
    let launch = KernelLaunch {
        kernel,
        size: IndexSpace::Items {
            dimensions: 1,
            global: [ITEMS, 1, 1],
            local: Some([ITEMS as u32, 1, 1]),
            offset: [0; 3],
        },
        inputs: LaunchInputs::Arguments(vec![KernelArgument::from(buffer)]),
    };
    device.launch_kernel(&launch).map_err(|e| e.to_string())?;
    device.wait_idle().map_err(|e| e.to_string())?;
    let bytes = device.download_buffer(buffer).map_err(|e| e.to_string())?;
    let (words, _) = bytes.as_chunks::<8>();
    Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

fn wanted(text: &str) -> Option<Vec<u64>> {
    let line = text.lines().next()?.strip_prefix("; gives ")?;
    let numbers = line.split_whitespace().map(|n| n.parse::<i64>().ok());
    numbers.map(|n| Some(n? as u64)).collect()
}

#[test]
fn kinds_give_what_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kinds");
    let validator = SpirvValTool::find_program();
    let mut faults = Vec::new();
    let all = list_files(&folder, ".ll");
    assert!(!all.is_empty());
    for path in all {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        let wanted = wanted(&text).expect("the file says what it gives");
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut check = |way: &str, module: &SpirvModule| {
            let checked = validator
                .as_ref()
                .map(|v| v.validate_module(&module.to_bytes(), &format!("spv{}", module.version)));
            if let Some(Err(fault)) = checked {
                faults.push(format!("{name}, {way}: {fault}"));
            }
            for device in DEVICES {
                let found = run(module, device, wanted.len());
                if found.as_ref() != Ok(&wanted) {
                    faults.push(format!(
                        "{name}, {way}, {device}: {found:?}, not {wanted:?}"
                    ));
                }
            }
        };
        match translated(text.as_bytes()) {
            Ok(module) => {
                check("translated", &module);
                match optimised(&module) {
                    Ok(module) => check("optimised", &module),
                    Err(fault) => faults.push(format!("{name}, optimised: {fault}")),
                }
            }
            Err(fault) => faults.push(format!("{name}: {fault}")),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
