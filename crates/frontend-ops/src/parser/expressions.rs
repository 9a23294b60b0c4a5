//! Expressions on temporaries, and conditions.
//!
//! Parentheses may be around either, so one pass reads both and says which it was.

use parallax_program::Span;
use parallax_program::parsing::Descent;

use super::cursor::{Parsed, Parser};
use crate::lexer::Token;
use crate::syntax::{Comparison, Condition, Exp};

/// What was read.
enum Term {
    Value(Exp),
    Truth(Condition),
}

impl<'a> Parser<'a> {
    /// A whole expression.
    pub fn exp(&mut self) -> Parsed<Exp> {
        self.operators = 0;
        let span = self.span();
        let term = self.disjunction()?;
        self.value(term, span)
    }

    /// A whole condition.
    pub fn condition(&mut self) -> Parsed<Condition> {
        self.operators = 0;
        let span = self.span();
        let term = self.disjunction()?;
        self.truth(term, span)
    }

    /// `(condition)`
    pub fn parenthesised_condition(&mut self) -> Parsed<Condition> {
        self.symbol("(")?;
        let condition = self.nested(Self::condition)?;
        self.symbol(")")?;
        Ok(condition)
    }

    /// The conditions of an invariant may speak of locations, too.
    pub fn invariant(&mut self) -> Parsed<Condition> {
        self.scope.in_invariant = true;
        let invariant = self.condition();
        self.scope.in_invariant = false;
        invariant
    }

    fn value(&self, term: Term, start: Span) -> Parsed<Exp> {
        match term {
            Term::Value(exp) => Ok(exp),
            Term::Truth(_) => {
                let span = start.to(self.previous_span());
                let error = self.error_at(span, "expected an expression, found a condition");
                Err(error.with_help("(condition) ? 1 : 0 makes a number of it"))
            }
        }
    }

    fn truth(&self, term: Term, start: Span) -> Parsed<Condition> {
        match term {
            Term::Truth(condition) => Ok(condition),
            Term::Value(_) => {
                let span = start.to(self.previous_span());
                Err(self.error_at(span, "expected a condition, found an expression"))
            }
        }
    }

    fn disjunction(&mut self) -> Parsed<Term> {
        self.chain("\\/", Condition::Or, Self::conjunction)
    }

    fn conjunction(&mut self) -> Parsed<Term> {
        self.chain("/\\", Condition::And, Self::comparison)
    }

    fn chain(
        &mut self,
        symbol: &str,
        make: fn(Box<Condition>, Box<Condition>) -> Condition,
        part: fn(&mut Self) -> Parsed<Term>,
    ) -> Parsed<Term> {
        let span = self.span();
        let mut left = part(self)?;
        while self.accept(symbol) {
            self.count_operator()?;
            let first = self.truth(left, span)?;
            let span = self.span();
            let second = part(self)?;
            let second = self.truth(second, span)?;
            left = Term::Truth(make(Box::new(first), Box::new(second)));
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Parsed<Term> {
        let span = self.span();
        let left = self.sum()?;
        let found = Comparison::ALL.iter().find(|(_, symbol)| self.is_next(symbol));
        // A `>` before a brace is the end of an invariant.
        let ends = self.is_next(">") && self.peek_after(1) == Token::Symbol("}");
        let Some((comparison, _)) = found.filter(|_| !ends) else {
            return Ok(left);
        };
        self.next();
        self.count_operator()?;
        let left = self.value(left, span)?;
        let span = self.span();
        let right = self.sum()?;
        let right = self.value(right, span)?;
        Ok(Term::Truth(Condition::Compare(*comparison, left, right)))
    }

    fn sum(&mut self) -> Parsed<Term> {
        let span = self.span();
        let mut left = self.basic()?;
        loop {
            let make = match self.peek() {
                Token::Symbol("+") => Exp::Add,
                Token::Symbol("-") => Exp::Sub,
                _ => return Ok(left),
            };
            self.next();
            self.count_operator()?;
            let first = self.value(left, span)?;
            let span = self.span();
            let second = self.basic()?;
            let second = self.value(second, span)?;
            left = Term::Value(make(Box::new(first), Box::new(second)));
        }
    }

    fn basic(&mut self) -> Parsed<Term> {
        let span = self.span();
        match self.peek() {
            Token::Number(number) => {
                self.next();
                Ok(Term::Value(Exp::Number(number)))
            }
            Token::Symbol("[") => self.location_in_exp(span),
            Token::Symbol("(") => self.parenthesised(),
            Token::Word("T") => {
                self.next();
                Ok(Term::Truth(Condition::True))
            }
            Token::Word("F") => {
                self.next();
                Ok(Term::Truth(Condition::False))
            }
            Token::Word("not") => {
                self.next();
                self.count_operator()?;
                let inner = self.inside()?;
                let inner = self.truth(inner, span)?;
                Ok(Term::Truth(Condition::Not(Box::new(inner))))
            }
            Token::Word(_) => self.temporary_in_exp(span),
            _ => Err(self.expected("an expression or a condition")),
        }
    }

    /// `(…)`
    fn inside(&mut self) -> Parsed<Term> {
        self.symbol("(")?;
        let inner = self.nested(Self::disjunction)?;
        self.symbol(")")?;
        Ok(inner)
    }

    /// Something in parentheses, or `(condition) ? exp : exp`
    fn parenthesised(&mut self) -> Parsed<Term> {
        let span = self.span();
        let inner = self.inside()?;
        if !self.accept("?") {
            return Ok(inner);
        }
        self.count_operator()?;
        let condition = self.truth(inner, span)?;
        let span = self.span();
        let then = self.nested(Self::sum)?;
        let then = self.value(then, span)?;
        self.symbol(":")?;
        let span = self.span();
        let otherwise = self.nested(Self::sum)?;
        let otherwise = self.value(otherwise, span)?;
        let choice = Exp::Choice(Box::new(condition), Box::new(then), Box::new(otherwise));
        Ok(Term::Value(choice))
    }

    fn temporary_in_exp(&mut self, span: Span) -> Parsed<Term> {
        let name = self.name("a temporary")?;
        if self.scope.is_register(name) {
            let message = format!("'{name}' is a register; expressions are on temporaries");
            let help = format!("read it first: val_{name} := {name}");
            return Err(self.error_at(span, message).with_help(help));
        }
        Ok(Term::Value(Exp::Temporary(name.to_string())))
    }

    fn location_in_exp(&mut self, span: Span) -> Parsed<Term> {
        let name = self.declared_location()?;
        if self.scope.in_invariant {
            return Ok(Term::Value(Exp::Location(name)));
        }
        let message = format!("'[{name}]' is in memory; expressions are on temporaries");
        let help = "read it first, into a temporary, in an instruction";
        Err(self.error_at(span, message).with_help(help))
    }
}
