//! Reached functions: which are inlined, which can suspend an invocation, and in which order their blocks are
//! lowered.
//!
//! A function that contains a suspension point, itself or in its callees, is inlined at each call: its invocations
//! return to the scheduler from within, which only the entry function can do. Other functions are inlined where that
//! is cheap. Then variables whose addresses they take can become SSA values.

use super::function_info::{FunctionInfo, SuspendLiveness};
use super::suspension;
use crate::module::operand_ids::operand_ids;
use crate::module::typed_module::TypedModule;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::{BlockDominators, FlowGraph, function_name};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Func, Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Largest size, calls expanded, of a function that is inlined at each of its calls.
const INLINE_SIZE: u64 = 400;
/// Largest size of a function into which others are inlined although they need not be.
const GROWN_SIZE: u64 = 40_000;
/// Largest size of a function with everything in it that must be inlined.
const MAX_SIZE: u64 = 1 << 21;
/// Deepest chain of calls.
const MAX_DEPTH: u32 = 100;

/// The functions that an entry point reaches.
#[derive(Default)]
pub(crate) struct ReachedFunctions {
    info: Vec<Option<FunctionInfo>>,
    /// Number of each id within the function that defines it; `u32::MAX` outside of functions.
    local: Option<IdMap<u32>>,
    /// Variables that are kept as SSA values.
    promoted: Option<IdMap<bool>>,
    by_id: Option<IdMap<Option<Func>>>,
    /// Functions that pointers may point to.
    pointed: Vec<Func>,
    /// Number of slots that suspension points exchange values in; 0 where they exchange none.
    pub slots: u32,
    /// Callees before callers.
    pub bottom_up: Vec<Func>,
}

impl ReachedFunctions {
    /// Analyses the functions that the program's entry point reaches.
    ///
    /// # Errors
    /// On recursion, on calls of functions without a body, and on call chains that are too deep or too large to
    /// expand.
    pub fn from_program(program: &TypedModule<'_>) -> Result<ReachedFunctions, SourceDiagnostic> {
        let module = program.module;
        let mut by_id = IdMap::new(module.bound(), None);
        for func in module.functions() {
            by_id.set(module.function_id(*func), Some(*func));
        }
        let pointed = pointed_functions(module, &by_id);
        let calls = ReachedCallGraph::from_program(program, &by_id, &pointed)?;
        let count = module.functions().iter().map(|f| f.index() + 1).max();
        let mut functions = ReachedFunctions {
            info: (0..count.unwrap_or(0)).map(|_| None).collect(),
            local: Some(IdMap::new(module.bound(), u32::MAX)),
            promoted: Some(IdMap::new(module.bound(), false)),
            by_id: Some(by_id),
            pointed,
            slots: 0,
            bottom_up: calls.bottom_up.clone(),
        };
        for func in &calls.bottom_up {
            let info = functions.analyse_function(program, *func)?;
            functions.info[func.index()] = Some(info);
        }
        functions.check_owners(program)?;
        functions.decide_inlining(program, &calls)?;
        Ok(functions)
    }

    /// A function that the entry point reaches.
    ///
    /// # Panics
    /// For another one.
    pub fn get(&self, func: Func) -> &FunctionInfo {
        match &self.info[func.index()] {
            Some(info) => info,
            None => panic!("the function is not reached"),
        }
    }

    /// The same function, mutable.
    pub fn get_mut(&mut self, func: Func) -> &mut FunctionInfo {
        match &mut self.info[func.index()] {
            Some(info) => info,
            None => panic!("the function is not reached"),
        }
    }

    /// The function of an `OpFunction`'s id.
    pub fn by_id(&self, id: Id) -> Option<Func> {
        self.by_id.as_ref().and_then(|table| table[id])
    }

    /// The functions that a call of a pointer may go to.
    pub fn find_call_targets(&self, program: &TypedModule<'_>, call: InstRef<'_>) -> Vec<Func> {
        let fits = |func: &&Func| is_compatible_callee(program, **func, call);
        self.pointed.iter().filter(fits).copied().collect()
    }

    /// Number of an id within the function that defines it; none outside of reached functions.
    pub fn local_index(&self, id: Id) -> Option<usize> {
        let n = self.local.as_ref().map_or(u32::MAX, |table| table[id]);
        (n != u32::MAX).then_some(n as usize)
    }

    /// Whether a variable is kept as SSA values.
    pub fn is_promoted(&self, variable: Id) -> bool {
        self.promoted.as_ref().is_some_and(|table| table[variable])
    }

    /// Sets the variables that are kept as SSA values.
    pub fn set_promoted(&mut self, promoted: IdMap<bool>) {
        self.promoted = Some(promoted);
    }

    /// Whether a call goes to a function that can suspend.
    pub fn call_suspends(&self, callee: Id) -> bool {
        self.by_id(callee).is_some_and(|f| self.get(f).suspends)
    }

    fn analyse_function(
        &mut self,
        program: &TypedModule<'_>,
        func: Func,
    ) -> Result<FunctionInfo, SourceDiagnostic> {
        let module = program.module;
        let cfg = FlowGraph::from_function(module, &program.definitions, func)?;
        let params = module.list_insts(module.function(func).params);
        let params: Vec<Id> = params
            .filter(|p| p.op() == Op::FunctionParameter)
            .filter_map(|p| p.result())
            .collect();
        let mut locals = 0;
        let mut suspends = false;
        for inst in module.function_insts(func) {
            if let Some(id) = inst.result()
                && inst.op() != Op::Function
            {
                if let Some(table) = &mut self.local {
                    table.set(id, locals);
                }
                locals += 1;
            }
            self.slots = self.slots.max(suspension::count_slots(program, inst));
            suspends |= suspension::is_point(program, inst)
                || (inst.op() == Op::FunctionCall && self.call_suspends(inst.id_operand(0)));
        }
        let order = if suspends {
            order_bodies_first(&cfg)
        } else {
            cfg.reverse_postorder().to_vec()
        };
        Ok(FunctionInfo {
            direct_params: vec![false; params.len()],
            params,
            locals,
            suspends,
            inline: false,
            cfg,
            order,
            live: SuspendLiveness::default(),
        })
    }

    /// Refuses functions that use ids which another function defines.
    fn check_owners(&self, program: &TypedModule<'_>) -> Result<(), SourceDiagnostic> {
        let mut owners: IdMap<Option<Func>> = IdMap::new(program.module.bound(), None);
        for func in &self.bottom_up {
            for inst in program.module.function_insts(*func) {
                if let Some(id) = inst.result().filter(|id| self.local_index(*id).is_some()) {
                    owners.set(id, Some(*func));
                }
            }
        }
        for func in &self.bottom_up {
            for inst in program.module.function_insts(*func) {
                let foreign = operand_ids(inst).find(|id| owners[*id].is_some_and(|o| o != *func));
                if let Some(id) = foreign {
                    let message = format!("{} uses {id} of another function", inst.op());
                    return Err(SourceDiagnostic::error(inst.place(), message));
                }
            }
        }
        Ok(())
    }

    fn decide_inlining(
        &mut self,
        program: &TypedModule<'_>,
        calls: &ReachedCallGraph,
    ) -> Result<(), SourceDiagnostic> {
        let mut sizes = vec![0u64; self.info.len()];
        for func in &calls.bottom_up {
            let at = func.index();
            let own: u64 = calls.sizes[at];
            let mut must = own;
            for callee in calls.callees(*func) {
                if self.get(callee).inline {
                    must = must.saturating_add(sizes[callee.index()]);
                }
            }
            sizes[at] = must;
            let info = self.get_mut(*func);
            info.inline = *func != program.entry.func
                && (info.suspends
                    || must <= INLINE_SIZE
                    || (calls.times[at] == 1 && must <= GROWN_SIZE));
            if must > MAX_SIZE {
                let def = program.module.inst(program.module.function(*func).def);
                let message = format!("the calls in {} expand too far", program.entry.name);
                return Err(SourceDiagnostic::error(def.place(), message));
            }
        }
        Ok(())
    }
}

/// The call graph of the reached functions.
struct ReachedCallGraph {
    bottom_up: Vec<Func>,
    edges: Vec<Vec<Func>>,
    /// Instructions of each function.
    sizes: Vec<u64>,
    /// Calls of each function.
    times: Vec<u32>,
}

/// Functions of which the module has pointers, in their order there.
fn pointed_functions(module: &SpirvModule, by_id: &IdMap<Option<Func>>) -> Vec<Func> {
    let constants = module.section_insts(ModuleSection::Globals);
    let constants = constants.filter(|i| i.op() == Op::ConstantFunctionPointerINTEL);
    let mut found: Vec<Func> = constants.filter_map(|i| by_id[i.id_operand(0)]).collect();
    found.retain(|func| !module.function(*func).blocks.is_empty());
    found.sort_unstable_by_key(|func| func.index());
    found.dedup();
    found
}

/// Whether a function has the parameters and result of a call through a pointer. Pointees do not matter: a module may
/// have pointers to functions of any such type, and front ends infer pointees one by one.
fn is_compatible_callee(program: &TypedModule<'_>, func: Func, call: InstRef<'_>) -> bool {
    let module = program.module;
    let def = module.inst(module.function(func).def);
    let params = module.list_insts(module.function(func).params);
    let params = params.filter(|p| p.op() == Op::FunctionParameter);
    let mut params = params.map(|p| p.result_type());
    let alike = |a: Option<Id>, b: Option<Id>| match (a, b) {
        (Some(a), Some(b)) => program.types.are_alike(a, b),
        _ => false,
    };
    let mut arguments = call
        .id_operands(1)
        .map(|argument| program.type_of(argument));
    alike(def.result_type(), call.result_type())
        && arguments.all(|argument| params.next().is_some_and(|param| alike(param, argument)))
        && params.next().is_none()
}

impl ReachedCallGraph {
    fn callees(&self, func: Func) -> impl Iterator<Item = Func> + '_ {
        self.edges[func.index()].iter().copied()
    }

    /// Depth-first from the entry point.
    fn from_program(
        program: &TypedModule<'_>,
        by_id: &IdMap<Option<Func>>,
        pointed: &[Func],
    ) -> Result<ReachedCallGraph, SourceDiagnostic> {
        let (module, entry) = (program.module, program.entry.func);
        let count = module.functions().iter().map(|f| f.index() + 1).max();
        let count = count.unwrap_or(0);
        let mut graph = ReachedCallGraph {
            bottom_up: Vec::new(),
            edges: vec![Vec::new(); count],
            sizes: vec![0; count],
            times: vec![0; count],
        };
        let mut state = vec![0u8; count];
        let mut depth = vec![0u32; count];
        let mut stack = vec![(
            entry,
            graph.scan_calls(program, by_id, pointed, entry)?,
            0usize,
        )];
        state[entry.index()] = 1;
        while let Some((func, calls, next)) = stack.last_mut() {
            let Some((callee, at)) = calls.get(*next).copied() else {
                let deepest = calls.iter().map(|c| depth[c.0.index()]).max();
                depth[func.index()] = deepest.unwrap_or(0) + 1;
                if depth[func.index()] > MAX_DEPTH {
                    let def = module.inst(module.function(*func).def);
                    let message = format!("calls are nested deeper than {MAX_DEPTH}");
                    return Err(SourceDiagnostic::error(def.place(), message));
                }
                state[func.index()] = 2;
                graph.bottom_up.push(*func);
                stack.pop();
                continue;
            };
            *next += 1;
            match state[callee.index()] {
                1 => {
                    let message = "recursion is not supported by the CPU device";
                    return Err(SourceDiagnostic::error(module.inst(at).place(), message));
                }
                0 => {
                    state[callee.index()] = 1;
                    let calls = graph.scan_calls(program, by_id, pointed, callee)?;
                    stack.push((callee, calls, 0));
                }
                _ => {}
            }
        }
        Ok(graph)
    }

    fn scan_calls(
        &mut self,
        program: &TypedModule<'_>,
        by_id: &IdMap<Option<Func>>,
        pointed: &[Func],
        func: Func,
    ) -> Result<Vec<(Func, Inst)>, SourceDiagnostic> {
        let module = program.module;
        let mut calls = Vec::new();
        for inst in module.function_insts(func) {
            self.sizes[func.index()] += 1;
            if inst.op() == Op::FunctionPointerCallINTEL {
                for callee in pointed
                    .iter()
                    .filter(|callee| is_compatible_callee(program, **callee, inst))
                {
                    self.times[callee.index()] += 1;
                    self.edges[func.index()].push(*callee);
                    calls.push((*callee, inst.handle()));
                }
            }
            if inst.op() != Op::FunctionCall {
                continue;
            }
            let callee = by_id[inst.id_operand(0)];
            let callee = callee.filter(|f| !module.function(*f).blocks.is_empty());
            let Some(callee) = callee else {
                let name = function_name(module, inst.id_operand(0));
                let message = format!("{name} is called, but has no body");
                return Err(SourceDiagnostic::error(inst.place(), message)
                    .with_hint("link the module with the one that defines it"));
            };
            self.times[callee.index()] += 1;
            self.edges[func.index()].push(callee);
            calls.push((callee, inst.handle()));
        }
        Ok(calls)
    }
}

/// A reverse post-order in which the blocks of a loop stand before the blocks after the loop. Then the earliest
/// suspended lanes of a subgroup are those that are furthest from leaving the loop.
fn order_bodies_first(cfg: &FlowGraph) -> Vec<u32> {
    let depth = loop_depths(cfg);
    let mut order = Vec::with_capacity(cfg.len());
    if cfg.is_empty() {
        return order;
    }
    let ordered = |at: u32| {
        let mut next = cfg.successors(at).to_vec();
        next.sort_by_key(|s| depth[*s as usize]);
        next
    };
    let mut seen = vec![false; cfg.len()];
    seen[0] = true;
    let mut stack = vec![(0u32, ordered(0), 0usize)];
    while let Some((at, next, n)) = stack.last_mut() {
        if let Some(successor) = next.get(*n).copied() {
            *n += 1;
            if !std::mem::replace(&mut seen[successor as usize], true) {
                stack.push((successor, ordered(successor), 0));
            }
        } else {
            order.push(*at);
            stack.pop();
        }
    }
    order.reverse();
    order
}

/// Number of natural loops around each block.
fn loop_depths(cfg: &FlowGraph) -> Vec<u32> {
    let tree = BlockDominators::from_cfg(cfg);
    let mut depth = vec![0u32; cfg.len()];
    let mut stamp = vec![u32::MAX; cfg.len()];
    for &head in cfg.reverse_postorder() {
        let back = cfg.predecessors(head).iter().copied();
        let mut work: Vec<u32> = back.filter(|p| tree.dominates(head, *p)).collect();
        if work.is_empty() {
            continue;
        }
        stamp[head as usize] = head;
        depth[head as usize] += 1;
        while let Some(block) = work.pop() {
            if std::mem::replace(&mut stamp[block as usize], head) != head {
                depth[block as usize] += 1;
                work.extend_from_slice(cfg.predecessors(block));
            }
        }
    }
    depth
}
