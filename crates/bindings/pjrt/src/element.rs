//! Types of elements: those of PJRT, and their names in StableHLO.

use crate::error::{PluginError, PluginResult};
use crate::generated::PjrtBufferType;
use spirula_program::ScalarType;
use spirula_stablehlo::memory_layout::DimensionOrder;

/// A type of elements.
#[derive(Debug, PartialEq, Eq)]
pub struct ElementFormat {
    /// The type in PJRT.
    pub code: PjrtBufferType,
    /// The name in StableHLO.
    pub name: &'static str,
    /// The type of a component in programs.
    pub scalar: ScalarType,
    /// Whether it is an integer without a sign.
    pub is_unsigned: bool,
    /// Number of components: 2 for complex numbers.
    pub components: u64,
}

/// A row of the table.
const fn format(code: PjrtBufferType, name: &'static str, scalar: ScalarType) -> ElementFormat {
    ElementFormat {
        code,
        name,
        scalar,
        is_unsigned: matches!(name.as_bytes(), [b'u', ..]),
        components: if matches!(name.as_bytes(), [b'c', ..]) {
            2
        } else {
            1
        },
    }
}

/// All types. Elements that are narrower than a byte take one.
static FORMATS: &[ElementFormat] = &[
    format(PjrtBufferType::PRED, "i1", ScalarType::Bool),
    format(PjrtBufferType::S2, "i2", ScalarType::I8),
    format(PjrtBufferType::S4, "i4", ScalarType::I8),
    format(PjrtBufferType::S8, "i8", ScalarType::I8),
    format(PjrtBufferType::S16, "i16", ScalarType::I16),
    format(PjrtBufferType::S32, "i32", ScalarType::I32),
    format(PjrtBufferType::S64, "i64", ScalarType::I64),
    format(PjrtBufferType::U2, "ui2", ScalarType::I8),
    format(PjrtBufferType::U4, "ui4", ScalarType::I8),
    format(PjrtBufferType::U8, "ui8", ScalarType::I8),
    format(PjrtBufferType::U16, "ui16", ScalarType::I16),
    format(PjrtBufferType::U32, "ui32", ScalarType::I32),
    format(PjrtBufferType::U64, "ui64", ScalarType::I64),
    format(PjrtBufferType::F16, "f16", ScalarType::F16),
    format(PjrtBufferType::F32, "f32", ScalarType::F32),
    format(PjrtBufferType::F64, "f64", ScalarType::F64),
    format(PjrtBufferType::BF16, "bf16", ScalarType::I16),
    format(PjrtBufferType::C64, "complex<f32>", ScalarType::F32),
    format(PjrtBufferType::C128, "complex<f64>", ScalarType::F64),
    format(PjrtBufferType::F8E5M2, "f8E5M2", ScalarType::I8),
    format(PjrtBufferType::F8E4M3, "f8E4M3", ScalarType::I8),
    format(PjrtBufferType::F8E4M3FN, "f8E4M3FN", ScalarType::I8),
    format(
        PjrtBufferType::F8E4M3B11FNUZ,
        "f8E4M3B11FNUZ",
        ScalarType::I8,
    ),
    format(PjrtBufferType::F8E5M2FNUZ, "f8E5M2FNUZ", ScalarType::I8),
    format(PjrtBufferType::F8E4M3FNUZ, "f8E4M3FNUZ", ScalarType::I8),
    format(PjrtBufferType::F8E3M4, "f8E3M4", ScalarType::I8),
    format(PjrtBufferType::F8E8M0FNU, "f8E8M0FNU", ScalarType::I8),
    format(PjrtBufferType::F4E2M1FN, "f4E2M1FN", ScalarType::I8),
    format(F6E2M3FN, "f6E2M3FN", ScalarType::I8),
    format(F6E3M2FN, "f6E3M2FN", ScalarType::I8),
];

/// Types of floats of six bits, which jaxlib 0.11.2 has and the published header lacks.
const F6E2M3FN: PjrtBufferType = PjrtBufferType(32);
const F6E3M2FN: PjrtBufferType = PjrtBufferType(33);

impl ElementFormat {
    /// The type of a code of PJRT.
    ///
    /// # Errors
    /// When arrays have no such elements.
    pub fn from_code(code: PjrtBufferType) -> PluginResult<&'static ElementFormat> {
        let found = FORMATS.iter().find(|format| format.code == code);
        found.ok_or_else(|| {
            let message = format!("arrays of the element type {} are not supported", code.0);
            PluginError::unimplemented(message)
        })
    }

    /// The type of a name in StableHLO.
    ///
    /// # Errors
    /// When PJRT has no such type.
    pub fn from_name(name: &str) -> PluginResult<&'static ElementFormat> {
        let found = FORMATS.iter().find(|format| format.name == name);
        found.ok_or_else(|| {
            let message = format!("arguments and results of type {name} are not supported");
            PluginError::unimplemented(message)
        })
    }

    /// Bits of an integer that is narrower than its byte.
    fn narrow_bits(&self) -> Option<u32> {
        match self.name {
            "i2" | "ui2" => Some(2),
            "i4" | "ui4" => Some(4),
            _ => None,
        }
    }

    /// Numbers of the host as programs have them. The host leaves the upper bits of a narrow integer open, and programs
    /// have it extended to its byte. `None` where nothing differs.
    pub fn extend_narrow(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let unused = 8 - self.narrow_bits()?;
        let extend = |byte: &u8| {
            if self.is_unsigned {
                byte << unused >> unused
            } else {
                ((byte << unused) as i8 >> unused) as u8
            }
        };
        Some(bytes.iter().map(extend).collect())
    }

    /// Adds elements to others. Zeros are added to elements of any type.
    ///
    /// # Errors
    /// When elements of this type are not added here.
    pub fn add_elements(&self, to: &mut [u8], from: &[u8]) -> PluginResult<()> {
        if from.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        macro_rules! add {
            ($ty:ty, $sum:expr) => {{
                let size = size_of::<$ty>();
                for (to, from) in to.chunks_exact_mut(size).zip(from.chunks_exact(size)) {
                    let mut words = [[0; size_of::<$ty>()]; 2];
                    words[0].copy_from_slice(to);
                    words[1].copy_from_slice(from);
                    let [a, b] = words.map(<$ty>::from_le_bytes);
                    to.copy_from_slice(&$sum(a, b).to_le_bytes());
                }
            }};
        }
        match (self.scalar, self.name) {
            (ScalarType::F32, _) => add!(f32, |a: f32, b: f32| a + b),
            (ScalarType::F64, _) => add!(f64, |a: f64, b: f64| a + b),
            (ScalarType::I8, "i8" | "ui8") => add!(u8, u8::wrapping_add),
            (ScalarType::I16, "i16" | "ui16") => add!(u16, u16::wrapping_add),
            (ScalarType::I32, _) => add!(u32, u32::wrapping_add),
            (ScalarType::I64, _) => add!(u64, u64::wrapping_add),
            _ => {
                let message = format!("sums of arguments of type {} are not supported", self.name);
                return Err(PluginError::unimplemented(message));
            }
        }
        Ok(())
    }

    /// Bytes of an element.
    pub fn size(&self) -> u64 {
        self.scalar.size() * self.components
    }
}

/// The type of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayType {
    pub format: &'static ElementFormat,
    pub sizes: Vec<i64>,
    /// The order of the dimensions in memory; `None` for rows.
    order: Option<DimensionOrder>,
}

impl ArrayType {
    /// An array type whose bytes can be counted.
    ///
    /// # Errors
    /// When it has more bytes than an address can count.
    pub fn new(format: &'static ElementFormat, sizes: Vec<i64>) -> PluginResult<ArrayType> {
        let mut product = Some(format.size());
        if !sizes.contains(&0) {
            for size in &sizes {
                product = product.and_then(|product| product.checked_mul(size.unsigned_abs()));
            }
        }
        match product.filter(|bytes| *bytes <= isize::MAX as u64) {
            Some(_) => Ok(ArrayType {
                format,
                sizes,
                order: None,
            }),
            None => Err(PluginError::new(
                crate::generated::PjrtErrorCode::RESOURCE_EXHAUSTED,
                format!("an array of the sizes {sizes:?} is too large"),
            )),
        }
    }

    /// The type with an order of its dimensions in memory.
    ///
    /// # Errors
    /// When the order is for another number of dimensions.
    pub fn with_order(self, order: DimensionOrder) -> PluginResult<ArrayType> {
        if order.major_to_minor().len() != self.sizes.len() {
            let message = "a layout is for another number of dimensions";
            return Err(PluginError::invalid(message));
        }
        Ok(ArrayType {
            order: Some(order).filter(|order| !order.is_rows()),
            ..self
        })
    }

    /// The type with other sizes of its dimensions.
    ///
    /// # Errors
    /// As [`ArrayType::new`].
    pub fn with_sizes(&self, sizes: Vec<i64>) -> PluginResult<ArrayType> {
        let array = ArrayType::new(self.format, sizes)?;
        match &self.order {
            Some(order) => array.with_order(order.clone()),
            None => Ok(array),
        }
    }

    /// The type of arrays that are stored as rows of another type.
    ///
    /// # Errors
    /// As [`ArrayType::with_order`].
    pub fn from_rows(rows: ArrayType, order: DimensionOrder) -> PluginResult<ArrayType> {
        let mut array = rows.with_order(order)?;
        if let Some(order) = &array.order {
            array.sizes = order.restore(&array.sizes);
        }
        Ok(array)
    }

    /// The rows that arrays of this type are in memory.
    pub fn to_rows(&self) -> ArrayType {
        ArrayType {
            format: self.format,
            sizes: self.permute(&self.sizes),
            order: None,
        }
    }

    /// Values of the dimensions, in the order of memory.
    pub fn permute<T: Clone>(&self, values: &[T]) -> Vec<T> {
        match &self.order {
            Some(order) => order.permute(values),
            None => values.to_vec(),
        }
    }

    /// Bytes of all elements.
    pub fn byte_count(&self) -> u64 {
        let sizes = self.sizes.iter().map(|size| size.unsigned_abs());
        sizes.product::<u64>() * self.format.size()
    }

    /// The sizes as programs have them, in the order of memory: complex numbers have a last dimension for their components.
    pub fn program_sizes(&self) -> Vec<u64> {
        let mut sizes: Vec<u64> = self.sizes.iter().map(|size| size.unsigned_abs()).collect();
        if let Some(order) = &self.order {
            sizes = order.permute(&sizes);
        }
        if self.format.components > 1 {
            sizes.push(self.format.components);
        }
        sizes
    }

    /// The type as MLIR writes it.
    pub fn to_mlir_text(&self) -> String {
        let sizes = self.sizes.iter().map(|size| format!("{size}x"));
        format!("tensor<{}{}>", sizes.collect::<String>(), self.format.name)
    }

    /// Whether programs hold it as a scalar.
    pub fn is_scalar(&self) -> bool {
        self.sizes.is_empty() && self.format.components == 1
    }

    /// Dimensions from the minor to the major.
    pub fn minor_to_major(&self) -> Vec<i64> {
        match &self.order {
            Some(order) => {
                let minor_first = order.major_to_minor().iter().rev();
                minor_first.map(|at| *at as i64).collect()
            }
            None => (0..self.sizes.len() as i64).rev().collect(),
        }
    }

    /// Steps in bytes of dense rows, as the host has them.
    pub fn row_strides(&self) -> Vec<i64> {
        let order: Vec<i64> = (0..self.sizes.len() as i64).rev().collect();
        self.byte_strides(&order)
    }

    /// Steps in bytes from one element of a dimension to the next, where the dimensions have this order.
    pub fn byte_strides(&self, minor_to_major: &[i64]) -> Vec<i64> {
        let mut strides = vec![0; self.sizes.len()];
        let mut step = self.format.size() as i64;
        for dimension in minor_to_major {
            strides[*dimension as usize] = step;
            step *= self.sizes[*dimension as usize].max(1);
        }
        strides
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_integers_are_extended() {
        let extend = |name: &str, bytes: &[u8]| {
            let format = ElementFormat::from_name(name).unwrap();
            format.extend_narrow(bytes)
        };
        assert_eq!(
            extend("i4", &[0x0f, 0xff, 0x07, 0x78]),
            Some(vec![0xff, 0xff, 7, 0xf8])
        );
        assert_eq!(extend("ui4", &[0xff, 0x18]), Some(vec![15, 8]));
        assert_eq!(extend("i2", &[2, 1]), Some(vec![0xfe, 1]));
        assert_eq!(extend("i8", &[0x0f]), None);
    }

    #[test]
    fn formats_are_found_by_code_and_name() {
        for format in FORMATS {
            assert_eq!(ElementFormat::from_code(format.code).unwrap(), format);
            assert_eq!(ElementFormat::from_name(format.name).unwrap(), format);
        }
        assert!(ElementFormat::from_code(PjrtBufferType::TOKEN).is_err());
        assert!(ArrayType::new(&FORMATS[0], vec![i64::MAX, 2]).is_err());
    }
}
