//! Passes over functions, one file and one row of [`PASSES`] each.

mod behind;
mod dce;
mod frame;
mod fuse;
mod pack;
mod pad;
mod plain;
mod price;
mod rows;
mod scan;
mod siblings;
mod single;
mod sort;
mod split;
mod uses;

use crate::ir::Function;
use crate::schedule::Profile;

/// A pass.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Does it.
    pub run: fn(&mut Function, &Profile),
    /// What else there is to be said of what it left, a line each.
    pub notes: fn(&Function, &Profile) -> Vec<String>,
}

/// Nothing.
fn none(_: &Function, _: &Profile) -> Vec<String> {
    Vec::new()
}

/// All passes over functions, in the order of the pipeline.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "sort",
        about: "Makes structured operations of sorts",
        run: |function, _| sort::run(function),
        notes: none,
    },
    Pass {
        name: "single",
        about: "Makes maps of folds over single points",
        run: |function, _| single::run(function),
        notes: none,
    },
    Pass {
        name: "fuse",
        about: "Computes elements where they are used: producers into consumers, consumers into folds",
        run: fuse::run,
        notes: fuse::notes,
    },
    Pass {
        name: "pad",
        about: "Copies factors of large products whose rows begin at odd places",
        run: pad::run,
        notes: none,
    },
    Pass {
        name: "plain",
        about: "Stores factors of products that processors read where they are",
        run: plain::run,
        notes: none,
    },
    Pass {
        name: "rows",
        about: "Joins folds of rows with what is computed of them and the same rows",
        run: rows::run,
        notes: none,
    },
    Pass {
        name: "siblings",
        about: "Joins operations over equal spaces that do not need each other",
        run: |function, _| siblings::run(function),
        notes: none,
    },
    Pass {
        name: "scan",
        about: "Scans long dimensions chunk by chunk, from what the chunks before give",
        run: scan::run,
        notes: none,
    },
    Pass {
        name: "split",
        about: "Folds long dimensions with few results in two rounds",
        run: split::run,
        notes: none,
    },
    Pass {
        name: "pack",
        about: "Keeps large constants of small numbers in words, several in each",
        run: |function, _| pack::run(function),
        notes: none,
    },
    Pass {
        name: "dce",
        about: "Removes operations and results that nothing uses",
        run: |function, _| dce::run(function),
        notes: none,
    },
];
