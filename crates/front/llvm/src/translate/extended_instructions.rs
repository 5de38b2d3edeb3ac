//! Extended instructions of OpenCL: look-up of the grammar's rows by name or number.

use spirula_spirv::grammar::{ExtInst, ExtInstSet};

/// The number of an extended instruction of OpenCL.
pub(super) fn extended_number(name: &str) -> Option<u32> {
    let set = ExtInstSet::by_name("OpenCL.std")?;
    set.instruction_by_name(name).map(|row| row.number)
}

/// The row of an extended instruction of OpenCL.
pub(super) fn extended_by_number(number: u32) -> Option<&'static ExtInst> {
    ExtInstSet::by_name("OpenCL.std")?.instruction_by_number(number)
}

/// The row of an extended instruction of OpenCL by its name.
pub(super) fn extended_by_name(name: &str) -> Option<&'static ExtInst> {
    ExtInstSet::by_name("OpenCL.std")?.instruction_by_name(name)
}
