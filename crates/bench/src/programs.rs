//! Families of programs for the exploration of execution graphs, as their text form. `main`
//! starts the threads and joins none. How many executions each has is known.

use std::fmt::Write;

use parallax_program::{Program, parse_program};

/// A family: a name, its programs by size, and the number of their executions where a formula
/// is known.
pub struct Family {
    pub name: &'static str,
    pub program: fn(usize) -> Program,
    /// Sizes that take about a second at most.
    pub sizes: &'static [usize],
}

pub const FAMILIES: [Family; 6] = [
    Family { name: "additions", program: additions, sizes: &[5, 6, 7, 8, 9] },
    Family { name: "readers", program: readers, sizes: &[9, 11, 13, 15, 17] },
    Family { name: "last-zero", program: last_zero, sizes: &[7, 9, 11, 13, 15] },
    Family { name: "fibonacci", program: fibonacci, sizes: &[2, 3, 4, 5] },
    Family { name: "ring", program: ring, sizes: &[6, 8, 10, 12, 14] },
    Family { name: "indexer", program: indexer, sizes: &[12, 13, 14, 15, 16] },
];

/// The program with these globals and functions, whose main starts functions with arguments.
fn spawning(globals: &str, functions: &str, spawns: &[String]) -> Program {
    let mut text = format!("program family pointers 64\n{globals}{functions}fn main() {{\n");
    for spawn in spawns {
        let _ = writeln!(text, "spawn {spawn}");
    }
    text += "}\nthread main = main()\n";
    parse_program("family", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

/// `n` threads add to one variable: n! executions.
pub fn additions(n: usize) -> Program {
    let add = "fn add() {\nrmw.add.4 &x, 1:32 [A, RLX]\n}\n";
    spawning("global x: 4\n", add, &vec!["add()".to_string(); n])
}

/// One thread stores, `n` threads load: 2ⁿ executions.
pub fn readers(n: usize) -> Program {
    let functions = "fn writer() {\nstore.4 &x, 1:32 [A, REL]\n}\n\
                     fn reader() {\nvar r: 32\nr = load.4 &x [A, ACQ]\n}\n";
    let mut spawns = vec!["writer()".to_string()];
    spawns.extend(vec!["reader()".to_string(); n]);
    spawning("global x: 4\n", functions, &spawns)
}

/// Thread i of `n` does `a[i] = a[i-1] + 1`, one more looks for the last 0 from above.
pub fn last_zero(n: usize) -> Program {
    let functions = format!(
        "fn step(i: 64) {{\nvar r: 32\nr = load.4 &a + (i - 1:64) * 4:64 [A, ACQ]\n\
         store.4 &a + i * 4:64, r + 1:32 [A, REL]\n}}\n\
         fn scan() {{\nvar i: 64, r: 32, zero: 1\ni = {n}:64\nagain:\n\
         r = load.4 &a + i * 4:64 [A, ACQ]\nzero = r == 0:32\nbranch zero, end, more\nmore:\n\
         i = i - 1:64\njump again\nend:\nreturn\n}}\n"
    );
    let globals = format!("global a: {}\n", 4 * (n + 1));
    let mut spawns = vec!["scan()".to_string()];
    spawns.extend((1..=n).map(|i| format!("step({i}:64)")));
    spawning(&globals, &functions, &spawns)
}

/// Two threads `n` times: x, or y, becomes x + y; a third looks.
pub fn fibonacci(n: usize) -> Program {
    let adder = |name: &str, target: &str| {
        format!(
            "fn {name}() {{\nvar i: 32, a: 32, b: 32, go: 1\nagain:\ngo = i <u {n}:32\n\
             branch go, more, end\nmore:\na = load.4 &x [A, ACQ]\nb = load.4 &y [A, ACQ]\n\
             store.4 &{target}, a + b [A, REL]\ni = i + 1:32\njump again\nend:\nreturn\n}}\n"
        )
    };
    let look = "fn look() {\nvar a: 32, b: 32, big: 1\na = load.4 &x [A, ACQ]\n\
                big = 144:32 <u a\nbranch big, end, more\nmore:\nb = load.4 &y [A, ACQ]\n\
                jump end\nend:\nreturn\n}\n";
    let functions = adder("first", "x") + &adder("second", "y") + look;
    let globals = "global x: 4 = { 0: 1:32 }\nglobal y: 4 = { 0: 1:32 }\n";
    spawning(globals, &functions, &["first()", "second()", "look()"].map(String::from))
}

/// Thread i of `n` stores x[i] and loads x[i+1].
pub fn ring(n: usize) -> Program {
    let functions = "fn node(i: 64, j: 64) {\nvar r: 32\nstore.4 &x + i * 4:64, 1:32 [A, RLX]\n\
                     r = load.4 &x + j * 4:64 [A, RLX]\n}\n";
    let spawns: Vec<String> = (0..n).map(|i| format!("node({i}:64, {}:64)", (i + 1) % n)).collect();
    spawning(&format!("global x: {}\n", 4 * n), functions, &spawns)
}

/// `n` threads insert four values each into a table of 128 cells, probing onwards.
pub fn indexer(n: usize) -> Program {
    let functions = "fn insert(thread: 32) {\n\
         var k: 32, w: 32, h: 32, at: 64, go: 1, ok: 1\nnext:\ngo = k <u 4:32\n\
         branch go, value, end\nvalue:\nk = k + 1:32\nw = k * 11:32 + thread\n\
         h = (w * 7:32) %u 128:32\nprobe:\nat = &table + zext(h, 64) * 4:64\n\
         _, ok = cas.4 at, 0:32, w [A, SC] [A, SC] [A, SC]\nbranch ok, next, onwards\nonwards:\n\
         h = (h + 1:32) %u 128:32\njump probe\nend:\nreturn\n}\n";
    let spawns: Vec<String> = (0..n).map(|i| format!("insert({i}:32)")).collect();
    spawning("global table: 512\n", functions, &spawns)
}
