//! Buffer addresses: storage buffers are accessed by address instead of through descriptors.
//!
//! Pointers to storage buffers become physical pointers, which have no limit but memory. The addresses follow the push constants or,
//! where these have no room, come from a small storage buffer. Their order is that of the descriptors that they replace. Each
//! function that uses a buffer's variable loads the address first. Accesses are aligned as their scalars are, which is what the
//! layouts of storage buffers guarantee.

use super::DescriptorLocation;
use super::shader_editor::ShaderEditor;
use spirula_spirv::Id;
use spirula_spirv::analysis::{DefUse, IdDecorations, IdDefinitions};
use spirula_spirv::convert::to_version;
use spirula_spirv::grammar::enumerants::{
    AddressingModel, Capability, Decoration, MemoryModel, StorageClass,
};
use spirula_spirv::grammar::{Op, SpirvVersion};
use spirula_spirv::ir::{Func, Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::reflect::{BindingKind, EntryInterface, InterfaceBinding};

/// Bit of memory operands; its literal is the first that follows them.
const ALIGNED: u32 = 0x2;

/// First version in which storage buffers always have their own storage class.
const STORAGE: SpirvVersion = SpirvVersion::new(1, 4);

/// A shader whose storage buffers are accessed by address.
pub struct AddressedShader {
    /// The shader.
    pub module: SpirvModule,
    /// Source of the addresses, eight bytes for each of `buffers`.
    pub table: AddressSource,
    /// The replaced descriptors, in the order of the addresses.
    pub buffers: Vec<DescriptorLocation>,
}

/// Sources of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressSource {
    /// The push constants, from this offset on.
    Pushed(u32),
    /// A storage buffer at a descriptor.
    Bound(DescriptorLocation),
}

/// The shader whose entry point accesses storage buffers by address. `most` is the device's limit of push constants in bytes.
pub fn address_buffers(
    module: &SpirvModule,
    interface: &EntryInterface,
    most: u32,
) -> Option<AddressedShader> {
    if module.version < STORAGE {
        let mut module = module.clone();
        to_version(&mut module, STORAGE).ok()?;
        let interface = EntryInterface::from_module(&module, &interface.name).ok()?;
        return address_buffers(&module, &interface, most);
    }
    let storage = |b: &&InterfaceBinding| matches!(b.kind, BindingKind::Storage(_));
    let all = interface.bindings.iter().chain(&interface.unused);
    let variables: Vec<&InterfaceBinding> = all.filter(storage).collect();
    if !can_use_pointers(module, &variables) {
        return None;
    }
    let used = interface.bindings.iter().filter(storage);
    let mut buffers: Vec<DescriptorLocation> = used.map(to_descriptor_location).collect();
    buffers.dedup();
    let mut module = module.clone();
    let mut editor = ShaderEditor {
        module: &mut module,
    };
    let table = AddressTable::declare_in_push_constants(
        &mut editor,
        interface.push_constant_bytes,
        buffers.len(),
        most,
    )
    .unwrap_or_else(|| AddressTable::declare_in_buffer(&mut editor));
    physical_pointers(&mut editor, table.pointer);
    for variable in &variables {
        let row = buffers
            .iter()
            .position(|b| *b == to_descriptor_location(variable));
        table.replace_variable(&mut editor, variable.variable, row)?;
    }
    if let Some(replaced) = table.replaced {
        let definition = IdDefinitions::from_module(editor.module).defining_inst(replaced)?;
        remove_variable(&mut editor, replaced, definition);
    }
    let gone = variables.iter().map(|b| b.variable);
    let gone: Vec<Id> = gone.chain(table.replaced).collect();
    table.declare_requirements(&mut editor, interface.function, &gone);
    align_accesses(&mut editor);
    Some(AddressedShader {
        table: table.place,
        buffers,
        module,
    })
}

fn to_descriptor_location(binding: &InterfaceBinding) -> DescriptorLocation {
    DescriptorLocation {
        set: binding.set,
        binding: binding.binding,
    }
}

/// Whether all uses of storage buffers can be expressed with physical pointers.
fn can_use_pointers(module: &SpirvModule, variables: &[&InterfaceBinding]) -> bool {
    let memory = module.section_insts(ModuleSection::MemoryModel).next();
    let is_logical = memory.is_some_and(|m| m.operand_word(0) == AddressingModel::Logical.0);
    let is_vulkan = memory.is_some_and(|m| m.operand_word(1) == MemoryModel::Vulkan.0);
    let decorations = IdDecorations::from_module(module);
    let definitions = IdDefinitions::from_module(module);
    let is_plain = |b: &&InterfaceBinding| {
        let is = |decoration| decorations.get(module, b.variable, decoration).is_some();
        let is_shared = !is_vulkan && (is(Decoration::Coherent) || is(Decoration::Volatile));
        let class = definitions
            .get(module, b.variable)
            .map(|v| v.operand_word(0));
        b.count == 1 && !is_shared && class == Some(StorageClass::StorageBuffer.0)
    };
    // Array lengths need descriptors; copies would need an alignment on both sides.
    let stands = |i: InstRef<'_>| matches!(i.op(), Op::ArrayLength | Op::CopyMemory);
    let stands_in_the_way = module.all_insts().any(stands);
    is_logical && variables.iter().all(is_plain) && !stands_in_the_way
}

/// Makes all pointers to storage buffers physical, except for those to the table.
fn physical_pointers(editor: &mut ShaderEditor<'_>, table: Id) {
    let globals = editor.module.section_insts(ModuleSection::Globals);
    let pointers = globals.filter(|i| {
        let is_pointer =
            i.op() == Op::TypePointer && i.operand_word(0) == StorageClass::StorageBuffer.0;
        is_pointer && i.result().is_none_or(|id| id < table)
    });
    let pointers: Vec<_> = pointers.map(|i| (i.handle(), i.result())).collect();
    let physical: Vec<Id> = pointers.iter().filter_map(|(_, id)| *id).collect();
    for (inst, _) in pointers {
        editor.module.words_mut(inst)[1] = StorageClass::PhysicalStorageBuffer.0;
    }
    // Variables and parameters that hold such pointers need an aliasing decoration.
    let mut holding: Vec<(Id, Decoration)> = Vec::new();
    let definitions = IdDefinitions::from_module(editor.module);
    for inst in editor.module.all_insts() {
        let (Some(id), Some(ty)) = (inst.result(), inst.result_type()) else {
            continue;
        };
        match inst.op() {
            Op::FunctionParameter if physical.contains(&ty) => {
                holding.push((id, Decoration::Aliased));
            }
            Op::Variable => {
                let pointee = definitions.get(editor.module, ty).map(|p| p.id_operand(1));
                if pointee.is_some_and(|p| physical.contains(&p)) {
                    holding.push((id, Decoration::AliasedPointer));
                }
            }
            _ => {}
        }
    }
    for (id, decoration) in holding {
        editor.decorate_id(id, decoration, &[]);
    }
}

/// The table of addresses.
struct AddressTable {
    place: AddressSource,
    variable: Id,
    /// Type of the pointer to the table, newer than all types of the original module.
    pointer: Id,
    /// Type of pointers to an address, and of an address.
    row_pointer: Id,
    row: Id,
    /// Path to the first address.
    first: AddressPath,
    /// The variable that it replaced.
    replaced: Option<Id>,
}

/// Paths to an address.
#[derive(Clone, Copy)]
enum AddressPath {
    /// Elements of an array, which is this member.
    Array(Id),
    /// Members, from this one on.
    Member(u32),
}

impl AddressTable {
    /// Declares the table in a storage buffer.
    fn declare_in_buffer(editor: &mut ShaderEditor<'_>) -> AddressTable {
        let place = editor.free_place();
        let word = editor.declare_u32();
        let zero = editor.declare_constant(0);
        let row = editor.declare_type(Op::TypeVector, &[word.word(), 2]);
        let rows = editor.new_type(Op::TypeRuntimeArray, &[row.word()]);
        editor.decorate_id(rows, Decoration::ArrayStride, &[8]);
        let block = editor.new_type(Op::TypeStruct, &[rows.word()]);
        editor.decorate_id(block, Decoration::Block, &[]);
        let offset = [block.word(), 0, Decoration::Offset.0, 0];
        editor.append_instruction(ModuleSection::Annotations, Op::MemberDecorate, &offset);
        let pointer = editor.declare_pointer(StorageClass::StorageBuffer, block);
        let row_pointer = editor.declare_pointer(StorageClass::StorageBuffer, row);
        let variable = editor.declare_variable(pointer, StorageClass::StorageBuffer);
        editor.decorate_id(variable, Decoration::DescriptorSet, &[place.set]);
        editor.decorate_id(variable, Decoration::Binding, &[place.binding]);
        editor.decorate_id(variable, Decoration::NonWritable, &[]);
        AddressTable {
            place: AddressSource::Bound(place),
            variable,
            pointer,
            row_pointer,
            row,
            first: AddressPath::Array(zero),
            replaced: None,
        }
    }

    /// Declares the table after the push constants, where these have room and are only accessed member by member.
    fn declare_in_push_constants(
        editor: &mut ShaderEditor<'_>,
        bytes: u32,
        rows: usize,
        most: u32,
    ) -> Option<AddressTable> {
        let at = bytes.next_multiple_of(8);
        if u64::from(at) + 8 * rows as u64 > u64::from(most) {
            return None;
        }
        let old = PushBlock::find_in_module(editor.module)?;
        let word = editor.declare_u32();
        let row = editor.declare_type(Op::TypeVector, &[word.word(), 2]);
        let mut members = old.members;
        let first = members.len() as u32;
        members.resize(members.len() + rows, row.word());
        let block = editor.new_type(Op::TypeStruct, &members);
        editor.decorate_id(block, Decoration::Block, &[]);
        for words in &old.decorations {
            let words = [&[block.word()], &words[..]].concat();
            editor.append_instruction(ModuleSection::Annotations, Op::MemberDecorate, &words);
        }
        for member in 0..rows as u32 {
            let offset = at + 8 * member;
            let words = [block.word(), first + member, Decoration::Offset.0, offset];
            editor.append_instruction(ModuleSection::Annotations, Op::MemberDecorate, &words);
        }
        let pointer = editor.declare_pointer(StorageClass::PushConstant, block);
        let row_pointer = editor.declare_pointer(StorageClass::PushConstant, row);
        let variable = editor.declare_variable(pointer, StorageClass::PushConstant);
        for (inst, at) in old.uses {
            editor.module.words_mut(inst)[at] = variable.word();
        }
        Some(AddressTable {
            place: AddressSource::Pushed(at),
            variable,
            pointer,
            row_pointer,
            row,
            first: AddressPath::Member(first),
            replaced: old.variable,
        })
    }

    /// Replaces a variable by the address in a row of the table. A variable without a row is used by no function that runs.
    fn replace_variable(
        &self,
        editor: &mut ShaderEditor<'_>,
        variable: Id,
        row: Option<usize>,
    ) -> Option<()> {
        let definition = IdDefinitions::from_module(editor.module).defining_inst(variable)?;
        let ty = editor.module.inst(definition).result_type()?;
        let row = row.unwrap_or(0) as u32;
        let steps = match self.first {
            AddressPath::Array(member) => vec![member, editor.declare_constant(row)],
            AddressPath::Member(first) => vec![editor.declare_constant(first + row)],
        };
        for func in editor.module.functions().to_vec() {
            self.replace_in(editor, func, variable, ty, &steps);
        }
        remove_variable(editor, variable, definition);
        Some(())
    }

    fn replace_in(
        &self,
        editor: &mut ShaderEditor<'_>,
        func: Func,
        variable: Id,
        ty: Id,
        steps: &[Id],
    ) {
        let uses = DefUse::from_module(editor.module);
        let own: Vec<Inst> = editor
            .module
            .function_insts(func)
            .map(|i| i.handle())
            .collect();
        let users = uses
            .uses(variable)
            .filter(|place| own.contains(&place.inst));
        let users: Vec<_> = users.collect();
        let first = editor.module.function(func).blocks.first().copied();
        let (Some(first), false) = (first, users.is_empty()) else {
            return;
        };
        let mut body = editor.module.body(first);
        let after = body.find(|i| i.op() != Op::Variable && !i.op().is_line());
        let Some(after) = after.map(InstRef::handle) else {
            return;
        };
        let [at, address, pointer] = [0; 3].map(|_| editor.module.fresh_id());
        let chain = [self.row_pointer, at, self.variable];
        let chain = chain.iter().chain(steps).map(|id| id.word()).collect();
        let code = [
            (Op::AccessChain, chain),
            (Op::Load, [self.row, address, at].map(Id::word).to_vec()),
            (Op::Bitcast, [ty, pointer, address].map(Id::word).to_vec()),
        ];
        for (op, words) in code {
            let inst = editor.module.create_inst(op, &words);
            editor.module.insert_before(after, inst);
        }
        for place in users {
            editor.module.words_mut(place.inst)[usize::from(place.at)] = pointer.word();
        }
    }

    /// Declares the requirements of physical pointers, and the table in the interface.
    fn declare_requirements(&self, editor: &mut ShaderEditor<'_>, function: Id, gone: &[Id]) {
        editor.declare_capability(Capability::PhysicalStorageBufferAddresses);
        if editor.module.version < SpirvVersion::new(1, 5) {
            let mut words = Vec::new();
            let mut name = b"SPV_KHR_physical_storage_buffer".to_vec();
            name.resize((name.len() + 1).next_multiple_of(4), 0);
            let (chunks, _) = name.as_chunks();
            words.extend(chunks.iter().map(|c| u32::from_le_bytes(*c)));
            editor.append_instruction(ModuleSection::Extensions, Op::Extension, &words);
        }
        let memory = editor
            .module
            .section_insts(ModuleSection::MemoryModel)
            .next();
        if let Some(memory) = memory.map(InstRef::handle) {
            let model = AddressingModel::PhysicalStorageBuffer64.0;
            editor.module.words_mut(memory)[0] = model;
        }
        let points = editor.module.section_insts(ModuleSection::EntryPoints);
        let is_meant = |p: &InstRef<'_>| {
            let name = p.string_operand(2).len() / 4 + 1;
            p.id_operand(1) == function
                || p.id_operands(2 + name).any(|id| Some(id) == self.replaced)
        };
        let points: Vec<_> = points.map(|p| (p.handle(), is_meant(&p))).collect();
        for (point, is_meant) in points {
            let add: &[Id] = if is_meant { &[self.variable] } else { &[] };
            editor.edit_interface(point, add, gone);
        }
    }
}

/// Removes a variable with its names and decorations.
fn remove_variable(editor: &mut ShaderEditor<'_>, variable: Id, definition: Inst) {
    editor.drop_annotations(variable, |_| true);
    let names = editor.module.section_insts(ModuleSection::Names);
    let names: Vec<_> = names
        .filter(|n| n.id_operand(0) == variable)
        .map(|n| n.handle())
        .collect();
    names.iter().for_each(|n| editor.module.remove_inst(*n));
    editor.module.remove_inst(definition);
}

/// The original push constants of a module.
#[derive(Default)]
struct PushBlock {
    variable: Option<Id>,
    /// Types of the members.
    members: Vec<u32>,
    /// Decorations of members, without the type operand.
    decorations: Vec<Vec<u32>>,
    /// Uses of the variable by access chains.
    uses: Vec<(Inst, usize)>,
}

impl PushBlock {
    /// The push constants of a module with at most one such variable; `None` where it has several, or uses the variable otherwise than
    /// by its members.
    fn find_in_module(module: &SpirvModule) -> Option<PushBlock> {
        let is_pushed = |i: &InstRef<'_>| {
            i.op() == Op::Variable && i.operand_word(0) == StorageClass::PushConstant.0
        };
        let mut variables = module
            .section_insts(ModuleSection::Globals)
            .filter(is_pushed);
        let Some(variable) = variables.next() else {
            return Some(PushBlock::default());
        };
        if variables.next().is_some() {
            return None;
        }
        let definitions = IdDefinitions::from_module(module);
        let id = variable.result()?;
        let pointer = definitions.get(module, variable.result_type()?)?;
        let block = definitions.get(module, pointer.id_operand(1))?;
        let about = |i: &InstRef<'_>| {
            i.op() == Op::MemberDecorate && Some(i.id_operand(0)) == block.result()
        };
        let decorations = module
            .section_insts(ModuleSection::Annotations)
            .filter(about);
        let mut uses = Vec::new();
        for place in DefUse::from_module(module).uses(id) {
            match module.inst(place.inst).op() {
                op if op.is_plain_access_chain() => {
                    uses.push((place.inst, usize::from(place.at)));
                }
                Op::Name | Op::EntryPoint => {}
                _ => return None,
            }
        }
        Some(PushBlock {
            variable: Some(id),
            members: block.operands().to_vec(),
            decorations: decorations.map(|i| i.operands()[1..].to_vec()).collect(),
            uses,
        })
    }
}

/// Adds the alignment to every access by a physical pointer.
fn align_accesses(editor: &mut ShaderEditor<'_>) {
    let definitions = IdDefinitions::from_module(editor.module);
    let module = &*editor.module;
    // The pointee of a physical pointer.
    let pointee = |pointer: Id| {
        let value = definitions.get(module, pointer)?;
        let ty = definitions.get(module, value.result_type()?)?;
        let is_physical = ty.op() == Op::TypePointer
            && ty.operand_word(0) == StorageClass::PhysicalStorageBuffer.0;
        is_physical.then(|| ty.id_operand(1))
    };
    let mut changes: Vec<(Inst, usize, u32)> = Vec::new();
    for inst in module
        .functions()
        .iter()
        .flat_map(|f| module.function_insts(*f))
    {
        // The position of the memory operands among all words after the first.
        let (pointer, at) = match inst.op() {
            Op::Load => (inst.get_id(0), 3),
            Op::Store => (inst.get_id(0), 2),
            _ => continue,
        };
        if let Some(ty) = pointer.and_then(pointee) {
            changes.push((inst.handle(), at, scalar_size(module, &definitions, ty)));
        }
    }
    for (inst, at, size) in changes {
        let mut words = editor.module.words_mut(inst).to_vec();
        match words.get_mut(at) {
            None => words.extend([ALIGNED, size]),
            Some(mask) if *mask & ALIGNED != 0 => {}
            Some(mask) => {
                *mask |= ALIGNED;
                words.insert(at + 1, size);
            }
        }
        editor.module.replace_words(inst, &words);
    }
}

/// Bytes of the smallest scalar of a type.
fn scalar_size(module: &SpirvModule, definitions: &IdDefinitions, ty: Id) -> u32 {
    let mut smallest = 8;
    let mut open = vec![ty];
    let mut seen = Vec::new();
    while let Some(ty) = open.pop() {
        let Some(inst) = definitions.get(module, ty).filter(|_| !seen.contains(&ty)) else {
            continue;
        };
        seen.push(ty);
        match inst.op() {
            Op::TypeInt | Op::TypeFloat => smallest = smallest.min(inst.operand_word(0) / 8),
            Op::TypeStruct => open.extend(inst.id_operands(0)),
            Op::TypeVector | Op::TypeMatrix | Op::TypeArray | Op::TypeRuntimeArray => {
                open.push(inst.id_operand(0));
            }
            _ => {}
        }
    }
    smallest
}
