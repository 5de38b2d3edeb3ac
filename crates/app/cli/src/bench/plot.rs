//! Plots of measurements.

use super::{BenchRecord, MeanEstimate};
use plotters::coord::ranged1d::SegmentValue;
use plotters::prelude::*;
use std::error::Error;

/// Width of the picture, and height beside the bars, in pixels.
const WIDTH: u32 = 1000;
const MARGIN: u32 = 70;
/// Height of a bar with its gap, and width of the names beside them, in pixels.
const ROW: u32 = 18;
const NAMES: u32 = 380;

/// Bars of mean times with their confidence intervals, in a logarithmic scale, as SVG.
///
/// # Errors
/// When there is nothing to draw.
pub fn plot_record(record: &BenchRecord) -> Result<String, String> {
    let rows: Vec<(String, MeanEstimate)> = record
        .iter()
        .map(|(program, dataset, times)| {
            (
                format!("{program} {dataset}"),
                MeanEstimate::from_times(times),
            )
        })
        .collect();
    if rows.is_empty() {
        return Err("there are no measurements to draw".to_owned());
    }
    draw_bars(&rows).map_err(|error| error.to_string())
}

fn draw_bars(rows: &[(String, MeanEstimate)]) -> Result<String, Box<dyn Error>> {
    let low = rows.iter().map(|(_, s)| s.mean).fold(f64::MAX, f64::min);
    let high = rows
        .iter()
        .map(|(_, s)| s.mean + s.margin)
        .fold(0.0, f64::max);
    // The scale begins and ends at powers of ten, so that all bars have a length.
    let low = 10f64.powf(low.max(1e-3).log10().floor());
    let high = 10f64.powf(high.max(low * 10.0).log10().ceil());
    let mut svg = String::new();
    {
        let height = MARGIN + ROW * rows.len() as u32;
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .margin(10)
            .x_label_area_size(40)
            .y_label_area_size(NAMES)
            .build_cartesian_2d((low..high).log_scale(), (0..rows.len()).into_segmented())?;
        let name = |at: &SegmentValue<usize>| match at {
            SegmentValue::CenterOf(at) => rows.get(*at).map_or("", |row| &row.0).to_owned(),
            _ => String::new(),
        };
        chart
            .configure_mesh()
            .disable_y_mesh()
            .y_labels(rows.len())
            .y_label_formatter(&name)
            .x_desc("µs")
            .draw()?;
        chart.draw_series(rows.iter().enumerate().map(|(at, (_, summary))| {
            let ends = (SegmentValue::Exact(at), SegmentValue::Exact(at + 1));
            let corners = [(low, ends.0), (summary.mean, ends.1)];
            let mut bar = Rectangle::new(corners, BLUE.mix(0.4).filled());
            bar.set_margin(3, 3, 0, 0);
            bar
        }))?;
        chart.draw_series(rows.iter().enumerate().map(|(at, (_, summary))| {
            let from = (summary.mean - summary.margin).max(low);
            let to = summary.mean + summary.margin;
            let middle = SegmentValue::CenterOf(at);
            PathElement::new([(from, middle.clone()), (to, middle)], BLACK)
        }))?;
        area.present()?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_names_what_was_measured() {
        let mut record = BenchRecord::default();
        assert!(plot_record(&record).is_err());
        record.add_measurements("a.fut", "#0", vec![1.0, 3.0]);
        record.add_measurements("b.fut", "#<1>", vec![4000.0]);
        let svg = plot_record(&record).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("a.fut #0"), "{svg}");
        assert!(svg.contains("b.fut #&lt;1&gt;"), "{svg}");
    }
}
