//! Types of the programs that are made.

use super::Generator;
use std::fmt;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    /// An integer of so many bits.
    Int(u32),
    /// A float of 16, 32 or 64 bits.
    Float(u32),
    /// A vector.
    Vector(Box<Ty>, u32),
    /// An array.
    Array(Box<Ty>, u32),
    /// A literal structure.
    Struct(Vec<Ty>),
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Int(width) => write!(f, "i{width}"),
            Ty::Float(16) => f.write_str("half"),
            Ty::Float(32) => f.write_str("float"),
            Ty::Float(_) => f.write_str("double"),
            Ty::Vector(element, count) => write!(f, "<{count} x {element}>"),
            Ty::Array(element, count) => write!(f, "[{count} x {element}]"),
            Ty::Struct(fields) => {
                let fields: Vec<String> = fields.iter().map(Ty::to_string).collect();
                write!(f, "{{ {} }}", fields.join(", "))
            }
        }
    }
}

impl Ty {
    /// `i1`
    pub const BOOL: Ty = Ty::Int(1);

    /// The element of a vector, the type itself otherwise.
    pub fn scalar(&self) -> &Ty {
        match self {
            Ty::Vector(element, _) => element,
            other => other,
        }
    }

    /// A type of the same shape of other scalars.
    pub fn with(&self, scalar: Ty) -> Ty {
        match self {
            Ty::Vector(_, count) => Ty::Vector(Box::new(scalar), *count),
            _ => scalar,
        }
    }

    /// Bits of a scalar.
    pub fn bits(&self) -> u32 {
        match self.scalar() {
            Ty::Int(width) | Ty::Float(width) => *width,
            _ => 0,
        }
    }

    /// Components of a vector, 1 otherwise.
    pub fn lanes(&self) -> u32 {
        match self {
            Ty::Vector(_, count) => *count,
            _ => 1,
        }
    }

    /// Whether it is an integer or a vector of some.
    pub fn is_int(&self) -> bool {
        matches!(self.scalar(), Ty::Int(_))
    }

    /// Whether it is a float or a vector of some.
    pub fn is_float(&self) -> bool {
        matches!(self.scalar(), Ty::Float(_))
    }

    /// Whether it is a structure or an array.
    pub fn is_aggregate(&self) -> bool {
        matches!(self, Ty::Struct(_) | Ty::Array(..))
    }

    /// Whether a value's bytes are all of its bits.
    pub fn is_whole(&self) -> bool {
        !self.is_aggregate() && matches!(self.bits(), 8 | 16 | 32 | 64)
    }

    /// What intrinsics are named by.
    pub fn suffix(&self) -> String {
        let scalar = match self.scalar() {
            Ty::Float(width) => format!("f{width}"),
            other => other.to_string(),
        };
        match self {
            Ty::Vector(_, count) => format!("v{count}{scalar}"),
            _ => scalar,
        }
    }

    /// How many scalars there are in it.
    fn scalars(&self) -> u32 {
        match self {
            Ty::Struct(fields) => fields.iter().map(Ty::scalars).sum(),
            Ty::Array(element, count) => count * element.scalars(),
            other => other.lanes(),
        }
    }

    /// The parts of an aggregate.
    pub fn parts(&self) -> Vec<Ty> {
        match self {
            Ty::Struct(fields) => fields.clone(),
            Ty::Array(element, count) => vec![(**element).clone(); *count as usize],
            Ty::Vector(element, count) => vec![(**element).clone(); *count as usize],
            _ => Vec::new(),
        }
    }
}

const WIDTHS: &[u32] = &[32, 8, 16, 64, 32, 64];
const ODD: &[u32] = &[3, 7, 17, 24, 33, 48, 63];
const LANES: &[u32] = &[4, 2, 3, 8, 16];

/// Most scalars of an aggregate.
const MOST_SCALARS: u32 = 32;

impl Generator<'_, '_> {
    /// A width of integers, seldom one that SPIR-V does not have.
    pub fn width(&mut self) -> u32 {
        match self.one_in(8) {
            true => ODD[self.c.below(ODD.len())],
            false => WIDTHS[self.c.below(WIDTHS.len())],
        }
    }

    /// A scalar of memory.
    pub fn scalar(&mut self) -> Ty {
        match self.c.below(3) {
            2 => Ty::Float([32, 64, 16][self.c.below(3)]),
            _ => Ty::Int(self.width()),
        }
    }

    fn lanes(&mut self) -> u32 {
        LANES[self.c.below(LANES.len())]
    }

    /// A vector of scalars that fill bytes, or of `i1`.
    pub fn vector_of(&mut self, scalar: Ty) -> Ty {
        Ty::Vector(Box::new(scalar), self.lanes())
    }

    /// A scalar or vector.
    pub fn plain(&mut self) -> Ty {
        let scalar = self.scalar();
        match self.c.below(3) == 2 && scalar.is_whole() {
            true => self.vector_of(scalar),
            false => scalar,
        }
    }

    /// An integer or a vector of some.
    pub fn integer(&mut self) -> Ty {
        let width = self.width();
        match self.one_in(3) {
            true => {
                let width = width.next_power_of_two().max(8);
                self.vector_of(Ty::Int(width))
            }
            false => Ty::Int(width),
        }
    }

    /// A float or a vector of some.
    pub fn float(&mut self) -> Ty {
        let scalar = Ty::Float([32, 64, 16][self.c.below(3)]);
        match self.one_in(3) {
            true => self.vector_of(scalar),
            false => scalar,
        }
    }

    /// A type of an object in memory, which is also loaded and stored as a whole.
    pub fn object(&mut self, depth: u32) -> Ty {
        let ty = self.nested(depth);
        match ty.scalars() <= MOST_SCALARS {
            true => ty,
            false => self.plain(),
        }
    }

    fn nested(&mut self, depth: u32) -> Ty {
        match self.c.below(5) {
            0 | 1 => self.plain(),
            2 | 3 if depth > 0 => {
                let element = self.nested(depth - 1);
                let count = [4, 2, 8, 3, 5][self.c.below(5)];
                Ty::Array(Box::new(element), count)
            }
            4 if depth > 0 => self.structure(depth),
            _ => self.plain(),
        }
    }

    /// A structure.
    pub fn structure(&mut self, depth: u32) -> Ty {
        let count = 1 + self.c.below(4);
        let all = Ty::Struct((0..count).map(|_| self.nested(depth - 1)).collect());
        match all.scalars() <= MOST_SCALARS {
            true => all,
            false => Ty::Struct(vec![self.plain()]),
        }
    }
}
