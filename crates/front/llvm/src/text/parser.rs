//! Parser state and basic steps.

use super::body_state::{BodyParseState, LlvmName};
use super::lexer::{LlvmLexer, LlvmToken, LlvmTokenKind, unescape_string};
use crate::ir::{
    LlvmAttribute, LlvmFunc, LlvmGlobal, LlvmMetadata, LlvmModule, LlvmSymbol, LlvmType,
};
use crate::{LlvmResult, error_at};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceLocation;
use std::borrow::Cow;

/// A named type, which may be used but not defined yet.
#[derive(Clone, Copy, Debug)]
pub struct NamedType {
    pub ty: LlvmType,
    pub defined: bool,
    pub place: SourceLocation,
}

/// Numbered metadata, defined or only used so far.
#[derive(Clone, Copy, Debug)]
pub struct NumberedMetadata {
    pub id: LlvmMetadata,
    pub defined: bool,
    pub place: SourceLocation,
}

/// A parser of LLVM assembly: the text and the module so far.
#[derive(Debug)]
pub struct LlvmParser<'a> {
    pub text: &'a [u8],
    lexer: LlvmLexer<'a>,
    /// The token to be parsed next.
    pub token: LlvmToken,
    /// End of the last token.
    pub last_end: usize,
    pub module: LlvmModule,
    pub types: FxHashMap<LlvmSymbol, NamedType>,
    pub globals: FxHashMap<LlvmName, LlvmGlobal>,
    pub groups: FxHashMap<u64, Vec<LlvmAttribute>>,
    pub metadata: FxHashMap<u64, NumberedMetadata>,
    pub strings: FxHashMap<LlvmSymbol, LlvmMetadata>,
    pub comdats: FxHashMap<LlvmSymbol, u32>,
    /// Start of each function's body, after its brace, and the names of its parameters.
    pub bodies: Vec<Option<(usize, Vec<Option<LlvmName>>)>>,
    /// Whether each global is only declared.
    pub declared: Vec<bool>,
    /// Prefix data, prologue data and personality of functions, with their positions.
    pub parts: Vec<(LlvmFunc, &'a str, usize)>,
    /// Numbers of blocks by function and name, for functions that were scanned for labels.
    pub labels: FxHashMap<LlvmFunc, FxHashMap<LlvmName, u32>>,
    /// Whether pointers state their pointee, as before LLVM 15.
    pub typed_pointers: bool,
    /// Whether there are types of bytes (LLVM 23).
    pub has_bytes: bool,
    /// The function whose body is being parsed.
    pub body: Option<Box<BodyParseState>>,
    /// The inline assembly that is the callee of the current call.
    pub asm_callee: Option<u32>,
    depth: u32,
}

/// How deep types, constants and metadata may nest.
const MAX_DEPTH: u32 = 200;

impl<'a> LlvmParser<'a> {
    /// A parser at the beginning of a text.
    pub fn new(text: &'a [u8]) -> Self {
        let mut lexer = LlvmLexer::new(text, 0);
        let token = lexer.next_token();
        LlvmParser {
            text,
            lexer,
            token,
            last_end: 0,
            module: LlvmModule::default(),
            types: FxHashMap::default(),
            globals: FxHashMap::default(),
            groups: FxHashMap::default(),
            metadata: FxHashMap::default(),
            strings: FxHashMap::default(),
            comdats: FxHashMap::default(),
            bodies: Vec::new(),
            declared: Vec::new(),
            parts: Vec::new(),
            labels: FxHashMap::default(),
            typed_pointers: false,
            has_bytes: false,
            body: None,
            asm_callee: None,
            depth: 0,
        }
    }

    /// Whether the end of the text follows.
    pub fn at_end(&self) -> bool {
        self.token.kind == LlvmTokenKind::End
    }

    /// Goes on at a byte of the text.
    pub fn seek_to(&mut self, pos: usize) {
        self.lexer = LlvmLexer::new(self.text, pos);
        self.token = self.lexer.next_token();
    }

    /// Takes the token.
    pub fn take_token(&mut self) -> LlvmToken {
        let token = self.token;
        self.last_end = token.end;
        self.token = self.lexer.next_token();
        token
    }

    /// The bytes of a token.
    pub fn token_bytes(&self, token: LlvmToken) -> &'a [u8] {
        self.lexer.bytes_of(token)
    }

    /// The text of the next token; empty if it is not UTF-8.
    pub fn peek_text(&self) -> &'a str {
        std::str::from_utf8(self.token_bytes(self.token)).unwrap_or("")
    }

    /// The next word; empty if the next token is not a word.
    pub fn peek_word(&self) -> &'a str {
        if self.token.kind == LlvmTokenKind::Word {
            self.peek_text()
        } else {
            ""
        }
    }

    /// An error at the next token.
    pub fn fail_with<T>(&self, message: impl Into<String>) -> LlvmResult<T> {
        Err(error_at(self.token.place(), message))
    }

    /// An error at the next token that names the expected construct.
    pub fn fail_expected<T>(&self, what: &str) -> LlvmResult<T> {
        match self.token.kind {
            LlvmTokenKind::End => {
                self.fail_with(format!("expected {what}, found the end of the text"))
            }
            _ => {
                let found = String::from_utf8_lossy(self.token_bytes(self.token)).into_owned();
                let found: String = found.chars().take(40).collect();
                self.fail_with(format!("expected {what}, found `{found}`"))
            }
        }
    }

    /// The source location from the beginning of a token to the end of the last one.
    pub fn place_from(&self, start: usize) -> SourceLocation {
        SourceLocation::from_text_range(start, self.last_end)
    }

    /// Whether a character follows.
    pub fn is_at(&self, punct: u8) -> bool {
        self.token.kind == LlvmTokenKind::Punct(punct)
    }

    /// Takes a character if it follows.
    pub fn eat_punct(&mut self, punct: u8) -> bool {
        let found = self.is_at(punct);
        if found {
            self.take_token();
        }
        found
    }

    /// Takes a character that must follow.
    pub fn expect_punct(&mut self, punct: u8) -> LlvmResult<()> {
        if self.eat_punct(punct) {
            Ok(())
        } else {
            self.fail_expected(&format!("`{}`", punct as char))
        }
    }

    /// Whether a word follows.
    pub fn at_word(&self, word: &str) -> bool {
        self.token.kind == LlvmTokenKind::Word && self.token_bytes(self.token) == word.as_bytes()
    }

    /// Takes a word if it follows.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.take_token();
        }
        found
    }

    /// Takes a word that must follow.
    pub fn expect_word(&mut self, word: &str) -> LlvmResult<()> {
        if self.eat_word(word) {
            Ok(())
        } else {
            self.fail_expected(&format!("`{word}`"))
        }
    }

    /// Takes a word if a table has it.
    pub fn eat_named<T>(&mut self, table: impl Fn(&str) -> Option<T>) -> Option<T> {
        let word = self.peek_word();
        let found = if word.is_empty() { None } else { table(word) };
        if found.is_some() {
            self.take_token();
        }
        found
    }

    /// A string.
    pub fn parse_string(&mut self) -> LlvmResult<Cow<'a, [u8]>> {
        if self.token.kind != LlvmTokenKind::String {
            return self.fail_expected("a string");
        }
        let token = self.take_token();
        let bytes = self.token_bytes(token);
        Ok(unescape_string(&bytes[1..bytes.len() - 1]))
    }

    /// A string, interned.
    pub fn symbol_string(&mut self) -> LlvmResult<LlvmSymbol> {
        let bytes = self.parse_string()?;
        Ok(self.module.strings.intern_bytes(&bytes))
    }

    /// A string as text.
    pub fn parse_text_string(&mut self) -> LlvmResult<String> {
        Ok(String::from_utf8_lossy(&self.parse_string()?).into_owned())
    }

    /// The name in a token, without sigil and colon.
    pub fn name_of(&mut self, token: LlvmToken) -> LlvmResult<LlvmName> {
        let mut bytes = self.token_bytes(token);
        if token.kind == LlvmTokenKind::Label {
            bytes = &bytes[..bytes.len() - 1];
        } else {
            bytes = &bytes[1..];
        }
        if let [b'"', inner @ .., b'"'] = bytes {
            let inner = unescape_string(inner);
            return Ok(LlvmName::Symbol(self.module.strings.intern_bytes(&inner)));
        }
        if bytes.iter().all(u8::is_ascii_digit) {
            let number = std::str::from_utf8(bytes)
                .ok()
                .and_then(|text| text.parse().ok());
            return match number {
                Some(number) => Ok(LlvmName::Number(number)),
                None => Err(error_at(token.place(), "a number out of range")),
            };
        }
        Ok(LlvmName::Symbol(self.module.strings.intern_bytes(bytes)))
    }

    /// The symbol of a name. The symbol of a number is its digits.
    pub fn symbol_of(&mut self, name: LlvmName) -> LlvmSymbol {
        match name {
            LlvmName::Symbol(symbol) => symbol,
            LlvmName::Number(number) => self.module.strings.intern_text(&number.to_string()),
        }
    }

    /// The number after the sigil of a token.
    pub fn number_of(&self, token: LlvmToken) -> LlvmResult<u64> {
        let digits = std::str::from_utf8(&self.token_bytes(token)[1..]).ok();
        match digits.and_then(|digits| digits.parse().ok()) {
            Some(number) => Ok(number),
            None => Err(error_at(token.place(), "a number out of range")),
        }
    }

    /// An integer without a sign.
    pub fn parse_unsigned(&mut self) -> LlvmResult<u64> {
        if self.token.kind != LlvmTokenKind::Integer {
            return self.fail_expected("a number");
        }
        match self.peek_text().parse() {
            Ok(number) => {
                self.take_token();
                Ok(number)
            }
            Err(_) => self.fail_with("a number out of range"),
        }
    }

    /// An integer without a sign of 32 bits.
    pub fn unsigned_32(&mut self) -> LlvmResult<u32> {
        let place = self.token.place();
        let number = self.parse_unsigned()?;
        u32::try_from(number).map_err(|_| error_at(place, "a number out of range"))
    }

    /// `(` number `)`
    pub fn parse_number_in_parens(&mut self) -> LlvmResult<u64> {
        self.expect_punct(b'(')?;
        let number = self.parse_unsigned()?;
        self.expect_punct(b')')?;
        Ok(number)
    }

    /// Parses `addrspace(` number `)` if it follows. The number may be a letter of the data layout.
    pub fn parse_address_space(&mut self) -> LlvmResult<Option<u32>> {
        if !self.eat_word("addrspace") {
            return Ok(None);
        }
        self.expect_punct(b'(')?;
        let space = if self.token.kind == LlvmTokenKind::String {
            let layout = &self.module.layout;
            let space = match self.peek_text() {
                "\"A\"" => layout.alloca_space(),
                "\"G\"" => layout.global_space(),
                "\"P\"" => layout.program_space(),
                _ => return self.fail_expected("an address space"),
            };
            self.take_token();
            space
        } else {
            self.unsigned_32()?
        };
        self.expect_punct(b')')?;
        Ok(Some(space))
    }

    /// Parses something that may nest.
    pub fn parse_nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> LlvmResult<T>,
    ) -> LlvmResult<T> {
        if self.depth >= MAX_DEPTH {
            return self.fail_with("this nests too deeply");
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Parses items that are separated by commas, up to and including a closing character.
    pub fn parse_list(
        &mut self,
        close: u8,
        mut item: impl FnMut(&mut Self) -> LlvmResult<()>,
    ) -> LlvmResult<()> {
        if self.eat_punct(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.eat_punct(close) {
                return Ok(());
            }
            self.expect_punct(b',')?;
        }
    }

    /// Skips a group in brackets whose opening bracket follows.
    pub fn skip_group(&mut self) -> LlvmResult<()> {
        let open = self.token.place();
        let mut depth = 0_usize;
        loop {
            match self.token.kind {
                LlvmTokenKind::Punct(b'(' | b'[' | b'{' | b'<') => depth += 1,
                LlvmTokenKind::Punct(b')' | b']' | b'}' | b'>') => depth = depth.saturating_sub(1),
                LlvmTokenKind::End => return Err(error_at(open, "this bracket is never closed")),
                _ => {}
            }
            self.take_token();
            if depth == 0 {
                return Ok(());
            }
        }
    }
}
