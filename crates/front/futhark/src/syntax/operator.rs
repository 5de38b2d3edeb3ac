//! Precedence of infix operators, which is that of the built-in operator that they begin with.

/// How tightly an infix operator binds. Higher levels bind more tightly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorPrecedence {
    /// The level, from 1 on.
    pub level: u8,
    /// Whether `a op b op c` is `a op (b op c)`.
    pub is_right: bool,
}

/// Precedence of a name between backticks.
pub const BACKTICK: OperatorPrecedence = OperatorPrecedence {
    level: 1,
    is_right: false,
};

/// Precedence of `with`, which stands after its operand.
pub const WITH_LEVEL: u8 = 2;

/// Precedence of the value of `with`, and of all operators that an operand of a range may have.
pub const WITH_VALUE_LEVEL: u8 = 3;

/// The built-in operators and their levels. Of those that fit, the longest counts.
const LEVELS: &[(&str, u8)] = &[
    ("|>", 3),
    ("<|", 4),
    ("||", 5),
    ("&&", 6),
    ("<=", 7),
    (">=", 7),
    ("==", 7),
    ("!=", 7),
    (">>", 9),
    ("<<", 9),
    ("//", 11),
    ("%%", 11),
    ("**", 12),
    ("<", 7),
    (">", 7),
    ("!", 7),
    ("=", 7),
    ("&", 8),
    ("^", 8),
    ("|", 8),
    ("+", 10),
    ("-", 10),
    ("*", 11),
    ("/", 11),
    ("%", 11),
];

/// The precedence of an operator without its modules. None if it begins like no built-in operator.
pub fn find_precedence(operator: &str) -> Option<OperatorPrecedence> {
    let (_, level) = LEVELS
        .iter()
        .find(|(prefix, _)| operator.starts_with(prefix))?;
    Some(OperatorPrecedence {
        level: *level,
        is_right: *level == 4,
    })
}
