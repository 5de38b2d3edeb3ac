//! Pictures of arrays by the conventions of Futhark's literate programs (manual page `futhark-literate`).

use super::external::run_program;
use spirula_program::{ProgramValue, ScalarType};

/// First bytes of a PNG file.
const PNG_MARK: &[u8] = b"\x89PNG";

/// A picture with a pixel `0xAARRGGBB` for each place, row by row.
pub struct PictureFrame {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// The pixels.
    pub pixels: Vec<u32>,
}

impl PictureFrame {
    /// Red, green and blue of all pixels.
    pub fn to_rgb(&self) -> Vec<u8> {
        let channels = |pixel: &u32| pixel.to_be_bytes().into_iter().skip(1);
        self.pixels.iter().flat_map(channels).collect()
    }
}

/// Reads a picture of a value: an array of two dimensions. 32-bit integers are pixels `0xAARRGGBB`, bytes and truth values
/// are grey, and floats are grey from 0 to 1. With an index it is that picture of an array of three dimensions.
///
/// # Errors
/// The value is no picture.
pub fn read_frame(value: &ProgramValue, index: Option<usize>) -> Result<PictureFrame, String> {
    let (first, shape) = match (index, value.shape.as_slice()) {
        (None, shape @ [_, _]) => (0, shape),
        (Some(index), [_, shape @ ..]) if shape.len() == 2 => (index, shape),
        _ => {
            let (rank, element) = (value.shape.len(), value.type_name());
            let text = format!("{}{element} is not a picture", "[]".repeat(rank));
            return Err(text);
        }
    };
    let side = |size: u64| usize::try_from(size).map_err(|_| "the picture is too large".to_owned());
    let (height, width) = (side(shape[0])?, side(shape[1])?);
    let convert = choose_conversion(value)?;
    let pixels = value
        .elements()
        .skip(first * height * width)
        .take(height * width);
    Ok(PictureFrame {
        width,
        height,
        pixels: pixels.map(convert).collect(),
    })
}

/// A function from the bits of an element to a pixel.
type PixelConversion = fn(u64) -> u32;

fn choose_conversion(value: &ProgramValue) -> Result<PixelConversion, String> {
    let conversion: PixelConversion = match (value.element, value.unsigned) {
        (ScalarType::I32, _) => |bits| bits as u32,
        (ScalarType::I8, true) => |bits| make_grey(bits as u8),
        (ScalarType::Bool, _) => |bits| make_grey(if bits == 0 { 0 } else { 255 }),
        (ScalarType::F32, _) => |bits| make_float_grey(f64::from(f32::from_bits(bits as u32))),
        (ScalarType::F64, _) => |bits| make_float_grey(f64::from_bits(bits)),
        _ => return Err(format!("{} is not a type of pixels", value.type_name())),
    };
    Ok(conversion)
}

fn make_grey(level: u8) -> u32 {
    u32::from_be_bytes([255, level, level, level])
}

fn make_float_grey(level: f64) -> u32 {
    make_grey((level * 255.0).round() as u8)
}

/// Endings of pictures that `convert` writes. All others are PNG.
const CONVERTED: &[&str] = &["bmp", "gif", "jpeg", "jpg", "ppm", "tiff", "webp"];

/// Encodes a picture: PNG, or by `convert` the format of another known ending.
///
/// # Errors
/// The picture is empty or too large, or `convert` is absent or fails.
pub fn encode_frame(frame: &PictureFrame, ending: &str) -> Result<Vec<u8>, String> {
    let png = encode_png(frame)?;
    if CONVERTED.contains(&ending) {
        run_program("convert", &["png:-", &format!("{ending}:-")], &png)
    } else {
        Ok(png)
    }
}

fn encode_png(frame: &PictureFrame) -> Result<Vec<u8>, String> {
    let side = |size: usize| u32::try_from(size).map_err(|_| "the picture is too large".to_owned());
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, side(frame.width)?, side(frame.height)?);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&frame.to_rgb()))
        .map_err(|error| error.to_string())?;
    Ok(out)
}

/// Decodes a picture: PNG, or by `convert` another format.
///
/// # Errors
/// The file is malformed, or `convert` is absent or fails.
pub fn decode_picture(bytes: &[u8]) -> Result<PictureFrame, String> {
    if bytes.starts_with(PNG_MARK) {
        return decode_png(bytes);
    }
    decode_png(&run_program("convert", &["-", "png:-"], bytes)?)
}

fn decode_png(bytes: &[u8]) -> Result<PictureFrame, String> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(
        png::Transformations::normalize_to_color8() | png::Transformations::ALPHA,
    );
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let size = reader
        .output_buffer_size()
        .ok_or("the picture is too large")?;
    let mut samples = vec![0; size];
    let info = reader
        .next_frame(&mut samples)
        .map_err(|error| error.to_string())?;
    let samples = &samples[..info.buffer_size()];
    let pixels = match info.color_type {
        png::ColorType::GrayscaleAlpha => {
            let pixels = samples.chunks_exact(2);
            pixels
                .map(|p| u32::from_be_bytes([p[1], p[0], p[0], p[0]]))
                .collect()
        }
        png::ColorType::Rgba => {
            let pixels = samples.chunks_exact(4);
            pixels
                .map(|p| u32::from_be_bytes([p[3], p[0], p[1], p[2]]))
                .collect()
        }
        _ => return Err("the picture has an unknown form of pixels".to_owned()),
    };
    Ok(PictureFrame {
        width: info.width as usize,
        height: info.height as usize,
        pixels,
    })
}
