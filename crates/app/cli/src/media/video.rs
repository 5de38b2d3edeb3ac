//! Films of pictures: GIF, or by `ffmpeg` another format.

use super::external::run_program;
use super::picture::PictureFrame;

/// Effort for the colours of a GIF: 1 is the most, 30 the least.
const GIF_SPEED: i32 = 10;

/// Form of a film.
pub struct VideoOptions<'o> {
    /// Pictures in a second.
    pub rate: u32,
    /// `gif`, or a format of `ffmpeg`.
    pub format: &'o str,
    /// Whether a GIF begins again at its end.
    pub repeats: bool,
}

/// Encodes a film.
///
/// # Errors
/// There is no picture, pictures are empty or differ in size, or `ffmpeg` is absent or fails.
pub fn encode_video(
    frames: &[PictureFrame],
    options: &VideoOptions<'_>,
) -> Result<Vec<u8>, String> {
    let first = frames.first().ok_or("the film has no pictures")?;
    let is_equal =
        |frame: &PictureFrame| (frame.width, frame.height) == (first.width, first.height);
    if !frames.iter().all(is_equal) {
        return Err("the pictures of the film differ in size".to_owned());
    }
    if first.pixels.is_empty() {
        return Err("the pictures of the film are empty".to_owned());
    }
    if options.rate == 0 {
        return Err("a film has at least one picture in a second".to_owned());
    }
    match options.format {
        "gif" => encode_gif(frames, first, options),
        "webm" | "mp4" => encode_by_ffmpeg(frames, first, options),
        other => Err(format!(
            "{other} is not a format of films: gif, webm or mp4"
        )),
    }
}

fn encode_gif(
    frames: &[PictureFrame],
    first: &PictureFrame,
    options: &VideoOptions<'_>,
) -> Result<Vec<u8>, String> {
    let side = |size: usize| u16::try_from(size).map_err(|_| "the film is too large".to_owned());
    let (width, height) = (side(first.width)?, side(first.height)?);
    let mut out = Vec::new();
    let encoder = gif::Encoder::new(&mut out, width, height, &[]);
    let mut encoder = encoder.map_err(|error| error.to_string())?;
    if options.repeats {
        let repeat = encoder.set_repeat(gif::Repeat::Infinite);
        repeat.map_err(|error| error.to_string())?;
    }
    for frame in frames {
        let mut frame = gif::Frame::from_rgb_speed(width, height, &frame.to_rgb(), GIF_SPEED);
        frame.delay = (100 / options.rate) as u16;
        encoder
            .write_frame(&frame)
            .map_err(|error| error.to_string())?;
    }
    drop(encoder);
    Ok(out)
}

fn encode_by_ffmpeg(
    frames: &[PictureFrame],
    first: &PictureFrame,
    options: &VideoOptions<'_>,
) -> Result<Vec<u8>, String> {
    let size = format!("{}x{}", first.width, first.height);
    let rate = options.rate.to_string();
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let target = folder.path().join(format!("video.{}", options.format));
    let target_text = target.to_string_lossy();
    let arguments = [
        "-y",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-s",
        &size,
        "-r",
        &rate,
        "-i",
        "-",
        "-pix_fmt",
        "yuv420p",
        &target_text,
    ];
    let samples: Vec<u8> = frames.iter().flat_map(PictureFrame::to_rgb).collect();
    run_program("ffmpeg", &arguments, &samples)?;
    std::fs::read(&target).map_err(|error| error.to_string())
}
