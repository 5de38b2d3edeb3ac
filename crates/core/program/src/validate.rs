//! Validation of programs: all numbers refer to something that exists.
//!
//! Compilers produce valid programs; programs from files are checked. A session relies on it.

use crate::program::{
    CompiledProgram, CopyKernels, EntrySize, EntryValueType, ForeignStep, GLOBAL, HostFunction,
    HostMemoryRef, HostRegister, HostSlot, HostStep, LaunchStep, ProgramEntry, ProgramKernel,
    StridedCopy,
};
use crate::{ScalarOperator, ScalarType};
use std::fmt;

/// A fault of a program, with its place.
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

type ProgramCheckResult = Result<(), String>;

/// Most scalars or references of a function, or of the whole program; compilers stay far below.
const MOST: u32 = 1 << 20;

/// Most dimensions of a launch.
const DIMENSIONS: usize = 3;

impl CompiledProgram {
    /// Checks that all numbers refer to something that exists, and that scalars lie within their bytes.
    ///
    /// # Errors
    /// The first fault.
    pub fn check_references(&self) -> Result<(), ProgramFault> {
        let at = |place: String| move |what: String| ProgramFault { place, what };
        let counts =
            check_count(self.global_scalars).and_then(|()| check_count(self.global_memories));
        counts.map_err(at("shared scalars and references".to_owned()))?;
        check_number(self.initialise, self.functions.len(), "function")
            .map_err(at("initialisation".to_owned()))?;
        for (number, kernel) in self.kernels.iter().enumerate() {
            check_kernel(kernel).map_err(at(format!("kernel {number}")))?;
        }
        for (number, function) in self.functions.iter().enumerate() {
            let scope = HostFunctionValidator::new(self, function);
            scope
                .check_counts()
                .map_err(at(format!("function {number}")))?;
            for (step, what) in function.steps.iter().enumerate() {
                let place = format!("function {number}, step {step}");
                scope.check_step(what).map_err(at(place))?;
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

    fn check_copier(&self, copier: &CopyKernels) -> ProgramCheckResult {
        let functions = [
            (copier.strided, CopyKernels::STRIDED),
            (copier.tiled, CopyKernels::TILED),
        ];
        for (number, scalars) in functions {
            check_number(number, self.functions.len(), "function")?;
            let inputs = &self.functions[number].inputs;
            let (first, last) = inputs.split_at(scalars.min(inputs.len()));
            let fits = first.len() == scalars
                && first.iter().all(|slot| matches!(slot, HostSlot::Scalar(_)))
                && matches!(last, [HostSlot::Memory(_), HostSlot::Memory(_)]);
            if !fits {
                return Err(format!("function {number} does not take what copies give"));
            }
        }
        Ok(())
    }

    fn check_entry(&self, entry: &ProgramEntry) -> ProgramCheckResult {
        check_number(entry.function, self.functions.len(), "function")?;
        let scope = HostFunctionValidator::new(self, &self.functions[entry.function]);
        let parameters = entry.parameters.iter().map(|p| (&p.value, &p.opaque));
        let results = entry.results.iter().map(|r| (&r.value, &r.opaque));
        let all = parameters.chain(results).flat_map(|(value, opaque)| {
            let parts = opaque.iter().flat_map(|opaque| &opaque.parts);
            value.iter().chain(parts)
        });
        all.into_iter()
            .try_for_each(|value| scope.check_value(value))
    }
}

fn check_number(number: usize, count: usize, what: &str) -> ProgramCheckResult {
    if number < count {
        Ok(())
    } else {
        Err(format!("there is no {what} {number}"))
    }
}

fn check_count(count: u32) -> ProgramCheckResult {
    if count <= MOST {
        Ok(())
    } else {
        Err(format!("{count} are more than {MOST}"))
    }
}

/// Checks that scalars lie within their bytes, after the number of workgroups.
fn check_kernel(kernel: &ProgramKernel) -> ProgramCheckResult {
    check_count(kernel.scalar_bytes)?;
    let size = |ty: ScalarType| ty.size().max(4);
    let fits =
        |(at, ty): &(u32, ScalarType)| u64::from(*at) + size(*ty) <= kernel.scalar_bytes.into();
    if kernel.module.is_err() || kernel.scalar_bytes >= 4 && kernel.scalars.iter().all(fits) {
        Ok(())
    } else {
        Err("a scalar lies outside of those that are passed".to_owned())
    }
}

/// A function and its program.
struct HostFunctionValidator<'a> {
    program: &'a CompiledProgram,
    function: &'a HostFunction,
}

impl<'a> HostFunctionValidator<'a> {
    fn new(program: &'a CompiledProgram, function: &'a HostFunction) -> Self {
        HostFunctionValidator { program, function }
    }

    fn check_counts(&self) -> ProgramCheckResult {
        check_count(self.function.scalars)?;
        check_count(self.function.memories)?;
        self.check_slots(&self.function.inputs)?;
        self.check_slots(&self.function.outputs)?;
        let mut constants = self.function.constants.iter();
        constants.try_for_each(|(HostRegister(number), _)| {
            let own = self.function.scalars as usize;
            check_number(*number as usize, own, "scalar")
        })
    }

    fn check_reg(&self, HostRegister(number): HostRegister) -> ProgramCheckResult {
        match number & GLOBAL {
            0 => check_number(number as usize, self.function.scalars as usize, "scalar"),
            _ => {
                let shared = self.program.global_scalars as usize;
                check_number((number & !GLOBAL) as usize, shared, "shared scalar")
            }
        }
    }

    fn check_regs(&self, regs: &[HostRegister]) -> ProgramCheckResult {
        regs.iter().try_for_each(|reg| self.check_reg(*reg))
    }

    fn check_mem(&self, HostMemoryRef(number): HostMemoryRef) -> ProgramCheckResult {
        match number & GLOBAL {
            0 => check_number(
                number as usize,
                self.function.memories as usize,
                "reference",
            ),
            _ => {
                let shared = self.program.global_memories as usize;
                check_number((number & !GLOBAL) as usize, shared, "shared reference")
            }
        }
    }

    fn check_slots(&self, slots: &[HostSlot]) -> ProgramCheckResult {
        slots.iter().try_for_each(|slot| match slot {
            HostSlot::Scalar(reg) => self.check_reg(*reg),
            HostSlot::Memory(mem) => self.check_mem(*mem),
        })
    }

    fn check_value(&self, value: &EntryValueType) -> ProgramCheckResult {
        self.check_slots(&[value.slot])?;
        let sizes = value.shape.iter().flatten();
        sizes.copied().try_for_each(|size| match size {
            EntrySize::Scalar(reg) => self.check_reg(reg),
            EntrySize::Known(_) => Ok(()),
        })
    }

    fn check_step(&self, step: &HostStep) -> ProgramCheckResult {
        let program = self.program;
        match step {
            HostStep::Set(to, _) => self.check_reg(*to),
            HostStep::Move(to, from) => self.check_regs(&[*to, *from]),
            HostStep::Apply(operator, to, operands) => {
                self.check_operator(*operator, *to, operands)
            }
            HostStep::Parameter(to, number) => {
                check_number(*number, program.parameters.len(), "tuning parameter")?;
                self.check_reg(*to)
            }
            HostStep::Limit(to, number) => {
                check_number(*number, program.limits.len(), "limit")?;
                self.check_reg(*to)
            }
            HostStep::Allocate(to, bytes) => {
                self.check_mem(*to).and_then(|()| self.check_reg(*bytes))
            }
            HostStep::Data(to, number) => {
                check_number(*number, program.data.len(), "constant data")?;
                self.check_mem(*to)
            }
            HostStep::Refer(to, from) => self.check_mem(*to).and_then(|()| self.check_mem(*from)),
            HostStep::Forget(mem) => self.check_mem(*mem),
            HostStep::IsUnique(to, mem) => self.check_access(*mem, &[*to]),
            HostStep::Read(scalar, mem, _, index) => self.check_access(*mem, &[*scalar, *index]),
            HostStep::Write(mem, _, index, value) => self.check_access(*mem, &[*index, *value]),
            HostStep::Copy(copy) => self.check_copy(copy),
            HostStep::Launch(launch) => self.check_launch(launch),
            HostStep::Jump(to) => self.check_target(*to),
            HostStep::Unless(condition, to) => self
                .check_reg(*condition)
                .and_then(|()| self.check_target(*to)),
            HostStep::Call(callee, inputs, outputs) => {
                check_number(*callee, program.functions.len(), "function")?;
                self.check_slots(inputs)
                    .and_then(|()| self.check_slots(outputs))
            }
            HostStep::Foreign(call) => self.check_foreign(call),
            HostStep::Assert(condition, message, values) => {
                check_number(*message, program.messages.len(), "message")?;
                self.check_reg(*condition)
                    .and_then(|()| self.check_regs(values))
            }
            HostStep::Trace(message, values) => {
                check_number(*message, program.messages.len(), "message")?;
                self.check_regs(values)
            }
        }
    }

    /// Checks an operator. Operands that it does not have are checked too, because they are read.
    fn check_operator(
        &self,
        operator: ScalarOperator,
        to: HostRegister,
        operands: &[HostRegister; 3],
    ) -> ProgramCheckResult {
        if operator.is_valid() {
            self.check_reg(to).and_then(|()| self.check_regs(operands))
        } else {
            Err(format!("there is no operator {operator}"))
        }
    }

    fn check_access(&self, mem: HostMemoryRef, regs: &[HostRegister]) -> ProgramCheckResult {
        self.check_mem(mem).and_then(|()| self.check_regs(regs))
    }

    /// Checks a target of a jump: a step, or the end of the function.
    fn check_target(&self, to: usize) -> ProgramCheckResult {
        check_number(to, self.function.steps.len() + 1, "step")
    }

    fn check_copy(&self, copy: &StridedCopy) -> ProgramCheckResult {
        self.check_regs(&copy.shape)?;
        for (mem, first, strides) in [&copy.to, &copy.from] {
            self.check_mem(*mem)?;
            self.check_reg(*first)?;
            self.check_regs(strides)?;
            if strides.len() != copy.shape.len() {
                return Err("a copy has a stride for each dimension".to_owned());
            }
        }
        match copy.size {
            0..=8 => Ok(()),
            size => Err(format!("there are no elements of {size} bytes")),
        }
    }

    /// Checks a foreign call. A scalar has as many bytes as a register at most.
    fn check_foreign(&self, call: &ForeignStep) -> ProgramCheckResult {
        let signature = &call.signature;
        let sides = [
            (&call.inputs, &signature.operands),
            (&call.outputs, &signature.results),
        ];
        for (slots, types) in sides {
            self.check_slots(slots)?;
            let pairs = slots.iter().zip(types);
            let mut scalars = pairs.filter(|(slot, _)| matches!(slot, HostSlot::Scalar(_)));
            if slots.len() != types.len() || scalars.any(|(_, ty)| ty.bytes > 8) {
                let target = &signature.target;
                return Err(format!("a foreign call of {target} has other types"));
            }
        }
        signature.check_aliases()
    }

    fn check_launch(&self, launch: &LaunchStep) -> ProgramCheckResult {
        let kernels = &self.program.kernels;
        check_number(launch.kernel, kernels.len(), "kernel")?;
        if launch.groups.len() > DIMENSIONS {
            return Err(format!("a launch has at most {DIMENSIONS} dimensions"));
        }
        let kernel = &kernels[launch.kernel];
        if kernel.module.is_ok() && launch.scalars.len() != kernel.scalars.len() {
            return Err(format!(
                "kernel {} takes {} scalars, not {}",
                launch.kernel,
                kernel.scalars.len(),
                launch.scalars.len()
            ));
        }
        self.check_regs(&launch.groups)?;
        self.check_regs(&launch.constants)?;
        self.check_regs(&launch.scalars)?;
        launch
            .memories
            .iter()
            .try_for_each(|mem| self.check_mem(*mem))
    }
}
