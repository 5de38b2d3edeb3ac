//! Shader state: layouts, arrays and specialised lengths of a module that becomes a shader.

use super::options::is_shader_triple;
use crate::ir::{LlvmMetadata, LlvmModule};
use rustc_hash::FxHashMap;
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::{Id, IdMap};
use std::rc::Rc;

/// Additional state of a translation to a shader.
#[derive(Debug)]
pub(super) struct ShaderTranslation {
    /// By type: the row of its layout.
    pub(super) layouts: Vec<Option<LlvmMetadata>>,
    /// Lengths that can be specialised.
    pub(super) lengths: StatedArrayLengths,
    /// Members of structures.
    pub(super) members: IdMap<Option<Rc<[Id]>>>,
    /// Arrays by element, length and stride.
    pub(super) arrays: FxHashMap<(Id, u64, u32), Id>,
    /// Element and length of arrays.
    pub(super) elements: IdMap<Option<(Id, u64)>>,
    /// Row-major matrices and types that contain them, with the number of members that are composed
    /// again.
    pub(super) composed: FxHashMap<Id, u64>,
    /// GLSL's extended instructions.
    pub(super) glsl: Option<Id>,
}

impl ShaderTranslation {
    /// The state for a shader, if the triple names one.
    pub(super) fn from_module(module: &LlvmModule, triple: &str) -> Option<ShaderTranslation> {
        if !is_shader_triple(triple) {
            return None;
        }
        Some(ShaderTranslation {
            layouts: rows_of_types(module, "spirv.Layouts"),
            lengths: StatedArrayLengths::new(module),
            members: IdMap::new(0, None),
            arrays: FxHashMap::default(),
            elements: IdMap::new(0, None),
            composed: FxHashMap::default(),
            glsl: None,
        })
    }

    /// The latest SPIR-V version that has all decorations of the layouts, if there is a limit:
    /// SPIR-V 1.4 removed `BufferBlock`.
    pub(super) fn find_latest_version(&self, module: &LlvmModule) -> Option<SpirvVersion> {
        let metadata = &module.metadata;
        let first = |row: LlvmMetadata| metadata.operands(row).first().copied().flatten();
        let is_old = |one: LlvmMetadata| {
            let number = first(one).and_then(|number| metadata.as_constant(number));
            let number = number.and_then(|number| module.consts.as_u64(number));
            number == Some(Decoration::BufferBlock.0.into())
        };
        let mut rows = self.layouts.iter().flatten();
        let old = rows.any(|row| {
            let own = metadata.operands(*row).get(1).copied().flatten();
            let own = own.map_or(&[][..], |own| metadata.operands(own));
            own.iter().flatten().any(|one| is_old(*one))
        });
        old.then_some(SpirvVersion::new(1, 3))
    }
}

/// The rows of a named metadata list, by the type that each begins with.
pub(super) fn rows_of_types(module: &LlvmModule, name: &str) -> Vec<Option<LlvmMetadata>> {
    let mut rows = vec![None; module.types.len()];
    let metadata = &module.metadata;
    for &row in module.named_metadata(name) {
        let first = metadata.operands(row).first().copied().flatten();
        if let Some(constant) = first.and_then(|first| metadata.as_constant(first)) {
            rows[module.consts.ty(constant).index()] = Some(row);
        }
    }
    rows
}

/// The lengths that a module states.
#[derive(Debug)]
pub(super) struct StatedArrayLengths {
    /// By type: the row of its length. Empty if there are no rows.
    pub(super) rows: Vec<Option<LlvmMetadata>>,
    /// Constants that were already translated, by node.
    pub(super) made: FxHashMap<LlvmMetadata, Id>,
    /// Nesting depth of the current operation.
    pub(super) depth: u32,
}

/// The list of lengths.
pub(super) const LIST: &str = "spirv.Lengths";

impl StatedArrayLengths {
    pub(super) fn new(module: &LlvmModule) -> StatedArrayLengths {
        let rows = match module.named_metadata(LIST) {
            [] => Vec::new(),
            _ => rows_of_types(module, LIST),
        };
        StatedArrayLengths {
            rows,
            made: FxHashMap::default(),
            depth: 0,
        }
    }
}
