//! Ranking of the elements of a tile by a digit, in the memory of a workgroup.

use super::kernel_code::{KernelCode, RadixPass};
use super::workgroup::WorkgroupTile;
use spirula_kernel::ir::{ExprId, LaunchIndex, VarId};
use spirula_program::ScalarOp;

/// Invocations whose sums are added up one after the other.
const SUMMED: i64 = 16;

/// Counters between two that are left out, so that invocations access different banks of memory.
const BANKS: i64 = 32;

/// A number of each invocation of a workgroup, and the sums of those of others.
pub(super) struct InvocationSums {
    /// Number of invocations.
    pub invocations: i64,
    /// Index of the invocation.
    pub local: ExprId,
    /// The number of each invocation.
    pub memory: VarId,
    /// The sums of groups of invocations.
    group_sums: VarId,
}

impl InvocationSums {
    pub fn new(code: &mut KernelCode<'_>, tile: &WorkgroupTile) -> InvocationSums {
        let invocations = tile.invocations as i64;
        InvocationSums {
            invocations,
            local: code.position("local", LaunchIndex::Local),
            memory: code.declare_shared("sums", invocations),
            group_sums: code.declare_shared("group_sums", invocations / SUMMED),
        }
    }

    /// The sum of the numbers of the invocations before this one.
    pub fn scan(&self, code: &mut KernelCode<'_>, own: ExprId) -> ExprId {
        code.store(self.memory, self.local, own);
        code.wait();
        let groups = code.number(self.invocations / SUMMED);
        let has_group = code.apply(ScalarOp::SLt, &[self.local, groups]);
        code.only_if(has_group, |code| {
            let first = code.multiply(self.local, SUMMED);
            let first = code.bind("first_sum", first);
            let mut before = code.number(0);
            for at in 0..SUMMED {
                let at = code.number(at);
                let at = code.add(first, at);
                let sum = code.exchange(self.memory, at, before);
                let after = code.add(before, sum);
                before = code.bind("after", after);
            }
            code.store(self.group_sums, self.local, before);
        });
        code.wait();
        let summed = code.number(SUMMED);
        let group = code.apply(ScalarOp::UDiv, &[self.local, summed]);
        let group = code.bind("group_number", group);
        let mut before = code.load("before", self.memory, self.local);
        for at in 0..self.invocations / SUMMED - 1 {
            let at = code.number(at);
            let sum = code.load("group_sum", self.group_sums, at);
            let is_before = code.apply(ScalarOp::SLt, &[at, group]);
            let zero = code.number(0);
            let counted = code.apply(ScalarOp::Cond, &[is_before, sum, zero]);
            let after = code.add(before, counted);
            before = code.bind("before", after);
        }
        before
    }
}

/// The memory of a workgroup that ranks the elements of tiles.
pub(super) struct TileRanking {
    /// Sums of the counters that each invocation adds up.
    pub sums: InvocationSums,
    /// A counter for each digit and invocation.
    counters: VarId,
    /// The place of the first element with each digit.
    pub starts: VarId,
    /// The elements in their order.
    pub sorted: VarId,
}

impl TileRanking {
    pub fn new(code: &mut KernelCode<'_>, tile: &WorkgroupTile, digits: i64) -> TileRanking {
        let counters = digits * tile.invocations as i64;
        TileRanking {
            sums: InvocationSums::new(code, tile),
            counters: code.declare_shared("counters", counters + counters / BANKS),
            starts: code.declare_shared("starts", digits),
            sorted: code.declare_shared("sorted", tile.elements() as i64),
        }
    }

    /// The places in a tile of the invocation's elements, which are adjacent.
    pub fn list_own_places(&self, code: &mut KernelCode<'_>, tile: &WorkgroupTile) -> Vec<ExprId> {
        let first = code.multiply(self.sums.local, tile.points as i64);
        let first = code.bind("first_own", first);
        let mut places = Vec::new();
        for point in 0..tile.points as i64 {
            let point = code.number(point);
            places.push(code.add(first, point));
        }
        places
    }

    /// The place in a tile of an element that is adjacent to those of the neighbouring invocations.
    pub fn spread_place(&self, code: &mut KernelCode<'_>, point: i64) -> ExprId {
        let first = code.number(point * self.sums.invocations);
        let place = code.add(first, self.sums.local);
        code.bind("place", place)
    }

    /// The place of a counter in memory.
    fn counter_place(&self, code: &mut KernelCode<'_>, counter: ExprId) -> ExprId {
        let banks = code.number(BANKS);
        let skipped = code.apply(ScalarOp::UDiv, &[counter, banks]);
        let place = code.add(counter, skipped);
        code.bind("counter", place)
    }

    pub fn clear_counters(&self, code: &mut KernelCode<'_>, pass: RadixPass) {
        for digit in 0..pass.digits() {
            let first = code.number(digit * self.sums.invocations);
            let counter = code.add(first, self.sums.local);
            let at = self.counter_place(code, counter);
            let zero = code.number(0);
            code.store(self.counters, at, zero);
        }
    }

    /// Adds one to the invocation's counter of a word's digit. Returns its place and its value before.
    pub fn count_word(&self, code: &mut KernelCode<'_>, word: ExprId, pass: RadixPass) -> ExprId {
        let digit = code.digit(word, pass);
        let first = code.multiply(digit, self.sums.invocations);
        let counter = code.add(first, self.sums.local);
        let at = self.counter_place(code, counter);
        let one = code.number(1);
        code.increase(self.counters, at, one)
    }

    /// The sum of as many adjacent counters as there are digits.
    pub fn sum_counters(&self, code: &mut KernelCode<'_>, pass: RadixPass) -> ExprId {
        let mut sum = code.number(0);
        for at in self.list_summed(code, pass) {
            let count = code.load("count", self.counters, at);
            sum = code.add(sum, count);
        }
        code.bind("sum", sum)
    }

    /// The places of the counters that the invocation adds up.
    fn list_summed(&self, code: &mut KernelCode<'_>, pass: RadixPass) -> Vec<ExprId> {
        let first = code.multiply(self.sums.local, pass.digits());
        let first = code.bind("first_counter", first);
        let mut places = Vec::new();
        for counter in 0..pass.digits() {
            let counter = code.number(counter);
            let counter = code.add(first, counter);
            places.push(self.counter_place(code, counter));
        }
        places
    }

    /// The places of the invocation's words in the order of their digits. Words with equal digits keep their order.
    pub fn rank_words(
        &self,
        code: &mut KernelCode<'_>,
        words: &[ExprId],
        pass: RadixPass,
    ) -> Vec<ExprId> {
        self.clear_counters(code, pass);
        for word in words {
            self.count_word(code, *word, pass);
        }
        code.wait();
        let sum = self.sum_counters(code, pass);
        let mut before = self.sums.scan(code, sum);
        self.store_start(code, before, pass);
        for at in self.list_summed(code, pass) {
            let count = code.exchange(self.counters, at, before);
            let after = code.add(before, count);
            before = code.bind("after", after);
        }
        code.wait();
        let place = words.iter().map(|word| self.count_word(code, *word, pass));
        place.collect()
    }

    /// Leaves the place of the first element with a digit. The invocation that adds up the digit's first counter knows it.
    fn store_start(&self, code: &mut KernelCode<'_>, before: ExprId, pass: RadixPass) {
        let share = code.number(self.sums.invocations / pass.digits());
        let digit = code.apply(ScalarOp::UDiv, &[self.sums.local, share]);
        let rest = code.apply(ScalarOp::UMod, &[self.sums.local, share]);
        let zero = code.number(0);
        let is_first = code.apply(ScalarOp::Eq, &[rest, zero]);
        code.only_if(is_first, |code| code.store(self.starts, digit, before));
    }

    /// Puts values of the invocation's elements to their places, and waits for the others.
    pub fn store_sorted(&self, code: &mut KernelCode<'_>, places: &[ExprId], values: &[ExprId]) {
        for (place, value) in places.iter().zip(values) {
            code.store(self.sorted, *place, *value);
        }
        code.wait();
    }

    /// The number of elements of a tile with the digit that is the invocation's index.
    pub fn count_of_digit(
        &self,
        code: &mut KernelCode<'_>,
        tile: &WorkgroupTile,
        pass: RadixPass,
    ) -> ExprId {
        let one = code.number(1);
        let next = code.add(self.sums.local, one);
        let all = code.number(tile.elements() as i64);
        let end = code.declare("end", all);
        let digits = code.number(pass.digits());
        let has_next = code.apply(ScalarOp::SLt, &[next, digits]);
        code.only_if(has_next, |code| {
            let start = code.load("next_start", self.starts, next);
            code.b.push_assignment(end, start);
        });
        let start = code.load("start", self.starts, self.sums.local);
        let end = code.b.read_var(end);
        code.apply(ScalarOp::Sub, &[end, start])
    }
}
