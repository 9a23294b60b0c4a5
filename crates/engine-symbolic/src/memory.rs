//! Memory of bytes, each a number or a term, in pages that states share until one of them writes.

use std::sync::Arc;

use parallax_machine::Domain;
use parallax_program::{BinaryOp, Bits};
use parallax_solver::Term;

use crate::value::{Symbol, Value, Values};

const PAGE: u64 = 64;
/// Pages of a region.
const PAGES: u64 = 64;

/// Bytes, which of them were ever given a value, and which are terms.
#[derive(Clone, PartialEq, Eq)]
pub struct Page {
    pub bytes: [u8; PAGE as usize],
    pub defined: u64,
    /// Bytes that are no numbers, by place.
    open: Vec<(u8, Term)>,
}

impl Page {
    pub const SIZE: u64 = PAGE;

    pub fn zeroed(is_defined: bool) -> Page {
        let defined = if is_defined { u64::MAX } else { 0 };
        Page { bytes: [0; PAGE as usize], defined, open: Vec::new() }
    }

    /// What is known of the bytes, and which of them that is.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        let word =
            |part: &[u8]| part.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        self.bytes.chunks(8).map(word).chain([self.defined, self.open.len() as u64])
    }

    /// The bytes that are no numbers, by place.
    pub fn terms(&self) -> &[(u8, Term)] {
        &self.open
    }

    fn byte(&self, place: usize) -> Byte {
        if self.defined >> place & 1 == 0 {
            return Byte::Undefined;
        }
        if self.open.is_empty() {
            return Byte::Known(self.bytes[place]);
        }
        match self.open.binary_search_by_key(&(place as u8), |(at, _)| *at) {
            Ok(index) => Byte::Open(self.open[index].1),
            Err(_) => Byte::Known(self.bytes[place]),
        }
    }

    fn set(&mut self, place: usize, value: Byte) {
        let at = self.open.binary_search_by_key(&(place as u8), |(at, _)| *at);
        match (value, at) {
            (Byte::Open(term), Ok(index)) => self.open[index].1 = term,
            (Byte::Open(term), Err(index)) => self.open.insert(index, (place as u8, term)),
            (_, Ok(index)) => {
                self.open.remove(index);
            }
            _ => {}
        }
        self.bytes[place] = if let Byte::Known(byte) = value { byte } else { 0 };
        match value {
            Byte::Undefined => self.defined &= !(1 << place),
            _ => self.defined |= 1 << place,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Byte {
    Known(u8),
    Open(Term),
    Undefined,
}

#[derive(Clone, PartialEq, Eq)]
struct Region {
    pages: Vec<Option<Arc<Page>>>,
}

/// The bytes that were written so far; `initial` gives pages that nobody has written to.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Memory {
    regions: Arc<Vec<(u64, Arc<Region>)>>,
}

/// What was read.
pub struct Content {
    pub value: Value,
    /// Whether each byte was given a value.
    pub is_defined: bool,
}

impl Memory {
    /// The pages that were written to, by number.
    pub fn pages(&self) -> impl Iterator<Item = (u64, &Page)> {
        self.regions.iter().flat_map(|(region, pages)| {
            let pages = (region * PAGES..).zip(&pages.pages);
            pages.filter_map(|(number, page)| Some((number, page.as_deref()?)))
        })
    }

    /// Words of so many bytes, each at a multiple of that, that are numbers, with their places.
    pub fn known_words(&self, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
        self.pages().flat_map(move |(number, page)| {
            let places = (0..PAGE).step_by(bytes as usize);
            places.filter_map(move |place| {
                let of_word = (place..place + bytes).rev().map(|at| page.byte(at as usize));
                let word = of_word.into_iter().try_fold(0, |word, byte| match byte {
                    Byte::Known(byte) => Some(word << 8 | u64::from(byte)),
                    Byte::Open(_) | Byte::Undefined => None,
                });
                Some((number * PAGE + place, word?))
            })
        })
    }

    fn page(&self, number: u64) -> Option<&Page> {
        let index = self.regions.binary_search_by_key(&(number / PAGES), |(region, _)| *region);
        self.regions[index.ok()?].1.pages[(number % PAGES) as usize].as_deref()
    }

    fn page_mut(&mut self, number: u64, initial: &dyn Fn(u64) -> Page) -> &mut Page {
        let regions = Arc::make_mut(&mut self.regions);
        let place = number / PAGES;
        let index = match regions.binary_search_by_key(&place, |(region, _)| *region) {
            Ok(index) => index,
            Err(index) => {
                let region = Region { pages: vec![None; PAGES as usize] };
                regions.insert(index, (place, Arc::new(region)));
                index
            }
        };
        let region = Arc::make_mut(&mut regions[index].1);
        let page = &mut region.pages[(number % PAGES) as usize];
        Arc::make_mut(page.get_or_insert_with(|| Arc::new(initial(number))))
    }

    fn byte(&self, address: u64, initial: &dyn Fn(u64) -> Page) -> Byte {
        let (number, place) = (address / PAGE, (address % PAGE) as usize);
        match self.page(number) {
            Some(page) => page.byte(place),
            None => initial(number).byte(place),
        }
    }

    /// Whether all of so many bytes were given a value.
    pub fn is_defined(&self, address: u64, size: u64, initial: &dyn Fn(u64) -> Page) -> bool {
        let pages = address / PAGE..=(address.saturating_add(size.max(1)) - 1) / PAGE;
        pages.into_iter().all(|number| {
            let from = address.saturating_sub(number * PAGE).min(PAGE);
            let to = address.saturating_add(size).saturating_sub(number * PAGE).min(PAGE);
            let mask = (from..to).fold(0u64, |mask, place| mask | 1 << place);
            let defined =
                self.page(number).map_or_else(|| initial(number).defined, |it| it.defined);
            defined & mask == mask
        })
    }

    /// So many bytes. Those that nobody has written are symbols.
    pub fn read(
        &self,
        values: &mut Values,
        address: u64,
        bytes: u32,
        initial: &dyn Fn(u64) -> Page,
    ) -> Content {
        self.read_or(values, address, bytes, false, initial)
    }

    /// The same; where `is_fresh`, those that nobody has written are zero.
    pub fn read_or(
        &self,
        values: &mut Values,
        address: u64,
        bytes: u32,
        is_fresh: bool,
        initial: &dyn Fn(u64) -> Page,
    ) -> Content {
        let place = (address % PAGE) as usize;
        let is_inside = place + bytes as usize <= PAGE as usize;
        if let Some(page) = self.page(address / PAGE).filter(|_| is_inside)
            && page.open.is_empty()
            && let Some(value) = known(page, place, bytes)
        {
            return Content { value, is_defined: true };
        }
        let mut whole = None;
        let mut is_defined = true;
        for offset in 0..u64::from(bytes) {
            let at = address.wrapping_add(offset);
            let byte = match self.byte(at, initial) {
                Byte::Known(byte) => Value::Known(Bits::new(8, u128::from(byte))),
                Byte::Open(term) => Value::Open(term),
                Byte::Undefined if is_fresh => Value::Known(Bits::zero(8)),
                Byte::Undefined => {
                    is_defined = false;
                    values.symbol(Symbol::Byte { address: at }, 8)
                }
            };
            whole = Some(whole.map_or(byte, |low| values.concat(&byte, &low)));
        }
        let value = whole.unwrap_or(Value::Known(Bits::zero(8)));
        Content { value, is_defined }
    }

    pub fn write(
        &mut self,
        values: &mut Values,
        address: u64,
        value: Value,
        initial: &dyn Fn(u64) -> Page,
    ) {
        let bytes = values.width(value) / 8;
        for offset in 0..bytes {
            let part = values.extract(&value, offset * 8, 8);
            let byte = match part {
                Value::Known(bits) => Byte::Known(bits.unsigned() as u8),
                Value::Open(term) => Byte::Open(term),
            };
            let at = address.wrapping_add(u64::from(offset));
            self.page_mut(at / PAGE, initial).set((at % PAGE) as usize, byte);
        }
    }

    /// So many bytes at an address that is a term: at one of these places, which are all there are.
    pub fn read_at(
        &self,
        values: &mut Values,
        address: Value,
        places: &[u64],
        bytes: u32,
        initial: &dyn Fn(u64) -> Page,
    ) -> Content {
        let mut whole = None;
        let mut is_defined = true;
        for place in places {
            let content = self.read(values, *place, bytes, initial);
            is_defined &= content.is_defined;
            whole = Some(match whole {
                None => content.value,
                Some(others) => {
                    let here = is_at(values, address, *place);
                    values.select(&here, &content.value, &others)
                }
            });
        }
        let value = whole.unwrap_or(Value::Known(Bits::zero(bytes * 8)));
        Content { value, is_defined }
    }

    /// A write to an address that is a term. False where it may leave bytes without a value.
    pub fn write_at(
        &mut self,
        values: &mut Values,
        address: Value,
        places: &[u64],
        value: Value,
        initial: &dyn Fn(u64) -> Page,
    ) -> bool {
        let bytes = values.width(value) / 8;
        let mut is_defined = true;
        // One after the other: each place takes the value if the address is there.
        for place in places {
            let old = self.read(values, *place, bytes, initial);
            is_defined &= old.is_defined;
            let here = is_at(values, address, *place);
            let new = values.select(&here, &value, &old.value);
            self.write(values, *place, new, initial);
        }
        is_defined
    }
}

fn known(page: &Page, place: usize, bytes: u32) -> Option<Value> {
    let mask = (u128::from(u64::MAX) >> (64 - bytes.min(64))) as u64;
    if page.defined >> place & mask != mask {
        return None;
    }
    let part = page.bytes[place..place + bytes as usize].iter().rev();
    let value = part.fold(0u128, |value, byte| value << 8 | u128::from(*byte));
    Some(Value::Known(Bits::new(bytes * 8, value)))
}

fn is_at(values: &mut Values, address: Value, place: u64) -> Value {
    let width = values.width(address);
    values.binary(BinaryOp::Eq, &address, &Value::Known(Bits::new(width, u128::from(place))))
}
