//! Crowded kernels: with thousands of live values, which take the single-pass register allocator, and with so many
//! variables that these stay in memory. Their results are right.

mod common;

use common::{compile_with, run_shader, shader};
use spirula_cpu::{CpuMode, JitOptions};
use std::fmt::Write;

/// The results of 16 invocations from their numbers, with and without gangs.
fn computed(body: &str, globals: &str, variables: &str) -> Vec<u32> {
    let body = format!(
        "%to = OpAccessChain %puint %y %n0 %global\nOpBranch %begin\n%begin = OpLabel\n{body}OpStore %to %result"
    );
    let text = shader([8, 1, 1], globals, &body);
    let text = text.replacen(
        "%entry = OpLabel\n",
        &format!("%entry = OpLabel\n{variables}"),
        1,
    );
    let results = [CpuMode::Gangs, CpuMode::Scalar].map(|mode| {
        let options = JitOptions {
            mode,
            ..JitOptions::default()
        };
        let kernel = compile_with(&text, &[], &options).unwrap_or_else(|f| panic!("{}", f[0]));
        let mut buffers = [vec![0; 16], vec![0; 16]];
        run_shader(&kernel, [2, 1, 1], &mut buffers, &[]).expect("the launch fits");
        let [_, y] = buffers;
        y
    });
    let [gangs, alone] = results;
    assert_eq!(gangs, alone);
    alone
}

/// Constants `%k0`, `%k1`, … of some numbers.
fn constants(numbers: impl Iterator<Item = u32>) -> String {
    let mut text = String::new();
    for (n, number) in numbers.enumerate() {
        _ = writeln!(text, "%k{n} = OpConstant %uint {number}");
    }
    text
}

#[test]
fn thousands_of_phis() {
    const COUNT: u32 = 3000;
    let factor = |n: u32| 3 * n + 17;
    let mut body = String::from(
        "%less = OpULessThan %bool %global %n8\nOpSelectionMerge %join None\n\
         OpBranchConditional %less %yes %no\n%yes = OpLabel\n",
    );
    for n in 0..COUNT {
        _ = writeln!(body, "%a{n} = OpIAdd %uint %global %k{n}");
    }
    body.push_str("OpBranch %join\n%no = OpLabel\n");
    for n in 0..COUNT {
        _ = writeln!(body, "%b{n} = OpIMul %uint %global %k{n}");
    }
    body.push_str("OpBranch %join\n%join = OpLabel\n");
    for n in 0..COUNT {
        _ = writeln!(body, "%p{n} = OpPhi %uint %a{n} %yes %b{n} %no");
    }
    body.push_str("%s0 = OpCopyObject %uint %p0\n");
    for n in 1..COUNT {
        // Each comes from far before.
        let (last, other) = (n - 1, COUNT - n);
        _ = write!(
            body,
            "%m{n} = OpIMul %uint %s{last} %n3\n%s{n} = OpBitwiseXor %uint %m{n} %p{other}\n"
        );
    }
    _ = writeln!(body, "%result = OpCopyObject %uint %s{}", COUNT - 1);
    let found = computed(&body, &constants((0..COUNT).map(factor)), "");
    for (x, found) in (0u32..).zip(found) {
        let phi = |n: u32| {
            if x < 8 {
                x.wrapping_add(factor(n))
            } else {
                x.wrapping_mul(factor(n))
            }
        };
        let wanted = (1..COUNT).fold(phi(0), |sum, n| sum.wrapping_mul(3) ^ phi(COUNT - n));
        assert_eq!(found, wanted, "invocation {x}");
    }
}

#[test]
fn thousands_of_variables() {
    const COUNT: usize = 1000;
    let mut body = String::new();
    let mut variables = String::new();
    for n in 0..COUNT {
        _ = writeln!(variables, "%v{n} = OpVariable %pown Function");
        _ = write!(
            body,
            "%i{n} = OpIMul %uint %global %k{n}\nOpStore %v{n} %i{n}\n"
        );
    }
    for n in 0..COUNT {
        let (from, to) = (n * 7 % COUNT, (n * 3 + 1) % COUNT);
        _ = write!(
            body,
            "%l{n} = OpLoad %uint %v{from}\n%o{n} = OpBitwiseAnd %uint %l{n} %n4\n\
             %c{n} = OpIEqual %bool %o{n} %n0\nOpSelectionMerge %m{n} None\n\
             OpBranchConditional %c{n} %t{n} %m{n}\n%t{n} = OpLabel\n%w{n} = OpIAdd %uint %l{n} %n3\n\
             OpStore %v{to} %w{n}\nOpBranch %m{n}\n%m{n} = OpLabel\n"
        );
    }
    body.push_str("%s0 = OpCopyObject %uint %n0\n");
    for n in 0..COUNT {
        let next = n + 1;
        _ = write!(
            body,
            "%e{n} = OpLoad %uint %v{n}\n%f{n} = OpIMul %uint %s{n} %n3\n%s{next} = OpBitwiseXor %uint %f{n} %e{n}\n"
        );
    }
    _ = writeln!(body, "%result = OpCopyObject %uint %s{COUNT}");
    let globals = format!(
        "%pown = OpTypePointer Function %uint\n{}",
        constants((0..COUNT as u32).map(|n| n + 1))
    );
    let found = computed(&body, &globals, &variables);
    for (x, found) in (0u32..).zip(found) {
        let mut values: Vec<u32> = (0..COUNT as u32).map(|n| x * (n + 1)).collect();
        for n in 0..COUNT {
            let value = values[n * 7 % COUNT];
            if value & 4 == 0 {
                values[(n * 3 + 1) % COUNT] = value + 3;
            }
        }
        let wanted = values
            .iter()
            .fold(0u32, |sum, value| sum.wrapping_mul(3) ^ value);
        assert_eq!(found, wanted, "invocation {x}");
    }
}

/// Conditions in a row, each with a value that is merged after it.
#[test]
fn thousands_of_branches() {
    const COUNT: u32 = 5000;
    let mut body = String::from("%p0 = OpCopyObject %uint %global\n");
    for n in 0..COUNT {
        let next = n + 1;
        _ = write!(
            body,
            "%o{n} = OpBitwiseAnd %uint %p{n} %n1\n%c{n} = OpIEqual %bool %o{n} %n0\n\
             OpSelectionMerge %m{n} None\nOpBranchConditional %c{n} %a{n} %b{n}\n\
             %a{n} = OpLabel\n%v{n} = OpIAdd %uint %p{n} %n3\nOpBranch %m{n}\n\
             %b{n} = OpLabel\n%w{n} = OpIMul %uint %p{n} %n3\nOpBranch %m{n}\n\
             %m{n} = OpLabel\n%j{n} = OpPhi %uint %v{n} %a{n} %w{n} %b{n}\n%p{next} = OpIAdd %uint %j{n} %global\n"
        );
    }
    _ = writeln!(body, "%result = OpCopyObject %uint %p{COUNT}");
    let found = computed(&body, "", "");
    for (x, found) in (0u32..).zip(found) {
        let step = |value: u32, _| match value & 1 {
            0 => value.wrapping_add(3).wrapping_add(x),
            _ => value.wrapping_mul(3).wrapping_add(x),
        };
        assert_eq!(found, (0..COUNT).fold(x, step), "invocation {x}");
    }
}
