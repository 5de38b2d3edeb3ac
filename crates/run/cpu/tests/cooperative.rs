//! Cooperative matrices: loads and stores in both layouts, products, and operations on components.

mod common;

use common::{compile_with, refusal, run_shader};
use spirula_cpu::{CpuMode, JitOptions};
use spirula_diagnostics::SourceDiagnostic;

/// A shader of one subgroup. It has matrices `%A` of `rows` by `depth`, `%B` and `%C`, of one component type, and
/// buffers `%a`, `%b` and `%c` of such components. `body` computes `%r`, which is stored to `%c`.
fn shader(component: &str, [rows, columns, depth]: [u32; 3], threads: u32, body: &str) -> String {
    let bytes = component
        .split(' ')
        .nth(1)
        .and_then(|bits| bits.parse::<u32>().ok())
        .map_or(4, |bits| bits / 8);
    let bound = |(n, name): (usize, &str)| {
        format!("OpDecorate %{name} DescriptorSet 0\nOpDecorate %{name} Binding {n}\n")
    };
    let bindings: String = ["a", "b", "c"].into_iter().enumerate().map(bound).collect();
    format!(
        "OpCapability Shader
OpCapability CooperativeMatrixKHR
OpCapability VulkanMemoryModel
OpCapability Float16
OpCapability Int8
OpExtension \"SPV_KHR_cooperative_matrix\"
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main \"main\" %a %b %c
OpExecutionMode %main LocalSize {threads} 1 1
{bindings}OpDecorate %numbers ArrayStride {bytes}
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%number = OpType{component}
%n0 = OpConstant %uint 0
%n1 = OpConstant %uint 1
%n2 = OpConstant %uint 2
%scope = OpConstant %uint 3
%rows = OpConstant %uint {rows}
%columns = OpConstant %uint {columns}
%depth = OpConstant %uint {depth}
%A = OpTypeCooperativeMatrixKHR %number %scope %rows %depth %n0
%B = OpTypeCooperativeMatrixKHR %number %scope %depth %columns %n1
%C = OpTypeCooperativeMatrixKHR %number %scope %rows %columns %n2
%numbers = OpTypeRuntimeArray %number
%block = OpTypeStruct %numbers
%pblock = OpTypePointer StorageBuffer %block
%pnumber = OpTypePointer StorageBuffer %number
%pfC = OpTypePointer Function %C
%pfnumber = OpTypePointer Function %number
%a = OpVariable %pblock StorageBuffer
%b = OpVariable %pblock StorageBuffer
%c = OpVariable %pblock StorageBuffer
%fn = OpTypeFunction %void
%main = OpFunction %void None %fn
%entry = OpLabel
%kept = OpVariable %pfC Function
%pa = OpAccessChain %pnumber %a %n0 %n0
%pb = OpAccessChain %pnumber %b %n0 %n0
%pc = OpAccessChain %pnumber %c %n0 %n0
{body}
OpCooperativeMatrixStoreKHR %pc %r %n0 %columns
OpReturn
OpFunctionEnd
"
    )
}

/// A and C by rows, B by columns; their product and sum.
const PRODUCT: &str = "%x = OpCooperativeMatrixLoadKHR %A %pa %n0 %depth
%y = OpCooperativeMatrixLoadKHR %B %pb %n1 %depth
%z = OpCooperativeMatrixLoadKHR %C %pc %n0 %columns
%r = OpCooperativeMatrixMulAddKHR %C %x %y %z";

fn all_ways() -> impl Iterator<Item = JitOptions> {
    [
        (8, CpuMode::Gangs),
        (32, CpuMode::Gangs),
        (8, CpuMode::Sanitizer),
    ]
    .into_iter()
    .map(|(subgroup_size, mode)| JitOptions {
        subgroup_size,
        mode,
    })
}

fn value(n: usize) -> f32 {
    (n * 7 % 11) as f32 - 5.0
}

fn run(text: &str, options: &JitOptions, [m, n, k]: [usize; 3]) -> Vec<f32> {
    let kernel = compile_with(text, &[], options).unwrap_or_else(|f| panic!("{}\n{text}", f[0]));
    let words = |count: usize| (0..count).map(|n| value(n).to_bits()).collect();
    let mut buffers = [words(m * k), words(k * n), words(m * n)];
    run_shader(&kernel, [1, 1, 1], &mut buffers, &[]).expect("it runs");
    buffers[2].iter().map(|b| f32::from_bits(*b)).collect()
}

#[test]
fn products_of_floats() {
    for [m, n, k] in [[16, 16, 16], [8, 16, 4], [3, 5, 7]] {
        let size = [m, n, k].map(|x| x as u32);
        for options in all_ways() {
            let text = shader("Float 32", size, options.subgroup_size, PRODUCT);
            let got = run(&text, &options, [m, n, k]);
            for (at, got) in got.iter().enumerate() {
                let (row, column) = (at / n, at % n);
                let terms = (0..k).map(|i| value(row * k + i) * value(column * k + i));
                assert_eq!(*got, value(at) + terms.sum::<f32>(), "{at} of {m} {n} {k}");
            }
        }
    }
}

#[test]
fn large_products_in_memory() {
    // A reduction in a loop, as for the sums of tiles. A barrier does nothing where a workgroup is one gang.
    let body = "%zeros = OpCompositeConstruct %C %zero
OpBranch %head
%head = OpLabel
%i = OpPhi %uint %n0 %entry %next %latch
%sums = OpPhi %C %zeros %entry %sum %latch
%more = OpULessThan %bool %i %n2
OpLoopMerge %done %latch None
OpBranchConditional %more %within %done
%within = OpLabel
%x = OpCooperativeMatrixLoadKHR %A %pa %n0 %depth
%y = OpCooperativeMatrixLoadKHR %B %pb %n1 %depth
%sum = OpCooperativeMatrixMulAddKHR %C %x %y %sums
OpBranch %latch
%latch = OpLabel
OpControlBarrier %n2 %n2 %n0
%next = OpIAdd %uint %i %n1
OpBranch %head
%done = OpLabel
%z = OpCooperativeMatrixLoadKHR %C %pc %n0 %columns
%r = OpCooperativeMatrixMulAddKHR %C %x0 %y0 %sums";
    let body = body.replace(
        "%zeros = ",
        "%x0 = OpCompositeConstruct %A %zero\n%y0 = OpCompositeConstruct %B %zero\n%zeros = ",
    );
    for [m, n, k] in [[64, 64, 64], [49, 48, 33]] {
        let size = [m, n, k].map(|x| x as u32);
        let text = shader("Float 32", size, 8, &body);
        let text = text.replace(
            "%n0 = ",
            "%bool = OpTypeBool\n%zero = OpConstant %number 0\n%n0 = ",
        );
        let got = run(&text, &JitOptions::default(), [m, n, k]);
        for (at, got) in got.iter().enumerate() {
            let (row, column) = (at / n, at % n);
            let terms = (0..k).map(|i| value(row * k + i) * value(column * k + i));
            assert_eq!(*got, 2.0 * terms.sum::<f32>(), "{at} of {m} {n} {k}");
        }
    }
    let options = JitOptions {
        mode: CpuMode::Scalar,
        ..JitOptions::default()
    };
    let text = shader("Float 32", [64, 64, 64], 8, PRODUCT);
    let faults = compile_with(&text, &[], &options).err().unwrap_or_default();
    let is_told = |f: &SourceDiagnostic| f.message.contains("so many components");
    assert!(faults.iter().any(is_told), "{faults:?}");
}

#[test]
fn components_one_by_one() {
    // The variable is not promoted, as the index of the component is not known.
    let body = "%z = OpCooperativeMatrixLoadKHR %C %pc %n0 %columns
%two = OpFAdd %C %z %z
OpStore %kept %two
%length = OpCooperativeMatrixLengthKHR %uint %C
%one = OpConvertUToF %number %length
%place = OpUMod %uint %length %n1
%first = OpAccessChain %pfnumber %kept %place
OpStore %first %one
%new = OpLoad %C %kept
%ones = OpCompositeConstruct %C %one
%s = OpFSub %C %new %ones
%r = OpMatrixTimesScalar %C %s %one";
    for options in all_ways() {
        let lanes = options.subgroup_size as usize;
        let text = shader("Float 32", [4, 16, 4], options.subgroup_size, body);
        let length = (64 / lanes) as f32;
        for (at, got) in run(&text, &options, [4, 16, 4]).iter().enumerate() {
            let own = if at < lanes { length } else { 2.0 * value(at) };
            assert_eq!(*got, (own - length) * length, "{at}");
        }
    }
}

#[test]
fn products_of_bytes() {
    // A has signs, B has none; four bytes in each word of the buffers.
    let body = "%x = OpCooperativeMatrixLoadKHR %A %pa %n0 %depth
%y = OpCooperativeMatrixLoadKHR %B %pb %n0 %columns
%z = OpCooperativeMatrixLoadKHR %C %pc %n0 %columns
%r = OpCooperativeMatrixMulAddKHR %C %x %y %z MatrixASignedComponentsKHR|MatrixCSignedComponentsKHR|MatrixResultSignedComponentsKHR|SaturatingAccumulationKHR";
    let text = shader("Int 8 1", [8, 8, 4], 8, body);
    for options in all_ways().filter(|o| o.subgroup_size == 8) {
        let kernel =
            compile_with(&text, &[], &options).unwrap_or_else(|f| panic!("{}\n{text}", f[0]));
        let bytes = |count: usize, step: usize| -> Vec<u8> {
            (0..count).map(|n| (n * step) as u8).collect()
        };
        let (a, b, c) = (bytes(32, 29), bytes(32, 91), bytes(64, 5));
        let words = |bytes: &[u8]| -> Vec<u32> {
            let (words, _) = bytes.as_chunks();
            words.iter().map(|w| u32::from_le_bytes(*w)).collect()
        };
        let mut buffers = [words(&a), words(&b), words(&c)];
        run_shader(&kernel, [1, 1, 1], &mut buffers, &[]).expect("it runs");
        let got: Vec<u8> = buffers[2].iter().flat_map(|w| w.to_le_bytes()).collect();
        for (at, got) in got.iter().enumerate() {
            let (row, column) = (at / 8, at % 8);
            let product = |k: usize| i32::from(a[row * 4 + k] as i8) * i32::from(b[k * 8 + column]);
            let sum = i32::from(c[at] as i8) + (0..4).map(product).sum::<i32>();
            assert_eq!(i32::from(*got as i8), sum.clamp(-128, 127), "{at}");
        }
    }
}

#[test]
fn matrices_of_workgroups_are_refused() {
    let text = shader("Float 32", [16, 16, 16], 8, PRODUCT);
    let text = text.replace("%scope = OpConstant %uint 3", "%scope = OpConstant %uint 2");
    let said = refusal(&text);
    assert!(said[0].contains("not supported"), "{said:?}");
}
