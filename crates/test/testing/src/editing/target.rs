//! The function to edit, with the analyses that edits need.

use crate::ChoiceSequence;
use spirula_spirv::Id;
use spirula_spirv::analysis::{BlockDominators, FlowGraph, IdDefinitions};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, Func, IdWords, Inst, InstRef, ModuleSection, SpirvModule};

/// A function of a module, with analyses that hold until it changes.
pub struct EditTarget {
    pub func: Func,
    pub ids: IdWords,
    pub definitions: IdDefinitions,
    pub cfg: FlowGraph,
    pub dominators: BlockDominators,
}

impl EditTarget {
    /// Chooses a function with blocks.
    pub fn choose_function(
        module: &SpirvModule,
        choices: &mut ChoiceSequence<'_>,
    ) -> Option<EditTarget> {
        let functions = module.functions().iter().copied();
        let defined: Vec<Func> = functions
            .filter(|f| !module.function(*f).blocks.is_empty())
            .collect();
        let func = *choices.choose_one(&defined)?;
        let definitions = IdDefinitions::from_module(module);
        let cfg = FlowGraph::from_function(module, &definitions, func).ok()?;
        let dominators = BlockDominators::from_cfg(&cfg);
        Some(EditTarget {
            func,
            ids: IdWords::new(module),
            definitions,
            cfg,
            dominators,
        })
    }

    /// Chooses a block, by its position.
    pub fn choose_block(&self, choices: &mut ChoiceSequence<'_>) -> u32 {
        choices.choose_below(self.cfg.len()) as u32
    }

    /// Chooses an edge.
    pub fn choose_edge(&self, choices: &mut ChoiceSequence<'_>) -> Option<(Block, Block)> {
        let all = (0..self.cfg.len() as u32).flat_map(|from| {
            let targets = self.cfg.successors(from).iter();
            targets.map(move |to| (from, *to))
        });
        let all: Vec<(u32, u32)> = all.collect();
        let (from, to) = *choices.choose_one(&all)?;
        Some((self.cfg.block(from), self.cfg.block(to)))
    }

    /// Instructions of a block before which others may be inserted: after phis and variables, up to the merge
    /// instruction or the terminator.
    pub fn insertion_points(&self, module: &SpirvModule, at: u32) -> Vec<Inst> {
        let body: Vec<InstRef<'_>> = module.body(self.cfg.block(at)).collect();
        let fixed = |i: &InstRef<'_>| matches!(i.op(), Op::Phi | Op::Variable);
        let first = body.iter().rposition(fixed).map_or(0, |at| at + 1);
        let end = module.before_end(self.cfg.block(at));
        let free = body[first..].iter().map(|i| i.handle());
        let last = free.clone().position(|i| i == end);
        free.take(last.map_or(0, |at| at + 1)).collect()
    }

    /// Numbers of 32 bits and booleans that are available before an instruction of a block, with their types.
    pub fn available_values(&self, module: &SpirvModule, at: u32, before: Inst) -> Vec<(Id, Id)> {
        let mut found = Vec::new();
        let mut add = |inst: InstRef<'_>| found.extend(self.scalar_result(module, inst));
        module
            .section_insts(ModuleSection::Globals)
            .for_each(&mut add);
        module
            .list_insts(module.function(self.func).params)
            .for_each(&mut add);
        for block in 0..self.cfg.len() as u32 {
            if block != at && self.dominators.dominates(block, at) {
                module.body(self.cfg.block(block)).for_each(&mut add);
            }
        }
        let own = module.body(self.cfg.block(at));
        own.take_while(|i| i.handle() != before).for_each(&mut add);
        found
    }

    /// An instruction's result and type, if it is a number of 32 bits or a boolean.
    pub fn scalar_result(&self, module: &SpirvModule, inst: InstRef<'_>) -> Option<(Id, Id)> {
        let (id, ty) = (inst.result()?, inst.result_type()?);
        let def = self.definitions.get(module, ty)?;
        let fits = match def.op() {
            Op::TypeBool => true,
            Op::TypeInt | Op::TypeFloat => def.words()[1] == 32 && def.words().len() < 4,
            _ => false,
        };
        fits.then_some((id, ty))
    }

    /// An undefined value for the type of each phi of a block; `None` if a phi has another type.
    pub fn undefined_phi_values(
        &self,
        module: &mut SpirvModule,
        block: Block,
    ) -> Option<Vec<(Id, Id)>> {
        let phis: Vec<Inst> = module.phis(block).map(InstRef::handle).collect();
        let types = phis
            .iter()
            .map(|p| self.scalar_result(module, module.inst(*p)));
        let types: Option<Vec<Id>> = types.map(|t| t.map(|t| t.1)).collect();
        let types = types?;
        Some(
            types
                .into_iter()
                .map(|ty| (ty, module.ensure_undef(ty)))
                .collect(),
        )
    }
}

/// The undefined value for a phi's type.
pub fn undefined_of(values: &[(Id, Id)], phi: InstRef<'_>) -> Id {
    let ty = phi.result_type();
    let found = values.iter().find(|(of, _)| Some(*of) == ty);
    found.map_or(Id::MAX, |(_, value)| *value)
}
