//! Modules: arenas of operations, regions, blocks and values.
//!
//! Everything has a dense id, and lists are ranges of flat pools, so that reading allocates
//! nothing per operation. Operations are numbered in the order in which their text begins, an
//! operation before those in its regions.
//!
//! Operations are in the generic form whatever they were written in: attributes have the names
//! that the generic form gives them, and those that belong to the operation by its definition
//! are its properties.

use super::attribute::{Attr, AttributeKind, Attributes, Named};
use super::id::{Block, Op, Region, Span, Value, append};
use super::interner::{Strings, Symbol};
use super::location::{Loc, Locations};
use super::types::{Type, Types};
use rustc_hash::FxHashMap;
use spirula_diagnostics::Place;

/// A module: everything in one input.
#[derive(Clone, Debug)]
pub struct Module {
    /// All types.
    pub types: Types,
    /// All attributes.
    pub attributes: Attributes,
    /// All locations.
    pub locations: Locations,
    pub(crate) strings: Strings,
    pub(crate) ops: Vec<OpData>,
    pub(crate) regions: Vec<RegionData>,
    pub(crate) blocks: Vec<BlockData>,
    pub(crate) values: Vec<ValueData>,
    pub(crate) operands: Vec<Value>,
    pub(crate) named: Vec<Named>,
    pub(crate) successors: Vec<Block>,
    pub(crate) block_lists: Vec<Block>,
    pub(crate) op_lists: Vec<Op>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) functions: Vec<Op>,
    pub(crate) function_index: FxHashMap<Symbol, Op>,
    pub(crate) root: Op,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct OpData {
    pub name: Symbol,
    pub operands: Span,
    pub results: Span,
    pub properties: Span,
    pub attributes: Span,
    pub regions: Span,
    pub successors: Span,
    pub loc: Loc,
    pub place: Place,
    pub parent: Option<Block>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionData {
    pub blocks: Span,
    pub parent: Op,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockData {
    pub arguments: Span,
    pub ops: Span,
    pub region: Region,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueData {
    pub ty: Type,
    pub definition: Definition,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// The result of an operation with this position.
    Result(Op, u32),
    /// The argument of a block with this position.
    Argument(Block, u32),
}

/// A named blob of the resource section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Section: `builtin` for those of `dense_resource`.
    pub dialect: Symbol,
    /// Name.
    pub key: Symbol,
    /// Alignment that the blob asks for, in bytes.
    pub alignment: u32,
    /// The bytes behind the alignment.
    pub data: Box<[u8]>,
}

/// Ids that follow each other.
fn ids<T>(
    span: Span,
    id: fn(usize) -> T,
) -> impl ExactSizeIterator<Item = T> + DoubleEndedIterator {
    span.range().map(id)
}

impl Module {
    /// A module of one operation without anything.
    pub(crate) fn new(name: &str) -> Module {
        let mut strings = Strings::default();
        let name = strings.intern(name);
        let root = OpData {
            name,
            operands: Span::default(),
            results: Span::default(),
            properties: Span::default(),
            attributes: Span::default(),
            regions: Span::default(),
            successors: Span::default(),
            loc: Loc::UNKNOWN,
            place: Place::Unknown,
            parent: None,
        };
        Module {
            types: Types::default(),
            attributes: Attributes::default(),
            locations: Locations::default(),
            strings,
            ops: vec![root],
            regions: Vec::new(),
            blocks: Vec::new(),
            values: Vec::new(),
            operands: Vec::new(),
            named: Vec::new(),
            successors: Vec::new(),
            block_lists: Vec::new(),
            op_lists: Vec::new(),
            resources: Vec::new(),
            functions: Vec::new(),
            function_index: FxHashMap::default(),
            root: Op::new(0),
        }
    }

    /// The outermost operation: a `builtin.module`.
    pub fn root(&self) -> Op {
        self.root
    }

    /// The text of a symbol.
    pub fn str(&self, symbol: Symbol) -> &str {
        self.strings.get(symbol)
    }

    /// The symbol of a text that occurs in the module.
    pub fn symbol(&self, text: &str) -> Option<Symbol> {
        self.strings.find(text)
    }

    /// Number of operations: ids are below.
    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// Number of values: ids are below.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// Number of blocks: ids are below.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Name with dialect: `stablehlo.add`.
    pub fn name(&self, op: Op) -> &str {
        self.str(self.ops[op.index()].name)
    }

    /// Name as a symbol, to compare without looking at text.
    pub fn name_symbol(&self, op: Op) -> Symbol {
        self.ops[op.index()].name
    }

    /// Where the operation stands in the input.
    pub fn place(&self, op: Op) -> Place {
        self.ops[op.index()].place
    }

    /// Where the operation came from, as the input says.
    pub fn location(&self, op: Op) -> Loc {
        self.ops[op.index()].loc
    }

    /// Operands.
    pub fn operands(&self, op: Op) -> &[Value] {
        &self.operands[self.ops[op.index()].operands.range()]
    }

    /// Results.
    pub fn results(
        &self,
        op: Op,
    ) -> impl ExactSizeIterator<Item = Value> + DoubleEndedIterator + use<> {
        ids(self.ops[op.index()].results, Value::new)
    }

    /// Attributes that belong to the operation by its definition, ordered by name.
    pub fn properties(&self, op: Op) -> &[Named] {
        &self.named[self.ops[op.index()].properties.range()]
    }

    /// All other attributes, ordered by name.
    pub fn discardable(&self, op: Op) -> &[Named] {
        &self.named[self.ops[op.index()].attributes.range()]
    }

    /// Regions.
    pub fn regions(
        &self,
        op: Op,
    ) -> impl ExactSizeIterator<Item = Region> + DoubleEndedIterator + use<> {
        ids(self.ops[op.index()].regions, Region::new)
    }

    /// Blocks where control may go next.
    pub fn successors(&self, op: Op) -> &[Block] {
        &self.successors[self.ops[op.index()].successors.range()]
    }

    /// The block that the operation stands in; the root stands in none.
    pub fn block_of(&self, op: Op) -> Option<Block> {
        self.ops[op.index()].parent
    }

    /// The operation whose region the operation stands in.
    pub fn parent(&self, op: Op) -> Option<Op> {
        let block = self.block_of(op)?;
        Some(self.region_parent(self.region_of(block)))
    }

    /// The operation that a region belongs to.
    pub fn region_parent(&self, region: Region) -> Op {
        self.regions[region.index()].parent
    }

    /// Blocks of a region, the entry first.
    pub fn blocks(&self, region: Region) -> &[Block] {
        &self.block_lists[self.regions[region.index()].blocks.range()]
    }

    /// The region that a block stands in.
    pub fn region_of(&self, block: Block) -> Region {
        self.blocks[block.index()].region
    }

    /// Arguments of a block.
    pub fn arguments(
        &self,
        block: Block,
    ) -> impl ExactSizeIterator<Item = Value> + DoubleEndedIterator + use<> {
        ids(self.blocks[block.index()].arguments, Value::new)
    }

    /// Operations of a block in order.
    pub fn ops(&self, block: Block) -> &[Op] {
        &self.op_lists[self.blocks[block.index()].ops.range()]
    }

    /// Type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.values[value.index()].ty
    }

    /// What a value is.
    pub fn definition(&self, value: Value) -> Definition {
        self.values[value.index()].definition
    }

    /// The operation that a value is a result of.
    pub fn defining_op(&self, value: Value) -> Option<Op> {
        match self.definition(value) {
            Definition::Result(op, _) => Some(op),
            Definition::Argument(..) => None,
        }
    }

    /// Blobs of the resource section, in its order.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// Functions (`func.func`) of the outermost module, in order.
    pub fn functions(&self) -> &[Op] {
        &self.functions
    }
}

/// What the readers make modules with.
impl Module {
    pub(crate) fn intern(&mut self, text: &str) -> Symbol {
        self.strings.intern(text)
    }

    /// An operation of which only name and place are known yet.
    pub(crate) fn reserve_op(&mut self, name: Symbol, place: Place) -> Op {
        let op = Op::new(self.ops.len());
        let like = self.ops[0];
        self.ops.push(OpData {
            name,
            place,
            operands: Span::default(),
            results: Span::default(),
            properties: Span::default(),
            attributes: Span::default(),
            regions: Span::default(),
            successors: Span::default(),
            loc: Loc::UNKNOWN,
            ..like
        });
        op
    }

    /// Regions for an operation, without blocks yet.
    pub(crate) fn reserve_regions(&mut self, op: Op, count: usize) -> Span {
        let span = Span::new(self.regions.len(), count);
        let region = RegionData {
            blocks: Span::default(),
            parent: op,
        };
        self.regions.extend((0..count).map(|_| region));
        self.ops[op.index()].regions = span;
        span
    }

    pub(crate) fn set_blocks(&mut self, region: Region, blocks: &[Block]) {
        self.regions[region.index()].blocks = append(&mut self.block_lists, blocks);
        for block in blocks {
            self.blocks[block.index()].region = region;
        }
    }

    /// A block without arguments and operations yet.
    pub(crate) fn reserve_block(&mut self, region: Region) -> Block {
        let block = Block::new(self.blocks.len());
        self.blocks.push(BlockData {
            arguments: Span::default(),
            ops: Span::default(),
            region,
        });
        block
    }

    pub(crate) fn set_arguments(&mut self, block: Block, types: &[Type]) {
        let start = self.values.len();
        self.blocks[block.index()].arguments = Span::new(start, types.len());
        let value = |(at, &ty): (usize, &Type)| ValueData {
            ty,
            definition: Definition::Argument(block, at as u32),
        };
        self.values.extend(types.iter().enumerate().map(value));
    }

    pub(crate) fn set_ops(&mut self, block: Block, ops: &[Op]) {
        self.blocks[block.index()].ops = append(&mut self.op_lists, ops);
        for op in ops {
            self.ops[op.index()].parent = Some(block);
        }
    }

    pub(crate) fn set_operands(&mut self, op: Op, operands: &[Value]) {
        self.ops[op.index()].operands = append(&mut self.operands, operands);
    }

    pub(crate) fn set_results(&mut self, op: Op, types: &[Type]) {
        let start = self.values.len();
        self.ops[op.index()].results = Span::new(start, types.len());
        let value = |(at, &ty): (usize, &Type)| ValueData {
            ty,
            definition: Definition::Result(op, at as u32),
        };
        self.values.extend(types.iter().enumerate().map(value));
    }

    /// Sorts both lists by name and gives them to the operation.
    pub(crate) fn set_attributes(
        &mut self,
        op: Op,
        properties: &mut [Named],
        discardable: &mut [Named],
    ) {
        self.sort_named(properties);
        self.sort_named(discardable);
        self.ops[op.index()].properties = append(&mut self.named, properties);
        self.ops[op.index()].attributes = append(&mut self.named, discardable);
    }

    pub(crate) fn set_successors(&mut self, op: Op, successors: &[Block]) {
        self.ops[op.index()].successors = append(&mut self.successors, successors);
    }

    /// An integer attribute.
    pub(crate) fn integer_attribute(&mut self, value: i64, width: u32) -> Attr {
        let ty = self.types.integer(width);
        self.attributes.intern(AttributeKind::Integer {
            value: value.into(),
            ty,
        })
    }

    /// `array<i64: …>`
    pub(crate) fn integers_attribute(&mut self, values: &[i64]) -> Attr {
        let element = self.types.integer(64);
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        let data = bytes.collect();
        self.attributes
            .intern(AttributeKind::DenseArray { element, data })
    }

    pub(crate) fn set_location(&mut self, op: Op, loc: Loc) {
        self.ops[op.index()].loc = loc;
    }

    /// Orders by the text of the names.
    pub(crate) fn sort_named(&self, named: &mut [Named]) {
        named.sort_by(|a, b| self.str(a.0).cmp(self.str(b.0)));
    }

    pub(crate) fn set_name(&mut self, op: Op, name: Symbol) {
        self.ops[op.index()].name = name;
    }

    pub(crate) fn reserve_value(&mut self, ty: Type, definition: Definition) -> Value {
        let value = Value::new(self.values.len());
        self.values.push(ValueData { ty, definition });
        value
    }

    /// Puts values in the places of their placeholders.
    pub(crate) fn replace_operands(&mut self, replaced: &[(Value, Value)]) {
        if replaced.is_empty() {
            return;
        }
        let mut new = vec![None; self.values.len()];
        for &(placeholder, value) in replaced {
            new[placeholder.index()] = Some(value);
        }
        for operand in &mut self.operands {
            *operand = new[operand.index()].unwrap_or(*operand);
        }
    }

    /// Makes a single module the root; anything else is put into the module that was made before
    /// reading.
    pub(crate) fn adopt(&mut self, ops: &[Op]) {
        if let &[op] = ops
            && self.name(op) == "builtin.module"
        {
            self.root = op;
            return;
        }
        let root = self.root;
        let region = Region::new(self.reserve_regions(root, 1).range().start);
        let block = self.reserve_block(region);
        self.set_blocks(region, &[block]);
        self.set_ops(block, ops);
    }

    /// Finds what is looked up by name, once everything is read.
    pub(crate) fn finish(&mut self) {
        let regions = self.regions(self.root);
        let blocks = regions.flat_map(|region| self.blocks(region));
        let ops = blocks.flat_map(|&block| self.ops(block).iter().copied());
        self.functions = ops.filter(|&op| self.name(op) == "func.func").collect();
        let name = |&op: &Op| Some((self.symbol(self.text(op, "sym_name")?)?, op));
        // The first of several functions of one name counts; the verifier refuses the others.
        self.function_index = self.functions.iter().rev().filter_map(name).collect();
    }
}
