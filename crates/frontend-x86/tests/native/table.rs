//! The page of the book that says which instructions are lifted, made of the code. Where it is
//! out of date, `UPDATE_EXPECTED=1 cargo test -p parallax-frontend-x86` writes it anew.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use iced_x86::{Code, CpuidFeature, Mnemonic};

use crate::ACCEPTED;
use crate::instances::Instance;
use crate::model::Lifted;
use crate::random::Random;

const MARK: &str = "<!-- What follows is made from the code, by a test. -->\n";

#[test]
fn the_page_of_lifted_instructions_is_true() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/x86-instructions.md");
    let text = std::fs::read_to_string(Path::new(page)).expect("the page");
    let (prose, found) = text.split_once(MARK).expect("the mark");
    let expected = table();
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(page, format!("{prose}{MARK}{expected}")).expect("the page is written");
        return;
    }
    assert_eq!(found, expected, "set UPDATE_EXPECTED to write the page anew");
}

fn table() -> String {
    let mut random = Random::new(1);
    let mut lifted: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut locked = BTreeSet::new();
    for code in ACCEPTED.iter().copied() {
        let name = name(code.mnemonic());
        if takes_lock(code, &mut random) {
            locked.insert(name.clone());
        }
        lifted.entry(extension(code)).or_default().insert(name);
    }
    let mut text = String::new();
    for (extension, names) in &lifted {
        text += &format!("\n## {extension}\n\n{}", wrapped(names));
    }
    text += &format!("\n## With LOCK\n\n{}", wrapped(&locked));
    text
}

fn name(mnemonic: Mnemonic) -> String {
    format!("{mnemonic:?}").to_lowercase()
}

fn takes_lock(code: Code, random: &mut Random) -> bool {
    code.op_code().can_use_lock_prefix()
        && (0..40).filter_map(|_| Instance::random(code, random)).any(|instance| {
            let lifted = Lifted::of(&instance);
            lifted.is_some_and(|lifted| lifted.instruction.has_lock_prefix())
        })
}

/// The chapter that a form belongs to.
fn extension(code: Code) -> &'static str {
    let features = code.cpuid_features();
    let has = |feature| features.contains(&feature);
    match () {
        _ if has(CpuidFeature::SSE2) => "SSE2",
        _ if has(CpuidFeature::SSE) => "SSE",
        _ if has(CpuidFeature::SSE3) => "SSE3",
        _ if has(CpuidFeature::SSSE3) => "SSSE3",
        _ if has(CpuidFeature::SSE4_1) => "SSE4.1",
        _ if has(CpuidFeature::SSE4_2) => "SSE4.2",
        _ if has(CpuidFeature::BMI1) || has(CpuidFeature::BMI2) => "BMI1 and BMI2",
        _ if has(CpuidFeature::LZCNT) || has(CpuidFeature::POPCNT) => "LZCNT and POPCNT",
        _ if has(CpuidFeature::ADX) => "ADX",
        _ if has(CpuidFeature::MOVBE) => "MOVBE",
        _ => "All processors",
    }
}

/// Names in lines of bearable length.
fn wrapped(names: &BTreeSet<String>) -> String {
    let (mut text, mut line) = (String::new(), String::new());
    for name in names {
        if line.len() + name.len() + 3 > 95 {
            text += &format!("{}\n", line.trim_end());
            line.clear();
        }
        line += &format!("`{name}` ");
    }
    text + line.trim_end() + "\n"
}
