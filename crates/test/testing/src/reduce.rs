//! Reduction of decisions.

/// Removes bytes and makes the remaining ones smaller while a property holds.
pub fn reduce_input(bytes: &[u8], holds: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut best = bytes.to_vec();
    loop {
        let before = best.clone();
        let mut size = best.len().next_power_of_two();
        while size > 0 {
            let mut at = 0;
            while at < best.len() {
                let mut less = best.clone();
                less.drain(at..(at + size).min(best.len()));
                if holds(&less) {
                    best = less
                } else {
                    at += size
                }
            }
            size /= 2;
        }
        for at in 0..best.len() {
            for smaller in [0, best[at] / 2, best[at].saturating_sub(1)] {
                let mut less = best.clone();
                less[at] = smaller;
                if smaller < best[at] && holds(&less) {
                    best = less;
                    break;
                }
            }
        }
        if best == before {
            return best;
        }
    }
}
