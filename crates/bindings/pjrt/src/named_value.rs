//! Named values: options of clients, and attributes of devices and plugins.

use crate::boundary::{SizedStruct, read_struct};
use crate::error::{PluginError, PluginResult};
use crate::generated::{PjrtNamedValue, PjrtNamedValueType, PjrtNamedValueVariant};
use crate::handle::get_text;
use std::ptr::null_mut;

/// A value with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedValue {
    pub name: String,
    pub value: OptionValue,
}

/// A value of an option or attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    Text(String),
    Integer(i64),
    Integers(Vec<i64>),
    Number(f32),
    Truth(bool),
}

impl NamedValue {
    /// A value with a name.
    pub fn new(name: &str, value: OptionValue) -> NamedValue {
        NamedValue {
            name: name.to_owned(),
            value,
        }
    }

    /// Reads the values of a caller.
    pub unsafe fn read_all(first: *const PjrtNamedValue, count: usize) -> PluginResult<Vec<Self>> {
        let values = (0..count).map(|at| NamedValue::read(first.wrapping_add(at)));
        values.collect()
    }

    unsafe fn read(from: *const PjrtNamedValue) -> PluginResult<Self> {
        let given = read_struct(from)?;
        let name = get_text(given.name, given.name_size)?;
        let value = match given.ty {
            PjrtNamedValueType::STRING => {
                OptionValue::Text(get_text(given.variant.string_value, given.value_size)?)
            }
            PjrtNamedValueType::INT64 => OptionValue::Integer(given.variant.int64_value),
            PjrtNamedValueType::INT64_LIST => {
                let first = given.variant.int64_array_value;
                let numbers = crate::handle::get_slice(first, given.value_size)?;
                OptionValue::Integers(numbers.to_vec())
            }
            PjrtNamedValueType::FLOAT => OptionValue::Number(given.variant.float_value),
            PjrtNamedValueType::BOOL => OptionValue::Truth(given.variant.bool_value != 0),
            PjrtNamedValueType(other) => {
                let message = format!("the value {name} is of the unknown type {other}");
                return Err(PluginError::invalid(message));
            }
        };
        Ok(NamedValue { name, value })
    }

    /// The value as C sees it. It refers to this one.
    fn as_raw(&self) -> PjrtNamedValue {
        let (ty, variant, value_size) = match &self.value {
            OptionValue::Text(text) => {
                let string_value = text.as_ptr().cast();
                let variant = PjrtNamedValueVariant { string_value };
                (PjrtNamedValueType::STRING, variant, text.len())
            }
            OptionValue::Integer(int64_value) => {
                let int64_value = *int64_value;
                let variant = PjrtNamedValueVariant { int64_value };
                (PjrtNamedValueType::INT64, variant, 1)
            }
            OptionValue::Integers(numbers) => {
                let int64_array_value = numbers.as_ptr();
                let variant = PjrtNamedValueVariant { int64_array_value };
                (PjrtNamedValueType::INT64_LIST, variant, numbers.len())
            }
            OptionValue::Number(float_value) => {
                let float_value = *float_value;
                let variant = PjrtNamedValueVariant { float_value };
                (PjrtNamedValueType::FLOAT, variant, 1)
            }
            OptionValue::Truth(truth) => {
                let bool_value = u8::from(*truth);
                let variant = PjrtNamedValueVariant { bool_value };
                (PjrtNamedValueType::BOOL, variant, 1)
            }
        };
        PjrtNamedValue {
            struct_size: PjrtNamedValue::SIZE,
            extension_start: null_mut(),
            name: self.name.as_ptr().cast(),
            name_size: self.name.len(),
            ty,
            variant,
            value_size,
        }
    }
}

/// Named values with the array of them that C reads.
pub struct NamedValueList {
    /// The texts and numbers that `raw` refers to, which stay where they are.
    _values: Box<[NamedValue]>,
    raw: Vec<PjrtNamedValue>,
}

// SAFETY: the pointers refer to values of the list, which never change.
unsafe impl Send for NamedValueList {}
// SAFETY: as above.
unsafe impl Sync for NamedValueList {}

impl NamedValueList {
    /// A list of values.
    pub fn new(values: Vec<NamedValue>) -> NamedValueList {
        let values = values.into_boxed_slice();
        NamedValueList {
            raw: values.iter().map(NamedValue::as_raw).collect(),
            _values: values,
        }
    }

    /// The first value.
    pub fn as_ptr(&self) -> *const PjrtNamedValue {
        self.raw.as_ptr()
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.raw.len()
    }
}
