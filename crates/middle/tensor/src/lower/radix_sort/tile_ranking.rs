//! Ranking of the elements of a tile by a digit, in the memory of a workgroup.

use super::kernel_code::{RadixKernelCode, RadixPass};
use super::workgroup::WorkgroupTile;
use spirula_kernel::ir::{ExprId, LaunchIndex, VarId};
use spirula_program::ScalarOp;

/// Invocations whose sums are added up one after the other.
const SUMMED: i64 = 16;

/// Counters after which a word is left out, so that invocations access different banks of memory.
const BANKS: i64 = 32;

/// Bits of a counter. A word has those of two digits.
const COUNTER_BITS: i64 = 16;

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
    pub fn new(code: &mut RadixKernelCode<'_>, tile: &WorkgroupTile) -> InvocationSums {
        let invocations = tile.invocations as i64;
        InvocationSums {
            invocations,
            local: code.position("local", LaunchIndex::Local),
            memory: code.declare_shared("sums", invocations),
            group_sums: code.declare_shared("group_sums", invocations / SUMMED),
        }
    }

    /// The sum of the numbers of the invocations before this one, and that of all.
    pub fn scan(&self, code: &mut RadixKernelCode<'_>, own: ExprId) -> (ExprId, ExprId) {
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
        let mut all = code.number(0);
        for at in 0..self.invocations / SUMMED {
            let at = code.number(at);
            let sum = code.load("group_sum", self.group_sums, at);
            let is_before = code.apply(ScalarOp::SLt, &[at, group]);
            let zero = code.number(0);
            let counted = code.apply(ScalarOp::Cond, &[is_before, sum, zero]);
            let after = code.add(before, counted);
            before = code.bind("before", after);
            let after = code.add(all, sum);
            all = code.bind("all", after);
        }
        (before, all)
    }
}

/// The memory of a workgroup that ranks the elements of tiles.
///
/// Each invocation has a counter for each digit. The words of counters are ordered by the lower half of the digits, and then
/// by invocation. A digit of the upper half shares the word of one of the lower half.
pub(super) struct TileRanking {
    /// Sums of the counters that each invocation adds up.
    pub sums: InvocationSums,
    counters: VarId,
    /// The place of the invocation's first word of counters.
    own_counters: ExprId,
    /// The place of the first element with each digit.
    pub starts: VarId,
    /// The elements in their order.
    pub sorted: VarId,
}

impl TileRanking {
    /// Declares the memory for digits of at most some bits.
    pub fn new(code: &mut RadixKernelCode<'_>, tile: &WorkgroupTile, bits: u32) -> TileRanking {
        let words = (1 << (bits - 1)) * tile.invocations as i64;
        let sums = InvocationSums::new(code, tile);
        TileRanking {
            own_counters: counter_place(code, sums.local),
            sums,
            counters: code.declare_shared("counters", words + words / BANKS),
            starts: code.declare_shared("starts", 1 << bits),
            sorted: code.declare_shared("sorted", tile.elements() as i64),
        }
    }

    /// The places in a tile of the invocation's elements, which are adjacent.
    pub fn list_own_places(
        &self,
        code: &mut RadixKernelCode<'_>,
        tile: &WorkgroupTile,
    ) -> Vec<ExprId> {
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
    pub fn spread_place(&self, code: &mut RadixKernelCode<'_>, point: i64) -> ExprId {
        let first = code.number(point * self.sums.invocations);
        let place = code.add(first, self.sums.local);
        code.bind("place", place)
    }

    /// Words of memory from the counters of a digit to those of the next.
    fn digit_stride(&self) -> i64 {
        self.sums.invocations + self.sums.invocations / BANKS
    }

    /// Clears the invocation's counters.
    pub fn clear_counters(&self, code: &mut RadixKernelCode<'_>, pass: RadixPass) {
        for digit in 0..pass.lower_digits() {
            let first = code.number(digit * self.digit_stride());
            let at = code.add(first, self.own_counters);
            let zero = code.number(0);
            code.store(self.counters, at, zero);
        }
    }

    /// Adds one to the invocation's counter of a word's digit.
    pub fn count_word(
        &self,
        code: &mut RadixKernelCode<'_>,
        word: ExprId,
        pass: RadixPass,
    ) -> CountedWord {
        let digit = code.digit(word, pass);
        let digit = code.bind("digit", digit);
        let lower = code.number(pass.lower_digits());
        let half = code.apply(ScalarOp::UDiv, &[digit, lower]);
        let shift = code.multiply(half, COUNTER_BITS);
        let shift = code.bind("shift", shift);
        let lower = code.apply(ScalarOp::UMod, &[digit, lower]);
        let first = code.multiply(lower, self.digit_stride());
        let place = code.add(first, self.own_counters);
        let place = code.bind("counter", place);
        let one = code.number(1);
        let one = code.apply(ScalarOp::Shl, &[one, shift]);
        let before = code.increase(self.counters, place, one);
        let before = code.apply(ScalarOp::LShr, &[before, shift]);
        let before = lower_counter(code, before);
        CountedWord {
            place,
            shift,
            before: code.bind("before", before),
        }
    }

    /// The places of the words of counters that the invocation adds up: adjacent ones.
    fn list_summed(&self, code: &mut RadixKernelCode<'_>, pass: RadixPass) -> Vec<ExprId> {
        let first = code.multiply(self.sums.local, pass.lower_digits());
        let first = code.bind("first_counter", first);
        let mut places = Vec::new();
        for word in 0..pass.lower_digits() {
            let word = code.number(word);
            let word = code.add(first, word);
            places.push(counter_place(code, word));
        }
        places
    }

    /// The number of counted words with the digit that is the invocation's index, where there is such a digit.
    pub fn total_of_digit(&self, code: &mut RadixKernelCode<'_>, pass: RadixPass) -> ExprId {
        code.wait();
        let mut sums = [code.number(0), code.number(0)];
        for at in self.list_summed(code, pass) {
            let word = code.load("counters", self.counters, at);
            let halves = [lower_counter(code, word), upper_counter(code, word)];
            sums = [0, 1].map(|half| code.add(sums[half], halves[half]));
        }
        for (half, sum) in sums.into_iter().enumerate() {
            let at = self.spread_place(code, half as i64);
            code.store(self.sorted, at, sum);
        }
        code.wait();
        let parts = self.sums.invocations / pass.lower_digits();
        let first = code.multiply(self.sums.local, parts);
        let mut total = code.number(0);
        for part in 0..parts {
            let part = code.number(part);
            let at = code.add(first, part);
            let most = code.number(2 * self.sums.invocations - 1);
            let at = code.apply(ScalarOp::SMin, &[at, most]);
            let sum = code.load("sum", self.sorted, at);
            let after = code.add(total, sum);
            total = code.bind("total", after);
        }
        total
    }

    /// The places of the invocation's words in the order of their digits. Words with equal digits keep their order.
    pub fn rank_words(
        &self,
        code: &mut RadixKernelCode<'_>,
        words: &[ExprId],
        pass: RadixPass,
    ) -> Vec<ExprId> {
        self.clear_counters(code, pass);
        let counted = words.iter().map(|word| self.count_word(code, *word, pass));
        let counted: Vec<CountedWord> = counted.collect();
        code.wait();
        let places = self.list_summed(code, pass);
        let mut sum = code.number(0);
        for at in &places {
            let count = code.load("counters", self.counters, *at);
            sum = code.add(sum, count);
        }
        let sum = code.bind("sum", sum);
        let (before, all) = self.sums.scan(code, sum);
        // Digits of the upper half come after all those of the lower half.
        let bits = code.number(COUNTER_BITS);
        let lower = code.apply(ScalarOp::Shl, &[all, bits]);
        let before = code.add(before, lower);
        let mut before = code.bind("before", before);
        self.store_starts(code, before, pass);
        for at in places {
            let count = code.exchange(self.counters, at, before);
            let after = code.add(before, count);
            before = code.bind("after", after);
        }
        code.wait();
        let place = counted.iter().map(|word| {
            let first = code.load("counter", self.counters, word.place);
            let first = code.apply(ScalarOp::LShr, &[first, word.shift]);
            let first = lower_counter(code, first);
            let place = code.add(first, word.before);
            code.bind("place", place)
        });
        place.collect()
    }

    /// Leaves the places of the first elements with two digits. The invocation that adds up the first word of their counters
    /// knows them.
    fn store_starts(&self, code: &mut RadixKernelCode<'_>, before: ExprId, pass: RadixPass) {
        let share = code.number(self.sums.invocations / pass.lower_digits());
        let digit = code.apply(ScalarOp::UDiv, &[self.sums.local, share]);
        let digit = code.bind("digit", digit);
        let rest = code.apply(ScalarOp::UMod, &[self.sums.local, share]);
        let zero = code.number(0);
        let is_first = code.apply(ScalarOp::Eq, &[rest, zero]);
        code.only_if(is_first, |code| {
            let start = lower_counter(code, before);
            code.store(self.starts, digit, start);
            let lower = code.number(pass.lower_digits());
            let digit = code.add(digit, lower);
            let start = upper_counter(code, before);
            code.store(self.starts, digit, start);
        });
    }

    /// Puts values of the invocation's elements to their places, and waits for the others.
    pub fn store_sorted(
        &self,
        code: &mut RadixKernelCode<'_>,
        places: &[ExprId],
        values: &[ExprId],
    ) {
        for (place, value) in places.iter().zip(values) {
            code.store(self.sorted, *place, *value);
        }
        code.wait();
    }

    /// Leaves the distance from places in the sorted tile to places in the row, for the digit that is the invocation's index.
    /// `base` is the place in the row of the tile's first element with the digit, and becomes that of the next tile.
    pub fn store_distance(
        &self,
        code: &mut RadixKernelCode<'_>,
        tile: &WorkgroupTile,
        pass: RadixPass,
        base: VarId,
        distances: VarId,
    ) {
        let start = code.load("start", self.starts, self.sums.local);
        let own = code.b.read_var(base);
        let distance = code.apply(ScalarOp::Sub, &[own, start]);
        let distance = code.bind("distance", distance);
        code.store(distances, self.sums.local, distance);
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
        let end = code.b.read_var(end);
        let next = code.add(distance, end);
        code.b.push_assignment(base, next);
    }
}

/// A word that an invocation has counted.
pub(super) struct CountedWord {
    /// The place of the word of counters.
    place: ExprId,
    /// The lowest bit of the counter.
    shift: ExprId,
    /// Its value before.
    before: ExprId,
}

/// The place in memory of a word of counters.
fn counter_place(code: &mut RadixKernelCode<'_>, word: ExprId) -> ExprId {
    let banks = code.number(BANKS);
    let skipped = code.apply(ScalarOp::UDiv, &[word, banks]);
    let place = code.add(word, skipped);
    code.bind("counter", place)
}

/// The counter in the lower half of a word.
fn lower_counter(code: &mut RadixKernelCode<'_>, word: ExprId) -> ExprId {
    let mask = code.number((1 << COUNTER_BITS) - 1);
    code.apply(ScalarOp::And, &[word, mask])
}

/// The counter in the upper half of a word.
fn upper_counter(code: &mut RadixKernelCode<'_>, word: ExprId) -> ExprId {
    let bits = code.number(COUNTER_BITS);
    code.apply(ScalarOp::LShr, &[word, bits])
}
