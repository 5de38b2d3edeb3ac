//! LLVM IR: both readers, which tell the forms apart themselves, and the translator.

use spirula_differential::{WAYS, evaluate_module, generate_kernel, verify_way};
use spirula_llvm::TranslationOptions;
use spirula_testing::ChoiceSequence;

/// What is read can be printed.
pub fn check_read(bytes: &[u8]) {
    if let Ok(module) = spirula_llvm::read_module(bytes) {
        spirula_llvm::print_assembly(&module);
    }
}

/// What is read is translated or refused; the words of a translation are a module.
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

/// The bytes are decisions that a program is made of: what it gives on the CPU device is what its
/// evaluation gives, in every way that leads there.
pub fn check_program(bytes: &[u8]) {
    let text = generate_kernel(&mut ChoiceSequence::new(bytes));
    let module = spirula_llvm::read_module(text.as_bytes());
    let module = module.unwrap_or_else(|fault| panic!("not well-formed: {fault}\n{text}"));
    let expected = evaluate_module(&module).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    let Some(expected) = expected else {
        return;
    };
    for way in WAYS.iter().filter(|way| way.name != "vulkan") {
        let same = verify_way(&module, &expected, way);
        same.unwrap_or_else(|fault| panic!("{}: {fault}\n{text}", way.name));
    }
}
