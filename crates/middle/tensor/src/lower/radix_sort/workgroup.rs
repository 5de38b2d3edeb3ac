//! Kernels of graphics cards: a workgroup has a chunk of a row, and sorts a tile of it at a time in its memory.
//!
//! Each invocation has some adjacent elements of a tile, and a counter for each digit. The sums of the counters before, in
//! the order of digits and then of invocations, are the places of elements in the sorted tile.

use super::kernel_code::{RadixKernelCode, RadixPass};
use super::pass_buffers::{ChunkPass, PassBuffers};
use super::radix_rows::{RadixRows, RowChunk};
use super::tile_ranking::{InvocationSums, TileRanking};
use crate::schedule::ScheduleProfile;
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{ExprId, KernelData, LaunchIndex};
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
        let is_processor = profile.is_processor();
        (!is_processor).then(|| WorkgroupTile {
            invocations: profile.flat.clamp(32, 128),
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
    passes: &[RadixPass],
    buffers: &PassBuffers,
) -> KernelData {
    let mut code = RadixKernelCode::begin(b);
    let row = code.position("row", LaunchIndex::Group);
    let row = rows.first_element(&mut code, row);
    let length = rows.length.to_i32(&mut code);
    let ranking = TileRanking::new(&mut code, tile, passes[0].bits);
    let own = ranking.list_own_places(&mut code, tile);
    let mut words = Vec::new();
    let mut carried = Vec::new();
    for at in &own {
        let (word, number) = load_element(&mut code, rows, buffers, [row, *at, length]);
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
            let to = rows.element_place(code, row, *at);
            // The result has no words.
            buffers.to.store(code, to, [number; 2]);
        });
    }
    let groups = rows.count.to_i64(code.b);
    code.finish("sort_sort_rows", groups, tile.invocations)
}

/// A kernel that counts the digits of each chunk.
pub(super) fn count_chunks(
    b: &mut ProgramBuilder,
    tile: &WorkgroupTile,
    chunks: &ChunkPass<'_>,
) -> KernelData {
    let ChunkPass {
        rows, pass, totals, ..
    } = *chunks;
    let mut code = RadixKernelCode::begin(b);
    let chunk = rows.begin_chunk(&mut code);
    let row = rows.first_element(&mut code, chunk.row);
    let ranking = TileRanking::new(&mut code, tile, pass.bits);
    ranking.clear_counters(&mut code, pass);
    repeat_tiles(&mut code, tile, &chunk, |code, first| {
        for point in 0..tile.points as i64 {
            let at = ranking.spread_place(code, point);
            let at = code.add(first, at);
            let at = code.bind("at", at);
            let is_there = code.apply(ScalarOp::SLt, &[at, chunk.count]);
            code.only_if(is_there, |code| {
                let at = code.add(chunk.first, at);
                let at = rows.element_place(code, row, at);
                let word = chunks.buffers.from.load_word(code, at);
                ranking.count_word(code, word, pass);
            });
        }
    });
    let total = ranking.total_of_digit(&mut code, pass);
    let digits = code.number(pass.digits());
    let has_digit = code.apply(ScalarOp::SLt, &[ranking.sums.local, digits]);
    code.only_if(has_digit, |code| {
        let place = chunk.total_place(code, rows, pass, ranking.sums.local);
        code.store(totals, place, total);
    });
    let groups = rows.count_groups(code.b);
    code.finish("sort_count_chunks", groups, tile.invocations)
}

/// A kernel that replaces the totals of a digit in the chunks of a row by the sums of those before them. The sum of all
/// is left. A workgroup has a digit of a row, and each invocation has adjacent totals.
pub(super) fn scan_totals(
    b: &mut ProgramBuilder,
    tile: &WorkgroupTile,
    chunks: &ChunkPass<'_>,
) -> KernelData {
    let ChunkPass {
        rows, pass, totals, ..
    } = *chunks;
    let mut code = RadixKernelCode::begin(b);
    let group = code.position("group", LaunchIndex::Group);
    let wide = code.widen(group);
    let count = rows.chunks.to_i64(code.b);
    let first = code.apply(ScalarOp::Mul, &[wide, count]);
    let first = code.bind("first", first);
    let count = rows.chunks.to_i32(&mut code);
    let sums = InvocationSums::new(&mut code, tile);
    let invocations = code.number(sums.invocations);
    let share = code.apply(ScalarOp::SDivUp, &[count, invocations]);
    let share = code.bind("share", share);
    let begin = code.apply(ScalarOp::Mul, &[sums.local, share]);
    let begin = code.bind("begin", begin);
    let zero = code.number(0);
    let sum = code.declare("sum", zero);
    let each_total = |code: &mut RadixKernelCode<'_>, replace: bool| {
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
    let (before, all) = sums.scan(&mut code, own);
    code.b.push_assignment(sum, before);
    each_total(&mut code, true);
    let at = rows.digit_total_place(&mut code, pass, group);
    code.store(totals, at, all);
    let groups = rows.count.to_i64(code.b);
    let digits = code.b.make_i64(pass.digits());
    let groups = code.apply(ScalarOp::Mul, &[groups, digits]);
    code.finish("sort_scan_totals", groups, tile.invocations)
}

/// A kernel that moves the elements of each chunk.
pub(super) fn scatter_chunks(
    b: &mut ProgramBuilder,
    tile: &WorkgroupTile,
    chunks: &ChunkPass<'_>,
) -> KernelData {
    let ChunkPass {
        rows, pass, totals, ..
    } = *chunks;
    let mut code = RadixKernelCode::begin(b);
    let chunk = rows.begin_chunk(&mut code);
    let row = rows.first_element(&mut code, chunk.row);
    let ranking = TileRanking::new(&mut code, tile, pass.bits);
    let distances = code.declare_shared("distances", pass.digits());
    let digits = code.number(pass.digits());
    let has_digit = code.apply(ScalarOp::SLt, &[ranking.sums.local, digits]);
    let has_digit = code.bind("has_digit", has_digit);
    let none = code.number(0);
    let total = code.declare("digit_total", none);
    code.only_if(has_digit, |code| {
        let digit = code.multiply(chunk.row, pass.digits());
        let digit = code.add(digit, ranking.sums.local);
        let at = rows.digit_total_place(code, pass, digit);
        let value = code.load("total", totals, at);
        code.b.push_assignment(total, value);
    });
    let total = code.b.read_var(total);
    let (before, _) = ranking.sums.scan(&mut code, total);
    let base = code.declare("base", before);
    code.only_if(has_digit, |code| {
        let from = chunk.total_place(code, rows, pass, ranking.sums.local);
        let within = code.load("within", totals, from);
        let first = code.add(before, within);
        code.b.push_assignment(base, first);
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
            let (word, number) = load_element(code, rows, &chunks.buffers, [row, at, end]);
            words.push(word);
            carried.push(number);
        }
        let places = ranking.rank_words(code, &words, pass);
        code.only_if(has_digit, |code| {
            ranking.store_distance(code, tile, pass, base, distances);
        });
        ranking.store_sorted(code, &places, &words);
        let mut targets = Vec::new();
        for point in 0..tile.points as i64 {
            let place = ranking.spread_place(code, point);
            let word = code.load("word", ranking.sorted, place);
            let digit = code.digit(word, pass);
            let distance = code.load("distance", distances, digit);
            let to = code.add(distance, place);
            let to = rows.element_place(code, row, to);
            let to = code.bind("to", to);
            let element = code.add(first, place);
            let is_there = code.apply(ScalarOp::SLt, &[element, end]);
            let is_there = code.bind("is_there", is_there);
            targets.push((place, to, is_there, word));
        }
        code.wait();
        ranking.store_sorted(code, &places, &carried);
        for (place, to, is_there, word) in targets {
            code.only_if(is_there, |code| {
                let number = code.load("number", ranking.sorted, place);
                chunks.buffers.to.store(code, to, [word, number]);
            });
        }
        code.wait();
    });
    let groups = rows.count_groups(code.b);
    code.finish("sort_scatter_chunks", groups, tile.invocations)
}

/// Emits code for each tile of a chunk. It is given the index of the tile's first element in the chunk.
fn repeat_tiles(
    code: &mut RadixKernelCode<'_>,
    tile: &WorkgroupTile,
    chunk: &RowChunk,
    body: impl FnOnce(&mut RadixKernelCode<'_>, ExprId),
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
    code: &mut RadixKernelCode<'_>,
    rows: &RadixRows,
    buffers: &PassBuffers,
    [row, at, end]: [ExprId; 3],
) -> (ExprId, ExprId) {
    let at = code.bind("at", at);
    let greatest = code.number(-1);
    let word = code.declare("word", greatest);
    let number = code.declare("number", at);
    let is_there = code.apply(ScalarOp::SLt, &[at, end]);
    code.only_if(is_there, |code| {
        let from = rows.element_place(code, row, at);
        let from = code.bind("from", from);
        let [loaded_word, loaded_number] = buffers.from.load(code, from, at);
        code.b.push_assignment(word, loaded_word);
        code.b.push_assignment(number, loaded_number);
    });
    (code.b.read_var(word), code.b.read_var(number))
}
