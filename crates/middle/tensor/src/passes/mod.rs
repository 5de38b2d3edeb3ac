//! Passes over functions: one file and one row of [`PASSES`] each.

mod dce;
mod drop_unit_axes;
mod epilogue_fusion;
mod expand_sorts;
mod expand_updates;
mod fuse_producers;
mod fuse_row_reductions;
mod fuse_siblings;
mod fusion_cost;
mod materialise_factors;
mod pack_constants;
mod pad_factors;
mod pad_input;
mod split_map_axes;
mod split_reductions;
mod split_scans;
mod transpose_loop_factors;
mod updated_tensors;
mod use_def;

use crate::ir::TensorFunction;
use crate::schedule::ScheduleProfile;

/// A pass over functions.
#[derive(Clone, Copy, Debug)]
pub struct TensorPass {
    /// Name, as `--print-after` takes it.
    pub name: &'static str,
    /// Effect, in a line.
    pub about: &'static str,
    /// Rewrites a function.
    pub run: fn(&mut TensorFunction, &ScheduleProfile),
    /// Remarks about the function that it leaves, a line each.
    pub notes: fn(&TensorFunction, &ScheduleProfile) -> Vec<String>,
}

/// Nothing.
fn no_notes(_: &TensorFunction, _: &ScheduleProfile) -> Vec<String> {
    Vec::new()
}

/// All passes over functions, in the order of the pipeline.
pub const PASSES: &[TensorPass] = &[
    TensorPass {
        name: "sort",
        about: "Makes structured operations of sorts",
        run: expand_sorts::expand_sorts,
        notes: no_notes,
    },
    TensorPass {
        name: "single",
        about: "Makes maps of folds over single points",
        run: |function, _| drop_unit_axes::simplify_unit_folds(function),
        notes: no_notes,
    },
    TensorPass {
        name: "updates",
        about: "Makes maps of updates of windows that cannot happen in place",
        run: |function, _| expand_updates::expand_updates(function),
        notes: no_notes,
    },
    TensorPass {
        name: "axes",
        about: "Gives maps the axes of the alternatives that they read through reshapes",
        run: |function, _| split_map_axes::split_map_axes(function),
        notes: no_notes,
    },
    TensorPass {
        name: "fuse",
        about: "Computes elements where they are used: producers into consumers, consumers into folds",
        run: fuse_producers::fuse_producers,
        notes: fuse_producers::note_unfused_results,
    },
    TensorPass {
        name: "pad",
        about: "Copies factors of large products whose rows begin at odd places",
        run: pad_factors::pad_factors,
        notes: no_notes,
    },
    TensorPass {
        name: "plain",
        about: "Stores factors of products that processors read where they are",
        run: materialise_factors::materialise_factors,
        notes: no_notes,
    },
    TensorPass {
        name: "rows",
        about: "Joins folds of rows with what is computed of them and the same rows",
        run: fuse_row_reductions::fuse_rows,
        notes: no_notes,
    },
    TensorPass {
        name: "siblings",
        about: "Joins operations over equal spaces that do not need each other",
        run: |function, _| fuse_siblings::fuse_siblings(function),
        notes: no_notes,
    },
    TensorPass {
        name: "scan",
        about: "Scans long dimensions chunk by chunk, from what the chunks before give",
        run: split_scans::split_scans,
        notes: no_notes,
    },
    TensorPass {
        name: "split",
        about: "Folds long dimensions with few results in two rounds",
        run: split_reductions::split_reductions,
        notes: no_notes,
    },
    TensorPass {
        name: "transpose",
        about: "Transposes matrices that loops within kernels read down their columns",
        run: transpose_loop_factors::transpose_loop_factors,
        notes: no_notes,
    },
    TensorPass {
        name: "pack",
        about: "Keeps large constants of small numbers in words, several in each",
        run: |function, _| pack_constants::pack_constants(function),
        notes: no_notes,
    },
    TensorPass {
        name: "dce",
        about: "Removes operations and results that nothing uses",
        run: |function, _| dce::eliminate_dead_code(function),
        notes: no_notes,
    },
];
