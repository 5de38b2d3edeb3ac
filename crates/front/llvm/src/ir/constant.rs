//! Interned constants.

use super::LlvmConst;
use super::{
    InlineAsm, LlvmFunc, LlvmGlobal, LlvmInstFlags, LlvmOpcode, LlvmType, LlvmTypeKind, LlvmTypes,
    Predicate,
};
use spirula_entity::ValueInterner;

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConstData {
    /// Its type.
    pub ty: LlvmType,
    /// The kind of constant, with its contents.
    pub kind: ConstKind,
}

/// The kind of a constant, with its contents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConstKind {
    /// An integer of at most 64 bits, zero-extended.
    Int(u64),
    /// An integer of more than 64 bits, least significant word first.
    Wide(Box<[u64]>),
    /// A floating-point number of at most 64 bits, as its bits.
    Float(u64),
    /// A floating-point number of 80 or 128 bits, least significant word first.
    WideFloat([u64; 2]),
    /// The null pointer, or the token `none`.
    Null,
    /// All zeros, of an array, struct, vector or target type.
    Zero,
    /// An arbitrary value, which may differ at each use.
    Undef,
    /// The result of an erroneous operation.
    Poison,
    /// Elements of an array, struct or vector that are not all plain numbers.
    Aggregate(Box<[LlvmConst]>),
    /// Elements of an array or vector, numbers of 8, 16, 32 or 64 bits, little-endian.
    Data(Box<[u8]>),
    /// One value for every element of a scalable vector.
    Splat(LlvmConst),
    /// The address of a global variable, function, alias or ifunc.
    Global(LlvmGlobal),
    /// The address of a block: function, and number of the block.
    BlockAddress(LlvmFunc, u32),
    /// A function that may replace a global within the same linkage unit.
    DsoLocalEquivalent(LlvmGlobal),
    /// A function exempt from control-flow integrity checks.
    NoCfi(LlvmGlobal),
    /// A signed pointer.
    PtrAuth(Box<[LlvmConst]>),
    /// Inline assembly as a callee: index into [`super::LlvmModule::inline_asm`].
    InlineAsm(u32),
    /// A constant expression.
    Expr(Box<LlvmConstantExpr>),
}

/// A constant expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LlvmConstantExpr {
    /// The operation.
    pub opcode: LlvmOpcode,
    /// Markers such as `inbounds`.
    pub flags: LlvmInstFlags,
    /// Its operands, as of the instruction of that opcode.
    pub operands: Box<[LlvmConst]>,
    /// Further operands that are not constants.
    pub extra: ExprExtra,
}

/// Further operands of a constant expression, which are not constants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExprExtra {
    /// Nothing.
    None,
    /// Of `getelementptr`: the type that the indices step through.
    SourceType(LlvmType),
    /// Of `icmp` and `fcmp` (LLVM before 19 and 20).
    Compare(Predicate),
    /// Of `shufflevector`: numbers of the result's elements, `u32::MAX` for poison.
    Mask(Box<[u32]>),
    /// Of `extractvalue` and `insertvalue` (LLVM before 15).
    Indices(Box<[u32]>),
}

/// All constants of a module.
#[derive(Clone, Debug, Default)]
pub struct LlvmConstants(ValueInterner<LlvmConst, ConstData>);

impl LlvmConstants {
    /// The constant of this type and kind. The caller must pass canonical form, or use the
    /// constructors below.
    pub fn intern_constant(&mut self, ty: LlvmType, kind: ConstKind) -> LlvmConst {
        self.0.intern(ConstData { ty, kind })
    }

    /// A constant by its id.
    pub fn get(&self, id: LlvmConst) -> &ConstData {
        self.0.get(id)
    }

    /// The type of a constant.
    pub fn ty(&self, id: LlvmConst) -> LlvmType {
        self.0.get(id).ty
    }

    /// The kind of a constant, with its contents.
    pub fn kind(&self, id: LlvmConst) -> &ConstKind {
        &self.0.get(id).kind
    }

    /// Number of constants.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All constants in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (LlvmConst, &ConstData)> {
        self.0.iter()
    }

    /// An integer, truncated to the width of its type.
    pub fn make_int(&mut self, types: &LlvmTypes, ty: LlvmType, value: u64) -> LlvmConst {
        match types.int_width(ty) {
            Some(width) if width > 64 => self.wide_int(types, ty, &[value]),
            width => self.intern_constant(
                ty,
                ConstKind::Int(truncate_to_width(value, width.unwrap_or(64))),
            ),
        }
    }

    /// An integer of any width. The words come least significant first, and are zero-extended or
    /// truncated.
    pub fn wide_int(&mut self, types: &LlvmTypes, ty: LlvmType, words: &[u64]) -> LlvmConst {
        let width = types.int_width(ty).unwrap_or(64);
        if width <= 64 {
            let value = truncate_to_width(words.first().copied().unwrap_or(0), width);
            return self.intern_constant(ty, ConstKind::Int(value));
        }
        let mut all = vec![0; width.div_ceil(64) as usize];
        for (to, &from) in all.iter_mut().zip(words) {
            *to = from;
        }
        if let Some(last) = all.last_mut()
            && !width.is_multiple_of(64)
        {
            *last = truncate_to_width(*last, width % 64);
        }
        self.intern_constant(ty, ConstKind::Wide(all.into()))
    }

    /// Zero of any type that has one: 0, 0.0, `null`, `none` or `zeroinitializer`.
    pub fn make_zero(&mut self, types: &LlvmTypes, ty: LlvmType) -> LlvmConst {
        match *types.kind(ty) {
            LlvmTypeKind::Int(width) if width > 64 => self.wide_int(types, ty, &[]),
            LlvmTypeKind::Int(_) => self.intern_constant(ty, ConstKind::Int(0)),
            LlvmTypeKind::Half
            | LlvmTypeKind::BFloat
            | LlvmTypeKind::Float
            | LlvmTypeKind::Double => self.intern_constant(ty, ConstKind::Float(0)),
            LlvmTypeKind::X86Fp80 | LlvmTypeKind::Fp128 | LlvmTypeKind::PpcFp128 => {
                self.intern_constant(ty, ConstKind::WideFloat([0; 2]))
            }
            LlvmTypeKind::Pointer { .. } | LlvmTypeKind::Token => {
                self.intern_constant(ty, ConstKind::Null)
            }
            _ => self.intern_constant(ty, ConstKind::Zero),
        }
    }

    /// An array, struct or vector of these elements, in canonical form.
    pub fn make_aggregate(
        &mut self,
        types: &LlvmTypes,
        ty: LlvmType,
        elements: &[LlvmConst],
    ) -> LlvmConst {
        if elements.iter().all(|&element| self.is_zero(element)) {
            return self.intern_constant(ty, ConstKind::Zero);
        }
        if let Some(&first) = elements.first() {
            for kind in [ConstKind::Poison, ConstKind::Undef] {
                if *self.kind(first) == kind && elements.iter().all(|&element| element == first) {
                    return self.intern_constant(ty, kind);
                }
            }
        }
        match self.data_bytes(types, ty, elements) {
            Some(bytes) => self.intern_constant(ty, ConstKind::Data(bytes)),
            None => self.intern_constant(ty, ConstKind::Aggregate(elements.into())),
        }
    }

    /// An array or vector of plain numbers as little-endian bytes, in canonical form.
    pub fn make_data(&mut self, ty: LlvmType, bytes: Vec<u8>) -> LlvmConst {
        if bytes.iter().all(|&byte| byte == 0) {
            return self.intern_constant(ty, ConstKind::Zero);
        }
        self.intern_constant(ty, ConstKind::Data(bytes.into()))
    }

    /// Whether all bits of a constant are known to be zero.
    pub fn is_zero(&self, id: LlvmConst) -> bool {
        match self.kind(id) {
            ConstKind::Int(bits) | ConstKind::Float(bits) => *bits == 0,
            ConstKind::Wide(words) => words.iter().all(|&word| word == 0),
            ConstKind::WideFloat(words) => *words == [0; 2],
            ConstKind::Null | ConstKind::Zero => true,
            _ => false,
        }
    }

    /// An integer of at most 64 bits, zero-extended.
    pub fn as_u64(&self, id: LlvmConst) -> Option<u64> {
        match *self.kind(id) {
            ConstKind::Int(value) => Some(value),
            _ => None,
        }
    }

    /// An integer of at most 64 bits, sign-extended from the width of its type.
    pub fn as_i64(&self, types: &LlvmTypes, id: LlvmConst) -> Option<i64> {
        let width = types.int_width(self.ty(id))?;
        self.as_u64(id).map(|value| sign_extend(value, width))
    }

    /// Element `index` of an array, struct or vector constant of any kind.
    pub fn find_element(
        &mut self,
        types: &LlvmTypes,
        id: LlvmConst,
        index: u64,
    ) -> Option<LlvmConst> {
        let ty = types.element_type(self.ty(id), index)?;
        let at = usize::try_from(index).ok()?;
        match self.kind(id) {
            ConstKind::Zero => Some(self.make_zero(types, ty)),
            ConstKind::Undef => Some(self.intern_constant(ty, ConstKind::Undef)),
            ConstKind::Poison => Some(self.intern_constant(ty, ConstKind::Poison)),
            ConstKind::Aggregate(elements) => elements.get(at).copied(),
            ConstKind::Splat(element) => Some(*element),
            ConstKind::Data(bytes) => {
                let size = data_element_size(types, ty)?;
                let bits = read_element(bytes.get(at * size..(at + 1) * size)?);
                let float = types.float_width(ty).is_some();
                let kind = if float {
                    ConstKind::Float(bits)
                } else {
                    ConstKind::Int(bits)
                };
                Some(self.intern_constant(ty, kind))
            }
            _ => None,
        }
    }

    /// The bits of the elements of an array or vector of plain numbers, for [`ConstKind::Data`].
    pub fn data_elements<'a>(
        &'a self,
        types: &LlvmTypes,
        id: LlvmConst,
    ) -> Option<impl ExactSizeIterator<Item = u64> + 'a> {
        let ConstKind::Data(bytes) = self.kind(id) else {
            return None;
        };
        let size = data_element_size(types, types.element_type(self.ty(id), 0)?)?;
        Some(bytes.chunks_exact(size).map(read_element))
    }

    fn data_bytes(
        &self,
        types: &LlvmTypes,
        ty: LlvmType,
        elements: &[LlvmConst],
    ) -> Option<Box<[u8]>> {
        let (LlvmTypeKind::Array { element, .. } | LlvmTypeKind::Vector { element, .. }) =
            *types.kind(ty)
        else {
            return None;
        };
        let size = data_element_size(types, element)?;
        let mut bytes = Vec::with_capacity(elements.len() * size);
        for &id in elements {
            let (ConstKind::Int(bits) | ConstKind::Float(bits)) = *self.kind(id) else {
                return None;
            };
            bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
        }
        Some(bytes.into())
    }
}

/// Size in bytes of one element of a [`ConstKind::Data`]; `None` for types that it cannot hold.
pub(crate) fn data_element_size(types: &LlvmTypes, element: LlvmType) -> Option<usize> {
    match *types.kind(element) {
        LlvmTypeKind::Int(width @ (8 | 16 | 32 | 64)) => Some(width as usize / 8),
        LlvmTypeKind::Half | LlvmTypeKind::BFloat => Some(2),
        LlvmTypeKind::Float => Some(4),
        LlvmTypeKind::Double => Some(8),
        _ => None,
    }
}

fn read_element(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

fn truncate_to_width(value: u64, width: u32) -> u64 {
    if width >= 64 {
        value
    } else {
        value & ((1 << width) - 1)
    }
}

fn sign_extend(value: u64, width: u32) -> i64 {
    let shift = 64 - width.clamp(1, 64);
    ((value << shift) as i64) >> shift
}

/// Inline assembly is referred to by its constant alone, so both are created together.
impl LlvmConstants {
    /// Inline assembly, as a callee.
    pub fn inline_asm(
        &mut self,
        all: &mut Vec<InlineAsm>,
        ty: LlvmType,
        asm: InlineAsm,
    ) -> LlvmConst {
        all.push(asm);
        self.intern_constant(ty, ConstKind::InlineAsm(all.len() as u32 - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_truncated_and_extended() {
        let (mut types, mut consts) = (LlvmTypes::default(), LlvmConstants::default());
        let i7 = types.make_int(7);
        let minus = consts.make_int(&types, i7, u64::MAX);
        assert_eq!(consts.as_u64(minus), Some(127));
        assert_eq!(consts.as_i64(&types, minus), Some(-1));
        let i70 = types.make_int(70);
        let wide = consts.wide_int(&types, i70, &[1, u64::MAX]);
        assert_eq!(*consts.kind(wide), ConstKind::Wide([1, 63].into()));
    }

    #[test]
    fn aggregates_are_canonical() {
        let (mut types, mut consts) = (LlvmTypes::default(), LlvmConstants::default());
        let array = types.make_array(LlvmType::I16, 2);
        let [zero, two] = [0, 2].map(|value| consts.make_int(&types, LlvmType::I16, value));
        let all_zero = consts.make_aggregate(&types, array, &[zero, zero]);
        assert_eq!(*consts.kind(all_zero), ConstKind::Zero);
        let some = consts.make_aggregate(&types, array, &[zero, two]);
        assert_eq!(*consts.kind(some), ConstKind::Data([0, 0, 2, 0].into()));
        assert_eq!(consts.find_element(&types, some, 1), Some(two));
        assert_eq!(consts.make_data(array, vec![0, 0, 2, 0]), some);
    }
}
