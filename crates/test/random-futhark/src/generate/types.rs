//! Types of generated values.

use spirula_testing::ChoiceSequence;

/// Names of the sizes.
pub(super) const SIZES: [&str; 2] = ["n", "m"];

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RandomScalar {
    I32,
    I64,
    Bool,
    U8,
    I8,
    I16,
    U32,
    U64,
    F32,
    F64,
}

/// All scalar types, the simplest first.
const SCALARS: [RandomScalar; 10] = [
    RandomScalar::I32,
    RandomScalar::I64,
    RandomScalar::Bool,
    RandomScalar::U8,
    RandomScalar::I8,
    RandomScalar::I16,
    RandomScalar::U32,
    RandomScalar::U64,
    RandomScalar::F32,
    RandomScalar::F64,
];

impl RandomScalar {
    /// Its name in the source.
    pub(super) fn name(self) -> &'static str {
        match self {
            RandomScalar::I32 => "i32",
            RandomScalar::I64 => "i64",
            RandomScalar::Bool => "bool",
            RandomScalar::U8 => "u8",
            RandomScalar::I8 => "i8",
            RandomScalar::I16 => "i16",
            RandomScalar::U32 => "u32",
            RandomScalar::U64 => "u64",
            RandomScalar::F32 => "f32",
            RandomScalar::F64 => "f64",
        }
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self, RandomScalar::F32 | RandomScalar::F64)
    }

    pub(super) fn is_unsigned(self) -> bool {
        matches!(
            self,
            RandomScalar::U8 | RandomScalar::U32 | RandomScalar::U64
        )
    }

    pub(super) fn is_integer(self) -> bool {
        !self.is_float() && self != RandomScalar::Bool
    }

    /// Chooses a type.
    pub(super) fn choose(choices: &mut ChoiceSequence<'_>) -> Self {
        SCALARS[choices.choose_below(SCALARS.len())]
    }

    /// Chooses a type whose operators are associative.
    pub(super) fn choose_exact(choices: &mut ChoiceSequence<'_>) -> Self {
        SCALARS[choices.choose_below(SCALARS.len() - 2)]
    }
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RandomType {
    /// A scalar.
    Scalar(RandomScalar),
    /// An array of the size with this number.
    Array(usize, Box<RandomType>),
    /// A tuple.
    Tuple(Vec<RandomType>),
}

impl RandomType {
    /// An array.
    pub(super) fn array(size: usize, element: RandomType) -> Self {
        RandomType::Array(size, Box::new(element))
    }

    /// The type as it is written.
    pub(super) fn print(&self) -> String {
        match self {
            RandomType::Scalar(scalar) => scalar.name().to_owned(),
            RandomType::Array(size, element) => format!("[{}]{}", SIZES[*size], element.print()),
            RandomType::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().map(RandomType::print).collect();
                format!("({})", parts.join(", "))
            }
        }
    }

    /// The type with other sizes: `sizes` has the number for each size.
    pub(super) fn replace_sizes(&self, sizes: [usize; 2]) -> Self {
        match self {
            RandomType::Scalar(_) => self.clone(),
            RandomType::Array(size, element) => {
                RandomType::array(sizes[*size], element.replace_sizes(sizes))
            }
            RandomType::Tuple(parts) => {
                RandomType::Tuple(parts.iter().map(|part| part.replace_sizes(sizes)).collect())
            }
        }
    }

    /// Number of dimensions of nested arrays.
    pub(super) fn rank(&self) -> usize {
        match self {
            RandomType::Array(_, element) => 1 + element.rank(),
            _ => 0,
        }
    }

    /// Chooses a scalar or an array of scalars.
    pub(super) fn choose_plain(choices: &mut ChoiceSequence<'_>) -> Self {
        let scalar = RandomType::Scalar(RandomScalar::choose(choices));
        match choices.choose_below(4) {
            0 => scalar,
            1 | 2 => RandomType::array(choices.choose_below(2), scalar),
            _ => {
                let row = RandomType::array(choices.choose_below(2), scalar);
                RandomType::array(choices.choose_below(2), row)
            }
        }
    }

    /// Chooses any type of at most two dimensions.
    pub(super) fn choose(choices: &mut ChoiceSequence<'_>) -> Self {
        if choices.choose_below(5) < 4 {
            return RandomType::choose_plain(choices);
        }
        let parts = vec![
            RandomType::choose_plain(choices),
            RandomType::Scalar(RandomScalar::choose(choices)),
        ];
        RandomType::Tuple(parts)
    }
}
