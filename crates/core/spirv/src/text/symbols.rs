//! Symbol table of the assembler: numbers keep their value, names get free numbers.

use super::integer;
use super::lexer::AssemblyLexer;
use rustc_hash::FxHashMap;

/// Numbers of ids, assigned while the text is read.
#[derive(Debug)]
pub struct AssemblySymbols<'a> {
    source: &'a str,
    named: FxHashMap<&'a str, u32>,
    /// A bit for each number that the text uses and that could be assigned to a name, from the first name on.
    used: Option<Vec<u64>>,
    /// The number to try next for a name.
    next: u32,
    bound: u32,
}

impl<'a> AssemblySymbols<'a> {
    pub fn new(source: &'a str) -> Self {
        AssemblySymbols {
            source,
            named: FxHashMap::default(),
            used: None,
            next: 1,
            bound: 1,
        }
    }

    /// One more than the largest number in use.
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// The number of an id without its `%`; `None` if it is neither a name nor a number.
    pub fn resolve_id(&mut self, name: &'a str) -> Option<u32> {
        let id = match parse_id_number(name) {
            Some(id) => id,
            None => match self.named.get(name) {
                Some(id) => return Some(*id),
                None => {
                    let allowed = |c: u8| c.is_ascii_alphanumeric() || c == b'_';
                    if name.is_empty() || !name.bytes().all(allowed) {
                        return None;
                    }
                    let id = self.next_free_number();
                    self.named.insert(name, id);
                    id
                }
            },
        };
        self.bound = self.bound.max(id.checked_add(1)?);
        Some(id)
    }

    /// The smallest free number. The text is searched for numbers on the first call.
    fn next_free_number(&mut self) -> u32 {
        let used = self.used.get_or_insert_with(|| used_numbers(self.source));
        let is_used = |id: u32| {
            let row = used.get(id as usize / 64).copied().unwrap_or(0);
            row >> (id % 64) & 1 != 0
        };
        while is_used(self.next) {
            self.next += 1;
        }
        self.next += 1;
        self.next - 1
    }
}

/// The number that an id's name is.
fn parse_id_number(name: &str) -> Option<u32> {
    if !name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    integer::parse_integer(name, 32, false)
        .ok()
        .map(|id| id as u32)
}

/// Numbers of ids in a text. A text of n bytes has fewer than n / 2 ids. Names therefore never get higher
/// numbers, and higher ones need not be recorded.
fn used_numbers(source: &str) -> Vec<u64> {
    let mut used = vec![0u64; source.len() / 128 + 1];
    let mut lexer = AssemblyLexer::new(source);
    while let Some(word) = lexer.next_word() {
        let Some(id) = word.text.strip_prefix('%').and_then(parse_id_number) else {
            continue;
        };
        if let Some(row) = used.get_mut(id as usize / 64) {
            *row |= 1 << (id % 64);
        }
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fill_the_gaps_between_numbers() {
        let text = "%1 %a %3 %b %0x5 %a \"%2\" ; %4";
        let mut symbols = AssemblySymbols::new(text);
        let mut id = |name| symbols.resolve_id(name);
        assert_eq!(id("a"), Some(2));
        assert_eq!(id("3"), Some(3));
        assert_eq!(id("b"), Some(4));
        assert_eq!(id("a"), Some(2));
        assert_eq!(id("c"), Some(6));
        assert_eq!(id("0x5"), Some(5));
        assert_eq!(id("9a"), Some(7));
        assert_eq!(id(""), None);
        assert_eq!(id("a.b"), None);
        assert_eq!(id("4294967295"), None);
        assert_eq!(symbols.bound(), 8);
    }
}
