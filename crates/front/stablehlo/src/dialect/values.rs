//! Types of the values of attributes.

use super::keywords::PrecisionLevel;
use super::properties::{AttributeConstraint, AttributeValue};
use crate::mlir::{AttributeKind, ElementsRef, MlirAttr, MlirModule, MlirType, MlirTypeKind};

/// A list of integers, with the name of its attribute or field for messages.
#[derive(Clone, Debug)]
pub(crate) struct IntegerList {
    pub name: &'static str,
    pub values: Vec<i64>,
}

impl<'m> AttributeValue<'m> for IntegerList {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::I64s;

    fn decode(module: &'m MlirModule, name: &'static str, attr: MlirAttr) -> Option<Self> {
        let values = module.as_integers(attr)?;
        Some(IntegerList { name, values })
    }
}

/// A list of Booleans, which are 0 and 1.
#[derive(Clone, Debug)]
pub(crate) struct BooleanList(pub IntegerList);

impl<'m> AttributeValue<'m> for BooleanList {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Bools;

    fn decode(module: &'m MlirModule, name: &'static str, attr: MlirAttr) -> Option<Self> {
        IntegerList::decode(module, name, attr).map(BooleanList)
    }
}

/// The integers of constant elements of any shape, in row-major order. Elements that are no
/// integers are none.
#[derive(Clone, Debug)]
pub(crate) struct IntegerElements(pub IntegerList);

impl<'m> AttributeValue<'m> for IntegerElements {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Elements;

    fn decode(module: &'m MlirModule, name: &'static str, attr: MlirAttr) -> Option<Self> {
        let values = module.as_integers(attr).unwrap_or_default();
        Some(IntegerElements(IntegerList { name, values }))
    }
}

/// An integer of 64 bits, with the name of its attribute for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedInteger {
    pub name: &'static str,
    pub value: i64,
}

impl<'m> AttributeValue<'m> for NamedInteger {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Integer(64);

    fn decode(module: &'m MlirModule, name: &'static str, attr: MlirAttr) -> Option<Self> {
        let value = module.as_integer(attr)?;
        Some(NamedInteger { name, value })
    }
}

impl<'m> AttributeValue<'m> for i64 {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Integer(64);

    fn decode(module: &'m MlirModule, _name: &'static str, attr: MlirAttr) -> Option<Self> {
        module.as_integer(attr)
    }
}

impl<'m> AttributeValue<'m> for i32 {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Integer(32);

    fn decode(module: &'m MlirModule, _name: &'static str, attr: MlirAttr) -> Option<Self> {
        i32::try_from(module.as_integer(attr)?).ok()
    }
}

impl<'m> AttributeValue<'m> for bool {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Integer(1);

    fn decode(module: &'m MlirModule, _name: &'static str, attr: MlirAttr) -> Option<Self> {
        Some(module.as_integer(attr)? != 0)
    }
}

impl<'m> AttributeValue<'m> for f64 {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Float;

    fn decode(module: &'m MlirModule, _name: &'static str, attr: MlirAttr) -> Option<Self> {
        let AttributeKind::Float { bits, ty } = *module.attributes.kind(attr) else {
            return None;
        };
        match *module.types.kind(ty) {
            MlirTypeKind::Float(float) => Some(float.format().decode_bits(bits)),
            _ => None,
        }
    }
}

/// A string. One whose bytes are no UTF-8 is empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StringValue<'m>(pub &'m str);

impl<'m> AttributeValue<'m> for StringValue<'m> {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::String;

    fn decode(module: &'m MlirModule, _name: &'static str, attr: MlirAttr) -> Option<Self> {
        match *module.attributes.kind(attr) {
            AttributeKind::String(text) => Some(StringValue(module.symbol_text(text))),
            AttributeKind::Bytes(_) => Some(StringValue("")),
            _ => None,
        }
    }
}

/// The last name of a reference to a symbol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SymbolName<'m>(pub &'m str);

impl<'m> AttributeValue<'m> for SymbolName<'m> {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Symbol;

    fn decode(module: &'m MlirModule, _name: &'static str, attr: MlirAttr) -> Option<Self> {
        match module.attributes.kind(attr) {
            AttributeKind::SymbolRef(path) => {
                let name = module.symbol_text(*path.last()?);
                Some(SymbolName(name))
            }
            _ => None,
        }
    }
}

/// A list with references to symbols: the last name of each, `None` for a member of another kind.
#[derive(Clone, Debug)]
pub(crate) struct SymbolNames<'m>(pub Vec<Option<SymbolName<'m>>>);

impl<'m> AttributeValue<'m> for SymbolNames<'m> {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Any;

    fn decode(module: &'m MlirModule, name: &'static str, attr: MlirAttr) -> Option<Self> {
        let AttributeKind::Array(list) = module.attributes.kind(attr) else {
            return None;
        };
        let names = list
            .iter()
            .map(|&attr| SymbolName::decode(module, name, attr));
        Some(SymbolNames(names.collect()))
    }
}

impl<'m> AttributeValue<'m> for MlirType {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Type;

    fn decode(module: &'m MlirModule, _name: &'static str, attr: MlirAttr) -> Option<Self> {
        match *module.attributes.kind(attr) {
            AttributeKind::Type(ty) => Some(ty),
            _ => None,
        }
    }
}

/// Constant elements, which are decoded when they are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ElementsAttribute(pub MlirAttr);

impl ElementsAttribute {
    /// The elements; `None` if the attribute has none.
    pub fn elements(self, module: &MlirModule) -> Option<ElementsRef<'_>> {
        module.as_elements(self.0)
    }
}

impl<'m> AttributeValue<'m> for ElementsAttribute {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Elements;

    fn decode(_module: &'m MlirModule, _name: &'static str, attr: MlirAttr) -> Option<Self> {
        Some(ElementsAttribute(attr))
    }
}

/// Numbers of values of the groups that operands or results consist of, decoded from an array of
/// integers of any width.
#[derive(Clone, Debug)]
pub(crate) struct SegmentSizes(pub Vec<i64>);

impl<'m> AttributeValue<'m> for SegmentSizes {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Any;

    fn decode(module: &'m MlirModule, _name: &'static str, attr: MlirAttr) -> Option<Self> {
        module.as_integers(attr).map(SegmentSizes)
    }
}

/// Any attribute.
impl<'m> AttributeValue<'m> for MlirAttr {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Any;

    fn decode(_module: &'m MlirModule, _name: &'static str, attr: MlirAttr) -> Option<Self> {
        Some(attr)
    }
}

/// `unit`: its presence is its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitAttribute;

impl<'m> AttributeValue<'m> for UnitAttribute {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Unit;

    fn decode(_module: &'m MlirModule, _name: &'static str, _attr: MlirAttr) -> Option<Self> {
        Some(UnitAttribute)
    }
}

/// Precisions of the operands of a product. An operation without any has the default precision.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PrecisionConfig {
    pub count: usize,
    /// Whether an operand has the highest precision.
    pub is_highest: bool,
}

impl<'m> AttributeValue<'m> for PrecisionConfig {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Precisions;

    fn decode(module: &'m MlirModule, name: &'static str, attr: MlirAttr) -> Option<Self> {
        match module.attributes.kind(attr) {
            AttributeKind::Array(list) => {
                let levels = list
                    .iter()
                    .map(|level| PrecisionLevel::decode(module, name, *level));
                let levels = levels.collect::<Option<Vec<_>>>()?;
                Some(PrecisionConfig {
                    count: levels.len(),
                    is_highest: levels.contains(&PrecisionLevel::Highest),
                })
            }
            _ => None,
        }
    }
}

/// `#stablehlo.channel_handle<…>`, whose number nothing reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChannelHandle;

impl<'m> AttributeValue<'m> for ChannelHandle {
    const CONSTRAINT: AttributeConstraint = AttributeConstraint::Dialect("channel_handle");

    fn decode(_module: &'m MlirModule, _name: &'static str, _attr: MlirAttr) -> Option<Self> {
        Some(ChannelHandle)
    }
}
