//! The mark phase of dead-code elimination: live instructions are found from the roots along uses and control
//! dependence.

use super::control::ControlDependence;
use super::roots::{LivenessClass, LivenessRoots};
use crate::analyses::{AnalysisCache, FlowAnalysis};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::enumerants::{BuiltIn, Decoration, LinkageType, StorageClass};
use spirula_spirv::grammar::{Op, literal_string};
use spirula_spirv::ir::{Func, IdWords, Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};
use std::rc::Rc;

/// A function that matters.
pub struct LiveFunction {
    pub func: Func,
    pub flow: Rc<FlowAnalysis>,
    pub control: ControlDependence,
    /// Blocks with something in them that matters, by position.
    pub blocks: Vec<bool>,
    /// Constructs that matter.
    pub constructs: Vec<bool>,
}

/// What matters in a module.
pub struct LivenessMarks {
    /// By instruction.
    pub live: Vec<bool>,
    /// Live functions by [`Func::index`].
    pub functions: Vec<Option<LiveFunction>>,
    pub ids: Rc<IdWords>,
    pub definitions: Rc<IdDefinitions>,
    /// Debug instructions, which stay where what they are about stays.
    pub debug: Vec<Inst>,
}

/// Place of an instruction: function and position of the block.
type InstBlockPosition = Option<(Func, u32)>;

struct LivenessMarker<'a> {
    module: &'a SpirvModule,
    roots: LivenessRoots<'a>,
    marks: LivenessMarks,
    flows: Vec<Option<Rc<FlowAnalysis>>>,
    structured: bool,
    /// Whether variables that have a binding matter.
    bindings: bool,
    home: Vec<InstBlockPosition>,
    work: Vec<Inst>,
    /// Writes that matter when a variable does.
    writes: IdMap<Vec<Inst>>,
    /// Decorations with ids, by target.
    decorations: IdMap<Vec<Inst>>,
}

impl LivenessMarks {
    /// With `bindings`, variables that have one matter.
    pub fn compute_marks(
        module: &SpirvModule,
        cache: &mut AnalysisCache,
        bindings: bool,
    ) -> Result<LivenessMarks, SourceDiagnostic> {
        let definitions = cache.definitions(module);
        let calls = cache.call_graph(module);
        let ids = cache.id_words(module);
        let size = module
            .functions()
            .iter()
            .map(|f| f.index() + 1)
            .max()
            .unwrap_or(0);
        let mut flows = vec![None; size];
        for func in module.functions() {
            flows[func.index()] = Some(cache.function_flow(module, *func)?);
        }
        let marks = LivenessMarks {
            live: vec![false; module.inst_count()],
            functions: std::iter::repeat_with(|| None).take(size).collect(),
            ids: ids.clone(),
            definitions: definitions.clone(),
            debug: Vec::new(),
        };
        let mut marker = LivenessMarker {
            module,
            roots: LivenessRoots::new(module, &ids, &definitions, &calls),
            marks,
            flows,
            structured: module.is_structured(),
            bindings,
            home: vec![None; module.inst_count()],
            work: Vec::new(),
            writes: IdMap::new(0, Vec::new()),
            decorations: IdMap::new(0, Vec::new()),
        };
        marker.mark_global_roots();
        marker.propagate_marks();
        Ok(marker.marks)
    }
}

impl LivenessMarker<'_> {
    fn mark_live(&mut self, inst: Inst) {
        if !std::mem::replace(&mut self.marks.live[inst.index()], true) {
            self.work.push(inst);
        }
    }

    fn mark_id(&mut self, id: Id) {
        if let Some(inst) = self.marks.definitions.defining_inst(id) {
            self.mark_live(inst);
        }
    }

    fn mark_operands(&mut self, inst: InstRef<'_>) {
        let LivenessMarks {
            ids,
            definitions,
            live,
            ..
        } = &mut self.marks;
        ids.visit_uses(inst, |_, id| {
            if let Some(definition) = definitions.defining_inst(id)
                && !std::mem::replace(&mut live[definition.index()], true)
            {
                self.work.push(definition);
            }
        });
    }

    /// What matters outside of functions.
    fn mark_global_roots(&mut self) {
        let module = self.module;
        for entry in module.section_insts(ModuleSection::EntryPoints) {
            if entry.op() != Op::EntryPoint {
                self.mark_operands(entry);
                continue;
            }
            self.mark_id(entry.id_operand(1));
            let mut named = Vec::new();
            self.marks.ids.visit_uses(entry, |_, id| named.push(id));
            for id in named {
                let variable = self.marks.definitions.get(module, id);
                let is_output = variable.is_some_and(|v| {
                    v.op() == Op::Variable && v.operand_word(0) == StorageClass::Output.0
                });
                if is_output {
                    self.mark_id(id);
                }
            }
        }
        for mode in module.section_insts(ModuleSection::ExecutionModes) {
            self.mark_operands(mode);
        }
        for source in module.section_insts(ModuleSection::Sources) {
            if source.op() != Op::String {
                self.mark_live(source.handle());
            }
        }
        let outside = module
            .section_insts(ModuleSection::Globals)
            .chain(module.section_insts(ModuleSection::Trailer));
        for inst in outside {
            if inst.op() == Op::ExtInst {
                match self.roots.classify_inst(inst) {
                    LivenessClass::Debug => self.mark_debug_operands(inst),
                    _ => self.mark_live(inst.handle()),
                }
            } else if inst.op().is_line() {
                self.mark_live(inst.handle());
            }
        }
        for decoration in module.section_insts(ModuleSection::Annotations) {
            self.mark_decoration(decoration);
        }
    }

    fn mark_decoration(&mut self, inst: InstRef<'_>) {
        match inst.op() {
            Op::Decorate => match Decoration(inst.operand_word(1)) {
                Decoration::LinkageAttributes => {
                    let words = inst.operands();
                    let exported = words.last() == Some(&LinkageType::Export.0);
                    let other = words.last() != Some(&LinkageType::Import.0);
                    // Other linkages (once in several modules) can be seen by name as well.
                    let named = !literal_string(words.get(2..).unwrap_or(&[])).is_empty();
                    if exported || other && named {
                        self.mark_id(inst.id_operand(0));
                    }
                }
                Decoration::ReferencedIndirectlyINTEL => self.mark_id(inst.id_operand(0)),
                // The size of workgroups is told by a constant that nothing needs to use.
                Decoration::BuiltIn
                    if inst.operands().get(2) == Some(&BuiltIn::WorkgroupSize.0) =>
                {
                    self.mark_id(inst.id_operand(0));
                }
                // Launches that the module took it still takes.
                Decoration::Binding if self.bindings => self.mark_id(inst.id_operand(0)),
                _ => {}
            },
            Op::DecorateId | Op::MemberDecorateIdEXT => {
                let target = inst.id_operand(0);
                self.decorations.get_mut(target).push(inst.handle());
            }
            _ => {}
        }
    }

    fn propagate_marks(&mut self) {
        while let Some(inst) = self.work.pop() {
            let i = self.module.inst(inst);
            match i.op() {
                Op::Function => self.mark_function(i),
                Op::Label => continue,
                Op::Phi => self.mark_phi_edges(i),
                _ => {}
            }
            self.mark_operands(i);
            if let Some(id) = i.result() {
                if i.op() == Op::Variable {
                    let writes = std::mem::take(self.writes.get_mut(id));
                    for write in writes {
                        self.mark_live(write);
                    }
                }
                for decoration in self.decorations[id].clone() {
                    self.mark_operands(self.module.inst(decoration));
                }
            }
            if let Some((func, block)) = self.home[inst.index()] {
                self.mark_block(func, block);
                if i.op().is_terminator() {
                    self.mark_headed_construct(func, block);
                }
            }
        }
    }

    /// A function is called, exported or an entry point: looks for what matters in it.
    fn mark_function(&mut self, def: InstRef<'_>) {
        let module = self.module;
        let func = def.result().and_then(|id| self.roots.function_of_id(id));
        let flow = func.and_then(|f| self.flows[f.index()].clone());
        let (Some(func), Some(flow)) = (func, flow) else {
            return;
        };
        let control = ControlDependence::compute_dependence(module, &flow, self.structured);
        let constructs = match &control {
            ControlDependence::Structured { constructs, .. } => constructs.constructs().len(),
            ControlDependence::Free { .. } => 0,
        };
        let function = module.function(func);
        for inst in module
            .list_insts(function.lead)
            .chain(module.list_insts(function.params))
        {
            self.mark_live(inst.handle());
        }
        for inst in module.list_insts(function.tail) {
            self.mark_live(inst.handle());
        }
        let blocks = flow.cfg.len();
        self.marks.functions[func.index()] = Some(LiveFunction {
            func,
            flow: flow.clone(),
            control,
            blocks: vec![false; blocks],
            constructs: vec![false; constructs],
        });
        if blocks > 0 {
            self.mark_block(func, 0);
        }
        self.mark_unconditional_branches(func);
        for at in 0..blocks as u32 {
            for inst in module.list_insts(module.block(flow.cfg.block(at)).lead) {
                self.mark_operands(inst);
            }
            for inst in module.body(flow.cfg.block(at)) {
                self.home[inst.handle().index()] = Some((func, at));
            }
        }
        for at in 0..blocks as u32 {
            let reachable = flow.dominators.is_reachable(at);
            for inst in module.body(flow.cfg.block(at)) {
                self.seed_inst(inst, reachable);
            }
        }
    }

    fn seed_inst(&mut self, inst: InstRef<'_>, reachable: bool) {
        let handle = inst.handle();
        match self.roots.classify_inst(inst) {
            // What stands in blocks that are not reached is what merge instructions need of them.
            _ if !reachable => self.marks.live[handle.index()] = true,
            LivenessClass::Root => self.mark_live(handle),
            LivenessClass::WritesTo(variable) => {
                let known = self.marks.definitions.defining_inst(variable);
                if known.is_some_and(|v| self.marks.live[v.index()]) {
                    self.mark_live(handle);
                } else {
                    self.writes.get_mut(variable).push(handle);
                }
            }
            LivenessClass::Removable if inst.op().is_line() => self.mark_operands(inst),
            LivenessClass::Removable => {}
            LivenessClass::Debug => self.mark_debug_operands(inst),
        }
    }

    /// A debug instruction stays for now. It keeps types, constants, strings and other debug
    /// instructions alive; variables, values and functions are looked at again when it is known
    /// which of them stay.
    fn mark_debug_operands(&mut self, inst: InstRef<'_>) {
        self.marks.live[inst.handle().index()] = true;
        self.marks.debug.push(inst.handle());
        let mut used = Vec::new();
        self.marks.ids.visit_uses(inst, |_, id| used.push(id));
        for id in used {
            if is_kept_for_debug(self.marks.definitions.defining_op(self.module, id)) {
                self.mark_id(id);
            }
        }
    }

    /// Which way a phi is reached matters.
    fn mark_phi_edges(&mut self, phi: InstRef<'_>) {
        let Some((func, _)) = self.home[phi.handle().index()] else {
            return;
        };
        let Some(flow) = self.flows[func.index()].clone() else {
            return;
        };
        let labels = phi.id_operands(0).skip(1).step_by(2);
        for at in labels.filter_map(|l| flow.cfg.block_position(l)) {
            self.mark_terminator(func, &flow, at);
        }
    }

    fn mark_terminator(&mut self, func: Func, flow: &FlowAnalysis, at: u32) {
        if flow.dominators.is_reachable(at) {
            let terminator = self.module.terminator(flow.cfg.block(at)).handle();
            self.mark_live(terminator);
            self.mark_block(func, at);
        }
    }

    fn mark_block(&mut self, func: Func, at: u32) {
        let Some(live) = &mut self.marks.functions[func.index()] else {
            return;
        };
        if std::mem::replace(&mut live.blocks[at as usize], true) {
            return;
        }
        let flow = live.flow.clone();
        match &live.control {
            ControlDependence::Structured { constructs, .. } => {
                if let Some(construct) = constructs.innermost_construct(at) {
                    self.mark_construct(func, construct);
                }
            }
            ControlDependence::Free { dependence, .. } => {
                for branch in dependence.of_block(at).to_vec() {
                    self.mark_terminator(func, &flow, branch);
                }
            }
        }
    }

    /// A header whose branch matters has its construct matter.
    fn mark_headed_construct(&mut self, func: Func, at: u32) {
        let Some(live) = &self.marks.functions[func.index()] else {
            return;
        };
        if let ControlDependence::Structured { constructs, .. } = &live.control
            && let Some(own) = constructs.headed_by(at)
        {
            self.mark_construct(func, own);
        }
    }

    /// A construct matters: its header's branch does, and what leaves or continues it.
    fn mark_construct(&mut self, func: Func, construct: u32) {
        let Some(live) = &mut self.marks.functions[func.index()] else {
            return;
        };
        if std::mem::replace(&mut live.constructs[construct as usize], true) {
            return;
        }
        let flow = live.flow.clone();
        let ControlDependence::Structured { constructs, bare } = &live.control else {
            return;
        };
        let own = constructs.constructs()[construct as usize];
        let mut deciding = bare[construct as usize].clone();
        deciding.push(own.header);
        for target in [Some(own.merge), own.continues].into_iter().flatten() {
            deciding.extend(flow.cfg.predecessors(target));
        }
        if own.continues.is_some() {
            deciding.extend(flow.cfg.predecessors(own.header));
        }
        let merge = self.module.merge_inst(flow.cfg.block(own.header));
        if let Some(merge) = merge.map(InstRef::handle) {
            self.marks.live[merge.index()] = true;
        }
        for at in deciding {
            self.mark_terminator(func, &flow, at);
        }
    }

    /// Branches that a function always has: those of regions that never end, and conditional ones
    /// outside of all constructs.
    fn mark_unconditional_branches(&mut self, func: Func) {
        let Some(live) = &self.marks.functions[func.index()] else {
            return;
        };
        let flow = live.flow.clone();
        let always = match &live.control {
            ControlDependence::Structured { bare, .. } => bare.last().cloned().unwrap_or_default(),
            ControlDependence::Free { tree, .. } => tree.infinite_region_blocks().to_vec(),
        };
        for at in always {
            self.mark_terminator(func, &flow, at);
        }
    }
}

/// Whether debug information may keep a definition in the module: what it costs nothing to keep.
pub fn is_kept_for_debug(op: Option<Op>) -> bool {
    use spirula_spirv::grammar::InstructionClass;
    let class = op.and_then(|o| o.info()).map(|i| i.class);
    matches!(op, Some(Op::String | Op::ExtInst | Op::ExtInstImport))
        || matches!(
            class,
            Some(InstructionClass::TypeDeclaration | InstructionClass::ConstantCreation)
        )
}
