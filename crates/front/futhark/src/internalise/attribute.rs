//! Attributes of expressions.

use super::value::{StaticFrame, StaticValue};
use super::{InternaliseResult, SourceInternaliser};
use crate::check::types::PrimitiveType;
use crate::syntax::tree::{NumberType, SourceAttribute};
use crate::typed::TypedExpressionId;
use spirula_program::{ScalarOp, ScalarOperator, ScalarType as MachineType};
use spirula_soac::ir::{SoacOperand, SoacOperation, SoacType};

impl SourceInternaliser<'_> {
    /// Internalises an expression with an attribute. Attributes without a meaning here change nothing.
    pub(super) fn internalise_attributed(
        &mut self,
        attribute: &SourceAttribute,
        body: TypedExpressionId,
        frame: &mut StaticFrame,
    ) -> InternaliseResult<StaticValue> {
        let program = self.program;
        let arguments = attribute.arguments.as_deref().unwrap_or_default();
        match (&program.names[attribute.name.name], arguments) {
            ("param", [name]) => {
                let value = self.internalise(body, frame)?;
                self.replace_by_parameter(&program.names[name.name.name], value)
            }
            ("unsafe", []) => {
                let outer = std::mem::replace(&mut self.is_unsafe, true);
                let value = self.internalise(body, frame);
                self.is_unsafe = outer;
                value
            }
            _ => self.internalise(body, frame),
        }
    }

    /// The value of a tuning parameter where somebody sets it, otherwise a value of the program. Futhark sets parameters to
    /// numbers above zero.
    fn replace_by_parameter(
        &mut self,
        name: &str,
        value: StaticValue,
    ) -> InternaliseResult<StaticValue> {
        let StaticValue::Scalar(scalar, operand) = value else {
            return Err(self.fail("the value of a tuning parameter is an i64"));
        };
        if scalar != PrimitiveType::Number(NumberType::I64) {
            return Err(self.fail("the value of a tuning parameter is an i64"));
        }
        let int64 = SoacType::Scalar(MachineType::I64);
        let read = SoacOperation::Parameter(name.into(), None);
        let parameter = self.builder.add_single(name, int64, read);
        let equal = ScalarOperator::with_type(ScalarOp::Eq, MachineType::I64);
        let zero = SoacOperand::from_int64(0);
        let is_unset = self.builder.add_scalar(equal, &[parameter, zero]);
        let select = ScalarOperator::with_type(ScalarOp::Cond, MachineType::I64);
        let chosen = self
            .builder
            .add_scalar(select, &[is_unset, operand, parameter]);
        Ok(StaticValue::Scalar(scalar, chosen))
    }
}
