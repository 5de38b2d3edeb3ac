//! Device meshes as mixed-radix numbers: the indivisible parts of their axes.
//!
//! Every axis of a mesh, and every part of one, is a range of digits of the device's position in row-major order. The
//! digits are chosen so that no sharding of the program splits one: each is an atom. So shardings are lists of atoms, parts
//! of axes need no arithmetic, and meshes of other axes over the same devices mix freely.

use crate::PartitionResult;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_stablehlo::sharding::{AxisReference, DeviceMesh, TensorSharding};

/// An indivisible part of a mesh: a digit of the positions of its devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MeshAtom(pub(crate) u8);

impl MeshAtom {
    /// The set that has this atom alone.
    pub(crate) fn bit(self) -> u64 {
        1 << self.0
    }
}

/// The devices of a program, and the atoms of their mesh.
#[derive(Clone, Debug)]
pub struct AtomicMesh {
    /// A mesh of the program, by which shardings are written.
    reference: DeviceMesh,
    /// The size of each atom, the outermost first.
    sizes: Vec<u64>,
    /// The product of the sizes of the atoms inside of each.
    strides: Vec<u64>,
}

/// A range of digits: the product of the sizes outside of it, and its own size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DigitRange {
    outside: u64,
    size: u64,
}

/// The digits of an axis or of a part of one.
fn find_digits(mesh: &DeviceMesh, axis: &AxisReference) -> Option<DigitRange> {
    let at = mesh.find_axis(&axis.name)?;
    let outside: u64 = mesh.axes[..at].iter().map(|axis| axis.size).product();
    let Some((before, size)) = axis.part else {
        let size = mesh.axes[at].size;
        return Some(DigitRange { outside, size });
    };
    let inner = before.checked_mul(size).filter(|inner| *inner > 0)?;
    mesh.axes[at]
        .size
        .is_multiple_of(inner)
        .then(|| DigitRange {
            outside: outside * before,
            size,
        })
}

/// The prime factors of a number, the least first.
fn list_primes(mut number: u64) -> Vec<u64> {
    let mut primes = Vec::new();
    let mut prime = 2;
    while prime * prime <= number {
        while number.is_multiple_of(prime) {
            primes.push(prime);
            number /= prime;
        }
        prime += 1;
    }
    if number > 1 {
        primes.push(number);
    }
    primes
}

impl AtomicMesh {
    /// The atoms that all shardings of a program need. Meshes without axes are of no account.
    ///
    /// # Errors
    /// If the meshes have other devices, or their axes overlap so that no digits serve all.
    pub fn new<'s>(
        shardings: impl Iterator<Item = &'s TensorSharding>,
        place: SourceLocation,
    ) -> PartitionResult<AtomicMesh> {
        let mut reference: Option<DeviceMesh> = None;
        let mut bounds = vec![1];
        for sharding in shardings {
            let mesh = &sharding.mesh;
            if mesh.axes.is_empty() {
                continue;
            }
            let first = reference.get_or_insert_with(|| mesh.clone());
            if first.device_count() != mesh.device_count() || first.device_ids != mesh.device_ids {
                let message = "the shardings are over several meshes of other devices";
                return Err(SourceDiagnostic::error(place, message));
            }
            let whole = mesh.axes.iter().map(|axis| AxisReference {
                name: axis.name.clone(),
                part: None,
            });
            let used = sharding.dimensions.iter().flatten().cloned();
            for axis in whole.chain(used) {
                let digits = find_digits(mesh, &axis).ok_or_else(|| {
                    let message = format!("a sharding has a wrong part of axis {:?}", axis.name);
                    SourceDiagnostic::error(place, message)
                })?;
                bounds.extend([digits.outside, digits.outside * digits.size]);
            }
        }
        let reference = reference.unwrap_or_default();
        if let Some(ids) = &reference.device_ids {
            let mut sorted = ids.clone();
            sorted.sort_unstable();
            if !sorted.into_iter().eq(0..ids.len() as u64) {
                let message = "the devices of a mesh are not numbered from zero on";
                return Err(SourceDiagnostic::error(place, message));
            }
        }
        bounds.push(reference.device_count().max(1));
        bounds.sort_unstable();
        bounds.dedup();
        let mut sizes = Vec::new();
        for pair in bounds.windows(2) {
            if !pair[1].is_multiple_of(pair[0]) {
                let message = "the shardings split the devices in ways that do not fit together";
                return Err(SourceDiagnostic::error(place, message));
            }
            sizes.extend(list_primes(pair[1] / pair[0]));
        }
        let mut strides = vec![1; sizes.len()];
        for at in (1..sizes.len()).rev() {
            strides[at - 1] = strides[at] * sizes[at];
        }
        Ok(AtomicMesh {
            reference,
            sizes,
            strides,
        })
    }

    /// Number of devices.
    pub fn device_count(&self) -> u64 {
        self.sizes.iter().product()
    }

    /// The mesh by which shardings are written.
    pub fn reference(&self) -> &DeviceMesh {
        &self.reference
    }

    /// All atoms, the outermost first.
    pub fn atoms(&self) -> impl Iterator<Item = MeshAtom> + use<> {
        (0..self.sizes.len()).map(|at| MeshAtom(at as u8))
    }

    /// Number of devices along an atom.
    pub fn size(&self, atom: MeshAtom) -> u64 {
        self.sizes[usize::from(atom.0)]
    }

    /// Number of devices along several atoms.
    pub fn count(&self, atoms: &[MeshAtom]) -> u64 {
        atoms.iter().map(|atom| self.size(*atom)).product()
    }

    /// The step between positions of devices that are neighbours along an atom.
    pub fn stride(&self, atom: MeshAtom) -> u64 {
        self.strides[usize::from(atom.0)]
    }

    /// The coordinate of a position along an atom.
    pub fn coordinate(&self, atom: MeshAtom, position: u64) -> u64 {
        position / self.stride(atom) % self.size(atom)
    }

    /// The number of the device at a position.
    pub fn device_at(&self, position: u64) -> u64 {
        match &self.reference.device_ids {
            Some(ids) => ids[position as usize],
            None => position,
        }
    }

    /// The atoms of an axis or of a part of one.
    pub(crate) fn split_axis(&self, mesh: &DeviceMesh, axis: &AxisReference) -> Vec<MeshAtom> {
        let Some(digits) = find_digits(mesh, axis) else {
            return Vec::new();
        };
        let total = self.device_count();
        let inner = total / digits.outside;
        self.atoms()
            .filter(|atom| {
                let stride = self.stride(*atom);
                stride < inner && stride >= inner / digits.size
            })
            .collect()
    }

    /// The atoms that split each dimension.
    pub fn split_dimensions(&self, sharding: &TensorSharding) -> Vec<Vec<MeshAtom>> {
        let split = |axes: &Vec<AxisReference>| {
            let atoms = axes
                .iter()
                .flat_map(|axis| self.split_axis(&sharding.mesh, axis));
            atoms.collect()
        };
        sharding.dimensions.iter().map(split).collect()
    }

    /// The axes of the reference mesh that atoms are, those that follow each other as one.
    pub fn join_atoms(&self, atoms: &[MeshAtom]) -> Vec<AxisReference> {
        let mut joined: Vec<AxisReference> = Vec::new();
        for atom in atoms {
            let outside = self.device_count() / (self.stride(*atom) * self.size(*atom));
            let mut before = outside;
            let axis = self.reference.axes.iter().find(|axis| {
                let is_inside = before < axis.size;
                if !is_inside {
                    before /= axis.size;
                }
                is_inside
            });
            let Some(axis) = axis else { continue };
            let size = self.size(*atom);
            match joined.last_mut() {
                Some(last)
                    if last.name == axis.name
                        && last.part.is_some_and(|(b, s)| b * s == before) =>
                {
                    last.part = last.part.map(|(before, own)| (before, own * size));
                }
                _ => joined.push(AxisReference {
                    name: axis.name.clone(),
                    part: Some((before, size)),
                }),
            }
        }
        for axis in &mut joined {
            let at = self.reference.find_axis(&axis.name);
            let whole = at.map(|at| self.reference.axes[at].size);
            if axis
                .part
                .is_some_and(|(before, size)| before == 1 && Some(size) == whole)
            {
                axis.part = None;
            }
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_stablehlo::sharding::MeshAxis;

    fn make_sharding(axes: &[(&str, u64)], split: &[(&str, Option<(u64, u64)>)]) -> TensorSharding {
        let axes = axes.iter().map(|(name, size)| MeshAxis {
            name: (*name).to_owned(),
            size: *size,
        });
        let split = split.iter().map(|(name, part)| AxisReference {
            name: (*name).to_owned(),
            part: *part,
        });
        TensorSharding {
            mesh: DeviceMesh::new(axes.collect(), None).expect("a mesh"),
            dimensions: vec![split.collect()],
            open: vec![false],
            unreduced: Vec::new(),
            extremes: Vec::new(),
        }
    }

    #[test]
    fn axes_are_lists_of_atoms() {
        let place = SourceLocation::Unknown;
        let grid = make_sharding(&[("x", 6), ("y", 4)], &[("x", Some((3, 2))), ("y", None)]);
        let line = make_sharding(&[("all", 24)], &[("all", Some((3, 4)))]);
        let mesh = AtomicMesh::new([&grid, &line].into_iter(), place).expect("they fit");
        assert_eq!(mesh.sizes, [3, 2, 2, 2]);
        let split = mesh.split_dimensions(&grid);
        assert_eq!(split[0], [MeshAtom(1), MeshAtom(2), MeshAtom(3)]);
        assert_eq!(mesh.split_dimensions(&line)[0], [MeshAtom(1), MeshAtom(2)]);
        let joined = mesh.join_atoms(&split[0]);
        assert_eq!(joined, grid.dimensions[0]);
        let other = make_sharding(&[("x", 6), ("y", 4)], &[("x", Some((2, 3)))]);
        assert!(AtomicMesh::new([&grid, &other].into_iter(), place).is_err());
    }
}
