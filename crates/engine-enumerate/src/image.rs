//! What memory holds before the first write.

use parallax_machine::{Code, Concrete};
use parallax_program::{Bits, GlobalId};

/// The initial contents of the globals.
pub struct Image {
    globals: Vec<Object>,
}

struct Object {
    start: u64,
    /// First address past what offsets may reach; the next global lies further on.
    end: u64,
    bytes: Vec<u8>,
}

impl Image {
    /// Objects larger than this are zero beyond their initialised part, as all objects are.
    const MAX_BYTES: u64 = 1 << 20;

    pub fn new(code: &Code<'_>) -> Image {
        let globals = code.program.globals.iter().zip(code.addresses()).map(|(global, start)| {
            let end = start.saturating_add(global.size.max(1)).saturating_add(0x800);
            let mut bytes = Vec::new();
            for cell in &global.init {
                let value: Bits = code.evaluate(&cell.value, &[], &mut Concrete);
                let cell_end = cell.offset + u64::from(cell.width / 8);
                if cell_end > Self::MAX_BYTES {
                    continue;
                }
                bytes.resize(bytes.len().max(cell_end as usize), 0);
                for at in 0..cell.width / 8 {
                    let byte = value.extract(at * 8, 8).unsigned() as u8;
                    bytes[(cell.offset + u64::from(at)) as usize] = byte;
                }
            }
            Object { start: *start, end, bytes }
        });
        Image { globals: globals.collect() }
    }

    /// The global that an address belongs to, and the offset in it.
    pub fn locate(&self, address: u64) -> Option<(GlobalId, u64)> {
        let covers = |object: &Object| (object.start..object.end).contains(&address);
        let index = self.globals.iter().position(covers)?;
        Some((GlobalId(index as u32), address - self.globals[index].start))
    }

    /// The address of a global.
    pub fn address(&self, global: GlobalId) -> u64 {
        self.globals[global.0 as usize].start
    }

    pub fn addresses(&self) -> impl Iterator<Item = u64> {
        self.globals.iter().map(|object| object.start)
    }

    pub fn byte(&self, address: u64) -> u8 {
        let Some((global, offset)) = self.locate(address) else {
            return 0;
        };
        let bytes = &self.globals[global.0 as usize].bytes;
        usize::try_from(offset).ok().and_then(|at| bytes.get(at)).copied().unwrap_or(0)
    }

    /// The initial value of some bytes, little-endian.
    pub fn value(&self, address: u64, bytes: u32) -> Bits {
        let value = (0..bytes).rev().fold(0u128, |value, at| {
            value << 8 | u128::from(self.byte(address.wrapping_add(u64::from(at))))
        });
        Bits::new(bytes * 8, value)
    }
}
