//! Constant table: the SPIR-V constants that LLVM's constants were translated to.

use crate::ir::LlvmType;
use crate::translate::address_expressions::AddressForms;
use rustc_hash::FxHashMap;
use spirula_spirv::{Id, IdMap};

/// The translated constants of a module.
pub(in crate::translate) struct ConstantTable {
    pub(in crate::translate) register: Vec<Option<Id>>,
    pub(in crate::translate) memory: Vec<Option<Id>>,
    pub(in crate::translate) indices: Vec<Option<Id>>,
    /// Whether an id is an `OpSpecConstant…`. Only such constants may contain it.
    pub(in crate::translate) special: IdMap<bool>,
    /// The constants that are sums of addresses and numbers.
    pub(in crate::translate) address_forms: AddressForms,
    /// Whether types contain arrays that are too long for an instruction.
    pub(in crate::translate) has_long_arrays: FxHashMap<LlvmType, bool>,
    /// The types that represent such types in initializers.
    pub(in crate::translate) chunked: FxHashMap<LlvmType, Id>,
    pub(in crate::translate) depth: u32,
}

impl ConstantTable {
    pub(in crate::translate) fn new(constants: usize) -> Self {
        ConstantTable {
            register: vec![None; constants],
            memory: vec![None; constants],
            indices: vec![None; constants],
            special: IdMap::new(0, false),
            address_forms: AddressForms::default(),
            has_long_arrays: FxHashMap::default(),
            chunked: FxHashMap::default(),
            depth: 0,
        }
    }
}
