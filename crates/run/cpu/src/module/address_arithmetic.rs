//! Arithmetic on addresses of variables at module level, in constants: its values are known once it is known
//! where the variables are.
//!
//! Cost: linear in the operations on addresses.

use super::constants::{ConstantScalar, evaluate_scalar_op, lane_of};
use super::typed_module::TypedModule;
use rustc_hash::FxHashMap;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// The values of operations on addresses.
#[derive(Default)]
pub(crate) struct ComputedAddresses {
    /// Values by operation and component. An operation on memory without a fixed address has none.
    values: FxHashMap<(Id, u32), u64>,
}

impl ComputedAddresses {
    /// Computes all operations in their order. `address` says where a variable is.
    pub fn from_program(program: &TypedModule<'_>, address: impl Fn(Id) -> Option<u64>) -> Self {
        let mut computed = ComputedAddresses::default();
        for &id in program.constants.address_dependent_ids() {
            for bits in program.constants.scalars(id) {
                if let ConstantScalar::Computed { id: of, lane } = *bits
                    && of == id
                    && let Some(value) =
                        computed.evaluate_lane(program, id, lane as usize, &address)
                {
                    computed.values.insert((id, lane), value);
                }
            }
        }
        computed
    }

    /// The value of a scalar, once it is known where variables are.
    pub fn resolve_scalar(
        &self,
        bits: ConstantScalar,
        address: impl Fn(Id) -> Option<u64>,
    ) -> Option<u64> {
        match bits {
            ConstantScalar::Plain(bits) => Some(bits),
            ConstantScalar::Address { variable, offset } => {
                Some(address(variable)?.wrapping_add_signed(offset))
            }
            ConstantScalar::Computed { id, lane } => self.values.get(&(id, lane)).copied(),
        }
    }

    fn evaluate_lane(
        &self,
        program: &TypedModule<'_>,
        id: Id,
        lane: usize,
        address: &impl Fn(Id) -> Option<u64>,
    ) -> Option<u64> {
        let inst = program.definitions.get(program.module, id)?;
        let op = Op(u16::try_from(inst.operand_word(0)).ok()?);
        let to = program.types.component_scalar(inst.result_type()?)?;
        let mut operands = Vec::new();
        for operand in inst.id_operands(1) {
            let scalar = program.types.component_scalar(program.type_of(operand)?)?;
            let bits = if program.constants.is_zero(operand) {
                0
            } else {
                let bits = *lane_of(program.constants.scalars(operand), lane)?;
                self.resolve_scalar(bits, address)?
            };
            operands.push((scalar, bits));
        }
        evaluate_scalar_op(op, to, &operands)
    }
}
