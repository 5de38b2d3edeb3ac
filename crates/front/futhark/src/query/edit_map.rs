//! Places of a text that was edited after its analysis.

/// The difference between a text and a later one: one part that was replaced.
#[derive(Clone, Copy, Debug, Default)]
pub struct EditMap {
    /// Bytes in front of the part.
    prefix: usize,
    /// The end of the part in the earlier text.
    old_end: usize,
    /// The end of the part in the later text.
    new_end: usize,
}

impl EditMap {
    /// Compares a text with a later one.
    pub fn between(old: &str, new: &str) -> EditMap {
        let prefix = old
            .bytes()
            .zip(new.bytes())
            .take_while(|(left, right)| left == right)
            .count();
        let most = old.len().min(new.len()) - prefix;
        let suffix = old.bytes().rev().zip(new.bytes().rev()).take(most);
        let suffix = suffix.take_while(|(left, right)| left == right).count();
        EditMap {
            prefix,
            old_end: old.len() - suffix,
            new_end: new.len() - suffix,
        }
    }

    /// The byte of the earlier text for one of the later text. The replaced part has the place of its beginning.
    pub fn map_back(&self, at: usize) -> usize {
        if at <= self.prefix {
            at
        } else if at >= self.new_end {
            at - self.new_end + self.old_end
        } else {
            self.prefix
        }
    }

    /// The byte of the later text for one of the earlier text. None within the replaced part.
    pub fn map_forward(&self, at: usize) -> Option<usize> {
        if at <= self.prefix {
            Some(at)
        } else {
            Some(at.checked_sub(self.old_end)? + self.new_end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_around_an_edit_move_with_the_text() {
        let map = EditMap::between("let a = 1 in a", "let a = 10.f in a");
        assert_eq!(map.map_back(4), 4);
        assert_eq!(map.map_back(11), 9);
        assert_eq!(map.map_back(16), 13);
        assert_eq!(map.map_forward(13), Some(16));
        assert_eq!(EditMap::between("aa", "aaa").map_forward(2), Some(2));
        assert_eq!(EditMap::between("", "x").map_back(1), 0);
    }
}
