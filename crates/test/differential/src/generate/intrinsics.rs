//! LLVM's intrinsics, one row each.

use super::LlvmGenerator;
use super::types::GeneratedType;

/// What an intrinsic takes and gives.
#[derive(Clone, Copy)]
enum IntrinsicCallForm {
    /// So many integers.
    Int(u32),
    /// An integer and a flag that is false.
    Flagged,
    /// An integer of whole pairs of bytes.
    Bytes,
    /// Two integers, and whether their result overflowed.
    Overflow,
    /// So many floats.
    Float(u32),
    /// A float, to an integer.
    Saturated,
    /// A float, to whether it is of a class.
    Class,
    /// A vector of integers, to one.
    Reduce,
    /// Two integers, to -1, 0 or 1.
    Three,
    /// Two integers of up to 64 bits.
    Carryless,
    /// Two integers with a point at a place of their own.
    Fixed,
    /// A vector, to the number of lanes before the first that is not zero.
    First,
}

const TABLE: &[(&str, IntrinsicCallForm)] = &[
    ("smax", IntrinsicCallForm::Int(2)),
    ("smin", IntrinsicCallForm::Int(2)),
    ("umax", IntrinsicCallForm::Int(2)),
    ("umin", IntrinsicCallForm::Int(2)),
    ("sadd.sat", IntrinsicCallForm::Int(2)),
    ("uadd.sat", IntrinsicCallForm::Int(2)),
    ("ssub.sat", IntrinsicCallForm::Int(2)),
    ("usub.sat", IntrinsicCallForm::Int(2)),
    ("fshl", IntrinsicCallForm::Int(3)),
    ("fshr", IntrinsicCallForm::Int(3)),
    ("ctpop", IntrinsicCallForm::Int(1)),
    ("bitreverse", IntrinsicCallForm::Int(1)),
    ("abs", IntrinsicCallForm::Flagged),
    ("ctlz", IntrinsicCallForm::Flagged),
    ("cttz", IntrinsicCallForm::Flagged),
    ("bswap", IntrinsicCallForm::Bytes),
    ("sadd.with.overflow", IntrinsicCallForm::Overflow),
    ("uadd.with.overflow", IntrinsicCallForm::Overflow),
    ("ssub.with.overflow", IntrinsicCallForm::Overflow),
    ("usub.with.overflow", IntrinsicCallForm::Overflow),
    ("smul.with.overflow", IntrinsicCallForm::Overflow),
    ("umul.with.overflow", IntrinsicCallForm::Overflow),
    ("fabs", IntrinsicCallForm::Float(1)),
    ("sqrt", IntrinsicCallForm::Float(1)),
    ("floor", IntrinsicCallForm::Float(1)),
    ("ceil", IntrinsicCallForm::Float(1)),
    ("trunc", IntrinsicCallForm::Float(1)),
    ("rint", IntrinsicCallForm::Float(1)),
    ("roundeven", IntrinsicCallForm::Float(1)),
    ("round", IntrinsicCallForm::Float(1)),
    ("copysign", IntrinsicCallForm::Float(2)),
    ("minnum", IntrinsicCallForm::Float(2)),
    ("maxnum", IntrinsicCallForm::Float(2)),
    ("minimum", IntrinsicCallForm::Float(2)),
    ("maximum", IntrinsicCallForm::Float(2)),
    ("fma", IntrinsicCallForm::Float(3)),
    ("fptosi.sat", IntrinsicCallForm::Saturated),
    ("fptoui.sat", IntrinsicCallForm::Saturated),
    ("is.fpclass", IntrinsicCallForm::Class),
    ("vector.reduce.add", IntrinsicCallForm::Reduce),
    ("vector.reduce.mul", IntrinsicCallForm::Reduce),
    ("vector.reduce.and", IntrinsicCallForm::Reduce),
    ("vector.reduce.or", IntrinsicCallForm::Reduce),
    ("vector.reduce.xor", IntrinsicCallForm::Reduce),
    ("vector.reduce.smax", IntrinsicCallForm::Reduce),
    ("vector.reduce.smin", IntrinsicCallForm::Reduce),
    ("vector.reduce.umax", IntrinsicCallForm::Reduce),
    ("vector.reduce.umin", IntrinsicCallForm::Reduce),
    ("scmp", IntrinsicCallForm::Three),
    ("ucmp", IntrinsicCallForm::Three),
    ("smul.fix", IntrinsicCallForm::Fixed),
    ("umul.fix", IntrinsicCallForm::Fixed),
    ("smul.fix.sat", IntrinsicCallForm::Fixed),
    ("umul.fix.sat", IntrinsicCallForm::Fixed),
    ("clmul", IntrinsicCallForm::Carryless),
    ("experimental.cttz.elts", IntrinsicCallForm::First),
];

impl LlvmGenerator<'_, '_> {
    /// A call of one of the table.
    pub fn emit_intrinsic(&mut self) {
        let (name, form) = TABLE[self.c.choose_below(TABLE.len())];
        match form {
            IntrinsicCallForm::Int(count) => {
                let (ty, first) = self.choose_or_make_value(
                    |t| t.is_int() && t.bits() > 1,
                    Self::choose_integer_type,
                );
                self.emit_uniform_intrinsic(name, &ty, first, count);
            }
            IntrinsicCallForm::Float(count) => {
                let (ty, first) =
                    self.choose_or_make_value(GeneratedType::is_float, Self::choose_float_type);
                self.emit_uniform_intrinsic(name, &ty, first, count);
            }
            IntrinsicCallForm::Bytes => {
                let wanted = |t: &GeneratedType| t.is_int() && matches!(t.bits(), 16 | 32 | 64);
                let (ty, first) = self.choose_or_make_value(wanted, |_| GeneratedType::Int(32));
                self.emit_uniform_intrinsic(name, &ty, first, 1);
            }
            IntrinsicCallForm::Flagged => {
                let (ty, value) = self.choose_or_make_value(
                    |t| t.is_int() && t.bits() > 1,
                    Self::choose_integer_type,
                );
                let args = [
                    (ty.clone(), value),
                    (GeneratedType::BOOL, "false".to_owned()),
                ];
                self.emit_call(
                    &format!("llvm.{name}.{}", ty.intrinsic_suffix()),
                    &ty,
                    &args,
                );
            }
            IntrinsicCallForm::Overflow => {
                let (ty, left) = self
                    .choose_or_make_value(GeneratedType::is_whole_int, |_| GeneratedType::Int(32));
                let right = self.choose_value(&ty);
                let result =
                    GeneratedType::Struct(vec![ty.clone(), ty.with_scalar(GeneratedType::BOOL)]);
                let args = [(ty.clone(), left), (ty.clone(), right)];
                self.emit_call(
                    &format!("llvm.{name}.{}", ty.intrinsic_suffix()),
                    &result,
                    &args,
                );
            }
            IntrinsicCallForm::Saturated => {
                let (ty, value) =
                    self.choose_or_make_value(GeneratedType::is_float, Self::choose_float_type);
                let result =
                    ty.with_scalar(GeneratedType::Int([32, 8, 16, 64][self.c.choose_below(4)]));
                let name = format!(
                    "llvm.{name}.{}.{}",
                    result.intrinsic_suffix(),
                    ty.intrinsic_suffix()
                );
                self.emit_call(&name, &result, &[(ty, value)]);
            }
            IntrinsicCallForm::Class => {
                let (ty, value) =
                    self.choose_or_make_value(GeneratedType::is_float, Self::choose_float_type);
                let mask = (
                    GeneratedType::Int(32),
                    self.c.choose_below(1024).to_string(),
                );
                let result = ty.with_scalar(GeneratedType::BOOL);
                let name = format!("llvm.{name}.{}", ty.intrinsic_suffix());
                self.emit_call(&name, &result, &[(ty, value), mask]);
            }
            IntrinsicCallForm::Reduce => {
                let wanted = |t: &GeneratedType| t.is_whole_int() && t.lanes() > 1;
                let (ty, value) =
                    self.choose_or_make_value(wanted, |g| g.vector_of(GeneratedType::Int(32)));
                let result = ty.scalar().clone();
                self.emit_call(
                    &format!("llvm.{name}.{}", ty.intrinsic_suffix()),
                    &result,
                    &[(ty, value)],
                );
            }
            IntrinsicCallForm::Carryless => {
                let wanted = |t: &GeneratedType| t.is_int() && (2..=64).contains(&t.bits());
                let (ty, first) = self.choose_or_make_value(wanted, |_| GeneratedType::Int(16));
                self.emit_uniform_intrinsic(name, &ty, first, 2);
            }
            IntrinsicCallForm::Fixed => self.emit_fixed_product(name),
            IntrinsicCallForm::First => {
                let wanted = |t: &GeneratedType| t.is_int() && t.lanes() > 1 && t.bits() <= 64;
                let (ty, value) =
                    self.choose_or_make_value(wanted, |g| g.vector_of(GeneratedType::Int(32)));
                let result = GeneratedType::Int([32, 16, 64][self.c.choose_below(3)]);
                let name = format!(
                    "llvm.{name}.{}.{}",
                    result.intrinsic_suffix(),
                    ty.intrinsic_suffix()
                );
                let flag = (GeneratedType::BOOL, "false".to_owned());
                self.emit_call(&name, &result, &[(ty, value), flag]);
            }
            IntrinsicCallForm::Three => {
                let (ty, left) = self
                    .choose_or_make_value(GeneratedType::is_whole_int, |_| GeneratedType::Int(32));
                let right = self.choose_value(&ty);
                let result = ty.with_scalar(GeneratedType::Int([8, 32][self.c.choose_below(2)]));
                let name = format!(
                    "llvm.{name}.{}.{}",
                    result.intrinsic_suffix(),
                    ty.intrinsic_suffix()
                );
                self.emit_call(&name, &result, &[(ty.clone(), left), (ty, right)]);
            }
        }
    }

    /// A product of numbers with a fixed point, with any number of bits behind it.
    fn emit_fixed_product(&mut self, name: &str) {
        let wanted = |t: &GeneratedType| t.is_int() && (2..=64).contains(&t.bits());
        let (ty, left) = self.choose_or_make_value(wanted, |_| GeneratedType::Int(16));
        let right = self.choose_value(&ty);
        let most = ty.bits() as usize - usize::from(name.starts_with('s'));
        let scale = (
            GeneratedType::Int(32),
            self.c.choose_below(most + 1).to_string(),
        );
        let name = format!("llvm.{name}.{}", ty.intrinsic_suffix());
        self.emit_call(
            &name,
            &ty,
            &[(ty.clone(), left), (ty.clone(), right), scale],
        );
    }

    /// A call whose operands and result have one type.
    fn emit_uniform_intrinsic(
        &mut self,
        name: &str,
        ty: &GeneratedType,
        first: String,
        count: u32,
    ) {
        // The sum of halves that a fused product needs has more bits than a double.
        let mut args = vec![(ty.clone(), first)];
        for _ in 1..count {
            let value = self.choose_value(ty);
            args.push((ty.clone(), value));
        }
        self.emit_call(&format!("llvm.{name}.{}", ty.intrinsic_suffix()), ty, &args);
    }

    /// A call of a function that is declared.
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
    /// Whether it is of integers that fill bytes.
    fn is_whole_int(&self) -> bool {
        self.is_int() && self.is_whole()
    }
}
