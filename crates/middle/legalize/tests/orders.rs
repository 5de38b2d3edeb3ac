//! Every scope and every order of OpenCL's atomics, fences and barriers gives a shader that is valid for Vulkan.

use spirula_legalize::{VulkanCompileOptions, compile_kernels};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::target::SpirvTarget;
use spirula_spirv::text::{ParseOptions, parse_assembly};
use spirula_spirv::verify;
use spirula_testing::SpirvValTool;

/// Instructions with places for a scope and semantics; what they have in Vulkan where the scope is
/// the invocation.
const USES: &[(&str, Option<Op>)] = &[
    ("OpMemoryBarrier SCOPE ORDER", None),
    (
        "OpControlBarrier %workgroup SCOPE ORDER",
        Some(Op::ControlBarrier),
    ),
    (
        "OpControlBarrier %subgroup SCOPE ORDER",
        Some(Op::ControlBarrier),
    ),
    ("OpControlBarrier SCOPE SCOPE ORDER", None),
    (
        "%x = OpAtomicLoad %uint %out SCOPE ORDER",
        Some(Op::AtomicLoad),
    ),
    ("OpAtomicStore %out SCOPE ORDER %one", Some(Op::AtomicStore)),
    (
        "%x = OpAtomicIAdd %uint %out SCOPE ORDER %one",
        Some(Op::AtomicIAdd),
    ),
    (
        "%x = OpAtomicExchange %uint %out SCOPE ORDER %one",
        Some(Op::AtomicExchange),
    ),
    (
        "%x = OpAtomicCompareExchange %uint %out SCOPE ORDER %none %one %two",
        Some(Op::AtomicCompareExchange),
    ),
    (
        "%x = OpAtomicFlagTestAndSet %bool %out SCOPE ORDER",
        Some(Op::AtomicExchange),
    ),
    (
        "%x = OpAtomicIAdd %byte %bytes SCOPE ORDER %small",
        Some(Op::AtomicCompareExchange),
    ),
];

/// Scopes by name.
const SCOPES: &[(&str, u32)] = &[
    ("%system", 0),
    ("%device", 1),
    ("%workgroup", 2),
    ("%subgroup", 3),
    ("%invocation", 4),
];

/// Nothing, acquire, release, both, all in one order; each of no memory that is named, and of some.
const ORDERS: [u32; 5] = [0, 2, 4, 8, 16];
const MEMORIES: [u32; 5] = [0, 0x100, 0x200, 0x800, 0x300];

fn shader(instruction: &str, semantics: u32) -> SpirvModule {
    let scopes: String = SCOPES
        .iter()
        .map(|(name, number)| format!("{name} = OpConstant %uint {number}\n"))
        .collect();
    let text = format!(
        "OpCapability Kernel
OpCapability Addresses
OpCapability Int8
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %f \"f\"
OpExecutionMode %f LocalSize 4 1 1
%void = OpTypeVoid
%bool = OpTypeBool
%byte = OpTypeInt 8 0
%uint = OpTypeInt 32 0
%to_uint = OpTypePointer CrossWorkgroup %uint
%to_byte = OpTypePointer CrossWorkgroup %byte
%type = OpTypeFunction %void %to_uint %to_byte
{scopes}%none = OpConstant %uint 0
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%small = OpConstant %byte 1
%semantics = OpConstant %uint {semantics}
%f = OpFunction %void None %type
%out = OpFunctionParameter %to_uint
%bytes = OpFunctionParameter %to_byte
%entry = OpLabel
{instruction}
OpReturn
OpFunctionEnd
"
    );
    let words = parse_assembly(&text, &ParseOptions::default()).expect("the text is correct");
    let module = SpirvModule::from_words(words).expect("the module is correct");
    compile_kernels(&module, &VulkanCompileOptions::default()).expect("it is supported")
}

/// Whether a barrier of a scope is one that Vulkan has, where the scope is also that of those that wait.
fn exists(form: &str, scope: u32) -> bool {
    !form.starts_with("OpControlBarrier SCOPE") || (2..=4).contains(&scope)
}

#[test]
fn every_scope_and_order_is_valid() {
    let validator = SpirvValTool::find_program();
    let options = verify::VerifyOptions {
        target: "vulkan1.3".parse::<SpirvTarget>().expect("there is one"),
        ..verify::VerifyOptions::default()
    };
    for (form, alone) in USES {
        for (scope, number) in SCOPES.iter().filter(|row| exists(form, row.1)) {
            for (order, memory) in ORDERS.iter().flat_map(|o| MEMORIES.map(|m| (*o, m))) {
                let what = form.replace("SCOPE", scope).replace("ORDER", "%semantics");
                let made = shader(&what, order | memory);
                let case = format!("{form}, scope {number}, semantics {:#x}", order | memory);
                let faults = verify::verify_module(&made, &options);
                assert!(faults.is_ok(), "{case}: {faults:?}");
                if let Some(validator) = &validator {
                    let said = validator.validate_module(&made.to_bytes(), "vulkan1.3");
                    assert!(said.is_ok(), "{case}: {said:?}");
                }
                let is = |op: Op| made.all_insts().any(|i| i.op() == op);
                if *number == 4 {
                    assert!(alone.is_none_or(is), "{case}");
                    assert!(!is(Op::MemoryBarrier), "{case}");
                }
            }
        }
    }
}
