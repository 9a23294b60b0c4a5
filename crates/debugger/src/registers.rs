//! Registers of machine code, and variables of everything else.

use std::fmt::Write;

use parallax_program::{Bits, Var, VarId};

use crate::machine::Machine;
use crate::session::Session;
use crate::source;

const FLAGS: [&str; 7] = ["cf", "pf", "af", "zf", "sf", "of", "df"];

/// The registers, or the variables, of a thread where it is: names and values.
pub fn all(
    session: &Session<'_, '_>,
    machine: &Machine<'_, '_>,
    thread: u32,
) -> Vec<(String, Bits)> {
    let Some(local) = machine.system.thread(thread) else {
        return Vec::new();
    };
    let program = session.program();
    let sites: Vec<_> = local.thread.stack().collect();
    let chosen = session.call().filter(|_| thread == session.thread);
    let own = chosen.or_else(|| machine.instruction(thread).map(|here| here.call));
    let sees = |call: &usize| {
        sites.get(*call).is_some_and(|site| program.function(site.function).registers)
    };
    let call = match session.is_machine_code() {
        true => (0..sites.len()).rev().find(sees),
        false => own.or(sites.len().checked_sub(1)),
    };
    let Some((call, site)) = call.and_then(|call| Some((call, sites.get(call)?))) else {
        return Vec::new();
    };
    let function = program.function(site.function);
    let (first, vars): (usize, &[Var]) = match session.is_machine_code() {
        true => (function.params as usize, &program.registers),
        false => (0, &function.vars),
    };
    let values = vars.iter().enumerate().filter_map(|(number, var)| {
        let value = local.thread.value(call, VarId((first + number) as u32))?;
        Some((var.name.clone(), *value))
    });
    values.collect()
}

/// Those that people look at first.
pub fn is_usual(session: &Session<'_, '_>, name: &str) -> bool {
    match session.is_machine_code() {
        true => {
            let rare = ["xmm", "fsbase", "gsbase", "mxcsr"];
            !rare.iter().any(|rare| name.starts_with(rare)) && !FLAGS.contains(&name)
        }
        false => !name.starts_with('%'),
    }
}

/// The flags that are set, as letters.
pub fn flags(values: &[(String, Bits)]) -> String {
    let set =
        values.iter().filter(|(name, value)| FLAGS.contains(&name.as_str()) && !value.is_zero());
    let set: Vec<String> = set.map(|(name, _)| name.to_uppercase()).collect();
    match set.is_empty() {
        true => "[ ]".to_string(),
        false => format!("[ {} ]", set.join(" ")),
    }
}

/// The value of a register or variable of the chosen thread, by name; of parts such as `eax` too.
pub fn value(session: &Session<'_, '_>, name: &str) -> Option<Bits> {
    let values = all(session, session.now(), session.thread);
    let find = |name: &str| values.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    if let Some(value) = find(name) {
        return Some(value);
    }
    if !session.is_machine_code() {
        return None;
    }
    let (whole, low, width) = part(name)?;
    find(&whole).map(|value| value.extract(low, width))
}

/// The register that a part such as `eax`, `cl` or `r9d` belongs to, and which bits it is.
fn part(name: &str) -> Option<(String, u32, u32)> {
    if let Some(digits) = name.strip_prefix('r') {
        let end = digits.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = digits.strip_suffix(end)?;
        let width = match end {
            "d" => 32,
            "w" => 16,
            "b" => 8,
            _ => return None,
        };
        return (!number.is_empty()).then(|| (format!("r{number}"), 0, width));
    }
    let whole = |letter: &str| format!("r{letter}x");
    match name {
        "eax" | "ebx" | "ecx" | "edx" | "esi" | "edi" | "ebp" | "esp" => {
            Some((format!("r{}", name.get(1..)?), 0, 32))
        }
        "ax" | "bx" | "cx" | "dx" | "si" | "di" | "bp" | "sp" => Some((format!("r{name}"), 0, 16)),
        "al" | "bl" | "cl" | "dl" => Some((whole(name.get(..1)?), 0, 8)),
        "ah" | "bh" | "ch" | "dh" => Some((whole(name.get(..1)?), 8, 8)),
        "sil" | "dil" | "bpl" | "spl" => Some((format!("r{}", name.get(..2)?), 0, 8)),
        _ => None,
    }
}

/// `info registers [NAME…]`; with `everything`, the rare ones too.
pub fn info(
    session: &Session<'_, '_>,
    argument: &str,
    everything: bool,
    out: &mut String,
) -> Result<(), String> {
    if !argument.is_empty() {
        for name in argument.split_whitespace() {
            let name = name.trim_start_matches('$');
            let found = value(session, name);
            match found {
                Some(value) => line(session, name, value, out),
                None => return Err(format!("there is no register or variable '{name}' here")),
            }
        }
        return Ok(());
    }
    let values = all(session, session.now(), session.thread);
    let is_flag = |name: &str| session.is_machine_code() && FLAGS.contains(&name);
    let chosen =
        values.iter().filter(|(name, _)| !is_flag(name) && (everything || is_usual(session, name)));
    let mut count = 0;
    for (name, value) in chosen {
        line(session, name, *value, out);
        count += 1;
    }
    if session.is_machine_code() {
        if let Some(here) = source::instruction(session, session.now(), session.thread) {
            let here = here.split(":  ").next().unwrap_or("").to_string();
            let _ = writeln!(out, "{:<8} {here}", "rip");
        }
        let _ = writeln!(out, "{:<8} {}", "flags", flags(&values));
    } else if count == 0 {
        out.push_str("No variables here.\n");
    }
    Ok(())
}

fn line(session: &Session<'_, '_>, name: &str, value: Bits, out: &mut String) {
    let shown = session.names.value(value);
    let _ = match session.is_machine_code() && value.width() > 1 {
        true => writeln!(out, "{name:<8} {:<18} {shown}", format!("{:#x}", value.unsigned())),
        false => writeln!(out, "{name:<8} {shown}"),
    };
}
