//! Reduction units: the parts of a module that each pass can simplify.

use super::{function_insts, is_computed};
use crate::analysis::IdDefinitions;
use crate::grammar::{InstructionClass, Op};
use crate::ir::{Block, Func, IdWords, Inst, InstRef, ModuleSection, SpirvModule};
use crate::{Id, IdMap};

/// Something that can be simplified.
#[derive(Clone, Copy, Debug)]
pub(super) enum ReduceUnit {
    /// Deletes an instruction outside of functions with its result.
    Global(Inst),
    /// Deletes an entry point with its execution modes.
    EntryPoint(Inst),
    /// Deletes a function; its calls become null.
    Function(Func),
    /// A function's body becomes a return of null.
    Body(Func),
    /// Reduces a block's successors to the one at this position of its terminator's words.
    Branch(Block, usize),
    /// Replaces a loop by a branch from its header to the merge block.
    SkipLoop(Block),
    /// A block ends the function.
    Stop(Block),
    /// A block and its only predecessor become one.
    Join(Func),
    /// Deletes an instruction and replaces its result by null.
    Inst(Inst),
    /// Deletes an instruction and replaces its result by one of its operands.
    Forward(Inst, Id),
    /// Deletes a parameter of a function, counted from 0, and replaces it by null.
    Parameter(Func, usize),
    /// An operand becomes null.
    Operand(Inst, usize),
    /// A constant becomes null.
    Constant(Inst),
    /// Deletes a word: a variable of an interface.
    Word(Inst, usize),
}

/// A reduction pass: its name, and the function that finds its units.
type ReducePass = (&'static str, fn(&SpirvModule) -> Vec<ReduceUnit>);

/// The passes, those first that take away most.
pub(super) const PASSES: &[ReducePass] = &[
    ("entry points", entry_points),
    ("functions", find_functions),
    ("bodies", find_bodies),
    ("debug information", find_debug_info),
    ("branches", find_branches),
    ("ends of blocks", find_stoppable_blocks),
    ("instructions", find_instructions),
    ("operations", find_forwardable_operations),
    ("blocks", find_function_joins),
    ("unused instructions", find_unused),
    ("operands", find_operands),
    ("parameters", find_parameters),
    ("constants", find_constants),
    ("interfaces", find_interfaces),
    ("declarations", find_declarations),
];

fn entry_points(module: &SpirvModule) -> Vec<ReduceUnit> {
    let points = module.section_insts(ModuleSection::EntryPoints);
    points.map(|p| ReduceUnit::EntryPoint(p.handle())).collect()
}

fn find_functions(module: &SpirvModule) -> Vec<ReduceUnit> {
    let all = module.functions().iter();
    all.map(|f| ReduceUnit::Function(*f)).collect()
}

fn find_bodies(module: &SpirvModule) -> Vec<ReduceUnit> {
    let all = module.functions().iter();
    let long = all.filter(|f| module.function_insts(**f).nth(6).is_some());
    let has_body = |f: &&Func| !module.function(**f).blocks.is_empty();
    long.filter(has_body)
        .map(|f| ReduceUnit::Body(*f))
        .collect()
}

/// Names, lines and sources, and descriptive extended instructions, the last first.
fn find_debug_info(module: &SpirvModule) -> Vec<ReduceUnit> {
    let sections = [
        ModuleSection::Names,
        ModuleSection::Sources,
        ModuleSection::Processed,
    ];
    let globals = sections.into_iter().flat_map(|s| module.section_insts(s));
    let globals = globals.filter(|i| i.result().is_none());
    let lines = module
        .section_insts(ModuleSection::Globals)
        .chain(function_insts(module));
    let lines = lines.filter(|i| i.op().is_line());
    let silent = module.silent_sets();
    let describes = |i: &InstRef<'_>| {
        matches!(i.op(), Op::ExtInst | Op::ExtInstWithForwardRefsKHR)
            && i.get_id(0).is_some_and(|set| silent.contains(&set))
    };
    let mut described: Vec<_> = module.all_insts().filter(describes).collect();
    described.reverse();
    globals
        .chain(lines)
        .chain(described)
        .map(|i| ReduceUnit::Global(i.handle()))
        .collect()
}

fn iter_blocks(module: &SpirvModule) -> impl Iterator<Item = Block> {
    let functions = module.functions().iter();
    functions.flat_map(|f| module.function(*f).blocks.iter().copied())
}

fn find_branches(module: &SpirvModule) -> Vec<ReduceUnit> {
    let ids = IdWords::new(module);
    let mut units = Vec::new();
    for block in iter_blocks(module) {
        let is_loop = module
            .merge_inst(block)
            .is_some_and(|m| m.op() == Op::LoopMerge);
        units.extend(is_loop.then_some(ReduceUnit::SkipLoop(block)));
        let targets = module.block_targets(&ids, block);
        if targets.len() > 1 {
            units.extend(targets.iter().map(|t| ReduceUnit::Branch(block, t.0)));
        }
    }
    units
}

fn find_stoppable_blocks(module: &SpirvModule) -> Vec<ReduceUnit> {
    let goes_on = |b: &Block| {
        let end = module.terminator(*b).op();
        matches!(end, Op::Branch | Op::BranchConditional | Op::Switch)
    };
    iter_blocks(module)
        .filter(goes_on)
        .map(ReduceUnit::Stop)
        .collect()
}

/// Whether an instruction of a block can go by itself.
fn can_go(inst: InstRef<'_>) -> bool {
    let op = inst.op();
    !op.is_terminator()
        && !matches!(
            op,
            Op::Label
                | Op::Function
                | Op::FunctionEnd
                | Op::FunctionParameter
                | Op::LoopMerge
                | Op::SelectionMerge
        )
}

/// Instructions, the last first, so that users precede their operands.
fn find_instructions(module: &SpirvModule) -> Vec<ReduceUnit> {
    let all = function_insts(module).filter(|i| can_go(*i));
    let mut units: Vec<ReduceUnit> = all.map(|i| ReduceUnit::Inst(i.handle())).collect();
    units.reverse();
    units
}

/// Instructions with an operand of their own type.
fn find_forwardable_operations(module: &SpirvModule) -> Vec<ReduceUnit> {
    let ids = IdWords::new(module);
    let definitions = IdDefinitions::from_module(module);
    let mut units = Vec::new();
    for inst in function_insts(module).filter(|i| can_go(*i)) {
        let Some(ty) = inst.result_type() else {
            continue;
        };
        if inst.op() == Op::Variable {
            continue;
        }
        let mut seen = None;
        ids.visit_uses(inst, |at, id| {
            let operand = definitions.get(module, id).filter(|_| at > 0);
            let is_same = operand.and_then(InstRef::result_type) == Some(ty);
            if is_same && inst.result() != Some(id) && seen != Some(id) {
                seen = Some(id);
                units.push(ReduceUnit::Forward(inst.handle(), id));
            }
        });
    }
    units
}

fn find_function_joins(module: &SpirvModule) -> Vec<ReduceUnit> {
    let all = module.functions().iter();
    all.map(|f| ReduceUnit::Join(*f)).collect()
}

/// Instructions whose results only names, decorations and interfaces use, each after its users.
fn find_unused(module: &SpirvModule) -> Vec<ReduceUnit> {
    let ids = IdWords::new(module);
    let mut uses: IdMap<u32> = IdMap::new(module.bound(), 0);
    let all: Vec<InstRef<'_>> = module.all_insts().collect();
    for inst in all.iter().filter(|i| !i.op().is_about_ids()) {
        ids.visit_uses(*inst, |_, id| *uses.get_mut(id) += 1);
    }
    let mut units = Vec::new();
    for inst in all.iter().rev() {
        let class = inst.op().info().map(|i| i.class);
        let is_removable = match class {
            Some(
                InstructionClass::TypeDeclaration
                | InstructionClass::ConstantCreation
                | InstructionClass::Debug,
            ) => true,
            _ => {
                inst.op().effects().is_removable()
                    || matches!(inst.op(), Op::ExtInstImport | Op::Variable | Op::Undef)
            }
        };
        let is_dead = inst.result().is_some_and(|id| uses[id] == 0);
        if !is_dead || !is_removable || matches!(inst.op(), Op::Label | Op::FunctionParameter) {
            continue;
        }
        ids.visit_uses(*inst, |_, id| *uses.get_mut(id) -= 1);
        units.push(ReduceUnit::Global(inst.handle()));
    }
    units
}

fn find_operands(module: &SpirvModule) -> Vec<ReduceUnit> {
    let ids = IdWords::new(module);
    let definitions = IdDefinitions::from_module(module);
    let mut units = Vec::new();
    for inst in function_insts(module) {
        if matches!(inst.op(), Op::Phi | Op::FunctionParameter) {
            continue;
        }
        ids.visit_uses(inst, |at, id| {
            if is_computed(module, &definitions, id) {
                units.push(ReduceUnit::Operand(inst.handle(), at));
            }
        });
    }
    units
}

/// Parameters, the last of each function first.
fn find_parameters(module: &SpirvModule) -> Vec<ReduceUnit> {
    let count = |func: &Func| {
        let params = module.list_insts(module.function(*func).params);
        params.filter(|p| p.op() == Op::FunctionParameter).count()
    };
    let all = module.functions().iter();
    all.flat_map(|f| (0..count(f)).rev().map(|n| ReduceUnit::Parameter(*f, n)))
        .collect()
}

fn find_constants(module: &SpirvModule) -> Vec<ReduceUnit> {
    let is_value = |i: &InstRef<'_>| matches!(i.op(), Op::Constant | Op::ConstantComposite);
    let all = module
        .section_insts(ModuleSection::Globals)
        .filter(is_value);
    all.map(|i| ReduceUnit::Constant(i.handle())).collect()
}

fn find_interfaces(module: &SpirvModule) -> Vec<ReduceUnit> {
    let ids = IdWords::new(module);
    let mut units = Vec::new();
    for point in module.section_insts(ModuleSection::EntryPoints) {
        let mut at = Vec::new();
        ids.visit_uses(point, |word, _| at.push(word));
        let own = at.into_iter().skip(1).rev();
        units.extend(own.map(|word| ReduceUnit::Word(point.handle(), word)));
    }
    units
}

/// Declarations about ids and the module.
fn find_declarations(module: &SpirvModule) -> Vec<ReduceUnit> {
    let sections = [
        ModuleSection::ExecutionModes,
        ModuleSection::Annotations,
        ModuleSection::Extensions,
        ModuleSection::Capabilities,
        ModuleSection::Trailer,
    ];
    let all = sections.into_iter().flat_map(|s| module.section_insts(s));
    all.map(|i| ReduceUnit::Global(i.handle())).collect()
}
