//! What a call leads to: stubs of the dynamic linker are seen through, and functions that
//! something outside of the program stands in for are known by name.

use std::collections::BTreeMap;

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};

use super::decode;
use crate::elf::{Image, Slot};

/// Resolves calls.
pub struct Calls<'a> {
    image: &'a Image,
    /// Functions of the program that are modelled, by address.
    modelled: BTreeMap<u64, String>,
}

impl<'a> Calls<'a> {
    /// `is_modelled` says which functions of the program itself are not to run as they are.
    pub fn new(image: &'a Image, is_modelled: impl Fn(&str) -> bool) -> Calls<'a> {
        let functions = image.symbols.functions.iter();
        let wanted = functions.filter(|(_, named)| is_modelled(&named.name));
        let mut modelled: BTreeMap<u64, String> =
            wanted.map(|(address, named)| (*address, named.name.clone())).collect();
        // What chooses a function at the start stands for the function that it chooses.
        let resolvers = image.symbols.resolvers.iter();
        modelled.extend(resolvers.map(|(address, named)| (*address, named.name.clone())));
        Calls { image, modelled }
    }

    /// The name of the foreign function at an address, which may be that of a stub.
    pub fn foreign(&self, address: u64) -> Option<&str> {
        let address = self.behind(address);
        self.modelled.get(&address).map(String::as_str).or(self.image.foreign.name(address))
    }

    /// The foreign function that a call or jump leads to.
    pub fn called(&self, instruction: &Instruction) -> Option<&str> {
        let target = match instruction.flow_control() {
            FlowControl::Call if instruction.mnemonic() == Mnemonic::Call => {
                instruction.near_branch_target()
            }
            FlowControl::UnconditionalBranch => instruction.near_branch_target(),
            FlowControl::IndirectCall | FlowControl::IndirectBranch => self.slot(instruction)?,
            _ => return None,
        };
        self.foreign(target)
    }

    /// Functions of the program that are modelled, by address.
    pub fn modelled(&self) -> impl Iterator<Item = (u64, &str)> {
        self.modelled.iter().map(|(address, name)| (*address, name.as_str()))
    }

    /// Where a stub leads; other addresses are left alone.
    pub fn behind(&self, address: u64) -> u64 {
        let mut next = address;
        // `endbr64` first, and in lazy stubs nothing else before the jump.
        for _ in 0..2 {
            let Ok(instruction) = decode(self.image, next) else {
                return address;
            };
            match instruction.flow_control() {
                FlowControl::IndirectBranch => {
                    return self.slot(&instruction).unwrap_or(address);
                }
                FlowControl::Next if instruction.mnemonic() == Mnemonic::Endbr64 => {
                    next = instruction.next_ip();
                }
                _ => return address,
            }
        }
        address
    }

    /// Where a jump or call through a word leads that the loader has filled.
    pub fn slot(&self, instruction: &Instruction) -> Option<u64> {
        match self.slot_of(instruction)? {
            Slot::Address(target) => Some(*target),
            Slot::Missing(_) => None,
        }
    }

    /// What the loader has put into the word of memory that an instruction refers to.
    pub fn slot_of(&self, instruction: &Instruction) -> Option<&'a Slot> {
        let fixed = matches!(instruction.memory_base(), Register::RIP | Register::None)
            && instruction.memory_index() == Register::None
            && instruction.segment_prefix() == Register::None;
        let operands = 0..instruction.op_count();
        let memory = operands.into_iter().any(|n| instruction.op_kind(n) == OpKind::Memory);
        if !fixed || !memory {
            return None;
        }
        let place = instruction.memory_displacement64();
        let region = self.image.region(place)?;
        // Pointers in data may change; those in the linker's tables do not.
        let is_table = !region.writable || region.name.starts_with(".got");
        self.image.slots.get(&place).filter(|_| is_table)
    }
}
