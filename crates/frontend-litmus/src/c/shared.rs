//! Shared variables, as the parameters of threads declare them.

use std::collections::{HashMap, HashSet};

use parallax_program::{AccessSize, Diagnostic, GlobalId, SourceFile};

use super::ast::FunctionDef;
use super::types::CType;
use crate::globals::Globals;
use crate::types::ScalarType;

/// Gives the shared variables the types that parameters say they have; where threads do not
/// agree, the widest. Returns the size that all of them have, if it is the same for all.
pub fn declare(
    source: &SourceFile,
    threads: &[&FunctionDef],
    globals: &mut Globals,
    errors: &mut Vec<Diagnostic>,
) -> Option<AccessSize> {
    let mut order = Vec::new();
    let mut types: HashMap<&str, &CType> = HashMap::new();
    for thread in threads {
        for param in &thread.params {
            let CType::Pointer(target) = &param.ty else {
                let message = format!(
                    "parameter '{}' of a thread must be a pointer to a shared variable",
                    param.name
                );
                errors.push(source.error(param.span, message));
                continue;
            };
            let known = types.entry(&param.name).or_insert_with(|| {
                order.push(param.name.as_str());
                target
            });
            if target.width() > known.width() {
                *known = target;
            }
        }
    }
    for name in &order {
        match types.get(name) {
            Some(CType::Void) | None => globals.get(name),
            Some(ty) => globals.declare(name, ty.observed(), None),
        };
    }
    let opaque = |name: &str| matches!(types.get(name), Some(CType::Lock | CType::Srcu));
    uniform(globals, opaque)
}

/// The size of all locations but the opaque ones, if they agree. Locations that no one
/// declares get that size too: they are reached through pointers to the others.
fn uniform(globals: &mut Globals, opaque: impl Fn(&str) -> bool) -> Option<AccessSize> {
    let ids = (0..globals.list.len() as u32).map(GlobalId);
    let mut common: Option<ScalarType> = None;
    let mut undeclared = Vec::new();
    for (id, global) in ids.zip(&globals.list) {
        match globals.declared(id) {
            _ if opaque(&global.name) => {}
            None => undeclared.push(global.name.clone()),
            Some(ty) if common.is_none_or(|known| known.bytes == ty.bytes) => common = Some(ty),
            Some(_) => return None,
        }
    }
    let common = common?;
    for name in undeclared {
        globals.declare(&name, ScalarType::signed(common.bytes), None);
    }
    AccessSize::from_bytes(common.bytes)
}

/// Makes all numbers and pointers among the locations as wide as pointers. herd7's C does not
/// know sizes, and tests rely on it: where pointers of one type come to point to locations of
/// another, this is what they mean. Values stay what they are, sign included; only arrays,
/// and tests about other sizes than those of `int` and pointers, are left alone.
pub fn widen(threads: &[&FunctionDef], globals: &mut Globals) -> Option<AccessSize> {
    let opaque: HashSet<&str> = threads
        .iter()
        .flat_map(|thread| &thread.params)
        .filter(|param| matches!(&param.ty, CType::Pointer(to) if !to.is_scalar()))
        .map(|param| param.name.as_str())
        .collect();
    let ids: Vec<GlobalId> = (0..globals.list.len() as u32).map(GlobalId).collect();
    let scalars: Vec<GlobalId> = ids
        .into_iter()
        .zip(&globals.list)
        .filter(|(_, global)| !opaque.contains(global.name.as_str()))
        .map(|(id, _)| id)
        .collect();
    let sized = |id: &GlobalId| {
        globals.count(*id).is_none() && matches!(globals.observed(*id).bytes, 4 | 8)
    };
    if !scalars.iter().all(sized) {
        return None;
    }
    let size = AccessSize::DOUBLE;
    for id in scalars {
        let signed = globals.observed(id).signed;
        let bytes = size.bytes();
        globals.redeclare(id, ScalarType { bytes, signed });
    }
    Some(size)
}

/// The locations that a thread's parameters name, with the types they have there.
pub fn parameters<'a>(
    thread: &'a FunctionDef,
    globals: &Globals,
) -> HashMap<&'a str, (GlobalId, CType)> {
    let mut found = HashMap::new();
    for param in &thread.params {
        if let (Some(id), CType::Pointer(target)) = (globals.lookup(&param.name), &param.ty) {
            found.insert(param.name.as_str(), (id, (**target).clone()));
        }
    }
    found
}
