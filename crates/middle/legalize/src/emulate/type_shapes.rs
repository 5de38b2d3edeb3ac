//! Type shapes: the scalar kind and component count of each type, and whether it is emulated.

use super::MissingNumericTypes;
use spirula_spirv::IdMap;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{ModuleSection, SpirvModule};

/// Scalar kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmulatedScalar {
    /// An integer of 8 or 16 bits that becomes a word.
    Narrow { width: u32, signed: bool },
    /// A 16-bit float that becomes a 32-bit float.
    Half,
    /// An integer of 64 bits that becomes two words.
    Wide { signed: bool },
    /// An integer of 32 bits.
    Word { signed: bool },
    /// A float of 32 bits.
    Float,
    /// A scalar of 64 bits that stays.
    Long,
    /// A boolean.
    Bool,
}

impl EmulatedScalar {
    /// Whether it becomes another type.
    pub fn needs_emulation(self) -> bool {
        matches!(
            self,
            EmulatedScalar::Narrow { .. } | EmulatedScalar::Half | EmulatedScalar::Wide { .. }
        )
    }

    /// Whether it is smaller than a word.
    pub fn is_small(self) -> bool {
        matches!(self, EmulatedScalar::Narrow { .. } | EmulatedScalar::Half)
    }

    /// Its bits in memory.
    pub fn width(self) -> u32 {
        match self {
            EmulatedScalar::Narrow { width, .. } => width,
            EmulatedScalar::Half => 16,
            EmulatedScalar::Wide { .. } | EmulatedScalar::Long => 64,
            EmulatedScalar::Word { .. } | EmulatedScalar::Float | EmulatedScalar::Bool => 32,
        }
    }
}

/// The shape of a scalar or vector type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmulatedShape {
    pub kind: EmulatedScalar,
    pub count: u32,
}

/// Instructions that move values of any type among the invocations of a subgroup.
pub const MOVES: &[Op] = &[
    Op::GroupNonUniformBroadcast,
    Op::GroupNonUniformBroadcastFirst,
    Op::GroupNonUniformShuffle,
    Op::GroupNonUniformShuffleXor,
    Op::GroupNonUniformShuffleUp,
    Op::GroupNonUniformShuffleDown,
    Op::GroupNonUniformAllEqual,
];

/// The shapes of a module's types by id.
pub fn compute_shapes(
    module: &SpirvModule,
    lacking: MissingNumericTypes,
) -> IdMap<Option<EmulatedShape>> {
    let mut shapes = IdMap::new(module.bound(), None);
    for inst in module.section_insts(ModuleSection::Globals) {
        let Some(id) = inst.result() else { continue };
        let scalar = |kind| Some(EmulatedShape { kind, count: 1 });
        let shape = match inst.op() {
            Op::TypeBool => scalar(EmulatedScalar::Bool),
            Op::TypeInt => {
                let (width, signed) = (inst.operand_word(0), inst.operand_word(1) != 0);
                match width {
                    8 | 16 if lacking.narrow => scalar(EmulatedScalar::Narrow { width, signed }),
                    32 => scalar(EmulatedScalar::Word { signed }),
                    64 if lacking.wide => scalar(EmulatedScalar::Wide { signed }),
                    64 => scalar(EmulatedScalar::Long),
                    _ => None,
                }
            }
            Op::TypeFloat if inst.operands().len() == 1 => match inst.operand_word(0) {
                16 if lacking.narrow => scalar(EmulatedScalar::Half),
                32 => scalar(EmulatedScalar::Float),
                64 => scalar(EmulatedScalar::Long),
                _ => None,
            },
            Op::TypeVector => shapes[inst.id_operand(0)].map(|part: EmulatedShape| EmulatedShape {
                kind: part.kind,
                count: inst.operand_word(1),
            }),
            _ => None,
        };
        shapes.set(id, shape);
    }
    shapes
}
