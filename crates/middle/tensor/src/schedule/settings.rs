//! Settings: numbers of profiles by name, and values that are worth trying.

use super::{MatrixProfile, ScheduleProfile, ScheduleStrategy};

/// A number of a profile that can be set by its name.
#[derive(Clone, Copy)]
pub struct ProfileSetting {
    /// Name.
    pub name: &'static str,
    /// Meaning, in a line.
    pub about: &'static str,
    /// Values that are worth trying while the others of the profile stay as they are.
    pub tried: &'static [u64],
    get: fn(&ScheduleProfile) -> Option<u64>,
    set: fn(&mut ScheduleProfile, u64),
}

/// Changes the profile of matrix units, where there are such.
fn change_matrices(profile: &mut ScheduleProfile, change: impl FnOnce(&mut MatrixProfile)) {
    if let Some(matrices) = &mut profile.matrices {
        change(matrices);
    }
}

/// Sets one of the sizes of large fragments.
fn set_dense_size(profile: &mut ScheduleProfile, at: usize, size: u64) {
    profile.dense.get_or_insert(ScheduleProfile::DENSE)[at] = size;
}

/// The digits of a size of fragments: 160816 is 16 by 8 by 16.
fn decode_fragment_size(digits: u64) -> [u32; 3] {
    [digits / 10_000, digits / 100, digits].map(|n| (n % 100) as u32)
}

fn encode_fragment_size(size: [u32; 3]) -> u64 {
    size.iter().fold(0, |all, n| all * 100 + u64::from(*n))
}

/// A flag as a size: 2 for true, 1 for false.
fn encode_flag(is: bool) -> Option<u64> {
    Some(if is { 2 } else { 1 })
}

macro_rules! settings {
    ($($name:literal, $about:literal, $tried:expr, |$p:ident| $get:expr, |$q:ident, $n:ident| $set:expr;)*) => {
        &[$(ProfileSetting {
            name: $name,
            about: $about,
            tried: $tried,
            get: |$p| $get,
            set: |$q, $n| $set,
        },)*]
    };
}

impl ScheduleProfile {
    /// All settings. Sizes have to be powers of two, and at least 1.
    #[rustfmt::skip]
    pub const SETTINGS: &[ProfileSetting] = settings! {
        "flat", "invocations of a workgroup of element-wise work", &[64, 128, 256, 512], |p| Some(p.flat), |p, n| p.flat = n;
        "wide", "most of them where there is much of it", &[256, 1024], |p| Some(p.wide), |p, n| p.wide = n;
        "lines", "fewest points of a line that has workgroups of its own", &[32, 64, 1 << 20], |p| Some(p.lines), |p, n| p.lines = n;
        "fold", "invocations of a workgroup that folds together", &[64, 128, 256, 512], |p| Some(p.fold), |p, n| p.fold = n;
        "long", "fewest points of a fold that is worth a workgroup, four times those of one that subgroups read along", &[], |p| Some(p.long), |p, n| p.long = n;
        "kept", "most points of a row that an invocation keeps in registers", &[1, 8, 16, 32, 64], |p| Some(p.kept), |p, n| p.kept = n;
        "chunks", "workgroups that long folds are split for", &[], |p| Some(p.chunks), |p, n| p.chunks = n;
        "vector", "bytes of the vectors that adjacent elements are accessed as", &[1, 16], |p| Some(p.vector), |p, n| p.vector = n;
        "busy", "workgroups that keep the device busy", &[64, 128, 256], |p| Some(p.busy), |p, n| p.busy = n;
        "tile-columns", "invocations along the columns of a tile", &[8, 16, 32], |p| Some(p.tile[0]), |p, n| p.tile[0] = n;
        "tile", "invocations of a tile", &[64, 128, 256], |p| Some(p.tile[1]), |p, n| p.tile[1] = n;
        "points", "most points of an invocation along each side of a tile", &[2, 4, 8], |p| Some(p.points), |p, n| p.points = n;
        "direct", "the same where factors are read where they are, 1 to put them into the workgroup's memory", &[1, 4, 8], |p| Some(p.direct), |p, n| p.direct = n;
        "adjacent", "points of an invocation that lie next to each other", &[1, 2, 4], |p| Some(p.adjacent), |p, n| p.adjacent = n;
        "deep", "most points of the fold of a tile where workgroups are few, 1 for as many as elsewhere", &[1, 16], |p| Some(p.deep), |p, n| p.deep = n;
        "unroll", "most rounds along the fold of a tile that are written out", &[1, 2, 4, 8], |p| Some(p.unroll), |p, n| p.unroll = n;
        "prefetch", "2 to read a tile while the one before is used, 1 not to", &[1, 2], |p| encode_flag(p.prefetch), |p, n| p.prefetch = n > 1;
        "fma", "2 to add products to sums with one rounding, 1 not to", &[1, 2], |p| encode_flag(p.fma), |p, n| p.fma = n > 1;
        "byte", "operators that are rather done again than a byte is moved to memory or back", &[], |p| Some(p.byte), |p, n| p.byte = n;
        "group", "rows of tiles that are computed together, column by column", &[1, 4, 8, 16], |p| Some(p.group), |p, n| p.group = n;
        "turn", "sides of the tiles of transpositions, from 32 on, 1 for none", &[1, 32, 64], |p| Some(p.turn), |p, n| p.turn = n;
        "rows", "most invocations of a workgroup that has a row, 1 not to join folds of rows with what is computed of the same rows", &[8, 128, 256, 512], |p| Some(p.rows), |p, n| p.rows = n;
        "subgroup", "invocations of a subgroup, which fold by shuffles; 1 to fold in the workgroup's memory alone", &[], |p| Some(p.subgroup), |p, n| p.subgroup = n;
        "look-back", "2 for scans that read everything once, whose workgroups wait for those before them, 1 for none", &[], |p| encode_flag(p.look_back), |p, n| p.look_back = n > 1;
        "dense-rows", "most rows of a large fragment", &[32, 64, 128], |p| Some(p.dense?[0]), |p, n| set_dense_size(p, 0, n);
        "dense-columns", "most columns of one", &[32, 64, 128], |p| Some(p.dense?[1]), |p, n| set_dense_size(p, 1, n);
        "dense-depth", "most points of the fold of one, 1 for products without large fragments", &[64, 128, 256], |p| Some(p.dense?[2]), |p, n| set_dense_size(p, 2, n);
        "matrices", "1 for products of matrices without fragments", &[], |p| encode_flag(p.matrices.is_some()), |p, n| if n == 1 { p.matrices = None };
        "matrix-rows", "rows of a tile of fragments", &[64, 128, 256], |p| Some(p.matrices?.tile[0]), |p, n| change_matrices(p, |m| m.tile[0] = n);
        "matrix-columns", "columns of a tile of fragments", &[64, 128, 256], |p| Some(p.matrices?.tile[1]), |p, n| change_matrices(p, |m| m.tile[1] = n);
        "matrix-depth", "points of the fold of a tile of fragments", &[16, 32, 64], |p| Some(p.matrices?.tile[2]), |p, n| change_matrices(p, |m| m.tile[2] = n);
        "matrix-down", "subgroups along the rows of such a tile", &[1, 2, 4], |p| Some(p.matrices?.grid[0]), |p, n| change_matrices(p, |m| m.grid[0] = n);
        "matrix-across", "subgroups along its columns", &[1, 2, 4], |p| Some(p.matrices?.grid[1]), |p, n| change_matrices(p, |m| m.grid[1] = n);
        "matrix-buffers", "copies of such a tile, of which one is filled while the other is used", &[1, 2], |p| Some(p.matrices?.buffers), |p, n| change_matrices(p, |m| m.buffers = n.min(2));
        "matrix-fragment", "size of fragments in digits, 160816 for 16 by 8 by 16", &[], |p| p.matrices?.preferred.map(encode_fragment_size), |p, n| change_matrices(p, |m| m.preferred = Some(decode_fragment_size(n)));
    };

    /// Sets a number by the name of its setting. Returns whether there is such a setting and it can have the number.
    pub fn set_setting(&mut self, name: &str, value: u64) -> bool {
        let setting = ScheduleProfile::SETTINGS.iter().find(|s| s.name == name);
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

    /// The settings that matter to dispatches of a strategy, with their values.
    pub fn settings_of(
        &self,
        strategy: &'static ScheduleStrategy,
    ) -> impl Iterator<Item = (&'static ProfileSetting, u64)> {
        let settings = ScheduleProfile::SETTINGS
            .iter()
            .filter(move |s| strategy.has_setting(s));
        settings.filter_map(|setting| Some((setting, (setting.get)(self)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::STRATEGIES;

    #[test]
    fn strategies_name_settings_that_exist() {
        for strategy in STRATEGIES {
            for name in strategy.settings {
                let mut known = ScheduleProfile::SETTINGS.iter().map(|s| s.name);
                assert!(known.any(|n| n == *name), "{} of {}", name, strategy.name);
            }
        }
    }
}
