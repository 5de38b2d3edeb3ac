//! Types.

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
        self.cursor.enter()?;
        let ty = match self.cursor.peek() {
            b'(' => self.function_type(),
            b'!' => self.dialect_type(),
            _ => self.word_type(),
        };
        self.cursor.leave();
        ty
    }

    fn function_type(&mut self) -> MlirParseResult<MlirType> {
        let (inputs, results) = self.signature()?;
        Ok(self.module.types.intern(MlirTypeKind::Function {
            inputs: inputs.into(),
            results: results.into(),
        }))
    }

    /// `(types) -> type` or `(types) -> (types)`
    pub fn signature(&mut self) -> MlirParseResult<(Vec<MlirType>, Vec<MlirType>)> {
        let inputs = self.types_in_parentheses()?;
        self.cursor.expect("->")?;
        let results = self.result_types()?;
        Ok((inputs, results))
    }

    /// One type, or any number in parentheses.
    pub fn result_types(&mut self) -> MlirParseResult<Vec<MlirType>> {
        if self.cursor.peek() == b'(' {
            return self.types_in_parentheses();
        }
        Ok(vec![self.parse_type()?])
    }

    pub fn types_in_parentheses(&mut self) -> MlirParseResult<Vec<MlirType>> {
        self.cursor.expect("(")?;
        self.list(")", MlirParser::parse_type)
    }

    /// Types with commas between.
    pub fn type_list(&mut self) -> MlirParseResult<Vec<MlirType>> {
        let mut all = vec![self.parse_type()?];
        while self.cursor.eat(",") {
            all.push(self.parse_type()?);
        }
        Ok(all)
    }

    fn word_type(&mut self) -> MlirParseResult<MlirType> {
        let start = self.cursor.start();
        let word = self.cursor.word();
        match word {
            "tensor" => self.tensor(),
            "vector" => self.vector(),
            "memref" => self.memref(),
            "complex" => self.complex(),
            "tuple" => {
                self.cursor.expect("<")?;
                let members = self.list(">", MlirParser::parse_type)?;
                Ok(self
                    .module
                    .types
                    .intern(MlirTypeKind::Tuple(members.into())))
            }
            "index" => Ok(self.module.types.intern(MlirTypeKind::Index)),
            "none" => Ok(self.module.types.intern(MlirTypeKind::None)),
            _ => match self.scalar(word) {
                Some(ty) => Ok(ty),
                None => {
                    self.cursor.pos = start;
                    self.cursor.expected("a type")
                }
            },
        }
    }

    fn scalar(&mut self, word: &str) -> Option<MlirType> {
        if let Some(float) = MlirFloat::named(word) {
            return Some(self.module.types.float(float));
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

    fn complex(&mut self) -> MlirParseResult<MlirType> {
        self.cursor.expect("<")?;
        let part = self.parse_type()?;
        self.cursor.expect(">")?;
        match self.module.types.kind(part) {
            MlirTypeKind::Float(_) | MlirTypeKind::Integer { .. } => {}
            _ => {
                return self
                    .cursor
                    .error("a complex number has parts of a number's type");
            }
        }
        Ok(self.module.types.intern(MlirTypeKind::Complex(part)))
    }

    /// `2x?x3x`: sizes with an `x` behind each.
    fn dimensions(&mut self) -> MlirParseResult<Vec<DimSize>> {
        let mut shape = Vec::new();
        loop {
            let size = match self.cursor.peek() {
                b'?' => {
                    self.cursor.pos += 1;
                    None
                }
                b'0'..=b'9' => Some(self.size()?),
                _ => return Ok(shape),
            };
            shape.push(size);
            self.cursor.expect("x")?;
        }
    }

    fn size(&mut self) -> MlirParseResult<u64> {
        // `0x3` is a dimension of zero, not a number in hexadecimal.
        let start = self.cursor.start();
        let size = self.cursor.digits()?;
        match i64::try_from(size) {
            Ok(_) => Ok(size),
            Err(_) => {
                let place = self.cursor.since(start);
                self.cursor
                    .error_at(place, "the dimension does not fit into 64 bits")
            }
        }
    }

    fn tensor(&mut self) -> MlirParseResult<MlirType> {
        self.cursor.expect("<")?;
        if self.cursor.eat("*") {
            self.cursor.expect("x")?;
            let element = self.parse_type()?;
            self.cursor.expect(">")?;
            return Ok(self
                .module
                .types
                .intern(MlirTypeKind::UnrankedTensor(element)));
        }
        let shape = self.dimensions()?;
        let start = self.cursor.start();
        let element = self.parse_type()?;
        if let Some(why) = quantized::tensor_fault(&self.module.types, &shape, element) {
            return self.cursor.error_at(self.cursor.since(start), why);
        }
        let encoding = match self.cursor.eat(",") {
            true => Some(self.parse_attribute()?),
            false => None,
        };
        self.cursor.expect(">")?;
        Ok(self.module.types.intern(MlirTypeKind::Tensor {
            shape: shape.into(),
            element,
            encoding,
        }))
    }

    fn vector(&mut self) -> MlirParseResult<MlirType> {
        self.cursor.expect("<")?;
        let (mut shape, mut scalable) = (Vec::new(), Vec::new());
        loop {
            let is_scalable = self.cursor.eat("[");
            if !is_scalable && !self.cursor.peek().is_ascii_digit() {
                break;
            }
            self.cursor.skip();
            shape.push(self.size()?);
            scalable.push(is_scalable);
            if is_scalable {
                self.cursor.expect("]")?;
            }
            self.cursor.expect("x")?;
        }
        let element = self.parse_type()?;
        self.cursor.expect(">")?;
        Ok(self.module.types.intern(MlirTypeKind::Vector {
            shape: shape.into(),
            scalable: scalable.into(),
            element,
        }))
    }

    fn memref(&mut self) -> MlirParseResult<MlirType> {
        self.cursor.expect("<")?;
        let unranked = self.cursor.eat("*");
        let shape: Box<[DimSize]> = match unranked {
            true => {
                self.cursor.expect("x")?;
                Box::default()
            }
            false => self.dimensions()?.into(),
        };
        let element = self.parse_type()?;
        let (mut layout, mut space) = (None, None);
        while self.cursor.eat(",") {
            let attr = self.parse_attribute()?;
            if unranked || !self.is_layout(attr) {
                space = Some(attr);
            } else if !self.is_identity(attr, shape.len()) {
                layout = Some(attr);
            }
        }
        self.cursor.expect(">")?;
        let kind = match unranked {
            true => MlirTypeKind::UnrankedMemRef { element, space },
            false => MlirTypeKind::MemRef {
                shape,
                element,
                layout,
                space,
            },
        };
        Ok(self.module.types.intern(kind))
    }

    /// `!name` for an alias, `!dialect.name<…>` for a type of a dialect.
    fn dialect_type(&mut self) -> MlirParseResult<MlirType> {
        let start = self.cursor.start();
        self.cursor.pos += 1;
        let name = self.symbol_suffix()?;
        if !name.contains('.') && self.cursor.byte() != b'<' {
            return self.type_alias(start);
        }
        let name = self.full_name(name)?;
        if name == "quant.uniform" {
            return self.quantized(start);
        }
        let body = self.balanced_body()?;
        let name = dialect::shared_name(&name);
        let name = self.module.intern(&name);
        let body = self.module.intern(body);
        Ok(self
            .module
            .types
            .intern(MlirTypeKind::Dialect { name, body }))
    }

    /// What stands behind `!quant.uniform`, which begins at a position.
    fn quantized(&mut self, start: usize) -> MlirParseResult<MlirType> {
        self.cursor.expect("<")?;
        let storage = self.storage_type()?;
        let Some((mut min, mut max)) = quantized::storage_range(&self.module.types, storage) else {
            return self
                .cursor
                .error("quantised values are stored as integers of at most 32 bits");
        };
        if self.cursor.eat("<") {
            min = self.cursor.signed()?;
            self.cursor.expect(":")?;
            max = self.cursor.signed()?;
            self.cursor.expect(">")?;
        }
        self.cursor.expect(":")?;
        let expressed = self.parse_type()?;
        let mut axis = QuantizationGranularity::Tensor;
        let mut parameters = Vec::new();
        if self.cursor.eat(":") {
            axis = match self.cursor.peek() {
                b'{' => self.block_sizes()?,
                _ => QuantizationGranularity::Axis(self.cursor.number()?),
            };
            self.cursor.expect(",")?;
            let mut shape = Vec::new();
            self.scales(&mut parameters, &mut shape, 0)?;
            if let QuantizationGranularity::Blocks { shape: blocks, .. } = &mut axis {
                *blocks = shape.into();
            }
        } else {
            self.cursor.expect(",")?;
            parameters.push(self.scale()?);
        }
        self.cursor.expect(">")?;
        let quantized = QuantizedType {
            storage,
            min,
            max,
            expressed,
            axis,
            parameters: parameters.into(),
        };
        if let Some(why) = quantized::fault(&self.module.types, &quantized) {
            return self.cursor.error_at(self.cursor.since(start), why);
        }
        let kind = MlirTypeKind::Quantized(Box::new(quantized));
        Ok(self.module.types.intern(kind))
    }

    /// `i8` or `u8`, the latter for `ui8`.
    fn storage_type(&mut self) -> MlirParseResult<MlirType> {
        let word = self.cursor.peek_word();
        let unsigned = word.strip_prefix('u').map(|digits| format!("ui{digits}"));
        match unsigned.and_then(|name| self.scalar(&name)) {
            Some(ty) => {
                self.cursor.word();
                Ok(ty)
            }
            None => self.parse_type(),
        }
    }

    /// `{dimension:size, …}`
    fn block_sizes(&mut self) -> MlirParseResult<QuantizationGranularity> {
        self.cursor.expect("{")?;
        let sizes = self.list("}", |parser| {
            let dimension = parser.cursor.number()?;
            parser.cursor.expect(":")?;
            Ok((dimension, parser.cursor.number()?))
        })?;
        Ok(QuantizationGranularity::Blocks {
            sizes: sizes.into(),
            shape: Box::default(),
        })
    }

    /// `{…}` of scales or of further lists, which have equal lengths at each level.
    fn scales(
        &mut self,
        out: &mut Vec<(u64, i64)>,
        shape: &mut Vec<u64>,
        level: usize,
    ) -> MlirParseResult<()> {
        self.cursor.enter()?;
        self.cursor.expect("{")?;
        let mut count = 0;
        while !self.cursor.eat("}") {
            if count > 0 {
                self.cursor.expect(",")?;
            }
            count += 1;
            match self.cursor.peek() {
                b'{' => self.scales(out, shape, level + 1)?,
                _ => out.push(self.scale()?),
            }
        }
        if shape.len() <= level {
            shape.resize(level + 1, 0);
        }
        shape[level] = count;
        self.cursor.leave();
        Ok(())
    }

    /// `scale` or `scale:zero point`
    fn scale(&mut self) -> MlirParseResult<(u64, i64)> {
        let scale = self.float_literal()?;
        let zero = match self.cursor.eat(":") {
            true => self.cursor.signed()?,
            false => 0,
        };
        Ok((scale.to_bits(), zero))
    }
}
