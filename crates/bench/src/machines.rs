//! Families of programs for the search through states of operational machines, in their text
//! form. `main` starts the threads and joins them. How many final states each has is known.

use parallax_program::{Program, parse_program};

pub struct MachineFamily {
    pub name: &'static str,
    pub program: fn(usize) -> Program,
    /// Sizes that take some seconds at most.
    pub sizes: &'static [usize],
}

pub const MACHINE_FAMILIES: [MachineFamily; 5] = [
    MachineFamily { name: "fetch-add", program: fetch_add, sizes: &[4, 8, 12, 16] },
    MachineFamily { name: "sb-ring", program: sb_ring, sizes: &[4, 6, 8, 9] },
    MachineFamily { name: "fib-lock", program: fib_lock, sizes: &[5, 7, 9, 11, 13] },
    MachineFamily { name: "clh-lock", program: clh_lock, sizes: &[4, 5, 6, 7] },
    MachineFamily { name: "counter", program: counter, sizes: &[2, 3, 4, 5] },
];

/// The program whose main starts functions with arguments, and waits for them.
fn joining(globals: &str, functions: &str, spawns: &[String]) -> Program {
    let vars: Vec<String> = (0..spawns.len()).map(|t| format!("t{t}: 32")).collect();
    let mut text = format!("program family pointers 64\n{globals}{functions}fn main() {{\n");
    text += &format!("var {}\n", vars.join(", "));
    for (thread, spawn) in spawns.iter().enumerate() {
        text += &format!("t{thread} = spawn {spawn}\n");
    }
    (0..spawns.len()).for_each(|thread| text += &format!("join t{thread}\n"));
    text += "}\nthread main = main()\n";
    parse_program("family", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

/// `n` threads add to one variable: one final state.
fn fetch_add(n: usize) -> Program {
    let add = "fn add() {\nrmw.add.4 &x, 1:32 [A, RLX]\n}\n";
    joining("global x: 4\n", add, &vec!["add()".to_string(); n])
}

/// Store buffering in a ring of `n` threads, each of which keeps what it has read.
fn sb_ring(n: usize) -> Program {
    let thread = format!(
        "fn thread(i: 64) {{\nvar r: 32\nstore.4 &x + i * 4:64, 1:32\n\
         r = load.4 &x + ((i + 1:64) %u {n}:64) * 4:64\nstore.4 &r + i * 4:64, r\n}}\n"
    );
    let globals = format!("global x: {}\nglobal r: {}\n", 4 * n, 4 * n);
    let spawns: Vec<String> = (0..n).map(|i| format!("thread({i}:64)")).collect();
    joining(&globals, &thread, &spawns)
}

/// Each of `n` threads computes a Fibonacci number of its own, and stores it under a lock that
/// spins: n final states.
fn fib_lock(n: usize) -> Program {
    let thread = "fn thread(i: 64) {\nvar a: 32, b: 32, c: 32, k: 64, old: 32\na = 1:32\nb = 2:32\n\
        next:\nbranch k == i, take, more\nmore:\nc = a + b\na = b\nb = c\nk = k + 1:64\njump next\n\
        take:\nold = rmw.swap.4 &lock, 1:32 [X] [X]\nbranch old == 0:32, in, take\n\
        in:\nstore.4 &x, a\nstore.4 &lock, 0:32\n}\n";
    let spawns: Vec<String> = (0..n).map(|i| format!("thread({i}:64)")).collect();
    joining("global x: 4\nglobal lock: 4\n", thread, &spawns)
}

/// The queue lock of Craig, Landin and Hagersten: each of `n` threads stores its number under it.
fn clh_lock(n: usize) -> Program {
    let thread = "fn thread(i: 64) {\nvar node: 64, before: 64, held: 32\n\
        node = alloc.heap.zeroed 4:64 align 4\nstore.4 node, 1:32\n\
        before = rmw.swap.8 &tail, node [X] [X]\n\
        spin:\nheld = load.4 before\nbranch held == 0:32, in, spin\n\
        in:\nstore.4 &x, extract(i, 0, 32)\nstore.4 node, 0:32\n}\n";
    let spawns: Vec<String> = (0..n).map(|i| format!("thread({i}:64)")).collect();
    let globals = "global x: 4\nglobal free: 4\nglobal tail: 8 = { 0: &free }\n";
    joining(globals, thread, &spawns)
}

/// Three threads that each add to a variable `n` times, in two steps: there are many orders that
/// matter.
fn counter(n: usize) -> Program {
    let thread = format!(
        "fn thread() {{\nvar k: 32, r: 32\nnext:\nbranch k == {n}:32, end, more\nmore:\n\
         r = load.4 &x\nstore.4 &x, r + 1:32\nk = k + 1:32\njump next\nend:\nreturn\n}}\n"
    );
    joining("global x: 4\n", &thread, &vec!["thread()".to_string(); 3])
}
