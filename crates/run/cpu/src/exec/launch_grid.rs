//! Launch grid: the workgroups and invocations of a launch, and the memory that they need.

use super::jit_kernel::JitKernel;
use super::launch::LaunchError;
use crate::layout::frames::FrameLayout;
use crate::layout::invocation_range::InvocationRange;

/// Largest automatic workgroup.
const AUTOMATIC: u64 = 256;
/// Most invocations of a workgroup.
const MAX_INVOCATIONS: u64 = 1 << 16;
/// Most words of the frames of a workgroup's invocations.
const MAX_FRAME_WORDS: usize = 1 << 29;

/// The shape of a launch.
pub(crate) struct LaunchGrid {
    pub groups: [u64; 3],
    pub local: [u64; 3],
    pub global: [u64; 3],
    pub offset: [u64; 3],
    pub dimensions: u32,
}

impl JitKernel {
    /// The shape of a launch.
    ///
    /// # Errors
    /// When it does not fit the kernel.
    pub(crate) fn compute_grid(&self, size: &InvocationRange) -> Result<LaunchGrid, LaunchError> {
        let grid = match *size {
            InvocationRange::Groups(groups) => {
                let local = self.local_size.unwrap_or([1; 3]).map(u64::from);
                let groups = groups.map(u64::from);
                let global = [0, 1, 2].map(|n| groups[n].saturating_mul(local[n]));
                LaunchGrid {
                    groups,
                    local,
                    global,
                    offset: [0; 3],
                    dimensions: 3,
                }
            }
            InvocationRange::Items {
                global,
                local,
                offset,
                dimensions,
            } => {
                let chosen = local.or(self.local_size);
                let local =
                    chosen.map_or_else(|| choose_workgroup_size(global), |l| l.map(u64::from));
                if local.contains(&0) {
                    return Err(LaunchError::Launch("a workgroup is empty".to_owned()));
                }
                LaunchGrid {
                    groups: [0, 1, 2].map(|n| global[n].div_ceil(local[n])),
                    local,
                    global,
                    offset,
                    dimensions,
                }
            }
        };
        self.check_grid(&grid)?;
        Ok(grid)
    }

    /// Words of the frames of a workgroup. Invocations that are never suspended share one.
    pub(crate) fn frame_words(&self, local: [u64; 3]) -> usize {
        if self.points.is_empty() {
            return self.frame.stride.max(self.gang_frame.stride);
        }
        let count = local.iter().product::<u64>() as usize;
        let gangs = self.gang_frame.stride * count.div_ceil(self.gang_width);
        (self.frame.stride * count).max(gangs)
    }

    /// Bytes of the private memory of a workgroup's invocations. Invocations that are never suspended share that of
    /// one invocation or gang.
    pub(crate) fn private_bytes(&self, local: [u64; 3]) -> usize {
        let [single, gang] = self.room_bytes.map(|bytes| bytes as usize);
        let count = if self.points.is_empty() {
            [1, self.gang_width]
        } else {
            [local.iter().product::<u64>() as usize; 2]
        };
        (single * count[0]).max(gang * count[1])
    }

    /// The layout of frames.
    pub(crate) fn frame_layout(&self, gangs: bool) -> FrameLayout {
        if gangs { self.gang_frame } else { self.frame }
    }

    fn check_grid(&self, grid: &LaunchGrid) -> Result<(), LaunchError> {
        let bad = |message: String| Err(LaunchError::Launch(message));
        if grid.local.contains(&0) {
            return bad("a workgroup has no invocations".to_owned());
        }
        if checked_product(grid.local).is_none_or(|n| n > MAX_INVOCATIONS) {
            return bad(format!(
                "a workgroup has more than {MAX_INVOCATIONS} invocations"
            ));
        }
        let width = self.gang_width as u64;
        if !self.code.has_entry(false) && !grid.offset[0].is_multiple_of(width) {
            return bad(format!(
                "an offset of {} is no multiple of {width}",
                grid.offset[0]
            ));
        }
        let words = self.frame_words(grid.local) + self.private_bytes(grid.local) / 8;
        if words > MAX_FRAME_WORDS {
            return bad(format!(
                "the invocations of a workgroup of {} need {} bytes of memory",
                self.name,
                words * 8
            ));
        }
        let Some(fixed) = self.local_size else {
            return Ok(());
        };
        let fixed = fixed.map(u64::from);
        if grid.local != fixed {
            return bad(format!(
                "{} demands workgroups of {fixed:?}, not {:?}",
                self.name, grid.local
            ));
        }
        if !self.has_partial_groups
            && (0..3).any(|n| !grid.global[n].is_multiple_of(fixed[n].max(1)))
        {
            return bad(format!(
                "the global size {:?} is no multiple of the workgroup size {fixed:?} that {} demands",
                grid.global, self.name
            ));
        }
        Ok(())
    }
}

pub(crate) fn checked_product(size: [u64; 3]) -> Option<u64> {
    size[0].checked_mul(size[1])?.checked_mul(size[2])
}

/// A workgroup size that divides the global size.
fn choose_workgroup_size(global: [u64; 3]) -> [u64; 3] {
    let mut room = AUTOMATIC;
    global.map(|n| {
        let divisor = (1..=room.min(n.max(1))).rev().find(|d| n % d == 0);
        let divisor = divisor.unwrap_or(1);
        room /= divisor;
        divisor
    })
}
