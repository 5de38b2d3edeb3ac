//! Construction of modules by passes: operations are appended to the innermost open block.
//!
//! A built module shares types, attributes, locations and resources with the module that it is made from, so that their
//! ids mean the same in both.

use super::attribute::{MlirAttr, NamedAttribute};
use super::id::{MlirBlock, MlirOp, MlirRegion, MlirValue};
use super::location::MlirLoc;
use super::module::MlirModule;
use super::types::MlirType;
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceLocation;

/// An operation that is about to be appended.
#[derive(Clone, Debug)]
pub struct OperationDraft<'a> {
    /// Name with dialect.
    pub name: &'a str,
    /// Operands.
    pub operands: &'a [MlirValue],
    /// Types of the results.
    pub results: &'a [MlirType],
    /// Attributes that belong to the operation by its definition, in any order.
    pub properties: Vec<NamedAttribute>,
    /// All other attributes, in any order.
    pub attributes: Vec<NamedAttribute>,
    /// Number of regions; each gets one block.
    pub regions: usize,
    /// Place in the input.
    pub place: SourceLocation,
    /// Origin according to the input.
    pub loc: MlirLoc,
}

impl<'a> OperationDraft<'a> {
    /// An operation without attributes and regions.
    pub fn new(name: &'a str, operands: &'a [MlirValue], results: &'a [MlirType]) -> Self {
        OperationDraft {
            name,
            operands,
            results,
            properties: Vec::new(),
            attributes: Vec::new(),
            regions: 0,
            place: SourceLocation::Unknown,
            loc: MlirLoc::UNKNOWN,
        }
    }
}

/// A block to which operations are appended.
#[derive(Debug)]
struct OpenBlock {
    block: MlirBlock,
    ops: Vec<MlirOp>,
}

/// A module under construction.
#[derive(Debug)]
pub struct ModuleBuilder {
    module: MlirModule,
    open: Vec<OpenBlock>,
}

impl ModuleBuilder {
    /// An empty module with the types, attributes and resources of another, whose body is open.
    pub fn new_like(source: &MlirModule) -> ModuleBuilder {
        let mut module = MlirModule::new("builtin.module");
        module.types = source.types.clone();
        module.attributes = source.attributes.clone();
        module.locations = source.locations.clone();
        module.strings = source.strings.clone();
        module.resources.clone_from(&source.resources);
        let name = module.intern_text("builtin.module");
        let root = module.root();
        module.set_name(root, name);
        let mut builder = ModuleBuilder {
            module,
            open: Vec::new(),
        };
        builder.module.reserve_regions(root, 1);
        builder.begin_block(root, 0, &[]);
        builder
    }

    /// The module so far. Operations of open blocks are not in it yet.
    pub fn module(&self) -> &MlirModule {
        &self.module
    }

    /// The module, for the types, attributes and texts that it stores.
    pub fn module_mut(&mut self) -> &mut MlirModule {
        &mut self.module
    }

    /// The sizes of a tensor. Empty if they are not known before the program runs.
    pub fn sizes_of(&self, value: MlirValue) -> Vec<u64> {
        let sizes = self.module.types.static_shape(self.module.type_of(value));
        sizes.unwrap_or_default()
    }

    /// The type of a tensor of the elements of another.
    pub fn resized_type(&mut self, value: MlirValue, sizes: &[u64]) -> MlirType {
        let element = self.module.types.element_type(self.module.type_of(value));
        self.module.types.tensor_type(sizes, element)
    }

    /// Sets attributes of the module itself.
    pub fn set_module_attributes(
        &mut self,
        mut properties: Vec<NamedAttribute>,
        mut attributes: Vec<NamedAttribute>,
    ) {
        let root = self.module.root();
        self.module
            .set_attributes(root, &mut properties, &mut attributes);
    }

    /// Attributes with interned names, as operations have them.
    pub fn intern_attributes(&mut self, attributes: &[(&str, MlirAttr)]) -> Vec<NamedAttribute> {
        let attributes = attributes.iter();
        attributes
            .map(|(name, attr)| (self.module.intern_text(name), *attr))
            .collect()
    }

    /// Appends an operation to the innermost open block.
    pub fn append_operation(&mut self, mut draft: OperationDraft<'_>) -> MlirOp {
        let name = self.module.intern_text(draft.name);
        let op = self.module.reserve_op(name, draft.place);
        self.module.set_operands(op, draft.operands);
        self.module.set_results(op, draft.results);
        self.module
            .set_attributes(op, &mut draft.properties, &mut draft.attributes);
        self.module.set_location(op, draft.loc);
        self.module.reserve_regions(op, draft.regions);
        if let Some(open) = self.open.last_mut() {
            open.ops.push(op);
        }
        op
    }

    /// Opens the block of a region. Returns its arguments.
    ///
    /// # Panics
    /// If the operation has no such region.
    pub fn begin_block(
        &mut self,
        op: MlirOp,
        region: usize,
        arguments: &[MlirType],
    ) -> Vec<MlirValue> {
        let region: MlirRegion = self.module.regions(op).nth(region).expect("a region");
        let block = self.module.reserve_block(region);
        self.module.set_arguments(block, arguments);
        self.module.set_blocks(region, &[block]);
        let ops = Vec::new();
        self.open.push(OpenBlock { block, ops });
        self.module.arguments(block).collect()
    }

    /// Closes the innermost open block.
    pub fn end_block(&mut self) {
        if let Some(open) = self.open.pop() {
            self.module.set_ops(open.block, &open.ops);
        }
    }

    /// Appends a copy of an operation of another module, which this one was made like, with everything inside of it.
    /// `known` has the values that stand for those of the other module, and gets those that the copy defines.
    pub fn copy_operation(
        &mut self,
        source: &MlirModule,
        op: MlirOp,
        known: &mut FxHashMap<MlirValue, MlirValue>,
    ) -> MlirOp {
        let operands = source.operands(op).iter();
        let operands: Vec<MlirValue> = operands
            .map(|value| known.get(value).copied().unwrap_or(*value))
            .collect();
        let results: Vec<MlirType> = source
            .results(op)
            .map(|value| source.type_of(value))
            .collect();
        let copy = self.append_operation(OperationDraft {
            properties: source.properties(op).to_vec(),
            attributes: source.discardable_attributes(op).to_vec(),
            regions: source.regions(op).len(),
            place: source.source_location(op),
            loc: source.location(op),
            ..OperationDraft::new(source.op_name(op), &operands, &results)
        });
        known.extend(source.results(op).zip(self.module.results(copy)));
        self.copy_regions(source, op, copy, known);
        copy
    }

    /// Copies the blocks of the regions of an operation into those of another, which has as many.
    pub fn copy_regions(
        &mut self,
        source: &MlirModule,
        op: MlirOp,
        copy: MlirOp,
        known: &mut FxHashMap<MlirValue, MlirValue>,
    ) {
        for (at, region) in source.regions(op).enumerate() {
            let [block] = source.blocks(region) else {
                continue;
            };
            let types: Vec<MlirType> = source
                .arguments(*block)
                .map(|value| source.type_of(value))
                .collect();
            let arguments = self.begin_block(copy, at, &types);
            known.extend(source.arguments(*block).zip(arguments));
            for inner in source.ops(*block) {
                self.copy_operation(source, *inner, known);
            }
            self.end_block();
        }
    }

    /// The module, once its blocks are closed.
    pub fn finish(mut self) -> MlirModule {
        while !self.open.is_empty() {
            self.end_block();
        }
        self.module.index_functions();
        self.module
    }
}
