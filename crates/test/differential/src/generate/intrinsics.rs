//! LLVM's intrinsics, one row each.

use super::generator::LlvmGenerator;
use super::types::GeneratedType;

/// The operands and the result of an intrinsic.
#[derive(Clone, Copy)]
struct IntrinsicSignature {
    operand: OperandClass,
    /// Number of operands of that class; all have the same type.
    count: u32,
    extra: ExtraArgument,
    result: ResultClass,
}

/// The types that an intrinsic's operands may have.
#[derive(Clone, Copy)]
enum OperandClass {
    /// Integers of more than one bit.
    Integer,
    /// Integers of whole bytes.
    WholeInteger,
    /// Integers of whole pairs of bytes.
    BytePairs,
    /// Integers of 2 to 64 bits.
    NarrowInteger,
    /// Floats.
    Float,
    /// Vectors of integers of whole bytes.
    WholeVector,
    /// Vectors of integers of up to 64 bits.
    NarrowVector,
}

/// The argument after an intrinsic's operands.
#[derive(Clone, Copy)]
enum ExtraArgument {
    /// There is none.
    None,
    /// A flag, which is false.
    Flag,
    /// A mask of the classes of floats.
    ClassMask,
    /// The number of bits after the point of fixed-point numbers.
    Scale,
}

/// The type of an intrinsic's result.
#[derive(Clone, Copy)]
enum ResultClass {
    /// That of the operands.
    Operand,
    /// The element of a vector.
    Element,
    /// Truth values.
    Truth,
    /// A structure of the operands' type and truth values.
    Overflow,
    /// Integers of one of these widths, in as many lanes. The intrinsic's name contains their type.
    Lanes(&'static [u32]),
    /// An integer of one of these widths. The intrinsic's name contains its type.
    Scalar(&'static [u32]),
}

const fn uniform(operand: OperandClass, count: u32) -> IntrinsicSignature {
    IntrinsicSignature {
        operand,
        count,
        extra: ExtraArgument::None,
        result: ResultClass::Operand,
    }
}

const fn integers(count: u32) -> IntrinsicSignature {
    uniform(OperandClass::Integer, count)
}

const fn floats(count: u32) -> IntrinsicSignature {
    uniform(OperandClass::Float, count)
}

const BYTES: IntrinsicSignature = uniform(OperandClass::BytePairs, 1);
const CARRYLESS: IntrinsicSignature = uniform(OperandClass::NarrowInteger, 2);
const FLAGGED: IntrinsicSignature = IntrinsicSignature {
    extra: ExtraArgument::Flag,
    ..integers(1)
};
const OVERFLOW: IntrinsicSignature = IntrinsicSignature {
    result: ResultClass::Overflow,
    ..uniform(OperandClass::WholeInteger, 2)
};
const COMPARE: IntrinsicSignature = IntrinsicSignature {
    result: ResultClass::Lanes(&[8, 32]),
    ..uniform(OperandClass::WholeInteger, 2)
};
const SATURATED: IntrinsicSignature = IntrinsicSignature {
    result: ResultClass::Lanes(&[32, 8, 16, 64]),
    ..floats(1)
};
const CLASS: IntrinsicSignature = IntrinsicSignature {
    extra: ExtraArgument::ClassMask,
    result: ResultClass::Truth,
    ..floats(1)
};
const REDUCE: IntrinsicSignature = IntrinsicSignature {
    result: ResultClass::Element,
    ..uniform(OperandClass::WholeVector, 1)
};
const FIXED_POINT: IntrinsicSignature = IntrinsicSignature {
    extra: ExtraArgument::Scale,
    ..uniform(OperandClass::NarrowInteger, 2)
};
const FIRST_LANE: IntrinsicSignature = IntrinsicSignature {
    extra: ExtraArgument::Flag,
    result: ResultClass::Scalar(&[32, 16, 64]),
    ..uniform(OperandClass::NarrowVector, 1)
};

const TABLE: &[(&str, IntrinsicSignature)] = &[
    ("smax", integers(2)),
    ("smin", integers(2)),
    ("umax", integers(2)),
    ("umin", integers(2)),
    ("sadd.sat", integers(2)),
    ("uadd.sat", integers(2)),
    ("ssub.sat", integers(2)),
    ("usub.sat", integers(2)),
    ("fshl", integers(3)),
    ("fshr", integers(3)),
    ("ctpop", integers(1)),
    ("bitreverse", integers(1)),
    ("abs", FLAGGED),
    ("ctlz", FLAGGED),
    ("cttz", FLAGGED),
    ("bswap", BYTES),
    ("sadd.with.overflow", OVERFLOW),
    ("uadd.with.overflow", OVERFLOW),
    ("ssub.with.overflow", OVERFLOW),
    ("usub.with.overflow", OVERFLOW),
    ("smul.with.overflow", OVERFLOW),
    ("umul.with.overflow", OVERFLOW),
    ("fabs", floats(1)),
    ("sqrt", floats(1)),
    ("floor", floats(1)),
    ("ceil", floats(1)),
    ("trunc", floats(1)),
    ("rint", floats(1)),
    ("roundeven", floats(1)),
    ("round", floats(1)),
    ("copysign", floats(2)),
    ("minnum", floats(2)),
    ("maxnum", floats(2)),
    ("minimum", floats(2)),
    ("maximum", floats(2)),
    ("fma", floats(3)),
    ("fptosi.sat", SATURATED),
    ("fptoui.sat", SATURATED),
    ("is.fpclass", CLASS),
    ("vector.reduce.add", REDUCE),
    ("vector.reduce.mul", REDUCE),
    ("vector.reduce.and", REDUCE),
    ("vector.reduce.or", REDUCE),
    ("vector.reduce.xor", REDUCE),
    ("vector.reduce.smax", REDUCE),
    ("vector.reduce.smin", REDUCE),
    ("vector.reduce.umax", REDUCE),
    ("vector.reduce.umin", REDUCE),
    ("scmp", COMPARE),
    ("ucmp", COMPARE),
    ("smul.fix", FIXED_POINT),
    ("umul.fix", FIXED_POINT),
    ("smul.fix.sat", FIXED_POINT),
    ("umul.fix.sat", FIXED_POINT),
    ("clmul", CARRYLESS),
    ("experimental.cttz.elts", FIRST_LANE),
];

impl LlvmGenerator<'_, '_> {
    /// Emits a call of an intrinsic of the table.
    pub fn emit_intrinsic(&mut self) {
        let (name, signature) = TABLE[self.c.choose_below(TABLE.len())];
        let (ty, first) = self.choose_intrinsic_operand(signature.operand);
        let mut args = vec![(ty.clone(), first)];
        for _ in 1..signature.count {
            let value = self.choose_value(&ty);
            args.push((ty.clone(), value));
        }
        args.extend(self.choose_extra_argument(signature.extra, name, &ty));
        let suffix = ty.intrinsic_suffix();
        let named_result = match signature.result {
            ResultClass::Lanes(widths) => Some(ty.with_scalar(self.choose_result_width(widths))),
            ResultClass::Scalar(widths) => Some(self.choose_result_width(widths)),
            _ => None,
        };
        if let Some(result) = named_result {
            let name = format!("llvm.{name}.{}.{suffix}", result.intrinsic_suffix());
            self.emit_call(&name, &result, &args);
            return;
        }
        let result = match signature.result {
            ResultClass::Element => ty.scalar().clone(),
            ResultClass::Truth => ty.with_scalar(GeneratedType::BOOL),
            ResultClass::Overflow => {
                GeneratedType::Struct(vec![ty.clone(), ty.with_scalar(GeneratedType::BOOL)])
            }
            _ => ty,
        };
        self.emit_call(&format!("llvm.{name}.{suffix}"), &result, &args);
    }

    fn choose_intrinsic_operand(&mut self, class: OperandClass) -> (GeneratedType, String) {
        match class {
            OperandClass::Integer => {
                self.choose_or_make_value(|t| t.is_int() && t.bits() > 1, Self::choose_integer_type)
            }
            OperandClass::WholeInteger => {
                self.choose_or_make_value(GeneratedType::is_whole_int, |_| GeneratedType::Int(32))
            }
            OperandClass::BytePairs => self.choose_or_make_value(
                |t| t.is_int() && matches!(t.bits(), 16 | 32 | 64),
                |_| GeneratedType::Int(32),
            ),
            OperandClass::NarrowInteger => self.choose_or_make_value(
                |t| t.is_int() && (2..=64).contains(&t.bits()),
                |_| GeneratedType::Int(16),
            ),
            OperandClass::Float => {
                self.choose_or_make_value(GeneratedType::is_float, Self::choose_float_type)
            }
            OperandClass::WholeVector => self.choose_or_make_value(
                |t| t.is_whole_int() && t.lanes() > 1,
                |g| g.vector_of(GeneratedType::Int(32)),
            ),
            OperandClass::NarrowVector => self.choose_or_make_value(
                |t| t.is_int() && t.lanes() > 1 && t.bits() <= 64,
                |g| g.vector_of(GeneratedType::Int(32)),
            ),
        }
    }

    fn choose_extra_argument(
        &mut self,
        extra: ExtraArgument,
        name: &str,
        ty: &GeneratedType,
    ) -> Option<(GeneratedType, String)> {
        let number = match extra {
            ExtraArgument::None => return None,
            ExtraArgument::Flag => return Some((GeneratedType::BOOL, "false".to_owned())),
            ExtraArgument::ClassMask => self.c.choose_below(1024),
            ExtraArgument::Scale => {
                let sign_bits = usize::from(name.starts_with('s'));
                self.c.choose_below(ty.bits() as usize - sign_bits + 1)
            }
        };
        Some((GeneratedType::Int(32), number.to_string()))
    }

    fn choose_result_width(&mut self, widths: &[u32]) -> GeneratedType {
        GeneratedType::Int(widths[self.c.choose_below(widths.len())])
    }

    /// Emits a call of a function, and declares it.
    pub fn emit_call(
        &mut self,
        name: &str,
        result: &GeneratedType,
        args: &[(GeneratedType, String)],
    ) {
        let types: Vec<String> = args.iter().map(|a| a.0.to_string()).collect();
        let declaration = format!("declare {result} @{name}({})\n", types.join(", "));
        self.declared.insert(declaration);
        let given: Vec<String> = args
            .iter()
            .map(|(ty, value)| format!("{ty} {value}"))
            .collect();
        self.emit_value(
            result,
            &format!("call {result} @{name}({})", given.join(", ")),
        );
    }
}

impl GeneratedType {
    /// Whether it is of integers of whole bytes.
    fn is_whole_int(&self) -> bool {
        self.is_int() && self.is_whole()
    }
}
