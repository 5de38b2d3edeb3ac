//! Types of generated programs.

use std::fmt;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GeneratedType {
    /// An integer of a width in bits.
    Int(u32),
    /// A float of 16, 32 or 64 bits.
    Float(u32),
    /// A vector.
    Vector(Box<GeneratedType>, u32),
    /// An array.
    Array(Box<GeneratedType>, u32),
    /// A literal structure.
    Struct(Vec<GeneratedType>),
}

impl fmt::Display for GeneratedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GeneratedType::Int(width) => write!(f, "i{width}"),
            GeneratedType::Float(16) => f.write_str("half"),
            GeneratedType::Float(32) => f.write_str("float"),
            GeneratedType::Float(_) => f.write_str("double"),
            GeneratedType::Vector(element, count) => write!(f, "<{count} x {element}>"),
            GeneratedType::Array(element, count) => write!(f, "[{count} x {element}]"),
            GeneratedType::Struct(fields) => {
                let fields: Vec<String> = fields.iter().map(GeneratedType::to_string).collect();
                write!(f, "{{ {} }}", fields.join(", "))
            }
        }
    }
}

impl GeneratedType {
    /// `i1`
    pub const BOOL: GeneratedType = GeneratedType::Int(1);

    /// The element of a vector, the type itself otherwise.
    pub fn scalar(&self) -> &GeneratedType {
        match self {
            GeneratedType::Vector(element, _) => element,
            other => other,
        }
    }

    /// The same type with other scalars.
    pub fn with_scalar(&self, scalar: GeneratedType) -> GeneratedType {
        match self {
            GeneratedType::Vector(_, count) => GeneratedType::Vector(Box::new(scalar), *count),
            _ => scalar,
        }
    }

    /// Bits of a scalar.
    pub fn bits(&self) -> u32 {
        match self.scalar() {
            GeneratedType::Int(width) | GeneratedType::Float(width) => *width,
            _ => 0,
        }
    }

    /// Components of a vector, 1 otherwise.
    pub fn lanes(&self) -> u32 {
        match self {
            GeneratedType::Vector(_, count) => *count,
            _ => 1,
        }
    }

    /// Whether it is an integer or a vector of integers.
    pub fn is_int(&self) -> bool {
        matches!(self.scalar(), GeneratedType::Int(_))
    }

    /// Whether it is a float or a vector of floats.
    pub fn is_float(&self) -> bool {
        matches!(self.scalar(), GeneratedType::Float(_))
    }

    /// Whether it is a structure or an array.
    pub fn is_aggregate(&self) -> bool {
        matches!(self, GeneratedType::Struct(_) | GeneratedType::Array(..))
    }

    /// Whether a value has whole bytes and no padding.
    pub fn is_whole(&self) -> bool {
        !self.is_aggregate() && matches!(self.bits(), 8 | 16 | 32 | 64)
    }

    /// The suffix of intrinsics' names.
    pub fn intrinsic_suffix(&self) -> String {
        let scalar = match self.scalar() {
            GeneratedType::Float(width) => format!("f{width}"),
            other => other.to_string(),
        };
        match self {
            GeneratedType::Vector(_, count) => format!("v{count}{scalar}"),
            _ => scalar,
        }
    }

    /// The number of scalars in it.
    pub fn scalar_count(&self) -> u32 {
        match self {
            GeneratedType::Struct(fields) => fields.iter().map(GeneratedType::scalar_count).sum(),
            GeneratedType::Array(element, count) => count * element.scalar_count(),
            other => other.lanes(),
        }
    }

    /// The parts of an aggregate.
    pub fn part_types(&self) -> Vec<GeneratedType> {
        match self {
            GeneratedType::Struct(fields) => fields.clone(),
            GeneratedType::Array(element, count) => vec![(**element).clone(); *count as usize],
            GeneratedType::Vector(element, count) => vec![(**element).clone(); *count as usize],
            _ => Vec::new(),
        }
    }
}
