//! Encodings of types: of `builtin` (BuiltinDialectBytecode.td of MLIR), `stablehlo` and `vhlo`
//! (VhloBytecode.cpp of StableHLO). Types of `vhlo` are those that they are versions of.

use super::cursor::{BytecodeCursor, BytecodeResult};
use super::entries::BytecodeReader;
use crate::mlir::{
    DimSize, IntegerSignedness, MlirFloat, MlirType, MlirTypeKind, QuantizationGranularity,
    QuantizedType, quantized,
};

/// The number for "dynamic" among the sizes of a shape.
const DYNAMIC: i64 = i64::MIN;

/// Types of `vhlo` that are a number alone, with their names.
const VHLO_SCALARS: &[(u64, &str)] = &[
    (0, "i1"),
    (2, "bf16"),
    (3, "f16"),
    (4, "f32"),
    (5, "f64"),
    (6, "f8E4M3FN"),
    (7, "f8E5M2"),
    (9, "index"),
    (10, "i4"),
    (11, "i8"),
    (12, "i16"),
    (13, "i32"),
    (14, "i64"),
    (15, "ui4"),
    (16, "ui8"),
    (17, "ui16"),
    (18, "ui32"),
    (19, "ui64"),
    (27, "f8E4M3FNUZ"),
    (28, "f8E5M2FNUZ"),
    (29, "f8E4M3B11FNUZ"),
    (31, "i2"),
    (32, "ui2"),
    (33, "none"),
    (34, "tf32"),
    (35, "f8E4M3"),
    (36, "f8E3M4"),
    (37, "f4E2M1FN"),
    (38, "f6E2M3FN"),
    (39, "f6E3M2FN"),
    (40, "f8E8M0FNU"),
];

impl<'a> BytecodeReader<'a> {
    /// A type in the encoding of its dialect.
    pub fn custom_type(
        &mut self,
        dialect: &str,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<MlirType> {
        let code = data.read_varint()?;
        let kind = match dialect {
            "builtin" => self.builtin_type(code, data)?,
            "vhlo" => self.vhlo_type(code, data)?,
            "stablehlo" if code == 0 => self.make_token_type(),
            "stablehlo" if code == 1 => MlirTypeKind::Future(self.types_list(data)?),
            _ => return data.report_error(format!("type {code} of `{dialect}` is not known")),
        };
        Ok(self.module.types.intern(kind))
    }

    fn make_token_type(&mut self) -> MlirTypeKind {
        MlirTypeKind::Dialect {
            name: self.module.intern_text("stablehlo.token"),
            body: self.module.intern_text(""),
        }
    }

    fn builtin_type(
        &mut self,
        code: u64,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<MlirTypeKind> {
        Ok(match code {
            0 => self.integer_type(data)?,
            1 => MlirTypeKind::Index,
            2 => self.function_type(data)?,
            3 => MlirTypeKind::Float(MlirFloat::BF16),
            4 => MlirTypeKind::Float(MlirFloat::F16),
            5 => MlirTypeKind::Float(MlirFloat::F32),
            6 => MlirTypeKind::Float(MlirFloat::F64),
            9 => MlirTypeKind::Complex(self.read_type(data)?),
            12 => MlirTypeKind::None,
            13 => self.read_tensor_type(data, false)?,
            14 => self.read_tensor_type(data, true)?,
            15 => MlirTypeKind::Tuple(self.types_list(data)?),
            18 => MlirTypeKind::UnrankedTensor(self.read_type(data)?),
            19 => self.read_vector_type(data)?,
            _ => return data.report_error(format!("type {code} of `builtin` is not supported")),
        })
    }

    fn vhlo_type(
        &mut self,
        code: u64,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<MlirTypeKind> {
        let mut scalars = VHLO_SCALARS.iter();
        if let Some((_, name)) = scalars.find(|(row, _)| *row == code) {
            return Ok(make_scalar_type(name));
        }
        Ok(match code {
            1 => MlirTypeKind::Complex(self.read_type(data)?),
            8 => self.function_type(data)?,
            20 => self.read_tensor_type(data, false)?,
            21 => self.read_tensor_type(data, true)?,
            22 => self.make_token_type(),
            23 => MlirTypeKind::Tuple(self.types_list(data)?),
            24 => self.read_quantized_type(data)?,
            25 => MlirTypeKind::UnrankedTensor(self.read_type(data)?),
            30 => self.quantized_per_axis(data)?,
            42 => MlirTypeKind::Future(self.types_list(data)?),
            _ => return data.report_error(format!("type {code} of `vhlo` is not supported")),
        })
    }

    fn integer_type(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<MlirTypeKind> {
        let number = data.read_varint()?;
        let sign = match number & 3 {
            0 => IntegerSignedness::Signless,
            1 => IntegerSignedness::Signed,
            2 => IntegerSignedness::Unsigned,
            _ => return data.report_error("an integer type has an unknown sign"),
        };
        match number >> 2 {
            width @ 1..0x0100_0000 => Ok(MlirTypeKind::Integer {
                width: width as u32,
                sign,
            }),
            width => data.report_error(format!("there are no integers of {width} bits")),
        }
    }

    fn function_type(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<MlirTypeKind> {
        Ok(MlirTypeKind::Function {
            inputs: self.types_list(data)?,
            results: self.types_list(data)?,
        })
    }

    fn read_shape(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<Box<[DimSize]>> {
        let sizes = data.signed_list()?;
        let one = |size: i64| match (size, u64::try_from(size)) {
            (DYNAMIC, _) => Ok(None),
            (_, Ok(size)) => Ok(Some(size)),
            _ => data.report_error(format!("a dimension has the size {size}")),
        };
        sizes.into_iter().map(one).collect()
    }

    fn read_tensor_type(
        &mut self,
        data: &mut BytecodeCursor<'a>,
        encoded: bool,
    ) -> BytecodeResult<MlirTypeKind> {
        let encoding = if encoded {
            Some(self.read_attribute(data)?)
        } else {
            None
        };
        let (shape, element) = (self.read_shape(data)?, self.read_type(data)?);
        match quantized::tensor_fault(&self.module.types, &shape, element) {
            Some(why) => data.report_error(why),
            None => Ok(MlirTypeKind::Tensor {
                shape,
                element,
                encoding,
            }),
        }
    }

    fn read_vector_type(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<MlirTypeKind> {
        let shape: Option<Box<[u64]>> = self.read_shape(data)?.iter().copied().collect();
        let Some(shape) = shape else {
            return data.report_error("a vector has a dimension of unknown size");
        };
        Ok(MlirTypeKind::Vector {
            scalable: vec![false; shape.len()].into(),
            shape,
            element: self.read_type(data)?,
        })
    }

    /// The storage type of a quantised type. The lowest of the flags before it says whether it is
    /// signed; the type itself does not.
    fn storage_type(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<MlirType> {
        let is_signed = data.read_varint()? & 1 == 1;
        let ty = self.read_type(data)?;
        match *self.module.types.kind(ty) {
            MlirTypeKind::Integer { width, .. } if !is_signed => {
                let sign = IntegerSignedness::Unsigned;
                Ok(self
                    .module
                    .types
                    .intern(MlirTypeKind::Integer { width, sign }))
            }
            _ => Ok(ty),
        }
    }

    fn read_double(&mut self, data: &mut BytecodeCursor<'a>) -> BytecodeResult<u64> {
        data.read_signed_varint().map(|bits| bits as u64)
    }

    fn read_quantized_type(
        &mut self,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<MlirTypeKind> {
        let storage = self.storage_type(data)?;
        let expressed = self.read_type(data)?;
        let scale = self.read_double(data)?;
        let zero = data.read_signed_varint()?;
        let quantized = QuantizedType {
            storage,
            min: data.read_signed_varint()?,
            max: data.read_signed_varint()?,
            expressed,
            axis: QuantizationGranularity::Tensor,
            parameters: [(scale, zero)].into(),
        };
        self.check_quantized_type(quantized, data)
    }

    fn quantized_per_axis(
        &mut self,
        data: &mut BytecodeCursor<'a>,
    ) -> BytecodeResult<MlirTypeKind> {
        let storage = self.storage_type(data)?;
        let expressed = self.read_type(data)?;
        let axis = data.read_varint()?;
        let (min, max) = (data.read_signed_varint()?, data.read_signed_varint()?);
        let count = data.read_count()?;
        let scales: Vec<u64> = (0..count)
            .map(|_| self.read_double(data))
            .collect::<BytecodeResult<_>>()?;
        let zeros = data.signed_list()?;
        if zeros.len() != scales.len() {
            return data.report_error("scales and zero points differ in number");
        }
        let quantized = QuantizedType {
            storage,
            min,
            max,
            expressed,
            axis: QuantizationGranularity::Axis(axis),
            parameters: scales.into_iter().zip(zeros).collect(),
        };
        self.check_quantized_type(quantized, data)
    }

    fn check_quantized_type(
        &self,
        quantized: QuantizedType,
        data: &BytecodeCursor<'a>,
    ) -> BytecodeResult<MlirTypeKind> {
        match quantized::find_quantized_fault(&self.module.types, &quantized) {
            Some(why) => data.report_error(why),
            None => Ok(MlirTypeKind::Quantized(Box::new(quantized))),
        }
    }
}

/// A type that is a word.
fn make_scalar_type(name: &str) -> MlirTypeKind {
    let integer = |sign, digits: &str| MlirTypeKind::Integer {
        width: digits.parse().unwrap_or(1),
        sign,
    };
    match (MlirFloat::from_name(name), name) {
        (Some(float), _) => MlirTypeKind::Float(float),
        (_, "index") => MlirTypeKind::Index,
        (_, "none") => MlirTypeKind::None,
        _ => match (name.strip_prefix("ui"), name.strip_prefix('i')) {
            (Some(digits), _) => integer(IntegerSignedness::Unsigned, digits),
            (_, Some(digits)) => integer(IntegerSignedness::Signless, digits),
            _ => MlirTypeKind::None,
        },
    }
}
