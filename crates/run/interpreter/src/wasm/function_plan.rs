//! Facts of functions that their callers need: signatures, where they wait, and where their variables lie.

use crate::decode::DecodedKernel;
use crate::step::{CodeStep, KernelCode};
use spirula_diagnostics::SourceDiagnostic;
use std::ops::Range;

/// Most registers of a function, each of which takes a local.
const MOST_REGISTERS: u32 = 40_000;

/// Most scalars that are passed to a function or back.
const MOST_PASSED: u32 = 500;

/// Bytes of the state of an invocation before the registers that it saves.
pub(super) const STATE_BYTES: u32 = 8;

/// Most bytes of an invocation's variables and of its saved registers.
const MOST_BYTES: u64 = 1 << 20;

/// Most bytes of both where invocations wait, so that each has its own.
const MOST_WAITING_BYTES: u64 = 128 << 10;

/// A function.
#[derive(Clone, Debug)]
pub(super) struct FunctionPlan {
    pub number: u32,
    pub steps: Range<usize>,
    /// Scalars that are passed to it and back.
    pub parameters: u32,
    pub results: u32,
    /// Whether an invocation may wait or end in it, or in a function that it calls.
    pub may_suspend: bool,
    /// The first byte of its variables in the memory of an invocation.
    pub frame: u64,
    /// The first byte of its saved registers in the state of an invocation.
    pub saved: u32,
}

impl FunctionPlan {
    /// The edges of the function.
    pub(super) fn list_edges(&self, code: &KernelCode) -> Vec<u32> {
        let steps = code.steps[self.steps.clone()].iter();
        steps
            .flat_map(|step| match step {
                CodeStep::Jump(edge) => vec![*edge],
                CodeStep::Branch { edges, .. } => edges.to_vec(),
                CodeStep::Switch { cases, default, .. } => {
                    let cases = code.cases[cases.indices()].iter();
                    cases.map(|case| case.edge).chain([*default]).collect()
                }
                _ => Vec::new(),
            })
            .collect()
    }
}

/// The functions of a kernel, and what an invocation needs for them.
#[derive(Debug)]
pub(super) struct KernelPlan {
    pub functions: Vec<FunctionPlan>,
    /// Bytes of the variables of an invocation.
    pub private_bytes: u64,
    /// Bytes of the state of an invocation that waits.
    pub state_bytes: u32,
}

/// The facts of all functions of a kernel.
///
/// # Errors
/// When one calls itself, or is too large.
pub(super) fn plan_functions(kernel: &DecodedKernel) -> Result<KernelPlan, SourceDiagnostic> {
    let code = &kernel.code;
    let mut plans = list_functions(kernel);
    for plan in &plans {
        let place = code.places.get(plan.steps.start).copied();
        let refuse = |message: &str| SourceDiagnostic::error(place.unwrap_or_default(), message);
        if code.functions[plan.number as usize].registers > MOST_REGISTERS {
            return Err(refuse(
                "the function has too many values for one WebAssembly function",
            ));
        }
        if plan.parameters.max(plan.results) > MOST_PASSED {
            return Err(refuse(
                "the function passes too many values for WebAssembly",
            ));
        }
    }
    let callers_first = order_callers_first(code, &plans)?;
    for number in callers_first.iter().rev() {
        let suspends = code.steps[plans[*number].steps.clone()]
            .iter()
            .any(|step| match step {
                CodeStep::Suspend(_) | CodeStep::End => true,
                CodeStep::Call { function, .. } => plans[*function as usize].may_suspend,
                _ => false,
            });
        plans[*number].may_suspend = suspends;
    }
    let private = (kernel.private_memory.len() as u64).next_multiple_of(16);
    let mut plan = KernelPlan {
        functions: plans,
        private_bytes: private,
        state_bytes: STATE_BYTES,
    };
    for number in callers_first {
        plan.place_variables(code, number, private)?;
    }
    Ok(plan)
}

impl KernelPlan {
    /// Places the variables of a function, after those of its callers, and its saved registers.
    fn place_variables(
        &mut self,
        code: &KernelCode,
        number: usize,
        private: u64,
    ) -> Result<(), SourceDiagnostic> {
        let own = &mut self.functions[number];
        let facts = &code.functions[number];
        own.frame = own.frame.max(private);
        let end = own
            .frame
            .saturating_add(facts.frame_bytes)
            .next_multiple_of(16);
        self.private_bytes = self.private_bytes.max(end);
        if own.may_suspend {
            own.saved = self.state_bytes;
            self.state_bytes = self
                .state_bytes
                .saturating_add(STATE_BYTES + 8 * facts.registers);
        }
        let place = code.places.get(own.steps.start).copied();
        let steps = own.steps.clone();
        let bytes = self.private_bytes.saturating_add(self.state_bytes.into());
        let most = if code.points.is_empty() {
            MOST_BYTES
        } else {
            MOST_WAITING_BYTES
        };
        if bytes > most {
            let message = "the variables of an invocation are too large for WebAssembly";
            return Err(SourceDiagnostic::error(place.unwrap_or_default(), message));
        }
        for step in &code.steps[steps] {
            if let CodeStep::Call { function, .. } = step {
                let called = &mut self.functions[*function as usize];
                called.frame = called.frame.max(end);
            }
        }
        Ok(())
    }
}

/// The functions with their steps and signatures. Steps of a function follow each other.
fn list_functions(kernel: &DecodedKernel) -> Vec<FunctionPlan> {
    let code = &kernel.code;
    let mut entries: Vec<usize> = code.functions.iter().map(|f| f.entry as usize).collect();
    entries.sort_unstable();
    let end_of = |entry: usize| {
        let next = entries.partition_point(|other| *other <= entry);
        entries.get(next).copied().unwrap_or(code.steps.len())
    };
    let functions = code.functions.iter().enumerate();
    let mut plans: Vec<FunctionPlan> = functions
        .map(|(number, function)| {
            let entry = function.entry as usize;
            let steps = entry..end_of(entry);
            let results = code.steps[steps.clone()].iter().map(|step| match step {
                CodeStep::Return { count, .. } => *count,
                _ => 0,
            });
            FunctionPlan {
                number: number as u32,
                results: results.max().unwrap_or(0),
                steps,
                parameters: 0,
                may_suspend: false,
                frame: 0,
                saved: 0,
            }
        })
        .collect();
    if let Some(entry) = plans.first_mut() {
        let parameters = kernel.parameters.iter();
        let scalars = parameters.map(|parameter| parameter.cells.len() as u32);
        entry.parameters = scalars.sum();
    }
    for step in &code.steps {
        if let CodeStep::Call {
            function,
            arguments,
            ..
        } = step
        {
            plans[*function as usize].parameters = arguments.count;
        }
    }
    plans
}

/// The functions, each after all that call it.
///
/// # Errors
/// When one calls itself.
fn order_callers_first(
    code: &KernelCode,
    plans: &[FunctionPlan],
) -> Result<Vec<usize>, SourceDiagnostic> {
    let called_by = |plan: &FunctionPlan| -> Vec<usize> {
        let steps = code.steps[plan.steps.clone()].iter();
        steps
            .filter_map(|step| match step {
                CodeStep::Call { function, .. } => Some(*function as usize),
                _ => None,
            })
            .collect()
    };
    let mut callers = vec![0usize; plans.len()];
    for plan in plans {
        called_by(plan)
            .into_iter()
            .for_each(|called| callers[called] += 1);
    }
    let mut ready: Vec<usize> = (0..plans.len()).filter(|n| callers[*n] == 0).collect();
    let mut order = Vec::new();
    while let Some(number) = ready.pop() {
        order.push(number);
        for called in called_by(&plans[number]) {
            callers[called] -= 1;
            if callers[called] == 0 {
                ready.push(called);
            }
        }
    }
    match callers.iter().position(|count| *count > 0) {
        Some(recursive) => {
            let place = code.places.get(plans[recursive].steps.start).copied();
            let message = "WebAssembly code is not made of functions that call themselves";
            Err(SourceDiagnostic::error(place.unwrap_or_default(), message))
        }
        None => Ok(order),
    }
}
