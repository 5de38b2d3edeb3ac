//! Traversal of a module: sections, functions, blocks, instructions, operands; names, definitions, uses.

use crate::body::{ask, list, status};
use crate::error::{ApiFailure, SpirulaError, SpirulaStatus, run_guarded_or};
use crate::handle::{self, OutPointer, SPIRULA_NONE, fill_buffer, get_mut, get_ref, handle_number};
use crate::module::SpirulaModule;
use crate::text::{SpirulaName, SpirulaText};
use spirula_spirv::analysis::IdNames;
use spirula_spirv::grammar::{Op, OperandCategory, ParsedOperand};
use spirula_spirv::ir::{InstRef, ModuleSection, SpirvModule};

/// An instruction. Its pointers stay valid until the module changes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SpirulaInstruction {
    /// Its number.
    pub instruction: u32,
    /// Opcode.
    pub opcode: u16,
    /// Result id, or 0.
    pub result: u32,
    /// Result type, or 0.
    pub result_type: u32,
    /// All words after the first, including result type and result id.
    pub words: *const u32,
    /// Number of these words.
    pub word_count: usize,
    /// Words after result type and result id.
    pub operands: *const u32,
    /// Number of these words.
    pub operand_word_count: usize,
}

/// The kind of an operand.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpirulaOperandClass {
    /// An id.
    Id = 0,
    /// One of several named values.
    Enumerant = 1,
    /// A mask of named bits.
    Mask = 2,
    /// A number or a string.
    Literal = 3,
}

/// An operand of an instruction; result type and result id count as operands.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SpirulaOperand {
    /// Name in the specification; may be empty.
    pub name: SpirulaName,
    /// Name of its kind in the grammar, such as `IdRef` or `StorageClass`.
    pub kind: SpirulaName,
    /// Its kind.
    pub operand_class: SpirulaOperandClass,
    /// Position of its first word in the instruction.
    pub at: usize,
    /// Its words: one, or more for strings and wide numbers.
    pub word_count: usize,
}

/// A use of an id.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SpirulaUse {
    /// The instruction.
    pub instruction: u32,
    /// Position among the instruction's words.
    pub at: u32,
}

fn describe_instruction(inst: InstRef<'_>) -> SpirulaInstruction {
    SpirulaInstruction {
        instruction: inst.handle().index() as u32,
        opcode: inst.op().0,
        result: inst.result().map_or(0, Into::into),
        result_type: inst.result_type().map_or(0, Into::into),
        words: inst.words().as_ptr(),
        word_count: inst.words().len(),
        operands: inst.operands().as_ptr(),
        operand_word_count: inst.operands().len(),
    }
}

/// The number of the first instruction of a section; `SPIRULA_NONE` if it is empty. Sections are counted from 0 in
/// the order of the specification: capabilities, extensions, imports, memory model, entry points, execution modes,
/// sources, names, processed, annotations, globals. Section 11 holds instructions after the last function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_section_first(module: *const SpirulaModule, section: u32) -> u32 {
    ask!(SPIRULA_NONE, module.module, |module| {
        let section = ModuleSection::ALL.get(section as usize);
        let first = section.and_then(|s| module.section_insts(*s).next());
        Ok(handle_number(first.map(|i| i.handle().index())))
    })
}

/// The number of functions of a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_function_count(module: *const SpirulaModule) -> usize {
    ask!(0, module.module, |module| Ok(module.functions().len()))
}

/// The function at a position in the module; `SPIRULA_NONE` if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_function_at(module: *const SpirulaModule, position: usize) -> u32 {
    ask!(SPIRULA_NONE, module.module, |module| {
        let func = module.functions().get(position);
        Ok(handle_number(func.map(|f| f.index())))
    })
}

/// The id of a function; 0 if there is no such function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_function_id(module: *const SpirulaModule, function: u32) -> u32 {
    ask!(0, module.module, |module| {
        Ok(module
            .function_id(handle::find_func(module, function)?)
            .word())
    })
}

/// The instruction `OpFunction` of a function; `SPIRULA_NONE` if there is no such function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_function_definition(
    module: *const SpirulaModule,
    function: u32,
) -> u32 {
    ask!(SPIRULA_NONE, module.module, |module| {
        let def = module.function(handle::find_func(module, function)?).def;
        Ok(def.index() as u32)
    })
}

/// The first parameter of a function; `SPIRULA_NONE` if it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_function_first_parameter(
    module: *const SpirulaModule,
    function: u32,
) -> u32 {
    ask!(SPIRULA_NONE, module.module, |module| {
        let params = module.function(handle::find_func(module, function)?).params;
        let first = module.list_insts(params).next();
        Ok(handle_number(first.map(|i| i.handle().index())))
    })
}

/// The blocks of a function in their order, the entry block first. Returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_function_blocks(
    module: *const SpirulaModule,
    function: u32,
    buffer: *mut u32,
    capacity: usize,
) -> usize {
    list!(module.module, buffer, capacity, |module| {
        let blocks = &module.function(handle::find_func(module, function)?).blocks;
        let blocks: Vec<u32> = blocks.iter().map(|b| b.index() as u32).collect();
        Ok(blocks)
    })
}

/// The id of a block's label; 0 if there is no such block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_block_label(module: *const SpirulaModule, block: u32) -> u32 {
    ask!(0, module.module, |module| {
        Ok(module.label(handle::find_block(module, block)?).word())
    })
}

/// The first instruction after a block's label.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_block_first(module: *const SpirulaModule, block: u32) -> u32 {
    ask!(SPIRULA_NONE, module.module, |module| {
        let first = module.body(handle::find_block(module, block)?).next();
        Ok(handle_number(first.map(|i| i.handle().index())))
    })
}

/// The terminator of a block, its last instruction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_block_terminator(module: *const SpirulaModule, block: u32) -> u32 {
    ask!(SPIRULA_NONE, module.module, |module| {
        let last = module.body(handle::find_block(module, block)?).next_back();
        Ok(handle_number(last.map(|i| i.handle().index())))
    })
}

/// The merge instruction of a block; `SPIRULA_NONE` if it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_block_merge(module: *const SpirulaModule, block: u32) -> u32 {
    ask!(SPIRULA_NONE, module.module, |module| {
        let merge = module.merge_inst(handle::find_block(module, block)?);
        Ok(handle_number(merge.map(|i| i.handle().index())))
    })
}

/// The next instruction in its section or block; `SPIRULA_NONE` after the last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_instruction_next(
    module: *const SpirulaModule,
    instruction: u32,
) -> u32 {
    ask!(SPIRULA_NONE, module.module, |module| {
        let next = module.next(handle::find_inst(module, instruction)?);
        Ok(handle_number(next.map(|i| i.index())))
    })
}

/// The previous instruction in its section or block; `SPIRULA_NONE` before the first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_instruction_previous(
    module: *const SpirulaModule,
    instruction: u32,
) -> u32 {
    ask!(SPIRULA_NONE, module.module, |module| {
        let previous = module.previous(handle::find_inst(module, instruction)?);
        Ok(handle_number(previous.map(|i| i.index())))
    })
}

/// The contents of an instruction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_instruction_get(
    module: *const SpirulaModule,
    instruction: u32,
    description: *mut SpirulaInstruction,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (module, out) = unsafe { (&get_ref(module)?.module, OutPointer::new(description)?) };
        out.set_value(describe_instruction(
            module.inst(handle::find_inst(module, instruction)?),
        ));
        Ok(())
    })
}

/// The operands of an instruction, split by the grammar; result type and result id count as operands. Returns their
/// number. Operands after a word that the grammar does not know are left out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_instruction_operands(
    module: *const SpirulaModule,
    instruction: u32,
    buffer: *mut SpirulaOperand,
    capacity: usize,
) -> usize {
    list!(module.module, buffer, capacity, |module| {
        let inst = module.inst(handle::find_inst(module, instruction)?);
        let parsed = inst.parse_operands().map_while(Result::ok);
        let operands: Vec<SpirulaOperand> = parsed.map(describe_operand).collect();
        Ok(operands)
    })
}

fn describe_operand(parsed: ParsedOperand<'_>) -> SpirulaOperand {
    let info = parsed.kind.info();
    SpirulaOperand {
        name: SpirulaName::from_static(parsed.name),
        kind: SpirulaName::from_static(info.name),
        operand_class: match info.category {
            OperandCategory::Id => SpirulaOperandClass::Id,
            OperandCategory::ValueEnum => SpirulaOperandClass::Enumerant,
            OperandCategory::BitEnum => SpirulaOperandClass::Mask,
            OperandCategory::Literal | OperandCategory::Composite => SpirulaOperandClass::Literal,
        },
        at: parsed.at,
        word_count: parsed.words.len(),
    }
}

/// The name of an opcode with its `Op`; empty if the grammar does not know it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_opcode_name(opcode: u16) -> SpirulaName {
    SpirulaName::from_static(Op(opcode).info().map_or("", |row| row.name))
}

/// The opcode with a name, with or without its `Op`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_opcode_by_name(
    name: *const u8,
    length: usize,
    opcode: *mut u16,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (name, out) = unsafe {
            (
                handle::text_from_raw(name, length)?,
                OutPointer::new(opcode)?,
            )
        };
        let op = Op::by_name(name);
        out.set_value(
            op.ok_or_else(|| ApiFailure::Argument(format!("no instruction is called {name}")))?
                .0,
        );
        Ok(())
    })
}

/// The name that `OpName` gives an id; without data if there is none. The caller frees it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_id_name(module: *const SpirulaModule, id: u32) -> SpirulaText {
    ask!(SpirulaText::NONE, module.module, |module| {
        let name = IdNames::from_module(module).get(module, handle::find_id(module, id)?);
        Ok(name.map_or(SpirulaText::NONE, SpirulaText::new))
    })
}

/// The instruction that defines an id; `SPIRULA_NONE` if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_id_definition(module: *mut SpirulaModule, id: u32) -> u32 {
    run_guarded_or(SPIRULA_NONE, || {
        // SAFETY: the crate's contract.
        let (chains, module) = unsafe { get_mut(module) }?.chains_and_module();
        let definition = chains.definition(handle::find_id(module, id)?);
        Ok(handle_number(definition.map(|i| i.index())))
    })
}

/// The uses of an id, including names and decorations. Returns their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_id_uses(
    module: *mut SpirulaModule,
    id: u32,
    buffer: *mut SpirulaUse,
    capacity: usize,
) -> usize {
    run_guarded_or(0, || {
        // SAFETY: the crate's contract.
        let (chains, module) = unsafe { get_mut(module) }?.chains_and_module();
        let uses = uses_of(chains.uses(handle::find_id(module, id)?));
        // SAFETY: the crate's contract.
        Ok(unsafe { fill_buffer(buffer, capacity, &uses) })
    })
}

fn uses_of(uses: impl Iterator<Item = spirula_spirv::analysis::IdUse>) -> Vec<SpirulaUse> {
    let uses = uses.map(|u| SpirulaUse {
        instruction: u.inst.index() as u32,
        at: u32::from(u.at),
    });
    let mut uses: Vec<SpirulaUse> = uses.collect();
    uses.sort_unstable_by_key(|u| (u.instruction, u.at));
    uses
}

/// The value of an integer constant of at most 64 bits, zero-extended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_id_constant(
    module: *mut SpirulaModule,
    id: u32,
    value: *mut u64,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (module, out) = unsafe { (get_mut(module)?, OutPointer::new(value)?) };
        let (chains, module) = module.chains_and_module();
        let definition = chains.definition(handle::find_id(module, id)?);
        let known = definition.and_then(|i| read_constant(module, module.inst(i)));
        let missing = || ApiFailure::Argument(format!("%{id} is no constant"));
        out.set_value(known.ok_or_else(missing)?);
        Ok(())
    })
}

fn read_constant(module: &SpirvModule, inst: InstRef<'_>) -> Option<u64> {
    let definitions = spirula_spirv::analysis::IdDefinitions::from_module(module);
    definitions.constant_value(module, inst.result()?)
}
