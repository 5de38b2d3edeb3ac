//! Scopes of variable names.

use rustc_hash::FxHashMap;
use spirula_kernel::ir::VarId;

/// Bound names; an inner binding hides outer ones.
#[derive(Default)]
pub(super) struct FutharkScopes<'a> {
    bound: FxHashMap<&'a str, Vec<VarId>>,
    /// Names in the order in which they were bound.
    log: Vec<&'a str>,
    /// Length of the log at the beginning of each scope.
    starts: Vec<usize>,
    /// Length of the longest name with characters other than letters, digits, underscores, dots and quotes.
    longest_odd: usize,
}

impl<'a> FutharkScopes<'a> {
    pub fn push_scope(&mut self) {
        self.starts.push(self.log.len());
    }

    pub fn pop_scope(&mut self) {
        let start = self.starts.pop().unwrap_or(0);
        for name in self.log.drain(start..) {
            if let Some(vars) = self.bound.get_mut(name) {
                vars.pop();
            }
        }
    }

    pub fn bind_var(&mut self, name: &'a str, var: VarId) {
        if plain_end(name) != name.len() {
            self.longest_odd = self.longest_odd.max(name.len());
        }
        self.bound.entry(name).or_default().push(var);
        self.log.push(name);
    }

    pub fn get(&self, name: &str) -> Option<VarId> {
        self.bound.get(name).and_then(|vars| vars.last()).copied()
    }

    /// The longest bound name that is a prefix of the text: its variable and its length.
    pub fn find_longest_prefix(&self, text: &str) -> Option<(VarId, usize)> {
        let end = plain_end(text);
        let mut found = self.get(&text[..end]).map(|var| (var, end));
        let limit = self.longest_odd.min(text.len());
        let bytes = text.as_bytes();
        let mut at = if limit > 0 { 0 } else { limit };
        while at < limit {
            if bytes[at] == b'_' {
                let digits = bytes[at + 1..]
                    .iter()
                    .take_while(|b| b.is_ascii_digit())
                    .count();
                let end = at + 1 + digits;
                if digits > 0 && found.is_none_or(|(_, length)| end > length) {
                    found = self.get(&text[..end]).map(|var| (var, end)).or(found);
                }
                at = end;
            } else {
                at += 1;
            }
        }
        found
    }
}

/// Length of the prefix of letters, digits, underscores, dots and quotes.
fn plain_end(text: &str) -> usize {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '\'');
    text.find(|c: char| !is_plain(c)).unwrap_or(text.len())
}
