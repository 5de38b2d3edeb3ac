//! Row types of the grammar tables.

use super::enumerants::Capability;
use super::generated::kinds::Kind;
use std::fmt;

/// An opcode. Numbers that the table does not know are allowed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Op(pub u16);

/// A version of SPIR-V.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpirvVersion(u16);

impl SpirvVersion {
    /// SPIR-V 1.0.
    pub const V1_0: SpirvVersion = SpirvVersion::new(1, 0);
    /// The newest version that the tables describe.
    pub const NEWEST: SpirvVersion = SpirvVersion::new(1, 6);
    /// Later than every version: features that are available through extensions only.
    pub const NEVER: SpirvVersion = SpirvVersion(u16::MAX);

    /// A version by its numbers.
    pub const fn new(major: u8, minor: u8) -> Self {
        SpirvVersion((major as u16) << 8 | minor as u16)
    }

    /// The version in a module's header, `None` when the word has other bits set.
    pub const fn from_word(word: u32) -> Option<Self> {
        if word & 0xff00_00ff == 0 {
            Some(SpirvVersion((word >> 8) as u16))
        } else {
            None
        }
    }

    /// The word for a module's header.
    pub const fn word(self) -> u32 {
        (self.0 as u32) << 8
    }

    /// Major number.
    pub const fn major(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Minor number.
    pub const fn minor(self) -> u8 {
        self.0 as u8
    }
}

impl fmt::Display for SpirvVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major(), self.minor())
    }
}

impl fmt::Debug for SpirvVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The chapters into which the specification groups instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum InstructionClass {
    Annotation,
    Arithmetic,
    Atomic,
    Barrier,
    Bit,
    Composite,
    ConstantCreation,
    ControlFlow,
    Conversion,
    Debug,
    Derivative,
    DeviceSideEnqueue,
    Extension,
    Function,
    Graph,
    Group,
    Image,
    Memory,
    Miscellaneous,
    ModeSetting,
    NonUniform,
    Pipe,
    Primitive,
    RelationalandLogical,
    Reserved,
    Tensor,
    TypeDeclaration,
}

impl InstructionClass {
    /// All chapters.
    pub const ALL: &[InstructionClass] = &[
        InstructionClass::Annotation,
        InstructionClass::Arithmetic,
        InstructionClass::Atomic,
        InstructionClass::Barrier,
        InstructionClass::Bit,
        InstructionClass::Composite,
        InstructionClass::ConstantCreation,
        InstructionClass::ControlFlow,
        InstructionClass::Conversion,
        InstructionClass::Debug,
        InstructionClass::Derivative,
        InstructionClass::DeviceSideEnqueue,
        InstructionClass::Extension,
        InstructionClass::Function,
        InstructionClass::Graph,
        InstructionClass::Group,
        InstructionClass::Image,
        InstructionClass::Memory,
        InstructionClass::Miscellaneous,
        InstructionClass::ModeSetting,
        InstructionClass::NonUniform,
        InstructionClass::Pipe,
        InstructionClass::Primitive,
        InstructionClass::RelationalandLogical,
        InstructionClass::Reserved,
        InstructionClass::Tensor,
        InstructionClass::TypeDeclaration,
    ];
}

/// Whether an instruction has a result, and whether the result has a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResultForm {
    /// No result id.
    None,
    /// A result id without a type: types, labels, strings, decoration groups.
    Untyped,
    /// Result type first, then result id.
    Typed,
}

/// The number of occurrences of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandQuantifier {
    /// Exactly once.
    One,
    /// At most once.
    Optional,
    /// Any number of times, to the end of the instruction.
    Many,
}

/// An operand of an instruction, or a parameter of an enumerant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandInfo {
    /// Its kind.
    pub kind: Kind,
    /// Its number of occurrences.
    pub quantifier: OperandQuantifier,
    /// Name in the specification; may be empty.
    pub name: &'static str,
}

/// The category of an operand kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandCategory {
    /// One of several named values.
    ValueEnum,
    /// A mask of named bits.
    BitEnum,
    /// A reference to a result.
    Id,
    /// A number or string.
    Literal,
    /// Several operands in a row.
    Composite,
}

/// Row of an operand kind.
#[derive(Clone, Copy, Debug)]
pub struct KindInfo {
    /// The kind itself.
    pub kind: Kind,
    /// Name in the grammar.
    pub name: &'static str,
    /// The kinds of its parts.
    pub category: OperandCategory,
    /// Parts of a composite.
    pub bases: &'static [Kind],
    /// Named values in increasing order; several names may share a value.
    pub enumerants: &'static [EnumerantInfo],
}

/// Row of a named value.
#[derive(Clone, Copy, Debug)]
pub struct EnumerantInfo {
    /// Name in the grammar.
    pub name: &'static str,
    /// Further names with the same meaning.
    pub aliases: &'static [&'static str],
    /// The value.
    pub value: u32,
    /// Operands that follow it.
    pub parameters: &'static [OperandInfo],
    /// Capabilities of which one suffices; empty if none is required.
    pub capabilities: &'static [Capability],
    /// Extensions of which one suffices in earlier versions.
    pub extensions: &'static [&'static str],
    /// First version that has it.
    pub version: SpirvVersion,
    /// Last version that has it, or [`SpirvVersion::NEVER`] where it was never taken back.
    pub last_version: SpirvVersion,
}

/// Row of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct InstructionInfo {
    /// Opcode.
    pub op: Op,
    /// Name with its `Op`.
    pub name: &'static str,
    /// Further names with the same meaning.
    pub aliases: &'static [&'static str],
    /// Chapter of the specification.
    pub class: InstructionClass,
    /// Whether it has a result and a type.
    pub result: ResultForm,
    /// All operands, result type and result id included.
    pub operands: &'static [OperandInfo],
    /// Capabilities of which one suffices; empty if none is required.
    pub capabilities: &'static [Capability],
    /// Extensions of which one suffices in earlier versions.
    pub extensions: &'static [&'static str],
    /// First version that has it.
    pub version: SpirvVersion,
    /// Last version that has it, or [`SpirvVersion::NEVER`].
    pub last_version: SpirvVersion,
}

/// Row of an extended instruction.
#[derive(Clone, Copy, Debug)]
pub struct ExtInst {
    /// Number within its set.
    pub number: u32,
    /// Name.
    pub name: &'static str,
    /// Operands after the number.
    pub operands: &'static [OperandInfo],
    /// Capabilities of which one suffices; empty if none is required.
    pub capabilities: &'static [Capability],
    /// Extensions of which one suffices in earlier versions.
    pub extensions: &'static [&'static str],
    /// First version that has it.
    pub version: SpirvVersion,
    /// Last version that has it, or [`SpirvVersion::NEVER`].
    pub last_version: SpirvVersion,
}

/// An extended instruction set.
#[derive(Clone, Copy, Debug)]
pub struct ExtInstSet {
    /// Name in `OpExtInstImport`.
    pub name: &'static str,
    /// Rows by increasing number.
    pub instructions: &'static [ExtInst],
}

/// Defines the type of an enumeration and its constants.
macro_rules! enumeration {
    (values $name:ident { $($constant:ident = $value:expr,)* }) => {
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            $(pub const $constant: Self = Self($value);)*
        }

        enumeration!(@common $name);
    };
    (bits $name:ident { $($constant:ident = $value:expr,)* }) => {
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            $(pub const $constant: Self = Self($value);)*

            /// Whether all bits of `other` are set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl std::ops::BitOr for $name {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl std::ops::BitOrAssign for $name {
            fn bitor_assign(&mut self, other: Self) {
                self.0 |= other.0;
            }
        }

        enumeration!(@common $name);
    };
    (@common $name:ident) => {
        impl From<u32> for $name {
            fn from(word: u32) -> Self {
                Self(word)
            }
        }

        impl From<$name> for u32 {
            fn from(value: $name) -> u32 {
                value.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                crate::grammar::Kind::$name.info().fmt_value(self.0, f)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}
pub(crate) use enumeration;
