//! A program as a litmus test of C, where it can be one: scalars of one size, no loops, no library.
//!
//! The condition asks whether the assertion of `main` can fail.

use std::fmt::Write;

use crate::ast::{Access, Expr, Global, LOCALS, Op, Order, Place, Program, Shape, Stmt, Type};
use crate::print_c::{failure_order, results};

/// The test, or nothing if the program is more than a test can be.
pub fn print(program: &Program) -> Option<String> {
    let [Stmt::Assert(condition)] = program.after.as_slice() else { return None };
    let is_word = |ty: &Type| matches!(ty, Type::U32 | Type::I32);
    let is_small =
        program.before.is_empty() && !program.detached && program.locals.iter().all(is_word);
    if !is_small || !program.globals.iter().all(is_simple) {
        return None;
    }
    if program.threads.iter().enumerate().any(|(thread, body)| thread != *body) {
        return None;
    }
    let mut text = String::from("C generated\n{ ");
    for (number, global) in program.globals.iter().enumerate() {
        let _ = write!(text, "x{number}={}; ", global.init);
    }
    text += "}\n";
    for thread in 0..program.threads.len() {
        let parameters: Vec<String> =
            (0..).zip(&program.globals).map(|(number, global)| parameter(number, global)).collect();
        let _ = writeln!(text, "P{thread}({}) {{", parameters.join(", "));
        for local in 0..LOCALS {
            let _ = writeln!(text, "  int r{local} = 0;");
        }
        let mut printer = Printer { program, text: &mut text };
        printer.all(program.bodies.get(thread)?, 1)?;
        text += "}\n";
    }
    let mut observed: String =
        (0..program.globals.len()).map(|number| format!("x{number}; ")).collect();
    for (thread, local) in results(program) {
        let _ = write!(observed, "{thread}:r{local}; ");
    }
    if !observed.is_empty() {
        let _ = writeln!(text, "locations [{observed}]");
    }
    let _ = writeln!(text, "exists (not ({}))", proposition(condition)?);
    Some(text)
}

fn is_simple(global: &Global) -> bool {
    matches!(global.shape, Shape::Scalar(Type::I32 | Type::U32))
        && global.access != Access::Volatile
        && !global.thread_local
        && !global.late
        && global.init < 0x8000_0000
}

fn parameter(number: usize, global: &Global) -> String {
    match global.access {
        Access::Atomic => format!("atomic_int *x{number}"),
        _ => format!("int *x{number}"),
    }
}

/// A condition on results and final values.
fn proposition(condition: &Expr) -> Option<String> {
    Some(match condition {
        Expr::Not(inner) => format!("not ({})", proposition(inner)?),
        Expr::Binary(Op::Both, left, right) => {
            format!("({} /\\ {})", proposition(left)?, proposition(right)?)
        }
        Expr::Binary(Op::Either, left, right) => {
            format!("({} \\/ {})", proposition(left)?, proposition(right)?)
        }
        Expr::Binary(op @ (Op::Eq | Op::Ne), left, right) => {
            let Expr::Const(value) = **right else { return None };
            let place = match **left {
                Expr::Result { thread, local } => format!("{thread}:r{}", local % LOCALS),
                Expr::Final(global) => format!("x{global}"),
                _ => return None,
            };
            match op {
                Op::Eq => format!("{place}={value}"),
                _ => format!("not ({place}={value})"),
            }
        }
        _ => return None,
    })
}

struct Printer<'a> {
    program: &'a Program,
    text: &'a mut String,
}

impl Printer<'_> {
    fn line(&mut self, depth: usize, line: &str) -> Option<()> {
        writeln!(self.text, "{}{line}", "  ".repeat(depth)).ok()
    }

    fn all(&mut self, statements: &[Stmt], depth: usize) -> Option<()> {
        statements.iter().try_for_each(|statement| self.statement(statement, depth))
    }

    /// The name of a variable, and whether it is atomic.
    fn place(&self, place: &Place) -> Option<(String, bool)> {
        let Place::Global(number) = place else { return None };
        let number = number % self.program.globals.len().max(1);
        let global = self.program.globals.get(number)?;
        Some((format!("x{number}"), global.access == Access::Atomic))
    }

    fn statement(&mut self, statement: &Stmt, depth: usize) -> Option<()> {
        let local = |local: &usize| format!("r{}", local % LOCALS);
        match statement {
            Stmt::Load { to, from, order } => {
                let (name, is_atomic) = self.place(from)?;
                let to = local(to);
                let order = simple(order.of_load())?;
                match is_atomic {
                    true => {
                        let line = format!("{to} = atomic_load_explicit({name}, {order});");
                        self.line(depth, &line)
                    }
                    false => self.line(depth, &format!("{to} = *{name};")),
                }
            }
            Stmt::Store { to, value, order } => {
                let (name, is_atomic) = self.place(to)?;
                let (value, order) = (expression(value)?, simple(order.of_store())?);
                match is_atomic {
                    true => {
                        let line = format!("atomic_store_explicit({name}, {value}, {order});");
                        self.line(depth, &line)
                    }
                    false => self.line(depth, &format!("*{name} = {value};")),
                }
            }
            Stmt::Rmw { to, op, place, value, order } => {
                let (name, true) = self.place(place)? else { return None };
                let (to, value, order) = (local(to), expression(value)?, simple(*order)?);
                let op = op.name();
                let line = format!("{to} = atomic_{op}_explicit({name}, {value}, {order});");
                self.line(depth, &line)
            }
            Stmt::Cas { .. } => self.compare_and_swap(statement, depth),
            Stmt::Fence(order) => {
                let order = if *order == Order::Relaxed { Order::Acquire } else { *order };
                self.line(depth, &format!("atomic_thread_fence({});", simple(order)?))
            }
            Stmt::Set { to, value } => {
                let line = format!("{} = {};", local(to), expression(value)?);
                self.line(depth, &line)
            }
            Stmt::If { condition, then, other } => {
                let condition = expression(condition)?;
                self.line(depth, &format!("if ({condition}) {{"))?;
                self.all(then, depth + 1)?;
                self.line(depth, "} else {")?;
                self.all(other, depth + 1)?;
                self.line(depth, "}")
            }
            _ => None,
        }
    }

    fn compare_and_swap(&mut self, statement: &Stmt, depth: usize) -> Option<()> {
        let Stmt::Cas { ok, old, place, expected, desired, weak, success, failure } = statement
        else {
            return None;
        };
        let (name, true) = self.place(place)? else { return None };
        let (ok, old) = (ok % LOCALS, old % LOCALS);
        if ok == old {
            return None;
        }
        let (expected, desired) = (expression(expected)?, expression(desired)?);
        let kind = if *weak { "weak" } else { "strong" };
        let (success, failure) = (simple(*success)?, simple(failure_order(*failure))?);
        // The desired value is what it was before the expected one is written down.
        self.line(depth, &format!("d = {desired}; r{old} = {expected};"))?;
        let orders = format!("{success}, {failure}");
        let call = format!("atomic_compare_exchange_{kind}_explicit({name}, &r{old}, d, {orders})");
        self.line(depth, &format!("r{ok} = {call};"))
    }
}

/// Orders that mean the same in both kinds of program: compilers read `consume` as `acquire`.
fn simple(order: Order) -> Option<&'static str> {
    (order != Order::Consume).then(|| order.name())
}

/// Expressions whose values are the same whether numbers have signs or not.
fn expression(expression_: &Expr) -> Option<String> {
    Some(match expression_ {
        Expr::Const(value) if *value < 0x8000_0000 => format!("{value}"),
        Expr::Local(local) => format!("r{}", local % LOCALS),
        Expr::Not(inner) => format!("!({})", expression(inner)?),
        Expr::Binary(op, left, right) => {
            let op = match op {
                Op::Add | Op::And | Op::Or | Op::Xor | Op::Eq | Op::Ne => op.sign(),
                _ => return None,
            };
            format!("({} {op} {})", expression(left)?, expression(right)?)
        }
        _ => return None,
    })
}
