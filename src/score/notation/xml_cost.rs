//! What makes a small XML file slow to parse, looked for before it is parsed. The parser compares the attributes of an element
//! with one another, and for every element that declares a namespace it copies and compares all that are open around it.
//! Namespaces side by side cost little, and programs that transform files repeat them on thousands of elements.

/// Most attributes of one element.
const MOST_ATTRIBUTES: usize = 500;
/// Most attributes of all elements.
const MOST_ATTRIBUTES_IN_ALL: usize = 3_000_000;
/// Most namespaces that may be open at one place: every name below is looked up among them.
const MOST_OPEN: usize = 200;
/// Most comparisons of namespaces in all.
const MOST_WORK: usize = 200_000_000;
/// So few namespaces are not worth a look.
const FEW: usize = 200;

/// What the text has too much of, if parsing it would take too long. It errs on the side of refusing: a name that is declared
/// again counts twice, and what cannot be divided into tags counts as a single one.
pub(super) fn excess(text: &str) -> Option<&'static str> {
    let counts_namespaces = text.matches("xmlns").nth(FEW).is_some();
    let declared_in = |tag: &str| if counts_namespaces { tag.matches("xmlns").count() } else { 0 };
    let (mut attributes_in_all, mut work, mut open) = (0, 0, 0);
    // How many namespaces are declared by each element around the current place.
    let mut around: Vec<usize> = Vec::new();
    for token in Tokens(text) {
        let (tag, attributes) = match token {
            Token::Tag { text, .. } if text.starts_with("</") => {
                open -= around.pop().unwrap_or(0);
                continue;
            }
            Token::Tag { text, attributes } => (text, attributes),
            Token::OwnDocumentType => return Some("it has a document type definition of its own"),
        };
        attributes_in_all += attributes;
        if attributes > MOST_ATTRIBUTES || attributes_in_all > MOST_ATTRIBUTES_IN_ALL {
            return Some("its elements have too many attributes");
        }
        let declared = declared_in(tag);
        if declared > 0 {
            work += open * (open + declared);
        }
        if open + declared > MOST_OPEN || work > MOST_WORK {
            return Some("it declares too many namespaces within one another");
        }
        if !tag.ends_with("/>") {
            around.push(declared);
            open += declared;
        }
    }
    None
}

enum Token<'a> {
    /// The beginning or the end of an element.
    Tag { text: &'a str, attributes: usize },
    /// A document type that is declared in the file: it may hold anything.
    OwnDocumentType,
}

/// The tags of a text, without what only looks like one.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        /// What is not a tag, by its beginning and its end.
        const OTHERS: [(&str, &str); 3] = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        loop {
            self.0 = &self.0[self.0.find('<')?..];
            if let Some((begin, end)) = OTHERS.iter().find(|(begin, _)| self.0.starts_with(begin)) {
                let inside = &self.0[begin.len()..];
                match inside.find(end) {
                    Some(at) => {
                        self.0 = &inside[at + end.len()..];
                        continue;
                    }
                    None => return Some(self.rest()),
                }
            }
            let Some((end, attributes)) = end_of_tag(self.0) else { return Some(self.rest()) };
            let (text, rest) = self.0.split_at(end);
            self.0 = rest;
            match text.strip_prefix("<!") {
                Some(declaration) if declaration.contains('[') => return Some(Token::OwnDocumentType),
                Some(_) => {}
                None => return Some(Token::Tag { text, attributes }),
            }
        }
    }
}

impl<'a> Tokens<'a> {
    /// What has no end.
    fn rest(&mut self) -> Token<'a> {
        let text = std::mem::take(&mut self.0);
        // Not the end of an element, whatever it begins with.
        let text = text.trim_start_matches(['<', '/']);
        Token::Tag { text, attributes: text.matches('=').count() }
    }
}

/// Where a tag is over, and how many attributes it has: a value in quotes may hold its signs.
fn end_of_tag(text: &str) -> Option<(usize, usize)> {
    let (mut quote, mut attributes) = (None, 0);
    for (index, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'=') => attributes += 1,
            (None, b'>') => return Some((index + 1, attributes)),
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// So many elements in one another, each with a namespace of its own.
    fn nested(depth: usize, inside: &str) -> String {
        let begins: String = (0..depth).map(|i| format!("<a xmlns:n{i}='u{i}' t='>'>{inside}")).collect();
        begins + &"</a>".repeat(depth)
    }

    fn attributes(count: usize) -> String {
        (0..count).map(|i| format!(" a{i}='='")).collect()
    }

    #[test]
    fn namespaces_side_by_side_are_read_and_within_one_another_are_not() {
        let siblings = format!("<s>{}</s>", "<n xmlns='u' xmlns:l='v'><p/></n><n xmlns='u'/>".repeat(20_000));
        assert_eq!(excess(&siblings), None);
        assert_eq!(excess(&nested(150, "").repeat(10)), None);
        assert!(excess(&nested(201, "")).unwrap().contains("namespaces"));
    }

    #[test]
    fn attributes_are_counted_by_element_and_in_all() {
        assert_eq!(excess(&format!("<a t='>'{}/>", attributes(499))), None);
        assert!(excess(&format!("<a t='>'{}/>", attributes(500))).unwrap().contains("attributes"));
        assert_eq!(excess(&format!("<a{}/>", attributes(500)).repeat(6000)), None);
        assert!(excess(&format!("<a{}/>", attributes(500)).repeat(6001)).unwrap().contains("attributes"));
    }

    #[test]
    fn what_only_looks_like_a_tag_does_not_hide_what_follows() {
        for disguise in ["<!-- </a> -->", "<![CDATA[</a>]]>", "<?p </a>?>", "<b c='/>'></b>", "<b c=\"'</a>\"/>"] {
            assert!(excess(&nested(201, disguise)).is_some(), "{disguise}");
        }
        // Read from another place on, each of these is an element whose attribute has no end.
        for disguise in ["<!--> <x y=\" -->", "<!---> <x y=\" -->", "<!DOCTYPE a SYSTEM '> <x y='>", "<?p > <x y=\" ?>"]
        {
            assert!(excess(&format!("{disguise}{}", nested(201, ""))).is_some(), "{disguise}");
            assert_eq!(excess(&format!("{disguise}<a/>")), None, "{disguise}");
        }
    }

    #[test]
    fn a_document_type_of_its_own_is_refused_and_a_named_one_is_not() {
        let named =
            "<!DOCTYPE score-partwise PUBLIC \"-//Recordare//DTD MusicXML 4.0 Partwise//EN\" \"partwise.dtd\"><a/>";
        assert_eq!(excess(named), None);
        let own = "<!DOCTYPE a [<!-- > <x y=\"  -->]><a/>";
        assert!(excess(own).unwrap().contains("document type"));
    }

    #[test]
    fn what_has_no_end_counts_as_one_tag() {
        for begin in ["<!-- ", "<a b='", "</a b='"] {
            assert_eq!(excess(begin), None);
            assert!(excess(&format!("{begin}{}", nested(201, "").replace(['\'', '-'], ""))).is_some(), "{begin}");
        }
    }

    #[test]
    fn the_most_that_is_let_through_is_parsed_in_time() {
        let declared = |from: usize, to: usize| (from..to).map(|i| format!(" xmlns:n{i}='u'")).collect::<String>();
        // Under 199 open names each further element costs 40,000 comparisons, and under 20 it costs 420.
        for (open, elements) in [(199, 4_900), (20, 470_000)] {
            let each = format!("<b{}/>", declared(open, open + 1));
            let text = format!("<a{}>{}</a>", declared(0, open), each.repeat(elements));
            assert_eq!(excess(&text), None, "{open}");
            let begun = Instant::now();
            roxmltree::Document::parse(&text).unwrap();
            // A second on a free processor; no file may take ten.
            assert!(begun.elapsed() < Duration::from_secs(10), "{open}: {:?}", begun.elapsed());
        }
    }
}
