//! Kernels that go wrong end their launch, not the process.
#![cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#![allow(unsafe_code)] // Kernels are run on buffers that the tests own.

mod common;

use common::{compile_with, module, run_shader, shader};
use spirula_cpu::{
    CpuMode, DescriptorResource, InvocationRange, JitKernel, JitLaunch, JitOptions, LaunchError,
    MemorySpan, ResourceBinding,
};
use std::time::{Duration, Instant};

fn both(text: &str) -> [JitKernel; 2] {
    [CpuMode::Gangs, CpuMode::Scalar].map(|mode| {
        let options = JitOptions {
            mode,
            ..JitOptions::default()
        };
        compile_with(text, &[], &options).unwrap_or_else(|f| panic!("{}", f[0]))
    })
}

fn run(
    kernel: &JitKernel,
    groups: u32,
    timeout: Option<Duration>,
) -> Result<Vec<u32>, LaunchError> {
    let mut buffers = [vec![5u32; 64], vec![0; 64]];
    let bindings: Vec<ResourceBinding> = (0..)
        .zip(&mut buffers)
        .map(|(binding, b)| ResourceBinding {
            set: 0,
            binding,
            index: 0,
            resource: DescriptorResource::Memory(MemorySpan {
                address: b.as_mut_ptr().cast(),
                length: 256,
            }),
        })
        .collect();
    let launch = JitLaunch {
        size: InvocationRange::Groups([groups, 1, 1]),
        arguments: &[],
        bindings: &bindings,
        push: &[],
        threads: 2,
        timeout,
    };
    // SAFETY: the buffers belong to the test; accesses of the kernels outside of them must end the launch.
    unsafe { kernel.run_launch(&launch) }?;
    let [_, result] = buffers;
    Ok(result)
}

/// A store far beyond everything.
const FAR: &str = "%a = OpShiftLeftLogical %uint %n1 %n64
%far = OpIMul %uint %n64 %n64
%farther = OpIMul %uint %far %far
%index0 = OpBitwiseAnd %uint %farther %n1
%huge = OpNot %uint %index0
%h = OpShiftRightLogical %uint %huge %n1
%p = OpAccessChain %puint %y %n0 %h
OpStore %p %n1";

const FINE: &str = "%p = OpAccessChain %puint %y %n0 %local\nOpStore %p %n3";

#[test]
fn bad_addresses_are_errors_of_the_launch() {
    let text = shader([8, 1, 1], "", FAR).replace("%a = OpShiftLeftLogical %uint %n1 %n64\n", "");
    let fine = compile_with(&shader([8, 1, 1], "", FINE), &[], &JitOptions::default());
    let fine = fine.unwrap_or_else(|f| panic!("{}", f[0]));
    for kernel in both(&text) {
        for groups in [1, 8] {
            match run(&kernel, groups, None) {
                Err(LaunchError::Access { kernel, .. }) => assert_eq!(kernel, "main"),
                other => panic!("{other:?}"),
            }
            // The process continues.
            assert_eq!(
                run(&fine, 1, None).expect("it runs")[..9],
                [3, 3, 3, 3, 3, 3, 3, 3, 0]
            );
        }
    }
}

/// An access past the end of privatised memory is past the end of a thread's copy.
#[test]
fn counting_beyond_memory_is_an_error_of_the_launch() {
    let body = "%from = OpAccessChain %puint %x %n0 %n0
%five = OpLoad %uint %from
%three = OpISub %uint %five %n2
%much = OpIMul %uint %three %million
%p = OpAccessChain %puint %y %n0 %much
%old = OpAtomicIAdd %uint %p %n1 %n0 %n1";
    let text = shader([64, 1, 1], "%million = OpConstant %uint 1000000", body);
    for kernel in both(&text) {
        match run(&kernel, 1000, None) {
            Err(LaunchError::Access { kernel, .. }) => assert_eq!(kernel, "main"),
            other => panic!("{other:?}"),
        }
    }
}

/// A loop whose condition is loaded, so that no analysis finds that it does not end.
const ENDLESS: &str = "OpBranch %head
%head = OpLabel
OpLoopMerge %after %next None
OpBranch %next
%next = OpLabel
%from = OpAccessChain %puint %x %n0 %n0
%v = OpLoad %uint %from
%c = OpUGreaterThan %bool %v %n0
OpBranchConditional %c %head %after
%after = OpLabel";

#[test]
fn kernels_without_end_are_ended() {
    for kernel in both(&shader([8, 1, 1], "", ENDLESS)) {
        let start = Instant::now();
        let limit = Some(Duration::from_millis(50));
        match run(&kernel, 8, limit) {
            Err(LaunchError::Late { kernel }) => assert_eq!(kernel, "main"),
            other => panic!("{other:?}"),
        }
        assert!(start.elapsed() >= Duration::from_millis(50));
    }
}

#[test]
fn a_limit_that_is_not_reached_changes_nothing() {
    for kernel in both(&shader([8, 1, 1], "", FINE)) {
        let result = run(&kernel, 1, Some(Duration::from_secs(3600)));
        assert_eq!(result.expect("it runs")[7], 3);
    }
}

#[test]
fn large_variables_use_up_no_stack_unnoticed() {
    // Many variables of 64 KiB, each too small to be refused.
    let count = 300;
    let mut globals = "%n16k = OpConstant %uint 16384\n%big = OpTypeArray %uint %n16k\n".to_owned();
    globals.push_str("%pbig = OpTypePointer Function %big\n%pcell = OpTypePointer Function %uint");
    let variables: String = (0..count)
        .map(|n| format!("%v{n} = OpVariable %pbig Function\n"))
        .collect();
    let uses: String = (0..count)
        .map(|n| format!("%p{n} = OpAccessChain %pcell %v{n} %global\nOpStore %p{n} %global\n"))
        .collect();
    let text = shader([8, 1, 1], &globals, &uses);
    let text = text.replace(
        "%entry = OpLabel\n",
        &format!("%entry = OpLabel\n{variables}"),
    );
    module(&text);
    let options = JitOptions {
        mode: CpuMode::Scalar,
        ..JitOptions::default()
    };
    match compile_with(&text, &[], &options) {
        Err(faults) => assert!(faults[0].message.contains("not supported"), "{}", faults[0]),
        Ok(kernel) => {
            let mut buffers = [vec![0; 64], vec![0; 64]];
            let result = run_shader(&kernel, [1, 1, 1], &mut buffers, &[]);
            assert!(
                matches!(result, Ok(()) | Err(LaunchError::Stack { .. })),
                "{result:?}"
            );
        }
    }
}
