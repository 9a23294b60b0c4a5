//! Functions that a program calls and does not have: each gets an address, so that it can be
//! pointed to like any other.

use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Foreign {
    names: Vec<String>,
    addresses: BTreeMap<String, u64>,
}

impl Foreign {
    /// Nothing else lies from here on.
    const FIRST: u64 = 0x2000_0000;
    const STEP: u64 = 16;

    /// The address of a function, which is known from now on.
    pub fn address(&mut self, name: &str) -> u64 {
        if let Some(address) = self.addresses.get(name) {
            return *address;
        }
        let address = Self::FIRST + self.names.len() as u64 * Self::STEP;
        self.names.push(name.to_string());
        self.addresses.insert(name.to_string(), address);
        address
    }

    /// The function at an address.
    pub fn name(&self, address: u64) -> Option<&str> {
        let offset = address.checked_sub(Self::FIRST)?;
        let number = usize::try_from(offset / Self::STEP).ok()?;
        let name = self.names.get(number)?;
        (offset % Self::STEP == 0).then_some(name)
    }

    /// Addresses and names.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        let address = |number: usize| Self::FIRST + number as u64 * Self::STEP;
        self.names.iter().enumerate().map(move |(number, name)| (address(number), name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses() {
        let mut foreign = Foreign::default();
        let (malloc, free) = (foreign.address("malloc"), foreign.address("free"));
        assert_eq!(foreign.address("malloc"), malloc);
        assert_eq!(foreign.name(free), Some("free"));
        assert_eq!(foreign.name(free + 1), None);
        assert_eq!(foreign.name(0), None);
        assert_eq!(foreign.iter().count(), 2);
    }
}
