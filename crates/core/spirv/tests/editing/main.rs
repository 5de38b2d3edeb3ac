//! Sequences of edits made at random, on modules of the corpus and on modules made at random: each
//! edit is refused or leaves a valid module (`spirula_testing::editing`).

use proptest::prelude::*;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::verify;
use spirula_testing::editing::{self, EditCounts};
use spirula_testing::{ChoiceSequence, find_corpus, generate, list_files};
use std::cell::RefCell;

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

/// 256 cases, or as many as `PROPTEST_CASES` says.
fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 4000,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn generated_modules_are_valid(bytes in bytes(120)) {
        let module = generate::generate_module(&mut ChoiceSequence::new(&bytes));
        if let Err(faults) = verify::verify_module(&module, &editing::verify_options()) {
            let options = spirula_spirv::text::PrintOptions::default();
            let text = spirula_spirv::text::print_assembly(&module.to_words(), &options);
            prop_assert!(false, "{}\n{}", faults[0], text.unwrap_or_default());
        }
    }
}

#[test]
fn edits_of_generated_modules() {
    let tally = RefCell::new(EditCounts::default());
    proptest!(config(), |(shape in bytes(80), edits in bytes(80))| {
        let module = generate::generate_module(&mut ChoiceSequence::new(&shape));
        match editing::edit_module(module, &mut ChoiceSequence::new(&edits)) {
            Ok(made) => tally.borrow_mut().add_counts(&made),
            Err(what) => prop_assert!(false, "{what}"),
        }
    });
    let missing = tally.borrow().missing_kinds();
    assert!(missing.is_empty(), "never done: {missing:?}");
}

/// Largest file that is edited, as each edit is followed by reading and verifying the whole.
const LARGEST: u64 = 6_000;

#[test]
fn edits_of_the_corpus() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let small = |file: &std::path::PathBuf| file.metadata().is_ok_and(|m| m.len() < LARGEST);
    let files: Vec<_> = list_files(&folder, ".spv")
        .into_iter()
        .filter(small)
        .collect();
    let modules: Vec<SpirvModule> = files
        .iter()
        .step_by(5)
        .filter_map(|f| {
            let bytes = std::fs::read(f).expect("the corpus can be read");
            let words =
                spirula_spirv::binary::words_from_bytes(&bytes).expect("it has whole words");
            verify::verify_words(words, &editing::verify_options()).ok()
        })
        .filter(SpirvModule::is_known)
        .collect();
    assert!(modules.len() > 40, "only {} modules", modules.len());
    proptest!(config(), |(at in any::<prop::sample::Index>(), edits in bytes(60))| {
        let module = modules[at.index(modules.len())].clone();
        if let Err(what) = editing::edit_module(module, &mut ChoiceSequence::new(&edits)) {
            prop_assert!(false, "{what}");
        }
    });
}
