//! The name that was probably meant.

/// Longer words are not worth a guess.
const LONGEST: usize = 64;

/// The other name nearest to a misspelt one by edit distance, if any is near.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let most = (name.len() / 3).max(1);
    let lower = name.to_ascii_lowercase();
    candidates
        .filter(|c| *c != name)
        .map(|c| {
            let case = usize::from(!c.starts_with(name.get(..1).unwrap_or("")));
            let distance = strsim::osa_distance(&lower, &c.to_ascii_lowercase());
            (distance * 2 + case, c)
        })
        .filter(|(distance, _)| distance / 2 <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, c)| c)
}
