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
    /// Foreign functions whose address may be called: name by address.
    pub pointed_foreign: BTreeMap<u64, String>,
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
        let mut pointed_foreign = BTreeMap::new();
        let mut note = |address: u64| {
            if let Some(name) = calls.foreign(address) {
                pointed_foreign.insert(address, name.to_string());
            }
        };
        let pointers = pointers(image);
        pointers.iter().copied().for_each(&mut note);
        let pointed = pointers.into_iter().filter(|at| is_entry(image, *at, has_symbols));
        let pointed: Vec<u64> = pointed.collect();
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
                let taken = addresses(calls, instruction);
                taken.iter().copied().for_each(&mut note);
                let taken = taken.into_iter().filter(|at| is_entry(image, *at, has_symbols));
                let found = taken.chain(jump_target(instruction));
                open.extend(found.filter(|target| !code.blocks.contains_key(target)));
                // A call leads to an entry even where it is into the function itself.
                open.extend(call_target(calls, instruction));
            }
            open.extend(left_to(&code));
            functions.insert(entry, code);
        }
        Reachable { functions, pointed_foreign }
    }
}

/// Words in data that are, or look like, addresses of functions. What the linker's tables hold
/// is not among them: those words are only used where code names them.
fn pointers(image: &Image) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    for region in image.regions.iter().filter(|region| !region.executable) {
        if region.name.starts_with(".got") {
            continue;
        }
        let words = region
            .data
            .chunks_exact(8)
            .map(|word| word.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)));
        found.extend(words.filter(|word| *word != 0));
    }
    found
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

/// Where a direct jump leads.
fn jump_target(instruction: &Instruction) -> Option<u64> {
    let jumps = matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch
    );
    jumps.then(|| instruction.near_branch_target())
}

/// The addresses that an instruction may take.
fn addresses(calls: &Calls<'_>, instruction: &Instruction) -> Vec<u64> {
    if instruction.flow_control() != FlowControl::Next {
        return Vec::new();
    }
    // The address of a function may be in a word that the loader has filled.
    let filled = calls.slot(instruction);
    tables::constants(instruction).into_iter().chain(filled).collect()
}

/// Where blocks fall through to that are not in the function.
fn left_to(code: &FunctionCode) -> Vec<u64> {
    let ends = code.blocks.values().filter(|block| block.falls);
    let outside = ends.map(|block| block.next).filter(|next| !code.blocks.contains_key(next));
    outside.collect()
}
