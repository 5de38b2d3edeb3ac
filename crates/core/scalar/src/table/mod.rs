//! Table of the extended instructions on scalars, one row each, with a callable body.
//!
//! Bodies have the C calling convention and need nothing but their operands, so their addresses can
//! be handed to generated code. Instructions with a pointer operand take it as `&mut`, in the place
//! SPIR-V has it: last. Instructions on whole vectors, on memory and on printing have no row.

mod glsl;
mod opencl;

use crate::half_float;

/// An extended instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarExtSet {
    /// `OpenCL.std`.
    OpenCl,
    /// `GLSL.std.450`.
    Glsl,
}

impl ScalarExtSet {
    /// The set with this name in `OpExtInstImport`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "OpenCL.std" => Some(Self::OpenCl),
            "GLSL.std.450" => Some(Self::Glsl),
            _ => None,
        }
    }

    /// The set's rows, ordered by number.
    pub const fn functions(self) -> &'static [ScalarExtInst] {
        match self {
            Self::OpenCl => opencl::FUNCTIONS,
            Self::Glsl => glsl::FUNCTIONS,
        }
    }

    /// The row of the instruction `number`.
    pub fn find_function(self, number: u32) -> Option<&'static ScalarExtInst> {
        let rows = self.functions();
        rows.binary_search_by_key(&number, |row| row.number)
            .ok()
            .map(|index| &rows[index])
    }

    /// The row of an instruction by its name, for tables that are built at compile time.
    pub const fn find_named_function(self, name: &str) -> Option<&'static ScalarExtInst> {
        let rows = self.functions();
        let mut index = 0;
        while index < rows.len() {
            if is_same_name(rows[index].name, name) {
                return Some(&rows[index]);
            }
            index += 1;
        }
        None
    }
}

/// Whether two names are equal.
pub(crate) const fn is_same_name(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut index = 0;
    while index < a.len() {
        if a[index] != b[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// One extended instruction.
#[derive(Clone, Copy, Debug)]
pub struct ScalarExtInst {
    /// The set it belongs to.
    pub set: ScalarExtSet,
    /// Its number there.
    pub number: u32,
    /// Its name there.
    pub name: &'static str,
    /// The function to call.
    pub body: ExtInstBody,
}

/// The function that computes an instruction, by the kind of its operands.
#[derive(Clone, Copy, Debug)]
pub enum ExtInstBody {
    /// On floating-point numbers.
    Real {
        /// On `f32`.
        f32: RealFn<f32>,
        /// On `f64`.
        f64: RealFn<f64>,
        /// On the bits of `f16`, where computing in `f32` and rounding the result would be wrong;
        /// elsewhere that is the rule.
        f16: Option<HalfFn>,
    },
    /// On integers of a given width.
    Integer(IntegerFn),
    /// Between floating-point numbers and packed bits.
    Packing(PackingFn),
}

/// The shape of a function on floating-point numbers.
#[derive(Clone, Copy, Debug)]
pub enum RealFn<T> {
    /// f(x).
    Unary(extern "C" fn(T) -> T),
    /// f(x, y).
    Binary(extern "C" fn(T, T) -> T),
    /// f(x, y, z).
    Ternary(extern "C" fn(T, T, T) -> T),
    /// f(x, n).
    WithInt(extern "C" fn(T, i32) -> T),
    /// n = f(x).
    ToInt(extern "C" fn(T) -> i32),
    /// f(bits), the bits being those of an integer as wide as the result, zero-extended.
    FromBits(extern "C" fn(u64) -> T),
    /// f(x), and a second number.
    AndReal(extern "C" fn(T, &mut T) -> T),
    /// f(x), and an integer.
    AndInt(extern "C" fn(T, &mut i32) -> T),
    /// f(x, y), and an integer.
    BinaryAndInt(extern "C" fn(T, T, &mut i32) -> T),
}

/// The shape of a function on the bits of `f16`.
#[derive(Clone, Copy, Debug)]
pub enum HalfFn {
    /// f(x, y).
    Binary(extern "C" fn(u16, u16) -> u16),
    /// f(x, y, z).
    Ternary(extern "C" fn(u16, u16, u16) -> u16),
    /// f(bits).
    FromBits(extern "C" fn(u16) -> u16),
    /// f(x), and a second number.
    AndReal(extern "C" fn(u16, &mut u16) -> u16),
}

/// The shape of a function on integers: operands, then their width (see [`crate::int`]).
///
/// The width is that of the operands; only `u_upsample` and `s_upsample` have a wider result.
#[derive(Clone, Copy, Debug)]
pub enum IntegerFn {
    /// f(a).
    Unary(extern "C" fn(u64, u32) -> u64),
    /// f(a, b).
    Binary(extern "C" fn(u64, u64, u32) -> u64),
    /// f(a, b, c).
    Ternary(extern "C" fn(u64, u64, u64, u32) -> u64),
}

/// The signature of a packing function. Vectors are passed and returned component by component.
#[derive(Clone, Copy, Debug)]
pub enum PackingFn {
    /// Two components into 32 bits.
    Pack2(extern "C" fn(f32, f32) -> u32),
    /// Four components into 32 bits.
    Pack4(extern "C" fn(f32, f32, f32, f32) -> u32),
    /// One component, by its index, of 32 bits.
    Unpack(extern "C" fn(u32, u32) -> f32),
    /// Two halves into an `f64`.
    PackDouble(extern "C" fn(u32, u32) -> f64),
    /// One half, by its index, of an `f64`.
    UnpackDouble(extern "C" fn(f64, u32) -> u32),
}

/// The function on `f16` bits that replaces `f32` arithmetic under this name of the table.
const fn find_half(name: &str) -> Option<HalfFn> {
    match name.as_bytes() {
        b"fma" | b"Fma" => Some(HalfFn::Ternary(half_float::fma)),
        b"nextafter" => Some(HalfFn::Binary(half_float::nextafter)),
        b"fract" => Some(HalfFn::AndReal(half_float::fract)),
        b"nan" => Some(HalfFn::FromBits(half_float::nan)),
        _ => None,
    }
}

/// Writes a table: one row is a shape, the number, the name and the function.
macro_rules! rows {
    ($table:ident, $set:expr; $($shape:ident $number:literal $name:literal $function:ident;)*) => {
        pub(super) const $table: &[ScalarExtInst] = &[
            $(ScalarExtInst {
                set: $set,
                number: $number,
                name: $name,
                body: $crate::table::body!($shape $name $function),
            },)*
        ];
    };
}

/// The body of a row by its shape.
macro_rules! body {
    (Int1 $name:literal $function:ident) => {
        $crate::table::ExtInstBody::Integer($crate::table::IntegerFn::Unary($crate::int::$function))
    };
    (Int2 $name:literal $function:ident) => {
        $crate::table::ExtInstBody::Integer($crate::table::IntegerFn::Binary(
            $crate::int::$function,
        ))
    };
    (Int3 $name:literal $function:ident) => {
        $crate::table::ExtInstBody::Integer($crate::table::IntegerFn::Ternary(
            $crate::int::$function,
        ))
    };
    (Pack2 $name:literal $function:ident) => {
        $crate::table::ExtInstBody::Packing($crate::table::PackingFn::Pack2(
            $crate::math::$function,
        ))
    };
    (Pack4 $name:literal $function:ident) => {
        $crate::table::ExtInstBody::Packing($crate::table::PackingFn::Pack4(
            $crate::math::$function,
        ))
    };
    (Unpack $name:literal $function:ident) => {
        $crate::table::ExtInstBody::Packing($crate::table::PackingFn::Unpack(
            $crate::math::$function,
        ))
    };
    (PackDouble $name:literal $function:ident) => {
        $crate::table::ExtInstBody::Packing($crate::table::PackingFn::PackDouble(
            $crate::math::$function,
        ))
    };
    (UnpackDouble $name:literal $function:ident) => {
        $crate::table::ExtInstBody::Packing($crate::table::PackingFn::UnpackDouble(
            $crate::math::$function,
        ))
    };
    ($shape:ident $name:literal $function:ident) => {
        $crate::table::ExtInstBody::Real {
            f32: $crate::table::RealFn::$shape($crate::math::$function::<f32>),
            f64: $crate::table::RealFn::$shape($crate::math::$function::<f64>),
            f16: $crate::table::find_half($name),
        }
    };
}

use {body, rows};
