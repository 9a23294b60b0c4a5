//! From text to programs: the lines outside functions, function frames, and recovery. After
//! an error the parser goes on with the next line, so that one run finds several.
//!
//! Globals, functions and labels may be used before they are defined: a scan for the lines
//! that define them gives them their numbers first.

use std::borrow::Cow;

use super::cursor::{Names, Parsed, Parser, Scope, name_of};
use super::lexer::{Spanned, Token, tokens};
use crate::parsing::{Descent, Tokens};
use crate::{
    Block, BlockId, Cell, Diagnostic, Diagnostics, Expr, Function, FunctionId, Global, GlobalId,
    Program, SourceFile, Span, Terminator, ThreadStart, Var, VarId,
};

/// Reads a program and checks it. `name` is what errors call the text.
pub fn parse_program(name: &str, text: &str) -> Result<Program, Diagnostics> {
    let source = SourceFile::new(name, text);
    let mut errors = Vec::new();
    let tokens = tokens(&source, &mut errors);
    let mut parser = Parser {
        source: &source,
        tokens: Tokens::new(&tokens),
        errors,
        names: Names::default(),
        scope: Scope::default(),
    };
    parser.find_definitions();
    let program = parser.program();
    let mut errors = parser.errors;
    if errors.is_empty() {
        program.check()?;
        return Ok(program);
    }
    errors.sort_by_key(|error| error.location.as_ref().map(|l| (l.line, l.column)));
    Err(errors)
}

impl<'a> Parser<'a> {
    fn defined_twice(&self, span: Span, what: &str, name: &str) -> Diagnostic {
        self.error_at(span, format!("{what} '{name}' is defined twice"))
    }

    /// Numbers the globals and functions.
    fn find_definitions(&mut self) {
        let mut line_start = true;
        let tokens = self.tokens.all();
        for (at, spanned) in tokens.iter().enumerate() {
            if let (true, Token::Word(word)) = (line_start, spanned.token) {
                self.definition(word, tokens.get(at + 1));
            }
            line_start = spanned.token == Token::Newline;
        }
    }

    fn definition(&mut self, word: &str, name: Option<&Spanned<'_>>) {
        let Some(Spanned { token, span }) = name else { return };
        let Some(name) = name_of(*token) else { return };
        let before = match word {
            "global" => {
                let id = GlobalId(self.names.globals.len() as u32);
                self.names.globals.insert(name.to_string(), id).is_some()
            }
            "fn" => {
                let id = FunctionId(self.names.functions.len() as u32);
                self.names.functions.insert(name.to_string(), id).is_some()
            }
            _ => false,
        };
        if before {
            let what = if word == "fn" { "function" } else { "global" };
            let error = self.defined_twice(*span, what, &name);
            self.errors.push(error);
        }
    }

    fn program(&mut self) -> Program {
        let (name, pointer_width, daemons) = match self.header() {
            Ok(header) => header,
            Err(error) => {
                self.errors.push(error);
                self.skip_line();
                (String::new(), 64, false)
            }
        };
        self.names.pointer_width = pointer_width;
        let mut program = Program::new(&name, pointer_width, self.source.clone());
        program.daemons = daemons;
        while !self.gives_up() {
            let line = self.top_level(&mut program);
            self.recover(line);
        }
        program
    }

    fn header(&mut self) -> Parsed<(String, u32, bool)> {
        self.keyword("program")?;
        let name = self.name("the name of the program")?;
        self.keyword("pointers")?;
        let span = self.span();
        let width = self.number("32 or 64")?;
        if !matches!(width, 32 | 64) {
            return Err(self.error_at(span, "pointers are 32 or 64 bits wide"));
        }
        let daemons = self.accept_word("daemons");
        self.end_of_line()?;
        Ok((name.to_string(), width, daemons))
    }

    fn top_level(&mut self, program: &mut Program) -> Parsed<()> {
        if self.accept_word("registers") {
            self.scope = Scope::default();
            self.separated(Parser::declaration)?;
            self.names.registers = std::mem::take(&mut self.scope.declared);
            program.registers = self.names.registers.clone();
        } else if self.accept_word("global") {
            program.globals.push(self.global()?);
        } else if self.accept_word("fn") {
            program.functions.push(self.function()?);
        } else if self.accept_word("thread") {
            program.threads.push(self.thread()?);
        } else {
            return Err(self.expected("'global', 'fn', 'thread' or 'registers'"));
        }
        Ok(())
    }

    fn global(&mut self) -> Parsed<Global> {
        let name = self.name("the name of a global")?.to_string();
        self.symbol(":")?;
        let size: u64 = self.number("a size in bytes")?;
        let align = match self.accept_word("align") {
            true => self.number("an alignment")?,
            false => natural_alignment(size),
        };
        let address = self.address()?;
        let constant = self.accept_word("constant");
        let init = match self.accept("=") {
            true => self.cells()?,
            false => Vec::new(),
        };
        Ok(Global { name, size, align, init, shape: None, constant, address })
    }

    /// `at 0x401000`, if it is there.
    fn address(&mut self) -> Parsed<Option<u64>> {
        self.accept_word("at").then(|| self.number("an address")).transpose()
    }

    /// `{ 0: 1:32, 4: &x }`, over as many lines as wanted.
    fn cells(&mut self) -> Parsed<Vec<Cell>> {
        self.symbol("{")?;
        let mut cells = Vec::new();
        loop {
            self.skip_newlines();
            if self.accept("}") {
                return Ok(cells);
            }
            cells.push(self.cell()?);
            self.skip_newlines();
            if !self.accept(",") {
                self.symbol("}")?;
                return Ok(cells);
            }
        }
    }

    fn cell(&mut self) -> Parsed<Cell> {
        let offset = self.number("an offset in bytes")?;
        self.symbol(":")?;
        let start = self.span();
        let value = self.expr()?;
        let span = start.to(self.previous_span());
        let width = crate::check::constant_width(&value, self.names.pointer_width)
            .map_err(|message| self.error_at(span, message))?;
        Ok(Cell { offset, width, value })
    }

    fn thread(&mut self) -> Parsed<ThreadStart> {
        let name = self.name("the name of a thread")?.to_string();
        self.symbol("=")?;
        let function = self.function_name()?;
        let args = self.parenthesised(Parser::expr)?;
        Ok(ThreadStart { name, function, args })
    }

    pub fn function_name(&mut self) -> Parsed<FunctionId> {
        let span = self.span();
        let name = self.name("the name of a function")?;
        let id = self.names.functions.get(&*name).copied();
        id.ok_or_else(|| self.error_at(span, format!("there is no function '{name}'")))
    }

    fn function(&mut self) -> Parsed<Function> {
        self.scope = Scope::default();
        let frame = self.frame();
        let function = match frame {
            Ok(frame) => {
                self.find_labels();
                let blocks = self.body();
                let vars = std::mem::take(&mut self.scope.declared);
                Ok(Function { vars, blocks, ..frame })
            }
            Err(error) => {
                self.skip_body();
                Err(error)
            }
        };
        self.scope = Scope::default();
        self.accept("}");
        function
    }

    /// `name(a: 32) -> 32 at 0x401000 registers {`
    fn frame(&mut self) -> Parsed<Function> {
        let name = self.name("the name of a function")?.to_string();
        self.parenthesised(Parser::declaration)?;
        let params = self.scope.declared.len() as u32;
        let result = match self.accept("->") {
            true => Some(self.width()?),
            false => None,
        };
        let address = self.address()?;
        let registers = self.accept_word("registers");
        if registers {
            let span = self.previous_span();
            for register in self.names.registers.clone() {
                self.declare(span, register)?;
            }
        }
        self.symbol("{")?;
        self.end_of_line()?;
        let (vars, blocks) = (Vec::new(), Vec::new());
        Ok(Function { name, params, vars, result, registers, address, blocks })
    }

    /// `r0: 32`
    pub fn declaration(&mut self) -> Parsed<()> {
        let span = self.span();
        let name = self.name("the name of a variable")?.to_string();
        self.symbol(":")?;
        let width = self.width()?;
        self.declare(span, Var { name, width })
    }

    fn declare(&mut self, span: Span, var: Var) -> Parsed<()> {
        let id = VarId(self.scope.declared.len() as u32);
        if self.scope.vars.insert(var.name.clone(), id).is_some() {
            return Err(self.defined_twice(span, "variable", &var.name));
        }
        self.scope.declared.push(var);
        Ok(())
    }

    /// How wide a variable of the function is.
    pub(super) fn width_of(&self, var: VarId) -> u32 {
        self.scope.declared.get(var.0 as usize).map_or(1, |var| var.width)
    }

    /// Goes to the line that closes a function.
    fn skip_body(&mut self) {
        while !matches!(self.peek(), Token::Symbol("}") | Token::End) {
            self.skip_line();
        }
    }

    /// Numbers the labels of the function whose first line comes next. Without one on the
    /// first instruction, its block is called `entry`.
    fn find_labels(&mut self) {
        let start = self.position();
        let mut unlabelled = false;
        while !matches!(self.peek(), Token::Symbol("}") | Token::End) {
            let span = self.span();
            if let Some(label) = self.label() {
                self.new_label(&label, span);
            } else if !matches!(self.peek(), Token::Word("var")) {
                unlabelled = true;
            }
            if unlabelled && self.scope.labels.is_empty() {
                self.new_label("entry", span);
            }
            self.skip_line();
        }
        if self.scope.labels.is_empty() {
            self.new_label("entry", self.span());
        }
        self.go_to(start);
    }

    /// The label that the line starts with, if it does.
    pub fn label(&self) -> Option<Cow<'a, str>> {
        name_of(self.peek()).filter(|_| self.peek_after(1) == Token::Symbol(":"))
    }

    fn new_label(&mut self, label: &str, span: Span) {
        let id = BlockId(self.scope.labels.len() as u32);
        if self.scope.labels.insert(label.to_string(), id).is_some() {
            let error = self.defined_twice(span, "label", label);
            self.errors.push(error);
        }
    }

    /// The lines up to the closing brace.
    fn body(&mut self) -> Vec<Block> {
        let mut body = Body::default();
        while !matches!(self.peek(), Token::Symbol("}")) {
            if self.gives_up() {
                if self.peek() == Token::End {
                    let error = self.expected("'}'");
                    self.errors.push(error);
                }
                break;
            }
            let line = self.line(&mut body);
            self.recover(line);
        }
        body.finish(self.previous_span())
    }

    fn line(&mut self, body: &mut Body) -> Parsed<()> {
        if let Some(label) = self.label() {
            body.open(&label, self.span());
            self.next();
            self.next();
            // An instruction may follow on the same line.
            if self.peek() == Token::Newline {
                return Ok(());
            }
        }
        if self.accept_word("var") {
            return self.separated(Parser::declaration).map(|_| ());
        }
        let start = self.span();
        body.expects_instruction(self)?;
        match self.terminator()? {
            Some(terminator) => body.close(terminator, start.to(self.previous_span())),
            None => {
                let kind = self.instruction()?;
                body.push(kind, start.to(self.previous_span()));
            }
        }
        Ok(())
    }
}

/// The blocks of a function, the last of which may be open.
#[derive(Default)]
struct Body {
    blocks: Vec<Block>,
    open: bool,
}

impl Body {
    fn open(&mut self, label: &str, span: Span) {
        let next = BlockId(self.blocks.len() as u32);
        self.close(Terminator::Jump(next), span);
        self.blocks.push(Block {
            label: label.to_string(),
            insts: Vec::new(),
            terminator: Terminator::Return(None),
            terminator_span: span,
        });
        self.open = true;
    }

    fn close(&mut self, terminator: Terminator, span: Span) {
        if let (true, Some(block)) = (self.open, self.blocks.last_mut()) {
            block.terminator = terminator;
            block.terminator_span = span;
        }
        self.open = false;
    }

    fn push(&mut self, kind: crate::InstKind, span: Span) {
        if let Some(block) = self.blocks.last_mut() {
            block.insts.push(crate::Inst { kind, span });
        }
    }

    fn expects_instruction(&mut self, parser: &Parser<'_>) -> Parsed<()> {
        if self.blocks.is_empty() {
            self.open("entry", parser.span());
        }
        match self.open {
            true => Ok(()),
            false => Err(parser
                .error_at(parser.span(), "nothing leads here: the block has ended")
                .with_help("start a new block with a label, such as 'next:'")),
        }
    }

    /// A block that is still open ends the function.
    fn finish(mut self, span: Span) -> Vec<Block> {
        if self.blocks.is_empty() {
            self.open("entry", span);
        }
        self.close(Terminator::Return(None), span);
        self.blocks
    }
}

/// The largest power of two that divides the size, up to 16.
fn natural_alignment(size: u64) -> u32 {
    1 << size.trailing_zeros().min(4)
}

impl Parser<'_> {
    /// An expression that must be one of the names in scope.
    pub fn variable(&mut self) -> Parsed<VarId> {
        let span = self.span();
        let name = self.name("the name of a variable")?;
        let id = self.scope.vars.get(&*name).copied();
        id.ok_or_else(|| self.unknown_variable(span, &name))
    }

    pub fn unknown_variable(&self, span: Span, name: &str) -> Diagnostic {
        let error = self.error_at(span, format!("there is no variable '{name}'"));
        if self.names.globals.contains_key(name) {
            error.with_help(format!("the address of the global is '&{name}'"))
        } else {
            error
        }
    }

    pub fn global_address(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let name = self.name("the name of a global")?;
        match self.names.globals.get(&*name) {
            Some(id) => Ok(Expr::Address(*id)),
            None => Err(self.error_at(span, format!("there is no global '{name}'"))),
        }
    }
}
