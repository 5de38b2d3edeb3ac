//! Plots of arrays: lines in a plane.

use plotters::prelude::*;
use std::error::Error;

/// A line of a plot.
pub struct PlotSeries {
    /// Its name in the legend.
    pub name: Option<String>,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

/// Draws lines as SVG, with width and height in pixels.
///
/// # Errors
/// There is no point.
pub fn draw_plot(series: &[PlotSeries], size: (u32, u32)) -> Result<String, String> {
    let points = || series.iter().flat_map(|line| &line.points);
    let is_finite = |(x, y): &&(f64, f64)| x.is_finite() && y.is_finite();
    if !points().any(|point| is_finite(&point)) {
        return Err("there is no point to plot".to_owned());
    }
    let finite = || points().filter(is_finite);
    let xs = find_range(finite().map(|point| point.0));
    let ys = find_range(finite().map(|point| point.1));
    draw_lines(series, size, xs, ys).map_err(|error| error.to_string())
}

/// The range of numbers, which is not empty.
fn find_range(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = numbers.fold((f64::MAX, f64::MIN), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    if low < high {
        (low, high)
    } else {
        (low - 1.0, high + 1.0)
    }
}

fn draw_lines(
    series: &[PlotSeries],
    size: (u32, u32),
    xs: (f64, f64),
    ys: (f64, f64),
) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .margin(10)
            .x_label_area_size(30)
            .y_label_area_size(50)
            .build_cartesian_2d(xs.0..xs.1, ys.0..ys.1)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .draw()?;
        for (index, line) in series.iter().enumerate() {
            let colour = Palette99::pick(index).to_rgba();
            let points = line.points.iter().copied();
            let points = points.filter(|(x, y)| x.is_finite() && y.is_finite());
            let drawn =
                chart.draw_series([PathElement::new(points.collect::<Vec<_>>(), colour)])?;
            if let Some(name) = &line.name {
                drawn
                    .label(name)
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour));
            }
        }
        if series.iter().any(|line| line.name.is_some()) {
            chart
                .configure_series_labels()
                .background_style(WHITE.mix(0.8))
                .border_style(BLACK)
                .draw()?;
        }
        area.present()?;
    }
    Ok(svg)
}
