//! The parser: declarations, threads and their elements. It goes on after an error, so that one
//! run reports several.

mod cursor;
mod expressions;
mod operations;

use std::collections::HashSet;

use parallax_program::parsing::{Descent, Tokens};
use parallax_program::{Diagnostic, Diagnostics, SourceFile};

use crate::isa::Isa;
use crate::lexer::{Token, tokens};
use crate::syntax::{
    Condition, Element, ElementKind, Ex, Initial, Location, Mark, Op, Register, Structures, Thread,
};
use cursor::{Parsed, Parser};

/// The names that are declared so far.
#[derive(Default)]
pub struct Scope {
    isa: Option<Isa>,
    locations: HashSet<String>,
    registers: HashSet<String>,
    threads: HashSet<String>,
    in_invariant: bool,
    /// Every name is that of a location.
    any_location: bool,
}

impl Scope {
    fn is_register(&self, name: &str) -> bool {
        self.registers.contains(name) || self.isa.is_some_and(|isa| isa.has_register(name))
    }

    fn has_location(&self, name: &str) -> bool {
        self.any_location || self.locations.contains(name)
    }
}

/// Reads a file. What it says is checked by [`crate::check`].
pub fn parse(name: &str, text: &str) -> Result<Structures, Diagnostics> {
    let source = SourceFile::new(name, text);
    let mut errors = Diagnostics::new();
    let tokens = tokens(&source, &mut errors);
    let mut parser = Parser {
        source: &source,
        tokens: Tokens::new(&tokens),
        errors,
        operators: 0,
        scope: Scope::default(),
    };
    let mut structures = Structures {
        isa: None,
        locations: Vec::new(),
        registers: Vec::new(),
        threads: Vec::new(),
        source: source.clone(),
    };
    while !parser.gives_up() {
        let before = parser.position();
        if let Err(error) = parser.item(&mut structures) {
            parser.errors.push(error);
            parser.skip_item(before);
        }
    }
    if structures.threads.is_empty() && parser.errors.is_empty() {
        let error = parser.error_at(parser.span(), "there is no thread in this file");
        parser.errors.push(error.with_help("thread NAME { … }"));
    }
    match parser.errors.is_empty() {
        true => Ok(structures),
        false => Err(parser.errors),
    }
}

/// Reads a condition that a file consists of; it may speak of locations, whichever there are.
pub fn parse_condition(source: &SourceFile) -> Result<Condition, Diagnostic> {
    let mut errors = Diagnostics::new();
    let tokens = tokens(source, &mut errors);
    if let Some(error) = errors.into_iter().next() {
        return Err(error);
    }
    let mut parser = Parser {
        source,
        tokens: Tokens::new(&tokens),
        errors: Vec::new(),
        operators: 0,
        scope: Scope { any_location: true, ..Scope::default() },
    };
    let condition = parser.invariant()?;
    match parser.peek() {
        Token::End => Ok(condition),
        _ => Err(parser.expected("the end of the line")),
    }
}

impl Parser<'_> {
    /// `isa`, `loc`, `reg` or `thread`
    fn item(&mut self, structures: &mut Structures) -> Parsed<()> {
        let span = self.span();
        match self.peek() {
            Token::Word("thread") => {
                self.next();
                let thread = self.thread()?;
                structures.threads.push(thread);
                self.accept(";");
                return Ok(());
            }
            _ if !structures.threads.is_empty() => return Err(self.expected("'thread'")),
            Token::Word("isa") => {
                self.next();
                structures.isa = Some(self.isa()?);
                self.scope.isa = structures.isa;
            }
            Token::Word("loc") => {
                self.next();
                self.separated(|parser| {
                    let location = parser.location()?;
                    structures.locations.push(location);
                    Ok(())
                })?;
            }
            Token::Word("reg") => {
                self.next();
                self.separated(|parser| {
                    let register = parser.register()?;
                    structures.registers.push(register);
                    Ok(())
                })?;
            }
            _ => {
                let error = self.expected("'thread'");
                return Err(error.with_help("before the threads: isa, loc, reg"));
            }
        }
        match self.accept(";") {
            true => Ok(()),
            false => {
                Err(self.error_at(span.to(self.previous_span()), "this has no ';' at its end"))
            }
        }
    }

    fn isa(&mut self) -> Parsed<Isa> {
        let span = self.span();
        let name = self.name("an instruction set")?;
        if self.scope.isa.is_some() {
            return Err(self.error_at(span, "there is an instruction set already"));
        }
        Isa::named(name).ok_or_else(|| {
            let message = format!("there is no instruction set '{name}'");
            let known = Isa::ALL.map(Isa::name).join(", ");
            self.error_at(span, message).with_help(format!("instruction sets are {known}"))
        })
    }

    /// `[x]`, `[x] = 1`, `[x] = any`
    fn location(&mut self) -> Parsed<Location> {
        let span = self.span();
        let name = self.location_name()?;
        let span = span.to(self.previous_span());
        if !self.scope.locations.insert(name.clone()) {
            return Err(self.error_at(span, format!("'[{name}]' is here for the second time")));
        }
        let initial = match self.accept("=") {
            true if self.accept_word("any") => Initial::Arbitrary,
            true => Initial::Value(self.number()?),
            false => Initial::Value(0),
        };
        Ok(Location { name, initial, mark: Mark(span) })
    }

    /// `r`, `r = 1`
    fn register(&mut self) -> Parsed<Register> {
        let span = self.span();
        let name = self.name("a register")?.to_string();
        if !self.scope.registers.insert(name.clone()) {
            return Err(self.error_at(span, format!("'{name}' is here for the second time")));
        }
        let initial = match self.accept("=") {
            true => self.number()?,
            false => 0,
        };
        Ok(Register { name, initial, mark: Mark(span) })
    }

    /// `NAME { elements }`
    fn thread(&mut self) -> Parsed<Thread> {
        let span = self.span();
        let name = self.name("the name of a thread")?.to_string();
        if !self.scope.threads.insert(name.clone()) {
            let message = format!("there is a thread '{name}' already");
            self.errors.push(self.error_at(span, message));
        }
        self.symbol("{")?;
        let elements = self.elements()?;
        self.symbol("}")?;
        Ok(Thread { name, elements, mark: Mark(span) })
    }

    /// Elements up to the brace, or the invariant, that ends them.
    fn elements(&mut self) -> Parsed<Vec<Element>> {
        let mut elements = Vec::new();
        while !self.gives_up() && !self.is_next("}") && !self.is_next("<") {
            let start = self.position();
            match self.element() {
                Ok(element) => {
                    elements.push(element);
                    let is_separated = self.accept(";");
                    let is_last = self.is_next("}") || self.is_next("<");
                    if !is_separated && !is_last {
                        self.errors.push(self.expected("';'"));
                        self.skip_element(start);
                    }
                }
                Err(error) => {
                    self.errors.push(error);
                    self.skip_element(start);
                }
            }
        }
        Ok(elements)
    }

    fn element(&mut self) -> Parsed<Element> {
        let start = self.span();
        let kind = match self.peek() {
            Token::Word("instr") => {
                self.next();
                self.symbol("{")?;
                let ex = self.nested(|parser| parser.sequence("}"))?;
                self.symbol("}")?;
                ElementKind::Instr(ex)
            }
            Token::Word("label") => ElementKind::Label(self.label()?),
            Token::Word("assume") => {
                self.next();
                ElementKind::Assume(self.parenthesised_condition()?)
            }
            Token::Word("assert") => {
                self.next();
                ElementKind::Assert(self.parenthesised_condition()?)
            }
            Token::Word("branch") => {
                let kind = self.branch()?;
                let mark = Mark(start.to(self.previous_span()));
                ElementKind::Instr(Ex::Op(Op { kind, mark }))
            }
            Token::Word("ifBr") => {
                self.next();
                let condition = self.parenthesised_condition()?;
                self.symbol("{")?;
                let body = self.nested(Self::elements)?;
                self.symbol("}")?;
                ElementKind::IfBranch(condition, body)
            }
            Token::Word("do") => self.do_while()?,
            _ => {
                let help = "elements are instr, label, assume, assert, branch, ifBr and do";
                return Err(self.expected("an element of a thread").with_help(help));
            }
        };
        Ok(Element { kind, mark: Mark(start.to(self.previous_span())) })
    }

    /// `do { elements <invariant> } while(condition)`
    fn do_while(&mut self) -> Parsed<ElementKind> {
        self.next();
        self.symbol("{")?;
        let body = self.nested(Self::elements)?;
        let invariant = match self.accept("<") {
            true => {
                let invariant: Condition = self.invariant()?;
                self.symbol(">")?;
                Some(invariant)
            }
            false => None,
        };
        self.symbol("}")?;
        self.keyword("while")?;
        let condition = self.parenthesised_condition()?;
        Ok(ElementKind::DoWhile { body, invariant, condition })
    }
}
