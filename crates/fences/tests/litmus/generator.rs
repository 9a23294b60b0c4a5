//! Random litmus tests in several languages.

use std::fmt::Write;

use proptest::prelude::*;

/// What is done to one of two places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    pub writes: bool,
    pub place: usize,
    /// From weak to strong, as far as the language has orders.
    pub order: usize,
}

pub type Threads = Vec<Vec<Access>>;

/// Two or three threads with so many accesses at most.
pub fn threads(most: usize) -> impl Strategy<Value = Threads> {
    let access = (any::<bool>(), 0..2usize, 0..4usize).prop_map(|(writes, place, order)| Access {
        writes,
        place,
        order,
    });
    prop::collection::vec(prop::collection::vec(access, 1..=most), 2..4)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tongue {
    C,
    X86,
    AArch64,
    Power,
    RiscV,
    Kernel,
}

/// Everything that is read.
pub fn observed(tongue: Tongue, threads: &Threads) -> Vec<String> {
    let mut names = Vec::new();
    for (number, accesses) in threads.iter().enumerate() {
        let reads = accesses.iter().enumerate().filter(|(_, access)| !access.writes);
        names.extend(reads.map(|(at, _)| format!("{number}:{}", target(tongue, at))));
    }
    names
}

/// What the read of that number reads into.
fn target(tongue: Tongue, at: usize) -> String {
    match tongue {
        Tongue::C | Tongue::Kernel => format!("r{at}"),
        Tongue::X86 => ["EAX", "EBX", "ECX"][at].to_string(),
        Tongue::AArch64 => format!("X{}", 3 + at),
        Tongue::Power => format!("r{}", 3 + at),
        Tongue::RiscV => format!("x{}", 11 + at),
    }
}

/// The test with a final condition.
pub fn text(tongue: Tongue, threads: &Threads, condition: &str) -> String {
    let mut text = match tongue {
        Tongue::C | Tongue::Kernel => c(tongue, threads),
        _ => table(tongue, threads),
    };
    let _ = writeln!(text, "exists ({condition})");
    text
}

fn value(thread: usize, at: usize) -> usize {
    thread * 3 + at + 1
}

fn c(tongue: Tongue, threads: &Threads) -> String {
    let mut text = "C random\n{}\n".to_string();
    let kind = if tongue == Tongue::C { "atomic_int" } else { "int" };
    for (number, accesses) in threads.iter().enumerate() {
        let _ = writeln!(text, "P{number}({kind} *x, {kind} *y) {{");
        for (at, access) in accesses.iter().enumerate() {
            let (place, value) = (["x", "y"][access.place], value(number, at));
            let order = match (access.order, access.writes) {
                (3, true) => "release",
                (3, false) => "acquire",
                _ => "relaxed",
            };
            let _ = match (tongue, access.writes) {
                (Tongue::Kernel, true) => writeln!(text, "  WRITE_ONCE(*{place}, {value});"),
                (Tongue::Kernel, false) => writeln!(text, "  int r{at} = READ_ONCE(*{place});"),
                (_, true) => writeln!(
                    text,
                    "  atomic_store_explicit({place}, {value}, memory_order_{order});"
                ),
                (_, false) => writeln!(
                    text,
                    "  int r{at} = atomic_load_explicit({place}, memory_order_{order});"
                ),
            };
        }
        let _ = writeln!(text, "}}");
    }
    text
}

fn table(tongue: Tongue, threads: &Threads) -> String {
    let name = match tongue {
        Tongue::AArch64 => "AArch64",
        Tongue::Power => "PPC",
        Tongue::RiscV => "RISCV",
        _ => "X86",
    };
    let mut text = format!("{name} random\n{{\n");
    for (number, accesses) in threads.iter().enumerate() {
        let registers = match tongue {
            Tongue::AArch64 => ["X", "X1", "X2"],
            Tongue::Power => ["r", "r1", "r2"],
            Tongue::RiscV => ["x", "x6", "x7"],
            _ => continue,
        };
        let [register, x, y] = registers;
        let _ = write!(text, "{number}:{x}=x; {number}:{y}=y;");
        for at in 0..accesses.len() {
            let (base, value) = (20 + at, value(number, at));
            let _ = write!(text, " {number}:{register}{base}={value};");
        }
        text.push('\n');
    }
    text.push_str("}\n");
    let heads: Vec<String> = (0..threads.len()).map(|number| format!(" P{number} ")).collect();
    let _ = writeln!(text, "{};", heads.join("|"));
    let rows = threads.iter().map(Vec::len).max().unwrap_or(0);
    for row in 0..rows {
        let cells = threads.iter().enumerate().map(|(number, accesses)| {
            let access = accesses.get(row);
            let shown = access.map(|access| instruction(tongue, *access, (number, row)));
            format!(" {} ", shown.unwrap_or_default())
        });
        let _ = writeln!(text, "{};", cells.collect::<Vec<_>>().join("|"));
    }
    text
}

fn instruction(tongue: Tongue, access: Access, (thread, at): (usize, usize)) -> String {
    let Access { writes, place, order } = access;
    let (target, source) = (target(tongue, at), 20 + at);
    match (tongue, writes) {
        (Tongue::AArch64, true) => {
            let name = if order == 3 { "STLR" } else { "STR" };
            format!("{name} W{source},[X{}]", 1 + place)
        }
        (Tongue::AArch64, false) => {
            let name = if order == 3 { "LDAPR" } else { "LDR" };
            format!("{name} W{},[X{}]", 3 + at, 1 + place)
        }
        (Tongue::Power, true) => format!("stw r{source},0(r{})", 1 + place),
        (Tongue::Power, false) => format!("lwz {target},0(r{})", 1 + place),
        // Atomic operations are the accesses that have orders.
        (Tongue::RiscV, true) if order > 1 => format!("amoswap.w x0,x{source},(x{})", 6 + place),
        (Tongue::RiscV, true) => format!("sw x{source},0(x{})", 6 + place),
        (Tongue::RiscV, false) if order > 1 => format!("amoor.w {target},x0,(x{})", 6 + place),
        (Tongue::RiscV, false) => format!("lw {target},0(x{})", 6 + place),
        (_, true) => format!("MOV [{}],${}", ["x", "y"][place], value(thread, at)),
        (_, false) => format!("MOV {target},[{}]", ["x", "y"][place]),
    }
}
