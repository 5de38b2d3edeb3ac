//! Maps by rows, on a processor: a workgroup has a part of a row.
//!
//! The invocations of a workgroup differ in the innermost position only. Vectors load and store neighbouring elements, and the
//! outer positions are found by one division for a whole workgroup, not for each point.

use super::FunctionLowering;
use super::offload::InvocationGrid;
use super::space::SharedItems;
use super::view::ScalarRef;
use spirula_kernel::ir::LaunchIndex;
use spirula_program::ScalarOp;

/// The elements of a workgroup are a multiple of it, the width of the widest vectors.
const VECTOR_WIDTH: i64 = 16;

/// Constant widths below it are no rows.
const LEAST_WIDTH: i64 = 8;

impl FunctionLowering<'_> {
    /// Makes a kernel that visits the points of a space: by rows where the device has vectors, or by their numbers.
    pub(super) fn offload_points(
        &mut self,
        items: SharedItems,
        sizes: &[ScalarRef],
        body: impl FnOnce(&mut Self, Vec<ScalarRef>) -> Result<(), String>,
    ) -> Result<(), String> {
        if let Some((&width, outer)) = sizes.split_last()
            && self.has_rows(items, width, outer)
        {
            let most = self.profile.group_size;
            return self.offload_rows(width, outer, most, body);
        }
        self.offload_items(items, |lowering, item| {
            let point = lowering.unflatten(item, sizes);
            body(lowering, point)
        })
    }

    /// Whether the points of a space are visited by rows.
    fn has_rows(&self, items: SharedItems, width: ScalarRef, outer: &[ScalarRef]) -> bool {
        let is_wide = match width {
            ScalarRef::Constant(_) => width.to_int64().is_some_and(|width| width >= LEAST_WIDTH),
            ScalarRef::Var(_) => true,
        };
        let is_one_each = !items.is_chunked && !items.is_single;
        is_wide && is_one_each && !outer.is_empty() && !self.profile.runs_in_lockstep()
    }

    /// Makes a kernel that visits the points of a space by rows. A workgroup has at most a number of points of a row.
    pub(super) fn offload_rows(
        &mut self,
        width: ScalarRef,
        outer: &[ScalarRef],
        most: i64,
        body: impl FnOnce(&mut Self, Vec<ScalarRef>) -> Result<(), String>,
    ) -> Result<(), String> {
        let one = ScalarRef::from_int64(1);
        let most = ScalarRef::from_int64(most);
        let parts = self.int64(ScalarOp::SDivUp, width, most);
        let parts = self.int64(ScalarOp::SMax, parts, one);
        let vector = ScalarRef::from_int64(VECTOR_WIDTH);
        let group_size = self.int64(ScalarOp::SDivUp, width, parts);
        let group_size = self.int64(ScalarOp::SMax, group_size, one);
        let vectors = self.int64(ScalarOp::SDivUp, group_size, vector);
        let group_size = self.int64(ScalarOp::Mul, vectors, vector);
        let mut groups = self.product(outer);
        groups = self.int64(ScalarOp::Mul, groups, parts);
        let invocations = self.int64(ScalarOp::Mul, groups, group_size);
        self.begin_kernel(invocations)?;
        let group = self.read_index("group", LaunchIndex::Group);
        let local = self.read_index("local", LaunchIndex::Local);
        let row = self.int64(ScalarOp::UDiv, group, parts);
        let before = self.int64(ScalarOp::Mul, row, parts);
        let part = self.int64(ScalarOp::Sub, group, before);
        let first = self.int64(ScalarOp::Mul, part, group_size);
        let column = self.int64(ScalarOp::Add, first, local);
        let mut point = self.unflatten(row, outer);
        point.push(column);
        self.if_inside(column, width, |lowering| body(lowering, point))?;
        self.launch_kernel(InvocationGrid {
            width: invocations,
            group_size,
        })
    }
}
