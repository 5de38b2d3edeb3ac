//! Modules: arenas of operations, regions, blocks and values.
//!
//! Everything has a dense id, and lists are ranges of flat pools, so that reading allocates
//! nothing per operation. Operations are numbered in the order in which their text begins, an
//! operation before those in its regions.
//!
//! Operations are in the generic form, whatever form they were written in. Attributes have their
//! names in the generic form, and those that belong to the operation by its definition are its
//! properties.

use super::attribute::{AttributeKind, MlirAttr, MlirAttributes, NamedAttribute};
use super::id::{MlirBlock, MlirOp, MlirRegion, MlirValue, PoolRange, append_to_pool};
use super::interner::{MlirStrings, MlirSymbol};
use super::location::{MlirLoc, MlirLocations};
use super::types::{MlirType, MlirTypes};
use crate::dialect::MlirOpcode;
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceLocation;

/// A module: everything in one input.
#[derive(Clone, Debug)]
pub struct MlirModule {
    /// All types.
    pub types: MlirTypes,
    /// All attributes.
    pub attributes: MlirAttributes,
    /// All locations.
    pub locations: MlirLocations,
    pub(crate) strings: MlirStrings,
    pub(crate) ops: Vec<OpData>,
    pub(crate) regions: Vec<RegionData>,
    pub(crate) blocks: Vec<MlirBlockData>,
    pub(crate) values: Vec<MlirValueData>,
    /// Locations of arguments of blocks, where they are known.
    argument_locations: FxHashMap<MlirValue, MlirLoc>,
    pub(crate) operands: Vec<MlirValue>,
    pub(crate) named: Vec<NamedAttribute>,
    pub(crate) successors: Vec<MlirBlock>,
    pub(crate) block_lists: Vec<MlirBlock>,
    pub(crate) op_lists: Vec<MlirOp>,
    pub(crate) resources: Vec<ResourceBlob>,
    pub(crate) functions: Vec<MlirOp>,
    pub(crate) function_index: FxHashMap<MlirSymbol, MlirOp>,
    pub(crate) root: MlirOp,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct OpData {
    pub name: MlirSymbol,
    /// The operation code of the name, if a dialect knows it.
    pub opcode: Option<MlirOpcode>,
    pub operands: PoolRange,
    pub results: PoolRange,
    pub properties: PoolRange,
    pub attributes: PoolRange,
    pub regions: PoolRange,
    pub successors: PoolRange,
    pub loc: MlirLoc,
    pub place: SourceLocation,
    pub parent: Option<MlirBlock>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionData {
    pub blocks: PoolRange,
    pub parent: MlirOp,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct MlirBlockData {
    pub arguments: PoolRange,
    pub ops: PoolRange,
    pub region: MlirRegion,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct MlirValueData {
    pub ty: MlirType,
    pub definition: ValueDefinition,
}

/// Definition of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDefinition {
    /// The result of an operation with this position.
    Result(MlirOp, u32),
    /// The argument of a block with this position.
    Argument(MlirBlock, u32),
}

/// A named blob of the resource section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceBlob {
    /// Section: `builtin` for those of `dense_resource`.
    pub dialect: MlirSymbol,
    /// Name.
    pub key: MlirSymbol,
    /// Alignment that the blob asks for, in bytes.
    pub alignment: u32,
    /// The bytes after the alignment.
    pub data: Box<[u8]>,
}

/// Consecutive ids.
fn iter_ids<T>(
    span: PoolRange,
    id: fn(usize) -> T,
) -> impl ExactSizeIterator<Item = T> + DoubleEndedIterator {
    span.to_range().map(id)
}

impl MlirModule {
    /// A module of one operation without anything.
    pub(crate) fn new(name: &str) -> MlirModule {
        let mut strings = MlirStrings::default();
        let opcode = MlirOpcode::find(name);
        let name = strings.intern(name);
        let root = OpData {
            name,
            opcode,
            operands: PoolRange::default(),
            results: PoolRange::default(),
            properties: PoolRange::default(),
            attributes: PoolRange::default(),
            regions: PoolRange::default(),
            successors: PoolRange::default(),
            loc: MlirLoc::UNKNOWN,
            place: SourceLocation::Unknown,
            parent: None,
        };
        MlirModule {
            types: MlirTypes::default(),
            attributes: MlirAttributes::default(),
            locations: MlirLocations::default(),
            strings,
            ops: vec![root],
            regions: Vec::new(),
            blocks: Vec::new(),
            values: Vec::new(),
            argument_locations: FxHashMap::default(),
            operands: Vec::new(),
            named: Vec::new(),
            successors: Vec::new(),
            block_lists: Vec::new(),
            op_lists: Vec::new(),
            resources: Vec::new(),
            functions: Vec::new(),
            function_index: FxHashMap::default(),
            root: MlirOp::new(0),
        }
    }

    /// The outermost operation: a `builtin.module`.
    pub fn root(&self) -> MlirOp {
        self.root
    }

    /// The text of a symbol.
    pub fn symbol_text(&self, symbol: MlirSymbol) -> &str {
        self.strings.get(symbol)
    }

    /// The symbol of a text that occurs in the module.
    pub fn find_symbol(&self, text: &str) -> Option<MlirSymbol> {
        self.strings.find(text)
    }

    /// Number of operations; indices of ids are below it.
    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// All operations, in the order of their ids.
    pub(crate) fn all_ops(&self) -> impl Iterator<Item = MlirOp> + use<> {
        (0..self.ops.len()).map(MlirOp::new)
    }

    /// Number of values; indices of ids are below it.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// Number of blocks; indices of ids are below it.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Name with dialect: `stablehlo.add`.
    pub fn op_name(&self, op: MlirOp) -> &str {
        self.symbol_text(self.ops[op.index()].name)
    }

    /// The operation code, if a dialect knows the operation.
    pub fn opcode(&self, op: MlirOp) -> Option<MlirOpcode> {
        self.ops[op.index()].opcode
    }

    /// Whether the operation returns from a function or a region.
    pub fn is_return(&self, op: MlirOp) -> bool {
        matches!(
            self.opcode(op),
            Some(MlirOpcode::FuncReturn | MlirOpcode::Return | MlirOpcode::SdyReturn)
        )
    }

    /// Place of the operation in the input.
    pub fn source_location(&self, op: MlirOp) -> SourceLocation {
        self.ops[op.index()].place
    }

    /// Origin of the operation according to the input.
    pub fn location(&self, op: MlirOp) -> MlirLoc {
        self.ops[op.index()].loc
    }

    /// Operands.
    pub fn operands(&self, op: MlirOp) -> &[MlirValue] {
        &self.operands[self.ops[op.index()].operands.to_range()]
    }

    /// Results.
    pub fn results(
        &self,
        op: MlirOp,
    ) -> impl ExactSizeIterator<Item = MlirValue> + DoubleEndedIterator + use<> {
        iter_ids(self.ops[op.index()].results, MlirValue::new)
    }

    /// Attributes that belong to the operation by its definition, ordered by name.
    pub fn properties(&self, op: MlirOp) -> &[NamedAttribute] {
        &self.named[self.ops[op.index()].properties.to_range()]
    }

    /// All other attributes, ordered by name.
    pub fn discardable_attributes(&self, op: MlirOp) -> &[NamedAttribute] {
        &self.named[self.ops[op.index()].attributes.to_range()]
    }

    /// Regions.
    pub fn regions(
        &self,
        op: MlirOp,
    ) -> impl ExactSizeIterator<Item = MlirRegion> + DoubleEndedIterator + use<> {
        iter_ids(self.ops[op.index()].regions, MlirRegion::new)
    }

    /// Blocks that control may continue with.
    pub fn successors(&self, op: MlirOp) -> &[MlirBlock] {
        &self.successors[self.ops[op.index()].successors.to_range()]
    }

    /// The block that contains the operation; the root is in none.
    pub fn block_of(&self, op: MlirOp) -> Option<MlirBlock> {
        self.ops[op.index()].parent
    }

    /// The operation whose region contains the operation.
    pub fn parent(&self, op: MlirOp) -> Option<MlirOp> {
        let block = self.block_of(op)?;
        Some(self.region_parent(self.region_of(block)))
    }

    /// The operation that a region belongs to.
    pub fn region_parent(&self, region: MlirRegion) -> MlirOp {
        self.regions[region.index()].parent
    }

    /// Blocks of a region, the entry first.
    pub fn blocks(&self, region: MlirRegion) -> &[MlirBlock] {
        &self.block_lists[self.regions[region.index()].blocks.to_range()]
    }

    /// The region that contains a block.
    pub fn region_of(&self, block: MlirBlock) -> MlirRegion {
        self.blocks[block.index()].region
    }

    /// Arguments of a block.
    pub fn arguments(
        &self,
        block: MlirBlock,
    ) -> impl ExactSizeIterator<Item = MlirValue> + DoubleEndedIterator + use<> {
        iter_ids(self.blocks[block.index()].arguments, MlirValue::new)
    }

    /// Operations of a block in order.
    pub fn ops(&self, block: MlirBlock) -> &[MlirOp] {
        &self.op_lists[self.blocks[block.index()].ops.to_range()]
    }

    /// Location of an argument of a block.
    pub fn argument_location(&self, argument: MlirValue) -> MlirLoc {
        let found = self.argument_locations.get(&argument);
        found.copied().unwrap_or(MlirLoc::UNKNOWN)
    }

    /// Type of a value.
    pub fn type_of(&self, value: MlirValue) -> MlirType {
        self.values[value.index()].ty
    }

    /// Definition of a value.
    pub fn definition(&self, value: MlirValue) -> ValueDefinition {
        self.values[value.index()].definition
    }

    /// The operation that a value is a result of.
    pub fn defining_op(&self, value: MlirValue) -> Option<MlirOp> {
        match self.definition(value) {
            ValueDefinition::Result(op, _) => Some(op),
            ValueDefinition::Argument(..) => None,
        }
    }

    /// Blobs of the resource section, in its order.
    pub fn resources(&self) -> &[ResourceBlob] {
        &self.resources
    }

    /// Functions (`func.func`) of the outermost module, in order.
    pub fn functions(&self) -> &[MlirOp] {
        &self.functions
    }
}

/// Construction of modules, for the readers.
impl MlirModule {
    /// The symbol of a text.
    pub fn intern_text(&mut self, text: &str) -> MlirSymbol {
        self.strings.intern(text)
    }

    /// An operation of which only name and place are known yet.
    pub(crate) fn reserve_op(&mut self, name: MlirSymbol, place: SourceLocation) -> MlirOp {
        let op = MlirOp::new(self.ops.len());
        let like = self.ops[0];
        self.ops.push(OpData {
            name,
            opcode: MlirOpcode::find(self.symbol_text(name)),
            place,
            operands: PoolRange::default(),
            results: PoolRange::default(),
            properties: PoolRange::default(),
            attributes: PoolRange::default(),
            regions: PoolRange::default(),
            successors: PoolRange::default(),
            loc: MlirLoc::UNKNOWN,
            ..like
        });
        op
    }

    /// Regions for an operation, without blocks yet.
    pub(crate) fn reserve_regions(&mut self, op: MlirOp, count: usize) -> PoolRange {
        let span = PoolRange::new(self.regions.len(), count);
        let region = RegionData {
            blocks: PoolRange::default(),
            parent: op,
        };
        self.regions.extend((0..count).map(|_| region));
        self.ops[op.index()].regions = span;
        span
    }

    pub(crate) fn set_blocks(&mut self, region: MlirRegion, blocks: &[MlirBlock]) {
        self.regions[region.index()].blocks = append_to_pool(&mut self.block_lists, blocks);
        for block in blocks {
            self.blocks[block.index()].region = region;
        }
    }

    /// A block without arguments and operations yet.
    pub(crate) fn reserve_block(&mut self, region: MlirRegion) -> MlirBlock {
        let block = MlirBlock::new(self.blocks.len());
        self.blocks.push(MlirBlockData {
            arguments: PoolRange::default(),
            ops: PoolRange::default(),
            region,
        });
        block
    }

    pub(crate) fn set_arguments(&mut self, block: MlirBlock, types: &[MlirType]) {
        let start = self.values.len();
        self.blocks[block.index()].arguments = PoolRange::new(start, types.len());
        let value = |(at, &ty): (usize, &MlirType)| MlirValueData {
            ty,
            definition: ValueDefinition::Argument(block, at as u32),
        };
        self.values.extend(types.iter().enumerate().map(value));
    }

    pub(crate) fn set_argument_location(&mut self, argument: MlirValue, loc: MlirLoc) {
        if loc != MlirLoc::UNKNOWN {
            self.argument_locations.insert(argument, loc);
        }
    }

    pub(crate) fn set_ops(&mut self, block: MlirBlock, ops: &[MlirOp]) {
        self.blocks[block.index()].ops = append_to_pool(&mut self.op_lists, ops);
        for op in ops {
            self.ops[op.index()].parent = Some(block);
        }
    }

    pub(crate) fn set_operands(&mut self, op: MlirOp, operands: &[MlirValue]) {
        self.ops[op.index()].operands = append_to_pool(&mut self.operands, operands);
    }

    pub(crate) fn set_results(&mut self, op: MlirOp, types: &[MlirType]) {
        let start = self.values.len();
        self.ops[op.index()].results = PoolRange::new(start, types.len());
        let value = |(at, &ty): (usize, &MlirType)| MlirValueData {
            ty,
            definition: ValueDefinition::Result(op, at as u32),
        };
        self.values.extend(types.iter().enumerate().map(value));
    }

    /// Sorts both lists by name and sets them as the operation's.
    pub(crate) fn set_attributes(
        &mut self,
        op: MlirOp,
        properties: &mut [NamedAttribute],
        discardable: &mut [NamedAttribute],
    ) {
        self.sort_named(properties);
        self.sort_named(discardable);
        self.ops[op.index()].properties = append_to_pool(&mut self.named, properties);
        self.ops[op.index()].attributes = append_to_pool(&mut self.named, discardable);
    }

    pub(crate) fn set_successors(&mut self, op: MlirOp, successors: &[MlirBlock]) {
        self.ops[op.index()].successors = append_to_pool(&mut self.successors, successors);
    }

    /// An integer attribute.
    pub fn integer_attribute(&mut self, value: i64, width: u32) -> MlirAttr {
        let ty = self.types.integer_type(width);
        self.attributes.intern(AttributeKind::Integer {
            value: value.into(),
            ty,
        })
    }

    /// `array<i64: …>`
    pub fn integers_attribute(&mut self, values: &[i64]) -> MlirAttr {
        let element = self.types.integer_type(64);
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        let data = bytes.collect();
        self.attributes
            .intern(AttributeKind::DenseArray { element, data })
    }

    pub(crate) fn set_location(&mut self, op: MlirOp, loc: MlirLoc) {
        self.ops[op.index()].loc = loc;
    }

    /// Orders by the text of the names.
    pub(crate) fn sort_named(&self, named: &mut [NamedAttribute]) {
        named.sort_by(|a, b| self.symbol_text(a.0).cmp(self.symbol_text(b.0)));
    }

    pub(crate) fn set_name(&mut self, op: MlirOp, name: MlirSymbol) {
        let opcode = MlirOpcode::find(self.symbol_text(name));
        let data = &mut self.ops[op.index()];
        (data.name, data.opcode) = (name, opcode);
    }

    pub(crate) fn reserve_value(&mut self, ty: MlirType, definition: ValueDefinition) -> MlirValue {
        let value = MlirValue::new(self.values.len());
        self.values.push(MlirValueData { ty, definition });
        value
    }

    /// Replaces placeholders by their values.
    pub(crate) fn replace_operands(&mut self, replaced: &[(MlirValue, MlirValue)]) {
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

    /// Makes a single module the root. Any other operations become the body of the module that was
    /// created before reading.
    pub(crate) fn adopt_operations(&mut self, ops: &[MlirOp]) {
        if let &[op] = ops
            && self.opcode(op) == Some(MlirOpcode::Module)
        {
            self.root = op;
            return;
        }
        let root = self.root;
        let region = MlirRegion::new(self.reserve_regions(root, 1).to_range().start);
        let block = self.reserve_block(region);
        self.set_blocks(region, &[block]);
        self.set_ops(block, ops);
    }

    /// Indexes the functions by name, once everything is read.
    pub(crate) fn index_functions(&mut self) {
        let regions = self.regions(self.root);
        let blocks = regions.flat_map(|region| self.blocks(region));
        let ops = blocks.flat_map(|&block| self.ops(block).iter().copied());
        self.functions = ops
            .filter(|&op| self.opcode(op) == Some(MlirOpcode::Func))
            .collect();
        let name = |&op: &MlirOp| Some((self.find_symbol(self.symbol_name(op)?)?, op));
        // The first of several functions of one name is found; the verifier rejects the others.
        self.function_index = self.functions.iter().rev().filter_map(name).collect();
    }
}
