//! Splitting a variable into one for each part, and accesses to parts of values into accesses to the
//! whole.

use super::accesses::Variable;
use crate::gvn::is_plain;
use crate::values::Facts;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, StorageClass};
use spirula_spirv::ir::{Erased, Inst, InstRef, Module, Section};

/// Parts that a variable may have to be split.
const MOST_PARTS: u32 = 64;
/// Parts that a variable may have whose value is loaded or stored as a whole.
const MOST_WHOLE: u32 = 16;

/// Takes variables apart.
pub struct Splitter<'a> {
    facts: &'a mut Facts,
    /// Variables that were split.
    pub split: usize,
    /// Accesses to parts that became accesses to the whole.
    pub widened: usize,
}

/// A use of a variable.
enum Use {
    /// A chain with this first index.
    Part(u32),
    Load,
    Store,
    /// What goes with the variable.
    Gone,
}

impl<'a> Splitter<'a> {
    pub fn new(facts: &'a mut Facts) -> Self {
        Splitter {
            facts,
            split: 0,
            widened: 0,
        }
    }

    /// Takes a variable apart as far as can be.
    pub fn run(&mut self, module: &mut Module, variable: Variable, erased: &mut Erased) {
        let mut work = vec![variable];
        while let Some(variable) = work.pop() {
            let aggregate = matches!(
                self.facts.op(module, variable.ty),
                Op::TypeStruct | Op::TypeArray
            );
            let parts = aggregate.then(|| self.parts(module, &variable)).flatten();
            match parts {
                Some(parts) => work.extend(self.apart(module, &variable, parts, erased)),
                None => self.widen(module, &variable, erased),
            }
        }
    }

    /// The number of parts of a variable that can be split.
    fn parts(&self, module: &Module, variable: &Variable) -> Option<u32> {
        let parts = self.facts.part_count(module, variable.ty)?;
        if parts == 0 || parts > MOST_PARTS {
            return None;
        }
        let initial = module.inst(variable.inst).get_id(1);
        if initial.is_some_and(|i| !self.facts.is_constant(module, i)) {
            return None;
        }
        let (mut whole, mut chains) = (false, false);
        for user in &variable.users {
            match self.of(module, variable, *user)? {
                Use::Part(at) if at >= parts => return None,
                Use::Part(_) => chains = true,
                Use::Load | Use::Store => whole = true,
                Use::Gone => {}
            }
        }
        (chains && (!whole || parts <= MOST_WHOLE)).then_some(parts)
    }

    fn of(&self, module: &Module, variable: &Variable, user: Inst) -> Option<Use> {
        let inst = module.inst(user);
        match inst.op() {
            Op::AccessChain | Op::InBoundsAccessChain => {
                let index = self.facts.scalar(module, inst.get_id(1)?)?;
                let kept = self.facts.marks(inst.result()?).is_some();
                kept.then_some(Use::Part(u32::try_from(index.bits).ok()?))
            }
            Op::Load if is_plain(inst.operands().get(1)) => {
                self.facts.marks(inst.result()?).map(|_| Use::Load)
            }
            Op::Store if is_plain(inst.operands().get(2)) && inst.id(1) != variable.id => {
                Some(Use::Store)
            }
            Op::LifetimeStart | Op::LifetimeStop => Some(Use::Gone),
            Op::ExtInst if self.facts.ids.set(inst).is_some_and(|s| s.is_debug_info()) => {
                Some(Use::Gone)
            }
            _ => None,
        }
    }

    /// Splits a variable; returns the parts that are used.
    fn apart(
        &mut self,
        module: &mut Module,
        variable: &Variable,
        count: u32,
        erased: &mut Erased,
    ) -> Vec<Variable> {
        self.split += 1;
        let mut parts: Vec<Option<Variable>> = (0..count).map(|_| None).collect();
        for user in &variable.users {
            match self.of(module, variable, *user) {
                Some(Use::Part(at)) => {
                    let Some(part) = self.part(module, variable, &mut parts, at) else {
                        continue;
                    };
                    self.chain(module, *user, part, erased);
                }
                Some(Use::Load) => self.load(module, variable, *user, &mut parts),
                Some(Use::Store) => self.store(module, variable, *user, &mut parts, erased),
                _ => module.erase(*user, erased),
            }
        }
        module.erase(variable.inst, erased);
        parts.into_iter().flatten().collect()
    }

    /// The variable of a part, made when it is first asked for.
    fn part<'p>(
        &mut self,
        module: &mut Module,
        variable: &Variable,
        parts: &'p mut [Option<Variable>],
        at: u32,
    ) -> Option<&'p mut Variable> {
        let slot = parts.get_mut(at as usize)?;
        if slot.is_none() {
            let ty = self.facts.part_type(module, variable.ty, at)?;
            let pointer = self.facts.local_pointer(module, ty);
            let mut operands = vec![StorageClass::Function.0];
            if let Some(initial) = module.inst(variable.inst).get_id(1) {
                operands.push(self.facts.part(module, initial, at)?.word());
            }
            let id =
                self.facts
                    .insert(module, variable.inst, Op::Variable, pointer, &operands);
            if self.facts.is_relaxed(variable.id) {
                let words = [id.word(), Decoration::RelaxedPrecision.0];
                let decoration = module.create(Op::Decorate, &words);
                module.append(Section::Annotations.list(), decoration);
            }
            let inst = module.previous(variable.inst)?;
            *slot = Some(Variable {
                id,
                inst,
                ty,
                users: Vec::new(),
            });
        }
        slot.as_mut()
    }

    /// Has a chain begin at the part.
    fn chain(&mut self, module: &mut Module, chain: Inst, part: &mut Variable, erased: &mut Erased) {
        let inst = module.inst(chain);
        if inst.operands().len() > 2 {
            let words = [&[part.id.word()], &inst.operands()[2..]].concat();
            let op = inst.op();
            self.facts.become_(module, chain, op, &words);
            part.users.push(chain);
        } else if let Some(result) = inst.result() {
            self.facts.replace(result, part.id);
            module.erase(chain, erased);
            // Who used the chain uses the part: found again by the caller.
            part.users.extend(self.facts.users(result));
        }
    }

    fn load(
        &mut self,
        module: &mut Module,
        variable: &Variable,
        load: Inst,
        parts: &mut [Option<Variable>],
    ) {
        let mut words = Vec::with_capacity(parts.len());
        for at in 0..parts.len() as u32 {
            let Some(part) = self.part(module, variable, parts, at) else {
                continue;
            };
            let (ty, id) = (part.ty, part.id.word());
            let value = self.facts.insert(module, load, Op::Load, ty, &[id]);
            part.users.extend(module.previous(load));
            words.push(value.word());
        }
        self.facts
            .become_(module, load, Op::CompositeConstruct, &words);
    }

    fn store(
        &mut self,
        module: &mut Module,
        variable: &Variable,
        store: Inst,
        parts: &mut [Option<Variable>],
        erased: &mut Erased,
    ) {
        let value = self.facts.resolve(module.inst(store).id(1)).word();
        for at in 0..parts.len() as u32 {
            let Some(part) = self.part(module, variable, parts, at) else {
                continue;
            };
            let (ty, id) = (part.ty, part.id.word());
            let op = Op::CompositeExtract;
            let taken = self.facts.insert(module, store, op, ty, &[value, at]);
            let new = module.create(Op::Store, &[id, taken.word()]);
            module.insert_before(store, new);
            part.users.push(new);
        }
        module.erase(store, erased);
    }

    /// Accesses to constant parts of a variable become accesses to the whole, so that the variable
    /// can be a value, where that holds for all of them.
    fn widen(&mut self, module: &mut Module, variable: &Variable, erased: &mut Erased) {
        let vector = self.facts.op(module, variable.ty) == Op::TypeVector;
        let mut chains = Vec::new();
        for user in &variable.users {
            let inst = module.inst(*user);
            match inst.op() {
                Op::AccessChain | Op::InBoundsAccessChain => {
                    let Some(path) = self.path(module, inst, vector) else {
                        return;
                    };
                    let Some(result) = inst.result() else { return };
                    let users = self.facts.users(result).collect::<Vec<_>>();
                    if !users.iter().all(|u| self.is_access(module, *u, result)) {
                        return;
                    }
                    chains.push((*user, path, users));
                }
                _ if self.of(module, variable, *user).is_some() => {}
                _ => return,
            }
        }
        for (chain, path, users) in chains {
            for user in users {
                self.access(module, variable, user, &path, erased);
                self.widened += 1;
            }
            module.erase(chain, erased);
        }
    }

    /// The indices of a chain: constants, or one that is not of a vector.
    fn path(&self, module: &Module, chain: InstRef<'_>, vector: bool) -> Option<Path> {
        let mut path = Vec::new();
        let mut ty = None;
        for index in chain.ids(1) {
            match self.facts.scalar(module, index) {
                Some(value) => path.push(value.bits as u32),
                None if vector && chain.operands().len() == 2 => {
                    return Some(Path::Dynamic(index));
                }
                None => return None,
            }
        }
        // Within bounds, as it must be for a value.
        let base = self.facts.def(module, chain.id(0))?;
        let pointer = self.facts.def_of(module, base.result_type()?, Op::TypePointer)?;
        let mut at = pointer.id(1);
        for index in &path {
            if *index >= self.facts.part_count(module, at)? {
                return None;
            }
            at = self.facts.part_type(module, at, *index)?;
            ty = Some(at);
        }
        Some(Path::Constant(path, ty?))
    }

    /// Whether an instruction only loads from a pointer or stores to it.
    fn is_access(&self, module: &Module, user: Inst, pointer: Id) -> bool {
        let inst = module.inst(user);
        match inst.op() {
            Op::Load => {
                is_plain(inst.operands().get(1))
                    && inst.result().is_some_and(|r| self.facts.marks(r).is_some())
            }
            Op::Store => is_plain(inst.operands().get(2)) && inst.id(1) != pointer,
            _ => false,
        }
    }

    fn access(
        &mut self,
        module: &mut Module,
        variable: &Variable,
        user: Inst,
        path: &Path,
        erased: &mut Erased,
    ) {
        let (op, ty, id) = (module.inst(user).op(), variable.ty, variable.id.word());
        let whole = self.facts.insert(module, user, Op::Load, ty, &[id]).word();
        if op == Op::Load {
            match path {
                Path::Constant(indices, _) => {
                    let words = [&[whole], &indices[..]].concat();
                    self.facts
                        .become_(module, user, Op::CompositeExtract, &words);
                }
                Path::Dynamic(index) => {
                    let words = [whole, index.word()];
                    self.facts
                        .become_(module, user, Op::VectorExtractDynamic, &words);
                }
            }
            return;
        }
        let value = module.inst(user).word(1);
        let new = match path {
            Path::Constant(indices, _) => {
                let words = [&[value, whole], &indices[..]].concat();
                let op = Op::CompositeInsert;
                self.facts.insert(module, user, op, ty, &words)
            }
            Path::Dynamic(index) => {
                let words = [whole, value, index.word()];
                let op = Op::VectorInsertDynamic;
                self.facts.insert(module, user, op, ty, &words)
            }
        };
        let store = module.create(Op::Store, &[id, new.word()]);
        module.insert_before(user, store);
        module.erase(user, erased);
    }
}

/// Where a part is.
enum Path {
    /// Constant indices, and the type of what is there.
    Constant(Vec<u32>, Id),
    /// A component of a vector.
    Dynamic(Id),
}
