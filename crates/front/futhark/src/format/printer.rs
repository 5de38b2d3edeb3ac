//! Printer of the formatter: tokens, comments, blanks and indentation.
//!
//! The walk over the tree says where blanks and line breaks stand. Each token is taken from the source in turn, so none
//! can be lost. A blank or line break is printed when the next token is known, after the comments in front of it.

use crate::syntax::read_tokens;
use crate::syntax::token::{PunctuationMark, ReservedWord, SourceToken, TextRange, TokenKind};
use crate::syntax::tree::SyntaxTree;
use spirula_diagnostics::SourceDiagnostic;

/// The place of a token that was not expected.
pub(super) type PrintResult<T> = Result<T, TextRange>;

/// The space between two tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenGap {
    Nothing,
    Blank,
    /// Line breaks, with the indentation after them.
    Lines {
        count: usize,
        indentation: usize,
    },
}

/// State of the printer.
pub(super) struct SourcePrinter<'a> {
    pub(super) tree: &'a SyntaxTree,
    text: &'a str,
    tokens: Vec<SourceToken>,
    /// The next token.
    next: usize,
    /// The comments, each of one line, in order.
    comments: Vec<TextRange>,
    /// The next comment.
    next_comment: usize,
    /// The first byte of each line.
    line_starts: Vec<u32>,
    out: String,
    /// The column of the end of `out`, in characters.
    column: usize,
    gap: TokenGap,
    /// The indentation of new lines.
    pub(super) indentation: usize,
    /// Whether everything stands on one line.
    pub(super) is_single: bool,
    /// The end of the last token or comment that was printed.
    last_end: Option<u32>,
}

impl<'a> SourcePrinter<'a> {
    pub(super) fn new(text: &'a str, tree: &'a SyntaxTree) -> Result<Self, SourceDiagnostic> {
        let list = read_tokens(text)?;
        // Documentation is among the comments, too.
        let tokens = list.tokens.into_iter();
        let tokens = tokens.filter(|token| token.kind != TokenKind::Documentation);
        let comments = list.comments;
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(breaks.map(|(at, _)| at as u32 + 1));
        Ok(SourcePrinter {
            tree,
            text,
            tokens: tokens.collect(),
            next: 0,
            comments,
            next_comment: 0,
            line_starts: line_starts.collect(),
            out: String::new(),
            column: 0,
            gap: TokenGap::Nothing,
            indentation: 0,
            is_single: false,
            last_end: None,
        })
    }

    /// Prints the file.
    pub(super) fn print_file(mut self) -> PrintResult<String> {
        let tree = self.tree;
        self.print_declarations(&tree.declarations)?;
        let end = self.peek();
        if end.kind != TokenKind::End {
            return Err(end.range);
        }
        self.gap = TokenGap::Nothing;
        self.print_comments(u32::MAX);
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        Ok(self.out)
    }

    /// The next token.
    pub(super) fn peek(&self) -> SourceToken {
        self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    /// Whether the next token is a mark.
    pub(super) fn is_at(&self, mark: PunctuationMark) -> bool {
        self.peek().kind == TokenKind::Mark(mark)
    }

    /// The text of a range.
    pub(super) fn text_of(&self, range: TextRange) -> &'a str {
        &self.text[range.start as usize..range.end as usize]
    }

    /// Prints the next token as it is written.
    pub(super) fn print_token(&mut self) {
        let text = self.text_of(self.peek().range);
        self.print_token_as(text);
    }

    /// Prints another text in place of the next token.
    pub(super) fn print_token_as(&mut self, text: &str) {
        self.settle();
        let end = self.peek().range.end;
        self.print_text(text);
        self.last_end = Some(end);
        self.next += 1;
    }

    /// Passes the next token, which is not printed.
    pub(super) fn skip_token(&mut self) {
        self.next += 1;
    }

    /// Prints the next token, which must have this text.
    pub(super) fn expect(&mut self, text: &str) -> PrintResult<()> {
        let range = self.peek().range;
        if self.text_of(range) != text {
            return Err(range);
        }
        self.print_token();
        Ok(())
    }

    /// Prints the tokens of a range without blanks.
    pub(super) fn print_glued(&mut self, range: TextRange) -> PrintResult<()> {
        if self.peek().range.start > range.start {
            return Err(range);
        }
        while self.peek().range.start < range.end && self.peek().kind != TokenKind::End {
            self.print_token();
        }
        Ok(())
    }

    /// A blank in front of the next token.
    pub(super) fn blank(&mut self) {
        if self.gap == TokenGap::Nothing {
            self.gap = TokenGap::Blank;
        }
    }

    /// A line break in front of the next token.
    pub(super) fn hard_line(&mut self) {
        self.hard_lines(1);
    }

    /// Several line breaks in front of the next token.
    pub(super) fn hard_lines(&mut self, count: usize) {
        let count = match self.gap {
            TokenGap::Lines { count: before, .. } => count.max(before),
            _ => count,
        };
        self.gap = TokenGap::Lines {
            count,
            indentation: self.indentation,
        };
    }

    /// A blank on one line, or else a line break.
    pub(super) fn line(&mut self) {
        if self.is_single {
            self.blank();
        } else {
            self.hard_line();
        }
    }

    /// Nothing on one line, or else a line break.
    pub(super) fn soft_line(&mut self) {
        if !self.is_single {
            self.hard_line();
        }
    }

    /// Prints what is after the last token: comments and blanks in front of the next one.
    pub(super) fn settle(&mut self) {
        self.print_comments(self.peek().range.start);
        match std::mem::replace(&mut self.gap, TokenGap::Nothing) {
            TokenGap::Nothing => {}
            TokenGap::Blank => self.print_text(" "),
            TokenGap::Lines { count, indentation } => self.break_lines(count, indentation),
        }
    }

    /// Prints the comments in front of a byte. A line break follows.
    fn print_comments(&mut self, before: u32) {
        while let Some(&comment) = self.comments.get(self.next_comment) {
            if comment.start >= before {
                return;
            }
            let follows = self
                .last_end
                .is_some_and(|end| self.line_of(end) == self.line_of(comment.start));
            let indentation = match self.gap {
                TokenGap::Lines { indentation, .. } => indentation,
                _ => self.indentation,
            };
            if follows {
                self.print_text(" ");
            } else if let Some(end) = self.last_end {
                let is_apart = self.line_of(comment.start) > self.line_of(end) + 1;
                let wanted = match self.gap {
                    TokenGap::Lines { count, .. } => count,
                    _ => 1,
                };
                let count = wanted.max(1 + usize::from(is_apart));
                self.break_lines(count, indentation);
            }
            let text = self.text_of(comment).trim_end();
            self.print_text(text);
            self.last_end = Some(comment.end);
            self.next_comment += 1;
            self.gap = TokenGap::Lines {
                count: 1 + usize::from(self.is_apart_from_next(comment, follows)),
                indentation,
            };
        }
    }

    /// Prints the comments after the comma ahead in front of it, where they follow their item.
    fn print_comments_behind_comma(&mut self) {
        if let Some(item) = self.tokens.get(self.next + 1)
            && !self.is_single
        {
            self.print_comments(item.range.start);
        }
    }

    /// Whether an empty line stands after a comment. One after a comment at the end of a line of tokens counts only in
    /// front of another comment.
    fn is_apart_from_next(&self, comment: TextRange, follows: bool) -> bool {
        let token = self.peek();
        let next = self.comments.get(self.next_comment).map(|c| c.start);
        let next = next.filter(|start| *start < token.range.start);
        if token.kind == TokenKind::End && next.is_none() {
            return false;
        }
        let is_apart = |start: u32| self.line_of(start) > self.line_of(comment.end) + 1;
        match next {
            Some(start) => is_apart(start),
            None => {
                let wants = matches!(self.gap, TokenGap::Lines { count, .. } if count > 1);
                wants && follows || !follows && is_apart(token.range.start)
            }
        }
    }

    fn break_lines(&mut self, count: usize, indentation: usize) {
        if self.out.is_empty() {
            return;
        }
        let ending = self.out.len() - self.out.trim_end_matches(' ').len();
        self.out.truncate(self.out.len() - ending);
        self.out.extend(std::iter::repeat_n('\n', count));
        self.out.extend(std::iter::repeat_n(' ', indentation));
        self.column = indentation;
    }

    fn print_text(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    /// Whether a comment of its own line stands in front of the next token.
    pub(super) fn has_comment_ahead(&self) -> bool {
        let token = self.peek().range.start;
        let ahead = self.comments[self.next_comment..].iter();
        let mut ahead = ahead.take_while(|comment| comment.start < token);
        ahead.any(|comment| {
            self.last_end
                .is_some_and(|end| self.line_of(end) != self.line_of(comment.start))
        })
    }

    /// Indents the first clause of a sum by the width of the bar that the others have.
    pub(super) fn pad_for_bar(&mut self) {
        self.print_text("  ");
    }

    /// Whether the next tokens are these keywords.
    pub(super) fn tokens_ahead_are<const N: usize>(&self, words: [ReservedWord; N]) -> bool {
        let ahead = self.tokens.get(self.next..self.next + N);
        ahead.is_some_and(|ahead| {
            let kinds = ahead.iter().map(|token| token.kind);
            kinds.eq(words.map(TokenKind::Keyword))
        })
    }

    /// The number of the line of a byte.
    pub(super) fn line_of(&self, byte: u32) -> usize {
        self.line_starts.partition_point(|start| *start <= byte)
    }

    /// Whether a range stands on one line.
    pub(super) fn is_one_line(&self, range: TextRange) -> bool {
        self.line_of(range.start) == self.line_of(range.end)
    }

    /// Whether a range is printed on one line where its surroundings are.
    pub(super) fn stays_single(&self, range: TextRange) -> bool {
        self.is_single || self.is_one_line(range)
    }

    /// Prints something in a layout: on one line or not.
    pub(super) fn with_layout(
        &mut self,
        is_single: bool,
        print: impl FnOnce(&mut Self) -> PrintResult<()>,
    ) -> PrintResult<()> {
        let before = std::mem::replace(&mut self.is_single, is_single);
        let done = print(self);
        self.is_single = before;
        done
    }

    /// Prints something in the layout that it has in the source.
    pub(super) fn in_layout_of(
        &mut self,
        range: TextRange,
        print: impl FnOnce(&mut Self) -> PrintResult<()>,
    ) -> PrintResult<()> {
        let is_single = self.is_one_line(range);
        self.with_layout(is_single, print)
    }

    /// Prints something whose lines begin at this column.
    pub(super) fn aligned(
        &mut self,
        print: impl FnOnce(&mut Self) -> PrintResult<()>,
    ) -> PrintResult<()> {
        self.settle();
        let column = self.column;
        self.with_indentation(column, print)
    }

    /// Prints something whose lines are indented further.
    pub(super) fn nested(
        &mut self,
        print: impl FnOnce(&mut Self) -> PrintResult<()>,
    ) -> PrintResult<()> {
        self.with_indentation(self.indentation + 2, print)
    }

    fn with_indentation(
        &mut self,
        indentation: usize,
        print: impl FnOnce(&mut Self) -> PrintResult<()>,
    ) -> PrintResult<()> {
        let before = std::mem::replace(&mut self.indentation, indentation);
        let done = print(self);
        self.indentation = before;
        done
    }

    /// Prints something after a blank, or else indented in the next line.
    pub(super) fn line_nested(
        &mut self,
        print: impl FnOnce(&mut Self) -> PrintResult<()>,
    ) -> PrintResult<()> {
        if self.is_single {
            self.blank();
            return print(self);
        }
        self.nested(|printer| {
            printer.hard_line();
            print(printer)
        })
    }

    /// Prints something after a blank where it stands on one line with what is in front of it, or else indented in the
    /// next line.
    pub(super) fn follow_or_nest(
        &mut self,
        whole: TextRange,
        print: impl FnOnce(&mut Self) -> PrintResult<()>,
    ) -> PrintResult<()> {
        if self.stays_single(whole) {
            self.blank();
            return print(self);
        }
        self.nested(|printer| {
            printer.hard_line();
            print(printer)
        })
    }

    /// Prints a list in brackets: on one line, or each item in a line after its comma.
    pub(super) fn print_list<T>(
        &mut self,
        range: TextRange,
        items: &[T],
        mut print: impl FnMut(&mut Self, &T) -> PrintResult<()>,
    ) -> PrintResult<()> {
        self.in_layout_of(range, |printer| {
            printer.aligned(|printer| {
                printer.print_token();
                if !printer.is_single && !items.is_empty() {
                    printer.blank();
                }
                for (number, item) in items.iter().enumerate() {
                    if number > 0 {
                        printer.soft_line();
                        printer.print_comments_behind_comma();
                        printer.expect(",")?;
                        printer.blank();
                    }
                    printer.aligned(|printer| print(printer, item))?;
                }
                if printer.is_at(PunctuationMark::Comma) {
                    printer.skip_token();
                }
                if !items.is_empty() {
                    printer.soft_line();
                }
                printer.print_token();
                Ok(())
            })
        })
    }
}
