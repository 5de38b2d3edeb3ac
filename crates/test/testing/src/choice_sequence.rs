//! Decisions taken from bytes, for fuzzers and property tests.

/// A source of decisions: bytes from a fuzzer or a property test. Similar bytes make similar decisions, so inputs
/// can be shrunk and mutated as bytes. After the last byte every decision is 0.
#[derive(Clone, Debug)]
pub struct ChoiceSequence<'a> {
    bytes: &'a [u8],
}

impl<'a> ChoiceSequence<'a> {
    /// Creates a source of decisions from bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        ChoiceSequence { bytes }
    }

    /// Whether all bytes are used up.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Chooses a number below `n`, which must not be 0.
    pub fn choose_below(&mut self, n: usize) -> usize {
        let mut value = usize::from(self.next_byte());
        if n > 256 {
            value = value << 8 | usize::from(self.next_byte());
        }
        value % n
    }

    /// Chooses one of several items; `None` if there are none.
    pub fn choose_one<'t, T>(&mut self, of: &'t [T]) -> Option<&'t T> {
        if of.is_empty() {
            None
        } else {
            of.get(self.choose_below(of.len()))
        }
    }

    fn next_byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        *first
    }
}
