//! Modules that the rewriters' tests begin with.

use crate::{ComputeDevice, DeviceOptions, IndexSpace, KernelLaunch, LaunchBinding, LaunchInputs};
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

/// What a workgroup of a shader makes of words, with one pushed.
pub fn run_shader(module: &SpirvModule, pushed: u32, words: &[u32]) -> Vec<u32> {
    let options = DeviceOptions::default();
    let mut device = ComputeDevice::open("cpu", &options).expect("it is always there");
    let kernel = device.create_kernel(module, "main", &[]);
    let kernel = kernel.expect("it is a shader");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let buffer = device.upload_data(&bytes).expect("there is memory");
    let bound = LaunchBinding::with_whole_buffer(0, buffer);
    let inputs = LaunchInputs::Resources {
        bindings: vec![bound],
        push: pushed.to_le_bytes().to_vec(),
    };
    let size = IndexSpace::Groups([1; 3]);
    #[rustfmt::skip]
    device.launch_kernel(&KernelLaunch { kernel, size, inputs }).expect("it runs");
    device.download_as::<u32>(buffer).expect("it is there")
}
