//! Variable splitting: replaces a variable by one for each of its members.

use super::accesses::{AggregateAccesses, AggregateVariable};
use crate::gvn::is_plain;
use crate::values::ModuleValues;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, StorageClass};
use spirula_spirv::ir::{ErasedIds, Inst, ModuleSection, SpirvModule};

/// Most members of a variable that is split.
const MOST_PARTS: u32 = 64;
/// Most members of a variable that is loaded or stored as a whole.
const MOST_WHOLE: u32 = 16;

/// A use of a variable.
pub enum AggregateUse {
    /// An access chain with this first index.
    Part(u32),
    Load,
    Store,
    /// An instruction that is deleted with the variable.
    Gone,
}

/// Classifies the use of a variable by an instruction. `None` if it prevents splitting.
pub fn classify_use(
    facts: &ModuleValues,
    accesses: &AggregateAccesses,
    module: &SpirvModule,
    variable: Id,
    user: Inst,
) -> Option<AggregateUse> {
    let inst = module.inst(user);
    match inst.op() {
        op if op.is_plain_access_chain() => {
            let index = facts.scalar_constant_bits(module, inst.get_id(1)?)?;
            let result = inst.result()?;
            if facts.decoration_marks(result).is_none() || !stays_within(accesses, module, result) {
                return None;
            }
            Some(AggregateUse::Part(u32::try_from(index.bits).ok()?))
        }
        Op::Load if is_plain(inst.operands().get(1)) => facts
            .decoration_marks(inst.result()?)
            .map(|_| AggregateUse::Load),
        Op::Store if is_plain(inst.operands().get(2)) && inst.id_operand(1) != variable => {
            Some(AggregateUse::Store)
        }
        Op::LifetimeStart | Op::LifetimeStop => Some(AggregateUse::Gone),
        Op::Bitcast => {
            let mut users = accesses.address_users(inst.result()?).iter();
            let ends =
                |u: &Inst| matches!(module.inst(*u).op(), Op::LifetimeStart | Op::LifetimeStop);
            users.all(ends).then_some(AggregateUse::Gone)
        }
        Op::ExtInst
            if facts
                .ids
                .ext_inst_set(inst)
                .is_some_and(|s| s.is_debug_info()) =>
        {
            Some(AggregateUse::Gone)
        }
        _ => None,
    }
}

/// Whether an address of a member is used only within that member. From an element of an array, addresses of its
/// neighbours could be derived.
fn stays_within(accesses: &AggregateAccesses, module: &SpirvModule, address: Id) -> bool {
    let mut work = vec![address];
    while let Some(address) = work.pop() {
        for user in accesses.address_users(address) {
            let inst = module.inst(*user);
            match inst.op() {
                op if op.is_plain_access_chain() => work.extend(inst.result()),
                Op::Load | Op::LifetimeStart | Op::LifetimeStop => {}
                Op::Store if inst.id_operand(1) != address => {}
                Op::FunctionCall | Op::ExtInst if !accesses.physical => {}
                _ => return false,
            }
        }
    }
    true
}

/// Splits variables.
pub struct AggregateSplitter<'a> {
    pub facts: &'a mut ModuleValues,
    pub accesses: &'a mut AggregateAccesses,
    /// Number of split variables.
    pub split: usize,
}

impl AggregateSplitter<'_> {
    /// Splits a variable and its members as far as possible. Adds the remaining variables to `whole`.
    pub fn split_variable(
        &mut self,
        module: &mut SpirvModule,
        variable: AggregateVariable,
        whole: &mut Vec<AggregateVariable>,
        erased: &mut ErasedIds,
    ) {
        let mut work = vec![variable];
        while let Some(variable) = work.pop() {
            match self.count_splittable_components(module, &variable) {
                Some(count) => {
                    work.extend(self.split_into_components(module, &variable, count, erased))
                }
                None => whole.push(variable),
            }
        }
    }

    /// The number of members of a variable that can be split.
    fn count_splittable_components(
        &self,
        module: &SpirvModule,
        variable: &AggregateVariable,
    ) -> Option<u32> {
        let ty = self.facts.defining_op(module, variable.ty);
        if !matches!(ty, Op::TypeStruct | Op::TypeArray) {
            return None;
        }
        let count = self.facts.part_count(module, variable.ty)?;
        if count == 0 || count > MOST_PARTS {
            return None;
        }
        let initial = module.inst(variable.inst).get_id(1);
        if initial.is_some_and(|i| !self.facts.is_constant(module, i)) {
            return None;
        }
        let (mut whole, mut chains) = (false, false);
        for user in self.accesses.address_users(variable.id) {
            match classify_use(self.facts, self.accesses, module, variable.id, *user)? {
                AggregateUse::Part(at) if at >= count => return None,
                AggregateUse::Part(_) => chains = true,
                AggregateUse::Load | AggregateUse::Store => whole = true,
                AggregateUse::Gone => {}
            }
        }
        (chains && (!whole || count <= MOST_WHOLE)).then_some(count)
    }

    /// Splits a variable. Returns the members that are used.
    fn split_into_components(
        &mut self,
        module: &mut SpirvModule,
        variable: &AggregateVariable,
        count: u32,
        erased: &mut ErasedIds,
    ) -> Vec<AggregateVariable> {
        self.split += 1;
        let mut parts: Vec<Option<AggregateVariable>> = vec![None; count as usize];
        for user in self.accesses.address_users(variable.id).to_vec() {
            match classify_use(self.facts, self.accesses, module, variable.id, user) {
                Some(AggregateUse::Part(at)) => {
                    if let Some(part) = self.component_variable(module, variable, &mut parts, at) {
                        self.rebase_chain(module, user, part, erased);
                    }
                }
                Some(AggregateUse::Load) => self.split_load(module, variable, user, &mut parts),
                Some(AggregateUse::Store) => {
                    self.split_store(module, variable, user, &mut parts, erased)
                }
                _ => {
                    let result = module.inst(user).result();
                    let users = result.map(|r| self.accesses.address_users(r).to_vec());
                    for end in users.into_iter().flatten() {
                        module.erase_inst(end, erased);
                    }
                    module.erase_inst(user, erased);
                }
            }
        }
        module.erase_inst(variable.inst, erased);
        parts.into_iter().flatten().collect()
    }

    /// The variable of a member, created on first use.
    fn component_variable(
        &mut self,
        module: &mut SpirvModule,
        variable: &AggregateVariable,
        parts: &mut [Option<AggregateVariable>],
        at: u32,
    ) -> Option<AggregateVariable> {
        if let Some(known) = parts.get(at as usize)? {
            return Some(*known);
        }
        let ty = self.facts.part_type(module, variable.ty, at)?;
        let pointer = self.facts.local_pointer(module, ty);
        let mut operands = vec![StorageClass::Function.0];
        if let Some(initial) = module.inst(variable.inst).get_id(1) {
            operands.push(
                self.facts
                    .extract_constant_component(module, initial, at)?
                    .word(),
            );
        }
        let op = Op::Variable;
        let id = self
            .facts
            .insert_inst(module, variable.inst, op, pointer, &operands);
        if self.facts.is_relaxed(variable.id) {
            let words = [id.word(), Decoration::RelaxedPrecision.0];
            let decoration = module.create_inst(Op::Decorate, &words);
            module.append_inst(ModuleSection::Annotations.list(), decoration);
        }
        let inst = module.previous(variable.inst)?;
        self.accesses.follow_address(id);
        let part = AggregateVariable { id, inst, ty };
        parts[at as usize] = Some(part);
        Some(part)
    }

    /// Rebases an access chain to the variable of the member.
    fn rebase_chain(
        &mut self,
        module: &mut SpirvModule,
        chain: Inst,
        part: AggregateVariable,
        erased: &mut ErasedIds,
    ) {
        let inst = module.inst(chain);
        if inst.operands().len() > 2 {
            let words = [&[part.id.word()], &inst.operands()[2..]].concat();
            let op = inst.op();
            self.facts.rewrite_inst(module, chain, op, &words);
            self.accesses.record_user(part.id, chain);
        } else if let Some(result) = inst.result() {
            for user in self.accesses.address_users(result).to_vec() {
                let renamed = |id| if id == result { part.id } else { id };
                self.facts.ids.rewrite_uses(module, user, renamed);
                self.accesses.record_user(part.id, user);
            }
            module.erase_inst(chain, erased);
        }
    }

    fn split_load(
        &mut self,
        module: &mut SpirvModule,
        variable: &AggregateVariable,
        load: Inst,
        parts: &mut [Option<AggregateVariable>],
    ) {
        let mut words = Vec::with_capacity(parts.len());
        for at in 0..parts.len() as u32 {
            let Some(part) = self.component_variable(module, variable, parts, at) else {
                continue;
            };
            let operands = [part.id.word()];
            let value = self
                .facts
                .insert_inst(module, load, Op::Load, part.ty, &operands);
            words.push(value.word());
            if let Some(inst) = module.previous(load) {
                self.accesses.record_user(part.id, inst);
            }
        }
        let op = Op::CompositeConstruct;
        self.facts.rewrite_inst(module, load, op, &words);
    }

    fn split_store(
        &mut self,
        module: &mut SpirvModule,
        variable: &AggregateVariable,
        store: Inst,
        parts: &mut [Option<AggregateVariable>],
        erased: &mut ErasedIds,
    ) {
        let value = module.inst(store).operand_word(1);
        for at in 0..parts.len() as u32 {
            let Some(part) = self.component_variable(module, variable, parts, at) else {
                continue;
            };
            let op = Op::CompositeExtract;
            let operands = [value, at];
            let taken = self
                .facts
                .insert_inst(module, store, op, part.ty, &operands);
            let new = module.create_inst(Op::Store, &[part.id.word(), taken.word()]);
            module.insert_before(store, new);
            self.accesses.record_user(part.id, new);
        }
        module.erase_inst(store, erased);
    }
}
