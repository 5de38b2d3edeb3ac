//! Operands of instructions: available values and constants.

use super::generator::LlvmGenerator;
use super::types::GeneratedType;

const FLOATS: &[f64] = &[
    1.0,
    0.0,
    -0.0,
    -1.0,
    0.5,
    2.0,
    -3.0,
    1.5,
    100.0,
    0.1,
    -1e-3,
    65000.0,
    1e10,
    -1e30,
    1e-40,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

impl LlvmGenerator<'_, '_> {
    /// A value of a type.
    pub fn choose_value(&mut self, ty: &GeneratedType) -> String {
        if self.one_in(5) {
            self.make_constant(ty)
        } else {
            self.choose_variable(ty)
        }
    }

    /// A value that is not constant, if one of the type is available; recent values are preferred.
    pub fn choose_variable(&mut self, ty: &GeneratedType) -> String {
        let all = self.body.values.iter().filter(|v| v.0 == *ty);
        let found: Vec<&String> = all.rev().take(8).map(|v| &v.1).collect();
        if found.is_empty() {
            return self.make_constant(ty);
        }
        let at = self.c.choose_below(found.len());
        found[at].clone()
    }

    /// An available value whose type satisfies a predicate.
    pub fn choose_existing(
        &mut self,
        is_wanted: impl Fn(&GeneratedType) -> bool,
    ) -> Option<(GeneratedType, String)> {
        let all = self.body.values.iter().filter(|v| is_wanted(&v.0));
        let found: Vec<&(GeneratedType, String)> = all.rev().take(12).collect();
        let at = match found.len() {
            0 => return None,
            n => self.c.choose_below(n),
        };
        Some(found[at].clone())
    }

    /// A value whose type satisfies a predicate, or else a constant of another type.
    pub fn choose_or_make_value(
        &mut self,
        is_wanted: impl Fn(&GeneratedType) -> bool,
        or: impl Fn(&mut Self) -> GeneratedType,
    ) -> (GeneratedType, String) {
        match self.choose_existing(is_wanted) {
            Some(found) => found,
            None => {
                let ty = or(self);
                let value = self.make_constant(&ty);
                (ty, value)
            }
        }
    }

    /// A constant of a type.
    pub fn make_constant(&mut self, ty: &GeneratedType) -> String {
        match ty {
            GeneratedType::Int(1) => ["false", "true"][self.c.choose_below(2)].to_owned(),
            GeneratedType::Int(width) => self.int_constant(*width).to_string(),
            GeneratedType::Float(width) => {
                let value = FLOATS[self.c.choose_below(FLOATS.len())];
                float_text(*width, value)
            }
            _ if self.one_in(4) => "zeroinitializer".to_owned(),
            GeneratedType::Vector(element, count) => {
                let all = self.make_constants(std::iter::repeat_n(&**element, *count as usize));
                format!("<{all}>")
            }
            GeneratedType::Array(element, count) => {
                let all = self.make_constants(std::iter::repeat_n(&**element, *count as usize));
                format!("[{all}]")
            }
            GeneratedType::Struct(fields) => {
                let all = self.make_constants(fields.iter());
                format!("{{ {all} }}")
            }
        }
    }

    fn make_constants<'t>(&mut self, types: impl Iterator<Item = &'t GeneratedType>) -> String {
        let all: Vec<String> = types
            .map(|ty| format!("{ty} {}", self.make_constant(ty)))
            .collect();
        all.join(", ")
    }

    fn int_constant(&mut self, width: u32) -> i64 {
        let high = i64::MAX >> (64 - width);
        let value = match self.c.choose_below(10) {
            0 => 1,
            1 => 0,
            2 => -1,
            3 => high,
            4 => -high - 1,
            5 => 1 << self.c.choose_below(width as usize),
            _ => self.c.choose_below(256) as i64,
        };
        // Within the signed range.
        (value << (64 - width)) >> (64 - width)
    }
}

/// A float of a width in LLVM's syntax.
fn float_text(width: u32, value: f64) -> String {
    match width {
        16 => {
            let bits = crate::evaluate::half_bits(value);
            format!("0xH{bits:04X}")
        }
        32 => {
            let value = f64::from(value as f32);
            format!("0x{:016X}", value.to_bits())
        }
        _ => format!("0x{:016X}", value.to_bits()),
    }
}
