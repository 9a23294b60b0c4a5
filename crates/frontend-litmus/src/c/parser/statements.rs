//! Statements.

use parallax_program::parsing::Descent;

use super::super::ast::{Expr, Stmt, StmtKind};
use super::{Parsed, Parser};
use crate::c::lexer::Token;

impl<'a> Parser<'a> {
    /// The statements between braces. Those that cannot be read are reported and left out.
    pub(super) fn block(&mut self) -> Parsed<Vec<Stmt>> {
        let open = self.span();
        self.symbol("{")?;
        let mut list = Vec::new();
        while !self.accept("}") {
            if self.is_at_end() {
                return Err(self.error_at(open, "'{' without its '}'"));
            }
            let start = self.position();
            match self.statement() {
                Ok(statement) => list.push(statement),
                Err(error) => {
                    self.errors.push(error);
                    self.skip_statement(start);
                    self.give_up_on_many_errors();
                }
            }
        }
        Ok(list)
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        self.nested(|parser| {
            let start = parser.span();
            let kind = parser.statement_kind()?;
            let span = parser.since(start);
            Ok(Stmt { kind, span })
        })
    }

    fn boxed_statement(&mut self) -> Parsed<Box<Stmt>> {
        Ok(Box::new(self.statement()?))
    }

    fn statement_kind(&mut self) -> Parsed<StmtKind> {
        if self.accept(";") {
            return Ok(StmtKind::Empty);
        }
        if self.is_next("{") {
            return Ok(StmtKind::Block(self.block()?));
        }
        if self.at_label() {
            let (name, _) = self.identifier("a label")?;
            self.symbol(":")?;
            // A label may stand at the end of a block, as C23 allows.
            let labelled = if self.is_next("}") {
                let span = self.span();
                let kind = StmtKind::Empty;
                Box::new(Stmt { kind, span })
            } else {
                self.boxed_statement()?
            };
            return Ok(StmtKind::Label(name, labelled));
        }
        if self.at_type() {
            let list = self.declaration()?;
            self.symbol(";")?;
            return Ok(StmtKind::Declare(list));
        }
        match self.name() {
            Some(word) => match self.keyword_statement(word)? {
                Some(kind) => Ok(kind),
                None => self.expression_statement(),
            },
            None => self.expression_statement(),
        }
    }

    fn at_label(&self) -> bool {
        let plain = self.name().is_some_and(|name| name != "default");
        plain && self.peek_after(1) == Token::Punctuation(":")
    }

    fn expression_statement(&mut self) -> Parsed<StmtKind> {
        let expr = self.expression()?;
        self.symbol(";")?;
        Ok(StmtKind::Expr(expr))
    }

    fn keyword_statement(&mut self, word: &str) -> Parsed<Option<StmtKind>> {
        let start = self.span();
        let kind = match word {
            "if" => {
                self.next();
                let condition = self.parenthesised()?;
                let then = self.boxed_statement()?;
                let otherwise = self.accept_word("else");
                let otherwise = otherwise.then(|| self.boxed_statement()).transpose()?;
                StmtKind::If(condition, then, otherwise)
            }
            "while" => {
                self.next();
                let condition = self.parenthesised()?;
                StmtKind::While(condition, self.boxed_statement()?)
            }
            "do" => {
                self.next();
                let body = self.boxed_statement()?;
                if !self.accept_word("while") {
                    return Err(self.expected("'while'"));
                }
                let condition = self.parenthesised()?;
                self.symbol(";")?;
                StmtKind::DoWhile(body, condition)
            }
            "for" => self.for_statement()?,
            "break" => self.jump(StmtKind::Break)?,
            "continue" => self.jump(StmtKind::Continue)?,
            "return" => {
                self.next();
                let value = (!self.is_next(";")).then(|| self.expression()).transpose()?;
                self.symbol(";")?;
                StmtKind::Return(value)
            }
            "goto" => {
                self.next();
                let (label, _) = self.identifier("a label")?;
                self.symbol(";")?;
                StmtKind::Goto(label)
            }
            "switch" | "case" | "default" | "asm" | "__asm__" | "typedef" => {
                return Err(self.error_at(start, format!("'{word}' is not supported")));
            }
            "else" => return Err(self.error_at(start, "'else' without 'if'")),
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    fn jump(&mut self, kind: StmtKind) -> Parsed<StmtKind> {
        self.next();
        self.symbol(";")?;
        Ok(kind)
    }

    fn parenthesised(&mut self) -> Parsed<Expr> {
        self.symbol("(")?;
        let expr = self.expression()?;
        self.symbol(")")?;
        Ok(expr)
    }

    fn for_statement(&mut self) -> Parsed<StmtKind> {
        self.next();
        self.symbol("(")?;
        let start = self.span();
        let kind = if self.at_type() {
            let list = self.declaration()?;
            self.symbol(";")?;
            StmtKind::Declare(list)
        } else if self.accept(";") {
            StmtKind::Empty
        } else {
            self.expression_statement()?
        };
        let span = self.since(start);
        let init = Box::new(Stmt { kind, span });
        let condition = (!self.is_next(";")).then(|| self.expression()).transpose()?;
        self.symbol(";")?;
        let step = (!self.is_next(")")).then(|| self.expression()).transpose()?;
        self.symbol(")")?;
        let body = self.boxed_statement()?;
        Ok(StmtKind::For { init, condition, step, body })
    }
}
