//! XML as it comes: any of the usual encodings, with bounds on what it may unfold to.

use std::borrow::Cow;
use std::path::Path;

use roxmltree::{Document, Node, ParsingOptions};

use super::xml_cost;
use crate::base::error::{Error, Result};

/// Largest XML text that is read, in bytes: an opera has about 80 MB.
pub(crate) const LARGEST_XML_BYTES: u64 = 96 << 20;
/// Most elements and texts in it: each takes about 60 bytes of memory.
const MOST_NODES: u32 = 4_000_000;

const REMEDY: &str = "export it again from the notation program";

/// The text of an XML file.
pub(super) fn decode<'a>(name: &Path, bytes: &'a [u8]) -> Result<Cow<'a, str>> {
    if bytes.len() as u64 > LARGEST_XML_BYTES {
        let cause = format!("a score of more than {} MB is too large", LARGEST_XML_BYTES >> 20);
        return Err(Error::limit(name, cause, "check that this is the score, or split it"));
    }
    let wide = |big_endian: bool| {
        let unit = if big_endian { u16::from_be_bytes } else { u16::from_le_bytes };
        let units: Vec<u16> = bytes[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        let text = String::from_utf16(&units).map(Cow::Owned);
        text.map_err(|_| Error::malformed(name, "its text is not the UTF-16 it claims to be", REMEDY))
    };
    match bytes {
        [0xff, 0xfe, ..] => return wide(false),
        [0xfe, 0xff, ..] => return wide(true),
        [0xef, 0xbb, 0xbf, ..] => return utf8(name, &bytes[3..]),
        _ => {}
    }
    let declaration = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).to_ascii_lowercase();
    let declaration = declaration.split("?>").next().unwrap_or_default();
    if ["iso-8859-1", "latin1", "windows-1252"].iter().any(|encoding| declaration.contains(encoding)) {
        return Ok(bytes.iter().map(|&byte| char::from(byte)).collect());
    }
    utf8(name, bytes)
}

/// Text without a word about its encoding: UTF-8 if it is, Latin-1 otherwise.
pub(super) fn decode_any<'a>(name: &Path, bytes: &'a [u8]) -> Result<Cow<'a, str>> {
    match std::str::from_utf8(bytes) {
        Err(_) if bytes.len() as u64 <= LARGEST_XML_BYTES && !bytes.starts_with(&[0xff, 0xfe]) => {
            Ok(bytes.iter().map(|&byte| char::from(byte)).collect())
        }
        _ => decode(name, bytes),
    }
}

fn utf8<'a>(name: &Path, bytes: &'a [u8]) -> Result<Cow<'a, str>> {
    std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|e| {
        let at = e.valid_up_to();
        Error::malformed(name, format!("its text is not UTF-8 from byte {at} on"), "save it in UTF-8")
    })
}

/// The text without the white space between elements, which is most of it.
pub(super) fn condense(text: &str) -> String {
    let mut condensed = String::with_capacity(text.len());
    for (index, piece) in text.split('>').enumerate() {
        if index > 0 {
            condensed.push('>');
        }
        let trimmed = piece.trim_start_matches([' ', '\t', '\r', '\n']);
        condensed.push_str(if index > 0 && trimmed.starts_with('<') { trimmed } else { piece });
    }
    condensed
}

/// Parses a text that is not too large for its memory.
pub(super) fn parse<'a>(name: &Path, text: &'a str) -> Result<Document<'a>> {
    check(name, text)?;
    let options = ParsingOptions { allow_dtd: true, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|e| match e {
        roxmltree::Error::NodesLimitReached => {
            let cause = format!("it has more than the {MOST_NODES} elements accepted");
            Error::limit(name, cause, "check that this is the score, or split it")
        }
        other => Error::malformed(name, format!("it is not well-formed XML ({})", without_place(&other)), REMEDY),
    })
}

/// What is wrong, without the place: that is one in the condensed text.
fn without_place(error: &roxmltree::Error) -> String {
    let message = error.to_string();
    message.rsplit_once(" at ").map_or(message.clone(), |(what, _)| what.to_owned())
}

/// Entities of a file's own are the way to make a small file large, attributes and namespaces to make it slow.
fn check(name: &Path, text: &str) -> Result<()> {
    if text.contains("<!ENTITY") {
        let cause = "it declares entities of its own";
        return Err(Error::unsupported(name, cause, "save it with the text in place of the entities"));
    }
    match xml_cost::excess(text) {
        Some(cause) => Err(Error::limit(name, cause, REMEDY)),
        None => Ok(()),
    }
}

/// The usual questions to an element.
pub(super) trait Element<'a>: Sized {
    /// Whether it is called so, in whatever namespace.
    fn is(&self, name: &str) -> bool;
    /// Its first child of this name.
    fn child(&self, name: &str) -> Option<Self>;
    /// All children of this name.
    fn all(&self, name: &'static str) -> impl Iterator<Item = Self>;
    /// Its text, trimmed; empty if it has none.
    fn words(&self) -> &'a str;
    /// The trimmed text of its first child of this name.
    fn child_words(&self, name: &str) -> Option<&'a str>;
    /// That text as a whole number.
    fn child_number(&self, name: &str) -> Option<i64>;
    /// An attribute, in whatever namespace.
    fn attr(&self, name: &str) -> Option<&'a str>;
}

impl<'a> Element<'a> for Node<'a, '_> {
    fn is(&self, name: &str) -> bool {
        self.tag_name().name() == name
    }

    fn child(&self, name: &str) -> Option<Self> {
        self.children().find(|child| child.is(name))
    }

    fn all(&self, name: &'static str) -> impl Iterator<Item = Self> {
        self.children().filter(move |child| child.is(name))
    }

    fn words(&self) -> &'a str {
        self.children().find(|child| child.is_text()).and_then(|text| text.text()).map_or("", str::trim)
    }

    fn child_words(&self, name: &str) -> Option<&'a str> {
        self.child(name).map(|child| child.words())
    }

    fn child_number(&self, name: &str) -> Option<i64> {
        whole(self.child_words(name)?)
    }

    fn attr(&self, name: &str) -> Option<&'a str> {
        self.attributes().find(|attribute| attribute.name() == name).map(|attribute| attribute.value().trim())
    }
}

/// The `note` elements of a document in its order: those without a name of their own are called by their number.
pub(super) struct NoteNumbers(Vec<usize>);

impl NoteNumbers {
    /// Counts the notes of a document.
    pub fn of(document: &Document<'_>) -> Self {
        Self(document.descendants().filter(|node| node.is("note")).map(|node| node.id().get_usize()).collect())
    }

    /// The name of a note: its own, or else `n` and its number from 1.
    pub fn name(&self, node: Node<'_, '_>) -> String {
        let number = || self.0.partition_point(|&other| other < node.id().get_usize()) + 1;
        node.attr("id").filter(|id| !id.is_empty()).map_or_else(|| format!("n{}", number()), str::to_owned)
    }
}

/// A whole number, also one written with a fraction, as some programs do.
pub(super) fn whole(text: &str) -> Option<i64> {
    let number: f64 = text.trim().parse().ok()?;
    (number.abs() < 1e15).then_some(number.round() as i64)
}
