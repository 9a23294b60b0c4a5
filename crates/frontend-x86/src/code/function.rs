//! The blocks of one function.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use iced_x86::{FlowControl, Instruction, Mnemonic};

use super::{Calls, decode, tables};
use crate::elf::Image;

/// Larger functions are cut where they grow too large; the rest is unknown if it is reached.
const MOST_INSTRUCTIONS: usize = 100_000;

/// Instructions that follow one another; control enters at the first only.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub instructions: Vec<Instruction>,
    /// The address behind the last.
    pub next: u64,
    /// Whether control may go on there.
    pub falls: bool,
    /// Why there is nothing at `next`.
    pub broken: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub struct FunctionCode {
    pub entry: u64,
    /// By address.
    pub blocks: BTreeMap<u64, Block>,
    /// Where indirect jumps may lead.
    pub targets: BTreeSet<u64>,
}

/// What recovery knows of the program around a function.
pub struct Surroundings<'a> {
    pub image: &'a Image,
    pub calls: &'a Calls<'a>,
    /// Where functions start.
    pub entries: &'a BTreeSet<u64>,
    /// Whether the foreign function never comes back.
    pub never_returns: fn(&str) -> bool,
}

impl FunctionCode {
    pub fn recover(around: &Surroundings<'_>, entry: u64) -> FunctionCode {
        let mut search = Search {
            around,
            entry,
            leaders: BTreeSet::new(),
            decoded: BTreeMap::new(),
            targets: BTreeSet::new(),
        };
        search.visit(entry);
        while search.find_tables() {}
        let blocks = search.leaders.iter().map(|leader| (*leader, search.block(*leader)));
        let blocks = blocks.collect();
        FunctionCode { entry, blocks, targets: search.targets }
    }

    /// A function without code of its own.
    pub fn empty(entry: u64) -> FunctionCode {
        FunctionCode { entry, blocks: BTreeMap::new(), targets: BTreeSet::new() }
    }

    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.blocks.values().flat_map(|block| &block.instructions)
    }
}

struct Search<'a> {
    around: &'a Surroundings<'a>,
    entry: u64,
    leaders: BTreeSet<u64>,
    decoded: BTreeMap<u64, Result<Instruction, &'static str>>,
    targets: BTreeSet<u64>,
}

impl Search<'_> {
    /// Finds all leaders that direct jumps lead to from there.
    fn visit(&mut self, start: u64) {
        let mut open = vec![start];
        while let Some(leader) = open.pop() {
            if !self.leaders.insert(leader) {
                continue;
            }
            let mut address = leader;
            while let Some(instruction) = self.decode(address) {
                let next = instruction.next_ip();
                match instruction.flow_control() {
                    FlowControl::UnconditionalBranch => {
                        let target = instruction.near_branch_target();
                        open.extend(self.is_inside(target).then_some(target));
                        break;
                    }
                    FlowControl::ConditionalBranch => {
                        let target = instruction.near_branch_target();
                        open.extend(self.is_inside(target).then_some(target));
                        open.extend(self.is_inside(next).then_some(next));
                        break;
                    }
                    _ if self.ends(&instruction) || !self.is_inside(next) => break,
                    _ => address = next,
                }
                if self.leaders.contains(&address) {
                    break;
                }
            }
        }
    }

    fn decode(&mut self, address: u64) -> Option<Instruction> {
        if self.decoded.len() >= MOST_INSTRUCTIONS && !self.decoded.contains_key(&address) {
            return None;
        }
        let image = self.around.image;
        let found = self.decoded.entry(address).or_insert_with(|| decode(image, address));
        found.as_ref().ok().copied()
    }

    /// Whether control does not go on behind an instruction.
    fn ends(&self, instruction: &Instruction) -> bool {
        match instruction.flow_control() {
            FlowControl::UnconditionalBranch
            | FlowControl::ConditionalBranch
            | FlowControl::IndirectBranch
            | FlowControl::Return
            | FlowControl::Interrupt
            | FlowControl::Exception => true,
            FlowControl::Call if instruction.mnemonic() == Mnemonic::Call => {
                let target = instruction.near_branch_target();
                self.around.calls.foreign(target).is_some_and(self.around.never_returns)
            }
            FlowControl::IndirectCall => {
                let target = self.around.calls.slot(instruction);
                let name = target.and_then(|target| self.around.calls.foreign(target));
                name.is_some_and(self.around.never_returns)
            }
            _ => false,
        }
    }

    /// Whether a jump there stays in the function.
    fn is_inside(&self, target: u64) -> bool {
        target == self.entry
            || !self.around.entries.contains(&target) && self.around.calls.foreign(target).is_none()
    }

    /// Adds what indirect jumps may lead to. True where that is more than before.
    fn find_tables(&mut self) -> bool {
        let instructions = || self.decoded.values().filter_map(|found| found.as_ref().ok());
        let jumps = |one: &Instruction| {
            one.flow_control() == FlowControl::IndirectBranch
                && self.around.calls.slot_of(one).is_none()
        };
        if !instructions().any(jumps) {
            return false;
        }
        let found = tables::targets(self.around.image, &self.extent(), instructions());
        let new: Vec<u64> = found.difference(&self.targets).copied().collect();
        self.targets = found;
        for target in &new {
            self.visit(*target);
        }
        !new.is_empty()
    }

    /// Where the code of the function lies: as far as its symbol says, else what was decoded, up
    /// to the next entry.
    fn extent(&self) -> Range<u64> {
        let symbols = &self.around.image.symbols;
        if let Some((start, named)) = symbols.enclosing(self.entry)
            && named.size > 0
        {
            return start..start.saturating_add(named.size);
        }
        let next = self.around.entries.range(self.entry.saturating_add(1)..).next().copied();
        let region = self.around.image.region(self.entry).map_or(self.entry, |r| r.end());
        self.entry..next.unwrap_or(region)
    }

    fn block(&self, leader: u64) -> Block {
        let mut block = Block { next: leader, ..Block::default() };
        loop {
            let instruction = match self.decoded.get(&block.next) {
                Some(Ok(instruction)) => *instruction,
                Some(Err(reason)) => {
                    block.broken = Some(reason);
                    return block;
                }
                None => {
                    block.broken = Some("is in a function that is too large");
                    return block;
                }
            };
            block.instructions.push(instruction);
            block.next = instruction.next_ip();
            let ends = self.ends(&instruction);
            let leads_on = self.leaders.contains(&block.next) || !self.is_inside(block.next);
            if ends || leads_on {
                let branches = instruction.flow_control() == FlowControl::ConditionalBranch;
                block.falls = !ends || branches;
                return block;
            }
        }
    }
}
