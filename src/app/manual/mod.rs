//! The manual inside the program: the pages of the book in `docs/src`, for the Help menu.

mod markdown;
mod pages;

use std::sync::OnceLock;

pub use markdown::{Block, Piece, Style, blocks};

/// A page of the manual.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// Its title in the table of contents.
    pub title: &'static str,
    /// How far in its line stands in the table of contents.
    pub level: usize,
    /// Its file in the book, which links name it by.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

const SUMMARY: &str = include_str!("../../../docs/src/SUMMARY.md");

/// All pages in the order of the table of contents.
pub fn pages() -> &'static [Page] {
    static PAGES: OnceLock<Vec<Page>> = OnceLock::new();
    PAGES.get_or_init(|| contents(SUMMARY).filter_map(page).collect())
}

/// The page that a link on another one leads to; none if it leads out of the manual.
pub fn linked(from: &Page, target: &str) -> Option<usize> {
    let file = target.split('#').next().filter(|file| !file.is_empty() && !file.contains("://"))?;
    let mut parts: Vec<&str> = from.path.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    let path = parts.join("/");
    pages().iter().position(|page| page.path == path)
}

/// Level, title and file of every line of the table of contents that names a page.
fn contents(summary: &'static str) -> impl Iterator<Item = (usize, &'static str, &'static str)> {
    summary.lines().filter_map(|line| {
        let (title, rest) = line.trim_start().trim_start_matches("- ").strip_prefix('[')?.split_once("](")?;
        let level = (line.len() - line.trim_start().len()) / 2;
        Some((level, title, rest.strip_suffix(')')?.trim_start_matches("./")))
    })
}

fn page((level, title, path): (usize, &'static str, &'static str)) -> Option<Page> {
    let text = pages::TEXTS.iter().find(|(name, _)| *name == path)?.1;
    Some(Page { title, level, path, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_contents_is_a_page_with_a_heading() {
        let listed: Vec<_> = contents(SUMMARY).map(|(_, _, path)| path).collect();
        let found: Vec<_> = pages().iter().map(|page| page.path).collect();
        assert_eq!(found, listed, "src/app/manual/pages.rs lists what docs/src/SUMMARY.md lists");
        assert!(found.len() > 5);
        for page in pages() {
            assert!(matches!(blocks(page.text).first(), Some(Block::Heading(1, _))), "{}", page.path);
        }
    }

    #[test]
    fn links_between_pages_lead_somewhere() {
        for page in pages() {
            for block in blocks(page.text) {
                for piece in block.pieces() {
                    let Some(target) = &piece.link else { continue };
                    let is_page = target.split('#').next().unwrap().ends_with(".md") && !target.contains("://");
                    assert!(!is_page || linked(page, target).is_some(), "{}: {target}", page.path);
                }
            }
        }
    }
}
