//! The definitions that every model may use, from `prelude.cat`. Each is evaluated when a
//! model first mentions it, so that a model depends on no base relation it does not use.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::syntax::ast::{Expr, Pattern, Procedure, StmtKind};
use crate::syntax::parse_file;

#[derive(Clone, Copy)]
pub(crate) enum Definition {
    Value(&'static Expr),
    Procedure(&'static Procedure),
}

/// Errors in the prelude have no place in a user's files.
const NO_FILE: u32 = u32::MAX;

fn definitions() -> &'static BTreeMap<&'static str, Definition> {
    static DEFINITIONS: OnceLock<BTreeMap<&'static str, Definition>> = OnceLock::new();
    DEFINITIONS.get_or_init(|| {
        let text = include_str!("prelude.cat");
        let statements = parse_file(NO_FILE, text).map_or_else(|_| Vec::new(), |f| f.statements);
        let statements = &*Box::leak(statements.into_boxed_slice());
        let mut definitions = BTreeMap::new();
        for statement in statements {
            match &statement.kind {
                StmtKind::Let { bindings, .. } => {
                    for binding in &bindings.bindings {
                        if let Pattern::One(Some(name)) = &binding.pattern {
                            definitions.insert(&**name, Definition::Value(&binding.value));
                        }
                    }
                }
                StmtKind::Procedure(procedure) => {
                    definitions.insert(&*procedure.name, Definition::Procedure(procedure));
                }
                _ => {}
            }
        }
        definitions
    })
}

pub(crate) fn definition(name: &str) -> Option<(&'static str, Definition)> {
    let found = definitions().get_key_value(name);
    found.map(|(name, definition)| (*name, *definition))
}

pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    definitions().keys().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prelude_parses() {
        assert!(parse_file(NO_FILE, include_str!("prelude.cat")).is_ok());
        assert!(definition("fencerel").is_some());
        assert!(names().count() > 25);
    }
}
