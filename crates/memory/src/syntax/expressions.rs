//! Expressions of cat, by precedence climbing. From loosest to tightest:
//! `|`, `++`, `;` (these three to the right), `\` (to the left), `&` (to the right), then
//! `*` between sets, prefix `~`, and the postfix operators.

use parallax_program::parsing::Descent;

use super::ast::*;
use super::lexer::Token;
use super::parser::{Parsed, Parser};
use crate::place::{Place, Problem};

impl Parser<'_> {
    /// A whole expression, in which a tuple needs no parentheses.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.nested(|parser| {
            let start = parser.here();
            let kind = match parser.peek() {
                Token::Keyword("let") => parser.let_in()?,
                Token::Keyword("fun") => parser.function()?,
                Token::Keyword("try") => parser.try_with()?,
                Token::Keyword("if") => parser.if_expression()?,
                Token::Keyword("match") => parser.match_expression()?,
                Token::Keyword("yield") => {
                    return Err(Problem::new(start, "'yield' is not supported"));
                }
                _ => return parser.tuple(),
            };
            let place = parser.place_since(start);
            Ok(Expr { kind, place })
        })
    }

    fn tuple(&mut self) -> Parsed<Expr> {
        let start = self.here();
        let first = self.operators()?;
        if self.peek() != Token::Symbol(",") {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.accept(",") {
            parts.push(self.operators()?);
        }
        Ok(Expr { kind: ExprKind::Tuple(parts), place: self.place_since(start) })
    }

    /// `let [rec] a = … and f(x) = …`, from the `let` on.
    pub(super) fn bindings(&mut self) -> Parsed<Bindings> {
        self.keyword("let")?;
        let recursive = self.accept_word("rec");
        let mut bindings = vec![self.binding()?];
        while self.accept_word("and") {
            bindings.push(self.binding()?);
        }
        Ok(Bindings { recursive, bindings })
    }

    fn binding(&mut self) -> Parsed<Binding> {
        let start = self.here();
        let (pattern, function) = match (self.peek(), self.peek_after(1)) {
            (Token::Name(name), Token::Symbol("(" | "_") | Token::Name(_)) => {
                self.next();
                (Pattern::One(Some(name.into())), Some(self.parameters()?))
            }
            (Token::Symbol("("), _) => (self.parameters()?, None),
            _ => (self.bare_pattern()?, None),
        };
        self.symbol("=")?;
        let body = self.expression()?;
        let place = self.place_since(start);
        let value = match function {
            None => body,
            Some(parameters) => {
                Expr { kind: ExprKind::Function(Box::new(Function { parameters, body })), place }
            }
        };
        Ok(Binding { pattern, value, place })
    }

    /// `x`, `_` or `(x, _, …)`.
    pub(super) fn parameters(&mut self) -> Parsed<Pattern> {
        if !self.accept("(") {
            return self.slot().map(Pattern::One);
        }
        if self.accept(")") {
            return Ok(Pattern::Tuple(Vec::new()));
        }
        let pattern = self.bare_pattern()?;
        self.symbol(")")?;
        Ok(pattern)
    }

    fn bare_pattern(&mut self) -> Parsed<Pattern> {
        let first = self.slot()?;
        if self.peek() != Token::Symbol(",") {
            return Ok(Pattern::One(first));
        }
        let mut slots = vec![first];
        while self.accept(",") {
            slots.push(self.slot()?);
        }
        Ok(Pattern::Tuple(slots))
    }

    fn slot(&mut self) -> Parsed<Option<Name>> {
        if self.accept("_") {
            return Ok(None);
        }
        self.expect_name().map(Some)
    }

    fn let_in(&mut self) -> Parsed<ExprKind> {
        let bindings = self.bindings()?;
        self.keyword("in")?;
        let body = Box::new(self.expression()?);
        Ok(ExprKind::Let { bindings, body })
    }

    fn function(&mut self) -> Parsed<ExprKind> {
        self.next();
        let parameters = self.parameters()?;
        self.symbol("->")?;
        let body = self.expression()?;
        Ok(ExprKind::Function(Box::new(Function { parameters, body })))
    }

    fn try_with(&mut self) -> Parsed<ExprKind> {
        self.next();
        let attempt = Box::new(self.expression()?);
        self.keyword("with")?;
        let otherwise = Box::new(self.expression()?);
        Ok(ExprKind::Try(attempt, otherwise))
    }

    fn if_expression(&mut self) -> Parsed<ExprKind> {
        self.next();
        let condition = Box::new(self.condition()?);
        self.keyword("then")?;
        let then = Box::new(self.expression()?);
        self.keyword("else")?;
        let otherwise = Box::new(self.expression()?);
        Ok(ExprKind::If { condition, then, otherwise })
    }

    fn condition(&mut self) -> Parsed<Condition> {
        let opened = (0..).take_while(|i| self.peek_after(*i) == Token::Symbol("(")).count();
        if let Token::Text(_) | Token::Keyword("not") = self.peek_after(opened) {
            return self.variant().map(Condition::Variant);
        }
        let left = self.expression()?;
        let make = match self.peek() {
            Token::Symbol("=") => Condition::Equal,
            Token::Keyword("subset") => Condition::Subset,
            Token::Keyword("in") => Condition::Member,
            _ => return Err(self.expected("'=', 'subset' or 'in'")),
        };
        self.next();
        Ok(make(left, self.expression()?))
    }

    /// Names of options in double quotes with `not`, `&&` and `||`.
    pub(super) fn variant(&mut self) -> Parsed<Variant> {
        self.nested(|parser| {
            let mut left = parser.variant_factor()?;
            let mut length = 0;
            while parser.accept("||") {
                length += 1;
                parser.check_chain(length)?;
                left = Variant::Or(Box::new(left), Box::new(parser.variant_factor()?));
            }
            Ok(left)
        })
    }

    fn variant_factor(&mut self) -> Parsed<Variant> {
        let mut left = self.variant_atom()?;
        let mut length = 0;
        while self.accept("&&") {
            length += 1;
            self.check_chain(length)?;
            left = Variant::And(Box::new(left), Box::new(self.variant_atom()?));
        }
        Ok(left)
    }

    fn variant_atom(&mut self) -> Parsed<Variant> {
        self.nested(|parser| {
            if parser.accept_word("not") {
                return Ok(Variant::Not(Box::new(parser.variant_atom()?)));
            }
            if parser.accept("(") {
                let inner = parser.variant()?;
                parser.symbol(")")?;
                return Ok(inner);
            }
            match parser.peek() {
                Token::Text(name) => {
                    parser.next();
                    Ok(Variant::Set(name.into()))
                }
                _ => Err(parser.expected("the name of a variant in double quotes")),
            }
        })
    }

    fn match_expression(&mut self) -> Parsed<ExprKind> {
        self.next();
        let subject = Box::new(self.expression()?);
        self.keyword("with")?;
        self.accept("||");
        let tags = matches!(
            (self.peek(), self.peek_after(1)),
            (Token::Tag(_), _) | (Token::Symbol("_"), Token::Symbol("->"))
        );
        let kind = if tags { self.tag_clauses(subject)? } else { self.set_clauses(subject)? };
        self.keyword("end")?;
        Ok(kind)
    }

    fn tag_clauses(&mut self, subject: Box<Expr>) -> Parsed<ExprKind> {
        let (mut clauses, mut default) = (Vec::new(), None);
        loop {
            match self.peek() {
                Token::Tag(tag) => {
                    self.next();
                    self.symbol("->")?;
                    clauses.push((tag.into(), self.expression()?));
                }
                Token::Symbol("_") => {
                    self.next();
                    self.symbol("->")?;
                    default = Some(Box::new(self.expression()?));
                }
                _ => return Err(self.expected("a tag or '_'")),
            }
            if default.is_some() || !self.accept("||") {
                return Ok(ExprKind::MatchTag { subject, clauses, default });
            }
        }
    }

    fn set_clauses(&mut self, subject: Box<Expr>) -> Parsed<ExprKind> {
        if self.peek() == Token::Symbol("{") {
            let empty = Box::new(self.empty_clause()?);
            self.symbol("||")?;
            let (split, otherwise) = self.split_clause()?;
            return Ok(ExprKind::MatchSet { subject, empty, split, otherwise });
        }
        let (split, otherwise) = self.split_clause()?;
        self.symbol("||")?;
        let empty = Box::new(self.empty_clause()?);
        Ok(ExprKind::MatchSet { subject, empty, split, otherwise })
    }

    fn empty_clause(&mut self) -> Parsed<Expr> {
        self.symbol("{")?;
        self.symbol("}")?;
        self.symbol("->")?;
        self.expression()
    }

    fn split_clause(&mut self) -> Parsed<(Split, Box<Expr>)> {
        let first = self.slot()?;
        let split = if self.accept("|") {
            let element = self.slot()?;
            self.symbol("++")?;
            Split::Middle { before: first, element, after: self.slot()? }
        } else {
            self.symbol("++")?;
            Split::First { element: first, rest: self.slot()? }
        };
        self.symbol("->")?;
        Ok((split, Box::new(self.expression()?)))
    }

    /// Unions and everything that binds tighter.
    pub(super) fn operators(&mut self) -> Parsed<Expr> {
        self.nested(|parser| {
            let start = parser.here();
            let mut parts = vec![parser.insertion()?];
            while parser.accept("|") {
                parts.push(parser.insertion()?);
            }
            Ok(parser.joined(start, parts, ExprKind::Union))
        })
    }

    fn joined(
        &self,
        start: Place,
        mut parts: Vec<Expr>,
        make: impl FnOnce(Vec<Expr>) -> ExprKind,
    ) -> Expr {
        match (parts.pop(), parts.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                parts.extend(last);
                Expr { kind: make(parts), place: self.place_since(start) }
            }
        }
    }

    fn insertion(&mut self) -> Parsed<Expr> {
        let start = self.here();
        let left = self.sequence()?;
        if !self.accept("++") {
            return Ok(left);
        }
        let right = self.nested(|parser| parser.insertion())?;
        Ok(self.binary(BinaryOp::Insert, start, left, right))
    }

    fn binary(&self, op: BinaryOp, start: Place, left: Expr, right: Expr) -> Expr {
        Expr {
            kind: ExprKind::Binary(op, Box::new(left), Box::new(right)),
            place: self.place_since(start),
        }
    }

    fn sequence(&mut self) -> Parsed<Expr> {
        let start = self.here();
        let mut parts = vec![self.difference()?];
        while self.accept(";") {
            parts.push(self.difference()?);
        }
        Ok(self.joined(start, parts, ExprKind::Sequence))
    }

    fn difference(&mut self) -> Parsed<Expr> {
        let start = self.here();
        let mut left = self.intersection()?;
        let mut length = 0;
        while self.accept("\\") {
            let right = self.intersection()?;
            left = self.binary(BinaryOp::Difference, start, left, right);
            length += 1;
            self.check_chain(length)?;
        }
        Ok(left)
    }

    /// Chains that grow the tree to the left are limited like nesting is.
    fn check_chain(&self, length: u32) -> Parsed<()> {
        const MAX_CHAIN: u32 = 64;
        if length > MAX_CHAIN {
            let message = format!("more than {MAX_CHAIN} operators in a chain");
            return Err(Problem::new(self.here(), message));
        }
        Ok(())
    }

    fn intersection(&mut self) -> Parsed<Expr> {
        let start = self.here();
        let left = self.product()?;
        if !self.accept("&") {
            return Ok(left);
        }
        let right = self.nested(|parser| parser.intersection())?;
        Ok(self.binary(BinaryOp::Intersection, start, left, right))
    }

    /// `s * t`. A `*` is a product where something follows that can start an operand.
    fn product(&mut self) -> Parsed<Expr> {
        let start = self.here();
        let left = self.prefix()?;
        if self.peek() == Token::Symbol("*") && starts_operand(self.peek_after(1)) {
            self.next();
            let right = self.prefix()?;
            return Ok(self.binary(BinaryOp::Product, start, left, right));
        }
        Ok(left)
    }

    fn prefix(&mut self) -> Parsed<Expr> {
        let start = self.here();
        if !self.accept("~") {
            return self.postfix();
        }
        let operand = self.nested(|parser| parser.prefix())?;
        Ok(Expr {
            kind: ExprKind::Unary(UnaryOp::Complement, Box::new(operand)),
            place: self.place_since(start),
        })
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let start = self.here();
        let mut operand = self.application()?;
        let mut length = 0;
        loop {
            let op = match (self.peek(), self.peek_after(1)) {
                (Token::Symbol("+"), _) => UnaryOp::Plus,
                (Token::Symbol("?"), _) => UnaryOp::Optional,
                (Token::Symbol("*"), next) if !starts_operand(next) => UnaryOp::Star,
                (Token::Symbol("^"), Token::Symbol("-1")) => {
                    self.next();
                    UnaryOp::Inverse
                }
                _ => return Ok(operand),
            };
            self.next();
            length += 1;
            self.check_chain(length)?;
            operand = Expr {
                kind: ExprKind::Unary(op, Box::new(operand)),
                place: self.place_since(start),
            };
        }
    }

    /// A name and its arguments, one after the other, or a simple expression.
    fn application(&mut self) -> Parsed<Expr> {
        let start = self.here();
        let mut function = self.argument()?;
        if !matches!(function.kind, ExprKind::Name(_)) {
            return Ok(function);
        }
        let mut length = 0;
        while starts_argument(self.peek()) {
            let argument = self.argument()?;
            length += 1;
            self.check_chain(length)?;
            function = Expr {
                kind: ExprKind::Apply(Box::new(function), Box::new(argument)),
                place: self.place_since(start),
            };
        }
        Ok(function)
    }

    /// A name, or an expression that is closed on both sides.
    pub(super) fn argument(&mut self) -> Parsed<Expr> {
        let start = self.here();
        let kind = match self.peek() {
            Token::Name(name) => ExprKind::Name(name.into()),
            Token::Tag(tag) => ExprKind::Tag(tag.into()),
            Token::Symbol("0") => ExprKind::Zero,
            Token::Symbol("_") => ExprKind::Universe,
            Token::Symbol("(") => return self.parenthesised(),
            Token::Keyword("begin") => {
                self.next();
                let inner = self.expression()?;
                self.keyword("end")?;
                return Ok(inner);
            }
            Token::Symbol("[") => {
                self.next();
                let inner = self.expression()?;
                if self.peek() != Token::Symbol("]") {
                    return Err(self.expected("']'"));
                }
                ExprKind::Unary(UnaryOp::Identity, Box::new(inner))
            }
            Token::Symbol("{") => {
                self.next();
                let kind = ExprKind::SetLiteral(self.list("}")?);
                let place = self.place_since(start);
                return Ok(Expr { kind, place });
            }
            _ => return Err(self.expected("an expression")),
        };
        self.next();
        let place = self.place_since(start);
        Ok(Expr { kind, place })
    }

    fn parenthesised(&mut self) -> Parsed<Expr> {
        let start = self.here();
        self.symbol("(")?;
        if self.accept(")") {
            return Ok(Expr { kind: ExprKind::Tuple(Vec::new()), place: self.place_since(start) });
        }
        let inner = self.expression()?;
        self.symbol(")")?;
        Ok(inner)
    }

    /// Expressions with commas between, up to and with the closing symbol.
    pub(super) fn list(&mut self, close: &'static str) -> Parsed<Vec<Expr>> {
        let mut items = Vec::new();
        if self.accept(close) {
            return Ok(items);
        }
        loop {
            items.push(self.operators()?);
            if !self.accept(",") {
                self.symbol(close)?;
                return Ok(items);
            }
        }
    }
}

fn starts_argument(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::Name(_)
            | Token::Tag(_)
            | Token::Symbol("0" | "_" | "(" | "[" | "{")
            | Token::Keyword("begin")
    )
}

fn starts_operand(token: Token<'_>) -> bool {
    starts_argument(token) || token == Token::Symbol("~")
}
