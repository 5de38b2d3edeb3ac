//! Parser of types.

use super::cursor::MlirParseResult;
use super::parser::MlirParser;
use crate::dialect;
use crate::mlir::{
    DimSize, IntegerSignedness, MlirFloat, MlirType, MlirTypeKind, QuantizationGranularity,
    QuantizedType, quantized,
};

/// Widest integer that MLIR has.
const MAX_WIDTH: u64 = (1 << 24) - 1;

impl MlirParser<'_> {
    /// A type, functions in parentheses included.
    pub fn parse_type(&mut self) -> MlirParseResult<MlirType> {
        self.cursor.enter_nesting()?;
        let ty = match self.cursor.peek_byte() {
            b'(' => self.function_type(),
            b'!' => self.dialect_type(),
            _ => self.word_type(),
        };
        self.cursor.leave_nesting();
        ty
    }

    fn function_type(&mut self) -> MlirParseResult<MlirType> {
        let (inputs, results) = self.parse_signature()?;
        Ok(self.module.types.intern(MlirTypeKind::Function {
            inputs: inputs.into(),
            results: results.into(),
        }))
    }

    /// `(types) -> type` or `(types) -> (types)`
    pub fn parse_signature(&mut self) -> MlirParseResult<(Vec<MlirType>, Vec<MlirType>)> {
        let inputs = self.types_in_parentheses()?;
        self.cursor.expect_punctuation("->")?;
        let results = self.result_types()?;
        Ok((inputs, results))
    }

    /// One type, or any number in parentheses.
    pub fn result_types(&mut self) -> MlirParseResult<Vec<MlirType>> {
        if self.cursor.peek_byte() == b'(' {
            return self.types_in_parentheses();
        }
        Ok(vec![self.parse_type()?])
    }

    pub fn types_in_parentheses(&mut self) -> MlirParseResult<Vec<MlirType>> {
        self.cursor.expect_punctuation("(")?;
        self.parse_list(")", MlirParser::parse_type)
    }

    /// A list of types with commas between.
    pub fn type_list(&mut self) -> MlirParseResult<Vec<MlirType>> {
        let mut all = vec![self.parse_type()?];
        while self.cursor.eat_punctuation(",") {
            all.push(self.parse_type()?);
        }
        Ok(all)
    }

    fn word_type(&mut self) -> MlirParseResult<MlirType> {
        let start = self.cursor.skip_to_start();
        let word = self.cursor.read_word();
        match word {
            "tensor" => self.parse_tensor_type(),
            "vector" => self.parse_vector_type(),
            "memref" => self.parse_memref_type(),
            "complex" => self.parse_complex_type(),
            "tuple" => {
                self.cursor.expect_punctuation("<")?;
                let members = self.parse_list(">", MlirParser::parse_type)?;
                Ok(self
                    .module
                    .types
                    .intern(MlirTypeKind::Tuple(members.into())))
            }
            "index" => Ok(self.module.types.intern(MlirTypeKind::Index)),
            "none" => Ok(self.module.types.intern(MlirTypeKind::None)),
            _ => match self.scalar_type_from_word(word) {
                Some(ty) => Ok(ty),
                None => {
                    self.cursor.pos = start;
                    self.cursor.report_expected("a type")
                }
            },
        }
    }

    fn scalar_type_from_word(&mut self, word: &str) -> Option<MlirType> {
        if let Some(float) = MlirFloat::from_name(word) {
            return Some(self.module.types.float_type(float));
        }
        let (sign, digits) = [
            (IntegerSignedness::Signed, "si"),
            (IntegerSignedness::Unsigned, "ui"),
            (IntegerSignedness::Signless, "i"),
        ]
        .into_iter()
        .find_map(|(sign, prefix)| Some((sign, word.strip_prefix(prefix)?)))?;
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let width = digits.parse::<u64>().ok().filter(|_| is_number)?;
        (1..=MAX_WIDTH).contains(&width).then(|| {
            self.module.types.intern(MlirTypeKind::Integer {
                width: width as u32,
                sign,
            })
        })
    }

    fn parse_complex_type(&mut self) -> MlirParseResult<MlirType> {
        self.cursor.expect_punctuation("<")?;
        let part = self.parse_type()?;
        self.cursor.expect_punctuation(">")?;
        match self.module.types.kind(part) {
            MlirTypeKind::Float(_) | MlirTypeKind::Integer { .. } => {}
            _ => {
                return self
                    .cursor
                    .report_error("a complex number has parts of a number's type");
            }
        }
        Ok(self.module.types.intern(MlirTypeKind::Complex(part)))
    }

    /// `2x?x3x`: sizes, each with an `x` after it.
    fn parse_dimensions(&mut self) -> MlirParseResult<Vec<DimSize>> {
        let mut shape = Vec::new();
        loop {
            let size = match self.cursor.peek_byte() {
                b'?' => {
                    self.cursor.pos += 1;
                    None
                }
                b'0'..=b'9' => Some(self.parse_size()?),
                _ => return Ok(shape),
            };
            shape.push(size);
            self.cursor.expect_punctuation("x")?;
        }
    }

    fn parse_size(&mut self) -> MlirParseResult<u64> {
        // `0x3` is a dimension of zero, not a number in hexadecimal.
        let start = self.cursor.skip_to_start();
        let size = self.cursor.read_digits()?;
        match i64::try_from(size) {
            Ok(_) => Ok(size),
            Err(_) => {
                let place = self.cursor.location_since(start);
                self.cursor
                    .error_at(place, "the dimension does not fit into 64 bits")
            }
        }
    }

    fn parse_tensor_type(&mut self) -> MlirParseResult<MlirType> {
        self.cursor.expect_punctuation("<")?;
        if self.cursor.eat_punctuation("*") {
            self.cursor.expect_punctuation("x")?;
            let element = self.parse_type()?;
            self.cursor.expect_punctuation(">")?;
            return Ok(self
                .module
                .types
                .intern(MlirTypeKind::UnrankedTensor(element)));
        }
        let shape = self.parse_dimensions()?;
        let start = self.cursor.skip_to_start();
        let element = self.parse_type()?;
        if let Some(why) = quantized::tensor_fault(&self.module.types, &shape, element) {
            return self.cursor.error_at(self.cursor.location_since(start), why);
        }
        let encoding = if self.cursor.eat_punctuation(",") {
            Some(self.parse_attribute()?)
        } else {
            None
        };
        self.cursor.expect_punctuation(">")?;
        Ok(self.module.types.intern(MlirTypeKind::Tensor {
            shape: shape.into(),
            element,
            encoding,
        }))
    }

    fn parse_vector_type(&mut self) -> MlirParseResult<MlirType> {
        self.cursor.expect_punctuation("<")?;
        let (mut shape, mut scalable) = (Vec::new(), Vec::new());
        loop {
            let is_scalable = self.cursor.eat_punctuation("[");
            if !is_scalable && !self.cursor.peek_byte().is_ascii_digit() {
                break;
            }
            self.cursor.skip_trivia();
            shape.push(self.parse_size()?);
            scalable.push(is_scalable);
            if is_scalable {
                self.cursor.expect_punctuation("]")?;
            }
            self.cursor.expect_punctuation("x")?;
        }
        let element = self.parse_type()?;
        self.cursor.expect_punctuation(">")?;
        Ok(self.module.types.intern(MlirTypeKind::Vector {
            shape: shape.into(),
            scalable: scalable.into(),
            element,
        }))
    }

    fn parse_memref_type(&mut self) -> MlirParseResult<MlirType> {
        self.cursor.expect_punctuation("<")?;
        let unranked = self.cursor.eat_punctuation("*");
        let shape: Box<[DimSize]> = if unranked {
            self.cursor.expect_punctuation("x")?;
            Box::default()
        } else {
            self.parse_dimensions()?.into()
        };
        let element = self.parse_type()?;
        let (mut layout, mut space) = (None, None);
        while self.cursor.eat_punctuation(",") {
            let attr = self.parse_attribute()?;
            if unranked || !self.is_layout(attr) {
                space = Some(attr);
            } else if !self.is_identity(attr, shape.len()) {
                layout = Some(attr);
            }
        }
        self.cursor.expect_punctuation(">")?;
        let kind = if unranked {
            MlirTypeKind::UnrankedMemRef { element, space }
        } else {
            MlirTypeKind::MemRef {
                shape,
                element,
                layout,
                space,
            }
        };
        Ok(self.module.types.intern(kind))
    }

    /// `!name` for an alias, `!dialect.name<…>` for a type of a dialect.
    fn dialect_type(&mut self) -> MlirParseResult<MlirType> {
        let start = self.cursor.skip_to_start();
        self.cursor.pos += 1;
        let name = self.symbol_suffix()?;
        if !name.contains('.') && self.cursor.current_byte() != b'<' {
            return self.type_alias(start);
        }
        let name = self.full_name(name)?;
        if name == "quant.uniform" {
            return self.parse_quantized_type(start);
        }
        if name == "stablehlo.future" {
            self.cursor.expect_punctuation("<")?;
            let members = self.parse_list(">", MlirParser::parse_type)?;
            let kind = MlirTypeKind::Future(members.into());
            return Ok(self.module.types.intern(kind));
        }
        let body = self.balanced_body()?;
        let name = dialect::shared_name(&name);
        let name = self.module.intern_text(&name);
        let body = self.module.intern_text(body);
        Ok(self
            .module
            .types
            .intern(MlirTypeKind::Dialect { name, body }))
    }

    /// The part after `!quant.uniform`, which begins at a position.
    fn parse_quantized_type(&mut self, start: usize) -> MlirParseResult<MlirType> {
        self.cursor.expect_punctuation("<")?;
        let storage = self.storage_type()?;
        let Some((mut min, mut max)) = quantized::storage_range(&self.module.types, storage) else {
            return self
                .cursor
                .report_error("quantised values are stored as integers of at most 32 bits");
        };
        if self.cursor.eat_punctuation("<") {
            min = self.cursor.read_signed_number()?;
            self.cursor.expect_punctuation(":")?;
            max = self.cursor.read_signed_number()?;
            self.cursor.expect_punctuation(">")?;
        }
        self.cursor.expect_punctuation(":")?;
        let expressed = self.parse_type()?;
        let mut axis = QuantizationGranularity::Tensor;
        let mut parameters = Vec::new();
        if self.cursor.eat_punctuation(":") {
            axis = match self.cursor.peek_byte() {
                b'{' => self.block_sizes()?,
                _ => QuantizationGranularity::Axis(self.cursor.read_number()?),
            };
            self.cursor.expect_punctuation(",")?;
            let mut shape = Vec::new();
            self.parse_scales(&mut parameters, &mut shape, 0)?;
            if let QuantizationGranularity::Blocks { shape: blocks, .. } = &mut axis {
                *blocks = shape.into();
            }
        } else {
            self.cursor.expect_punctuation(",")?;
            parameters.push(self.parse_scale()?);
        }
        self.cursor.expect_punctuation(">")?;
        let quantized = QuantizedType {
            storage,
            min,
            max,
            expressed,
            axis,
            parameters: parameters.into(),
        };
        if let Some(why) = quantized::find_quantized_fault(&self.module.types, &quantized) {
            return self.cursor.error_at(self.cursor.location_since(start), why);
        }
        let kind = MlirTypeKind::Quantized(Box::new(quantized));
        Ok(self.module.types.intern(kind))
    }

    /// `i8` or `u8`, the latter for `ui8`.
    fn storage_type(&mut self) -> MlirParseResult<MlirType> {
        let word = self.cursor.peek_word();
        let unsigned = word.strip_prefix('u').map(|digits| format!("ui{digits}"));
        match unsigned.and_then(|name| self.scalar_type_from_word(&name)) {
            Some(ty) => {
                self.cursor.read_word();
                Ok(ty)
            }
            None => self.parse_type(),
        }
    }

    /// `{dimension:size, …}`
    fn block_sizes(&mut self) -> MlirParseResult<QuantizationGranularity> {
        self.cursor.expect_punctuation("{")?;
        let sizes = self.parse_list("}", |parser| {
            let dimension = parser.cursor.read_number()?;
            parser.cursor.expect_punctuation(":")?;
            Ok((dimension, parser.cursor.read_number()?))
        })?;
        Ok(QuantizationGranularity::Blocks {
            sizes: sizes.into(),
            shape: Box::default(),
        })
    }

    /// `{…}` of scales or of further lists, which have equal lengths at each level.
    fn parse_scales(
        &mut self,
        out: &mut Vec<(u64, i64)>,
        shape: &mut Vec<u64>,
        level: usize,
    ) -> MlirParseResult<()> {
        self.cursor.enter_nesting()?;
        self.cursor.expect_punctuation("{")?;
        let mut count = 0;
        while !self.cursor.eat_punctuation("}") {
            if count > 0 {
                self.cursor.expect_punctuation(",")?;
            }
            count += 1;
            match self.cursor.peek_byte() {
                b'{' => self.parse_scales(out, shape, level + 1)?,
                _ => out.push(self.parse_scale()?),
            }
        }
        if shape.len() <= level {
            shape.resize(level + 1, 0);
        }
        shape[level] = count;
        self.cursor.leave_nesting();
        Ok(())
    }

    /// `scale` or `scale:zero point`
    fn parse_scale(&mut self) -> MlirParseResult<(u64, i64)> {
        let scale = self.float_literal()?;
        let zero = if self.cursor.eat_punctuation(":") {
            self.cursor.read_signed_number()?
        } else {
            0
        };
        Ok((scale.to_bits(), zero))
    }
}
