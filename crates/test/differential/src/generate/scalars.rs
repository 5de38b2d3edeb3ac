//! Arithmetic, comparisons and conversions, of scalars and of vectors.

use super::generator::LlvmGenerator;
use super::types::GeneratedType;

const INT: &[&str] = &["add", "sub", "mul", "and", "or", "xor"];
const FLOAT: &[&str] = &["fadd", "fsub", "fmul", "fdiv"];
const SHIFT: &[&str] = &["shl", "lshr", "ashr"];
const DIVISION: &[&str] = &["udiv", "urem", "sdiv", "srem"];
const INT_COMPARE: &[&str] = &[
    "eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle",
];
const FLOAT_COMPARE: &[&str] = &[
    "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une",
    "uno", "false", "true",
];

/// A constant of equal components.
fn splat_constant(ty: &GeneratedType, value: i64) -> String {
    match ty {
        GeneratedType::Vector(element, count) => {
            let all = vec![format!("{element} {value}"); *count as usize];
            format!("<{}>", all.join(", "))
        }
        GeneratedType::Int(1) => (value & 1 != 0).to_string(),
        _ => value.to_string(),
    }
}

impl LlvmGenerator<'_, '_> {
    fn choose_name(&mut self, of: &[&'static str]) -> &'static str {
        of[self.c.choose_below(of.len())]
    }

    fn some_int(&mut self) -> (GeneratedType, String) {
        self.choose_or_make_value(GeneratedType::is_int, Self::choose_integer_type)
    }

    fn some_float(&mut self) -> (GeneratedType, String) {
        self.choose_or_make_value(GeneratedType::is_float, Self::choose_float_type)
    }

    /// Integer arithmetic.
    pub fn emit_binary(&mut self) {
        let (ty, left) = self.some_int();
        let right = self.choose_value(&ty);
        let op = self.choose_name(INT);
        let wraps = matches!(op, "add" | "sub" | "mul");
        let flags = match self.c.choose_below(12) {
            10 if wraps => "nsw ",
            11 if wraps => "nuw ",
            _ => "",
        };
        self.emit_value(&ty, &format!("{op} {flags}{ty} {left}, {right}"));
    }

    /// A shift, nearly always by less than the width.
    pub fn emit_shift(&mut self) {
        let (ty, left) =
            self.choose_or_make_value(|t| t.is_int() && t.bits() > 1, Self::choose_integer_type);
        let mut by = self.choose_value(&ty);
        if !self.one_in(16) {
            let bits = i64::from(ty.bits());
            let (op, bound) = if ty.bits().is_power_of_two() {
                ("and", bits - 1)
            } else {
                ("urem", bits.min(i64::MAX >> (64 - bits)))
            };
            by = self.emit_hidden_value(&format!("{op} {ty} {by}, {}", splat_constant(&ty, bound)));
        }
        let op = self.choose_name(SHIFT);
        self.emit_value(&ty, &format!("{op} {ty} {left}, {by}"));
    }

    /// A division whose divisor is not zero nor, where it matters, negative.
    pub fn emit_division(&mut self) {
        let (ty, left) =
            self.choose_or_make_value(|t| t.is_int() && t.bits() > 2, Self::choose_integer_type);
        let divisor = self.choose_value(&ty);
        let op = self.choose_name(DIVISION);
        let positive = i64::MAX >> (64 - ty.bits());
        let bounded = match op {
            "sdiv" | "srem" => self.emit_hidden_value(&format!(
                "and {ty} {divisor}, {}",
                splat_constant(&ty, positive)
            )),
            _ => divisor,
        };
        let divisor =
            self.emit_hidden_value(&format!("or {ty} {bounded}, {}", splat_constant(&ty, 1)));
        self.emit_value(&ty, &format!("{op} {ty} {left}, {divisor}"));
    }

    /// Floating-point arithmetic.
    pub fn float_binary(&mut self) {
        let (ty, left) = self.some_float();
        let right = self.choose_value(&ty);
        let op = if self.one_in(16) {
            "frem"
        } else {
            self.choose_name(FLOAT)
        };
        self.emit_value(&ty, &format!("{op} {ty} {left}, {right}"));
    }

    /// A negated float.
    pub fn emit_negation(&mut self) {
        let (ty, value) = self.some_float();
        self.emit_value(&ty, &format!("fneg {ty} {value}"));
    }

    /// A comparison, of integers or of floats.
    pub fn emit_compare(&mut self) -> GeneratedType {
        let (ty, left) = if self.one_in(3) {
            self.some_float()
        } else {
            self.some_int()
        };
        let right = self.choose_value(&ty);
        let (op, predicate) = if ty.is_float() {
            ("fcmp", self.choose_name(FLOAT_COMPARE))
        } else {
            ("icmp", self.choose_name(INT_COMPARE))
        };
        let truth = ty.with_scalar(GeneratedType::BOOL);
        self.emit_value(&truth, &format!("{op} {predicate} {ty} {left}, {right}"));
        truth
    }

    /// A condition for a branch.
    pub fn make_condition(&mut self) -> String {
        if self.body.values.iter().all(|v| v.0 != GeneratedType::BOOL) || self.one_in(2) {
            let (ty, left) = self.choose_or_make_value(
                |t| matches!(t, GeneratedType::Int(w) if *w > 1),
                |g| GeneratedType::Int(g.choose_width()),
            );
            let right = self.choose_value(&ty);
            let predicate = self.choose_name(INT_COMPARE);
            self.emit_value(
                &GeneratedType::BOOL,
                &format!("icmp {predicate} {ty} {left}, {right}"),
            );
        }
        let value = self.choose_variable(&GeneratedType::BOOL);
        // A branch on a value that may be anything would be undefined, and so would an overflow.
        self.emit_hidden_value(&format!("freeze i1 {value}"))
    }

    /// A selection, for the whole value or component by component.
    pub fn emit_select(&mut self) {
        let (ty, left) = self.choose_or_make_value(|_| true, Self::choose_value_type);
        let right = self.choose_value(&ty);
        let by_lane = matches!(ty, GeneratedType::Vector(..)) && self.one_in(2);
        let truth = if by_lane {
            ty.with_scalar(GeneratedType::BOOL)
        } else {
            GeneratedType::BOOL
        };
        let condition = self.choose_value(&truth);
        self.emit_value(
            &ty,
            &format!("select {truth} {condition}, {ty} {left}, {ty} {right}"),
        );
    }

    /// `freeze`.
    pub fn emit_freeze(&mut self) {
        let (ty, value) = self.choose_or_make_value(|t| !t.is_aggregate(), Self::choose_value_type);
        self.emit_value(&ty, &format!("freeze {ty} {value}"));
    }

    /// A conversion to another width or type of number.
    pub fn emit_conversion(&mut self) {
        let (ty, value) = self.choose_or_make_value(|t| !t.is_aggregate(), Self::choose_value_type);
        let mut wanted = match self.c.choose_below(2) {
            0 => GeneratedType::Int(self.choose_width()),
            _ => GeneratedType::Float([32, 64, 16][self.c.choose_below(3)]),
        };
        if ty.lanes() > 1 && !wanted.is_whole() {
            wanted = GeneratedType::Int(32);
        }
        let (from, to) = (ty.bits(), wanted.bits());
        let signed = self.one_in(2);
        let op = match (ty.is_int(), wanted.is_int()) {
            (true, true) if to < from => "trunc",
            (true, true) if to > from && signed => "sext",
            (true, true) if to > from => "zext",
            (true, false) if signed => "sitofp",
            (true, false) => "uitofp",
            (false, true) if signed => "fptosi",
            (false, true) => "fptoui",
            (false, false) if to < from => "fptrunc",
            (false, false) if to > from => "fpext",
            _ => return,
        };
        let result = ty.with_scalar(wanted);
        self.emit_value(&result, &format!("{op} {ty} {value} to {result}"));
    }

    /// A bit cast to another type.
    pub fn emit_bitcast(&mut self) {
        let (ty, value) =
            self.choose_or_make_value(GeneratedType::is_whole, Self::choose_value_type);
        let total = ty.bits() * ty.lanes();
        let width = [8, 16, 32, 64][self.c.choose_below(4)];
        let lanes = total / width;
        if ty.lanes() == 3 && width != ty.bits()
            || lanes * width != total
            || !matches!(lanes, 1..=4 | 8 | 16)
        {
            return;
        }
        let scalar = if width > 8 && self.one_in(2) {
            GeneratedType::Float(width)
        } else {
            GeneratedType::Int(width)
        };
        let wanted = match lanes {
            1 if ty.lanes() == 1 || self.one_in(2) => scalar,
            1 => return,
            _ => GeneratedType::Vector(Box::new(scalar), lanes),
        };
        self.emit_value(&wanted, &format!("bitcast {ty} {value} to {wanted}"));
    }
}
