//! The factors into which the length of a Fourier transform is taken apart, a pass over the elements each.

use super::short_fourier::is_short_length;
use std::collections::BTreeMap;

/// Cost of a pass over the elements, in operators of an element.
const PASS: u64 = 24;
/// Length of runs of elements from which it does not matter that the last vector of each is not whole.
const RAGGED: u64 = 64;

/// The factor of a length that is transformed first, where `inner` elements are transformed side by side: the first of the short
/// factors that cost least. Where there is another prime, short factors come first.
pub(super) fn choose_factor(n: u64, inner: u64) -> u64 {
    if let Some(best) = find_short_factors(n, inner, &mut BTreeMap::new()) {
        return best.first;
    }
    if let Some(short) = short_divisors(n).next_back() {
        return short;
    }
    let mut primes = (2..).take_while(|a| a * a <= n);
    primes.find(|a| n.is_multiple_of(*a)).unwrap_or(n)
}

fn short_divisors(n: u64) -> impl DoubleEndedIterator<Item = u64> {
    (2..=16).filter(move |a| n.is_multiple_of(*a) && is_short_length(*a))
}

/// Short factors of a length.
#[derive(Clone, Copy)]
struct ShortFactors {
    /// The factor that is transformed first.
    first: u64,
    /// The operators of an element of all passes.
    cost: u64,
}

/// The short factors of a length whose passes cost least; none where there is another factor. The results for shorter
/// lengths are in `known`.
fn find_short_factors(
    n: u64,
    inner: u64,
    known: &mut BTreeMap<u64, Option<ShortFactors>>,
) -> Option<ShortFactors> {
    if n == 1 {
        return Some(ShortFactors { first: 1, cost: 0 });
    }
    if let Some(found) = known.get(&n) {
        return *found;
    }
    // Runs that are not whole vectors are read element by element.
    let is_ragged = inner > 1 && inner < RAGGED && !inner.is_multiple_of(4);
    let pass = if is_ragged { 2 * PASS } else { PASS };
    let mut best: Option<ShortFactors> = None;
    for first in short_divisors(n).rev() {
        let Some(rest) = find_short_factors(n / first, inner * first, known) else {
            continue;
        };
        let cost = rest.cost + pass + transform_operators(first);
        if best.is_none_or(|best| cost < best.cost) {
            best = Some(ShortFactors { first, cost });
        }
    }
    known.insert(n, best);
    best
}

/// Number of operators of a short transform for each element; a longer one has too many elements for the registers.
fn transform_operators(length: u64) -> u64 {
    let (mut rest, mut sum) = (length, 0);
    for prime in [2, 3, 5, 7, 11, 13] {
        while rest.is_multiple_of(prime) {
            rest /= prime;
            sum += prime + 2;
        }
    }
    sum + length.saturating_sub(8)
}
