//! Simplification of host steps: constant propagation, copy propagation and dead code elimination.
//!
//! Lowering emits a step for each operator and constant, and a copy for each assignment. This pass makes constants
//! part of the function's initial registers, replaces copies by their sources where these do not change, lets an
//! operator write directly to the variable that it is assigned to, and removes steps whose results are unused. It
//! repeats a few times; each iteration takes linear time.

use spirula_program::program::{EntryOpaque, EntrySize, EntryValueType, ProgramEntry};
use spirula_program::program::{
    GLOBAL, HostFunction, HostRegister, HostSlot, HostStep, LaunchStep,
};
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};

/// Simplifies a function; `entries` are the entry points that call it.
pub(super) fn simplify_function(function: &mut HostFunction, entries: &[ProgramEntry]) {
    let mut facts = HostRegInfo::from_function(function, entries);
    facts.propagate_values(function);
    for step in &mut function.steps {
        facts.rewrite_uses(step);
    }
    retarget_copied_steps(function, &facts);
    drop_unused(function, &facts);
    let used = uses_of(function, &facts);
    let constants = facts
        .known
        .iter()
        .zip(0..)
        .filter_map(|(known, reg)| match known {
            HostRegValue::Constant(bits) if used[reg as usize] > 0 && *bits != 0 => {
                Some((HostRegister(reg), *bits))
            }
            _ => None,
        });
    function.constants = constants.collect();
}

/// The known value of a scalar, which holds wherever the scalar is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HostRegValue {
    Nothing,
    Constant(u64),
    /// The same value as another scalar.
    Copy(HostRegister),
}

struct HostRegInfo {
    /// Number of definitions of each scalar, by steps and by the caller.
    set: Vec<u32>,
    /// Whether the caller reads it.
    kept: Vec<bool>,
    /// Whether it is defined in a loop.
    varies: Vec<bool>,
    known: Vec<HostRegValue>,
    /// For each step, whether it is in a loop.
    looped: Vec<bool>,
    /// For each step, whether it is the target of a jump.
    aimed: Vec<bool>,
}

impl HostRegInfo {
    fn from_function(function: &HostFunction, entries: &[ProgramEntry]) -> HostRegInfo {
        let (scalars, steps) = (function.scalars as usize, function.steps.len());
        let mut facts = HostRegInfo {
            set: vec![0; scalars],
            kept: vec![false; scalars],
            varies: vec![false; scalars],
            known: vec![HostRegValue::Nothing; scalars],
            looped: find_looped_steps(&function.steps),
            aimed: vec![false; steps + 1],
        };
        for reg in function
            .inputs
            .iter()
            .copied()
            .filter_map(as_scalar_register)
        {
            facts.mark_kept(reg);
            facts.note_set(reg, false);
        }
        for reg in function
            .outputs
            .iter()
            .copied()
            .filter_map(as_scalar_register)
        {
            facts.mark_kept(reg);
        }
        for entry in entries {
            for reg in entry
                .parameters
                .iter()
                .flat_map(|p| entry_value_registers(&p.value, &p.opaque))
            {
                facts.mark_kept(reg);
                if facts.set.get(reg.0 as usize) == Some(&0) {
                    facts.note_set(reg, false);
                }
            }
            for reg in entry
                .results
                .iter()
                .flat_map(|r| entry_value_registers(&r.value, &r.opaque))
            {
                facts.mark_kept(reg);
            }
        }
        for (step, is_looped) in function.steps.iter().zip(&facts.looped.clone()) {
            for_each_set(step, |reg| facts.note_set(reg, *is_looped));
            if let HostStep::Jump(to) | HostStep::Unless(_, to) = step {
                facts.aimed[*to] = true;
            }
        }
        facts
    }

    fn mark_kept(&mut self, HostRegister(number): HostRegister) {
        if let Some(kept) = self.kept.get_mut(number as usize) {
            *kept = true;
        }
    }

    fn note_set(&mut self, HostRegister(number): HostRegister, is_looped: bool) {
        if let Some(set) = self.set.get_mut(number as usize) {
            *set += 1;
            self.varies[number as usize] |= is_looped;
        }
    }

    /// Whether it is a scalar of the function with a single definition.
    fn is_single(&self, HostRegister(number): HostRegister) -> bool {
        self.set.get(number as usize) == Some(&1)
    }

    fn is_kept(&self, HostRegister(number): HostRegister) -> bool {
        self.kept.get(number as usize).copied().unwrap_or(true)
    }

    fn known_value(&self, HostRegister(number): HostRegister) -> HostRegValue {
        let known = self.known.get(number as usize);
        known.copied().unwrap_or(HostRegValue::Nothing)
    }

    /// Finds the values of scalars with a single definition.
    fn propagate_values(&mut self, function: &HostFunction) {
        for (step, is_looped) in function.steps.iter().zip(self.looped.clone()) {
            let (to, known) = match step {
                HostStep::Set(to, bits) => (*to, HostRegValue::Constant(*bits)),
                HostStep::Move(to, from) => (*to, self.copied_value(*from, is_looped)),
                HostStep::Apply(operator, to, operands) => {
                    (*to, self.fold_operator(*operator, operands))
                }
                _ => continue,
            };
            if self.is_single(to) {
                self.known[to.0 as usize] = known;
            }
        }
    }

    /// The known value of a copy. It equals its source if the source has a single definition, before the copy or in
    /// the same iteration of a loop, and does not change afterwards.
    fn copied_value(&self, from: HostRegister, is_looped: bool) -> HostRegValue {
        match self.known_value(from) {
            HostRegValue::Nothing if self.is_single(from) => {
                let is_steady = !is_looped || !self.varies[from.0 as usize];
                if is_steady {
                    HostRegValue::Copy(from)
                } else {
                    HostRegValue::Nothing
                }
            }
            known => known,
        }
    }

    fn fold_operator(
        &self,
        operator: ScalarOperator,
        operands: &[HostRegister; 3],
    ) -> HostRegValue {
        let operands = &operands[..operator.arity()];
        let mut values = [0; 3];
        for (value, operand) in values.iter_mut().zip(operands) {
            match self.known_value(*operand) {
                HostRegValue::Constant(bits) => *value = bits,
                _ => return HostRegValue::Nothing,
            }
        }
        // For sizes it matters whether their sums and products overflow.
        if operator.to == ScalarType::I64
            && matches!(operator.op, ScalarOp::Add | ScalarOp::Sub | ScalarOp::Mul)
        {
            return HostRegValue::Nothing;
        }
        HostRegValue::Constant(operator.eval_operands(&values[..operands.len()]))
    }

    /// Replaces a step's operands by the sources of copies.
    fn rewrite_uses(&self, step: &mut HostStep) {
        for_each_use(step, |reg| {
            if let HostRegValue::Copy(from) = self.known_value(*reg) {
                *reg = from;
            }
        });
        if let HostStep::Move(to, from) = step
            && let HostRegValue::Constant(bits) = self.known_value(*from)
        {
            *step = HostStep::Set(*to, bits);
        }
    }
}

/// If the next step only copies a step's result, lets the step write to the copy's target.
fn retarget_copied_steps(function: &mut HostFunction, facts: &HostRegInfo) {
    let used = uses_of(function, facts);
    let mut copied = vec![false; function.steps.len()];
    for (at, copied) in copied.iter_mut().enumerate().skip(1) {
        let HostStep::Move(to, from) = function.steps[at] else {
            continue;
        };
        let is_own = facts.is_single(from) && used[from.0 as usize] == 1 && !facts.is_kept(from);
        if !is_own || facts.aimed[at] {
            continue;
        }
        if let HostStep::Apply(_, set, _) = &mut function.steps[at - 1]
            && *set == from
        {
            *set = to;
            *copied = true;
        }
    }
    keep_steps(function, |at, _| !copied[at]);
}

/// Removes steps whose results are unused or known from the beginning.
fn drop_unused(function: &mut HostFunction, facts: &HostRegInfo) {
    loop {
        let used = uses_of(function, facts);
        let before = function.steps.len();
        keep_steps(function, |_, step| {
            let to = match step {
                HostStep::Set(to, _)
                | HostStep::Move(to, _)
                | HostStep::Apply(_, to, _)
                | HostStep::Parameter(to, _)
                | HostStep::Limit(to, _) => *to,
                _ => return true,
            };
            let is_known = matches!(facts.known_value(to), HostRegValue::Constant(_));
            to.0 & GLOBAL != 0 || !is_known && used[to.0 as usize] > 0
        });
        if function.steps.len() == before {
            return;
        }
    }
}

/// Keeps some of the steps, and adjusts the targets of jumps.
fn keep_steps(function: &mut HostFunction, mut keeps: impl FnMut(usize, &HostStep) -> bool) {
    let mut places = Vec::with_capacity(function.steps.len() + 1);
    let mut kept = 0;
    for (at, step) in function.steps.iter().enumerate() {
        places.push(kept);
        kept += usize::from(keeps(at, step));
    }
    places.push(kept);
    let mut at = 0;
    function.steps.retain(|_| {
        at += 1;
        places[at] > places[at - 1]
    });
    for step in &mut function.steps {
        if let HostStep::Jump(to) | HostStep::Unless(_, to) = step {
            *to = places[*to];
        }
    }
}

/// Number of reads of each scalar of the function.
fn uses_of(function: &mut HostFunction, facts: &HostRegInfo) -> Vec<u32> {
    let mut used: Vec<u32> = facts.kept.iter().map(|kept| u32::from(*kept)).collect();
    for step in &mut function.steps {
        for_each_use(step, |reg| {
            if let Some(used) = used.get_mut(reg.0 as usize) {
                *used += 1;
            }
        });
    }
    used
}

/// For each step, whether it is in a loop: between a step and a jump back to it.
fn find_looped_steps(steps: &[HostStep]) -> Vec<bool> {
    let mut looped = vec![false; steps.len()];
    for (at, step) in steps.iter().enumerate() {
        if let HostStep::Jump(to) | HostStep::Unless(_, to) = step
            && *to <= at
        {
            looped[*to..=at].fill(true);
        }
    }
    looped
}

/// The scalars that hold a value of an entry point: its own, and those of its sizes.
fn entry_value_registers<'v>(
    value: &'v Option<EntryValueType>,
    opaque: &'v Option<EntryOpaque>,
) -> impl Iterator<Item = HostRegister> + 'v {
    let parts = opaque.iter().flat_map(|opaque| &opaque.parts);
    value.iter().chain(parts).flat_map(|value| {
        let sizes = value.shape.iter().flatten().filter_map(|size| match size {
            EntrySize::Scalar(reg) => Some(*reg),
            EntrySize::Known(_) => None,
        });
        sizes.chain(as_scalar_register(value.slot))
    })
}

fn as_scalar_register(slot: HostSlot) -> Option<HostRegister> {
    match slot {
        HostSlot::Scalar(reg) => Some(reg),
        HostSlot::Memory(_) => None,
    }
}

fn for_each_set(step: &HostStep, mut visit: impl FnMut(HostRegister)) {
    match step {
        HostStep::Set(to, _)
        | HostStep::Move(to, _)
        | HostStep::Apply(_, to, _)
        | HostStep::Parameter(to, _)
        | HostStep::Limit(to, _)
        | HostStep::IsUnique(to, _)
        | HostStep::Read(to, ..) => visit(*to),
        HostStep::Call(_, _, outputs) => outputs
            .iter()
            .copied()
            .filter_map(as_scalar_register)
            .for_each(visit),
        HostStep::Foreign(call) => {
            let outputs = call.outputs.iter().copied();
            outputs.filter_map(as_scalar_register).for_each(visit);
        }
        _ => {}
    }
}

fn visit_scalars(slots: &mut [HostSlot], mut visit: impl FnMut(&mut HostRegister)) {
    for slot in slots {
        if let HostSlot::Scalar(reg) = slot {
            visit(reg);
        }
    }
}

fn for_each_use(step: &mut HostStep, mut visit: impl FnMut(&mut HostRegister)) {
    match step {
        HostStep::Move(_, from) => visit(from),
        HostStep::Apply(operator, _, operands) => {
            operands[..operator.arity()].iter_mut().for_each(visit);
        }
        HostStep::Allocate(_, bytes) => visit(bytes),
        HostStep::Read(.., index) => visit(index),
        HostStep::Write(_, _, index, value) => {
            visit(index);
            visit(value);
        }
        HostStep::Copy(copy) => {
            copy.shape.iter_mut().for_each(&mut visit);
            for (_, first, strides) in [&mut copy.to, &mut copy.from] {
                visit(first);
                strides.iter_mut().for_each(&mut visit);
            }
        }
        HostStep::Launch(launch) => {
            let LaunchStep {
                groups,
                constants,
                scalars,
                ..
            } = &mut **launch;
            let all = groups.iter_mut().chain(constants).chain(scalars);
            all.for_each(visit);
        }
        HostStep::Unless(condition, _) => visit(condition),
        HostStep::Call(_, inputs, _) => visit_scalars(inputs, visit),
        HostStep::Foreign(call) => visit_scalars(&mut call.inputs, visit),
        HostStep::Assert(condition, _, values) => {
            visit(condition);
            values.iter_mut().for_each(visit);
        }
        HostStep::Trace(_, values) => values.iter_mut().for_each(visit),
        HostStep::Set(..)
        | HostStep::Parameter(..)
        | HostStep::Limit(..)
        | HostStep::Data(..)
        | HostStep::Refer(..)
        | HostStep::Forget(_)
        | HostStep::IsUnique(..)
        | HostStep::Jump(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_program::program::HostMemoryRef;

    fn make_register(number: u32) -> HostRegister {
        HostRegister(number)
    }

    fn make_apply_step(op: ScalarOp, to: u32, a: u32, b: u32) -> HostStep {
        let operator = ScalarOperator::with_type(op, ScalarType::I64);
        HostStep::Apply(
            operator,
            make_register(to),
            [make_register(a), make_register(b), make_register(b)],
        )
    }

    /// The remaining steps and constants of a function with a number of scalars, the first of which is its
    /// parameter.
    fn simplify_to_text(scalars: u32, output: u32, steps: Vec<HostStep>) -> String {
        let mut function = HostFunction {
            scalars,
            memories: 1,
            inputs: vec![HostSlot::Scalar(make_register(0))],
            outputs: vec![HostSlot::Scalar(make_register(output))],
            steps,
            ..HostFunction::default()
        };
        simplify_function(&mut function, &[]);
        let steps = function.steps.iter().map(|step| match step {
            HostStep::Apply(operator, to, [a, b, _]) => {
                format!("{} = {} {operator} {}", to.0, a.0, b.0)
            }
            HostStep::Move(to, from) => format!("{} = {}", to.0, from.0),
            HostStep::Set(to, bits) => format!("{} = #{bits}", to.0),
            HostStep::Jump(to) => format!("jump {to}"),
            HostStep::Unless(condition, to) => format!("unless {} {to}", condition.0),
            HostStep::Allocate(_, size) => format!("allocate {}", size.0),
            other => format!("{other:?}"),
        });
        let constants = function.constants.iter();
        let constants = constants.map(|(reg, bits)| format!("{}: {bits}", reg.0));
        constants.chain(steps).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn constants_stand_at_the_beginning_and_copies_go() {
        let steps = vec![
            HostStep::Set(make_register(1), 8),
            HostStep::Move(make_register(2), make_register(1)),
            make_apply_step(ScalarOp::Add, 3, 0, 2),
            HostStep::Move(make_register(4), make_register(3)),
            HostStep::Move(make_register(5), make_register(4)),
            make_apply_step(ScalarOp::Add, 6, 5, 5),
            HostStep::Allocate(HostMemoryRef(0), make_register(5)),
            HostStep::Set(make_register(7), 9),
        ];
        let wanted = "2: 8; 3 = 0 add.i64 2; allocate 3";
        assert_eq!(simplify_to_text(8, 0, steps), wanted);
    }

    #[test]
    fn what_a_loop_changes_is_copied_where_it_was() {
        // Fibonacci numbers: registers 1 and 2 are exchanged through 3; register 4 counts up to the argument.
        let steps = vec![
            HostStep::Set(make_register(1), 0),
            HostStep::Set(make_register(2), 1),
            HostStep::Set(make_register(4), 0),
            HostStep::Set(make_register(5), 1),
            make_apply_step(ScalarOp::SLt, 6, 4, 0),
            HostStep::Unless(make_register(6), 14),
            make_apply_step(ScalarOp::Add, 3, 1, 2),
            HostStep::Move(make_register(7), make_register(2)),
            HostStep::Move(make_register(1), make_register(7)),
            HostStep::Move(make_register(2), make_register(3)),
            HostStep::Move(make_register(8), make_register(5)),
            make_apply_step(ScalarOp::Add, 9, 4, 8),
            HostStep::Move(make_register(4), make_register(9)),
            HostStep::Jump(4),
        ];
        let wanted = "8: 1; 1 = #0; 2 = #1; 4 = #0; 6 = 4 slt.i64 0; unless 6 11; 3 = 1 add.i64 2; 7 = 2; \
             1 = 7; 2 = 3; 4 = 4 add.i64 8; jump 3";
        assert_eq!(simplify_to_text(10, 2, steps), wanted);
    }

    #[test]
    fn sizes_are_computed_where_they_may_have_no_room() {
        let steps = vec![
            HostStep::Set(make_register(1), u64::MAX >> 1),
            make_apply_step(ScalarOp::Add, 2, 1, 1),
            make_apply_step(ScalarOp::SLt, 3, 1, 1),
            HostStep::Move(make_register(4), make_register(3)),
            HostStep::Allocate(HostMemoryRef(0), make_register(2)),
        ];
        let wanted = format!("1: {}; 2 = 1 add.i64 1; allocate 2", u64::MAX >> 1);
        assert_eq!(simplify_to_text(5, 4, steps), wanted);
    }
}
