//! Compute shaders for devices without integers of 8, 16 and 64 bits or floats of 16 bits.
//!
//! Types are defined anew in place, so that whatever only moves values stays as it is, and what computes
//! is put in terms of what the device has. Results are the same, bit by bit:
//!
//! | type | becomes | how |
//! | --- | --- | --- |
//! | integers of 8 and 16 bits | words | whose upper bits are zero; what may set them is masked, what means a sign extends it first |
//! | floats of 16 bits | floats of 32 bits | each result is rounded to what a half has, to nearest even; of `+ - * / sqrt` that is the half's result |
//! | integers of 64 bits | two words | products by 32 bits, quotients by a function that divides bit by bit |
//! | vectors of 64-bit integers | arrays of two words | component by component |
//!
//! A buffer with something smaller than a word in it is seen as an array of words (`word_buffers`, `access_chains`): smaller loads
//! are parts of words, smaller stores an atomic `and` and an atomic `or`, which leave the neighbours alone.
//! Nothing that is stored elsewhere changes its place. What cannot be done is refused by name: atomic
//! operations on 64 bits, 64-bit specialisation constants, pointers to small things that are chosen at run
//! time, reductions of 64-bit integers over subgroups.

mod access_chains;
mod bit_patterns;
mod conversions;
mod emitter;
mod extended;
mod globals;
mod half_floats;
mod instructions;
mod narrow_integers;
mod type_shapes;
mod wide_division;
mod wide_integers;
mod word_buffers;

use emitter::TypeEmulator;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::ir::{ModuleSection, SpirvModule};

/// What a device lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MissingNumericTypes {
    /// Numbers of 8 and 16 bits, in registers or in memory.
    pub narrow: bool,
    /// Integers of 64 bits.
    pub wide: bool,
}

/// Capabilities that are not needed any more.
const NARROW: &[Capability] = &[
    Capability::Int8,
    Capability::Int16,
    Capability::Float16,
    Capability::StorageBuffer8BitAccess,
    Capability::UniformAndStorageBuffer8BitAccess,
    Capability::StoragePushConstant8,
    Capability::StorageBuffer16BitAccess,
    Capability::UniformAndStorageBuffer16BitAccess,
    Capability::StoragePushConstant16,
];

/// What becomes of the module once nothing is lacked.
const AFTER: &str = "dedup,adce,dedup,compact-ids";

impl MissingNumericTypes {
    /// What of a module's needs are among what is lacked, if `has` tells of each capability whether the
    /// device has it.
    pub fn from_module(
        module: &SpirvModule,
        has: impl Fn(Capability) -> bool,
    ) -> MissingNumericTypes {
        let lacked = list_missing_capabilities(module, has);
        MissingNumericTypes {
            narrow: lacked.iter().any(|c| NARROW.contains(c)),
            wide: lacked.contains(&Capability::Int64),
        }
    }
}

/// The capabilities that a module declares and the emulation does without, of those that the device lacks.
pub fn list_missing_capabilities(
    module: &SpirvModule,
    has: impl Fn(Capability) -> bool,
) -> Vec<Capability> {
    let declared = module.section_insts(ModuleSection::Capabilities);
    let declared = declared.map(|c| Capability(c.operand_word(0)));
    let can = |c: &Capability| NARROW.contains(c) || *c == Capability::Int64;
    declared.filter(|c| can(c) && !has(*c)).collect()
}

/// Has all specialisation constants be constants of their defaults, as those of 64 bits and of floats of 16 cannot
/// be emulated.
///
/// # Errors
/// When the module is malformed.
pub fn freeze_spec_constants(module: &mut SpirvModule) -> Result<(), SourceDiagnostic> {
    crate::passes::run_passes(module, "freeze-spec-const")
}

/// A module that does the same without what is lacked.
///
/// # Errors
/// What cannot be done without it: at least one thing.
pub fn emulate_missing_types(
    module: &SpirvModule,
    lacking: MissingNumericTypes,
) -> Result<SpirvModule, Vec<SourceDiagnostic>> {
    let one = |fault: SourceDiagnostic| vec![fault];
    let mut source = module.clone();
    if word_buffers::passes_pointers(&source) {
        crate::passes::run_passes(&mut source, "inline-all,adce").map_err(one)?;
    }
    let mut made = TypeEmulator::new(&source, lacking)
        .map_err(one)?
        .emulate_module()?;
    crate::passes::run_passes(&mut made, AFTER).map_err(one)?;
    Ok(made)
}

fn is_gone(capability: Capability, lacking: MissingNumericTypes) -> bool {
    lacking.narrow && NARROW.contains(&capability)
        || lacking.wide && capability == Capability::Int64
}
