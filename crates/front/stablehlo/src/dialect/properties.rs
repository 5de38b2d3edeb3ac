//! Attributes of operations: their definitions, and typed records of their values.
//!
//! A record is a struct with a field for each attribute that something reads. The type of a field
//! says which constraint the attribute has to satisfy and whether it may be missing, so that the
//! struct is the definition as well. Verifier and translator read the same record; no other code
//! looks up an attribute of a known operation by its name.

use crate::mlir::{AttributeKind, MlirAttr, MlirModule, MlirOp, MlirTypeKind};

/// Constraint on an attribute of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttributeConstraint {
    /// `array<i64: …>`
    I64s,
    /// `array<i1: …>`
    Bools,
    /// An integer of this width; one of width 1 is a Boolean.
    Integer(u32),
    /// A string.
    String,
    /// A reference to a symbol.
    Symbol,
    /// A type.
    Type,
    /// `unit`
    Unit,
    /// A floating-point number.
    Float,
    /// Constant elements.
    Elements,
    /// A list of precisions.
    Precisions,
    /// An attribute of one of the dialects, by its name without dialect, such as `gather`.
    Dialect(&'static str),
    /// Any attribute.
    Any,
}

/// Definition of an attribute that belongs to an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttributeDefinition {
    /// Its name in the generic form.
    pub name: &'static str,
    /// The constraint of its value.
    pub constraint: AttributeConstraint,
    /// Whether it may be missing.
    pub is_optional: bool,
}

impl AttributeDefinition {
    /// The definition of an attribute whose values are of a type.
    pub const fn of_type<'m, T: AttributeValue<'m>>(name: &'static str) -> Self {
        AttributeDefinition {
            name,
            constraint: T::CONSTRAINT,
            is_optional: T::IS_OPTIONAL,
        }
    }
}

/// Type of the value of an attribute.
pub(crate) trait AttributeValue<'m>: Sized {
    /// The constraint that the verifier checks.
    const CONSTRAINT: AttributeConstraint;
    /// Whether the attribute may be missing.
    const IS_OPTIONAL: bool = false;

    /// The value of an attribute of this name; `None` if the attribute is of another kind.
    fn decode(module: &'m MlirModule, name: &'static str, attr: MlirAttr) -> Option<Self>;

    /// The value where the operation lacks the attribute.
    fn absent() -> Option<Self> {
        None
    }
}

/// An attribute that may be missing. One of another kind counts as missing.
impl<'m, T: AttributeValue<'m>> AttributeValue<'m> for Option<T> {
    const CONSTRAINT: AttributeConstraint = T::CONSTRAINT;
    const IS_OPTIONAL: bool = true;

    fn decode(module: &'m MlirModule, name: &'static str, attr: MlirAttr) -> Option<Self> {
        Some(T::decode(module, name, attr))
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// An operation lacks the attribute of this name, or has one of another kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MissingAttribute(pub &'static str);

/// Typed record of attributes of an operation.
pub(crate) trait AttributeRecord<'m>: Sized {
    /// The values that an operation has.
    ///
    /// # Errors
    /// The first attribute that is missing although it may not be.
    fn read(module: &'m MlirModule, op: MlirOp) -> Result<Self, MissingAttribute>;
}

/// The value of one attribute of an operation.
pub(super) fn read_attribute<'m, T: AttributeValue<'m>>(
    module: &'m MlirModule,
    op: MlirOp,
    name: &'static str,
) -> Result<T, MissingAttribute> {
    let value = match module.find_attribute(op, name) {
        Some(attr) => T::decode(module, name, attr),
        None => T::absent(),
    };
    value.ok_or(MissingAttribute(name))
}

/// The name of an attribute: its field's, unless it is given.
macro_rules! attribute_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}
pub(super) use attribute_name;

/// Definitions of attributes from their names and types.
macro_rules! define_attributes {
    ($($field:ident $(as $name:literal)?: $ty:ty),* $(,)?) => {
        &[$(
            $crate::dialect::properties::AttributeDefinition::of_type::<$ty>(
                $crate::dialect::properties::attribute_name!($field $($name)?),
            )
        ),*]
    };
}
pub(super) use define_attributes;

/// Defines a record of attributes. The attributes after `unread` belong to the operation, but have
/// no field, as nothing reads them.
macro_rules! attribute_record {
    (
        $(#[$doc:meta])*
        struct $record:ident<$module:lifetime> {
            $($field:ident $(as $name:literal)?: $ty:ty,)*
        }
        $(unread { $($more:ident $(as $more_name:literal)?: $more_ty:ty,)* })?
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) struct $record<$module> {
            $(pub $field: $ty,)*
        }
        $crate::dialect::properties::attribute_record!(@impl
            $record<$module>, $module,
            { $($field $(as $name)?: $ty,)* } { $($($more $(as $more_name)?: $more_ty,)*)? }
        );
    };
    (
        $(#[$doc:meta])*
        struct $record:ident {
            $($field:ident $(as $name:literal)?: $ty:ty,)*
        }
        $(unread { $($more:ident $(as $more_name:literal)?: $more_ty:ty,)* })?
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) struct $record {
            $(pub $field: $ty,)*
        }
        $crate::dialect::properties::attribute_record!(@impl
            $record, 'm,
            { $($field $(as $name)?: $ty,)* } { $($($more $(as $more_name)?: $more_ty,)*)? }
        );
    };
    (@impl
        $record:ty, $module:lifetime,
        { $($field:ident $(as $name:literal)?: $ty:ty,)* }
        { $($more:ident $(as $more_name:literal)?: $more_ty:ty,)* }
    ) => {
        impl<$module> $record {
            /// Definitions of all attributes that belong to the operation.
            #[allow(dead_code, reason = "some records are of attributes that several rows share")]
            pub const DEFINITIONS: &'static [$crate::dialect::properties::AttributeDefinition] =
                $crate::dialect::properties::define_attributes!(
                    $($field $(as $name)?: $ty,)* $($more $(as $more_name)?: $more_ty,)*
                );
        }

        impl<$module> $crate::dialect::properties::AttributeRecord<$module> for $record {
            fn read(
                module: &$module $crate::mlir::MlirModule,
                op: $crate::mlir::MlirOp,
            ) -> Result<Self, $crate::dialect::properties::MissingAttribute> {
                use $crate::dialect::properties::{attribute_name, read_attribute};
                Ok(Self {
                    $($field: read_attribute(module, op, attribute_name!($field $($name)?))?,)*
                })
            }
        }
    };
}
pub(super) use attribute_record;

/// An attribute in the kind that the operation's definition says: elements, as older texts have
/// them, become arrays.
pub(crate) fn normalise_attribute(
    module: &mut MlirModule,
    constraint: AttributeConstraint,
    attr: MlirAttr,
) -> MlirAttr {
    let width = match constraint {
        AttributeConstraint::I64s => 64,
        AttributeConstraint::Bools => 1,
        _ => return attr,
    };
    let AttributeKind::Elements(elements) = module.attributes.kind(attr) else {
        return attr;
    };
    let element = module.types.element_type(elements.ty);
    let shape = module.types.shape(elements.ty);
    let has_one_dimension = shape.is_some_and(|shape| shape.len() == 1);
    let is_integer =
        matches!(*module.types.kind(element), MlirTypeKind::Integer { width: w, .. } if w == width);
    if !has_one_dimension || !is_integer {
        return attr;
    }
    let Some(values) = module.as_integers(attr) else {
        return attr;
    };
    let bytes = width.div_ceil(8) as usize;
    let element = module.types.integer_type(width);
    let data = values
        .iter()
        .flat_map(|value| value.to_le_bytes().into_iter().take(bytes))
        .collect();
    let kind = AttributeKind::DenseArray { element, data };
    module.attributes.intern(kind)
}
