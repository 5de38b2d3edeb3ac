//! Enumerations of the dialects: attributes that are one of several words.

use super::properties::{AttributeConstraint, AttributeValue};
use crate::mlir::{MlirAttr, MlirModule};

/// Words of enumerations that no operation reads as a value.
const UNREAD: &[(&str, &[&str])] =
    &[("result_accuracy_mode", &["DEFAULT", "HIGHEST", "TOLERANCE"])];

macro_rules! define_enumerations {
    ($(
        $(#[$doc:meta])*
        $mnemonic:literal => $name:ident { $($variant:ident = $word:literal,)* }
    )*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub(crate) enum $name { $($variant,)* }

            impl<'m> AttributeValue<'m> for $name {
                const CONSTRAINT: AttributeConstraint = AttributeConstraint::Dialect($mnemonic);

                fn decode(
                    module: &'m MlirModule,
                    _name: &'static str,
                    attr: MlirAttr,
                ) -> Option<Self> {
                    match module.as_keyword(attr)? {
                        $($word => Some($name::$variant),)*
                        _ => None,
                    }
                }
            }
        )*

        /// Words of enumerations, by the names of the attributes without dialect.
        const KEYWORDS: &[(&str, &[&str])] = &[$(($mnemonic, &[$($word),*])),*];
    };
}

define_enumerations! {
    /// Direction of a comparison.
    "comparison_direction" => ComparisonDirection {
        Equal = "EQ",
        NotEqual = "NE",
        GreaterEqual = "GE",
        Greater = "GT",
        LessEqual = "LE",
        Less = "LT",
    }
    /// Order that a comparison uses.
    "comparison_type" => ComparisonType {
        NoType = "NOTYPE",
        Float = "FLOAT",
        TotalOrder = "TOTALORDER",
        Signed = "SIGNED",
        Unsigned = "UNSIGNED",
    }
    /// Kind of a Fourier transform.
    "fft_type" => FftType {
        Fft = "FFT",
        Inverse = "IFFT",
        Real = "RFFT",
        InverseReal = "IRFFT",
    }
    /// Precision of an operand of a product.
    "precision" => PrecisionLevel {
        Default = "DEFAULT",
        High = "HIGH",
        Highest = "HIGHEST",
    }
    /// Algorithm of a generator of random numbers.
    "rng_algorithm" => RngAlgorithm {
        Default = "DEFAULT",
        ThreeFry = "THREE_FRY",
        Philox = "PHILOX",
    }
    /// Distribution of random numbers.
    "rng_distribution" => RngDistribution {
        Uniform = "UNIFORM",
        Normal = "NORMAL",
    }
    /// Form in which a matrix is read.
    "transpose" => TransposeKind {
        Invalid = "TRANSPOSE_INVALID",
        None = "NO_TRANSPOSE",
        Transpose = "TRANSPOSE",
        Adjoint = "ADJOINT",
    }
}

/// The words that an attribute (`precision`) may be; none for one that is no enumeration.
pub(crate) fn list_keywords(mnemonic: &str) -> &'static [&'static str] {
    let mut rows = KEYWORDS.iter().chain(UNREAD);
    rows.find(|(row, _)| *row == mnemonic)
        .map_or(&[], |(_, words)| words)
}
