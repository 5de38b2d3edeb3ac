//! The editing interface on modules of the corpus: what every operation leaves is still right, and
//! valid where a validator is installed.

use spirula_opt::check;
use spirula_spirv::analysis::{BlockDominators, DefUse, FlowGraph, IdDefinitions, LoopNest};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, ErasedIds, IdWords, InstRef, SpirvModule};
use spirula_testing::{SpirvValTool, find_corpus, list_files};

/// Edits a module and returns how often it did.
type CorpusEdit = fn(&mut SpirvModule) -> usize;

const EDITS: &[(&str, CorpusEdit)] = &[
    ("split", split),
    ("insert on edges", insert_on_edges),
    ("pre-headers", pre_headers),
    ("remove edges", remove_edges),
    ("replace uses", replace_uses),
];

fn blocks(module: &SpirvModule) -> Vec<Block> {
    let functions = module.functions().iter();
    functions
        .flat_map(|f| module.function(*f).blocks.clone())
        .collect()
}

fn split(module: &mut SpirvModule) -> usize {
    let ids = IdWords::new(module);
    let mut done = 0;
    for block in blocks(module) {
        let body: Vec<_> = module.body(block).map(InstRef::handle).collect();
        done += usize::from(
            module
                .split_block(&ids, block, body[body.len() / 2])
                .is_ok(),
        );
    }
    done
}

fn insert_on_edges(module: &mut SpirvModule) -> usize {
    let ids = IdWords::new(module);
    let mut done = 0;
    for block in blocks(module) {
        let func = module.block(block).func;
        for (_, target) in module.block_targets(&ids, block) {
            if let Some(target) = module.find_block(func, target) {
                done += usize::from(module.insert_on_edge(&ids, block, target).is_ok());
            }
        }
    }
    done
}

fn pre_headers(module: &mut SpirvModule) -> usize {
    let ids = IdWords::new(module);
    let mut done = 0;
    for func in module.functions().to_vec() {
        let mut at = 0;
        loop {
            let definitions = IdDefinitions::from_module(module);
            let cfg = FlowGraph::from_function(module, &definitions, func).expect("labels exist");
            let dominators = BlockDominators::from_cfg(&cfg);
            let loops = LoopNest::from_cfg(&cfg, &dominators);
            let Some(l) = loops.loops().get(at) else {
                break;
            };
            let mut outside: Vec<Block> = cfg
                .predecessors(l.header)
                .iter()
                .filter(|p| !l.latches.contains(p))
                .map(|p| cfg.block(*p))
                .collect();
            outside.dedup();
            let header = cfg.block(l.header);
            done += usize::from(module.create_pre_header(&ids, header, &outside).is_ok());
            at += 1;
        }
    }
    done
}

/// Takes an edge from conditional branches of modules without structure.
fn remove_edges(module: &mut SpirvModule) -> usize {
    if module.is_structured() {
        return 0;
    }
    let ids = IdWords::new(module);
    let mut done = 0;
    for block in blocks(module).into_iter().step_by(3) {
        let func = module.block(block).func;
        if module.terminator(block).op() == Op::BranchConditional
            && let [(_, a), (_, b)] = module.block_targets(&ids, block)[..]
            && a != b
            && let Some(target) = module.find_block(func, a)
        {
            done += usize::from(module.remove_edge(&ids, block, target).is_ok());
        }
    }
    let mut erased = ErasedIds::new();
    for func in module.functions().to_vec() {
        module.remove_unreachable(&ids, func, &mut erased);
    }
    module.sweep_annotations(&erased);
    done
}

/// Replaces each sum by its first operand, where that has the same type.
fn replace_uses(module: &mut SpirvModule) -> usize {
    let mut chains = DefUse::from_module(module);
    let definitions = IdDefinitions::from_module(module);
    let sums: Vec<_> = module
        .all_insts()
        .filter(|i| matches!(i.op(), Op::IAdd | Op::FAdd))
        .filter_map(|i| Some((i.result()?, i.id_operand(0), i.result_type()?)))
        .collect();
    let mut done = 0;
    for (sum, operand, ty) in sums {
        let same = definitions
            .get(module, operand)
            .and_then(InstRef::result_type);
        if same == Some(ty) {
            chains.replace_all(module, sum, operand);
            assert!(
                chains
                    .uses(sum)
                    .all(|u| module.inst(u.inst).op().is_about_ids())
            );
            done += 1;
        }
    }
    assert!(
        chains == DefUse::from_module(module),
        "the chains are kept up"
    );
    done
}

#[test]
fn edits_keep_modules_valid() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let validator = SpirvValTool::find_program();
    for (name, edit) in EDITS {
        let mut done = 0;
        for file in list_files(&folder, ".spv").iter().step_by(29) {
            let bytes = std::fs::read(file).expect("the corpus can be read");
            if bytes.len() > 40_000 {
                continue;
            }
            let mut module = SpirvModule::from_bytes(&bytes).expect("the corpus is well-formed");
            let here = edit(&mut module);
            done += here;
            if here == 0 {
                continue;
            }
            let place = file.display();
            check::verify_module(&module).unwrap_or_else(|e| panic!("{name}: {place}: {e}"));
            let environment = format!("spv{}", module.version);
            if let Some(validator) = &validator
                && validator.validate_module(&bytes, &environment).is_ok()
            {
                let verdict = validator.validate_module(&module.to_bytes(), &environment);
                verdict.unwrap_or_else(|e| panic!("{name}: {place}: {e}"));
            }
        }
        assert!(done > 0, "{name}: nothing was edited");
    }
}
