//! Layouts of tensors over atoms of a mesh.

use crate::mesh::{AtomicMesh, MeshAtom};
use spirula_stablehlo::sharding::TensorSharding;

/// The atoms that split each dimension of a tensor, the outermost first. Every device has an equal part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ShardLayout {
    /// The atoms of each dimension.
    pub dims: Vec<Vec<MeshAtom>>,
    /// The atoms along which the tensor is the sum of what devices have. Only arguments and results of programs, and of manual
    /// computations, are such sums.
    pub sums: Vec<MeshAtom>,
}

impl ShardLayout {
    /// The layout that gives every device the whole tensor.
    pub fn new_replicated(rank: usize) -> ShardLayout {
        ShardLayout {
            dims: vec![Vec::new(); rank],
            sums: Vec::new(),
        }
    }

    /// Whether every device has the whole tensor.
    pub fn is_replicated(&self) -> bool {
        self.sums.is_empty() && self.dims.iter().all(Vec::is_empty)
    }

    /// The set of atoms that split a dimension.
    pub(crate) fn used_atoms(&self) -> u64 {
        let atoms = self.dims.iter().flatten();
        atoms.fold(0, |all, atom| all | atom.bit())
    }

    /// The sizes of a part of a tensor of these sizes.
    pub fn local_sizes(&self, mesh: &AtomicMesh, sizes: &[u64]) -> Vec<u64> {
        let pairs = sizes.iter().zip(&self.dims);
        pairs
            .map(|(size, atoms)| size / mesh.count(atoms))
            .collect()
    }

    /// Whether the parts of a tensor of these sizes are equal.
    pub fn divides(&self, mesh: &AtomicMesh, sizes: &[u64]) -> bool {
        let mut pairs = sizes.iter().zip(&self.dims);
        sizes.len() == self.dims.len()
            && pairs.all(|(size, atoms)| size.is_multiple_of(mesh.count(atoms)))
    }

    /// The layout as Shardy writes it.
    pub fn to_sharding(&self, mesh: &AtomicMesh) -> TensorSharding {
        TensorSharding {
            mesh: mesh.reference().clone(),
            dimensions: self
                .dims
                .iter()
                .map(|atoms| mesh.join_atoms(atoms))
                .collect(),
            open: vec![false; self.dims.len()],
            unreduced: mesh.join_atoms(&self.sums),
            extremes: Vec::new(),
        }
    }
}
