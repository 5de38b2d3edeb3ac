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

use super::{
    AxisTile, DispatchStep, LoopMapping, PrefetchRound, StagedNode, SubgroupMatmul, TensorDispatch,
    TensorLoopNest,
};
use crate::text::{NodeNames, format_axes, format_body, format_list};
use spirula_kernel::ir::FragmentElement;
use std::fmt::Write;

/// The text of several dispatches.
pub fn print_all(dispatches: &[TensorDispatch]) -> String {
    let texts: Vec<String> = dispatches.iter().map(print_dispatch).collect();
    texts.join("\n")
}

/// The text of a dispatch.
pub fn print_dispatch(dispatch: &TensorDispatch) -> String {
    let nest = &dispatch.nest;
    let results = format_list(&dispatch.results, |v| format!("{v:?}"));
    let mut text = format!("dispatch @{} gives {results} {{\n", dispatch.name);
    let _ = writeln!(text, "  over {} {{", format_axes(&nest.op));
    for line in format_body(&nest.op) {
        let _ = writeln!(text, "    {line}");
    }
    text.push_str("  }\n");
    let _ = writeln!(text, "  schedule {}", dispatch.format_attributes());
    let names = NodeNames::new(&nest.points, &[]);
    for (axis, index) in nest.indices.iter().enumerate() {
        let _ = writeln!(text, "  d{axis} = {}", names.format_node(*index));
    }
    for (what, guards) in [("where", &nest.guards), ("fold where", &nest.fold_guards)] {
        for guard in guards {
            let _ = writeln!(text, "  {what} {}", names.format_node(*guard));
        }
    }
    if let Some(matmul) = dispatch.plan.matmul() {
        let _ = writeln!(text, "  {}", format_matmul(matmul));
    }
    let body = NodeNames::new(&nest.op.body, &[]);
    let staging = dispatch.plan.staging();
    let staged = staging.iter().flat_map(|staging| &staging.nodes);
    for (at, staged) in staged.enumerate() {
        let tiles = staged.tiles.iter().map(|at| &nest.tiles[*at]);
        let tiles: Vec<&AxisTile> = tiles.collect();
        let sizes = format_list(&tiles, |tile| tile.size.to_string());
        let of = format_list(&tiles, |tile| {
            format_list(&tile.axes, |axis| format!("d{axis}"))
        });
        let _ = writeln!(
            text,
            "  s{at}: workgroup {}[{sizes}] = {} at {of}{}",
            staged.ty,
            body.format_node(staged.node),
            format_layout(nest, staged)
        );
    }
    print_steps(nest, &nest.steps, 1, &mut text);
    text.push_str("}\n");
    text
}

/// How subgroups compute products.
fn format_matmul(matrix: &SubgroupMatmul) -> String {
    let sizes = |sizes: &[u64]| {
        let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
        sizes.join("x")
    };
    let shape = matrix.shape;
    let name = |number| {
        let mut rows = FragmentElement::NAMES.iter();
        rows.find(|(_, n)| *n == number)
            .map_or("", |(name, _)| name)
    };
    let parts = match matrix.parts {
        1 => String::new(),
        count => format!(" in {count} parts"),
    };
    format!(
        "subgroups {} of {}x{} fragments {} {} by {}{parts} to {}, {} buffers",
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

/// The layout of a tile, where it is not the order in which the tile is read.
fn format_layout(nest: &TensorLoopNest, staged: &StagedNode) -> String {
    if staged.layout == staged.tiles {
        return String::new();
    }
    let axes = |at: &usize| format_list(&nest.tiles[*at].axes, |axis| format!("d{axis}"));
    let order = format_list(&staged.layout, axes);
    format!(", kept at {order}, rows {} apart", staged.padding)
}

fn print_steps(nest: &TensorLoopNest, list: &[DispatchStep], depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    for step in list {
        text.push_str(&indent);
        let _ = match step {
            DispatchStep::For(number, inner) => {
                let data = nest.loops[*number as usize];
                let run = format_mapping(data.run);
                let extent = match data.iterations {
                    Some(number) => NodeNames::new(&nest.points, &[]).format_node(number),
                    None => data.extent.to_string(),
                };
                let _ = writeln!(text, "{run} i{number} < {extent} {{");
                print_steps(nest, inner, depth + 1, text);
                writeln!(text, "{indent}}}")
            }
            DispatchStep::Initialise => writeln!(text, "initialise"),
            DispatchStep::Accumulate => writeln!(text, "accumulate"),
            DispatchStep::Combine(number) => writeln!(text, "combine over i{number}"),
            DispatchStep::InitialiseCarry => writeln!(text, "carry"),
            DispatchStep::Scan(number) => writeln!(text, "prefix over i{number}"),
            DispatchStep::SelectReduction(at) => writeln!(text, "reduction {at}"),
            DispatchStep::Broadcast => writeln!(text, "share"),
            DispatchStep::Store => writeln!(text, "store"),
            DispatchStep::Stage(at) => writeln!(text, "stage s{at}"),
            DispatchStep::Fetch(PrefetchRound::First) => writeln!(text, "fetch first"),
            DispatchStep::Fetch(PrefetchRound::Next) => writeln!(text, "fetch next"),
            // Where tiles have one place, it is the same for all iterations.
            DispatchStep::Commit(PrefetchRound::First) => writeln!(text, "commit"),
            DispatchStep::Commit(PrefetchRound::Next) => writeln!(text, "commit next"),
            DispatchStep::Clear => writeln!(text, "clear"),
            DispatchStep::Multiply => writeln!(text, "multiply"),
            DispatchStep::Spill => writeln!(text, "spill"),
            DispatchStep::TakeRow => writeln!(text, "take"),
            DispatchStep::Save => writeln!(text, "keep"),
            DispatchStep::Restore => writeln!(text, "recall"),
            DispatchStep::Barrier => writeln!(text, "barrier"),
        };
    }
}

fn format_mapping(run: LoopMapping) -> String {
    match run {
        LoopMapping::Parallel => "parallel".to_owned(),
        LoopMapping::Sequential => "for".to_owned(),
        LoopMapping::Unrolled => "unrolled".to_owned(),
        LoopMapping::Repeated => "repeated".to_owned(),
        LoopMapping::Subgroup => "subgroup".to_owned(),
        LoopMapping::Lane => "lane".to_owned(),
        LoopMapping::Arrival => "arrival".to_owned(),
        LoopMapping::Workgroup(dimension) => format!("workgroup.{}", axis_letter(dimension)),
        LoopMapping::Invocation(dimension) => format!("invocation.{}", axis_letter(dimension)),
    }
}

fn axis_letter(dimension: u8) -> char {
    char::from(b'x' + dimension.min(2))
}
