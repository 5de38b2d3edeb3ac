//! Shaders without small and 64-bit types compute what they compute with them, bit by bit.

use spirula_legalize::emulate::{MissingNumericTypes, emulate_missing_types};
use spirula_runtime::{ComputeDevice, DeviceOptions};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};
use std::fmt::Write as _;

/// Operations on two numbers, as `%r = Op… %t %x %y`; `%s` is an amount to shift by, `%d` a divisor.
const INTEGERS: &[&str] = &[
    "IAdd %x %y",
    "ISub %x %y",
    "IMul %x %y",
    "UDiv %x %d",
    "SDiv %x %d",
    "UMod %x %d",
    "SRem %x %d",
    "ShiftLeftLogical %x %s",
    "ShiftRightLogical %x %s",
    "ShiftRightArithmetic %x %s",
    "BitwiseXor %x %y",
    "Not %x",
    "SNegate %x",
];
const COMPARISONS: &[&str] = &[
    "ULessThan",
    "SLessThan",
    "UGreaterThanEqual",
    "SGreaterThanEqual",
    "IEqual",
    "SLessThanEqual",
];
const FLOATS: &[&str] = &[
    "FAdd %x %y",
    "FSub %x %y",
    "FMul %x %y",
    "FDiv %x %y",
    "FNegate %x",
];

/// The code that stores the result of each operation, the constants that it takes, and the number of results.
fn operations(is_float: bool, width: u32) -> (String, String, usize) {
    let mut results = String::new();
    let mut count = 0;
    let mut one = |line: &str| {
        let store = format!("%k{count} = OpConstant %ulong {count}\n",);
        let _ = write!(
            results,
            "{line}\n%at{count} = OpIAdd %ulong %begin %k{count}\n\
             %p{count} = OpInBoundsPtrAccessChain %pointer %out %at{count}\n\
             OpStore %p{count} %r{count} Aligned {}\n",
            width / 8
        );
        count += 1;
        store
    };
    let mut constants = String::new();
    let mut number = 0;
    let mut next = || {
        number += 1;
        number - 1
    };
    for operation in if is_float { FLOATS } else { INTEGERS } {
        let (op, operands) = operation.split_once(' ').unwrap_or((operation, ""));
        constants += &one(&format!("%r{} = Op{op} %t {operands}", next()));
    }
    if !is_float {
        for op in COMPARISONS {
            let n = next();
            let line = format!("%c{n} = Op{op} %bool %x %y\n%r{n} = OpSelect %t %c{n} %x %y");
            constants += &one(&line);
        }
        for (to, back) in [("ConvertSToF", "S"), ("ConvertUToF", "U")] {
            let n = next();
            let line = format!(
                "%f{n} = Op{to} %float %x\n%b{n} = OpBitcast %uint %f{n}\n%r{n} = Op{back}Convert %t %b{n}"
            );
            // A conversion to its own width is none.
            constants += &one(&line);
        }
    }
    (results, constants, count)
}

/// A kernel of one invocation for each pair, that writes the results of all operations one after the
/// other, and how many these are.
fn kernel(ty: &str, width: u32) -> (String, usize) {
    let is_float = ty.starts_with("OpTypeFloat");
    let (results, constants, count) = operations(is_float, width);
    let more = match (is_float, width) {
        (true, _) | (_, 64) => String::new(),
        _ => format!("OpCapability Int{width}\n"),
    };
    let half = if is_float {
        "OpCapability Float16\n"
    } else {
        ""
    };
    let own = if width == 64 { "" } else { "%t = TYPE\n" }.replace("TYPE", ty);
    let t = if width == 64 { "%ulong" } else { "%t" };
    let limits = if is_float {
        String::new()
    } else {
        format!(
            "%most = OpConstant {t} {}\n%one = OpConstant {t} 1\n",
            width - 1
        )
    };
    let helpers = if is_float {
        ""
    } else {
        "%s = OpBitwiseAnd %t %y %most\n%d = OpBitwiseOr %t %y %one\n"
    };
    let text = format!(
        "OpCapability Kernel\nOpCapability Addresses\nOpCapability Int64\n{more}{half}\
         OpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %main \"main\" %gid\n\
         OpDecorate %gid BuiltIn GlobalInvocationId\nOpDecorate %gid Constant\n\
         %void = OpTypeVoid\n%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n%ulong = OpTypeInt 64 0\n\
         %float = OpTypeFloat 32\n{own}%v3 = OpTypeVector %ulong 3\n%pv3 = OpTypePointer Input %v3\n\
         %gid = OpVariable %pv3 Input\n%pointer = OpTypePointer CrossWorkgroup %t\n{limits}\
         %each = OpConstant %ulong {count}\n{constants}\
         %type = OpTypeFunction %void %pointer %pointer %pointer\n\
         %main = OpFunction %void None %type\n%a = OpFunctionParameter %pointer\n\
         %b = OpFunctionParameter %pointer\n%out = OpFunctionParameter %pointer\n%entry = OpLabel\n\
         %id3 = OpLoad %v3 %gid\n%id = OpCompositeExtract %ulong %id3 0\n\
         %begin = OpIMul %ulong %id %each\n%pa = OpInBoundsPtrAccessChain %pointer %a %id\n\
         %pb = OpInBoundsPtrAccessChain %pointer %b %id\n%x = OpLoad %t %pa Aligned {bytes}\n\
         %y = OpLoad %t %pb Aligned {bytes}\n{helpers}{results}OpReturn\nOpFunctionEnd\n",
        bytes = width / 8
    );
    let text = match width {
        64 => text.replace("%t ", "%ulong ").replace("%t\n", "%ulong\n"),
        _ => text,
    };
    (text, count)
}

/// Numbers that have all kinds of bits.
fn numbers(count: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let words = (0..count).flat_map(|n| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let word = state ^ state >> 29;
        // Some are small, some have few bits, some are negative.
        let word = match n % 4 {
            0 => word,
            1 => word >> 40,
            2 => (word as i64 >> 50) as u64,
            _ => 1 << (word % 64),
        };
        word.to_le_bytes()
    });
    words.collect()
}

fn results(module: &SpirvModule, count: usize, width: u32) -> Vec<u8> {
    const PAIRS: usize = 64;
    let mut device = ComputeDevice::open("cpu", &DeviceOptions::default()).unwrap();
    let bytes = width as usize / 8;
    let a = device
        .upload_data(&numbers(PAIRS, 1)[..PAIRS * bytes])
        .unwrap();
    let b = device
        .upload_data(&numbers(PAIRS, 2)[..PAIRS * bytes])
        .unwrap();
    let out = device
        .create_buffer((PAIRS * count * bytes) as u64)
        .unwrap();
    let kernel = device.create_kernel(module, "main", &[]).unwrap();
    let call = device
        .prepare_launch(kernel)
        .with_global_size(PAIRS as u64)
        .with_local_size(8);
    call.with_argument(a)
        .with_argument(b)
        .with_argument(out)
        .run_and_wait()
        .unwrap();
    device.download_buffer(out).unwrap()
}

fn check(ty: &str, width: u32) {
    let (text, count) = kernel(ty, width);
    let words = parse_assembly(&text, &ParseOptions::default()).expect("the text is correct");
    let module = SpirvModule::from_words(words).expect("the module is correct");
    let shader = spirula_legalize::compile_kernels(
        &module,
        &spirula_legalize::VulkanCompileOptions::default(),
    )
    .unwrap();
    let lacking = MissingNumericTypes {
        narrow: true,
        wide: true,
    };
    let emulated = emulate_missing_types(&shader, lacking).unwrap();
    let (wanted, found) = (
        results(&shader, count, width),
        results(&emulated, count, width),
    );
    let bytes = width as usize / 8;
    for (n, (wanted, found)) in wanted.chunks(bytes).zip(found.chunks(bytes)).enumerate() {
        let is_nan = |b: &[u8]| {
            ty.starts_with("OpTypeFloat") && b[1] & 0x7c == 0x7c && (b[1] & 3, b[0]) != (0, 0)
        };
        let are_nan = is_nan(wanted) && is_nan(found);
        assert!(
            are_nan || wanted == found,
            "{ty}, operation {} of pair {}: {wanted:?}, {found:?}",
            n % count,
            n / count
        );
    }
}

/// A kernel that chooses by a number of a type: the case's number, or 9 where there is none.
fn choosing(ty: &str, width: u32, cases: &[&str]) -> String {
    let (capability, own) = match width {
        64 => (
            String::new(),
            "%t = OpTypeInt 64 0\n%ulong3 = OpTypeVector %t 3\n".to_owned(),
        ),
        _ => (
            format!("OpCapability Int{width}\n"),
            format!("%ulong = OpTypeInt 64 0\n%ulong3 = OpTypeVector %ulong 3\n%t = {ty}\n"),
        ),
    };
    let index = if width == 64 { "%t" } else { "%ulong" };
    let (mut labels, mut blocks, mut phi) = (String::new(), String::new(), String::new());
    for (n, case) in cases.iter().enumerate() {
        let _ = write!(labels, " {case} %case{n}");
        let _ = write!(blocks, "%case{n} = OpLabel\nOpBranch %merge\n");
        let _ = write!(phi, " %n{n} %case{n}");
    }
    let numbers: String = (0..cases.len())
        .map(|n| format!("%n{n} = OpConstant %uint {n}\n"))
        .collect();
    format!(
        "OpCapability Kernel\nOpCapability Addresses\nOpCapability Int64\n{capability}\
         OpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %main \"main\" %gid\n\
         OpDecorate %gid BuiltIn GlobalInvocationId\nOpDecorate %gid Constant\n\
         %void = OpTypeVoid\n%uint = OpTypeInt 32 0\n{own}%pv3 = OpTypePointer Input %ulong3\n\
         %gid = OpVariable %pv3 Input\n%from = OpTypePointer CrossWorkgroup %t\n\
         %to = OpTypePointer CrossWorkgroup %uint\n%n9 = OpConstant %uint 9\n{numbers}\
         %type = OpTypeFunction %void %from %to\n%main = OpFunction %void None %type\n\
         %a = OpFunctionParameter %from\n%out = OpFunctionParameter %to\n%entry = OpLabel\n\
         %id3 = OpLoad %ulong3 %gid\n%id = OpCompositeExtract {index} %id3 0\n\
         %pa = OpInBoundsPtrAccessChain %from %a %id\n%x = OpLoad %t %pa Aligned {bytes}\n\
         OpSwitch %x %merge{labels}\n{blocks}%merge = OpLabel\n\
         %found = OpPhi %uint %n9 %entry{phi}\n\
         %po = OpInBoundsPtrAccessChain %to %out %id\nOpStore %po %found Aligned 4\n\
         OpReturn\nOpFunctionEnd\n",
        bytes = width / 8
    )
}

#[test]
fn switches() {
    let pairs: [(&str, u32, &[&str], Vec<u8>); 3] = [
        (
            "OpTypeInt 64 0",
            64,
            &["5", "4294967296", "18446744073709551615"],
            [u64::MAX, 5, 1 << 32, 0, (1 << 32) + 5, 255]
                .iter()
                .flat_map(|n| n.to_le_bytes())
                .collect(),
        ),
        (
            "OpTypeInt 16 0",
            16,
            &["5", "65535", "256"],
            [u16::MAX, 5, 256, 0, 261, 255]
                .iter()
                .flat_map(|n| n.to_le_bytes())
                .collect(),
        ),
        (
            "OpTypeInt 8 0",
            8,
            &["5", "255", "128"],
            vec![255, 5, 128, 0, 4, 127],
        ),
    ];
    for (ty, width, cases, given) in pairs {
        let words = parse_assembly(&choosing(ty, width, cases), &ParseOptions::default());
        let module = SpirvModule::from_words(words.expect("the text is correct")).unwrap();
        let shader = spirula_legalize::compile_kernels(
            &module,
            &spirula_legalize::VulkanCompileOptions::default(),
        )
        .unwrap();
        let lacking = MissingNumericTypes {
            narrow: true,
            wide: true,
        };
        let emulated = emulate_missing_types(&shader, lacking).unwrap();
        for module in [&module, &shader, &emulated] {
            let mut device = ComputeDevice::open("cpu", &DeviceOptions::default()).unwrap();
            let kernel = device.create_kernel(module, "main", &[]).unwrap();
            // Whole words, as emulated shaders see them.
            let mut given = given.clone();
            given.resize(given.len().next_multiple_of(4), 0);
            let a = device.upload_data(&given).unwrap();
            let out = device.create_buffer(6 * 4).unwrap();
            let call = device
                .prepare_launch(kernel)
                .with_global_size(6)
                .with_local_size(1);
            call.with_argument(a)
                .with_argument(out)
                .run_and_wait()
                .unwrap();
            let got = device.download_as::<u32>(out).unwrap();
            let third = if width == 64 { [2, 0, 1] } else { [1, 0, 2] };
            assert_eq!(got[..3], third, "{ty}");
            assert_eq!(got[3..], [9; 3], "{ty}");
        }
    }
}

#[test]
fn integers_of_64_bits() {
    check("OpTypeInt 64 0", 64);
}

#[test]
fn integers_of_16_bits() {
    check("OpTypeInt 16 0", 16);
}

#[test]
fn integers_of_8_bits() {
    check("OpTypeInt 8 0", 8);
}

#[test]
fn floats_of_16_bits() {
    check("OpTypeFloat 16", 16);
}
