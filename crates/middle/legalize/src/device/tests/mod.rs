//! Modules that the tests of this folder share.

use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};

/// A function that computes something of two numbers of 64 bits, `%a` and `%b`, and one of 32, `%n`.
pub fn build_module(body: &str) -> SpirvModule {
    let source = format!(
        "OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpCapability Int64
OpMemoryModel Physical64 OpenCL
%void = OpTypeVoid
%ulong = OpTypeInt 64 0
%uint = OpTypeInt 32 0
%type = OpTypeFunction %void %ulong %ulong %uint
%one = OpConstant %ulong 1
%two = OpConstant %ulong 2
%three = OpConstant %ulong 3
%one_32 = OpConstant %uint 1
%f = OpFunction %void None %type
%a = OpFunctionParameter %ulong
%b = OpFunctionParameter %ulong
%n = OpFunctionParameter %uint
%entry = OpLabel
{body}
OpReturn
OpFunctionEnd
"
    );
    parse_module(&source)
}

/// A module by its text.
pub fn parse_module(source: &str) -> SpirvModule {
    let words = parse_assembly(source, &ParseOptions::default()).expect("the text is right");
    SpirvModule::from_words(words).expect("it is a module")
}
