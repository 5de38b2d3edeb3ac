//! Launches: how many workgroups, and what they are given.

use super::super::emit::{Emitter, Source};
use crate::ir::{Function, Node, Value};
use crate::schedule::Dispatch;
use rustc_hash::FxHashMap;
use spirula_kernel::Builder;
use spirula_kernel::ir::{Expr, Use};

/// The rounds of a loop over workgroups, of sizes that the host has.
pub(super) fn rounds_on_host(
    b: &mut Builder,
    dispatch: &Dispatch,
    rounds: Node,
    sources: &FxHashMap<Value, Source>,
) -> Expr {
    let mut e = Emitter::new(b);
    e.sources = sources.clone();
    let roots = e.body.import(&dispatch.points, &[rounds], |_, _, _| None);
    e.emit(&roots)[0]
}

/// What a kernel uses of the host: tensors, and sizes that are known only when run.
pub(super) fn uses(
    function: &Function,
    dispatch: &Dispatch,
    sources: &FxHashMap<Value, Source>,
) -> Vec<Use> {
    let read: Vec<Value> = dispatch.op.body.reads().collect();
    let mut values = dispatch.op.operands();
    values.retain(|v| read.contains(v));
    values.extend(&dispatch.results);
    let sized: Vec<Value> = values.clone();
    for value in sized {
        values.extend(function.ty(value).sizes());
    }
    values.extend(dispatch.op.sizes());
    let mut uses = Vec::new();
    for value in values {
        let used = match sources.get(&value) {
            Some(Source::Memory(var)) => Use::Memory(*var),
            Some(Source::Scalar(var)) => Use::Scalar(*var),
            None => continue,
        };
        if !uses.contains(&used) {
            uses.push(used);
        }
    }
    uses
}
