//! The grammar of arguments.
//!
//! ```text
//! ARG      = [PLACE ":"] VALUE
//! PLACE    = NAME | SET "," BINDING [ "[" INDEX "]" ]
//! VALUE    = SHAPE TYPE ["=" CONTENTS]      a buffer; zeros without contents
//!          | "@" FILE.npy                   a buffer as in the file
//!          | "@" FILE ["[" NAME "]"]        the same of a .npz or .safetensors file; all of its arrays without a name
//!          | TYPE "=" NUMBER                a scalar
//!          | NUMBER TYPE | "true" | "false" the same
//!          | "local=" (BYTES | SHAPE TYPE)  workgroup memory
//!          | "hex=" DIGITS                  the bytes of a value
//!          | IMAGE {"+" WORD} "=" SHAPE FORMAT ["=" CONTENTS]
//!          | "sampler" {"+" WORD}
//!          | "pipe=" SHAPE TYPE              as many packets as the first size, of what follows
//! IMAGE    = "image1d" | "image2d" | "image3d" | "cube" | "texels"
//! WORD     = "array" | "nearest" | "linear" | "clamp" | "border" | "repeat" | "mirror" | "unnormalized"
//! SHAPE    = { SIZE "x" }, one at least
//! CONTENTS = NUMBERS | "zeros" | "fill(" V ")" | "iota" ["(" START "," STEP ")"]
//!          | "random" ["(" [LOW "," HIGH] ["," "seed=" N] ")"] | "@" FILE
//! ```

use super::array_file::ArrayPath;
use super::contents::{ArrayContents, parse_contents};
use super::texels::{self, ImageSpec};
use spirula_runtime::data::{ElementNumber, ElementType, measure_shape};
use spirula_runtime::{PipeShape, SamplerState};
use std::str::FromStr;

/// An argument of a kernel, or a resource of a shader.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgSpec {
    /// Its parameter; by default the next one.
    pub place: Option<ArgTarget>,
    /// Its value.
    pub value: ValueSpec,
}

/// The parameter or descriptor of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgTarget {
    /// By its name.
    Name(String),
    /// A descriptor.
    Binding {
        /// Descriptor set.
        set: u32,
        /// Binding.
        binding: u32,
        /// Element of an array of descriptors.
        index: u32,
    },
}

/// Specification of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueSpec {
    /// A scalar.
    Scalar(ElementType, ElementNumber),
    /// An array of a type and shape.
    Array {
        /// Type of its elements.
        element: ElementType,
        /// Sizes of its dimensions.
        shape: Vec<usize>,
        /// Its contents.
        contents: ArrayContents,
    },
    /// An array of a file.
    File(ArrayPath),
    /// Bytes of workgroup memory.
    Local(u64),
    /// The bytes of a value.
    Bytes(Vec<u8>),
    /// An image.
    Image(Box<ImageSpec>),
    /// A sampler.
    Sampler(SamplerState),
    /// An empty pipe.
    Pipe(PipeShape),
    /// The address of a buffer with these contents.
    Address(Box<ValueSpec>),
}

impl FromStr for ArgSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (place, value) = match split_place(text) {
            Some((place, value)) => (Some(place?), value),
            None => (None, text),
        };
        let value = value.parse()?;
        Ok(ArgSpec { place, value })
    }
}

/// Splits off the place before a colon, which precedes contents and names of files.
fn split_place(text: &str) -> Option<(Result<ArgTarget, String>, &str)> {
    let end = text.find(['=', '@']).unwrap_or(text.len());
    let (place, _) = text[..end].split_once(':')?;
    Some((place.parse(), &text[place.len() + 1..]))
}

impl FromStr for ArgTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((set, rest)) = text.split_once(',') else {
            return if text.is_empty() {
                Err("the name before ':' is empty".to_owned())
            } else {
                Ok(ArgTarget::Name(text.to_owned()))
            };
        };
        let (binding, index) = match rest.strip_suffix(']').and_then(|r| r.split_once('[')) {
            Some((binding, index)) => (binding, index),
            None => (rest, "0"),
        };
        match (set.parse(), binding.parse(), index.parse()) {
            (Ok(set), Ok(binding), Ok(index)) => Ok(ArgTarget::Binding {
                set,
                binding,
                index,
            }),
            _ => Err(format!(
                "{text:?} is not a SET,BINDING or SET,BINDING[INDEX]"
            )),
        }
    }
}

impl FromStr for ValueSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix('@') {
            return Ok(ValueSpec::File(ArrayPath::parse(path)));
        }
        if let Some((element, number)) = parse_scalar_literal(text) {
            return Ok(ValueSpec::Scalar(element, number));
        }
        let (kind, contents) = match text.split_once('=') {
            Some((kind, contents)) => (kind, Some(contents)),
            None => (text, None),
        };
        match (kind, contents) {
            ("local", Some(size)) => parse_local_size(size).map(ValueSpec::Local),
            ("hex", Some(digits)) => parse_hex_bytes(digits).map(ValueSpec::Bytes),
            ("pipe", Some(packets)) => parse_pipe_shape(packets).map(ValueSpec::Pipe),
            ("address", Some(contents)) => parse_address_spec(contents),
            (kind, Some(rest)) if texels::is_image(kind) => {
                texels::parse_image_spec(kind, rest).map(|image| ValueSpec::Image(Box::new(image)))
            }
            (words, None) if words.split('+').next() == Some("sampler") => {
                texels::parse_sampler_state(words).map(ValueSpec::Sampler)
            }
            _ => {
                let (shape, element) = parse_array_type(kind)
                    .map_err(|error| find_literal_fault(text).unwrap_or(error))?;
                match (shape.is_empty(), contents) {
                    (true, Some(number)) => {
                        let number = element
                            .parse_number(number.trim())
                            .map_err(|e| e.to_string())?;
                        Ok(ValueSpec::Scalar(element, number))
                    }
                    (true, None) => Err(format!("{element} needs a value: {element}=1")),
                    (false, contents) => Ok(ValueSpec::Array {
                        element,
                        shape,
                        contents: parse_contents(element, contents.unwrap_or("zeros"))?,
                    }),
                }
            }
        }
    }
}

/// Parses a number with its type after it, such as `3i64` or `-0.5f32`, or a truth value. Shapes have an `x`, numbers here do not.
fn parse_scalar_literal(text: &str) -> Option<(ElementType, ElementNumber)> {
    if matches!(text, "true" | "false") {
        let number = ElementType::Bool.parse_number(text).ok()?;
        return Some((ElementType::Bool, number));
    }
    if text.contains(['x', '=']) {
        return None;
    }
    ElementType::iter_all().find_map(|element| {
        let digits = text.strip_suffix(element.name())?;
        let number = element.parse_number(digits).ok()?;
        Some((element, number))
    })
}

/// The reason why a text that begins as a number and ends with a type is no literal.
fn find_literal_fault(text: &str) -> Option<String> {
    let begins = text.strip_prefix('-').unwrap_or(text);
    if !begins.starts_with(|c: char| c.is_ascii_digit()) || text.contains(['x', '=']) {
        return None;
    }
    let elements = ElementType::iter_all().filter(|element| text.ends_with(element.name()));
    let element = elements.max_by_key(|element| element.name().len())?;
    let number = element.parse_number(text.strip_suffix(element.name())?);
    number.err().map(|error| error.to_string())
}

/// Parses a type such as `4x3xf32`, or `f32` alone.
fn parse_array_type(text: &str) -> Result<(Vec<usize>, ElementType), String> {
    let (sizes, name) = text
        .rsplit_once('x')
        .map_or((None, text), |(s, n)| (Some(s), n));
    let element = name.parse::<ElementType>().map_err(|e| e.to_string())?;
    let sizes = sizes.map_or(Ok(Vec::new()), |sizes| {
        let parse = |size: &str| {
            let parsed = size.parse::<usize>();
            parsed.map_err(|_| format!("{size:?} in {text:?} is not a size of a dimension"))
        };
        sizes.split('x').map(parse).collect()
    })?;
    Ok((sizes, element))
}

/// Parses a pipe such as `1000x4xf32`: a thousand packets of four floats.
fn parse_pipe_shape(text: &str) -> Result<PipeShape, String> {
    let (sizes, element) = parse_array_type(text)?;
    let packets = sizes.split_first().and_then(|(count, packet)| {
        let bytes = measure_shape(element, packet)?.1;
        Some(PipeShape {
            packet: u32::try_from(bytes).ok()?,
            capacity: u32::try_from(*count).ok()?,
        })
    });
    packets.ok_or_else(|| {
        format!("{text:?} does not state the number and type of packets: pipe=1000xf32")
    })
}

/// Parses the contents of a buffer that is passed by address, such as `16xf32=iota`.
fn parse_address_spec(text: &str) -> Result<ValueSpec, String> {
    let contents: ValueSpec = text.parse()?;
    match contents {
        ValueSpec::Array { .. } | ValueSpec::File(_) | ValueSpec::Bytes(_) => {
            Ok(ValueSpec::Address(Box::new(contents)))
        }
        _ => Err(format!(
            "{text:?} is not contents of a buffer: address=16xf32=iota"
        )),
    }
}

fn parse_local_size(text: &str) -> Result<u64, String> {
    if let Ok(bytes) = text.parse() {
        return Ok(bytes);
    }
    let (shape, element) = parse_array_type(text)?;
    let bytes = measure_shape(element, &shape).map(|(_, bytes)| bytes as u64);
    bytes.ok_or_else(|| format!("{text} is beyond memory"))
}

/// Parses bytes in hexadecimal digits.
pub fn parse_hex_bytes(digits: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u32> = digits
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '_')
        .map(|c| {
            c.to_digit(16)
                .ok_or_else(|| format!("{c:?} is not a hexadecimal digit"))
        })
        .collect::<Result<_, _>>()?;
    match digits.as_chunks() {
        (pairs, []) => Ok(pairs.iter().map(|[a, b]| (a << 4 | b) as u8).collect()),
        _ => Err("the number of hexadecimal digits is odd".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_runtime::data::BufferFill;

    fn parse_test_array(text: &str) -> (ElementType, Vec<usize>, ArrayContents) {
        match text.parse::<ArgSpec>().unwrap().value {
            ValueSpec::Array {
                element,
                shape,
                contents,
            } => (element, shape, contents),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn pipes() {
        let wanted = PipeShape {
            packet: 16,
            capacity: 1000,
        };
        let given = |text: &str| text.parse::<ArgSpec>().map(|arg| arg.value);
        assert_eq!(given("pipe=1000x4xf32"), Ok(ValueSpec::Pipe(wanted)));
        assert!(
            given("pipe=f32")
                .unwrap_err()
                .contains("the number and type of packets")
        );
        assert!(given("pipe=99999999999xf32").is_err());
    }

    #[test]
    fn arrays() {
        let (element, shape, contents) = parse_test_array("2x3xf32=[[1 2 3][4 5 6.5]]");
        assert_eq!((element, shape), (ElementType::F32, vec![2, 3]));
        let numbers = [1.0, 2.0, 3.0, 4.0, 5.0, 6.5].map(ElementNumber::Float);
        assert_eq!(contents, ArrayContents::Numbers(numbers.to_vec()));
        assert_eq!(
            parse_test_array("8xbf16").2,
            ArrayContents::Fill(BufferFill::Zeros)
        );
        assert_eq!(
            parse_test_array("8xu8=@a=b:c.bin").2,
            ArrayContents::File("a=b:c.bin".into())
        );
        let random = ArrayContents::Random {
            range: Some((ElementNumber::Int(-3), ElementNumber::Int(4))),
            seed: Some(7),
        };
        assert_eq!(parse_test_array("8xi32=random(-3, 4, seed=7)").2, random);
    }

    #[test]
    fn other_values() {
        let value = |text: &str| text.parse::<ArgSpec>().unwrap().value;
        assert_eq!(
            value("u8=0xff"),
            ValueSpec::Scalar(ElementType::U8, ElementNumber::Int(255))
        );
        for (literal, scalar) in [
            ("3i64", "i64=3"),
            ("-0.5f32", "f32=-0.5"),
            ("1e3f64", "f64=1000"),
            ("1bf16", "bf16=1"),
            ("n:-7i8", "n:i8=-7"),
            ("true", "bool=true"),
        ] {
            assert_eq!(value(literal), value(scalar), "{literal}");
        }
        assert!(matches!(value("0xbf16"), ValueSpec::Array { .. }));
        assert_eq!(value("local=256xf32"), ValueSpec::Local(1024));
        assert_eq!(value("local=100"), ValueSpec::Local(100));
        assert_eq!(value("hex=00 ff"), ValueSpec::Bytes(vec![0, 255]));
        assert_eq!(
            value("@c:x.npy"),
            ValueSpec::File(ArrayPath::parse("c:x.npy"))
        );
    }

    #[test]
    fn addresses() {
        let value = |text: &str| text.parse::<ArgSpec>().map(|arg| arg.value);
        let contents = value("16xf32=iota").unwrap();
        let wanted = ValueSpec::Address(Box::new(contents));
        assert_eq!(value("address=16xf32=iota"), Ok(wanted.clone()));
        assert_eq!(value("p:address=16xf32=iota"), Ok(wanted));
        assert!(value("address=@x.npy").is_ok() && value("address=hex=00ff").is_ok());
        for text in ["address", "address=", "address=f32=1", "address=local=4"] {
            assert!(value(text).is_err(), "{text}");
        }
    }

    #[test]
    fn places() {
        let place = |text: &str| text.parse::<ArgSpec>().unwrap().place;
        assert_eq!(place("x:4xf32"), Some(ArgTarget::Name("x".to_owned())));
        let binding = ArgTarget::Binding {
            set: 1,
            binding: 2,
            index: 3,
        };
        assert_eq!(place("1,2[3]:4xf32"), Some(binding));
        assert_eq!(place("4xf32=@a:b.npy"), None);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "f32",
            "f32=",
            "4xf33",
            "x4xf32",
            "4xf32=",
            "4xu8=256",
            "4xi32=1.5",
            "-1xf32",
            "hex=123",
            "hex=zz",
            "local=",
            "local=4xq",
            "1,:4xf32",
            ":4xf32",
            "4xf32=fill()",
            "4xf32=random(1)",
            "4xf32=random(0,1,seed=x)",
            "4xf32=iota(1)",
            "18446744073709551616xu8",
            "300u8",
            "1.5i32",
            "i32",
            "-f32",
        ] {
            assert!(text.parse::<ArgSpec>().is_err(), "{text}");
        }
        let fault = "300u8".parse::<ArgSpec>().unwrap_err();
        assert!(
            fault.contains("300") && !fault.contains("element type"),
            "{fault}"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "[-0-9a-fx,:=@()\\[\\]. ]{0,12}(f32|u8|local|hex|random|iota)?[-0-9x=(),:\\[\\] ]{0,12}") {
            if let Ok(ArgSpec { value: ValueSpec::Array { element, shape, contents }, .. }) = text.parse() {
                let count = measure_shape(element, &shape).map_or(0, |(count, _)| count.min(100));
                let _ = contents.to_buffer_fill(element, count, 1);
            }
        }
    }
}
