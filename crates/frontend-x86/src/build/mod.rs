//! From an image to a program: memory, functions, calls of the library, threads, and how it all
//! starts.

mod body;
mod callbacks;
mod foreign;
mod listing;
mod memory;
mod start;
mod syscalls;
mod threads;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use parallax_library::{Signatures, Through};
use parallax_program::{
    Diagnostic, Diagnostics, Function, FunctionId, Program, SourceFile, ThreadStart,
};

use crate::Options;
use crate::code::{Calls, Reachable};
use crate::elf::Image;
use crate::lift::registers;
use listing::Listing;

pub use foreign::is_known;

/// What the parts of the program are made from.
pub struct Builder<'a> {
    image: &'a Image,
    calls: &'a Calls<'a>,
    signatures: Signatures,
    listing: Listing<'a>,
    /// The functions of the program by address, lifted ones and those that stand in for others.
    ids: BTreeMap<u64, FunctionId>,
    /// Names in use.
    names: HashSet<String>,
    /// Whether the process ends with its first thread.
    daemons: bool,
}

pub fn build(name: &str, image: &Image, options: &Options) -> Result<Program, Diagnostics> {
    let refused = |message| vec![Diagnostic::new(format!("{name}: {message}"))];
    let wanted = |function: &str| options.models(function);
    let calls = Calls::new(image, wanted);
    let beginning = start::beginning(image, &calls).map_err(refused)?;
    let starts = beginning.entries(image);
    let code = Reachable::from(image, &calls, &starts, foreign::never_returns);
    let needs = threads::Needs::of(image, &code);
    let (mut program, through) = assemble(name, image, &calls, &code, &beginning, &needs, options);
    program.check()?;
    let library = parallax_library::Options {
        spurious_wakeups: options.spurious_wakeups,
        errors: options.errors.clone(),
        open: false,
    };
    parallax_library::link_through(&mut program, &library, &through)?;
    threads::prepare(&mut program, &needs);
    program.check()?;
    Ok(program)
}

/// Everything but the library.
fn assemble(
    name: &str,
    image: &Image,
    calls: &Calls<'_>,
    code: &Reachable,
    beginning: &start::Beginning,
    needs: &threads::Needs,
    options: &Options,
) -> (Program, Vec<Through>) {
    let mut builder = Builder {
        image,
        calls,
        signatures: Signatures::new(),
        listing: Listing::new(image, calls, code),
        ids: BTreeMap::new(),
        names: HashSet::new(),
        daemons: beginning.ends_all(calls, code),
    };
    let lifted: BTreeSet<u64> = code.functions.keys().copied().collect();
    let stand_ins = &code.pointed_foreign;
    let numbered = lifted.iter().chain(stand_ins.keys()).zip(1..);
    builder.ids = numbered.map(|(address, id)| (*address, FunctionId(id))).collect();

    let mut program = Program::new(name, 64, SourceFile::new(name, ""));
    program.registers = registers::registers();
    program.globals = memory::globals(image);
    program.daemons = builder.daemons;
    let mut functions: Vec<Function> = Vec::new();
    for function in code.functions.values() {
        functions.push(builder.function(function));
    }
    for (address, name) in stand_ins {
        functions.push(builder.stand_in(*address, name));
    }
    let arguments = start::arguments(&mut program, name, &options.arguments);
    program.functions.push(builder.start(beginning, needs, arguments));
    program.functions.extend(functions);
    let through = callbacks::add(&mut program, &mut builder);
    program.threads.push(ThreadStart {
        name: "main".to_string(),
        function: FunctionId(0),
        args: Vec::new(),
    });
    // Lines are those of the listing, not of the file.
    program.source = builder.listing.into_source(&format!("{name}.lst"));
    (program, through)
}

impl Builder<'_> {
    /// A name for a function that no other has, nor any of the library.
    fn unused(&mut self, name: &str) -> String {
        let mut candidate = name.to_string();
        let mut number = 2;
        while self.signatures.has(&candidate) || !self.names.insert(candidate.clone()) {
            candidate = format!("{name}.{number}");
            number += 1;
        }
        candidate
    }
}
