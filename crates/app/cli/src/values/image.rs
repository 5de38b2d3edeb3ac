//! Pictures of arrays, row 0 on top.
//!
//! - `HxW`: each number has a colour between those of the smallest and the largest. In the `rgba` map a `u32` is a
//!   pixel, red in its lowest byte.
//! - `HxWx3` and `HxWx4`: red, green, blue, and alpha. Integers range from 0 to 255, floats from 0 to 1.

use clap::ValueEnum;
use spirula_runtime::data::{
    ArrayStatistics, ElementArray, ElementClass, ElementNumber, ElementType,
};

/// Colour map of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColourMap {
    /// Grey for u8, rgba for u32, else viridis
    Auto,
    /// Black to white
    Grey,
    /// Dark blue over green to yellow
    Viridis,
    /// Black over violet to pale yellow
    Magma,
    /// Black over red to yellow
    Inferno,
    /// The rainbow
    Turbo,
    /// Each u32 is a pixel, red in its lowest byte
    Rgba,
}

/// Whether an array has the shape of a picture.
pub fn is_picture(array: &ElementArray) -> bool {
    array.element_count() > 0 && matches!(array.shape(), [_, _] | [_, _, 3 | 4])
}

/// Encodes an array as a PNG file.
///
/// # Errors
/// When the array has another shape, or is too large for a picture.
pub fn encode_png(array: &ElementArray, map: ColourMap) -> Result<Vec<u8>, String> {
    if !is_picture(array) {
        let shape = array.shape_text();
        return Err(format!(
            "{shape} is not a picture: its shape has to be HxW, HxWx3 or HxWx4"
        ));
    }
    let (height, width) = (array.shape()[0], array.shape()[1]);
    let (colour, pixels) = convert_to_pixels(array, map)?;
    let size =
        |n: usize| u32::try_from(n).map_err(|_| format!("a picture has no {n} pixels a side"));
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, size(width)?, size(height)?);
    encoder.set_color(colour);
    encoder.set_depth(png::BitDepth::Eight);
    encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&pixels))
        .map_err(|e| e.to_string())?;
    Ok(out)
}

fn convert_to_pixels(
    array: &ElementArray,
    map: ColourMap,
) -> Result<(png::ColorType, Vec<u8>), String> {
    match (array.shape(), map) {
        ([_, _, 3], _) => Ok((
            png::ColorType::Rgb,
            array.iter_numbers().map(quantise_channel).collect(),
        )),
        ([_, _, _], _) => Ok((
            png::ColorType::Rgba,
            array.iter_numbers().map(quantise_channel).collect(),
        )),
        (_, ColourMap::Rgba | ColourMap::Auto) if array.element() == ElementType::U32 => {
            Ok((png::ColorType::Rgba, array.bytes().to_vec()))
        }
        (_, ColourMap::Rgba) => Err(format!("the rgba map needs u32, not {}", array.element())),
        (_, ColourMap::Auto) if array.element() == ElementType::U8 => {
            Ok((png::ColorType::Grayscale, array.bytes().to_vec()))
        }
        (_, map) => Ok((png::ColorType::Rgb, map_to_colours(array, map))),
    }
}

/// A channel of a pixel.
fn quantise_channel(number: ElementNumber) -> u8 {
    match number {
        ElementNumber::Int(n) => n.clamp(0, 255) as u8,
        ElementNumber::Float(x) => (x * 255.0 + 0.5).clamp(0.0, 255.0) as u8,
    }
}

fn map_to_colours(array: &ElementArray, map: ColourMap) -> Vec<u8> {
    let gradient = match map {
        ColourMap::Magma => colorous::MAGMA,
        ColourMap::Inferno => colorous::INFERNO,
        ColourMap::Turbo => colorous::TURBO,
        _ => colorous::VIRIDIS,
    };
    let range = match (
        array.element().class(),
        ArrayStatistics::from_array(array).range,
    ) {
        (ElementClass::Bool, _) => (0.0, 1.0),
        (_, range) => range.map_or((0.0, 0.0), |(low, high)| (low.to_f64(), high.to_f64())),
    };
    let pixel = |number: ElementNumber| {
        // Halves keep the span of extreme doubles finite.
        let span = range.1 / 2.0 - range.0 / 2.0;
        let t = (number.to_f64() / 2.0 - range.0 / 2.0) / span;
        let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) };
        match map {
            ColourMap::Grey => [(t * 255.0 + 0.5) as u8; 3],
            _ => gradient.eval_continuous(t).as_array(),
        }
    };
    array.iter_numbers().flat_map(pixel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode_png(bytes: &[u8]) -> (png::ColorType, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut out = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut out).unwrap();
        out.truncate(info.buffer_size());
        (info.color_type, out)
    }

    #[test]
    fn pictures_of_each_kind() {
        let ramp = [0.0_f32, 1.0, 2.0, f32::NAN].map(f32::to_le_bytes).concat();
        let ramp = ElementArray::new(ElementType::F32, vec![2, 2], ramp).unwrap();
        let (colour, pixels) = decode_png(&encode_png(&ramp, ColourMap::Grey).unwrap());
        assert_eq!(
            (colour, pixels),
            (
                png::ColorType::Rgb,
                vec![0, 0, 0, 128, 128, 128, 255, 255, 255, 0, 0, 0]
            )
        );
        let words = ElementArray::new(ElementType::U32, vec![1, 1], vec![1, 2, 3, 4]).unwrap();
        assert_eq!(
            decode_png(&encode_png(&words, ColourMap::Auto).unwrap()),
            (png::ColorType::Rgba, vec![1, 2, 3, 4])
        );
        let bytes = ElementArray::new(ElementType::U8, vec![1, 1, 3], vec![1, 2, 3]).unwrap();
        assert_eq!(
            decode_png(&encode_png(&bytes, ColourMap::Auto).unwrap()),
            (png::ColorType::Rgb, vec![1, 2, 3])
        );
        assert!(encode_png(&words, ColourMap::Viridis).is_ok());
    }

    #[test]
    fn other_shapes_are_refused() {
        for shape in [vec![4], vec![1, 4, 1], vec![0, 4], vec![2, 2, 1, 1]] {
            let bytes = vec![0; shape.iter().product()];
            let array = ElementArray::new(ElementType::U8, shape, bytes).unwrap();
            assert!(encode_png(&array, ColourMap::Auto).is_err());
        }
    }
}
