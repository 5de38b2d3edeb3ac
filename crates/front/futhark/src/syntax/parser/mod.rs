//! Parser: from tokens to a syntax tree.
//!
//! A recursive descent with a table of operators, a file for each kind of node. A fault in one declaration is
//! reported, and the parser goes on at the next one.

mod attribute;
mod binding;
mod declaration;
mod expression;
mod infix;
mod module;
mod pattern;
mod section;
mod type_expression;

use super::lexer::read_tokens;
use super::token::{PunctuationMark, ReservedWord, SourceToken, TextRange, TokenKind};
use super::tree::{QualifiedName, SourceName, SourceNameId, SyntaxTree};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_entity::StringInterner;

/// How deep expressions, types, patterns and modules may be nested.
const MAX_DEPTH: u32 = 1000;

/// The result of a parsing function.
type ParseResult<T> = Result<T, SourceDiagnostic>;

/// Parses a file. Names are added to `names`.
///
/// # Errors
///
/// All faults of the text that are independent of each other, at least one, in the order of their places.
pub fn parse_file(
    text: &str,
    names: &mut StringInterner<SourceNameId>,
) -> Result<SyntaxTree, Vec<SourceDiagnostic>> {
    let (tree, faults) = parse_partial_file(text, names);
    if faults.is_empty() {
        Ok(tree)
    } else {
        Err(faults)
    }
}

/// Parses a file as [`parse_file`] does. The tree lacks the declarations that have faults.
pub fn parse_partial_file(
    text: &str,
    names: &mut StringInterner<SourceNameId>,
) -> (SyntaxTree, Vec<SourceDiagnostic>) {
    let mut list = match read_tokens(text) {
        Ok(list) => list,
        Err(fault) => return (SyntaxTree::default(), vec![fault]),
    };
    let mut tokens = Vec::with_capacity(list.tokens.len());
    let mut documentation = Vec::new();
    for token in list.tokens.drain(..) {
        if token.kind == TokenKind::Documentation {
            documentation.push((tokens.len(), token.range));
        } else {
            tokens.push(token);
        }
    }
    let mut parser = SourceParser {
        text,
        tokens,
        documentation,
        at: 0,
        depth: 0,
        names,
        tree: SyntaxTree {
            comments: list.comments,
            ..SyntaxTree::default()
        },
    };
    let faults = parser.parse_program();
    (parser.tree, faults)
}

/// State of the parser: a position in the tokens, and the tree so far.
struct SourceParser<'a> {
    text: &'a str,
    /// The tokens without documentation.
    tokens: Vec<SourceToken>,
    /// Documentation comments in order, each with the position of the token that follows it.
    documentation: Vec<(usize, TextRange)>,
    at: usize,
    /// How many nodes that are not finished are nested.
    depth: u32,
    names: &'a mut StringInterner<SourceNameId>,
    tree: SyntaxTree,
}

/// The error at a range.
fn fail_at(range: TextRange, message: impl Into<String>) -> SourceDiagnostic {
    let place = SourceLocation::from_text_range(range.start as usize, range.end as usize);
    SourceDiagnostic::error(place, message)
}

impl SourceParser<'_> {
    /// The next token.
    fn peek_token(&self) -> SourceToken {
        self.peek_ahead(0)
    }

    /// The token that is `ahead` tokens after the next.
    fn peek_ahead(&self, ahead: usize) -> SourceToken {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(last)]
    }

    /// The class of the next token.
    fn peek_kind(&self) -> TokenKind {
        self.peek_token().kind
    }

    /// Passes the next token.
    fn take_token(&mut self) -> SourceToken {
        let token = self.peek_token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// The text of a range.
    fn text_of(&self, range: TextRange) -> &str {
        &self.text[range.start as usize..range.end as usize]
    }

    /// Where the next node starts. With [`Self::range_since`] it gives the range of a node.
    fn start_range(&self) -> TextRange {
        self.peek_token().range
    }

    /// From the start of a node to the end of the last token.
    fn range_since(&self, start: TextRange) -> TextRange {
        match self.at.checked_sub(1) {
            Some(last) => start.extend_to(self.tokens[last].range),
            None => start,
        }
    }

    /// Whether the next token is a mark.
    fn is_at_mark(&self, mark: PunctuationMark) -> bool {
        self.peek_kind() == TokenKind::Mark(mark)
    }

    /// Whether the next token is a keyword.
    fn is_at_keyword(&self, word: ReservedWord) -> bool {
        self.peek_kind() == TokenKind::Keyword(word)
    }

    /// Passes a mark if it is the next token.
    fn accept_mark(&mut self, mark: PunctuationMark) -> bool {
        let accepted = self.is_at_mark(mark);
        self.at += usize::from(accepted);
        accepted
    }

    /// Passes a keyword if it is the next token.
    fn accept_keyword(&mut self, word: ReservedWord) -> bool {
        let accepted = self.is_at_keyword(word);
        self.at += usize::from(accepted);
        accepted
    }

    /// Passes a mark.
    fn expect_mark(&mut self, mark: PunctuationMark) -> ParseResult<()> {
        if self.accept_mark(mark) {
            return Ok(());
        }
        Err(self.fail_expected(&format!("`{}`", mark.spelling())))
    }

    /// Passes a keyword.
    fn expect_keyword(&mut self, word: ReservedWord) -> ParseResult<()> {
        if self.accept_keyword(word) {
            return Ok(());
        }
        Err(self.fail_expected(&format!("`{}`", word.spelling())))
    }

    /// The error that something else was expected than the next token.
    fn fail_expected(&self, expected: &str) -> SourceDiagnostic {
        let token = self.peek_token();
        let found = match token.kind {
            TokenKind::Name | TokenKind::Operator | TokenKind::Constructor => {
                format!("`{}`", self.text_of(token.range))
            }
            kind => kind.describe(),
        };
        fail_at(token.range, format!("expected {expected}, found {found}"))
    }

    /// Parses a name.
    fn parse_name(&mut self) -> ParseResult<SourceName> {
        if self.peek_kind() != TokenKind::Name {
            return Err(self.fail_expected("a name"));
        }
        let token = self.take_token();
        Ok(self.intern_range(token.range))
    }

    /// The text of a range as a name.
    fn intern_range(&mut self, range: TextRange) -> SourceName {
        let text = &self.text[range.start as usize..range.end as usize];
        SourceName {
            name: self.names.intern(text),
            range,
        }
    }

    /// Parses a name with the modules in front of it.
    fn parse_qualified_name(&mut self) -> ParseResult<QualifiedName> {
        let mut modules = Vec::new();
        let mut name = self.parse_name()?;
        while self.is_at_mark(PunctuationMark::Dot) && self.peek_ahead(1).kind == TokenKind::Name {
            self.take_token();
            modules.push(name);
            name = self.parse_name()?;
        }
        Ok(QualifiedName { modules, name })
    }

    /// Parses the name of a field, which may be a number.
    fn parse_field_name(&mut self) -> ParseResult<SourceName> {
        let token = self.peek_token();
        let is_number = token.kind == TokenKind::Integer
            && self
                .text_of(token.range)
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'_');
        if token.kind != TokenKind::Name && !is_number {
            return Err(self.fail_expected("the name of a field"));
        }
        self.take_token();
        Ok(self.intern_range(token.range))
    }

    /// Parses the name of a constructor, which is kept without its `#`.
    fn parse_constructor_name(&mut self) -> SourceName {
        let range = self.take_token().range;
        let name = TextRange {
            start: range.start + 1,
            end: range.end,
        };
        SourceName {
            range,
            ..self.intern_range(name)
        }
    }

    /// Parses elements with commas between them and perhaps after the last, to the closing mark, which is passed.
    fn parse_list<T>(
        &mut self,
        close: PunctuationMark,
        mut element: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        let mut elements = Vec::new();
        while !self.accept_mark(close) {
            elements.push(element(self)?);
            if !self.accept_mark(PunctuationMark::Comma) {
                self.expect_mark(close)?;
                break;
            }
        }
        Ok(elements)
    }

    /// Parses a list as [`Self::parse_list`] does, which has at least one element.
    fn parse_some<T>(
        &mut self,
        close: PunctuationMark,
        mut element: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        let mut elements = vec![element(self)?];
        if self.accept_mark(PunctuationMark::Comma) {
            elements.extend(self.parse_list(close, element)?);
        } else {
            self.expect_mark(close)?;
        }
        Ok(elements)
    }

    /// Parses a node, one level deeper.
    ///
    /// # Errors
    ///
    /// Those of `node`, and that the nesting is too deep.
    fn parse_nested<T>(
        &mut self,
        node: impl FnOnce(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<T> {
        if self.depth == MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} constructs are nested here");
            return Err(fail_at(self.start_range(), message));
        }
        self.depth += 1;
        let parsed = node(self);
        self.depth -= 1;
        parsed
    }

    /// Whether an opening bracket is next that has no space in front of it, as that of an index.
    fn is_at_index(&self) -> bool {
        let range = self.peek_token().range;
        let before = self.text.as_bytes()[..range.start as usize].last();
        self.is_at_mark(PunctuationMark::OpenBracket)
            && before.is_some_and(|&byte| byte.is_ascii_alphanumeric() || b"_')]".contains(&byte))
    }
}
