//! Paths of files as URIs (RFC 8089), and back.

use spirula_text::hex::read_hex_byte;

/// The path that a URI of a file stands for, with slashes. None for other URIs.
pub(crate) fn read_file_uri(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let mut bytes = Vec::new();
    let mut at = 0;
    while let Some(&byte) = path.as_bytes().get(at) {
        if byte == b'%' {
            bytes.push(read_hex_byte(&path.as_bytes()[at + 1..])?);
            at += 3;
        } else {
            bytes.push(byte);
            at += 1;
        }
    }
    let path = String::from_utf8(bytes).ok()?;
    if has_drive(&path[1..]) {
        Some(path[1..].to_owned())
    } else {
        Some(path)
    }
}

/// The URI of a file.
pub(crate) fn write_file_uri(path: &str) -> String {
    let mut uri = String::from("file://");
    let path = path.replace('\\', "/");
    if has_drive(&path) {
        uri.push('/');
    }
    for &byte in path.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// Whether a path begins with a drive of Windows.
fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [drive, b':', ..] if drive.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_percent_encoded() {
        for (path, uri) in [
            ("/a/b c.fut", "file:///a/b%20c.fut"),
            ("/\u{e6}.fut", "file:///%C3%A6.fut"),
            ("C:/x.fut", "file:///C%3A/x.fut"),
        ] {
            assert_eq!(write_file_uri(path), uri);
            assert_eq!(read_file_uri(uri).as_deref(), Some(path));
        }
        assert_eq!(read_file_uri("untitled:x"), None);
        assert_eq!(read_file_uri("file:///%4"), None);
        assert_eq!(read_file_uri("file:///%ff"), None);
        assert_eq!(read_file_uri("file:///%+f"), None);
    }
}
