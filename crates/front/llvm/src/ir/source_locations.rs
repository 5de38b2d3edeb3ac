//! Source locations of instructions.

use spirula_diagnostics::SourceLocation;

/// The places of a function's instructions in order. Most places are bit positions of one stream or
/// spans of one text, so they are stored compactly.
#[derive(Clone, Debug, Default)]
pub struct LlvmLocations(LlvmLocationStorage);

#[derive(Clone, Debug)]
enum LlvmLocationStorage {
    Bits(Vec<u32>),
    Texts(Vec<(u32, u32)>),
    Any(Vec<SourceLocation>),
}

impl Default for LlvmLocationStorage {
    fn default() -> Self {
        LlvmLocationStorage::Bits(Vec::new())
    }
}

impl LlvmLocations {
    /// Number of places.
    pub fn len(&self) -> usize {
        match &self.0 {
            LlvmLocationStorage::Bits(bits) => bits.len(),
            LlvmLocationStorage::Texts(texts) => texts.len(),
            LlvmLocationStorage::Any(places) => places.len(),
        }
    }

    /// Whether there are no places.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place at `index`; unknown past the end.
    pub fn get(&self, index: usize) -> SourceLocation {
        let found = match &self.0 {
            LlvmLocationStorage::Bits(bits) => bits
                .get(index)
                .map(|&bit| SourceLocation::Bit(u64::from(bit))),
            LlvmLocationStorage::Texts(texts) => texts
                .get(index)
                .map(|&(start, end)| SourceLocation::Text { start, end }),
            LlvmLocationStorage::Any(places) => places.get(index).copied(),
        };
        found.unwrap_or_default()
    }

    /// Appends a place.
    pub fn push(&mut self, place: SourceLocation) {
        if let (LlvmLocationStorage::Bits(_), SourceLocation::Text { .. }, true) =
            (&self.0, place, self.is_empty())
        {
            self.0 = LlvmLocationStorage::Texts(Vec::new());
        }
        match (&mut self.0, place) {
            (LlvmLocationStorage::Bits(bits), SourceLocation::Bit(bit))
                if u32::try_from(bit).is_ok() =>
            {
                bits.push(bit as u32);
            }
            (LlvmLocationStorage::Texts(texts), SourceLocation::Text { start, end }) => {
                texts.push((start, end))
            }
            (LlvmLocationStorage::Any(places), place) => places.push(place),
            (_, place) => {
                let mut places: Vec<SourceLocation> =
                    (0..self.len()).map(|at| self.get(at)).collect();
                places.push(place);
                self.0 = LlvmLocationStorage::Any(places);
            }
        }
    }

    /// A copy of exact size. The original becomes empty and keeps its memory.
    pub(crate) fn take_exact(&mut self) -> LlvmLocations {
        fn take_exact_pool<T: Copy>(pool: &mut Vec<T>) -> Vec<T> {
            let copy = pool.as_slice().to_vec();
            pool.clear();
            copy
        }
        LlvmLocations(match &mut self.0 {
            LlvmLocationStorage::Bits(bits) => LlvmLocationStorage::Bits(take_exact_pool(bits)),
            LlvmLocationStorage::Texts(texts) => LlvmLocationStorage::Texts(take_exact_pool(texts)),
            LlvmLocationStorage::Any(places) => LlvmLocationStorage::Any(take_exact_pool(places)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_places_are_kept() {
        let all = [
            SourceLocation::Bit(7),
            SourceLocation::Bit(u64::from(u32::MAX)),
            SourceLocation::Bit(1 << 40),
            SourceLocation::Unknown,
            SourceLocation::from_text_range(1, 2),
        ];
        for from in 0..all.len() {
            let mut places = LlvmLocations::default();
            all[from..].iter().for_each(|&place| places.push(place));
            let kept: Vec<SourceLocation> = (0..places.len()).map(|at| places.get(at)).collect();
            assert_eq!(kept, all[from..]);
            assert_eq!(places.get(all.len()), SourceLocation::Unknown);
            assert_eq!(places.take_exact().get(0), all[from]);
            assert!(places.is_empty());
        }
    }
}
