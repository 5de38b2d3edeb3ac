//! Storage buffers by their addresses.
//!
//! Pointers to storage buffers become physical ones, which have no limit but memory. The addresses come
//! from a small storage buffer, in the order of the descriptors that they replace; each function that uses a
//! buffer's variable loads its address first. What is accessed is aligned as its scalars are, which is
//! what the layouts of storage buffers ask for.

use super::Descriptor;
use super::editor::Editor;
use spirula_spirv::Id;
use spirula_spirv::analysis::{Decorations, DefUse, Definitions};
use spirula_spirv::convert::to_version;
use spirula_spirv::grammar::enumerants::{
    AddressingModel, Capability, Decoration, MemoryModel, StorageClass,
};
use spirula_spirv::grammar::{Op, Version};
use spirula_spirv::ir::{Func, Inst, InstRef, Module, Section};
use spirula_spirv::reflect::{Binding, BindingKind, Interface};

/// Bit of memory operands with the literal that follows them first but for none.
const ALIGNED: u32 = 0x2;

/// The version from which on storage buffers have a storage class of their own and nothing else.
const STORAGE: Version = Version::new(1, 4);

/// A shader whose storage buffers come by address.
pub struct Addressed {
    /// The shader.
    pub module: Module,
    /// Where the buffer of addresses is bound, eight bytes for each of `buffers`.
    pub table: Descriptor,
    /// The descriptors that are no more, in the order of the addresses.
    pub buffers: Vec<Descriptor>,
}

/// The shader with the storage buffers of an entry point by address.
pub fn by_address(module: &Module, interface: &Interface) -> Option<Addressed> {
    if module.version < STORAGE {
        let mut module = module.clone();
        to_version(&mut module, STORAGE).ok()?;
        let interface = Interface::of(&module, &interface.name).ok()?;
        return by_address(&module, &interface);
    }
    let storage = |b: &&Binding| matches!(b.kind, BindingKind::Storage(_));
    let all = interface.bindings.iter().chain(&interface.unused);
    let variables: Vec<&Binding> = all.filter(storage).collect();
    if !can(module, &variables) {
        return None;
    }
    let used = interface.bindings.iter().filter(storage);
    let mut buffers: Vec<Descriptor> = used.map(place).collect();
    buffers.dedup();
    let mut module = module.clone();
    let mut editor = Editor {
        module: &mut module,
    };
    let table = Table::new(&mut editor);
    physical_pointers(&mut editor, table.pointer);
    for variable in &variables {
        let row = buffers.iter().position(|b| *b == place(variable));
        table.replace(&mut editor, variable.variable, row)?;
    }
    let gone: Vec<Id> = variables.iter().map(|b| b.variable).collect();
    table.declare(&mut editor, interface.function, &gone);
    align(&mut editor);
    Some(Addressed {
        table: table.place,
        buffers,
        module,
    })
}

fn place(binding: &Binding) -> Descriptor {
    Descriptor {
        set: binding.set,
        binding: binding.binding,
    }
}

/// Whether all that the module does with its storage buffers can be done with physical pointers.
fn can(module: &Module, variables: &[&Binding]) -> bool {
    let memory = module.section(Section::MemoryModel).next();
    let is_logical = memory.is_some_and(|m| m.word(0) == AddressingModel::Logical.0);
    let is_vulkan = memory.is_some_and(|m| m.word(1) == MemoryModel::Vulkan.0);
    let decorations = Decorations::compute(module);
    let definitions = Definitions::compute(module);
    let is_plain = |b: &&Binding| {
        let is = |what| decorations.get(module, b.variable, what).is_some();
        let is_shared = !is_vulkan && (is(Decoration::Coherent) || is(Decoration::Volatile));
        let class = definitions.get(module, b.variable).map(|v| v.word(0));
        b.count == 1 && !is_shared && class == Some(StorageClass::StorageBuffer.0)
    };
    // Lengths of arrays are those of descriptors; copies would need an alignment on either side.
    let stands = |i: InstRef<'_>| matches!(i.op(), Op::ArrayLength | Op::CopyMemory);
    let stands_in_the_way = module.all_insts().any(stands);
    is_logical && variables.iter().all(is_plain) && !stands_in_the_way
}

/// Has every pointer to storage buffers be physical, but for those of the table.
fn physical_pointers(editor: &mut Editor<'_>, table: Id) {
    let globals = editor.module.section(Section::Globals);
    let pointers = globals.filter(|i| {
        let is_pointer = i.op() == Op::TypePointer && i.word(0) == StorageClass::StorageBuffer.0;
        is_pointer && i.result().is_none_or(|id| id < table)
    });
    let pointers: Vec<_> = pointers.map(|i| (i.handle(), i.result())).collect();
    let physical: Vec<Id> = pointers.iter().filter_map(|(_, id)| *id).collect();
    for (inst, _) in pointers {
        editor.module.words_mut(inst)[1] = StorageClass::PhysicalStorageBuffer.0;
    }
    // Variables and parameters that hold such pointers have to say whether others point there.
    let mut holding: Vec<(Id, Decoration)> = Vec::new();
    let definitions = Definitions::compute(editor.module);
    for inst in editor.module.all_insts() {
        let (Some(id), Some(ty)) = (inst.result(), inst.result_type()) else {
            continue;
        };
        match inst.op() {
            Op::FunctionParameter if physical.contains(&ty) => {
                holding.push((id, Decoration::Aliased));
            }
            Op::Variable => {
                let pointee = definitions.get(editor.module, ty).map(|p| p.id(1));
                if pointee.is_some_and(|p| physical.contains(&p)) {
                    holding.push((id, Decoration::AliasedPointer));
                }
            }
            _ => {}
        }
    }
    for (id, decoration) in holding {
        editor.decorate(id, decoration, &[]);
    }
}

/// The buffer of addresses.
struct Table {
    place: Descriptor,
    variable: Id,
    /// Type of pointers to the buffer, made after all of the module's own.
    pointer: Id,
    /// Type of pointers to an address, and of an address.
    row_pointer: Id,
    row: Id,
    zero: Id,
}

impl Table {
    fn new(editor: &mut Editor<'_>) -> Table {
        let place = editor.free_place();
        let word = editor.u32();
        let zero = editor.constant(0);
        let row = editor.ty(Op::TypeVector, &[word.word(), 2]);
        let rows = editor.new_type(Op::TypeRuntimeArray, &[row.word()]);
        editor.decorate(rows, Decoration::ArrayStride, &[8]);
        let block = editor.new_type(Op::TypeStruct, &[rows.word()]);
        editor.decorate(block, Decoration::Block, &[]);
        let offset = [block.word(), 0, Decoration::Offset.0, 0];
        editor.push(Section::Annotations, Op::MemberDecorate, &offset);
        let pointer = editor.pointer(StorageClass::StorageBuffer, block);
        let row_pointer = editor.pointer(StorageClass::StorageBuffer, row);
        let variable = editor.variable(pointer, StorageClass::StorageBuffer);
        editor.decorate(variable, Decoration::DescriptorSet, &[place.set]);
        editor.decorate(variable, Decoration::Binding, &[place.binding]);
        editor.decorate(variable, Decoration::NonWritable, &[]);
        Table {
            place,
            variable,
            pointer,
            row_pointer,
            row,
            zero,
        }
    }

    /// Has every function use the address in a row instead of a variable, which goes; one without a row is
    /// used by no function that is run.
    fn replace(&self, editor: &mut Editor<'_>, variable: Id, row: Option<usize>) -> Option<()> {
        let definition = Definitions::compute(editor.module).handle(variable)?;
        let ty = editor.module.inst(definition).result_type()?;
        let row = editor.constant(row.unwrap_or(0) as u32);
        for func in editor.module.functions().to_vec() {
            self.replace_in(editor, func, variable, ty, row);
        }
        editor.forget(variable, |_| true);
        let names = editor.module.section(Section::Names);
        let names: Vec<_> = names
            .filter(|n| n.id(0) == variable)
            .map(|n| n.handle())
            .collect();
        names.iter().for_each(|n| editor.module.remove(*n));
        editor.module.remove(definition);
        Some(())
    }

    fn replace_in(&self, editor: &mut Editor<'_>, func: Func, variable: Id, ty: Id, row: Id) {
        let uses = DefUse::compute(editor.module);
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
        let behind = body.find(|i| i.op() != Op::Variable && !i.op().is_line());
        let Some(behind) = behind.map(InstRef::handle) else {
            return;
        };
        let [at, address, pointer] = [0; 3].map(|_| editor.module.fresh_id());
        let words = [self.row_pointer, at, self.variable, self.zero, row].map(Id::word);
        let code = [
            (Op::AccessChain, words.to_vec()),
            (Op::Load, [self.row, address, at].map(Id::word).to_vec()),
            (Op::Bitcast, [ty, pointer, address].map(Id::word).to_vec()),
        ];
        for (op, words) in code {
            let inst = editor.module.create(op, &words);
            editor.module.insert_before(behind, inst);
        }
        for place in users {
            editor.module.words_mut(place.inst)[usize::from(place.at)] = pointer.word();
        }
    }

    /// Declares what physical pointers need, and the table in the interface.
    fn declare(&self, editor: &mut Editor<'_>, function: Id, gone: &[Id]) {
        editor.capability(Capability::PhysicalStorageBufferAddresses);
        if editor.module.version < Version::new(1, 5) {
            let mut words = Vec::new();
            let mut name = b"SPV_KHR_physical_storage_buffer".to_vec();
            name.resize((name.len() + 1).next_multiple_of(4), 0);
            let (chunks, _) = name.as_chunks();
            words.extend(chunks.iter().map(|c| u32::from_le_bytes(*c)));
            editor.push(Section::Extensions, Op::Extension, &words);
        }
        let memory = editor.module.section(Section::MemoryModel).next();
        if let Some(memory) = memory.map(InstRef::handle) {
            let model = AddressingModel::PhysicalStorageBuffer64.0;
            editor.module.words_mut(memory)[0] = model;
        }
        let points = editor.module.section(Section::EntryPoints);
        let points: Vec<_> = points.map(|p| (p.handle(), p.id(1))).collect();
        for (point, of) in points {
            let add: &[Id] = match of == function {
                true => &[self.variable],
                false => &[],
            };
            editor.interface(point, add, gone);
        }
    }
}

/// Says of every access by a physical pointer how it is aligned.
fn align(editor: &mut Editor<'_>) {
    let definitions = Definitions::compute(editor.module);
    let module = &*editor.module;
    // The pointee where a pointer is physical.
    let pointee = |pointer: Id| {
        let value = definitions.get(module, pointer)?;
        let ty = definitions.get(module, value.result_type()?)?;
        let is_physical =
            ty.op() == Op::TypePointer && ty.word(0) == StorageClass::PhysicalStorageBuffer.0;
        is_physical.then(|| ty.id(1))
    };
    let mut changes: Vec<(Inst, usize, u32)> = Vec::new();
    for inst in module
        .functions()
        .iter()
        .flat_map(|f| module.function_insts(*f))
    {
        // The place of the memory operands among all words behind the first.
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
fn scalar_size(module: &Module, definitions: &Definitions, ty: Id) -> u32 {
    let mut smallest = 8;
    let mut open = vec![ty];
    let mut seen = Vec::new();
    while let Some(ty) = open.pop() {
        let Some(inst) = definitions.get(module, ty).filter(|_| !seen.contains(&ty)) else {
            continue;
        };
        seen.push(ty);
        match inst.op() {
            Op::TypeInt | Op::TypeFloat => smallest = smallest.min(inst.word(0) / 8),
            Op::TypeStruct => open.extend(inst.ids(0)),
            Op::TypeVector | Op::TypeMatrix | Op::TypeArray | Op::TypeRuntimeArray => {
                open.push(inst.id(0));
            }
            _ => {}
        }
    }
    smallest
}
