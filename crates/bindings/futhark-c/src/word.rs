//! Type words: types of scalars and of arrays of scalars, as Futhark writes them.

use crate::failure::CallFailure;
use spirula_program::{ScalarType, parse_element_type};

/// The type of a scalar or of an array of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeWord {
    pub element: ScalarType,
    pub unsigned: bool,
    pub rank: usize,
    /// Whether it is the size of an array without data.
    pub is_size: bool,
}

/// The size of an array without data.
const SIZE: TypeWord = TypeWord {
    element: ScalarType::I64,
    unsigned: false,
    rank: 0,
    is_size: true,
};

impl TypeWord {
    /// Parses a word such as `[][]f32` or `size`.
    pub fn parse(word: &str) -> Result<TypeWord, CallFailure> {
        if word == "size" {
            return Ok(SIZE);
        }
        let name = word.trim_start_matches("[]");
        let Some((element, unsigned)) = parse_element_type(name) else {
            return Err(CallFailure::from_message(format!("{word} is no type")));
        };
        Ok(TypeWord {
            element,
            unsigned,
            rank: (word.len() - name.len()) / 2,
            is_size: false,
        })
    }

    /// Parses words with blanks between them.
    pub fn parse_all(words: &str) -> Result<Vec<TypeWord>, CallFailure> {
        words.split_whitespace().map(TypeWord::parse).collect()
    }

    /// The bytes of an element.
    pub fn element_size(self) -> usize {
        self.element.size() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_types() {
        let word = TypeWord::parse("[][]u8").unwrap();
        assert_eq!(
            (word.element, word.unsigned, word.rank),
            (ScalarType::I8, true, 2)
        );
        assert_eq!(TypeWord::parse_all(" f16  []bool").unwrap().len(), 2);
        assert!(TypeWord::parse("[]").is_err());
        assert!(TypeWord::parse("[i32]").is_err());
    }
}
