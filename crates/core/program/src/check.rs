//! What holds of every program, so that running one needs to look nothing up twice.
//!
//! Compilers make programs of which this is true; of one from a file it has to be checked.

use crate::program::{
    Copier, Copy, Entry, EntrySize, EntryValue, Function, GLOBAL, Kernel, Launch, Mem, Program,
    Reg, Slot, Step,
};
use crate::{Operator, Scalar};
use std::fmt;

/// What is wrong with a program, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFault {
    place: String,
    what: String,
}

impl fmt::Display for ProgramFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl std::error::Error for ProgramFault {}

type Check = Result<(), String>;

/// Most scalars and most references of a function, or that all share; compilers stay far below.
const MOST: u32 = 1 << 20;

/// Most dimensions of a launch.
const DIMENSIONS: usize = 3;

impl Program {
    /// Checks that everything which is numbered is there, and that scalars have their places.
    ///
    /// # Errors
    /// At the first thing that is not so.
    pub fn check(&self) -> Result<(), ProgramFault> {
        let at = |place: String| move |what: String| ProgramFault { place, what };
        let counts = small(self.global_scalars).and_then(|()| small(self.global_memories));
        counts.map_err(at("shared scalars and references".to_owned()))?;
        within(self.initialise, self.functions.len(), "function")
            .map_err(at("initialisation".to_owned()))?;
        for (number, kernel) in self.kernels.iter().enumerate() {
            check_kernel(kernel).map_err(at(format!("kernel {number}")))?;
        }
        for (number, function) in self.functions.iter().enumerate() {
            let scope = Scope::new(self, function);
            scope.counts().map_err(at(format!("function {number}")))?;
            for (step, what) in function.steps.iter().enumerate() {
                let place = format!("function {number}, step {step}");
                scope.step(what).map_err(at(place))?;
            }
        }
        for copier in &self.copiers {
            let place = format!("copies of {} bytes", copier.size);
            self.check_copier(copier).map_err(at(place))?;
        }
        for entry in &self.entries {
            let place = format!("entry point {}", entry.name);
            self.check_entry(entry).map_err(at(place))?;
        }
        Ok(())
    }

    fn check_copier(&self, copier: &Copier) -> Check {
        let functions = [
            (copier.strided, Copier::STRIDED),
            (copier.tiled, Copier::TILED),
        ];
        for (number, scalars) in functions {
            within(number, self.functions.len(), "function")?;
            let inputs = &self.functions[number].inputs;
            let (first, last) = inputs.split_at(scalars.min(inputs.len()));
            let fits = first.len() == scalars
                && first.iter().all(|slot| matches!(slot, Slot::Scalar(_)))
                && matches!(last, [Slot::Memory(_), Slot::Memory(_)]);
            if !fits {
                return Err(format!("function {number} does not take what copies give"));
            }
        }
        Ok(())
    }

    fn check_entry(&self, entry: &Entry) -> Check {
        within(entry.function, self.functions.len(), "function")?;
        let scope = Scope::new(self, &self.functions[entry.function]);
        let parameters = entry.parameters.iter().map(|p| (&p.value, &p.opaque));
        let results = entry.results.iter().map(|r| (&r.value, &r.opaque));
        let all = parameters.chain(results).flat_map(|(value, opaque)| {
            let parts = opaque.iter().flat_map(|opaque| &opaque.parts);
            value.iter().chain(parts)
        });
        all.into_iter().try_for_each(|value| scope.value(value))
    }
}

fn within(number: usize, count: usize, what: &str) -> Check {
    match number < count {
        true => Ok(()),
        false => Err(format!("there is no {what} {number}")),
    }
}

fn small(count: u32) -> Check {
    match count <= MOST {
        true => Ok(()),
        false => Err(format!("{count} are more than {MOST}")),
    }
}

/// Scalars lie within their bytes, behind the number of workgroups.
fn check_kernel(kernel: &Kernel) -> Check {
    small(kernel.scalar_bytes)?;
    let size = |ty: Scalar| ty.size().max(4);
    let fits = |(at, ty): &(u32, Scalar)| u64::from(*at) + size(*ty) <= kernel.scalar_bytes.into();
    match kernel.refusal.is_some() || kernel.scalar_bytes >= 4 && kernel.scalars.iter().all(fits) {
        true => Ok(()),
        false => Err("a scalar lies outside of those that are passed".to_owned()),
    }
}

/// A function with what it shares with others.
struct Scope<'a> {
    program: &'a Program,
    function: &'a Function,
}

impl<'a> Scope<'a> {
    fn new(program: &'a Program, function: &'a Function) -> Self {
        Scope { program, function }
    }

    fn counts(&self) -> Check {
        small(self.function.scalars)?;
        small(self.function.memories)?;
        self.slots(&self.function.inputs)?;
        self.slots(&self.function.outputs)?;
        let mut constants = self.function.constants.iter();
        constants.try_for_each(|(Reg(number), _)| {
            let own = self.function.scalars as usize;
            within(*number as usize, own, "scalar")
        })
    }

    fn reg(&self, Reg(number): Reg) -> Check {
        match number & GLOBAL {
            0 => within(number as usize, self.function.scalars as usize, "scalar"),
            _ => {
                let shared = self.program.global_scalars as usize;
                within((number & !GLOBAL) as usize, shared, "shared scalar")
            }
        }
    }

    fn regs(&self, regs: &[Reg]) -> Check {
        regs.iter().try_for_each(|reg| self.reg(*reg))
    }

    fn mem(&self, Mem(number): Mem) -> Check {
        match number & GLOBAL {
            0 => within(
                number as usize,
                self.function.memories as usize,
                "reference",
            ),
            _ => {
                let shared = self.program.global_memories as usize;
                within((number & !GLOBAL) as usize, shared, "shared reference")
            }
        }
    }

    fn slots(&self, slots: &[Slot]) -> Check {
        slots.iter().try_for_each(|slot| match slot {
            Slot::Scalar(reg) => self.reg(*reg),
            Slot::Memory(mem) => self.mem(*mem),
        })
    }

    fn value(&self, value: &EntryValue) -> Check {
        self.slots(&[value.slot])?;
        let sizes = value.shape.iter().flatten();
        sizes.copied().try_for_each(|size| match size {
            EntrySize::Scalar(reg) => self.reg(reg),
            EntrySize::Known(_) => Ok(()),
        })
    }

    fn step(&self, step: &Step) -> Check {
        let program = self.program;
        match step {
            Step::Set(to, _) => self.reg(*to),
            Step::Move(to, from) => self.regs(&[*to, *from]),
            Step::Apply(operator, to, operands) => self.apply(*operator, *to, operands),
            Step::Parameter(to, number) => {
                within(*number, program.parameters.len(), "tuning parameter")?;
                self.reg(*to)
            }
            Step::Limit(to, number) => {
                within(*number, program.limits.len(), "limit")?;
                self.reg(*to)
            }
            Step::Allocate(to, bytes) => self.mem(*to).and_then(|()| self.reg(*bytes)),
            Step::Data(to, number) => {
                within(*number, program.data.len(), "constant data")?;
                self.mem(*to)
            }
            Step::Refer(to, from) => self.mem(*to).and_then(|()| self.mem(*from)),
            Step::Forget(mem) => self.mem(*mem),
            Step::Read(scalar, mem, _, index) => self.access(*mem, &[*scalar, *index]),
            Step::Write(mem, _, index, value) => self.access(*mem, &[*index, *value]),
            Step::Copy(copy) => self.copy(copy),
            Step::Launch(launch) => self.launch(launch),
            Step::Jump(to) => self.target(*to),
            Step::Unless(condition, to) => self.reg(*condition).and_then(|()| self.target(*to)),
            Step::Call(callee, inputs, outputs) => {
                within(*callee, program.functions.len(), "function")?;
                self.slots(inputs).and_then(|()| self.slots(outputs))
            }
            Step::Assert(condition, message, values) => {
                within(*message, program.messages.len(), "message")?;
                self.reg(*condition).and_then(|()| self.regs(values))
            }
            Step::Trace(message, values) => {
                within(*message, program.messages.len(), "message")?;
                self.regs(values)
            }
        }
    }

    /// Operands that an operator does not have are read all the same.
    fn apply(&self, operator: Operator, to: Reg, operands: &[Reg; 3]) -> Check {
        match operator.is_valid() {
            true => self.reg(to).and_then(|()| self.regs(operands)),
            false => Err(format!("there is no operator {operator}")),
        }
    }

    fn access(&self, mem: Mem, regs: &[Reg]) -> Check {
        self.mem(mem).and_then(|()| self.regs(regs))
    }

    /// A step, or the end of the function.
    fn target(&self, to: usize) -> Check {
        within(to, self.function.steps.len() + 1, "step")
    }

    fn copy(&self, copy: &Copy) -> Check {
        self.regs(&copy.shape)?;
        for (mem, first, strides) in [&copy.to, &copy.from] {
            self.mem(*mem)?;
            self.reg(*first)?;
            self.regs(strides)?;
            if strides.len() != copy.shape.len() {
                return Err("a copy has a stride for each dimension".to_owned());
            }
        }
        match copy.size {
            0..=8 => Ok(()),
            size => Err(format!("there are no elements of {size} bytes")),
        }
    }

    fn launch(&self, launch: &Launch) -> Check {
        let kernels = &self.program.kernels;
        within(launch.kernel, kernels.len(), "kernel")?;
        if launch.groups.len() > DIMENSIONS {
            return Err(format!("a launch has at most {DIMENSIONS} dimensions"));
        }
        let kernel = &kernels[launch.kernel];
        if kernel.refusal.is_none() && launch.scalars.len() != kernel.scalars.len() {
            return Err(format!(
                "kernel {} takes {} scalars, not {}",
                launch.kernel,
                kernel.scalars.len(),
                launch.scalars.len()
            ));
        }
        self.regs(&launch.groups)?;
        self.regs(&launch.constants)?;
        self.regs(&launch.scalars)?;
        launch.memories.iter().try_for_each(|mem| self.mem(*mem))
    }
}
