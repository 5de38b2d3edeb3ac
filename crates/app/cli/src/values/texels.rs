//! Images and samplers on the command line.

use super::contents::{ArrayContents, parse_contents};
use spirula_runtime::data::ElementType;
use spirula_runtime::{
    ImageDimensions, ImageShape, SamplerAddressing, SamplerFilter, SamplerState, TexelFormat,
};

/// Specification of an image.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageSpec {
    /// Kind and sizes of the image.
    pub shape: ImageShape,
    /// Sampler for a descriptor that takes both.
    pub sampler: SamplerState,
    /// Type of its components, as an array.
    pub element: ElementType,
    /// Sizes of that array: layers, depth, height, width and components, as far as there are several.
    pub sizes: Vec<usize>,
    /// Contents of the image.
    pub contents: ArrayContents,
}

/// Kinds of images: name, dimensions, and number of sizes.
const KINDS: &[(&str, ImageDimensions, usize)] = &[
    ("image1d", ImageDimensions::D1, 1),
    ("image2d", ImageDimensions::D2, 2),
    ("image3d", ImageDimensions::D3, 3),
    ("cube", ImageDimensions::Cube, 2),
    ("texels", ImageDimensions::Buffer, 1),
];

/// Whether a text begins with a kind of image.
pub fn is_image(kind: &str) -> bool {
    let name = kind.split('+').next();
    KINDS.iter().any(|k| name == Some(k.0))
}

/// Parses an image from `KIND{+WORD}` and the text after the `=`.
pub fn parse_image_spec(kind: &str, rest: &str) -> Result<ImageSpec, String> {
    let (sizes, contents) = rest.split_once('=').unwrap_or((rest, "zeros"));
    let (sizes, format) = sizes
        .rsplit_once('x')
        .ok_or_else(|| format!("{rest:?} has no sizes: give some such as 64x64xrgba8"))?;
    let format = parse_texel_format(format)?;
    let mut words = kind.split('+');
    let name = words.next().unwrap_or_default();
    let kind = KINDS.iter().find(|k| k.0 == name);
    let (_, dimensions, count) = *kind.ok_or_else(|| format!("{name:?} is not a kind of image"))?;
    let mut arrayed = false;
    let mut sampler = SamplerState::default();
    for word in words {
        match word {
            "array" => arrayed = true,
            word => apply_sampler_word(&mut sampler, word)?,
        }
    }
    let parse = |size: &str| {
        let parsed = size.parse::<u32>();
        parsed.map_err(|_| format!("{size:?} in {rest:?} is not a size of a dimension"))
    };
    let mut sizes: Vec<u32> = sizes.split('x').map(parse).collect::<Result<_, _>>()?;
    let has_layers = arrayed || dimensions == ImageDimensions::Cube;
    let wanted = count + usize::from(has_layers);
    if sizes.len() != wanted {
        let given = sizes.len();
        return Err(format!("{name} takes {wanted} sizes, {given} are given"));
    }
    let (element, components) = format.stored_elements();
    let element: ElementType = element.parse().map_err(|e| format!("{e}"))?;
    let mut array: Vec<usize> = sizes.iter().map(|n| *n as usize).collect();
    array.extend((components > 1).then_some(components as usize));
    let layers = if has_layers { sizes.remove(0) } else { 1 };
    sizes.reverse();
    sizes.resize(3, 1);
    let shape = ImageShape {
        arrayed,
        layers,
        ..ImageShape::new(dimensions, format, [sizes[0], sizes[1], sizes[2]])
    };
    shape.check_dimensions()?;
    Ok(ImageSpec {
        shape,
        sampler,
        element,
        sizes: array,
        contents: parse_contents(element, contents)?,
    })
}

/// Parses a sampler from `sampler{+WORD}`.
pub fn parse_sampler_state(words: &str) -> Result<SamplerState, String> {
    let mut sampler = SamplerState::default();
    for word in words.split('+').skip(1) {
        apply_sampler_word(&mut sampler, word)?;
    }
    Ok(sampler)
}

fn parse_texel_format(format: &str) -> Result<TexelFormat, String> {
    TexelFormat::from_name(format).ok_or_else(|| {
        let all: Vec<_> = TexelFormat::all_formats().map(TexelFormat::name).collect();
        format!(
            "{format:?} is not a format of images; there are: {}",
            all.join(", ")
        )
    })
}

/// Applies a word to a sampler.
fn apply_sampler_word(sampler: &mut SamplerState, word: &str) -> Result<(), String> {
    match word {
        "nearest" => {
            (sampler.magnify, sampler.minify) = (SamplerFilter::Nearest, SamplerFilter::Nearest)
        }
        "linear" => {
            (sampler.magnify, sampler.minify) = (SamplerFilter::Linear, SamplerFilter::Linear)
        }
        "clamp" => sampler.address = [SamplerAddressing::ClampToEdge; 3],
        "border" => sampler.address = [SamplerAddressing::Border; 3],
        "repeat" => sampler.address = [SamplerAddressing::Repeat; 3],
        "mirror" => sampler.address = [SamplerAddressing::Mirror; 3],
        "unnormalized" => sampler.normalized = false,
        _ => {
            return Err(format!(
                "{word:?} says nothing of images; there are: array, nearest, linear, clamp, border, \
                 repeat, mirror, unnormalized"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{ArgSpec, ValueSpec};

    fn parse_test_image(text: &str) -> ImageSpec {
        match text.parse::<ArgSpec>().unwrap().value {
            ValueSpec::Image(image) => *image,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn images() {
        let image = parse_test_image("0,1:image2d+linear+repeat=3x4xrgba8=iota");
        assert_eq!(image.shape.size, [4, 3, 1]);
        assert_eq!(
            (image.element, image.sizes),
            (ElementType::U8, vec![3, 4, 4])
        );
        assert_eq!(image.sampler.minify, SamplerFilter::Linear);
        assert_eq!(image.sampler.address, [SamplerAddressing::Repeat; 3]);
        let layers = parse_test_image("image1d+array=5x7xr32f=@a=b.npy").shape;
        assert_eq!((layers.layers, layers.size), (5, [7, 1, 1]));
        assert_eq!(parse_test_image("image3d=2x3x4xr16ui").sizes, [2, 3, 4]);
        assert_eq!(parse_test_image("cube=6x8x8xr8").shape.layers, 6);
    }

    #[test]
    fn samplers() {
        let value = "s:sampler+border+unnormalized".parse::<ArgSpec>().unwrap();
        let ValueSpec::Sampler(sampler) = value.value else {
            panic!("{value:?}");
        };
        assert_eq!(sampler.address, [SamplerAddressing::Border; 3]);
        assert!(!sampler.normalized);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "image2d",
            "image2d=",
            "image2d=4xrgba8",
            "image2d=4x4xrgba9",
            "image2d=4x0xr8",
            "image2d+array=4x4xr8",
            "image2d+round=4x4xr8",
            "image2d=4x4xr8=256",
            "cube=5x4x4xr8",
            "sampler+",
            "sampler=1",
            "image2d=99999999999x1xr8",
        ] {
            assert!(text.parse::<ArgSpec>().is_err(), "{text}");
        }
    }
}
