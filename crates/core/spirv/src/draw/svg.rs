//! Drawings of rows as SVG, without another program.
//!
//! Rows stand one below the other, in a box for each loop and selection. An edge to the next row is a short arrow. Other
//! edges run in lanes: forward ones on the right, back edges on the left.

use super::row_boxes::{BoxNest, RowBox};
use std::fmt::Write;

/// Width of a character and height of a line, in pixels.
const CHARACTER: f64 = 7.25;
const LINE: f64 = 16.0;
/// Space around the text of a block.
const PADDING: f64 = 8.0;
/// Space between rows.
const GAP: f64 = 22.0;
/// Space for the title of a box, and below its last row.
const BOX_HEAD: f64 = 22.0;
const BOX_FOOT: f64 = 10.0;
/// Distance of nested boxes, and of lanes.
const INDENT: f64 = 18.0;
const LANE: f64 = 12.0;
/// Distance of the edges that leave a block at one side, and width of a character of their labels.
const EXIT: f64 = 14.0;
const LABEL_CHARACTER: f64 = 6.7;
/// Space around a function.
const MARGIN: f64 = 24.0;
/// Height of a function's title.
const TITLE: f64 = 34.0;
/// Most characters of a line.
const MOST_CHARACTERS: usize = 110;
/// Most characters of the label of an edge.
const MOST_LABEL: usize = 40;
/// Most lanes on a side. Edges beyond share them.
const MOST_LANES: usize = 48;
/// Most edges whose lanes are chosen so that they do not overlap.
const MOST_CHOSEN: usize = 4000;

/// How a row looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowLook {
    /// A plain rectangle.
    #[default]
    Plain,
    /// A dotted one, for code that is not reached.
    Dotted,
    /// A round one, for the inputs and outputs of a function.
    Round,
}

/// A row of a drawing: a rectangle with text.
#[derive(Clone, Debug, Default)]
pub struct DrawnRow {
    /// Its first line.
    pub title: String,
    /// Lines in a fainter colour.
    pub notes: Vec<String>,
    /// Lines below the notes.
    pub lines: Vec<String>,
    /// How it looks.
    pub look: RowLook,
}

/// An edge of a drawing, between rows.
#[derive(Clone, Debug)]
pub struct RowEdge {
    /// Row that it leaves.
    pub from: usize,
    /// Row that it leads to.
    pub to: usize,
    /// Its label; may be empty.
    pub label: String,
}

/// A drawing of rows, one below the other.
#[derive(Clone, Debug, Default)]
pub struct RowDrawing {
    /// Its title.
    pub title: String,
    /// Its rows.
    pub rows: Vec<DrawnRow>,
    /// Boxes around rows. One that overlaps another in part is not drawn.
    pub boxes: Vec<RowBox>,
    /// Its edges. One whose row does not exist is not drawn.
    pub edges: Vec<RowEdge>,
}

/// Rules of the drawing, for light and dark surroundings.
const STYLE: &str = "\
svg{background:#fff;font:12px ui-monospace,Menlo,Consolas,monospace}\
text{fill:#1c2330}.f{font-size:16px;font-weight:600}.t{font-weight:600}.s{fill:#66707f}.l{font-size:11px}\
.b{fill:#f7f8fa;stroke:#8792a2}.u{stroke-dasharray:3 3;opacity:.6}\
.loop{fill:#2f6fde;fill-opacity:.07;stroke:#2f6fde;stroke-opacity:.55}.loop+text{fill:#2f6fde}\
.sel{fill:#c77700;fill-opacity:.06;stroke:#c77700;stroke-opacity:.5}.sel+text{fill:#a86400}\
path.e{fill:none;stroke:#566173;stroke-width:1.3}path.true{stroke:#1a8f4c}path.false{stroke:#c23b3b}\
path.back{stroke:#2f6fde}.a{fill:#566173}\
@media(prefers-color-scheme:dark){svg{background:#14171c}text{fill:#e4e8ee}.s{fill:#94a0b0}\
.b{fill:#1e232b;stroke:#5b6778}.loop+text{fill:#7ba9f5}.sel+text{fill:#e0a552}path.e{stroke:#9aa6b6}\
path.true{stroke:#4cc27f}path.false{stroke:#ea7575}path.back{stroke:#7ba9f5}.a{fill:#9aa6b6}}";

/// Draws drawings as SVG, one below the other.
pub fn draw_rows(drawings: &[RowDrawing]) -> String {
    let (mut body, mut width, mut top) = (String::new(), 2.0 * MARGIN, MARGIN);
    for drawing in drawings {
        let placed = DrawingLayout::place(drawing, top);
        placed.write_to(drawing, &mut body);
        width = f64::max(width, placed.right + MARGIN);
        top = placed.bottom + MARGIN;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{top:.0}\" \
         viewBox=\"0 0 {width:.0} {top:.0}\">\n<style>{STYLE}</style>\n\
         <defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path class=\"a\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n{body}</svg>\n"
    )
}

/// A rectangle.
#[derive(Clone, Copy, Debug, Default)]
struct PlacedRect {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl PlacedRect {
    fn right(&self) -> f64 {
        self.x + self.width
    }

    fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

/// Where the parts of a drawing stand.
struct DrawingLayout<'d> {
    /// The edges that are drawn.
    edges: Vec<&'d RowEdge>,
    nest: BoxNest<'d>,
    top: f64,
    blocks: Vec<PlacedRect>,
    boxes: Vec<PlacedRect>,
    /// Lane of each edge; none for an edge to the next row.
    lanes: Vec<Option<usize>>,
    /// Number of edges that leave the row of each edge below it, at its side; none for an edge without a lane.
    exits: Vec<Option<usize>>,
    /// Where the lanes begin on the left and on the right.
    lane_left: f64,
    lane_right: f64,
    right: f64,
    bottom: f64,
}

impl<'d> DrawingLayout<'d> {
    fn place(drawing: &'d RowDrawing, top: f64) -> DrawingLayout<'d> {
        let count = drawing.rows.len();
        let edges = drawing.edges.iter();
        let edges: Vec<&RowEdge> = edges
            .filter(|edge| edge.from.max(edge.to) < count)
            .collect();
        let nest = BoxNest::from_boxes(&drawing.boxes, count);
        let lanes = assign_lanes(&edges);
        let exits = assign_exits(&edges, &lanes);
        let lane_left = MARGIN + count_lanes(&edges, &lanes, true) as f64 * LANE;
        let first_x = lane_left + measure_back_labels(&edges);
        let (blocks, bottom) =
            place_rows(drawing, &nest, &count_exits(&edges, &exits), first_x, top);
        let boxes = enclose_boxes(&nest, &blocks);
        let all = blocks.iter().chain(&boxes).map(PlacedRect::right);
        let title = MARGIN + drawing.title.chars().count() as f64 * 10.0;
        let labels = edges
            .iter()
            .zip(&lanes)
            .filter(|(edge, lane)| lane.is_some() && edge.to > edge.from)
            .map(|(edge, _)| blocks[edge.from].right() + measure_label(edge));
        // The label of an edge to the next row stands beside its arrow.
        let short = edges
            .iter()
            .zip(&lanes)
            .filter(|(_, lane)| lane.is_none())
            .map(|(edge, _)| blocks[edge.from].x + INDENT + PADDING + measure_label(edge));
        let lane_right = all.chain(labels).chain(short).fold(title, f64::max) + LANE;
        let on_right = count_lanes(&edges, &lanes, false);
        DrawingLayout {
            edges,
            nest,
            top,
            blocks,
            boxes,
            lanes,
            exits,
            lane_left,
            lane_right,
            right: lane_right + (on_right + 1) as f64 * LANE,
            bottom,
        }
    }

    fn write_to(&self, drawing: &RowDrawing, out: &mut String) {
        let (x, y) = (MARGIN, self.top + 18.0);
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "<text class=\"f\" x=\"{x:.0}\" y=\"{y:.0}\">{}</text>",
            escape_text(&drawing.title)
        );
        for (one, rect) in self.nest.boxes.iter().zip(&self.boxes) {
            let class = if one.own.is_loop { "loop" } else { "sel" };
            write_rect(rect, class, 7, out);
            let name = escape_text(&shorten_text(&one.own.title, MOST_CHARACTERS));
            let (x, y) = (rect.x + PADDING, rect.y + 14.0);
            let _ = writeln!(
                out,
                "<text class=\"l\" x=\"{x:.1}\" y=\"{y:.1}\">{name}</text>"
            );
        }
        for (number, edge) in self.edges.iter().enumerate() {
            self.write_edge(edge, number, out);
        }
        for (row, rect) in drawing.rows.iter().zip(&self.blocks) {
            write_row(row, rect, out);
        }
    }

    fn write_edge(&self, edge: &RowEdge, number: usize, out: &mut String) {
        let (lane, exit) = (self.lanes[number], self.exits[number].unwrap_or(0));
        let (from, to) = (self.blocks[edge.from], self.blocks[edge.to]);
        let is_back = edge.to <= edge.from;
        let class = match edge.label.as_str() {
            _ if is_back => "back",
            "true" => "true",
            "false" => "false",
            _ => "",
        };
        let (path, x, y, anchor) = match lane {
            None => {
                let (x, y) = (from.x + INDENT, from.bottom());
                let (tx, ty) = (to.x + INDENT, to.y);
                let middle = (y + ty) / 2.0;
                let path = format!(
                    "M{x:.1} {y:.1}C{x:.1} {middle:.1} {tx:.1} {middle:.1} {tx:.1} {ty:.1}"
                );
                (path, x + 6.0, y + 13.0, "start")
            }
            Some(lane) => {
                let distance = lane as f64 * LANE;
                let (x, tx, side, anchor) = if is_back {
                    (from.x, to.x, self.lane_left - distance, "end")
                } else {
                    (
                        from.right(),
                        to.right(),
                        self.lane_right + distance,
                        "start",
                    )
                };
                let (y, ty) = (from.bottom() - 7.0 - exit as f64 * EXIT, to.y + 9.0);
                let path = format!("M{x:.1} {y:.1}H{side:.1}V{ty:.1}H{tx:.1}");
                let label = if is_back { x - 5.0 } else { x + 5.0 };
                (path, label, y - 3.0, anchor)
            }
        };
        let _ = writeln!(
            out,
            "<path class=\"e {class}\" marker-end=\"url(#a)\" d=\"{path}\"/>"
        );
        if !edge.label.is_empty() {
            let label = escape_text(&shorten_text(&edge.label, MOST_LABEL));
            let _ = writeln!(
                out,
                "<text class=\"l s\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{label}</text>"
            );
        }
    }
}

/// Places the rows from a point on. Returns also where they end.
fn place_rows(
    drawing: &RowDrawing,
    nest: &BoxNest<'_>,
    most_exits: &[usize],
    first_x: f64,
    top: f64,
) -> (Vec<PlacedRect>, f64) {
    let depths = nest.depths();
    let (begins, ends) = nest.count_ends();
    let (mut rects, mut y) = (Vec::new(), top + TITLE);
    for (at, row) in drawing.rows.iter().enumerate() {
        y += begins[at] as f64 * BOX_HEAD;
        let lines = std::iter::once(row.title.as_str())
            .chain(row.notes.iter().map(String::as_str))
            .chain(row.lines.iter().map(String::as_str));
        let characters = lines
            .clone()
            .map(|line| line.chars().count().min(MOST_CHARACTERS));
        let exits = most_exits.get(at).copied().unwrap_or(0);
        let rect = PlacedRect {
            x: first_x + INDENT * (depths[at] + 1) as f64,
            y,
            width: characters.max().unwrap_or(0) as f64 * CHARACTER + 2.0 * PADDING,
            height: f64::max(
                lines.count() as f64 * LINE + PADDING,
                exits as f64 * EXIT + PADDING,
            ),
        };
        rects.push(rect);
        y = rect.bottom() + ends[at] as f64 * BOX_FOOT + GAP;
    }
    (rects, y)
}

/// The number of lanes on a side.
fn count_lanes(edges: &[&RowEdge], lanes: &[Option<usize>], is_left: bool) -> usize {
    let side = edges.iter().zip(lanes);
    let side = side.filter(|(edge, _)| (edge.to <= edge.from) == is_left);
    let used = side.filter_map(|(_, lane)| lane.map(|lane| lane + 1));
    used.max().unwrap_or(0)
}

/// The most edges that leave each row at one side, up to the last row that any leaves.
fn count_exits(edges: &[&RowEdge], exits: &[Option<usize>]) -> Vec<usize> {
    let mut most = Vec::new();
    for (edge, exit) in edges.iter().zip(exits) {
        if let Some(exit) = exit {
            most.resize(most.len().max(edge.from + 1), 0);
            most[edge.from] = most[edge.from].max(exit + 1);
        }
    }
    most
}

/// The width of an edge's label.
fn measure_label(edge: &RowEdge) -> f64 {
    edge.label.chars().count().min(MOST_LABEL) as f64 * LABEL_CHARACTER
}

/// The room that labels of back edges need beside the rows, which have some at their left in any case.
fn measure_back_labels(edges: &[&RowEdge]) -> f64 {
    let back = edges.iter().filter(|edge| edge.to <= edge.from);
    let widest = back.map(|edge| measure_label(edge)).fold(0.0, f64::max);
    f64::max(widest - INDENT, 0.0)
}

/// The rectangle of each box around its rows and the boxes in it.
fn enclose_boxes(nest: &BoxNest<'_>, blocks: &[PlacedRect]) -> Vec<PlacedRect> {
    let boxes = &nest.boxes;
    // Boxes within each: the levels of them, those that begin at its first row, and those that end at its last one.
    let (mut levels, mut begins, mut ends) = (
        vec![0_usize; boxes.len()],
        vec![0_usize; boxes.len()],
        vec![0_usize; boxes.len()],
    );
    let (mut rights, mut ended) = (vec![0.0; boxes.len()], vec![0_usize; blocks.len()]);
    for (row, innermost) in nest.innermost_boxes().into_iter().enumerate() {
        if let Some(one) = innermost {
            rights[one] = f64::max(rights[one], blocks[row].right());
        }
    }
    for (at, one) in boxes.iter().enumerate().rev() {
        let next = boxes
            .get(at + 1)
            .filter(|next| next.own.first == one.own.first);
        begins[at] = next.map_or(0, |_| begins[at + 1] + 1);
        ends[at] = ended[one.own.last];
        ended[one.own.last] += 1;
        if let Some(parent) = one.parent {
            levels[parent] = levels[parent].max(levels[at] + 1);
            rights[parent] = f64::max(rights[parent], rights[at]);
        }
    }
    let rects = boxes.iter().enumerate().map(|(at, one)| {
        let (first, last) = (blocks[one.own.first], blocks[one.own.last]);
        let x = first.x - INDENT * (begins[at] as f64 + 0.7);
        let y = first.y - BOX_HEAD * (begins[at] + 1) as f64;
        PlacedRect {
            x,
            y,
            width: rights[at] + BOX_FOOT * (levels[at] + 1) as f64 - x,
            height: last.bottom() + BOX_FOOT * (ends[at] + 1) as f64 - y,
        }
    });
    rects.collect()
}

/// The lane of each edge that does not lead to the next row. Short edges are the inner ones.
fn assign_lanes(edges: &[&RowEdge]) -> Vec<Option<usize>> {
    let mut lanes = vec![None; edges.len()];
    let is_next = |edge: &RowEdge| edge.to == edge.from + 1;
    let mut long: Vec<usize> = (0..edges.len()).filter(|at| !is_next(edges[*at])).collect();
    long.sort_by_key(|at| edges[*at].from.abs_diff(edges[*at].to));
    let mut sides: [Vec<Vec<(usize, usize)>>; 2] = [Vec::new(), Vec::new()];
    for (number, at) in long.iter().enumerate() {
        let edge = edges[*at];
        let taken = &mut sides[usize::from(edge.to <= edge.from)];
        let rows = (edge.from.min(edge.to), edge.from.max(edge.to));
        let is_free = |lane: &Vec<(usize, usize)>| {
            lane.iter()
                .all(|other| other.1 < rows.0 || rows.1 < other.0)
        };
        let free = (number < MOST_CHOSEN)
            .then(|| taken.iter().position(is_free))
            .flatten();
        let other = if taken.len() < MOST_LANES {
            taken.len()
        } else {
            number % MOST_LANES
        };
        let lane = free.unwrap_or(other);
        if lane == taken.len() {
            taken.push(Vec::new());
        }
        taken[lane].push(rows);
        lanes[*at] = Some(lane);
    }
    lanes
}

/// For each edge, how many edges leave its block below it at the same side. Edges in inner lanes leave lower, so that they do not
/// cross those in outer ones.
fn assign_exits(edges: &[&RowEdge], lanes: &[Option<usize>]) -> Vec<Option<usize>> {
    let side = |at: usize| (edges[at].from, edges[at].to <= edges[at].from);
    let mut order: Vec<usize> = (0..edges.len()).filter(|at| lanes[*at].is_some()).collect();
    order.sort_by_key(|at| (side(*at), lanes[*at], edges[*at].to));
    let mut exits: Vec<Option<usize>> = lanes.iter().map(|lane| lane.map(|_| 0)).collect();
    for pair in order.windows(2) {
        if side(pair[0]) == side(pair[1]) {
            exits[pair[1]] = exits[pair[0]].map(|before| before + 1);
        }
    }
    exits
}

fn write_rect(rect: &PlacedRect, class: &str, radius: u32, out: &mut String) {
    let PlacedRect {
        x,
        y,
        width,
        height,
    } = rect;
    let _ = writeln!(
        out,
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{radius}\"/>"
    );
}

fn write_row(row: &DrawnRow, rect: &PlacedRect, out: &mut String) {
    let (class, radius) = match row.look {
        RowLook::Plain => ("b", 4),
        RowLook::Dotted => ("b u", 4),
        RowLook::Round => ("b o", 12),
    };
    write_rect(rect, class, radius, out);
    let lines = std::iter::once(("t", row.title.as_str()))
        .chain(row.notes.iter().map(|note| ("s", note.as_str())))
        .chain(row.lines.iter().map(|line| ("", line.as_str())));
    let mut y = rect.y + 15.0;
    for (class, line) in lines {
        let shown = shorten_text(line, MOST_CHARACTERS);
        let (x, text) = (rect.x + PADDING, escape_text(&shown));
        let _ = writeln!(
            out,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"
        );
        y += LINE;
    }
}

/// The text, or its beginning where it has more characters.
fn shorten_text(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// Escapes text of an element.
fn escape_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
