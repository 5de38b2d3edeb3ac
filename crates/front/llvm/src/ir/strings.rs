//! Interned strings.

use spirula_entity::{StringInterner, define_ids};

define_ids! {
    /// An interned string. [`LlvmSymbol::EMPTY`] means "no name".
    pub struct LlvmSymbol: "sym";
}

impl LlvmSymbol {
    /// The empty string. As a name it means that there is none.
    pub const EMPTY: LlvmSymbol = LlvmSymbol::new(0);

    /// Whether this is the empty string.
    pub fn is_empty(self) -> bool {
        self == LlvmSymbol::EMPTY
    }
}

/// The names and metadata strings of a module, each stored once.
///
/// LLVM's strings are bytes. Bytes that are not UTF-8 are kept as `\XX`, the form of LLVM assembly,
/// so every string here is text.
#[derive(Clone, Debug)]
pub struct LlvmStrings(StringInterner<LlvmSymbol>);

impl Default for LlvmStrings {
    fn default() -> Self {
        let mut strings = LlvmStrings(StringInterner::default());
        strings.intern_text("");
        strings
    }
}

impl LlvmStrings {
    /// The symbol of a text.
    pub fn intern_text(&mut self, text: &str) -> LlvmSymbol {
        self.0.intern(text)
    }

    /// The symbol of bytes that are usually text.
    pub fn intern_bytes(&mut self, bytes: &[u8]) -> LlvmSymbol {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.intern_text(text),
            Err(_) => self.intern_text(&escape_invalid(bytes)),
        }
    }

    /// The symbol of a text, if it was ever interned.
    pub fn find_symbol(&self, text: &str) -> Option<LlvmSymbol> {
        self.0.find(text)
    }

    /// The text of a symbol.
    pub fn get(&self, symbol: LlvmSymbol) -> &str {
        self.0.get(symbol)
    }
}

impl std::ops::Index<LlvmSymbol> for LlvmStrings {
    type Output = str;

    fn index(&self, symbol: LlvmSymbol) -> &str {
        self.get(symbol)
    }
}

fn escape_invalid(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            out.push_str(&format!("\\{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_share_a_symbol() {
        let mut strings = LlvmStrings::default();
        let a = strings.intern_text("a");
        assert_eq!(strings.intern_text("a"), a);
        assert_ne!(strings.intern_text("b"), a);
        assert_eq!(&strings[a], "a");
        assert_eq!(strings.intern_text(""), LlvmSymbol::EMPTY);
        assert_eq!(strings.find_symbol("b").map(|s| &strings[s]), Some("b"));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_escaped() {
        let mut strings = LlvmStrings::default();
        let odd = strings.intern_bytes(b"a\xffb");
        assert_eq!(&strings[odd], "a\\FFb");
    }
}
