//! Expressions of the text form, by precedence climbing. Both how deep the text nests and
//! how deep the tree gets are limited, so that no input exhausts the stack.

use super::cursor::{Parsed, Parser};
use super::lexer::Token;
use super::{BINARY_FUNCTIONS, BINARY_OPS, Level, UNARY_FUNCTIONS};
use crate::check::MAX_DEPTH;
use crate::parsing::Descent;
use crate::{BinaryOp, Bits, Expr, UnaryOp};

/// An expression and the height of its tree.
struct Tree {
    expr: Expr,
    height: u32,
}

impl Tree {
    fn leaf(expr: Expr) -> Tree {
        Tree { expr, height: 1 }
    }
}

impl Parser<'_> {
    pub fn expr(&mut self) -> Parsed<Expr> {
        Ok(self.tree(Level::Comparison)?.expr)
    }

    fn tree(&mut self, level: Level) -> Parsed<Tree> {
        let mut left = self.operand()?;
        while let Some((op, found)) = self.binary_op().filter(|(_, found)| *found >= level) {
            self.next();
            let right = self.tree(found.tighter())?;
            let height = self.grow(left.height.max(right.height))?;
            let expr = Expr::binary(op, left.expr, right.expr);
            left = Tree { expr, height };
            let again = self.binary_op().map(|(_, level)| level);
            if found == Level::Comparison && again == Some(Level::Comparison) {
                let message = "comparisons do not chain: use parentheses";
                return Err(self.error_at(self.span(), message));
            }
        }
        Ok(left)
    }

    fn binary_op(&self) -> Option<(BinaryOp, Level)> {
        let Token::Symbol(symbol) = self.peek() else {
            return None;
        };
        let entry = BINARY_OPS.iter().find(|(_, text, _)| *text == symbol);
        entry.map(|(op, _, level)| (*op, *level))
    }

    fn grow(&self, height: u32) -> Parsed<u32> {
        match height < MAX_DEPTH {
            true => Ok(height + 1),
            false => {
                let message = format!("this is nested more than {MAX_DEPTH} deep");
                Err(self.error_at(self.span(), message))
            }
        }
    }

    fn operand(&mut self) -> Parsed<Tree> {
        self.nested(Self::operand_inside)
    }

    fn operand_inside(&mut self) -> Parsed<Tree> {
        if self.accept("(") {
            let tree = self.tree(Level::Comparison)?;
            self.symbol(")")?;
            return Ok(tree);
        }
        if self.accept("-") {
            return match self.peek() {
                Token::Number(_) => self.constant(true),
                _ => self.prefix(UnaryOp::Neg),
            };
        }
        if self.accept("~") {
            return self.prefix(UnaryOp::Not);
        }
        if self.accept("&") {
            return self.global_address().map(Tree::leaf);
        }
        if self.accept("@") {
            let id = self.function_name()?;
            return Ok(Tree::leaf(Expr::FunctionAddress(id)));
        }
        match (self.peek(), self.peek_after(1)) {
            (Token::Number(_), _) => self.constant(false),
            (Token::Word(name), Token::Symbol("(")) => self.function_call(name),
            (Token::Word(_) | Token::Quoted(_), _) => {
                let var = self.variable()?;
                Ok(Tree::leaf(Expr::Var(var)))
            }
            _ => Err(self.expected("an expression")),
        }
    }

    fn prefix(&mut self, op: UnaryOp) -> Parsed<Tree> {
        let operand = self.operand()?;
        let height = self.grow(operand.height)?;
        let expr = Expr::unary(op, operand.expr);
        Ok(Tree { expr, height })
    }

    /// `1:32`, after the minus sign if there is one.
    fn constant(&mut self, negative: bool) -> Parsed<Tree> {
        let start = self.span();
        let value: u128 = self.number("a number")?;
        if !self.accept(":") {
            let error = self.expected("':' and the width of the constant");
            return Err(error.with_help(format!("a 32-bit constant is '{value}:32'")));
        }
        let width = self.width()?;
        let bits =
            if negative { Bits::new(width, value.wrapping_neg()) } else { Bits::new(width, value) };
        let largest =
            if negative { 1 << (width - 1) } else { Bits::new(width, u128::MAX).unsigned() };
        if value > largest {
            let span = start.to(self.previous_span());
            let sign = if negative { "-" } else { "" };
            let message = format!("{sign}{value} does not fit into {width} bits");
            return Err(self.error_at(span, message));
        }
        Ok(Tree::leaf(Expr::Const(bits)))
    }

    /// `zext(x, 64)`, with the name next.
    fn function_call(&mut self, name: &str) -> Parsed<Tree> {
        let span = self.span();
        self.next();
        self.symbol("(")?;
        let unary = UNARY_FUNCTIONS.iter().find(|(_, text)| *text == name);
        let binary = BINARY_FUNCTIONS.iter().find(|(_, text)| *text == name);
        let tree = match name {
            _ if let Some((op, _)) = binary => {
                let (left, right) = (self.argument_and_comma()?, self.argument()?);
                let heights = [left.height, right.height];
                self.node(Expr::binary(*op, left.expr, right.expr), &heights)?
            }
            "extract" => self.extract()?,
            "zext" | "sext" => self.extend(name == "sext")?,
            "concat" => self.concat()?,
            "select" => self.select()?,
            _ => match unary {
                Some((op, _)) => {
                    let value = self.argument()?;
                    let expr = Expr::unary(*op, value.expr);
                    self.node(expr, &[value.height])?
                }
                None => {
                    let message = format!("there is no operator '{name}'");
                    let help = "functions of the program are called by 'call' on a line of its own";
                    return Err(self.error_at(span, message).with_help(help));
                }
            },
        };
        self.symbol(")")?;
        Ok(tree)
    }

    fn argument(&mut self) -> Parsed<Tree> {
        self.tree(Level::Comparison)
    }

    fn argument_and_comma(&mut self) -> Parsed<Tree> {
        let argument = self.argument()?;
        self.symbol(",")?;
        Ok(argument)
    }

    fn node(&self, expr: Expr, heights: &[u32]) -> Parsed<Tree> {
        let height = self.grow(heights.iter().copied().max().unwrap_or(0))?;
        Ok(Tree { expr, height })
    }

    fn extract(&mut self) -> Parsed<Tree> {
        let value = self.argument_and_comma()?;
        let low = self.number("the lowest bit")?;
        self.symbol(",")?;
        let width = self.width()?;
        self.node(value.expr.extract(low, width), &[value.height])
    }

    fn extend(&mut self, signed: bool) -> Parsed<Tree> {
        let value = self.argument_and_comma()?;
        let width = self.width()?;
        let expr = match signed {
            true => value.expr.sign_extend(width),
            false => value.expr.zero_extend(width),
        };
        self.node(expr, &[value.height])
    }

    fn concat(&mut self) -> Parsed<Tree> {
        let high = self.argument_and_comma()?;
        let low = self.argument()?;
        self.node(high.expr.concat(low.expr), &[high.height, low.height])
    }

    fn select(&mut self) -> Parsed<Tree> {
        let condition = self.argument_and_comma()?;
        let then = self.argument_and_comma()?;
        let otherwise = self.argument()?;
        let heights = [condition.height, then.height, otherwise.height];
        let expr = condition.expr.select(then.expr, otherwise.expr);
        self.node(expr, &heights)
    }
}
