//! Editing of modules: instructions, blocks and edges.

use crate::body::{edit, status};
use crate::error::{ApiFailure, SpirulaError, SpirulaStatus, run_guarded_or};
use crate::handle::{self, OutPointer, get_mut, slice_from_raw};
use crate::module::SpirulaModule;
use spirula_spirv::Id;
use spirula_spirv::analysis::{BlockDominators, FlowGraph, IdDefinitions, LoopNest};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, ErasedIds, IdWords, InsertPosition, Inst, InstRef, SpirvModule};

/// The place of an instruction that is inserted.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpirulaWhere {
    /// Before an instruction.
    Before = 0,
    /// After an instruction.
    After = 1,
    /// At the end of a block, before its merge instruction and terminator.
    EndOfBlock = 2,
    /// At the beginning of a block, after its phis and variables.
    BeginOfBlock = 3,
    /// At the end of its section outside of functions; the number is ignored.
    Section = 4,
}

/// Allocates a new id; 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_new_id(module: *mut SpirulaModule) -> u32 {
    // SAFETY: the crate's contract.
    run_guarded_or(0, || {
        Ok(unsafe { get_mut(module) }?.module_mut().fresh_id().word())
    })
}

/// Inserts a new instruction into a module. `words` are all words after the first, including result type and result
/// id. `place` is one of `SpirulaWhere`, and `at` is the instruction or block that it refers to. `instruction`,
/// which may be null, receives its number.
///
/// The operands must conform to the grammar. Instructions that begin or end functions and blocks (`OpFunction`,
/// `OpLabel`, terminators, …) are refused; other functions create those.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_insert(
    module: *mut SpirulaModule,
    place: u32,
    at: u32,
    opcode: u16,
    words: *const u32,
    count: usize,
    instruction: *mut u32,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (module, words) =
            unsafe { (get_mut(module)?.module_mut(), slice_from_raw(words, count)?) };
        let op = Op(opcode);
        let at = place_of(module, place, at)?;
        module
            .check_place(at, op)
            .map_err(|why| ApiFailure::Refused(why.message))?;
        let new = module.try_insert(at, op, words)?;
        // SAFETY: the crate's contract.
        if let Ok(out) = unsafe { OutPointer::new(instruction) } {
            out.set_value(new.index() as u32);
        }
        Ok(())
    })
}

const WHERE: [SpirulaWhere; 5] = [
    SpirulaWhere::Before,
    SpirulaWhere::After,
    SpirulaWhere::EndOfBlock,
    SpirulaWhere::BeginOfBlock,
    SpirulaWhere::Section,
];

fn place_of(module: &SpirvModule, place: u32, at: u32) -> Result<InsertPosition, ApiFailure> {
    let linked = |inst: Inst| match module.list_of(inst) {
        Some(_) => Ok(inst),
        None => Err(ApiFailure::Argument(format!(
            "the instruction {at} is in no list"
        ))),
    };
    match WHERE.iter().find(|w| **w as u32 == place) {
        None => Err(ApiFailure::Argument(format!("{place} is no place"))),
        Some(SpirulaWhere::Section) => Ok(InsertPosition::Section),
        Some(SpirulaWhere::EndOfBlock) => Ok(InsertPosition::End(handle::find_block(module, at)?)),
        Some(SpirulaWhere::BeginOfBlock) => {
            Ok(InsertPosition::Begin(handle::find_block(module, at)?))
        }
        Some(SpirulaWhere::Before) => Ok(InsertPosition::Before(linked(handle::find_inst(
            module, at,
        )?)?)),
        Some(SpirulaWhere::After) => Ok(InsertPosition::After(linked(handle::find_inst(
            module, at,
        )?)?)),
    }
}

/// Deletes an instruction, together with the names and decorations of its result. The result must be unused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_erase(
    module: *mut SpirulaModule,
    instruction: u32,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let module = unsafe { get_mut(module) }?;
        let (chains, inner) = module.chains_and_module();
        let inst = handle::find_inst(inner, instruction)?;
        let mut erased = ErasedIds::new();
        inner
            .try_erase(chains, inst, &mut erased)
            .map_err(|why| ApiFailure::Refused(why.message))?;
        module.module_mut().sweep_annotations(&erased);
        Ok(())
    })
}

/// Replaces the words of an instruction: all after the first, including result type and result id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_set_words(
    module: *mut SpirulaModule,
    instruction: u32,
    words: *const u32,
    count: usize,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (module, words) =
            unsafe { (get_mut(module)?.module_mut(), slice_from_raw(words, count)?) };
        module.try_replace_words(handle::find_inst(module, instruction)?, words)?;
        Ok(())
    })
}

/// Replaces the terminator of a block. The caller has to update the phis of the old and the new targets;
/// `spirula_redirect_edge`, `spirula_add_edge` and `spirula_remove_edge` do so themselves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_set_terminator(
    module: *mut SpirulaModule,
    block: u32,
    opcode: u16,
    words: *const u32,
    count: usize,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (module, words) =
            unsafe { (get_mut(module)?.module_mut(), slice_from_raw(words, count)?) };
        let (block, op) = (handle::find_block(module, block)?, Op(opcode));
        if op.is_terminator() {
            module.check_operands(op, words)?;
        }
        let ids = IdWords::new(module);
        module
            .try_set_terminator(&ids, block, op, words)
            .map_err(|why| ApiFailure::Refused(why.message))?;
        Ok(())
    })
}

/// Replaces all uses of an id by another; names and decorations stay. `count`, which may be null, receives their
/// number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_replace_uses(
    module: *mut SpirulaModule,
    old: u32,
    new: u32,
    count: *mut usize,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (chains, module) = unsafe { get_mut(module) }?.chains_and_module();
        let (old, new) = (handle::find_id(module, old)?, handle::find_id(module, new)?);
        let counted = |u: &spirula_spirv::analysis::IdUse| !module.inst(u.inst).op().is_about_ids();
        let uses = chains.uses(old).filter(counted).count();
        chains.replace_all(module, old, new);
        // SAFETY: the crate's contract.
        if let Ok(out) = unsafe { OutPointer::new(count) } {
            out.set_value(if old == new { 0 } else { uses });
        }
        Ok(())
    })
}

/// Splits a block: an instruction and all that follow move to a new block, to which the old one branches.
/// `new_block` receives the new block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_split_block(
    module: *mut SpirulaModule,
    block: u32,
    instruction: u32,
    new_block: *mut u32,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (module, out) = unsafe { (get_mut(module)?.module_mut(), OutPointer::new(new_block)?) };
        let ids = IdWords::new(module);
        let at = handle::find_inst(module, instruction)?;
        let new = module.split_block(&ids, handle::find_block(module, block)?, at)?;
        out.set_value(new.index() as u32);
        Ok(())
    })
}

/// Inserts a block on an edge. `new_block` receives the new block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_insert_on_edge(
    module: *mut SpirulaModule,
    from: u32,
    to: u32,
    new_block: *mut u32,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (module, out) = unsafe { (get_mut(module)?.module_mut(), OutPointer::new(new_block)?) };
        let ids = IdWords::new(module);
        let (from, to) = (
            handle::find_block(module, from)?,
            handle::find_block(module, to)?,
        );
        out.set_value(module.insert_on_edge(&ids, from, to)?.index() as u32);
        Ok(())
    })
}

/// Redirects an edge to another block of the function. `values` are the ids that the phis of the new target take
/// from it, in the order of the phis.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_redirect_edge(
    module: *mut SpirulaModule,
    from: u32,
    to: u32,
    new_target: u32,
    values: *const u32,
    count: usize,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (module, values) = unsafe {
            (
                get_mut(module)?.module_mut(),
                slice_from_raw(values, count)?,
            )
        };
        let ids = IdWords::new(module);
        let (from, to) = (
            handle::find_block(module, from)?,
            handle::find_block(module, to)?,
        );
        let new = handle::find_block(module, new_target)?;
        same_function(module, from, new)?;
        let values = phi_values(module, new, values)?;
        module.redirect_edge(&ids, from, to, new, |phi| value_of(&values, phi))?;
        let func = module.block(from).func;
        module.order_blocks(&ids, func);
        Ok(())
    })
}

/// Adds an edge to a block that ends in `OpBranch`: it goes to `to` if the condition holds. `values` are as for
/// `spirula_redirect_edge`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_add_edge(
    module: *mut SpirulaModule,
    from: u32,
    to: u32,
    condition: u32,
    values: *const u32,
    count: usize,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (module, values) = unsafe {
            (
                get_mut(module)?.module_mut(),
                slice_from_raw(values, count)?,
            )
        };
        let (from, to) = (
            handle::find_block(module, from)?,
            handle::find_block(module, to)?,
        );
        same_function(module, from, to)?;
        let condition = handle::find_id(module, condition)?;
        let values = phi_values(module, to, values)?;
        module.add_edge(from, to, condition, |phi| value_of(&values, phi))?;
        let (ids, func) = (IdWords::new(module), module.block(from).func);
        module.order_blocks(&ids, func);
        Ok(())
    })
}

fn same_function(module: &SpirvModule, a: Block, b: Block) -> Result<(), ApiFailure> {
    let same = module.block(a).func == module.block(b).func;
    let fault = || ApiFailure::Argument("the blocks are of different functions".to_owned());
    same.then_some(()).ok_or_else(fault)
}

/// The phis of a block, each with the value given for it.
fn phi_values(
    module: &SpirvModule,
    block: Block,
    values: &[u32],
) -> Result<Vec<(Inst, Id)>, ApiFailure> {
    let phis: Vec<Inst> = module.phis(block).map(InstRef::handle).collect();
    if phis.len() != values.len() {
        let (phis, values) = (phis.len(), values.len());
        let what = format!("{values} values are given for {phis} phis");
        return Err(ApiFailure::Argument(what));
    }
    let pairs = phis.into_iter().zip(values);
    pairs
        .map(|(phi, v)| Ok((phi, handle::find_id(module, *v)?)))
        .collect()
}

fn value_of(values: &[(Inst, Id)], phi: InstRef<'_>) -> Id {
    let found = values.iter().find(|(inst, _)| *inst == phi.handle());
    found.map_or(Id::MAX, |(_, value)| *value)
}

/// Removes an edge. A conditional branch becomes a branch, a branch becomes `OpUnreachable`, and a switch loses
/// cases. Blocks that become unreachable stay: see `spirula_remove_unreachable`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_remove_edge(
    module: *mut SpirulaModule,
    from: u32,
    to: u32,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    edit!(error, module, |module| {
        let ids = IdWords::new(module);
        let (from, to) = (
            handle::find_block(module, from)?,
            handle::find_block(module, to)?,
        );
        module.remove_edge(&ids, from, to)?;
        let func = module.block(from).func;
        module.order_blocks(&ids, func);
        Ok(())
    })
}

/// Removes the unreachable blocks of a function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_remove_unreachable(
    module: *mut SpirulaModule,
    function: u32,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    edit!(error, module, |module| {
        let func = handle::find_func(module, function)?;
        let ids = IdWords::new(module);
        let mut erased = ErasedIds::new();
        module.remove_unreachable(&ids, func, &mut erased);
        module.sweep_annotations(&erased);
        Ok(())
    })
}

/// Creates a pre-header: the only block through which a loop is entered. `new_block` receives it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spirula_create_pre_header(
    module: *mut SpirulaModule,
    header: u32,
    new_block: *mut u32,
    error: *mut *mut SpirulaError,
) -> SpirulaStatus {
    status!(error, || {
        // SAFETY: the crate's contract.
        let (module, out) = unsafe { (get_mut(module)?.module_mut(), OutPointer::new(new_block)?) };
        let header = handle::find_block(module, header)?;
        let func = module.block(header).func;
        let cfg = FlowGraph::from_function(module, &IdDefinitions::from_module(module), func)?;
        let loops = LoopNest::from_cfg(&cfg, &BlockDominators::from_cfg(&cfg));
        let mut heads = loops.loops().iter();
        let Some(found) = heads.find(|l| cfg.block(l.header) == header) else {
            let label = module.label(header);
            return Err(ApiFailure::Refused(format!(
                "{label} is the header of no loop"
            )));
        };
        let sources = cfg.predecessors(found.header).iter();
        let mut outside: Vec<u32> = sources
            .copied()
            .filter(|p| !found.latches.contains(p))
            .collect();
        outside.sort_unstable();
        outside.dedup();
        let outside: Vec<Block> = outside.into_iter().map(|p| cfg.block(p)).collect();
        let ids = IdWords::new(module);
        out.set_value(module.create_pre_header(&ids, header, &outside)?.index() as u32);
        Ok(())
    })
}
