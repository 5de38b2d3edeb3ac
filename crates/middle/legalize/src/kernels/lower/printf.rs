//! `printf`: records in a buffer, which the host prints after the launch.
//!
//! The buffer begins with the number of words that were requested so far. A record is the number of its format string and the words of
//! the arguments, each scalar one word or two. String arguments are numbers, too: of texts in the module, since there are no others. A call
//! whose record does not fit returns -1.

use super::ShaderLowering;
use super::memory::ShaderMemoryLocation;
use crate::kernels::module_info::{KernelModuleInfo, MemoryScalar};
use crate::kernels::points_to::PointerRegion;
use crate::kernels::{initial_values, pointer_delta};
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::printf::PrintfTemplate;
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::Scope;
use spirula_spirv::grammar::{Op, opencl_std};
use spirula_spirv::ir::InstRef;

/// Bytes of the buffer.
pub const BUFFER: u32 = 1 << 20;

/// A format string with the bytes of each argument in a record, or a text, which has no arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintfText {
    pub bytes: Vec<u8>,
    pub sizes: Vec<u32>,
}

/// Whether the module prints.
pub fn is_used(info: &KernelModuleInfo<'_>) -> bool {
    info.module.all_insts().any(|inst| {
        let is_printf = inst.op() == Op::ExtInst && inst.operand_word(1) == opencl_std::PRINTF;
        is_printf
            && info
                .ids
                .ext_inst_set(inst)
                .is_some_and(|set| set.name == "OpenCL.std")
    })
}

/// `printf`.
pub fn lower_printf(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let bytes = read_string_literal(l.info, inst.id_operand(2))?;
    let template = PrintfTemplate::new(&bytes);
    let wanted: Vec<_> = template.list_arguments().collect();
    let (mut words, mut sizes) = (Vec::new(), Vec::new());
    for (n, argument) in inst.id_operands(3).enumerate() {
        let is_text = wanted.get(n).is_some_and(|w| w.is_text());
        let made = if is_text {
            vec![l.text_number(argument, 0)?]
        } else {
            l.printed_words(argument)?
        };
        sizes.push(4 * made.len() as u32);
        words.extend(made);
    }
    let number = l.text_id(PrintfText { bytes, sizes });
    words.insert(0, number);
    l.write_printf_record(inst, &words)
}

impl ShaderLowering<'_> {
    /// The number of a text.
    fn text_id(&mut self, text: PrintfText) -> Id {
        let texts = &mut self.shared.texts;
        let number = texts.iter().position(|known| *known == text);
        let number = number.unwrap_or_else(|| {
            texts.push(text);
            texts.len() - 1
        });
        self.make_uint_constant(32, number as u64)
    }

    /// The number of the string that a pointer points to.
    fn text_number(&mut self, pointer: Id, depth: u32) -> Result<Id, SourceDiagnostic> {
        let def = self.info.find_definition(pointer)?;
        if def.op() == Op::Select && depth < 16 {
            let (condition, ty) = (
                self.lower_operand(def.id_operand(0))?,
                self.make_int_type(32),
            );
            let yes = self.text_number(def.id_operand(1), depth + 1)?;
            let no = self.text_number(def.id_operand(2), depth + 1)?;
            return Ok(self.emit_value(Op::Select, ty, &[condition, yes, no]));
        }
        let bytes = read_string_literal(self.info, pointer)?;
        let sizes = Vec::new();
        Ok(self.text_id(PrintfText { bytes, sizes }))
    }

    /// An argument as words.
    fn printed_words(&mut self, argument: Id) -> Result<Vec<Id>, SourceDiagnostic> {
        let word = MemoryScalar::Int(32);
        if self.info.is_pointer(argument) {
            if self.info.is_nothing(argument) {
                return Ok(vec![self.make_uint_constant(32, 0); 2]);
            }
            let set = self.find_points_to_set(argument)?;
            let width = self.points_to.memory(set).pointer_width();
            let pointer = self.lower_pointer(argument, set)?;
            let pointer = self.resize_int(pointer, width, 64);
            return Ok(self.split_pieces(pointer, MemoryScalar::Int(64), word));
        }
        let (scalar, _) = self.find_component_scalar(argument)?;
        let mut words = Vec::new();
        for lane in self.lanes_of(argument)? {
            words.extend(match scalar {
                MemoryScalar::Bool => {
                    let (ty, one, zero) = (
                        self.make_int_type(32),
                        self.make_uint_constant(32, 1),
                        self.make_uint_constant(32, 0),
                    );
                    vec![self.emit_value(Op::Select, ty, &[lane, one, zero])]
                }
                MemoryScalar::Int(width) if width < 32 => vec![self.resize_int(lane, width, 32)],
                MemoryScalar::Float(16) => {
                    let ty = self.make_float_type(32);
                    let wide = self.emit_value(Op::FConvert, ty, &[lane]);
                    self.split_pieces(wide, MemoryScalar::Float(32), word)
                }
                scalar => self.split_pieces(lane, scalar, word),
            });
        }
        Ok(words)
    }

    /// Emits the store of a record, if there is room for it.
    fn write_printf_record(
        &mut self,
        inst: InstRef<'_>,
        words: &[Id],
    ) -> Result<Id, SourceDiagnostic> {
        let base = self.kernel.printf;
        let base = base.ok_or_else(|| crate::error::diagnose_instruction(inst, "this printf"))?;
        let count = words.len() as u32;
        let most = (BUFFER / 4 - 1).checked_sub(count);
        let most =
            most.ok_or_else(|| crate::error::diagnose_instruction(inst, "so much to print"))?;
        let (word, truth) = (self.make_int_type(32), self.b.bool_type());
        let place = ShaderMemoryLocation {
            set: 0,
            pointer: base,
            region: Some(PointerRegion::Buffer),
            offset: 0,
            align: 4,
            is_volatile: false,
        };
        let counter = self.make_buffer_pointer(place, word);
        // Records need separate places, but no order.
        let scope = self.make_uint_constant(32, Scope::QueueFamily.0.into());
        let (relaxed, count) = (
            self.make_uint_constant(32, 0),
            self.make_uint_constant(32, count.into()),
        );
        let begin = self.emit_value(Op::AtomicIAdd, word, &[counter, scope, relaxed, count]);
        let most = self.make_uint_constant(32, most.into());
        let fits = self.emit_value(Op::ULessThanEqual, truth, &[begin, most]);
        let [inside, after] = [(); 2].map(|()| self.b.fresh_id());
        self.emit_effect(Op::BranchConditional, &[fits, inside, after]);
        self.begin_block(inside);
        let (wide, size) = (self.make_int_type(64), self.make_uint_constant(64, 4));
        let begin = self.emit_value(Op::UConvert, wide, &[begin]);
        let bytes = self.emit_value(Op::IMul, wide, &[begin, size]);
        let pointer = self.emit_value(Op::IAdd, wide, &[base, bytes]);
        for (n, value) in words.iter().enumerate() {
            let place = ShaderMemoryLocation {
                pointer,
                offset: 4 + 4 * n as u64,
                ..place
            };
            self.store_physical(place, word, 4, 4, *value);
        }
        self.emit_effect(Op::Branch, &[after]);
        self.begin_block(after);
        let (done, failed) = (
            self.make_uint_constant(32, 0),
            self.make_uint_constant(32, u32::MAX.into()),
        );
        Ok(self.emit_value(Op::Select, word, &[fits, done, failed]))
    }
}

/// The string that a pointer to a constant points to.
fn read_string_literal(
    info: &KernelModuleInfo<'_>,
    pointer: Id,
) -> Result<Vec<u8>, SourceDiagnostic> {
    let refused = || info.diagnose_id(pointer, "a string to print that is no constant");
    let (variable, offset) =
        pointer_delta::trace_pointer_origin(info, pointer).map_err(|_| refused())?;
    let initializer = info
        .find_definition(variable)?
        .get_id(1)
        .ok_or_else(refused)?;
    let ty = info.find_pointee(variable)?;
    let mut bytes = vec![0; usize::try_from(info.layouts.get(ty).size).unwrap_or(0)];
    initial_values::visit_constant_scalars(info, initializer, ty, &mut |constant, scalar, at| {
        let bits = info.read_constant(constant).ok_or_else(refused)?;
        initial_values::write_scalar(info, constant, bits, scalar, at, &mut bytes)
    })?;
    let begin = usize::try_from(offset).ok().filter(|at| *at <= bytes.len());
    let text = bytes.split_off(begin.ok_or_else(refused)?);
    let end = text.iter().position(|b| *b == 0).unwrap_or(text.len());
    Ok(text[..end].to_vec())
}
