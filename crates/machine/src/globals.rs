//! Where the globals of a program are, and what they hold at first.

use parallax_program::Bits;

use crate::{Code, Concrete};

/// The globals of a program, in order of addresses.
pub struct Globals {
    objects: Vec<GlobalObject>,
    /// Initial bytes of the globals that are not all zero, one after the other.
    image: Vec<u8>,
}

pub struct GlobalObject {
    pub address: u64,
    pub size: u64,
    pub constant: bool,
    /// Where its initial bytes start in the image; None if they are all zero.
    start: Option<usize>,
}

impl Globals {
    /// The largest total size of globals that are not all zero.
    const LARGEST_IMAGE: u64 = 1 << 30;

    /// Globals end below this. What threads make while they run is above, and so are functions where
    /// pointers have 32 bits.
    const END: u64 = 1 << 36;
    const SHORT_END: u64 = 0x7000_0000;

    /// None if they are too large.
    pub fn new(code: &Code<'_>) -> Option<Globals> {
        let program = code.program;
        let ends = program.globals.iter().zip(code.addresses());
        let mut ends = ends.map(|(global, start)| start.checked_add(global.size));
        let most = if program.pointer_width == 32 { Self::SHORT_END } else { Self::END };
        if !ends.all(|end| end.is_some_and(|end| end <= most)) {
            return None;
        }
        let initialised = program.globals.iter().filter(|global| !global.init.is_empty());
        let total = initialised.fold(0u64, |sum, global| sum.saturating_add(global.size));
        if total > Self::LARGEST_IMAGE {
            return None;
        }
        let mut image = vec![0; total as usize];
        let mut objects = Vec::new();
        let mut start = 0;
        for (global, address) in program.globals.iter().zip(code.addresses()) {
            for cell in &global.init {
                let value = code.evaluate(&cell.value, &[], &mut Concrete).unsigned().to_le_bytes();
                let bytes = (cell.width / 8) as usize;
                let from = start + cell.offset as usize;
                if let Some(target) = image.get_mut(from..from + bytes) {
                    target.copy_from_slice(&value[..bytes]);
                }
            }
            let (address, size, constant) = (*address, global.size, global.constant);
            let is_zero = global.init.is_empty();
            let begin = (!is_zero).then_some(start);
            objects.push(GlobalObject { address, size, constant, start: begin });
            start += if is_zero { 0 } else { global.size as usize };
        }
        objects.sort_unstable_by_key(|global| global.address);
        Some(Globals { objects, image })
    }

    /// The global that an address lies in or behind.
    pub fn at(&self, address: u64) -> Option<&GlobalObject> {
        let after = self.objects.partition_point(|global| global.address <= address);
        after.checked_sub(1).map(|index| &self.objects[index])
    }

    /// What a place within a global holds at first.
    pub fn initial(&self, address: u64, bytes: u8) -> Option<Bits> {
        let width = u32::from(bytes) * 8;
        let object = self.at(address)?;
        let Some(start) = object.start else {
            return Some(Bits::zero(width));
        };
        let from = start + (address - object.address) as usize;
        let image = self.image.get(from..from + usize::from(bytes))?;
        let value = image.iter().rev().fold(0u128, |value, byte| value << 8 | u128::from(*byte));
        Some(Bits::new(width, value))
    }

    /// Puts what is there at first into the bytes from an address on, which are all zero.
    pub fn fill(&self, start: u64, bytes: &mut [u8]) {
        let end = start.saturating_add(bytes.len() as u64);
        let last = self.objects.partition_point(|global| global.address < end);
        for global in self.objects[..last].iter().rev() {
            let stop = global.address.saturating_add(global.size);
            if stop <= start {
                break;
            }
            let Some(image) = global.start else {
                continue;
            };
            for address in start.max(global.address)..end.min(stop) {
                let byte = self.image.get(image + (address - global.address) as usize);
                bytes[(address - start) as usize] = byte.copied().unwrap_or(0);
            }
        }
    }
}
