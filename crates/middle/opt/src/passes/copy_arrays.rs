//! Copy propagation of arrays and structures: a function variable that is set once, to a loaded value, is replaced by
//! the source of the load. This is Wegman and Zadeck's copy propagation, for memory. See Muchnick, "Advanced Compiler
//! Design and Implementation", 1997, section 12.5.
//!
//! The source must still hold the value that was read. So it is memory that nothing writes while the module runs,
//! or a function variable all of whose writes precede the copy on every path. Copies that were made member by
//! member, because the layouts of the types differ, are recognised.
//!
//! Before:
//! ```text
//! %v = OpLoad %array %source
//!      OpStore %copy %v
//! %p = OpAccessChain %function_float %copy %i
//! %x = OpLoad %float %p
//! ```
//! After:
//! ```text
//! %p = OpAccessChain %uniform_float %source %i
//! %x = OpLoad %float %p
//! ```

use crate::analyses::{AnalysisCache, FlowAnalysis};
use crate::gvn::{AliasAnalysis, WriterScope, is_chain, is_plain};
use crate::pass::PassOutcome;
use crate::sroa::{AggregateAccesses, AggregateVariable};
use crate::structure::has_variables;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{ErasedIds, Func, Inst, InstRef, SpirvModule};

/// Most members from which a copy may be constructed.
const MOST_PARTS: usize = 256;

pub fn run_copy_arrays(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    if !module.functions().iter().any(|f| has_variables(module, *f)) {
        return Ok(PassOutcome::default());
    }
    let mut facts = cache.take_facts(module);
    let memory = cache.take_memory(module, &facts);
    let mut accesses = AggregateAccesses::new(module);
    let mut places = vec![(0, 0); module.inst_count()];
    let mut erased = ErasedIds::new();
    let mut copies = 0;
    for func in module.functions().to_vec() {
        let variables = accesses.gather_variables(&facts, module, func);
        if variables.is_empty() {
            continue;
        }
        let flow = cache.function_flow(module, func)?;
        note_places(module, &flow, &mut places);
        for variable in variables {
            let search = CopySearch {
                facts: &facts,
                memory: &memory,
                accesses: &accesses,
                flow: &flow,
                places: &places,
                func,
            };
            if let Some(copy) = search.find_copy(module, &variable) {
                read_source(module, &mut facts, &accesses, &copy);
                module.erase_inst(copy.store, &mut erased);
                copies += 1;
            }
        }
    }
    module.sweep_annotations(&erased);
    cache.put_facts(facts);
    cache.put_memory(memory);
    Ok(PassOutcome {
        statistics: vec![("copies read at their source", copies)],
    })
}

/// Records block and position of each instruction of a function.
fn note_places(module: &SpirvModule, flow: &FlowAnalysis, places: &mut [(u32, u32)]) {
    for block in 0..flow.cfg.len() as u32 {
        for (at, inst) in module.body(flow.cfg.block(block)).enumerate() {
            if let Some(place) = places.get_mut(inst.handle().index()) {
                *place = (block, at as u32);
            }
        }
    }
}

/// A variable that is a copy.
struct AggregateCopy {
    store: Inst,
    /// The source of the copy.
    source: Id,
    /// The constant indices into the source.
    path: Vec<u32>,
    /// The access chains into the copy, with the types of their results.
    chains: Vec<(Inst, Id)>,
}

struct CopySearch<'a> {
    facts: &'a ModuleValues,
    memory: &'a AliasAnalysis,
    accesses: &'a AggregateAccesses,
    flow: &'a FlowAnalysis,
    places: &'a [(u32, u32)],
    func: Func,
}

impl CopySearch<'_> {
    fn find_copy(
        &self,
        module: &SpirvModule,
        variable: &AggregateVariable,
    ) -> Option<AggregateCopy> {
        if module.inst(variable.inst).operands().len() > 1 {
            return None;
        }
        let mut store = None;
        let mut chains = Vec::new();
        for user in self.accesses.address_users(variable.id) {
            let inst = module.inst(*user);
            match inst.op() {
                Op::Store
                    if inst.id_operand(0) == variable.id && inst.id_operand(1) != variable.id =>
                {
                    let plain = is_plain(inst.operands().get(2));
                    if !plain || store.replace(*user).is_some() {
                        return None;
                    }
                }
                op if op.is_plain_access_chain() => chains.push(*user),
                _ => return None,
            }
        }
        let store = store?;
        let mut left = MOST_PARTS;
        let (load, path) =
            self.find_origin_load(module, module.inst(store).id_operand(1), &mut left, 0)?;
        let load = module.inst(load);
        let source = load.id_operand(0);
        if !chains.iter().all(|c| self.is_before(store, *c)) || chains.is_empty() {
            return None;
        }
        self.is_kept(module, source, load.handle()).then_some(())?;
        let pointee = self.pointee_type(module, self.facts.type_of(module, source)?)?;
        let top =
            self.resolve_indexed_type(module, pointee, path.iter().map(|_| None).zip(&path))?;
        let mut typed = Vec::with_capacity(chains.len());
        for chain in chains {
            let inst = module.inst(chain);
            if !self.is_only_read(module, inst.result()?) {
                return None;
            }
            let indices = inst.id_operands(1).map(Some).zip(std::iter::repeat(&0));
            let leaf = self.resolve_indexed_type(module, top, indices)?;
            let own = self.pointee_type(module, inst.result_type()?)?;
            // With another layout the loaded value would have another type.
            if leaf != own {
                return None;
            }
            typed.push((chain, leaf));
        }
        Some(AggregateCopy {
            store,
            source,
            path,
            chains: typed,
        })
    }

    /// The load that a value is the whole of, or a part of at constant indices.
    fn find_origin_load(
        &self,
        module: &SpirvModule,
        value: Id,
        left: &mut usize,
        depth: u32,
    ) -> Option<(Inst, Vec<u32>)> {
        *left = left.checked_sub(1)?;
        let inst = self.facts.definition(module, value)?;
        match inst.op() {
            Op::Load if is_plain(inst.operands().get(1)) => Some((inst.handle(), Vec::new())),
            Op::CopyLogical | Op::CopyObject if depth < 8 => {
                self.find_origin_load(module, inst.id_operand(0), left, depth + 1)
            }
            Op::CompositeExtract if depth < 8 => {
                let (load, mut path) =
                    self.find_origin_load(module, inst.id_operand(0), left, depth + 1)?;
                path.extend_from_slice(&inst.operands()[1..]);
                Some((load, path))
            }
            Op::CompositeConstruct if depth < 8 => {
                let ty = inst.result_type()?;
                let vector = self.facts.defining_op(module, ty) == Op::TypeVector;
                let count = self.facts.part_count(module, ty)?;
                let mut whole: Option<(Inst, Vec<u32>)> = None;
                for (at, part) in inst.id_operands(0).enumerate() {
                    let (load, mut path) = self.find_origin_load(module, part, left, depth + 1)?;
                    let last = path.pop()?;
                    let known = whole.get_or_insert_with(|| (load, path.clone()));
                    if last != at as u32 || known.0 != load || known.1 != path {
                        return None;
                    }
                }
                let whole = whole.filter(|_| !vector && count as usize == inst.operands().len())?;
                let source = self.type_at(module, whole.0, &whole.1)?;
                (self.facts.part_count(module, source)? == count).then_some(whole)
            }
            _ => None,
        }
    }

    fn type_at(&self, module: &SpirvModule, load: Inst, path: &[u32]) -> Option<Id> {
        let mut ty = module.inst(load).result_type()?;
        for at in path {
            ty = self.facts.part_type(module, ty, *at)?;
        }
        Some(ty)
    }

    fn pointee_type(&self, module: &SpirvModule, pointer: Id) -> Option<Id> {
        Some(
            self.facts
                .def_of(module, pointer, Op::TypePointer)?
                .id_operand(1),
        )
    }

    /// The type that indices lead to, given as values or as numbers.
    fn resolve_indexed_type<'n>(
        &self,
        module: &SpirvModule,
        mut ty: Id,
        indices: impl Iterator<Item = (Option<Id>, &'n u32)>,
    ) -> Option<Id> {
        for (index, number) in indices {
            let at = match index {
                None => *number,
                Some(index) if self.facts.defining_op(module, ty) == Op::TypeStruct => {
                    self.facts.scalar_constant_bits(module, index)?.bits as u32
                }
                Some(_) => 0,
            };
            ty = self.facts.part_type(module, ty, at)?;
        }
        Some(ty)
    }

    /// Whether an address is only used for loads.
    fn is_only_read(&self, module: &SpirvModule, address: Id) -> bool {
        let mut work = vec![address];
        while let Some(address) = work.pop() {
            for user in self.accesses.address_users(address) {
                let inst = module.inst(*user);
                match inst.op() {
                    Op::Load if is_plain(inst.operands().get(1)) => {}
                    // A chain of a chain would require another type as well.
                    _ => return false,
                }
            }
        }
        true
    }

    /// Whether one instruction runs before another whenever the latter runs.
    fn is_before(&self, first: Inst, second: Inst) -> bool {
        let (a, b) = (self.places[first.index()], self.places[second.index()]);
        if a.0 == b.0 {
            a.1 < b.1
        } else {
            self.flow.dominators.dominates(a.0, b.0)
        }
    }

    /// Whether the content of the source is unchanged after the load.
    fn is_kept(&self, module: &SpirvModule, source: Id, load: Inst) -> bool {
        let place = self.memory.pointer_location(self.facts, module, source);
        if place.kind == WriterScope::ReadOnly {
            return true;
        }
        let Some(base) = place.base.filter(|_| place.kind == WriterScope::Local) else {
            return false;
        };
        let writes = |i: InstRef<'_>| {
            let target = match i.op() {
                Op::Store | Op::CopyMemory | Op::LifetimeStart | Op::LifetimeStop => {
                    i.id_operand(0)
                }
                op if is_chain(op) || op == Op::Load || op == Op::Variable => return false,
                _ => return false,
            };
            self.memory
                .pointer_location(self.facts, module, target)
                .base
                == Some(base)
        };
        module
            .function_insts(self.func)
            .filter(|i| writes(*i))
            .all(|i| self.is_before(i.handle(), load))
    }
}

/// Redirects the access chains of a copy to its source.
fn read_source(
    module: &mut SpirvModule,
    facts: &mut ModuleValues,
    accesses: &AggregateAccesses,
    copy: &AggregateCopy,
) {
    let pointer = facts.type_of(module, copy.source);
    let class = pointer
        .and_then(|ty| facts.definition(module, ty))
        .map_or(0, |ty| ty.operand_word(0));
    let prefix: Vec<u32> = copy
        .path
        .iter()
        .map(|at| facts.pool.intern_u32_constant(module, *at).word())
        .collect();
    for (chain, leaf) in &copy.chains {
        let ty = facts
            .pool
            .intern_type(module, Op::TypePointer, &[class, leaf.word()]);
        let inst = module.inst(*chain);
        let [_, id] = [inst.words()[0], inst.words()[1]];
        let head = [ty.word(), id, copy.source.word()];
        let words = [&head[..], &prefix, &inst.operands()[1..]].concat();
        module.replace_words(*chain, &words);
        let loads = Id::new(id).map_or(&[][..], |id| accesses.address_users(id));
        for load in loads {
            // Memory operands of the copy do not apply to the source.
            if module.inst(*load).operands().len() > 1 {
                let words = module.inst(*load).words()[..3].to_vec();
                module.replace_words(*load, &words);
            }
        }
    }
}
