//! Version conversion: modules of one version of SPIR-V become modules of another.
//!
//! Conversion to a later version adapts what that version removed or requires. Interfaces list every global
//! variable (1.4), `BufferBlock` becomes `Block` in the class `StorageBuffer` (1.4), removed instructions are
//! replaced by their successors, and the targets of a branch differ (1.6).
//!
//! Conversion to an earlier version replaces features by an extension if there is one, or expresses them by other
//! instructions: copies of composites member by member, and interfaces of inputs and outputs only. Hints are
//! deleted. Other features give an error that names the instruction.
//!
//! Cost: a few passes over the module, and one of the verifier.

mod buffers;
mod composites;
mod error;
mod interfaces;
mod lower;
mod raise;
mod texels;

pub use error::ConvertError;
pub use interfaces::complete_interfaces;
pub use raise::raise_version;

use crate::grammar::SpirvVersion;
use crate::ir::SpirvModule;
use crate::verify;

/// Gives a module another version.
///
/// ```
/// use spirula_spirv::convert::to_version;
/// use spirula_spirv::grammar::SpirvVersion;
/// use spirula_spirv::ir::{SpirvModule, ModuleSection};
/// use spirula_spirv::text::{ParseOptions, parse_assembly};
///
/// let source = "OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n\
///     %1 = OpTypeFloat 32\n%2 = OpTypePointer StorageBuffer %1";
/// let words = parse_assembly(source, &ParseOptions::default()).unwrap();
/// let mut module = SpirvModule::from_words(words).unwrap();
/// assert_eq!(module.version, SpirvVersion::new(1, 6));
/// to_version(&mut module, SpirvVersion::V1_0).unwrap();
/// let extension = module.section_insts(ModuleSection::Extensions).next().unwrap();
/// assert_eq!(extension.string_operand(0), "SPV_KHR_storage_buffer_storage_class");
/// ```
///
/// # Errors
/// When an instruction needs what the version does not have; the module is unchanged then.
pub fn to_version(module: &mut SpirvModule, version: SpirvVersion) -> Result<(), ConvertError> {
    if module.version == version {
        return Ok(());
    }
    let mut converted = module.clone();
    if version > module.version {
        raise_version(&mut converted, version)?;
    } else {
        lower::lower_version(&mut converted, version)?;
    }
    // The verifier finds requirements that the rows of the grammar do not express.
    let options = verify::VerifyOptions {
        scalar_block_layout: true,
        ..verify::VerifyOptions::default()
    };
    if let Err(faults) = verify::verify_module(&converted, &options) {
        let was_valid = verify::verify_module(module, &options).is_ok();
        if let Some(fault) = faults.into_iter().next().filter(|_| was_valid) {
            return Err(ConvertError {
                version,
                op: None,
                place: fault.place,
                what: fault.message,
            });
        }
    }
    *module = converted;
    Ok(())
}
