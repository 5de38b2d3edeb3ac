//! Shader editor: types, constants, variables and decorations that a module gets where it lacks them.

use super::DescriptorLocation;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Capability, Decoration, StorageClass};
use spirula_spirv::ir::{Inst, ModuleSection, SpirvModule};

/// A module that is being changed.
pub struct ShaderEditor<'m> {
    pub module: &'m mut SpirvModule,
}

impl ShaderEditor<'_> {
    /// Appends an instruction to a section.
    pub fn append_instruction(&mut self, section: ModuleSection, op: Op, words: &[u32]) -> Inst {
        let inst = self.module.create_inst(op, words);
        self.module.append_inst(section.list(), inst);
        inst
    }

    /// Declares a type, or finds it where the module has it; for types that must not be declared twice.
    pub fn declare_type(&mut self, op: Op, operands: &[u32]) -> Id {
        let mut globals = self.module.section_insts(ModuleSection::Globals);
        let known = globals.find(|inst| inst.op() == op && inst.operands() == operands);
        if let Some(id) = known.and_then(|inst| inst.result()) {
            return id;
        }
        self.new_type(op, operands)
    }

    /// Declares a new type. Structures are distinguished by their decorations.
    pub fn new_type(&mut self, op: Op, operands: &[u32]) -> Id {
        let id = self.module.fresh_id();
        let words = [&[id.word()], operands].concat();
        self.append_instruction(ModuleSection::Globals, op, &words);
        id
    }

    /// Declares the unsigned 32-bit integer type.
    pub fn declare_u32(&mut self) -> Id {
        self.declare_type(Op::TypeInt, &[32, 0])
    }

    /// Declares a pointer type.
    pub fn declare_pointer(&mut self, class: StorageClass, pointee: Id) -> Id {
        self.new_type(Op::TypePointer, &[class.0, pointee.word()])
    }

    /// Declares a constant of 32 bits.
    pub fn declare_constant(&mut self, value: u32) -> Id {
        let (ty, id) = (self.declare_u32(), self.module.fresh_id());
        self.append_instruction(
            ModuleSection::Globals,
            Op::Constant,
            &[ty.word(), id.word(), value],
        );
        id
    }

    /// Declares a global variable.
    pub fn declare_variable(&mut self, pointer: Id, class: StorageClass) -> Id {
        let id = self.module.fresh_id();
        self.append_instruction(
            ModuleSection::Globals,
            Op::Variable,
            &[pointer.word(), id.word(), class.0],
        );
        id
    }

    /// Decorates an id.
    pub fn decorate_id(&mut self, id: Id, decoration: Decoration, operands: &[u32]) {
        let words = [&[id.word(), decoration.0], operands].concat();
        self.append_instruction(ModuleSection::Annotations, Op::Decorate, &words);
    }

    /// Declares a capability once.
    pub fn declare_capability(&mut self, capability: Capability) {
        let mut declared = self.module.section_insts(ModuleSection::Capabilities);
        if !declared.any(|c| c.operand_word(0) == capability.0) {
            self.append_instruction(ModuleSection::Capabilities, Op::Capability, &[capability.0]);
        }
    }

    /// Drops the decorations of an id that satisfy `is_meant`.
    pub fn drop_annotations(&mut self, id: Id, is_meant: impl Fn(Decoration) -> bool) {
        let about = |section| {
            let all = self.module.section_insts(section);
            let about = all.filter(|i| {
                let ops = [Op::Decorate, Op::DecorateId, Op::DecorateString];
                ops.contains(&i.op())
                    && i.id_operand(0) == id
                    && is_meant(Decoration(i.operand_word(1)))
            });
            about.map(|i| i.handle()).collect::<Vec<_>>()
        };
        for inst in about(ModuleSection::Annotations) {
            self.module.remove_inst(inst);
        }
    }

    /// Finds a free binding of set 0.
    pub fn free_place(&self) -> DescriptorLocation {
        let decorated = self.module.section_insts(ModuleSection::Annotations);
        let decorated = decorated.filter(|i| i.op() == Op::Decorate);
        let bindings = decorated.filter(|i| i.operand_word(1) == Decoration::Binding.0);
        let highest = bindings.map(|i| i.operand_word(2)).max();
        DescriptorLocation {
            set: 0,
            binding: highest.map_or(0, |n| n.saturating_add(1)),
        }
    }

    /// Adds variables to the interface of an entry point, and removes others.
    pub fn edit_interface(&mut self, point: Inst, add: &[Id], drop: &[Id]) {
        let inst = self.module.inst(point);
        let name = inst.string_operand(2).len() / 4 + 1;
        let (head, ids) = inst.operands().split_at(2 + name);
        let kept = ids
            .iter()
            .filter(|w| Id::new(**w).is_none_or(|id| !drop.contains(&id)));
        let mut words = head.to_vec();
        words.extend(kept.copied());
        words.extend(add.iter().map(|id| id.word()));
        self.module.replace_words(point, &words);
    }
}
