//! Promoted variables: variables that can be kept as SSA values.
//!
//! A variable of storage class `Function` or `Private` is promoted when its address is used for loads and stores
//! only. The accesses may be direct or through access chains with constant indices, also within inlined functions
//! that take the address. An untyped variable is promoted when it is loaded and stored as its own type. The cost is
//! linear in the instructions of the reached functions.

use super::reached_functions::ReachedFunctions;
use crate::module::operand_ids::operand_ids;
use crate::module::typed_module::TypedModule;
use crate::module::types::LoweredTypeKind;
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{MemoryAccess, StorageClass};
use spirula_spirv::ir::{Func, InstRef};
use spirula_spirv::{Id, IdMap};

/// Most scalars of a variable that is promoted, and of a value that is kept as scalars.
pub(crate) const MAX_SCALARS: usize = 64;

/// The promoted variables; fills in the functions' direct parameters.
pub(crate) fn promote_variables(
    program: &TypedModule<'_>,
    functions: &mut ReachedFunctions,
) -> IdMap<bool> {
    let bound = program.module.bound();
    let mut pass = PromotionAnalysis {
        program,
        roots: IdMap::new(bound, None),
        escapes: IdMap::new(bound, false),
        casts: IdMap::new(bound, false),
        has_casts: false,
        variables: Vec::new(),
        func: None,
    };
    for inst in program
        .module
        .section_insts(spirula_spirv::ir::ModuleSection::Globals)
    {
        if inst.op() == Op::Variable && StorageClass(inst.operand_word(0)) == StorageClass::Private
        {
            pass.add_root(inst);
        }
    }
    for func in functions.bottom_up.clone() {
        pass.scan_function(functions, func);
        let params = functions.get(func).params.clone();
        let direct = params.iter().map(|p| !pass.escapes[*p]).collect();
        functions.get_mut(func).direct_params = direct;
    }
    let mut promoted = IdMap::new(bound, false);
    let crowded = pass.crowded_functions(functions);
    for (variable, func) in &pass.variables {
        let stays = func.is_some_and(|func| crowded.contains(&func));
        promoted.set(*variable, !pass.escapes[*variable] && !stays);
    }
    promoted
}

/// Most scalars of promoted variables of a function, times its blocks: each may become a parameter of each block.
const MOST_PAIRS: usize = 1 << 19;

struct PromotionAnalysis<'a, 'm> {
    program: &'a TypedModule<'m>,
    /// The variable or parameter that a pointer points into.
    roots: IdMap<Option<Id>>,
    /// Variables and parameters whose address is used in other ways.
    escapes: IdMap<bool>,
    /// Pointers cast to another type: they may mark lifetimes, nothing else.
    casts: IdMap<bool>,
    has_casts: bool,
    /// Variables, with the functions that have them.
    variables: Vec<(Id, Option<Func>)>,
    /// The function that is looked at.
    func: Option<Func>,
}

impl PromotionAnalysis<'_, '_> {
    fn add_root(&mut self, inst: InstRef<'_>) {
        let Some(id) = inst.result() else { return };
        self.roots.set(id, Some(id));
        self.variables.push((id, self.func));
        let types = &self.program.types;
        let scalars = self
            .program
            .variable_type(id)
            .map_or(0, |ty| types.scalar_count(ty));
        if scalars == 0 || scalars > MAX_SCALARS {
            self.escapes.set(id, true);
        }
    }

    fn mark_escaped(&mut self, id: Id) {
        if let Some(root) = self.roots[id] {
            self.escapes.set(root, true);
        }
    }

    /// Records an access. An access through an untyped pointer has to be of the whole variable.
    fn record_access(&mut self, pointer: Id, ty: Option<Id>) {
        let is_untyped = self.program.pointee_of(pointer).is_none();
        if is_untyped && self.program.variable_type(pointer) != ty {
            self.mark_escaped(pointer);
        }
    }

    /// Functions with too many variables for each to be a value in each block.
    fn crowded_functions(&self, functions: &ReachedFunctions) -> FxHashSet<Func> {
        let mut scalars: FxHashMap<Func, usize> = FxHashMap::default();
        for (id, func) in &self.variables {
            let ty = self
                .program
                .variable_type(*id)
                .filter(|_| !self.escapes[*id]);
            if let (Some(func), Some(ty)) = (func, ty) {
                *scalars.entry(*func).or_default() += self.program.types.scalar_count(ty);
            }
        }
        let pairs = |func, scalars: usize| scalars.saturating_mul(functions.get(func).cfg.len());
        let crowded = scalars
            .into_iter()
            .filter(|(func, n)| pairs(*func, *n) > MOST_PAIRS);
        crowded.map(|(func, _)| func).collect()
    }

    fn scan_function(&mut self, functions: &ReachedFunctions, func: Func) {
        self.func = Some(func);
        let module = self.program.module;
        let info = functions.get(func);
        for param in &info.params {
            let ty = self.program.type_of(*param);
            if ty.is_some_and(|ty| {
                matches!(self.program.types.kind(ty), LoweredTypeKind::Pointer { .. })
            }) {
                self.roots.set(*param, Some(*param));
                // The function's copy of the argument lies in memory.
                self.escapes.set(*param, self.program.is_by_value(*param));
            } else {
                self.escapes.set(*param, true);
            }
        }
        // A Private variable has one set of SSA values, which lives in the entry function.
        let shared = func == self.program.entry.func || info.inline;
        for inst in module.function_insts(func) {
            if !shared {
                self.private_uses(functions, inst);
            }
            self.scan_instruction(functions, inst);
        }
    }

    fn private_uses(&mut self, functions: &ReachedFunctions, inst: InstRef<'_>) {
        for id in operand_ids(inst) {
            if self.roots[id] == Some(id) && functions.local_index(id).is_none() {
                self.mark_escaped(id);
            }
        }
    }

    fn scan_instruction(&mut self, functions: &ReachedFunctions, inst: InstRef<'_>) {
        if self.has_casts && !matches!(inst.op(), Op::LifetimeStart | Op::LifetimeStop) {
            for id in operand_ids(inst) {
                if self.casts[id] {
                    self.mark_escaped(id);
                }
            }
        }
        match inst.op() {
            Op::Variable | Op::UntypedVariableKHR => self.add_root(inst),
            Op::Load => {
                self.record_access(inst.id_operand(0), inst.result_type());
                if is_special(inst.operands().get(1)) {
                    self.mark_escaped(inst.id_operand(0));
                }
            }
            Op::Store => {
                self.mark_escaped(inst.id_operand(1));
                self.record_access(inst.id_operand(0), self.program.type_of(inst.id_operand(1)));
                if is_special(inst.operands().get(2)) {
                    self.mark_escaped(inst.id_operand(0));
                }
            }
            op if op.is_plain_access_chain() => self.scan_access_chain(inst),
            Op::CopyObject => {
                if let Some(id) = inst.result() {
                    self.roots.set(id, self.roots[inst.id_operand(0)]);
                }
            }
            Op::FunctionCall => {
                let callee = functions
                    .by_id(inst.id_operand(0))
                    .map(|f| functions.get(f));
                for (n, argument) in inst.id_operands(1).enumerate() {
                    let direct = callee.is_some_and(|c| {
                        c.inline && c.direct_params.get(n).copied().unwrap_or(false)
                    });
                    if !direct {
                        self.mark_escaped(argument);
                    }
                }
            }
            Op::LifetimeStart | Op::LifetimeStop | Op::Name => {}
            Op::Bitcast if self.roots[inst.id_operand(0)].is_some() => self.scan_cast(inst),
            Op::ExtInst if self.is_non_semantic(inst) => {}
            _ => operand_ids(inst).for_each(|id| self.mark_escaped(id)),
        }
    }

    fn scan_access_chain(&mut self, inst: InstRef<'_>) {
        let constant = inst
            .id_operands(1)
            .all(|i| self.program.constants.get_u64(i).is_some());
        if !constant {
            self.mark_escaped(inst.id_operand(0));
        }
        if let Some(id) = inst.result() {
            self.roots.set(id, self.roots[inst.id_operand(0)]);
        }
    }

    fn scan_cast(&mut self, inst: InstRef<'_>) {
        if let Some(id) = inst.result() {
            self.roots.set(id, self.roots[inst.id_operand(0)]);
            self.casts.set(id, true);
            self.has_casts = true;
        }
    }

    fn is_non_semantic(&self, inst: InstRef<'_>) -> bool {
        self.program.sets[inst.id_operand(0)]
            == Some(crate::module::typed_module::ExtSet::NonSemantic)
    }
}

fn is_special(access: Option<&u32>) -> bool {
    access.is_some_and(|mask| mask & MemoryAccess::Volatile.0 != 0)
}
