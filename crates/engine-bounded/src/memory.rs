//! Which objects there are, and what they hold at first.

use parallax_machine::system::BadAccess;
use parallax_machine::{Code, Extent, Globals, wrong_access};
use parallax_program::Bits;
use parallax_solver::Term;

use crate::unfold::Object;

pub struct Memory {
    globals: Globals,
    /// Those that the program makes, by address.
    objects: Vec<Object>,
    /// Whether accesses to what is no object happen all the same.
    is_lenient: bool,
}

impl Memory {
    /// None if the globals are too large.
    pub fn of_program(code: &Code<'_>, mut objects: Vec<Object>) -> Option<Memory> {
        objects.sort_unstable_by_key(|object| object.address);
        Some(Memory { globals: Globals::new(code)?, objects, is_lenient: false })
    }

    /// In litmus tests every address can be accessed.
    pub fn of_litmus(code: &Code<'_>) -> Option<Memory> {
        Some(Memory { globals: Globals::new(code)?, objects: Vec::new(), is_lenient: true })
    }

    /// The object that an address is in, or behind.
    pub fn object(&self, address: u64) -> Option<&Object> {
        let after = self.objects.partition_point(|object| object.address <= address);
        after.checked_sub(1).map(|index| &self.objects[index])
    }

    /// What a place holds at first, if anything.
    pub fn initial(&self, address: u64, bytes: u32) -> Bits {
        let zero = Bits::zero(bytes * 8);
        if self.object(address).is_some() {
            return zero.unless(!self.is_defined(address));
        }
        self.globals.initial(address, bytes as u8).unwrap_or(zero)
    }

    /// Whether a place holds anything before it is written.
    pub fn is_defined(&self, address: u64) -> bool {
        self.is_lenient || self.object(address).is_none_or(|object| object.zeroed)
    }

    /// The object of an unknown size that an address may be in: where it starts, and how many bytes
    /// it has.
    pub fn extent(&self, address: u128) -> Option<(u64, Term)> {
        let object = self.object(u64::try_from(address).ok()?)?;
        object.extent.map(|extent| (object.address, extent))
    }

    /// Whether an access may be right.
    pub fn allows(&self, address: u128, bytes: u32, writes: bool) -> bool {
        self.is_lenient || self.wrong_with(address, bytes, writes).is_none()
    }

    /// Whether it is, however large objects are.
    pub fn surely_allows(&self, address: u128, bytes: u32, writes: bool) -> bool {
        self.allows(address, bytes, writes) && self.extent(address).is_none()
    }

    /// What is wrong with an access, whatever happens before.
    pub fn wrong_with(&self, address: u128, bytes: u32, writes: bool) -> Option<BadAccess> {
        let Ok(address) = u64::try_from(address) else {
            return Some(BadAccess::Wild);
        };
        wrong_access(self.bounds(address), address, u64::from(bytes), writes)
    }

    /// The object that an address is in, or behind.
    fn bounds(&self, address: u64) -> Option<Extent> {
        let (is_freed, is_alone) = (false, false);
        if let Some(object) = self.object(address) {
            let (start, size) = (object.address, object.size);
            return Some(Extent { start, size, is_freed, is_constant: false, is_alone });
        }
        let global = self.globals.at(address)?;
        let (start, size, is_constant) = (global.address, global.size, global.constant);
        Some(Extent { start, size, is_freed, is_constant, is_alone })
    }
}
