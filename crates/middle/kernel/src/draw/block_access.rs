//! How a kernel uses the blocks that it captures.

use crate::ir::{
    FragmentOp, FuncArgument, FuncId, KernelCapture, KernelId, KernelProgram, MemoryElement,
    StmtBlock, StmtKind, VarId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_entity::UnionFind;
use spirula_program::ScalarType;

/// How a kernel uses a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockAccess {
    /// Whether it loads elements.
    pub reads: bool,
    /// Whether it stores elements.
    pub writes: bool,
    /// Type of the elements; that of the first access where there are several.
    pub element: Option<ScalarType>,
}

impl BlockAccess {
    fn merge_access(&mut self, other: BlockAccess) {
        self.reads |= other.reads;
        self.writes |= other.writes;
        self.element = self.element.or(other.element);
    }
}

/// The blocks that a kernel captures, with its accesses.
pub(super) fn find_accesses(
    program: &KernelProgram,
    kernel: KernelId,
) -> Vec<(VarId, BlockAccess)> {
    let mut scan = AccessScan {
        program,
        numbers: FxHashMap::default(),
        sets: UnionFind::default(),
        accesses: Vec::new(),
        scanned: FxHashSet::default(),
    };
    let data = program.kernel(kernel);
    scan.scan_block(data.body);
    let mut by_set: FxHashMap<u32, BlockAccess> = FxHashMap::default();
    for (var, access) in std::mem::take(&mut scan.accesses) {
        let set = scan.set_of(var);
        by_set.entry(set).or_default().merge_access(access);
    }
    let captured = data.captures.iter().filter_map(|capture| match capture {
        KernelCapture::Memory(var) => Some(*var),
        KernelCapture::Scalar(_) | KernelCapture::Constant(..) => None,
    });
    captured
        .map(|var| {
            (
                var,
                by_set.get(&scan.set_of(var)).copied().unwrap_or_default(),
            )
        })
        .collect()
}

/// The scan of a kernel and of the functions that it calls.
struct AccessScan<'p> {
    program: &'p KernelProgram,
    numbers: FxHashMap<VarId, u32>,
    /// Sets of variables that may refer to one block.
    sets: UnionFind,
    accesses: Vec<(VarId, BlockAccess)>,
    scanned: FxHashSet<FuncId>,
}

impl AccessScan<'_> {
    fn set_of(&mut self, var: VarId) -> u32 {
        let sets = &mut self.sets;
        let number = *self.numbers.entry(var).or_insert_with(|| sets.add_set());
        self.sets.find_root(number)
    }

    fn join_vars(&mut self, a: VarId, b: VarId) {
        let (a, b) = (self.set_of(a), self.set_of(b));
        self.sets.join_sets(a, b);
    }

    fn add_load(&mut self, element: &MemoryElement) {
        let access = BlockAccess {
            reads: true,
            writes: false,
            element: Some(element.ty),
        };
        self.accesses.push((element.memory, access));
    }

    fn add_store(&mut self, element: &MemoryElement) {
        let access = BlockAccess {
            reads: false,
            writes: true,
            element: Some(element.ty),
        };
        self.accesses.push((element.memory, access));
    }

    fn scan_block(&mut self, block: StmtBlock) {
        let mut open = vec![block];
        while let Some(block) = open.pop() {
            for stmt in self.program.block_stmts(block) {
                self.scan_statement(&stmt.kind, &mut open);
                open.extend(stmt.kind.nested_blocks());
            }
        }
    }

    /// Scans a statement. Bodies of functions that it calls are added to the open blocks.
    fn scan_statement(&mut self, stmt: &StmtKind, open: &mut Vec<StmtBlock>) {
        match stmt {
            StmtKind::Read { from, .. } | StmtKind::ReadVector { from, .. } => self.add_load(from),
            StmtKind::Write { to, .. } | StmtKind::WriteVector { to, .. } => self.add_store(to),
            StmtKind::Atomic(atomic) => {
                self.add_load(&atomic.element);
                self.add_store(&atomic.element);
            }
            StmtKind::Fragment(operation) => match operation.as_ref() {
                FragmentOp::Load { from, .. } => self.add_load(&from.first),
                FragmentOp::Store { to, .. } => self.add_store(&to.first),
                FragmentOp::Clear(_) | FragmentOp::Accumulate { .. } => {}
            },
            StmtKind::Copy(copy) => {
                let element = |memory, index| MemoryElement {
                    memory,
                    ty: copy.ty,
                    index,
                    volatile: false,
                };
                self.add_load(&element(copy.from.memory, copy.from.offset));
                self.add_store(&element(copy.to.memory, copy.to.offset));
            }
            StmtKind::Alias { to, from } => self.join_vars(*to, *from),
            StmtKind::Call(call) => {
                let called = self.program.function(call.function);
                for (argument, input) in call.inputs.iter().zip(&called.inputs) {
                    if let FuncArgument::Memory(var) = argument {
                        self.join_vars(*var, *input);
                    }
                }
                for (to, output) in call.outputs.iter().zip(&called.outputs) {
                    self.join_vars(*to, *output);
                }
                if self.scanned.insert(call.function) {
                    open.extend(called.body);
                }
            }
            _ => {}
        }
    }
}
