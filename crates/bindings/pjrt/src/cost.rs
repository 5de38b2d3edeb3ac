//! Costs of a program, estimated from its operations.

use spirula_stablehlo::mlir::{MlirModule, MlirOp, MlirType};

/// Estimated costs of one execution. A loop counts once, as its number of iterations is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProgramCost {
    /// Operations on numbers.
    pub operations: f64,
    /// Functions such as the exponential.
    pub transcendentals: f64,
    /// Bytes of all operands and results.
    pub bytes: f64,
    /// Whether there are loops.
    pub has_loops: bool,
}

/// The most work of a program that takes less time than to wake a thread.
const LIGHT_WORK: f64 = 65_536.0;
/// Operations that take the time of a transcendental function.
const TRANSCENDENTAL_WORK: f64 = 16.0;

/// Operations that compute a function by many operations.
const TRANSCENDENTALS: &[&str] = &[
    "cbrt",
    "cosine",
    "exponential",
    "exponential_minus_one",
    "log",
    "log_plus_one",
    "logistic",
    "power",
    "rsqrt",
    "sine",
    "sqrt",
    "tan",
    "tanh",
    "atan2",
];

/// Operations that move elements, or have regions that count by themselves.
const MOVEMENTS: &[&str] = &[
    "broadcast_in_dim",
    "concatenate",
    "constant",
    "copy",
    "dynamic_slice",
    "dynamic_update_slice",
    "gather",
    "iota",
    "pad",
    "reshape",
    "reverse",
    "slice",
    "transpose",
    "tuple",
    "while",
    "if",
    "case",
    "return",
    "bitcast_convert",
    "get_tuple_element",
    "optimization_barrier",
];

impl ProgramCost {
    /// The costs of all operations of a module.
    pub fn from_module(module: &MlirModule) -> ProgramCost {
        let mut cost = ProgramCost::default();
        cost.add_regions(module, module.root());
        cost
    }

    /// Whether an execution takes less time than to wake a thread.
    pub fn is_light(&self) -> bool {
        let work = self.operations + TRANSCENDENTAL_WORK * self.transcendentals + self.bytes;
        !self.has_loops && work <= LIGHT_WORK
    }

    fn add_regions(&mut self, module: &MlirModule, op: MlirOp) {
        for region in module.regions(op) {
            for block in module.blocks(region) {
                for op in module.ops(*block) {
                    self.add_operation(module, *op);
                }
            }
        }
    }

    fn add_operation(&mut self, module: &MlirModule, op: MlirOp) {
        let Some(name) = module.op_name(op).strip_prefix("stablehlo.") else {
            return self.add_regions(module, op);
        };
        self.has_loops |= name == "while";
        let results = module.results(op).map(|result| module.type_of(result));
        let operands = module
            .operands(op)
            .iter()
            .map(|value| module.type_of(*value));
        let [results, operands]: [Vec<MlirType>; 2] = [results.collect(), operands.collect()];
        let types = results.iter().chain(&operands);
        self.bytes += types.map(|ty| count_bytes(module, *ty)).sum::<f64>();
        let produced: f64 = results.iter().map(|ty| count_elements(module, *ty)).sum();
        let consumed = operands.iter().map(|ty| count_elements(module, *ty));
        let consumed: Vec<f64> = consumed.collect();
        match name {
            name if MOVEMENTS.contains(&name) => self.add_regions(module, op),
            name if TRANSCENDENTALS.contains(&name) => self.transcendentals += produced,
            // Each element of the result is a sum of products, one for each element of a row.
            "dot" | "dot_general" if consumed.len() == 2 && produced > 0.0 => {
                self.operations += 2.0 * (consumed[0] * consumed[1] * produced).sqrt();
            }
            "convolution" if consumed.len() == 2 => {
                self.operations += 2.0 * produced * consumed[1];
            }
            "reduce" | "reduce_window" | "scatter" | "sort" => {
                self.operations += consumed.first().copied().unwrap_or(0.0);
            }
            _ => self.operations += produced,
        }
    }
}

fn count_elements(module: &MlirModule, ty: MlirType) -> f64 {
    module.types.element_count(ty).unwrap_or(0) as f64
}

fn count_bytes(module: &MlirModule, ty: MlirType) -> f64 {
    let element = module.types.element_type(ty);
    let bytes = module.types.element_bytes(element).unwrap_or(0);
    count_elements(module, ty) * bytes as f64
}
