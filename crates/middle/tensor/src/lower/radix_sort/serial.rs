//! Kernels of processors: each invocation has a chunk of a row, and counts digits in an array of its own.

use super::kernel_code::{RadixKernelCode, RadixPass};
use super::pass_buffers::{ChunkPass, PassBuffers, PassSource};
use super::radix_rows::RadixRows;
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{ExprId, KernelData, LaunchIndex, VarId};

/// A part of a row, of which an invocation has all elements.
struct RowPart<'a> {
    rows: &'a RadixRows,
    /// Index of the row's first element, an `i64`.
    row: ExprId,
    /// Index of the first element in its row.
    first: ExprId,
    /// Number of elements.
    count: ExprId,
}

/// A kernel that sorts a row in each invocation, pass after pass.
pub(super) fn sort_rows(
    b: &mut ProgramBuilder,
    rows: &RadixRows,
    passes: &[(RadixPass, PassBuffers)],
) -> KernelData {
    let mut code = RadixKernelCode::begin(b);
    let row = code.position("row", LaunchIndex::Group);
    let part = RowPart {
        rows,
        row: rows.first_element(&mut code, row),
        first: code.number(0),
        count: rows.length.to_i32(&mut code),
    };
    let most = passes.iter().map(|(pass, _)| pass.digits()).max();
    let counts = code.declare_array("counts", most.unwrap_or(1));
    for (pass, buffers) in passes {
        count_digits(&mut code, &part, counts, buffers.from, *pass);
        let sum = code.number(0);
        let sum = code.declare("sum", sum);
        let digits = code.number(pass.digits());
        code.repeat(digits, |code, digit| {
            let before = code.b.read_var(sum);
            let count = code.exchange(counts, digit, before);
            let after = code.b.read_var(sum);
            let after = code.add(after, count);
            code.b.push_assignment(sum, after);
        });
        scatter_elements(&mut code, &part, counts, buffers, *pass);
    }
    let groups = rows.count.to_i64(code.b);
    code.finish("sort_sort_rows", groups, 1)
}

/// A kernel that counts the digits of each chunk.
pub(super) fn count_chunks(b: &mut ProgramBuilder, chunks: &ChunkPass<'_>) -> KernelData {
    let ChunkPass {
        rows, pass, totals, ..
    } = *chunks;
    let from = chunks.buffers.from;
    let mut code = RadixKernelCode::begin(b);
    let chunk = rows.begin_chunk(&mut code);
    let counts = code.declare_array("counts", pass.digits());
    let part = RowPart {
        rows,
        row: rows.first_element(&mut code, chunk.row),
        first: chunk.first,
        count: chunk.count,
    };
    count_digits(&mut code, &part, counts, from, pass);
    let digits = code.number(pass.digits());
    code.repeat(digits, |code, digit| {
        let count = code.load("count", counts, digit);
        let place = chunk.total_place(code, rows, pass, digit);
        code.store(totals, place, count);
    });
    let groups = rows.count_groups(code.b);
    code.finish("sort_count_chunks", groups, 1)
}

/// A kernel that replaces the totals of each row by the sums of those before them.
pub(super) fn scan_totals(b: &mut ProgramBuilder, chunks: &ChunkPass<'_>) -> KernelData {
    let ChunkPass {
        rows, pass, totals, ..
    } = *chunks;
    let mut code = RadixKernelCode::begin(b);
    let row = code.position("row", LaunchIndex::Group);
    let (first, count) = rows.locate_totals(&mut code, row, pass);
    let sum = code.number(0);
    let sum = code.declare("sum", sum);
    code.repeat(count, |code, at| {
        let at = code.widen(at);
        let at = code.add(first, at);
        let before = code.b.read_var(sum);
        let total = code.exchange(totals, at, before);
        let after = code.b.read_var(sum);
        let after = code.add(after, total);
        code.b.push_assignment(sum, after);
    });
    let groups = rows.count.to_i64(code.b);
    code.finish("sort_scan_totals", groups, 1)
}

/// A kernel that moves the elements of each chunk.
pub(super) fn scatter_chunks(b: &mut ProgramBuilder, chunks: &ChunkPass<'_>) -> KernelData {
    let ChunkPass {
        rows, pass, totals, ..
    } = *chunks;
    let mut code = RadixKernelCode::begin(b);
    let chunk = rows.begin_chunk(&mut code);
    let places = code.declare_array("places", pass.digits());
    let digits = code.number(pass.digits());
    code.repeat(digits, |code, digit| {
        let from = chunk.total_place(code, rows, pass, digit);
        let total = code.load("total", totals, from);
        code.store(places, digit, total);
    });
    let part = RowPart {
        rows,
        row: rows.first_element(&mut code, chunk.row),
        first: chunk.first,
        count: chunk.count,
    };
    scatter_elements(&mut code, &part, places, &chunks.buffers, pass);
    let groups = rows.count_groups(code.b);
    code.finish("sort_scatter_chunks", groups, 1)
}

/// Counts the digits of a part of a row.
fn count_digits(
    code: &mut RadixKernelCode<'_>,
    part: &RowPart<'_>,
    counts: VarId,
    from: PassSource,
    pass: RadixPass,
) {
    let digits = code.number(pass.digits());
    code.repeat(digits, |code, digit| {
        let zero = code.number(0);
        code.store(counts, digit, zero);
    });
    code.repeat(part.count, |code, at| {
        let at = code.add(part.first, at);
        let at = part.rows.element_place(code, part.row, at);
        let word = from.load_word(code, at);
        let digit = code.digit(word, pass);
        let digit = code.bind("digit", digit);
        let one = code.number(1);
        code.increase(counts, digit, one);
    });
}

/// Moves each element of a part of a row to the next place of its digit.
fn scatter_elements(
    code: &mut RadixKernelCode<'_>,
    part: &RowPart<'_>,
    places: VarId,
    buffers: &PassBuffers,
    pass: RadixPass,
) {
    code.repeat(part.count, |code, at| {
        let own = code.add(part.first, at);
        let own = code.bind("own", own);
        let from = part.rows.element_place(code, part.row, own);
        let from = code.bind("from", from);
        let element = buffers.from.load(code, from, own);
        let digit = code.digit(element[0], pass);
        let digit = code.bind("digit", digit);
        let one = code.number(1);
        let place = code.increase(places, digit, one);
        let to = part.rows.element_place(code, part.row, place);
        let to = code.bind("to", to);
        buffers.to.store(code, to, element);
    });
}
