//! Tuning parameters, and the thresholds among them by which the host chooses between forms of an operation.

use super::FunctionLowering;
use super::view::ScalarRef;
use spirula_program::{ProgramParameter, ScalarType, SizeClass};

impl FunctionLowering<'_> {
    /// The value of a tuning parameter, which the host reads: its name, and the default of a threshold.
    pub(super) fn lower_parameter(
        &mut self,
        name: &str,
        default: Option<i64>,
    ) -> Result<ScalarRef, String> {
        if self.kernel.is_some() {
            return Err("code of a device reads a tuning parameter".into());
        }
        Ok(self.read_parameter(name.to_owned(), default))
    }

    /// A size from which on the host chooses a form of an operation, a tuning parameter.
    pub(super) fn read_threshold(&mut self, kind: &str, default: i64) -> ScalarRef {
        let name = format!("{}.{kind}_{}", self.function.name, self.thresholds);
        self.thresholds += 1;
        self.read_parameter(name, Some(default))
    }

    fn read_parameter(&mut self, name: String, default: Option<i64>) -> ScalarRef {
        let class = match default {
            Some(default) => SizeClass::Threshold(Some(default), String::new()),
            None => SizeClass::Bespoke(name.clone(), 0),
        };
        let parameter = ProgramParameter { name, class };
        let value = self.builder.read_parameter(parameter);
        self.assign("p", ScalarType::I64, value)
    }
}
