//! Changes of layouts: the steps from one layout to another, and the bytes that they move.

use crate::layout::ShardLayout;
use crate::mesh::{AtomicMesh, MeshAtom};

/// A step from one layout to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReshardStep {
    /// Each device keeps its part along atoms that become the innermost ones of a dimension.
    Slice {
        /// The dimension.
        dimension: usize,
        /// The atoms.
        atoms: Vec<MeshAtom>,
    },
    /// The parts along the innermost atoms of a dimension are put together.
    Gather {
        /// The dimension.
        dimension: usize,
        /// The atoms.
        atoms: Vec<MeshAtom>,
    },
    /// The innermost atoms of a dimension become those of another.
    Exchange {
        /// The dimension that is put together.
        from: usize,
        /// The dimension that is split.
        to: usize,
        /// The atoms.
        atoms: Vec<MeshAtom>,
    },
    /// Devices send their parts as they are: an atom of the new layout stands where one of the old layout was.
    Permute {
        /// The new atoms, for those that they replace.
        replaced: Vec<(MeshAtom, MeshAtom)>,
    },
}

/// A change of layout of a tensor.
#[derive(Clone, Debug, Default)]
pub struct ReshardPlan {
    /// The steps, each with the layout after it.
    pub steps: Vec<(ReshardStep, ShardLayout)>,
    /// Bytes that a device receives.
    pub bytes: f64,
}

/// The share of a whole that a device receives if it has one of a given number of parts.
fn received_share(count: u64) -> f64 {
    1.0 - 1.0 / count as f64
}

/// The steps from one layout of a tensor to another. `bytes` is the size of the whole tensor.
pub fn plan_reshard(
    mesh: &AtomicMesh,
    from: &ShardLayout,
    to: &ShardLayout,
    bytes: f64,
) -> ReshardPlan {
    let mut plan = ReshardPlan::default();
    let mut current = from.clone();
    while current != *to {
        let local = bytes / mesh.count(&current.dims.concat()) as f64;
        let step = next_step(mesh, &current, to);
        match &step {
            ReshardStep::Slice { dimension, atoms } => {
                current.dims[*dimension].extend_from_slice(atoms);
            }
            ReshardStep::Gather { dimension, atoms } => {
                let own = &mut current.dims[*dimension];
                own.truncate(own.len() - atoms.len());
                let count = mesh.count(atoms);
                plan.bytes += local * count as f64 * received_share(count);
            }
            ReshardStep::Exchange { from, to, atoms } => {
                let own = &mut current.dims[*from];
                own.truncate(own.len() - atoms.len());
                current.dims[*to].extend_from_slice(atoms);
                plan.bytes += local * received_share(mesh.count(atoms));
            }
            ReshardStep::Permute { .. } => {
                current.clone_from(to);
                plan.bytes += local;
            }
        }
        plan.steps.push((step, current.clone()));
    }
    plan
}

/// The step that moves the least: parts are cut before they are exchanged, and exchanged before they are gathered.
fn next_step(mesh: &AtomicMesh, current: &ShardLayout, to: &ShardLayout) -> ReshardStep {
    find_slice(current, to)
        .or_else(|| find_exchange(current, to))
        .or_else(|| find_permutation(mesh, current, to))
        .unwrap_or_else(|| find_gather(current, to))
}

fn find_slice(current: &ShardLayout, to: &ShardLayout) -> Option<ReshardStep> {
    let used = current.used_atoms();
    for (dimension, (own, wanted)) in current.dims.iter().zip(&to.dims).enumerate() {
        if wanted.starts_with(own) {
            let rest = wanted[own.len()..].iter();
            let free = rest.take_while(|atom| used & atom.bit() == 0);
            let atoms: Vec<MeshAtom> = free.copied().collect();
            if !atoms.is_empty() {
                return Some(ReshardStep::Slice { dimension, atoms });
            }
        }
    }
    None
}

/// The length of what two lists begin with alike.
fn common_length(a: &[MeshAtom], b: &[MeshAtom]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn find_exchange(current: &ShardLayout, to: &ShardLayout) -> Option<ReshardStep> {
    for (split, (own, wanted)) in current.dims.iter().zip(&to.dims).enumerate() {
        if !wanted.starts_with(own) || wanted.len() == own.len() {
            continue;
        }
        let next = &wanted[own.len()..];
        for (joined, other) in current.dims.iter().enumerate() {
            if joined == split {
                continue;
            }
            let kept = common_length(other, &to.dims[joined]);
            let longest = (1..=next.len().min(other.len() - kept))
                .rev()
                .find(|count| other.ends_with(&next[..*count]));
            if let Some(count) = longest {
                return Some(ReshardStep::Exchange {
                    from: joined,
                    to: split,
                    atoms: next[..count].to_vec(),
                });
            }
        }
    }
    None
}

fn find_permutation(
    mesh: &AtomicMesh,
    current: &ShardLayout,
    to: &ShardLayout,
) -> Option<ReshardStep> {
    let mut replaced = Vec::new();
    for (own, wanted) in current.dims.iter().zip(&to.dims) {
        if own.len() != wanted.len() {
            return None;
        }
        for (old, new) in own.iter().zip(wanted) {
            if mesh.size(*old) != mesh.size(*new) {
                return None;
            }
            replaced.push((*new, *old));
        }
    }
    Some(ReshardStep::Permute { replaced })
}

fn find_gather(current: &ShardLayout, to: &ShardLayout) -> ReshardStep {
    let pairs = current.dims.iter().zip(&to.dims).enumerate();
    let mut gathers = pairs.filter_map(|(dimension, (own, wanted))| {
        let kept = common_length(own, wanted);
        let atoms = own[kept..].to_vec();
        (!atoms.is_empty()).then_some(ReshardStep::Gather { dimension, atoms })
    });
    // Layouts that differ where nothing can be cut have atoms to gather.
    gathers.next().unwrap_or(ReshardStep::Permute {
        replaced: Vec::new(),
    })
}

/// The device from whose part each position takes its own, for a permutation.
pub(crate) fn permutation_sources(
    mesh: &AtomicMesh,
    replaced: &[(MeshAtom, MeshAtom)],
) -> Vec<u64> {
    let mut pairs = replaced.to_vec();
    let news = pairs.iter().fold(0, |all, pair| all | pair.0.bit());
    let olds = pairs.iter().fold(0, |all, pair| all | pair.1.bit());
    let mut left: Vec<MeshAtom> = mesh.atoms().filter(|atom| olds & atom.bit() == 0).collect();
    let free: Vec<MeshAtom> = mesh.atoms().filter(|atom| news & atom.bit() == 0).collect();
    // Atoms that neither layout uses keep their coordinates, the others take any of their size.
    for keeps in [true, false] {
        for atom in &free {
            if pairs.iter().any(|pair| pair.0 == *atom) {
                continue;
            }
            let same =
                |other: &MeshAtom| other == atom || !keeps && mesh.size(*other) == mesh.size(*atom);
            if let Some(at) = left.iter().position(same) {
                pairs.push((*atom, left.remove(at)));
            }
        }
    }
    (0..mesh.device_count())
        .map(|position| {
            let parts = pairs
                .iter()
                .map(|(new, old)| mesh.coordinate(*new, position) * mesh.stride(*old));
            parts.sum()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_diagnostics::SourceLocation;
    use spirula_stablehlo::sharding::{DeviceMesh, MeshAxis, TensorSharding};

    fn make_mesh() -> AtomicMesh {
        let axes = [("x", 2), ("y", 2), ("z", 2)].map(|(name, size)| MeshAxis {
            name: name.to_owned(),
            size,
        });
        let sharding = TensorSharding {
            mesh: DeviceMesh::new(axes.to_vec(), None).expect("a mesh"),
            ..TensorSharding::default()
        };
        AtomicMesh::new([&sharding].into_iter(), SourceLocation::Unknown).expect("atoms")
    }

    fn make_layout(dims: &[&[u8]]) -> ShardLayout {
        let atoms = |dim: &&[u8]| dim.iter().map(|at| MeshAtom(*at)).collect();
        ShardLayout {
            dims: dims.iter().map(atoms).collect(),
            sums: Vec::new(),
        }
    }

    /// All layouts of two dimensions reach each other.
    #[test]
    fn layouts_reach_each_other() {
        let mesh = make_mesh();
        let mut layouts = Vec::new();
        for code in 0..27u32 {
            let places = [code % 3, code / 3 % 3, code / 9];
            for order in [[0u8, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]] {
                let mut layout = ShardLayout::new_replicated(2);
                for atom in order {
                    if let Some(dim) = layout.dims.get_mut(places[usize::from(atom)] as usize) {
                        dim.push(MeshAtom(atom));
                    }
                }
                layouts.push(layout);
            }
        }
        for from in &layouts {
            for to in &layouts {
                let plan = plan_reshard(&mesh, from, to, 64.0);
                assert!(plan.steps.len() <= 8, "{from:?} {to:?}");
                assert!(plan.bytes <= 64.0 * 2.0, "{from:?} {to:?}");
            }
        }
    }

    #[test]
    fn permutations_are_one_to_one() {
        let mesh = make_mesh();
        let plan = plan_reshard(
            &mesh,
            &make_layout(&[&[0], &[2]]),
            &make_layout(&[&[1], &[2]]),
            64.0,
        );
        let [(ReshardStep::Permute { replaced }, _)] = plan.steps.as_slice() else {
            panic!("{plan:?}");
        };
        let mut sources = permutation_sources(&mesh, replaced);
        assert_eq!(sources, [0, 1, 4, 5, 2, 3, 6, 7]);
        sources.sort_unstable();
        assert!(sources.into_iter().eq(0..8));
    }
}
