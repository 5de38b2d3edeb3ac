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

/// The live parts of a function.
pub struct LiveFunction {
    pub func: Func,
    pub flow: Rc<FlowAnalysis>,
    pub control: ControlDependence,
    /// The blocks with live instructions, by position.
    pub blocks: Vec<bool>,
    /// The live constructs.
    pub constructs: Vec<bool>,
}

/// The live parts of a module.
pub struct LivenessMarks {
    /// By instruction, whether it is live.
    pub live: Vec<bool>,
    /// Live functions by [`Func::index`].
    pub functions: Vec<Option<LiveFunction>>,
    pub ids: Rc<IdWords>,
    pub definitions: Rc<IdDefinitions>,
    /// Debug instructions. Each stays if its subject stays.
    pub debug: Vec<Inst>,
}

/// Function and block of an instruction.
type InstBlockPosition = Option<(Func, u32)>;

struct LivenessMarker<'a> {
    module: &'a SpirvModule,
    roots: LivenessRoots<'a>,
    marks: LivenessMarks,
    flows: Vec<Option<Rc<FlowAnalysis>>>,
    structured: bool,
    /// Whether variables with a binding are live.
    bindings: bool,
    home: Vec<InstBlockPosition>,
    work: Vec<Inst>,
    /// The writes that become live with each variable.
    writes: IdMap<Vec<Inst>>,
    /// The decorations with id operands, by target.
    decorations: IdMap<Vec<Inst>>,
}

impl LivenessMarks {
    /// Marks a module. With `bindings`, variables with a binding are live.
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

    /// Marks the roots outside of functions.
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
                    // Other linkages, such as that of definitions in several modules, make the function visible
                    // by name as well.
                    let named = !literal_string(words.get(2..).unwrap_or(&[])).is_empty();
                    if exported || other && named {
                        self.mark_id(inst.id_operand(0));
                    }
                }
                Decoration::ReferencedIndirectlyINTEL => self.mark_id(inst.id_operand(0)),
                // A constant gives the size of workgroups; it needs no use.
                Decoration::BuiltIn
                    if inst.operands().get(2) == Some(&BuiltIn::WorkgroupSize.0) =>
                {
                    self.mark_id(inst.id_operand(0));
                }
                // The module still accepts the launches that it accepted before.
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

    /// Marks a function that is called, exported or an entry point, and the roots in it.
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
            // Instructions in unreachable blocks are live: merge instructions require them.
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

    /// Marks the operands of a debug instruction, which stays for now. It keeps types, constants, strings and
    /// other debug instructions alive. Variables, values and functions are examined again when it is known which
    /// of them stay.
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

    /// Marks the branches that decide by which edge a phi is reached.
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

    /// Marks the construct of a header whose branch is live.
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

    /// Marks a construct: the branch of its header, and all branches that leave or continue it.
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

    /// Marks the branches that a function always keeps: those of infinite regions, and conditional ones outside
    /// of all constructs.
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

/// Whether debug information may keep a definition in the module. It keeps definitions without run-time cost.
pub fn is_kept_for_debug(op: Option<Op>) -> bool {
    use spirula_spirv::grammar::InstructionClass;
    let class = op.and_then(|o| o.info()).map(|i| i.class);
    matches!(op, Some(Op::String | Op::ExtInst | Op::ExtInstImport))
        || matches!(
            class,
            Some(InstructionClass::TypeDeclaration | InstructionClass::ConstantCreation)
        )
}
