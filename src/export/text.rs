//! Numbers and names as text.

/// A plain decimal number; zero never carries a sign.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
        _ => text,
    }
}

/// A number with up to three decimals, without trailing zeros: 2, 2.5, 2.333.
pub fn short(value: f64) -> String {
    let text = fixed(value, 3);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// One line: line breaks and other control characters become spaces.
pub fn single_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A CSV field, quoted if it must be.
pub fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// Text inside an XML attribute or element. Control characters are not allowed in XML at all.
pub fn xml(text: &str) -> String {
    let escaped = single_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('"', "&quot;").replace('\'', "&apos;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_plain_and_zero_has_no_sign() {
        assert_eq!(
            (fixed(-1e-9, 6), fixed(-0.5, 1), fixed(1.0, 6)),
            ("0.000000".into(), "-0.5".into(), "1.000000".into())
        );
        assert_eq!(
            (short(2.0), short(2.5), short(7.0 / 3.0), short(100.0)),
            ("2".into(), "2.5".into(), "2.333".into(), "100".into())
        );
    }

    #[test]
    fn names_cannot_break_out_of_their_place() {
        assert_eq!(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(xml("a<b>&\"'\u{1}"), "a&lt;b&gt;&amp;&quot;&apos; ");
        assert_eq!(single_line("a\nb"), "a b");
    }
}
