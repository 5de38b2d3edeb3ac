//! Walks, pointer bases, needs of capabilities and operands by name, on a text and on the corpus.

use spirula_spirv::analysis::{
    BlockDominators, BlockTraversal, EntryReach, FlowGraph, IdDefinitions, ModuleRequirements,
    PointerBases,
};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::text::{ParseOptions, parse_assembly};
use spirula_testing::{find_corpus, list_files};

const LOOP: &str = "
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main \"main\"
    OpExecutionMode %main LocalSize 1 1 1
    %void = OpTypeVoid
    %fn = OpTypeFunction %void
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %half = OpTypeFloat 16
    %true = OpConstantTrue %bool
    %two = OpConstant %uint 2
    %array = OpTypeArray %uint %two
    %pa = OpTypePointer Function %array
    %pu = OpTypePointer Function %uint
    %global = OpTypePointer Private %uint
    %used = OpVariable %global Private
    %unused = OpVariable %global Private
    %main = OpFunction %void None %fn
    %entry = OpLabel
    %x = OpVariable %pa Function
    OpBranch %head
    %head = OpLabel
    OpLoopMerge %end %next None
    OpBranchConditional %true %body %end
    %body = OpLabel
    %part = OpAccessChain %pu %x %two
    %copy = OpCopyObject %pu %part
    %value = OpLoad %uint %used
    OpBranch %next
    %next = OpLabel
    OpBranch %head
    %end = OpLabel
    OpReturn
    OpFunctionEnd";

fn module() -> SpirvModule {
    let words = parse_assembly(LOOP, &ParseOptions::default()).expect("the text assembles");
    SpirvModule::from_words(words).expect("the module is well-formed")
}

fn find(module: &SpirvModule, op: Op) -> spirula_spirv::Id {
    let inst = module.all_insts().find(|i| i.op() == op);
    inst.and_then(|i| i.result()).expect("it is there")
}

#[test]
fn walks_of_a_loop() {
    let module = module();
    let definitions = IdDefinitions::from_module(&module);
    let cfg = FlowGraph::from_function(&module, &definitions, module.functions()[0])
        .expect("labels exist");
    let (entry, head, body, next, end) = (0, 1, 2, 3, 4);
    let depth = BlockTraversal::depth_first(&cfg);
    assert_eq!(depth.preorder(), [entry, head, body, next, end]);
    assert_eq!(depth.postorder(), [next, body, end, head, entry]);
    assert_eq!(depth.children(head), [body, end]);
    assert_eq!(
        (depth.sibling_index(body), depth.sibling_index(end)),
        (Some(0), Some(1))
    );
    assert_eq!(
        (depth.parent(entry), depth.sibling_index(entry)),
        (None, None)
    );
    assert!(depth.is_above(head, next) && !depth.is_above(body, end));
    let breadth = BlockTraversal::breadth_first(&cfg);
    assert_eq!(breadth.preorder(), [entry, head, body, end, next]);
    assert_eq!(cfg.reached_without(body, Some(head)), [body, next]);
    assert_eq!(cfg.reached_without(body, None), [body, next, head, end]);
    let dominators = BlockDominators::from_cfg(&cfg);
    let places = dominators
        .children(head)
        .iter()
        .map(|b| dominators.sibling_index(*b));
    assert_eq!(places.collect::<Vec<_>>(), [Some(0), Some(1)]);
}

#[test]
fn bases_needs_and_reach() {
    let module = module();
    let definitions = IdDefinitions::from_module(&module);
    let bases = PointerBases::from_module(&module, &definitions);
    let copy = find(&module, Op::CopyObject);
    let variables = module.all_insts().filter(|i| i.op() == Op::Variable);
    let variables: Vec<_> = variables.filter_map(|i| i.result()).collect();
    assert_eq!(bases.base_of(copy), Some(variables[2]));
    assert_eq!(bases.base_of(find(&module, Op::Load)), None);
    let needs = ModuleRequirements::from_module(&module);
    assert_eq!(
        needs.minimal_capabilities(),
        [Capability::Shader, Capability::Float16]
    );
    let unmet = needs.find_unmet(&[Capability::Shader]);
    assert_eq!(unmet.len(), 1);
    assert_eq!(unmet[0][0], Capability::Float16);
    let reach = EntryReach::from_module(&module);
    assert_eq!(reach.used_variables(0), [variables[0]]);
    let chain = module
        .all_insts()
        .find(|i| i.op() == Op::AccessChain)
        .expect("it is there");
    assert_eq!(
        chain.named_operand("Base").expect("it has one").words,
        [variables[2].word()]
    );
}

#[test]
fn what_the_corpus_declares_meets_its_needs() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    for file in list_files(&folder, ".spv").iter().step_by(7) {
        let bytes = std::fs::read(file).expect("the corpus can be read");
        let module = SpirvModule::from_bytes(&bytes).expect("the corpus is well-formed");
        let needs = ModuleRequirements::from_module(&module);
        assert_eq!(
            needs.find_unmet(&needs.minimal_capabilities()),
            [] as [Vec<_>; 0]
        );
        let declared = module.section_insts(ModuleSection::Capabilities);
        let declared = declared
            .map(|i| Capability(i.operand_word(0)))
            .collect::<Vec<_>>();
        // Types of numbers that are only stored, and built-ins that are only named, need less.
        let narrow = [
            Capability::Int8,
            Capability::Int16,
            Capability::Float16,
            Capability::ClipDistance,
            Capability::CullDistance,
        ];
        for any in needs.find_unmet(&declared) {
            let known = any.iter().any(|c| narrow.contains(c));
            assert!(known, "{}: {any:?}", file.display());
        }
        let definitions = IdDefinitions::from_module(&module);
        PointerBases::from_module(&module, &definitions);
        for func in module.functions() {
            let cfg = FlowGraph::from_function(&module, &definitions, *func).expect("labels exist");
            let depth = BlockTraversal::depth_first(&cfg);
            let mut reversed = depth.postorder().to_vec();
            reversed.reverse();
            assert_eq!(reversed, cfg.reverse_postorder());
            let breadth = BlockTraversal::breadth_first(&cfg);
            assert_eq!(breadth.preorder().len(), depth.preorder().len());
        }
    }
}
