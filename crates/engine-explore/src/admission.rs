//! Which models the engine can use.
//!
//! The search adds events in an order of program order and reads-from, and undoes only their
//! ends. So it is complete for a model only if that model forbids cycles of the two (no load
//! buffering), if a graph that it allows is still allowed when last events are taken away, and
//! if the engine can provide all that it asks about. Models with rules of their own in the engine
//! are known to be so. Of others the text is looked at, and the model is asked about every small
//! load-buffering shape with the tags that it knows. Where it allows one, the search watches out
//! for programs that may show it; see [`crate::buffering`].

use parallax_memory::{Base, Facts, Input, Language, Model};
use parallax_program::{Diagnostic, Help, Setting};

/// How a model is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Admission {
    /// The axiom that forbids load buffering between accesses that the model keeps in order,
    /// where it allows it between others.
    pub watched: Option<usize>,
}

/// How a model can be used, or why it cannot.
pub fn admit(model: &Model) -> Result<Admission, Diagnostic> {
    let refuse = |why: String| {
        let message = format!("exploration cannot use the model '{}': {why}", model.name());
        let names = Facts::names(|facts| facts.native.is_some() || facts.refines.is_some());
        let names = format!("models that can be explored: {names}, and .cat files for C");
        let others = Help::with(Setting::Engine, "bounded", "takes others");
        Err(Diagnostic::new(message).with_help(Help::from(names).and(others)))
    };
    // Programs come from C or from x86-64, so one that speaks of neither says nothing of them.
    if !model.speaks(Language::C) && !model.speaks(Language::X86) {
        return refuse("it speaks of other accesses and fences than C11 has".to_string());
    }
    // What models of machines ask for, and of languages only those that allow load buffering.
    let dependency = model.inputs().iter().find(|input| is_dependency(input));
    if let Some(input) = dependency.filter(|_| model.languages().contains(&Language::X86)) {
        return refuse(format!("it asks for '{}' in the code of machines", input.name));
    }
    let negated = model.axioms().iter().find(|axiom| axiom.negated && !axiom.is_flag());
    if let Some(axiom) = negated {
        return refuse(format!("the negated test '{}' may hold later and not now", axiom.name));
    }
    if !model.implies_atomicity() {
        return refuse("it does not keep read-modify-writes atomic".to_string());
    }
    let Some(tags) = model.load_buffering() else {
        return Ok(Admission { watched: None });
    };
    let watched = model.forbids_ordered_buffering();
    if watched.is_none() {
        let with =
            if tags.is_empty() { String::new() } else { format!(" (accesses tagged {tags})") };
        return refuse(format!(
            "it allows load buffering{with}: reads of writes that come later in their own \
             future; and no axiom says that reads from other threads go with an order"
        ));
    }
    Ok(Admission { watched })
}

/// Whether it is a relation by which values flow to later events.
fn is_dependency(input: &Input) -> bool {
    matches!(input.base(), Base::Relation(relation) if relation.is_dependency())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(name: &str) -> Result<Admission, String> {
        let model = Model::builtin(name).expect("a model").expect("a right model");
        admit(&model).map_err(|diagnostic| diagnostic.message)
    }

    #[test]
    fn models_without_load_buffering_are_admitted() {
        for name in ["sc", "tso", "pso", "ra", "rc11"] {
            assert_eq!(answer(name), Ok(Admission { watched: None }));
        }
    }

    #[test]
    fn models_with_load_buffering_are_watched() {
        let model = Model::builtin("imm").expect("a model").expect("a right model");
        let watched = admit(&model).expect("imm can be used").watched.expect("it is watched");
        assert_eq!(model.axioms()[watched].name, "no-thin-air");
        let text = "mine\nacyclic po-loc | rf | co | fr\nempty rmw & (fr; co)\n";
        let model = Model::parse("mine", text, &|_| None).expect("a right model");
        assert_eq!(admit(&model), Ok(Admission { watched: Some(0) }));
    }

    #[test]
    fn others_are_refused_with_the_reason() {
        for name in ["aarch64", "riscv", "power", "arm", "rmo", "lkmm"] {
            let why = answer(name).expect_err(name);
            assert!(why.contains("C11") || why.contains("asks for"), "{name}: {why}");
        }
        let text = "mine\nirreflexive po-loc; (rf | co | fr)+\nempty rmw & (fr; co)\n";
        let model = Model::parse("mine", text, &|_| None).expect("a right model");
        assert!(admit(&model).is_err_and(|why| why.message.contains("load buffering")));
    }
}
