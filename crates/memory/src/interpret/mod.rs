//! The meaning of cat programs, written once for two algebras of sets and relations.
//!
//! With concrete bit sets the interpreter decides whether one execution is allowed
//! ([`crate::reference`]). With symbolic ones it runs a model once, before there is any
//! execution, and leaves behind the graph of all relations that its tests look at
//! ([`crate::graph`]); on the way it finds the model's type errors.

pub(crate) mod algebra;
mod environment;
mod expressions;
mod free_names;
mod primitives;
mod recursion;
mod sets;
mod statements;
mod value;

use std::collections::{BTreeMap, HashMap};

pub(crate) use algebra::Algebra;
pub(crate) use environment::Environment;
pub(crate) use recursion::{round_limit, unstable};
pub(crate) use value::Value;

use crate::model::InputKind;
use crate::names;
use crate::place::{Place, Problem};
use crate::prelude::{self, Definition};
use crate::syntax::ast::{Name, Role};

/// Why there is no value.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    Problem(Box<Problem>),
    /// The value depends on what the execution looks like, and there is none yet.
    Dynamic,
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Stop {
        Stop::Problem(Box::new(problem))
    }
}

pub(crate) type Result<T> = std::result::Result<T, Stop>;

/// Steps that one run may take, and how deep evaluation may nest.
const FUEL: u64 = 2_000_000;
const MAX_DEPTH: u32 = 600;

pub(crate) struct Interpreter<'a, A: Algebra> {
    pub algebra: A,
    variants: &'a [String],
    /// Library definitions that were looked at.
    library: HashMap<&'static str, Value<'a, A>>,
    /// The enumeration that each tag belongs to.
    tags: BTreeMap<Name, Name>,
    fuel: u64,
    depth: u32,
    /// A part of the model was skipped, so names may be missing.
    pub incomplete: bool,
    pub problems: Vec<Problem>,
    pub paths: Vec<Path<'a, A>>,
}

/// One way through the model; several, where it chooses with `with … from`.
pub(crate) struct Path<'a, A: Algebra> {
    pub environment: Environment<'a, A>,
    pub flags: Vec<(Role, Option<Name>)>,
    /// The test that failed, where one did.
    pub failed: Option<Place>,
}

impl<'a, A: Algebra> Interpreter<'a, A> {
    pub fn new(algebra: A, variants: &'a [String]) -> Self {
        Interpreter {
            algebra,
            variants,
            library: HashMap::new(),
            tags: BTreeMap::new(),
            fuel: FUEL,
            depth: 0,
            incomplete: false,
            problems: Vec::new(),
            paths: Vec::new(),
        }
    }

    fn spend(&mut self, place: Place) -> Result<()> {
        if self.algebra.is_too_large() {
            return Err(Problem::new(place, "the model defines too many relations").into());
        }
        match self.fuel.checked_sub(1) {
            Some(left) => self.fuel = left,
            None => return Err(Problem::new(place, "evaluating the model takes too long").into()),
        }
        Ok(())
    }

    fn nested<T>(&mut self, place: Place, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.spend(place)?;
        if self.depth >= MAX_DEPTH {
            return Err(Problem::new(place, "functions call each other without end").into());
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Adds a problem, once.
    fn report(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// The value of a name: what the model defines comes before the library, and the library
    /// before what the program's events bring along.
    pub fn lookup(
        &mut self,
        environment: &Environment<'a, A>,
        name: &str,
        place: Place,
    ) -> Result<Value<'a, A>> {
        if let Some(value) = environment.get(name) {
            return match value {
                Value::Unknown => Err(Stop::Dynamic),
                value => Ok(value.clone()),
            };
        }
        match self.predefined(name, place)? {
            Some(value) => Ok(value),
            None if self.incomplete => Err(Stop::Dynamic),
            None => Err(self.unknown_name(environment, name, place).into()),
        }
    }

    fn predefined(&mut self, name: &str, place: Place) -> Result<Option<Value<'a, A>>> {
        if let Some(value) = self.library.get(name) {
            return Ok(Some(value.clone()));
        }
        if let Some((name, definition)) = prelude::definition(name) {
            let value = match definition {
                Definition::Value(expression) => {
                    let empty = Environment::default();
                    self.nested(place, |this| this.evaluate(&empty, expression))?
                }
                Definition::Procedure(procedure) => {
                    Value::Procedure(procedure, Environment::default())
                }
            };
            self.library.insert(name, value.clone());
            return Ok(Some(value));
        }
        if let Some(primitive) = primitives::named(name) {
            self.mention_for(primitive);
            return Ok(Some(Value::Primitive(primitive)));
        }
        if let Some(reason) = names::refused(name) {
            let message = format!("'{name}' cannot be used: {reason}");
            return Err(Problem::new(place, message).into());
        }
        let declared = || {
            let is_set = |tag: &Name| names::set_of_tag(tag) == name;
            self.tags.keys().any(is_set).then_some(InputKind::Set)
        };
        let kind = names::base(name).or_else(declared);
        Ok(kind.map(|kind| self.algebra.base(name, kind)))
    }

    fn unknown_name(&self, environment: &Environment<'a, A>, name: &str, place: Place) -> Problem {
        let problem = Problem::new(place, format!("unknown name '{name}'"));
        let defined = environment.names();
        let defined = defined.iter().map(|name| &**name);
        let candidates = defined.chain(prelude::names()).chain(names::known());
        let help = names::closest(name, candidates).map(|s| format!("did you mean '{s}'?").into());
        Problem { help, ..problem }
    }
}
