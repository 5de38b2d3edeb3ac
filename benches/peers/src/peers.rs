//! The contenders written in Rust.

use crate::corpus::Sample;
use rspirv::binary::Assemble;
use rspirv2::core::inst_set::CoreInstSet;
use rspirv2::module::Module;
use rspirv2::vec::InstVec;
use std::hint::black_box;

/// rspirv reads a module into its data representation and assembles it.
pub fn rspirv(sample: &Sample) -> bool {
    let Ok(module) = rspirv::dr::load_words(&sample.words) else {
        return false;
    };
    black_box(module.assemble());
    true
}

/// rspirv2 reads a module, which checks every instruction, and writes it.
pub fn rspirv2(sample: &Sample) -> bool {
    let Ok(module) = Module::<CoreInstSet>::from_bytes(&sample.bytes) else {
        return false;
    };
    let mut words = Vec::with_capacity(sample.words.len());
    module.write_words(&mut words);
    black_box(words);
    true
}

/// rspirv2 reads a module and passes each instruction to a transformation, as in its documentation.
pub fn rspirv2_each(sample: &Sample) -> bool {
    let Ok(mut module) = Module::<CoreInstSet>::from_bytes(&sample.bytes) else {
        return false;
    };
    module.inst = module.inst.iter().collect::<InstVec<CoreInstSet>>();
    let mut words = Vec::with_capacity(sample.words.len());
    module.write_words(&mut words);
    black_box(words);
    true
}
