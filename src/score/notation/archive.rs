//! Compressed MusicXML: a zip archive whose container names the score inside.

use std::io::{Cursor, Read};
use std::path::Path;

use zip::ZipArchive;

use super::xml::{LARGEST_XML_BYTES, decode, parse};
use crate::base::error::{Error, Result};

/// Largest container that is read: it holds a few names.
const LARGEST_CONTAINER_BYTES: u64 = 1 << 20;
/// Most files in an archive; a score with its pictures has a few dozen.
const MOST_ENTRIES: usize = 10_000;
const REMEDY: &str = "export the score again as MusicXML";

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// The bytes of the score in an archive.
pub(super) fn unpack(name: &Path, bytes: &[u8]) -> Result<Vec<u8>> {
    let damaged = |e| Error::malformed(name, format!("the zip archive cannot be read ({e})"), REMEDY);
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    if archive.len() > MOST_ENTRIES {
        let cause = format!("the archive holds {} files, more than the {MOST_ENTRIES} accepted", archive.len());
        return Err(Error::limit(name, cause, REMEDY));
    }
    let entry = score_entry(name, &mut archive)?;
    extract(name, &mut archive, &entry, LARGEST_XML_BYTES)
}

/// The entry that the container names, or else the first that is called XML.
fn score_entry(name: &Path, archive: &mut Archive<'_>) -> Result<String> {
    if archive.index_for_name("META-INF/container.xml").is_some() {
        let container = extract(name, archive, "META-INF/container.xml", LARGEST_CONTAINER_BYTES)?;
        let text = decode(name, &container)?;
        if let Some(path) = named_by(name, &text)
            && archive.index_for_name(&path).is_some()
        {
            return Ok(path);
        }
    }
    let is_score = |entry: &&str| {
        let entry = entry.to_ascii_lowercase();
        !entry.starts_with("meta-inf/") && [".xml", ".musicxml", ".mei"].iter().any(|end| entry.ends_with(end))
    };
    archive.file_names().find(is_score).map(str::to_owned).ok_or_else(|| {
        Error::malformed(name, "the zip archive holds no MusicXML", "export the score as MusicXML (.mxl or .musicxml)")
    })
}

fn named_by(name: &Path, container: &str) -> Option<String> {
    let document = parse(name, container).ok()?;
    let mut files = document.descendants().filter(|node| node.tag_name().name() == "rootfile");
    let is_xml = |kind: &str| kind == "application/vnd.recordare.musicxml+xml";
    // The first is the score; others are renderings of it, each with its own media type.
    files.find(|file| file.attribute("media-type").is_none_or(is_xml))?.attribute("full-path").map(str::to_owned)
}

fn extract(name: &Path, archive: &mut Archive<'_>, entry: &str, most: u64) -> Result<Vec<u8>> {
    let damaged = |e: &dyn std::fmt::Display| {
        Error::malformed(name, format!("{entry} in the zip archive cannot be unpacked ({e})"), REMEDY)
    };
    let file = archive.by_name(entry).map_err(|e| damaged(&e))?;
    let mut bytes = Vec::new();
    // What the archive claims of its sizes counts for nothing.
    file.take(most + 1).read_to_end(&mut bytes).map_err(|e| damaged(&e))?;
    if bytes.len() as u64 > most {
        let cause = format!("{entry} in the zip archive is larger than the {} MB accepted", most >> 20);
        return Err(Error::limit(name, cause, "check that this is the score, or split it"));
    }
    Ok(bytes)
}
