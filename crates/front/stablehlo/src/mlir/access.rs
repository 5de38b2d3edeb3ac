//! Access to attributes of operations by name, and to the values of attributes.
//!
//! Every function returns `None` if the attribute is absent or of another kind.

use super::attribute::{AttributeKind, DialectBody, MlirAttr};
use super::id::MlirOp;
use super::module::{MlirModule, ResourceBlob};
use super::types::{MlirType, MlirTypeKind};

/// Constant elements: bytes as [`super::DenseElements`] describes them.
#[derive(Clone, Copy, Debug)]
pub struct ElementsRef<'a> {
    /// Type of the whole.
    pub ty: MlirType,
    /// Whether one element is stored for all.
    pub splat: bool,
    /// The bytes.
    pub data: &'a [u8],
}

impl MlirModule {
    /// An attribute of an operation, property or not.
    pub fn find_attribute(&self, op: MlirOp, name: &str) -> Option<MlirAttr> {
        let mut all = self
            .properties(op)
            .iter()
            .chain(self.discardable_attributes(op));
        all.find(|(key, _)| self.symbol_text(*key) == name)
            .map(|&(_, attr)| attr)
    }

    /// The kind of an attribute of an operation.
    fn find_attribute_kind(&self, op: MlirOp, name: &str) -> Option<&AttributeKind> {
        Some(self.attributes.kind(self.find_attribute(op, name)?))
    }

    /// Integers, such as `dimensions`, from a dense array, from elements or from an array.
    pub fn find_integers(&self, op: MlirOp, name: &str) -> Option<Vec<i64>> {
        self.as_integers(self.find_attribute(op, name)?)
    }

    /// A string, such as `call_target_name`.
    pub fn find_text(&self, op: MlirOp, name: &str) -> Option<&str> {
        match *self.find_attribute_kind(op, name)? {
            AttributeKind::String(text) => Some(self.symbol_text(text)),
            _ => None,
        }
    }

    /// The attributes of an array, such as `arg_attrs`; none where it is absent.
    pub fn find_list(&self, op: MlirOp, name: &str) -> &[MlirAttr] {
        match self.find_attribute_kind(op, name) {
            Some(AttributeKind::Array(list)) => list,
            _ => &[],
        }
    }

    /// The name that an operation defines as a symbol.
    pub fn symbol_name(&self, op: MlirOp) -> Option<&str> {
        self.find_text(op, "sym_name")
    }

    /// Constant elements, such as `value`.
    pub fn find_elements(&self, op: MlirOp, name: &str) -> Option<ElementsRef<'_>> {
        self.as_elements(self.find_attribute(op, name)?)
    }

    /// One of the fields of an attribute of a dialect, such as `lhs_contracting_dimensions` of
    /// `#stablehlo.dot`.
    pub fn find_field(&self, attr: MlirAttr, name: &str) -> Option<MlirAttr> {
        let fields = match self.attributes.kind(attr) {
            AttributeKind::Dialect {
                body: DialectBody::Fields(fields),
                ..
            }
            | AttributeKind::Dictionary(fields) => fields,
            _ => return None,
        };
        let mut fields = fields.iter();
        fields
            .find(|(key, _)| self.symbol_text(*key) == name)
            .map(|&(_, attr)| attr)
    }

    /// The text of a field, such as `mhlo.layout_mode`.
    pub fn field_text(&self, attr: MlirAttr, name: &str) -> Option<&str> {
        match self.attributes.kind(self.find_field(attr, name)?) {
            AttributeKind::String(text) => Some(self.symbol_text(*text)),
            _ => None,
        }
    }

    /// The integers of a field; an absent field has its default, no integers.
    pub fn field_integers(&self, attr: MlirAttr, name: &str) -> Vec<i64> {
        let field = self.find_field(attr, name);
        field
            .and_then(|field| self.as_integers(field))
            .unwrap_or_default()
    }

    /// The integer of a field; an absent field has its default, zero.
    pub fn field_integer(&self, attr: MlirAttr, name: &str) -> i64 {
        let field = self.find_field(attr, name);
        field
            .and_then(|field| self.as_integer(field))
            .unwrap_or_default()
    }

    /// An attribute as an integer.
    pub fn as_integer(&self, attr: MlirAttr) -> Option<i64> {
        match *self.attributes.kind(attr) {
            AttributeKind::Integer { value, .. } => i64::try_from(value).ok(),
            _ => None,
        }
    }

    /// An attribute as the word of an enumeration.
    pub fn as_keyword(&self, attr: MlirAttr) -> Option<&str> {
        match *self.attributes.kind(attr) {
            AttributeKind::Dialect {
                body: DialectBody::Keyword(word),
                ..
            } => Some(self.symbol_text(word)),
            _ => None,
        }
    }

    /// An attribute as integers of at most 64 bits. A splat is expanded to one number for each
    /// element.
    pub fn as_integers(&self, attr: MlirAttr) -> Option<Vec<i64>> {
        match self.attributes.kind(attr) {
            AttributeKind::DenseArray { element, data } => self.decode_integers(*element, data),
            AttributeKind::Elements(_) | AttributeKind::Resource { .. } => {
                let all = self.as_elements(attr)?;
                let mut numbers =
                    self.decode_integers(self.types.element_type(all.ty), all.data)?;
                if let (true, &[number]) = (all.splat, numbers.as_slice()) {
                    let count = usize::try_from(self.types.element_count(all.ty)?).ok()?;
                    // A splat may represent more elements than fit into memory.
                    (count <= MAX_SPLAT).then(|| numbers.resize(count, number))?;
                }
                Some(numbers)
            }
            AttributeKind::Array(list) => list.iter().map(|&attr| self.as_integer(attr)).collect(),
            _ => None,
        }
    }

    fn decode_integers(&self, element: MlirType, data: &[u8]) -> Option<Vec<i64>> {
        if !matches!(
            self.types.kind(element),
            MlirTypeKind::Integer { .. } | MlirTypeKind::Index
        ) {
            return None;
        }
        let width = self.types.element_bytes(element)?;
        if width == 0 || width > 8 {
            return None;
        }
        let decode = |bytes: &[u8]| self.extend_integer(element, bytes);
        data.chunks_exact(width).map(decode).collect()
    }

    /// The value of an integer element.
    fn extend_integer(&self, element: MlirType, bytes: &[u8]) -> Option<i64> {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        let value = u64::from_le_bytes(all);
        match *self.types.kind(element) {
            MlirTypeKind::Integer { width, sign } if width < 64 => {
                let signed = match sign {
                    super::IntegerSignedness::Unsigned => false,
                    super::IntegerSignedness::Signless => width > 1,
                    super::IntegerSignedness::Signed => true,
                };
                let shift = 64 - width;
                let extended = ((value << shift) as i64) >> shift;
                Some(if signed { extended } else { value as i64 })
            }
            _ => Some(value as i64),
        }
    }

    /// An attribute as constant elements; a resource is looked up.
    pub fn as_elements(&self, attr: MlirAttr) -> Option<ElementsRef<'_>> {
        match self.attributes.kind(attr) {
            AttributeKind::Elements(elements) => Some(ElementsRef {
                ty: elements.ty,
                splat: elements.splat,
                data: &elements.data,
            }),
            AttributeKind::Resource { key, ty } => {
                let builtin = self.find_symbol("builtin")?;
                let of = |r: &&ResourceBlob| r.dialect == builtin && r.key == *key;
                let blob = self.resources().iter().find(of)?;
                Some(ElementsRef {
                    ty: *ty,
                    splat: false,
                    data: &blob.data,
                })
            }
            _ => None,
        }
    }

    /// A function of the outermost module by its name.
    pub fn find_function(&self, name: &str) -> Option<MlirOp> {
        self.function_index.get(&self.find_symbol(name)?).copied()
    }
}

/// Maximum number of elements of a splat that is expanded to integers.
const MAX_SPLAT: usize = 1 << 24;
