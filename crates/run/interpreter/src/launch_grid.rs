//! The index space of a launch, and the built-in variables of its invocations.

use crate::decode::{BuiltinPlace, DecodedKernel};
use crate::exchange::SUBGROUP_SIZE;
use crate::launch::InterpretedLaunch;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::grammar::enumerants::BuiltIn;

/// Most invocations of a workgroup.
const MOST_INVOCATIONS: u64 = 4096;

/// The index space of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelGrid {
    /// Size of full workgroups.
    pub size: [u32; 3],
    pub groups: [u32; 3],
    pub global: [u64; 3],
    pub offset: [u64; 3],
}

/// A workgroup of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GridGroup {
    pub id: [u32; 3],
    /// Its own size, which is smaller at the end of the grid.
    pub size: [u32; 3],
}

impl GridGroup {
    /// Number of its invocations.
    pub(crate) fn count_invocations(&self) -> usize {
        self.size.iter().map(|n| *n as usize).product()
    }
}

impl KernelGrid {
    /// The grid of a launch.
    ///
    /// # Errors
    /// When the size of workgroups is not possible.
    pub(crate) fn from_launch(
        kernel: &DecodedKernel,
        launch: &InterpretedLaunch<'_>,
    ) -> Result<KernelGrid, SourceDiagnostic> {
        let size = kernel.workgroup.unwrap_or(launch.workgroup);
        let total = size
            .iter()
            .try_fold(1u64, |total, n| total.checked_mul((*n).into()));
        if !total.is_some_and(|total| (1..=MOST_INVOCATIONS).contains(&total)) {
            let message = format!("workgroups of {size:?} invocations are not possible");
            return Err(SourceDiagnostic::error(SourceLocation::Unknown, message));
        }
        let whole = [0, 1, 2].map(|n| u64::from(launch.groups[n]) * u64::from(size[n]));
        Ok(KernelGrid {
            size,
            groups: launch.groups,
            global: launch.global.unwrap_or(whole),
            offset: launch.offset,
        })
    }

    /// The workgroups in order.
    pub(crate) fn list_groups(self) -> impl Iterator<Item = GridGroup> {
        let [width, height, depth] = self.groups;
        (0..depth).flat_map(move |z| {
            (0..height).flat_map(move |y| (0..width).map(move |x| self.find_group([x, y, z])))
        })
    }

    fn find_group(&self, id: [u32; 3]) -> GridGroup {
        let size = [0, 1, 2].map(|n| {
            let begin = u64::from(id[n]) * u64::from(self.size[n]);
            let rest = self.global[n].saturating_sub(begin);
            rest.min(u64::from(self.size[n])) as u32
        });
        GridGroup { id, size }
    }

    /// The components of a built-in variable of an invocation by its number in the group.
    pub(crate) fn find_builtin(
        &self,
        place: &BuiltinPlace,
        group: &GridGroup,
        number: usize,
    ) -> [u64; 3] {
        let own = group.size;
        let n = number as u32;
        let local = [n % own[0], n / own[0] % own[1], n / own[0] / own[1]];
        let count = group.count_invocations();
        let global = [0, 1, 2]
            .map(|a| u64::from(group.id[a]) * u64::from(self.size[a]) + u64::from(local[a]));
        let lane = (number % SUBGROUP_SIZE) as u64;
        let wide = |of: [u32; 3]| of.map(u64::from);
        let single = |value: u64| [value, 0, 0];
        match place.builtin {
            BuiltIn::NumWorkgroups => wide(self.groups),
            BuiltIn::WorkgroupId => wide(group.id),
            BuiltIn::WorkgroupSize => wide(own),
            BuiltIn::EnqueuedWorkgroupSize => wide(self.size),
            BuiltIn::GlobalSize => self.global,
            BuiltIn::LocalInvocationId => wide(local),
            BuiltIn::LocalInvocationIndex => single(number as u64),
            BuiltIn::GlobalInvocationId => [0, 1, 2].map(|a| global[a] + self.offset[a]),
            BuiltIn::GlobalOffset => self.offset,
            BuiltIn::GlobalLinearId => {
                single((global[2] * self.global[1] + global[1]) * self.global[0] + global[0])
            }
            BuiltIn::WorkDim => single(match self.global {
                [_, 1, 1] => 1,
                [_, _, 1] => 2,
                _ => 3,
            }),
            BuiltIn::SubgroupMaxSize => single(SUBGROUP_SIZE as u64),
            BuiltIn::SubgroupSize if place.is_kernel => {
                let before = number / SUBGROUP_SIZE * SUBGROUP_SIZE;
                single((count - before).min(SUBGROUP_SIZE) as u64)
            }
            BuiltIn::SubgroupSize => single(SUBGROUP_SIZE as u64),
            BuiltIn::NumSubgroups => single(count.div_ceil(SUBGROUP_SIZE) as u64),
            BuiltIn::NumEnqueuedSubgroups => {
                let full = self.size.iter().product::<u32>() as usize;
                single(full.div_ceil(SUBGROUP_SIZE) as u64)
            }
            BuiltIn::SubgroupId => single((number / SUBGROUP_SIZE) as u64),
            BuiltIn::SubgroupLocalInvocationId => single(lane),
            BuiltIn::SubgroupEqMask => single(1 << lane),
            BuiltIn::SubgroupLtMask => single((1 << lane) - 1),
            BuiltIn::SubgroupLeMask => single((2 << lane) - 1),
            BuiltIn::SubgroupGtMask => single(0xff & !((2 << lane) - 1)),
            BuiltIn::SubgroupGeMask => single(0xff & !((1 << lane) - 1)),
            _ => [0; 3],
        }
    }
}
