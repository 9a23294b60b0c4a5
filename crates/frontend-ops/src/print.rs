//! Operation structures as text, which the parser reads back as the same.

use std::fmt::{Display, Formatter, Result, Write};

use crate::syntax::{
    Condition, Element, ElementKind, Ex, Exp, Initial, Op, OpKind, Place, Structures, Target,
};

impl Display for Structures {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(isa) = self.isa {
            writeln!(f, "isa {isa};")?;
        }
        for location in &self.locations {
            write!(f, "loc [{}]", location.name)?;
            match location.initial {
                Initial::Value(value) => writeln!(f, " = {value};")?,
                Initial::Arbitrary => writeln!(f, " = any;")?,
            }
        }
        for register in &self.registers {
            writeln!(f, "reg {} = {};", register.name, register.initial)?;
        }
        for thread in &self.threads {
            writeln!(f, "\nthread {} {{", thread.name)?;
            elements(f, &thread.elements, 1)?;
            writeln!(f, "}}")?;
        }
        Ok(())
    }
}

fn elements(f: &mut Formatter<'_>, list: &[Element], depth: usize) -> Result {
    let margin = "  ".repeat(depth);
    for (number, element) in list.iter().enumerate() {
        f.write_str(&margin)?;
        match &element.kind {
            ElementKind::Instr(ex) => write!(f, "instr{{ {ex} }}")?,
            ElementKind::Label(name) => write!(f, "label({name})")?,
            ElementKind::Assume(condition) => write!(f, "assume({condition})")?,
            ElementKind::Assert(condition) => write!(f, "assert({condition})")?,
            ElementKind::IfBranch(condition, body) => {
                writeln!(f, "ifBr({condition}) {{")?;
                elements(f, body, depth + 1)?;
                write!(f, "{margin}}}")?;
            }
            ElementKind::DoWhile { body, invariant, condition } => {
                writeln!(f, "do {{")?;
                elements(f, body, depth + 1)?;
                if let Some(invariant) = invariant {
                    writeln!(f, "{margin}  <{invariant}>")?;
                }
                write!(f, "{margin}}} while({condition})")?;
            }
        }
        let is_last = number + 1 == list.len();
        f.write_str(if is_last { "\n" } else { ";\n" })?;
    }
    Ok(())
}

impl Display for Ex {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Ex::Nil => f.write_str("nil"),
            Ex::Op(op) => write!(f, "{op}"),
            Ex::Atom(op) => write!(f, "atom({op})"),
            Ex::If(condition, body, _) => write!(f, "if({condition}){{ {body} }}"),
            Ex::Seq(parts) => joined(f, parts, "; ", |part| matches!(part, Ex::Seq(_))),
            Ex::Par(parts) => {
                f.write_char('(')?;
                joined(f, parts, " || ", |part| matches!(part, Ex::Seq(_)))?;
                f.write_char(')')
            }
        }
    }
}

fn joined(
    f: &mut Formatter<'_>,
    parts: &[Ex],
    between: &str,
    needs_parentheses: fn(&Ex) -> bool,
) -> Result {
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            f.write_str(between)?;
        }
        match needs_parentheses(part) {
            true => write!(f, "({part})")?,
            false => write!(f, "{part}")?,
        }
    }
    Ok(())
}

impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            OpKind::Read { dst, src } => write!(f, "{dst} := {src}"),
            OpKind::Write { dst, value } => write!(f, "{dst} := {value}"),
            OpKind::Compute { dst, value } => write!(f, "{dst} := {value}"),
            OpKind::Anything { dst } => write!(f, "{dst} := any"),
            OpKind::Branch { condition, label } => write!(f, "branch({condition}, label({label}))"),
            OpKind::Fence(fence) => f.write_str(fence.name()),
            OpKind::LoadLinked { dst, location } => write!(f, "ll({dst}, {location})"),
            OpKind::StoreConditional { flag, location, value } => {
                write!(f, "sc({flag}, {location}, {value})")
            }
        }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Place::Register(name) => f.write_str(name),
            Place::Memory(target) => write!(f, "{target}"),
        }
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Target::Named(name) => write!(f, "[{name}]"),
            Target::Computed(temporary) => write!(f, "[*{temporary}]"),
        }
    }
}

impl Display for Exp {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Exp::Number(number) => write!(f, "{number}"),
            Exp::Temporary(name) => f.write_str(name),
            Exp::Location(name) => write!(f, "[{name}]"),
            Exp::Add(left, right) => sum(f, left, "+", right),
            Exp::Sub(left, right) => sum(f, left, "-", right),
            Exp::Choice(condition, then, otherwise) => {
                write!(f, "({condition}) ? {then} : {otherwise}")
            }
        }
    }
}

/// Sums group to the left; a choice reaches as far to the right as it can.
fn sum(f: &mut Formatter<'_>, left: &Exp, sign: &str, right: &Exp) -> Result {
    match left {
        Exp::Choice(..) => write!(f, "({left})")?,
        _ => write!(f, "{left}")?,
    }
    write!(f, " {sign} ")?;
    match right {
        Exp::Choice(..) | Exp::Add(..) | Exp::Sub(..) => write!(f, "({right})"),
        _ => write!(f, "{right}"),
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Condition::True => f.write_str("T"),
            Condition::False => f.write_str("F"),
            Condition::Compare(comparison, left, right) => {
                operand(f, left)?;
                write!(f, " {} ", comparison.symbol())?;
                operand(f, right)
            }
            Condition::And(left, right) => {
                let is_looser = |part: &Condition| matches!(part, Condition::Or(..));
                let binds =
                    |part: &Condition| is_looser(part) || matches!(part, Condition::And(..));
                connected(f, left, is_looser(left), "/\\", right, binds(right))
            }
            Condition::Or(left, right) => {
                let is_or = matches!(**right, Condition::Or(..));
                connected(f, left, false, "\\/", right, is_or)
            }
            Condition::Not(inner) => write!(f, "not({inner})"),
        }
    }
}

/// A side of a comparison.
fn operand(f: &mut Formatter<'_>, exp: &Exp) -> Result {
    match exp {
        Exp::Choice(..) => write!(f, "({exp})"),
        _ => write!(f, "{exp}"),
    }
}

fn connected(
    f: &mut Formatter<'_>,
    left: &Condition,
    left_in_parentheses: bool,
    symbol: &str,
    right: &Condition,
    right_in_parentheses: bool,
) -> Result {
    let side = |f: &mut Formatter<'_>, condition: &Condition, in_parentheses| match in_parentheses {
        true => write!(f, "({condition})"),
        false => write!(f, "{condition}"),
    };
    side(f, left, left_in_parentheses)?;
    write!(f, " {symbol} ")?;
    side(f, right, right_in_parentheses)
}
