//! Tokens of Futhark source.

/// A range of bytes in a source file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextRange {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl TextRange {
    /// The range from the start of `self` to the end of `last`.
    #[must_use]
    pub fn extend_to(self, last: TextRange) -> TextRange {
        TextRange {
            start: self.start,
            end: last.end.max(self.start),
        }
    }
}

/// A token with the bytes that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceToken {
    /// The class of the token.
    pub kind: TokenKind,
    /// Where it stands. The text of names, numbers and strings is read from there.
    pub range: TextRange,
}

/// The class of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A name that is not a keyword.
    Name,
    /// A constructor of a sum type, with its `#`.
    Constructor,
    /// A whole number, with its suffix if it has one. The suffix may be that of a float.
    Integer,
    /// A number with a fraction, an exponent or both, with its suffix if it has one.
    Float,
    /// A character literal, with its quotes.
    Character,
    /// A string literal, with its quotes.
    String,
    /// An infix operator, qualified by modules if it has dots in front: `+`, `<=.`, `m.+`.
    /// The operators `-` and `!` alone are tokens of their own.
    Operator,
    /// The operator `-`, which may also be a prefix.
    Minus,
    /// The prefix operator `!`.
    Bang,
    /// A block of lines that starts with `-- |`.
    Documentation,
    /// A punctuation mark.
    Mark(PunctuationMark),
    /// A keyword.
    Keyword(ReservedWord),
    /// The end of the file.
    End,
}

/// Defines an enumeration of fixed spellings and the table of these spellings.
macro_rules! spellings {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the spelling says it")]
        pub enum $name {
            $($variant,)*
        }

        impl $name {
            /// All of them, in the order of the definition.
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// How it is spelled in the source.
            pub const fn spelling(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)*
                }
            }
        }
    };
}

spellings! {
    /// A punctuation mark. Marks that begin alike stand with the longest first.
    PunctuationMark {
        Hole = "???",
        RangeInclusive = "...",
        RangeUpTo = "..<",
        RangeDownTo = "..>",
        TwoDots = "..",
        Dot = ".",
        Coercion = ":>",
        Colon = ":",
        AttributeStart = "#[",
        LiftedQuote = "'^",
        SizeLiftedQuote = "'~",
        Quote = "'",
        OpenParenthesis = "(",
        CloseParenthesis = ")",
        OpenBracket = "[",
        CloseBracket = "]",
        OpenBrace = "{",
        CloseBrace = "}",
        Comma = ",",
        Underscore = "_",
        QuestionMark = "?",
        Backslash = "\\",
        Tilde = "~",
        Backtick = "`",
        Arrow = "->",
        Equals = "=",
    }
}

spellings! {
    /// A reserved word.
    ReservedWord {
        True = "true",
        False = "false",
        If = "if",
        Then = "then",
        Else = "else",
        Def = "def",
        Let = "let",
        Loop = "loop",
        In = "in",
        Val = "val",
        For = "for",
        Do = "do",
        With = "with",
        Local = "local",
        Open = "open",
        Include = "include",
        Import = "import",
        Type = "type",
        Entry = "entry",
        Module = "module",
        While = "while",
        Assert = "assert",
        Match = "match",
        Case = "case",
    }
}

impl TokenKind {
    /// A name for diagnostics: the spelling of fixed tokens, the class of the others.
    pub fn describe(self) -> String {
        match self {
            TokenKind::Name => "a name".into(),
            TokenKind::Constructor => "a constructor".into(),
            TokenKind::Integer | TokenKind::Float => "a number".into(),
            TokenKind::Character => "a character".into(),
            TokenKind::String => "a string".into(),
            TokenKind::Operator => "an operator".into(),
            TokenKind::Minus => "`-`".into(),
            TokenKind::Bang => "`!`".into(),
            TokenKind::Documentation => "a documentation comment".into(),
            TokenKind::Mark(mark) => format!("`{}`", mark.spelling()),
            TokenKind::Keyword(word) => format!("`{}`", word.spelling()),
            TokenKind::End => "the end of the file".into(),
        }
    }
}
