//! Commands of a server about records and sums.
//!
//! The parts of a record are those of its fields, in the order of the fields. The parts of a sum are the number of its
//! constructor, then the payloads of all constructors.

use super::variable::ValueLayout;
use super::{AnswerResult, ProgramServer};
use spirula_futhark::interface::InterfaceType;
use spirula_program::ProgramValue;

/// The fields of a record with their types.
type FieldTypes = Vec<(String, String)>;

/// The constructors of a sum with the types of their payloads.
type VariantTypes = Vec<(String, Vec<String>)>;

impl ProgramServer {
    fn find_fields(&self, type_name: &str) -> Result<FieldTypes, String> {
        match self.types.find(type_name)? {
            InterfaceType::Record(fields) => Ok(fields),
            _ => Err(format!("{type_name} is not a record type")),
        }
    }

    fn find_variants(&self, type_name: &str) -> Result<VariantTypes, String> {
        match self.types.find(type_name)? {
            InterfaceType::Sum(variants) => Ok(variants),
            _ => Err(format!("{type_name} is not a sum type")),
        }
    }

    /// `fields TYPE`
    pub(super) fn list_fields(&mut self, words: &[&str]) -> AnswerResult {
        let fields = self.find_fields(words[0])?;
        let lines = fields.iter().map(|(name, ty)| format!("{name} {ty}"));
        Ok(lines.collect())
    }

    /// `new VARIABLE TYPE FIELD*`
    pub(super) fn make_record(&mut self, words: &[&str]) -> AnswerResult {
        let fields = self.find_fields(words[1])?;
        let types: Vec<String> = fields.into_iter().map(|(_, ty)| ty).collect();
        let parts = self.take_parts(&words[2..], &types)?;
        self.make_variable(words[0], words[1], parts)
    }

    /// `project TO FROM FIELD`
    pub(super) fn project_field(&mut self, words: &[&str]) -> AnswerResult {
        let variable = self.find_variable(words[1])?;
        let fields = self.find_fields(&variable.type_name)?;
        let mut first = 0;
        for (name, type_name) in &fields {
            let count = self.types.layout(type_name)?.len();
            if name == words[2] {
                let parts = take_range(&variable.parts, first, count)?;
                return self.make_variable(words[0], type_name, parts);
            }
            first += count;
        }
        Err(format!("{} has no field {}", variable.type_name, words[2]))
    }

    /// `variants TYPE`
    pub(super) fn list_variants(&mut self, words: &[&str]) -> AnswerResult {
        let variants = self.find_variants(words[0])?;
        let lines = variants.into_iter().flat_map(|(name, payload)| {
            let payload = payload.into_iter().map(|ty| format!("- {ty}"));
            [name].into_iter().chain(payload)
        });
        Ok(lines.collect())
    }

    /// `construct VARIABLE TYPE VARIANT VALUE*`
    pub(super) fn construct_sum(&mut self, words: &[&str]) -> AnswerResult {
        let variants = self.find_variants(words[1])?;
        let chosen = variants.iter().position(|(name, _)| name == words[2]);
        let chosen = chosen.ok_or_else(|| format!("{} has no variant {}", words[1], words[2]))?;
        let tag = self.types.layout(words[1])?[0];
        let mut parts = vec![ProgramValue {
            bytes: vec![chosen as u8],
            ..tag.make_default()
        }];
        for (number, (_, payload)) in variants.iter().enumerate() {
            if number == chosen {
                parts.extend(self.take_parts(&words[3..], payload)?);
            } else {
                let layout = self.types.layout_of_all(payload.iter())?;
                parts.extend(layout.into_iter().map(ValueLayout::make_default));
            }
        }
        self.make_variable(words[0], words[1], parts)
    }

    /// The number of a sum's constructor, with all constructors.
    fn find_variant(&self, name: &str) -> Result<(usize, VariantTypes), String> {
        let variable = self.find_variable(name)?;
        let variants = self.find_variants(&variable.type_name)?;
        let tag = variable.parts.first().and_then(|tag| tag.bytes.first());
        let chosen = tag.map(|tag| usize::from(*tag));
        let chosen = chosen.filter(|chosen| *chosen < variants.len());
        let chosen = chosen.ok_or_else(|| format!("{name} has no variant"))?;
        Ok((chosen, variants))
    }

    /// `variant VARIABLE`
    pub(super) fn tell_variant(&mut self, words: &[&str]) -> AnswerResult {
        let (chosen, variants) = self.find_variant(words[0])?;
        Ok(vec![variants[chosen].0.clone()])
    }

    /// `destruct FROM TO*`
    pub(super) fn destruct_sum(&mut self, words: &[&str]) -> AnswerResult {
        let (chosen, variants) = self.find_variant(words[0])?;
        let before = variants[..chosen].iter().flat_map(|(_, payload)| payload);
        let mut first = 1 + self.types.layout_of_all(before)?.len();
        let payload = &variants[chosen].1;
        let names = &words[1..];
        if names.len() != payload.len() {
            let wanted = payload.len();
            return Err(format!(
                "{wanted} variables are needed, not {}",
                names.len()
            ));
        }
        let parts = self.find_variable(words[0])?.parts.clone();
        for (name, type_name) in names.iter().zip(payload) {
            let count = self.types.layout(type_name)?.len();
            self.make_variable(name, type_name, take_range(&parts, first, count)?)?;
            first += count;
        }
        Ok(Vec::new())
    }
}

/// Some of the parts of a value.
fn take_range(
    parts: &[ProgramValue],
    first: usize,
    count: usize,
) -> Result<Vec<ProgramValue>, String> {
    let range = parts.get(first..first + count);
    let range = range.ok_or("the value has fewer parts than its type")?;
    Ok(range.to_vec())
}
