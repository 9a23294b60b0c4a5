//! From assembly code to operation structures, as text.
//!
//! A file has a line `isa NAME`, lines `loc` and `reg` as operation structures have them, and
//! threads: `thread NAME:` and then instructions, one a line, with labels. Lines `assume` and
//! `assert` have conditions on registers and locations. The patterns are those of P. Maleehuan's
//! dissertation, chapter 3, with flags as the machines set them.

mod arm;
mod line;
mod power;
mod properties;
mod sparc;
mod x86;

use std::collections::{HashMap, HashSet};

use parallax_program::{Diagnostic, Diagnostics, SourceFile, Span};

use crate::MOST_ERRORS;
use crate::isa::Isa;
use line::{Line, Operand};

/// Operation structures that do what the code does, with each instruction beside its own.
pub fn translate(name: &str, text: &str) -> Result<String, Diagnostics> {
    let source = SourceFile::new(name, text);
    // A first pass finds out which flags are ever read; the second sets no others.
    let first = run(&source, None)?;
    let output = run(&source, Some(first.flags_read))?.output;
    crate::parse(name, &output)?;
    Ok(output)
}

fn run<'a>(
    source: &'a SourceFile,
    wanted: Option<HashSet<String>>,
) -> Result<Translator<'a>, Diagnostics> {
    let mut translator = Translator::new(source, wanted);
    let mut start = 0;
    for line in source.text().split_inclusive('\n') {
        let span = Span::new(start, start + line.len());
        start += line.len();
        if translator.errors.len() >= MOST_ERRORS {
            break;
        }
        let done = translator.line(line, span);
        translator.errors.extend(done.err());
    }
    let end = Span::new(start, start);
    let done = translator.end_thread(end);
    translator.errors.extend(done.err());
    if translator.errors.is_empty() && !translator.has_thread {
        translator.errors.push(source.error(end, "there is no thread in this file"));
    }
    match translator.errors.is_empty() {
        true => Ok(translator),
        false => Err(translator.errors),
    }
}

struct Translator<'a> {
    source: &'a SourceFile,
    isa: Option<Isa>,
    /// Names of locations, without brackets.
    locations: HashSet<String>,
    registers: HashSet<String>,
    /// Flags that are to be set; all, if it is not known which are read.
    flags_wanted: Option<HashSet<String>>,
    flags_read: HashSet<String>,
    output: String,
    /// The elements of the open thread, and their comments.
    elements: Vec<(String, String)>,
    /// Whether only comments came so far; these are kept.
    is_header: bool,
    has_thread: bool,
    is_open: bool,
    /// Labels of the open thread, and where control may go.
    labels: HashSet<String>,
    /// How often each label that is a number was there.
    local: HashMap<String, u32>,
    jumps: Vec<(String, Span)>,
    /// A delayed branch that waits for the instruction after it.
    delayed: Option<sparc::Delayed>,
    errors: Diagnostics,
}

type Done = Result<(), Diagnostic>;

impl<'a> Translator<'a> {
    fn new(source: &'a SourceFile, flags_wanted: Option<HashSet<String>>) -> Translator<'a> {
        Translator {
            source,
            isa: None,
            locations: HashSet::new(),
            registers: HashSet::new(),
            flags_wanted,
            flags_read: HashSet::new(),
            output: String::new(),
            elements: Vec::new(),
            is_header: true,
            has_thread: false,
            is_open: false,
            labels: HashSet::new(),
            local: HashMap::new(),
            jumps: Vec::new(),
            delayed: None,
            errors: Vec::new(),
        }
    }

    fn line(&mut self, text: &'a str, span: Span) -> Done {
        if self.is_header {
            self.is_header = text.starts_with("//");
            self.output.push_str(if self.is_header { text } else { "" });
        }
        let mut line = Line::new(self.source, text, span, self.isa);
        while let Some((label, rest)) = line.label() {
            if self.delayed.is_some() {
                return Err(line.error("the instruction after a delayed branch has no label"));
            }
            self.open(&line)?;
            let label = self.defined(label);
            if !self.labels.insert(label.clone()) {
                let message = format!("the label '{label}' is here for the second time");
                return Err(line.error(message));
            }
            self.push(format!("label({label})"), "");
            line = rest;
        }
        match line.mnemonic {
            "" => Ok(()),
            "isa" | "loc" | "reg" | "thread" => self.directive(&line),
            "assume" | "assert" => {
                self.open(&line)?;
                if self.delayed.is_some() {
                    return Err(line.error("a delayed branch needs an instruction after it"));
                }
                self.property(&line)
            }
            _ => {
                self.open(&line)?;
                self.instruction(&line)
            }
        }
    }

    fn open(&self, line: &Line<'_>) -> Done {
        match self.is_open {
            true => Ok(()),
            false => Err(line.error("this is outside of all threads").with_help("thread NAME:")),
        }
    }

    fn directive(&mut self, line: &Line<'a>) -> Done {
        if line.mnemonic == "thread" {
            self.end_thread(line.span)?;
            let name = line.rest.strip_suffix(':').unwrap_or(line.rest).trim();
            if !is_word(name) {
                return Err(line.error("expected 'thread NAME:'"));
            }
            self.output.push_str(&format!("\nthread {name} {{\n"));
            self.is_open = true;
            self.has_thread = true;
            return Ok(());
        }
        if self.has_thread {
            return Err(line.error(format!("'{}' comes before all threads", line.mnemonic)));
        }
        match line.mnemonic {
            "isa" => {
                let known = Isa::named(line.rest);
                self.isa = Some(known.ok_or_else(|| {
                    let names = Isa::ALL.map(Isa::name).join(", ");
                    let message = format!("there is no instruction set '{}'", line.rest);
                    line.error(message).with_help(format!("instruction sets are {names}"))
                })?);
            }
            "loc" => {
                for item in line.rest.split(',') {
                    let name = item.split('=').next().unwrap_or("").trim();
                    let inner = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
                    let inner =
                        inner.ok_or_else(|| line.error("expected 'loc [NAME] = VALUE, …'"))?;
                    self.locations.insert(line::location(inner.trim()));
                }
            }
            _ => {
                for item in line.rest.split(',') {
                    let name = item.split('=').next().unwrap_or("").trim();
                    self.registers.insert(name.to_string());
                }
            }
        }
        // What is written here is read again as part of the whole, and judged there.
        let whole = format!("{} {};\n", line.mnemonic, line.rest);
        let judged = crate::parse(self.source.name(), &format!("{whole}thread P {{ }}"));
        if let Some(error) = judged.err().and_then(|errors| errors.into_iter().next()) {
            return Err(line.error(error.message));
        }
        self.output.push_str(&whole);
        Ok(())
    }

    fn instruction(&mut self, line: &Line<'a>) -> Done {
        match self.isa {
            Some(Isa::Arm) => self.arm(line),
            Some(Isa::Sparc) => self.sparc(line),
            Some(Isa::Power) => self.power(line),
            Some(Isa::X86) => self.x86(line),
            None => {
                let names = Isa::ALL.map(Isa::name).join(", ");
                let error = line.error("which instruction set is this?");
                Err(error.with_help(format!("start the file with 'isa' and one of {names}")))
            }
        }
    }

    /// The operations that set flags, each to the value of an expression; none for flags that
    /// nothing reads. They come after a semicolon.
    fn set_flags(&self, flags: &[(&str, String)]) -> String {
        let is_wanted =
            |flag: &str| self.flags_wanted.as_ref().is_none_or(|all| all.contains(flag));
        let set: Vec<_> = flags.iter().filter(|(flag, _)| is_wanted(flag)).collect();
        let values: Vec<String> =
            set.iter().map(|(flag, value)| format!("val_{flag} := {value}")).collect();
        let writes: Vec<String> =
            set.iter().map(|(flag, _)| format!("{flag} := val_{flag}")).collect();
        match set.len() {
            0 => String::new(),
            1 => format!("; {}; {}", values.join(""), writes.join("")),
            _ => format!("; ({}); ({})", values.join(" || "), writes.join(" || ")),
        }
    }

    /// The operations that read flags.
    fn read_flags(&mut self, flags: &[&str]) -> String {
        self.flags_read.extend(flags.iter().map(|flag| flag.to_string()));
        let reads: Vec<String> = flags.iter().map(|flag| format!("val_{flag} := {flag}")).collect();
        match flags.len() {
            1 => reads.join(""),
            _ => format!("({})", reads.join(" || ")),
        }
    }

    /// Adds an instruction.
    fn instr(&mut self, body: impl AsRef<str>, comment: &str) {
        self.push(format!("instr{{ {} }}", body.as_ref()), comment);
    }

    fn push(&mut self, element: String, comment: &str) {
        self.elements.push((element, comment.to_string()));
    }

    fn end_thread(&mut self, span: Span) -> Done {
        if self.delayed.take().is_some() {
            let message = "the thread ends with a delayed branch: an instruction has to follow";
            return Err(self.source.error(span, message));
        }
        let labels = std::mem::take(&mut self.labels);
        self.local.clear();
        for (label, span) in std::mem::take(&mut self.jumps) {
            if !labels.contains(&label) {
                let wanted = in_source(&label);
                let message = format!("there is no label '{wanted}' in this thread");
                self.errors.push(self.source.error(span, message));
            }
        }
        let elements = std::mem::take(&mut self.elements);
        let count = elements.len();
        for (number, (element, comment)) in elements.into_iter().enumerate() {
            let end = if number + 1 < count { ";" } else { "" };
            let comment = match comment.is_empty() {
                true => String::new(),
                false => format!("  // {comment}"),
            };
            self.output.push_str(&format!("  {element}{end}{comment}\n"));
        }
        if self.is_open {
            self.output.push_str("}\n");
        }
        self.is_open = false;
        Ok(())
    }

    /// The label that an instruction may go to.
    fn target(&mut self, line: &Line<'_>, label: &str) -> Result<String, Diagnostic> {
        if !is_label(label) {
            return Err(line.error(format!("expected a label, found '{label}'")));
        }
        let label = self.meant(label);
        self.jumps.push((label.clone(), line.span));
        Ok(label)
    }

    /// The name of a label that stands here. Numbers may stand several times in a thread, as local
    /// labels of assemblers do.
    fn defined(&mut self, label: &str) -> String {
        if !is_number(label) {
            return label.to_string();
        }
        let times = self.local.entry(label.to_string()).or_insert(0);
        *times += 1;
        local_label(label, *times)
    }

    /// The name of the label that an instruction means: `1b` is the last 1 before it, `1f` the
    /// next one after it.
    fn meant(&self, label: &str) -> String {
        let times = |number: &str| self.local.get(number).copied().unwrap_or(0);
        let is_local = |number: &&str| is_number(number);
        match (label.strip_suffix('b').filter(is_local), label.strip_suffix('f').filter(is_local)) {
            (Some(number), _) => local_label(number, times(number)),
            (_, Some(number)) => local_label(number, times(number).saturating_add(1)),
            _ => label.to_string(),
        }
    }

    fn is_register(&self, name: &str) -> bool {
        self.registers.contains(name) || self.isa.is_some_and(|isa| isa.has_register(name))
    }

    /// A register, as the structures name it.
    fn register(&self, line: &Line<'_>, text: &str) -> Result<String, Diagnostic> {
        let name = text.strip_prefix('%').unwrap_or(text).to_ascii_lowercase();
        match self.is_register(&name) {
            true => Ok(name),
            false => Err(line.error(format!("expected a register, found '{text}'"))),
        }
    }

    fn number(&self, text: &str) -> Option<u32> {
        let digits = text.strip_prefix('#').unwrap_or(text);
        match digits.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => digits.parse().ok().filter(|_| !digits.starts_with('+')),
        }
    }

    /// A register or a number.
    fn operand(&self, line: &Line<'_>, text: &str) -> Result<Operand, Diagnostic> {
        match self.number(text) {
            Some(number) => Ok(Operand::Number(number)),
            None => Ok(Operand::Register(self.register(line, text)?)),
        }
    }

    /// What an address is: a location, or a register that holds its number. The first part is
    /// what has to be done beforehand.
    fn address(&self, line: &Line<'_>, text: &str) -> Result<(String, String), Diagnostic> {
        let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let inner = inner.or_else(|| text.strip_prefix('(').and_then(|t| t.strip_suffix(')')));
        let inner = inner.unwrap_or(text).trim();
        let name = line::location(inner);
        if self.locations.contains(&name) {
            return Ok((String::new(), format!("[{name}]")));
        }
        match self.register(line, inner) {
            Ok(register) => Ok((format!("addr := {register}; "), "[*addr]".to_string())),
            Err(_) => {
                let message = format!("'{inner}' is no location and no register");
                Err(line.error(message).with_help(format!("declare it: loc [{inner}]")))
            }
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// The name of a number that is a label for so many times.
fn local_label(number: &str, times: u32) -> String {
    match times {
        1 => number.to_string(),
        _ => format!("local_{number}_{times}"),
    }
}

/// As [`local_label`] had it.
fn in_source(label: &str) -> &str {
    let local = label.strip_prefix("local_").and_then(|rest| rest.split_once('_'));
    local.map_or(label, |(number, _)| number)
}

fn is_label(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
}

fn is_word(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
}
