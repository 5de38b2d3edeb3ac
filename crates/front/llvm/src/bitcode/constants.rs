//! Constant blocks.
//!
//! A constant may refer to one that follows. So all records are read first, and then built in the
//! order of their dependencies. An explicit stack replaces recursion.

use super::bitstream::{BitcodeRecord, BitstreamReader};
use super::record_operands::{RecordOperands, bytes_of, sign_rotated};
use super::types::BitcodeTypeTable;
use crate::ir::{
    ConstKind, GlobalKind, InlineAsm, LlvmConst, LlvmFunc, LlvmModule, LlvmPoolRange, LlvmType,
    LlvmTypeKind, LlvmValue, data_element_size,
};
use crate::{LlvmResult, error_at};
use spirula_diagnostics::SourceLocation;

/// Values with their types, by their numbers in the bitcode.
pub type BitcodeValues = Vec<(LlvmValue, LlvmType)>;

const SET_TYPE: u64 = 1;

/// A constant whose record was read but which is not built yet.
struct PendingConstant {
    ty: LlvmType,
    code: u64,
    ops: LlvmPoolRange,
    at: usize,
    built: Option<LlvmConst>,
    attempts: u8,
}

/// A constant block that is being read.
pub(super) struct ConstantReader<'m> {
    pub(super) module: &'m mut LlvmModule,
    pub(super) types: &'m BitcodeTypeTable,
    pub(super) slots: &'m mut BitcodeValues,
    entered: Vec<PendingConstant>,
    pub(super) pool: Vec<u64>,
    /// Constants that must be built before the current one.
    pub(super) missing: Vec<usize>,
}

/// Reads a block of constants, which become the next values.
pub fn read_constants(
    bits: &mut BitstreamReader<'_>,
    module: &mut LlvmModule,
    types: &BitcodeTypeTable,
    slots: &mut BitcodeValues,
) -> LlvmResult<()> {
    let mut reader = ConstantReader {
        module,
        types,
        slots,
        entered: Vec::new(),
        pool: Vec::new(),
        missing: Vec::new(),
    };
    reader.gather_entries(bits)?;
    for index in 0..reader.entered.len() {
        reader.build_entry(index)?;
    }
    let built = reader.entered.iter().filter_map(|entered| entered.built);
    let (consts, slots) = (&reader.module.consts, &mut *reader.slots);
    slots.extend(built.map(|id| (LlvmValue::from_constant(id), consts.ty(id))));
    Ok(())
}

impl ConstantReader<'_> {
    fn gather_entries(&mut self, bits: &mut BitstreamReader<'_>) -> LlvmResult<()> {
        let mut record = BitcodeRecord::default();
        let mut ty = LlvmType::I32;
        while bits.next_record(&mut record)? {
            if record.code == SET_TYPE {
                let mut ops = RecordOperands::new(&record.ops, bits.place());
                ty = self.types.read_type(&mut ops)?;
                continue;
            }
            let start = self.pool.len();
            self.pool.extend_from_slice(&record.ops);
            self.entered.push(PendingConstant {
                ty,
                code: record.code,
                ops: LlvmPoolRange::from_start(start, &self.pool),
                at: record.at,
                built: None,
                attempts: 0,
            });
        }
        Ok(())
    }

    /// Builds a constant and all its dependencies.
    fn build_entry(&mut self, index: usize) -> LlvmResult<()> {
        let mut stack = vec![index];
        while let Some(&top) = stack.last() {
            if self.entered[top].built.is_some() {
                stack.pop();
                continue;
            }
            self.missing.clear();
            self.entered[top].attempts += 1;
            match self.try_build(top)? {
                Some(built) => {
                    self.entered[top].built = Some(built);
                    stack.pop();
                }
                None if self.entered[top].attempts > 4 => {
                    let at = SourceLocation::Bit(self.entered[top].at as u64);
                    return Err(error_at(at, "a constant that contains itself"));
                }
                None => stack.extend_from_slice(&self.missing),
            }
        }
        Ok(())
    }

    /// Builds a constant. The result is `None` if dependencies must be built first; they are listed
    /// in `missing`.
    fn try_build(&mut self, index: usize) -> LlvmResult<Option<LlvmConst>> {
        let PendingConstant {
            ty, code, ops, at, ..
        } = self.entered[index];
        let pool = std::mem::take(&mut self.pool);
        let ops = RecordOperands::new(&pool[ops.to_range()], SourceLocation::Bit(at as u64));
        let result = self.read_constant(ty, code, ops);
        self.pool = pool;
        result
    }

    /// The constant with this number, or `None` if it must be built first.
    pub(super) fn read_operand(
        &mut self,
        ops: &mut RecordOperands<'_>,
    ) -> LlvmResult<Option<LlvmConst>> {
        let number = ops.next_index()?;
        if let Some(&(value, _)) = self.slots.get(number) {
            return match value.as_const() {
                Some(id) => Ok(Some(id)),
                None => ops.fail_with("a constant whose operand is not a constant"),
            };
        }
        let index = number - self.slots.len();
        match self.entered.get(index) {
            Some(PendingConstant {
                built: Some(id), ..
            }) => Ok(Some(*id)),
            Some(_) => {
                self.missing.push(index);
                Ok(None)
            }
            None => ops.fail_with(format!("value {number} is not defined")),
        }
    }

    /// `count` constants, or `None` if some must be built first.
    pub(super) fn read_operands(
        &mut self,
        ops: &mut RecordOperands<'_>,
        count: usize,
    ) -> LlvmResult<Option<Vec<LlvmConst>>> {
        let mut all = Vec::with_capacity(count.min(ops.len()));
        for _ in 0..count {
            all.push(self.read_operand(ops)?);
        }
        Ok(all.into_iter().collect())
    }

    /// Constants that follow their types in the record.
    pub(super) fn read_typed_operands(
        &mut self,
        ops: &mut RecordOperands<'_>,
    ) -> LlvmResult<Option<Vec<LlvmConst>>> {
        let mut all = Vec::with_capacity(ops.len() / 2);
        while !ops.is_empty() {
            ops.next()?;
            all.push(self.read_operand(ops)?);
        }
        Ok(all.into_iter().collect())
    }

    fn read_constant(
        &mut self,
        ty: LlvmType,
        code: u64,
        mut ops: RecordOperands<'_>,
    ) -> LlvmResult<Option<LlvmConst>> {
        let LlvmModule { types, consts, .. } = &mut *self.module;
        Ok(Some(match code {
            2 => consts.make_zero(types, ty),
            3 => consts.intern_constant(ty, ConstKind::Undef),
            26 => consts.intern_constant(ty, ConstKind::Poison),
            4 | 35 => self.read_integer(ty, &[sign_rotated(ops.next()?) as u64], &ops)?,
            5 | 36 => {
                let words: Vec<u64> = ops
                    .remaining()
                    .iter()
                    .map(|&op| sign_rotated(op) as u64)
                    .collect();
                self.read_integer(ty, &words, &ops)?
            }
            6 => self.read_float(ty, ops)?,
            7 => return self.read_aggregate(ty, ops),
            8 | 9 | 22 => self.read_data(ty, ops, code == 9)?,
            23 | 28 | 30 => self.read_inline_asm(ty, code, ops)?,
            21 => return self.read_block_address(ty, ops),
            27 | 29 => {
                ops.next()?;
                let Some(global) = self.read_operand(&mut ops)? else {
                    return Ok(None);
                };
                let Some(global) = self.module.as_global(global) else {
                    return ops.fail_with("a reference to a value that is not a global");
                };
                let kind = match code {
                    27 => ConstKind::DsoLocalEquivalent(global),
                    _ => ConstKind::NoCfi(global),
                };
                self.module.consts.intern_constant(ty, kind)
            }
            33 | 34 => {
                let count = ops.len();
                let Some(parts) = self.read_operands(&mut ops, count)? else {
                    return Ok(None);
                };
                self.module
                    .consts
                    .intern_constant(ty, ConstKind::PtrAuth(parts.into()))
            }
            _ => return self.read_expression(ty, code, ops),
        }))
    }

    /// An integer constant, or a vector that repeats it if the type is a vector.
    fn read_integer(
        &mut self,
        ty: LlvmType,
        words: &[u64],
        ops: &RecordOperands<'_>,
    ) -> LlvmResult<LlvmConst> {
        let LlvmModule { types, consts, .. } = &mut *self.module;
        let scalar = types.scalar_type(ty);
        if types.int_width(scalar).is_none() {
            return ops.fail_with("an integer constant of another type");
        }
        let element = consts.wide_int(types, scalar, words);
        Ok(self.module.make_splat(ty, element))
    }

    fn read_float(&mut self, ty: LlvmType, mut ops: RecordOperands<'_>) -> LlvmResult<LlvmConst> {
        let first = ops.next()?;
        let types = &self.module.types;
        let scalar = types.scalar_type(ty);
        let kind = match (types.kind(scalar), types.float_width(scalar)) {
            (LlvmTypeKind::X86Fp80, _) => {
                let second = ops.next()?;
                ConstKind::WideFloat([second & 0xffff | first << 16, first >> 48])
            }
            (_, Some(128)) => ConstKind::WideFloat([first, ops.next()?]),
            (_, Some(64)) => ConstKind::Float(first),
            (_, Some(width)) => ConstKind::Float(first & ((1 << width) - 1)),
            (_, None) => return ops.fail_with("a floating-point constant of another type"),
        };
        let element = self.module.consts.intern_constant(scalar, kind);
        Ok(self.module.make_splat(ty, element))
    }

    fn read_aggregate(
        &mut self,
        ty: LlvmType,
        mut ops: RecordOperands<'_>,
    ) -> LlvmResult<Option<LlvmConst>> {
        let count = ops.len();
        if self.module.types.element_count(ty) != Some(count as u64) {
            return ops.fail_with("an aggregate with a wrong number of elements");
        }
        let Some(elements) = self.read_operands(&mut ops, count)? else {
            return Ok(None);
        };
        let LlvmModule { types, consts, .. } = &mut *self.module;
        Ok(Some(consts.make_aggregate(types, ty, &elements)))
    }

    fn read_data(
        &mut self,
        ty: LlvmType,
        ops: RecordOperands<'_>,
        zero_at_end: bool,
    ) -> LlvmResult<LlvmConst> {
        let LlvmModule { types, consts, .. } = &mut *self.module;
        let size = match *types.kind(ty) {
            LlvmTypeKind::Array { element, .. } | LlvmTypeKind::Vector { element, .. } => {
                data_element_size(types, element)
            }
            _ => None,
        };
        let count = ops.len() as u64 + u64::from(zero_at_end);
        let Some(size) = size.filter(|_| types.element_count(ty) == Some(count)) else {
            return ops.fail_with("data of another type or number of elements");
        };
        let mut bytes = Vec::with_capacity(count as usize * size);
        for op in ops.remaining() {
            bytes.extend_from_slice(&op.to_le_bytes()[..size]);
        }
        bytes.resize(count as usize * size, 0);
        Ok(consts.make_data(ty, bytes))
    }

    fn read_inline_asm(
        &mut self,
        ty: LlvmType,
        code: u64,
        mut ops: RecordOperands<'_>,
    ) -> LlvmResult<LlvmConst> {
        let function_type = match (code, self.module.types.kind(ty)) {
            (30, _) => self.types.read_type(&mut ops)?,
            (
                _,
                LlvmTypeKind::Pointer {
                    pointee: Some(pointee),
                    ..
                },
            ) => *pointee,
            _ => return ops.fail_with("inline assembly without a function type"),
        };
        let flags = ops.next()?;
        let mut text = || -> LlvmResult<String> {
            let len = ops.next_index()?;
            Ok(String::from_utf8_lossy(&bytes_of(ops.take(len)?)).into_owned())
        };
        let (text, constraints) = (text()?, text()?);
        let asm = InlineAsm {
            text,
            constraints,
            function_type,
            side_effect: flags & 1 != 0,
            align_stack: flags & 2 != 0,
            intel_dialect: flags & 4 != 0,
            unwind: flags & 8 != 0,
        };
        let LlvmModule {
            consts, inline_asm, ..
        } = &mut *self.module;
        Ok(consts.inline_asm(inline_asm, ty, asm))
    }

    fn read_block_address(
        &mut self,
        ty: LlvmType,
        mut ops: RecordOperands<'_>,
    ) -> LlvmResult<Option<LlvmConst>> {
        ops.next()?;
        let Some(function) = self.read_operand(&mut ops)? else {
            return Ok(None);
        };
        let block = ops.next_u32()?;
        let func: Option<LlvmFunc> =
            self.module.as_global(function).and_then(|global| {
                match self.module.global(global).kind {
                    GlobalKind::Function(func) => Some(func),
                    _ => None,
                }
            });
        match func {
            Some(func) => {
                let kind = ConstKind::BlockAddress(func, block);
                Ok(Some(self.module.consts.intern_constant(ty, kind)))
            }
            None => ops.fail_with("the address of a block of a value that is not a function"),
        }
    }
}
