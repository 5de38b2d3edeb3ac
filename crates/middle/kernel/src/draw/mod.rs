//! The dispatch graph: the kernels that functions of the host launch, and the buffers between them, as SVG.
//!
//! Statements of the host that use the device are rows, one below the other, with boxes around loops and branches. An edge
//! leads from a row that writes a buffer to a row that may read the same contents, with their type and size. Rows and edges
//! are drawn as those of control-flow graphs are ([`spirula_spirv::draw`]).

mod block_access;
mod buffer_flow;
mod host_outline;
mod size_text;

use crate::call_graph;
use crate::host::number_kernels;
use crate::ir::{EntryDecl, FuncId, KernelProgram, StmtBlock};
use buffer_flow::find_buffer_edges;
use host_outline::HostOutline;
use size_text::SizeFormatter;
use spirula_spirv::draw::{RowDrawing, draw_rows};

/// Draws the dispatches of a checked program as SVG: each entry point, and each function that it calls and that uses the
/// device itself.
pub fn draw_dispatches(program: &KernelProgram) -> String {
    draw_rows(&describe_dispatches(program))
}

/// The drawings of a program's functions.
fn describe_dispatches(program: &KernelProgram) -> Vec<RowDrawing> {
    let numbers = number_kernels(program);
    let mut drawings = Vec::new();
    if let Some(block) = program.initialise {
        drawings.extend(draw_function(
            program,
            &numbers,
            DrawnFunction::Start(block),
        ));
    }
    for function in list_functions(program) {
        let drawn = DrawnFunction::Named(function, find_entry(program, function));
        drawings.extend(draw_function(program, &numbers, drawn));
    }
    drawings
}

/// A function that is drawn.
#[derive(Clone, Copy)]
enum DrawnFunction<'p> {
    /// The code that runs once, before any function.
    Start(StmtBlock),
    /// A function, with its first entry point.
    Named(FuncId, Option<&'p EntryDecl>),
}

impl<'p> DrawnFunction<'p> {
    fn entry(self) -> Option<&'p EntryDecl> {
        match self {
            DrawnFunction::Start(_) => None,
            DrawnFunction::Named(_, entry) => entry,
        }
    }
}

/// The drawing of a function; none for one that callers do not see and that does not use the device.
fn draw_function(
    program: &KernelProgram,
    numbers: &[usize],
    drawn: DrawnFunction<'_>,
) -> Option<RowDrawing> {
    let sizes = SizeFormatter::for_function(program, drawn);
    let outline = HostOutline::from_function(program, numbers, &sizes, drawn)?;
    let edges = find_buffer_edges(program, &sizes, &outline, drawn.entry());
    let title = match drawn {
        DrawnFunction::Start(_) => "before the first call".to_owned(),
        DrawnFunction::Named(_, Some(entry)) => format!("entry point {}", entry.name),
        DrawnFunction::Named(function, None) => {
            format!("function {}", function_name(program, function))
        }
    };
    Some(RowDrawing {
        title,
        rows: outline.rows,
        boxes: outline.boxes,
        edges,
    })
}

/// Functions that entry points run on the host, in the order of the program.
fn list_functions(program: &KernelProgram) -> Vec<FuncId> {
    let mut is_called = vec![false; program.functions.len()];
    let mut open: Vec<FuncId> = program.entries.iter().map(|entry| entry.function).collect();
    let start = program.initialise.into_iter();
    open.extend(start.flat_map(|block| call_graph::collect_calls_and_kernels(program, block).0));
    while let Some(function) = open.pop() {
        if std::mem::replace(&mut is_called[function.index()], true) {
            continue;
        }
        if let Some(body) = program.function(function).body {
            open.extend(call_graph::collect_calls_and_kernels(program, body).0);
        }
    }
    let functions = program.function_ids();
    functions
        .filter(|function| is_called[function.index()])
        .collect()
}

fn find_entry(program: &KernelProgram, function: FuncId) -> Option<&EntryDecl> {
    let mut entries = program.entries.iter();
    entries.find(|entry| entry.function == function)
}

fn function_name(program: &KernelProgram, function: FuncId) -> &str {
    program.names.get(program.function(function).name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse_program, verify_program};

    /// Doubles an array of `n` numbers `steps` times, between two buffers that change places, and adds 1 on request.
    const DOUBLING: &str = r#"
function @main(%n: i64, %steps: i32, %wanted: bool, %xs: device) -> (%out: device, %size: i64) {
  var %bytes: i64
  %bytes = mul.i64(%n, 4i64)
  var %current: device
  %current = memory %xs
  for %step: i32 < %steps {
    var %next: device
    %next = alloc %bytes
    launch [sdiv_up.i64(%n, 64i64)] size [constant 64i64] uses (%current, %next) {
      var %group: i32
      %group = group_id 0
      var %x: f32
      %x = load f32 %current[sext.i32.i64(%group)]
      store f32 %next[sext.i32.i64(%group)], fadd.f32(%x, %x)
    }
    var %other: device
    %other = memory %next
    %current = memory %other
  }
  if %wanted {
    launch [%n] size [constant 1i64] uses (%current) {
      var %here: i32
      %here = group_id 0
      var %y: f32
      %y = load f32 %current[sext.i32.i64(%here)]
      store f32 %current[sext.i32.i64(%here)], fadd.f32(%y, 1.0f32)
    }
  }
  %out = memory %current
  %size = %n
}

entry "double" = @main {
  parameter "count": i64 %n
  parameter "steps": i32 %steps
  parameter "wanted": bool %wanted
  parameter "numbers": f32[%n] %xs
  result f32[%size] %out
}
"#;

    fn describe_text(text: &str) -> Vec<RowDrawing> {
        let program = parse_program(text).expect("the text is right");
        verify_program(&program).expect("the program is right");
        describe_dispatches(&program)
    }

    #[test]
    fn rows_boxes_and_edges_follow_the_program() {
        let [drawing] = &describe_text(DOUBLING)[..] else {
            panic!("there is one function");
        };
        assert_eq!(drawing.title, "entry point double");
        let rows = drawing.rows.iter().map(|row| {
            let lines = row.lines.join("; ");
            format!("{}: {lines}", row.title)
        });
        let expected = [
            "inputs: count: i64; steps: i32; wanted: bool; numbers: f32[count]",
            "kernel 0: groups ⌈count/64⌉; size 64",
            "kernel 1: groups count; size 1",
            "results: f32[count]",
        ];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
        let boxes = drawing.boxes.iter();
        let boxes = boxes.map(|one| (one.first, one.last, one.title.as_str(), one.is_loop));
        let expected = [(1, 1, "for step < steps", true), (2, 2, "if wanted", false)];
        assert_eq!(boxes.collect::<Vec<_>>(), expected);
        let edges = drawing.edges.iter();
        let edges = edges.map(|edge| (edge.from, edge.to, edge.label.as_str()));
        let expected = [
            (0, 1, "f32[count]"),
            (0, 2, "f32[count]"),
            (0, 3, "f32[count]"),
            // The buffer of an iteration is the input of the next one.
            (1, 1, "f32, count·4 bytes"),
            (1, 2, "f32, count·4 bytes"),
            (1, 3, "f32, count·4 bytes"),
            (2, 3, "f32[count]"),
            (2, 3, "f32, count·4 bytes"),
        ];
        assert_eq!(edges.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn long_formulas_have_names_and_an_end() {
        let mut text = String::from("function @main(%n: i64) -> (%m: device) {\n");
        let mut last = "%n".to_owned();
        for number in 0..60 {
            text += &format!("  var %s{number}: i64\n  %s{number} = mul.i64({last}, {last})\n");
            last = format!("%s{number}");
        }
        text += &format!(
            "  %m = alloc {last}\n  launch [{last}] size [constant 1i64] uses (%m) {{\n    \
             store i32 %m[0i64], 1i32\n  }}\n}}\n\
             entry \"main\" = @main {{\n  parameter \"n\": i64 %n\n  result i32[1i64] %m\n}}\n"
        );
        let drawings = describe_text(&text);
        let groups = &drawings[0].rows[1].lines[0];
        assert!(groups.chars().count() < 80, "{groups}");
        let label = &drawings[0].edges[0].label;
        assert!(
            label.starts_with("i32, ") && label.ends_with(" bytes"),
            "{label}"
        );
    }

    #[test]
    fn called_functions_have_drawings_of_their_own() {
        let text = "
function @fill(%m: device) -> () {
  launch [4i64] size [constant 1i64] uses (%m) {
    store i32 %m[0i64], 1i32
  }
}
function @main() -> (%out: device) {
  %out = alloc 16i64
  call @fill(memory %out)
}
entry \"main\" = @main {
  result i32[4i64] %out
}
";
        let drawings = describe_text(text);
        let titles: Vec<&str> = drawings.iter().map(|one| one.title.as_str()).collect();
        assert_eq!(titles, ["function fill", "entry point main"]);
        let edges = drawings[1].edges.iter();
        let edges = edges.map(|edge| (edge.from, edge.to, edge.label.as_str()));
        assert_eq!(edges.collect::<Vec<_>>(), [(1, 2, "16 bytes")]);
    }
}
