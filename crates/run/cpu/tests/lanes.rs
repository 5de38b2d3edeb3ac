//! Every instruction on scalars, at every type, against the scalar library's evaluator.

mod common;

use common::{compile, run_kernel};
use spirula_scalar::FloatEncoding;
use spirula_scalar::fold::{FoldConstant, FoldType, eval_core, list_rules};
use spirula_spirv::grammar::{Op, OperandCategory};

const TYPES: [(&str, FoldType); 8] = [
    ("bool", FoldType::Bool),
    ("i8", FoldType::Int { width: 8 }),
    ("i16", FoldType::Int { width: 16 }),
    ("i32", FoldType::Int { width: 32 }),
    ("i64", FoldType::Int { width: 64 }),
    ("f16", FoldType::Float(FloatEncoding::F16)),
    ("f32", FoldType::Float(FloatEncoding::F32)),
    ("f64", FoldType::Float(FloatEncoding::F64)),
];

/// Invocations of each run.
const COUNT: usize = 96;

/// Bits that are interesting, then random ones (xorshift).
fn operand(ty: FoldType, n: usize, which: usize, state: &mut u64) -> u64 {
    let edges: &[u64] = match ty {
        FoldType::Bool => &[0, 1],
        FoldType::Int { .. } => &[0, 1, u64::MAX, 1 << 63, i64::MAX as u64, 2, 7, 0x80, 0x7fff],
        FoldType::Float(FloatEncoding::F16) => {
            &[0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 1, 0x3ff]
        }
        FoldType::Float(FloatEncoding::F32) => &[
            0,
            0x8000_0000,
            0x3f80_0000,
            0xbf00_0000,
            0x7f80_0000,
            0x7fc0_0000,
            1,
            0x4f00_0000,
            0x4020_0000,
        ],
        FoldType::Float(_) => &[
            0,
            1 << 63,
            0x3ff0_0000_0000_0000,
            0xbfe0_0000_0000_0000,
            0x7ff0_0000_0000_0000,
            0x7ff8_0000_0000_0000,
            1,
            0x43e0_0000_0000_0000,
        ],
    };
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    let turn = if which == 0 { n } else { n / edges.len() };
    let mut bits = if n < 81 {
        edges[turn % edges.len()]
    } else {
        *state
    };
    if let FoldType::Int { width } = ty {
        // The smallest number of each width.
        if bits == 1 << 63 {
            bits = 1 << (width - 1);
        }
    }
    bits & (u64::MAX >> (64 - ty.width().max(1)))
}

/// A kernel that applies an instruction to the words of buffers.
fn text(op: &str, result: &str, operands: &[&str]) -> String {
    let count = operands.len();
    let mut body = String::new();
    let mut arguments = String::new();
    for (n, ty) in operands.iter().enumerate() {
        body += &format!("%q{n} = OpInBoundsPtrAccessChain %pi64 %p{n} %i\n");
        body += &format!("%w{n} = OpLoad %i64 %q{n} Aligned 8\n");
        body += &match *ty {
            "bool" => format!("%v{n} = OpINotEqual %bool %w{n} %zero\n"),
            "i64" => format!("%v{n} = OpCopyObject %i64 %w{n}\n"),
            "f64" => format!("%v{n} = OpBitcast %f64 %w{n}\n"),
            "f16" => format!("%t{n} = OpUConvert %i16 %w{n}\n%v{n} = OpBitcast %f16 %t{n}\n"),
            "f32" => format!("%t{n} = OpUConvert %i32 %w{n}\n%v{n} = OpBitcast %f32 %t{n}\n"),
            int => format!("%v{n} = OpUConvert %{int} %w{n}\n"),
        };
        arguments += &format!(" %v{n}");
    }
    body += &format!("%r = {op} %{result}{arguments}\n");
    body += match result {
        "bool" => "%out = OpSelect %i64 %r %one %zero\n",
        "i64" => "%out = OpCopyObject %i64 %r\n",
        "f64" => "%out = OpBitcast %i64 %r\n",
        "f16" => "%rb = OpBitcast %i16 %r\n%out = OpUConvert %i64 %rb\n",
        "f32" => "%rb = OpBitcast %i32 %r\n%out = OpUConvert %i64 %rb\n",
        _ => "%out = OpUConvert %i64 %r\n",
    };
    let params: String = (0..=count)
        .map(|n| format!("%p{n} = OpFunctionParameter %pi64\n"))
        .collect();
    let types = " %pi64".repeat(count + 1);
    format!(
        r#"OpCapability Kernel
OpCapability Addresses
OpCapability Int8
OpCapability Int16
OpCapability Int64
OpCapability Float16
OpCapability Float64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "main" %gid
OpDecorate %gid BuiltIn GlobalInvocationId
%void = OpTypeVoid
%bool = OpTypeBool
%i8 = OpTypeInt 8 0
%i16 = OpTypeInt 16 0
%i32 = OpTypeInt 32 0
%i64 = OpTypeInt 64 0
%f16 = OpTypeFloat 16
%f32 = OpTypeFloat 32
%f64 = OpTypeFloat 64
%vec = OpTypeVector %i64 3
%zero = OpConstant %i64 0
%one = OpConstant %i64 1
%pi64 = OpTypePointer CrossWorkgroup %i64
%pv3 = OpTypePointer Input %vec
%gid = OpVariable %pv3 Input
%fn = OpTypeFunction %void{types}
%main = OpFunction %void None %fn
{params}%entry = OpLabel
%g = OpLoad %vec %gid Aligned 32
%i = OpCompositeExtract %i64 %g 0
{body}%to = OpInBoundsPtrAccessChain %pi64 %p{count} %i
OpStore %to %out Aligned 8
OpReturn
OpFunctionEnd
"#
    )
}

fn is_nan(ty: FoldType, bits: u64) -> bool {
    match ty {
        FoldType::Float(FloatEncoding::F16) => bits & 0x7fff > 0x7c00,
        FoldType::Float(FloatEncoding::F32) => f32::from_bits(bits as u32).is_nan(),
        FoldType::Float(_) => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}

/// Compares one instruction at one choice of types; whether it was one that exists.
fn compare(op: Op, result: (&str, FoldType), operands: &[(&str, FoldType)]) -> bool {
    let mut state = 0x9e37_79b9_7f4a_7c15;
    let inputs: Vec<Vec<u64>> = (0..operands.len())
        .map(|which| {
            (0..COUNT)
                .map(|n| operand(operands[which].1, n, which, &mut state))
                .collect()
        })
        .collect();
    let values = |n: usize| -> Vec<FoldConstant> {
        let pairs = operands.iter().zip(&inputs);
        pairs
            .map(|(ty, bits)| FoldConstant {
                ty: ty.1,
                bits: bits[n],
            })
            .collect()
    };
    let Some(wanted) = (0..COUNT)
        .map(|n| eval_core(op.0.into(), result.1, &values(n)))
        .collect::<Option<Vec<u64>>>()
    else {
        return false;
    };
    let names: Vec<&str> = operands.iter().map(|o| o.0).collect();
    let text = text(&op.to_string(), result.0, &names);
    let kernel = compile(&text).unwrap_or_else(|f| panic!("{op} {result:?} {names:?}: {}", f[0]));
    let mut buffers = inputs.clone();
    buffers.push(vec![0; COUNT]);
    run_kernel(&kernel, [COUNT as u64, 1, 1], None, &mut buffers, &[]).expect("the launch fits");
    let got = &buffers[operands.len()];
    for n in 0..COUNT {
        let same = got[n] == wanted[n] || is_nan(result.1, got[n]) && is_nan(result.1, wanted[n]);
        let inputs: Vec<u64> = inputs.iter().map(|i| i[n]).collect();
        assert!(
            same,
            "{op} {names:?} -> {}: of {inputs:x?} got {:#x}, want {:#x}",
            result.0, got[n], wanted[n]
        );
    }
    true
}

/// The operand types to test, from the first one: all the same; amounts and counts of 32 bits; a condition before two
/// values.
fn choices(first: (&'static str, FoldType), arity: usize) -> Vec<Vec<(&'static str, FoldType)>> {
    let number = TYPES[3];
    let mut amounts = vec![number; arity];
    amounts[0] = first;
    let select = vec![TYPES[0], first, first];
    let insert = vec![first, first, number, number];
    let mut all = vec![vec![first; arity], amounts, select, insert];
    all.retain(|operands| operands.len() == arity);
    all
}

/// Instructions in which code and evaluator may differ. The specification flushes numbers that are subnormal as
/// halves to zero, the evaluator keeps them.
const LOOSE: [Op; 1] = [Op::QuantizeToF16];

#[test]
fn instructions_agree_with_the_evaluator() {
    let mut tested = 0;
    for rule in list_rules() {
        let op = Op(rule.opcode as u16);
        let Some(info) = op.info() else { continue };
        if LOOSE.contains(&op) {
            continue;
        }
        let ids = info.operands.iter().skip(2);
        let arity = ids
            .filter(|o| o.kind.info().category == OperandCategory::Id)
            .count();
        let before = tested;
        for result in TYPES {
            for first in TYPES {
                let any = choices(first, arity)
                    .iter()
                    .any(|operands| compare(op, result, operands));
                tested += usize::from(any);
            }
        }
        assert!(tested > before, "{op} was not tested at any type");
    }
    assert!(tested > 350, "{tested} choices of types were tested");
}
