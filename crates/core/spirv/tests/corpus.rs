//! Every module of the corpus through reader, analyses and writer.

use spirula_spirv::analysis::{
    BlockDominators, FlowGraph, IdDecorations, IdDefinitions, TypeLayouts,
};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{EntryInterface, entry_points};
use spirula_testing::{find_corpus, list_files};

#[test]
fn modules_are_read_analysed_and_written() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let files = list_files(&folder, ".spv");
    assert!(files.len() > 900, "only {} modules found", files.len());
    let (mut same, mut reordered) = (0, 0);
    for file in files {
        let bytes = std::fs::read(&file).expect("the corpus can be read");
        let module =
            SpirvModule::from_bytes(&bytes).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let written = module.to_bytes();
        if written == bytes {
            same += 1;
        } else {
            reordered += 1;
            assert_eq!(written.len(), bytes.len(), "{}", file.display());
            let again = SpirvModule::from_bytes(&written).expect("what is written is a module");
            assert_eq!(again.to_bytes(), written, "{}", file.display());
        }
        let definitions = IdDefinitions::from_module(&module);
        let decorations = IdDecorations::from_module(&module);
        TypeLayouts::from_module(&module, &definitions, &decorations, |id| {
            Some(definitions.default_value(&module, id).unwrap_or(1))
        })
        .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        for func in module.functions() {
            let cfg = FlowGraph::from_function(&module, &definitions, *func)
                .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            BlockDominators::from_cfg(&cfg);
        }
        for (name, _) in entry_points(&module) {
            EntryInterface::from_module(&module, &name)
                .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        }
    }
    eprintln!("{same} modules written bit for bit, {reordered} in logical order");
    assert!(
        reordered * 20 < same,
        "{reordered} of {same} modules changed"
    );
}
