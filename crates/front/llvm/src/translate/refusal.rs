//! Refusals: the reasons why a construct cannot be translated.

/// The reason why a construct was not translated: one sentence without a full stop. The caller that
/// knows the place adds it.
#[derive(Clone, Debug)]
pub(super) enum TranslationRefusal {
    /// For this reason.
    Because(Box<str>),
    /// Because something was refused before, and reported.
    Follows,
}

impl TranslationRefusal {
    /// The same with the function whose call is refused.
    pub(super) fn in_call_of(self, name: &str) -> TranslationRefusal {
        match self {
            TranslationRefusal::Because(reason) => {
                make_refusal(format!("{reason} (in the call of {name})"))
            }
            TranslationRefusal::Follows => TranslationRefusal::Follows,
        }
    }
}

/// A result that may be refused.
pub(super) type TranslationResult<T> = Result<T, TranslationRefusal>;

/// A refusal with its reason.
pub(super) fn make_refusal(reason: impl Into<String>) -> TranslationRefusal {
    TranslationRefusal::Because(reason.into().into_boxed_str())
}
