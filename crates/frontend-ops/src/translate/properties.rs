//! `assume` and `assert` on registers and locations: these are read into temporaries first.

use std::collections::BTreeSet;

use parallax_program::SourceFile;

use super::line::Line;
use super::{Done, Translator};
use crate::parser::parse_condition;
use crate::syntax::{Condition, Exp};

impl Translator<'_> {
    pub(super) fn property(&mut self, line: &Line<'_>) -> Done {
        let condition = self.parse(line)?;
        let (mut registers, mut locations) = (BTreeSet::new(), BTreeSet::new());
        let mut unknown = None;
        condition.leaves(&mut |leaf| match leaf {
            Exp::Location(name) if self.locations.contains(name) => {
                locations.insert(name.clone());
            }
            Exp::Temporary(name) if self.is_register(name) => {
                registers.insert(name.clone());
            }
            leaf => unknown = unknown.take().or(Some(leaf.to_string())),
        });
        if let Some(name) = unknown {
            return Err(line.error(format!("'{name}' is no register and no location")));
        }
        for name in &locations {
            self.instr(format!("{} := [{name}]", of_location(name)), "");
        }
        self.flags_read.extend(registers.iter().cloned());
        if !registers.is_empty() {
            let reads: Vec<String> =
                registers.iter().map(|name| format!("val_{name} := {name}")).collect();
            self.instr(reads.join("; "), "");
        }
        self.push(format!("{}({})", line.mnemonic, renamed(condition)), line.text);
        Ok(())
    }

    /// The condition, with places as in the source: all else is blanked out.
    fn parse(&self, line: &Line<'_>) -> Result<Condition, parallax_program::Diagnostic> {
        let start = line.span.end as usize - line.rest.len();
        let end = line.span.end as usize;
        let blank = |(at, byte): (usize, u8)| match byte {
            b'\n' => '\n',
            _ if (start..end).contains(&at) && byte.is_ascii() => char::from(byte),
            _ => ' ',
        };
        let text: String = self.source.text().bytes().enumerate().map(blank).collect();
        let masked = SourceFile::new(self.source.name(), &text);
        parse_condition(&masked).map_err(|error| match error.location {
            Some(_) => line.error(error.message),
            None => error,
        })
    }
}

fn of_location(name: &str) -> String {
    format!("val_of_{name}")
}

/// The same condition on the temporaries.
fn renamed(condition: Condition) -> Condition {
    let both = |left: Box<Condition>, right: Box<Condition>| {
        (Box::new(renamed(*left)), Box::new(renamed(*right)))
    };
    match condition {
        Condition::True | Condition::False => condition,
        Condition::Compare(op, left, right) => Condition::Compare(op, exp(left), exp(right)),
        Condition::And(left, right) => {
            let (left, right) = both(left, right);
            Condition::And(left, right)
        }
        Condition::Or(left, right) => {
            let (left, right) = both(left, right);
            Condition::Or(left, right)
        }
        Condition::Not(inner) => Condition::Not(Box::new(renamed(*inner))),
    }
}

fn exp(value: Exp) -> Exp {
    let boxed = |value: Box<Exp>| Box::new(exp(*value));
    match value {
        Exp::Number(_) => value,
        Exp::Temporary(name) => Exp::Temporary(format!("val_{name}")),
        Exp::Location(name) => Exp::Temporary(of_location(&name)),
        Exp::Add(left, right) => Exp::Add(boxed(left), boxed(right)),
        Exp::Sub(left, right) => Exp::Sub(boxed(left), boxed(right)),
        Exp::Choice(condition, then, otherwise) => {
            Exp::Choice(Box::new(renamed(*condition)), boxed(then), boxed(otherwise))
        }
    }
}
