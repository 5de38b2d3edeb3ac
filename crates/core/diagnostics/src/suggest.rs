//! Suggestions for misspelt names.

/// Longer words are not worth a guess.
const LONGEST: usize = 64;

/// Which letters a word has, in either case: each that the other lacks is an edit at least, so that most
/// candidates need not be compared.
fn letter_mask(word: &str) -> u32 {
    let letters = word.bytes().filter(u8::is_ascii_alphabetic);
    letters.fold(0, |all, b| all | 1 << (b.to_ascii_lowercase() - b'a'))
}

/// The other name nearest to a misspelt one by edit distance, if any is near.
pub fn find_nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let length = name.chars().count();
    let most = (length / 3).max(1);
    let lower = name.to_ascii_lowercase();
    let letters = letter_mask(&lower);
    candidates
        .filter(|c| *c != name && c.len().abs_diff(length) <= most)
        .filter(|c| (letters & !letter_mask(c)).count_ones() as usize <= most)
        .map(|c| {
            let case = usize::from(!c.starts_with(name.get(..1).unwrap_or("")));
            let distance = strsim::osa_distance(&lower, &c.to_ascii_lowercase());
            (distance * 2 + case, c)
        })
        .filter(|(distance, _)| distance / 2 <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, c)| c)
}
