//! Explicit layout of workgroup memory: its variables share addresses.

mod common;

const SHADER: &str = "OpCapability Shader
OpCapability Int8
OpCapability WorkgroupMemoryExplicitLayoutKHR
OpCapability WorkgroupMemoryExplicitLayout8BitAccessKHR
OpExtension \"SPV_KHR_workgroup_memory_explicit_layout\"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %out %words %bytes
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %a32 ArrayStride 4
OpDecorate %a8 ArrayStride 1
OpDecorate %w Block
OpMemberDecorate %w 0 Offset 0
OpDecorate %b Block
OpMemberDecorate %b 0 Offset 0
OpDecorate %words Aliased
OpDecorate %bytes Aliased
OpDecorate %r ArrayStride 4
OpDecorate %o Block
OpMemberDecorate %o 0 Offset 0
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
%uchar = OpTypeInt 8 0
%n0 = OpConstant %uint 0
%n1 = OpConstant %uint 1
%n2 = OpConstant %uint 2
%n8 = OpConstant %uint 8
%number = OpConstant %uint 0x04030201
%nine = OpConstant %uchar 9
%a32 = OpTypeArray %uint %n2
%a8 = OpTypeArray %uchar %n8
%w = OpTypeStruct %a32
%b = OpTypeStruct %a8
%pw = OpTypePointer Workgroup %w
%pb = OpTypePointer Workgroup %b
%pword = OpTypePointer Workgroup %uint
%pbyte = OpTypePointer Workgroup %uchar
%words = OpVariable %pw Workgroup
%bytes = OpVariable %pb Workgroup
%r = OpTypeRuntimeArray %uint
%o = OpTypeStruct %r
%po = OpTypePointer StorageBuffer %o
%puint = OpTypePointer StorageBuffer %uint
%out = OpVariable %po StorageBuffer
%main = OpFunction %void None %fn
%entry = OpLabel
%word = OpAccessChain %pword %words %n0 %n0
OpStore %word %number
%second = OpAccessChain %pbyte %bytes %n0 %n1
%two = OpLoad %uchar %second
OpStore %second %nine
%changed = OpLoad %uint %word
%wide = OpUConvert %uint %two
%to0 = OpAccessChain %puint %out %n0 %n0
OpStore %to0 %wide
%to1 = OpAccessChain %puint %out %n0 %n1
OpStore %to1 %changed
OpReturn
OpFunctionEnd
";

#[test]
fn what_one_view_writes_another_reads() {
    let got = common::in_every_mode(|options| {
        let kernel = common::compile_with(SHADER, &[], options).expect("the module is fine");
        let mut buffers = [vec![0_u32; 2]];
        common::run_shader(&kernel, [1, 1, 1], &mut buffers, &[]).expect("nothing fails");
        buffers
    });
    assert_eq!(got[0], [2, 0x0403_0901]);
}
