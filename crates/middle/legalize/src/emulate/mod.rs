//! Emulation: compute shaders for devices without 8-, 16- and 64-bit integers or 16-bit floats.
//!
//! Types are redefined in place. Instructions that only move values stay as they are; instructions that compute are expressed in types
//! of the device. Results are the same, bit by bit:
//!
//! | type | becomes | how |
//! | --- | --- | --- |
//! | integers of 8 and 16 bits | words | the upper bits are zero; results that may set them are masked, signed operands are sign-extended first |
//! | floats of 16 bits | floats of 32 bits | each result is rounded to half precision, to nearest even; for `+ - * / sqrt` that is the half's result |
//! | integers of 64 bits | two words | products in 32-bit parts, quotients by a function that divides bit by bit |
//! | vectors of 64-bit integers | arrays of two words | component by component |
//!
//! A buffer whose type contains something smaller than a word becomes an array of words (`word_buffers`, `access_chains`). A smaller
//! load extracts a part of a word. A smaller store is an atomic `and` and an atomic `or`, which preserve the neighbours. Nothing that is
//! stored elsewhere changes its place. Not supported, and refused by name: atomic operations on 64 bits, 64-bit specialisation
//! constants, pointers to small types that are selected at run time, reductions of 64-bit integers over subgroups.

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

/// Numeric types that a device lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MissingNumericTypes {
    /// Numbers of 8 and 16 bits, in registers or memory.
    pub narrow: bool,
    /// Integers of 64 bits.
    pub wide: bool,
}

/// Capabilities that emulation of narrow types makes unnecessary.
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

/// Passes over the emulated module.
const AFTER: &str = "dedup,adce,dedup,compact-ids";

impl MissingNumericTypes {
    /// The types that a module needs and a device lacks. `has` says whether the device has a capability.
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

/// The capabilities that a module declares, the device lacks, and emulation makes unnecessary.
pub fn list_missing_capabilities(
    module: &SpirvModule,
    has: impl Fn(Capability) -> bool,
) -> Vec<Capability> {
    let declared = module.section_insts(ModuleSection::Capabilities);
    let declared = declared.map(|c| Capability(c.operand_word(0)));
    let can = |c: &Capability| NARROW.contains(c) || *c == Capability::Int64;
    declared.filter(|c| can(c) && !has(*c)).collect()
}

/// Turns all specialisation constants into constants of their defaults, since those of 64 bits and of 16-bit floats cannot be
/// emulated.
///
/// # Errors
/// When the module is malformed.
pub fn freeze_spec_constants(module: &mut SpirvModule) -> Result<(), SourceDiagnostic> {
    crate::passes::run_passes(module, "freeze-spec-const")
}

/// The module without the types that are lacking.
///
/// # Errors
/// The constructs that cannot be emulated, at least one.
pub fn emulate_missing_types(
    module: &SpirvModule,
    lacking: MissingNumericTypes,
) -> Result<SpirvModule, Vec<SourceDiagnostic>> {
    let one = |fault: SourceDiagnostic| vec![fault];
    let mut source = module.clone();
    if word_buffers::has_pointer_parameters(&source) {
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
