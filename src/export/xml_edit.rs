//! Adding to an XML text without touching the rest of it. The text was read before: it is well-formed.

use std::ops::Range;

/// A tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag<'a> {
    /// Its element, without a prefix.
    pub name: &'a str,
    /// Where the name ends: attributes can be written there.
    pub name_end: usize,
    /// Where the tag ends, behind its bracket.
    pub end: usize,
    /// Where it begins.
    pub start: usize,
    /// What it does.
    pub kind: TagKind,
    text: &'a str,
}

/// What a tag does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagKind {
    /// It opens an element.
    Open,
    /// It closes one.
    Close,
    /// It is an element by itself.
    Empty,
}

impl<'a> Tag<'a> {
    /// Whether it begins an element of this name.
    pub fn opens(&self, name: &str) -> bool {
        self.kind != TagKind::Close && self.name == name
    }

    /// The value of an attribute, in whatever namespace.
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        let (_, value) = self.find(name)?;
        self.text.get(value)
    }

    /// An attribute with the white space before it, to be taken out.
    pub fn attribute_range(&self, name: &str) -> Option<Range<usize>> {
        let (whole, _) = self.find(name)?;
        Some(whole)
    }

    /// An attribute: all of it, and its value.
    fn find(&self, name: &str) -> Option<(Range<usize>, Range<usize>)> {
        let mut at = self.name_end;
        while at < self.end {
            let rest = &self.text[at..self.end];
            let equals = rest.find('=')?;
            let key = rest[..equals].trim().rsplit(':').next().unwrap_or_default();
            let quote = at + equals + 1 + rest[equals + 1..].find(['"', '\''])?;
            let mark = self.text.as_bytes()[quote];
            let value_end = quote + 1 + self.text[quote + 1..self.end].find(char::from(mark))?;
            if key == name {
                return Some((at..value_end + 1, quote + 1..value_end));
            }
            at = value_end + 1;
        }
        None
    }
}

/// The tags of a text, in order; comments, declarations and character data are passed over.
pub fn tags(text: &str) -> impl Iterator<Item = Tag<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find('<')?;
            let rest = &text[start..];
            let skipped = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")]
                .into_iter()
                .find(|(begin, _)| rest.starts_with(begin));
            if let Some((_, end)) = skipped {
                at = start + rest.find(end)? + end.len();
                continue;
            }
            if rest.starts_with("<!") {
                at = start + end_of_declaration(rest)?;
                continue;
            }
            let end = start + end_of_tag(rest)?;
            at = end;
            let inside = text[start + 1..end - 1].trim_start_matches('/');
            let kind = match &text[start..end] {
                tag if tag.starts_with("</") => TagKind::Close,
                tag if tag.ends_with("/>") => TagKind::Empty,
                _ => TagKind::Open,
            };
            let whole = inside.split([' ', '\t', '\r', '\n', '/', '>']).next().unwrap_or_default();
            let name_end = start + 1 + usize::from(kind == TagKind::Close) + whole.len();
            let name = whole.rsplit(':').next().unwrap_or_default();
            return Some(Tag { name, name_end, end, start, kind, text });
        }
    })
}

/// Where a tag ends: behind the first bracket that is not quoted.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    for (index, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(index + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

/// Where a document type ends, which may hold declarations of its own.
fn end_of_declaration(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' if depth == 1 => return Some(index + 1),
            b'>' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// What is to be changed in a text.
#[derive(Debug, Default)]
pub struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    /// Something more at a place.
    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.0.push((at..at, text.into()));
    }

    /// Something else in the place of a range.
    pub fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.0.push((range, text.into()));
    }

    /// The text with everything changed; of two insertions at one place the first stands first.
    pub fn apply(mut self, text: &str) -> String {
        self.0.sort_by_key(|(range, _)| range.start);
        let more: usize = self.0.iter().map(|(_, new)| new.len()).sum();
        let mut edited = String::with_capacity(text.len() + more);
        let mut at = 0;
        for (range, new) in self.0 {
            edited.push_str(&text[at..range.start.max(at)]);
            edited.push_str(&new);
            at = range.end.max(at);
        }
        edited.push_str(&text[at..]);
        edited
    }
}

/// The declaration at the beginning of a text says UTF-8, which is what is written.
pub fn declare_utf8(text: &str, edits: &mut Edits) {
    let begin = text.len() - text.trim_start_matches('\u{feff}').len();
    let end = if text[begin..].starts_with("<?xml") { text.find("?>").map_or(begin, |at| at + 2) } else { begin };
    let line_break = if end == begin { "\n" } else { "" };
    edits.replace(0..end, format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{line_break}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "<?xml version='1.0' encoding='UTF-16'?>\n<!DOCTYPE a [<!ELEMENT b ANY>]>\n\
                        <a x:id = 'one>two' n=\"2\"><!-- <b> --><b/><![CDATA[<b>]]><m:b id=\"3\">text</m:b></a>";

    #[test]
    fn tags_are_found_and_nothing_that_only_looks_like_one() {
        let found: Vec<(&str, TagKind)> = tags(TEXT).map(|tag| (tag.name, tag.kind)).collect();
        use TagKind::{Close, Empty, Open};
        assert_eq!(found, [("a", Open), ("b", Empty), ("b", Open), ("b", Close), ("a", Close)]);
        let first = tags(TEXT).next().unwrap();
        assert_eq!((first.attribute("id"), first.attribute("n")), (Some("one>two"), Some("2")));
        assert_eq!(first.attribute("none"), None);
        assert_eq!(&TEXT[first.attribute_range("n").unwrap()], " n=\"2\"");
        assert_eq!(&TEXT[first.name_end - 1..first.name_end], "a");
    }

    #[test]
    fn edits_stand_where_they_were_meant() {
        let mut edits = Edits::default();
        let first = tags(TEXT).next().unwrap();
        edits.insert(first.end, "<c/>");
        edits.insert(first.name_end, " new=\"1\"");
        edits.replace(first.attribute_range("n").unwrap(), "");
        declare_utf8(TEXT, &mut edits);
        let edited = edits.apply(TEXT);
        assert!(edited.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE"), "{edited}");
        assert!(edited.contains("<a new=\"1\" x:id = 'one>two'><c/><!-- <b> -->"), "{edited}");
        let mut edits = Edits::default();
        declare_utf8("<a/>", &mut edits);
        assert_eq!(edits.apply("<a/>"), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a/>");
    }
}
