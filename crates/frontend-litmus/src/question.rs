//! From the condition as written to a question about final states.

use std::collections::HashSet;

use parallax_program::{
    AccessSize, Diagnostics, Expr, Observable, Operand, Place, Prop, Question, SourceFile, Span,
};

use crate::condition::{
    Condition, Location, LocationKind, Offset, Proposition, ShownLocation, Value,
};
use crate::globals::Globals;
use crate::init::{address, fits};
use crate::render;
use crate::threads::{RegisterError, Threads};
use crate::types::ScalarType;

/// Resolves names; what cannot be resolved is reported.
pub fn resolve(
    source: &SourceFile,
    condition: &Condition,
    threads: &mut Threads,
    globals: &mut Globals,
    pointer_width: u32,
    errors: &mut Diagnostics,
) -> Question {
    let mut resolver = Resolver {
        source,
        threads,
        globals,
        pointer_width,
        wide_registers: HashSet::new(),
        errors,
    };
    resolver.mark_wide(&condition.proposition);
    if let Some(filter) = &condition.filter {
        resolver.mark_wide(filter);
    }
    let prop = resolver.prop(&condition.proposition);
    let shown = condition.locations.iter();
    let locations = shown.flat_map(|shown| resolver.shown(shown)).collect();
    let filter = condition.filter.as_ref().map(|f| resolver.prop(f));
    Question {
        quantifier: condition.quantifier,
        prop,
        text: render::condition(condition),
        locations,
        filter,
    }
}

struct Resolver<'a> {
    source: &'a SourceFile,
    threads: &'a mut Threads,
    globals: &'a mut Globals,
    pointer_width: u32,
    /// Registers without a type that are compared with more than an `int`.
    wide_registers: HashSet<(u32, String)>,
    errors: &'a mut Diagnostics,
}

/// What a register is that no one declares: an `int`, as for herd7. Addresses fit in one.
const INT: u32 = 32;

impl Resolver<'_> {
    /// Finds the undeclared locations and registers that are compared with more than an `int`.
    fn mark_wide(&mut self, proposition: &Proposition) {
        match proposition {
            Proposition::True | Proposition::False => {}
            Proposition::Equal(location, value) => {
                let wide = match value {
                    Value::Integer(value) => !fits(*value, 32),
                    Value::Address { .. } => self.pointer_width > 32,
                    Value::Location(_) | Value::List(_) => false,
                };
                match &location.kind {
                    LocationKind::Memory { name, .. } if wide => {
                        if let Some(global) = self.globals.lookup(name) {
                            self.globals.mark_wide(global);
                        }
                    }
                    LocationKind::Register { thread, name } if wide => {
                        self.wide_registers.insert((*thread, name.clone()));
                    }
                    _ => {}
                }
            }
            Proposition::Not(inner) => self.mark_wide(inner),
            Proposition::And(parts) | Proposition::Or(parts) => {
                parts.iter().for_each(|part| self.mark_wide(part));
            }
            Proposition::Implies(premise, conclusion) => {
                self.mark_wide(premise);
                self.mark_wide(conclusion);
            }
        }
    }

    fn prop(&mut self, proposition: &Proposition) -> Prop {
        match proposition {
            Proposition::True => Prop::True,
            Proposition::False => Prop::False,
            Proposition::Equal(location, value) => self.equal(location, value),
            Proposition::Not(inner) => Prop::Not(Box::new(self.prop(inner))),
            Proposition::And(parts) => Prop::And(self.props(parts)),
            Proposition::Or(parts) => Prop::Or(self.props(parts)),
            Proposition::Implies(premise, conclusion) => {
                let premise = Prop::Not(Box::new(self.prop(premise)));
                Prop::Or(vec![premise, self.prop(conclusion)])
            }
        }
    }

    fn props(&mut self, parts: &[Proposition]) -> Vec<Prop> {
        parts.iter().map(|part| self.prop(part)).collect()
    }

    fn equal(&mut self, location: &Location, value: &Value) -> Prop {
        if let Value::List(values) = value {
            return self.list_equal(location, values);
        }
        let Some(left) = self.observed(location, None) else {
            return Prop::False;
        };
        match value {
            Value::Integer(value) => integer_equal(left, *value),
            Value::Location(right) => match self.observed(right, None) {
                Some(right) => compare(left, Operand::Observable(right)),
                None => Prop::False,
            },
            Value::Address { name, offset, span } => match self.address(name, *offset, *span) {
                Some(address) => compare(left, Operand::Value(address)),
                None => Prop::False,
            },
            Value::List(_) => Prop::False,
        }
    }

    /// An array compared with all of its elements' values.
    fn list_equal(&mut self, location: &Location, values: &[Value]) -> Prop {
        let LocationKind::Memory { name, index: None } = &location.kind else {
            return self.fail(location.span, "only an array is compared with a list");
        };
        let global = self.globals.lookup(name);
        let count = global.and_then(|global| self.globals.count(global));
        if count != Some(values.len() as u64) {
            let message = format!("'{name}' is no array of {} elements", values.len());
            return self.fail(location.span, message);
        }
        let elements = values.iter().enumerate().map(|(index, value)| {
            let element = element(location, name, index as u64);
            self.equal(&element, value)
        });
        Prop::And(elements.collect())
    }

    fn fail(&mut self, span: Span, message: impl Into<String>) -> Prop {
        self.report(span, message);
        Prop::False
    }

    fn report(&mut self, span: Span, message: impl Into<String>) {
        if self.errors.len() < crate::MAX_ERRORS {
            self.errors.push(self.source.error(span, message));
        }
    }

    fn address(&mut self, name: &str, offset: Offset, span: Span) -> Option<Expr> {
        let Some(global) = self.globals.lookup(name) else {
            self.report(span, format!("there is no location '{name}'"));
            return None;
        };
        let bytes = match offset {
            Offset::None => Some(0),
            Offset::Bytes(bytes) => Some(bytes),
            Offset::Elements(index) => {
                let size = u64::from(self.globals.observed(global).bytes);
                index.checked_mul(size).and_then(|n| i64::try_from(n).ok())
            }
        };
        if bytes.is_none() {
            self.report(span, "this offset is too big");
        }
        Some(address(global, bytes?, self.pointer_width))
    }

    /// The items that an entry of `locations` shows; for an array, all its elements.
    fn shown(&mut self, shown: &ShownLocation) -> Vec<Observable> {
        let location = &shown.location;
        let ty = self.shown_type(shown);
        if let LocationKind::Memory { name, index: None } = &location.kind {
            let global = self.globals.lookup(name);
            if let Some(count) = global.and_then(|global| self.globals.count(global)) {
                let elements = (0..count).map(|index| element(location, name, index));
                let elements: Vec<Location> = elements.collect();
                let elements = elements.iter().filter_map(|e| self.observed(e, ty));
                return elements.collect();
            }
        }
        self.observed(location, ty).into_iter().collect()
    }

    fn shown_type(&mut self, shown: &ShownLocation) -> Option<ScalarType> {
        let words: Vec<&str> = shown.type_words.iter().map(String::as_str).collect();
        if words.is_empty() && shown.stars == 0 {
            return None;
        }
        let ty = ScalarType::named(&words, shown.stars, self.pointer_width / 8);
        if ty.is_none() {
            let message = format!("unknown type '{}'", words.join(" "));
            self.report(shown.location.span, message);
        }
        ty
    }

    fn observed(&mut self, location: &Location, ty: Option<ScalarType>) -> Option<Observable> {
        match &location.kind {
            LocationKind::Register { thread, name } => {
                self.observed_register(location, *thread, name, ty)
            }
            LocationKind::Memory { name, index } => {
                self.observed_memory(location, name, *index, ty)
            }
        }
    }

    fn observed_register(
        &mut self,
        location: &Location,
        thread: u32,
        name: &str,
        ty: Option<ScalarType>,
    ) -> Option<Observable> {
        let view = match self.threads.register(thread, name) {
            Ok(view) => view,
            Err(error) => {
                let message = match error {
                    RegisterError::NoThread => format!("there is no thread P{thread}"),
                    RegisterError::NoRegister => {
                        format!("thread P{thread} has no register or variable '{name}'")
                    }
                    RegisterError::NotAtBottom => {
                        format!("'{name}' cannot be observed; use the whole register")
                    }
                };
                self.report(location.span, message);
                return None;
            }
        };
        let wide = view.typed || self.wide_registers.contains(&(thread, name.to_string()));
        let untyped = if wide { view.width } else { view.width.min(INT) };
        let width = ty.map_or(untyped, |ty| (ty.bytes * 8).min(view.width));
        Some(Observable {
            name: render::location_name(location),
            place: Place::Variable { thread: view.thread, var: view.var, width },
            signed: ty.map_or(view.signed, |ty| ty.signed),
        })
    }

    fn observed_memory(
        &mut self,
        location: &Location,
        name: &str,
        index: Option<u64>,
        ty: Option<ScalarType>,
    ) -> Option<Observable> {
        let Some(global) = self.globals.lookup(name) else {
            self.report(location.span, format!("there is no location '{name}'"));
            return None;
        };
        let count = self.globals.count(global);
        if index.is_some_and(|index| index >= count.unwrap_or(1)) {
            self.report(location.span, format!("'{name}' has no such element"));
            return None;
        }
        if index.is_none() && count.is_some() {
            self.report(location.span, format!("'{name}' is an array: name an element"));
            return None;
        }
        let declared = self.globals.declared(global).or(ty);
        let element = self.globals.observed(global);
        let seen = declared.unwrap_or(element);
        let size = AccessSize::from_bytes(seen.bytes)?;
        Some(Observable {
            name: render::location_name(location),
            place: Place::Memory {
                global,
                offset: index.unwrap_or(0) * u64::from(element.bytes),
                size,
            },
            signed: seen.signed,
        })
    }
}

fn element(array: &Location, name: &str, index: u64) -> Location {
    Location {
        kind: LocationKind::Memory { name: name.to_string(), index: Some(index) },
        span: array.span,
    }
}

fn compare(left: Observable, right: Operand) -> Prop {
    Prop::Compare { left, equal: true, right }
}

/// Compares with a number. A negative one stands for its two's complement at the width of the
/// left side.
fn integer_equal(left: Observable, value: i128) -> Prop {
    let width = left.place.width();
    if fits(value, width) {
        return compare(left, Operand::Value(Expr::signed(width, value)));
    }
    if value < 0 {
        return Prop::False;
    }
    compare(left, Operand::Value(Expr::signed(128, value)))
}
