//! What cannot be translated, with its reason.

/// Why something was not translated: one sentence without a full stop. Its place is added by
/// whoever knows it.
#[derive(Clone, Debug)]
pub(super) struct Refusal(pub(super) Box<str>);

/// A result that may be refused.
pub(super) type Lowered<T> = Result<T, Refusal>;

/// A refusal with its reason.
pub(super) fn refuse(reason: impl Into<String>) -> Refusal {
    Refusal(reason.into().into_boxed_str())
}
