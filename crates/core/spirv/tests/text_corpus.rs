//! The disassembler and the assembler on the corpus of real modules and texts.
//!
//! Without the corpus the tests say so and pass.

use spirula_spirv::binary::{InstructionStream, SpirvHeader, to_bytes, words_from_bytes};
use spirula_spirv::grammar::{
    ExtInstSet, Kind, Op, OperandCategory, OperandIter, ResultForm, literal_string,
};
use spirula_spirv::text::{
    ModuleDisassembly, ParseOptions, PrintOptions, looks_like_assembly, parse_assembly,
    print_assembly,
};
use spirula_testing::{find_corpus, list_files};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;

/// The files that end so in some of the corpus' SPIR-V folders.
fn inputs(folders: &[&str], suffix: &str) -> Vec<PathBuf> {
    let Some(root) = find_corpus("spirv") else {
        return Vec::new();
    };
    let found: Vec<_> = folders
        .iter()
        .flat_map(|f| list_files(&root.join(f), suffix))
        .collect();
    assert!(!found.is_empty(), "the corpus has no {suffix}");
    found
}

const MODULES: [&str; 3] = ["modules", "modules-newer", "ladder"];
const TEXTS: [&str; 2] = ["text", "text-newer"];

#[test]
fn modules_come_back_word_for_word() {
    for path in inputs(&MODULES, ".spv") {
        let bytes = fs::read(&path).expect("the file is readable");
        let module = words_from_bytes(&bytes).expect("the file is a module");
        for (header, indent) in [(true, true), (true, false)] {
            let options = PrintOptions {
                header,
                indent,
                ..PrintOptions::default()
            };
            let text = print_assembly(&module, &options).expect("the module is well-formed");
            assert!(looks_like_assembly(text.as_bytes()), "{}", path.display());
            match parse_assembly(&text, &ParseOptions::default()) {
                Ok(back) => assert!(to_bytes(&back) == bytes, "{} differs", path.display()),
                Err(faults) => panic!("{}: {}", path.display(), faults[0]),
            }
        }
    }
}

/// Names renumber ids, one for one; everything else stays.
#[test]
fn friendly_names_only_renumber() {
    let friendly = PrintOptions {
        friendly_names: true,
        ..PrintOptions::default()
    };
    for path in inputs(&MODULES, ".spv") {
        let module =
            words_from_bytes(&fs::read(&path).expect("the file is readable")).expect("a module");
        let text = print_assembly(&module, &friendly).expect("the module is well-formed");
        let parts = ModuleDisassembly::new(&module, friendly).expect("the module is well-formed");
        assert!(parts.to_string() == text, "{}", path.display());
        let back = parse_assembly(&text, &ParseOptions::default())
            .unwrap_or_else(|faults| panic!("{}: {}", path.display(), faults[0]));
        let (before, after) = (operands(&module), operands(&back));
        assert_eq!(before.len(), after.len(), "{}", path.display());
        let mut forth = HashMap::new();
        let mut back = HashMap::new();
        for ((kind, old), (new_kind, new)) in before.iter().zip(&after) {
            assert_eq!(kind, new_kind, "{}", path.display());
            if kind.info().category == OperandCategory::Id {
                assert_eq!(forth.entry(*old).or_insert(*new), new, "{}", path.display());
                assert_eq!(back.entry(*new).or_insert(*old), old, "{}", path.display());
            } else {
                assert_eq!(old, new, "{}", path.display());
            }
        }
    }
}

/// Every operand of a module with its kind.
fn operands(module: &[u32]) -> Vec<(Kind, &[u32])> {
    let mut sets = HashMap::new();
    let mut wide = HashSet::new();
    let mut all = Vec::new();
    for inst in InstructionStream::new(module) {
        let inst = inst.expect("the module is well-formed");
        let mut operands = OperandIter::new(inst.op, inst.words);
        match (inst.op, inst.words) {
            (Op::ExtInstImport, [id, name @ ..]) => {
                sets.insert(*id, ExtInstSet::by_name(&literal_string(name)));
            }
            (Op::ExtInst, [_, _, set, ..]) => {
                operands = operands.with_ext(sets.get(set).copied().flatten());
            }
            (Op::TypeInt, [id, 64, ..]) => {
                wide.insert(*id);
            }
            (Op::Switch, [value, ..]) if wide.contains(value) => {
                operands = operands.with_switch_literal_words(2);
            }
            (op, [ty, id, ..]) if op.result_form() == ResultForm::Typed && wide.contains(ty) => {
                wide.insert(*id);
            }
            _ => {}
        }
        all.extend(operands.map(|operand| {
            let operand = operand.expect("the instruction fits the grammar");
            (operand.kind, operand.words)
        }));
    }
    all
}

#[test]
fn texts_assemble_and_come_back() {
    let options = ParseOptions::default();
    for path in inputs(&TEXTS, ".spvasm") {
        let source = fs::read_to_string(&path).expect("the file is readable");
        assert!(looks_like_assembly(source.as_bytes()), "{}", path.display());
        let module = match parse_assembly(&source, &options) {
            Ok(module) => module,
            Err(faults) => panic!("{}: {}", path.display(), faults[0]),
        };
        assert!(module.len() > SpirvHeader::WORDS);
        let text =
            print_assembly(&module, &PrintOptions::default()).expect("the module is well-formed");
        assert!(
            parse_assembly(&text, &options).as_ref() == Ok(&module),
            "{}",
            path.display()
        );
    }
}
