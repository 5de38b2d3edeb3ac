//! An evaluator of LLVM IR, which executes one instruction after the other.
//!
//! A scalar that may have one of several values is [`AbstractScalar::Any`]: poison, undefined values, uninitialised
//! bytes, and results that LLVM's reference manual leaves open. So is every result computed from it. Undefined
//! behaviour, such as a branch on such a value, ends the evaluation with [`EvaluationStop::Undefined`]: then any
//! result is right.
//!
//! | file | subject |
//! | --- | --- |
//! | `value`, `memory` | scalars, objects |
//! | `integer`, `float`, `convert` | arithmetic |
//! | `constants` | constants and globals |
//! | `instructions` | instructions |
//! | `intrinsics` | intrinsics, by table |

mod constants;
mod convert;
mod float;
mod instructions;
mod integer;
mod intrinsics;
mod memory;
mod value;

pub use float::{bits_to_f64, half_bits};
pub use memory::AbstractByte;
use memory::AbstractMemory;
use spirula_llvm::ir::{
    LlvmFunc, LlvmModule, LlvmOpcode, LlvmType, LlvmValue as Operand, ValueKind,
};
use std::collections::HashMap;
use std::rc::Rc;
use value::ValueLeaf;
pub use value::{AbstractScalar, AbstractValue, LeafType, ObjectAddress};

/// Most instructions of an evaluation.
const MOST_STEPS: u64 = 2_000_000;
/// Deepest nesting of calls.
const MOST_CALLS: u32 = 64;

/// The reason why an evaluation ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvaluationStop {
    /// The behaviour is undefined.
    Undefined(String),
    /// The evaluator does not support something.
    Unsupported(String),
    /// It takes too many steps.
    Long,
}

type EvaluationResult<T> = Result<T, EvaluationStop>;

fn stop_undefined<T>(what: &str) -> EvaluationResult<T> {
    Err(EvaluationStop::Undefined(what.to_owned()))
}

fn stop_unsupported<T>(what: impl Into<String>) -> EvaluationResult<T> {
    Err(EvaluationStop::Unsupported(what.into()))
}

/// Evaluates functions of a module.
pub struct LlvmEvaluator<'a> {
    module: &'a LlvmModule,
    memory: AbstractMemory,
    globals: Vec<Option<ObjectAddress>>,
    shapes: HashMap<LlvmType, Rc<[ValueLeaf]>>,
    /// The value of `get_global_id(0)`.
    item: u64,
    steps: u64,
    depth: u32,
}

/// An active call.
struct EvaluatorFrame {
    func: LlvmFunc,
    locals: Vec<AbstractValue>,
}

impl<'a> LlvmEvaluator<'a> {
    /// Creates an evaluator and lays out the globals of a module.
    ///
    /// # Errors
    /// If a global has an initial value that is not supported.
    pub fn new(module: &'a LlvmModule) -> Result<Self, EvaluationStop> {
        let mut new = LlvmEvaluator {
            module,
            memory: AbstractMemory::default(),
            globals: vec![None; module.globals.len()],
            shapes: HashMap::new(),
            item: 0,
            steps: 0,
            depth: 0,
        };
        new.lay_out_globals()?;
        Ok(new)
    }

    /// Creates an object with these bytes.
    pub fn create_object(&mut self, bytes: &[u8]) -> ObjectAddress {
        let address = self.memory.allocate_object(bytes.len() as u64);
        let cells = bytes.iter().map(|byte| AbstractByte::Byte(*byte));
        *self.memory.object_cells(address.object) = cells.collect();
        address
    }

    /// The current bytes of an object.
    pub fn object_cells(&mut self, address: ObjectAddress) -> &[AbstractByte] {
        self.memory.object_cells(address.object)
    }

    /// Calls a function by name, as the invocation with a number.
    ///
    /// # Errors
    /// If the evaluation ends early.
    pub fn call_by_name(
        &mut self,
        name: &str,
        item: u64,
        args: &[AbstractValue],
    ) -> Result<AbstractValue, EvaluationStop> {
        self.item = item;
        let mut functions = self.module.function_ids();
        match functions.find(|f| self.module.function_name(*f) == name) {
            Some(func) => self.call_function(func, args.to_vec()),
            None => stop_unsupported(format!("no function {name}")),
        }
    }

    /// The scalars of a type.
    fn type_leaves(&mut self, ty: LlvmType) -> EvaluationResult<Rc<[ValueLeaf]>> {
        if let Some(known) = self.shapes.get(&ty) {
            return Ok(known.clone());
        }
        let Some(found) = value::list_leaves(self.module, ty) else {
            return stop_unsupported(format!("a value of type {:?}", self.module.types.kind(ty)));
        };
        let found: Rc<[ValueLeaf]> = found.into();
        self.shapes.insert(ty, found.clone());
        Ok(found)
    }

    /// The type of the scalar that a type is, or of a vector's elements.
    fn scalar_kind(&mut self, ty: LlvmType) -> EvaluationResult<LeafType> {
        match self.type_leaves(self.module.types.scalar_type(ty))?.first() {
            Some(leaf) => Ok(leaf.kind),
            None => stop_unsupported("an empty type"),
        }
    }

    fn call_function(
        &mut self,
        func: LlvmFunc,
        args: Vec<AbstractValue>,
    ) -> EvaluationResult<AbstractValue> {
        let function = self.module.function(func);
        if function.is_declaration() {
            return self.call_declared(func, &args);
        }
        if self.depth >= MOST_CALLS {
            return Err(EvaluationStop::Long);
        }
        self.depth += 1;
        let mut locals = args;
        locals.resize(function.local_count(), AbstractValue::new());
        let result = self.run_blocks(EvaluatorFrame { func, locals });
        self.depth -= 1;
        result
    }

    /// Evaluates the blocks of a call.
    fn run_blocks(&mut self, mut frame: EvaluatorFrame) -> EvaluationResult<AbstractValue> {
        let function = self.module.function(frame.func);
        let Some(mut block) = function.block_ids().next() else {
            return stop_unsupported("a function without blocks");
        };
        let mut from = None;
        loop {
            // Phis read their operands before any of them changes.
            let mut phis = Vec::new();
            for inst in function.block_insts(block) {
                if function.inst(inst).opcode != LlvmOpcode::Phi {
                    break;
                }
                let ways = function.blocks_of(inst);
                let Some(way) = ways.iter().position(|b| Some(*b) == from) else {
                    return stop_unsupported("a phi without its way");
                };
                let value = self.eval_operand(&frame, function.operands(inst)[way])?;
                phis.push((function.result_value(inst), value));
            }
            for (to, value) in phis {
                frame.set_local(to, value);
            }
            let mut next = None;
            for inst in function.block_insts(block) {
                self.steps += 1;
                if self.steps > MOST_STEPS {
                    return Err(EvaluationStop::Long);
                }
                let opcode = function.inst(inst).opcode;
                match opcode {
                    LlvmOpcode::Phi => {}
                    LlvmOpcode::Ret => {
                        return match function.operands(inst).first() {
                            Some(value) => self.eval_operand(&frame, *value),
                            None => Ok(AbstractValue::new()),
                        };
                    }
                    LlvmOpcode::Br | LlvmOpcode::Switch => {
                        next = Some(self.eval_branch(&frame, inst)?)
                    }
                    _ if opcode.is_terminator() => return stop_undefined(opcode.name()),
                    _ => {
                        let value = self.eval_instruction(&frame, inst)?;
                        frame.set_local(function.result_value(inst), value);
                    }
                }
            }
            from = Some(block);
            match next {
                Some(to) => block = to,
                None => return stop_unsupported("a block without an end"),
            }
        }
    }

    /// An operand.
    fn eval_operand(
        &mut self,
        frame: &EvaluatorFrame,
        operand: Operand,
    ) -> EvaluationResult<AbstractValue> {
        match operand.kind() {
            ValueKind::Local(local) => Ok(frame.locals[local].clone()),
            ValueKind::Const(constant) => self.eval_constant(constant),
            ValueKind::Metadata(_) => Ok(AbstractValue::new()),
        }
    }
}

impl EvaluatorFrame {
    fn set_local(&mut self, to: Operand, value: AbstractValue) {
        if let Some(local) = to.as_local() {
            self.locals[local] = value;
        }
    }
}
