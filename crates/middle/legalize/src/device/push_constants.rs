//! Push constants that are read from a storage buffer.
//!
//! A block of push constants already has a layout that is valid for storage buffers. Only the storage class changes: that of the
//! variable and that of every pointer into it.

use super::DescriptorLocation;
use super::shader_editor::ShaderEditor;
use spirula_spirv::Id;
use spirula_spirv::convert::to_version;
use spirula_spirv::grammar::enumerants::{Capability, Decoration, StorageClass};
use spirula_spirv::grammar::{Op, SpirvVersion};
use spirula_spirv::ir::{ModuleSection, SpirvModule};

/// Capabilities of push constants, and the equivalents for storage buffers.
const CAPABILITIES: &[(Capability, Capability)] = &[
    (
        Capability::StoragePushConstant8,
        Capability::StorageBuffer8BitAccess,
    ),
    (
        Capability::StoragePushConstant16,
        Capability::StorageBuffer16BitAccess,
    ),
];

/// First version in which storage buffers always have their own storage class.
const STORAGE: SpirvVersion = SpirvVersion::new(1, 4);

/// The shader with its push constants in a storage buffer, and the descriptor of that buffer.
pub fn move_push_constants(module: &SpirvModule) -> Option<(SpirvModule, DescriptorLocation)> {
    let mut module = module.clone();
    if module.version < STORAGE {
        to_version(&mut module, STORAGE).ok()?;
    }
    let mut editor = ShaderEditor {
        module: &mut module,
    };
    let place = editor.free_place();
    let globals = editor.module.section_insts(ModuleSection::Globals);
    let pushed = |class| StorageClass(class) == StorageClass::PushConstant;
    let mut variables: Vec<Id> = Vec::new();
    let mut changes = Vec::new();
    for inst in globals {
        match inst.op() {
            Op::TypePointer if pushed(inst.operand_word(0)) => changes.push((inst.handle(), 1)),
            Op::Variable if pushed(inst.operand_word(0)) => {
                changes.push((inst.handle(), 2));
                variables.extend(inst.result());
            }
            _ => {}
        }
    }
    for (inst, at) in changes {
        editor.module.words_mut(inst)[at] = StorageClass::StorageBuffer.0;
    }
    for variable in variables {
        editor.decorate_id(variable, Decoration::DescriptorSet, &[place.set]);
        editor.decorate_id(variable, Decoration::Binding, &[place.binding]);
        editor.decorate_id(variable, Decoration::NonWritable, &[]);
    }
    for (from, to) in CAPABILITIES {
        let declared = editor.module.section_insts(ModuleSection::Capabilities);
        let declared: Vec<_> = declared.filter(|c| c.operand_word(0) == from.0).collect();
        let declared: Vec<_> = declared.iter().map(|c| c.handle()).collect();
        if !declared.is_empty() {
            declared.iter().for_each(|c| editor.module.remove_inst(*c));
            editor.declare_capability(*to);
        }
    }
    Some((module, place))
}
