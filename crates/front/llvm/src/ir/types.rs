//! Interned types.

use super::LlvmSymbol;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use spirula_entity::define_ids;
use std::hash::BuildHasher;

define_ids! {
    /// A type. Equal types have equal ids, except that each identified struct is a type of its own.
    pub struct LlvmType: "ty";
}

/// The structure of a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LlvmTypeKind {
    /// `void`
    Void,
    /// `half`, 16 bits
    Half,
    /// `bfloat`, 16 bits
    BFloat,
    /// `float`, 32 bits
    Float,
    /// `double`, 64 bits
    Double,
    /// `x86_fp80`
    X86Fp80,
    /// `fp128`
    Fp128,
    /// `ppc_fp128`
    PpcFp128,
    /// `x86_mmx` of LLVM before 20
    X86Mmx,
    /// `x86_amx`
    X86Amx,
    /// `label`
    Label,
    /// `metadata`
    Metadata,
    /// `token`
    Token,
    /// `iN`: the width in bits, 1 to 2^23
    Int(u32),
    /// `ptr addrspace(space)`, or the typed pointer of LLVM before 15 with its pointee.
    Pointer {
        /// Address space.
        space: u32,
        /// The declared pointee; only typed pointers have one.
        pointee: Option<LlvmType>,
    },
    /// `[len x element]`
    Array {
        /// Element type.
        element: LlvmType,
        /// Number of elements.
        len: u64,
    },
    /// `<len x element>`, or `<vscale x len x element>`
    Vector {
        /// Element type.
        element: LlvmType,
        /// Number of elements; if scalable, the minimum number.
        len: u32,
        /// Whether the length is a multiple of `len` that is only known at run time.
        scalable: bool,
    },
    /// A struct, named or literal.
    Struct {
        /// Its name; empty for a literal struct.
        name: LlvmSymbol,
        /// Its fields; `None` while a named struct is opaque.
        fields: Option<Box<[LlvmType]>>,
        /// Whether the layout has no padding.
        packed: bool,
    },
    /// A function type.
    Function {
        /// Result type.
        result: LlvmType,
        /// Parameter types.
        params: Box<[LlvmType]>,
        /// Whether further arguments may follow.
        variadic: bool,
    },
    /// `target("name", types, ints)`
    Target {
        /// Name.
        name: LlvmSymbol,
        /// Type parameters.
        types: Box<[LlvmType]>,
        /// Integer parameters.
        ints: Box<[u32]>,
    },
}

/// The types that every module has, at fixed ids.
const WELL_KNOWN: [LlvmTypeKind; 20] = [
    LlvmTypeKind::Void,
    LlvmTypeKind::Half,
    LlvmTypeKind::BFloat,
    LlvmTypeKind::Float,
    LlvmTypeKind::Double,
    LlvmTypeKind::X86Fp80,
    LlvmTypeKind::Fp128,
    LlvmTypeKind::PpcFp128,
    LlvmTypeKind::X86Mmx,
    LlvmTypeKind::X86Amx,
    LlvmTypeKind::Label,
    LlvmTypeKind::Metadata,
    LlvmTypeKind::Token,
    LlvmTypeKind::Int(1),
    LlvmTypeKind::Int(8),
    LlvmTypeKind::Int(16),
    LlvmTypeKind::Int(32),
    LlvmTypeKind::Int(64),
    LlvmTypeKind::Int(128),
    LlvmTypeKind::Pointer {
        space: 0,
        pointee: None,
    },
];

/// The generic address space of OpenCL.
const GENERIC: u32 = 4;

impl LlvmType {
    /// `void`
    pub const VOID: LlvmType = LlvmType::new(0);
    /// `half`
    pub const HALF: LlvmType = LlvmType::new(1);
    /// `bfloat`
    pub const BFLOAT: LlvmType = LlvmType::new(2);
    /// `float`
    pub const FLOAT: LlvmType = LlvmType::new(3);
    /// `double`
    pub const DOUBLE: LlvmType = LlvmType::new(4);
    /// `x86_fp80`
    pub const X86_FP80: LlvmType = LlvmType::new(5);
    /// `fp128`
    pub const FP128: LlvmType = LlvmType::new(6);
    /// `ppc_fp128`
    pub const PPC_FP128: LlvmType = LlvmType::new(7);
    /// `x86_mmx`
    pub const X86_MMX: LlvmType = LlvmType::new(8);
    /// `x86_amx`
    pub const X86_AMX: LlvmType = LlvmType::new(9);
    /// `label`
    pub const LABEL: LlvmType = LlvmType::new(10);
    /// `metadata`
    pub const METADATA: LlvmType = LlvmType::new(11);
    /// `token`
    pub const TOKEN: LlvmType = LlvmType::new(12);
    /// `i1`
    pub const I1: LlvmType = LlvmType::new(13);
    /// `i8`
    pub const I8: LlvmType = LlvmType::new(14);
    /// `i16`
    pub const I16: LlvmType = LlvmType::new(15);
    /// `i32`
    pub const I32: LlvmType = LlvmType::new(16);
    /// `i64`
    pub const I64: LlvmType = LlvmType::new(17);
    /// `i128`
    pub const I128: LlvmType = LlvmType::new(18);
    /// `ptr`
    pub const PTR: LlvmType = LlvmType::new(19);
}

/// All types of a module.
#[derive(Clone, Debug)]
pub struct LlvmTypes {
    kinds: Vec<LlvmTypeKind>,
    index: HashTable<LlvmType>,
}

impl Default for LlvmTypes {
    fn default() -> Self {
        let mut types = LlvmTypes {
            kinds: Vec::new(),
            index: HashTable::new(),
        };
        for kind in WELL_KNOWN {
            types.intern_type(kind);
        }
        types
    }
}

impl LlvmTypes {
    /// The type of this structure. Identified structs are created by [`LlvmTypes::named_struct`].
    pub fn intern_type(&mut self, kind: LlvmTypeKind) -> LlvmType {
        let hash = FxBuildHasher.hash_one(&kind);
        let kinds = &mut self.kinds;
        if let Some(&found) = self.index.find(hash, |ty| kinds[ty.index()] == kind) {
            return found;
        }
        let ty = LlvmType::new(kinds.len());
        kinds.push(kind);
        self.index
            .insert_unique(hash, ty, |ty| FxBuildHasher.hash_one(&kinds[ty.index()]));
        ty
    }

    /// Creates a named struct, which is opaque until [`LlvmTypes::set_body`] is called.
    pub fn named_struct(&mut self, name: LlvmSymbol) -> LlvmType {
        let ty = LlvmType::new(self.kinds.len());
        self.kinds.push(LlvmTypeKind::Struct {
            name,
            fields: None,
            packed: false,
        });
        ty
    }

    /// Names a struct.
    pub fn set_name(&mut self, ty: LlvmType, new_name: LlvmSymbol) {
        if let LlvmTypeKind::Struct { name, .. } = &mut self.kinds[ty.index()] {
            *name = new_name;
        }
    }

    /// Sets the fields of a named struct.
    pub fn set_body(&mut self, ty: LlvmType, new_fields: Box<[LlvmType]>, new_packed: bool) {
        if let LlvmTypeKind::Struct { fields, packed, .. } = &mut self.kinds[ty.index()] {
            *fields = Some(new_fields);
            *packed = new_packed;
        }
    }

    /// The structure of a type.
    pub fn kind(&self, ty: LlvmType) -> &LlvmTypeKind {
        &self.kinds[ty.index()]
    }

    /// Number of types.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Always false: every module has the well-known types.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// All types in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (LlvmType, &LlvmTypeKind)> {
        self.kinds
            .iter()
            .enumerate()
            .map(|(index, kind)| (LlvmType::new(index), kind))
    }

    /// Turns `ptr` into a pointer to the generic address space of OpenCL. Returns the type that
    /// stands for `ptr` from then on.
    pub(crate) fn make_generic(&mut self) -> LlvmType {
        let kind = |space| LlvmTypeKind::Pointer {
            space,
            pointee: None,
        };
        let hash = FxBuildHasher.hash_one(kind(0));
        if let Ok(entry) = self.index.find_entry(hash, |ty| *ty == LlvmType::PTR) {
            entry.remove();
        }
        self.kinds[LlvmType::PTR.index()] = kind(GENERIC);
        self.make_pointer(0)
    }

    /// Creates a pointer type that differs from all others, including those to the same address
    /// space.
    pub(crate) fn distinct_pointer(&mut self, space: u32) -> LlvmType {
        let id = LlvmType::new(self.kinds.len());
        self.kinds.push(LlvmTypeKind::Pointer {
            space,
            pointee: None,
        });
        id
    }

    /// `iN`
    pub fn make_int(&mut self, width: u32) -> LlvmType {
        self.intern_type(LlvmTypeKind::Int(width))
    }

    /// `ptr addrspace(space)`
    pub fn make_pointer(&mut self, space: u32) -> LlvmType {
        self.intern_type(LlvmTypeKind::Pointer {
            space,
            pointee: None,
        })
    }

    /// `<len x element>`
    pub fn make_vector(&mut self, element: LlvmType, len: u32, scalable: bool) -> LlvmType {
        self.intern_type(LlvmTypeKind::Vector {
            element,
            len,
            scalable,
        })
    }

    /// `[len x element]`
    pub fn make_array(&mut self, element: LlvmType, len: u64) -> LlvmType {
        self.intern_type(LlvmTypeKind::Array { element, len })
    }

    /// A literal struct.
    pub fn literal_struct(&mut self, fields: Box<[LlvmType]>, packed: bool) -> LlvmType {
        self.intern_type(LlvmTypeKind::Struct {
            name: LlvmSymbol::EMPTY,
            fields: Some(fields),
            packed,
        })
    }

    /// The width of an integer type.
    pub fn int_width(&self, ty: LlvmType) -> Option<u32> {
        match *self.kind(ty) {
            LlvmTypeKind::Int(width) => Some(width),
            _ => None,
        }
    }

    /// The width in bits of a floating-point type.
    pub fn float_width(&self, ty: LlvmType) -> Option<u32> {
        Some(match self.kind(ty) {
            LlvmTypeKind::Half | LlvmTypeKind::BFloat => 16,
            LlvmTypeKind::Float => 32,
            LlvmTypeKind::Double => 64,
            LlvmTypeKind::X86Fp80 => 80,
            LlvmTypeKind::Fp128 | LlvmTypeKind::PpcFp128 => 128,
            _ => return None,
        })
    }

    /// The address space of a pointer type.
    pub fn address_space(&self, ty: LlvmType) -> Option<u32> {
        match *self.kind(ty) {
            LlvmTypeKind::Pointer { space, .. } => Some(space),
            _ => None,
        }
    }

    /// Whether a value of one type can be used where the other type is expected. The types must be
    /// equal, or pointers to the same address space; their declared pointees are ignored.
    pub fn is_compatible(&self, a: LlvmType, b: LlvmType) -> bool {
        a == b
            || match (self.kind(a), self.kind(b)) {
                (
                    LlvmTypeKind::Pointer { space: a, .. },
                    LlvmTypeKind::Pointer { space: b, .. },
                ) => a == b,
                _ => false,
            }
    }

    /// The element type of a vector, the type itself otherwise.
    pub fn scalar_type(&self, ty: LlvmType) -> LlvmType {
        match *self.kind(ty) {
            LlvmTypeKind::Vector { element, .. } => element,
            _ => ty,
        }
    }

    /// The type of the same shape as `like` (scalar or vector) with the elements `element`.
    pub fn with_shape_of(&mut self, like: LlvmType, element: LlvmType) -> LlvmType {
        match *self.kind(like) {
            LlvmTypeKind::Vector { len, scalable, .. } => self.make_vector(element, len, scalable),
            _ => element,
        }
    }

    /// Whether it is a pointer or a vector of pointers.
    pub fn is_pointer_like(&self, ty: LlvmType) -> bool {
        matches!(
            self.kind(self.scalar_type(ty)),
            LlvmTypeKind::Pointer { .. }
        )
    }

    /// The element `index` of an array, vector or struct.
    pub fn element_type(&self, ty: LlvmType, index: u64) -> Option<LlvmType> {
        match self.kind(ty) {
            LlvmTypeKind::Array { element, len } if index < *len => Some(*element),
            LlvmTypeKind::Vector { element, len, .. } if index < u64::from(*len) => Some(*element),
            LlvmTypeKind::Struct {
                fields: Some(fields),
                ..
            } => usize::try_from(index)
                .ok()
                .and_then(|index| fields.get(index).copied()),
            _ => None,
        }
    }

    /// The number of elements of an array, vector or struct.
    pub fn element_count(&self, ty: LlvmType) -> Option<u64> {
        match self.kind(ty) {
            LlvmTypeKind::Array { len, .. } => Some(*len),
            LlvmTypeKind::Vector { len, .. } => Some(u64::from(*len)),
            LlvmTypeKind::Struct {
                fields: Some(fields),
                ..
            } => Some(fields.len() as u64),
            _ => None,
        }
    }

    /// Result type, parameter types and variadic flag of a function type.
    pub fn function_signature(&self, ty: LlvmType) -> Option<(LlvmType, &[LlvmType], bool)> {
        match self.kind(ty) {
            LlvmTypeKind::Function {
                result,
                params,
                variadic,
            } => Some((*result, params, *variadic)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_types_have_their_ids() {
        let types = LlvmTypes::default();
        assert_eq!(types.kind(LlvmType::TOKEN), &LlvmTypeKind::Token);
        assert_eq!(types.kind(LlvmType::I32), &LlvmTypeKind::Int(32));
        assert_eq!(
            types.kind(LlvmType::PTR),
            &LlvmTypeKind::Pointer {
                space: 0,
                pointee: None
            }
        );
        assert_eq!(types.len(), WELL_KNOWN.len());
    }

    #[test]
    fn named_structs_are_their_own_types() {
        let mut types = LlvmTypes::default();
        let a = types.named_struct(LlvmSymbol::EMPTY);
        let b = types.named_struct(LlvmSymbol::EMPTY);
        assert_ne!(a, b);
        assert_eq!(types.make_int(7), types.make_int(7));
    }
}
