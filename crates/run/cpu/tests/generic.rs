//! Generic pointers: queries of the storage class, in every mode.

mod common;

use common::words_in_every_mode;

/// Invocation `n` has a generic pointer to memory of the workgroup, of its own, or to the buffer, by `n % 3`. It
/// writes four words: whether the pointer is one to each of the three, and its memory's semantics.
const KERNEL: &str = r#"OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpCapability GenericPointer
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "main" %gid
OpDecorate %gid BuiltIn GlobalInvocationId
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%ulong3 = OpTypeVector %ulong 3
%input = OpTypePointer Input %ulong3
%global = OpTypePointer CrossWorkgroup %ulong
%shared = OpTypePointer Workgroup %ulong
%private = OpTypePointer Function %ulong
%generic = OpTypePointer Generic %ulong
%n0 = OpConstant %ulong 0
%n1 = OpConstant %ulong 1
%n2 = OpConstant %ulong 2
%n3 = OpConstant %ulong 3
%n4 = OpConstant %ulong 4
%gid = OpVariable %input Input
%ours = OpVariable %shared Workgroup
%fn = OpTypeFunction %void %global
%main = OpFunction %void None %fn
%out = OpFunctionParameter %global
%entry = OpLabel
%own = OpVariable %private Function
OpStore %own %n1
%g = OpLoad %ulong3 %gid
%n = OpCompositeExtract %ulong %g 0
%which = OpUMod %ulong %n %n3
%is0 = OpIEqual %bool %which %n0
%is1 = OpIEqual %bool %which %n1
%first = OpIMul %ulong %n %n4
%to0 = OpInBoundsPtrAccessChain %global %out %first
%from_shared = OpPtrCastToGeneric %generic %ours
%from_own = OpPtrCastToGeneric %generic %own
%from_out = OpPtrCastToGeneric %generic %to0
%rest = OpSelect %generic %is1 %from_own %from_out
%pointer = OpSelect %generic %is0 %from_shared %rest
%as_shared = OpGenericCastToPtrExplicit %shared %pointer Workgroup
%as_private = OpGenericCastToPtrExplicit %private %pointer Function
%as_global = OpGenericCastToPtrExplicit %global %pointer CrossWorkgroup
%semantics = OpGenericPtrMemSemantics %uint %pointer
%s = OpUConvert %ulong %semantics
%a0 = OpConvertPtrToU %ulong %as_shared
%a1 = OpConvertPtrToU %ulong %as_private
%a2 = OpConvertPtrToU %ulong %as_global
%b0 = OpINotEqual %bool %a0 %n0
%b1 = OpINotEqual %bool %a1 %n0
%b2 = OpINotEqual %bool %a2 %n0
%c0 = OpSelect %ulong %b0 %n1 %n0
%c1 = OpSelect %ulong %b1 %n1 %n0
%c2 = OpSelect %ulong %b2 %n1 %n0
%to1 = OpInBoundsPtrAccessChain %global %to0 %n1
%to2 = OpInBoundsPtrAccessChain %global %to0 %n2
%to3 = OpInBoundsPtrAccessChain %global %to0 %n3
OpStore %to0 %c0
OpStore %to1 %c1
OpStore %to2 %c2
OpStore %to3 %s
OpReturn
OpFunctionEnd
"#;

#[test]
fn casts_to_a_class_are_null_where_the_pointer_leads_elsewhere() {
    let words = words_in_every_mode(KERNEL, 64);
    for (n, found) in words.chunks(4).enumerate() {
        let expected = [[1, 0, 0, 0x100], [0, 1, 0, 0], [0, 0, 1, 0x200]][n % 3];
        assert_eq!(found, expected, "invocation {n}");
    }
}
