//! Costs of a program, estimated from its operations.

use crate::module::ENTRY;
use crate::trip_count::count_iterations;
use spirula_stablehlo::mlir::{AttributeKind, MlirModule, MlirOp, MlirType};
use std::collections::HashMap;

/// Estimated costs of one execution. A loop counts once, except in the work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProgramCost {
    /// Operations on numbers.
    pub operations: f64,
    /// Functions such as the exponential.
    pub transcendentals: f64,
    /// Bytes of all operands and results.
    pub bytes: f64,
    /// Operations and bytes of all iterations; infinite where a loop has no known number of iterations.
    work: f64,
}

/// The most work of a program that takes less time than to wake a thread.
const LIGHT_WORK: f64 = 65_536.0;
/// Operations that take the time of a transcendental function.
const TRANSCENDENTAL_WORK: f64 = 16.0;
/// Operations that take the time of an operation without elements in a loop.
const STEP_WORK: f64 = 16.0;
/// Operations that a routine of LAPACK has for each product of an element and a row.
const ROUTINE_WORK: f64 = 16.0;

/// Most functions of which each calls the next.
const MAX_DEPTH: u32 = 64;

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

/// The costs of the functions that a program calls, by their names. A function that is being counted has none yet.
struct CalleeCosts<'m> {
    module: &'m MlirModule,
    known: HashMap<&'m str, Option<ProgramCost>>,
    /// The number of functions that are being counted, each called by the one before.
    depth: u32,
}

impl<'m> CalleeCosts<'m> {
    /// The cost of a call. A function that calls itself, and one that many others lead to, have no known amount of work.
    fn count_call(&mut self, op: MlirOp) -> ProgramCost {
        let endless = ProgramCost {
            work: f64::INFINITY,
            ..ProgramCost::default()
        };
        let module = self.module;
        let callee = module.find_attribute(op, "callee");
        let name = match callee.map(|callee| module.attributes.kind(callee)) {
            Some(AttributeKind::SymbolRef(path)) if path.len() == 1 => module.symbol_text(path[0]),
            _ => return endless,
        };
        if let Some(known) = self.known.get(name) {
            return known.unwrap_or(endless);
        }
        let function = module.find_function(name);
        let Some(function) = function.filter(|_| self.depth < MAX_DEPTH) else {
            return endless;
        };
        self.known.insert(name, None);
        self.depth += 1;
        let mut cost = ProgramCost::default();
        cost.add_regions(self, function);
        self.depth -= 1;
        self.known.insert(name, Some(cost));
        cost
    }
}

impl ProgramCost {
    /// The costs of the operations of a module's entry point and of the functions that it calls.
    pub fn from_module(module: &MlirModule) -> ProgramCost {
        let mut callees = CalleeCosts {
            module,
            known: HashMap::new(),
            depth: 0,
        };
        let mut cost = ProgramCost::default();
        let entry = module.find_function(ENTRY);
        cost.add_regions(&mut callees, entry.unwrap_or(module.root()));
        cost
    }

    /// Adds the costs of a part of a program.
    fn add_part(&mut self, part: &ProgramCost) {
        self.operations += part.operations;
        self.transcendentals += part.transcendentals;
        self.bytes += part.bytes;
        self.work += part.work;
    }

    /// Whether an execution takes less time than to wake a thread.
    pub fn is_light(&self) -> bool {
        self.work <= LIGHT_WORK
    }

    /// Adds the costs of the operations in the regions of one.
    fn add_regions(&mut self, callees: &mut CalleeCosts<'_>, op: MlirOp) {
        let module = callees.module;
        for region in module.regions(op) {
            for block in module.blocks(region) {
                for op in module.ops(*block) {
                    self.add_operation(callees, *op);
                }
            }
        }
    }

    /// Adds the costs of the operations of a loop.
    fn add_loop(&mut self, callees: &mut CalleeCosts<'_>, op: MlirOp) {
        let module = callees.module;
        let mut body = ProgramCost::default();
        body.add_regions(callees, op);
        for region in module.regions(op) {
            for block in module.blocks(region) {
                body.work += STEP_WORK * module.ops(*block).len() as f64;
            }
        }
        body.work *= count_iterations(module, op).unwrap_or(f64::INFINITY);
        self.add_part(&body);
    }

    fn add_operation(&mut self, callees: &mut CalleeCosts<'_>, op: MlirOp) {
        let module = callees.module;
        let Some(name) = module.op_name(op).strip_prefix("stablehlo.") else {
            if module.op_name(op) == "func.call" {
                self.add_part(&callees.count_call(op));
            }
            return self.add_regions(callees, op);
        };
        let results = module.results(op).map(|result| module.type_of(result));
        let operands = module
            .operands(op)
            .iter()
            .map(|value| module.type_of(*value));
        let [results, operands]: [Vec<MlirType>; 2] = [results.collect(), operands.collect()];
        let types = results.iter().chain(&operands);
        let bytes = types.map(|ty| count_bytes(module, *ty)).sum::<f64>();
        self.bytes += bytes;
        let produced: f64 = results.iter().map(|ty| count_elements(module, *ty)).sum();
        let consumed = operands.iter().map(|ty| count_elements(module, *ty));
        let consumed: Vec<f64> = consumed.collect();
        let (operations, transcendentals) = match name {
            name if MOVEMENTS.contains(&name) => (0.0, 0.0),
            name if TRANSCENDENTALS.contains(&name) => (0.0, produced),
            // Each element of the result is a sum of products, one for each element of a row.
            "dot" | "dot_general" if consumed.len() == 2 && produced > 0.0 => {
                (2.0 * (consumed[0] * consumed[1] * produced).sqrt(), 0.0)
            }
            "convolution" if consumed.len() == 2 => (2.0 * produced * consumed[1], 0.0),
            "reduce" | "reduce_window" | "scatter" | "sort" => {
                (consumed.first().copied().unwrap_or(0.0), 0.0)
            }
            _ => (produced, 0.0),
        };
        self.operations += operations;
        self.transcendentals += transcendentals;
        let moved = match name {
            "dynamic_slice" => {
                2.0 * results
                    .iter()
                    .map(|ty| count_bytes(module, *ty))
                    .sum::<f64>()
            }
            // The rest stays in its place.
            "dynamic_update_slice" if operands.len() > 1 => 2.0 * count_bytes(module, operands[1]),
            _ => bytes,
        };
        self.work += operations + TRANSCENDENTAL_WORK * transcendentals + moved;
        match name {
            "while" => self.add_loop(callees, op),
            "custom_call" if is_routine(module, op) => {
                self.work +=
                    ROUTINE_WORK * consumed.iter().map(|count| count.powf(1.5)).sum::<f64>();
            }
            name if MOVEMENTS.contains(&name) => self.add_regions(callees, op),
            _ => {}
        }
    }
}

/// Whether an operation is a routine of LAPACK, which consists of loops.
fn is_routine(module: &MlirModule, op: MlirOp) -> bool {
    let target = module.find_text(op, "call_target_name");
    target.is_some_and(|target| target.starts_with("lapack_"))
}

fn count_elements(module: &MlirModule, ty: MlirType) -> f64 {
    module.types.element_count(ty).unwrap_or(0) as f64
}

fn count_bytes(module: &MlirModule, ty: MlirType) -> f64 {
    let element = module.types.element_type(ty);
    let bytes = module.types.element_bytes(element).unwrap_or(0);
    count_elements(module, ty) * bytes as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_stablehlo::mlir::parse_text;

    /// The cost of a program that adds a tensor of some size to itself in a loop.
    fn cost_of_loop(size: u64, end: &str, extra: &str) -> ProgramCost {
        let text = format!(
            "func.func @main(%x: tensor<{size}xf32>, %n: tensor<i32>) -> tensor<{size}xf32> {{
  %first = stablehlo.constant dense<2> : tensor<i32>
  %end = stablehlo.constant dense<12> : tensor<i32>
  %r:2 = stablehlo.while(%i = %first, %y = %x) : tensor<i32>, tensor<{size}xf32>
  cond {{
    %less = stablehlo.compare LT, %i, {end}, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }} do {{
    %step = stablehlo.constant dense<2> : tensor<i32>
    %next = stablehlo.add %i, %step : tensor<i32>
    %z = stablehlo.add %y, %y : tensor<{size}xf32>
    {extra}
    stablehlo.return %next, %z : tensor<i32>, tensor<{size}xf32>
  }}
  return %r#1 : tensor<{size}xf32>
}}
func.func private @f(%i: tensor<i32>) -> tensor<i32> {{
  %0 = stablehlo.add %i, %i : tensor<i32>
  return %0 : tensor<i32>
}}
func.func private @g(%i: tensor<i32>) -> tensor<i32> {{
  %0 = func.call @g(%i) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}}"
        );
        let module = parse_text(text.as_bytes()).expect("the program is right");
        ProgramCost::from_module(&module)
    }

    #[test]
    fn short_loops_are_light() {
        let [call, endless] =
            ["f", "g"].map(|f| format!("%c = func.call @{f}(%i) : (tensor<i32>) -> tensor<i32>"));
        assert!(cost_of_loop(16, "%end", "").is_light());
        assert!(cost_of_loop(16, "%end", &call).is_light());
        let heavy = [(16, "%n", ""), (16, "%end", &endless), (4096, "%end", "")];
        for (size, end, extra) in heavy {
            assert!(
                !cost_of_loop(size, end, extra).is_light(),
                "{size} {end} {extra}"
            );
        }
    }

    /// A function counts for each call.
    #[test]
    fn costs_count_calls() {
        let call = "%c = func.call @f(%i) : (tensor<i32>) -> tensor<i32>
                    %d = func.call @f(%c) : (tensor<i32>) -> tensor<i32>";
        let [without, with] = ["", call].map(|extra| cost_of_loop(16, "%end", extra));
        assert_eq!(with.operations - without.operations, 2.0);
    }

    /// Five iterations count once.
    #[test]
    fn costs_count_loops_once() {
        let [small, large] = [16, 32].map(|size| cost_of_loop(size, "%end", ""));
        assert_eq!(large.operations - small.operations, 16.0);
        let bytes = 16.0 * 4.0;
        assert!((large.work - small.work) > 5.0 * (16.0 + 3.0 * bytes));
    }
}
