//! Refusals: unsupported features are refused by name before the kernel runs. Malformed modules never cause a panic.

mod common;

use common::{module, refusal, shader};
use spirula_cpu::{JitKernel, JitOptions};
use spirula_spirv::grammar::enumerants::ExecutionModel;
use spirula_spirv::ir::SpirvModule;

#[test]
fn unsupported_instructions_are_named() {
    let globals = "%image = OpTypeImage %float 2D 0 0 0 1 Unknown
%sampled = OpTypeSampledImage %image
%psampled = OpTypePointer UniformConstant %sampled
%texture = OpVariable %psampled UniformConstant
%float2 = OpTypeVector %float 2
%float4 = OpTypeVector %float 4
%origin = OpConstantNull %float2
%half = OpConstantNull %float";
    let body = "%t = OpLoad %sampled %texture
%c = OpImageSampleImplicitLod %float4 %t %origin
%d = OpExtInst %float %glsl InterpolateAtCentroid %half";
    assert_eq!(
        refusal(&shader([1, 1, 1], globals, body)),
        [
            "OpImageSampleImplicitLod is not supported by the CPU device",
            "InterpolateAtCentroid of GLSL.std.450 is not supported by the CPU device",
        ]
    );
}

#[test]
fn phis_of_many_scalars_are_refused_where_they_are_assigned() {
    let globals = "%most = OpConstant %uint 4294967295
%list = OpTypeArray %uint %most
%any = OpUndef %list
%yes = OpConstantTrue %bool";
    let body = "OpSelectionMerge %join None
OpBranchConditional %yes %left %join
%left = OpLabel
OpBranch %join
%join = OpLabel
%p = OpPhi %list %any %entry %any %left";
    assert_eq!(
        refusal(&shader([1, 1, 1], globals, body)),
        ["OpBranchConditional: a phi of more than 64 scalars is not supported by the CPU device"]
    );
}

#[test]
fn recursion_is_refused() {
    let globals = "%f = OpFunction %void None %fn
%l = OpLabel
%c = OpFunctionCall %void %f
OpReturn
OpFunctionEnd";
    let body = "%call = OpFunctionCall %void %f";
    assert_eq!(
        refusal(&shader([1, 1, 1], globals, body)),
        ["recursion is not supported by the CPU device"]
    );
}

#[test]
fn changed_modules_never_panic() {
    let globals = "%pfn = OpTypePointer Function %uint
%n9 = OpConstant %uint 9
%list = OpTypeArray %uint %n9
%plist = OpTypePointer Private %list
%pcell = OpTypePointer Private %uint
%cells = OpVariable %plist Private";
    let body = "%cell = OpAccessChain %pcell %cells %local
OpStore %cell %global
OpControlBarrier %n2 %n2 %barrier
%v = OpLoad %uint %cell
%f = OpConvertUToF %float %v
%s = OpExtInst %float %glsl Sin %f
%b = OpBitcast %uint %s
%sum = OpGroupNonUniformIAdd %uint %n3 Reduce %b
%low = OpULessThan %bool %sum %n8
OpSelectionMerge %join None
OpBranchConditional %low %left %join
%left = OpLabel
OpBranch %join
%join = OpLabel
%r = OpPhi %uint %sum %entry %b %left
%to = OpAccessChain %puint %y %n0 %global
OpStore %to %r";
    let words = module(&shader([4, 1, 1], globals, body)).to_words();
    for at in 5..words.len() {
        for change in [1u32, 2, 4, 16, 1 << 16, u32::MAX] {
            let mut changed = words.clone();
            changed[at] ^= change;
            if let Ok(module) = SpirvModule::from_words(changed) {
                let model = ExecutionModel::GLCompute;
                // Accepted or refused, but never a panic.
                let _ = JitKernel::compile_entry_point(
                    &module,
                    "main",
                    model,
                    &[],
                    &JitOptions::default(),
                );
            }
        }
    }
}
