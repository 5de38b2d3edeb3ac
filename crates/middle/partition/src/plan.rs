//! Choice of the way in which devices share an operation.
//!
//! A way assigns atoms to the factors of the operation's rule, each atom to one factor. Operands are brought into the layouts
//! that follow, each device computes its part, and partial results are combined. The candidates come from the layouts of the
//! operation's tensors, and the one of the least cost is taken.

use crate::layout::ShardLayout;
use crate::mesh::{AtomicMesh, MeshAtom};
use crate::propagate::{join_factors, project_layout};
use crate::reshard::{ReshardStep, plan_reshard};
use crate::rule::{PartialCombination, ShardingRule};

/// Cost of a multiplication and an addition, in bytes that devices exchange in that time.
const PRODUCT_COST: f64 = 0.02;

/// Cost of a byte that a device reads or writes, in bytes that devices exchange in that time.
const MEMORY_COST: f64 = 0.1;

/// Cost of a collective in itself, in bytes that devices exchange in that time.
const COLLECTIVE_COST: f64 = 256.0;

/// Most tensors of an operation whose layouts are candidates.
const MOST_CANDIDATES: usize = 6;

/// A tensor of an operation.
#[derive(Clone, Debug)]
pub(crate) struct PlannedTensor {
    /// The layouts in which it is there, for an operand; the one that is wanted, for a result.
    pub layouts: Vec<ShardLayout>,
    /// Bytes of the whole tensor.
    pub bytes: f64,
}

/// A way in which devices share an operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct OperationPlan {
    /// The atoms of each factor.
    pub assignment: Vec<Vec<MeshAtom>>,
    /// Its cost, in bytes that a device exchanges.
    pub cost: f64,
}

impl OperationPlan {
    /// The layout of a tensor of the operation.
    pub fn layout(&self, rule: &ShardingRule, tensor: usize, mesh: &AtomicMesh) -> ShardLayout {
        let dims = rule.tensors[tensor].iter();
        ShardLayout {
            dims: dims
                .map(|factors| join_factors(rule, factors, &self.assignment, mesh))
                .collect(),
            sums: Vec::new(),
        }
    }

    /// The atoms along which devices have partial results.
    pub fn partial_atoms(&self, rule: &ShardingRule) -> Vec<MeshAtom> {
        let pairs = rule.factors.iter().zip(&self.assignment);
        let reduced = pairs.filter(|(factor, _)| factor.is_reduced);
        let mut atoms: Vec<MeshAtom> = reduced.flat_map(|(_, atoms)| atoms.clone()).collect();
        atoms.sort_unstable();
        atoms
    }
}

/// A question about an operation.
pub(crate) struct PlanContext<'c> {
    pub rule: &'c ShardingRule,
    pub mesh: &'c AtomicMesh,
    /// Operands, then results.
    pub tensors: &'c [PlannedTensor],
    pub operands: usize,
}

impl PlanContext<'_> {
    /// The way of the least cost.
    pub fn choose_plan(&self) -> OperationPlan {
        let results = self.operands..self.tensors.len();
        let order = results.chain(0..self.operands);
        let order: Vec<usize> = order.take(2 * MOST_CANDIDATES).collect();
        let projected: Vec<Vec<Option<Vec<MeshAtom>>>> = order
            .iter()
            .map(|tensor| {
                let layout = &self.tensors[*tensor].layouts[0];
                project_layout(self.rule, *tensor, layout, self.mesh)
            })
            .collect();
        let mut candidates: Vec<Vec<Vec<MeshAtom>>> = Vec::new();
        let mut add = |candidate: Vec<Vec<MeshAtom>>| {
            if !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        };
        for first in 0..order.len().min(MOST_CANDIDATES) {
            let alone = std::iter::once(&projected[first]);
            let others = projected.iter();
            add(self.assign_atoms(alone.clone().chain(others)));
            let assigned = self.assign_atoms(alone);
            if let Some(moved) = self.move_atoms(order[first], &assigned) {
                add(moved);
            }
            add(assigned);
        }
        add(self.assign_atoms(std::iter::empty()));
        let plans = candidates.into_iter().map(|assignment| OperationPlan {
            cost: self.find_cost(&assignment),
            assignment,
        });
        let best = plans.min_by(|a, b| a.cost.total_cmp(&b.cost));
        best.unwrap_or_default()
    }

    /// The atoms of all factors by the layouts of tensors, of which the first decide.
    fn assign_atoms<'p>(
        &self,
        tensors: impl Iterator<Item = &'p Vec<Option<Vec<MeshAtom>>>>,
    ) -> Vec<Vec<MeshAtom>> {
        let mut assignment = vec![Vec::new(); self.rule.factors.len()];
        let mut used = 0u64;
        for projected in tensors {
            for (own, list) in assignment.iter_mut().zip(projected) {
                let list = list.as_deref().unwrap_or_default();
                if !list.starts_with(own) {
                    continue;
                }
                for atom in &list[own.len()..] {
                    if used & atom.bit() != 0 {
                        break;
                    }
                    used |= atom.bit();
                    own.push(*atom);
                }
            }
        }
        self.drop_narrow_parts(&mut assignment);
        self.drop_hidden_atoms(&mut assignment);
        assignment
    }

    /// An assignment to which atoms of a tensor are added that have no factor there: each goes to a factor that no device shares
    /// yet. So devices exchange parts of a dimension that is needed as a whole for parts of another one.
    fn move_atoms(&self, tensor: usize, assigned: &[Vec<MeshAtom>]) -> Option<Vec<Vec<MeshAtom>>> {
        let used = assigned.iter().flatten();
        let used = used.fold(0, |all, atom| all | atom.bit());
        let layout = &self.tensors[tensor].layouts[0];
        let atoms = layout.dims.iter().flatten();
        let free: Vec<MeshAtom> = atoms
            .filter(|atom| used & atom.bit() == 0)
            .copied()
            .collect();
        let count = self.mesh.count(&free);
        let mut factors = self.rule.tensors[tensor].iter().flatten();
        let factor = factors.find(|at| {
            let factor = self.rule.factors[**at];
            assigned[**at].is_empty() && !factor.is_reduced && factor.size.is_multiple_of(count)
        });
        let factor = *factor.filter(|_| !free.is_empty())?;
        let mut moved = assigned.to_vec();
        moved[factor] = free;
        self.drop_narrow_parts(&mut moved);
        self.drop_hidden_atoms(&mut moved);
        Some(moved)
    }

    /// Takes away the atoms of factors whose parts are smaller than what their neighbours need of them.
    fn drop_narrow_parts(&self, assignment: &mut [Vec<MeshAtom>]) {
        for halo in &self.rule.halos {
            let atoms = &mut assignment[halo.factor];
            if !atoms.is_empty() && !halo.fits_parts(self.mesh.count(atoms)) {
                atoms.clear();
            }
        }
    }

    /// Takes away the atoms of factors that are inner ones of a dimension whose outer ones are not split to the end.
    fn drop_hidden_atoms(&self, assignment: &mut [Vec<MeshAtom>]) {
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for factors in self.rule.tensors.iter().flatten() {
                let mut is_hidden = false;
                for factor in factors {
                    if is_hidden && !assignment[*factor].is_empty() {
                        assignment[*factor].clear();
                        has_changed = true;
                    }
                    let count = self.mesh.count(&assignment[*factor]);
                    is_hidden |= count != self.rule.factors[*factor].size;
                }
            }
        }
    }

    /// The cost of a way: the bytes that a device exchanges, and its own work.
    fn find_cost(&self, assignment: &[Vec<MeshAtom>]) -> f64 {
        let plan = OperationPlan {
            assignment: assignment.to_vec(),
            cost: 0.0,
        };
        let (rule, mesh) = (self.rule, self.mesh);
        let partial = mesh.count(&plan.partial_atoms(rule)) as f64;
        let mut cost = 0.0;
        for (at, tensor) in self.tensors.iter().enumerate() {
            let layout = plan.layout(rule, at, mesh);
            let parts = mesh.count(&layout.dims.concat()) as f64;
            let is_result = at >= self.operands;
            let changes = tensor.layouts.iter().map(|other| {
                let (from, to) = if is_result {
                    (&layout, other)
                } else {
                    (other, &layout)
                };
                let change = plan_reshard(mesh, from, to, tensor.bytes);
                let count = change
                    .steps
                    .iter()
                    .filter(|(step, _)| !matches!(step, ReshardStep::Slice { .. }));
                change.bytes + COLLECTIVE_COST * count.count() as f64
            });
            cost += changes.min_by(f64::total_cmp).unwrap_or(0.0);
            if is_result && partial > 1.0 {
                let received = match rule.combination {
                    PartialCombination::Again => partial - 1.0,
                    _ => 2.0 * (1.0 - 1.0 / partial),
                };
                cost += COLLECTIVE_COST + tensor.bytes / parts * received;
            }
            for halo in rule.halos.iter().filter(|halo| at < halo.inputs) {
                let count = mesh.count(&assignment[halo.factor]);
                let share = halo.received_share(count);
                if count > 1 && share > 0.0 {
                    cost += COLLECTIVE_COST + tensor.bytes / parts * share;
                }
            }
            cost += MEMORY_COST * tensor.bytes / parts;
        }
        if !rule.is_cheap {
            let shares: u64 = assignment.iter().map(|atoms| mesh.count(atoms)).product();
            cost += PRODUCT_COST * rule.count_points() / shares as f64;
        }
        cost
    }
}
