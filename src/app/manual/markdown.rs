//! As much of Markdown as the manual is written in: headings, paragraphs, lists, tables, code, pictures, links.

/// Something that stands on lines of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A heading and its level, from 1.
    Heading(usize, Vec<Piece>),
    /// A paragraph.
    Paragraph(Vec<Piece>),
    /// A line of a list: how far in it stands, its sign and its text.
    Item(usize, String, Vec<Piece>),
    /// Lines to be shown as they are.
    Code(String),
    /// Rows of cells, the first of which are titles.
    Table(Vec<Vec<Vec<Piece>>>),
}

impl Block {
    /// All text in it.
    pub fn pieces(&self) -> Vec<&Piece> {
        match self {
            Self::Heading(_, pieces) | Self::Paragraph(pieces) | Self::Item(_, _, pieces) => pieces.iter().collect(),
            Self::Code(_) => Vec::new(),
            Self::Table(rows) => rows.iter().flatten().flatten().collect(),
        }
    }
}

/// A stretch of text of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// What it says; of a picture, what it shows.
    pub text: String,
    /// How it looks.
    pub style: Style,
    /// Where it leads.
    pub link: Option<String>,
}

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As all text.
    Plain,
    /// Between two asterisks.
    Strong,
    /// Between asterisks.
    Emphasis,
    /// Between backticks.
    Code,
    /// What a picture shows that is not shown here.
    Picture,
}

/// Cuts a page into blocks.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        let mut more = |text: &mut String| {
            while let Some(next) = lines.next_if(|next| !next.trim().is_empty() && !begins_a_block(next)) {
                text.push(' ');
                text.push_str(next.trim());
            }
        };
        if trimmed.is_empty() {
            continue;
        } else if trimmed.starts_with("```") {
            let code: Vec<&str> = lines.by_ref().take_while(|line| !line.trim_start().starts_with("```")).collect();
            blocks.push(Block::Code(code.join("\n")));
        } else if let Some((level, text)) = heading(trimmed) {
            blocks.push(Block::Heading(level, pieces(text)));
        } else if trimmed.starts_with('|') {
            let mut rows = vec![cells(trimmed)];
            while let Some(row) = lines.next_if(|next| next.trim_start().starts_with('|')) {
                if !row.chars().all(|char| matches!(char, '|' | '-' | ':' | ' ')) {
                    rows.push(cells(row.trim()));
                }
            }
            blocks.push(Block::Table(rows));
        } else if let Some((sign, text)) = item(trimmed) {
            let mut text = text.to_owned();
            more(&mut text);
            blocks.push(Block::Item(indent / 2, sign, pieces(&text)));
        } else {
            let mut text = trimmed.trim_end().to_owned();
            more(&mut text);
            blocks.push(Block::Paragraph(pieces(&text)));
        }
    }
    blocks
}

fn begins_a_block(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with('|') || heading(line).is_some() || item(line).is_some()
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.len() - line.trim_start_matches('#').len();
    Some((level, line[level..].strip_prefix(' ')?.trim())).filter(|_| (1..=6).contains(&level))
}

/// The sign of a list's line and what follows it.
fn item(line: &str) -> Option<(String, &str)> {
    if let Some(text) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
        return Some(("•".to_owned(), text.trim()));
    }
    let (number, text) = line.split_once(". ")?;
    let is_number = !number.is_empty() && number.len() <= 3 && number.chars().all(|char| char.is_ascii_digit());
    is_number.then(|| (format!("{number}."), text.trim()))
}

fn cells(row: &str) -> Vec<Vec<Piece>> {
    row.trim_start_matches('|').trim_end_matches('|').split(" | ").map(|cell| pieces(cell.trim())).collect()
}

/// Cuts a text into stretches of one kind.
fn pieces(text: &str) -> Vec<Piece> {
    let mut found: Vec<Piece> = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let Some((piece, after)) = marked(rest) else {
            plain.push(char);
            rest = &rest[char.len_utf8()..];
            continue;
        };
        if !plain.is_empty() {
            found.push(Piece { text: std::mem::take(&mut plain), style: Style::Plain, link: None });
        }
        found.push(piece);
        rest = after;
    }
    if !plain.is_empty() {
        found.push(Piece { text: plain, style: Style::Plain, link: None });
    }
    found
}

/// What begins here with a sign of its own, and what follows it.
fn marked(text: &str) -> Option<(Piece, &str)> {
    let between = |sign: &str, style: Style| {
        let (inside, after) = text.strip_prefix(sign)?.split_once(sign)?;
        let is_text = !inside.is_empty() && (style == Style::Code || !inside.starts_with(' '));
        is_text.then(|| (Piece { text: inside.to_owned(), style, link: None }, after))
    };
    let link = |begin: &str, style: Style| {
        let (shown, rest) = text.strip_prefix(begin)?.split_once("](")?;
        let (target, after) = rest.split_once(')')?;
        let link = (style != Style::Picture).then(|| target.to_owned());
        (!shown.contains('\n')).then(|| (Piece { text: shown.replace('`', ""), style, link }, after))
    };
    between("`", Style::Code)
        .or_else(|| between("**", Style::Strong))
        .or_else(|| between("*", Style::Emphasis))
        .or_else(|| link("![", Style::Picture))
        .or_else(|| link("[", Style::Plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str, style: Style) -> Piece {
        Piece { text: text.to_owned(), style, link: None }
    }

    #[test]
    fn a_page_is_cut_into_its_blocks() {
        let page = "# Title\n\nA `word` and\n**more**, [there](b/c.md#d).\n- one\n  goes on\n  - in\n2. two\n\n```sh\nls | x\n```\n| a | b |\n|---|---|\n| 1 | *2* |\n![A picture](p.png)\n";
        let plain = |text: &str| piece(text, Style::Plain);
        let expected = [
            Block::Heading(1, vec![plain("Title")]),
            Block::Paragraph(vec![
                plain("A "),
                piece("word", Style::Code),
                plain(" and "),
                piece("more", Style::Strong),
                plain(", "),
                Piece { link: Some("b/c.md#d".to_owned()), ..plain("there") },
                plain("."),
            ]),
            Block::Item(0, "•".to_owned(), vec![plain("one goes on")]),
            Block::Item(1, "•".to_owned(), vec![plain("in")]),
            Block::Item(0, "2.".to_owned(), vec![plain("two")]),
            Block::Code("ls | x".to_owned()),
            Block::Table(vec![
                vec![vec![plain("a")], vec![plain("b")]],
                vec![vec![plain("1")], vec![piece("2", Style::Emphasis)]],
            ]),
            Block::Paragraph(vec![piece("A picture", Style::Picture)]),
        ];
        assert_eq!(blocks(page), expected);
    }

    #[test]
    fn signs_that_mark_nothing_are_text() {
        for text in ["2 * 3 * 4", "a ` b", "[not a link", "5 #", "**", "1.5 s"] {
            let shown: String = pieces(text).into_iter().map(|piece| piece.text).collect();
            assert_eq!(shown, text);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(page in "[ a#*`|\\[\\]()!.0-9\n-]{0,200}") {
            blocks(&page);
        }
    }
}
