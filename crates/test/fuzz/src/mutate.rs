//! Random mutation of inputs.

use rand_mt::Mt64;
use spirula_testing::ChoiceSequence;

/// Values that are often mishandled by readers.
const WORDS: [u32; 8] = [0, 1, 2, 0x7f, 0xffff, 0x7fff_ffff, 0x8000_0000, u32::MAX];

/// Chooses a seed and mutates it.
pub fn make_mutant(seeds: &[Vec<u8>], random: &mut Mt64) -> Vec<u8> {
    let mut bytes = [0; 64];
    random.fill_bytes(&mut bytes);
    let mut choices = ChoiceSequence::new(&bytes);
    let mut input = seeds[choices.choose_below(seeds.len())].clone();
    let other = &seeds[choices.choose_below(seeds.len())];
    mutate_input(&mut input, other, &mut choices);
    input
}

/// Mutates an input in a few places: changes bits or words, and removes, copies or inserts pieces.
fn mutate_input(input: &mut Vec<u8>, other: &[u8], choices: &mut ChoiceSequence<'_>) {
    for _ in 0..=choices.choose_below(4) {
        if input.is_empty() {
            input.extend_from_slice(other);
        }
        let at = choices.choose_position(input.len());
        let length = choices.choose_below(24).min(input.len() - at);
        match choices.choose_below(7) {
            0 => input[at] ^= 1 << choices.choose_below(8),
            1 => input[at] = choices.choose_below(256) as u8,
            2 => {
                let word = WORDS[choices.choose_below(WORDS.len())].to_le_bytes();
                // Words of binary formats are aligned.
                let at = at & !3;
                for (byte, new) in input[at..].iter_mut().zip(word) {
                    *byte = new;
                }
            }
            3 => drop(input.drain(at..at + length)),
            4 => {
                let piece = input[at..at + length].to_vec();
                let to = choices.choose_position(input.len());
                input.splice(to..to, piece);
            }
            5 => {
                let from = choices.choose_position(other.len());
                let end = (from + length).min(other.len());
                input.splice(at..at, other[from..end].iter().copied());
            }
            _ => input.truncate(at),
        }
    }
}

trait OffsetChoice {
    /// Chooses a position below any length.
    fn choose_position(&mut self, length: usize) -> usize;
}

impl OffsetChoice for ChoiceSequence<'_> {
    fn choose_position(&mut self, length: usize) -> usize {
        let wide = self.choose_below(1 << 16) << 16 | self.choose_below(1 << 16);
        wide.checked_rem(length).unwrap_or(0)
    }
}
