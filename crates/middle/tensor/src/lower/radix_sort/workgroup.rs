//! Kernels of graphics cards: a workgroup has a chunk of a row, and sorts a tile of it at a time in its memory.
//!
//! Each invocation has some adjacent elements of a tile, and a counter for each digit. The sums of the counters before, in
//! the order of digits and then of invocations, are the places of elements in the sorted tile.

use super::PassBuffers;
use super::kernel_code::{KernelCode, RadixPass};
use super::radix_rows::{RadixRows, RowChunk};
use super::tile_ranking::{InvocationSums, TileRanking};
use crate::schedule::ScheduleProfile;
use spirula_diagnostics::SourceLocation;
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{ExprId, KernelData, LaunchIndex, VarId};
use spirula_program::ScalarOp;

/// The elements that a workgroup sorts at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkgroupTile {
    /// Number of invocations: a power of two, at least the number of digits.
    pub invocations: u64,
    /// Elements of an invocation.
    pub points: u64,
}

impl WorkgroupTile {
    /// The tile for a kind of device; none for processors.
    pub fn for_profile(profile: ScheduleProfile) -> Option<WorkgroupTile> {
        let is_processor = profile.vector == 1;
        (!is_processor).then(|| WorkgroupTile {
            invocations: profile.flat.clamp(16, 128),
            points: 8,
        })
    }

    /// Number of elements.
    pub fn elements(&self) -> u64 {
        self.invocations * self.points
    }
}

/// A kernel that sorts a row in each workgroup.
pub(super) fn sort_rows(
    b: &mut ProgramBuilder,
    rows: &RadixRows,
    tile: &WorkgroupTile,
    (passes, buffers): (&[RadixPass], &PassBuffers),
    place: SourceLocation,
) -> KernelData {
    let mut code = KernelCode::begin(b);
    let row = code.position("row", LaunchIndex::Group);
    let row = rows.first_element(&mut code, row);
    let length = rows.length.to_i32(&mut code);
    let ranking = TileRanking::new(&mut code, tile, 1 << passes[0].bits);
    let own = ranking.list_own_places(&mut code, tile);
    let mut words = Vec::new();
    let mut carried = Vec::new();
    for at in &own {
        let (word, number) = load_element(&mut code, buffers, row, *at, length);
        words.push(word);
        carried.push(number);
    }
    for pass in passes {
        let places = ranking.rank_words(&mut code, &words, *pass);
        for values in [&mut words, &mut carried] {
            ranking.store_sorted(&mut code, &places, values);
            *values = own
                .iter()
                .map(|at| code.load("moved", ranking.sorted, *at))
                .collect();
            code.wait();
        }
    }
    for (at, number) in own.iter().zip(carried) {
        let is_there = code.apply(ScalarOp::SLt, &[*at, length]);
        code.only_if(is_there, |code| {
            let to = code.widen(*at);
            let to = code.add(row, to);
            code.store(buffers.to_carried, to, number);
        });
    }
    let groups = rows.count.to_i64(code.b);
    code.finish(groups, tile.invocations, place)
}

/// A kernel that counts the digits of each chunk.
pub(super) fn count_chunks(
    b: &mut ProgramBuilder,
    rows: &RadixRows,
    tile: &WorkgroupTile,
    (words, totals, pass): (VarId, VarId, RadixPass),
    place: SourceLocation,
) -> KernelData {
    let mut code = KernelCode::begin(b);
    let chunk = rows.begin_chunk(&mut code);
    let row = rows.first_element(&mut code, chunk.row);
    let ranking = TileRanking::new(&mut code, tile, pass.digits());
    ranking.clear_counters(&mut code, pass);
    repeat_tiles(&mut code, tile, &chunk, |code, first| {
        for point in 0..tile.points as i64 {
            let at = ranking.spread_place(code, point);
            let at = code.add(first, at);
            let at = code.bind("at", at);
            let is_there = code.apply(ScalarOp::SLt, &[at, chunk.count]);
            code.only_if(is_there, |code| {
                let at = code.add(chunk.first, at);
                let at = code.widen(at);
                let at = code.add(row, at);
                let word = code.load("word", words, at);
                ranking.count_word(code, word, pass);
            });
        }
    });
    code.wait();
    let sum = ranking.sum_counters(&mut code, pass);
    code.store(ranking.sums.memory, ranking.sums.local, sum);
    code.wait();
    let digits = code.number(pass.digits());
    let has_digit = code.apply(ScalarOp::SLt, &[ranking.sums.local, digits]);
    code.only_if(has_digit, |code| {
        let parts = ranking.sums.invocations / pass.digits();
        let first = code.multiply(ranking.sums.local, parts);
        let mut total = code.number(0);
        for part in 0..parts {
            let part = code.number(part);
            let at = code.add(first, part);
            let sum = code.load("sum", ranking.sums.memory, at);
            total = code.add(total, sum);
        }
        let place = chunk.total_place(code, rows, pass, ranking.sums.local);
        code.store(totals, place, total);
    });
    let groups = rows.count_groups(code.b);
    code.finish(groups, tile.invocations, place)
}

/// A kernel that replaces the totals of each row by the sums of those before them. Each invocation has adjacent ones.
pub(super) fn scan_totals(
    b: &mut ProgramBuilder,
    rows: &RadixRows,
    tile: &WorkgroupTile,
    (totals, pass): (VarId, RadixPass),
    place: SourceLocation,
) -> KernelData {
    let mut code = KernelCode::begin(b);
    let row = code.position("row", LaunchIndex::Group);
    let (first, count) = rows.locate_totals(&mut code, row, pass);
    let sums = InvocationSums::new(&mut code, tile);
    let invocations = code.number(sums.invocations);
    let share = code.apply(ScalarOp::SDivUp, &[count, invocations]);
    let share = code.bind("share", share);
    let begin = code.apply(ScalarOp::Mul, &[sums.local, share]);
    let begin = code.bind("begin", begin);
    let zero = code.number(0);
    let sum = code.declare("sum", zero);
    let each_total = |code: &mut KernelCode<'_>, replace: bool| {
        code.repeat(share, |code, at| {
            let at = code.add(begin, at);
            let is_there = code.apply(ScalarOp::SLt, &[at, count]);
            code.only_if(is_there, |code| {
                let at = code.widen(at);
                let at = code.add(first, at);
                let total = code.load("total", totals, at);
                let before = code.b.read_var(sum);
                if replace {
                    code.store(totals, at, before);
                }
                let after = code.add(before, total);
                code.b.push_assignment(sum, after);
            });
        });
    };
    each_total(&mut code, false);
    let own = code.b.read_var(sum);
    let before = sums.scan(&mut code, own);
    code.b.push_assignment(sum, before);
    each_total(&mut code, true);
    let groups = rows.count.to_i64(code.b);
    code.finish(groups, tile.invocations, place)
}

/// A kernel that moves the elements of each chunk.
pub(super) fn scatter_chunks(
    b: &mut ProgramBuilder,
    rows: &RadixRows,
    tile: &WorkgroupTile,
    (buffers, totals, pass): (&PassBuffers, VarId, RadixPass),
    place: SourceLocation,
) -> KernelData {
    let mut code = KernelCode::begin(b);
    let chunk = rows.begin_chunk(&mut code);
    let row = rows.first_element(&mut code, chunk.row);
    let ranking = TileRanking::new(&mut code, tile, pass.digits());
    let bases = code.declare_shared("bases", pass.digits());
    let digits = code.number(pass.digits());
    let has_digit = code.apply(ScalarOp::SLt, &[ranking.sums.local, digits]);
    let has_digit = code.bind("has_digit", has_digit);
    code.only_if(has_digit, |code| {
        let from = chunk.total_place(code, rows, pass, ranking.sums.local);
        let base = code.load("base", totals, from);
        code.store(bases, ranking.sums.local, base);
    });
    let end = code.add(chunk.first, chunk.count);
    let end = code.bind("end", end);
    let own = ranking.list_own_places(&mut code, tile);
    repeat_tiles(&mut code, tile, &chunk, |code, first| {
        let first = code.add(chunk.first, first);
        let first = code.bind("first", first);
        let mut words = Vec::new();
        let mut carried = Vec::new();
        for at in &own {
            let at = code.add(first, *at);
            let (word, number) = load_element(code, buffers, row, at, end);
            words.push(word);
            carried.push(number);
        }
        let places = ranking.rank_words(code, &words, pass);
        ranking.store_sorted(code, &places, &words);
        let mut targets = Vec::new();
        for point in 0..tile.points as i64 {
            let place = ranking.spread_place(code, point);
            let word = code.load("word", ranking.sorted, place);
            let digit = code.digit(word, pass);
            let digit = code.bind("digit", digit);
            let base = code.load("base", bases, digit);
            let start = code.load("start", ranking.starts, digit);
            let within = code.apply(ScalarOp::Sub, &[place, start]);
            let to = code.add(base, within);
            let to = code.widen(to);
            let to = code.add(row, to);
            let to = code.bind("to", to);
            let element = code.add(first, place);
            let is_there = code.apply(ScalarOp::SLt, &[element, end]);
            let is_there = code.bind("is_there", is_there);
            if let Some(words) = buffers.to_words {
                code.only_if(is_there, |code| code.store(words, to, word));
            }
            targets.push((place, to, is_there));
        }
        code.wait();
        ranking.store_sorted(code, &places, &carried);
        for (place, to, is_there) in targets {
            code.only_if(is_there, |code| {
                let number = code.load("number", ranking.sorted, place);
                code.store(buffers.to_carried, to, number);
            });
        }
        code.only_if(has_digit, |code| {
            let count = ranking.count_of_digit(code, tile, pass);
            code.increase(bases, ranking.sums.local, count);
        });
        code.wait();
    });
    let groups = rows.count_groups(code.b);
    code.finish(groups, tile.invocations, place)
}

/// Emits code for each tile of a chunk. It is given the index of the tile's first element in the chunk.
fn repeat_tiles(
    code: &mut KernelCode<'_>,
    tile: &WorkgroupTile,
    chunk: &RowChunk,
    body: impl FnOnce(&mut KernelCode<'_>, ExprId),
) {
    let size = code.number(tile.elements() as i64);
    let tiles = code.apply(ScalarOp::SDivUp, &[chunk.count, size]);
    let tiles = code.bind("tiles", tiles);
    code.repeat(tiles, |code, at| {
        let first = code.multiply(at, tile.elements() as i64);
        let first = code.bind("tile", first);
        body(code, first);
    });
}

/// The word at an index of a row and the number that it carries. After the end, the word is the greatest, so that it stays
/// there.
fn load_element(
    code: &mut KernelCode<'_>,
    buffers: &PassBuffers,
    row: ExprId,
    at: ExprId,
    end: ExprId,
) -> (ExprId, ExprId) {
    let at = code.bind("at", at);
    let greatest = code.number(-1);
    let word = code.declare("word", greatest);
    let number = code.declare("number", at);
    let is_there = code.apply(ScalarOp::SLt, &[at, end]);
    code.only_if(is_there, |code| {
        let from = code.widen(at);
        let from = code.add(row, from);
        let from = code.bind("from", from);
        let value = code.load("value", buffers.words, from);
        code.b.push_assignment(word, value);
        if let Some(carried) = buffers.carried {
            let value = code.load("carried", carried, from);
            code.b.push_assignment(number, value);
        }
    });
    (code.b.read_var(word), code.b.read_var(number))
}
