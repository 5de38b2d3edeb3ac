//! Vectors that invocations load and store have the same elements in gangs as in single invocations, at any distance.

mod common;

use common::{compile_with, in_every_mode, run_kernel};

/// Invocations of a run; the last gang is not whole.
const ITEMS: u64 = 45;

/// Distances of the vectors of neighbouring invocations.
const STEPS: [i64; 5] = [1, 2, 3, -1, -2];

/// A kernel that loads a vector, changes the order of its elements, and stores it elsewhere.
fn make_text(element: &str, bits: u64, count: u64, [from, to]: [i64; 2]) -> String {
    let place = |name: &str, step: i64| {
        let base = if step < 0 {
            -step * (ITEMS as i64 - 1)
        } else {
            0
        };
        format!(
            "%{name}_step = OpConstant %i64 {}\n%{name}_base = OpConstant %i64 {base}\n",
            step as u64
        )
    };
    let bytes = (bits / 8 * count).next_power_of_two();
    let reversed = (0..count)
        .rev()
        .map(|n| format!(" {n}"))
        .collect::<String>();
    format!(
        "OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpCapability Float64
OpCapability Vector16
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main \"main\" %gid
OpDecorate %gid BuiltIn GlobalInvocationId
%void = OpTypeVoid
%bool = OpTypeBool
%i64 = OpTypeInt 64 0
%element = {element}
%record = OpTypeVector %element {count}
%vec = OpTypeVector %i64 3
{}{}%end = OpConstant %i64 {ITEMS}
%pointer = OpTypePointer CrossWorkgroup %record
%pvec = OpTypePointer Input %vec
%gid = OpVariable %pvec Input
%fn = OpTypeFunction %void %pointer %pointer
%main = OpFunction %void None %fn
%in = OpFunctionParameter %pointer
%out = OpFunctionParameter %pointer
%entry = OpLabel
%g = OpLoad %vec %gid Aligned 32
%i = OpCompositeExtract %i64 %g 0
%inside = OpULessThan %bool %i %end
OpSelectionMerge %done None
OpBranchConditional %inside %work %done
%work = OpLabel
%a = OpIMul %i64 %i %from_step
%at = OpIAdd %i64 %a %from_base
%b = OpIMul %i64 %i %to_step
%into = OpIAdd %i64 %b %to_base
%source = OpInBoundsPtrAccessChain %pointer %in %at
%x = OpLoad %record %source Aligned {bytes}
%y = OpVectorShuffle %record %x %x{reversed}
%target = OpInBoundsPtrAccessChain %pointer %out %into
OpStore %target %y Aligned {bytes}
OpBranch %done
%done = OpLabel
OpReturn
OpFunctionEnd
",
        place("from", from),
        place("to", to)
    )
}

/// The words that a run should store.
fn expect_words(input: &[u8], size: usize, count: usize, [from, to]: [i64; 2]) -> Vec<u8> {
    let mut output = vec![0xee; input.len()];
    let record = size * count;
    for item in 0..ITEMS as i64 {
        let place = |step: i64| {
            let base = if step < 0 {
                -step * (ITEMS as i64 - 1)
            } else {
                0
            };
            (base + item * step) as usize * record
        };
        for n in 0..count {
            let source = place(from) + (count - 1 - n) * size;
            let target = place(to) + n * size;
            output[target..target + size].copy_from_slice(&input[source..source + size]);
        }
    }
    output
}

fn as_bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn vectors_at_any_distance() {
    let elements = [
        ("OpTypeFloat 32", 32),
        ("OpTypeInt 32 0", 32),
        ("OpTypeFloat 64", 64),
    ];
    for (element, bits) in elements {
        for count in [2, 4, 8] {
            for steps in STEPS
                .into_iter()
                .flat_map(|from| STEPS.map(|to| [from, to]))
            {
                let text = make_text(element, bits, count, steps);
                let words = (3 * ITEMS * count * bits / 64 + 8) as usize;
                let input: Vec<u64> = (0..words as u64)
                    .map(|n| (n + 1).wrapping_mul(0x3f80_1234_4049_0fdb) >> 2)
                    .collect();
                let found = in_every_mode(|options| {
                    let kernel = compile_with(&text, &[], options);
                    let kernel = kernel.unwrap_or_else(|faults| panic!("{}\n{text}", faults[0]));
                    let mut buffers = [input.clone(), vec![0xeeee_eeee_eeee_eeee; words]];
                    let range = [ITEMS.next_multiple_of(16), 1, 1];
                    run_kernel(&kernel, range, Some([16, 1, 1]), &mut buffers, &[]).unwrap();
                    let [_, output] = buffers;
                    output
                });
                let size = bits as usize / 8;
                let expected = expect_words(&as_bytes(&input), size, count as usize, steps);
                assert_eq!(as_bytes(&found), expected, "{count} x {element}, {steps:?}");
            }
        }
    }
}
