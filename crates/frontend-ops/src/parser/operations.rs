//! What is inside an instruction.

use parallax_program::Span;
use parallax_program::parsing::Descent;

use super::cursor::{Parsed, Parser, is_reserved};
use crate::isa::Fence;
use crate::lexer::Token;
use crate::syntax::{Ex, Exp, Mark, Op, OpKind, Place, Target};

impl<'a> Parser<'a> {
    /// `ex; ex; …`, where `||` binds tighter than `;`.
    pub fn sequence(&mut self, end: &str) -> Parsed<Ex> {
        let mut parts = Vec::new();
        while !self.is_next(end) {
            match self.parallel()? {
                Ex::Nil => {}
                Ex::Seq(inner) => parts.extend(inner),
                part => parts.push(part),
            }
            if !self.accept(";") {
                break;
            }
        }
        Ok(several(parts, Ex::Seq))
    }

    fn parallel(&mut self) -> Parsed<Ex> {
        let mut parts = Vec::new();
        loop {
            match self.basic_ex()? {
                Ex::Nil => {}
                Ex::Par(inner) => parts.extend(inner),
                part => parts.push(part),
            }
            if !self.accept("||") {
                return Ok(several(parts, Ex::Par));
            }
        }
    }

    fn basic_ex(&mut self) -> Parsed<Ex> {
        let span = self.span();
        if self.accept("(") {
            let inner = self.nested(|parser| parser.sequence(")"))?;
            self.symbol(")")?;
            return Ok(inner);
        }
        if self.accept_word("nil") {
            return Ok(Ex::Nil);
        }
        if self.accept_word("if") {
            let condition = self.parenthesised_condition()?;
            self.symbol("{")?;
            let body = self.nested(|parser| parser.sequence("}"))?;
            self.symbol("}")?;
            return Ok(Ex::If(condition, Box::new(body), Mark(span)));
        }
        if self.accept_word("atom") {
            return self.atom(span);
        }
        Ok(Ex::Op(self.operation()?))
    }

    /// `atom(op)`, on a read or a write of memory.
    fn atom(&mut self, span: Span) -> Parsed<Ex> {
        self.symbol("(")?;
        let op = self.operation()?;
        self.symbol(")")?;
        match &op.kind {
            OpKind::Read { src: Place::Memory(_), .. }
            | OpKind::Write { dst: Place::Memory(_), .. } => Ok(Ex::Atom(op)),
            _ => {
                let message = "only a read or a write of memory can be half of an atomic pair";
                Err(self.error_at(span, message))
            }
        }
    }

    fn operation(&mut self) -> Parsed<Op> {
        let start = self.span();
        let kind = match self.peek() {
            Token::Symbol("[") => {
                let dst = Place::Memory(self.target()?);
                self.symbol(":=")?;
                OpKind::Write { dst, value: self.exp()? }
            }
            Token::Word("ll") => self.load_linked()?,
            Token::Word("sc") => self.store_conditional()?,
            Token::Word("branch") => self.branch()?,
            Token::Word(_) if self.peek_after(1) == Token::Symbol(":=") => self.assignment()?,
            Token::Word(word) if !is_reserved(word) => self.fence()?,
            _ => return Err(self.expected("an operation")),
        };
        Ok(Op { kind, mark: Mark(start.to(self.previous_span())) })
    }

    fn assignment(&mut self) -> Parsed<OpKind> {
        let dst = self.name("what an operation writes to")?.to_string();
        self.symbol(":=")?;
        if self.accept_word("any") {
            return Ok(OpKind::Anything { dst });
        }
        if self.scope.is_register(&dst) {
            let value = self.exp()?;
            return Ok(OpKind::Write { dst: Place::Register(dst), value });
        }
        match self.peek() {
            Token::Symbol("[") => {
                let src = Place::Memory(self.target()?);
                Ok(OpKind::Read { dst, src })
            }
            Token::Word(src) if self.scope.is_register(src) => {
                self.next();
                if matches!(self.peek(), Token::Symbol("+" | "-")) {
                    let error = self.expected("the end of the operation");
                    return Err(error.with_help("expressions are on temporaries, not registers"));
                }
                Ok(OpKind::Read { dst, src: Place::Register(src.to_string()) })
            }
            _ => Ok(OpKind::Compute { dst, value: self.exp()? }),
        }
    }

    /// A temporary to write to.
    fn temporary(&mut self) -> Parsed<String> {
        let span = self.span();
        let name = self.name("a temporary")?;
        match self.scope.is_register(name) {
            true => {
                let message = format!("expected a temporary; '{name}' is a register");
                Err(self.error_at(span, message))
            }
            false => Ok(name.to_string()),
        }
    }

    /// `ll(tmp, [loc])`
    fn load_linked(&mut self) -> Parsed<OpKind> {
        self.next();
        self.symbol("(")?;
        let dst = self.temporary()?;
        self.symbol(",")?;
        let location = self.target()?;
        self.symbol(")")?;
        Ok(OpKind::LoadLinked { dst, location })
    }

    /// `sc(flag, [loc], value)`
    fn store_conditional(&mut self) -> Parsed<OpKind> {
        self.next();
        self.symbol("(")?;
        let flag = self.temporary()?;
        self.symbol(",")?;
        let location = self.target()?;
        self.symbol(",")?;
        let value = self.exp()?;
        self.symbol(")")?;
        Ok(OpKind::StoreConditional { flag, location, value })
    }

    /// `branch(condition, label(L))`
    pub fn branch(&mut self) -> Parsed<OpKind> {
        self.keyword("branch")?;
        self.symbol("(")?;
        let condition = self.nested(Self::condition)?;
        self.symbol(",")?;
        let label = self.label()?;
        self.symbol(")")?;
        Ok(OpKind::Branch { condition, label })
    }

    /// `label(L)`
    pub fn label(&mut self) -> Parsed<String> {
        self.keyword("label")?;
        self.symbol("(")?;
        let name = match self.peek() {
            Token::Number(number) => {
                self.next();
                number.to_string()
            }
            _ => self.name("a label")?.to_string(),
        };
        self.symbol(")")?;
        Ok(name)
    }

    fn fence(&mut self) -> Parsed<OpKind> {
        let span = self.span();
        let mut name = self.name("an operation")?.to_string();
        if self.accept("(") {
            name = format!("{name}({})", self.name("what the fence orders")?);
            self.symbol(")")?;
        }
        let isa = self.scope.isa;
        let known = Fence::named(&name);
        match known.filter(|fence| isa.is_none() || fence.isa() == isa) {
            Some(fence) => Ok(OpKind::Fence(fence)),
            None => {
                let fences = Fence::names(isa).collect::<Vec<_>>().join(", ");
                let message = match (known, isa) {
                    (Some(_), Some(isa)) => format!("{isa} has no fence '{name}'"),
                    _ => format!("there is no operation '{name}'"),
                };
                let help = format!("fences are {fences}");
                Err(self.error_at(span.to(self.previous_span()), message).with_help(help))
            }
        }
    }

    /// `[x]`, or `[*a]` for the location whose number is in a temporary.
    fn target(&mut self) -> Parsed<Target> {
        if self.peek_after(1) == Token::Symbol("*") {
            self.symbol("[")?;
            self.symbol("*")?;
            let temporary = self.temporary()?;
            self.symbol("]")?;
            return Ok(Target::Computed(temporary));
        }
        Ok(Target::Named(self.declared_location()?))
    }

    /// `[x]`, `[0x01]`
    pub fn location_name(&mut self) -> Parsed<String> {
        self.symbol("[")?;
        let name = match self.peek() {
            Token::Number(number) => {
                self.next();
                format!("{number:#x}")
            }
            Token::Word(name) => {
                self.next();
                name.to_string()
            }
            _ => return Err(self.expected("a location")),
        };
        self.symbol("]")?;
        Ok(name)
    }

    pub fn declared_location(&mut self) -> Parsed<String> {
        let span = self.span();
        let name = self.location_name()?;
        if self.scope.has_location(&name) {
            return Ok(name);
        }
        let message = format!("there is no location '[{name}]'");
        let error = self.error_at(span.to(self.previous_span()), message);
        Err(error.with_help(format!("declare it before the threads: loc [{name}]")))
    }
}

/// One part stands for itself.
fn several(mut parts: Vec<Ex>, make: fn(Vec<Ex>) -> Ex) -> Ex {
    match parts.len() {
        0 => Ex::Nil,
        1 => parts.pop().unwrap_or(Ex::Nil),
        _ => make(parts),
    }
}

impl Exp {
    pub fn temporary(name: &str) -> Exp {
        Exp::Temporary(name.to_string())
    }
}
