//! Printer of types.

use super::MlirPrinter;
use super::number::show_float;
use crate::mlir::{
    DimSize, IntegerSignedness, MlirFloat, MlirType, MlirTypeKind, QuantizationGranularity,
    QuantizedType,
};

impl MlirPrinter<'_> {
    pub(crate) fn write_type(&mut self, ty: MlirType) {
        match self.module.types.kind(ty) {
            MlirTypeKind::Integer { width, sign } => {
                self.out.push_str(match sign {
                    IntegerSignedness::Signless => "i",
                    IntegerSignedness::Signed => "si",
                    IntegerSignedness::Unsigned => "ui",
                });
                self.out.push_str(&width.to_string());
            }
            MlirTypeKind::Index => self.out.push_str("index"),
            MlirTypeKind::Float(float) => self.out.push_str(float.name()),
            MlirTypeKind::None => self.out.push_str("none"),
            MlirTypeKind::Complex(part) => self.write_in_brackets("complex", *part),
            MlirTypeKind::Future(members) => {
                self.out.push_str("!stablehlo.future<");
                self.write_types(members);
                self.out.push('>');
            }
            MlirTypeKind::Tuple(members) => {
                self.out.push_str("tuple<");
                self.write_types(members);
                self.out.push('>');
            }
            MlirTypeKind::Function { inputs, results } => self.write_signature(inputs, results),
            MlirTypeKind::Tensor {
                shape,
                element,
                encoding,
            } => {
                self.out.push_str("tensor<");
                write_shape(shape, &mut self.out);
                self.write_type(*element);
                if let Some(encoding) = encoding {
                    self.out.push_str(", ");
                    self.write_attribute(*encoding);
                }
                self.out.push('>');
            }
            MlirTypeKind::UnrankedTensor(element) => {
                self.out.push_str("tensor<*x");
                self.write_type(*element);
                self.out.push('>');
            }
            MlirTypeKind::Vector {
                shape,
                scalable,
                element,
            } => self.write_vector(shape, scalable, *element),
            MlirTypeKind::MemRef { .. } | MlirTypeKind::UnrankedMemRef { .. } => {
                self.write_memref(ty);
            }
            MlirTypeKind::Quantized(quantized) => self.write_quantized(quantized),
            MlirTypeKind::Dialect { name, body } => {
                self.out.push('!');
                self.out.push_str(self.module.symbol_text(*name));
                self.out.push_str(self.module.symbol_text(*body));
            }
        }
    }

    fn write_in_brackets(&mut self, word: &str, inner: MlirType) {
        self.out.push_str(word);
        self.out.push('<');
        self.write_type(inner);
        self.out.push('>');
    }

    /// A list of types with commas between.
    pub(crate) fn write_types(&mut self, types: &[MlirType]) {
        for (at, &ty) in types.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.write_type(ty);
        }
    }

    /// `(inputs) -> results`; a single result that is not a function has no parentheses.
    pub(crate) fn write_signature(&mut self, inputs: &[MlirType], results: &[MlirType]) {
        self.out.push('(');
        self.write_types(inputs);
        self.out.push_str(") -> ");
        let bare = match results {
            &[result] => !matches!(
                self.module.types.kind(result),
                MlirTypeKind::Function { .. }
            ),
            _ => false,
        };
        if !bare {
            self.out.push('(');
        }
        self.write_types(results);
        if !bare {
            self.out.push(')');
        }
    }

    fn write_vector(&mut self, shape: &[u64], scalable: &[bool], element: MlirType) {
        self.out.push_str("vector<");
        for (size, scalable) in shape.iter().zip(scalable) {
            if *scalable {
                self.out.push_str(&format!("[{size}]x"))
            } else {
                self.out.push_str(&format!("{size}x"))
            }
        }
        self.write_type(element);
        self.out.push('>');
    }

    fn write_memref(&mut self, ty: MlirType) {
        self.out.push_str("memref<");
        let (element, attributes) = match self.module.types.kind(ty) {
            MlirTypeKind::MemRef {
                shape,
                element,
                layout,
                space,
            } => {
                write_shape(shape, &mut self.out);
                (*element, [*layout, *space])
            }
            MlirTypeKind::UnrankedMemRef { element, space } => {
                self.out.push_str("*x");
                (*element, [None, *space])
            }
            _ => return,
        };
        self.write_type(element);
        for attr in attributes.into_iter().flatten() {
            self.out.push_str(", ");
            self.write_attribute(attr);
        }
        self.out.push('>');
    }

    fn write_quantized(&mut self, quantized: &QuantizedType) {
        self.out.push_str("!quant.uniform<");
        if let MlirTypeKind::Integer { width, sign } = *self.module.types.kind(quantized.storage) {
            let letter = match sign {
                IntegerSignedness::Unsigned => 'u',
                _ => 'i',
            };
            self.out.push_str(&format!("{letter}{width}"));
            let whole = match sign {
                IntegerSignedness::Unsigned => (0, (1i64 << width) - 1),
                _ => (-1i64 << (width - 1), (1i64 << (width - 1)) - 1),
            };
            if whole != (quantized.min, quantized.max) {
                self.out
                    .push_str(&format!("<{}:{}>", quantized.min, quantized.max));
            }
        }
        self.out.push(':');
        self.write_type(quantized.expressed);
        match &quantized.axis {
            QuantizationGranularity::Tensor => {
                self.out.push_str(", ");
                quantized
                    .parameters
                    .iter()
                    .for_each(|&(scale, zero)| write_scale(scale, zero, &mut self.out));
            }
            QuantizationGranularity::Axis(axis) => {
                self.out.push_str(&format!(":{axis}, "));
                write_scales(
                    &quantized.parameters,
                    &[quantized.parameters.len() as u64],
                    &mut self.out,
                );
            }
            QuantizationGranularity::Blocks { sizes, shape } => {
                let sizes = sizes.iter().map(|(dim, size)| format!("{dim}:{size}"));
                let sizes: Vec<String> = sizes.collect();
                self.out.push_str(&format!(":{{{}}}, ", sizes.join(", ")));
                write_scales(&quantized.parameters, shape, &mut self.out);
            }
        }
        self.out.push('>');
    }
}

fn write_shape(shape: &[DimSize], out: &mut String) {
    for size in shape {
        match size {
            Some(size) => out.push_str(&format!("{size}x")),
            None => out.push_str("?x"),
        }
    }
}

fn write_scale(scale: u64, zero: i64, out: &mut String) {
    out.push_str(&show_float(MlirFloat::F64, scale));
    if zero != 0 {
        out.push_str(&format!(":{zero}"));
    }
}

/// Scales in nested lists of these lengths.
fn write_scales(parameters: &[(u64, i64)], shape: &[u64], out: &mut String) {
    let Some((&count, inner)) = shape.split_first() else {
        parameters
            .iter()
            .for_each(|&(scale, zero)| write_scale(scale, zero, out));
        return;
    };
    out.push('{');
    let each = parameters.len() / (count.max(1) as usize);
    for (at, part) in parameters.chunks(each.max(1)).enumerate() {
        if at > 0 {
            out.push_str(if inner.is_empty() { "," } else { ", " });
        }
        write_scales(part, inner, out);
    }
    out.push('}');
}
