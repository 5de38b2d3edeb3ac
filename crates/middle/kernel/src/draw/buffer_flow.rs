//! Edges between rows: which rows may read what a row has written.
//!
//! A forward data-flow analysis over the structured statements. Each reference to memory may have contents, which are a
//! block and the row that wrote it. A store through one reference is seen through every other one that may refer to the
//! block. A row that only stores leaves earlier contents in place, as it may write a part.
//!
//! The head of a loop keeps what it has seen, and the function is analysed again until no head sees more.

use super::block_access::{BlockAccess, find_accesses};
use super::host_outline::{HostOutline, OutlineItem};
use super::size_text::SizeFormatter;
use crate::ir::{
    CallStmt, EntryDecl, EntryKind, ForeignStmt, FuncArgument, KernelId, KernelProgram, StmtKind,
    VarId, VariableType,
};
use rustc_hash::FxHashMap;
use spirula_program::ScalarType;
use spirula_spirv::draw::RowEdge;
use std::collections::{BTreeMap, BTreeSet};

/// A block, by the reference that it is allocated for.
type BufferNumber = usize;

/// Contents of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BlockContents {
    block: BufferNumber,
    /// The row that wrote them; none where nothing has.
    writer: Option<usize>,
}

/// The contents that each reference may have.
type ReferenceContents = BTreeMap<VarId, BTreeSet<BlockContents>>;

/// A block of the drawing.
#[derive(Debug, Default)]
struct DrawnBlock {
    /// Type with its shape, where that is known.
    shape: Option<String>,
    /// Type of the elements that kernels access.
    element: Option<ScalarType>,
    /// Its size.
    bytes: Option<String>,
    /// References that may refer to it.
    users: BTreeSet<VarId>,
}

/// The edges of a function's drawing.
pub(super) fn find_buffer_edges<'p>(
    program: &'p KernelProgram,
    sizes: &SizeFormatter<'p>,
    outline: &HostOutline<'p>,
    entry: Option<&EntryDecl>,
) -> Vec<RowEdge> {
    let mut flow = BufferFlow {
        program,
        sizes,
        blocks: Vec::new(),
        block_of: FxHashMap::default(),
        accesses: FxHashMap::default(),
        contents: ReferenceContents::new(),
        heads: vec![ReferenceContents::new(); outline.loops],
        edges: BTreeSet::new(),
    };
    flow.name_parameters(entry);
    loop {
        let before = flow.heads.clone();
        flow.run_function(outline);
        if flow.heads == before {
            return flow.list_edges();
        }
    }
}

/// The analysis of a function.
struct BufferFlow<'p, 's> {
    program: &'p KernelProgram,
    sizes: &'s SizeFormatter<'p>,
    blocks: Vec<DrawnBlock>,
    /// The block that is allocated for a reference.
    block_of: FxHashMap<VarId, BufferNumber>,
    /// Accesses of kernels.
    accesses: FxHashMap<KernelId, Vec<(VarId, BlockAccess)>>,
    contents: ReferenceContents,
    /// Contents that references have at the heads of loops.
    heads: Vec<ReferenceContents>,
    /// Rows of writers and readers, with the block between them.
    edges: BTreeSet<(usize, usize, BufferNumber)>,
}

impl<'p> BufferFlow<'p, '_> {
    fn is_memory(&self, var: VarId) -> bool {
        matches!(self.program.var(var).ty, VariableType::Memory(_))
    }

    /// The block that is allocated for a reference.
    fn find_block(&mut self, var: VarId) -> BufferNumber {
        let blocks = &mut self.blocks;
        *self.block_of.entry(var).or_insert_with(|| {
            blocks.push(DrawnBlock::default());
            blocks.len() - 1
        })
    }

    /// Gives blocks of parameters the types that callers see.
    fn name_parameters(&mut self, entry: Option<&EntryDecl>) {
        for parameter in entry.iter().flat_map(|entry| &entry.parameters) {
            let parts = match &parameter.value.kind {
                EntryKind::Plain(value) => std::slice::from_ref(value),
                EntryKind::Opaque(_, parts) => parts,
            };
            for part in parts.iter().filter(|part| part.shape.is_some()) {
                let block = self.find_block(part.var);
                self.blocks[block].shape = Some(self.sizes.format_plain(part));
            }
        }
    }

    fn run_function(&mut self, outline: &HostOutline<'p>) {
        self.contents.clear();
        for input in &outline.inputs {
            self.make_block(*input, Some(0));
        }
        self.run_items(&outline.items);
        let last = outline.rows.len().saturating_sub(1);
        for output in &outline.outputs {
            self.read_memory(*output, last, None);
        }
    }

    fn run_items(&mut self, items: &[OutlineItem<'p>]) {
        for item in items {
            match item {
                OutlineItem::Single(stmt, row) => self.run_statement(stmt, *row),
                OutlineItem::Loop(number, items) => {
                    let mut head = std::mem::take(&mut self.heads[*number]);
                    join_contents(&mut head, &self.contents);
                    self.contents.clone_from(&head);
                    self.run_items(items);
                    join_contents(&mut head, &self.contents);
                    self.contents.clone_from(&head);
                    self.heads[*number] = head;
                }
                OutlineItem::Branch([then, otherwise]) => {
                    let before = self.contents.clone();
                    self.run_items(then);
                    let after = std::mem::replace(&mut self.contents, before);
                    self.run_items(otherwise);
                    join_contents(&mut self.contents, &after);
                }
            }
        }
    }

    fn run_statement(&mut self, stmt: &StmtKind, row: Option<usize>) {
        match (stmt, row) {
            (StmtKind::Alloc { to, bytes }, _) => {
                let block = self.make_block(*to, None);
                let bytes = self.sizes.format_bytes(*bytes);
                self.blocks[block].bytes.get_or_insert(bytes);
            }
            (StmtKind::Static { to, .. }, _) => {
                self.make_block(*to, None);
            }
            (StmtKind::Alias { to, from }, _) => {
                let contents = self.contents.get(from).cloned().unwrap_or_default();
                self.set_contents(*to, contents);
            }
            (StmtKind::Free(var), _) => {
                self.contents.remove(var);
            }
            (StmtKind::Launch(kernel), Some(row)) => self.run_launch(*kernel, row),
            (StmtKind::Copy(copy), Some(row)) => {
                self.read_memory(copy.from.memory, row, Some(copy.ty));
                self.write_memory(copy.to.memory, row, Some(copy.ty));
            }
            (StmtKind::Read { from, .. }, Some(row)) => {
                self.read_memory(from.memory, row, Some(from.ty));
            }
            (StmtKind::Write { to, .. }, Some(row)) => {
                self.write_memory(to.memory, row, Some(to.ty));
            }
            (StmtKind::Call(call), Some(row)) => {
                let CallStmt {
                    inputs, outputs, ..
                } = call.as_ref();
                self.run_call(inputs, outputs, row);
            }
            (StmtKind::Foreign(call), Some(row)) => {
                let ForeignStmt {
                    inputs, outputs, ..
                } = call.as_ref();
                self.run_call(inputs, outputs, row);
            }
            _ => {}
        }
    }

    fn run_launch(&mut self, kernel: KernelId, row: usize) {
        let program = self.program;
        let accesses = self.accesses.entry(kernel);
        let accesses = accesses
            .or_insert_with(|| find_accesses(program, kernel))
            .clone();
        for (var, access) in accesses.iter().filter(|(_, access)| access.reads) {
            self.read_memory(*var, row, access.element);
        }
        for (var, access) in accesses.iter().filter(|(_, access)| access.writes) {
            self.write_memory(*var, row, access.element);
        }
    }

    /// A called function may read and write its inputs, and its outputs are what it has written.
    fn run_call(&mut self, inputs: &[FuncArgument], outputs: &[VarId], row: usize) {
        for input in inputs {
            if let FuncArgument::Memory(var) = input {
                self.read_memory(*var, row, None);
                self.write_memory(*var, row, None);
            }
        }
        for output in outputs {
            self.make_block(*output, Some(row));
        }
    }

    /// Makes a reference refer to a block of its own.
    fn make_block(&mut self, var: VarId, writer: Option<usize>) -> BufferNumber {
        let block = self.find_block(var);
        if self.is_memory(var) {
            self.set_contents(var, BTreeSet::from([BlockContents { block, writer }]));
        }
        block
    }

    fn set_contents(&mut self, var: VarId, contents: BTreeSet<BlockContents>) {
        for one in &contents {
            self.blocks[one.block].users.insert(var);
        }
        self.contents.insert(var, contents);
    }

    fn read_memory(&mut self, var: VarId, row: usize, element: Option<ScalarType>) {
        for BlockContents { block, writer } in self.contents.get(&var).into_iter().flatten() {
            let drawn = &mut self.blocks[*block];
            drawn.element = drawn.element.or(element);
            if let Some(writer) = writer {
                self.edges.insert((*writer, row, *block));
            }
        }
    }

    fn write_memory(&mut self, var: VarId, row: usize, element: Option<ScalarType>) {
        let own = self.contents.get(&var).into_iter().flatten();
        let blocks: BTreeSet<BufferNumber> = own.map(|contents| contents.block).collect();
        for block in blocks {
            let drawn = &mut self.blocks[block];
            drawn.element = drawn.element.or(element);
            let written = BlockContents {
                block,
                writer: Some(row),
            };
            for user in &drawn.users {
                if let Some(contents) = self.contents.get_mut(user)
                    && contents.iter().any(|one| one.block == block)
                {
                    contents.insert(written);
                }
            }
        }
    }

    fn list_edges(&self) -> Vec<RowEdge> {
        let edges = self.edges.iter();
        let edges = edges.map(|(from, to, block)| RowEdge {
            from: *from,
            to: *to,
            label: self.blocks[*block].describe(),
        });
        edges.collect()
    }
}

impl DrawnBlock {
    /// Its type and size.
    fn describe(&self) -> String {
        if let Some(shape) = &self.shape {
            return shape.clone();
        }
        let element = self.element.map(|element| element.to_string());
        let parts = element.into_iter().chain(self.bytes.clone());
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// Adds contents that references may have as well.
fn join_contents(to: &mut ReferenceContents, from: &ReferenceContents) {
    for (var, contents) in from {
        to.entry(*var).or_default().extend(contents);
    }
}
