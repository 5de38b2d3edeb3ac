//! Functions of scripts with a dollar that read and write files.

use super::value::{ScriptValue, bytes_of, wrap_in_tuple};
use super::{ScriptEnvironment, ScriptFault};
use crate::media::{convert_to_wav, decode_picture, read_wav};
use spirula_program::{CallValue, ProgramValue, ScalarType};
use std::fs;
use std::path::PathBuf;

/// The text of an argument.
fn text_of(made: Option<&ScriptValue>, role: &str) -> Result<String, ScriptFault> {
    let bytes = made.and_then(bytes_of);
    let bytes = bytes.ok_or_else(|| ScriptFault::failed(format!("{role} is expected")))?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

/// `$loadimg "file"`: a picture as an array of pixels, each `0xAARRGGBB`.
pub fn load_image<H: ScriptEnvironment<Fault = ScriptFault>>(
    host: &H,
    given: &[ScriptValue],
) -> Result<ScriptValue, ScriptFault> {
    let name = text_of(given.first(), "the name of a picture")?;
    let picture = decode_picture(&host.read_file(&name)?).map_err(ScriptFault::failed)?;
    let pixels = picture.pixels.iter().flat_map(|pixel| pixel.to_le_bytes());
    Ok(ScriptValue::Item(CallValue::Plain(ProgramValue {
        element: ScalarType::I32,
        unsigned: true,
        shape: vec![picture.height as u64, picture.width as u64],
        bytes: pixels.collect(),
    })))
}

/// `$loadaudio "file"`: sounds as an array of channels, each number between -1 and 1.
pub fn load_audio<H: ScriptEnvironment<Fault = ScriptFault>>(
    host: &H,
    given: &[ScriptValue],
) -> Result<ScriptValue, ScriptFault> {
    let name = text_of(given.first(), "the name of a sound")?;
    let bytes = host.read_file(&name)?;
    let wav = convert_to_wav(bytes).map_err(ScriptFault::failed)?;
    let channels = read_wav(&wav).map_err(ScriptFault::failed)?;
    let length = channels.first().map_or(0, Vec::len);
    let samples = channels
        .iter()
        .flatten()
        .flat_map(|sample| sample.to_le_bytes());
    Ok(ScriptValue::Item(CallValue::Plain(ProgramValue {
        element: ScalarType::F64,
        unsigned: false,
        shape: vec![channels.len() as u64, length as u64],
        bytes: samples.collect(),
    })))
}

/// `$restore "type" "file"`: values that `$store` wrote.
pub fn restore_values<H: ScriptEnvironment<Fault = ScriptFault>>(
    host: &H,
    given: &[ScriptValue],
) -> Result<ScriptValue, ScriptFault> {
    let wanted = text_of(given.first(), "a type")?;
    let name = text_of(given.get(1), "the name of a file")?;
    let values = ProgramValue::read_all(&host.read_file(&name)?).map_err(ScriptFault::failed)?;
    if let [value] = values.as_slice() {
        let found = "[]".repeat(value.shape.len()) + &value.type_name();
        if found != wanted {
            let text = format!("{name} has a value of type {found}, not {wanted}");
            return Err(ScriptFault::failed(text));
        }
    }
    let items = values
        .into_iter()
        .map(|value| ScriptValue::Item(CallValue::Plain(value)));
    Ok(wrap_in_tuple(items.collect()))
}

/// `$store "file" v`: writes a value in binary form.
pub fn store_value(
    locate: impl Fn(&str) -> PathBuf,
    given: &[ScriptValue],
) -> Result<ScriptValue, ScriptFault> {
    let path = locate(&text_of(given.first(), "the name of a file")?);
    let Some(ScriptValue::Item(CallValue::Plain(value))) = given.get(1) else {
        return Err(ScriptFault::failed("a scalar or an array is expected"));
    };
    fs::write(&path, value.to_binary()).map_err(|error| {
        ScriptFault::failed(format!("cannot write {}: {error}", path.display()))
    })?;
    Ok(ScriptValue::Tuple(Vec::new()))
}
