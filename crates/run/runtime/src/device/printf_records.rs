//! Printf records: output of shaders in a buffer, with format strings from their modules.
//!
//! The buffer begins with the number of words that were asked for. A record that did not fit is not there, and its
//! call has failed; the words in its place are no number of a text, which ends the records.

use spirula_scalar::printf::{PrintfTemplate, PrintfValue};
use spirula_spirv::reflect::PrintfBuffer;

/// The initial contents of a buffer without records.
pub fn build_empty_buffer(bytes: u64) -> Vec<u8> {
    let mut buffer = vec![0xff; bytes as usize];
    buffer.iter_mut().take(4).for_each(|byte| *byte = 0);
    buffer
}

/// Appends the output of the records of a buffer. The first word that begins no record ends them.
pub fn print_records(printf: &PrintfBuffer, buffer: &[u8], out: &mut Vec<u8>) {
    let words = buffer.chunks_exact(4);
    let mut words = words.map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
    let Some(asked) = words.next() else { return };
    let words: Vec<u32> = words.take(asked as usize).collect();
    let templates: Vec<PrintfTemplate> = printf
        .texts
        .iter()
        .map(|t| PrintfTemplate::new(&t.1))
        .collect();
    let find = |number: u32| printf.texts.iter().position(|(n, ..)| *n == number);
    let mut at = 0;
    while let Some(found) = words.get(at).and_then(|number| find(*number)) {
        at += 1;
        let mut wanted = templates[found].list_arguments();
        let mut arguments = Vec::new();
        for size in &printf.texts[found].2 {
            let count = size.div_ceil(4) as usize;
            // A record that did not fit was not written.
            let Some(given) = words.get(at..at.saturating_add(count)) else {
                return;
            };
            at += count;
            arguments.extend(match wanted.next() {
                Some(wanted) if wanted.is_text() => {
                    let text = given.first().and_then(|number| find(*number));
                    let text = text.map(|n| printf.texts[n].1.clone());
                    Some(PrintfValue::Text(text.unwrap_or_default()))
                }
                Some(wanted) => {
                    let bytes: Vec<u8> = given.iter().flat_map(|w| w.to_le_bytes()).collect();
                    Some(wanted.decode_argument(&bytes))
                }
                None => None,
            });
        }
        templates[found].print_arguments(&arguments, out);
    }
}

#[cfg(test)]
mod tests {
    use super::{build_empty_buffer, print_records};
    use spirula_spirv::reflect::PrintfBuffer;

    fn print_words(words: &[u32]) -> String {
        let texts = [
            (0, "%d and %s\n", vec![4, 4]),
            (1, "text", vec![]),
            (2, "%v2hlf;", vec![8]),
        ];
        let texts = texts.map(|(n, text, sizes)| (n, text.as_bytes().to_vec(), sizes));
        let printf = PrintfBuffer {
            texts: texts.to_vec(),
            ..PrintfBuffer::default()
        };
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let mut out = Vec::new();
        print_records(&printf, &bytes, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn records() {
        let floats = [1.5_f32.to_bits(), (-2.0_f32).to_bits()];
        let words = [6, 0, 7, 1, 2, floats[0], floats[1]];
        assert_eq!(print_words(&words), "7 and text\n1.500000,-2.000000;");
    }

    #[test]
    fn what_is_no_record_ends_them() {
        assert_eq!(print_words(&[]), "");
        assert_eq!(print_words(&[0, 1, 1]), "");
        assert_eq!(print_words(&[u32::MAX, 1, 1, 9, 1]), "texttext");
        assert_eq!(print_words(&[2, 0, 7, 1]), "");
    }

    #[test]
    fn records_end_before_the_first_that_did_not_fit() {
        let mut buffer: Vec<u32> = build_empty_buffer(28)
            .chunks(4)
            .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
            .collect();
        // Three records of three words were requested, of which two fit into six words.
        buffer[..4].copy_from_slice(&[9, 0, 7, 1]);
        assert_eq!(print_words(&buffer), "7 and text\n");
    }
}
