//! Array expressions.

use super::SourceGenerator;
use super::scalar::{FoldOperator, LINEAR};
use super::types::{RandomScalar, RandomType, SIZES};

impl SourceGenerator<'_, '_> {
    /// An expression whose value is an array.
    pub(super) fn generate_array(
        &mut self,
        size: usize,
        element: &RandomType,
        depth: usize,
    ) -> String {
        let wanted = RandomType::array(size, element.clone());
        if depth == 0 {
            return self.generate_simple(size, element);
        }
        let depth = depth - 1;
        match self.choices.choose_below(20) {
            0 | 1 => self.generate_simple(size, element),
            2..5 => self.generate_map(size, element, depth),
            5 => self.generate_map2(size, element, depth),
            6 | 7 => self.generate_scan(size, element, depth),
            8 => self.generate_tabulation(size, element, depth),
            9 => self.generate_conditional(&wanted, depth),
            10 => self.generate_let(&wanted, depth),
            11 => self.generate_loop(&wanted, depth),
            12 => self.generate_order(&wanted, depth),
            13 => self.generate_scatter(size, element, depth),
            14 => self.generate_histogram(size, element, depth),
            15 => self.generate_update(size, element, depth),
            16 => self.generate_transposition(size, element, depth),
            17 => self.generate_unzipped(size, element, depth),
            18 => self.generate_split(size, element, depth),
            _ => match self.generate_call(&wanted, depth) {
                Some(call) => call,
                None => self.generate_map(size, element, depth),
            },
        }
    }

    /// A variable, or an array of equal elements.
    fn generate_simple(&mut self, size: usize, element: &RandomType) -> String {
        if let Some(name) = self.choose_variable(&RandomType::array(size, element.clone())) {
            return name;
        }
        if *element == RandomType::Scalar(RandomScalar::I64) && self.choices.choose_below(2) == 0 {
            return format!("(iota {})", SIZES[size]);
        }
        format!(
            "(replicate {} {})",
            SIZES[size],
            self.generate_value(element, 0)
        )
    }

    /// A type for the elements of an operand.
    fn choose_operand(&mut self) -> RandomType {
        let scalar = RandomType::Scalar(RandomScalar::choose(self.choices));
        match self.choices.choose_below(4) {
            3 => RandomType::array(self.choices.choose_below(2), scalar),
            _ => scalar,
        }
    }

    /// A function of one parameter.
    fn generate_lambda(
        &mut self,
        parameter: &RandomType,
        result: &RandomType,
        depth: usize,
    ) -> String {
        let name = self.fresh_name();
        let body = self.with_variable(&name, parameter, |generator| {
            generator.generate_value(result, depth)
        });
        format!("(\\({name}: {}) -> {body})", parameter.print())
    }

    fn generate_map(&mut self, size: usize, element: &RandomType, depth: usize) -> String {
        let operand = self.choose_operand();
        let array = self.generate_array(size, &operand, depth);
        let function = self.generate_lambda(&operand, element, depth);
        format!("(map {function} {array})")
    }

    fn generate_map2(&mut self, size: usize, element: &RandomType, depth: usize) -> String {
        let (first, second) = (self.choose_operand(), self.choose_operand());
        let left = self.generate_array(size, &first, depth);
        let right = self.generate_array(size, &second, depth);
        let name = self.fresh_name();
        let function = self.with_variable(&name, &first, |generator| {
            generator.generate_lambda(&second, element, depth)
        });
        format!(
            "(map2 (\\({name}: {}) -> {function}) {left} {right})",
            first.print()
        )
    }

    /// A scan of scalars, or a scan of each row.
    fn generate_scan(&mut self, size: usize, element: &RandomType, depth: usize) -> String {
        let RandomType::Scalar(scalar) = *element else {
            return self.generate_map(size, element, depth);
        };
        if scalar.is_float() {
            return self.generate_map(size, element, depth);
        }
        let array = self.generate_array(size, element, depth);
        if scalar.is_integer() && self.choices.choose_below(3) == 1 {
            let factors = self.generate_array(size, element, depth);
            let name = scalar.name();
            return format!("(unzip (scan {LINEAR} (1{name}, 0{name}) (zip {factors} {array}))).1");
        }
        let FoldOperator { operator, neutral } = self.choose_fold(scalar);
        format!("(scan {operator} {neutral} {array})")
    }

    fn generate_tabulation(&mut self, size: usize, element: &RandomType, depth: usize) -> String {
        let index = RandomType::Scalar(RandomScalar::I64);
        let function = self.generate_lambda(&index, element, depth);
        format!("(tabulate {} {function})", SIZES[size])
    }

    /// The same elements in another order.
    fn generate_order(&mut self, wanted: &RandomType, depth: usize) -> String {
        let array = self.generate_value(wanted, depth);
        if self.choices.choose_below(2) == 0 {
            return format!("(reverse {array})");
        }
        let distance = self.generate_scalar(RandomScalar::I64, 1);
        format!("(rotate ({distance} % 5) {array})")
    }

    /// Writes to positions that are not equal, of which some may not exist.
    fn generate_scatter(&mut self, size: usize, element: &RandomType, depth: usize) -> String {
        let wanted = RandomType::array(size, element.clone());
        let target = self.generate_value(&wanted, depth);
        let other = self.choices.choose_below(2);
        let values = self.generate_array(other, element, depth);
        let first = ["0", "1", "(-2)"][self.choices.choose_below(3)];
        let positions = format!("(map (\\i -> i * 2 + {first}) (iota {}))", SIZES[other]);
        format!("(scatter (copy {target}) {positions} {values})")
    }

    fn generate_histogram(&mut self, size: usize, element: &RandomType, depth: usize) -> String {
        let RandomType::Scalar(scalar) = *element else {
            return self.generate_map(size, element, depth);
        };
        if scalar.is_float() {
            return self.generate_map(size, element, depth);
        }
        let other = self.choices.choose_below(2);
        let FoldOperator { operator, neutral } = self.choose_fold(scalar);
        let bins = self.generate_array(other, &RandomType::Scalar(RandomScalar::I64), depth);
        let values = self.generate_array(other, element, depth);
        let name = SIZES[size];
        if self.choices.choose_below(2) == 0 {
            return format!("(hist {operator} {neutral} {name} {bins} {values})");
        }
        let target = self.generate_array(size, element, depth);
        format!("(reduce_by_index (copy {target}) {operator} {neutral} {bins} {values})")
    }

    /// An array with an element replaced, once or in a loop.
    fn generate_update(&mut self, size: usize, element: &RandomType, depth: usize) -> String {
        let wanted = RandomType::array(size, element.clone());
        let target = self.generate_value(&wanted, depth);
        let index = self.generate_scalar(RandomScalar::I64, depth);
        let name = SIZES[size];
        if self.choices.choose_below(2) == 0 || wanted.rank() > 1 {
            let value = self.generate_value(element, depth);
            return format!("(copy {target} with [{index} % {name}] = {value})");
        }
        let (state, counter) = (self.fresh_name(), self.fresh_name());
        let value = self.with_variable(&state, &wanted, |generator| {
            let count = RandomType::Scalar(RandomScalar::I64);
            generator.with_variable(&counter, &count, |generator| {
                generator.generate_value(element, depth)
            })
        });
        let position = format!("({index} + {counter}) % {name}");
        format!(
            "(loop {state} = copy {target} for {counter} < m do \
             let v = {value} in {state} with [{position}] = v)"
        )
    }

    fn generate_transposition(
        &mut self,
        size: usize,
        element: &RandomType,
        depth: usize,
    ) -> String {
        match element {
            RandomType::Array(inner, scalar) => {
                let column = RandomType::array(size, (**scalar).clone());
                let columns = self.generate_array(*inner, &column, depth);
                format!("(transpose {columns})")
            }
            _ => self.generate_tabulation(size, element, depth),
        }
    }

    /// One of several results of a map.
    fn generate_unzipped(&mut self, size: usize, element: &RandomType, depth: usize) -> String {
        let operand = self.choose_operand();
        let other = RandomType::Scalar(RandomScalar::choose(self.choices));
        let array = self.generate_array(size, &operand, depth);
        let number = self.choices.choose_below(2);
        let pair = match number {
            0 => vec![element.clone(), other],
            _ => vec![other, element.clone()],
        };
        let function = self.generate_lambda(&operand, &RandomType::Tuple(pair), depth);
        format!("(unzip (map {function} {array})).{number}")
    }

    /// An array that is taken apart and put together again.
    fn generate_split(&mut self, size: usize, element: &RandomType, depth: usize) -> String {
        let array = self.generate_array(size, element, depth);
        let count = self.generate_scalar(RandomScalar::I64, depth);
        let (whole, at) = (self.fresh_name(), self.fresh_name());
        let name = SIZES[size];
        format!(
            "(let {whole} = {array} let {at} = {count} % ({name} + 1) \
             in concat (drop {at} {whole}) (take {at} {whole}) :> {})",
            RandomType::array(size, element.clone()).print()
        )
    }
}
