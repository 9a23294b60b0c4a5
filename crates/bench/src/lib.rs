//! Families of litmus tests that grow with a parameter, and ways to ask once: engines are reached as
//! everybody reaches them, by `verify`.

pub mod chart;
pub mod figures;
pub mod formulas;
pub mod machines;
pub mod programs;
pub mod structures;
pub mod tables;

use std::fmt::Write;

use parallax_control::Control;
use parallax_frontend_litmus::{LitmusTest, parse};
use parallax_memory::Model;
use parallax_program::Property;
use parallax_query::{Answer, Extensions, Query, Subject, Wanted};
use parallax_verdict::Outcomes;
use parallax_verify::litmus::{Coherence, Listing, outcomes};
use parallax_verify::registry::named;

/// Runs a test; an error is a bug in the benchmark.
pub fn run(test: &LitmusTest, model: &Model) -> Outcomes {
    let listing = Listing { bound: 2, coherence: Coherence::Auto, witnesses: 0, show: &[] };
    match outcomes(test, model, &listing, &Control::default()) {
        Ok(outcomes) => outcomes,
        Err(errors) => panic!("{}: {errors:?}", test.name),
    }
}

/// Whether the assertions of a program hold under a model.
pub fn query<'a>(subject: &'a Subject, model: &str) -> Query<'a> {
    let model = Model::builtin(model).expect("a model").expect("a right model");
    Query {
        subject,
        model,
        is_compiled: false,
        properties: vec![Property::Assert],
        unroll: None,
        nondet: None,
        wanted: Wanted::First,
        extensions: Extensions::default(),
    }
}

/// Asks one engine; an error is a bug in the benchmark.
pub fn ask(engine: &str, query: &Query<'_>, control: &Control<'_>) -> Answer {
    let answer = named(engine).expect("an engine").run(query, control);
    answer.unwrap_or_else(|errors| panic!("{engine}: {errors:?}"))
}

/// Parses a test of a family; an error is a bug in the family.
pub fn test(text: &str) -> LitmusTest {
    match parse("family", text) {
        Ok(test) => test,
        Err(errors) => panic!("{errors:?}\n{text}"),
    }
}

fn aarch64(name: &str, init: &str, threads: &[Vec<String>], condition: &str) -> String {
    let rows = threads.iter().map(Vec::len).max().unwrap_or(0);
    let header: Vec<String> = (0..threads.len()).map(|t| format!("P{t}")).collect();
    let mut text = format!("AArch64 {name}\n{{\n{init}}}\n {} ;\n", header.join(" | "));
    for row in 0..rows {
        let cells: Vec<&str> =
            threads.iter().map(|code| code.get(row).map_or("", String::as_str)).collect();
        let _ = writeln!(text, " {} ;", cells.join(" | "));
    }
    let _ = writeln!(text, "exists ({condition})");
    text
}

fn lines(code: &[&str]) -> Vec<String> {
    code.iter().map(|line| (*line).to_string()).collect()
}

/// Store buffering in a ring of n threads: each writes its location and reads the next.
pub fn store_buffering(n: usize) -> String {
    let mut init = String::new();
    for t in 0..n {
        let _ = writeln!(init, "{t}:X1=x{t}; {t}:X3=x{};", (t + 1) % n);
    }
    let thread = lines(&["MOV W0,#1", "STR W0,[X1]", "LDR W2,[X3]"]);
    let condition: Vec<String> = (0..n).map(|t| format!("{t}:X2=0")).collect();
    aarch64("SB", &init, &vec![thread; n], &condition.join(" /\\ "))
}

/// A message handed on through n threads, by release and acquire.
pub fn message_chain(n: usize) -> String {
    let mut init = String::new();
    let mut threads = Vec::new();
    for t in 0..n {
        let _ = writeln!(init, "{t}:X1=x; {t}:X3=f{t}; {t}:X5=f{};", t + 1);
        threads.push(match t {
            0 => lines(&["MOV W0,#1", "STR W0,[X1]", "STLR W0,[X5]"]),
            t if t + 1 == n => lines(&["LDAR W2,[X3]", "LDR W4,[X1]"]),
            _ => lines(&["LDAR W2,[X3]", "STLR W2,[X5]"]),
        });
    }
    let last = n - 1;
    aarch64("MP-chain", &init, &threads, &format!("{last}:X2=1 /\\ {last}:X4=0"))
}

/// Two writers and n readers that look at them in turn.
pub fn iriw(n: usize) -> String {
    let mut init = String::from("0:X1=x; 1:X1=y;\n");
    let mut threads = vec![lines(&["MOV W0,#1", "STR W0,[X1]"]); 2];
    let mut condition = Vec::new();
    for t in 2..n + 2 {
        let (first, second) = if t % 2 == 0 { ("x", "y") } else { ("y", "x") };
        let _ = writeln!(init, "{t}:X1={first}; {t}:X3={second};");
        threads.push(lines(&["LDAR W0,[X1]", "LDR W2,[X3]"]));
        condition.push(format!("{t}:X0=1 /\\ {t}:X2=0"));
    }
    aarch64("IRIW", &init, &threads, &condition.join(" /\\ "))
}

/// n threads that write one location.
pub fn writers(n: usize) -> String {
    let mut init = String::new();
    let mut threads = Vec::new();
    for t in 0..n {
        let _ = writeln!(init, "{t}:X1=x;");
        threads.push(vec![format!("MOV W0,#{}", t + 1), "STR W0,[X1]".to_string()]);
    }
    aarch64("writers", &init, &threads, &format!("x={n}"))
}

/// Two threads, each with n exclusive increments of one counter, without retry.
pub fn exclusives(n: usize) -> String {
    let mut code = Vec::new();
    for _ in 0..n {
        code.extend(lines(&["LDXR W0,[X1]", "ADD W0,W0,#1", "STXR W2,W0,[X1]", "CBNZ W2,End"]));
    }
    code.push("End:".to_string());
    let threads: Vec<Vec<String>> = (0..2)
        .map(|t| code.iter().map(|line| line.replace("End", &format!("End{t}"))).collect())
        .collect();
    aarch64("exclusives", "0:X1=x; 1:X1=x;\n", &threads, &format!("x={}", 2 * n))
}
