//! Callee analysis: whether a copy of a function can replace its calls, and whether it should.

use spirula_spirv::analysis::{IdDecorations, SpirvCallGraph};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{
    Decoration, FunctionControl, FunctionParameterAttribute, StorageClass,
};
use spirula_spirv::ir::{Func, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// The policy that selects calls to inline.
#[derive(Clone, Copy, Debug)]
pub enum InlinePolicy {
    /// All calls that can be inlined.
    All,
    /// Functions with internal linkage, which disappear with their calls, within a limit on the growth of the
    /// module. Others as by `Words`.
    Hidden(usize),
    /// Calls that are expected to enlarge the module by at most this number of words.
    Words(usize),
}

/// Measures of the body of a function.
#[derive(Clone, Copy, Debug)]
pub struct CalleeSummary {
    /// Words of its instructions that a copy would have.
    pub words: usize,
    /// Words that are expected to remain of a copy when variables have become values.
    cost: usize,
    /// Words that are expected to disappear with a call.
    saved: usize,
    /// Words of the function outside of its body.
    frame: usize,
    /// Number of blocks.
    pub blocks: usize,
    /// Number of blocks that return.
    pub returns: usize,
    /// Whether it may end the invocation, or reach `OpUnreachable`.
    pub ends: bool,
}

/// The functions of a module as callees.
pub struct CalleeTable {
    policy: InlinePolicy,
    structured: bool,
    by_id: IdMap<Option<Func>>,
    calls: Vec<u32>,
    /// Functions that cannot be inlined, by [`Func::index`].
    barred: Vec<bool>,
    /// Exported functions and entry points.
    seen_outside: Vec<bool>,
    bodies: Vec<Option<CalleeSummary>>,
    /// Types of pointers to function variables.
    local_pointers: IdMap<bool>,
    /// Words by which the module may still grow.
    budget: usize,
}

/// Most words by which copies may enlarge a module under [`InlinePolicy::All`]. Call trees can be exponential.
const MOST_WORDS: usize = 16 << 20;

/// As `MOST_WORDS`, under [`InlinePolicy::Hidden`]: this number, and some words for each id. That is several
/// times the size of the module.
const SOME_WORDS: usize = 16 << 10;
const WORDS_AN_ID: usize = 16;

impl CalleeTable {
    /// One pass over the module.
    pub fn new(module: &SpirvModule, graph: &SpirvCallGraph, policy: InlinePolicy) -> Self {
        let size = module.functions().iter().map(|f| f.index() + 1).max();
        let size = size.unwrap_or(0);
        let mut found = CalleeTable {
            policy,
            structured: module.is_structured(),
            by_id: IdMap::new(module.bound(), None),
            calls: vec![0; size],
            barred: vec![false; size],
            seen_outside: vec![false; size],
            bodies: vec![None; size],
            local_pointers: IdMap::new(0, false),
            budget: match policy {
                InlinePolicy::Hidden(_) => SOME_WORDS + WORDS_AN_ID * module.bound() as usize,
                _ => MOST_WORDS,
            },
        };
        for ty in module.section_insts(ModuleSection::Globals) {
            if ty.op() == Op::TypePointer && ty.operand_word(0) == StorageClass::Function.0 {
                found
                    .local_pointers
                    .set(ty.result().unwrap_or(Id::MAX), true);
            }
        }
        for func in module.functions() {
            found.by_id.set(module.function_id(*func), Some(*func));
        }
        for func in module.functions() {
            let f = module.function(*func);
            let control = FunctionControl(module.inst(f.def).operand_word(0));
            let kept = control.contains(FunctionControl::DontInline)
                && !matches!(policy, InlinePolicy::All);
            found.barred[func.index()] |= f.blocks.is_empty() || graph.is_recursive(*func) || kept;
            for block in &f.blocks {
                let calls = module.body(*block).filter(|i| i.op() == Op::FunctionCall);
                for callee in calls.filter_map(|c| found.by_id[c.id_operand(0)]) {
                    found.calls[callee.index()] += 1;
                }
            }
        }
        found.scan_module_level(module);
        found
    }

    /// Whether a function is exported or an entry point.
    pub fn is_seen_outside(&self, func: Func) -> bool {
        self.seen_outside[func.index()]
    }

    /// Reads the instructions outside of functions.
    fn scan_module_level(&mut self, module: &SpirvModule) {
        for entry in module.section_insts(ModuleSection::EntryPoints) {
            let func = entry.get_id(1).and_then(|id| self.by_id[id]);
            if let Some(func) = func.filter(|_| entry.op() == Op::EntryPoint) {
                self.seen_outside[func.index()] = true;
            }
        }
        for d in module.section_insts(ModuleSection::Annotations) {
            if d.op() == Op::Decorate
                && Decoration(d.operand_word(1)) == Decoration::LinkageAttributes
                && let Some(func) = self.by_id[d.id_operand(0)]
            {
                self.seen_outside[func.index()] = true;
            }
        }
        // A by-value parameter points to a copy, which the call creates.
        let decorations = IdDecorations::from_module(module);
        let by_value = |param: Id| {
            let mut all = decorations.decorations_of(module, param, u32::MAX);
            all.any(|(decoration, operands)| {
                decoration == Decoration::FuncParamAttr
                    && operands.first() == Some(&FunctionParameterAttribute::ByVal.0)
            })
        };
        for func in module.functions() {
            let mut params = module.list_insts(module.function(*func).params);
            let barred = params.any(|p| p.result().is_some_and(by_value));
            self.barred[func.index()] |= barred;
        }
    }

    /// The callee of a call, if a copy should replace the call. `single` is asked to merge the returns of the
    /// callee, and returns whether it has a single one.
    pub fn choose_callee(
        &mut self,
        module: &mut SpirvModule,
        function: Id,
        mut single: impl FnMut(&mut SpirvModule, Func) -> bool,
    ) -> Option<(Func, CalleeSummary)> {
        let callee = self.by_id[function]?;
        if self.barred[callee.index()] {
            return None;
        }
        let body = match self.bodies[callee.index()] {
            Some(body) => body,
            None => {
                let mut body = self.measure_body(module, callee);
                let divided = self.structured && body.returns > 0 && body.blocks > 1;
                if divided && self.is_worth_inlining(callee, body) {
                    if !single(module, callee) {
                        self.barred[callee.index()] = true;
                        return None;
                    }
                    body = self.measure_body(module, callee);
                }
                self.bodies[callee.index()] = Some(body);
                body
            }
        };
        if !self.is_worth_inlining(callee, body) {
            return None;
        }
        // A function that disappears with its only call does not enlarge the module.
        let moves = self.calls[callee.index()] == 1 && !self.seen_outside[callee.index()];
        if !moves {
            self.budget = self.budget.checked_sub(body.words)?;
        }
        Some((callee, body))
    }

    fn is_worth_inlining(&self, callee: Func, body: CalleeSummary) -> bool {
        let calls = self.calls[callee.index()] as usize;
        let kept = self.seen_outside[callee.index()];
        let slack = match self.policy {
            InlinePolicy::All => return true,
            InlinePolicy::Hidden(_) if !kept => return true,
            InlinePolicy::Hidden(slack) | InlinePolicy::Words(slack) => slack,
        };
        if calls == 1 && !kept {
            return true;
        }
        let gone = if kept { 0 } else { body.cost + body.frame };
        calls * body.cost <= calls * (body.saved + slack) + gone
    }

    fn measure_body(&self, module: &SpirvModule, func: Func) -> CalleeSummary {
        let f = module.function(func);
        let mut body = CalleeSummary {
            words: 0,
            cost: 0,
            saved: 4,
            frame: 8,
            blocks: f.blocks.len(),
            returns: 0,
            ends: false,
        };
        // Addresses whose memory is expected to become values.
        let mut local: Vec<Id> = Vec::new();
        for param in module.list_insts(f.params) {
            body.frame += 3;
            body.saved += 1;
            let (Some(id), Some(ty)) = (param.result(), param.result_type()) else {
                continue;
            };
            if self.local_pointers[ty] {
                // A variable of the caller, with a load and a store.
                body.saved += 11;
                local.push(id);
            }
        }
        let entry = f.blocks.iter().take(1).flat_map(|b| module.body(*b));
        let variables = entry.filter(|i| i.op() == Op::Variable);
        local.extend(variables.filter_map(InstRef::result));
        local.sort_unstable();
        for block in &f.blocks {
            body.words += 2;
            body.cost += 2;
            for inst in module.body(*block).filter(|i| !i.op().is_line()) {
                let words = 1 + inst.words().len();
                body.words += words;
                let free = match inst.op() {
                    Op::Variable => true,
                    Op::Load | Op::Store => local.binary_search(&inst.id_operand(0)).is_ok(),
                    Op::Return | Op::ReturnValue => true,
                    _ => false,
                };
                body.cost += if free { 0 } else { words };
                match inst.op() {
                    Op::Return | Op::ReturnValue => body.returns += 1,
                    Op::Branch | Op::BranchConditional | Op::Switch => {}
                    op => body.ends |= op.is_terminator(),
                }
            }
        }
        // The label of the first block is that of the caller.
        body.cost -= 2.min(body.cost);
        body
    }
}
