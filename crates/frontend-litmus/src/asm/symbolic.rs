//! Symbolic registers: `%y` in code, in the initial state or in the condition stands for some
//! register that the thread does not use otherwise.
//!
//! A test may leave the thread away (`%y=1`) where only one thread's code has the name. As in
//! herd7, each name gets one of the free registers of its thread, in the order of the names,
//! and that is the register that states and conditions show. AArch64 writes `X%y` and `W%y`
//! for the whole and the lower half; `%y` is the whole.

use std::collections::{BTreeMap, BTreeSet};

use parallax_program::Span;

use super::Isa;
use crate::condition::Condition;
use crate::init::Init;
use crate::table::Column;

/// The symbolic registers that the code of each thread mentions.
#[derive(Default)]
pub struct SymbolicUses {
    threads: Vec<(u32, BTreeSet<String>)>,
}

impl SymbolicUses {
    pub fn find(isa: &dyn Isa, columns: &[Column<'_>]) -> SymbolicUses {
        let threads = columns.iter().map(|column| {
            let cells = column.lines.iter();
            let names = cells.flat_map(|line| mentions(isa, line.text));
            let names = names.map(|mention| mention.name.to_string()).collect();
            (column.number, names)
        });
        SymbolicUses { threads: threads.collect() }
    }

    /// What `%r1` after a thread's number names, if no symbolic register: the register `r1`.
    fn real_name<'n>(&self, thread: u32, name: &'n str) -> &'n str {
        let bare = name.trim_start_matches('%');
        let mut threads = self.threads.iter();
        let symbolic = threads.any(|(number, names)| *number == thread && names.contains(bare));
        if symbolic { name } else { bare }
    }

    /// A free register for each name.
    fn choose(
        &self,
        isa: &dyn Isa,
        taken: &BTreeSet<(u32, &str)>,
    ) -> Result<BTreeMap<(u32, String), &'static str>, TooManySymbolic> {
        let mut chosen = BTreeMap::new();
        for (thread, names) in &self.threads {
            let spare = isa.spare_registers().iter();
            let mut free = spare.filter(|name| !taken.contains(&(*thread, **name)));
            for name in names {
                let Some(register) = free.next() else {
                    return Err(TooManySymbolic { thread: *thread });
                };
                chosen.insert((*thread, name.clone()), *register);
            }
        }
        Ok(chosen)
    }

    /// The thread that a symbolic register without a thread belongs to, or what is wrong.
    pub fn owner(&self, name: &str) -> Result<u32, String> {
        let mut owners = self.threads.iter().filter(|(_, names)| names.contains(name));
        match (owners.next(), owners.next()) {
            (Some((thread, _)), None) => Ok(*thread),
            (None, _) => Err(format!("the symbolic register '%{name}' is not in the code")),
            (Some((first, _)), Some((second, _))) => Err(format!(
                "the symbolic register '%{name}' is in the code of P{first} and of P{second}"
            )),
        }
    }
}

/// Which register stands for each symbolic one, by thread and name.
#[derive(Default)]
pub struct SymbolicRegisters {
    names: BTreeMap<(u32, String), &'static str>,
}

/// More symbolic registers than the thread has registers to spare.
pub struct TooManySymbolic {
    pub thread: u32,
}

impl SymbolicRegisters {
    /// Gives each symbolic register a free one, and writes that into the initial state and the
    /// condition.
    pub fn allocate(
        isa: &dyn Isa,
        columns: &[Column<'_>],
        uses: &SymbolicUses,
        init: &mut Init,
        mut condition: Option<&mut Condition>,
    ) -> Result<SymbolicRegisters, TooManySymbolic> {
        let mut taken = BTreeSet::new();
        let mut take = |thread: u32, name: &str| {
            let register = isa.register(name);
            taken.extend(register.map(|register| (thread, register.whole)));
        };
        for column in columns {
            let cells = column.lines.iter();
            let words = cells.flat_map(|line| line.text.split(|c| !is_inside(c) && c != '%'));
            words.for_each(|word| take(column.number, word));
        }
        for register in &init.registers {
            take(register.thread, uses.real_name(register.thread, &register.name));
        }
        if let Some(condition) = &mut condition {
            condition.each_register(&mut |thread, name| take(thread, uses.real_name(thread, name)));
        }
        let names = uses.choose(isa, &taken)?;
        let registers = SymbolicRegisters { names };
        for register in &mut init.registers {
            registers.rename(isa, register.thread, &mut register.name);
        }
        if let Some(condition) = condition {
            condition.each_register(&mut |thread, name| registers.rename(isa, thread, name));
        }
        Ok(registers)
    }

    /// `%y` becomes the register that stands for it. After a thread's number, a register's own
    /// name may have a `%` too.
    fn rename(&self, isa: &dyn Isa, thread: u32, name: &mut String) {
        let Some(bare) = name.strip_prefix('%') else {
            return;
        };
        let symbolic = self.names.get(&(thread, bare.to_string()));
        match symbolic {
            Some(register) => *name = register.to_string(),
            None if isa.register(bare).is_some() => *name = bare.to_string(),
            None => {}
        }
    }

    /// An instruction with real registers instead of symbolic ones; none where it has none.
    pub fn rewrite(&self, isa: &dyn Isa, thread: u32, text: &str) -> Option<String> {
        let mut rewritten = String::new();
        let mut done = 0;
        for mention in mentions(isa, text) {
            let register = self.names.get(&(thread, mention.name.to_string()))?;
            rewritten.push_str(text.get(done..mention.span.start as usize)?);
            match mention.view {
                Some(view) => {
                    rewritten.push(view);
                    rewritten.push_str(register.get(1..)?);
                }
                None => rewritten.push_str(register),
            }
            done = mention.span.end as usize;
        }
        if done == 0 {
            return None;
        }
        rewritten.push_str(text.get(done..)?);
        Some(rewritten)
    }
}

/// A symbolic register in an instruction.
struct Mention<'t> {
    name: &'t str,
    /// The letter of `W%y`, which says how much of the register is meant.
    view: Option<char>,
    /// In the instruction's text, with the letter.
    span: Span,
}

fn mentions<'t>(isa: &dyn Isa, text: &'t str) -> Vec<Mention<'t>> {
    if isa.spare_registers().is_empty() {
        return Vec::new();
    }
    let signs = text.match_indices('%');
    let mentions = signs.filter_map(|(at, _)| mention(isa, text, at));
    mentions.collect()
}

fn mention<'t>(isa: &dyn Isa, text: &'t str, at: usize) -> Option<Mention<'t>> {
    let rest = text.get(at + 1..)?;
    let length = rest.find(|c| !is_inside(c)).unwrap_or(rest.len());
    let name = rest.get(..length)?;
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let end = at + 1 + length;
    if !starts || isa.register(text.get(at..end)?).is_some() {
        return None;
    }
    let mut before = text.get(..at)?.chars().rev();
    let letter = before.next().filter(|c| isa.register_views().contains(*c));
    let view = letter.filter(|_| before.next().is_none_or(|c| !is_inside(c)));
    let start = at - usize::from(view.is_some());
    Some(Mention { name, view, span: Span::new(start, end) })
}

/// Whether a name goes on with this character.
fn is_inside(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.')
}
