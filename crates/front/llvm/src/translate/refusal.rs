//! What cannot be translated, with its reason.

/// Why something was not translated: one sentence without a full stop. Its place is added by
/// whoever knows it.
#[derive(Clone, Debug)]
pub(super) enum Refusal {
    /// For this reason.
    Because(Box<str>),
    /// Because something was refused before, and reported.
    Follows,
}

impl Refusal {
    /// The same with the function whose call is refused.
    pub(super) fn in_call_of(self, name: &str) -> Refusal {
        match self {
            Refusal::Because(reason) => refuse(format!("{reason} (in the call of {name})")),
            Refusal::Follows => Refusal::Follows,
        }
    }
}

/// A result that may be refused.
pub(super) type Lowered<T> = Result<T, Refusal>;

/// A refusal with its reason.
pub(super) fn refuse(reason: impl Into<String>) -> Refusal {
    Refusal::Because(reason.into().into_boxed_str())
}
