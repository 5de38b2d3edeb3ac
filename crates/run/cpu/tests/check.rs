//! Sanitizer: faulty modules with their reports, and correct modules without any.
//!
//! The first lines of `tests/check/*.spvasm` describe the launch: `; groups X Y Z`, `; words N…` for the sizes of the
//! buffers in words, `; iota` for 0, 1, 2… in the first, `; options …`. Beside a faulty module that was compiled from
//! source stands a correct twin of the same name.
#![allow(unsafe_code)] // Kernels are run on buffers that the test owns.

mod common;

use common::module;
use spirula_cpu::{
    CpuMode, DescriptorResource, InvocationRange, JitArgument, JitKernel, JitLaunch, JitOptions,
    KernelSanitizer, MemorySpan, ResourceBinding, SanitizerOptions,
};
use spirula_spirv::grammar::enumerants::ExecutionModel;
use std::path::Path;

struct CheckSetup {
    groups: [u32; 3],
    words: Vec<usize>,
    /// Whether the first buffer counts, rather than being zero.
    iota: bool,
    check: SanitizerOptions,
}

fn setup(text: &str) -> CheckSetup {
    let mut setup = CheckSetup {
        groups: [1; 3],
        words: vec![64, 64],
        iota: false,
        check: SanitizerOptions::default(),
    };
    for line in text.lines().map_while(|l| l.strip_prefix("; ")) {
        let mut words = line.split(' ');
        let key = words.next().unwrap_or_default();
        let rest: Vec<&str> = words.collect();
        let number = |n: &&str| n.parse::<u64>().expect("a number");
        match key {
            "groups" => {
                for (to, n) in setup.groups.iter_mut().zip(&rest) {
                    *to = number(n) as u32;
                }
            }
            "words" => setup.words = rest.iter().map(|n| number(n) as usize).collect(),
            "iota" => setup.iota = true,
            "seed" => setup.check.seed = rest.first().map(number),
            "loops" => setup.check.loops = rest.first().map_or(0, number),
            "strict" => setup.check.strict = true,
            "suppress" => setup.check.suppressed = rest.iter().map(|r| (*r).to_owned()).collect(),
            _ => {}
        }
    }
    setup
}

fn run(text: &str) -> String {
    let setup = setup(text);
    let kernel_model = text.contains("OpEntryPoint Kernel");
    let model = if kernel_model {
        ExecutionModel::Kernel
    } else {
        ExecutionModel::GLCompute
    };
    let options = JitOptions {
        mode: CpuMode::Sanitizer,
        ..JitOptions::default()
    };
    let kernel = JitKernel::compile_entry_point(&module(text), "main", model, &[], &options)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut buffers: Vec<Vec<u32>> = setup.words.iter().map(|n| vec![0; *n]).collect();
    if let Some(first) = buffers.first_mut().filter(|_| setup.iota) {
        first.iter_mut().zip(0..).for_each(|(word, n)| *word = n);
    }
    let memories: Vec<MemorySpan> = buffers
        .iter_mut()
        .map(|b| MemorySpan {
            address: b.as_mut_ptr().cast(),
            length: b.len() as u64 * 4,
        })
        .collect();
    let arguments: Vec<JitArgument<'_>> =
        memories.iter().map(|m| JitArgument::Memory(*m)).collect();
    let bindings: Vec<ResourceBinding> = (0..)
        .zip(&memories)
        .map(|(binding, memory)| ResourceBinding {
            set: 0,
            binding,
            index: 0,
            resource: DescriptorResource::Memory(*memory),
        })
        .collect();
    let size = if kernel_model {
        InvocationRange::Items {
            global: setup.groups.map(|n| u64::from(n) * 8),
            local: Some([8, 1, 1]),
            offset: [0; 3],
            dimensions: 1,
        }
    } else {
        InvocationRange::Groups(setup.groups)
    };
    let size = match size {
        InvocationRange::Items { local, offset, .. } => InvocationRange::Items {
            global: [u64::from(setup.groups[0]) * 8, 1, 1],
            local,
            offset,
            dimensions: 1,
        },
        size => size,
    };
    let launch = JitLaunch {
        size,
        arguments: if kernel_model { &arguments } else { &[] },
        bindings: if kernel_model { &[] } else { &bindings },
        push: &[],
        threads: 0,
        timeout: None,
    };
    let mut checker = KernelSanitizer::new(setup.check);
    // SAFETY: the memory is that of the buffers above.
    let result = unsafe { kernel.run_checked(&launch, &mut checker) };
    let mut told = String::new();
    for report in checker.reports() {
        told.push_str(&format!("{report}\n"));
    }
    if let Err(error) = result {
        told.push_str(&format!("error: {error}\n"));
    }
    if told.is_empty() {
        told.push_str("nothing\n");
    }
    told
}

#[test]
fn faults_are_told() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check");
    let mut expected = spirula_testing::GoldenFiles::new();
    let mut wrong = Vec::new();
    for path in spirula_testing::list_files(&folder, ".spvasm") {
        let text = std::fs::read_to_string(&path).expect("the test can be read");
        let name = path
            .file_stem()
            .and_then(|n| n.to_str())
            .unwrap_or_default();
        let found = run(&text);
        let clean = name.starts_with("ok-");
        if clean != (found == "nothing\n") {
            wrong.push(format!("{name}: {found}"));
        }
        expected.compare_file(&path.with_extension("txt"), &found);
    }
    expected.finish_comparison();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
