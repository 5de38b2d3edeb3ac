//! Pictures, films, plots and sounds of arrays.
//!
//! PNG, GIF, SVG and WAV are written without another program. Other formats need `ffmpeg`, `convert` or `gnuplot`.

mod external;
mod picture;
mod plot;
mod sound;
mod video;

pub use external::run_gnuplot;
pub use picture::{decode_picture, encode_frame, read_frame};
pub use plot::{PlotSeries, draw_plot};
pub use sound::{convert_to_wav, encode_sound, read_wav};
pub use video::{VideoOptions, encode_video};
