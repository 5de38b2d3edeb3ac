//! Modules that the rewriters' tests begin with.

use spirula_spirv::ir::Module;
use spirula_spirv::text::{ParseOptions, parse};

/// A function that computes something of two numbers of 64 bits, `%a` and `%b`, and one of 32, `%n`.
pub fn module(body: &str) -> Module {
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
    parsed(&source)
}

/// A module by its text.
pub fn parsed(source: &str) -> Module {
    let words = parse(source, &ParseOptions::default()).expect("the text is right");
    Module::from_words(words).expect("it is a module")
}
