//! Sounds of arrays: WAV, or by `ffmpeg` another format.

use super::external::run_program;
use spirula_program::{ProgramValue, ScalarType};

/// Forms of samples: type, whether it is unsigned, and the format's number and bits of a sample in WAV. A file has
/// unsigned samples of 8 bits and signed ones of all other sizes.
const SAMPLE_FORMS: &[(ScalarType, bool, u16, u16)] = &[
    (ScalarType::I8, false, 1, 8),
    (ScalarType::I8, true, 1, 8),
    (ScalarType::I16, false, 1, 16),
    (ScalarType::I16, true, 1, 16),
    (ScalarType::I32, false, 1, 32),
    (ScalarType::I32, true, 1, 32),
    (ScalarType::F32, false, 3, 32),
    (ScalarType::F64, false, 3, 64),
];

/// Encodes a sound: an array of samples, or an array of channels.
///
/// # Errors
/// The value is no sound, or `ffmpeg` is absent or fails.
pub fn encode_sound(value: &ProgramValue, frequency: u32, codec: &str) -> Result<Vec<u8>, String> {
    let wav = encode_wav(value, frequency)?;
    if codec == "wav" {
        return Ok(wav);
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let target = folder.path().join(format!("sound.{codec}"));
    let target_text = target.to_string_lossy();
    run_program(
        "ffmpeg",
        &["-y", "-f", "wav", "-i", "-", &target_text],
        &wav,
    )?;
    std::fs::read(&target).map_err(|error| error.to_string())
}

fn encode_wav(value: &ProgramValue, frequency: u32) -> Result<Vec<u8>, String> {
    let (channels, length) = match value.shape.as_slice() {
        [length] => (1, *length),
        [channels, length] => (*channels, *length),
        _ => return Err("a sound has one dimension, or two: channels and samples".to_owned()),
    };
    let form = SAMPLE_FORMS
        .iter()
        .find(|form| (form.0, form.1) == (value.element, value.unsigned));
    let (_, unsigned, format, bits) =
        *form.ok_or_else(|| format!("{} is not a type of samples", value.type_name()))?;
    let count = u16::try_from(channels).map_err(|_| "there are too many channels".to_owned())?;
    let size = usize::from(bits / 8);
    let data = u32::try_from(value.bytes.len()).map_err(|_| "the sound is too long".to_owned())?;
    let mut out = Vec::with_capacity(value.bytes.len() + 44);
    out.extend_from_slice(b"RIFF");
    out.extend_from_slice(&data.saturating_add(36).to_le_bytes());
    out.extend_from_slice(b"WAVEfmt ");
    out.extend_from_slice(&16u32.to_le_bytes());
    out.extend_from_slice(&format.to_le_bytes());
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&frequency.to_le_bytes());
    let block = count.saturating_mul(bits / 8);
    out.extend_from_slice(&frequency.saturating_mul(u32::from(block)).to_le_bytes());
    out.extend_from_slice(&block.to_le_bytes());
    out.extend_from_slice(&bits.to_le_bytes());
    out.extend_from_slice(b"data");
    out.extend_from_slice(&data.to_le_bytes());
    // The sign of integers is the highest bit, and the file has the other kind.
    let is_flipped = format == 1 && unsigned == (bits > 8);
    for sample in 0..length as usize {
        for channel in 0..channels as usize {
            let start = (channel * length as usize + sample) * size;
            out.extend_from_slice(&value.bytes[start..start + size]);
            if let Some(last) = out.last_mut().filter(|_| is_flipped) {
                *last ^= 0x80;
            }
        }
    }
    Ok(out)
}

/// A sound as WAV. Other formats are converted by `ffmpeg`.
///
/// # Errors
/// `ffmpeg` is absent or fails.
pub fn convert_to_wav(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    if bytes.starts_with(b"RIFF") {
        return Ok(bytes);
    }
    let arguments = ["-i", "-", "-f", "wav", "-c:a", "pcm_f64le", "-"];
    run_program("ffmpeg", &arguments, &bytes)
}

/// Reads the channels of a WAV file, with samples between -1 and 1.
///
/// # Errors
/// The file is malformed, or has compressed samples.
pub fn read_wav(bytes: &[u8]) -> Result<Vec<Vec<f64>>, String> {
    let mut rest = bytes.get(12..).ok_or("the file is not a sound")?;
    let mut form = None;
    while rest.len() >= 8 {
        let length = read_number(rest, 4, 4) as usize;
        let body = &rest[8..];
        let body = &body[..length.min(body.len())];
        match &rest[..4] {
            b"fmt " if body.len() >= 16 => {
                let format = match read_number(body, 0, 2) {
                    // An extended header has the format in its first bytes.
                    0xfffe if body.len() >= 26 => read_number(body, 24, 2),
                    format => format,
                };
                form = Some((format, read_number(body, 2, 2), read_number(body, 14, 2)));
            }
            b"data" => {
                let (format, channels, bits) = form.ok_or("the sound has no format")?;
                return split_channels(body, format, channels as usize, bits);
            }
            _ => {}
        }
        let next = 8 + length + length % 2;
        rest = rest.get(next..).unwrap_or_default();
    }
    Err("the sound has no samples".to_owned())
}

/// A little-endian number at an offset.
fn read_number(bytes: &[u8], at: usize, count: usize) -> u64 {
    let number = bytes[at..at + count].iter().rev();
    number.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn split_channels(
    body: &[u8],
    format: u64,
    channels: usize,
    bits: u64,
) -> Result<Vec<Vec<f64>>, String> {
    let size = (bits / 8) as usize;
    if channels == 0 || !matches!((format, bits), (1, 8 | 16 | 24 | 32) | (3, 32 | 64)) {
        return Err(format!(
            "sounds of format {format} with {bits} bits are not read"
        ));
    }
    let decode = |sample: &[u8]| {
        let number = read_number(sample, 0, size);
        match (format, bits) {
            (3, 32) => f64::from(f32::from_bits(number as u32)),
            (3, _) => f64::from_bits(number),
            (_, 8) => (number as f64 - 128.0) / 128.0,
            _ => {
                let shift = 64 - bits;
                ((number << shift) as i64 >> shift) as f64 / (1u64 << (bits - 1)) as f64
            }
        }
    };
    let mut split = vec![Vec::new(); channels];
    for block in body.chunks_exact(size * channels) {
        for (channel, sample) in split.iter_mut().zip(block.chunks_exact(size)) {
            channel.push(decode(sample));
        }
    }
    Ok(split)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_sounds_are_read_back() {
        for (text, expected) in [
            (
                "[[0u8, 128u8, 255u8]]",
                vec![vec![-1.0, 0.0, 127.0 / 128.0]],
            ),
            ("[-128i8, 0i8]", vec![vec![-1.0, 0.0]]),
            (
                "[[0i16, -32768i16], [16384i16, 0i16]]",
                vec![vec![0.0, -1.0], vec![0.5, 0.0]],
            ),
            ("[32768u16, 0u16]", vec![vec![0.0, -1.0]]),
            ("[0.5f32, -0.25f32]", vec![vec![0.5, -0.25]]),
            ("[0.1f64]", vec![vec![0.1]]),
        ] {
            let value = ProgramValue::read_all(text.as_bytes())
                .expect("a value")
                .remove(0);
            let wav = encode_sound(&value, 44100, "wav").expect("a sound");
            assert_eq!(read_wav(&wav), Ok(expected), "{text}");
        }
        assert!(read_wav(b"RIFF").is_err());
    }
}
