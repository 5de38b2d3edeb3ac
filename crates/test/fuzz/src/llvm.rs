//! Targets of LLVM IR: both readers, which detect the format themselves, and the translator.

use spirula_differential::{EXECUTION_VARIANTS, evaluate_module, generate_kernel, verify_variant};
use spirula_llvm::TranslationOptions;
use spirula_testing::ChoiceSequence;

/// A module that is read can be printed.
pub fn check_read(bytes: &[u8]) {
    if let Ok(module) = spirula_llvm::read_module(bytes) {
        spirula_llvm::print_assembly(&module);
    }
}

/// A module that is read is translated or refused; the words of a translation form a module.
pub fn check_translate(bytes: &[u8]) {
    let Ok(module) = spirula_llvm::read_module(bytes) else {
        return;
    };
    let options = TranslationOptions {
        triple: Some("spir64-unknown-unknown".to_owned()),
        ..TranslationOptions::default()
    };
    if let Ok(translated) = spirula_llvm::translate_module(&module, &options) {
        let words = translated.to_words();
        let again = spirula_spirv::ir::SpirvModule::from_words(words);
        again.unwrap_or_else(|fault| panic!("the translation is malformed: {fault}"));
    }
}

/// The bytes are the decisions of a program generator. Every execution variant on the CPU device must compute what
/// the evaluator computes.
pub fn check_program(bytes: &[u8]) {
    let text = generate_kernel(&mut ChoiceSequence::new(bytes));
    let module = spirula_llvm::read_module(text.as_bytes());
    let module = module.unwrap_or_else(|fault| panic!("not well-formed: {fault}\n{text}"));
    let expected = evaluate_module(&module).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    let Some(expected) = expected else {
        return;
    };
    for variant in EXECUTION_VARIANTS
        .iter()
        .filter(|variant| variant.name != "vulkan")
    {
        let same = verify_variant(&module, &expected, variant);
        same.unwrap_or_else(|fault| panic!("{}: {fault}\n{text}", variant.name));
    }
}
