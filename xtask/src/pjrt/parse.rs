//! Declarations of the C header.

use super::tokens::{HeaderToken, split_tokens};
use anyhow::{Context, Result, bail, ensure};

/// The declarations of a header.
#[derive(Debug, Default)]
pub struct HeaderInterface {
    /// Major and minor version.
    pub version: [u32; 2],
    pub enums: Vec<HeaderEnum>,
    pub structs: Vec<HeaderStruct>,
    /// Structs without a definition.
    pub opaque: Vec<String>,
    pub functions: Vec<HeaderFunction>,
    /// The names of the functions of the table, in its order.
    pub table: Vec<String>,
}

/// An enumeration with its values.
#[derive(Debug)]
pub struct HeaderEnum {
    pub name: String,
    pub values: Vec<(String, u32)>,
}

/// A struct.
#[derive(Debug)]
pub struct HeaderStruct {
    pub name: String,
    pub fields: Vec<HeaderField>,
}

/// A field of a struct. A union has no name.
#[derive(Debug)]
pub struct HeaderField {
    pub name: String,
    pub ty: HeaderType,
}

/// A type.
#[derive(Debug)]
pub enum HeaderType {
    /// A name.
    Named(String),
    /// A pointer. It says whether its target is constant.
    Pointer(Box<HeaderType>, bool),
    /// A pointer to a function.
    Function(HeaderFunction),
    /// A union.
    Union(Vec<HeaderField>),
}

/// A type of functions, or of pointers to them.
#[derive(Debug)]
pub struct HeaderFunction {
    pub name: String,
    pub is_pointer: bool,
    pub result: Box<HeaderType>,
    pub parameters: Vec<HeaderField>,
}

/// Words that begin a type and add nothing to it.
const STRUCT: &str = "struct";

/// Parses a header.
///
/// # Errors
/// When a declaration has an unknown form.
pub fn parse_header(text: &str) -> Result<HeaderInterface> {
    let tokens = split_tokens(text)?;
    let mut reader = TokenReader { tokens, at: 0 };
    let mut interface = HeaderInterface {
        version: [
            find_define(text, "PJRT_API_MAJOR")?,
            find_define(text, "PJRT_API_MINOR")?,
        ],
        ..HeaderInterface::default()
    };
    let mut declared = Vec::new();
    while !reader.is_at_end() {
        let start = reader.at;
        reader
            .read_declaration(&mut interface, &mut declared)
            .with_context(|| reader.tokens[start..reader.tokens.len().min(start + 12)].join(" "))?;
    }
    let is_defined = |name: &String| interface.structs.iter().any(|s| s.name == *name);
    declared.retain(|name| !is_defined(name));
    declared.dedup();
    interface.opaque = declared;
    Ok(interface)
}

fn find_define(text: &str, name: &str) -> Result<u32> {
    let line = text.lines().find_map(|line| {
        let value = line.strip_prefix("#define ")?.strip_prefix(name)?;
        value.trim().parse().ok()
    });
    line.with_context(|| format!("{name} is not defined"))
}

struct TokenReader {
    tokens: Vec<HeaderToken>,
    at: usize,
}

impl TokenReader {
    fn is_at_end(&self) -> bool {
        self.at == self.tokens.len()
    }

    fn peek(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", String::as_str)
    }

    fn next(&mut self) -> Result<String> {
        let token = self.tokens.get(self.at).context("the header ends early")?;
        self.at += 1;
        Ok(token.clone())
    }

    /// Skips a token if it is the next.
    fn skip(&mut self, token: &str) -> bool {
        let is_next = self.peek(0) == token;
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        let found = self.next()?;
        ensure!(found == token, "{token} is expected, not {found}");
        Ok(())
    }

    fn read_declaration(
        &mut self,
        interface: &mut HeaderInterface,
        declared: &mut Vec<String>,
    ) -> Result<()> {
        match self.peek(0) {
            "extern" => self.skip_past("{")?,
            "}" => self.at += 1,
            "PJRT_DEFINE_STRUCT_TRAITS" => self.skip_past(";")?,
            // The size of the table.
            "enum" => self.skip_past(";")?,
            STRUCT if self.peek(2) == ";" => self.skip_past(";")?,
            STRUCT => {
                let definition = self.read_struct(interface)?;
                interface.structs.push(definition);
                self.expect(";")?;
            }
            "typedef" => {
                self.at += 1;
                self.read_typedef(interface, declared)?;
            }
            other => bail!("a declaration begins with {other}"),
        }
        Ok(())
    }

    fn skip_past(&mut self, token: &str) -> Result<()> {
        while self.next()? != token {}
        Ok(())
    }

    fn read_typedef(
        &mut self,
        interface: &mut HeaderInterface,
        declared: &mut Vec<String>,
    ) -> Result<()> {
        if self.peek(0) == "enum" {
            interface.enums.push(self.read_enum()?);
            return Ok(());
        }
        if self.peek(0) == STRUCT && self.peek(2) == "{" {
            let definition = self.read_struct(interface)?;
            interface.structs.push(definition);
            self.next()?;
            return self.expect(";");
        }
        if self.peek(0) == STRUCT && self.peek(3) == ";" {
            self.at += 1;
            declared.push(self.next()?);
            self.next()?;
            return self.expect(";");
        }
        let result = self.read_type()?;
        let is_pointer = self.skip("(");
        if is_pointer {
            self.expect("*")?;
        }
        let name = self.next()?;
        if is_pointer {
            self.expect(")")?;
        }
        let parameters = self.read_parameters()?;
        self.expect(";")?;
        interface.functions.push(HeaderFunction {
            name,
            is_pointer,
            result: Box::new(result),
            parameters,
        });
        Ok(())
    }

    fn read_enum(&mut self) -> Result<HeaderEnum> {
        self.at += 1;
        self.expect("{")?;
        let mut values = Vec::new();
        let mut next = 0;
        while !self.skip("}") {
            let name = self.next()?;
            if self.skip("=") {
                next = self.next()?.parse()?;
            }
            values.push((name, next));
            next += 1;
            self.skip(",");
        }
        let name = self.next()?;
        self.expect(";")?;
        Ok(HeaderEnum { name, values })
    }

    /// Reads a struct up to its closing brace.
    fn read_struct(&mut self, interface: &mut HeaderInterface) -> Result<HeaderStruct> {
        self.expect(STRUCT)?;
        let name = self.next()?;
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.skip("}") {
            if self.skip("_PJRT_API_STRUCT_FIELD") {
                self.expect("(")?;
                interface.table.push(self.next()?);
                self.expect(")")?;
                self.expect(";")?;
            } else {
                fields.push(self.read_field()?);
            }
        }
        Ok(HeaderStruct { name, fields })
    }

    fn read_field(&mut self) -> Result<HeaderField> {
        if self.skip("union") {
            self.expect("{")?;
            let mut variants = Vec::new();
            while !self.skip("}") {
                variants.push(self.read_field()?);
            }
            self.expect(";")?;
            return Ok(HeaderField {
                name: String::new(),
                ty: HeaderType::Union(variants),
            });
        }
        let ty = self.read_type()?;
        let field = if self.skip("(") {
            self.expect("*")?;
            let name = self.next()?;
            self.expect(")")?;
            let parameters = self.read_parameters()?;
            HeaderField {
                name: name.clone(),
                ty: HeaderType::Function(HeaderFunction {
                    name,
                    is_pointer: true,
                    result: Box::new(ty),
                    parameters,
                }),
            }
        } else {
            let name = self.next()?;
            HeaderField { name, ty }
        };
        self.expect(";")?;
        Ok(field)
    }

    fn read_parameters(&mut self) -> Result<Vec<HeaderField>> {
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.skip(")") {
            let ty = self.read_type()?;
            let name = self.next()?;
            parameters.push(HeaderField { name, ty });
            self.skip(",");
        }
        Ok(parameters)
    }

    fn read_type(&mut self) -> Result<HeaderType> {
        let mut is_constant = self.skip("const");
        self.skip(STRUCT);
        let mut ty = HeaderType::Named(self.next()?);
        loop {
            is_constant |= self.skip("const");
            if !self.skip("*") {
                return Ok(ty);
            }
            ty = HeaderType::Pointer(Box::new(ty), is_constant);
            is_constant = false;
        }
    }
}
