//! Calls of a program that move elements between devices, as their attributes describe them.

use crate::error::{PluginError, PluginResult};
use md5::{Digest, Md5};
use spirula::{EXCHANGE_TARGET, ElementMovement};
use spirula_program::program::HostStep;
use spirula_program::{CompiledProgram, ForeignAttribute, ForeignSignature};

/// A call that moves elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeSite {
    pub kind: ElementMovement,
    /// The number of the call in the program.
    pub number: u32,
    /// The devices of each group, by their numbers in the program. A permutation has pairs of a source and a target.
    pub groups: Vec<Vec<usize>>,
}

impl ExchangeSite {
    /// Reads the attributes of a call; `None` for a call of another function.
    ///
    /// # Errors
    /// When they are malformed, or name other devices than the program has.
    pub fn read(signature: &ForeignSignature, devices: usize) -> PluginResult<Option<Self>> {
        if signature.target != EXCHANGE_TARGET {
            return Ok(None);
        }
        let site = Self::read_attributes(signature, devices);
        let malformed = || PluginError::invalid("an exchange between devices is malformed");
        site.map(Some).ok_or_else(malformed)
    }

    fn read_attributes(signature: &ForeignSignature, devices: usize) -> Option<ExchangeSite> {
        let find = |name: &str| {
            let mut attributes = signature.attributes.iter();
            attributes
                .find(|(own, _)| own == name)
                .map(|(_, value)| value)
        };
        let number = |name: &str| match find(name)? {
            ForeignAttribute::Scalar(_, bytes) => read_integers(bytes)?.first().copied(),
            _ => None,
        };
        let ForeignAttribute::Text(kind) = find("kind")? else {
            return None;
        };
        let ForeignAttribute::Array(_, ids) = find("groups")? else {
            return None;
        };
        let width = usize::try_from(number("width")?)
            .ok()
            .filter(|width| *width > 0)?;
        let ids = read_integers(ids)?.into_iter();
        let ids = ids.map(|id| usize::try_from(id).ok().filter(|id| *id < devices));
        let ids: Vec<usize> = ids.collect::<Option<_>>()?;
        if !ids.len().is_multiple_of(width)
            || signature.operands.len() != 1
            || signature.results.len() != 1
        {
            return None;
        }
        Some(ExchangeSite {
            kind: ElementMovement::from_name(kind)?,
            number: u32::try_from(number("site")?).ok()?,
            groups: ids.chunks(width).map(<[usize]>::to_vec).collect(),
        })
    }

    /// The devices that take part in a group of a device, and the number of the group. `None` for a device that takes
    /// part in none. All pairs of a permutation are one group.
    pub fn find_group(&self, device: usize) -> Option<(u32, Vec<usize>)> {
        if self.kind == ElementMovement::Permute {
            let mut all = self.groups.concat();
            all.sort_unstable();
            all.dedup();
            return all.contains(&device).then_some((0, all));
        }
        let at = self
            .groups
            .iter()
            .position(|group| group.contains(&device))?;
        Some((at as u32, self.groups[at].clone()))
    }
}

/// Integers of 64 bits.
fn read_integers(bytes: &[u8]) -> Option<Vec<i64>> {
    let (words, rest) = bytes.as_chunks::<8>();
    let integers = words.iter().map(|word| i64::from_le_bytes(*word));
    rest.is_empty().then(|| integers.collect())
}

/// A number of all exchanges of a program, whatever the places in its source.
pub fn hash_exchanges(program: &CompiledProgram) -> u64 {
    let mut hash = Md5::new();
    for step in program
        .functions
        .iter()
        .flat_map(|function| &function.steps)
    {
        if let HostStep::Foreign(step) = step
            && step.signature.target == EXCHANGE_TARGET
        {
            let mut signature = step.signature.clone();
            signature.origin.clear();
            hash.update(signature.to_text());
        }
    }
    finish_number(hash)
}

/// The first bytes of a digest as a number.
pub fn finish_number(hash: Md5) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize()[..8]);
    u64::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_program::ForeignArrayType;

    fn make_signature(groups: &[i64], width: i64) -> ForeignSignature {
        let scalar =
            |number: i64| ForeignAttribute::Scalar("i64".to_owned(), number.to_le_bytes().to_vec());
        let array = ForeignArrayType {
            element: "f32".to_owned(),
            shape: vec![2],
            layout: Vec::new(),
            bytes: 8,
        };
        let ids = groups.iter().flat_map(|id| id.to_le_bytes()).collect();
        let attributes = [
            ("groups", ForeignAttribute::Array("i64".to_owned(), ids)),
            ("kind", ForeignAttribute::Text("gather".to_owned())),
            ("site", scalar(3)),
            ("width", scalar(width)),
        ];
        ForeignSignature {
            target: EXCHANGE_TARGET.to_owned(),
            attributes: attributes
                .map(|(name, value)| (name.to_owned(), value))
                .to_vec(),
            operands: vec![array.clone()],
            results: vec![array],
            ..ForeignSignature::default()
        }
    }

    #[test]
    fn attributes_of_exchanges_are_read() {
        let site = ExchangeSite::read(&make_signature(&[0, 2, 1, 3], 2), 4);
        let site = site.unwrap().unwrap();
        assert_eq!((site.kind, site.number), (ElementMovement::Gather, 3));
        assert_eq!(site.find_group(3), Some((1, vec![1, 3])));
        assert_eq!(site.find_group(4), None);
    }

    #[test]
    fn malformed_exchanges_are_refused() {
        for (groups, width) in [(&[0, 4][..], 2), (&[0, -1], 2), (&[0, 1, 2], 2), (&[0], 0)] {
            let read = ExchangeSite::read(&make_signature(groups, width), 4);
            assert!(read.is_err(), "{groups:?}");
        }
    }
}
