//! What schedules are made for.

use super::Matrices;

/// Sizes that a kind of device does well with.
///
/// They were found by measurement. Schedules stay within 16 KiB of the workgroup's memory, Vulkan's
/// minimum, but for folds over many accumulators; a GPU's have up to 512 invocations a workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Invocations of a workgroup that runs a flat space.
    pub flat: u64,
    /// Invocations of a workgroup that folds together; a power of two.
    pub fold: u64,
    /// Most results of long folds that get a workgroup each.
    pub folds: u64,
    /// Workgroups that the long folds of an operation are split for.
    pub chunks: u64,
    /// Invocations along the columns of a tile, and of a whole tile; powers of two.
    pub tile: [u64; 2],
    /// Most points of an invocation along each side of a tile.
    pub points: u64,
    /// Points that lie next to each other, where an invocation has so many; a power of two.
    pub adjacent: u64,
    /// Workgroups that keep the device busy: larger tiles are not taken where there would be fewer.
    pub busy: u64,
    /// Bytes of the workgroup's memory that tiles may take.
    pub memory: u64,
    /// Rounds along the fold of a tile, the best first.
    pub steps: &'static [u64],
    /// Most rounds along the fold of a tile that are written out.
    pub unroll: u64,
    /// Whether a tile is read into registers while the one before is computed with.
    pub prefetch: bool,
    /// Bytes of the vectors that adjacent elements are accessed as; 1 for none.
    pub vector: u64,
    /// Whether folds of rows are joined with what is computed of the same rows.
    pub rows: bool,
    /// What subgroups multiply matrices with, where they can.
    pub matrices: Option<Matrices>,
}

impl Profile {
    /// A few processors with vectors and caches.
    pub const CPU: Profile = Profile {
        flat: 64,
        fold: 64,
        folds: 4096,
        chunks: 16,
        tile: [8, 64],
        points: 4,
        adjacent: 1,
        busy: 1,
        memory: 16 << 10,
        steps: &[16, 8, 12, 10, 7, 9, 5, 6, 4],
        unroll: 1,
        prefetch: false,
        vector: 1,
        rows: false,
        matrices: None,
    };

    /// Many processors that hide latencies by switching between subgroups.
    pub const GPU: Profile = Profile {
        flat: 256,
        fold: 512,
        folds: u64::MAX,
        chunks: 2048,
        tile: [16, 256],
        points: 8,
        adjacent: 4,
        busy: 128,
        memory: 16 << 10,
        steps: &[8, 16, 12, 10, 7, 9, 5, 6, 4],
        unroll: 4,
        prefetch: true,
        vector: 16,
        rows: true,
        matrices: None,
    };
}

/// A number of a profile that can be set by its name.
#[derive(Clone, Copy)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    set: fn(&mut Profile, u64),
}

const fn setting(name: &'static str, about: &'static str, set: fn(&mut Profile, u64)) -> Setting {
    Setting { name, about, set }
}

/// Changes what subgroups multiply matrices with, where they can.
fn matrices(profile: &mut Profile, change: impl FnOnce(&mut Matrices)) {
    if let Some(matrices) = &mut profile.matrices {
        change(matrices);
    }
}

/// The digits of a size of fragments: 160816 is 16 by 8 by 16.
fn fragment(digits: u64) -> [u32; 3] {
    [digits / 10_000, digits / 100, digits].map(|n| (n % 100) as u32)
}

impl Profile {
    /// All settings. Sizes have to be powers of two, and at least 1.
    #[rustfmt::skip]
    pub const SETTINGS: &[Setting] = &[
        setting("flat", "invocations of a workgroup of element-wise work", |p, n| p.flat = n),
        setting("fold", "invocations of a workgroup that folds together", |p, n| p.fold = n),
        setting("chunks", "workgroups that long folds are split for", |p, n| p.chunks = n),
        setting("vector", "bytes of the vectors that adjacent elements are accessed as", |p, n| p.vector = n),
        setting("busy", "workgroups that keep the device busy", |p, n| p.busy = n),
        setting("tile-columns", "invocations along the columns of a tile", |p, n| p.tile[0] = n),
        setting("tile", "invocations of a tile", |p, n| p.tile[1] = n),
        setting("points", "most points of an invocation along each side of a tile", |p, n| p.points = n),
        setting("adjacent", "points of an invocation that lie next to each other", |p, n| p.adjacent = n),
        setting("unroll", "most rounds along the fold of a tile that are written out", |p, n| p.unroll = n),
        setting("prefetch", "2 to read a tile while the one before is used, 1 not to", |p, n| p.prefetch = n > 1),
        setting("rows", "2 to join folds of rows with what is computed of the same rows, 1 not to", |p, n| p.rows = n > 1),
        setting("matrices", "1 for products of matrices without fragments", |p, n| if n == 1 { p.matrices = None }),
        setting("matrix-rows", "rows of a tile of fragments", |p, n| matrices(p, |m| m.tile[0] = n)),
        setting("matrix-columns", "columns of a tile of fragments", |p, n| matrices(p, |m| m.tile[1] = n)),
        setting("matrix-depth", "points of the fold of a tile of fragments", |p, n| matrices(p, |m| m.tile[2] = n)),
        setting("matrix-down", "subgroups along the rows of such a tile", |p, n| matrices(p, |m| m.grid[0] = n)),
        setting("matrix-across", "subgroups along its columns", |p, n| matrices(p, |m| m.grid[1] = n)),
        setting("matrix-buffers", "copies of such a tile, of which one is filled while the other is used", |p, n| matrices(p, |m| m.buffers = n.min(2))),
        setting("matrix-fragment", "size of fragments in digits, 160816 for 16 by 8 by 16", |p, n| matrices(p, |m| m.preferred = Some(fragment(n)))),
    ];

    /// Sets a number by the name of its setting; whether there is such a setting and the number is one
    /// that it can be.
    pub fn set(&mut self, name: &str, value: u64) -> bool {
        let setting = Profile::SETTINGS.iter().find(|s| s.name == name);
        let Some(setting) = setting else {
            return false;
        };
        let is_size = value.is_power_of_two() && value <= 1 << 20;
        let is_possible = is_size || name == "matrix-fragment";
        if is_possible {
            (setting.set)(self, value);
        }
        is_possible
    }
}

impl Default for Profile {
    fn default() -> Self {
        Profile::CPU
    }
}
