//! Results of directives, as Markdown and files.

use super::directive::{DirectiveKind, LiterateDirective};
use crate::media::{
    PlotSeries, VideoOptions, draw_plot, encode_frame, encode_sound, encode_video, read_frame,
    run_gnuplot,
};
use crate::script::{
    ScriptEnvironment, ScriptFault, ScriptValue, apply_function, evaluate_expression,
};
use crate::values;
use spirula_program::{CallValue, ProgramValue, ScalarType};

/// Pictures in a second of a film, unless a parameter states them.
const DEFAULT_RATE: u32 = 30;
/// Samples in a second of a sound, unless a parameter states them.
const DEFAULT_FREQUENCY: u32 = 44100;
/// Width and height of a plot in pixels, unless a parameter states them.
const DEFAULT_SIZE: (u32, u32) = (500, 500);
/// Most pictures of a film.
const MOST_FRAMES: i64 = 100_000;

/// The result of a directive.
pub enum DirectiveOutput {
    /// Text in a block of code.
    Text(String),
    /// A file that is shown.
    File(OutputFile),
}

/// A file of a result.
pub struct OutputFile {
    /// The name that the directive states.
    pub stated_name: Option<String>,
    /// The end of the name if none is stated: `img.png`.
    pub default_name: String,
    /// Attributes of a film, such as `{loop="true"}`.
    pub attributes: String,
    /// Its contents.
    pub contents: Vec<u8>,
}

/// Runs a directive.
///
/// # Errors
/// The expression fails, or its value cannot be shown like that.
pub fn run_directive<H: ScriptEnvironment<Fault = ScriptFault>>(
    directive: &LiterateDirective,
    host: &mut H,
) -> Result<DirectiveOutput, String> {
    let value = evaluate_expression(&directive.expression, host);
    let value = value.map_err(|fault| fault.to_string())?;
    let (default_name, contents) = match directive.kind {
        DirectiveKind::Text => return show_text(&value),
        DirectiveKind::Picture => {
            let name = directive.find_parameter("file").unwrap_or("img.png");
            let ending = name.rsplit_once('.').map_or("png", |(_, ending)| ending);
            let contents = encode_frame(&read_frame(require_plain(&value)?, None)?, ending)?;
            ("img.png".to_owned(), contents)
        }
        DirectiveKind::Video => {
            let format = directive.find_parameter("format").unwrap_or("webm");
            (
                format!("video.{format}"),
                make_video(directive, format, &value, host)?,
            )
        }
        DirectiveKind::Plot => {
            let size = directive.find_pair("size", DEFAULT_SIZE)?;
            let plot = draw_plot(&read_series(&value)?, size)?;
            ("plot.svg".to_owned(), plot.into_bytes())
        }
        DirectiveKind::Gnuplot => ("plot.png".to_owned(), make_gnuplot(directive, &value)?),
        DirectiveKind::Sound => {
            let codec = directive.find_parameter("codec").unwrap_or("wav");
            let frequency = directive.find_number("sampling_frequency", DEFAULT_FREQUENCY)?;
            let sound = encode_sound(require_plain(&value)?, frequency, codec)?;
            (format!("output.{codec}"), sound)
        }
    };
    Ok(DirectiveOutput::File(OutputFile {
        stated_name: directive.find_parameter("file").map(str::to_owned),
        default_name,
        attributes: write_attributes(directive),
        contents,
    }))
}

fn show_text(value: &ScriptValue) -> Result<DirectiveOutput, String> {
    if value.has_function() {
        return Err(format!("{value} cannot be shown: it is a function"));
    }
    Ok(DirectiveOutput::Text(value.to_string()))
}

/// Attributes of a film that readers of Markdown may follow.
fn write_attributes(directive: &LiterateDirective) -> String {
    let names = ["loop", "autoplay"].into_iter();
    let set = names.filter_map(|name| {
        let text = directive.find_parameter(name)?;
        Some(format!("{name}=\"{text}\""))
    });
    let set: Vec<String> = set.collect();
    if set.is_empty() {
        String::new()
    } else {
        format!("{{{}}}", set.join(" "))
    }
}

/// A scalar or an array.
fn require_plain(value: &ScriptValue) -> Result<&ProgramValue, String> {
    match value {
        ScriptValue::Item(CallValue::Plain(value)) => Ok(value),
        other => Err(format!("an array is needed, and the value is {other}")),
    }
}

/// A film: an array of pictures, or a function from a state to a picture and the next state. The function comes with
/// the first state and the number of pictures.
fn make_video<H: ScriptEnvironment<Fault = ScriptFault>>(
    directive: &LiterateDirective,
    format: &str,
    value: &ScriptValue,
    host: &mut H,
) -> Result<Vec<u8>, String> {
    let mut frames = Vec::new();
    match value {
        ScriptValue::Tuple(parts) if parts.len() == 3 => {
            let mut state = parts[1].clone();
            for _ in 0..read_frame_count(&parts[2])? {
                let next = apply_function(&parts[0], vec![state], host);
                let next = next.map_err(|fault| fault.to_string())?;
                let ScriptValue::Tuple(mut pair) = next else {
                    return Err(format!(
                        "the function gives {next}, and not a picture and a state"
                    ));
                };
                if pair.len() < 2 {
                    return Err("the function gives no picture and state".to_owned());
                }
                let rest = pair.split_off(1);
                frames.push(read_frame(require_plain(&pair[0])?, None)?);
                state = match <[ScriptValue; 1]>::try_from(rest) {
                    Ok([state]) => state,
                    Err(rest) => ScriptValue::Tuple(rest),
                };
            }
        }
        value => {
            let pictures = require_plain(value)?;
            for index in 0..pictures.shape.first().copied().unwrap_or(0) {
                frames.push(read_frame(pictures, Some(index as usize))?);
            }
        }
    }
    let options = VideoOptions {
        rate: directive.find_number("fps", DEFAULT_RATE)?,
        format,
        repeats: directive.find_parameter("repeat") != Some("false"),
    };
    encode_video(&frames, &options)
}

fn read_frame_count(value: &ScriptValue) -> Result<i64, String> {
    let count = require_plain(value)?;
    if count.element != ScalarType::I64 || !count.shape.is_empty() {
        return Err("the number of pictures has to be an i64".to_owned());
    }
    let count = count.elements().next().unwrap_or(0) as i64;
    if count > MOST_FRAMES {
        return Err(format!("a film has at most {MOST_FRAMES} pictures"));
    }
    Ok(count)
}

/// The lines of a plot: a pair of arrays, or a record of pairs.
fn read_series(value: &ScriptValue) -> Result<Vec<PlotSeries>, String> {
    let read_line = |name: Option<&String>, value: &ScriptValue| {
        let columns = read_columns(value)?;
        let [xs, ys] = columns.as_slice() else {
            return Err("a line of a plot is a pair of arrays".to_owned());
        };
        Ok(PlotSeries {
            name: name.cloned(),
            points: xs.iter().copied().zip(ys.iter().copied()).collect(),
        })
    };
    match value {
        ScriptValue::Record(fields) => {
            let lines = fields
                .iter()
                .map(|(name, value)| read_line(Some(name), value));
            lines.collect()
        }
        value => Ok(vec![read_line(None, value)?]),
    }
}

/// The numbers of a tuple of arrays of equal length.
fn read_columns(value: &ScriptValue) -> Result<Vec<Vec<f64>>, String> {
    let ScriptValue::Tuple(parts) = value else {
        return Err(format!(
            "a tuple of arrays is needed, and the value is {value}"
        ));
    };
    let columns = parts.iter().map(|part| {
        let array = require_plain(part)?;
        if array.shape.len() != 1 {
            return Err("arrays of one dimension are needed".to_owned());
        }
        let array = values::program::to_array(array).map_err(|error| error.to_string())?;
        Ok(array.iter_numbers().map(|number| number.to_f64()).collect())
    });
    let columns: Vec<Vec<f64>> = columns.collect::<Result<_, String>>()?;
    if columns
        .windows(2)
        .any(|pair| pair[0].len() != pair[1].len())
    {
        return Err("the arrays differ in length".to_owned());
    }
    Ok(columns)
}

fn make_gnuplot(directive: &LiterateDirective, value: &ScriptValue) -> Result<Vec<u8>, String> {
    let ScriptValue::Record(fields) = value else {
        return Err(format!(
            "a record of tuples of arrays is needed, and the value is {value}"
        ));
    };
    let series = fields
        .iter()
        .map(|(name, value)| Ok((name.clone(), read_columns(value)?)));
    let series: Vec<_> = series.collect::<Result<_, String>>()?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let target = folder.path().join("plot.png");
    run_gnuplot(&directive.parameter_lines(), &series, &target)?;
    std::fs::read(&target).map_err(|error| error.to_string())
}
