//! Type block.

use super::bitstream::{BitcodeRecord, BitstreamReader};
use super::record_operands::{RecordOperands, bytes_of};
use crate::LlvmResult;
use crate::error_at;
use crate::ir::{LlvmModule, LlvmSymbol, LlvmType, LlvmTypeKind};
use spirula_diagnostics::SourceLocation;

/// The types of a module by their numbers in its bitcode.
#[derive(Debug, Default)]
pub struct BitcodeTypeTable {
    types: Vec<Option<LlvmType>>,
    next: usize,
    own_structs: Vec<LlvmType>,
    /// Whether pointers state their pointee, as before LLVM 15.
    pub typed_pointers: bool,
    /// Whether there are byte types (LLVM 23).
    pub has_bytes: bool,
}

/// Types without operands: their code and the type.
const SIMPLE: &[(u64, LlvmType)] = &[
    (2, LlvmType::VOID),
    (3, LlvmType::FLOAT),
    (4, LlvmType::DOUBLE),
    (5, LlvmType::LABEL),
    (10, LlvmType::HALF),
    (13, LlvmType::X86_FP80),
    (14, LlvmType::FP128),
    (15, LlvmType::PPC_FP128),
    (16, LlvmType::METADATA),
    (17, LlvmType::X86_MMX),
    (22, LlvmType::TOKEN),
    (23, LlvmType::BFLOAT),
    (24, LlvmType::X86_AMX),
];

const NUM_ENTRIES: u64 = 1;
const OPAQUE: u64 = 6;
const INTEGER: u64 = 7;
const POINTER: u64 = 8;
const ARRAY: u64 = 11;
const VECTOR: u64 = 12;
const STRUCT_ANON: u64 = 18;
const STRUCT_NAME: u64 = 19;
const STRUCT_NAMED: u64 = 20;
const FUNCTION: u64 = 21;
const OPAQUE_POINTER: u64 = 25;
const TARGET: u64 = 26;
/// Code of byte types (LLVM 23). They are read as integers of the same width.
const BYTE: u64 = 27;

/// Widest integer type of LLVM.
const MAX_INT_WIDTH: u64 = 1 << 23;

impl BitcodeTypeTable {
    /// The type with this number.
    pub fn get(&self, number: u64, place: SourceLocation) -> LlvmResult<LlvmType> {
        let found = usize::try_from(number)
            .ok()
            .and_then(|number| self.types.get(number));
        match found {
            Some(&Some(ty)) => Ok(ty),
            _ => Err(error_at(place, format!("type {number} is not defined"))),
        }
    }

    /// The type whose number is the next operand.
    pub fn read_type(&self, ops: &mut RecordOperands<'_>) -> LlvmResult<LlvmType> {
        self.get(ops.next()?, ops.place())
    }

    /// Reads the type block.
    pub fn read_block(
        &mut self,
        bits: &mut BitstreamReader<'_>,
        module: &mut LlvmModule,
    ) -> LlvmResult<()> {
        let mut record = BitcodeRecord::default();
        let mut name = LlvmSymbol::EMPTY;
        while bits.next_record(&mut record)? {
            let ops = RecordOperands::from_record(&record);
            match record.code {
                NUM_ENTRIES => self.resize_table(ops, bits.remaining())?,
                STRUCT_NAME => name = module.strings.intern_bytes(&bytes_of(ops.remaining())),
                code => self.define_type(code, ops, module, &mut name)?,
            }
        }
        self.name_unnamed(module);
        self.check_complete(bits.place())
    }

    fn resize_table(&mut self, mut ops: RecordOperands<'_>, remaining: usize) -> LlvmResult<()> {
        let count = ops.next_index()?;
        if count > remaining {
            return ops.fail_with("more types than the block can hold");
        }
        self.types.resize(count, None);
        Ok(())
    }

    /// Names identified structs that have no name by consecutive numbers, as LLVM assembly does.
    /// Only literal structs remain without a name.
    fn name_unnamed(&mut self, module: &mut LlvmModule) {
        let mut number = 0;
        for &ty in &self.own_structs {
            if let LlvmTypeKind::Struct {
                name: LlvmSymbol::EMPTY,
                ..
            } = module.types.kind(ty)
            {
                let name = module.strings.intern_text(&number.to_string());
                module.types.set_name(ty, name);
                number += 1;
            }
        }
    }

    fn check_complete(&self, place: SourceLocation) -> LlvmResult<()> {
        if self.next != self.types.len() {
            return Err(error_at(place, "fewer types than announced"));
        }
        Ok(())
    }

    fn define_type(
        &mut self,
        code: u64,
        mut ops: RecordOperands<'_>,
        module: &mut LlvmModule,
        name: &mut LlvmSymbol,
    ) -> LlvmResult<()> {
        if self.next >= self.types.len() {
            return ops.fail_with("more types than announced");
        }
        let ty = match code {
            OPAQUE | STRUCT_NAMED => {
                let ty = match self.types[self.next] {
                    Some(forward) => forward,
                    None => module.types.named_struct(LlvmSymbol::EMPTY),
                };
                self.types[self.next] = Some(ty);
                self.own_structs.push(ty);
                module
                    .types
                    .set_name(ty, std::mem::replace(name, LlvmSymbol::EMPTY));
                if code == STRUCT_NAMED {
                    let packed = ops.next()? != 0;
                    let fields = self.read_type_list(ops, module)?;
                    module.types.set_body(ty, fields, packed);
                }
                ty
            }
            TARGET => {
                let count = ops.next_index()?;
                let types = ops.take(count)?;
                let types = self.read_type_list(RecordOperands::new(types, ops.place()), module)?;
                let mut ints = Vec::new();
                while !ops.is_empty() {
                    ints.push(ops.next_u32()?);
                }
                let name = std::mem::replace(name, LlvmSymbol::EMPTY);
                module.types.intern_type(LlvmTypeKind::Target {
                    name,
                    types,
                    ints: ints.into(),
                })
            }
            code => match SIMPLE.iter().find(|row| row.0 == code) {
                Some(row) => row.1,
                None => self.read_composite(code, &mut ops, module)?,
            },
        };
        if self.types[self.next].is_some_and(|forward| forward != ty) {
            return ops
                .fail_with("a type was used as a struct before it was defined as another type");
        }
        self.types[self.next] = Some(ty);
        self.next += 1;
        Ok(())
    }

    fn read_composite(
        &mut self,
        code: u64,
        ops: &mut RecordOperands<'_>,
        module: &mut LlvmModule,
    ) -> LlvmResult<LlvmType> {
        self.has_bytes |= code == BYTE;
        let kind = match code {
            INTEGER | BYTE => match ops.next()? {
                width @ 1..=MAX_INT_WIDTH => LlvmTypeKind::Int(width as u32),
                _ => return ops.fail_with("an integer type of an impossible width"),
            },
            POINTER => {
                self.typed_pointers = true;
                let pointee = Some(self.get_or_forward(ops.next()?, *ops, module)?);
                LlvmTypeKind::Pointer {
                    space: read_address_space(ops)?,
                    pointee,
                }
            }
            OPAQUE_POINTER => LlvmTypeKind::Pointer {
                space: read_address_space(ops)?,
                pointee: None,
            },
            ARRAY => {
                let len = ops.next()?;
                LlvmTypeKind::Array {
                    element: self.get_or_forward(ops.next()?, *ops, module)?,
                    len,
                }
            }
            VECTOR => {
                let len = ops.next_u32()?;
                let element = self.get_or_forward(ops.next()?, *ops, module)?;
                if len == 0 {
                    return ops.fail_with("a vector type without elements");
                }
                LlvmTypeKind::Vector {
                    element,
                    len,
                    scalable: ops.or_zero() != 0,
                }
            }
            STRUCT_ANON => {
                let packed = ops.next()? != 0;
                let fields = Some(self.read_type_list(*ops, module)?);
                LlvmTypeKind::Struct {
                    name: LlvmSymbol::EMPTY,
                    fields,
                    packed,
                }
            }
            FUNCTION => {
                let variadic = ops.next()? != 0;
                let result = self.get_or_forward(ops.next()?, *ops, module)?;
                LlvmTypeKind::Function {
                    result,
                    params: self.read_type_list(*ops, module)?,
                    variadic,
                }
            }
            code => return ops.fail_with(format!("types of code {code} are not supported")),
        };
        Ok(module.types.intern_type(kind))
    }

    /// A type that may be defined later. In that case it is a named struct.
    fn get_or_forward(
        &mut self,
        number: u64,
        ops: RecordOperands<'_>,
        module: &mut LlvmModule,
    ) -> LlvmResult<LlvmType> {
        let slot = usize::try_from(number)
            .ok()
            .and_then(|number| self.types.get_mut(number));
        match slot {
            Some(slot) => {
                Ok(*slot.get_or_insert_with(|| module.types.named_struct(LlvmSymbol::EMPTY)))
            }
            None => ops.fail_with(format!("type {number} is not defined")),
        }
    }

    fn read_type_list(
        &mut self,
        mut ops: RecordOperands<'_>,
        module: &mut LlvmModule,
    ) -> LlvmResult<Box<[LlvmType]>> {
        let mut types = Vec::with_capacity(ops.len());
        while !ops.is_empty() {
            types.push(self.get_or_forward(ops.next()?, ops, module)?);
        }
        Ok(types.into())
    }
}

fn read_address_space(ops: &mut RecordOperands<'_>) -> LlvmResult<u32> {
    if ops.is_empty() {
        Ok(0)
    } else {
        ops.next_u32()
    }
}
