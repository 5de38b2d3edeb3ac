//! Private-to-local conversion: private variables that a single entry point uses become function variables, so that
//! `sroa` and `mem2reg` can turn them into values. The function must not be called, because a private variable
//! keeps its value from one call to the next.
//!
//! Before:
//! ```text
//! %x = OpVariable %private_int Private
//! %main = OpFunction %void None %ft
//! ```
//! After:
//! ```text
//! %main = OpFunction %void None %ft
//! %x = OpVariable %function_int Function
//! ```

use crate::analyses::AnalysisCache;
use crate::gvn::is_chain;
use crate::pass::PassOutcome;
use crate::structure::change_interfaces;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::SpirvCallGraph;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::ir::{Func, Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

pub fn run_private_to_local(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let is_private =
        |i: &InstRef<'_>| i.op() == Op::Variable && i.operand_word(0) == StorageClass::Private.0;
    let mut moved = 0;
    if module
        .section_insts(ModuleSection::Globals)
        .any(|i| is_private(&i))
    {
        let calls = cache.call_graph(module);
        let mut facts = cache.take_facts(module);
        let variables: Vec<Inst> = module
            .section_insts(ModuleSection::Globals)
            .filter(is_private)
            .map(InstRef::handle)
            .collect();
        let found = PrivateVariableUses::from_variables(module, &facts, &calls, &variables);
        for variable in variables {
            let Some(id) = module.inst(variable).result() else {
                continue;
            };
            if let VariableHome::One(func) = found.home[id] {
                move_into_function(module, &mut facts, &found, variable, func);
                moved += 1;
            }
        }
        if moved > 0 {
            leave_interfaces(module, &facts);
        }
        cache.put_facts(facts);
    }
    Ok(PassOutcome {
        statistics: vec![("variables moved", moved)],
    })
}

/// The function that uses a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VariableHome {
    /// The variable cannot be moved, or several functions use it.
    No,
    Unused,
    One(Func),
}

struct PrivateVariableUses {
    /// By variable.
    home: IdMap<VariableHome>,
    /// The addresses that are derived from each variable.
    chains: IdMap<Vec<Inst>>,
}

impl PrivateVariableUses {
    fn from_variables(
        module: &SpirvModule,
        facts: &ModuleValues,
        calls: &SpirvCallGraph,
        variables: &[Inst],
    ) -> PrivateVariableUses {
        let mut uses = PrivateVariableUses {
            home: IdMap::new(module.bound(), VariableHome::No),
            chains: IdMap::new(module.bound(), Vec::new()),
        };
        // The variable that each address is derived from.
        let mut base: IdMap<Option<Id>> = IdMap::new(module.bound(), None);
        for variable in variables {
            let inst = module.inst(*variable);
            let constant = inst.get_id(1).is_none_or(|i| facts.is_constant(module, i));
            if let Some(id) = inst
                .result()
                .filter(|id| facts.decoration_marks(*id).is_some() && constant)
            {
                uses.home.set(id, VariableHome::Unused);
                base.set(id, Some(id));
            }
        }
        for inst in module
            .section_insts(ModuleSection::Globals)
            .chain(module.section_insts(ModuleSection::Trailer))
        {
            facts.ids.visit_uses(inst, |_, id| {
                if base[id].is_some() {
                    uses.home.set(id, VariableHome::No);
                }
            });
        }
        let entries = find_pure_entry_points(module, calls);
        for func in module.functions() {
            for inst in module.function_insts(*func) {
                let begin = inst.words().len() - inst.operands().len();
                let mut chain = None;
                facts.ids.visit_uses(inst, |at, id| {
                    let Some(variable) = base[id] else { return };
                    let accessed = match inst.op() {
                        Op::Load | Op::Store => at == begin,
                        op if is_chain(op) => at == begin,
                        _ => false,
                    };
                    let known = uses.home[variable];
                    let here = accessed && entries[func.index()];
                    let same = known == VariableHome::Unused || known == VariableHome::One(*func);
                    let home = if here && same {
                        VariableHome::One(*func)
                    } else {
                        VariableHome::No
                    };
                    uses.home.set(variable, home);
                    chain = Some(variable).filter(|_| is_chain(inst.op()));
                });
                if let (Some(variable), Some(id)) = (chain, inst.result()) {
                    base.set(id, Some(variable));
                    uses.chains.get_mut(variable).push(inst.handle());
                }
            }
        }
        uses
    }
}

/// The functions that are entry points and are not called, by [`Func::index`].
pub fn find_pure_entry_points(module: &SpirvModule, calls: &SpirvCallGraph) -> Vec<bool> {
    let size = module.functions().iter().map(|f| f.index() + 1).max();
    let mut found = vec![false; size.unwrap_or(0)];
    let mut named: IdMap<bool> = IdMap::new(module.bound(), false);
    for entry in module.section_insts(ModuleSection::EntryPoints) {
        if let Some(id) = entry.get_id(1).filter(|_| entry.op() == Op::EntryPoint) {
            named.set(id, true);
        }
    }
    for func in module.functions() {
        found[func.index()] = named[module.function_id(*func)];
    }
    for func in module.functions() {
        for callee in calls.callees(*func) {
            found[callee.index()] = false;
        }
    }
    found
}

fn move_into_function(
    module: &mut SpirvModule,
    facts: &mut ModuleValues,
    uses: &PrivateVariableUses,
    variable: Inst,
    func: Func,
) {
    let inst = module.inst(variable);
    let (Some(id), Some(ty)) = (inst.result(), inst.result_type()) else {
        return;
    };
    let mut words = inst.words().to_vec();
    let Some(local) = function_pointer_type(module, facts, ty) else {
        return;
    };
    words[0] = local.word();
    words[2] = StorageClass::Function.0;
    for chain in &uses.chains[id] {
        let ty = module.inst(*chain).result_type();
        if let Some(local) = ty.and_then(|ty| function_pointer_type(module, facts, ty)) {
            module.words_mut(*chain)[0] = local.word();
        }
    }
    module.remove_inst(variable);
    module.replace_words(variable, &words);
    let entry = module.function(func).blocks[0];
    let first = module.body(entry).next().map(InstRef::handle);
    if let Some(first) = first {
        module.insert_before(first, variable);
    }
}

/// The function pointer type with the same pointee.
fn function_pointer_type(module: &mut SpirvModule, facts: &mut ModuleValues, ty: Id) -> Option<Id> {
    let pointee = facts.def_of(module, ty, Op::TypePointer)?.id_operand(1);
    Some(facts.local_pointer(module, pointee))
}

/// Removes function variables from the interfaces of entry points.
pub fn leave_interfaces(module: &mut SpirvModule, facts: &ModuleValues) {
    let is_local = |module: &SpirvModule, id: Id| {
        let variable = facts.def_of(module, id, Op::Variable);
        variable.is_some_and(|v| v.operand_word(0) == StorageClass::Function.0)
    };
    change_interfaces(module, |module, id, new| {
        if !is_local(module, id) {
            new.push(id.word());
        }
    });
}
