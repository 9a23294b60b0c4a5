//! The initial state: what locations and registers hold at first, and their types.

use std::collections::HashMap;

use parallax_program::parsing::Descent;
use parallax_program::{BinaryOp, Cell, Diagnostic, Diagnostics, Expr, GlobalId, SourceFile, Span};

use crate::asm::SymbolicUses;
use crate::cursor::Cursor;
use crate::globals::Globals;
use crate::lexer::{Spanned, Token};
use crate::types::ScalarType;

/// A constant of the initial state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitValue {
    Integer(i128),
    /// The address of a location, plus bytes.
    Address(GlobalId, i64),
}

impl InitValue {
    /// Whether a 32-bit location cannot hold it.
    pub fn is_wide(self, pointer_width: u32) -> bool {
        match self {
            InitValue::Integer(value) => !fits(value, 32),
            InitValue::Address(..) => pointer_width > 32,
        }
    }

    /// The value as a constant expression of that width.
    pub fn expr(self, width: u32, pointer_width: u32) -> Expr {
        match self {
            InitValue::Integer(value) => Expr::signed(width, value),
            InitValue::Address(global, offset) => {
                address(global, offset, pointer_width).resize(pointer_width, width)
            }
        }
    }
}

/// Whether the number can be written in so many bits, with or without a sign.
pub fn fits(value: i128, width: u32) -> bool {
    if width >= 128 {
        return true;
    }
    value >= -(1i128 << (width - 1)) && value < (1i128 << width.min(126))
}

/// The address of a location plus an offset.
pub fn address(global: GlobalId, offset: i64, pointer_width: u32) -> Expr {
    let base = Expr::Address(global);
    if offset == 0 {
        return base;
    }
    let offset = Expr::signed(pointer_width, i128::from(offset));
    Expr::binary(BinaryOp::Add, base, offset)
}

/// `0:r1=3`: what a register starts with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegisterInit {
    /// 1 for `P1`.
    pub thread: u32,
    pub name: String,
    pub ty: Option<ScalarType>,
    /// None where only a type is declared.
    pub value: Option<InitValue>,
    pub span: Span,
}

/// The initial state as far as it is known before the code is read.
#[derive(Default)]
pub struct Init {
    pub registers: Vec<RegisterInit>,
    memory: Vec<MemoryInit>,
}

struct MemoryInit {
    global: GlobalId,
    values: Vec<InitValue>,
    span: Span,
}

/// What an entry of the initial state is about.
enum Subject<'a> {
    Memory(&'a str),
    Register(u32, &'a str),
}

/// Reads the initial state. Entries with errors are left out and reported.
pub fn parse(
    source: &SourceFile,
    tokens: &[Spanned<'_>],
    pointer_width: u32,
    symbolic: &SymbolicUses,
    globals: &mut Globals,
    errors: &mut Diagnostics,
) -> Init {
    let mut parser = Parser {
        cursor: Cursor::new(source, tokens),
        pointer_width,
        symbolic,
        globals,
        init: Init::default(),
    };
    // Twice, because `0:X1=t[1]` may come before the declaration of `t`.
    parser.entries();
    parser.cursor = Cursor::new(source, tokens);
    parser.init = Init::default();
    errors.extend(parser.entries());
    let init = parser.init;
    report_conflicts(source, &init, globals, errors);
    init
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    pointer_width: u32,
    symbolic: &'a SymbolicUses,
    globals: &'a mut Globals,
    init: Init,
}

impl<'a> Parser<'a> {
    /// Reads all entries and returns what is wrong with them.
    fn entries(&mut self) -> Diagnostics {
        let mut errors = Diagnostics::new();
        while !self.cursor.is_at_end() {
            if self.cursor.accept(";") {
                continue;
            }
            if let Err(error) = self.entry() {
                errors.push(error);
                self.cursor.skip_past_semicolon();
            }
        }
        errors
    }

    fn entry(&mut self) -> Result<(), Diagnostic> {
        let start = self.cursor.span();
        let (words, stars) = self.type_words();
        let type_span = start.to(self.cursor.previous_span());
        let subject = self.subject()?;
        let span = start.to(self.cursor.previous_span());
        let count = self.array_length()?;
        let ty = self.declared_type(&words, stars, type_span)?;
        match subject {
            Subject::Memory(name) => {
                let global = match ty {
                    Some(ty) => self.globals.declare(name, ty, count),
                    None if count.is_some() => self.globals.declare(name, ScalarType::INT, count),
                    None => self.globals.get(name),
                };
                let values = if self.cursor.accept("=") { self.values(count)? } else { Vec::new() };
                if values.iter().any(|v| v.is_wide(self.pointer_width)) {
                    self.globals.mark_wide(global);
                }
                self.init.memory.push(MemoryInit { global, values, span });
            }
            Subject::Register(thread, name) => {
                let value = if self.cursor.accept("=") { Some(self.value()?) } else { None };
                self.init.registers.push(RegisterInit {
                    thread,
                    name: name.to_string(),
                    ty,
                    value,
                    span,
                });
            }
        }
        match self.cursor.is_at_end() {
            true => Ok(()),
            false => self.cursor.symbol(";"),
        }
    }

    /// The words and stars before the name of a location or register.
    fn type_words(&mut self) -> (Vec<&'a str>, usize) {
        let mut words = Vec::new();
        let mut stars = 0;
        loop {
            if self.cursor.accept("*") {
                stars += 1;
                continue;
            }
            let Token::Name(word) = self.cursor.peek() else {
                return (words, stars);
            };
            let more = match self.cursor.peek_after(1) {
                Token::Name(_) | Token::Number(..) | Token::Percent(_) | Token::Sign("*") => true,
                Token::Sign("[") => {
                    matches!(self.cursor.peek_after(2), Token::Name(_))
                }
                _ => false,
            };
            if !more {
                return (words, stars);
            }
            words.push(word);
            self.cursor.next();
        }
    }

    fn declared_type(
        &self,
        words: &[&str],
        stars: usize,
        span: Span,
    ) -> Result<Option<ScalarType>, Diagnostic> {
        if words.is_empty() && stars == 0 {
            return Ok(None);
        }
        match ScalarType::named(words, stars, self.pointer_width / 8) {
            Some(ty) => Ok(Some(ty)),
            None => {
                let message = format!("unknown type '{}'", words.join(" "));
                Err(self.cursor.error_at(span, message))
            }
        }
    }

    /// `x`, `[x]`, `0:EAX` or `P0:EAX`.
    fn subject(&mut self) -> Result<Subject<'a>, Diagnostic> {
        if self.cursor.accept("[") {
            let name = self.cursor.name("the name of a location")?;
            self.cursor.symbol("]")?;
            return Ok(Subject::Memory(name));
        }
        if let Some((thread, name)) = register(&mut self.cursor, self.symbolic)? {
            return Ok(Subject::Register(thread, name));
        }
        let what = "a location or a register";
        let span = self.cursor.span();
        let name = self.cursor.name(what)?;
        if matches!(self.cursor.peek(), Token::Sign("(" | ":")) {
            let message = format!("'{name}(…)' and tagged locations are not supported here");
            return Err(self.cursor.error_at(span, message));
        }
        Ok(Subject::Memory(name))
    }

    fn array_length(&mut self) -> Result<Option<u64>, Diagnostic> {
        if !self.cursor.accept("[") {
            return Ok(None);
        }
        let span = self.cursor.span();
        let length = self.cursor.unsigned()?;
        self.cursor.symbol("]")?;
        if length == 0 || length > MAX_ARRAY {
            let message = format!("arrays have from 1 to {MAX_ARRAY} elements");
            return Err(self.cursor.error_at(span, message));
        }
        Ok(Some(length))
    }

    fn values(&mut self, count: Option<u64>) -> Result<Vec<InitValue>, Diagnostic> {
        let span = self.cursor.span();
        if !self.cursor.accept("{") {
            if count.is_some() {
                return Err(self.cursor.expected("'{' and the elements of the array"));
            }
            return Ok(vec![self.value()?]);
        }
        let mut values = vec![self.value()?];
        while self.cursor.accept(",") {
            values.push(self.value()?);
        }
        self.cursor.symbol("}")?;
        let declared = count.unwrap_or(1);
        if values.len() as u64 != declared {
            let message = format!("{} values for {declared} elements", values.len());
            return Err(self.cursor.error_at(span, message));
        }
        Ok(values)
    }

    fn value(&mut self) -> Result<InitValue, Diagnostic> {
        if self.cursor.accept_word("ATOMIC_INIT") {
            self.cursor.symbol("(")?;
            let value = self.value_inside()?;
            self.cursor.symbol(")")?;
            return Ok(value);
        }
        self.value_inside()
    }

    fn value_inside(&mut self) -> Result<InitValue, Diagnostic> {
        let is_number = matches!(self.cursor.peek(), Token::Number(..) | Token::Sign("-"));
        if is_number {
            let value = self.cursor.signed_number()?;
            if self.cursor.is_next(":") {
                return Err(self.cursor.expected("';' (labels and tags are no values here)"));
            }
            return Ok(InitValue::Integer(value));
        }
        self.cursor.accept("&");
        let name = self.cursor.name("a number or the name of a location")?;
        if matches!(self.cursor.peek(), Token::Sign("(" | ":")) {
            return Err(self.cursor.expected("';' (this kind of value is not supported)"));
        }
        let global = self.globals.get(name);
        let offset = address_offset(&mut self.cursor, self.globals, global)?;
        Ok(InitValue::Address(global, offset))
    }
}

/// Elements of the longest array.
const MAX_ARRAY: u64 = 65536;

/// `0:EAX`, `P0:EAX`, `0:%rax` or the symbolic register `%y`, if one comes next.
pub fn register<'a>(
    cursor: &mut Cursor<'a>,
    symbolic: &SymbolicUses,
) -> Result<Option<(u32, &'a str)>, Diagnostic> {
    if let Token::Percent(name) = cursor.peek() {
        let owner = symbolic.owner(name.trim_start_matches('%'));
        let thread = owner.map_err(|message| cursor.error_at(cursor.span(), message))?;
        cursor.next();
        return Ok(Some((thread, name)));
    }
    if cursor.peek_after(1) != Token::Sign(":") {
        return Ok(None);
    }
    let thread = match cursor.peek() {
        Token::Number(_, value) => u32::try_from(value).ok(),
        Token::Name(name) => {
            let Some(number) = name.strip_prefix('P') else {
                return Ok(None);
            };
            number.parse().ok()
        }
        _ => return Ok(None),
    };
    let Some(thread) = thread else {
        return Err(cursor.expected("the number of a thread"));
    };
    cursor.next();
    cursor.next();
    match cursor.peek() {
        Token::Name(name) | Token::Percent(name) => {
            cursor.next();
            Ok(Some((thread, name)))
        }
        _ => Err(cursor.expected("the name of a register")),
    }
}

/// What follows the name of a location in an address: `+4`, `[1]` or nothing. In bytes.
pub fn address_offset(
    cursor: &mut Cursor<'_>,
    globals: &Globals,
    global: GlobalId,
) -> Result<i64, Diagnostic> {
    let span = cursor.span();
    let too_big = |cursor: &Cursor<'_>| cursor.error_at(span, "this offset is too big");
    if cursor.accept("+") {
        let offset = cursor.signed_number()?;
        return i64::try_from(offset).map_err(|_| too_big(cursor));
    }
    if cursor.accept("[") {
        let index = cursor.unsigned()?;
        cursor.symbol("]")?;
        let bytes = u64::from(globals.observed(global).bytes);
        let offset = index.checked_mul(bytes).and_then(|n| i64::try_from(n).ok());
        return offset.ok_or_else(|| too_big(cursor));
    }
    Ok(0)
}

/// Reports locations and registers that are given two different values.
fn report_conflicts(source: &SourceFile, init: &Init, globals: &Globals, errors: &mut Diagnostics) {
    let mut memory: HashMap<GlobalId, &[InitValue]> = HashMap::new();
    for entry in init.memory.iter().filter(|entry| !entry.values.is_empty()) {
        let before = memory.insert(entry.global, &entry.values);
        if before.is_some_and(|before| before != entry.values) {
            let name = globals.list.get(entry.global.0 as usize).map_or("", |g| &g.name);
            let message = format!("'{name}' is given a second, different value");
            errors.push(source.error(entry.span, message));
        }
    }
    let mut registers: HashMap<(u32, &str), InitValue> = HashMap::new();
    for entry in &init.registers {
        let Some(value) = entry.value else { continue };
        let before = registers.insert((entry.thread, &entry.name), value);
        if before.is_some_and(|before| before != value) {
            let message =
                format!("'{}:{}' is given a second, different value", entry.thread, entry.name);
            errors.push(source.error(entry.span, message));
        }
    }
}

impl Init {
    /// Puts the values into the locations, once all types are known.
    pub fn fill(
        &self,
        source: &SourceFile,
        globals: &mut Globals,
        pointer_width: u32,
        errors: &mut Diagnostics,
    ) {
        for entry in &self.memory {
            let declared = globals.declared(entry.global);
            let mut offset = 0;
            let mut cells = Vec::new();
            for value in &entry.values {
                let width = cell_width(declared, *value, pointer_width);
                let too_big = matches!(value, InitValue::Integer(n) if !fits(*n, width));
                if too_big {
                    let message = format!("this value does not fit into {} bytes", width / 8);
                    errors.push(source.error(entry.span, message));
                    continue;
                }
                cells.push(Cell { offset, width, value: value.expr(width, pointer_width) });
                offset += u64::from(width / 8);
            }
            if let Some(global) = globals.list.get_mut(entry.global.0 as usize) {
                if !cells.is_empty() {
                    global.init = cells;
                }
                global.size = global.size.max(offset);
            }
        }
    }
}

/// How much of a location an initial value fills: all of it, where the type is known.
fn cell_width(declared: Option<ScalarType>, value: InitValue, pointer_width: u32) -> u32 {
    match (declared, value) {
        (Some(ty), InitValue::Integer(_)) => ty.bytes * 8,
        (Some(ty), InitValue::Address(..)) => (ty.bytes * 8).max(pointer_width),
        (None, InitValue::Integer(_)) => Globals::DEFAULT_SIZE as u32 * 8,
        (None, InitValue::Address(..)) => pointer_width,
    }
}
