//! Instructions and block ends of the text form.

use super::cursor::{Parsed, Parser};
use super::lexer::Token;
use super::{RMW_OPS, is_keyword};
use crate::parsing::Descent;
use crate::{
    AccessSize, AllocKind, Bits, BlockId, Callee, Diagnostic, Expr, InstKind, Property, Span, Tags,
    Terminator, VarId,
};

/// What stands before `=`: none, one, or two for `cas`; `_` leaves a place empty.
struct Destinations {
    span: Span,
    vars: Vec<Option<VarId>>,
}

impl Destinations {
    /// Exactly one variable.
    fn one(&self, parser: &Parser<'_>) -> Parsed<VarId> {
        match self.vars[..] {
            [Some(var)] => Ok(var),
            _ => Err(parser.error_at(self.span, "this instruction gives one result: 'r = …'")),
        }
    }

    fn at_most_one(&self, parser: &Parser<'_>) -> Parsed<Option<VarId>> {
        match self.vars[..] {
            [] => Ok(None),
            [var] => Ok(var),
            _ => Err(parser.error_at(self.span, "this instruction gives one result")),
        }
    }

    fn at_most_two(&self, parser: &Parser<'_>) -> Parsed<(Option<VarId>, Option<VarId>)> {
        match self.vars[..] {
            [] => Ok((None, None)),
            [first] => Ok((first, None)),
            [first, second] => Ok((first, second)),
            _ => Err(parser.error_at(self.span, "this instruction gives two results")),
        }
    }

    fn none(&self, parser: &Parser<'_>) -> Parsed<()> {
        match self.vars.is_empty() {
            true => Ok(()),
            false => Err(parser.error_at(self.span, "this instruction gives no result")),
        }
    }
}

/// An instruction word in its parts: `rmw.add.4` is `rmw`, `add`, 4.
struct Mnemonic<'a> {
    word: &'a str,
    parts: Vec<&'a str>,
    span: Span,
}

impl Mnemonic<'_> {
    fn unknown(&self, parser: &Parser<'_>) -> Diagnostic {
        parser.error_at(self.span, format!("unknown instruction '{}'", self.word))
    }

    /// The last part of the word, which says how many bytes are accessed.
    fn size(&self, parser: &Parser<'_>) -> Parsed<AccessSize> {
        let bytes = self.parts.last().and_then(|part| part.parse().ok());
        bytes.and_then(AccessSize::from_bytes).ok_or_else(|| {
            let message = format!("'{}' does not say how many bytes", self.word);
            let help = "end the word in .1, .2, .4, .8 or .16";
            parser.error_at(self.span, message).with_help(help)
        })
    }

    /// The parts between the first and the size.
    fn options(&self) -> &[&str] {
        let end = self.parts.len().saturating_sub(1).max(1);
        self.parts.get(1..end).unwrap_or(&[])
    }

    /// `alloc.heap`, `alloc.stack.zeroed`, `free.heap`
    fn alloc_kind(&self, parser: &Parser<'_>) -> Parsed<(AllocKind, bool)> {
        let (kind, zeroed) = match self.parts[1..] {
            [kind] => (kind, false),
            [kind, "zeroed"] if self.parts[0] == "alloc" => (kind, true),
            _ => return Err(self.unknown(parser)),
        };
        match kind {
            "heap" => Ok((AllocKind::Heap, zeroed)),
            "stack" => Ok((AllocKind::Stack, zeroed)),
            _ => Err(self.unknown(parser)),
        }
    }

    fn property(&self, parser: &Parser<'_>) -> Parsed<Property> {
        match self.parts[1..] {
            [] => Ok(Property::Assert),
            [name] if name == Property::Layout.name() => Ok(Property::Layout),
            [name] => Property::named(name).ok_or_else(|| self.unknown(parser)),
            _ => Err(self.unknown(parser)),
        }
    }
}

impl<'a> Parser<'a> {
    /// The end of a block, if the line is one.
    pub fn terminator(&mut self) -> Parsed<Option<Terminator>> {
        if matches!(self.peek_after(1), Token::Symbol("=" | ",")) {
            return Ok(None);
        }
        if self.accept_word("jump") {
            return Ok(Some(Terminator::Jump(self.target()?)));
        }
        if self.accept_word("branch") {
            return self.branch().map(Some);
        }
        if self.accept_word("return") {
            let value = match self.peek() {
                Token::Newline | Token::End => None,
                _ => Some(self.expr()?),
            };
            return Ok(Some(Terminator::Return(value)));
        }
        Ok(self.accept_word("exit").then_some(Terminator::Exit))
    }

    fn branch(&mut self) -> Parsed<Terminator> {
        let condition = self.expr()?;
        self.symbol(",")?;
        let then = self.target()?;
        self.symbol(",")?;
        let otherwise = self.target()?;
        let join = match self.accept_word("join") {
            true => Some(self.target()?),
            false => None,
        };
        Ok(Terminator::Branch { condition, then, otherwise, join })
    }

    fn target(&mut self) -> Parsed<BlockId> {
        let span = self.span();
        let name = self.name("a label")?;
        let id = self.scope.labels.get(&*name).copied();
        id.ok_or_else(|| self.error_at(span, format!("there is no label '{name}'")))
    }

    pub fn instruction(&mut self) -> Parsed<InstKind> {
        let to = self.destinations()?;
        let Token::Word(word) = self.peek() else {
            return self.assignment(to);
        };
        if !is_keyword(word) && !to.vars.is_empty() {
            return self.assignment(to);
        }
        let mnemonic = Mnemonic { word, parts: word.split('.').collect(), span: self.span() };
        self.next();
        match mnemonic.parts[0] {
            "load" | "ll" | "store" | "sc" | "rmw" | "cas" => self.access(&mnemonic, to),
            "alloc" | "free" => self.allocation(&mnemonic, to),
            "assert" => self.assertion(&mnemonic, to),
            _ if mnemonic.parts.len() > 1 => Err(mnemonic.unknown(self)),
            "spawn" | "call" => self.transfer(word, to),
            _ => self.other(&mnemonic, to),
        }
    }

    fn destinations(&mut self) -> Parsed<Destinations> {
        let span = self.span();
        if !matches!(self.peek_after(1), Token::Symbol("=" | ",")) {
            let vars = Vec::new();
            return Ok(Destinations { span, vars });
        }
        let vars = self.separated(|parser| match parser.accept_word("_") {
            true => Ok(None),
            false => parser.variable().map(Some),
        })?;
        let span = span.to(self.previous_span());
        self.symbol("=")?;
        Ok(Destinations { span, vars })
    }

    fn assignment(&mut self, to: Destinations) -> Parsed<InstKind> {
        if to.vars.is_empty() {
            return Err(self.expected("an instruction"));
        }
        let value = self.expr()?;
        let dst = to.one(self)?;
        Ok(InstKind::Assign { dst, value })
    }

    fn access(&mut self, mnemonic: &Mnemonic<'_>, to: Destinations) -> Parsed<InstKind> {
        let size = mnemonic.size(self)?;
        let address = self.expr()?;
        match (mnemonic.parts[0], mnemonic.options()) {
            ("load", []) => {
                Ok(InstKind::Load { dst: to.one(self)?, address, size, tags: self.tags()? })
            }
            ("ll", []) => {
                Ok(InstKind::LoadLinked { dst: to.one(self)?, address, size, tags: self.tags()? })
            }
            ("store", []) => {
                to.none(self)?;
                Ok(InstKind::Store { address, value: self.comma_expr()?, size, tags: self.tags()? })
            }
            ("sc", []) => Ok(InstKind::StoreConditional {
                status: to.one(self)?,
                address,
                value: self.comma_expr()?,
                size,
                tags: self.tags()?,
            }),
            ("rmw", [op]) => self.rmw(mnemonic, op, to, address, size),
            ("cas", []) => self.cas(false, to, address, size),
            ("cas", ["weak"]) => self.cas(true, to, address, size),
            _ => Err(mnemonic.unknown(self)),
        }
    }

    fn rmw(
        &mut self,
        mnemonic: &Mnemonic<'_>,
        op: &str,
        to: Destinations,
        address: Expr,
        size: AccessSize,
    ) -> Parsed<InstKind> {
        let entry = RMW_OPS.iter().find(|(_, name)| *name == op);
        let (op, _) = entry.ok_or_else(|| mnemonic.unknown(self))?;
        let dst = to.at_most_one(self)?;
        let operand = self.comma_expr()?;
        let [read_tags, write_tags] = self.tag_lists()?;
        Ok(InstKind::Rmw { dst, address, op: *op, operand, size, read_tags, write_tags })
    }

    fn cas(
        &mut self,
        weak: bool,
        to: Destinations,
        address: Expr,
        size: AccessSize,
    ) -> Parsed<InstKind> {
        let (dst, ok) = to.at_most_two(self)?;
        let expected = self.comma_expr()?;
        let desired = self.comma_expr()?;
        let [read_tags, write_tags, fail_tags] = self.tag_lists()?;
        Ok(InstKind::Cas {
            dst,
            ok,
            address,
            expected,
            desired,
            size,
            read_tags,
            write_tags,
            fail_tags,
            weak,
        })
    }

    fn allocation(&mut self, mnemonic: &Mnemonic<'_>, to: Destinations) -> Parsed<InstKind> {
        let (kind, zeroed) = mnemonic.alloc_kind(self)?;
        if mnemonic.parts[0] == "free" {
            to.none(self)?;
            return Ok(InstKind::Free { address: self.expr()?, kind });
        }
        let dst = to.one(self)?;
        let size = self.expr()?;
        self.keyword("align")?;
        let align = self.number("an alignment")?;
        Ok(InstKind::Alloc { dst, size, align, kind, zeroed, shape: None })
    }

    fn assertion(&mut self, mnemonic: &Mnemonic<'_>, to: Destinations) -> Parsed<InstKind> {
        let property = mnemonic.property(self)?;
        to.none(self)?;
        let condition = self.expr()?;
        self.symbol(",")?;
        let message = self.string()?;
        Ok(InstKind::Assert { condition, message, property })
    }

    /// `spawn f(…)`, `call f(…)`, `call extern f(…)`, `call (target)(…)`
    fn transfer(&mut self, word: &str, to: Destinations) -> Parsed<InstKind> {
        let dst = to.at_most_one(self)?;
        let callee = if self.accept("(") {
            let target = self.expr()?;
            self.symbol(")")?;
            Callee::Indirect(target)
        } else if self.accept_word("extern") {
            Callee::External(self.name("the name of a function")?.to_string())
        } else {
            Callee::Direct(self.function_name()?)
        };
        let args = self.parenthesised(Parser::expr)?;
        Ok(match word {
            "spawn" => InstKind::Spawn { dst, callee, args },
            _ => InstKind::Call { dst, callee, args },
        })
    }

    fn other(&mut self, mnemonic: &Mnemonic<'_>, to: Destinations) -> Parsed<InstKind> {
        match mnemonic.word {
            "threadid" => return Ok(InstKind::ThreadId { dst: to.one(self)? }),
            "heapsize" => {
                let dst = to.one(self)?;
                return Ok(InstKind::HeapSize { dst, address: self.expr()? });
            }
            "choose" => {
                let dst = to.one(self)?;
                return Ok(InstKind::Choose { dst, below: self.expr()? });
            }
            "nondet" => return Ok(InstKind::Nondet { dst: to.one(self)? }),
            "undefined" => {
                let dst = to.one(self)?;
                let value = Expr::Const(Bits::undefined(self.width_of(dst)));
                return Ok(InstKind::Assign { dst, value });
            }
            _ => to.none(self)?,
        }
        Ok(match mnemonic.word {
            "fence" => InstKind::Fence { tags: self.tags()? },
            "join" => InstKind::Join { thread: self.expr()? },
            "assume" => InstKind::Assume { condition: self.expr()? },
            "wait" => InstKind::Wait { condition: self.expr()? },
            "unsupported" => InstKind::Unsupported { what: self.string()? },
            "atomic" if self.accept_word("begin") => InstKind::AtomicBegin,
            "atomic" if self.accept_word("end") => InstKind::AtomicEnd,
            "atomic" => return Err(self.expected("'begin' or 'end'")),
            _ => return Err(mnemonic.unknown(self)),
        })
    }

    fn comma_expr(&mut self) -> Parsed<Expr> {
        self.symbol(",")?;
        self.expr()
    }

    fn tags(&mut self) -> Parsed<Tags> {
        let [tags] = self.tag_lists()?;
        Ok(tags)
    }

    /// The tags of `N` events: none, one list for all of them, or a list each.
    fn tag_lists<const N: usize>(&mut self) -> Parsed<[Tags; N]> {
        let start = self.span();
        let mut lists = Vec::new();
        while self.accept("[") {
            lists.push(self.tag_list()?);
        }
        if let [all] = &lists[..] {
            return Ok(std::array::from_fn(|_| all.clone()));
        }
        if lists.is_empty() {
            return Ok(std::array::from_fn(|_| Tags::none()));
        }
        lists.try_into().map_err(|lists: Vec<Tags>| {
            let span = start.to(self.previous_span());
            let message = format!("{} lists of tags for {N} events", lists.len());
            self.error_at(span, message)
        })
    }

    /// `acq, Rcu-lock, "x y"]`
    fn tag_list(&mut self) -> Parsed<Tags> {
        if self.accept("]") {
            return Ok(Tags::none());
        }
        let names = self.separated(Parser::tag)?;
        self.symbol("]")?;
        Ok(Tags::new(names.iter().map(String::as_str)))
    }

    fn tag(&mut self) -> Parsed<String> {
        let mut tag = self.name("a tag")?.to_string();
        while self.accept("-") {
            tag.push('-');
            tag.push_str(&self.name("the rest of the tag")?);
        }
        Ok(tag)
    }
}
