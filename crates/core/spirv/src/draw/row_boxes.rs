//! Boxes around rows of a drawing, and how they nest.

/// A box around adjacent rows, such as a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowBox {
    /// The first row.
    pub first: usize,
    /// The last row.
    pub last: usize,
    /// The name that stands at its top.
    pub title: String,
    /// Whether it is a loop. Other boxes are selections.
    pub is_loop: bool,
}

/// A box with its place among the others.
#[derive(Debug)]
pub(super) struct NestedBox<'d> {
    /// The box.
    pub own: &'d RowBox,
    /// The box around it.
    pub parent: Option<usize>,
}

/// The boxes of a drawing, each before those in it.
#[derive(Debug)]
pub(super) struct BoxNest<'d> {
    pub boxes: Vec<NestedBox<'d>>,
    /// Number of rows.
    rows: usize,
}

impl<'d> BoxNest<'d> {
    /// Orders boxes from the outside in. A box that overlaps another one in part, or has rows that do not exist, is left out.
    pub(super) fn from_boxes(boxes: &'d [RowBox], rows: usize) -> BoxNest<'d> {
        let is_proper = |one: &&RowBox| one.first <= one.last && one.last < rows;
        let mut sorted: Vec<&RowBox> = boxes.iter().filter(is_proper).collect();
        sorted.sort_by_key(|one| (one.first, std::cmp::Reverse(one.last)));
        let mut open: Vec<usize> = Vec::new();
        let mut nested: Vec<NestedBox<'d>> = Vec::with_capacity(sorted.len());
        for own in sorted {
            let last_of = |outer: &usize| nested[*outer].own.last;
            while open.last().is_some_and(|outer| last_of(outer) < own.first) {
                open.pop();
            }
            if open.last().is_some_and(|outer| last_of(outer) < own.last) {
                continue;
            }
            let parent = open.last().copied();
            open.push(nested.len());
            nested.push(NestedBox { own, parent });
        }
        BoxNest {
            boxes: nested,
            rows,
        }
    }

    /// How many boxes each row stands in.
    pub(super) fn depths(&self) -> Vec<usize> {
        let mut changes = vec![0_isize; self.rows + 1];
        for one in &self.boxes {
            changes[one.own.first] += 1;
            changes[one.own.last + 1] -= 1;
        }
        let mut depth = 0;
        let depths = changes.iter().take(self.rows).map(|change| {
            depth += change;
            depth.max(0) as usize
        });
        depths.collect()
    }

    /// The innermost box of each row.
    pub(super) fn innermost_boxes(&self) -> Vec<Option<usize>> {
        let (mut next, mut open) = (0, Vec::new());
        let innermost = (0..self.rows).map(|row| {
            while open
                .last()
                .is_some_and(|one: &usize| self.boxes[*one].own.last < row)
            {
                open.pop();
            }
            while self.boxes.get(next).is_some_and(|one| one.own.first == row) {
                open.push(next);
                next += 1;
            }
            open.last().copied()
        });
        innermost.collect()
    }

    /// How many boxes begin and end at each row.
    pub(super) fn count_ends(&self) -> (Vec<usize>, Vec<usize>) {
        let (mut begins, mut ends) = (vec![0; self.rows], vec![0; self.rows]);
        for one in &self.boxes {
            begins[one.own.first] += 1;
            ends[one.own.last] += 1;
        }
        (begins, ends)
    }
}
