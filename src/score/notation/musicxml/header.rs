//! What stands before the music: titles and the list of parts.

use std::collections::HashMap;

use roxmltree::Node;

use super::super::written::Part;
use super::super::xml::{Element, whole};

/// What the header says.
pub(super) struct Head {
    pub title: Option<String>,
    pub composer: Option<String>,
    /// The pages are written as they sound, transposing instruments too.
    pub concert_pitch: bool,
    parts: HashMap<String, Part>,
}

impl Head {
    /// The part that is called so; one that the list has not is named by its number.
    pub fn part(&mut self, id: &str, index: usize) -> Part {
        let mut part = self.parts.get(id).cloned().unwrap_or_default();
        id.clone_into(&mut part.id);
        part.staves = 1;
        if part.id.is_empty() {
            part.id = format!("P{}", index + 1);
        }
        if part.name.is_empty() {
            part.name = format!("Part {}", index + 1);
        }
        part
    }
}

/// Reads the header of a score.
pub(super) fn read(root: Node<'_, '_>) -> Head {
    let work = root.child("work").and_then(|work| work.child_words("work-title"));
    let titles = [work, root.child_words("movement-title")];
    let title = titles.into_iter().flatten().find(|title| !title.is_empty()).map(str::to_owned);
    let identification = root.child("identification");
    let creators = identification.into_iter().flat_map(|node| node.all("creator").collect::<Vec<_>>());
    let composer = creators.filter(|creator| creator.attr("type").is_none_or(|kind| kind == "composer"));
    let composer = composer.map(|creator| creator.words().to_owned()).find(|name| !name.is_empty());
    let list = root.child("part-list");
    let parts = list.into_iter().flat_map(|list| list.all("score-part").map(part).collect::<Vec<_>>());
    let concert_pitch = root.child("defaults").is_some_and(|defaults| defaults.child("concert-score").is_some());
    Head { title, composer, concert_pitch, parts: parts.map(|part| (part.id.clone(), part)).collect() }
}

fn part(node: Node<'_, '_>) -> Part {
    let text = |node: Option<Node<'_, '_>>| node.map(|node| node.words().to_owned()).filter(|name| !name.is_empty());
    let instrument = || text(node.child("score-instrument")?.child("instrument-name"));
    let program = node.child("midi-instrument").and_then(|midi| whole(midi.child_words("midi-program")?));
    Part {
        id: node.attr("id").unwrap_or_default().to_owned(),
        name: text(node.child("part-name")).or_else(instrument).unwrap_or_default().replace('\n', " "),
        staves: 1,
        program: program.and_then(|program| u8::try_from(program - 1).ok()).filter(|&program| program < 128),
    }
}
