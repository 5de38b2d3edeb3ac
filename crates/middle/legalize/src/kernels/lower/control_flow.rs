//! Control flow: phis, branches, and loops that the lowering emits.

use super::ShaderLowering;
use super::composites::expect_result;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::analysis::function_name;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// `OpPhi`; its operands are added when all blocks are lowered.
pub fn lower_phi(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let ty = l.result_type(expect_result(inst))?;
    let (id, new) = l.b.append_phi(ty);
    l.kernel.phis.push((new, inst.handle()));
    Ok(id)
}

/// `OpBranch`.
pub fn lower_branch(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<(), SourceDiagnostic> {
    let target = l.map_label(inst.id_operand(0))?;
    l.emit_effect(Op::Branch, &[target]);
    Ok(())
}

/// `OpBranchConditional`.
pub fn lower_conditional_branch(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<(), SourceDiagnostic> {
    let condition = l.lower_operand(inst.id_operand(0))?;
    let (yes, no) = (
        l.map_label(inst.id_operand(1))?,
        l.map_label(inst.id_operand(2))?,
    );
    l.emit_effect(Op::BranchConditional, &[condition, yes, no]);
    Ok(())
}

/// `OpSwitch`.
pub fn lower_switch(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<(), SourceDiagnostic> {
    let selector = l.lower_operand(inst.id_operand(0))?;
    let step = l.info.ids.switch_literal_words(inst) + 1;
    let default = l.map_label(inst.id_operand(1))?;
    let mut words = vec![selector.word(), default.word()];
    for case in inst.operands()[2..].chunks_exact(step) {
        words.extend(&case[..step - 1]);
        let target = Id::new(case[step - 1]).unwrap_or(Id::MAX);
        words.push(l.map_label(target)?.word());
    }
    l.b.append_effect(Op::Switch, &words);
    Ok(())
}

/// `OpReturn` and `OpUnreachable`.
pub fn lower_return(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<(), SourceDiagnostic> {
    l.emit_effect(inst.op(), &[]);
    Ok(())
}

/// `OpFunctionCall` of a function without a body: functions with a body were inlined.
pub fn lower_function_call(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let name = function_name(l.info.module, inst.id_operand(0));
    let message = format!("{name} is called, but has no body");
    Err(SourceDiagnostic::error(inst.place(), message)
        .with_hint("link the module with the one that defines it"))
}

impl ShaderLowering<'_> {
    fn map_label(&self, old: Id) -> Result<Id, SourceDiagnostic> {
        let found = self.kernel.labels.get(&old).copied();
        found.ok_or_else(|| self.info.diagnose_id(old, "a branch to no block"))
    }

    /// Begins a block that the source does not have.
    pub fn begin_block(&mut self, label: Id) {
        self.b.begin_block(label);
        self.kernel.open = label;
    }

    /// Emits a loop over the numbers from `first` by `step` up to `count`.
    pub fn emit_counted_loop(
        &mut self,
        [first, step, count]: [Id; 3],
        body: impl FnOnce(&mut Self, Id) -> Result<(), SourceDiagnostic>,
    ) -> Result<(), SourceDiagnostic> {
        self.emit_reduction_loop([first, step, count], None, |l, n, _| {
            body(l, n).map(|()| None)
        })?;
        Ok(())
    }

    /// Emits such a loop with a value that is carried from iteration to iteration, and its first value.
    pub fn emit_reduction_loop(
        &mut self,
        [first, step, count]: [Id; 3],
        value: Option<Id>,
        body: impl FnOnce(&mut Self, Id, Option<Id>) -> Result<Option<Id>, SourceDiagnostic>,
    ) -> Result<Option<Id>, SourceDiagnostic> {
        let (word, truth) = (self.make_int_type(32), self.b.bool_type());
        let before = self.kernel.open;
        let [header, inside, after] = [(); 3].map(|()| self.b.fresh_id());
        self.emit_effect(Op::Branch, &[header]);
        self.begin_block(header);
        let (n, phi) = self.b.append_phi(word);
        let ty = value.and_then(|v| self.b.type_of(v));
        let carried = ty.map(|ty| self.b.append_phi(ty));
        let goes_on = self.emit_value(Op::ULessThan, truth, &[n, count]);
        self.emit_effect(Op::BranchConditional, &[goes_on, inside, after]);
        self.begin_block(inside);
        let new = body(self, n, carried.map(|c| c.0))?;
        let next = self.emit_value(Op::IAdd, word, &[n, step]);
        let last = self.kernel.open;
        self.emit_effect(Op::Branch, &[header]);
        self.b
            .set_phi(phi, &[first, before, next, last].map(Id::word));
        if let (Some((_, phi)), Some(value), Some(new)) = (carried, value, new) {
            self.b
                .set_phi(phi, &[value, before, new, last].map(Id::word));
        }
        self.begin_block(after);
        Ok(carried.map(|c| c.0))
    }
}
