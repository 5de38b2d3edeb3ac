//! LLVM's intrinsics, one row each.

use super::Generator;
use super::types::Ty;

/// What an intrinsic takes and gives.
#[derive(Clone, Copy)]
enum Form {
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

const TABLE: &[(&str, Form)] = &[
    ("smax", Form::Int(2)),
    ("smin", Form::Int(2)),
    ("umax", Form::Int(2)),
    ("umin", Form::Int(2)),
    ("sadd.sat", Form::Int(2)),
    ("uadd.sat", Form::Int(2)),
    ("ssub.sat", Form::Int(2)),
    ("usub.sat", Form::Int(2)),
    ("fshl", Form::Int(3)),
    ("fshr", Form::Int(3)),
    ("ctpop", Form::Int(1)),
    ("bitreverse", Form::Int(1)),
    ("abs", Form::Flagged),
    ("ctlz", Form::Flagged),
    ("cttz", Form::Flagged),
    ("bswap", Form::Bytes),
    ("sadd.with.overflow", Form::Overflow),
    ("uadd.with.overflow", Form::Overflow),
    ("ssub.with.overflow", Form::Overflow),
    ("usub.with.overflow", Form::Overflow),
    ("smul.with.overflow", Form::Overflow),
    ("umul.with.overflow", Form::Overflow),
    ("fabs", Form::Float(1)),
    ("sqrt", Form::Float(1)),
    ("floor", Form::Float(1)),
    ("ceil", Form::Float(1)),
    ("trunc", Form::Float(1)),
    ("rint", Form::Float(1)),
    ("roundeven", Form::Float(1)),
    ("round", Form::Float(1)),
    ("copysign", Form::Float(2)),
    ("minnum", Form::Float(2)),
    ("maxnum", Form::Float(2)),
    ("minimum", Form::Float(2)),
    ("maximum", Form::Float(2)),
    ("fma", Form::Float(3)),
    ("fptosi.sat", Form::Saturated),
    ("fptoui.sat", Form::Saturated),
    ("is.fpclass", Form::Class),
    ("vector.reduce.add", Form::Reduce),
    ("vector.reduce.mul", Form::Reduce),
    ("vector.reduce.and", Form::Reduce),
    ("vector.reduce.or", Form::Reduce),
    ("vector.reduce.xor", Form::Reduce),
    ("vector.reduce.smax", Form::Reduce),
    ("vector.reduce.smin", Form::Reduce),
    ("vector.reduce.umax", Form::Reduce),
    ("vector.reduce.umin", Form::Reduce),
    ("scmp", Form::Three),
    ("ucmp", Form::Three),
    ("smul.fix", Form::Fixed),
    ("umul.fix", Form::Fixed),
    ("smul.fix.sat", Form::Fixed),
    ("umul.fix.sat", Form::Fixed),
    ("clmul", Form::Carryless),
    ("experimental.cttz.elts", Form::First),
];

impl Generator<'_, '_> {
    /// A call of one of the table.
    pub fn intrinsic(&mut self) {
        let (name, form) = TABLE[self.c.below(TABLE.len())];
        match form {
            Form::Int(count) => {
                let (ty, first) = self.some(|t| t.is_int() && t.bits() > 1, Self::integer);
                self.same(name, &ty, first, count);
            }
            Form::Float(count) => {
                let (ty, first) = self.some(Ty::is_float, Self::float);
                self.same(name, &ty, first, count);
            }
            Form::Bytes => {
                let wanted = |t: &Ty| t.is_int() && matches!(t.bits(), 16 | 32 | 64);
                let (ty, first) = self.some(wanted, |_| Ty::Int(32));
                self.same(name, &ty, first, 1);
            }
            Form::Flagged => {
                let (ty, value) = self.some(|t| t.is_int() && t.bits() > 1, Self::integer);
                let args = [(ty.clone(), value), (Ty::BOOL, "false".to_owned())];
                self.call(&format!("llvm.{name}.{}", ty.suffix()), &ty, &args);
            }
            Form::Overflow => {
                let (ty, left) = self.some(Ty::is_whole_int, |_| Ty::Int(32));
                let right = self.value(&ty);
                let result = Ty::Struct(vec![ty.clone(), ty.with(Ty::BOOL)]);
                let args = [(ty.clone(), left), (ty.clone(), right)];
                self.call(&format!("llvm.{name}.{}", ty.suffix()), &result, &args);
            }
            Form::Saturated => {
                let (ty, value) = self.some(Ty::is_float, Self::float);
                let result = ty.with(Ty::Int([32, 8, 16, 64][self.c.below(4)]));
                let name = format!("llvm.{name}.{}.{}", result.suffix(), ty.suffix());
                self.call(&name, &result, &[(ty, value)]);
            }
            Form::Class => {
                let (ty, value) = self.some(Ty::is_float, Self::float);
                let mask = (Ty::Int(32), self.c.below(1024).to_string());
                let result = ty.with(Ty::BOOL);
                let name = format!("llvm.{name}.{}", ty.suffix());
                self.call(&name, &result, &[(ty, value), mask]);
            }
            Form::Reduce => {
                let wanted = |t: &Ty| t.is_whole_int() && t.lanes() > 1;
                let (ty, value) = self.some(wanted, |g| g.vector_of(Ty::Int(32)));
                let result = ty.scalar().clone();
                self.call(
                    &format!("llvm.{name}.{}", ty.suffix()),
                    &result,
                    &[(ty, value)],
                );
            }
            Form::Carryless => {
                let wanted = |t: &Ty| t.is_int() && (2..=64).contains(&t.bits());
                let (ty, first) = self.some(wanted, |_| Ty::Int(16));
                self.same(name, &ty, first, 2);
            }
            Form::Fixed => self.fixed(name),
            Form::First => {
                let wanted = |t: &Ty| t.is_int() && t.lanes() > 1 && t.bits() <= 64;
                let (ty, value) = self.some(wanted, |g| g.vector_of(Ty::Int(32)));
                let result = Ty::Int([32, 16, 64][self.c.below(3)]);
                let name = format!("llvm.{name}.{}.{}", result.suffix(), ty.suffix());
                let flag = (Ty::BOOL, "false".to_owned());
                self.call(&name, &result, &[(ty, value), flag]);
            }
            Form::Three => {
                let (ty, left) = self.some(Ty::is_whole_int, |_| Ty::Int(32));
                let right = self.value(&ty);
                let result = ty.with(Ty::Int([8, 32][self.c.below(2)]));
                let name = format!("llvm.{name}.{}.{}", result.suffix(), ty.suffix());
                self.call(&name, &result, &[(ty.clone(), left), (ty, right)]);
            }
        }
    }

    /// A product of numbers with a fixed point, with any number of bits behind it.
    fn fixed(&mut self, name: &str) {
        let wanted = |t: &Ty| t.is_int() && (2..=64).contains(&t.bits());
        let (ty, left) = self.some(wanted, |_| Ty::Int(16));
        let right = self.value(&ty);
        let most = ty.bits() as usize - usize::from(name.starts_with('s'));
        let scale = (Ty::Int(32), self.c.below(most + 1).to_string());
        let name = format!("llvm.{name}.{}", ty.suffix());
        self.call(
            &name,
            &ty,
            &[(ty.clone(), left), (ty.clone(), right), scale],
        );
    }

    /// A call whose operands and result have one type.
    fn same(&mut self, name: &str, ty: &Ty, first: String, count: u32) {
        // The sum of halves that a fused product needs has more bits than a double.
        let mut args = vec![(ty.clone(), first)];
        for _ in 1..count {
            let value = self.value(ty);
            args.push((ty.clone(), value));
        }
        self.call(&format!("llvm.{name}.{}", ty.suffix()), ty, &args);
    }

    /// A call of a function that is declared.
    pub fn call(&mut self, name: &str, result: &Ty, args: &[(Ty, String)]) {
        let types: Vec<String> = args.iter().map(|a| a.0.to_string()).collect();
        let declaration = format!("declare {result} @{name}({})\n", types.join(", "));
        self.declared.insert(declaration);
        let given: Vec<String> = args
            .iter()
            .map(|(ty, value)| format!("{ty} {value}"))
            .collect();
        self.put(
            result,
            &format!("call {result} @{name}({})", given.join(", ")),
        );
    }
}

impl Ty {
    /// Whether it is of integers that fill bytes.
    fn is_whole_int(&self) -> bool {
        self.is_int() && self.is_whole()
    }
}
