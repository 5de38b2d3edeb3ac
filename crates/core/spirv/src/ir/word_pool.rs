//! Word pool: the words of a module's instructions.
//!
//! The words of the module that was read stay as they are, except for operands that are changed in place. Words of
//! new instructions, and of instructions that grow, are appended to a second vector. The first edit therefore does
//! not copy the module.

use super::edit::GROWTH;
use crate::binary::{first_word, split_first_word};
use crate::grammar::Op;
use std::ops::Range;

/// Words that are known by one position, whichever of two vectors they are in.
#[derive(Clone, Debug, Default)]
pub(super) struct WordPool {
    read: Vec<u32>,
    made: Vec<u32>,
}

impl WordPool {
    /// The words of a module that was read.
    pub fn from_words(read: Vec<u32>) -> WordPool {
        let made = Vec::new();
        WordPool { read, made }
    }

    pub fn len(&self) -> usize {
        self.read.len() + self.made.len()
    }

    /// The words as they were read, if any were.
    pub fn original_words(&self) -> &[u32] {
        &self.read
    }

    /// Whether a position is that of a word that was read.
    #[inline]
    pub fn is_original(&self, at: u32) -> bool {
        (at as usize) < self.read.len()
    }

    /// The words from a position on, as far as they lie side by side.
    #[inline]
    pub fn words_from(&self, at: u32) -> &[u32] {
        let at = at as usize;
        match self.read.get(at..) {
            Some(words) if !words.is_empty() => words,
            _ => &self.made[at - self.read.len()..],
        }
    }

    /// The words of an instruction after its first.
    #[inline]
    pub fn operands_mut(&mut self, at: u32) -> &mut [u32] {
        let (length, _) = split_first_word(self.words_from(at)[0]);
        let (at, read) = (at as usize, self.read.len());
        let own = if at < read {
            &mut self.read[at..]
        } else {
            &mut self.made[at - read..]
        };
        &mut own[1..length]
    }

    /// The words of a range, which is not of both vectors.
    pub fn words_in(&self, range: Range<usize>) -> &[u32] {
        let read = self.read.len();
        if range.end <= read {
            &self.read[range]
        } else {
            &self.made[range.start - read..range.end - read]
        }
    }

    /// Reserves room for this number of words.
    pub fn reserve_exact(&mut self, more: usize) {
        self.made.reserve_exact(more);
    }

    /// Appends an instruction, with its words after the first in two parts, and returns its position.
    pub fn push_instruction(&mut self, op: Op, head: &[u32], tail: &[u32]) -> u32 {
        let length = head.len() + tail.len();
        assert!(length < 0xffff, "{op} is longer than an instruction may be");
        let start = self.len() as u32;
        if self.made.capacity() - self.made.len() <= length {
            // Doubling would take twice the file for a module that is changed everywhere.
            let more = self.made.len() / 2;
            let more = more.min(self.len() / GROWTH);
            self.made.reserve_exact(more + length + 64);
        }
        self.made.push(first_word(op, length));
        self.made.extend_from_slice(head);
        self.made.extend_from_slice(tail);
        start
    }
}
