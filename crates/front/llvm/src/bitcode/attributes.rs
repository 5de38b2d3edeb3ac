//! Attribute groups and attribute lists: the blocks `PARAMATTR_GROUP` and `PARAMATTR`.

use super::bitstream::{BitcodeRecord, BitstreamReader};
use super::record_operands::{RecordOperands, sign_rotated};
use super::types::BitcodeTypeTable;
use crate::LlvmResult;
use crate::auto_upgrade;
use crate::ir::{AttrKind, AttrList, AttrSet, LlvmAttribute, LlvmModule};
use rustc_hash::FxHashMap;

/// Attribute lists by their numbers in the bitcode.
#[derive(Debug, Default)]
pub struct AttributeTable {
    /// Groups by number: the index that each applies to, and its attributes.
    groups: FxHashMap<u64, (u64, AttrSet)>,
    lists: Vec<AttrList>,
}

const GROUP_ENTRY: u64 = 3;
const LIST_ENTRY: u64 = 2;
/// Index of a group that applies to the function. Index 0 is the result, 1 and above are
/// parameters.
const FUNCTION_INDEX: u64 = 0xffff_ffff;
/// LLVM allows fewer parameters than this number.
const MAX_PARAMS: u64 = 1 << 20;

impl AttributeTable {
    /// The list with this number. Numbers begin at 1; 0 stands for no attributes.
    pub fn read_list_number(&self, ops: &mut RecordOperands<'_>) -> LlvmResult<AttrList> {
        match ops.next_index()? {
            0 => Ok(AttrList::EMPTY),
            number => match self.lists.get(number - 1) {
                Some(&list) => Ok(list),
                None => ops.fail_with("an attribute list that is not defined"),
            },
        }
    }

    /// The attributes of a list that apply to the function. Global variables refer to lists in this
    /// way.
    pub fn get_set(
        &self,
        ops: &mut RecordOperands<'_>,
        module: &LlvmModule,
    ) -> LlvmResult<AttrSet> {
        Ok(module.attributes.function_set(self.read_list_number(ops)?))
    }

    /// Reads the block of attribute groups.
    pub fn read_groups(
        &mut self,
        bits: &mut BitstreamReader<'_>,
        types: &BitcodeTypeTable,
        module: &mut LlvmModule,
    ) -> LlvmResult<()> {
        let mut record = BitcodeRecord::default();
        while bits.next_record(&mut record)? {
            if record.code == GROUP_ENTRY {
                self.read_group(RecordOperands::from_record(&record), types, module)?;
            }
        }
        Ok(())
    }

    fn read_group(
        &mut self,
        mut ops: RecordOperands<'_>,
        types: &BitcodeTypeTable,
        module: &mut LlvmModule,
    ) -> LlvmResult<()> {
        let (number, index) = (ops.next()?, ops.next()?);
        let mut attributes = Vec::new();
        while !ops.is_empty() {
            attributes.extend(read_attribute(&mut ops, types, module)?);
        }
        if index == FUNCTION_INDEX {
            auto_upgrade::function_memory(&mut attributes);
        }
        self.groups
            .insert(number, (index, module.attributes.intern_set(attributes)));
        Ok(())
    }

    /// Reads the block of attribute lists.
    pub fn read_lists(
        &mut self,
        bits: &mut BitstreamReader<'_>,
        module: &mut LlvmModule,
    ) -> LlvmResult<()> {
        let mut record = BitcodeRecord::default();
        while bits.next_record(&mut record)? {
            if record.code == LIST_ENTRY {
                self.read_list(RecordOperands::from_record(&record), module)?;
            }
        }
        Ok(())
    }

    fn read_list(
        &mut self,
        mut ops: RecordOperands<'_>,
        module: &mut LlvmModule,
    ) -> LlvmResult<()> {
        let (mut function, mut result) = (AttrSet::EMPTY, AttrSet::EMPTY);
        let mut params: Vec<AttrSet> = Vec::new();
        while !ops.is_empty() {
            let Some(&(index, set)) = self.groups.get(&ops.next()?) else {
                return ops.fail_with("an attribute group that is not defined");
            };
            match index {
                FUNCTION_INDEX => function = set,
                0 => result = set,
                1..MAX_PARAMS => {
                    let at = index as usize - 1;
                    if params.len() <= at {
                        params.resize(at + 1, AttrSet::EMPTY);
                    }
                    params[at] = set;
                }
                _ => return ops.fail_with("attributes of a parameter with an impossible index"),
            }
        }
        self.lists
            .push(module.attributes.intern_list(function, result, params));
        Ok(())
    }
}

/// Reads one attribute. The result is `None` for kinds of later LLVM versions: they only advise the
/// optimiser, so they may be ignored.
fn read_attribute(
    ops: &mut RecordOperands<'_>,
    types: &BitcodeTypeTable,
    module: &mut LlvmModule,
) -> LlvmResult<Option<LlvmAttribute>> {
    let form = ops.next()?;
    if form == 3 || form == 4 {
        let key = read_text(ops, module)?;
        let value = if form == 4 {
            read_text(ops, module)?
        } else {
            crate::ir::LlvmSymbol::EMPTY
        };
        return Ok(Some(LlvmAttribute::String(key, value)));
    }
    let kind = AttrKind::from_code(ops.next()?);
    let attribute = match form {
        0 => kind.map(auto_upgrade::plain_attribute),
        1 => {
            let number = ops.next()?;
            kind.map(|kind| LlvmAttribute::Number(kind, number_of(kind, number)))
        }
        5 => kind.map(|kind| LlvmAttribute::Type(kind, None)),
        6 => {
            let ty = types.read_type(ops)?;
            kind.map(|kind| LlvmAttribute::Type(kind, Some(ty)))
        }
        7 => {
            let width = ops.next_u32()?;
            let (low, high) = read_range(ops, width)?;
            kind.map(|kind| LlvmAttribute::Range(kind, width, low, high))
        }
        8 => {
            let (count, width) = (ops.next_index()?, ops.next_u32()?);
            let mut ranges = Vec::with_capacity(count.min(ops.len()));
            for _ in 0..count {
                let (low, high) = read_range(ops, width)?;
                let word = |words: &[u64]| words.first().map_or(0, |&word| word as i64);
                ranges.push((word(&low), word(&high)));
            }
            kind.map(|kind| LlvmAttribute::RangeList(kind, ranges.into()))
        }
        _ => return ops.fail_with("an attribute in an unknown form"),
    };
    match attribute {
        Some(attribute) if !attribute.is_well_formed() => {
            ops.fail_with("an attribute with a value of another form")
        }
        attribute => Ok(attribute),
    }
}

fn number_of(kind: AttrKind, number: u64) -> u64 {
    match kind {
        AttrKind::Memory => auto_upgrade::memory_effects(number),
        _ => number,
    }
}

/// Lower and upper bound of a range of integers, as 64-bit words.
pub type IntRangeBounds = (Box<[u64]>, Box<[u64]>);

/// Reads a range of integers of one width.
pub fn read_range(ops: &mut RecordOperands<'_>, width: u32) -> LlvmResult<IntRangeBounds> {
    let word = |op: u64| sign_rotated(op) as u64;
    if width <= 64 {
        let mask = if width == 64 {
            u64::MAX
        } else {
            (1 << width) - 1
        };
        let (low, high) = (word(ops.next()?) & mask, word(ops.next()?) & mask);
        return Ok(([low].into(), [high].into()));
    }
    let counts = ops.next()?;
    let mut words = |count: u64| -> LlvmResult<Box<[u64]>> {
        let taken = ops.take(count as u32 as usize)?;
        Ok(taken.iter().map(|&op| word(op)).collect())
    };
    let low = words(counts & 0xffff_ffff)?;
    Ok((low, words(counts >> 32)?))
}

/// Reads a string that ends in a zero.
fn read_text(
    ops: &mut RecordOperands<'_>,
    module: &mut LlvmModule,
) -> LlvmResult<crate::ir::LlvmSymbol> {
    let mut bytes = Vec::new();
    loop {
        match ops.next()? {
            0 => return Ok(module.strings.intern_bytes(&bytes)),
            byte => bytes.push(byte as u8),
        }
    }
}
