//! What lies where in memory when a program starts.

use std::collections::{BTreeMap, BTreeSet};

use super::{Foreign, Lines, Loaded, Symbols};

/// A part of memory: a section, or something that the loader makes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region {
    pub name: String,
    pub address: u64,
    /// At least as many bytes as there is data; the rest is zero.
    pub size: u64,
    pub data: Vec<u8>,
    pub writable: bool,
    pub executable: bool,
}

impl Region {
    pub fn end(&self) -> u64 {
        self.address.saturating_add(self.size)
    }

    pub fn contains(&self, address: u64) -> bool {
        self.address <= address && address < self.end()
    }

    /// The bytes from an address on, to the end of the data.
    fn bytes_from(&self, address: u64) -> &[u8] {
        let offset = address.checked_sub(self.address).and_then(|offset| offset.try_into().ok());
        offset.and_then(|offset: usize| self.data.get(offset..)).unwrap_or_default()
    }
}

/// What a word holds that a relocation has filled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Slot {
    /// The address of something in the image, or of a foreign function.
    Address(u64),
    /// What nothing defines.
    Missing(String),
}

/// The thread-local variables of a program, as they are when a thread starts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ThreadLocal {
    pub data: Vec<u8>,
    /// Bytes below the thread pointer, a multiple of the alignment.
    pub size: u64,
    pub align: u32,
}

impl ThreadLocal {
    /// Where a variable lies, as a distance from the thread pointer, by its offset in the data.
    pub fn distance(&self, offset: u64) -> u64 {
        offset.wrapping_sub(self.size)
    }
}

pub struct Image {
    pub regions: Vec<Region>,
    pub symbols: Symbols,
    /// Functions that are not in the image.
    pub foreign: Foreign,
    /// Words that the loader fills in, as far as they matter for calls.
    pub slots: BTreeMap<u64, Slot>,
    pub thread_local: ThreadLocal,
    /// Where an executable starts.
    pub entry: Option<u64>,
    /// What runs before `main`, in order.
    pub constructors: Vec<u64>,
    /// Addresses that relocations put into memory.
    pub pointers: BTreeSet<u64>,
    pub lines: Lines,
}

impl Image {
    /// Programs lie between the two; what is above belongs to threads, foreign functions
    /// and objects made at run time.
    pub const LOWEST: u64 = 0x1000;
    pub const HIGHEST: u64 = 0x0800_0000;
    /// Where programs go that may lie anywhere.
    pub const BASE: u64 = 0x40_0000;
    const LARGEST_ALIGN: u64 = 1 << 16;

    pub fn new() -> Image {
        Image {
            regions: Vec::new(),
            symbols: Symbols::default(),
            foreign: Foreign::default(),
            slots: BTreeMap::new(),
            thread_local: ThreadLocal::default(),
            entry: None,
            constructors: Vec::new(),
            pointers: BTreeSet::new(),
            lines: Lines::default(),
        }
    }

    /// Adds a part; parts do not overlap.
    pub fn add(&mut self, region: Region) -> Loaded<()> {
        let Region { name, address, size, .. } = &region;
        let end = address.checked_add(*size).ok_or_else(|| format!("'{name}' is too large"))?;
        if *address < Self::LOWEST || end > Self::HIGHEST {
            let (lowest, highest) = (Self::LOWEST, Self::HIGHEST);
            return Err(format!(
                "'{name}' lies at {address:#x}, {size} bytes, outside of {lowest:#x} to {highest:#x}"
            ));
        }
        let place = self.regions.partition_point(|other| other.address <= *address);
        let before = place.checked_sub(1).and_then(|before| self.regions.get(before));
        let after = self.regions.get(place);
        if let Some(other) = before.filter(|before| before.end() > *address) {
            return Err(format!("'{name}' overlaps '{}'", other.name));
        }
        if let Some(other) = after.filter(|after| after.address < end) {
            return Err(format!("'{name}' overlaps '{}'", other.name));
        }
        self.regions.insert(place, region);
        Ok(())
    }

    /// A part for `size` zeros behind all others, a page apart. Its address.
    pub fn append(&mut self, name: &str, size: u64, align: u64) -> Loaded<u64> {
        let align = align.max(1);
        if !align.is_power_of_two() || align > Self::LARGEST_ALIGN {
            return Err(format!("'{name}' is aligned to {align}"));
        }
        let end = self.regions.last().map_or(Self::BASE, |last| last.end().saturating_add(0x1000));
        let address = end.checked_next_multiple_of(align.max(16)).unwrap_or(u64::MAX);
        let region = Region {
            name: name.to_string(),
            address,
            size,
            data: Vec::new(),
            writable: true,
            executable: false,
        };
        self.add(region)?;
        Ok(address)
    }

    pub fn region(&self, address: u64) -> Option<&Region> {
        let after = self.regions.partition_point(|region| region.address <= address);
        let region = after.checked_sub(1).and_then(|before| self.regions.get(before))?;
        region.contains(address).then_some(region)
    }

    fn region_mut(&mut self, address: u64) -> Option<&mut Region> {
        let after = self.regions.partition_point(|region| region.address <= address);
        let region = after.checked_sub(1).and_then(|before| self.regions.get_mut(before))?;
        region.contains(address).then_some(region)
    }

    pub fn is_code(&self, address: u64) -> bool {
        self.region(address).is_some_and(|region| region.executable)
    }

    /// The code from an address on, to the end of its region.
    pub fn code(&self, address: u64) -> &[u8] {
        let region = self.region(address).filter(|region| region.executable);
        region.map_or(&[], |region| region.bytes_from(address))
    }

    /// Bytes of memory as they are at the start; None where some of them are outside.
    pub fn bytes(&self, address: u64, count: usize) -> Option<Vec<u8>> {
        let region = self.region(address)?;
        let end = address.checked_add(count as u64)?;
        if end > region.end() {
            return None;
        }
        let mut bytes: Vec<u8> = region.bytes_from(address).iter().take(count).copied().collect();
        bytes.resize(count, 0);
        Some(bytes)
    }

    /// A little-endian number of up to 8 bytes.
    pub fn number(&self, address: u64, bytes: usize) -> Option<u64> {
        let found = self.bytes(address, bytes.min(8))?;
        Some(found.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// The text at an address that no store can change.
    pub fn text(&self, address: u64) -> Option<String> {
        const LONGEST: usize = 200;
        let region = self.region(address).filter(|region| !region.writable)?;
        let bytes = region.bytes_from(address);
        let end = bytes.iter().position(|byte| *byte == 0)?;
        let text = String::from_utf8_lossy(bytes.get(..end.min(LONGEST))?).into_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Writes the low bytes of a number, as a loader does.
    pub fn patch(&mut self, address: u64, value: u64, bytes: usize) -> Loaded<()> {
        let outside = || format!("the relocation at {address:#x} is outside of the program");
        let region = self.region_mut(address).ok_or_else(outside)?;
        let offset = (address - region.address) as usize;
        let end = offset.checked_add(bytes).ok_or_else(outside)?;
        if end as u64 > region.size {
            return Err(outside());
        }
        if region.data.len() < end {
            region.data.resize(end, 0);
        }
        let places = region.data.iter_mut().skip(offset).take(bytes);
        places.zip(value.to_le_bytes()).for_each(|(place, byte)| *place = byte);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(address: u64, data: &[u8], size: u64) -> Region {
        Region {
            name: format!("at {address:#x}"),
            address,
            size,
            data: data.to_vec(),
            writable: false,
            executable: false,
        }
    }

    #[test]
    fn parts_lie_apart_and_in_order() {
        let mut image = Image::new();
        assert!(image.add(region(0x2000, &[1, 2], 16)).is_ok());
        assert!(image.add(region(0x1000, b"hi\0", 3)).is_ok());
        assert!(image.add(region(0x200f, &[], 1)).is_err());
        assert!(image.add(region(0xfff, &[], 2)).is_err());
        assert!(image.add(region(u64::MAX, &[], 2)).is_err());
        assert_eq!(image.number(0x2000, 4), Some(0x0201));
        assert_eq!(image.number(0x200e, 4), None);
        assert_eq!(image.text(0x1000).as_deref(), Some("hi"));
        let end = image.append("more", 8, 64);
        assert_eq!(end, Ok(0x3040));
        assert!(image.append("odd", 8, 3).is_err());
    }

    #[test]
    fn relocations_stay_inside() {
        let mut image = Image::new();
        assert!(image.add(region(0x1000, &[], 12)).is_ok());
        assert!(image.patch(0x1004, 0x1122_3344_5566_7788, 8).is_ok());
        assert_eq!(image.number(0x1004, 8), Some(0x1122_3344_5566_7788));
        assert!(image.patch(0x1005, 0, 8).is_err());
        assert!(image.patch(0xfff, 0, 8).is_err());
    }
}
