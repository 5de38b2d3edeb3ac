//! Contents of buffers that manifests name, and comparisons of buffers.

use serde_json::Value;
use spirula_runtime::data::{BufferFill, ElementNumber, ElementType, RandomOrder};

/// Compares buffers element by element. Any NaN equals any other.
pub fn compare_elements(
    title: &str,
    element: ElementType,
    expected: &[u8],
    found: &[u8],
) -> Result<(), String> {
    let size = element.size();
    for (at, (a, b)) in expected.chunks(size).zip(found.chunks(size)).enumerate() {
        let is_nan = |bytes: &[u8]| {
            element.is_float()
                && bytes.len() == size
                && element.decode_number(bytes).to_f64().is_nan()
        };
        if a != b && !(is_nan(a) && is_nan(b)) {
            let show = |bytes: &[u8]| element.format_number(element.decode_number(bytes));
            return Err(format!(
                "{title}, element {at}: the CPU device has {}, the other one {}",
                show(a),
                show(b)
            ));
        }
    }
    Ok(())
}

/// A scalar such as `{"u32": 7}`.
pub fn read_scalar(value: &Value) -> Result<(ElementType, Vec<u8>), String> {
    let object = value.as_object().ok_or("no object")?;
    let (name, number) = object.iter().next().ok_or("no value")?;
    let element: ElementType = name
        .parse()
        .map_err(|_| format!("refused: {name} is no type"))?;
    let mut bytes = Vec::new();
    element.encode_number(read_number(element, number)?, &mut bytes);
    Ok((element, bytes))
}

pub fn read_number(element: ElementType, value: &Value) -> Result<ElementNumber, String> {
    if !element.is_float()
        && let Some(number) = value.as_i64()
    {
        return Ok(ElementNumber::Int(number.into()));
    }
    let text = value.as_str().map(str::parse);
    let number = value
        .as_f64()
        .or(text.and_then(Result::ok))
        .ok_or("no number")?;
    Ok(if element.is_float() {
        ElementNumber::Float(number)
    } else {
        ElementNumber::Int(number as i128)
    })
}

/// The contents that a manifest names. Random numbers are others than those of its expected results.
pub fn read_named_fill(
    element: ElementType,
    init: &Value,
    number: usize,
) -> Result<BufferFill, String> {
    let seed = number as u64 + 1;
    let reals = |low: f64| BufferFill::Reals {
        low,
        high: 1.0,
        seed,
        diagonal: None,
    };
    Ok(match (init, init.as_str()) {
        (_, Some("zero")) => BufferFill::Zeros,
        (_, Some("mod256")) => BufferFill::Integers {
            low: 0,
            high: 256,
            seed,
            order: RandomOrder::AsDrawn,
        },
        (_, Some("rand")) if element.is_float() => reals(-1.0),
        (_, Some("pos")) if element.is_float() => reals(0.1),
        (_, Some(_)) => BufferFill::Bits { seed },
        (Value::Array(list), _) => {
            let numbers = list.iter().map(|value| read_number(element, value));
            BufferFill::List(numbers.collect::<Result<_, _>>()?)
        }
        (Value::Object(object), _) => BufferFill::Ramp {
            start: read_number(element, &object["iota"][0])?,
            step: read_number(element, &object["iota"][1])?,
        },
        _ => return Err(format!("unknown contents {init}")),
    })
}

/// The contents that a rule with a seed describes.
pub fn read_seeded_fill(element: ElementType, init: &Value) -> Result<BufferFill, String> {
    if init == "zero" {
        return Ok(BufferFill::Zeros);
    }
    let unknown = || format!("unknown contents {init}");
    let object = init.as_object().ok_or_else(unknown)?;
    let seed = object.get("seed").and_then(Value::as_u64).unwrap_or(0);
    let mut rules = object.iter();
    let rule = rules.find(|(key, _)| !["seed", "diag"].contains(&key.as_str()));
    let (name, value) = rule.ok_or_else(unknown)?;
    let number = |at: usize| value[at].as_f64().unwrap_or(0.0);
    let integers = |order| BufferFill::Integers {
        low: value[0].as_i64().unwrap_or(0),
        high: value[1].as_i64().unwrap_or(1),
        seed,
        order,
    };
    Ok(match name.as_str() {
        "fill" => BufferFill::Value(read_number(element, value)?),
        "iota" => BufferFill::Ramp {
            start: read_number(element, &value[0])?,
            step: read_number(element, &value[1])?,
        },
        "values" => {
            let numbers = value.as_array().into_iter().flatten();
            let numbers = numbers.map(|number| read_number(element, number));
            BufferFill::List(numbers.collect::<Result<_, _>>()?)
        }
        "text" => BufferFill::Repeat(value.as_str().unwrap_or_default().into()),
        "hex" => BufferFill::Bytes(read_hex(value.as_str().unwrap_or_default())),
        "bits" => BufferFill::Bits { seed },
        "randi" => integers(RandomOrder::AsDrawn),
        "sorted" => integers(RandomOrder::Sorted),
        "cumsum" => integers(RandomOrder::Summed),
        "rand" => BufferFill::Reals {
            low: number(0),
            high: number(1),
            seed,
            diagonal: object.get("diag").map(|diagonal| {
                let rows = diagonal[0].as_u64().unwrap_or(1);
                (rows, diagonal[1].as_f64().unwrap_or(0.0))
            }),
        },
        _ => return Err(unknown()),
    })
}

/// Bytes of hexadecimal digits.
pub fn read_hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits
        .chars()
        .filter_map(|c| c.to_digit(16).map(|digit| digit as u8))
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
        .collect()
}
