//! Memory models: the cat language, and two ways to judge executions by a model.
//!
//! A [`Model`] is read from a cat file. [`Checker`] judges many similar executions fast: it
//! computes each relation of the model once and again only where it can have changed.
//! [`reference`] judges one execution by running the model's text, slowly and plainly.

mod base;
mod buffering;
mod check;
mod checker;
mod event_set;
mod facts;
mod formula;
mod graph;
mod happens_before;
mod interpret;
mod languages;
mod library;
mod loader;
mod model;
mod names;
mod place;
mod plan;
mod prelude;
mod races;
pub mod reference;
mod relation;
mod sketch;
mod store;
mod strength;
mod symbolic;
mod syntax;

pub use base::{Base, BaseRelation, BaseSet, MemberKind, Members, Shape};
pub use checker::Checker;
pub use event_set::EventSet;
pub use facts::{Facts, INTERLEAVING, Native, ProgramOrder};
pub use formula::Formula;
pub use graph::{Group, Node, NodeId};
pub use languages::Language;
pub use model::{Axiom, Input, InputId, InputKind, Model};
pub use place::Place;
pub use relation::Relation;
pub use syntax::ast::{Role, TestKind};
