//! Table of front ends.

use super::format::{FrontEnd, InputFormat};
use super::{
    archive, futhark_printed, futhark_source, kernel_text, llvm, spirv, stablehlo, triton,
};

/// All front ends.
pub static FRONT_ENDS: &[&FrontEnd] = &[
    &spirv::FRONT_END,
    &llvm::FRONT_END,
    &triton::FRONT_END,
    &stablehlo::FRONT_END,
    &kernel_text::FRONT_END,
    &futhark_source::FRONT_END,
    &futhark_printed::FRONT_END,
    &archive::FRONT_END,
    #[cfg(feature = "wgsl")]
    &super::wgsl::FRONT_END,
];

/// The titles of all front ends as a list in a sentence.
pub fn list_accepted_inputs() -> String {
    let titles: Vec<&str> = FRONT_ENDS.iter().map(|front_end| front_end.title).collect();
    match titles.split_last() {
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The formats of all front ends.
pub(super) fn all_formats() -> impl Iterator<Item = &'static InputFormat> {
    FRONT_ENDS
        .iter()
        .flat_map(|front_end| front_end.formats.iter().copied())
}

/// The accepted inputs as a sentence without a full stop.
pub(super) fn describe_accepted_inputs() -> String {
    format!("accepted are {}", list_accepted_inputs())
}
