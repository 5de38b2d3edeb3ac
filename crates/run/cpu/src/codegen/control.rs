//! Branches, phis and returns.

use super::ClifResult;
use super::lowering::ClifLowering;
use crate::layout::launch_context::DONE;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use cranelift_frontend::{Switch, Variable};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{InstRef, switch_cases};

/// `OpPhi`: a set of Cranelift variables that the predecessors assign.
pub(crate) fn lower_phi(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let Some(id) = inst.result() else {
        return Ok(());
    };
    let ty = lower.result_type(inst)?;
    if lower.program.is_in_memory_matrix(ty) {
        return super::in_memory_matrix::lower_in_memory_phi(lower, id, ty);
    }
    let (first, count) = lower.phi_variables(inst, id)?;
    let values = lower.read_variables(first, count as usize);
    lower.set_values(id, &values);
    Ok(())
}

/// `OpBranch`.
pub(crate) fn lower_branch(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let target = lower.assign_phis(&[inst.id_operand(0)])?[0];
    lower.note_back_edge();
    lower.builder.ins().jump(target, &[]);
    Ok(())
}

/// `OpBranchConditional`.
pub(crate) fn branch_conditional(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let condition = lower.read_value(inst.id_operand(0))?;
    lower.hooks().before_branch(lower, inst.id_operand(0));
    let targets = lower.assign_phis(&[inst.id_operand(1), inst.id_operand(2)])?;
    lower.note_back_edge();
    lower
        .builder
        .ins()
        .brif(condition, targets[0], &[], targets[1], &[]);
    Ok(())
}

/// `OpSwitch`.
pub(crate) fn lower_switch(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let selector = lower.read_value(inst.id_operand(0))?;
    lower.hooks().before_branch(lower, inst.id_operand(0));
    let ty = lower.builder.func.dfg.value_type(selector);
    let definitions = &lower.program.definitions;
    let words = lower.program.module.switch_literal_words(definitions, inst);
    let cases: Vec<(u64, Id)> = switch_cases(inst, words).collect();
    let labels: Vec<Id> = std::iter::once(inst.id_operand(1))
        .chain(cases.iter().map(|c| c.1))
        .collect();
    let targets = lower.assign_phis(&labels)?;
    lower.note_back_edge();
    let mut switch = Switch::new();
    let mut seen = rustc_hash::FxHashSet::default();
    for ((literal, _), target) in cases.iter().zip(&targets[1..]) {
        let unused = 64 - ty.bits();
        let literal = (literal << unused) >> unused;
        if seen.insert(literal) {
            switch.set_entry(literal.into(), *target);
        }
    }
    switch.emit(&mut lower.builder, selector, targets[0]);
    Ok(())
}

/// `OpReturn`, and `OpKill` and its like, which end an invocation.
pub(crate) fn lower_return(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    if inst.op() != Op::Return && lower.scopes.len() > 1 {
        return lower.fail_unsupported("ending an invocation within a called function");
    }
    lower.return_from_function(&[])
}

/// `OpReturnValue`.
pub(crate) fn return_value(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    let ty = lower.type_of(inst.id_operand(0))?;
    if lower.is_large(ty) {
        return lower.fail_unsupported("a result of more than 64 scalars");
    }
    let values = lower.read_values(inst.id_operand(0))?;
    lower.hooks().before_return(lower, inst.id_operand(0));
    lower.return_from_function(&values)
}

/// `OpUnreachable`: ends the function, as nothing sensible can follow.
pub(crate) fn lower_unreachable(lower: &mut ClifLowering, _: InstRef) -> ClifResult {
    let values = lower.no_result();
    lower.return_from_function(&values)
}

impl ClifLowering<'_, '_, '_> {
    /// Zeros, as the result of the function being lowered.
    fn no_result(&mut self) -> super::ClifScalars {
        let func = self.current_scope().func;
        let module = self.program.module;
        let def = module.inst(module.function(func).def);
        match def.result_type() {
            Some(ty) => self.emit_zeros(ty),
            None => super::ClifScalars::new(),
        }
    }

    /// Calls the hook of back edges where a successor may run again.
    fn note_back_edge(&mut self) {
        let program = self.program;
        let scope = self.current_scope();
        let cfg = &program.functions.get(scope.func).cfg;
        let mut successors = cfg.successors(scope.position).iter();
        if successors.any(|at| scope.begun[*at as usize]) {
            self.hooks()
                .before_back_edge(self, &|lower| lower.end_invocation());
        }
    }

    /// Ends the invocation from within any function.
    fn end_invocation(&mut self) {
        if let Some(end) = self.item_end {
            let done = self.emit_iconst(types::I32, DONE.into());
            self.builder.ins().jump(end, &[BlockArg::Value(done)]);
        } else {
            // The result of the outermost function is that of the generated one; inlined functions have none by now.
            let inner = self.scopes.split_off(1);
            let values = self.no_result();
            self.scopes.extend(inner);
            self.builder.ins().return_(&values);
        }
    }

    /// Leaves the function being lowered.
    fn return_from_function(&mut self, values: &[Value]) -> ClifResult {
        if let Some((exit, variables)) = self.current_scope().exit.clone() {
            if let Some(first) = variables.first() {
                self.assign_variables(*first, &values[..values.len().min(variables.len())]);
            }
            self.builder.ins().jump(exit, &[]);
        } else if let Some(end) = self.item_end {
            let done = self.emit_iconst(types::I32, DONE.into());
            self.builder.ins().jump(end, &[BlockArg::Value(done)]);
        } else {
            self.builder.ins().return_(values);
        }
        Ok(())
    }

    /// The variables of a phi, declared where it is met first.
    fn phi_variables(
        &mut self,
        inst: InstRef,
        id: Id,
    ) -> Result<(Variable, u32), SourceDiagnostic> {
        let ty = self.result_type(inst)?;
        if self.is_large(ty) {
            return self.fail_unsupported("a phi of more than 64 scalars");
        }
        let count = self.program.types.scalar_count(ty) as u32;
        let Some(local) = self.program.functions.local_index(id) else {
            return Err(self.instruction_fault("it stands outside of a function"));
        };
        if let Some(first) = self.current_scope().phis.get(local).copied().flatten() {
            return Ok((first, count));
        }
        let (first, count) = self.declare_variables(ty);
        self.current_scope().phis[local] = Some(first);
        Ok((first, count))
    }

    /// Assigns the phis of the blocks that a terminator may go to. Returns Cranelift's blocks.
    fn assign_phis(
        &mut self,
        labels: &[Id],
    ) -> Result<Vec<cranelift_codegen::ir::Block>, SourceDiagnostic> {
        let program = self.program;
        let scope = self.current_scope();
        let info = program.functions.get(scope.func);
        let here = program.module.label(info.cfg.block(scope.position));
        let successors = info.cfg.successors(scope.position).to_vec();
        let mut assignments = Vec::new();
        let mut states = Vec::new();
        for (n, at) in successors.iter().enumerate() {
            if successors[..n].contains(at) {
                continue;
            }
            let body = program.module.body(info.cfg.block(*at));
            for phi in body.take_while(|i| i.op() == Op::Phi || i.op().is_line()) {
                let Some(id) = phi.result() else { continue };
                let mut pairs = phi.id_operands(0);
                while let (Some(value), Some(label)) = (pairs.next(), pairs.next()) {
                    if label == here && self.is_in_memory_matrix(id) {
                        self.copy_in_memory(id, value, labels.len())?;
                        break;
                    }
                    if label == here {
                        let (first, _) = self.phi_variables(phi, id)?;
                        assignments.push((first, self.read_values(value)?));
                        let state = self.hooks().read_phi_operand(self, id, value);
                        states.extend(state.map(|state| (id, state)));
                        break;
                    }
                }
            }
        }
        // All operands are read before the first phi changes.
        for (first, values) in assignments {
            self.assign_variables(first, &values);
        }
        for (id, state) in states {
            self.hooks().assign_phi(self, id, &state);
        }
        let scope = self.current_scope();
        let blocks = successors.iter().map(|at| scope.blocks[*at as usize]);
        let blocks: Vec<_> = blocks.collect();
        if blocks.len() == labels.len() {
            Ok(blocks)
        } else {
            Err(self.instruction_fault("its labels do not fit the control-flow graph"))
        }
    }
}
