//! Single edits of the control-flow graph leave valid modules with the blocks that are expected.

use spirula_spirv::ir::{Block, ErasedIds, IdWords, SpirvModule};
use spirula_spirv::text::{ParseOptions, PrintOptions, parse_assembly, print_assembly};
use spirula_spirv::verify;

/// A shader's module around the blocks of its only function.
fn module(body: &str) -> SpirvModule {
    let source = format!(
        "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1
%void = OpTypeVoid
%type = OpTypeFunction %void
%uint = OpTypeInt 32 0
%one = OpConstant %uint 1
%main = OpFunction %void None %type
{body}
OpFunctionEnd
"
    );
    let words = parse_assembly(&source, &ParseOptions::default()).expect("the text is right");
    verify::verify_words(words, &verify::VerifyOptions::default()).expect("the module is valid")
}

/// The lines from the first label on, where the module is valid.
fn body(module: &SpirvModule) -> String {
    if let Err(faults) = verify::verify_module(module, &verify::VerifyOptions::default()) {
        panic!("{}", faults[0]);
    }
    let text =
        print_assembly(&module.to_words(), &PrintOptions::default()).expect("it can be printed");
    let lines = text.lines().map(str::trim);
    let lines = lines.skip_while(|l| !l.ends_with("OpLabel"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A loop of one block.
const LOOP: &str = "%entry = OpLabel
OpBranch %loop
%loop = OpLabel
%sum = OpIAdd %uint %one %one
OpLoopMerge %end %loop None
OpBranch %loop
%end = OpLabel
OpUnreachable";

/// The rest of that loop after an edit.
fn edited(edit: impl FnOnce(&mut SpirvModule, &IdWords, Block)) -> String {
    let mut module = module(LOOP);
    let header = module.function(module.functions()[0]).blocks[1];
    let ids = IdWords::new(&module);
    edit(&mut module, &ids, header);
    body(&module)
}

#[test]
fn the_second_half_of_a_loop_of_one_block_is_its_continue_target() {
    let found = edited(|module, ids, header| {
        let at = module.first_after_phis(header);
        module
            .split_block(ids, header, at)
            .expect("it can be split");
    });
    let expected = "%6 = OpLabel
OpBranch %7
%7 = OpLabel
OpLoopMerge %9 %10 None
OpBranch %10
%10 = OpLabel
%8 = OpIAdd %4 %5 %5
OpBranch %7
%9 = OpLabel
OpUnreachable
OpFunctionEnd";
    assert_eq!(found, expected);
}

#[test]
fn a_block_on_the_edge_of_a_loop_of_one_block_is_its_continue_target() {
    let found = edited(|module, ids, header| {
        let made = module.insert_on_edge(ids, header, header);
        made.expect("there is such an edge");
    });
    let expected = "%6 = OpLabel
OpBranch %7
%7 = OpLabel
%8 = OpIAdd %4 %5 %5
OpLoopMerge %9 %10 None
OpBranch %10
%10 = OpLabel
OpBranch %7
%9 = OpLabel
OpUnreachable
OpFunctionEnd";
    assert_eq!(found, expected);
}

#[test]
fn blocks_that_cannot_be_reached_are_not_joined_across_what_they_use() {
    let mut module = module(
        "%entry = OpLabel
OpReturn
%first = OpLabel
OpBranch %last
%other = OpLabel
%sum = OpIAdd %uint %one %one
OpBranch %first
%last = OpLabel
%twice = OpIAdd %uint %sum %sum
OpReturn",
    );
    let func = module.functions()[0];
    let ids = IdWords::new(&module);
    let mut erased = ErasedIds::new();
    module.join_blocks(&ids, func, |_, _| {}, &mut erased);
    assert_eq!(module.function(func).blocks.len(), 4);
    body(&module);
}
