//! Litmus tests in herd7's format, lowered to [`parallax_program::Program`]s.
//!
//! A test is cut into sections (header, initial state, code, condition), each section is read
//! on its own, and names are resolved last: the order in which herd7 reads them too. The
//! format is described in the herd7 manual (Alglave, Maranget, "herd7 consistency model
//! simulator", <https://diy.inria.fr/doc/litmus.html>).

pub mod asm;
pub mod c;
mod condition;
mod cursor;
mod files;
mod globals;
mod init;
mod lexer;
mod question;
mod render;
mod sections;
mod table;
mod threads;
mod types;

pub use files::collect;
pub use globals::Globals;
pub use init::{InitValue, RegisterInit};
pub use types::ScalarType;

use parallax_program::{Diagnostics, InstKind, Program, Question, SourceFile, Span, Tags};

/// Errors reported for one file; what comes after is rarely news.
pub(crate) const MAX_ERRORS: usize = 50;

/// The languages that litmus tests are written in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arch {
    X86,
    X86_64,
    AArch64,
    Arm,
    Ppc,
    RiscV,
    /// C11.
    C,
    /// C with the Linux kernel's primitives.
    Lkmm,
}

impl Arch {
    /// What the first word of a test may be.
    pub(crate) const NAMES: &str = "X86, X86_64, AArch64, ARM, PPC, RISCV, C";

    fn named(word: &str) -> Option<Arch> {
        Some(match word.to_ascii_lowercase().as_str() {
            "x86" => Arch::X86,
            "x86_64" => Arch::X86_64,
            "aarch64" => Arch::AArch64,
            "arm" => Arch::Arm,
            "ppc" => Arch::Ppc,
            "riscv" | "risc-v" => Arch::RiscV,
            "c" => Arch::C,
            _ => return None,
        })
    }
}

/// A litmus test, ready to run.
#[derive(Clone, Debug)]
pub struct LitmusTest {
    pub name: String,
    pub arch: Arch,
    /// `Key=value` lines of the header, in order.
    pub metadata: Vec<(String, String)>,
    /// The quoted line of the header.
    pub doc: Option<String>,
    pub program: Program,
    pub question: Question,
    /// Where in the text the threads are.
    pub code: Span,
}

impl LitmusTest {
    /// Lets store exclusives of AArch64 succeed at another address than that of their load: the
    /// manual (DDI 0487, B2.9.5) leaves open whether they do.
    pub fn allow_unpredictable(&mut self) {
        if self.arch != Arch::AArch64 {
            return;
        }
        let blocks = self.program.functions.iter_mut().flat_map(|function| &mut function.blocks);
        for inst in blocks.flat_map(|block| &mut block.insts) {
            if let InstKind::StoreConditional { tags, .. } = &mut inst.kind {
                *tags = tags.with([Tags::ANY_ADDRESS]);
            }
        }
    }
}

/// Reads a test. `name` is what errors call the file.
pub fn parse(name: &str, text: &str) -> Result<LitmusTest, Diagnostics> {
    let source = SourceFile::new(name, text);
    let sections = sections::split(&source).map_err(|error| vec![error])?;
    let mut reader = Reader::new(&source, &sections);
    let columns = reader.columns();
    let symbolic = reader.symbolic_uses(columns.as_deref());
    let mut init = reader.init(&symbolic);
    let mut condition = reader.condition(&symbolic);
    let threads = match columns {
        Some(columns) => reader.asm_threads(&columns, &symbolic, &mut init, condition.as_mut()),
        None => reader.c_threads(&init),
    };
    let (Some(mut threads), Some(condition)) = (threads, condition) else {
        return Err(reader.into_errors());
    };
    let question = question::resolve(
        &source,
        &condition,
        &mut threads,
        &mut reader.globals,
        reader.pointer_width,
        &mut reader.errors,
    );
    init.fill(&source, &mut reader.globals, reader.pointer_width, &mut reader.errors);
    if !reader.errors.is_empty() {
        return Err(reader.into_errors());
    }
    let mut program = Program::new(&sections.name, reader.pointer_width, source.clone());
    program.globals = reader.globals.list;
    threads.finish(&mut program);
    let arch = reader.arch;
    Ok(LitmusTest {
        name: sections.name,
        arch,
        metadata: sections.metadata,
        doc: sections.doc,
        program,
        question,
        code: sections.code,
    })
}

/// Reads the sections of one test and collects what is wrong with them.
struct Reader<'a> {
    source: &'a SourceFile,
    sections: &'a sections::Sections,
    arch: Arch,
    pointer_width: u32,
    globals: Globals,
    errors: Diagnostics,
}

impl<'a> Reader<'a> {
    fn new(source: &'a SourceFile, sections: &'a sections::Sections) -> Reader<'a> {
        let mut arch = sections.arch;
        if arch == Arch::C && c::is_kernel(sections.code_text(source)) {
            arch = Arch::Lkmm;
        }
        Reader {
            source,
            sections,
            arch,
            pointer_width: asm::isa(arch).map_or(64, |isa| isa.pointer_width()),
            globals: Globals::default(),
            errors: Vec::new(),
        }
    }

    fn init(&mut self, symbolic: &asm::SymbolicUses) -> init::Init {
        let section = self.sections.init;
        match lexer::tokens(self.source, &self.sections.text, section) {
            Ok(tokens) => init::parse(
                self.source,
                &tokens,
                self.pointer_width,
                symbolic,
                &mut self.globals,
                &mut self.errors,
            ),
            Err(error) => {
                self.errors.push(error);
                init::Init::default()
            }
        }
    }

    /// The columns of an assembly test; none for C, or where the table is broken.
    fn columns(&mut self) -> Option<Vec<table::Column<'a>>> {
        asm::isa(self.arch)?;
        let columns = table::parse(self.source, &self.sections.text, self.sections.code);
        self.keep(columns)
    }

    fn symbolic_uses(&self, columns: Option<&[table::Column<'_>]>) -> asm::SymbolicUses {
        let isa = asm::isa(self.arch).zip(columns);
        isa.map_or_else(Default::default, |(isa, columns)| asm::SymbolicUses::find(isa, columns))
    }

    fn asm_threads(
        &mut self,
        columns: &[table::Column<'a>],
        uses: &asm::SymbolicUses,
        init: &mut init::Init,
        condition: Option<&mut condition::Condition>,
    ) -> Option<threads::Threads> {
        let isa = asm::isa(self.arch)?;
        let symbolic = asm::SymbolicRegisters::allocate(isa, columns, uses, init, condition);
        let symbolic = symbolic.map_err(|full| {
            let message = format!("P{} has no registers left for symbolic ones", full.thread);
            vec![self.source.error(self.sections.code, message)]
        });
        let test = asm::AsmTest {
            isa,
            source: self.source,
            columns,
            registers: &init.registers,
            symbolic: self.keep(symbolic)?,
        };
        let threads = asm::lower_threads(&test, &mut self.globals, &mut self.errors);
        Some(threads::Threads::Asm(threads))
    }

    fn c_threads(&mut self, init: &init::Init) -> Option<threads::Threads> {
        if asm::isa(self.arch).is_some() {
            return None;
        }
        let mut context = c::CContext {
            source: self.source,
            functions: self.sections.code,
            globals: &mut self.globals,
            registers: &init.registers,
            kernel: self.arch == Arch::Lkmm,
        };
        let threads = c::parse_threads(&mut context);
        self.keep(threads).map(threads::Threads::C)
    }

    fn condition(&mut self, symbolic: &asm::SymbolicUses) -> Option<condition::Condition> {
        let section = self.sections.condition;
        let tokens = lexer::tokens(self.source, &self.sections.text, section);
        let tokens = self.keep(tokens.map_err(|error| vec![error]))?;
        let condition = condition::parse(self.source, &tokens, symbolic);
        self.keep(condition.map_err(|error| vec![error]))
    }

    /// The good part of a result; the bad part joins the errors.
    fn keep<T>(&mut self, result: Result<T, Diagnostics>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(errors) => {
                self.errors.extend(errors);
                None
            }
        }
    }

    /// The errors in source order, no more than a person will read.
    fn into_errors(mut self) -> Diagnostics {
        self.errors.sort_by_key(|error| {
            let location = error.location.as_ref();
            location.map(|location| (location.line, location.column))
        });
        self.errors.truncate(MAX_ERRORS);
        self.errors
    }
}
