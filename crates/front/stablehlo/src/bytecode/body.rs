//! Reader of operations, regions and blocks.
//!
//! Values are numbered from the enclosing region that is isolated from above. The numbers of a
//! region follow those of the enclosing regions, and are released at its end.

use super::cursor::{BytecodeCursor, BytecodeResult};
use super::entries::BytecodeReader;
use super::vhlo::{self, ListedAttribute};
use crate::dialect;
use crate::mlir::{
    AttributeKind, MlirBlock, MlirLoc, MlirOp, MlirRegion, MlirType, MlirValue, NamedAttribute,
    ValueDefinition,
};

/// Bits of the mask that says which parts an operation has.
mod has {
    pub const ATTRIBUTES: u8 = 1;
    pub const RESULTS: u8 = 2;
    pub const OPERANDS: u8 = 4;
    pub const SUCCESSORS: u8 = 8;
    pub const REGIONS: u8 = 16;
    pub const USE_LISTS: u8 = 32;
    pub const PROPERTIES: u8 = 64;
}

/// Values that operations may refer to.
#[derive(Default)]
struct BytecodeScope {
    values: Vec<Option<MlirValue>>,
    /// The number of the next value of the innermost region.
    next: usize,
}

/// State of the reader of operations.
struct BytecodeOpReader<'r, 'a> {
    reader: &'r mut BytecodeReader<'a>,
    scope: BytecodeScope,
    /// Blocks of the innermost region.
    blocks: Vec<MlirBlock>,
    /// Placeholders of uses before definitions, and what they stand for.
    replaced: Vec<(MlirValue, MlirValue)>,
}

impl<'a> BytecodeReader<'a> {
    /// All operations.
    pub fn read_operations(&mut self, mut data: BytecodeCursor<'a>) -> BytecodeResult<()> {
        let mut body = BytecodeOpReader {
            reader: self,
            scope: BytecodeScope::default(),
            blocks: Vec::new(),
            replaced: Vec::new(),
        };
        let (count, _) = data.read_flagged_varint()?;
        let count = data.check_count(count)?;
        let ops: BytecodeResult<Vec<MlirOp>> =
            (0..count).map(|_| body.read_operation(&mut data)).collect();
        let replaced = std::mem::take(&mut body.replaced);
        self.module.adopt_operations(&ops?);
        self.module.replace_operands(&replaced);
        self.module.index_functions();
        Ok(())
    }
}

impl<'a> BytecodeOpReader<'_, 'a> {
    fn read_operation(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<MlirOp> {
        let start = *data;
        self.reader.enter_nesting(data)?;
        let number = data.read_varint()?;
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(&written) = self.reader.op_names.get(at) else {
            return start.report_error(format!("there is no operation {number}"));
        };
        let op = self
            .reader
            .module
            .reserve_op(written.name, start.source_location());
        let mask = data.read_byte()?;
        let loc = self.reader.read_location(data)?;
        self.reader.module.set_location(op, loc);
        let mut discardable = Vec::new();
        if mask & has::ATTRIBUTES != 0 {
            discardable = self.read_dictionary(data)?;
        }
        let mut properties = Vec::new();
        if mask & has::PROPERTIES != 0 {
            properties = if written.registered {
                self.read_properties(op, data)?
            } else {
                self.read_dictionary(data)?
            };
        }
        self.name_and_attributes(op, properties, discardable, &start)?;
        self.results_and_operands(op, mask, data)?;
        if mask & has::REGIONS != 0 {
            self.read_regions(op, data)?;
        }
        vhlo::rename_function_returns(&mut self.reader.module, op);
        self.reader.leave_nesting();
        Ok(op)
    }

    fn read_dictionary(
        &mut self,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<Vec<NamedAttribute>> {
        let attr = self.reader.read_attribute(data)?;
        match self.reader.module.attributes.kind(attr) {
            AttributeKind::Dictionary(named) => Ok(named.to_vec()),
            _ => data.report_error("attributes of an operation are not a dictionary"),
        }
    }

    /// Properties, ordered by their names in the operation's definition; those that may be missing
    /// have a flag. The segment sizes of operands that follow are redundant, as the types determine
    /// them.
    fn read_properties(
        &mut self,
        op: MlirOp,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<Vec<NamedAttribute>> {
        let number = data.read_varint()?;
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(&part) = self.reader.properties.get(at) else {
            return data.report_error(format!("there are no properties {number}"));
        };
        let mut part = part;
        let name = self.reader.module.op_name(op).to_owned();
        let listed = match name.strip_prefix("vhlo.") {
            Some(name) => vhlo::list_attributes(name),
            None => {
                let known = self.reader.module.op_definition(op);
                known.map(|known| known.attributes.iter().map(ListedAttribute::from).collect())
            }
        };
        let Some(mut listed) = listed else {
            return data.report_error(format!("the operation `{name}` is not known"));
        };
        let mut named = Vec::new();
        listed.sort_unstable_by_key(|attribute| attribute.name);
        for ListedAttribute { name, is_optional } in listed {
            let attr = if is_optional {
                self.reader.optional_attribute(&mut part)?
            } else {
                Some(self.reader.read_attribute(&mut part)?)
            };
            if let Some(attr) = attr {
                named.push((self.reader.module.intern_text(name), attr));
            }
        }
        Ok(named)
    }

    /// Sets the name and the attributes of the operation; those of `vhlo` become StableHLO's.
    fn name_and_attributes(
        &mut self,
        op: MlirOp,
        mut properties: Vec<NamedAttribute>,
        mut discardable: Vec<NamedAttribute>,
        start: &BytecodeCursor<'a>,
    ) -> BytecodeResult<()> {
        let module = &mut self.reader.module;
        let name = module.op_name(op).to_owned();
        if let Some(versioned) = name.strip_prefix("vhlo.") {
            let converted = vhlo::convert_operation(module, versioned, &mut properties);
            match converted {
                Some(name) => module.set_name(op, name),
                None => return start.report_error(format!("the operation `{name}` is not known")),
            }
        }
        if let Some(known) = module.op_definition(op) {
            for (name, attr) in &mut properties {
                if let Some(known) = known.find_attribute(module.symbol_text(*name)) {
                    *attr = dialect::normalise_attribute(module, known.constraint, *attr);
                }
            }
        }
        module.set_attributes(op, &mut properties, &mut discardable);
        Ok(())
    }

    fn results_and_operands(
        &mut self,
        op: MlirOp,
        mask: u8,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<()> {
        let mut results = Vec::new();
        if mask & has::RESULTS != 0 {
            let count = data.read_count()?;
            for _ in 0..count {
                results.push(self.reader.read_type(data)?);
            }
        }
        if mask & has::OPERANDS != 0 {
            let count = data.read_count()?;
            let operands: BytecodeResult<Vec<MlirValue>> =
                (0..count).map(|_| self.read_operand(data)).collect();
            self.reader.module.set_operands(op, &operands?);
        }
        if mask & has::SUCCESSORS != 0 {
            let count = data.read_count()?;
            let successors: BytecodeResult<Vec<MlirBlock>> =
                (0..count).map(|_| self.read_successor(data)).collect();
            self.reader.module.set_successors(op, &successors?);
        }
        if mask & has::USE_LISTS != 0 {
            skip_use_lists(results.len(), data)?;
        }
        self.reader.module.set_results(op, &results);
        let values: Vec<MlirValue> = self.reader.module.results(op).collect();
        self.define_values(&values, data)
    }

    fn read_operand(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<MlirValue> {
        let number = data.read_varint()?;
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        match self.scope.values.get(at) {
            Some(&Some(value)) => Ok(value),
            Some(None) => {
                let ty = self
                    .reader
                    .module
                    .types
                    .intern(crate::mlir::MlirTypeKind::None);
                let definition = ValueDefinition::Argument(MlirBlock::new(0), 0);
                let value = self.reader.module.reserve_value(ty, definition);
                self.scope.values[at] = Some(value);
                Ok(value)
            }
            None => data.report_error(format!("there is no value {number}")),
        }
    }

    fn read_successor(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<MlirBlock> {
        let number = data.read_varint()?;
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        match self.blocks.get(at) {
            Some(&block) => Ok(block),
            None => data.report_error(format!("there is no block {number}")),
        }
    }

    /// Assigns the next numbers of the innermost region to values.
    fn define_values(
        &mut self,
        values: &[MlirValue],
        data: &BytecodeCursor<'a>,
    ) -> BytecodeResult<()> {
        for &value in values {
            let Some(slot) = self.scope.values.get_mut(self.scope.next) else {
                return data.report_error("a region has more values than it says");
            };
            if let Some(placeholder) = slot.replace(value) {
                self.replaced.push((placeholder, value));
            }
            self.scope.next += 1;
        }
        Ok(())
    }

    fn read_regions(&mut self, op: MlirOp, data: &mut BytecodeCursor<'a>) -> BytecodeResult<()> {
        let (count, isolated) = data.read_flagged_varint()?;
        let count = data.check_count(count)?;
        let mut inner = *data;
        let in_section = isolated && self.reader.version >= 2;
        if in_section {
            (_, inner) = data.read_section()?;
        }
        let outer = isolated.then(|| std::mem::take(&mut self.scope));
        let blocks = std::mem::take(&mut self.blocks);
        let span = self.reader.module.reserve_regions(op, count);
        for at in span.to_range() {
            self.read_region(MlirRegion::new(at), &mut inner)?;
        }
        self.blocks = blocks;
        if let Some(outer) = outer {
            self.scope = outer;
        }
        if !in_section {
            *data = inner;
        }
        Ok(())
    }

    fn read_region(
        &mut self,
        region: MlirRegion,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<()> {
        let count = data.read_count()?;
        if count == 0 {
            return Ok(());
        }
        let values = data.read_varint()?;
        let values = data.check_count(values)?;
        let (start, next) = (self.scope.values.len(), self.scope.next);
        self.scope.values.resize(start + values, None);
        self.scope.next = start;
        let module = &mut self.reader.module;
        self.blocks = (0..count).map(|_| module.reserve_block(region)).collect();
        module.set_blocks(region, &self.blocks);
        for at in 0..count {
            self.read_block(self.blocks[at], data)?;
        }
        // A number that was used before its definition and has no value at the end is an error.
        if self.scope.next != self.scope.values.len() {
            return data.report_error("a region has fewer values than it says");
        }
        self.scope.values.truncate(start);
        self.scope.next = next;
        Ok(())
    }

    fn read_block(
        &mut self,
        block: MlirBlock,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<()> {
        let (count, has_arguments) = data.read_flagged_varint()?;
        let count = data.check_count(count)?;
        if has_arguments {
            let arguments = self.read_block_arguments(data)?;
            let types: Vec<MlirType> = arguments.iter().map(|(ty, _)| *ty).collect();
            self.reader.module.set_arguments(block, &types);
            let values: Vec<MlirValue> = self.reader.module.arguments(block).collect();
            for (value, (_, loc)) in values.iter().zip(&arguments) {
                self.reader.module.set_argument_location(*value, *loc);
            }
            self.define_values(&values, data)?;
            if self.reader.version >= 3 && data.read_byte()? != 0 {
                skip_use_lists(types.len(), data)?;
            }
        }
        let mut ops = Vec::with_capacity(count);
        for _ in 0..count {
            let blocks = self.blocks.clone();
            ops.push(self.read_operation(data)?);
            self.blocks = blocks;
        }
        self.reader.module.set_ops(block, &ops);
        Ok(())
    }

    fn read_block_arguments(
        &mut self,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<Vec<(MlirType, MlirLoc)>> {
        let count = data.read_count()?;
        let mut arguments = Vec::with_capacity(count);
        for _ in 0..count {
            let (ty, has_location) = if self.reader.version >= 4 {
                let (number, has_location) = data.read_flagged_varint()?;
                (self.reader.type_number(data, number)?, has_location)
            } else {
                (self.reader.read_type(data)?, true)
            };
            let loc = if has_location {
                self.reader.read_location(data)?
            } else {
                MlirLoc::UNKNOWN
            };
            arguments.push((ty, loc));
        }
        Ok(arguments)
    }
}

/// Skips use lists, as a module does not keep the order of uses.
fn skip_use_lists(values: usize, data: &mut BytecodeCursor<'_>) -> BytecodeResult<()> {
    let lists = match values {
        0 | 1 => 1,
        _ => data.read_count()?,
    };
    for _ in 0..lists {
        if values > 1 {
            data.read_varint()?;
        }
        let (count, _) = data.read_flagged_varint()?;
        for _ in 0..data.check_count(count)? {
            data.read_varint()?;
        }
    }
    Ok(())
}
