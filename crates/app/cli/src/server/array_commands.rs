//! Commands of a server about arrays. An array of records has an array for each part of a record.

use super::{AnswerResult, ProgramServer};
use spirula_futhark::interface::InterfaceType;
use spirula_program::ProgramValue;

impl ProgramServer {
    /// The rank of an array type, and the type of its elements.
    fn find_array(&self, type_name: &str) -> Result<(usize, String), String> {
        match self.types.find(type_name)? {
            InterfaceType::Array(rank, element) => Ok((rank, element)),
            _ => Err(format!("{type_name} is not an array type")),
        }
    }

    /// `rank TYPE`
    pub(super) fn tell_rank(&mut self, words: &[&str]) -> AnswerResult {
        Ok(vec![self.find_array(words[0])?.0.to_string()])
    }

    /// `elemtype TYPE`
    pub(super) fn tell_element_type(&mut self, words: &[&str]) -> AnswerResult {
        Ok(vec![self.find_array(words[0])?.1])
    }

    /// `shape VARIABLE`
    pub(super) fn tell_shape(&mut self, words: &[&str]) -> AnswerResult {
        let variable = self.find_variable(words[0])?;
        let (rank, _) = self.find_array(&variable.type_name)?;
        let shape = variable.parts.first().map(|part| &part.shape[..rank]);
        Ok(shape
            .iter()
            .flat_map(|s| s.iter())
            .map(u64::to_string)
            .collect())
    }

    /// `new_array VARIABLE TYPE SIZE* VALUE*`
    pub(super) fn make_array(&mut self, words: &[&str]) -> AnswerResult {
        let (rank, element) = self.find_array(words[1])?;
        let sizes = words.get(2..2 + rank);
        let sizes = parse_numbers(sizes.ok_or("each dimension needs a size")?)?;
        let count = sizes.iter().try_fold(1u64, |n, size| n.checked_mul(*size));
        let names = &words[2 + rank..];
        if count != Some(names.len() as u64) {
            return Err(format!("the sizes need other than {} values", names.len()));
        }
        let values = self.take_parts(names, &vec![element; names.len()])?;
        let layouts = self.types.layout(words[1])?;
        let mut parts = Vec::new();
        for (number, layout) in layouts.iter().enumerate() {
            let rows = values.iter().skip(number).step_by(layouts.len());
            let mut part = layout.make_default();
            part.shape[..rank].copy_from_slice(&sizes);
            for (index, row) in rows.enumerate() {
                if index > 0 && part.shape[rank..] != row.shape {
                    return Err("the values have different shapes".to_owned());
                }
                part.shape[rank..].copy_from_slice(&row.shape);
                part.bytes.extend(&row.bytes);
            }
            parts.push(part);
        }
        self.make_variable(words[0], words[1], parts)
    }

    /// `index TO FROM INDEX*`
    pub(super) fn index_array(&mut self, words: &[&str]) -> AnswerResult {
        let variable = self.find_variable(words[1])?;
        let (rank, element) = self.find_array(&variable.type_name)?;
        let mut parts = Vec::new();
        for part in &variable.parts {
            let range = element_range(part, rank, &words[2..])?;
            parts.push(ProgramValue {
                shape: part.shape[rank..].to_vec(),
                bytes: part.bytes[range].to_vec(),
                ..*part
            });
        }
        self.make_variable(words[0], &element, parts)
    }

    /// `set ARRAY VALUE INDEX*`
    pub(super) fn set_element(&mut self, words: &[&str]) -> AnswerResult {
        let mut variable = self.find_variable(words[0])?.clone();
        let (rank, element) = self.find_array(&variable.type_name)?;
        let values = self.take_parts(&words[1..2], &[element])?;
        for (part, value) in variable.parts.iter_mut().zip(values) {
            let range = element_range(part, rank, &words[2..])?;
            if part.shape[rank..] != value.shape {
                return Err("the value has another shape than the elements".to_owned());
            }
            part.bytes[range].copy_from_slice(&value.bytes);
        }
        self.variables.insert(words[0].to_owned(), variable);
        Ok(Vec::new())
    }

    /// The types of the arrays that an array of records consists of.
    fn find_columns(&self, type_name: &str) -> Result<Vec<String>, String> {
        if let Some(columns) = self.types.find_columns(type_name) {
            return Ok(columns);
        }
        let (rank, element) = self.find_array(type_name)?;
        match self.types.find(&element)? {
            InterfaceType::Record(fields) => {
                let fields = fields.iter();
                Ok(fields.map(|(_, field)| array_name(rank, field)).collect())
            }
            _ => Err(format!("{type_name} is not an array of records")),
        }
    }

    /// `zip VARIABLE TYPE ARRAY*`
    pub(super) fn zip_arrays(&mut self, words: &[&str]) -> AnswerResult {
        let (rank, _) = self.find_array(words[1])?;
        let columns = self.find_columns(words[1])?;
        let parts = self.take_parts(&words[2..], &columns)?;
        if parts
            .iter()
            .any(|part| part.shape[..rank] != parts[0].shape[..rank])
        {
            return Err("the arrays have different shapes".to_owned());
        }
        self.make_variable(words[0], words[1], parts)
    }

    /// `unzip FROM ARRAY*`
    pub(super) fn unzip_array(&mut self, words: &[&str]) -> AnswerResult {
        let variable = self.find_variable(words[0])?.clone();
        let columns = self.find_columns(&variable.type_name)?;
        let names = &words[1..];
        if names.len() != columns.len() {
            let wanted = columns.len();
            return Err(format!(
                "{wanted} variables are needed, not {}",
                names.len()
            ));
        }
        let mut parts = variable.parts.into_iter();
        for (name, column) in names.iter().zip(&columns) {
            let count = self.types.layout(column)?.len();
            let parts = parts.by_ref().take(count).collect();
            self.make_variable(name, column, parts)?;
        }
        Ok(Vec::new())
    }
}

/// The bytes of an element of an array, which may itself have dimensions.
fn element_range(
    part: &ProgramValue,
    rank: usize,
    indices: &[&str],
) -> Result<std::ops::Range<usize>, String> {
    let indices = parse_numbers(indices)?;
    if indices.len() != rank {
        return Err(format!("{rank} indices are needed, not {}", indices.len()));
    }
    let mut at = 0;
    for (index, size) in indices.iter().zip(&part.shape) {
        if index >= size {
            return Err(format!(
                "the index {index} is out of bounds for the size {size}"
            ));
        }
        at = at * *size as usize + *index as usize;
    }
    let count: u64 = part.shape[rank..].iter().product();
    let size = (count * part.element.size()) as usize;
    Ok(at * size..(at + 1) * size)
}

fn parse_numbers(words: &[&str]) -> Result<Vec<u64>, String> {
    let numbers: Result<Vec<u64>, _> = words.iter().map(|word| word.parse()).collect();
    numbers.map_err(|_| format!("expected numbers, not {}", words.join(" ")))
}

/// The name of an array type.
fn array_name(rank: usize, element: &str) -> String {
    let is_sum = element.contains('#') && !element.starts_with(['[', '{', '(']);
    let brackets = "[]".repeat(rank);
    if is_sum {
        format!("{brackets}({element})")
    } else {
        brackets + element
    }
}
