//! LLVM IR: both readers, which tell the forms apart themselves, and the translator.

use spirula_llvm::Options;

/// What is read can be printed.
pub fn read(bytes: &[u8]) {
    if let Ok(module) = spirula_llvm::read(bytes) {
        spirula_llvm::print(&module);
    }
}

/// What is read is translated or refused; the words of a translation are a module.
pub fn translate(bytes: &[u8]) {
    let Ok(module) = spirula_llvm::read(bytes) else {
        return;
    };
    let options = Options {
        triple: Some("spir64-unknown-unknown".to_owned()),
        ..Options::default()
    };
    if let Ok(translated) = spirula_llvm::translate(&module, &options) {
        let words = translated.to_words();
        let again = spirula_spirv::ir::Module::from_words(words);
        again.unwrap_or_else(|fault| panic!("the translation is malformed: {fault}"));
    }
}
