//! A generator of random Futhark programs.
//!
//! A program has some functions over arrays of the sizes `n` and `m`, and `main`. Programs are well-typed, their loops
//! end, and nothing fails when they run: indices are taken modulo sizes, divisors are positive. Operators of reductions,
//! scans and histograms are associative, so that the order of folding does not change results.

mod array;
mod program;
mod scalar;
mod types;

pub use program::{RandomProgram, generate_program};

use spirula_testing::ChoiceSequence;
use types::{RandomScalar, RandomType};

/// A variable in scope.
#[derive(Clone, Debug)]
struct RandomVariable {
    name: String,
    variable_type: RandomType,
}

/// A function that can be called. Its first parameters are arrays of the sizes `n` and `m`.
#[derive(Clone, Debug)]
struct RandomFunction {
    name: String,
    parameters: Vec<RandomType>,
    result: RandomType,
}

/// State of the generator. It writes expressions as text.
struct SourceGenerator<'c, 'b> {
    choices: &'c mut ChoiceSequence<'b>,
    functions: Vec<RandomFunction>,
    scope: Vec<RandomVariable>,
    /// Number of names.
    names: usize,
}

impl SourceGenerator<'_, '_> {
    /// A new name.
    fn fresh_name(&mut self) -> String {
        self.names += 1;
        format!("x{}", self.names)
    }

    /// Generates with a variable in scope.
    fn with_variable<T>(
        &mut self,
        name: &str,
        variable_type: &RandomType,
        generate: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.scope.push(RandomVariable {
            name: name.to_owned(),
            variable_type: variable_type.clone(),
        });
        let generated = generate(self);
        self.scope.pop();
        generated
    }

    /// A variable of a type, if there is one.
    fn choose_variable(&mut self, wanted: &RandomType) -> Option<String> {
        let fitting = self.scope.iter().rev();
        let fitting = fitting.filter(|variable| variable.variable_type == *wanted);
        let names: Vec<String> = fitting.map(|variable| variable.name.clone()).collect();
        self.choices.choose_one(&names).cloned()
    }

    /// An expression of a type.
    fn generate_value(&mut self, wanted: &RandomType, depth: usize) -> String {
        match wanted {
            RandomType::Scalar(scalar) => self.generate_scalar(*scalar, depth),
            RandomType::Array(size, element) => self.generate_array(*size, element, depth),
            RandomType::Tuple(parts) => {
                if let Some(name) = self.choose_variable(wanted) {
                    return name;
                }
                let parts = parts.iter();
                let parts: Vec<_> = parts
                    .map(|part| self.generate_value(part, depth.saturating_sub(1)))
                    .collect();
                format!("({})", parts.join(", "))
            }
        }
    }

    /// A conditional expression.
    fn generate_conditional(&mut self, wanted: &RandomType, depth: usize) -> String {
        let condition = self.generate_scalar(RandomScalar::Bool, depth);
        let accept = self.generate_value(wanted, depth);
        let reject = self.generate_value(wanted, depth);
        format!("(if {condition} then {accept} else {reject})")
    }

    /// A match of a sum.
    fn generate_match(&mut self, wanted: &RandomType, depth: usize) -> String {
        let payload = RandomType::choose_plain(self.choices);
        let condition = self.generate_scalar(RandomScalar::Bool, depth);
        let value = self.generate_value(&payload, depth);
        let name = self.fresh_name();
        let some = self.with_variable(&name, &payload, |generator| {
            generator.generate_value(wanted, depth)
        });
        let none = self.generate_value(wanted, depth);
        format!(
            "(match ((if {condition} then #some {value} else #none) : #some {} | #none) \
             case #some {name} -> {some} case #none -> {none})",
            print_payload(&payload)
        )
    }

    /// A binding.
    fn generate_let(&mut self, wanted: &RandomType, depth: usize) -> String {
        let bound = RandomType::choose(self.choices);
        let value = self.generate_value(&bound, depth);
        let name = self.fresh_name();
        let body = self.with_variable(&name, &bound, |generator| {
            generator.generate_value(wanted, depth)
        });
        format!("(let {name} = {value} in {body})")
    }

    /// A loop.
    fn generate_loop(&mut self, wanted: &RandomType, depth: usize) -> String {
        let first = self.generate_value(wanted, depth);
        let (state, counter) = (self.fresh_name(), self.fresh_name());
        let bound = match self.choices.choose_below(3) {
            0 => "2i32".to_owned(),
            1 => format!("({} & 3)", self.generate_scalar(RandomScalar::I32, 1)),
            _ => "n".to_owned(),
        };
        let counter_type = if bound == "n" {
            RandomScalar::I64
        } else {
            RandomScalar::I32
        };
        let body = self.with_variable(&state, wanted, |generator| {
            generator.with_variable(&counter, &RandomType::Scalar(counter_type), |generator| {
                generator.generate_value(wanted, depth)
            })
        });
        let loops = format!("(loop {state} = {first} for {counter} < {bound} do {body})");
        // Size inference gives the arrays of a loop in a loop sizes of their own.
        match wanted {
            RandomType::Array(..) => format!("({loops} :> {})", wanted.print()),
            _ => loops,
        }
    }

    /// A call of a function with this result, if there is one.
    fn generate_call(&mut self, wanted: &RandomType, depth: usize) -> Option<String> {
        let mut fitting = Vec::new();
        for (number, function) in self.functions.iter().enumerate() {
            for sizes in [[0, 1], [1, 0], [0, 0], [1, 1]] {
                if function.result.replace_sizes(sizes) == *wanted {
                    fitting.push((number, sizes));
                }
            }
        }
        let &(number, sizes) = self.choices.choose_one(&fitting)?;
        let RandomFunction {
            name, parameters, ..
        } = self.functions[number].clone();
        let arguments = parameters
            .iter()
            .map(|parameter| self.generate_value(&parameter.replace_sizes(sizes), depth));
        let arguments: Vec<String> = arguments.collect();
        Some(format!("({name} {})", arguments.join(" ")))
    }
}

/// A type as the payload of a constructor.
fn print_payload(payload: &RandomType) -> String {
    match payload {
        RandomType::Tuple(_) | RandomType::Scalar(_) => payload.print(),
        RandomType::Array(..) => format!("({})", payload.print()),
    }
}
