//! The final condition as written: `exists`, `~exists`, `forall`, `locations`, `filter`.
//!
//! As in herd7's grammar, `\/` binds weakest, then `/\`, then `=>` (to the right), then `not`.

use parallax_program::parsing::Descent;
use parallax_program::{Diagnostic, Quantifier, SourceFile, Span};

use crate::asm::SymbolicUses;
use crate::cursor::Cursor;
use crate::init::register;
use crate::lexer::{Spanned, Token};

/// Something with a final value, as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    pub kind: LocationKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LocationKind {
    Register { thread: u32, name: String },
    Memory { name: String, index: Option<u64> },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    Integer(i128),
    /// The address of a location, plus bytes or elements.
    Address {
        name: String,
        offset: Offset,
        span: Span,
    },
    /// The final value of another location or register.
    Location(Location),
    /// All elements of an array.
    List(Vec<Value>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offset {
    None,
    Bytes(i64),
    Elements(u64),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Proposition {
    True,
    False,
    Equal(Location, Value),
    Not(Box<Proposition>),
    And(Vec<Proposition>),
    Or(Vec<Proposition>),
    Implies(Box<Proposition>, Box<Proposition>),
}

/// An item of `locations [ … ]`, with the words and stars of its type.
pub struct ShownLocation {
    pub location: Location,
    pub type_words: Vec<String>,
    pub stars: usize,
}

pub struct Condition {
    pub quantifier: Quantifier,
    pub proposition: Proposition,
    pub locations: Vec<ShownLocation>,
    pub filter: Option<Proposition>,
}

impl Condition {
    /// Shows every register, by its thread and its name, which may be changed.
    pub fn each_register(&mut self, visit: &mut dyn FnMut(u32, &mut String)) {
        self.proposition.each_register(visit);
        if let Some(filter) = &mut self.filter {
            filter.each_register(visit);
        }
        for shown in &mut self.locations {
            shown.location.each_register(visit);
        }
    }
}

impl Proposition {
    fn each_register(&mut self, visit: &mut dyn FnMut(u32, &mut String)) {
        match self {
            Proposition::True | Proposition::False => {}
            Proposition::Equal(location, value) => {
                location.each_register(visit);
                if let Value::Location(location) = value {
                    location.each_register(visit);
                }
            }
            Proposition::Not(inner) => inner.each_register(visit),
            Proposition::And(parts) | Proposition::Or(parts) => {
                parts.iter_mut().for_each(|part| part.each_register(visit));
            }
            Proposition::Implies(premise, conclusion) => {
                premise.each_register(visit);
                conclusion.each_register(visit);
            }
        }
    }
}

impl Location {
    fn each_register(&mut self, visit: &mut dyn FnMut(u32, &mut String)) {
        if let LocationKind::Register { thread, name } = &mut self.kind {
            visit(*thread, name);
        }
    }
}

pub fn parse(
    source: &SourceFile,
    tokens: &[Spanned<'_>],
    symbolic: &SymbolicUses,
) -> Result<Condition, Diagnostic> {
    let mut parser = Parser { cursor: Cursor::new(source, tokens), symbolic };
    let mut locations = Vec::new();
    let mut filter = None;
    loop {
        if parser.cursor.accept_word("locations") {
            locations.extend(parser.locations()?);
        } else if parser.cursor.accept_word("filter") {
            filter = Some(parser.proposition()?);
        } else if !parser.cursor.accept(";") {
            break;
        }
    }
    let (quantifier, proposition) = parser.quantified()?;
    parser.end()?;
    Ok(Condition { quantifier, proposition, locations, filter })
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    symbolic: &'a SymbolicUses,
}

impl Parser<'_> {
    fn quantified(&mut self) -> Result<(Quantifier, Proposition), Diagnostic> {
        if self.cursor.is_at_end() {
            return Ok((Quantifier::ForAll, Proposition::True));
        }
        if self.cursor.accept_word("exists") || self.cursor.accept_word("final") {
            return Ok((Quantifier::Exists, self.proposition()?));
        }
        if self.cursor.accept_word("forall") {
            return Ok((Quantifier::ForAll, self.proposition()?));
        }
        if self.cursor.accept_word("observed") || self.cursor.accept_word("Observed") {
            return Ok((Quantifier::Exists, self.observed()?));
        }
        if self.cursor.accept("~") || self.cursor.accept_word("not") {
            if !self.cursor.accept_word("exists") {
                return Err(self.cursor.expected("'exists'"));
            }
            return Ok((Quantifier::NotExists, self.proposition()?));
        }
        if self.cursor.is_next("(") {
            return Ok((Quantifier::Exists, self.proposition()?));
        }
        Err(self.cursor.expected("exists, ~exists or forall"))
    }

    /// What may follow a condition: `;`, and the old `with model: ~exists; …`, which says
    /// what its author expected of each model and decides nothing.
    fn end(&mut self) -> Result<(), Diagnostic> {
        while self.cursor.accept(";") {}
        if self.cursor.is_at_end() || self.cursor.is_word("with") {
            Ok(())
        } else {
            Err(self.cursor.expected("the end of the condition"))
        }
    }

    /// States one after the other: `x=1; y=2; and x=2; y=1;`.
    fn observed(&mut self) -> Result<Proposition, Diagnostic> {
        let mut states = Vec::new();
        loop {
            let mut atoms = Vec::new();
            while !self.cursor.is_at_end() && !self.cursor.is_word("and") {
                atoms.push(self.atom()?);
                if !self.cursor.accept(";") {
                    break;
                }
            }
            states.push(Proposition::And(atoms));
            if !self.cursor.accept_word("and") {
                return Ok(Proposition::Or(states));
            }
        }
    }

    fn locations(&mut self) -> Result<Vec<ShownLocation>, Diagnostic> {
        self.cursor.symbol("[")?;
        let mut shown = Vec::new();
        while !self.cursor.accept("]") {
            if self.cursor.accept(";") {
                continue;
            }
            shown.push(self.shown_location()?);
            if !self.cursor.is_next("]") && !self.cursor.is_next(";") {
                return Err(self.cursor.expected("';' or ']'"));
            }
        }
        Ok(shown)
    }

    /// A location with its type before it or (as herd7 has it) behind it.
    fn shown_location(&mut self) -> Result<ShownLocation, Diagnostic> {
        let mut type_words = Vec::new();
        let mut stars = 0;
        while let Token::Name(word) = self.cursor.peek() {
            let is_type = match self.cursor.peek_after(1) {
                Token::Name(after) => is_type_word(word) || !is_type_word(after),
                Token::Number(..) | Token::Percent(_) => true,
                Token::Sign("*") => {
                    !matches!(self.cursor.peek_after(2), Token::Sign(";" | "]") | Token::End)
                }
                _ => false,
            };
            if !is_type {
                break;
            }
            type_words.push(word.to_string());
            self.cursor.next();
            while self.cursor.accept("*") {
                stars += 1;
            }
        }
        let location = self.location()?;
        while let Token::Name(word) = self.cursor.peek() {
            type_words.push(word.to_string());
            self.cursor.next();
        }
        while self.cursor.accept("*") {
            stars += 1;
        }
        Ok(ShownLocation { location, type_words, stars })
    }

    fn proposition(&mut self) -> Result<Proposition, Diagnostic> {
        let mut parts = vec![self.conjunction()?];
        while self.cursor.accept("\\/") {
            parts.push(self.conjunction()?);
        }
        Ok(single_or(parts, Proposition::Or))
    }

    fn conjunction(&mut self) -> Result<Proposition, Diagnostic> {
        let mut parts = vec![self.implication()?];
        while self.cursor.accept("/\\") {
            parts.push(self.implication()?);
        }
        Ok(single_or(parts, Proposition::And))
    }

    fn implication(&mut self) -> Result<Proposition, Diagnostic> {
        let premise = self.negation()?;
        if !self.cursor.accept("=>") {
            return Ok(premise);
        }
        let conclusion = self.deeper(Self::implication)?;
        Ok(Proposition::Implies(Box::new(premise), Box::new(conclusion)))
    }

    fn negation(&mut self) -> Result<Proposition, Diagnostic> {
        if self.cursor.accept("~") || self.cursor.accept_word("not") {
            let inner = self.deeper(Self::negation)?;
            return Ok(Proposition::Not(Box::new(inner)));
        }
        if self.cursor.accept("(") {
            let inner = self.deeper(Self::proposition)?;
            self.cursor.symbol(")")?;
            return Ok(inner);
        }
        self.atom()
    }

    fn deeper(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<Proposition, Diagnostic>,
    ) -> Result<Proposition, Diagnostic> {
        self.cursor.enter()?;
        let result = parse(self);
        self.cursor.leave();
        result
    }

    fn atom(&mut self) -> Result<Proposition, Diagnostic> {
        if self.cursor.accept_word("true") {
            return Ok(Proposition::True);
        }
        if self.cursor.accept_word("false") {
            return Ok(Proposition::False);
        }
        let location = self.location()?;
        let equal = self.cursor.accept("=") || self.cursor.accept("==");
        if !equal && !self.cursor.accept("<>") {
            return Err(self.cursor.expected("'=' or '<>'"));
        }
        let value = self.value()?;
        let atom = Proposition::Equal(location, value);
        Ok(if equal { atom } else { Proposition::Not(Box::new(atom)) })
    }

    /// `x`, `[x]`, `*x`, `x[1]`, `0:EAX` or `P0:EAX`.
    fn location(&mut self) -> Result<Location, Diagnostic> {
        let start = self.cursor.span();
        let kind = self.location_kind()?;
        Ok(Location { kind, span: start.to(self.cursor.previous_span()) })
    }

    fn location_kind(&mut self) -> Result<LocationKind, Diagnostic> {
        if self.cursor.accept("[") {
            let name = self.cursor.name("the name of a location")?.to_string();
            let index = self.index()?;
            self.cursor.symbol("]")?;
            return Ok(LocationKind::Memory { name, index });
        }
        self.cursor.accept("*");
        if let Some((thread, name)) = register(&mut self.cursor, self.symbolic)? {
            return Ok(LocationKind::Register { thread, name: name.to_string() });
        }
        let span = self.cursor.span();
        let name = self.cursor.name("a location or a register")?.to_string();
        if matches!(self.cursor.peek(), Token::Sign("(" | ":")) {
            let message = format!("'{name}(…)' is not supported in conditions");
            return Err(self.cursor.error_at(span, message));
        }
        let index = self.index()?;
        Ok(LocationKind::Memory { name, index })
    }

    fn index(&mut self) -> Result<Option<u64>, Diagnostic> {
        if !self.cursor.accept("[") {
            return Ok(None);
        }
        let index = self.cursor.unsigned()?;
        self.cursor.symbol("]")?;
        Ok(Some(index))
    }

    fn value(&mut self) -> Result<Value, Diagnostic> {
        if self.cursor.accept("{") {
            let mut list = vec![self.scalar()?];
            while self.cursor.accept(",") {
                list.push(self.scalar()?);
            }
            self.cursor.symbol("}")?;
            return Ok(Value::List(list));
        }
        self.scalar()
    }

    fn scalar(&mut self) -> Result<Value, Diagnostic> {
        let symbolic = matches!(self.cursor.peek(), Token::Percent(_));
        let place = symbolic || self.cursor.is_next("*") || self.cursor.is_next("[");
        if place || self.cursor.peek_after(1) == Token::Sign(":") {
            return Ok(Value::Location(self.location()?));
        }
        if matches!(self.cursor.peek(), Token::Number(..) | Token::Sign("-")) {
            return Ok(Value::Integer(self.cursor.signed_number()?));
        }
        let start = self.cursor.span();
        self.cursor.accept("&");
        let name = self.cursor.name("a value")?.to_string();
        if self.cursor.is_next("(") {
            let message = format!("the value '{name}(…)' is not supported");
            return Err(self.cursor.error_at(start, message));
        }
        let offset = self.offset()?;
        Ok(Value::Address { name, offset, span: start.to(self.cursor.previous_span()) })
    }

    fn offset(&mut self) -> Result<Offset, Diagnostic> {
        if self.cursor.accept("+") {
            let span = self.cursor.span();
            let bytes = self.cursor.signed_number()?;
            let bytes = i64::try_from(bytes)
                .map_err(|_| self.cursor.error_at(span, "this offset is too big"))?;
            return Ok(Offset::Bytes(bytes));
        }
        Ok(self.index()?.map_or(Offset::None, Offset::Elements))
    }
}

/// Words that only a type contains, so that `int x` and `x int` can be distinguished.
fn is_type_word(word: &str) -> bool {
    crate::types::ScalarType::named(&[word], 0, 8).is_some()
        || matches!(word, "volatile" | "const" | "_Atomic" | "struct")
}

fn single_or(
    mut parts: Vec<Proposition>,
    join: fn(Vec<Proposition>) -> Proposition,
) -> Proposition {
    if parts.len() > 1 {
        return join(parts);
    }
    parts.pop().unwrap_or(Proposition::True)
}
