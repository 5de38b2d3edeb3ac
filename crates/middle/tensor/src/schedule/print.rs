//! The text of dispatches, as `--print-after` shows it.
//!
//! ```text
//! dispatch @main.0 gives %2 {
//!   over d0 < 32, d1 < 16, fold d2 < 24 {
//!     …
//!   }
//!   schedule tiled(tile=64,points=4)
//!   d0 = i0 * 8 + i1
//!   …
//!   workgroup i0 < 4 {
//!     …
//!   }
//! }
//! ```

use super::{Dispatch, Matrix, Round, Run, Staged, Step, Tile};
use crate::print::{Names, axes, lines, list};
use spirula_kernel::ir::Number;
use std::fmt::Write;

/// The text of several dispatches.
pub fn print_all(dispatches: &[Dispatch]) -> String {
    let texts: Vec<String> = dispatches.iter().map(print).collect();
    texts.join("\n")
}

/// The text of a dispatch.
pub fn print(dispatch: &Dispatch) -> String {
    let results = list(&dispatch.results, |v| format!("{v:?}"));
    let mut text = format!("dispatch @{} gives {results} {{\n", dispatch.name);
    let _ = writeln!(text, "  over {} {{", axes(&dispatch.op));
    for line in lines(&dispatch.op) {
        let _ = writeln!(text, "    {line}");
    }
    text.push_str("  }\n");
    let _ = writeln!(text, "  schedule {}", dispatch.attributes());
    let names = Names::new(&dispatch.points, &[]);
    for (axis, index) in dispatch.indices.iter().enumerate() {
        let _ = writeln!(text, "  d{axis} = {}", names.expression(*index));
    }
    for (what, guards) in [
        ("where", &dispatch.guards),
        ("fold where", &dispatch.fold_guards),
    ] {
        for guard in guards {
            let _ = writeln!(text, "  {what} {}", names.expression(*guard));
        }
    }
    if let Some(matrix) = &dispatch.matrix {
        let _ = writeln!(text, "  {}", product(matrix));
    }
    let body = Names::new(&dispatch.op.body, &[]);
    for (at, staged) in dispatch.staged.iter().enumerate() {
        let tiles = staged.tiles.iter().map(|at| &dispatch.tiles[*at]);
        let tiles: Vec<&Tile> = tiles.collect();
        let sizes = list(&tiles, |tile| tile.size.to_string());
        let of = list(&tiles, |tile| list(&tile.axes, |axis| format!("d{axis}")));
        let _ = writeln!(
            text,
            "  s{at}: workgroup {}[{sizes}] = {} at {of}{}",
            staged.ty,
            body.expression(staged.node),
            kept(dispatch, staged)
        );
    }
    steps(dispatch, &dispatch.steps, 1, &mut text);
    text.push_str("}\n");
    text
}

/// How subgroups compute products.
fn product(matrix: &Matrix) -> String {
    let sizes = |sizes: &[u64]| {
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        sizes.join("x")
    };
    let shape = matrix.shape;
    let name = |number| {
        let mut rows = Number::NAMES.iter();
        rows.find(|(_, n)| *n == number)
            .map_or("", |(name, _)| name)
    };
    format!(
        "subgroups {} of {}x{} fragments {} {} by {} to {}, {} buffers",
        sizes(&matrix.grid),
        sizes(&matrix.counts),
        matrix.depth,
        sizes(&shape.size.map(u64::from)),
        name(shape.factors[0]),
        name(shape.factors[1]),
        name(shape.sum),
        matrix.buffers
    )
}

/// How a tile is kept, where that is not as it is read.
fn kept(dispatch: &Dispatch, staged: &Staged) -> String {
    if staged.layout == staged.tiles {
        return String::new();
    }
    let axes = |at: &usize| list(&dispatch.tiles[*at].axes, |axis| format!("d{axis}"));
    let order = list(&staged.layout, axes);
    format!(", kept at {order}, rows {} apart", staged.padding)
}

fn steps(dispatch: &Dispatch, list: &[Step], depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    for step in list {
        text.push_str(&indent);
        let _ = match step {
            Step::For(number, inner) => {
                let data = dispatch.loops[*number as usize];
                let run = name(data.run);
                let extent = match data.rounds {
                    Some(rounds) => Names::new(&dispatch.points, &[]).expression(rounds),
                    None => data.extent.to_string(),
                };
                let _ = writeln!(text, "{run} i{number} < {extent} {{");
                steps(dispatch, inner, depth + 1, text);
                writeln!(text, "{indent}}}")
            }
            Step::Initialise => writeln!(text, "initialise"),
            Step::Accumulate => writeln!(text, "accumulate"),
            Step::Combine(number) => writeln!(text, "combine over i{number}"),
            Step::Carry => writeln!(text, "carry"),
            Step::Prefix(number) => writeln!(text, "prefix over i{number}"),
            Step::Only(at) => writeln!(text, "reduction {at}"),
            Step::Share => writeln!(text, "share"),
            Step::Store => writeln!(text, "store"),
            Step::Stage(at) => writeln!(text, "stage s{at}"),
            Step::Fetch(Round::First) => writeln!(text, "fetch first"),
            Step::Fetch(Round::Next) => writeln!(text, "fetch next"),
            // Where tiles have one place, what was fetched goes there whatever the round.
            Step::Commit(Round::First) => writeln!(text, "commit"),
            Step::Commit(Round::Next) => writeln!(text, "commit next"),
            Step::Clear => writeln!(text, "clear"),
            Step::Multiply => writeln!(text, "multiply"),
            Step::Spill => writeln!(text, "spill"),
            Step::Take => writeln!(text, "take"),
            Step::Keep => writeln!(text, "keep"),
            Step::Recall => writeln!(text, "recall"),
            Step::Barrier => writeln!(text, "barrier"),
        };
    }
}

fn name(run: Run) -> String {
    match run {
        Run::Parallel => "parallel".to_owned(),
        Run::Sequential => "for".to_owned(),
        Run::Unrolled => "unrolled".to_owned(),
        Run::Repeated => "repeated".to_owned(),
        Run::Subgroup => "subgroup".to_owned(),
        Run::Lane => "lane".to_owned(),
        Run::Arrival => "arrival".to_owned(),
        Run::Workgroup(dimension) => format!("workgroup.{}", axis(dimension)),
        Run::Invocation(dimension) => format!("invocation.{}", axis(dimension)),
    }
}

fn axis(dimension: u8) -> char {
    char::from(b'x' + dimension.min(2))
}
