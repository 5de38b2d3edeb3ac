//! Composites: vectors, structures and arrays, and their components.

use super::ShaderLowering;
use super::types::WIDEST;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// Most components of a vector in memory or registers of OpenCL C.
const MOST_LANES: u32 = 64;

impl ShaderLowering<'_> {
    /// Composes a value of components; a single component of a scalar is the value itself.
    pub fn construct_composite(&mut self, ty: Id, parts: Vec<Id>) -> Id {
        if let [only] = parts[..]
            && self.b.type_of(only) == Some(ty)
        {
            return only;
        }
        let id = self.emit_value(Op::CompositeConstruct, ty, &parts);
        self.parts.insert(id, parts);
        id
    }

    /// A component of a composite; the original value where it is known.
    pub fn extract_component(&mut self, ty: Id, composite: Id, n: u32) -> Id {
        if let Some(parts) = self.parts.get(&composite)
            && let Some(part) = parts.get(n as usize)
        {
            return *part;
        }
        self.b
            .append_value(Op::CompositeExtract, ty, &[composite.word(), n])
    }

    /// All components of a vector or array; a scalar is its own component.
    pub fn split_components(&mut self, part: Id, value: Id, count: u32) -> Vec<Id> {
        match count {
            1 => vec![value],
            _ => (0..count)
                .map(|n| self.extract_component(part, value, n))
                .collect(),
        }
    }

    /// The components of a scalar or vector of the source.
    pub fn lanes_of(&mut self, source: Id) -> Result<Vec<Id>, SourceDiagnostic> {
        let (part, count) = self.find_component_type(source)?;
        let value = self.lower_operand(source)?;
        Ok(self.split_components(part, value, count))
    }

    /// Whether a source value is a vector that became an array.
    fn is_wide(&self, source: Id) -> bool {
        let ty = self.info.type_of(source);
        ty.is_some_and(|ty| self.info.split_vector_type(ty).1 > WIDEST)
    }

    /// Applies an operation component by component. `make` gets the type of the result and the operands: vectors of up to four
    /// components as they are, wider vectors component by component.
    pub fn map_components(
        &mut self,
        inst: InstRef<'_>,
        operands: &[Id],
        mut make: impl FnMut(&mut Self, Id, &[Id]) -> Id,
    ) -> Result<Id, SourceDiagnostic> {
        let result = expect_result(inst);
        let is_wide = self.is_wide(result) || operands.iter().any(|o| self.is_wide(*o));
        if is_wide {
            self.each_scalar(inst, operands, make)
        } else {
            let ty = self.result_type(result)?;
            let values: Result<Vec<Id>, _> =
                operands.iter().map(|o| self.lower_operand(*o)).collect();
            Ok(make(self, ty, &values?))
        }
    }

    /// Applies an operation to each component separately.
    pub fn each_scalar(
        &mut self,
        inst: InstRef<'_>,
        operands: &[Id],
        mut make: impl FnMut(&mut Self, Id, &[Id]) -> Id,
    ) -> Result<Id, SourceDiagnostic> {
        let result = expect_result(inst);
        let (part, count) = self.find_component_type(result)?;
        let mut lanes = Vec::new();
        for operand in operands {
            lanes.push(self.lanes_of(*operand)?);
        }
        let mut parts = Vec::new();
        for n in 0..count as usize {
            // A scalar operand is used for every component.
            let row = lanes.iter().map(|l| *l.get(n).unwrap_or(&l[0]));
            let row: Vec<Id> = row.collect();
            parts.push(make(self, part, &row));
        }
        if count == 1 {
            return Ok(parts[0]);
        }
        let ty = self.result_type(result)?;
        Ok(self.construct_composite(ty, parts))
    }

    /// A source value in the form that composites and memory have: pointers have 64 bits.
    pub fn convert_to_memory_form(&mut self, source: Id) -> Result<Id, SourceDiagnostic> {
        if !self.info.is_pointer(source) {
            return self.lower_operand(source);
        }
        if self.info.is_nothing(source) {
            let bits = self.pointer_bits(source)?;
            return Ok(self.make_uint_constant(64, bits));
        }
        let value = self.lower_operand(source)?;
        let long = self.make_int_type(64);
        Ok(if self.b.type_of(value) == Some(long) {
            value
        } else {
            self.emit_value(Op::UConvert, long, &[value])
        })
    }

    /// A source value, from the form that composites and memory have.
    pub fn convert_from_memory_form(
        &mut self,
        source: Id,
        kept: Id,
    ) -> Result<Id, SourceDiagnostic> {
        if !self.info.is_pointer(source) {
            return Ok(kept);
        }
        let ty = self.result_type(source)?;
        Ok(if self.b.type_of(kept) == Some(ty) {
            kept
        } else {
            self.emit_value(Op::UConvert, ty, &[kept])
        })
    }
}

/// The result of an instruction that has one by its row.
pub fn expect_result(inst: InstRef<'_>) -> Id {
    inst.result().unwrap_or(Id::MAX)
}

/// `OpCompositeConstruct`.
pub fn lower_composite_construct(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let result = expect_result(inst);
    let ty = l.result_type(result)?;
    let is_wide = l.is_wide(result);
    let mut parts = Vec::new();
    for part in inst.id_operands(0) {
        if is_wide {
            parts.extend(l.lanes_of(part)?)
        } else {
            parts.push(l.convert_to_memory_form(part)?)
        }
    }
    // Operands of vectors may be vectors.
    let source = l.info.type_of(result).unwrap_or(result);
    let (_, count) = l.info.split_vector_type(source);
    if count > 1 && parts.len() != count as usize {
        return Ok(l.emit_value(Op::CompositeConstruct, ty, &parts));
    }
    Ok(l.construct_composite(ty, parts))
}

/// `OpCompositeExtract`.
pub fn lower_composite_extract(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let result = expect_result(inst);
    let (mut value, mut ty) = (
        l.lower_operand(inst.id_operand(0))?,
        l.info.type_of(inst.id_operand(0)),
    );
    for &n in &inst.operands()[1..] {
        let of = ty.ok_or_else(|| l.info.diagnose_id(result, "this part"))?;
        let part = l.part_type(of, n)?;
        let made = l.lower_type(part)?;
        value = l.extract_component(made, value, n);
        ty = Some(part);
    }
    l.convert_from_memory_form(result, value)
}

/// `OpCompositeInsert`.
pub fn lower_composite_insert(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let ty = l.result_type(expect_result(inst))?;
    let (object, into) = (
        l.convert_to_memory_form(inst.id_operand(0))?,
        l.lower_operand(inst.id_operand(1))?,
    );
    let path = &inst.operands()[2..];
    if let ([n], Some(parts)) = (path, l.parts.get(&into))
        && (*n as usize) < parts.len()
    {
        let mut parts = parts.clone();
        parts[*n as usize] = object;
        return Ok(l.construct_composite(ty, parts));
    }
    let mut words = vec![object.word(), into.word()];
    words.extend(path);
    Ok(l.b.append_value(Op::CompositeInsert, ty, &words))
}

/// `OpVectorShuffle`.
pub fn lower_vector_shuffle(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let result = expect_result(inst);
    let ty = l.result_type(result)?;
    let picks = &inst.operands()[2..];
    let sources = [inst.id_operand(0), inst.id_operand(1)];
    if !l.is_wide(result) && sources.iter().all(|s| !l.is_wide(*s)) {
        let (a, b) = (l.lower_operand(sources[0])?, l.lower_operand(sources[1])?);
        let words: Vec<u32> = [a.word(), b.word()].iter().chain(picks).copied().collect();
        return Ok(l.b.append_value(Op::VectorShuffle, ty, &words));
    }
    let lanes = [l.lanes_of(sources[0])?, l.lanes_of(sources[1])?].concat();
    let (part, _) = l.find_component_type(result)?;
    let pick = |l: &mut ShaderLowering<'_>, n: u32| match lanes.get(n as usize) {
        Some(lane) => *lane,
        None => l.b.declare_undef(part),
    };
    let parts = picks.iter().map(|n| pick(l, *n)).collect();
    Ok(l.construct_composite(ty, parts))
}

/// `OpVectorExtractDynamic`.
pub fn extract_dynamic(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let ty = l.result_type(expect_result(inst))?;
    let (vector, index) = (
        l.lower_operand(inst.id_operand(0))?,
        l.lower_operand(inst.id_operand(1))?,
    );
    if !l.is_wide(inst.id_operand(0)) {
        return Ok(l.emit_value(Op::VectorExtractDynamic, ty, &[vector, index]));
    }
    let lanes = l.lanes_of(inst.id_operand(0))?;
    l.select_by_index(ty, inst.id_operand(1), &lanes)
}

/// `OpVectorInsertDynamic`.
pub fn insert_dynamic(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let ty = l.result_type(expect_result(inst))?;
    let (vector, part, index) = (
        l.lower_operand(inst.id_operand(0))?,
        l.lower_operand(inst.id_operand(1))?,
        l.lower_operand(inst.id_operand(2))?,
    );
    if !l.is_wide(inst.id_operand(0)) {
        return Ok(l.emit_value(Op::VectorInsertDynamic, ty, &[vector, part, index]));
    }
    let lanes = l.lanes_of(inst.id_operand(0))?;
    let (element, _) = l.find_component_type(inst.id_operand(0))?;
    let mut parts = Vec::new();
    for (n, lane) in lanes.into_iter().enumerate() {
        let is = l.is_number(inst.id_operand(2), n as u64)?;
        parts.push(l.emit_value(Op::Select, element, &[is, part, lane]));
    }
    Ok(l.construct_composite(ty, parts))
}

impl ShaderLowering<'_> {
    /// The value at a source index.
    pub fn select_by_index(
        &mut self,
        ty: Id,
        index: Id,
        values: &[Id],
    ) -> Result<Id, SourceDiagnostic> {
        let mut chosen = values[0];
        for (n, value) in values.iter().enumerate().skip(1).take(MOST_LANES as usize) {
            let is = self.is_number(index, n as u64)?;
            chosen = self.emit_value(Op::Select, ty, &[is, *value, chosen]);
        }
        Ok(chosen)
    }

    /// Whether a source integer is a number.
    fn is_number(&mut self, source: Id, number: u64) -> Result<Id, SourceDiagnostic> {
        let (scalar, _) = self.find_component_scalar(source)?;
        let value = self.lower_operand(source)?;
        let number = self.make_uint_constant(scalar.size() * 8, number);
        let truth = self.b.bool_type();
        Ok(self.emit_value(Op::IEqual, truth, &[value, number]))
    }

    fn part_type(&self, of: Id, n: u32) -> Result<Id, SourceDiagnostic> {
        let def = self.info.find_definition(of)?;
        let part = match def.op() {
            Op::TypeStruct => def.get_id(n as usize),
            Op::TypeVector | Op::TypeArray => Some(def.id_operand(0)),
            _ => None,
        };
        part.ok_or_else(|| self.info.diagnose_id(of, "a part of this type"))
    }
}
