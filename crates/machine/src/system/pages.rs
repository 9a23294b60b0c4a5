//! Byte-addressable memory in small pages that snapshots share until one of them writes.
//!
//! A page is there only once something in it was written; before that its bytes are what they are
//! at first. Every change also changes a fingerprint of the whole, word by word: what a word was is
//! taken out and what it is now put in, so that memory which holds what it held before has the
//! fingerprint that it had before (A. Zobrist, A new hashing method with application for game
//! playing, 1970).

use std::sync::Arc;

use parallax_program::{Bits, Open};

use super::fingerprint::fingerprint;
use super::marks::Marks;

const PAGE: u64 = 64;

/// Bytes, and which of them were ever given a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Page {
    pub bytes: [u8; PAGE as usize],
    pub defined: u64,
}

impl Page {
    pub(crate) const SIZE: u64 = PAGE;

    pub(crate) fn zeroed(defined: bool) -> Page {
        Page { bytes: [0; PAGE as usize], defined: if defined { u64::MAX } else { 0 } }
    }

    fn word(&self, index: usize) -> (u64, u64) {
        let bytes = self.bytes[index * 8..].first_chunk::<8>();
        let value = bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes));
        (value, self.defined >> (index * 8) & 0xff)
    }
}

/// What was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Content {
    pub value: u128,
    /// Which bytes are not defined.
    pub undefined: u32,
}

impl Content {
    pub(crate) fn is_defined(self) -> bool {
        self.undefined == 0
    }

    /// So many bytes as a value. For some reads, what nobody has written is 0.
    pub(crate) fn bits(self, bytes: u32, marks: Marks) -> Bits {
        let open = match self.undefined.count_ones() {
            0 => Open::Nothing,
            _ if marks.is_fresh() => Open::Nothing,
            all if all == bytes => Open::All,
            _ => Open::Part,
        };
        Bits::new(bytes * 8, self.value).opened(open)
    }
}

#[derive(Clone, Default)]
pub(crate) struct Pages {
    /// By number.
    table: Arc<Vec<(u64, Arc<Page>)>>,
    pub fingerprint: u128,
}

impl Pages {
    fn find(&self, number: u64) -> Result<usize, usize> {
        self.table.binary_search_by_key(&number, |(page, _)| *page)
    }

    /// Some bytes; `initial` gives pages that nobody has written to.
    pub(crate) fn read(&self, address: u64, bytes: u32, initial: impl Fn(u64) -> Page) -> Content {
        let (mut value, mut undefined) = (0, 0);
        let mut done = 0;
        while done < bytes {
            let at = address.wrapping_add(u64::from(done));
            let (number, offset) = (at / PAGE, (at % PAGE) as usize);
            let count = (bytes - done).min((PAGE as usize - offset) as u32);
            let own;
            let page: &Page = match self.find(number) {
                Ok(index) => &self.table[index].1,
                Err(_) => {
                    own = initial(number);
                    &own
                }
            };
            for byte in 0..count as usize {
                value |= u128::from(page.bytes[offset + byte]) << ((done as usize + byte) * 8);
                let is_open = page.defined >> (offset + byte) & 1 == 0;
                undefined |= u32::from(is_open) << (done as usize + byte);
            }
            done += count;
        }
        Content { value, undefined }
    }

    pub(crate) fn write(
        &mut self,
        address: u64,
        bytes: u32,
        value: u128,
        initial: impl Fn(u64) -> Page,
    ) {
        let mut done = 0;
        while done < bytes {
            let at = address.wrapping_add(u64::from(done));
            let (number, offset) = (at / PAGE, (at % PAGE) as usize);
            let count = (bytes - done).min((PAGE as usize - offset) as u32);
            let table = Arc::make_mut(&mut self.table);
            let index = match table.binary_search_by_key(&number, |(page, _)| *page) {
                Ok(index) => index,
                Err(index) => {
                    table.insert(index, (number, Arc::new(initial(number))));
                    index
                }
            };
            let page = Arc::make_mut(&mut table[index].1);
            let words = offset / 8..=(offset + count as usize - 1) / 8;
            self.fingerprint ^= of_words(number, page, words.clone());
            for byte in 0..count as usize {
                page.bytes[offset + byte] = (value >> ((done as usize + byte) * 8)) as u8;
                page.defined |= 1 << (offset + byte);
            }
            self.fingerprint ^= of_words(number, page, words);
            done += count;
        }
    }

    /// Puts some bytes back to what they were at first.
    pub(crate) fn forget(&mut self, address: u64, size: u64, initial: impl Fn(u64) -> Page) {
        let end = address.saturating_add(size);
        let from = self.table.partition_point(|(page, _)| *page < address / PAGE);
        let to = self.table.partition_point(|(page, _)| *page < end.div_ceil(PAGE));
        if from >= to {
            return;
        }
        let all = 0..=PAGE as usize / 8 - 1;
        let mut change = 0;
        let table = Arc::make_mut(&mut self.table);
        for (number, page) in &mut table[from..to] {
            let first = initial(*number);
            change ^= of_words(*number, page, all.clone());
            let start = *number * PAGE;
            let (low, high) = (address.saturating_sub(start), (end - start).min(PAGE));
            let page = Arc::make_mut(page);
            for byte in low as usize..high as usize {
                page.bytes[byte] = first.bytes[byte];
                page.defined = page.defined & !(1 << byte) | first.defined & 1 << byte;
            }
            change ^= of_words(*number, page, all.clone());
        }
        self.fingerprint ^= change;
        table.retain(|(number, page)| {
            let start = *number * PAGE;
            start < address || start + PAGE > end || **page != initial(*number)
        });
    }

    /// Whether the fingerprint is that of what is there, and pages are in order.
    pub(crate) fn is_whole(&self, initial: impl Fn(u64) -> Page) -> bool {
        let all = || 0..=PAGE as usize / 8 - 1;
        let change = self.table.iter().fold(0, |sum, (number, page)| {
            sum ^ of_words(*number, page, all()) ^ of_words(*number, &initial(*number), all())
        });
        self.fingerprint == change && self.table.is_sorted_by(|(one, _), (other, _)| one < other)
    }

    /// How many pages are there.
    pub(crate) fn count(&self) -> usize {
        self.table.len()
    }
}

fn of_words(number: u64, page: &Page, words: std::ops::RangeInclusive<usize>) -> u128 {
    words.fold(0, |sum, index| {
        let (value, defined) = page.word(index);
        sum ^ fingerprint(1, [number * (PAGE / 8) + index as u64, value, defined])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_leaves_no_trace_when_it_is_undone() {
        let initial = |_| Page::zeroed(true);
        let mut pages = Pages::default();
        let before = pages.fingerprint;
        // Across the end of a page.
        pages.write(62, 4, 0x0403_0201, initial);
        assert_eq!(pages.read(62, 4, initial).value, 0x0403_0201);
        assert_eq!(pages.read(61, 2, initial).value, 0x0100);
        assert_eq!(pages.count(), 2);
        let snapshot = pages.clone();
        pages.write(64, 1, 9, initial);
        assert_eq!(snapshot.read(64, 1, initial).value, 3);
        assert_ne!(pages.fingerprint, snapshot.fingerprint);
        pages.write(62, 4, 0, initial);
        assert_eq!(pages.fingerprint, before);
    }

    #[test]
    fn what_was_never_written_is_not_defined() {
        let initial = |_| Page::zeroed(false);
        let mut pages = Pages::default();
        pages.write(128, 2, 7, initial);
        assert!(pages.read(128, 2, initial).is_defined());
        assert!(!pages.read(128, 4, initial).is_defined());
        pages.write(131, 1, 7, initial);
        pages.forget(120, 11, initial);
        assert_eq!(pages.read(128, 4, initial), Content { value: 7 << 24, undefined: 0b0111 });
        pages.forget(128, 64, initial);
        assert_eq!((pages.count(), pages.fingerprint), (0, 0));
        assert!(!pages.read(128, 1, initial).is_defined());
    }
}
