//! Large kernels take memory and code in proportion to their size.

mod common;

use common::{compile_with, shader};
use peak_alloc::PeakAlloc;
use spirula_cpu::JitOptions;
use std::fmt::Write;

/// Counts the allocations of the process.
#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// A kernel with `count` divergent conditions in a row. Values from before the first are used after the last.
fn conditions(count: u32) -> String {
    let mut body = String::from(
        "%from = OpAccessChain %puint %x %n0 %global\n\
         %own = OpLoad %uint %from\n\
         %to = OpAccessChain %puint %y %n0 %global\n\
         OpBranch %b0\n%b0 = OpLabel\n",
    );
    for n in 0..count {
        let before = match n {
            0 => "%own".to_owned(),
            _ => format!("%v{n}"),
        };
        let next = n + 1;
        _ = write!(
            body,
            "%a{n} = OpIMul %uint {before} %n3\n\
             %c{n} = OpBitwiseXor %uint %a{n} %own\n\
             %d{n} = OpBitwiseAnd %uint %c{n} %n1\n\
             %e{n} = OpIEqual %bool %d{n} %n0\n\
             OpSelectionMerge %b{next} None\n\
             OpBranchConditional %e{n} %t{n} %b{next}\n\
             %t{n} = OpLabel\n\
             %f{n} = OpIAdd %uint %c{n} %n64\n\
             %g{n} = OpIMul %uint %f{n} %f{n}\n\
             OpStore %to %g{n}\n\
             OpBranch %b{next}\n\
             %b{next} = OpLabel\n\
             %v{next} = OpPhi %uint %c{n} %b{n} %g{n} %t{n}\n"
        );
    }
    _ = writeln!(body, "OpStore %to %v{count}");
    body
}

#[test]
fn memory_is_in_proportion_to_the_code() {
    let options = JitOptions::default();
    let peak = |count: u32| {
        let text = shader([64, 1, 1], "", &conditions(count));
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        compile_with(&text, &[], &options).unwrap_or_else(|f| panic!("{}", f[0]));
        ALLOCATOR.peak_usage() - before
    };
    let (small, large) = (peak(200), peak(2000));
    println!("{small} and {large} bytes");
    assert!(large < 20 * small, "{small} bytes, then {large}");
}
