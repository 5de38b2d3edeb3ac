//! Modules: creation, reading, verification, writing, destruction.

use crate::body::{ask, list, status};
use crate::error::{ApiFailure, SpirulaError, SpirulaStatus};
use crate::handle::{OutPointer, get_mut, get_ref, slice_from_raw, text_from_raw};
use crate::text::{SpirulaText, SpirulaWords};
use spirula_spirv::analysis::{DefUse, ModuleRequirements};
use spirula_spirv::grammar::{GrammarAdditions, Op, SpirvVersion};
use spirula_spirv::ir::{ModuleSection, SpirvModule};
use spirula_spirv::target::SpirvTarget;
use spirula_spirv::{ssa, text, verify};

/// A SPIR-V module.
#[derive(Clone, Debug)]
pub struct SpirulaModule {
    pub(crate) module: SpirvModule,
    /// Definitions and uses, if they are known.
    chains: Option<DefUse>,
}

impl SpirulaModule {
    fn new(module: SpirvModule) -> *mut SpirulaModule {
        let chains = None;
        Box::into_raw(Box::new(SpirulaModule { module, chains }))
    }

    /// The module, for any modification; forgets definitions and uses.
    pub(crate) fn module_mut(&mut self) -> &mut SpirvModule {
        self.chains = None;
        &mut self.module
    }

    /// Definitions and uses, together with the module.
    pub(crate) fn chains_and_module(&mut self) -> (&mut DefUse, &mut SpirvModule) {
        let module = &mut self.module;
        let chains = self
            .chains
            .get_or_insert_with(|| DefUse::from_module(module));
        (chains, module)
    }
}

/// Creates an empty module of a version of SPIR-V, such as 1 and 6.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_module_new(major: u8, minor: u8) -> *mut SpirulaModule {
    SpirulaModule::new(SpirvModule::new(SpirvVersion::new(major, minor)))
}

/// Reads a module from its words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_module_from_words(
    words: *const u32,
    count: usize,
    module: *mut *mut SpirulaModule,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (words, out) = unsafe { (slice_from_raw(words, count)?, OutPointer::new(module)?) };
        out.set_value(SpirulaModule::new(SpirvModule::from_words(words.to_vec())?));
        Ok(())
    })
}

/// Reads a module from its bytes, in either byte order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_module_from_bytes(
    bytes: *const u8,
    count: usize,
    module: *mut *mut SpirulaModule,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (bytes, out) = unsafe { (slice_from_raw(bytes, count)?, OutPointer::new(module)?) };
        out.set_value(SpirulaModule::new(SpirvModule::from_bytes(bytes)?));
        Ok(())
    })
}

/// Assembles a module from text in the language of SPIRV-Tools.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_module_from_text(
    source: *const u8,
    length: usize,
    module: *mut *mut SpirulaModule,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (source, out) = unsafe { (text_from_raw(source, length)?, OutPointer::new(module)?) };
        let words = text::parse_assembly(source, &text::ParseOptions::default())?;
        out.set_value(SpirulaModule::new(SpirvModule::from_words(words)?));
        Ok(())
    })
}

/// A copy of a module, in which functions, blocks and instructions keep their numbers; null for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_module_copy(module: *const SpirulaModule) -> *mut SpirulaModule {
    ask!(std::ptr::null_mut(), module, |module| {
        Ok(SpirulaModule::new(module.module.clone()))
    })
}

/// Frees a module; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_module_free(module: *mut SpirulaModule) {
    if !module.is_null() {
        // SAFETY: it came from `Box::into_raw`, and by the contract is not freed yet.
        drop(unsafe { Box::from_raw(module) });
    }
}

/// Writes a module as words, header included.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_module_to_words(
    module: *const SpirulaModule,
    words: *mut SpirulaWords,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (module, out) = unsafe { (get_ref(module)?, OutPointer::new(words)?) };
        out.set_value(SpirulaWords::new(module.module.to_words()));
        Ok(())
    })
}

/// Writes a module as text; with `friendly_names`, ids are written as `%main` instead of `%4`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_module_to_text(
    module: *const SpirulaModule,
    friendly_names: bool,
    text: *mut SpirulaText,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (module, out) = unsafe { (get_ref(module)?, OutPointer::new(text)?) };
        let options = text::PrintOptions {
            friendly_names,
            ..text::PrintOptions::default()
        };
        let printed = text::print_assembly(&module.module.to_words(), &options)?;
        out.set_value(SpirulaText::new(printed));
        Ok(())
    })
}

/// Verifies a module for an environment such as `vulkan1.3`, `opencl2.2` or `spv1.6`; null stands for any consumer
/// of the newest version. The error has one message for each fault.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_module_verify(
    module: *const SpirulaModule,
    environment: *const std::ffi::c_char,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let module = unsafe { get_ref(module) }?;
        let mut options = verify::VerifyOptions::default();
        if !environment.is_null() {
            // SAFETY: not null, and then a string that ends in NUL.
            let name = unsafe { std::ffi::CStr::from_ptr(environment) };
            let target = name.to_string_lossy().parse::<SpirvTarget>();
            options.target = target.map_err(|e| ApiFailure::Argument(e.to_string()))?;
        }
        verify::verify_module(&module.module, &options)?;
        Ok(())
    })
}

/// Extends the grammar of the process by a text in the form of Khronos' grammar files: instructions and values, or
/// a set of extended instructions. `set_name` is the name of such a set if the text does not contain it, else null.
/// This has to be done before modules that use the additions are read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_grammar_add(
    json: *const u8,
    length: usize,
    set_name: *const std::ffi::c_char,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let json = unsafe { text_from_raw(json, length) }?;
        // SAFETY: not null where it is read, and then a string that ends in NUL.
        let name = (!set_name.is_null()).then(|| unsafe { std::ffi::CStr::from_ptr(set_name) });
        let name = name.map(|n| n.to_string_lossy().into_owned());
        let additions = GrammarAdditions::from_json(json, name.as_deref())?;
        let added = additions.register_all();
        added.map_err(|e| ApiFailure::Refused(e.to_string()))
    })
}

/// The version of SPIR-V as the word of the header: 0x00010300 for 1.3. 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_module_version(module: *const SpirulaModule) -> u32 {
    ask!(0, module.module, |module| Ok(module.version.word()))
}

/// One more than the largest id; 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_module_bound(module: *const SpirulaModule) -> u32 {
    ask!(0, module.module, |module| Ok(module.bound()))
}

/// The capabilities that a module declares, in its order. Returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_module_capabilities(
    module: *const SpirulaModule,
    buffer: *mut u32,
    capacity: usize,
) -> usize {
    list!(module.module, buffer, capacity, |module| {
        let declared = module.section_insts(ModuleSection::Capabilities);
        let declared = declared.filter(|i| i.op() == Op::Capability);
        let declared: Vec<u32> = declared.map(|i| i.operand_word(0)).collect();
        Ok(declared)
    })
}

/// The capabilities that a module requires, by increasing number. Returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_module_needed_capabilities(
    module: *const SpirulaModule,
    buffer: *mut u32,
    capacity: usize,
) -> usize {
    list!(module.module, buffer, capacity, |module| {
        let needed = ModuleRequirements::from_module(module).minimal_capabilities();
        let needed: Vec<u32> = needed.iter().map(|c| c.0).collect();
        Ok(needed)
    })
}

/// Promotes the variables of all functions to SSA values where that is possible. `variables` and `phis`, which may
/// be null, receive the numbers of removed variables and added phis.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_module_construct_ssa(
    module: *mut SpirulaModule,
    variables: *mut usize,
    phis: *mut usize,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let module = unsafe { get_mut(module) }?;
        let promoted = ssa::construct_ssa(module.module_mut())?;
        for (pointer, count) in [(variables, promoted.variables), (phis, promoted.phis)] {
            // SAFETY: the crate's contract.
            if let Ok(out) = unsafe { OutPointer::new(pointer) } {
                out.set_value(count);
            }
        }
        Ok(())
    })
}

/// Renumbers ids densely, in the order of their definitions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_module_compact_ids(
    module: *mut SpirulaModule,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        unsafe { get_mut(module) }?.module_mut().compact_ids();
        Ok(())
    })
}
