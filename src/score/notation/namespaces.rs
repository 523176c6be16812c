//! Namespaces within namespaces make a small file slow: for every element that declares one, the parser copies and compares all that are open
//! around it. Side by side they cost little, and programs that transform files repeat them on thousands of elements.

/// Most that may be open at one place: every name below is looked up among them.
const MOST_OPEN: u64 = 200;
/// Most comparisons in all.
const MOST_WORK: u64 = 200_000_000;
/// So few are not worth a look.
const FEW: usize = 200;

/// Whether reading the text would take too long. It errs on the side of more: a name declared again counts twice.
pub(super) fn are_too_many(text: &str) -> bool {
    if text.matches("xmlns").nth(FEW).is_none() {
        return false;
    }
    // How many are declared by each element around the current place.
    let mut around: Vec<u64> = Vec::new();
    let (mut open, mut work) = (0, 0);
    for tag in Tags(text) {
        match tag {
            Tag::End => open -= around.pop().unwrap_or(0),
            Tag::Start { declared, is_empty } => {
                if declared > 0 {
                    work += open * (open + declared);
                }
                if open + declared > MOST_OPEN || work > MOST_WORK {
                    return true;
                }
                if !is_empty {
                    around.push(declared);
                    open += declared;
                }
            }
        }
    }
    false
}

enum Tag {
    Start { declared: u64, is_empty: bool },
    End,
}

/// The tags in a text, without what only looks like one.
struct Tags<'a>(&'a str);

impl Iterator for Tags<'_> {
    type Item = Tag;

    fn next(&mut self) -> Option<Tag> {
        /// What is no tag, by its beginning and its end.
        const OTHERS: [(&str, &str); 4] = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")];
        loop {
            self.0 = &self.0[self.0.find('<')?..];
            if let Some((_, end)) = OTHERS.iter().find(|(begin, _)| self.0.starts_with(begin)) {
                self.0 = &self.0[self.0.find(end)? + end.len()..];
                continue;
            }
            let (tag, rest) = self.0.split_at(end_of_tag(self.0)?);
            self.0 = rest;
            return Some(match tag.starts_with("</") {
                true => Tag::End,
                false => Tag::Start { declared: tag.matches("xmlns").count() as u64, is_empty: tag.ends_with("/>") },
            });
        }
    }
}

/// Where a tag is over: a value in quotes may hold its sign.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    for (index, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'>') => return Some(index + 1),
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

    #[test]
    fn namespaces_side_by_side_are_read_and_within_one_another_are_not() {
        let siblings = format!("<s>{}</s>", "<n xmlns='u' xmlns:l='v'><p/></n><n xmlns='u'/>".repeat(20_000));
        assert!(!are_too_many(&siblings));
        assert!(!are_too_many(&nested(150, "").repeat(10)));
        assert!(are_too_many(&nested(201, "")));
    }

    #[test]
    fn what_only_looks_like_the_end_of_an_element_does_not_hide_that_it_is_open() {
        for disguise in ["<!-- </a> -->", "<![CDATA[</a>]]>", "<?p </a>?>", "<b c='/>'></b>", "<b c=\"'</a>\"/>"] {
            assert!(are_too_many(&nested(201, disguise)), "{disguise}");
        }
    }

    #[test]
    fn the_most_that_is_let_through_is_read_within_two_seconds() {
        let declared = |from: usize, to: usize| (from..to).map(|i| format!(" xmlns:n{i}='u'")).collect::<String>();
        // Under 199 open names each further element costs 40,000 comparisons, and under 20 it costs 420.
        for (open, elements) in [(199, 4_900), (20, 470_000)] {
            let each = format!("<b{}/>", declared(open, open + 1));
            let text = format!("<a{}>{}</a>", declared(0, open), each.repeat(elements));
            assert!(!are_too_many(&text), "{open}");
            let begun = Instant::now();
            let options = roxmltree::ParsingOptions::default();
            roxmltree::Document::parse_with_options(&text, options).unwrap();
            assert!(begun.elapsed() < Duration::from_secs(2), "{open}: {:?}", begun.elapsed());
        }
    }
}
