//! Targets of SPIR-V: the binary reader with all analyses, the assembler, edits, the verifier, the optimiser, the
//! linker and the converter.

use spirula_opt::PassPipeline;
use spirula_spirv::analysis::{
    BlockDominators, ConstructTree, DefUse, DominanceFrontiers, EntryReach, FlowGraph,
    IdDecorations, IdDefinitions, IdNames, LoopNest, ModuleRequirements, PointerBases,
    PostDominators, RequirementCeiling, SpirvCallGraph, TypeLayouts,
};
use spirula_spirv::binary;
use spirula_spirv::convert::to_version;
use spirula_spirv::draw::GraphvizOptions;
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::link::{EntryNames, LinkOptions, link_modules};
use spirula_spirv::recompute::recompute_capabilities;
use spirula_spirv::reflect::{EntryInterface, entry_points};
use spirula_spirv::text::{ParseOptions, PrintOptions, parse_assembly, print_assembly};
use spirula_spirv::{ssa, verify as verifier};
use spirula_testing::{ChoiceSequence, editing, generate};

/// A module that is read is written with its sections in order, and further round trips do not change it. Analyses
/// and the printer accept any module.
pub fn check_read(bytes: &[u8]) {
    let Ok(words) = binary::words_from_bytes(bytes) else {
        return;
    };
    come_back(&words);
    let Ok(module) = SpirvModule::from_words(words.clone()) else {
        return;
    };
    let written = module.to_words();
    assert_eq!(written.len(), words.len(), "nothing is lost");
    let again = SpirvModule::from_words(written.clone());
    let again = again.unwrap_or_else(|fault| panic!("what is written is malformed: {fault}"));
    assert_eq!(again.to_words(), written, "what is written comes back");
    // An edited module is written instruction by instruction.
    let mut edited = module.clone();
    if let Some(first) = module.all_insts().next() {
        edited.replace_words(first.handle(), first.words());
    }
    assert_eq!(edited.to_words(), written, "edits change nothing else");
    assert!(
        DefUse::from_module(&edited) == DefUse::from_module(&module),
        "uses are those of the module, edited or not"
    );
    analyse_module(&module);
}

/// Computes all analyses of a module.
fn analyse_module(module: &SpirvModule) {
    let definitions = IdDefinitions::from_module(module);
    for func in module.functions() {
        let Ok(cfg) = FlowGraph::from_function(module, &definitions, *func) else {
            continue;
        };
        let dominators = BlockDominators::from_cfg(&cfg);
        PostDominators::from_cfg(&cfg);
        DominanceFrontiers::from_cfg(&cfg, &dominators);
        LoopNest::from_cfg(&cfg, &dominators);
        ConstructTree::from_cfg(module, &cfg, &dominators);
    }
    DefUse::from_module(module);
    let decorations = IdDecorations::from_module(module);
    // Faults are valid answers.
    _ = TypeLayouts::from_module(module, &definitions, &decorations, |id| {
        definitions.constant_value(module, id)
    });
    IdNames::from_module(module);
    ModuleRequirements::from_module(module).minimal_capabilities();
    SpirvCallGraph::from_module(module);
    PointerBases::from_module(module, &definitions);
    EntryReach::from_module(module);
    for (name, _) in entry_points(module) {
        _ = EntryInterface::from_module(module, &name);
    }
}

/// The disassembly of any words is assembled to the same words.
fn come_back(words: &[u32]) {
    let Ok(text) = print_assembly(words, &PrintOptions::default()) else {
        return;
    };
    match parse_assembly(&text, &ParseOptions::default()) {
        // The bound of a damaged module may be too small for its ids.
        Ok(back) => {
            assert_eq!(back[..3], words[..3], "{text}");
            assert_eq!(back[4..], words[4..], "{text}");
        }
        Err(faults) => panic!("{}\n{text}", faults[0]),
    }
}

/// Assembled words can be printed and assembled again, with numeric and with friendly names.
pub fn check_assemble(bytes: &[u8]) {
    let Ok(source) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(words) = parse_assembly(source, &ParseOptions::default()) else {
        return;
    };
    come_back(&words);
    let friendly = PrintOptions {
        friendly_names: true,
        ..PrintOptions::default()
    };
    if let Ok(text) = print_assembly(&words, &friendly) {
        let back = parse_assembly(&text, &ParseOptions::default());
        let back = back.unwrap_or_else(|faults| panic!("{}\n{text}", faults[0]));
        assert_eq!(back.len(), words.len(), "{text}");
    }
}

/// A generated module stays valid while it is edited; the bytes decide about both.
pub fn check_edit(bytes: &[u8]) {
    let (shape, edits) = bytes.split_at(bytes.len() / 2);
    let module = generate::generate_module(&mut ChoiceSequence::new(shape));
    if let Err(what) = editing::edit_module(module, &mut ChoiceSequence::new(edits)) {
        panic!("{what}");
    }
}

/// The verifier always terminates. A valid module stays valid after SSA construction and after ids are compacted.
pub fn check_verify(bytes: &[u8]) {
    let Ok(words) = binary::words_from_bytes(bytes) else {
        return;
    };
    for name in ["spv1.6", "vulkan1.3", "opencl2.2"] {
        let options = verifier::VerifyOptions {
            target: name.parse().expect("there is such a target"),
            ..verifier::VerifyOptions::default()
        };
        let Ok(mut module) = verifier::verify_words(words.clone(), &options) else {
            continue;
        };
        assert_eq!(
            module.to_words(),
            words,
            "a valid module is written as it was read"
        );
        if !module.is_known() {
            continue;
        }
        let promoted = ssa::construct_ssa(&mut module);
        promoted.unwrap_or_else(|fault| panic!("a valid module was refused: {fault}"));
        module.compact_ids();
        if let Err(faults) = verifier::verify_module(&module, &options) {
            panic!("SSA construction for {name}: {}", faults[0]);
        }
    }
}

/// A valid module stays valid when it is optimised.
pub fn check_optimise(bytes: &[u8]) {
    let Ok(words) = binary::words_from_bytes(bytes) else {
        return;
    };
    let options = verifier::VerifyOptions::default();
    let Ok(mut module) = verifier::verify_words(words, &options) else {
        return;
    };
    let pipeline: PassPipeline = "O2".parse().expect("there is such a pipeline");
    let mut how = spirula_opt::PipelineOptions::default();
    if let Err(error) = spirula_opt::optimise_module(&mut module, &pipeline, &mut how) {
        panic!("a valid module was refused: {error}");
    }
    if let Err(faults) = verifier::verify_module(&module, &options) {
        panic!("optimising: {}", faults[0]);
    }
}

/// Any module that is read can be optimised, linked with itself, converted and drawn, or is refused.
pub fn check_transforms(bytes: &[u8]) {
    let Ok(words) = binary::words_from_bytes(bytes) else {
        return;
    };
    let Ok(module) = SpirvModule::from_words(words) else {
        return;
    };
    // Faults are valid results.
    let pipeline: PassPipeline = "O2".parse().expect("there is such a pipeline");
    let mut how = spirula_opt::PipelineOptions::default();
    _ = spirula_opt::optimise_module(&mut module.clone(), &pipeline, &mut how);
    let options = LinkOptions {
        allow_partial: true,
        entry_names: EntryNames::Number,
        ..LinkOptions::default()
    };
    _ = link_modules(vec![module.clone(), module.clone()], &options);
    for minor in [0, 3, 6] {
        _ = to_version(&mut module.clone(), SpirvVersion::new(1, minor));
    }
    _ = recompute_capabilities(&mut module.clone(), &RequirementCeiling::default());
    _ = GraphvizOptions::default().draw_module(&module);
}
