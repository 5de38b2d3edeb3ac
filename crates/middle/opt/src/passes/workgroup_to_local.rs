//! Workgroup-to-local conversion: workgroup arrays become function variables if every invocation only uses the element
//! of its own number. Then `mem2reg` can turn them into values. This is array privatisation; see Tu and Padua,
//! "Automatic Array Privatization", 1994. Blocks that compute an array in parallel and then copy it elsewhere use such
//! arrays.
//!
//! The array must be used by one entry point alone, by plain loads and stores at `LocalInvocationIndex`. The first
//! component of `LocalInvocationId` is as good if workgroups have no other dimension.
//!
//! Before:
//! ```text
//! %x = OpVariable %ptr_Workgroup_array Workgroup
//! ...
//! %i = OpCompositeExtract %uint %local_id 0
//! %p = OpAccessChain %ptr_Workgroup_float %x %i
//!      OpStore %p %v
//! ```
//! After:
//! ```text
//! %x = OpVariable %ptr_Function_float Function
//! ...
//!      OpStore %x %v
//! ```

use super::private_to_local::{find_pure_entry_points, leave_interfaces};
use crate::analyses::AnalysisCache;
use crate::gvn::is_plain;
use crate::pass::PassOutcome;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{BuiltIn, Decoration, ExecutionMode, StorageClass};
use spirula_spirv::ir::{Func, Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

pub fn run_workgroup_to_local(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let globals = module.section_insts(ModuleSection::Globals);
    let variables: Vec<Inst> = globals
        .filter(|i| i.op() == Op::Variable && i.operand_word(0) == StorageClass::Workgroup.0)
        .map(InstRef::handle)
        .collect();
    let mut moved = 0;
    if !variables.is_empty() {
        let calls = cache.call_graph(module);
        let mut facts = cache.take_facts(module);
        let alone = find_pure_entry_points(module, &calls);
        let mut uses = WorkgroupArrayAnalysis::new(module, &facts, &variables);
        for func in module.functions() {
            uses.count_uses(module, &facts, *func, alone[func.index()]);
        }
        for variable in variables {
            moved += usize::from(uses.localise_array(module, &mut facts, variable).is_some());
        }
        if moved > 0 {
            leave_interfaces(module, &facts);
        }
        cache.put_facts(facts);
    }
    Ok(PassOutcome {
        statistics: vec![("arrays made variables", moved)],
    })
}

/// The numbering of invocations in a workgroup.
struct InvocationNumbers {
    built_ins: IdMap<Option<BuiltIn>>,
    /// Whether workgroups have a single dimension.
    is_flat: bool,
}

impl InvocationNumbers {
    fn from_module(module: &SpirvModule, facts: &ModuleValues) -> InvocationNumbers {
        let mut built_ins = IdMap::new(module.bound(), None);
        let mut size = None;
        for inst in module.section_insts(ModuleSection::Annotations) {
            let is_built_in =
                inst.op() == Op::Decorate && inst.operand_word(1) == Decoration::BuiltIn.0;
            if let Some(kind) = inst.operands().get(2).filter(|_| is_built_in) {
                built_ins.set(inst.id_operand(0), Some(BuiltIn(*kind)));
                if *kind == BuiltIn::WorkgroupSize.0 {
                    size = Some(inst.id_operand(0));
                }
            }
        }
        // The decoration takes precedence over execution modes.
        let is_flat = match size.and_then(|size| facts.definition(module, size)) {
            Some(size) => [1, 2]
                .iter()
                .all(|at| is_one(module, facts, size.get_id(*at))),
            None => modes_are_flat(module, facts),
        };
        InvocationNumbers { built_ins, is_flat }
    }

    /// Whether a value enumerates the invocations of a workgroup from zero.
    fn is_own(&self, module: &SpirvModule, facts: &ModuleValues, id: Id) -> bool {
        let Some(def) = facts.definition(module, id) else {
            return false;
        };
        let loaded = |load: Option<InstRef<'_>>| {
            let load = load.filter(|load| load.op() == Op::Load)?;
            self.built_ins[load.id_operand(0)]
        };
        match def.op() {
            Op::UConvert | Op::SConvert | Op::Bitcast => {
                self.is_own(module, facts, def.id_operand(0))
            }
            Op::CompositeExtract if def.operands().get(1..) == Some(&[0]) => {
                let of = loaded(facts.definition(module, def.id_operand(0)));
                self.is_flat && of == Some(BuiltIn::LocalInvocationId)
            }
            _ => loaded(Some(def)) == Some(BuiltIn::LocalInvocationIndex),
        }
    }
}

/// Whether an id is the constant 1, under any specialisation.
fn is_one(module: &SpirvModule, facts: &ModuleValues, id: Option<Id>) -> bool {
    let value = id.and_then(|id| facts.scalar_constant_bits(module, id));
    value.is_some_and(|value| value.bits == 1)
}

/// Whether the execution modes of all entry points give a size of one dimension.
fn modes_are_flat(module: &SpirvModule, facts: &ModuleValues) -> bool {
    let mut flat = 0;
    for mode in module.section_insts(ModuleSection::ExecutionModes) {
        let is_flat = match ExecutionMode(mode.operand_word(1)) {
            ExecutionMode::LocalSize => mode.operands().get(3..5) == Some(&[1, 1]),
            ExecutionMode::LocalSizeId => [3, 4]
                .iter()
                .all(|at| is_one(module, facts, mode.get_id(*at))),
            _ => continue,
        };
        if !is_flat {
            return false;
        }
        flat += 1;
    }
    flat > 0 && flat == module.section_insts(ModuleSection::EntryPoints).count()
}

/// The uses of the elements of an array.
#[derive(Clone)]
struct WorkgroupArrayUse {
    /// The only function that uses it.
    func: Option<Func>,
    /// The addresses of elements, and their loads and stores.
    chains: Vec<Inst>,
    accesses: Vec<Inst>,
}

struct WorkgroupArrayAnalysis {
    numbers: InvocationNumbers,
    /// By variable; `None` for other ids, and for arrays with other uses.
    found: IdMap<Option<WorkgroupArrayUse>>,
    /// The array that an id is, or is an element address of.
    base: IdMap<Option<Id>>,
}

impl WorkgroupArrayAnalysis {
    fn new(
        module: &SpirvModule,
        facts: &ModuleValues,
        variables: &[Inst],
    ) -> WorkgroupArrayAnalysis {
        let mut uses = WorkgroupArrayAnalysis {
            numbers: InvocationNumbers::from_module(module, facts),
            found: IdMap::new(module.bound(), None),
            base: IdMap::new(module.bound(), None),
        };
        for variable in variables {
            let inst = module.inst(*variable);
            // A variable with an initialiser does not qualify.
            let plain = inst.result().filter(|_| inst.get_id(1).is_none());
            let array = array_element_type(module, facts, inst);
            if let Some(id) =
                plain.filter(|id| array.is_some() && facts.decoration_marks(*id).is_some())
            {
                let (chains, accesses) = (Vec::new(), Vec::new());
                let found = WorkgroupArrayUse {
                    func: None,
                    chains,
                    accesses,
                };
                uses.found.set(id, Some(found));
                uses.base.set(id, Some(id));
            }
        }
        for inst in module
            .section_insts(ModuleSection::Globals)
            .chain(module.section_insts(ModuleSection::Trailer))
        {
            facts.ids.visit_uses(inst, |_, id| uses.found.set(id, None));
        }
        uses
    }

    fn count_uses(
        &mut self,
        module: &SpirvModule,
        facts: &ModuleValues,
        func: Func,
        is_alone: bool,
    ) {
        for inst in module.function_insts(func) {
            let begin = inst.words().len() - inst.operands().len();
            let mut used: Option<Id> = None;
            facts.ids.visit_uses(inst, |at, id| {
                let Some(variable) = self.base[id] else {
                    return;
                };
                let is_fit = match inst.op() {
                    Op::Load => at == begin && is_plain(inst.operands().get(1)),
                    Op::Store => at == begin && is_plain(inst.operands().get(2)),
                    op if op.is_plain_access_chain() => {
                        let own = inst.get_id(1).filter(|_| inst.operands().len() == 2);
                        at == begin && own.is_some_and(|i| self.numbers.is_own(module, facts, i))
                    }
                    _ => false,
                };
                // The array as a whole is only used as the base of addresses.
                let is_chain = inst.op().is_plain_access_chain();
                let is_fit = is_fit && is_alone && is_chain == (id == variable);
                let same = self.found[variable]
                    .as_ref()
                    .is_some_and(|found| found.func.is_none_or(|other| other == func));
                if is_fit && same {
                    used = Some(variable)
                } else {
                    self.found.set(variable, None)
                }
            });
            let Some(variable) = used else { continue };
            if let Some(found) = self.found.get_mut(variable) {
                found.func = Some(func);
                match inst.op() {
                    Op::Load | Op::Store => found.accesses.push(inst.handle()),
                    _ => {
                        found.chains.push(inst.handle());
                        inst.result()
                            .into_iter()
                            .for_each(|id| self.base.set(id, Some(variable)));
                    }
                }
            }
        }
    }

    /// Turns an array into a variable of the function that uses it, if possible.
    fn localise_array(
        &self,
        module: &mut SpirvModule,
        facts: &mut ModuleValues,
        variable: Inst,
    ) -> Option<()> {
        let inst = module.inst(variable);
        let id = inst.result()?;
        let found = self.found[id].as_ref()?;
        let (func, element) = (found.func?, array_element_type(module, facts, inst)?);
        let pointer = facts.local_pointer(module, element);
        for access in &found.accesses {
            let inst = module.inst(*access);
            let begin = inst.words().len() - inst.operands().len();
            // The stated alignment no longer holds.
            let kept = if inst.op() == Op::Load {
                begin + 1
            } else {
                begin + 2
            };
            let mut words = inst.words()[..kept].to_vec();
            words[begin] = id.word();
            module.replace_words(*access, &words);
        }
        for chain in &found.chains {
            module.remove_inst(*chain);
        }
        let words = [pointer.word(), id.word(), StorageClass::Function.0];
        module.remove_inst(variable);
        module.replace_words(variable, &words);
        let entry = module.function(func).blocks[0];
        let first = module.body(entry).next().map(InstRef::handle)?;
        module.insert_before(first, variable);
        Some(())
    }
}

/// The element type of the array of a variable.
fn array_element_type(
    module: &SpirvModule,
    facts: &ModuleValues,
    variable: InstRef<'_>,
) -> Option<Id> {
    let pointer = facts.def_of(module, variable.result_type()?, Op::TypePointer)?;
    Some(
        facts
            .def_of(module, pointer.id_operand(1), Op::TypeArray)?
            .id_operand(0),
    )
}
