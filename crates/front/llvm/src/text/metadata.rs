//! Metadata parser.

use super::lexer::{LlvmTokenKind, unescape_string};
use super::parser::{LlvmParser, NumberedMetadata};
use crate::ir::{
    LlvmMetadata, LlvmSymbol, LlvmType, MetadataField, MetadataKind, NamedMetadata, ValueKind,
};
use crate::{LlvmResult, error_at};

impl LlvmParser<'_> {
    /// Parses metadata in the position of a value: a node, a string, or a type and a value.
    pub fn parse_metadata_value(&mut self) -> LlvmResult<LlvmMetadata> {
        self.parse_nested(|parser| match parser.token.kind {
            LlvmTokenKind::MetadataNumber
            | LlvmTokenKind::MetadataName
            | LlvmTokenKind::Punct(b'!') => parser.parse_node(),
            _ => {
                let ty = parser.parse_type()?;
                if ty == LlvmType::METADATA {
                    return parser.parse_metadata_value();
                }
                let value = parser.parse_value(ty)?;
                let kind = match value.kind() {
                    ValueKind::Const(id) => MetadataKind::Constant(id),
                    _ => MetadataKind::Local(value),
                };
                let id = parser.module.metadata.push(kind);
                if let (MetadataKind::Local(_), Some(body)) = (kind, &mut parser.body) {
                    body.local_metadata.push(id);
                }
                Ok(id)
            }
        })
    }

    /// Metadata, or `null`.
    fn parse_optional_metadata(&mut self) -> LlvmResult<Option<LlvmMetadata>> {
        if self.eat_word("null") {
            Ok(None)
        } else {
            self.parse_metadata_value().map(Some)
        }
    }

    /// `!7`, `!"…"`, `!{…}` or `!Class(…)`
    pub fn parse_node(&mut self) -> LlvmResult<LlvmMetadata> {
        match self.token.kind {
            LlvmTokenKind::MetadataNumber => {
                let token = self.take_token();
                let number = self.number_of(token)?;
                if let Some(found) = self.metadata.get(&number) {
                    return Ok(found.id);
                }
                let id = self
                    .module
                    .metadata
                    .push(MetadataKind::String(LlvmSymbol::EMPTY));
                let place = token.place();
                self.metadata.insert(
                    number,
                    NumberedMetadata {
                        id,
                        defined: false,
                        place,
                    },
                );
                Ok(id)
            }
            LlvmTokenKind::Punct(b'!') => {
                self.take_token();
                if self.token.kind == LlvmTokenKind::String {
                    let symbol = self.symbol_string()?;
                    return Ok(self.parse_metadata_string(symbol));
                }
                let kind = self.parse_plain_node(false)?;
                Ok(self.module.metadata.push(kind))
            }
            LlvmTokenKind::MetadataName => {
                let kind = self.parse_specialised_node(false)?;
                Ok(self.module.metadata.push(kind))
            }
            _ => self.fail_expected("metadata"),
        }
    }

    fn parse_metadata_string(&mut self, symbol: LlvmSymbol) -> LlvmMetadata {
        let arena = &mut self.module.metadata;
        *self
            .strings
            .entry(symbol)
            .or_insert_with(|| arena.push(MetadataKind::String(symbol)))
    }

    /// `{…}`
    fn parse_plain_node(&mut self, distinct: bool) -> LlvmResult<MetadataKind> {
        self.expect_punct(b'{')?;
        let mut operands = Vec::new();
        self.parse_list(b'}', |parser| {
            operands.push(parser.parse_optional_metadata()?);
            Ok(())
        })?;
        let operands = self.module.metadata.push_operands(&operands);
        Ok(MetadataKind::Node { distinct, operands })
    }

    /// `!Class(field: value, …)`, the class being next.
    fn parse_specialised_node(&mut self, distinct: bool) -> LlvmResult<MetadataKind> {
        self.parse_nested(|parser| {
            let token = parser.take_token();
            let class = unescape_string(&parser.token_bytes(token)[1..]);
            let class = parser.module.strings.intern_bytes(&class);
            parser.expect_punct(b'(')?;
            if parser.module.symbol_text(class) == "DIArgList" {
                let mut operands = Vec::new();
                parser.parse_list(b')', |parser| {
                    operands.push(Some(parser.parse_metadata_value()?));
                    Ok(())
                })?;
                return Ok(MetadataKind::ArgList(
                    parser.module.metadata.push_operands(&operands),
                ));
            }
            let mut fields = Vec::new();
            parser.parse_list(b')', |parser| {
                let mut name = LlvmSymbol::EMPTY;
                if parser.token.kind == LlvmTokenKind::Label {
                    let label = parser.peek_text();
                    name = parser
                        .module
                        .strings
                        .intern_text(label.trim_end_matches(':'));
                    parser.take_token();
                }
                let field = parser.parse_field()?;
                fields.push((name, field));
                Ok(())
            })?;
            let fields = parser.module.metadata.push_fields(&fields);
            Ok(MetadataKind::Specialised {
                distinct,
                class,
                fields,
            })
        })
    }

    /// The value of a field of a specialised node.
    fn parse_field(&mut self) -> LlvmResult<MetadataField> {
        match self.token.kind {
            LlvmTokenKind::Integer => match self.peek_text().parse() {
                Ok(number) => {
                    self.take_token();
                    Ok(MetadataField::Int(number))
                }
                Err(_) => self.fail_with("a number out of range"),
            },
            LlvmTokenKind::String => {
                let symbol = self.symbol_string()?;
                Ok(MetadataField::Node(Some(
                    self.parse_metadata_string(symbol),
                )))
            }
            LlvmTokenKind::Punct(b'{') => {
                let kind = self.parse_plain_node(false)?;
                Ok(MetadataField::Node(Some(self.module.metadata.push(kind))))
            }
            LlvmTokenKind::Word if self.at_word("null") => {
                self.take_token();
                Ok(MetadataField::Node(None))
            }
            LlvmTokenKind::Word if !self.at_type() => {
                let word = self.peek_word();
                let boolean = match word {
                    "true" => Some(1),
                    "false" => Some(0),
                    _ => None,
                };
                let start = self.token.start;
                self.take_token();
                if let Some(number) = boolean {
                    return Ok(MetadataField::Int(number));
                }
                while self.eat_punct(b'|') {
                    if self.token.kind != LlvmTokenKind::Word {
                        return self.fail_expected("a word");
                    }
                    self.take_token();
                }
                let text = &self.text[start..self.last_end];
                Ok(MetadataField::Word(self.module.strings.intern_bytes(text)))
            }
            _ => Ok(MetadataField::Node(Some(self.parse_metadata_value()?))),
        }
    }

    /// `!7 = …`
    pub fn parse_metadata_definition(&mut self) -> LlvmResult<()> {
        let token = self.take_token();
        let number = self.number_of(token)?;
        self.expect_punct(b'=')?;
        let distinct = self.eat_word("distinct");
        let kind = match self.token.kind {
            LlvmTokenKind::MetadataName => self.parse_specialised_node(distinct)?,
            LlvmTokenKind::Punct(b'!') => {
                self.take_token();
                if self.token.kind == LlvmTokenKind::String {
                    MetadataKind::String(self.symbol_string()?)
                } else {
                    self.parse_plain_node(distinct)?
                }
            }
            _ => {
                let id = self.parse_metadata_value()?;
                self.module.metadata.kind(id)
            }
        };
        let place = token.place();
        let id = match self.metadata.get(&number) {
            Some(found) if found.defined => {
                return Err(error_at(
                    place,
                    "metadata of this number is already defined",
                ));
            }
            Some(found) => {
                self.module.metadata.replace_metadata(found.id, kind);
                found.id
            }
            None => self.module.metadata.push(kind),
        };
        self.metadata.insert(
            number,
            NumberedMetadata {
                id,
                defined: true,
                place,
            },
        );
        Ok(())
    }

    /// `!name = !{…}`
    pub fn named_metadata(&mut self) -> LlvmResult<()> {
        let token = self.take_token();
        let name = unescape_string(&self.token_bytes(token)[1..]);
        let name = self.module.strings.intern_bytes(&name);
        self.expect_punct(b'=')?;
        self.expect_punct(b'!')?;
        self.expect_punct(b'{')?;
        let mut operands = Vec::new();
        self.parse_list(b'}', |parser| {
            operands.push(parser.parse_node()?);
            Ok(())
        })?;
        self.module
            .named_metadata
            .push(NamedMetadata { name, operands });
        Ok(())
    }

    /// Parses `!kind !node` if it follows.
    pub fn parse_attachment(&mut self) -> LlvmResult<Option<(LlvmSymbol, LlvmMetadata)>> {
        if self.token.kind != LlvmTokenKind::MetadataName {
            return Ok(None);
        }
        let token = self.take_token();
        let kind = unescape_string(&self.token_bytes(token)[1..]);
        let kind = self.module.strings.intern_bytes(&kind);
        Ok(Some((kind, self.parse_node()?)))
    }

    /// All numbers that were used are defined.
    pub fn check_metadata(&self) -> LlvmResult<()> {
        let undefined = self.metadata.iter().filter(|(_, found)| !found.defined);
        let first = undefined.min_by_key(|(number, _)| **number);
        match first {
            Some((number, found)) => Err(error_at(
                found.place,
                format!("metadata !{number} is not defined"),
            )),
            None => Ok(()),
        }
    }
}
