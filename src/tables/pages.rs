//! The pages of a column, walked before the library reads them: it reserves whatever size a page claims to have.

/// A copy of 64 bytes takes three in Snappy: nothing becomes larger than this many times.
const SNAPPY_GROWS: u64 = 22;

/// The numbers of the sizes in the header of a page.
const UNCOMPRESSED_SIZE: i64 = 2;
const COMPRESSED_SIZE: i64 = 3;

/// Structures within structures; Parquet has three.
const DEEPEST: usize = 8;

/// Whether the pages of a column follow one another to its end and none claims to be larger than it can be.
pub(super) fn are_plausible(chunk: &[u8]) -> bool {
    let mut rest = Compact { bytes: chunk };
    while !rest.bytes.is_empty() {
        let Some((uncompressed, compressed)) = rest.page_header() else { return false };
        let is_possible = uncompressed <= SNAPPY_GROWS * compressed + 64;
        if !is_possible || rest.take(compressed).is_none() {
            return false;
        }
    }
    true
}

/// Thrift's compact protocol, as far as it takes to find two numbers and the end of a structure.
struct Compact<'a> {
    bytes: &'a [u8],
}

impl<'a> Compact<'a> {
    /// Sizes of the page behind a header, not compressed and compressed.
    fn page_header(&mut self) -> Option<(u64, u64)> {
        let (mut uncompressed, mut compressed) = (None, None);
        let mut field = 0;
        while let Some(kind) = self.field(&mut field)? {
            match (field, kind) {
                (UNCOMPRESSED_SIZE, 5) => uncompressed = u64::try_from(self.number()?).ok(),
                (COMPRESSED_SIZE, 5) => compressed = u64::try_from(self.number()?).ok(),
                _ => self.skip(kind, DEEPEST)?,
            }
        }
        Some((uncompressed?, compressed?))
    }

    /// The type of the next field, none at the end of a structure. Field numbers are stored as the difference from the previous one.
    #[expect(clippy::option_option, reason = "damaged, the end, or a field")]
    fn field(&mut self, number: &mut i64) -> Option<Option<u8>> {
        let head = self.take(1)?[0];
        if head == 0 {
            return Some(None);
        }
        *number = match head >> 4 {
            0 => self.number()?,
            more => number.checked_add(i64::from(more))?,
        };
        Some(Some(head & 15))
    }

    fn skip(&mut self, kind: u8, deep: usize) -> Option<()> {
        match kind {
            1 | 2 => {}
            3 => drop(self.take(1)?),
            4..=6 => drop(self.varint()?),
            7 => drop(self.take(8)?),
            8 => {
                let length = self.varint()?;
                self.take(length)?;
            }
            9 | 10 => {
                let head = self.take(1)?[0];
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                for _ in 0..count {
                    // A boolean takes a byte in a list; as a field it is part of the type.
                    self.skip(if head & 15 <= 2 { 3 } else { head & 15 }, deep.checked_sub(1)?)?;
                }
            }
            12 => {
                let mut number = 0;
                while let Some(kind) = self.field(&mut number)? {
                    self.skip(kind, deep.checked_sub(1)?)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(usize::try_from(count).ok()?)?;
        self.bytes = rest;
        Some(taken)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }

    /// A number with a sign, which is in the lowest bit.
    fn number(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data page, 100 bytes that are 9 when compressed, a structure with a list and a text in it, then the 9 bytes.
    fn page(claimed: &[u8]) -> Vec<u8> {
        let head = [&[0x15, 0, 0x15], claimed, &[0x15, 18, 0x2c, 0x18, 2, b'a', b'b', 0x19, 0x25, 2, 4, 0, 0]].concat();
        [head.as_slice(), &[7; 9]].concat()
    }

    #[test]
    fn pages_are_walked_to_the_end_and_a_size_that_cannot_be_is_seen() {
        let good = page(&[0xc8, 1]);
        assert!(are_plausible(&[good.as_slice(), good.as_slice()].concat()));
        assert!(!are_plausible(&good[..good.len() - 1]), "cut off");
        assert!(!are_plausible(&page(&[0xfe, 0xff, 0xff, 0xff, 0x0f])), "two gigabytes");
        assert!(!are_plausible(&page(&[1])), "less than nothing");
        assert!(
            !are_plausible(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
            "a list without end"
        );
        assert!(!are_plausible(&[0x1c; 100_000]), "structures in structures");
    }
}
