//! All functions that a program may reach: from where it starts, through calls, and through
//! addresses that code or data hold.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{FlowControl, Instruction, Mnemonic};

use super::function::Surroundings;
use super::{Calls, FunctionCode, tables};
use crate::elf::{Image, is_part};

pub struct Reachable {
    /// By entry.
    pub functions: BTreeMap<u64, FunctionCode>,
}

impl Reachable {
    /// What can be reached from these entries.
    pub fn from(
        image: &Image,
        calls: &Calls<'_>,
        starts: &[u64],
        never_returns: fn(&str) -> bool,
    ) -> Reachable {
        let named = image.symbols.functions.iter().filter(|(_, named)| !is_part(&named.name));
        let mut entries: BTreeSet<u64> = named.map(|(address, _)| *address).collect();
        let has_symbols = !entries.is_empty();
        entries.extend(starts);
        let mut open: Vec<u64> = starts.to_vec();
        let mut functions = BTreeMap::new();
        let pointed = pointed_to(image, has_symbols);
        entries.extend(&pointed);
        open.extend(&pointed);
        while let Some(entry) = open.pop() {
            let entry = calls.behind(entry);
            let is_new = !functions.contains_key(&entry);
            if !is_new || calls.foreign(entry).is_some() || !image.is_code(entry) {
                continue;
            }
            entries.insert(entry);
            let around = Surroundings { image, calls, entries: &entries, never_returns };
            let code = FunctionCode::recover(&around, entry);
            for instruction in code.instructions() {
                let found = leads_to(image, calls, instruction, has_symbols);
                open.extend(found.iter().filter(|target| !code.blocks.contains_key(target)));
                // A call leads to an entry even where it is into the function itself.
                open.extend(call_target(calls, instruction));
            }
            open.extend(left_to(&code));
            functions.insert(entry, code);
        }
        Reachable { functions }
    }
}

/// Code addresses in data. Those in the middle of a function are labels.
fn pointed_to(image: &Image, has_symbols: bool) -> Vec<u64> {
    let is_entry = |address: &u64| is_entry(image, *address, has_symbols);
    let mut found: BTreeSet<u64> = image.pointers.iter().copied().filter(is_entry).collect();
    for region in image.regions.iter().filter(|region| !region.executable) {
        // Without relocations, what looks like the address of a function is one.
        let words = region
            .data
            .chunks_exact(8)
            .map(|word| word.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)));
        found.extend(words.filter(is_entry));
    }
    found.into_iter().collect()
}

/// What the compiler's start-up files register to be called at the end, which is not run.
const START_UP: [&str; 3] = ["__do_global_dtors_aux", "_fini", "_init"];

fn is_entry(image: &Image, address: u64, has_symbols: bool) -> bool {
    if !image.is_code(address) {
        return false;
    }
    match image.symbols.functions.get(&address) {
        Some(named) => !is_part(&named.name) && !START_UP.contains(&named.name.as_str()),
        None => !has_symbols || image.symbols.enclosing(address).is_none(),
    }
}

fn call_target(calls: &Calls<'_>, instruction: &Instruction) -> Option<u64> {
    match instruction.flow_control() {
        FlowControl::Call if instruction.mnemonic() == Mnemonic::Call => {
            Some(calls.behind(instruction.near_branch_target()))
        }
        FlowControl::IndirectCall | FlowControl::IndirectBranch => calls.slot(instruction),
        _ => None,
    }
}

/// Where an instruction may lead besides its own function: jumps and addresses.
fn leads_to(
    image: &Image,
    calls: &Calls<'_>,
    instruction: &Instruction,
    has_symbols: bool,
) -> Vec<u64> {
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {
            let constants = tables::constants(instruction).into_iter();
            let mut found: Vec<u64> =
                constants.filter(|address| is_entry(image, *address, has_symbols)).collect();
            // The address of a function may be in a word that the loader has filled.
            found.extend(calls.slot(instruction).filter(|target| image.is_code(*target)));
            found
        }
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
            vec![instruction.near_branch_target()]
        }
        _ => Vec::new(),
    }
}

/// Where blocks fall through to that are not in the function.
fn left_to(code: &FunctionCode) -> Vec<u64> {
    let ends = code.blocks.values().filter(|block| block.falls);
    let outside = ends.map(|block| block.next).filter(|next| !code.blocks.contains_key(next));
    outside.collect()
}
