//! Metadata in LLVM assembly.

use super::lexer::{Kind, unescape};
use super::parser::{NumberedMetadata, Parser};
use crate::ir::{
    Field, LlvmMetadata, LlvmSymbol, LlvmType, MetadataKind, NamedMetadata, ValueKind,
};
use crate::{Error, fault};

impl Parser<'_> {
    /// Metadata as a value: a node, a string, or a type and a value.
    pub fn metadata_value(&mut self) -> Result<LlvmMetadata, Error> {
        self.nested(|parser| match parser.token.kind {
            Kind::MetadataNumber | Kind::MetadataName | Kind::Punct(b'!') => parser.node(),
            _ => {
                let ty = parser.ty()?;
                if ty == LlvmType::METADATA {
                    return parser.metadata_value();
                }
                let value = parser.value(ty)?;
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
    fn optional(&mut self) -> Result<Option<LlvmMetadata>, Error> {
        if self.eat_word("null") {
            Ok(None)
        } else {
            self.metadata_value().map(Some)
        }
    }

    /// `!7`, `!"…"`, `!{…}` or `!Class(…)`
    pub fn node(&mut self) -> Result<LlvmMetadata, Error> {
        match self.token.kind {
            Kind::MetadataNumber => {
                let token = self.bump();
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
            Kind::Punct(b'!') => {
                self.bump();
                if self.token.kind == Kind::String {
                    let symbol = self.symbol_string()?;
                    return Ok(self.metadata_string(symbol));
                }
                let kind = self.plain_node(false)?;
                Ok(self.module.metadata.push(kind))
            }
            Kind::MetadataName => {
                let kind = self.special_node(false)?;
                Ok(self.module.metadata.push(kind))
            }
            _ => self.expected("metadata"),
        }
    }

    fn metadata_string(&mut self, symbol: LlvmSymbol) -> LlvmMetadata {
        let arena = &mut self.module.metadata;
        *self
            .strings
            .entry(symbol)
            .or_insert_with(|| arena.push(MetadataKind::String(symbol)))
    }

    /// `{…}`
    fn plain_node(&mut self, distinct: bool) -> Result<MetadataKind, Error> {
        self.expect(b'{')?;
        let mut operands = Vec::new();
        self.list(b'}', |parser| {
            operands.push(parser.optional()?);
            Ok(())
        })?;
        let operands = self.module.metadata.push_operands(&operands);
        Ok(MetadataKind::Node { distinct, operands })
    }

    /// `!Class(field: value, …)`, the class being next.
    fn special_node(&mut self, distinct: bool) -> Result<MetadataKind, Error> {
        self.nested(|parser| {
            let token = parser.bump();
            let class = unescape(&parser.bytes(token)[1..]);
            let class = parser.module.strings.intern_bytes(&class);
            parser.expect(b'(')?;
            if parser.module.str(class) == "DIArgList" {
                let mut operands = Vec::new();
                parser.list(b')', |parser| {
                    operands.push(Some(parser.metadata_value()?));
                    Ok(())
                })?;
                return Ok(MetadataKind::ArgList(
                    parser.module.metadata.push_operands(&operands),
                ));
            }
            let mut fields = Vec::new();
            parser.list(b')', |parser| {
                let mut name = LlvmSymbol::EMPTY;
                if parser.token.kind == Kind::Label {
                    let label = parser.peek_text();
                    name = parser.module.strings.intern(label.trim_end_matches(':'));
                    parser.bump();
                }
                let field = parser.field()?;
                fields.push((name, field));
                Ok(())
            })?;
            let fields = parser.module.metadata.push_fields(&fields);
            Ok(MetadataKind::Special {
                distinct,
                class,
                fields,
            })
        })
    }

    /// The value of a field of a specialised node.
    fn field(&mut self) -> Result<Field, Error> {
        match self.token.kind {
            Kind::Integer => match self.peek_text().parse() {
                Ok(number) => {
                    self.bump();
                    Ok(Field::Int(number))
                }
                Err(_) => self.error("a number out of range"),
            },
            Kind::String => {
                let symbol = self.symbol_string()?;
                Ok(Field::Node(Some(self.metadata_string(symbol))))
            }
            Kind::Punct(b'{') => {
                let kind = self.plain_node(false)?;
                Ok(Field::Node(Some(self.module.metadata.push(kind))))
            }
            Kind::Word if self.at_word("null") => {
                self.bump();
                Ok(Field::Node(None))
            }
            Kind::Word if !self.at_type() => {
                let word = self.peek_word();
                let boolean = match word {
                    "true" => Some(1),
                    "false" => Some(0),
                    _ => None,
                };
                let start = self.token.start;
                self.bump();
                if let Some(number) = boolean {
                    return Ok(Field::Int(number));
                }
                while self.eat(b'|') {
                    if self.token.kind != Kind::Word {
                        return self.expected("a word");
                    }
                    self.bump();
                }
                let text = &self.text[start..self.last_end];
                Ok(Field::Word(self.module.strings.intern_bytes(text)))
            }
            _ => Ok(Field::Node(Some(self.metadata_value()?))),
        }
    }

    /// `!7 = …`
    pub fn metadata_definition(&mut self) -> Result<(), Error> {
        let token = self.bump();
        let number = self.number_of(token)?;
        self.expect(b'=')?;
        let distinct = self.eat_word("distinct");
        let kind = match self.token.kind {
            Kind::MetadataName => self.special_node(distinct)?,
            Kind::Punct(b'!') => {
                self.bump();
                if self.token.kind == Kind::String {
                    MetadataKind::String(self.symbol_string()?)
                } else {
                    self.plain_node(distinct)?
                }
            }
            _ => {
                let id = self.metadata_value()?;
                self.module.metadata.kind(id)
            }
        };
        let place = token.place();
        let id = match self.metadata.get(&number) {
            Some(found) if found.defined => {
                return Err(fault(place, "metadata of this number is defined already"));
            }
            Some(found) => {
                self.module.metadata.set(found.id, kind);
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
    pub fn named_metadata(&mut self) -> Result<(), Error> {
        let token = self.bump();
        let name = unescape(&self.bytes(token)[1..]);
        let name = self.module.strings.intern_bytes(&name);
        self.expect(b'=')?;
        self.expect(b'!')?;
        self.expect(b'{')?;
        let mut operands = Vec::new();
        self.list(b'}', |parser| {
            operands.push(parser.node()?);
            Ok(())
        })?;
        self.module
            .named_metadata
            .push(NamedMetadata { name, operands });
        Ok(())
    }

    /// `!kind !node` if it comes next.
    pub fn attachment(&mut self) -> Result<Option<(LlvmSymbol, LlvmMetadata)>, Error> {
        if self.token.kind != Kind::MetadataName {
            return Ok(None);
        }
        let token = self.bump();
        let kind = unescape(&self.bytes(token)[1..]);
        let kind = self.module.strings.intern_bytes(&kind);
        Ok(Some((kind, self.node()?)))
    }

    /// All numbers that were used are defined.
    pub fn check_metadata(&self) -> Result<(), Error> {
        let undefined = self.metadata.iter().filter(|(_, found)| !found.defined);
        let first = undefined.min_by_key(|(number, _)| **number);
        match first {
            Some((number, found)) => Err(fault(
                found.place,
                format!("metadata !{number} is not defined"),
            )),
            None => Ok(()),
        }
    }
}
