//! From columns of instructions to functions.

use std::collections::HashMap;

use parallax_program::{Diagnostics, Expr, Function, FunctionBuilder, SourceFile, Span};

use super::{AsmLine, Isa, Register, SymbolicRegisters, ThreadBuilder};
use crate::MAX_ERRORS;
use crate::globals::Globals;
use crate::init::{RegisterInit, fits};
use crate::table::Column;
use crate::threads::{RegisterError, RegisterView};
use crate::types::ScalarType;

/// The threads of an assembly test, open for the registers that the condition asks for.
pub(crate) struct AsmThreads {
    isa: &'static dyn Isa,
    /// Thread numbers and functions, in the order of the numbers.
    threads: Vec<(u32, FunctionBuilder)>,
    /// Declared types of registers, by thread number and whole register.
    types: HashMap<(u32, &'static str), ScalarType>,
}

/// The parts of an assembly test that its threads are made of.
pub(crate) struct AsmTest<'a> {
    pub isa: &'static dyn Isa,
    pub source: &'a SourceFile,
    pub columns: &'a [Column<'a>],
    pub registers: &'a [RegisterInit],
    pub symbolic: SymbolicRegisters,
}

/// Lowers every instruction of every column. All errors are reported, up to a limit.
pub(crate) fn lower_threads(
    test: &AsmTest<'_>,
    globals: &mut Globals,
    errors: &mut Diagnostics,
) -> AsmThreads {
    let AsmTest { isa, source, columns, registers, .. } = *test;
    let mut threads = Vec::new();
    for column in columns {
        let mut thread = ThreadBuilder {
            function: FunctionBuilder::new(&format!("P{}", column.number)),
            number: column.number,
            globals,
            source,
        };
        let inits = registers.iter().filter(|r| r.thread == column.number);
        for init in inits {
            initialise(isa, &mut thread, init, errors);
        }
        for line in &column.lines {
            if errors.len() >= MAX_ERRORS {
                break;
            }
            lower_line(test, &mut thread, *line, errors);
        }
        for (label, span) in thread.function.missing_labels() {
            errors.push(source.error(span, format!("there is no label '{label}'")));
        }
        threads.push((column.number, thread.function));
    }
    AsmThreads { isa, threads, types: register_types(isa, source, columns, registers, errors) }
}

fn register_types(
    isa: &dyn Isa,
    source: &SourceFile,
    columns: &[Column<'_>],
    registers: &[RegisterInit],
    errors: &mut Diagnostics,
) -> HashMap<(u32, &'static str), ScalarType> {
    let mut types = HashMap::new();
    for init in registers {
        if !columns.iter().any(|column| column.number == init.thread) {
            let message = format!("there is no thread P{}", init.thread);
            errors.push(source.error(init.span, message));
        }
        if let (Some(register), Some(ty)) = (isa.register(&init.name), init.ty) {
            types.insert((init.thread, register.whole), ty);
        }
    }
    types
}

/// Gives a register its initial value.
fn initialise(
    isa: &dyn Isa,
    thread: &mut ThreadBuilder<'_>,
    init: &RegisterInit,
    errors: &mut Diagnostics,
) {
    let Some(register) = isa.register(&init.name) else {
        let message = format!("unknown register '{}'", init.name);
        errors.push(thread.source.error(init.span, message));
        return;
    };
    let Some(value) = init.value else { return };
    if let crate::init::InitValue::Integer(number) = value
        && !fits(number, register.width)
    {
        let message = format!("{number} does not fit into '{}'", init.name);
        errors.push(thread.source.error(init.span, message));
        return;
    }
    thread.function.at(init.span);
    let value = value.expr(register.width, isa.pointer_width());
    let value = widened(value, &register);
    let var = thread.register_var(&register);
    thread.function.assign(var, value);
}

/// A part's value as the value of the whole register; the other bits are zero.
fn widened(value: Expr, register: &Register) -> Expr {
    let value =
        if register.low == 0 { value } else { value.concat(Expr::constant(register.low, 0)) };
    value.resize(register.low + register.width, register.whole_width)
}

fn lower_line(
    test: &AsmTest<'_>,
    thread: &mut ThreadBuilder<'_>,
    line: AsmLine<'_>,
    errors: &mut Diagnostics,
) {
    let mut line = line;
    while let Some((label, rest)) = split_label(line) {
        thread.function.at(line.span);
        if !thread.function.place_label(label) {
            let message = format!("the label '{label}' is here for the second time");
            errors.push(thread.error_at(line, label, message));
        }
        line = rest;
    }
    if line.text.is_empty() {
        return;
    }
    thread.function.at(line.span);
    let rewritten = test.symbolic.rewrite(test.isa, thread.number, line.text);
    let lowered = match &rewritten {
        None => test.isa.lower(line, thread),
        // Parts of a rewritten line have no place of their own in the source.
        Some(text) => test
            .isa
            .lower(AsmLine { text, ..line }, thread)
            .map_err(|error| thread.source.error(line.span, error.message)),
    };
    errors.extend(lowered.err());
}

/// The label at the start of a cell, and what follows its colon.
fn split_label(line: AsmLine<'_>) -> Option<(&str, AsmLine<'_>)> {
    let (label, rest) = line.text.split_once(':')?;
    let label = label.trim_end();
    let mut letters = label.chars();
    let starts =
        letters.next().is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '.' | '$'));
    let goes_on = letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-'));
    if !starts || !goes_on {
        return None;
    }
    let trimmed = rest.trim_start();
    let start = line.span.end as usize - trimmed.len();
    let rest = AsmLine { text: trimmed, span: Span::new(start, line.span.end as usize) };
    Some((label, rest))
}

impl AsmThreads {
    /// What the condition calls `number:name`.
    pub(crate) fn register(
        &mut self,
        number: u32,
        name: &str,
    ) -> Result<RegisterView, RegisterError> {
        let index = self.threads.iter().position(|thread| thread.0 == number);
        let Some((index, (_, function))) = index.zip(self.threads.get_mut(index.unwrap_or(0)))
        else {
            return Err(RegisterError::NoThread);
        };
        let register = self.isa.register(name).ok_or(RegisterError::NoRegister)?;
        if register.low != 0 {
            return Err(RegisterError::NotAtBottom);
        }
        let ty = self.types.get(&(number, register.whole)).copied();
        let width = ty.map_or(register.width, |ty| (ty.bytes * 8).min(register.width));
        Ok(RegisterView {
            thread: index as u32,
            var: function.var(register.whole, register.whole_width),
            width,
            signed: ty.is_none_or(|ty| ty.signed),
            typed: ty.is_some(),
        })
    }

    pub(crate) fn finish(self) -> Vec<(u32, Function)> {
        let threads = self.threads.into_iter();
        threads.map(|(number, f)| (number, f.finish())).collect()
    }
}
