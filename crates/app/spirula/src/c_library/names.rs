//! Names of C for types and fields. The rules are those of Futhark (`Futhark.CodeGen.Backends.SimpleRep`).

use md5::{Digest, Md5};
use spirula_text::hex::write_hex;

/// Whether a name is an identifier of C.
fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_none_or(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The name itself where it is an identifier of C, and otherwise an encoding of it.
pub fn escape_name(name: &str) -> String {
    if is_identifier(name) {
        name.to_owned()
    } else {
        encode_name(name)
    }
}

/// The name of a field or constructor after the name of its type.
pub fn escape_member(stem: &str, member: &str) -> String {
    if is_identifier(&format!("{stem}_{member}")) {
        member.to_owned()
    } else {
        encode_name(member)
    }
}

/// Codes of characters in encoded names. Source: GHC's Z-encoding (`GHC.Utils.Encoding`), which Futhark uses.
const CODES: &[(char, &str)] = &[
    ('(', "ZL"),
    (')', "ZR"),
    ('[', "ZM"),
    (']', "ZN"),
    (':', "ZC"),
    ('Z', "ZZ"),
    ('z', "zz"),
    ('&', "za"),
    ('|', "zb"),
    ('^', "zc"),
    ('$', "zd"),
    ('=', "ze"),
    ('>', "zg"),
    ('#', "zh"),
    ('.', "zi"),
    ('<', "zl"),
    ('-', "zm"),
    ('!', "zn"),
    ('+', "zp"),
    ('\'', "zq"),
    ('\\', "zr"),
    ('/', "zs"),
    ('*', "zt"),
    ('_', "zu"),
    ('%', "zv"),
];

fn encode_name(name: &str) -> String {
    let mut out = String::new();
    for (index, character) in name.chars().enumerate() {
        let code = CODES.iter().find(|(coded, _)| *coded == character);
        match code {
            Some((_, code)) => out.push_str(code),
            None if character.is_ascii_alphabetic() => out.push(character),
            None if character.is_ascii_digit() && index > 0 => out.push(character),
            None => out.push_str(&encode_code_point(character)),
        }
    }
    out
}

/// The code of any other character: `z`, its number in hexadecimal with a digit in front, `U`.
fn encode_code_point(character: char) -> String {
    let digits = format!("{:x}", u32::from(character));
    let is_digit = digits.starts_with(|first: char| first.is_ascii_digit());
    format!("z{}{digits}U", if is_digit { "" } else { "0" })
}

/// The name of a type that is no array of scalars: a readable one where there is one, and otherwise a hash.
pub fn opaque_name(type_name: &str) -> String {
    let is_valid = |name: &str| is_identifier(name) && !name.is_empty();
    let readable = TypeNameReader { rest: type_name }.read_whole();
    let readable = readable.filter(|name| is_valid(name));
    let name = readable.or_else(|| is_valid(type_name).then(|| type_name.to_owned()));
    let name = name.unwrap_or_else(|| write_hex(&Md5::digest(type_name)));
    format!("opaque_{name}")
}

/// Reader of the name of a type.
struct TypeNameReader<'a> {
    rest: &'a str,
}

impl TypeNameReader<'_> {
    fn read_whole(mut self) -> Option<String> {
        let name = self.read_type()?;
        self.rest.is_empty().then_some(name)
    }

    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn read_type(&mut self) -> Option<String> {
        let mut rank = 0;
        while self.eat("[]") {
            rank += 1;
        }
        if rank > 0 {
            return Some(format!("arr{rank}d_{}", self.read_type()?));
        }
        if self.eat("(") {
            let elements = self.read_list(")", Self::read_type)?;
            return Some(match elements.len() {
                0 => "unit".to_owned(),
                count => format!("tup{count}_{}", elements.join("_")),
            });
        }
        if self.eat("{") {
            let fields = self.read_list("}", Self::read_field)?;
            return Some(format!("rec__{}", fields.join("__")));
        }
        let name = self.read_atom()?;
        if self.eat(".") {
            return Some(format!("{name}_{}", self.read_atom()?));
        }
        Some(name)
    }

    fn read_field(&mut self) -> Option<String> {
        let name = self.read_atom()?;
        self.eat(":").then_some(())?;
        Some(format!("{name}_{}", self.read_type()?))
    }

    fn read_list(
        &mut self,
        end: &str,
        read: fn(&mut Self) -> Option<String>,
    ) -> Option<Vec<String>> {
        let mut items = Vec::new();
        while !self.eat(end) {
            if !items.is_empty() {
                self.eat(",").then_some(())?;
                self.rest = self.rest.trim_start();
            }
            items.push(read(self)?);
        }
        Some(items)
    }

    fn read_atom(&mut self) -> Option<String> {
        let end = self.rest.find(|c| "[]{}(),.:".contains(c));
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        (!name.is_empty()).then(|| name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that Futhark 0.25.32 gives, from its headers.
    #[test]
    fn types_have_futharks_names() {
        for (type_name, name) in [
            ("t", "opaque_t"),
            ("()", "opaque_unit"),
            ("(i32, [][]f32)", "opaque_tup2_i32_arr2d_f32"),
            ("[](i32, (f32, f32))", "opaque_arr1d_tup2_i32_tup2_f32_f32"),
            ("m.t", "opaque_m_t"),
            ("triad f32", "opaque_ad064416512a164c78572bc089377948"),
        ] {
            assert_eq!(opaque_name(type_name), name, "{type_name}");
        }
    }

    #[test]
    fn other_names_are_encoded() {
        assert_eq!(escape_name("f_1"), "f_1");
        assert_eq!(escape_name("x'"), "xzq");
        assert_eq!(escape_member("opaque_t", "0"), "0");
        assert_eq!(escape_name("+"), "zp");
    }
}
