//! The shaders of the probes.

use super::{CapabilityProbe, ProbeShaderParts, WIDTH};
use spirula_spirv::grammar::enumerants::Capability;

pub const DECORATIONS: &str = "\
OpDecorate %lane_id BuiltIn LocalInvocationIndex
OpDecorate %group_id BuiltIn WorkgroupId
OpDecorate %out_words ArrayStride 4
OpDecorate %out_block Block
OpMemberDecorate %out_block 0 Offset 0
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 0
";

pub const DECLARATIONS: &str = "\
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%v3 = OpTypeVector %u32 3
%f32 = OpTypeFloat 32
%in_u32 = OpTypePointer Input %u32
%in_v3 = OpTypePointer Input %v3
%c0 = OpConstant %u32 0
%c1 = OpConstant %u32 1
%c2 = OpConstant %u32 2
%c3 = OpConstant %u32 3
%c64 = OpConstant %u32 64
%semantics = OpConstant %u32 72
%out_words = OpTypeRuntimeArray %u32
%out_block = OpTypeStruct %out_words
%out_ptr = OpTypePointer StorageBuffer %out_block
%out_word = OpTypePointer StorageBuffer %u32
%lane_id = OpVariable %in_u32 Input
%group_id = OpVariable %in_v3 Input
%out = OpVariable %out_ptr StorageBuffer
";

pub const BEGIN: &str = "\
%main = OpFunction %void None %fn
%entry = OpLabel
%lane = OpLoad %u32 %lane_id
%groups = OpLoad %v3 %group_id
%group = OpCompositeExtract %u32 %groups 0
%first = OpIMul %u32 %group %c64
%at = OpIAdd %u32 %first %lane
";

pub const END: &str = "\
%to = OpAccessChain %out_word %out %c0 %at
OpStore %to %result
OpReturn
OpFunctionEnd
";

/// A second buffer of elements named `%element`, of 1, 2, 4 or 8 bytes.
macro_rules! scratch {
    ($bytes:literal) => {
        concat!(
            "OpDecorate %elements ArrayStride ",
            $bytes,
            "\nOpDecorate %scratch_block Block\nOpMemberDecorate %scratch_block 0 Offset 0\n\
             OpDecorate %scratch DescriptorSet 0\nOpDecorate %scratch Binding 1\n"
        )
    };
}

macro_rules! elements {
    ($element:literal) => {
        concat!(
            $element,
            "\n%elements = OpTypeRuntimeArray %element\n%scratch_block = OpTypeStruct %elements\n\
             %scratch_ptr = OpTypePointer StorageBuffer %scratch_block\n\
             %element_ptr = OpTypePointer StorageBuffer %element\n\
             %scratch = OpVariable %scratch_ptr StorageBuffer\n"
        )
    };
}

/// As [`scratch!`], with elements of the type that all probes declare.
const SCRATCH_OF_WORDS: &str = "\
%elements = OpTypeRuntimeArray %u32
%scratch_block = OpTypeStruct %elements
%scratch_ptr = OpTypePointer StorageBuffer %scratch_block
%scratch = OpVariable %scratch_ptr StorageBuffer
";

/// Each invocation writes an element and reads its neighbour's.
const NEIGHBOURS: &str = "\
%tripled = OpIMul %u32 %lane %factor
%value = OpUConvert %element %tripled
%own = OpAccessChain %element_ptr %scratch %c0 %lane
OpStore %own %value
OpControlBarrier %c2 %c2 %semantics
%next = OpBitwiseXor %u32 %lane %c1
%other = OpAccessChain %element_ptr %scratch %c0 %next
%there = OpLoad %element %other
%result = OpUConvert %u32 %there
";

const NONE: ProbeShaderParts = ProbeShaderParts {
    needs: "",
    model: "",
    interface: "",
    modes: "",
    decorations: "",
    declarations: "",
    body: "",
};

fn check_each(words: &[u32], wanted: impl Fn(u32) -> u32) -> Option<String> {
    let mut all = words.iter().zip(0..);
    let (got, at) = all.find(|(got, at)| **got != wanted(*at))?;
    Some(format!("invocation {at} has {got}, not {}", wanted(at)))
}

/// Whether the words are the numbers from 0 on, in any order.
fn check_permutation(words: &[u32]) -> Option<String> {
    let mut sorted = words.to_vec();
    sorted.sort_unstable();
    check_each(&sorted, |n| n).map(|_| "two invocations got the same value".to_owned())
}

fn all_one(words: &[u32]) -> Option<String> {
    check_each(words, |_| 1)
}

const SUBGROUP: ProbeShaderParts = ProbeShaderParts {
    interface: "%size_id %own_id",
    decorations: "OpDecorate %size_id BuiltIn SubgroupSize\n\
                  OpDecorate %own_id BuiltIn SubgroupLocalInvocationId\n",
    declarations: "%size_id = OpVariable %in_u32 Input\n%own_id = OpVariable %in_u32 Input\n\
                   %true = OpConstantTrue %bool\n%v4 = OpTypeVector %u32 4\n",
    ..NONE
};

const FLOAT: ProbeShaderParts = ProbeShaderParts {
    decorations: scratch!("4"),
    declarations: elements!(
        "%element = OpTypeInt 32 1\n%minus = OpConstant %f32 -1\n%tiny = OpConstant %u32 16"
    ),
    ..NONE
};

pub const PROBES: &[CapabilityProbe] = &[
    CapabilityProbe {
        subject: "8-bit access",
        capability: Some(Capability::StorageBuffer8BitAccess),
        groups: 1,
        parts: ProbeShaderParts {
            needs: "OpCapability Int8\nOpCapability StorageBuffer8BitAccess\n\
                    OpExtension \"SPV_KHR_8bit_storage\"",
            decorations: scratch!("1"),
            declarations: elements!("%element = OpTypeInt 8 0\n%factor = OpConstant %u32 3"),
            body: NEIGHBOURS,
            ..NONE
        },
        check: |words| check_each(words, |at| ((at ^ 1) * 3) & 0xff),
    },
    CapabilityProbe {
        subject: "16-bit access",
        capability: Some(Capability::StorageBuffer16BitAccess),
        groups: 1,
        parts: ProbeShaderParts {
            needs: "OpCapability Int16\nOpCapability StorageBuffer16BitAccess",
            decorations: scratch!("2"),
            declarations: elements!("%element = OpTypeInt 16 0\n%factor = OpConstant %u32 1027"),
            body: NEIGHBOURS,
            ..NONE
        },
        check: |words| check_each(words, |at| ((at ^ 1) * 1027) & 0xffff),
    },
    CapabilityProbe {
        subject: "64-bit remainders",
        capability: None,
        groups: 1,
        parts: ProbeShaderParts {
            needs: "OpCapability Int64",
            declarations: "%u64 = OpTypeInt 64 0\n%large = OpConstant %u64 1311768467463790320\n\
                           %prime = OpConstant %u64 1000003\n",
            body: "%wide = OpUConvert %u64 %at\n%product = OpIMul %u64 %wide %large\n\
                   %rest = OpUMod %u64 %product %prime\n%result = OpUConvert %u32 %rest\n",
            ..NONE
        },
        check: |words| {
            let wanted = |at: u32| u64::from(at).wrapping_mul(1_311_768_467_463_790_320);
            check_each(words, |at| (wanted(at) % 1_000_003) as u32)
        },
    },
    CapabilityProbe {
        subject: "floats of 64 bits",
        capability: Some(Capability::Float64),
        groups: 1,
        parts: ProbeShaderParts {
            needs: "OpCapability Float64",
            decorations: "OpDecorate %product NoContraction\nOpDecorate %sum NoContraction\n",
            declarations: "%f64 = OpTypeFloat 64\n%tenth = OpConstant %f64 0.1\n\
                           %one = OpConstant %f64 1\n%v2 = OpTypeVector %u32 2\n",
            body: "%wide = OpConvertUToF %f64 %at\n%product = OpFMul %f64 %wide %tenth\n\
                   %sum = OpFAdd %f64 %product %one\n%bits = OpBitcast %v2 %sum\n\
                   %result = OpCompositeExtract %u32 %bits 0\n",
            ..NONE
        },
        check: |words| check_each(words, |at| (f64::from(at) * 0.1 + 1.0).to_bits() as u32),
    },
    CapabilityProbe {
        subject: "atomics of 32 bits",
        capability: None,
        groups: 16,
        parts: ProbeShaderParts {
            decorations: scratch!("4"),
            declarations: SCRATCH_OF_WORDS,
            body: "%counter = OpAccessChain %out_word %scratch %c0 %c0\n\
                   %result = OpAtomicIAdd %u32 %counter %c1 %c0 %c1\n",
            ..NONE
        },
        check: check_permutation,
    },
    CapabilityProbe {
        subject: "atomics of 64 bits",
        capability: Some(Capability::Int64Atomics),
        groups: 16,
        parts: ProbeShaderParts {
            needs: "OpCapability Int64\nOpCapability Int64Atomics",
            decorations: scratch!("8"),
            declarations: elements!(
                "%element = OpTypeInt 64 0\n%step = OpConstant %element 4294967297\n\
                 %half = OpConstant %element 32"
            ),
            body: "%counter = OpAccessChain %element_ptr %scratch %c0 %c0\n\
                   %old = OpAtomicIAdd %element %counter %c1 %c0 %step\n\
                   %high = OpShiftRightLogical %element %old %half\n\
                   %result = OpUConvert %u32 %high\n",
            ..NONE
        },
        check: check_permutation,
    },
    CapabilityProbe {
        subject: "atomic addition of floats",
        capability: Some(Capability::AtomicFloat32AddEXT),
        groups: 16,
        parts: ProbeShaderParts {
            needs: "OpCapability AtomicFloat32AddEXT\nOpExtension \"SPV_EXT_shader_atomic_float_add\"",
            decorations: scratch!("4"),
            declarations: "%one = OpConstant %f32 1\n%elements = OpTypeRuntimeArray %f32\n\
                           %scratch_block = OpTypeStruct %elements\n\
                           %scratch_ptr = OpTypePointer StorageBuffer %scratch_block\n\
                           %element_ptr = OpTypePointer StorageBuffer %f32\n\
                           %scratch = OpVariable %scratch_ptr StorageBuffer\n",
            body: "%counter = OpAccessChain %element_ptr %scratch %c0 %c0\n\
                   %old = OpAtomicFAddEXT %f32 %counter %c1 %c0 %one\n\
                   %result = OpConvertFToU %u32 %old\n",
            ..NONE
        },
        check: check_permutation,
    },
    CapabilityProbe {
        subject: "sums over subgroups",
        capability: Some(Capability::GroupNonUniformArithmetic),
        groups: 2,
        parts: ProbeShaderParts {
            needs: "OpCapability GroupNonUniform\nOpCapability GroupNonUniformArithmetic",
            body: "%size = OpLoad %u32 %size_id\n%own = OpLoad %u32 %own_id\n\
                   %number = OpIAdd %u32 %own %c1\n\
                   %sum = OpGroupNonUniformIAdd %u32 %c3 Reduce %number\n\
                   %more = OpIAdd %u32 %size %c1\n%square = OpIMul %u32 %size %more\n\
                   %wanted = OpShiftRightLogical %u32 %square %c1\n\
                   %same = OpIEqual %bool %sum %wanted\n%result = OpSelect %u32 %same %c1 %c0\n",
            ..SUBGROUP
        },
        check: all_one,
    },
    CapabilityProbe {
        subject: "ballots of subgroups",
        capability: Some(Capability::GroupNonUniformBallot),
        groups: 2,
        parts: ProbeShaderParts {
            needs: "OpCapability GroupNonUniform\nOpCapability GroupNonUniformBallot",
            body: "%size = OpLoad %u32 %size_id\n\
                   %votes = OpGroupNonUniformBallot %v4 %c3 %true\n\
                   %count = OpGroupNonUniformBallotBitCount %u32 %c3 Reduce %votes\n\
                   %same = OpIEqual %bool %count %size\n%result = OpSelect %u32 %same %c1 %c0\n",
            ..SUBGROUP
        },
        check: all_one,
    },
    CapabilityProbe {
        subject: "shuffles of subgroups",
        capability: Some(Capability::GroupNonUniformShuffle),
        groups: 2,
        parts: ProbeShaderParts {
            needs: "OpCapability GroupNonUniform\nOpCapability GroupNonUniformShuffle",
            body: "%size = OpLoad %u32 %size_id\n%own = OpLoad %u32 %own_id\n\
                   %last = OpISub %u32 %size %c1\n%from = OpISub %u32 %last %own\n\
                   %got = OpGroupNonUniformShuffle %u32 %c3 %own %from\n\
                   %same = OpIEqual %bool %got %from\n%result = OpSelect %u32 %same %c1 %c0\n",
            ..SUBGROUP
        },
        check: all_one,
    },
    CapabilityProbe {
        subject: "loads in loops that invocations leave one by one",
        capability: None,
        groups: 1,
        parts: ProbeShaderParts {
            decorations: scratch!("4"),
            declarations: SCRATCH_OF_WORDS,
            body: "%one_more = OpIAdd %u32 %lane %c1\n\
                   %own = OpAccessChain %out_word %scratch %c0 %lane\nOpStore %own %one_more\n\
                   OpControlBarrier %c2 %c2 %semantics\nOpBranch %loop\n\
                   %loop = OpLabel\n%round = OpPhi %u32 %c0 %entry %next %more\n\
                   OpLoopMerge %done %more None\nOpBranch %inside\n%inside = OpLabel\n\
                   %there = OpAccessChain %out_word %scratch %c0 %round\n\
                   %result = OpLoad %u32 %there\n%next = OpIAdd %u32 %round %c1\n\
                   %goes_on = OpULessThan %bool %round %lane\n\
                   OpBranchConditional %goes_on %more %done\n\
                   %more = OpLabel\nOpBranch %loop\n%done = OpLabel\n",
            ..NONE
        },
        check: |words| check_each(words, |at| at + 1),
    },
    CapabilityProbe {
        subject: "signed zeros of floats",
        capability: Some(Capability::SignedZeroInfNanPreserve),
        groups: 1,
        parts: ProbeShaderParts {
            needs: "OpCapability SignedZeroInfNanPreserve\nOpExtension \"SPV_KHR_float_controls\"",
            modes: "OpExecutionMode %main SignedZeroInfNanPreserve 32\n",
            body: "%from = OpAccessChain %element_ptr %scratch %c0 %lane\n\
                   %zero_bits = OpLoad %element %from\n%zero = OpBitcast %f32 %zero_bits\n\
                   %negative = OpFMul %f32 %zero %minus\n%sum = OpFAdd %f32 %negative %negative\n\
                   %result = OpBitcast %u32 %sum\n",
            ..FLOAT
        },
        check: |words| check_each(words, |_| 0x8000_0000),
    },
    CapabilityProbe {
        subject: "subnormal floats",
        capability: Some(Capability::DenormPreserve),
        groups: 1,
        parts: ProbeShaderParts {
            needs: "OpCapability DenormPreserve\nOpExtension \"SPV_KHR_float_controls\"",
            modes: "OpExecutionMode %main DenormPreserve 32\n",
            body: "%small_bits = OpIAdd %u32 %lane %tiny\n%small = OpBitcast %f32 %small_bits\n\
                   %sum = OpFAdd %f32 %small %small\n%result = OpBitcast %u32 %sum\n",
            ..FLOAT
        },
        check: |words| check_each(words, |at| 2 * (at + 16)),
    },
    CapabilityProbe {
        subject: "messages between workgroups (memory model)",
        capability: Some(Capability::VulkanMemoryModelDeviceScope),
        groups: 256,
        parts: ProbeShaderParts {
            needs: "OpCapability VulkanMemoryModel\nOpCapability VulkanMemoryModelDeviceScope\n\
                    OpExtension \"SPV_KHR_vulkan_memory_model\"",
            model: "Vulkan",
            decorations: scratch!("4"),
            // Data and flag lie in two halves of the buffer.
            declarations: "%elements = OpTypeRuntimeArray %u32\n%scratch_block = OpTypeStruct %elements\n\
                           %scratch_ptr = OpTypePointer StorageBuffer %scratch_block\n\
                           %scratch = OpVariable %scratch_ptr StorageBuffer\n\
                           %half = OpConstant %u32 16384\n%mask = OpConstant %u32 16383\n\
                           %release = OpConstant %u32 8260\n%acquire = OpConstant %u32 16450\n",
            body: "%data = OpAccessChain %out_word %scratch %c0 %at\n\
                   %flag_at = OpIAdd %u32 %at %half\n\
                   %flag = OpAccessChain %out_word %scratch %c0 %flag_at\n\
                   OpStore %data %c1 MakePointerAvailable|NonPrivatePointer %c1\n\
                   OpAtomicStore %flag %c1 %release %c1\n\
                   %after = OpIAdd %u32 %at %c64\n%other = OpBitwiseAnd %u32 %after %mask\n\
                   %other_flag_at = OpIAdd %u32 %other %half\n\
                   %other_flag = OpAccessChain %out_word %scratch %c0 %other_flag_at\n\
                   %other_data = OpAccessChain %out_word %scratch %c0 %other\n\
                   %is_set = OpAtomicLoad %u32 %other_flag %c1 %acquire\n\
                   %got = OpLoad %u32 %other_data MakePointerVisible|NonPrivatePointer %c1\n\
                   %moved = OpShiftLeftLogical %u32 %got %c1\n\
                   %result = OpBitwiseOr %u32 %is_set %moved\n",
            ..NONE
        },
        check: |words| {
            let at = words.iter().position(|w| *w == 1)?;
            let group = at as u32 / WIDTH;
            Some(format!(
                "workgroup {group} sees a flag without what was written before it"
            ))
        },
    },
];
