//! Entry points whose names are of any length, and of bytes that are no text: their interfaces are
//! found all the same.

use spirula_opt::{PipelineOptions, optimise_module};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::text;

/// A private variable that one entry point uses alone, and an array of buffers indexed by constants.
const SOURCE: &str = r#"; SPIR-V
; Version: 1.5
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main "NAME" %many %own
               OpExecutionMode %main LocalSize 1 1 1
               OpDecorate %block Block
               OpMemberDecorate %block 0 Offset 0
               OpDecorate %many DescriptorSet 0
               OpDecorate %many Binding 4
       %void = OpTypeVoid
       %uint = OpTypeInt 32 0
     %uint_0 = OpConstant %uint 0
     %uint_2 = OpConstant %uint 2
      %block = OpTypeStruct %uint
      %three = OpTypeArray %block %uint_2
     %pthree = OpTypePointer StorageBuffer %three
      %puint = OpTypePointer StorageBuffer %uint
    %private = OpTypePointer Private %uint
       %many = OpVariable %pthree StorageBuffer
        %own = OpVariable %private Private
         %ft = OpTypeFunction %void
       %main = OpFunction %void None %ft
      %entry = OpLabel
               OpStore %own %uint_2
          %x = OpLoad %uint %own
          %p = OpAccessChain %puint %many %uint_0 %uint_0
               OpStore %p %x
               OpReturn
               OpFunctionEnd
"#;

fn interface(module: &SpirvModule, name_words: usize) -> Vec<u32> {
    let mut entries = module.section_insts(ModuleSection::EntryPoints);
    let words = entries.next().expect("it has an entry point").words();
    words[2 + name_words..].to_vec()
}

#[test]
fn interfaces_are_found_behind_any_name() {
    let options = text::ParseOptions::default();
    // Bytes that are no UTF-8 stand for one character of three bytes each where names are printed.
    for (name, broken) in [
        ("m", false),
        ("main", false),
        ("größe", false),
        ("mainmain", true),
    ] {
        let mut words =
            text::parse_assembly(&SOURCE.replace("NAME", name), &options).expect("it parses");
        let name_words = name.len() / 4 + 1;
        if broken {
            let begin = (5..words.len())
                .find(|at| words[*at] & 0xffff == u32::from(Op::EntryPoint.0))
                .expect("it has an entry point");
            words[begin + 3..][..name_words - 1].fill(u32::MAX);
        }
        let mut module = SpirvModule::from_words(words).expect("it is a module");
        assert_eq!(interface(&module, name_words).len(), 2, "{name}");
        let run = |module: &mut SpirvModule, passes: &str| {
            let pipeline = passes.parse().expect("passes exist");
            let report = optimise_module(module, &pipeline, &mut PipelineOptions::default());
            assert!(
                report.expect("it is well-formed").has_changed(),
                "{name}: {passes}"
            );
        };
        let before = interface(&module, name_words);
        run(&mut module, "private-to-local");
        assert_eq!(interface(&module, name_words), before[..1], "{name}");
        run(&mut module, "split-descriptors");
        let split = interface(&module, name_words);
        assert!(split.len() == 1 && split != before[..1], "{name}");
        run(&mut module, "adce-bindings");
        assert_eq!(interface(&module, name_words), split, "{name}");
    }
}
