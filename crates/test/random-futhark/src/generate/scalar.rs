//! Scalar expressions.

use super::SourceGenerator;
use super::types::{RandomScalar, RandomType, SIZES};

/// An associative operator with its neutral element.
pub(super) struct FoldOperator {
    pub(super) operator: String,
    pub(super) neutral: String,
}

impl SourceGenerator<'_, '_> {
    /// An expression of a scalar type.
    pub(super) fn generate_scalar(&mut self, scalar: RandomScalar, depth: usize) -> String {
        if depth == 0 {
            return self.generate_leaf(scalar);
        }
        let wanted = RandomType::Scalar(scalar);
        let depth = depth - 1;
        match self.choices.choose_below(15) {
            0 | 1 => self.generate_leaf(scalar),
            2 | 3 => self.generate_operation(scalar, depth),
            4 => self.generate_conversion(scalar, depth),
            5 => self.generate_conditional(&wanted, depth),
            6 => self.generate_let(&wanted, depth),
            7 => self.generate_loop(&wanted, depth),
            8 => self.generate_element(scalar, depth),
            9 | 10 => self.generate_reduction(scalar, depth),
            11 => self.generate_match(&wanted, depth),
            12 => self.generate_projection(&wanted, depth),
            13 => self.generate_filtered(scalar, depth),
            _ => match self.generate_call(&wanted, depth) {
                Some(call) => call,
                None => self.generate_operation(scalar, depth),
            },
        }
    }

    /// A variable or a literal.
    fn generate_leaf(&mut self, scalar: RandomScalar) -> String {
        if self.choices.choose_below(4) < 3
            && let Some(name) = self.choose_variable(&RandomType::Scalar(scalar))
        {
            return name;
        }
        if scalar == RandomScalar::I64 && self.choices.choose_below(3) == 1 {
            return SIZES[self.choices.choose_below(2)].to_owned();
        }
        self.generate_literal(scalar)
    }

    /// A literal.
    pub(super) fn generate_literal(&mut self, scalar: RandomScalar) -> String {
        let name = scalar.name();
        let literals: &[&str] = match scalar {
            RandomScalar::Bool => {
                return ["false", "true"][self.choices.choose_below(2)].to_owned();
            }
            RandomScalar::F32 | RandomScalar::F64 => &["0", "1", "0.5", "-2.25", "1000", "3.125"],
            _ if scalar.is_unsigned() => &["0", "1", "2", "3", "7", "100", "highest"],
            _ => &["0", "1", "2", "3", "7", "100", "-1", "lowest", "highest"],
        };
        match *self.choices.choose_one(literals).unwrap_or(&"0") {
            extreme @ ("lowest" | "highest") => format!("{name}.{extreme}"),
            negative if negative.starts_with('-') => format!("({negative}{name})"),
            literal => format!("{literal}{name}"),
        }
    }

    /// Operators with scalar operands.
    fn generate_operation(&mut self, scalar: RandomScalar, depth: usize) -> String {
        if scalar == RandomScalar::Bool {
            return self.generate_condition(depth);
        }
        let name = scalar.name();
        let left = self.generate_scalar(scalar, depth);
        if scalar.is_float() {
            let operator = ["+", "-", "*"][self.choices.choose_below(3)];
            let right = self.generate_scalar(scalar, depth);
            return format!("({left} {operator} {right})");
        }
        match self.choices.choose_below(14) {
            number @ 0..6 => {
                let operator = ["+", "-", "*", "&", "|", "^"][number];
                let right = self.generate_scalar(scalar, depth);
                format!("({left} {operator} {right})")
            }
            number @ 6..10 => {
                let operator = ["/", "%", "//", "%%"][number - 6];
                let right = self.generate_scalar(scalar, depth);
                format!("({left} {operator} (({right} & 7) + 1))")
            }
            number @ 10..12 => {
                let operator = ["<<", ">>"][number - 10];
                let right = self.generate_scalar(scalar, depth);
                format!("({left} {operator} ({right} & 7))")
            }
            12 => {
                let function = ["max", "min"][self.choices.choose_below(2)];
                let right = self.generate_scalar(scalar, depth);
                format!("({name}.{function} {left} {right})")
            }
            _ => {
                let prefix = ["!", "0 - "][self.choices.choose_below(2)];
                format!("({prefix}{left})")
            }
        }
    }

    /// Comparisons and operators of conditions.
    fn generate_condition(&mut self, depth: usize) -> String {
        let operand = match self.choices.choose_below(3) {
            0 => RandomScalar::choose(self.choices),
            _ => RandomScalar::I32,
        };
        match self.choices.choose_below(6) {
            number @ 0..3 => {
                let operator = ["<", "<=", "=="][number];
                let left = self.generate_scalar(operand, depth);
                let right = self.generate_scalar(operand, depth);
                format!("({left} {operator} {right})")
            }
            number @ 3..5 => {
                let operator = ["&&", "||"][number - 3];
                let left = self.generate_scalar(RandomScalar::Bool, depth);
                let right = self.generate_scalar(RandomScalar::Bool, depth);
                format!("({left} {operator} {right})")
            }
            _ => format!("(!{})", self.generate_scalar(RandomScalar::Bool, depth)),
        }
    }

    /// A conversion. Integers do not become of numbers that they may not have.
    fn generate_conversion(&mut self, scalar: RandomScalar, depth: usize) -> String {
        let source = if scalar == RandomScalar::Bool || scalar.is_integer() {
            RandomScalar::choose_exact(self.choices)
        } else {
            RandomScalar::choose(self.choices)
        };
        let operand = self.generate_scalar(source, depth);
        format!("({}.{} {operand})", scalar.name(), source.name())
    }

    /// An element of an array.
    fn generate_element(&mut self, scalar: RandomScalar, depth: usize) -> String {
        let size = self.choices.choose_below(2);
        let array =
            self.generate_value(&RandomType::array(size, RandomType::Scalar(scalar)), depth);
        let index = self.generate_scalar(RandomScalar::I64, depth);
        let name = self.fresh_name();
        format!(
            "(let {name} = {array} in {name}[{index} % {}])",
            SIZES[size]
        )
    }

    /// A field of a tuple.
    fn generate_projection(&mut self, wanted: &RandomType, depth: usize) -> String {
        let other = RandomType::choose_plain(self.choices);
        let parts = vec![wanted.clone(), other];
        let tuple = self.generate_value(&RandomType::Tuple(parts), depth);
        format!("({tuple}).0")
    }

    /// A reduction of an array.
    fn generate_reduction(&mut self, scalar: RandomScalar, depth: usize) -> String {
        if scalar.is_float() {
            return self.generate_operation(scalar, depth);
        }
        let size = self.choices.choose_below(2);
        let elements = RandomType::array(size, RandomType::Scalar(scalar));
        if scalar.is_integer() && self.choices.choose_below(3) == 1 {
            let factors = self.generate_value(&elements, depth);
            let terms = self.generate_value(&elements, depth);
            let name = scalar.name();
            return format!("(reduce {LINEAR} (1{name}, 0{name}) (zip {factors} {terms})).1");
        }
        let FoldOperator { operator, neutral } = self.choose_fold(scalar);
        if self.choices.choose_below(4) == 1 {
            // The size of the array varies.
            let count = self.generate_scalar(RandomScalar::I64, depth);
            let index = self.fresh_name();
            let index_type = RandomType::Scalar(RandomScalar::I64);
            let element = self.with_variable(&index, &index_type, |generator| {
                generator.generate_scalar(scalar, depth)
            });
            return format!(
                "(reduce {operator} {neutral} (map (\\{index} -> {element}) (iota ({count} % 4))))"
            );
        }
        let array = self.generate_value(&elements, depth);
        format!("(reduce {operator} {neutral} {array})")
    }

    /// A reduction of some elements of an array.
    fn generate_filtered(&mut self, scalar: RandomScalar, depth: usize) -> String {
        if scalar.is_float() {
            return self.generate_operation(scalar, depth);
        }
        let size = self.choices.choose_below(2);
        let element = RandomType::Scalar(scalar);
        let array = self.generate_value(&RandomType::array(size, element.clone()), depth);
        let name = self.fresh_name();
        let condition = self.with_variable(&name, &element, |generator| {
            generator.generate_scalar(RandomScalar::Bool, depth)
        });
        let kept = format!("(filter (\\{name} -> {condition}) {array})");
        if scalar == RandomScalar::I64 && self.choices.choose_below(2) == 1 {
            return format!("(length {kept})");
        }
        let FoldOperator { operator, neutral } = self.choose_fold(scalar);
        format!("(reduce {operator} {neutral} {kept})")
    }

    /// Chooses an operator that is associative.
    pub(super) fn choose_fold(&mut self, scalar: RandomScalar) -> FoldOperator {
        let name = scalar.name();
        let (operator, neutral) = if scalar == RandomScalar::Bool {
            let rows = [("(&&)", "true"), ("(||)", "false")];
            let (operator, neutral) = rows[self.choices.choose_below(2)];
            (operator.to_owned(), neutral.to_owned())
        } else {
            match self.choices.choose_below(6) {
                0 => ("(+)".to_owned(), format!("0{name}")),
                1 => ("(*)".to_owned(), format!("1{name}")),
                2 => (format!("{name}.max"), format!("{name}.lowest")),
                3 => (format!("{name}.min"), format!("{name}.highest")),
                4 => ("(|)".to_owned(), format!("0{name}")),
                _ => ("(^)".to_owned(), format!("0{name}")),
            }
        };
        FoldOperator { operator, neutral }
    }
}

/// Composition of linear functions: associative, not commutative.
pub(super) const LINEAR: &str = "(\\(a, b) (c, d) -> (a * c, b * c + d))";
