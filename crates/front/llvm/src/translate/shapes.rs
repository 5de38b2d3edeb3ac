//! Numeric shapes: element type, width and number of lanes of numbers, Booleans and vectors.

/// The element type of a [`NumericShape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumericElement {
    Bool,
    Int,
    Float,
    /// A 16-bit float with an 8-bit exponent (bfloat16).
    Brain,
}

/// The shape of a number, a Boolean, or a vector of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NumericShape {
    pub(super) elem: NumericElement,
    /// Width in LLVM.
    pub(super) bits: u32,
    /// Width in SPIR-V: 0 for booleans.
    pub(super) width: u32,
    /// Lanes in LLVM, 1 for a scalar.
    pub(super) lanes: u32,
    /// Lanes in SPIR-V.
    pub(super) padded: u32,
}

impl NumericShape {
    /// The shape of integers. Width and number of lanes must be ones that SPIR-V has.
    pub(super) const fn new_int(width: u32, lanes: u32) -> NumericShape {
        NumericShape {
            elem: NumericElement::Int,
            bits: width,
            width,
            lanes,
            padded: lanes,
        }
    }

    /// The shape of the same number of integers of another width, which SPIR-V must have.
    pub(super) fn as_int(self, width: u32) -> NumericShape {
        NumericShape {
            elem: NumericElement::Int,
            bits: width,
            width,
            ..self
        }
    }

    /// The same number of booleans.
    pub(super) fn as_bool(self) -> NumericShape {
        NumericShape {
            elem: NumericElement::Bool,
            bits: 1,
            width: 0,
            ..self
        }
    }

    /// One lane of it.
    pub(super) fn to_scalar(self) -> NumericShape {
        NumericShape {
            lanes: 1,
            padded: 1,
            ..self
        }
    }

    /// Whether it is of floats.
    pub(super) fn is_float(self) -> bool {
        matches!(self.elem, NumericElement::Float | NumericElement::Brain)
    }

    /// The same number of floats of 32 bits.
    pub(super) fn as_float(self) -> NumericShape {
        NumericShape {
            elem: NumericElement::Float,
            bits: 32,
            width: 32,
            ..self
        }
    }

    /// The integer that Booleans are packed into in memory; `None` for other shapes.
    pub(super) fn to_packed(self) -> Option<NumericShape> {
        let many = self.elem == NumericElement::Bool && self.lanes > 1 && self.lanes <= 64;
        many.then(|| NumericShape {
            bits: self.lanes,
            ..NumericShape::new_int(self.lanes.next_power_of_two().max(8), 1)
        })
    }

    /// Whether its integers are narrower than their representation.
    pub(super) fn is_odd(self) -> bool {
        self.elem == NumericElement::Int && self.bits != self.width
    }

    /// Whether the bits in SPIR-V are exactly those in LLVM.
    pub(super) fn is_exact(self) -> bool {
        self.elem != NumericElement::Bool && self.bits == self.width && self.lanes == self.padded
    }
}

/// Lanes of a vector beyond which it is refused.
const MAX_LANES: u32 = 4096;

/// The length of the SPIR-V vector that holds `lanes` lanes; lengths above 16 need an extension.
pub(super) fn padded_lanes(lanes: u32) -> Option<u32> {
    match lanes {
        1..=4 => Some(lanes),
        5..=8 => Some(8),
        9..=16 => Some(16),
        17..=MAX_LANES => Some(lanes),
        _ => None,
    }
}

/// The bits that a width has.
pub(super) fn make_width_mask(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}
