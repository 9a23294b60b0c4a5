//! What the bytes of an object may hold.
//!
//! Cells are made where the program reads or writes. What no cell covers holds the base value. A
//! store to one known place of an object that is one object replaces what was there; any other store
//! adds to it.

use std::collections::BTreeMap;

use crate::num::Num;
use crate::value::Value;

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Contents {
    /// By offset: so many bytes, and what they hold.
    cells: BTreeMap<(i128, u32), Value>,
    /// What bytes hold that are in no cell.
    base: Value,
    /// How many bytes what was stored there has, where that was always at multiples of it.
    grain: Option<u32>,
}

/// Stores to more places at once go to the base.
const MOST_PLACES: i128 = 96;

fn bits(bytes: u32) -> u32 {
    bytes * 8
}

/// Whether any bytes of it are the same: zeros, or what nobody has written.
fn is_uniform(value: &Value) -> bool {
    let number = value.only_number().and_then(|num| num.single());
    number == Some(0) || value.parts.is_empty() && !value.wild
}

/// Whether all places are multiples of a size.
fn is_aligned(at: Num, bytes: u32) -> bool {
    let bytes = i128::from(bytes);
    at.mine % bytes == 0 && at.lo % bytes == 0 && at.step % bytes == 0
}

impl Contents {
    pub fn of(base: Value) -> Contents {
        Contents { cells: BTreeMap::new(), base, grain: None }
    }

    pub fn set(&mut self, offset: i128, bytes: u32, value: Value) {
        self.cells.insert((offset, bytes), value);
    }

    /// Cells that have a byte in common with a place.
    fn touching(&self, offset: i128, bytes: u32) -> Vec<(i128, u32)> {
        let from = (offset - 16, 0);
        let near = self.cells.range(from..(offset + i128::from(bytes), 0));
        near.map(|(place, _)| *place).filter(|(at, size)| at + i128::from(*size) > offset).collect()
    }

    pub fn load_at(&self, offset: i128, bytes: u32) -> Value {
        let width = bits(bytes);
        let touching = self.touching(offset, bytes);
        if let [only] = touching[..]
            && only == (offset, bytes)
        {
            return self.cells.get(&only).cloned().unwrap_or_default();
        }
        let mut value = match touching.contains(&(offset, bytes)) {
            true => Value::none(),
            false => self.elsewhere(Num::one(offset), bytes),
        };
        for place in touching {
            let cell = self.cells.get(&place).cloned().unwrap_or_default();
            let is_zero = cell.only_number().and_then(|num| num.single()) == Some(0);
            let part = match place == (offset, bytes) || is_zero {
                true => cell,
                false => cell.blurred(width),
            };
            value = value.join(&part, width);
        }
        value
    }

    /// What is read at a place that is in no cell.
    fn elsewhere(&self, at: Num, bytes: u32) -> Value {
        match is_uniform(&self.base) || self.grain == Some(bytes) && is_aligned(at, bytes) {
            true => self.base.clone(),
            false => self.base.blurred(bits(bytes)),
        }
    }

    /// Everything that is in it.
    fn all(&self, at: Num, bytes: u32) -> Value {
        let width = bits(bytes);
        let mut value = self.elsewhere(at, bytes);
        for ((_, size), cell) in &self.cells {
            let part = if *size == bytes { cell.clone() } else { cell.blurred(width) };
            value = value.join(&part, width);
        }
        value
    }

    pub fn load(&self, at: Num, bytes: u32) -> Value {
        if at.mine != 0 || at.count() > MOST_PLACES {
            return self.all(at, bytes);
        }
        let places = (0..at.count()).map(|k| at.lo + k * at.step);
        places.fold(Value::none(), |value, place| {
            value.join(&self.load_at(place, bytes), bits(bytes))
        })
    }

    /// Adds a value to what is at a place. Returns whether that is news.
    pub fn add(&mut self, at: Num, bytes: u32, value: &Value, merge: Merge<'_>) -> bool {
        if at.mine != 0 || at.count() > MOST_PLACES {
            return self.add_everywhere(at, bytes, value, merge);
        }
        let mut is_new = false;
        for k in 0..at.count() {
            let offset = at.lo + k * at.step;
            for place in self.touching(offset, bytes) {
                if place != (offset, bytes) {
                    is_new |= self.add_to(place, &value.blurred(bits(place.1)), merge);
                }
            }
            if !self.cells.contains_key(&(offset, bytes)) {
                let before = self.load_at(offset, bytes);
                self.cells.insert((offset, bytes), before);
                is_new = true;
            }
            is_new |= self.add_to((offset, bytes), value, merge);
        }
        is_new
    }

    fn add_to(&mut self, place: (i128, u32), value: &Value, merge: Merge<'_>) -> bool {
        let Some(cell) = self.cells.get_mut(&place) else { return false };
        let merged = merge(cell, value, bits(place.1));
        let is_new = merged != *cell;
        *cell = merged;
        is_new
    }

    /// Something is stored at some place.
    fn add_everywhere(&mut self, at: Num, bytes: u32, value: &Value, merge: Merge<'_>) -> bool {
        let places: Vec<(i128, u32)> = self.cells.keys().copied().collect();
        let mut is_new = false;
        for place in places {
            let part = if place.1 == bytes { value.clone() } else { value.blurred(bits(place.1)) };
            is_new |= self.add_to(place, &part, merge);
        }
        let stored = Contents {
            cells: BTreeMap::new(),
            base: value.clone(),
            grain: is_aligned(at, bytes).then_some(bytes),
        };
        let (base, grain) = self.bases(&stored, merge);
        is_new |= base != self.base || grain != self.grain;
        (self.base, self.grain) = (base, grain);
        is_new
    }

    /// What two hold that is in no cell. Where they are not made of the same parts, reads see pieces.
    fn bases(&self, other: &Contents, merge: Merge<'_>) -> (Value, Option<u32>) {
        let grain = match (is_uniform(&self.base), is_uniform(&other.base)) {
            (true, true) => self.grain.or(other.grain),
            (true, false) => other.grain,
            (false, true) => self.grain,
            (false, false) => self.grain.filter(|_| self.grain == other.grain),
        };
        let whole = |value: &Value| match grain.is_some() || is_uniform(value) {
            true => value.clone(),
            false => value.blurred(64),
        };
        (merge(&whole(&self.base), &whole(&other.base), 64), grain)
    }

    /// Puts a value at a place, where nothing else is then.
    pub fn put(&mut self, offset: i128, bytes: u32, value: Value) {
        for place in self.touching(offset, bytes) {
            if place.0 >= offset && place.0 + i128::from(place.1) <= offset + i128::from(bytes) {
                self.cells.remove(&place);
            } else if let Some(cell) = self.cells.get_mut(&place) {
                *cell = cell.blurred(bits(place.1)).join(&value.blurred(bits(place.1)), 64);
            }
        }
        self.cells.insert((offset, bytes), value);
    }

    /// What either may hold.
    pub fn merged(&self, other: &Contents, merge: Merge<'_>) -> Contents {
        let mut cells = BTreeMap::new();
        for place in self.cells.keys().chain(other.cells.keys()) {
            let (one, two) = (self.load_at(place.0, place.1), other.load_at(place.0, place.1));
            cells.insert(*place, merge(&one, &two, bits(place.1)));
        }
        let (base, grain) = self.bases(other, merge);
        Contents { cells, base, grain }
    }

    /// How many numbers there are in it, in all.
    pub fn spread(&self) -> i128 {
        let parts = self.values().flat_map(|value| &value.parts);
        parts.fold(0, |all, (_, num)| all.saturating_add(num.hi - num.lo))
    }

    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.cells.values().chain([&self.base])
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.cells.values_mut().chain([&mut self.base])
    }
}

/// How two values become one: their union, or something above it.
pub type Merge<'a> = &'a dyn Fn(&Value, &Value, u32) -> Value;

#[cfg(test)]
mod tests {
    use super::*;

    fn join(one: &Value, two: &Value, width: u32) -> Value {
        one.join(two, width)
    }

    #[test]
    fn stores_replace_or_add() {
        let mut contents = Contents::of(Value::constant(0));
        contents.put(4, 4, Value::constant(7));
        assert_eq!(contents.load_at(4, 4), Value::constant(7));
        assert_eq!(contents.load_at(8, 4), Value::constant(0));
        assert_eq!(contents.load_at(4, 8), Value::number(Num::all(64)));
        contents.add(Num { mine: 0, lo: 0, hi: 4, step: 4 }, 4, &Value::constant(9), &join);
        assert_eq!(contents.load_at(0, 4), Value::number(Num { mine: 0, lo: 0, hi: 9, step: 9 }));
        assert_eq!(contents.load_at(4, 4).only_number().map(|num| num.lo), Some(7));
    }

    #[test]
    fn parts_of_stores_are_any_number() {
        let mut contents = Contents::of(Value::undefined());
        contents.put(0, 8, Value::constant(1));
        contents.put(2, 1, Value::constant(1));
        assert_eq!(contents.load_at(0, 8).only_number(), Some(Num::all(64)));
        assert_eq!(contents.load_at(2, 1), Value::number(Num::all(8)));
        assert!(contents.load_at(8, 1).undefined);
    }

    #[test]
    fn a_store_to_too_many_places_is_everywhere() {
        let mut contents = Contents::of(Value::constant(0));
        contents.put(0, 4, Value::constant(1));
        contents.add(Num { mine: 0, lo: 0, hi: 4000, step: 4 }, 4, &Value::constant(5), &join);
        assert_eq!(contents.load_at(0, 4).only_number().map(|num| num.hi), Some(5));
        assert_eq!(contents.load_at(400, 4).only_number().map(|num| num.hi), Some(5));
        // Other sizes, and places between, see parts of it.
        assert!(contents.load_at(400, 2).only_number().is_some_and(|num| num.is_all(16)));
        assert!(contents.load_at(401, 4).only_number().is_some_and(|num| num.is_all(32)));
        contents.add(Num { mine: 0, lo: 2, hi: 4000, step: 2 }, 4, &Value::constant(5), &join);
        assert!(contents.load_at(400, 4).only_number().is_some_and(|num| num.is_all(32)));
    }
}
