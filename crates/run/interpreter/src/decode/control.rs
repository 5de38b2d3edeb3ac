//! Blocks, branches and calls.

use super::{CodeDecoder, DecodeResult};
use crate::facts::refuse;
use crate::step::{CodeEdge, CodeStep, RegisterMove, Slot, SwitchCase, TableRange};
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::int::make_mask;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, Func, InstRef, switch_cases};
use std::collections::{HashMap, HashSet};

/// The blocks of a function, while they are decoded.
pub(super) struct BlockTargets {
    func: Func,
    /// The first step of each block.
    starts: HashMap<Id, u32>,
    /// Edges whose target is not yet known.
    edges: Vec<(usize, Id)>,
}

impl<'m> CodeDecoder<'m> {
    /// Decodes the blocks of a function.
    ///
    /// # Errors
    /// When an instruction is not supported, or a branch leads nowhere.
    pub(super) fn decode_blocks(&mut self, func: Func) -> DecodeResult {
        let module = self.facts.module;
        let mut targets = BlockTargets {
            func,
            starts: HashMap::new(),
            edges: Vec::new(),
        };
        for block in &module.function(func).blocks {
            let start = self.code.steps.len() as u32;
            targets.starts.insert(module.label(*block), start);
            for inst in module.body(*block) {
                self.place = inst.place();
                if inst.handle() == module.terminator(*block).handle() {
                    self.decode_terminator(inst, *block, &mut targets)?;
                } else {
                    self.decode_inst(inst)?;
                }
            }
        }
        for (edge, label) in targets.edges {
            let start = targets.starts.get(&label);
            let start = start.ok_or_else(|| {
                SourceDiagnostic::error(self.place, format!("{label} is no block of the function"))
            })?;
            self.code.edges[edge].target = *start;
        }
        Ok(())
    }

    fn decode_terminator(
        &mut self,
        inst: InstRef<'m>,
        block: Block,
        targets: &mut BlockTargets,
    ) -> DecodeResult {
        match inst.op() {
            Op::Branch => {
                let edge = self.make_edge(block, inst.id_operand(0), targets)?;
                self.push_step(CodeStep::Jump(edge));
            }
            Op::BranchConditional => {
                let condition = self.value_slot(inst.id_operand(0))?;
                let taken = self.make_edge(block, inst.id_operand(1), targets)?;
                let other = self.make_edge(block, inst.id_operand(2), targets)?;
                self.push_step(CodeStep::Branch {
                    condition,
                    edges: [taken, other],
                });
            }
            Op::Switch => self.decode_switch(inst, block, targets)?,
            Op::Return => self.push_step(CodeStep::Return { from: 0, count: 0 }),
            Op::ReturnValue => {
                let from = self.value_slot(inst.id_operand(0))?;
                let count = self.count_of(inst.id_operand(0))?;
                self.push_step(CodeStep::Return { from, count });
            }
            Op::Kill | Op::TerminateInvocation | Op::AbortKHR => self.push_step(CodeStep::End),
            Op::Unreachable => self.push_step(CodeStep::Unreachable),
            _ => return Err(self.refuse_inst(inst)),
        }
        Ok(())
    }

    fn decode_switch(
        &mut self,
        inst: InstRef<'m>,
        block: Block,
        targets: &mut BlockTargets,
    ) -> DecodeResult {
        let module = self.facts.module;
        let width = self
            .facts
            .component_kind(self.facts.type_of(inst.id_operand(0))?)?
            .bits();
        let words = module.switch_literal_words(&self.facts.definitions, inst);
        let selector = self.value_slot(inst.id_operand(0))?;
        let default = self.make_edge(block, inst.id_operand(1), targets)?;
        let mut cases = Vec::new();
        for (literal, label) in switch_cases(inst, words) {
            cases.push(SwitchCase {
                literal: literal & make_mask(width),
                edge: self.make_edge(block, label, targets)?,
            });
        }
        let first = self.code.cases.len() as u32;
        let count = cases.len() as u32;
        self.code.cases.append(&mut cases);
        self.push_step(CodeStep::Switch {
            selector,
            cases: TableRange { first, count },
            default,
        });
        Ok(())
    }

    /// The edge from a block to another, with the values of its phis.
    fn make_edge(
        &mut self,
        from: Block,
        label: Id,
        targets: &mut BlockTargets,
    ) -> Result<u32, SourceDiagnostic> {
        let module = self.facts.module;
        let parent = module.label(from);
        let mut moves = Vec::new();
        if let Some(block) = module.find_block(targets.func, label) {
            for phi in module.body(block).take_while(|inst| inst.op() == Op::Phi) {
                let Some(value) = module.phi_value(phi.handle(), parent) else {
                    return Err(refuse(phi, format!("the phi has no value for {parent}")));
                };
                let to = self.result_slot(phi)?;
                let from = self.value_slot(value)?;
                let count = self.facts.count_scalars(self.result_type(phi)?)?;
                moves.extend((0..count).map(|n| RegisterMove {
                    to: to + n,
                    from: from + n,
                }));
            }
        }
        let moves = self.order_moves(moves);
        let moves = self.push_moves(&moves);
        let edge = self.code.edges.len();
        self.code.edges.push(CodeEdge { target: 0, moves });
        targets.edges.push((edge, label));
        Ok(edge as u32)
    }

    /// Moves that happen at once, as moves one after the other. Where one reads what another sets, all pass through other
    /// registers.
    fn order_moves(&mut self, moves: Vec<RegisterMove>) -> Vec<RegisterMove> {
        let mut set = HashSet::new();
        let has_conflict = moves.iter().any(|step| {
            let is_changed = set.contains(&step.from);
            set.insert(step.to);
            is_changed
        });
        if !has_conflict {
            return moves;
        }
        let first = self.reserve_registers(moves.len() as u32);
        let saved = moves.iter().enumerate().map(|(n, step)| RegisterMove {
            to: first + n as Slot,
            from: step.from,
        });
        let restored = moves.iter().enumerate().map(|(n, step)| RegisterMove {
            to: step.to,
            from: first + n as Slot,
        });
        saved.chain(restored).collect()
    }

    /// Decodes a call.
    pub(super) fn decode_call(&mut self, inst: InstRef<'m>) -> DecodeResult {
        let function = self.function_number(inst.id_operand(0))?;
        let mut arguments = Vec::new();
        for argument in inst.id_operands(1) {
            let from = self.value_slot(argument)?;
            for n in 0..self.count_of(argument)? {
                arguments.push(RegisterMove {
                    to: arguments.len() as Slot,
                    from: from + n,
                });
            }
        }
        let count = self.facts.count_scalars(self.result_type(inst)?)?;
        let to = if count > 0 {
            self.result_slot(inst)?
        } else {
            0
        };
        let arguments = self.push_moves(&arguments);
        self.push_step(CodeStep::Call {
            function,
            arguments,
            to,
        });
        Ok(())
    }
}
