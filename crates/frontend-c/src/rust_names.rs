//! Names of Rust: as people write them, and which functions of `std` a program calls that it does not bring
//! along. Panics become assertions that fail where they are; memory, output and the way into `main` are the
//! library's. Everything else that is machine code only stays a call by its name.

use parallax_program::{Block, Callee, Expr, Inst, InstKind, Program, Property};

/// Functions of `std`, and those of the library that do the same.
const KNOWN: [(&str, &str); 8] = [
    ("std::rt::lang_start_internal", "rust.start"),
    ("__rustc::__rust_alloc", "rust.alloc"),
    ("__rustc::__rust_alloc_zeroed", "rust.alloc_zeroed"),
    ("__rustc::__rust_dealloc", "rust.dealloc"),
    ("__rustc::__rust_realloc", "rust.realloc"),
    ("std::process::exit", "exit"),
    ("std::process::abort", "abort"),
    ("std::thread::functions::yield_now", "sched_yield"),
];

/// Functions that do nothing that shows.
const NOTHING: [&str; 4] = [
    "std::io::stdio::_print",
    "std::io::stdio::_eprint",
    "__rustc::__rust_no_alloc_shim_is_unstable_v2",
    "__rustc::__rust_no_alloc_shim_is_unstable",
];

/// Panics that say more than their names.
const PANICS: [(&str, &str); 16] = [
    ("panic_const_add_overflow", "attempt to add with overflow"),
    ("panic_const_sub_overflow", "attempt to subtract with overflow"),
    ("panic_const_mul_overflow", "attempt to multiply with overflow"),
    ("panic_const_div_overflow", "attempt to divide with overflow"),
    ("panic_const_rem_overflow", "attempt to calculate the remainder with overflow"),
    ("panic_const_neg_overflow", "attempt to negate with overflow"),
    ("panic_const_shl_overflow", "attempt to shift left with overflow"),
    ("panic_const_shr_overflow", "attempt to shift right with overflow"),
    ("panic_const_div_by_zero", "attempt to divide by zero"),
    ("panic_const_rem_by_zero", "attempt to calculate the remainder with a divisor of zero"),
    ("panic_bounds_check", "index out of bounds"),
    ("assert_failed", "assertion failed: the two sides compare otherwise"),
    ("panic_already_borrowed", "already borrowed"),
    ("panic_already_mutably_borrowed", "already mutably borrowed"),
    ("unwrap_failed", "nothing to unwrap"),
    ("handle_alloc_error", "memory allocation failed"),
];

/// The name of a function of Rust as it is written: `queue::Queue<u32>::push`.
pub fn source_name(mangled: &str) -> Option<String> {
    let is_rust = mangled.starts_with("_R") || (mangled.starts_with("_ZN") && has_hash(mangled));
    let name = is_rust.then(|| rustc_demangle::try_demangle(mangled).ok()).flatten()?;
    let name = format!("{name:#}");
    Some(name.strip_prefix("program::").map(str::to_string).unwrap_or(name))
}

/// `…17h0123456789abcdefE`
fn has_hash(mangled: &str) -> bool {
    let digits = mangled.strip_suffix('E').and_then(|rest| rest.rsplit_once("17h"));
    digits.is_some_and(|(_, hash)| {
        hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// What is to be done about a call.
enum Meaning {
    Panic(String),
    Library(&'static str),
    Nothing,
}

fn meaning(mangled: &str) -> Option<Meaning> {
    let name = source_name(mangled)?;
    if let Some((_, library)) = KNOWN.iter().find(|(known, _)| *known == name) {
        return Some(Meaning::Library(library));
    }
    if NOTHING.contains(&name.as_str()) {
        return Some(Meaning::Nothing);
    }
    let path = name.split("::<").next().unwrap_or(&name);
    let path = path.split('<').next().filter(|path| !path.is_empty()).unwrap_or(&name);
    let last = path.rsplit("::").next().unwrap_or(path);
    let is_panic = path.starts_with("core::panicking::")
        || path.starts_with("std::panicking::")
        || last.starts_with("panic_")
        || last.ends_with("_failed")
        || last.ends_with("_fail")
        || matches!(last, "handle_error" | "handle_alloc_error" | "capacity_overflow");
    if !is_panic || path == "std::panicking::panicking" {
        return None;
    }
    let known = PANICS.iter().find(|(known, _)| *known == last);
    let message = match (path, known) {
        ("core::option::unwrap_failed", _) => "called `Option::unwrap()` on a `None` value",
        ("core::result::unwrap_failed", _) => "called `Result::unwrap()` on an `Err` value",
        (_, Some((_, message))) => message,
        _ => "panic",
    };
    Some(Meaning::Panic(message.to_string()))
}

/// Gives calls of functions that only `std` has their meaning.
pub fn settle(program: &mut Program) {
    let mut functions = std::mem::take(&mut program.functions);
    for block in functions.iter_mut().flat_map(|function| &mut function.blocks) {
        settle_block(block, program);
    }
    program.functions = functions;
}

fn settle_block(block: &mut Block, program: &Program) {
    let is_rust = |inst: &Inst| matches!(&inst.kind, InstKind::Call { callee: Callee::External(name), .. } if source_name(name).is_some());
    if !block.insts.iter().any(is_rust) {
        return;
    }
    for mut inst in std::mem::take(&mut block.insts) {
        let (name, args) = match &inst.kind {
            InstKind::Call { callee: Callee::External(name), args, .. } => (name.clone(), args),
            _ => {
                block.insts.push(inst);
                continue;
            }
        };
        match meaning(&name) {
            Some(Meaning::Nothing) => {}
            Some(Meaning::Panic(message)) => {
                let message = text(program, args).unwrap_or(message);
                let (condition, property) = (Expr::constant(1, 0), Property::Assert);
                let span = inst.span;
                let kind = InstKind::Assert { condition: condition.clone(), message, property };
                block.insts.push(Inst { kind, span });
                block.insts.push(Inst { kind: InstKind::Assume { condition }, span });
            }
            Some(Meaning::Library(library)) => {
                if let InstKind::Call { callee, .. } = &mut inst.kind {
                    *callee = Callee::External(library.to_string());
                }
                block.insts.push(inst);
            }
            None => block.insts.push(inst),
        }
    }
}

/// Longer messages are cut.
const MOST_TEXT: u128 = 400;

/// The text that a panic is handed: where it is, and how long it is.
fn text(program: &Program, args: &[Expr]) -> Option<String> {
    let (Some(Expr::Address(id)), Some(Expr::Const(length))) = (args.first(), args.get(1)) else {
        return None;
    };
    let global = program.globals.get(id.0 as usize).filter(|global| global.constant)?;
    let length = length.unsigned();
    if length > MOST_TEXT || length > u128::from(global.size) {
        return None;
    }
    let mut bytes = vec![0; global.size as usize];
    for cell in &global.init {
        let Expr::Const(bits) = &cell.value else { return None };
        let value = bits.unsigned().to_le_bytes();
        let places = bytes.get_mut(cell.offset as usize..)?.iter_mut();
        places.take(cell.width as usize / 8).zip(value).for_each(|(place, byte)| *place = byte);
    }
    bytes.truncate(length as usize);
    String::from_utf8(bytes).ok().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        let legacy = "_ZN4core9panicking5panic17h0123456789abcdefE";
        assert_eq!(source_name(legacy).as_deref(), Some("core::panicking::panic"));
        let newer = "_RNvNtCsgEmfK2I1SDS_4core9panicking5panic";
        assert_eq!(source_name(newer).as_deref(), Some("core::panicking::panic"));
        assert_eq!(source_name("_ZN5queueIiE4pushEi"), None);
        assert_eq!(source_name("malloc"), None);
    }

    #[test]
    fn functions_of_std_have_meanings() {
        let add = "_RNvNtNtCsgEmfK2I1SDS_4core9panicking11panic_const24panic_const_add_overflow";
        assert!(
            matches!(meaning(add), Some(Meaning::Panic(it)) if it.starts_with("attempt to add"))
        );
        let failed = "_RINvNtCsgEmfK2I1SDS_4core9panicking13assert_failedllECsjrHSEGnQ3l9_3std";
        assert!(matches!(meaning(failed), Some(Meaning::Panic(it)) if it.starts_with("assertion")));
        let alloc = "_RNvCsfLfy6EI15iL_7___rustc12___rust_alloc";
        assert!(matches!(meaning(alloc), Some(Meaning::Library("rust.alloc"))));
        let print = "_RNvNtNtCsjrHSEGnQ3l9_3std2io5stdio6__print";
        assert!(matches!(meaning(print), Some(Meaning::Nothing)));
        let other = "_RNvXsi_NtNtNtCsgEmfK2I1SDS_4core3fmt3num3impjNtB9_7Display3fmt";
        assert!(meaning(other).is_none());
    }
}
