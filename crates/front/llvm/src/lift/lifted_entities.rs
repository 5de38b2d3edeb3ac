//! Lifted entities: the LLVM counterparts of types, specialised lengths and source locations.

use crate::ir::{LlvmMetadata, LlvmType};
use spirula_scalar::fold;
use spirula_spirv::{Id, IdMap};

/// The LLVM counterpart of a SPIR-V type.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiftedType {
    /// Its counterpart.
    pub(super) ty: LlvmType,
    /// Its structure.
    pub(super) shape: LiftedTypeShape,
}

/// The structure of a SPIR-V type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LiftedTypeShape {
    /// A type without members.
    Plain,
    /// A pointer to a type; untyped pointers have `None`.
    Pointer(Option<Id>),
    /// An array, vector or matrix, by its element type.
    Elements(Id),
    /// A structure that stands for an array whose length can be specialised, by its element type.
    SpecialisedArray(Id),
    /// A structure, whose members its instruction lists.
    Struct,
}

/// Constants that lengths can be computed from.
pub(super) struct LiftedArrayLengths {
    /// Integers and Booleans that can be specialised.
    pub(super) known: IdMap<Option<SpecialisableNumber>>,
    pub(super) rows: Vec<LlvmMetadata>,
}

/// A number that can be specialised.
#[derive(Clone, Copy)]
pub(super) struct SpecialisableNumber {
    pub(super) default: fold::FoldConstant,
    pub(super) node: LlvmMetadata,
}

impl LiftedArrayLengths {
    pub(super) fn new(bound: u32) -> LiftedArrayLengths {
        LiftedArrayLengths {
            known: IdMap::new(bound, None),
            rows: Vec::new(),
        }
    }
}

/// The compile unit and the files of a module.
pub(super) struct LiftedCompileUnit {
    /// The files, by the ids of their names.
    pub(super) files: IdMap<Option<LlvmMetadata>>,
    pub(super) unit: Option<LlvmMetadata>,
}

impl LiftedCompileUnit {
    pub(super) fn new(bound: u32) -> Self {
        LiftedCompileUnit {
            files: IdMap::new(bound, None),
            unit: None,
        }
    }
}

/// A source location: id of the file name, line and column.
pub(super) type LiftedSourceLine = (Id, u32, u32);

/// The source locations of a function.
#[derive(Default)]
pub(super) struct LiftedFunctionLines {
    /// That of the next instruction.
    pub(super) line: Option<LiftedSourceLine>,
    /// The function, and the file that it is of.
    pub(super) subprogram: Option<(LlvmMetadata, Id)>,
    /// The most recent location and its node.
    pub(super) last: Option<(LiftedSourceLine, LlvmMetadata)>,
}
