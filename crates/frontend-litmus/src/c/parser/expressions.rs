//! Expressions, by precedence climbing.

use parallax_program::Span;

use parallax_program::parsing::Descent;

use super::super::ast::{BinaryOp, Expr, ExprKind, LogicalOp, UnaryOp};
use super::super::lexer::{Number, Token};
use super::super::types::CType;
use super::{Parsed, Parser};

/// An operator with two operands.
#[derive(Clone, Copy)]
enum Infix {
    Binary(BinaryOp),
    Logical(LogicalOp),
}

/// How tightly an operator binds (more is tighter), and what it is.
fn infix(punctuation: &str) -> Option<(u32, Infix)> {
    use BinaryOp::*;
    let binary = |level, op| Some((level, Infix::Binary(op)));
    match punctuation {
        "||" => Some((1, Infix::Logical(LogicalOp::Or))),
        "&&" => Some((2, Infix::Logical(LogicalOp::And))),
        "|" => binary(3, Or),
        "^" => binary(4, Xor),
        "&" => binary(5, And),
        "==" => binary(6, Eq),
        "!=" => binary(6, Ne),
        "<" => binary(7, Lt),
        ">" => binary(7, Gt),
        "<=" => binary(7, Le),
        ">=" => binary(7, Ge),
        "<<" => binary(8, Shl),
        ">>" => binary(8, Shr),
        "+" => binary(9, Add),
        "-" => binary(9, Sub),
        "*" => binary(10, Mul),
        "/" => binary(10, Div),
        "%" => binary(10, Rem),
        _ => None,
    }
}

/// The operator of a compound assignment such as `+=`.
fn compound(punctuation: &str) -> Option<BinaryOp> {
    let operator = punctuation.strip_suffix('=')?;
    match infix(operator)? {
        (3.., Infix::Binary(op)) if !matches!(operator, "<" | ">" | "=" | "!") => Some(op),
        _ => None,
    }
}

impl<'a> Parser<'a> {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let mut left = self.assignment()?;
        while self.accept(",") {
            let right = self.assignment()?;
            let span = left.span.to(right.span);
            left = self.node(ExprKind::Comma(left.into(), right.into()), span)?;
        }
        Ok(left)
    }

    pub(super) fn assignment(&mut self) -> Parsed<Expr> {
        self.nested(|parser| {
            let left = parser.conditional()?;
            let Token::Punctuation(punctuation) = parser.peek() else {
                return Ok(left);
            };
            let operator = compound(punctuation);
            if punctuation != "=" && operator.is_none() {
                return Ok(left);
            }
            parser.next();
            let right = parser.assignment()?;
            let span = left.span.to(right.span);
            parser.node(ExprKind::Assign(operator, left.into(), right.into()), span)
        })
    }

    fn conditional(&mut self) -> Parsed<Expr> {
        let condition = self.binary(0)?;
        if !self.accept("?") {
            return Ok(condition);
        }
        self.nested(|parser| {
            let then = parser.expression()?;
            parser.symbol(":")?;
            let otherwise = parser.conditional()?;
            let span = condition.span.to(otherwise.span);
            let kind = ExprKind::Conditional(condition.into(), then.into(), otherwise.into());
            parser.node(kind, span)
        })
    }

    /// Operators that bind tighter than `level`.
    fn binary(&mut self, level: u32) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while let Token::Punctuation(punctuation) = self.peek() {
            let Some((tightness, operator)) = infix(punctuation) else {
                break;
            };
            if tightness <= level {
                break;
            }
            self.next();
            let right = self.binary(tightness)?;
            let span = left.span.to(right.span);
            let kind = match operator {
                Infix::Binary(op) => ExprKind::Binary(op, left.into(), right.into()),
                Infix::Logical(op) => ExprKind::Logical(op, left.into(), right.into()),
            };
            left = self.node(kind, span)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        self.nested(|parser| parser.unary_unlimited())
    }

    fn unary_unlimited(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let Token::Punctuation(punctuation) = self.peek() else {
            if self.name() == Some("sizeof") {
                return self.size_of();
            }
            return self.postfix();
        };
        if punctuation == "(" && self.type_follows() {
            return self.cast();
        }
        let make: fn(Box<Expr>) -> ExprKind = match punctuation {
            "*" => ExprKind::Deref,
            "&" => ExprKind::AddressOf,
            "+" => |e| ExprKind::Unary(UnaryOp::Plus, e),
            "-" => |e| ExprKind::Unary(UnaryOp::Negate, e),
            "~" => |e| ExprKind::Unary(UnaryOp::Complement, e),
            "!" => |e| ExprKind::Unary(UnaryOp::Not, e),
            "++" | "--" => |place| ExprKind::Step { add: true, prefix: true, place },
            _ => return self.postfix(),
        };
        self.next();
        let operand = self.unary()?;
        let span = start.to(operand.span);
        let mut kind = make(operand.into());
        if let ExprKind::Step { add, .. } = &mut kind {
            *add = punctuation == "++";
        }
        self.node(kind, span)
    }

    fn cast(&mut self) -> Parsed<Expr> {
        let start = self.span();
        self.symbol("(")?;
        let ty = self.full_type()?;
        self.symbol(")")?;
        let operand = self.unary()?;
        let span = start.to(operand.span);
        self.node(ExprKind::Cast(ty, operand.into()), span)
    }

    fn size_of(&mut self) -> Parsed<Expr> {
        let start = self.span();
        self.next();
        if !self.is_next("(") || !self.type_follows() {
            let message = "'sizeof' of an expression is not supported";
            return Err(self.error_at(start, message));
        }
        self.symbol("(")?;
        let ty = self.full_type()?;
        self.symbol(")")?;
        self.node(ExprKind::SizeOf(ty), self.since(start))
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let mut expr = self.primary()?;
        while let Token::Punctuation(punctuation) = self.peek() {
            match punctuation {
                "++" | "--" => {
                    self.next();
                    let kind = ExprKind::Step {
                        add: punctuation == "++",
                        prefix: false,
                        place: expr.into(),
                    };
                    expr = self.node(kind, self.since(start))?;
                }
                "[" => {
                    self.next();
                    let index = self.expression()?;
                    self.symbol("]")?;
                    let span = self.since(start);
                    let sum = ExprKind::Binary(BinaryOp::Add, expr.into(), index.into());
                    let sum = self.node(sum, span)?;
                    expr = self.node(ExprKind::Deref(sum.into()), span)?;
                }
                "." | "->" => {
                    let message = "members of structures are not supported";
                    return Err(self.error_at(self.span(), message));
                }
                "(" => return Err(self.error_at(start, "only functions by name can be called")),
                _ => break,
            }
        }
        Ok(expr)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        match self.peek() {
            Token::Number(number) => {
                self.next();
                self.node(literal(number), start)
            }
            Token::Punctuation("(") => {
                self.next();
                let mut inner = self.expression()?;
                self.symbol(")")?;
                inner.span = self.since(start);
                Ok(inner)
            }
            Token::Name(_) => self.named(start),
            _ => Err(self.expected("an expression")),
        }
    }

    fn named(&mut self, start: Span) -> Parsed<Expr> {
        let (name, _) = self.identifier("an expression")?;
        let kind = match name.as_str() {
            "NULL" => ExprKind::Number(0, CType::Void.pointer()),
            "true" => ExprKind::Number(1, CType::INT),
            "false" => ExprKind::Number(0, CType::INT),
            _ if self.accept("(") => ExprKind::Call(name, self.arguments()?),
            _ => ExprKind::Name(name),
        };
        self.node(kind, self.since(start))
    }

    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut arguments = Vec::new();
        if self.accept(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.assignment()?);
            if self.accept(")") {
                return Ok(arguments);
            }
            if !self.accept(",") {
                return Err(self.expected("',' or ')'"));
            }
        }
    }
}

fn literal(number: Number) -> ExprKind {
    let ty = CType::Int { width: if number.long { 64 } else { 32 }, signed: !number.unsigned };
    ExprKind::Number(number.value, ty)
}
