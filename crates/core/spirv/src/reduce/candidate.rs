//! Reduction candidates: modules with some units simplified.

use super::units::ReduceUnit;
use crate::analysis::IdDefinitions;
use crate::grammar::Op;
use crate::ir::{Block, ErasedIds, Func, IdWords, Inst, InstRef, ModuleSection, SpirvModule};
use crate::{Id, IdMap};
use rustc_hash::FxHashMap;

/// A module that is being simplified.
pub(super) struct ReducedCandidate {
    module: SpirvModule,
    ids: IdWords,
    definitions: IdDefinitions,
    /// The null constant of each type that has one.
    nulls: FxHashMap<Id, Id>,
    /// Operands of the created function types.
    new_types: FxHashMap<Id, Vec<u32>>,
    /// The replacements of deleted ids.
    stands_for: IdMap<Option<Id>>,
    erased: ErasedIds,
    /// Whether edges changed.
    has_new_flow: bool,
    /// Functions whose blocks are joined.
    joined: Vec<Func>,
    any_replaced: bool,
}

impl ReducedCandidate {
    pub fn new(module: &SpirvModule) -> Self {
        let mut nulls = FxHashMap::default();
        for inst in module.section_insts(ModuleSection::Globals) {
            if let (Op::ConstantNull, Some(ty), Some(id)) =
                (inst.op(), inst.result_type(), inst.result())
            {
                nulls.entry(ty).or_insert(id);
            }
        }
        ReducedCandidate {
            ids: IdWords::new(module),
            definitions: IdDefinitions::from_module(module),
            stands_for: IdMap::new(module.bound(), None),
            module: module.clone(),
            nulls,
            new_types: FxHashMap::default(),
            erased: ErasedIds::new(),
            has_new_flow: false,
            joined: Vec::new(),
            any_replaced: false,
        }
    }

    /// Simplifies a unit. Units that an earlier one removed are skipped.
    pub fn apply_unit(&mut self, unit: &ReduceUnit) {
        match *unit {
            ReduceUnit::Global(inst) => self.module.erase_inst(inst, &mut self.erased),
            ReduceUnit::EntryPoint(inst) => self.entry_point(inst),
            ReduceUnit::Function(func) => self.remove_function(func),
            ReduceUnit::Body(func) => self.clear_body(func),
            ReduceUnit::Branch(block, at) => self.force_branch(block, at),
            ReduceUnit::SkipLoop(block) => self.skip_loop(block),
            ReduceUnit::Stop(block) => self.return_from_block(block),
            ReduceUnit::Join(func) => self.joined.push(func),
            ReduceUnit::Inst(inst) => self.remove_instruction(inst),
            ReduceUnit::Forward(inst, id) => {
                if let Some(result) = self.module.inst(inst).result() {
                    self.replace_id(result, id);
                    self.module.erase_inst(inst, &mut self.erased);
                }
            }
            ReduceUnit::Parameter(func, number) => self.remove_parameter(func, number),
            ReduceUnit::Operand(inst, at) => self.nullify_operand(inst, at),
            ReduceUnit::Constant(inst) => self.nullify_constant(inst),
            ReduceUnit::Word(inst, at) => {
                let mut words = self.module.inst(inst).words().to_vec();
                if at < words.len() {
                    words.remove(at);
                    self.module.replace_words(inst, &words);
                }
            }
        }
    }

    /// The repaired module: names of deleted ids, uses, phis and blocks are updated.
    pub fn finish_module(mut self) -> SpirvModule {
        let functions = self.module.functions().to_vec();
        if self.any_replaced {
            self.rewrite_uses();
        }
        if self.has_new_flow {
            for func in &functions {
                self.repair_function(*func);
            }
        }
        for func in std::mem::take(&mut self.joined) {
            let mut pairs = Vec::new();
            let rename = |old, new| pairs.push((old, new));
            self.module
                .join_blocks(&self.ids, func, rename, &mut self.erased);
            for (old, new) in pairs {
                self.replace_id(old, new);
            }
            self.rewrite_uses();
        }
        self.module.sweep_annotations(&self.erased);
        self.module
    }

    fn replace_id(&mut self, old: Id, new: Id) {
        self.stands_for.set(old, Some(new));
        self.any_replaced = true;
    }

    /// Replaces every use of a deleted id.
    fn rewrite_uses(&mut self) {
        let functions = self.module.functions().to_vec();
        let insts: Vec<Inst> = functions
            .iter()
            .flat_map(|f| self.module.function_insts(*f))
            .map(InstRef::handle)
            .collect();
        for inst in insts {
            let stands_for = &self.stands_for;
            self.ids.rewrite_uses(&mut self.module, inst, |id| {
                // Chains are short; a circle is no valid replacement and found out later.
                let mut found = id;
                for _ in 0..64 {
                    match stands_for[found] {
                        Some(next) => found = next,
                        None => break,
                    }
                }
                found
            });
        }
    }

    /// The null value of a type, for types of numbers, booleans and composites.
    fn make_null(&mut self, ty: Id) -> Option<Id> {
        let inst = self.definitions.get(&self.module, ty)?;
        let has_null = matches!(
            inst.op(),
            Op::TypeBool
                | Op::TypeInt
                | Op::TypeFloat
                | Op::TypeVector
                | Op::TypeMatrix
                | Op::TypeArray
                | Op::TypeStruct
        );
        if !has_null {
            return None;
        }
        if let Some(id) = self.nulls.get(&ty) {
            return Some(*id);
        }
        let id = self.module.fresh_id();
        let words = [ty.word(), id.word()];
        let inst = self.module.create_inst(Op::ConstantNull, &words);
        self.module.append_inst(ModuleSection::Globals.list(), inst);
        self.nulls.insert(ty, id);
        Some(id)
    }

    fn type_of(&self, id: Id) -> Option<Id> {
        self.definitions.get(&self.module, id)?.result_type()
    }

    fn entry_point(&mut self, inst: Inst) {
        let function = self.module.inst(inst).id_operand(1);
        self.module.remove_inst(inst);
        let mut points = self.module.section_insts(ModuleSection::EntryPoints);
        if points.any(|p| p.op() == Op::EntryPoint && p.id_operand(1) == function) {
            return;
        }
        let modes = self.module.section_insts(ModuleSection::ExecutionModes);
        let own = modes.filter(|m| m.get_id(0) == Some(function));
        let own: Vec<Inst> = own.map(InstRef::handle).collect();
        for inst in own {
            self.module.remove_inst(inst);
        }
    }

    /// Calls of the function give null.
    fn remove_function(&mut self, func: Func) {
        let id = self.module.function_id(func);
        let calls = self
            .module
            .functions()
            .iter()
            .flat_map(|f| self.module.function_insts(*f))
            .filter(|i| i.op() == Op::FunctionCall && i.id_operand(0) == id);
        let calls: Vec<Inst> = calls.map(InstRef::handle).collect();
        for call in calls {
            self.remove_instruction(call);
        }
        let points = self.module.section_insts(ModuleSection::EntryPoints);
        let own = points.filter(|p| p.op() == Op::EntryPoint && p.id_operand(1) == id);
        let own: Vec<Inst> = own.map(InstRef::handle).collect();
        for point in own {
            self.entry_point(point);
        }
        let is_it = |f| f == func;
        self.module.erase_functions(is_it, &mut self.erased);
    }

    /// The end of a function: a return of null, or of nothing.
    fn make_return(&mut self, func: Func) -> Option<(Op, Vec<u32>)> {
        let def = self.module.inst(self.module.function(func).def);
        let ty = def.result_type()?;
        if self.definitions.defining_op(&self.module, ty) == Some(Op::TypeVoid) {
            return Some((Op::Return, Vec::new()));
        }
        Some(match self.make_null(ty) {
            Some(null) => (Op::ReturnValue, vec![null.word()]),
            None => (Op::Unreachable, Vec::new()),
        })
    }

    fn clear_body(&mut self, func: Func) {
        let Some((op, words)) = self.make_return(func) else {
            return;
        };
        let blocks = self.module.function(func).blocks.clone();
        let Some((first, rest)) = blocks.split_first() else {
            return;
        };
        let insts: Vec<Inst> = self.module.body(*first).map(InstRef::handle).collect();
        for inst in insts {
            self.module.erase_inst(inst, &mut self.erased);
        }
        for block in rest {
            let label = self.module.label(*block);
            self.erased.insert(label);
            let removed: Vec<Id> = self
                .module
                .body(*block)
                .filter_map(InstRef::result)
                .collect();
            for id in removed {
                self.erased.insert(id);
            }
        }
        let end = self.module.create_inst(op, &words);
        let body = self.module.block(*first).body;
        self.module.append_inst(body, end);
        self.module.set_block_order(func, vec![*first]);
    }

    /// Takes a parameter from a function, its type and its calls.
    fn remove_parameter(&mut self, func: Func, number: usize) {
        let id = self.module.function_id(func);
        let params = self.module.list_insts(self.module.function(func).params);
        let mut params = params.filter(|p| p.op() == Op::FunctionParameter);
        let param = params.nth(number).map(InstRef::handle);
        let def = self.module.function(func).def;
        let ty = self.module.inst(def).id_operand(1);
        let ty = self
            .definitions
            .get(&self.module, ty)
            .map(InstRef::operands);
        let (Some(param), Some(mut ty)) = (param, ty.map(<[u32]>::to_vec)) else {
            return;
        };
        if number + 1 >= ty.len() {
            return;
        }
        ty.remove(number + 1);
        let ty = self.function_type(&ty);
        self.module.words_mut(def)[3] = ty.word();
        self.remove_instruction(param);
        let functions = self.module.functions().iter();
        let calls = functions.flat_map(|f| self.module.function_insts(*f));
        let calls = calls.filter(|i| i.op() == Op::FunctionCall && i.id_operand(0) == id);
        let calls: Vec<Inst> = calls.map(InstRef::handle).collect();
        for call in calls {
            let mut words = self.module.inst(call).words().to_vec();
            if number + 3 < words.len() {
                words.remove(number + 3);
                self.module.replace_words(call, &words);
            }
        }
    }

    fn function_type(&mut self, operands: &[u32]) -> Id {
        let globals = self.module.section_insts(ModuleSection::Globals);
        let mut same = globals.filter(|i| i.op() == Op::TypeFunction && i.operands() == operands);
        if let Some(known) = same.next().and_then(InstRef::result) {
            return known;
        }
        let id = self.module.fresh_id();
        let words = [&[id.word()], operands].concat();
        let inst = self.module.create_inst(Op::TypeFunction, &words);
        self.module.append_inst(ModuleSection::Globals.list(), inst);
        self.new_types.insert(id, operands.to_vec());
        id
    }

    fn remove_merge(&mut self, block: Block) {
        if let Some(merge) = self.module.merge_inst(block).map(InstRef::handle) {
            self.module.remove_inst(merge);
        }
    }

    fn force_branch(&mut self, block: Block, at: usize) {
        let end = self.module.terminator(block);
        if !matches!(end.op(), Op::BranchConditional | Op::Switch) {
            return;
        }
        let Some(target) = end.words().get(at).copied().and_then(Id::new) else {
            return;
        };
        self.module.branch_to(block, Some(target));
        self.has_new_flow = true;
    }

    fn skip_loop(&mut self, block: Block) {
        let merge = self
            .module
            .merge_inst(block)
            .filter(|m| m.op() == Op::LoopMerge);
        let Some(target) = merge.map(|m| m.id_operand(0)) else {
            return;
        };
        self.remove_merge(block);
        self.module.branch_to(block, Some(target));
        self.has_new_flow = true;
    }

    fn return_from_block(&mut self, block: Block) {
        let func = self.module.block(block).func;
        if let Some((op, words)) = self.make_return(func) {
            self.remove_merge(block);
            self.module.set_terminator(block, op, &words);
            self.has_new_flow = true;
        }
    }

    /// Removes an instruction of a function and replaces its result by null.
    fn remove_instruction(&mut self, inst: Inst) {
        let i = self.module.inst(inst);
        if let (Some(ty), Some(id)) = (i.result_type(), i.result())
            && let Some(null) = self.make_null(ty)
        {
            self.replace_id(id, null);
        }
        self.module.erase_inst(inst, &mut self.erased);
    }

    fn nullify_operand(&mut self, inst: Inst, at: usize) {
        let word = self.module.inst(inst).words().get(at).copied();
        let ty = word.and_then(Id::new).and_then(|id| self.type_of(id));
        if let Some(null) = ty.and_then(|ty| self.make_null(ty)) {
            self.module.words_mut(inst)[at] = null.word();
        }
    }

    fn nullify_constant(&mut self, inst: Inst) {
        let i = self.module.inst(inst);
        if let (Some(ty), Some(id)) = (i.result_type(), i.result()) {
            let words = [ty.word(), id.word()];
            self.module.replace_inst(inst, Op::ConstantNull, &words);
        }
    }

    /// Brings a function whose edges changed in order.
    fn repair_function(&mut self, func: Func) {
        self.module
            .remove_unreachable(&self.ids, func, &mut self.erased);
        self.repair_phis(func);
        self.module.order_blocks(&self.ids, func);
    }

    /// Updates each phi to its predecessors, with null for new ones.
    fn repair_phis(&mut self, func: Func) {
        let blocks = self.module.function(func).blocks.clone();
        let mut edges: Vec<(Id, Id)> = Vec::new();
        for block in &blocks {
            let from = self.module.label(*block);
            let targets = self.module.block_targets(&self.ids, *block);
            edges.extend(targets.into_iter().map(|(_, to)| (to, from)));
        }
        edges.sort_unstable();
        edges.dedup();
        for block in blocks {
            let label = self.module.label(block);
            let first = edges.partition_point(|e| e.0 < label);
            let own: Vec<Id> = edges[first..]
                .iter()
                .take_while(|e| e.0 == label)
                .map(|e| e.1)
                .collect();
            let phis: Vec<Inst> = self.module.phis(block).map(InstRef::handle).collect();
            for phi in phis {
                self.repair_phi(phi, &own);
            }
        }
    }

    fn repair_phi(&mut self, phi: Inst, parents: &[Id]) {
        let inst = self.module.inst(phi);
        let words = inst.words().to_vec();
        let Some(ty) = inst.result_type() else { return };
        let mut new = words[..2].to_vec();
        for parent in parents {
            let value = match self.module.phi_value(phi, *parent) {
                Some(value) => value,
                None => match self.make_null(ty) {
                    Some(null) => null,
                    None => self.module.ensure_undef(ty),
                },
            };
            new.extend([value.word(), parent.word()]);
        }
        self.module.replace_words(phi, &new);
    }
}
