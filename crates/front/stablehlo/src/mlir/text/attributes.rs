//! Parser of attributes.

use super::cursor::MlirParseResult;
use super::number::{MlirLiteralValue, NumberStorage};
use super::parser::MlirParser;
use crate::dialect;
use crate::mlir::{
    AffineExpr, AttributeKind, DialectBody, IntegerSignedness, MlirAttr, MlirFloat, MlirType,
    MlirTypeKind, NamedAttribute,
};

impl<'a> MlirParser<'a> {
    /// An attribute.
    pub fn parse_attribute(&mut self) -> MlirParseResult<MlirAttr> {
        self.cursor.enter_nesting()?;
        let kind = match self.cursor.peek_byte() {
            b'#' => {
                let attr = self.sharp_attribute()?;
                self.cursor.leave_nesting();
                return Ok(attr);
            }
            b'"' => self.typed_string(),
            b'[' => self.parse_array(),
            b'{' => Ok(AttributeKind::Dictionary(self.parse_dictionary()?.into())),
            b'@' => self.symbol_ref(),
            b'-' | b'0'..=b'9' => self.number_attribute(),
            _ => self.word_attribute(),
        };
        let attr = kind.map(|kind| self.module.attributes.intern(kind));
        self.cursor.leave_nesting();
        attr
    }

    /// A string; a type after it is redundant.
    fn typed_string(&mut self) -> MlirParseResult<AttributeKind> {
        let kind = self.string_attribute()?;
        if self.cursor.eat_punctuation(":") {
            self.parse_type()?;
        }
        Ok(kind)
    }

    fn parse_array(&mut self) -> MlirParseResult<AttributeKind> {
        self.cursor.expect_punctuation("[")?;
        let list = self.parse_list("]", Self::parse_attribute)?;
        Ok(AttributeKind::Array(list.into()))
    }

    /// `{name = attribute, unit, "name" = attribute}`, ordered by name.
    pub fn parse_dictionary(&mut self) -> MlirParseResult<Vec<NamedAttribute>> {
        self.cursor.expect_punctuation("{")?;
        let mut named = self.parse_list("}", Self::named_attribute)?;
        let twice = self.sort_and_find_twice(&mut named);
        match twice {
            Some(name) => self
                .cursor
                .report_error(format!("the attribute `{name}` is given twice")),
            None => Ok(named),
        }
    }

    /// Sorts by name; returns the first name that occurs twice.
    pub fn sort_and_find_twice(&mut self, named: &mut [NamedAttribute]) -> Option<String> {
        self.module.sort_named(named);
        let twice = named.windows(2).find(|pair| pair[0].0 == pair[1].0)?;
        Some(self.module.symbol_text(twice[0].0).to_owned())
    }

    fn named_attribute(&mut self) -> MlirParseResult<NamedAttribute> {
        let name = self.word_or_string()?;
        let attr = if self.cursor.eat_punctuation("=") {
            self.parse_attribute()?
        } else {
            self.make_unit_attribute()
        };
        Ok((name, attr))
    }

    /// The unit attribute.
    pub fn make_unit_attribute(&mut self) -> MlirAttr {
        self.module.attributes.intern(AttributeKind::Unit)
    }

    /// An integer attribute.
    pub fn integer_attribute(&mut self, value: i64, width: u32) -> MlirAttr {
        self.module.integer_attribute(value, width)
    }

    /// `array<i64: …>`
    pub fn integers_attribute(&mut self, values: &[i64]) -> MlirAttr {
        self.module.integers_attribute(values)
    }

    /// `#dialect<name WORD>`
    pub fn keyword_attribute(&mut self, name: &str, word: &str) -> MlirAttr {
        let (name, word) = (self.module.intern_text(name), self.module.intern_text(word));
        self.module.attributes.intern(AttributeKind::Dialect {
            name,
            body: DialectBody::Keyword(word),
        })
    }

    fn symbol_ref(&mut self) -> MlirParseResult<AttributeKind> {
        let mut path = vec![self.symbol_name()?];
        while self.cursor.eat_punctuation("::") {
            path.push(self.symbol_name()?);
        }
        Ok(AttributeKind::SymbolRef(path.into()))
    }

    fn number_attribute(&mut self) -> MlirParseResult<AttributeKind> {
        let literal = self.parse_literal()?;
        let ty = match (self.cursor.eat_punctuation(":"), literal.value) {
            (true, _) => self.parse_type()?,
            (false, MlirLiteralValue::Float(_)) => self.module.types.float_type(MlirFloat::F64),
            (false, _) => self.module.types.integer_type(64),
        };
        let Some(scalar) = self.scalar_of(ty) else {
            return self
                .cursor
                .report_error("a number has the type of an integer or float");
        };
        let bits = self.literal_bits(literal, scalar)?;
        Ok(match scalar {
            NumberStorage::Float(_) => AttributeKind::Float { bits, ty },
            NumberStorage::Integer { width, sign } => {
                let negative =
                    sign != IntegerSignedness::Unsigned && width > 1 && bits >> (width - 1) == 1;
                let value = i128::from(bits) - if negative { 1 << width } else { 0 };
                AttributeKind::Integer { value, ty }
            }
        })
    }

    fn word_attribute(&mut self) -> MlirParseResult<AttributeKind> {
        let word = self.cursor.peek_word();
        match word {
            "true" | "false" => {
                self.cursor.read_word();
                let ty = self.module.types.integer_type(1);
                let value = i128::from(word == "true");
                Ok(AttributeKind::Integer { value, ty })
            }
            "unit" => {
                self.cursor.read_word();
                Ok(AttributeKind::Unit)
            }
            "dense" => {
                self.cursor.read_word();
                self.parse_dense()
            }
            "dense_resource" => {
                self.cursor.read_word();
                self.parse_resource()
            }
            "array" => {
                self.cursor.read_word();
                self.dense_array()
            }
            "affine_map" => {
                self.cursor.read_word();
                self.affine_map()
            }
            "affine_set" => {
                self.cursor.read_word();
                self.integer_set()
            }
            "loc" => Ok(AttributeKind::Location(self.parse_location()?)),
            "strided" => {
                self.cursor.read_word();
                self.cursor.skip_trivia();
                let body = self.balanced_body()?;
                Ok(AttributeKind::Dialect {
                    name: self.module.intern_text("strided"),
                    body: DialectBody::Text(self.module.intern_text(body)),
                })
            }
            "sparse" | "distinct" => self
                .cursor
                .report_error(format!("`{word}` attributes are not supported")),
            "" if !matches!(self.cursor.current_byte(), b'(' | b'!') => {
                self.cursor.report_expected("an attribute")
            }
            _ => Ok(AttributeKind::Type(self.parse_type()?)),
        }
    }

    /// `array<i64: 1, 2>` or `array<i64>`
    fn dense_array(&mut self) -> MlirParseResult<AttributeKind> {
        self.cursor.expect_punctuation("<")?;
        let element = self.parse_type()?;
        let Some(scalar) = self.scalar_of(element) else {
            return self
                .cursor
                .report_error("a dense array has integers or floats");
        };
        let mut data = Vec::new();
        if self.cursor.eat_punctuation(":") {
            self.parse_list(">", |parser| {
                let literal = parser.parse_literal()?;
                let bits = parser.literal_bits(literal, scalar)?;
                data.extend_from_slice(&bits.to_le_bytes()[..scalar.byte_width()]);
                Ok(())
            })?;
        } else {
            self.cursor.expect_punctuation(">")?;
        }
        let data = data.into();
        Ok(AttributeKind::DenseArray { element, data })
    }

    /// `#alias`, `#dialect.name<…>` or `#dialect<name …>`
    fn sharp_attribute(&mut self) -> MlirParseResult<MlirAttr> {
        let start = self.cursor.skip_to_start();
        self.cursor.pos += 1;
        let name = self.symbol_suffix()?;
        if !name.contains('.') && self.cursor.current_byte() != b'<' {
            return self.attribute_alias(start);
        }
        let full = self.full_name(name)?;
        let full = dialect::shared_name(&full);
        let body = match dialect::find_attribute_structure(&full) {
            Some(dialect::AttributeSyntax::Keyword) => self.keyword_body()?,
            Some(dialect::AttributeSyntax::Fields(fields)) => self.fields_body(fields)?,
            Some(dialect::AttributeSyntax::Convolution) => {
                self.cursor.expect_punctuation("<")?;
                let body = self.dimension_numbers()?;
                self.cursor.expect_punctuation(">")?;
                body
            }
            None => {
                let text = self.balanced_body()?;
                DialectBody::Text(self.module.intern_text(text))
            }
        };
        let name = self.module.intern_text(&full);
        let kind = AttributeKind::Dialect { name, body };
        Ok(self.module.attributes.intern(kind))
    }

    /// `<WORD>`, or ` WORD>` if the bracket was read with the name.
    fn keyword_body(&mut self) -> MlirParseResult<DialectBody> {
        self.cursor.eat_punctuation("<");
        let word = self.word_or_string()?;
        self.cursor.expect_punctuation(">")?;
        Ok(DialectBody::Keyword(word))
    }

    /// `<name = value, …>` of an attribute whose name is not written.
    pub fn fields_attribute(&mut self, name: &str) -> MlirParseResult<MlirAttr> {
        let body = match dialect::find_attribute_structure(name) {
            Some(dialect::AttributeSyntax::Fields(fields)) => self.fields_body(fields)?,
            _ => return self.cursor.report_expected("an attribute"),
        };
        let name = self.module.intern_text(name);
        let kind = AttributeKind::Dialect { name, body };
        Ok(self.module.attributes.intern(kind))
    }

    /// `<name = value, …>`; the order of the text does not matter.
    fn fields_body(&mut self, fields: &[dialect::AttributeField]) -> MlirParseResult<DialectBody> {
        self.cursor.eat_punctuation("<");
        let mut given: Vec<Option<MlirAttr>> = vec![None; fields.len()];
        self.parse_list(">", |parser| {
            let start = parser.cursor.skip_to_start();
            let name = parser.cursor.read_word();
            let Some(at) = fields.iter().position(|field| field.name == name) else {
                parser.cursor.pos = start;
                return parser.cursor.report_expected("the name of a field");
            };
            parser.cursor.expect_punctuation("=")?;
            given[at] = Some(parser.field_value(fields[at].kind)?);
            Ok(())
        })?;
        let mut named = Vec::new();
        for (field, attr) in fields.iter().zip(given) {
            if let Some(attr) = attr
                && (field.always || !self.is_default(attr))
            {
                named.push((self.module.intern_text(field.name), attr));
            }
        }
        Ok(DialectBody::Fields(named.into()))
    }

    fn field_value(&mut self, kind: dialect::FieldKind) -> MlirParseResult<MlirAttr> {
        match kind {
            dialect::FieldKind::Integer => {
                let value = self.cursor.read_signed_number()?;
                Ok(self.integer_attribute(value, 64))
            }
            dialect::FieldKind::Integers => {
                let values = self.integer_list()?;
                Ok(self.integers_attribute(&values))
            }
            dialect::FieldKind::Attribute => self.parse_attribute(),
        }
    }

    /// Whether a field has the value that its absence means.
    fn is_default(&self, attr: MlirAttr) -> bool {
        match self.module.attributes.kind(attr) {
            AttributeKind::DenseArray { data, .. } => data.is_empty(),
            AttributeKind::Integer { value, .. } => *value == 0,
            _ => false,
        }
    }

    /// `[1, -2]`
    pub fn integer_list(&mut self) -> MlirParseResult<Vec<i64>> {
        self.cursor.expect_punctuation("[")?;
        self.parse_list("]", |parser| {
            if parser.cursor.eat_punctuation("?") {
                Ok(i64::MIN)
            } else {
                parser.cursor.read_signed_number()
            }
        })
    }

    /// Whether an attribute after a buffer's element type is its layout.
    pub fn is_layout(&self, attr: MlirAttr) -> bool {
        match self.module.attributes.kind(attr) {
            AttributeKind::AffineMap(_) => true,
            AttributeKind::Dialect { name, .. } => self.module.symbol_text(*name) == "strided",
            _ => false,
        }
    }

    /// Whether a layout is the identity on this number of dimensions.
    pub fn is_identity(&self, attr: MlirAttr, rank: usize) -> bool {
        match self.module.attributes.kind(attr) {
            AttributeKind::AffineMap(map) => {
                let same =
                    |(at, result): (usize, &AffineExpr)| *result == AffineExpr::Dim(at as u32);
                map.results.len() == rank
                    && map.dims as usize == rank
                    && map.results.iter().enumerate().all(same)
            }
            _ => false,
        }
    }

    /// Type of the elements and how they are stored, or an error.
    pub fn resolve_element_storage(&self, ty: MlirType) -> MlirParseResult<(NumberStorage, usize)> {
        let element = self.module.types.element_type(ty);
        let (part, parts) = match *self.module.types.kind(element) {
            MlirTypeKind::Complex(part) => (part, 2),
            _ => (element, 1),
        };
        match self.scalar_of(part) {
            Some(scalar) => Ok((scalar, parts)),
            None => {
                let shown = self.module.show_type(element);
                self.cursor
                    .report_error(format!("elements of type {shown} are not supported here"))
            }
        }
    }
}
