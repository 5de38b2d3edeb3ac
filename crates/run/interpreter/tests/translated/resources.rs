//! Arrays of descriptors, and buffers that shaders reach by their addresses.

use crate::read_module;
use crate::wasmi_engine::WasmiEngine;
use spirula_diagnostics::SourceDiagnostic;
use spirula_interpreter::{
    InterpretedLaunch, KernelExecutor, ResourceSlot, WasmEngine, find_buffer_address,
};

/// A shader that copies the first word of descriptor `push` of an array of three to the single descriptor.
const PICK: &str = "
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main \"main\" %tiles %out %push
    OpExecutionMode %main LocalSize 1 1 1
    OpDecorate %words ArrayStride 4
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %constants Block
    OpMemberDecorate %constants 0 Offset 0
    OpDecorate %tiles DescriptorSet 0
    OpDecorate %tiles Binding 1
    OpDecorate %out DescriptorSet 0
    OpDecorate %out Binding 0
%void = OpTypeVoid
%u32 = OpTypeInt 32 0
%zero = OpConstant %u32 0
%one = OpConstant %u32 1
%three = OpConstant %u32 3
%words = OpTypeRuntimeArray %u32
%block = OpTypeStruct %words
%array = OpTypeArray %block %three
%constants = OpTypeStruct %u32
%arrays = OpTypePointer StorageBuffer %array
%blocks = OpTypePointer StorageBuffer %block
%word = OpTypePointer StorageBuffer %u32
%pushed = OpTypePointer PushConstant %constants
%pushedword = OpTypePointer PushConstant %u32
%tiles = OpVariable %arrays StorageBuffer
%out = OpVariable %blocks StorageBuffer
%push = OpVariable %pushed PushConstant
%function = OpTypeFunction %void
%main = OpFunction %void None %function
%entry = OpLabel
%number = OpAccessChain %pushedword %push %zero
%index = OpLoad %u32 %number
%chosen = OpAccessChain %word %tiles %index %zero %zero
%value = OpLoad %u32 %chosen
%to = OpAccessChain %word %out %zero %zero
OpStore %to %value
%whole = OpAccessChain %blocks %tiles %index
%length = OpArrayLength %u32 %whole 0
%second = OpAccessChain %word %out %zero %one
OpStore %second %length
%known = OpAccessChain %word %tiles %one %zero %one
OpStore %known %value
OpReturn
OpFunctionEnd";

/// A shader that adds 1 to the word at an address.
const REFERENCE: &str = "
    OpCapability Shader
    OpCapability PhysicalStorageBufferAddresses
    OpMemoryModel PhysicalStorageBuffer64 GLSL450
    OpEntryPoint GLCompute %main \"main\" %push
    OpExecutionMode %main LocalSize 1 1 1
    OpDecorate %constants Block
    OpMemberDecorate %constants 0 Offset 0
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 4
%void = OpTypeVoid
%u32 = OpTypeInt 32 0
%zero = OpConstant %u32 0
%one = OpConstant %u32 1
%block = OpTypeStruct %u32
%reference = OpTypePointer PhysicalStorageBuffer %block
%word = OpTypePointer PhysicalStorageBuffer %u32
%constants = OpTypeStruct %reference
%pushed = OpTypePointer PushConstant %constants
%pushedreference = OpTypePointer PushConstant %reference
%push = OpVariable %pushed PushConstant
%function = OpTypeFunction %void
%main = OpFunction %void None %function
%entry = OpLabel
%place = OpAccessChain %pushedreference %push %zero
%address = OpLoad %reference %place
%member = OpAccessChain %word %address %zero
%value = OpLoad %u32 %member Aligned 4
%more = OpIAdd %u32 %value %one
OpStore %member %more Aligned 4
OpReturn
OpFunctionEnd";

/// Runs a shader by the interpreter and by WebAssembly.
fn run_shader(
    text: &str,
    resources: &[ResourceSlot],
    push: &[u8],
    buffers: &[Vec<u8>],
) -> [Result<Vec<Vec<u8>>, SourceDiagnostic>; 2] {
    let module = read_module(text);
    let engine: Box<dyn WasmEngine> = Box::<WasmiEngine>::default();
    [None, Some(engine)].map(|engine| {
        let is_translated = engine.is_some();
        let mut executor = KernelExecutor::with_engine(engine);
        let kernel = executor.prepare_kernel(&module, "main", &[])?;
        let translated = executor.report().borrow().translated;
        assert_eq!(translated, usize::from(is_translated));
        let launch = InterpretedLaunch {
            resources,
            push,
            ..InterpretedLaunch::default()
        };
        let mut memory = buffers.to_vec();
        executor.run_launch(&kernel, &launch, &mut memory)?;
        Ok(memory)
    })
}

fn place_tile(index: u32, buffer: usize) -> ResourceSlot {
    ResourceSlot {
        set: 0,
        binding: 1,
        index,
        buffer,
    }
}

fn list_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn an_index_chooses_a_descriptor() {
    let out = ResourceSlot {
        binding: 0,
        ..place_tile(0, 0)
    };
    let slots = [out, place_tile(0, 1), place_tile(1, 2), place_tile(2, 3)];
    let buffers = [&[0, 0][..], &[5, 6], &[7, 8, 9], &[10]].map(list_bytes);
    for (index, value, length) in [(0u32, 5, 2), (1, 7, 3), (2, 10, 1)] {
        let found = run_shader(PICK, &slots, &index.to_le_bytes(), &buffers);
        let expected = [&[value, length][..], &[5, 6], &[7, value, 9], &[10]].map(list_bytes);
        for memory in found {
            assert_eq!(memory.expect("the shader runs"), expected);
        }
    }
}

#[test]
fn a_descriptor_without_a_buffer_is_refused() {
    let out = ResourceSlot {
        binding: 0,
        ..place_tile(0, 0)
    };
    let buffers = [&[0, 0][..], &[5, 6], &[7, 8, 9]].map(list_bytes);
    let slots = [out, place_tile(0, 1), place_tile(1, 2)];
    for index in [2u32, 1000, u32::MAX] {
        for found in run_shader(PICK, &slots, &index.to_le_bytes(), &buffers) {
            let fault = found.expect_err("the descriptor has no buffer");
            assert!(fault.message.contains("outside of memory"), "{fault}");
        }
    }
}

#[test]
fn an_address_in_a_push_constant_reaches_a_buffer() {
    let buffers = [&[1, 2][..], &[3, 4]].map(list_bytes);
    let push = find_buffer_address(1).to_le_bytes();
    for memory in run_shader(REFERENCE, &[], &push, &buffers) {
        let expected = [&[1, 2][..], &[3, 5]].map(list_bytes);
        assert_eq!(memory.expect("the shader runs"), expected);
    }
    let wrong = (find_buffer_address(1) + 4).to_le_bytes();
    for found in run_shader(REFERENCE, &[], &wrong, &buffers) {
        let fault = found.expect_err("the address is behind the buffer");
        assert!(fault.message.contains("outside of memory"), "{fault}");
    }
}
