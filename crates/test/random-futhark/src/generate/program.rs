//! Whole programs.

use super::types::{RandomScalar, RandomType, SIZES};
use super::{RandomFunction, RandomVariable, SourceGenerator};
use spirula_testing::ChoiceSequence;
use std::fmt::Write as _;

/// How deep expressions are nested.
const DEPTH: usize = 4;

/// Largest size of the arguments.
const LARGEST: usize = 6;

/// A program with arguments.
#[derive(Clone, Debug)]
pub struct RandomProgram {
    /// The source.
    pub text: String,
    /// The arguments of `main`, as text.
    pub arguments: String,
}

impl RandomProgram {
    /// The program with a test block.
    pub fn print_test(&self, results: &str) -> String {
        let RandomProgram { text, arguments } = self;
        format!("-- ==\n-- input {{ {arguments} }}\n-- output {{ {results} }}\n\n{text}")
    }
}

/// Generates a program from decisions.
pub fn generate_program(choices: &mut ChoiceSequence<'_>) -> RandomProgram {
    let mut generator = SourceGenerator {
        choices,
        functions: Vec::new(),
        scope: Vec::new(),
        names: 0,
    };
    let mut text = String::new();
    for _ in 0..generator.choices.choose_below(3) {
        generator.write_function(&mut text);
    }
    let parameters = generator.write_main(&mut text);
    let sizes = [(); 2].map(|()| 1 + generator.choices.choose_below(LARGEST));
    let arguments = parameters.iter();
    let arguments: Vec<String> = arguments
        .map(|parameter| generator.generate_argument(parameter, sizes))
        .collect();
    RandomProgram {
        text,
        arguments: arguments.join(" "),
    }
}

impl SourceGenerator<'_, '_> {
    /// Parameters, of which the first ones have the sizes.
    fn choose_parameters(&mut self) -> Vec<RandomType> {
        let mut parameters: Vec<RandomType> = (0..SIZES.len())
            .map(|size| {
                let element = RandomType::Scalar(RandomScalar::choose(self.choices));
                RandomType::array(size, element)
            })
            .collect();
        for _ in 0..self.choices.choose_below(3) {
            parameters.push(RandomType::choose_plain(self.choices));
        }
        parameters
    }

    /// Brings parameters into scope, and writes them.
    fn write_parameters(&mut self, parameters: &[RandomType], text: &mut String) {
        for parameter in parameters {
            let name = self.fresh_name();
            let _ = write!(text, " ({name}: {})", parameter.print());
            self.scope.push(RandomVariable {
                name,
                variable_type: parameter.clone(),
            });
        }
    }

    fn write_function(&mut self, text: &mut String) {
        let name = format!("f{}", self.functions.len());
        let parameters = self.choose_parameters();
        let result = RandomType::choose(self.choices);
        let _ = write!(text, "def {name} [n][m]");
        self.write_parameters(&parameters, text);
        let body = self.generate_value(&result, DEPTH - 1);
        let _ = writeln!(text, " : {} =\n  {body}\n", result.print());
        self.scope.clear();
        self.functions.push(RandomFunction {
            name,
            parameters,
            result,
        });
    }

    /// Writes `main`. Returns the types of its parameters.
    fn write_main(&mut self, text: &mut String) -> Vec<RandomType> {
        let parameters = self.choose_parameters();
        text.push_str("def main [n][m]");
        self.write_parameters(&parameters, text);
        text.push_str(" =\n");
        for _ in 0..self.choices.choose_below(4) {
            let bound = RandomType::choose(self.choices);
            let value = self.generate_value(&bound, DEPTH);
            let name = self.fresh_name();
            let _ = writeln!(text, "  let {name} : {} = {value}", bound.print());
            self.scope.push(RandomVariable {
                name,
                variable_type: bound,
            });
        }
        if self.scope.len() > parameters.len() {
            text.push_str("  in ");
        }
        let count = 1 + self.choices.choose_below(3);
        let results: Vec<String> = (0..count)
            .map(|_| {
                let result = RandomType::choose_plain(self.choices);
                self.generate_value(&result, DEPTH)
            })
            .collect();
        let _ = writeln!(text, "({})", results.join(",\n    "));
        parameters
    }

    /// A value for a parameter, as text.
    fn generate_argument(&mut self, parameter: &RandomType, sizes: [usize; 2]) -> String {
        match parameter {
            RandomType::Scalar(scalar) => self.generate_scalar_argument(*scalar),
            RandomType::Array(size, element) => {
                let elements: Vec<String> = (0..sizes[*size])
                    .map(|_| self.generate_argument(element, sizes))
                    .collect();
                format!("[{}]", elements.join(", "))
            }
            RandomType::Tuple(_) => String::new(),
        }
    }

    fn generate_scalar_argument(&mut self, scalar: RandomScalar) -> String {
        let name = scalar.name();
        match scalar {
            RandomScalar::Bool => ["false", "true"][self.choices.choose_below(2)].to_owned(),
            RandomScalar::F32 | RandomScalar::F64 => {
                let halves = self.choices.choose_below(64) as f64 - 20.0;
                format!("{:?}{name}", halves / 2.0)
            }
            RandomScalar::U8 | RandomScalar::U32 | RandomScalar::U64 => {
                format!("{}{name}", self.choices.choose_below(128))
            }
            _ => format!("{}{name}", self.choices.choose_below(200) as i64 - 72),
        }
    }
}
