//! Products of a single row with a matrix whose rows lie along the fold, as `A x` is written.
//!
//! On a processor the invocations of a workgroup, which are the lanes of its vectors, fold each result
//! together: what they read lies next to each other then. A workgroup has a tile of results, a few of
//! which are folded at once. What the lanes have of each is kept in the workgroup's memory, and added
//! up behind one barrier for all.

use super::lanes::accesses_fit;
use super::tile::{Contraction, batch, contraction, other_folds, place, scaled, tile_of, total};
use super::{Dispatch, Kept, Profile, Run, Step, direct, nest};
use crate::ir::{Body, Structured};

/// Fewest points of the fold, where they fill all vectors and where they do not.
const LEAST: [u64; 2] = [32, 256];
/// Workgroups that there should be, and most results of one.
const TILES: u64 = 16;
const RESULTS: u64 = 64;
/// Most results that are folded at once, and most points of each that are written out.
const AT_ONCE: u64 = 4;
const POINTS: u64 = 4;

/// The contraction that an operation is, if it is such a product.
pub(crate) fn across(op: &Structured, profile: &Profile) -> Option<Contraction> {
    let contraction = contraction(op)?;
    let extents = op.axes.iter().map(|axis| axis.extent.known());
    let extents: Vec<u64> = extents.collect::<Option<_>>()?;
    let last = *contraction.steps.last()?;
    let is_row = total(&extents, &contraction.rows) == 1;
    let is_whole = extents[last].is_multiple_of(profile.tile[0]);
    let is_long = extents[last] >= LEAST[usize::from(!is_whole)] && !extents.contains(&0);
    let is_along = direct::is_along(op, &contraction, contraction.factors[1]);
    let fits = profile.direct > 1 && is_row && is_long && !is_along;
    (fits && accesses_fit(&op.body, last as u32, &[])).then_some(contraction)
}

/// Tiles such a product.
pub(super) fn tile(dispatch: &mut Dispatch) {
    let Some(contraction) = across(&dispatch.op, &dispatch.profile) else {
        return;
    };
    let extents: Vec<u64> = dispatch.loops.iter().map(|l| l.extent).collect();
    let lanes = dispatch.profile.tile[0];
    dispatch.loops.clear();
    dispatch.points = Body::default();
    let outer_batch = batch(dispatch, &contraction, &extents);
    for axis in &contraction.rows {
        dispatch.indices[*axis] = dispatch.points.i64(0);
    }
    let results = total(&extents, &contraction.columns);
    let size = direct::largest_divisor(results, (results / TILES).clamp(1, RESULTS));
    let together = direct::largest_divisor(size, AT_ONCE);
    let outer = dispatch.add_loop(results / size, Run::Parallel);
    let visit = dispatch.add_loop(size / together, Run::Sequential);
    let result = dispatch.add_loop(together, Run::Unrolled);
    let base = scaled(dispatch, &[(outer, size)]);
    let local = scaled(dispatch, &[(visit, together), (result, 1)]);
    let columns = tile_of(&contraction.columns, &extents, base, local, size);
    place(dispatch, columns);

    let axis = &contraction.steps[contraction.steps.len() - 1..];
    let mut folds = other_folds(dispatch, axis, &extents);
    let points = total(&extents, axis);
    let written_out = direct::largest_divisor(points.div_ceil(lanes), POINTS);
    let step = written_out * lanes;
    let rounds = dispatch.add_loop(points.div_ceil(step), Run::Sequential);
    let point = dispatch.add_loop(written_out, Run::Repeated);
    let lane = dispatch.add_loop(lanes, Run::Parallel);
    let base = scaled(dispatch, &[(rounds, step)]);
    let local = scaled(dispatch, &[(point, lanes), (lane, 1)]);
    let guard = place(dispatch, tile_of(axis, &extents, base, local, step));
    dispatch.fold_guards.extend(guard);
    folds.push(rounds);

    let kept = [(visit, together * lanes), (result, lanes), (lane, 1)];
    dispatch.kept = Some(Kept {
        place: scaled(dispatch, &kept),
        size: size * lanes,
    });
    let mut folded = nest(&[lane], vec![Step::Initialise]);
    folded.extend(nest(&folds, nest(&[lane, point], vec![Step::Accumulate])));
    folded.extend(nest(&[lane], vec![Step::Keep]));
    let mut steps = nest(&[visit], folded);
    steps.push(Step::Barrier);
    steps.extend(nest(&[visit], vec![Step::Combine(lane), Step::Store]));
    let outermost: Vec<u32> = outer_batch.into_iter().chain([outer]).collect();
    dispatch.steps = nest(&outermost, steps);
}
