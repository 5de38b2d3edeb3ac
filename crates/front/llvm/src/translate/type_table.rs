//! Type table: the SPIR-V types that LLVM's types were translated to, and their properties.

use super::shapes::NumericShape;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::{Id, IdMap};

/// The translated types of a module.
pub(super) struct TranslatedTypeTable {
    pub(super) register: Vec<Option<Id>>,
    pub(super) memory: Vec<Option<Id>>,
    /// Properties of types, by the numbers in `numbers`, which count from 1. The rows are compact
    /// because few ids are types.
    pub(super) rows: Vec<TypeRow>,
    pub(super) numbers: IdMap<u32>,
    /// By type: its shape, if it has one.
    pub(super) shapes: Vec<Option<NumericShape>>,
    /// The types of the first shapes that were requested.
    pub(super) common_shapes: Vec<(NumericShape, Id)>,
    /// By type: whether its vectors are scalarised. Empty if none are.
    pub(super) scalarised: Vec<bool>,
    /// Whether there are integers of several limbs.
    pub(super) has_wide_integers: bool,
}

/// Properties of a SPIR-V type.
#[derive(Clone, Debug, Default)]
pub(super) struct TypeRow {
    /// The types of pointers to it by storage class.
    pub(super) pointers: [Option<Id>; CLASSES],
    /// Of pointer types.
    pub(super) pointee: Option<(StorageClass, Id)>,
    /// The type of the first member, for aggregates and vectors.
    pub(super) first_member: Option<Id>,
}

/// Number of shapes whose types are found without a look-up: more than most modules have.
pub(super) const COMMON_SHAPES: usize = 12;

/// Number of storage classes with a pointer type in the table: all that Kernel modules have.
pub(super) const CLASSES: usize = 9;

impl TranslatedTypeTable {
    pub(super) fn new(types: usize) -> Self {
        TranslatedTypeTable {
            register: vec![None; types],
            memory: vec![None; types],
            rows: Vec::new(),
            numbers: IdMap::new(0, 0),
            shapes: Vec::new(),
            common_shapes: Vec::new(),
            scalarised: Vec::new(),
            has_wide_integers: false,
        }
    }

    pub(super) fn find_row(&self, ty: Id) -> Option<&TypeRow> {
        self.rows.get((self.numbers[ty] as usize).wrapping_sub(1))
    }

    pub(super) fn row_mut(&mut self, ty: Id) -> &mut TypeRow {
        let number = self.numbers.get_mut(ty);
        if *number == 0 {
            self.rows.push(TypeRow::default());
            *number = self.rows.len() as u32;
        }
        &mut self.rows[*number as usize - 1]
    }
}
