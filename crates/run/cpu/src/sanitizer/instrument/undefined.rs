//! Undefined values: a flag for each component that may be undefined, and reports of code that depends on one.
//!
//! A flag is a Cranelift variable that is not zero where the component is undefined. It is kept over suspensions as
//! its value is. Where one operand decides the result whatever the other is, as `false` in a conjunction, the result
//! is defined.

use super::{ClifLowering, DEPENDS, SanitizerHooks, UNINITIALISED};
use crate::analysis::promoted_variables::MAX_SCALARS;
use crate::codegen::ClifScalars;
use crate::module::types::LoweredTypeKind;
use crate::sanitizer::definedness::{DefinednessFlow, classify_flow, is_followed};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;
use smallvec::smallvec;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::ir::InstRef;

/// Deepest nesting of constants.
const MAX_DEPTH: u32 = 16;

impl SanitizerHooks {
    /// Whether a value may be undefined.
    fn may_be_undefined(&self, id: Id) -> bool {
        let undefined = self.analysis.undefined.as_ref();
        undefined.is_some_and(|table| table[id] != 0)
    }

    /// Reports a branch or an access that depends on an undefined scalar.
    pub fn check_depends(&self, lower: &mut ClifLowering<'_, '_, '_>, on: Id) {
        if !self.may_be_undefined(on) {
            return;
        }
        if let [flag] = self.read_undefined_flags(lower, on)[..] {
            self.emit_fault_if(lower, flag, UNINITIALISED | DEPENDS);
        }
    }

    /// Reports an undefined scalar that is written where others may read it.
    pub fn check_shared(&self, lower: &mut ClifLowering<'_, '_, '_>, pointer: Id, value: Id) {
        let ty = lower.program.type_of(pointer);
        let class = ty.map(|ty| lower.program.types.kind(ty));
        if let Some(LoweredTypeKind::Pointer { class, .. }) = class
            && !matches!(
                class,
                StorageClass::Function | StorageClass::Private | StorageClass::Generic
            )
        {
            self.check_depends(lower, value);
        }
    }

    /// Notes which components of the result of an instruction that was lowered are undefined.
    pub fn follow_undefined(&self, lower: &mut ClifLowering<'_, '_, '_>, inst: InstRef<'_>) {
        let Some((id, ty)) = inst.result().zip(inst.result_type()) else {
            return;
        };
        let Some(how) = classify_flow(inst.op()) else {
            return;
        };
        if !self.may_be_undefined(id) || lower.is_large(ty) {
            return;
        }
        let count = lower.program.types.scalar_count(ty);
        let flags = match how {
            DefinednessFlow::Nothing => {
                let one = lower.emit_iconst(types::I8, 1);
                smallvec![one; count]
            }
            DefinednessFlow::Phi => self.read_arriving_flags(lower, id, count),
            DefinednessFlow::Moved => self.move_flags(lower, inst, count),
            DefinednessFlow::Chosen => self.select_flags(lower, inst, count),
            DefinednessFlow::Masked | DefinednessFlow::Filled => {
                self.combine_logical_flags(lower, inst, count, how == DefinednessFlow::Masked)
            }
            DefinednessFlow::Each => self.merge_flags(lower, inst, count),
            DefinednessFlow::All => self.combine_flags(lower, inst, count, |lower, a, b| {
                lower.builder.ins().band(a, b)
            }),
            DefinednessFlow::Sum => self.combine_flags(lower, inst, count, |lower, a, b| {
                lower.builder.ins().bor(a, b)
            }),
        };
        let flags = if flags.len() == count {
            flags
        } else {
            self.all_defined(lower, count)
        };
        self.set_flags(lower, id, &flags);
    }

    /// Begins a value whose flags are computed on the way. It counts as defined until then.
    pub fn begin_flags(&self, lower: &mut ClifLowering<'_, '_, '_>, id: Option<Id>) {
        let Some(id) = id.filter(|id| self.may_be_undefined(*id)) else {
            return;
        };
        let ty = lower.program.type_of(id);
        let count = ty.map_or(0, |ty| lower.program.types.scalar_count(ty));
        if count <= MAX_SCALARS {
            let flags = self.all_defined(lower, count);
            self.set_flags(lower, id, &flags);
        }
    }

    /// Sets the flags of the value that is being loaded. `defined` has one value for each component, which is zero
    /// where it is undefined. Undefined components of vectors that are used by themselves are reported at the load,
    /// and count as defined from then on.
    pub(super) fn load_flags(&self, lower: &mut ClifLowering<'_, '_, '_>, defined: &[Value]) {
        let load = lower.current.filter(|inst| inst.op() == Op::Load);
        let id = load.and_then(|inst| inst.result());
        let Some(id) = id.filter(|id| self.may_be_undefined(*id)) else {
            return;
        };
        // A lone scalar is not reported at the load: its flag is followed to the uses.
        let used = match defined.len() {
            1 => 0,
            _ => self.used_components(lower),
        };
        let mut flags = ClifScalars::new();
        for (n, part) in defined.iter().enumerate() {
            flags.push(match used >> n.min(63) & 1 {
                0 => lower.builder.ins().icmp_imm_u(IntCC::Equal, *part, 0),
                _ => lower.emit_iconst(types::I8, 0),
            });
        }
        self.set_flags(lower, id, &flags);
    }

    /// The flags of the structure, array or vector that is being stored, or of a scalar that is only copied. None where
    /// no part of it may be undefined.
    pub(super) fn stored_flags(&self, lower: &mut ClifLowering<'_, '_, '_>) -> Option<ClifScalars> {
        let store = lower.current.filter(|inst| inst.op() == Op::Store)?;
        let value = store.id_operand(1);
        let whole = lower.program.type_of(value);
        let whole = whole.is_some_and(|ty| is_followed(lower.program, ty));
        let copied = self.is_loaded(lower, value) && self.is_moved(value);
        ((whole || copied) && self.may_be_undefined(value))
            .then(|| self.read_undefined_flags(lower, value))
    }

    fn is_loaded(&self, lower: &mut ClifLowering<'_, '_, '_>, value: Id) -> bool {
        let program = lower.program;
        let made = program.definitions.get(program.module, value);
        made.is_some_and(|inst| inst.op() == Op::Load)
    }

    /// The first flag of a call's result. The callee sets the flags when it returns.
    pub fn result_flags(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        call: InstRef<'_>,
    ) -> Option<Variable> {
        let id = call.result().filter(|id| self.may_be_undefined(*id))?;
        let count = lower.program.types.scalar_count(call.result_type()?);
        self.flag_variables(lower, id, count)
    }

    /// Passes the flags of a returned value to the caller.
    pub fn return_flags(&self, lower: &mut ClifLowering<'_, '_, '_>, value: Id) {
        let Some(first) = self.with_scope(|scope| scope.exit_flags) else {
            return;
        };
        let flags = self.read_undefined_flags(lower, value);
        for (n, flag) in (first.as_u32()..).zip(flags) {
            let variable = Variable::from_u32(n);
            lower.builder.def_var(variable, flag);
            lower.save_to_slot(variable, flag);
        }
    }

    /// The flags of a phi's operand, to be assigned where its block is left.
    pub fn phi_flags(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        phi: Id,
        operand: Id,
    ) -> Option<ClifScalars> {
        self.may_be_undefined(phi)
            .then(|| self.read_undefined_flags(lower, operand))
    }

    /// Assigns the flags that a phi takes. The phi's own flags stay. The block that is left may be its block, and code
    /// after a loop may use the value of the previous iteration.
    pub fn assign_phi_flags(&self, lower: &mut ClifLowering<'_, '_, '_>, phi: Id, flags: &[Value]) {
        let Some(first) = self.arriving_variables(lower, phi, flags.len()) else {
            return;
        };
        for (n, flag) in (first.as_u32()..).zip(flags) {
            lower.builder.def_var(Variable::from_u32(n), *flag);
        }
    }

    /// The flags that were assigned for a phi where its predecessor was left.
    fn read_arriving_flags(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        phi: Id,
        count: usize,
    ) -> ClifScalars {
        let Some(first) = self.arriving_variables(lower, phi, count) else {
            return ClifScalars::new();
        };
        lower.read_variables(first, count)
    }

    fn arriving_variables(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        phi: Id,
        count: usize,
    ) -> Option<Variable> {
        let known = self.with_scope(|scope| scope.arriving.get(&phi).copied());
        if known.is_some() {
            return known;
        }
        let first = self.declare_flags(lower, count)?;
        self.with_scope(|scope| scope.arriving.insert(phi, first));
        Some(first)
    }

    fn declare_flags(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        count: usize,
    ) -> Option<Variable> {
        let mut all = (0..count).map(|_| lower.builder.declare_var(types::I8));
        let first = all.next();
        all.for_each(drop);
        first
    }

    /// Sets the flags of a value.
    pub fn set_flags(&self, lower: &mut ClifLowering<'_, '_, '_>, id: Id, flags: &[Value]) {
        let Some(first) = self.flag_variables(lower, id, flags.len()) else {
            return;
        };
        for (n, flag) in (first.as_u32()..).zip(flags) {
            let variable = Variable::from_u32(n);
            lower.builder.def_var(variable, *flag);
            lower.save_to_slot(variable, *flag);
        }
    }

    /// The first of the variables that are a value's flags.
    fn flag_variables(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        id: Id,
        count: usize,
    ) -> Option<Variable> {
        let local = lower.program.functions.local_index(id)?;
        let known = self.with_scope(|scope| {
            let flags = &mut scope.flags;
            flags.resize(flags.len().max(local + 1), None);
            flags[local]
        });
        if known.is_some() {
            return known;
        }
        let first = self.declare_flags(lower, count)?;
        let func = lower.current_scope().func;
        let live = &lower.program.functions.get(func).live;
        if lower.item.frame.is_some() && live.is_kept(local) {
            lower.keep_in_frame(first, &vec![types::I8; count]);
        }
        self.with_scope(|scope| scope.flags[local] = Some(first));
        Some(first)
    }

    /// The flags of a value, one for each component.
    fn read_undefined_flags(&self, lower: &mut ClifLowering<'_, '_, '_>, id: Id) -> ClifScalars {
        let ty = lower.program.type_of(id);
        let count = ty.map_or(0, |ty| lower.program.types.scalar_count(ty));
        let count = count.min(MAX_SCALARS);
        if !self.may_be_undefined(id) {
            return self.all_defined(lower, count);
        }
        if lower.program.functions.local_index(id).is_none() {
            let mut bits = Vec::new();
            self.constant_flags(lower, id, MAX_DEPTH, &mut bits);
            bits.resize(count, false);
            let flags = bits
                .into_iter()
                .map(|bit| lower.emit_iconst(types::I8, bit.into()));
            return flags.collect();
        }
        match self.flag_variables(lower, id, count) {
            Some(first) => (first.as_u32()..first.as_u32() + count as u32)
                .map(|n| lower.load_frame_variable(Variable::from_u32(n)))
                .collect(),
            None => self.all_defined(lower, count),
        }
    }

    fn all_defined(&self, lower: &mut ClifLowering<'_, '_, '_>, count: usize) -> ClifScalars {
        let zero = lower.emit_iconst(types::I8, 0);
        smallvec![zero; count]
    }

    /// Appends whether each component of a constant is undefined.
    fn constant_flags(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        id: Id,
        depth: u32,
        out: &mut Vec<bool>,
    ) {
        let program = lower.program;
        let Some(inst) = program.definitions.get(program.module, id) else {
            return;
        };
        let parts = inst.op() == Op::ConstantComposite && self.may_be_undefined(id);
        if let (true, Some(depth)) = (parts, depth.checked_sub(1)) {
            inst.id_operands(0)
                .for_each(|part| self.constant_flags(lower, part, depth, out));
            return;
        }
        let count = inst
            .result_type()
            .map_or(0, |ty| program.types.scalar_count(ty));
        let count = count.min(MAX_SCALARS);
        out.resize(out.len() + count, inst.op() == Op::Undef);
    }

    /// The flags of components that move without change.
    fn move_flags(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        inst: InstRef<'_>,
        count: usize,
    ) -> ClifScalars {
        match inst.op() {
            Op::CompositeConstruct => {
                let parts: Vec<Id> = inst.id_operands(0).collect();
                parts
                    .into_iter()
                    .flat_map(|part| self.read_undefined_flags(lower, part))
                    .collect()
            }
            Op::CompositeExtract => {
                let all = self.read_undefined_flags(lower, inst.id_operand(0));
                let Some(at) = self.first_of(lower, inst.id_operand(0), &inst.operands()[1..])
                else {
                    return ClifScalars::new();
                };
                all.into_iter().skip(at).take(count).collect()
            }
            Op::CompositeInsert => {
                let (part, mut all) = (
                    self.read_undefined_flags(lower, inst.id_operand(0)),
                    self.read_undefined_flags(lower, inst.id_operand(1)),
                );
                let Some(at) = self.first_of(lower, inst.id_operand(1), &inst.operands()[2..])
                else {
                    return ClifScalars::new();
                };
                for (to, from) in all.iter_mut().skip(at).zip(part) {
                    *to = from;
                }
                all
            }
            Op::VectorShuffle => {
                let mut both = self.read_undefined_flags(lower, inst.id_operand(0));
                both.extend(self.read_undefined_flags(lower, inst.id_operand(1)));
                let one = lower.emit_iconst(types::I8, 1);
                let places = inst.operands()[2..].iter();
                places
                    .map(|n| both.get(*n as usize).copied().unwrap_or(one))
                    .collect()
            }
            _ => self.read_undefined_flags(lower, inst.id_operand(0)),
        }
    }

    /// The number of the first component that a path leads to.
    fn first_of(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        whole: Id,
        path: &[u32],
    ) -> Option<usize> {
        let ty = lower.program.type_of(whole)?;
        lower.part_at(ty, path).ok().map(|(_, at)| at)
    }

    fn select_flags(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        inst: InstRef<'_>,
        count: usize,
    ) -> ClifScalars {
        let [of, a, b] = [0, 1, 2].map(|n| self.read_undefined_flags(lower, inst.id_operand(n)));
        let Ok(conditions) = lower.read_values(inst.id_operand(0)) else {
            return ClifScalars::new();
        };
        let mut flags = ClifScalars::new();
        for n in 0..count {
            let [a, b] = [&a, &b].map(|flags| flags.get(n).copied());
            let condition = conditions.get(n).or(conditions.first());
            let unknown = of.get(n).or(of.first());
            let (Some(a), Some(b), Some(c), Some(unknown)) = (a, b, condition, unknown) else {
                return ClifScalars::new();
            };
            let taken = lower.builder.ins().select(*c, a, b);
            flags.push(lower.builder.ins().bor(taken, *unknown));
        }
        flags
    }

    /// A conjunction, where a defined zero decides, or a disjunction, where defined ones do.
    fn combine_logical_flags(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        inst: InstRef<'_>,
        count: usize,
        zeros: bool,
    ) -> ClifScalars {
        let unknown = [0, 1].map(|n| self.read_undefined_flags(lower, inst.id_operand(n)));
        let [Ok(a), Ok(b)] = [0, 1].map(|n| lower.read_values(inst.id_operand(n))) else {
            return ClifScalars::new();
        };
        let is_bool = inst.op() == Op::LogicalOr;
        let mut flags = ClifScalars::new();
        for n in 0..count.min(a.len()).min(b.len()) {
            let mut decides = |value: Value, unknown: Value| {
                let (how, bits) = match (zeros, is_bool) {
                    (true, _) => (IntCC::Equal, 0),
                    (false, true) => (IntCC::NotEqual, 0),
                    (false, false) => (IntCC::Equal, -1),
                };
                let decided = lower.builder.ins().icmp_imm_s(how, value, bits);
                lower.builder.ins().band_not(decided, unknown)
            };
            let [p, q] = [&unknown[0], &unknown[1]].map(|flags| flags[n]);
            let (first, second) = (decides(a[n], p), decides(b[n], q));
            let known = lower.builder.ins().bor(first, second);
            let either = lower.builder.ins().bor(p, q);
            flags.push(lower.builder.ins().band_not(either, known));
        }
        flags
    }

    /// The flags of a result whose components are undefined where one of the operands' components at the same
    /// position is. A result that is computed from the same value twice may be defined.
    fn merge_flags(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        inst: InstRef<'_>,
        count: usize,
    ) -> ClifScalars {
        let operands: Vec<Id> = inst.id_operands(0).collect();
        if operands.len() == 2 && operands[0] == operands[1] {
            return self.all_defined(lower, count);
        }
        let all: Vec<ClifScalars> = operands
            .iter()
            .map(|id| self.read_undefined_flags(lower, *id))
            .collect();
        let mut flags = ClifScalars::new();
        for n in 0..count {
            let parts = all
                .iter()
                .filter_map(|flags| flags.get(n).or(flags.first()));
            let either = parts.copied().reduce(|a, b| lower.builder.ins().bor(a, b));
            flags.extend(either);
        }
        flags
    }

    /// One flag from those of all components of all operands.
    fn combine_flags(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        inst: InstRef<'_>,
        count: usize,
        join: impl Fn(&mut ClifLowering<'_, '_, '_>, Value, Value) -> Value,
    ) -> ClifScalars {
        let operands: Vec<Id> = inst.id_operands(0).collect();
        let all: Vec<Value> = operands
            .into_iter()
            .flat_map(|id| self.read_undefined_flags(lower, id))
            .collect();
        let joined = all.into_iter().reduce(|a, b| join(lower, a, b));
        joined.map_or_else(ClifScalars::new, |flag| smallvec![flag; count])
    }
}
