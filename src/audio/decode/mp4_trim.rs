//! Encoder delay in MP4 and M4A files: the edit list of each track, or iTunes' own note. The demuxer does not apply them.
//!
//! An MP4 file is a tree of boxes: a 32-bit size, a four-letter type, then the payload. The edit list sits in
//! `moov/trak/edts/elst`, iTunes' note in `moov/udta/meta/ilst/----` under the name `iTunSMPB`.

use std::io::{Read, Seek, SeekFrom};

/// A `moov` box larger than this (many hours of video) is left unread.
const LARGEST_MOOV: u64 = 64 << 20;

/// How many boxes are looked at on one level: more are no file that a recorder made.
const MOST_BOXES: usize = 10_000;

/// Which part of a track's decoded samples is the recording, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mp4Trim {
    /// The track's number, as in `tkhd`.
    pub track_id: u32,
    /// How much to skip.
    pub skip_s: f64,
    /// How much to keep after that, if it is said.
    pub keep_s: Option<f64>,
}

/// Reads the trims of all tracks and returns to where `source` was. What is not an MP4 file, or a damaged one, gives none.
pub(super) fn read_trims<R: Read + Seek + ?Sized>(source: &mut R) -> Vec<Mp4Trim> {
    let Ok(start) = source.stream_position() else { return Vec::new() };
    let trims = read_moov(source).map(|moov| trims_in(&moov)).unwrap_or_default();
    // If this fails the demuxer will notice, and has the better words.
    let _ = source.seek(SeekFrom::Start(start));
    trims
}

fn read_moov<R: Read + Seek + ?Sized>(source: &mut R) -> Option<Vec<u8>> {
    for index in 0..MOST_BOXES {
        let mut header = [0; 16];
        source.read_exact(&mut header[..8]).ok()?;
        let kind = [header[4], header[5], header[6], header[7]];
        if index == 0 && kind != *b"ftyp" {
            return None;
        }
        let (size, header_len) = match be32(&header)? {
            1 => {
                source.read_exact(&mut header[8..]).ok()?;
                (be64(&header[8..])?, 16)
            }
            // Zero means: to the end of the file.
            0 => (u64::MAX, 8),
            size => (u64::from(size), 8),
        };
        let payload = size.checked_sub(header_len)?;
        if kind == *b"moov" {
            let mut moov = Vec::new();
            source.take(payload.min(LARGEST_MOOV)).read_to_end(&mut moov).ok()?;
            return Some(moov);
        }
        source.seek(SeekFrom::Current(i64::try_from(payload).ok()?)).ok()?;
    }
    None
}

fn trims_in(moov: &[u8]) -> Vec<Mp4Trim> {
    let movie_timescale = child(moov, b"mvhd").and_then(header_timescale);
    let note = itunes_note(moov);
    let mut trims = Vec::new();
    for (_, trak) in boxes(moov).filter(|(kind, _)| kind == b"trak") {
        let Some(track_id) = child(trak, b"tkhd").and_then(track_number) else { continue };
        let Some(timescale) = child(trak, b"mdia").and_then(|m| child(m, b"mdhd")).and_then(header_timescale) else {
            continue;
        };
        let edits = child(trak, b"edts").and_then(|e| child(e, b"elst")).and_then(edit_list);
        let by_edits = edits.and_then(|edits| trim_of_edits(&edits, timescale, movie_timescale));
        // iTunes counts samples, and its tracks' timescale is the sample rate.
        let by_note = note.map(|(skip, keep)| (skip as f64 / timescale, Some(keep as f64 / timescale)));
        if let Some((skip_s, keep_s)) = by_edits.or(by_note) {
            trims.push(Mp4Trim { track_id, skip_s, keep_s });
        }
    }
    trims
}

struct Edit {
    /// In the movie's timescale.
    duration: u64,
    /// In the track's timescale; negative for an empty edit, which delays the track against the picture.
    media_time: i64,
}

fn trim_of_edits(edits: &[Edit], timescale: f64, movie_timescale: Option<f64>) -> Option<(f64, Option<f64>)> {
    let mut real = edits.iter().filter(|edit| edit.media_time >= 0);
    let first = real.next()?;
    // Of a track cut into several pieces only the beginning is trimmed: nothing that sounds is lost.
    let keep = (real.next().is_none() && first.duration > 0).then_some(first.duration as f64);
    Some((first.media_time as f64 / timescale, keep.zip(movie_timescale).map(|(ticks, scale)| ticks / scale)))
}

fn edit_list(elst: &[u8]) -> Option<Vec<Edit>> {
    let version = *elst.first()?;
    let entry_len = if version == 1 { 20 } else { 12 };
    let count = be32(elst.get(4..)?)? as usize;
    let entries = elst.get(8..)?.chunks_exact(entry_len).take(count);
    entries
        .map(|entry| {
            Some(if version == 1 {
                Edit { duration: be64(entry)?, media_time: be64(&entry[8..])? as i64 }
            } else {
                Edit { duration: be32(entry)?.into(), media_time: i64::from(be32(&entry[4..])? as i32) }
            })
        })
        .collect()
}

/// Samples to skip and to keep according to `iTunSMPB`: hexadecimal words, of which the second is the delay and the
/// fourth the length.
fn itunes_note(moov: &[u8]) -> Option<(u64, u64)> {
    let meta = child(child(moov, b"udta")?, b"meta")?;
    // `meta` begins with a version word, unlike other boxes that hold boxes.
    let ilst = child(meta.get(4..)?, b"ilst")?;
    let (_, note) = boxes(ilst)
        .filter(|(kind, _)| kind == b"----")
        .find(|(_, tag)| child(tag, b"name").and_then(|name| name.get(4..)) == Some(b"iTunSMPB"))?;
    let text = std::str::from_utf8(child(note, b"data")?.get(8..)?).ok()?;
    let mut words = text.split_whitespace().map(|word| u64::from_str_radix(word, 16).ok());
    let (delay, length) = (words.nth(1)??, words.nth(1)??);
    (length > 0 && delay < 1 << 20).then_some((delay, length))
}

fn track_number(tkhd: &[u8]) -> Option<u32> {
    be32(tkhd.get(if *tkhd.first()? == 1 { 20 } else { 12 }..)?)
}

/// The timescale of `mvhd` and `mdhd`, which stands after two dates.
fn header_timescale(header: &[u8]) -> Option<f64> {
    be32(header.get(if *header.first()? == 1 { 20 } else { 12 }..)?).filter(|&scale| scale > 0).map(f64::from)
}

fn child<'a>(parent: &'a [u8], kind: &[u8; 4]) -> Option<&'a [u8]> {
    boxes(parent).find(|(k, _)| k == kind).map(|(_, payload)| payload)
}

fn boxes(mut bytes: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    std::iter::from_fn(move || {
        let kind = bytes.get(4..8)?.try_into().ok()?;
        let (size, header_len) = match be32(bytes)? {
            1 => (usize::try_from(be64(bytes.get(8..)?)?).ok()?, 16),
            0 => (bytes.len(), 8),
            size => (size as usize, 8),
        };
        let payload = bytes.get(header_len..size.min(bytes.len()))?;
        bytes = bytes.get(size..).unwrap_or_default();
        Some((kind, payload))
    })
    .take(MOST_BOXES)
}

fn be32(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(..4)?.try_into().ok()?))
}

fn be64(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.get(..8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    fn make_box(kind: &[u8; 4], payload: &[u8]) -> Vec<u8> {
        [&(payload.len() as u32 + 8).to_be_bytes()[..], kind, payload].concat()
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|w| w.to_be_bytes()).collect()
    }

    fn movie(extra_in_trak: &[u8], extra_in_moov: &[u8]) -> Vec<u8> {
        let tkhd = make_box(b"tkhd", &words(&[0, 0, 0, 7]));
        let mdia = make_box(b"mdia", &make_box(b"mdhd", &words(&[0, 0, 0, 44_100, 0])));
        let trak = make_box(b"trak", &[&tkhd[..], extra_in_trak, &mdia].concat());
        let mvhd = make_box(b"mvhd", &words(&[0, 0, 0, 1000, 0]));
        let moov = make_box(b"moov", &[&mvhd[..], &trak, extra_in_moov].concat());
        [make_box(b"ftyp", b"M4A "), make_box(b"free", &[0; 9]), moov].concat()
    }

    fn edits(entries: &[[u32; 3]]) -> Vec<u8> {
        let list = [words(&[0, entries.len() as u32]), words(entries.as_flattened())].concat();
        make_box(b"edts", &make_box(b"elst", &list))
    }

    fn itunes(text: &str) -> Vec<u8> {
        let name = make_box(b"name", &[&[0; 4][..], b"iTunSMPB"].concat());
        let data = make_box(b"data", &[&[0; 8][..], text.as_bytes()].concat());
        let ilst = make_box(b"ilst", &make_box(b"----", &[name, data].concat()));
        make_box(b"udta", &make_box(b"meta", &[&[0; 4][..], &ilst].concat()))
    }

    #[test]
    fn the_edit_list_gives_skip_and_length_in_their_own_timescales() {
        let mut file = Cursor::new(movie(&edits(&[[1500, 1024, 0x10000]]), &[]));
        file.set_position(0);
        assert_eq!(read_trims(&mut file), [Mp4Trim { track_id: 7, skip_s: 1024.0 / 44_100.0, keep_s: Some(1.5) }]);
        assert_eq!(file.position(), 0, "the demuxer starts where the source was");
    }

    #[test]
    fn empty_edits_are_passed_over_and_several_pieces_are_all_kept() {
        let trims =
            read_trims(&mut Cursor::new(movie(&edits(&[[40, u32::MAX, 1], [900, 2112, 1], [900, 99_999, 1]]), &[])));
        assert_eq!(trims, [Mp4Trim { track_id: 7, skip_s: 2112.0 / 44_100.0, keep_s: None }]);
    }

    #[test]
    fn itunes_note_is_used_where_there_is_no_edit_list() {
        let note = itunes(" 00000000 00000840 000001CA 00000000003F31F6 00000000 00000000");
        let expected = Mp4Trim { track_id: 7, skip_s: 2112.0 / 44_100.0, keep_s: Some(4_141_558.0 / 44_100.0) };
        assert_eq!(read_trims(&mut Cursor::new(movie(&[], &note))), [expected]);
        let both = movie(&edits(&[[1500, 1024, 1]]), &note);
        assert_eq!(read_trims(&mut Cursor::new(both))[0].skip_s, 1024.0 / 44_100.0);
        assert_eq!(read_trims(&mut Cursor::new(movie(&[], &itunes(" 0 zz 0")))), []);
    }

    proptest! {
        #[test]
        fn damaged_files_never_panic(mut cut in 0usize..300, flips in prop::collection::vec((0usize..300, any::<u8>()), 0..6)) {
            let mut file = movie(&edits(&[[1500, 1024, 1]]), &itunes(" 0 840 1CA 3F31F6"));
            for (at, value) in flips {
                let at = at % file.len();
                file[at] = value;
            }
            cut = cut.min(file.len());
            file.truncate(file.len() - cut);
            read_trims(&mut Cursor::new(file));
        }
    }
}
