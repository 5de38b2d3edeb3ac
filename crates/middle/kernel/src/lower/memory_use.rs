//! Memory use of a kernel: alias classes, accesses and barriers, found before anything is emitted.

use super::unsupported::unsupported_diagnostic;
use crate::call_graph;
use crate::ir::{
    AtomicOp, AtomicStmt, ExprId, FragmentOp, KernelCapture, KernelId, KernelProgram,
    MemoryElement, MemorySpace, StmtBlock, StmtKind, SyncKind, VarId, VariableType,
};
use rustc_hash::FxHashMap;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_entity::UnionFind;
use spirula_program::ScalarType;

/// An alias class: memory variables that may refer to the same blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct AliasClass {
    /// Bindings of the device blocks that belong to it.
    pub bindings: Vec<u32>,
    /// Allocations of shared memory.
    pub allocations: Vec<SharedAllocation>,
    /// Set of element sizes that are accessed, as bits: 1, 2, 4, 8, and 16 for vectors.
    pub sizes: u32,
    /// Set of element sizes that are changed atomically.
    pub atomic_sizes: u32,
    /// Whether other workgroups see changes while the kernel runs.
    pub coherent: bool,
    /// Whether it is written.
    pub written: bool,
}

/// An allocation of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SharedAllocation {
    /// The variable that is assigned.
    pub var: VarId,
    /// Size in bytes.
    pub bytes: ExprId,
}

/// The facts about a kernel.
pub(super) struct KernelMemoryUse {
    /// The alias class of each memory variable.
    pub alias_class: FxHashMap<VarId, usize>,
    /// Alias classes. Those that were merged into others are empty.
    pub classes: Vec<AliasClass>,
    /// For each variable, whether a statement assigns it.
    pub changed: Vec<bool>,
    /// For each block, whether something in it may fail, including its callees.
    pub fails: Vec<bool>,
    /// For each block, whether it has a barrier, including its callees.
    pub waits: Vec<bool>,
    /// For each block, whether it may read what other invocations write, including its callees: by atomic
    /// operations, or by volatile loads of device memory.
    pub asks: Vec<bool>,
    /// For each block, whether it has a loop that may wait for other invocations (a loop that polls and has no
    /// barrier), including its callees.
    pub awaits: Vec<bool>,
    /// Whether the kernel has fragments.
    pub has_fragments: bool,
}

/// The effects of a block.
#[derive(Clone, Copy, Default)]
struct BlockEffects {
    fails: bool,
    waits: bool,
    asks: bool,
    awaits: bool,
}

impl BlockEffects {
    fn merge_effects(&mut self, other: BlockEffects) {
        self.fails |= other.fails;
        self.waits |= other.waits;
        self.asks |= other.asks;
        self.awaits |= other.awaits;
    }
}

impl KernelMemoryUse {
    fn block_effects(&self, block: StmtBlock) -> BlockEffects {
        let at = block.index();
        BlockEffects {
            fails: self.fails[at],
            waits: self.waits[at],
            asks: self.asks[at],
            awaits: self.awaits[at],
        }
    }

    fn set_block_effects(&mut self, block: StmtBlock, effects: BlockEffects) {
        let at = block.index();
        self.fails[at] = effects.fails;
        self.waits[at] = effects.waits;
        self.asks[at] = effects.asks;
        self.awaits[at] = effects.awaits;
    }

    /// Whether shared memory is accessed in elements of several sizes. An explicit layout simplifies such accesses.
    pub fn has_mixed_shared_sizes(&self) -> bool {
        let is_mixed = |class: &AliasClass| {
            let sizes = (class.sizes | class.atomic_sizes) & !16;
            !class.allocations.is_empty() && sizes.count_ones() > 1
        };
        !self.has_fragments && self.classes.iter().any(is_mixed)
    }
}

struct MemoryUseAnalysis<'a> {
    program: &'a KernelProgram,
    facts: KernelMemoryUse,
    sets: UnionFind,
    place: SourceLocation,
}

/// Analyses a kernel and the functions that it calls.
pub(super) fn analyse_memory_use(
    program: &KernelProgram,
    kernel: KernelId,
) -> Result<KernelMemoryUse, SourceDiagnostic> {
    let data = program.kernel(kernel);
    let mut analysis = MemoryUseAnalysis {
        program,
        facts: KernelMemoryUse {
            alias_class: FxHashMap::default(),
            classes: Vec::new(),
            changed: vec![false; program.vars.len()],
            fails: vec![false; program.blocks.len()],
            waits: vec![false; program.blocks.len()],
            asks: vec![false; program.blocks.len()],
            awaits: vec![false; program.blocks.len()],
            has_fragments: false,
        },
        sets: UnionFind::default(),
        place: data.place,
    };
    let mut binding = 0;
    for used in &data.captures {
        if let KernelCapture::Memory(var) = used {
            let class = analysis.class_of_var(*var);
            analysis.facts.classes[class].bindings.push(binding);
            binding += 1;
        }
    }
    analysis.analyse_block(data.body, &mut Vec::new())?;
    Ok(analysis.into_memory_use())
}

impl MemoryUseAnalysis<'_> {
    fn class_of_var(&mut self, var: VarId) -> usize {
        let next = self.facts.classes.len();
        let class = *self.facts.alias_class.entry(var).or_insert(next);
        if class == next {
            self.facts.classes.push(AliasClass::default());
            self.sets.add_set();
        }
        self.find_root(class)
    }

    fn find_root(&mut self, class: usize) -> usize {
        self.sets.find_root(class as u32) as usize
    }

    fn join_classes(&mut self, a: VarId, b: VarId) {
        let (a, b) = (self.class_of_var(a), self.class_of_var(b));
        if a != b {
            self.sets.join_roots(a as u32, b as u32);
            let from = std::mem::take(&mut self.facts.classes[b]);
            let to = &mut self.facts.classes[a];
            to.bindings.extend(from.bindings);
            to.allocations.extend(from.allocations);
            to.sizes |= from.sizes;
            to.atomic_sizes |= from.atomic_sizes;
            to.coherent |= from.coherent;
            to.written |= from.written;
        }
    }

    fn into_memory_use(mut self) -> KernelMemoryUse {
        let vars: Vec<(VarId, usize)> = self
            .facts
            .alias_class
            .iter()
            .map(|(v, c)| (*v, *c))
            .collect();
        for (var, class) in vars {
            let root = self.find_root(class);
            self.facts.alias_class.insert(var, root);
        }
        self.facts
    }

    fn note_element_access(&mut self, element: &MemoryElement) {
        self.note_typed_access(element.memory, element.ty, element.volatile);
    }

    fn note_vector_access(&mut self, first: &MemoryElement, count: usize) {
        if matches!(self.program.var(first.memory).ty, VariableType::Memory(_)) {
            let class = self.class_of_var(first.memory);
            let bytes = first.ty.size() * count as u64;
            let class = &mut self.facts.classes[class];
            class.sizes |= match bytes {
                16 => 16,
                _ => first.ty.size() as u32,
            };
            class.coherent |= first.volatile;
        }
    }

    fn note_typed_access(&mut self, memory: VarId, ty: ScalarType, volatile: bool) {
        if matches!(self.program.var(memory).ty, VariableType::Memory(_)) {
            let class = self.class_of_var(memory);
            let class = &mut self.facts.classes[class];
            class.sizes |= ty.size() as u32;
            class.coherent |= volatile;
        }
    }

    fn note_write(&mut self, memory: VarId) {
        if matches!(self.program.var(memory).ty, VariableType::Memory(_)) {
            let class = self.class_of_var(memory);
            self.facts.classes[class].written = true;
        }
    }

    fn note_atomic(&mut self, atomic: &AtomicStmt) {
        self.note_element_access(&atomic.element);
        self.note_write(atomic.element.memory);
        let class = self.class_of_var(atomic.element.memory);
        let class = &mut self.facts.classes[class];
        class.coherent = true;
        if atomic.op != AtomicOp::Write {
            class.atomic_sizes |= atomic.element.ty.size() as u32;
        }
    }

    /// Analyses a block, its nested blocks and its callees.
    fn analyse_block(
        &mut self,
        block: StmtBlock,
        called: &mut Vec<StmtBlock>,
    ) -> Result<BlockEffects, SourceDiagnostic> {
        let mut effects = BlockEffects::default();
        let program = self.program;
        for stmt in program.block_stmts(block) {
            self.place = stmt.place;
            for inner in stmt.kind.nested_blocks() {
                effects.merge_effects(self.analyse_block(inner, called)?);
            }
            self.note_assigned_vars(&stmt.kind);
            self.note_accesses(&stmt.kind)?;
            effects.merge_effects(self.statement_effects(&stmt.kind, called)?);
        }
        self.facts.set_block_effects(block, effects);
        Ok(effects)
    }

    /// The effects of a statement itself and of the function that it calls.
    fn statement_effects(
        &mut self,
        stmt: &StmtKind,
        called: &mut Vec<StmtBlock>,
    ) -> Result<BlockEffects, SourceDiagnostic> {
        let mut effects = BlockEffects::default();
        match stmt {
            StmtKind::Assert { .. } => effects.fails = true,
            StmtKind::Sync { kind, .. } => effects.waits = *kind != SyncKind::Fence,
            StmtKind::While { body, .. } => {
                let inner = self.facts.block_effects(*body);
                effects.awaits = inner.asks && !inner.waits;
            }
            StmtKind::Read { from, .. } => {
                let ty = self.program.var(from.memory).ty;
                effects.asks = from.volatile && ty == VariableType::Memory(MemorySpace::Device);
            }
            StmtKind::Atomic(_) => effects.asks = true,
            StmtKind::Call(call) => return self.analyse_function(call.function, called),
            _ => {}
        }
        Ok(effects)
    }

    /// Records the variables that a statement assigns.
    fn note_assigned_vars(&mut self, stmt: &StmtKind) {
        let assigned: &[VarId] = match stmt {
            StmtKind::Assign { to, .. }
            | StmtKind::Position { to, .. }
            | StmtKind::Shuffle { to, .. }
            | StmtKind::IsUnique { to, .. }
            | StmtKind::Read { to, .. } => std::slice::from_ref(to),
            StmtKind::For { counter, .. } => std::slice::from_ref(counter),
            StmtKind::ReadVector { to, .. } => to,
            StmtKind::Atomic(atomic) => atomic.old.as_slice(),
            StmtKind::Call(call) => &call.outputs,
            _ => &[],
        };
        for var in assigned {
            self.facts.changed[var.index()] = true;
        }
    }

    /// Records the memory that a statement accesses, allocates or refers to.
    fn note_accesses(&mut self, stmt: &StmtKind) -> Result<(), SourceDiagnostic> {
        let program = self.program;
        match stmt {
            StmtKind::Read { from, .. } => self.note_element_access(from),
            StmtKind::Write { to, .. } => {
                self.note_element_access(to);
                self.note_write(to.memory);
            }
            StmtKind::ReadVector { to, from } => self.note_vector_access(from, to.len()),
            StmtKind::WriteVector { to, values } => {
                self.note_vector_access(to, values.len());
                self.note_write(to.memory);
            }
            StmtKind::Fragment(op) => {
                self.facts.has_fragments = true;
                if let FragmentOp::Load { from: patch, .. } | FragmentOp::Store { to: patch, .. } =
                    &**op
                {
                    // The class is needed; the element size is that of another access.
                    self.class_of_var(patch.first.memory);
                }
                if let FragmentOp::Store { to, .. } = &**op {
                    self.note_write(to.first.memory);
                }
            }
            StmtKind::Copy(copy) => {
                self.note_typed_access(copy.to.memory, copy.ty, false);
                self.note_typed_access(copy.from.memory, copy.ty, false);
                self.note_write(copy.to.memory);
            }
            StmtKind::Atomic(atomic) => self.note_atomic(atomic),
            StmtKind::Alias { to, from } => {
                if matches!(program.var(*to).ty, VariableType::Memory(_)) {
                    self.join_classes(*to, *from);
                }
            }
            StmtKind::Alloc { to, bytes } => {
                if program.var(*to).ty != VariableType::Memory(MemorySpace::Shared) {
                    return Err(self.unsupported_diagnostic("device memory made in a kernel"));
                }
                let class = self.class_of_var(*to);
                self.facts.classes[class]
                    .allocations
                    .push(SharedAllocation {
                        var: *to,
                        bytes: *bytes,
                    });
            }
            _ => {}
        }
        Ok(())
    }

    fn analyse_function(
        &mut self,
        function: crate::ir::FuncId,
        called: &mut Vec<StmtBlock>,
    ) -> Result<BlockEffects, SourceDiagnostic> {
        if call_graph::is_host_only(self.program, function) {
            return Err(self
                .unsupported_diagnostic("a function that has device memory, called in a kernel"));
        }
        let data = self.program.function(function);
        for var in data.inputs.iter().chain(&data.outputs) {
            self.facts.changed[var.index()] = true;
        }
        let Some(body) = data.body else {
            return Ok(BlockEffects::default());
        };
        if called.contains(&body) {
            return Ok(self.facts.block_effects(body));
        }
        called.push(body);
        let place = self.place;
        let found = self.analyse_block(body, called);
        self.place = place;
        found
    }

    fn unsupported_diagnostic(&self, construct: &str) -> SourceDiagnostic {
        unsupported_diagnostic(self.place, construct)
    }
}
