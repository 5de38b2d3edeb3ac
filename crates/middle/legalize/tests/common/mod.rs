//! Modules of the corpus, and whether what is made of them is valid.

use spirula_legalize::VulkanCompileOptions;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::verify;
use spirula_testing::{SpirvValTool, find_corpus, list_files};

/// The corpus' modules with their names, those that are meant; none where there is no corpus.
pub fn modules(
    is_meant: impl Fn(&SpirvModule) -> bool,
) -> Option<impl Iterator<Item = (String, SpirvModule)>> {
    let all = list_files(&find_corpus("spirv/modules")?, ".spv").into_iter();
    let read = all.filter_map(|file| {
        let module = SpirvModule::from_bytes(&std::fs::read(&file).unwrap()).ok()?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        Some((name.into_owned(), module))
    });
    Some(read.filter(move |(_, module)| is_meant(module)))
}

/// Checks modules for Vulkan.
pub struct VulkanModuleChecks {
    /// The target of our verifier.
    pub options: verify::VerifyOptions,
    validator: Option<SpirvValTool>,
    /// One module of this number is given to the validator, as starting a process takes longer than the rest.
    every: usize,
    /// Modules that were made.
    pub made: usize,
    /// Modules that were refused.
    pub refused: usize,
    /// The faults of modules.
    pub wrong: Vec<String>,
}

impl VulkanModuleChecks {
    /// None yet.
    pub fn new(every: usize) -> VulkanModuleChecks {
        VulkanModuleChecks {
            options: verify::VerifyOptions {
                target: VulkanCompileOptions::default().target,
                ..verify::VerifyOptions::default()
            },
            validator: SpirvValTool::find_program(),
            every,
            made: 0,
            refused: 0,
            wrong: Vec::new(),
        }
    }

    /// Checks what was made of a module, by our verifier and now and then by Khronos'.
    pub fn check(&mut self, name: &str, made: &SpirvModule) {
        self.made += 1;
        if let Err(faults) = verify::verify_module(made, &self.options) {
            self.wrong.push(format!("{name}: {}", faults[0]));
        }
        let validator = self.validator.as_ref();
        if let Some(validator) = validator.filter(|_| self.made.is_multiple_of(self.every)) {
            let said = validator.validate_module(&made.to_bytes(), "vulkan1.3");
            self.wrong
                .extend(said.err().map(|text| format!("{name}: {text}")));
        }
    }

    /// At least `least` were made, and all of them are right.
    pub fn finish(self, least: usize) {
        let (made, refused) = (self.made, self.refused);
        eprintln!("{made} made, {refused} refused");
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        assert!(made >= least, "{made} made");
    }
}
