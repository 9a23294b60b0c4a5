//! Data races, as far as models know them: by flags that have `race` in their names.
//!
//! Models of languages raise such a flag. Models of machines do not, as machines have no races; but
//! a program in C has them whatever machine it is compiled for. For such programs a model that does
//! not speak of races gets the definition of C beside its own text, `lib/c-races.cat`.

use parallax_program::{Diagnostics, SourceFile};

use crate::base::MemberKind;
use crate::checker::Checker;
use crate::library;
use crate::loader::{Loaded, diagnostics};
use crate::model::{InputKind, Model};
use crate::reference::{Inputs, evaluate};
use crate::relation::Relation;
use crate::sketch::{Drawn, Sketch};
use crate::syntax::parse_file;

const RACES_OF_C: &str = "c-races.cat";

impl Model {
    /// Whether the model says what a data race is.
    pub fn flags_races(&self) -> bool {
        self.race_flags().next().is_some()
    }

    fn race_flags(&self) -> impl Iterator<Item = usize> {
        let axioms = self.axioms().iter().enumerate();
        let races = axioms.filter(|(_, axiom)| axiom.is_flag() && axiom.flag().contains("race"));
        races.map(|(number, _)| number)
    }

    /// Whether a read that races with a write can never find what is written. Then the model says
    /// something only of programs without races, and nothing that it says of others counts: what
    /// they do is not among the executions that it allows. The smallest racing execution decides.
    pub fn leaves_out_racing_reads(&self) -> bool {
        // An initial write, a store of one thread and a load of another that reads it.
        const INITIAL: usize = 0;
        const STORE: usize = 1;
        const LOAD: usize = 2;
        let racing = Sketch {
            events: vec![
                Drawn::initial(0),
                Drawn::access(0, MemberKind::Write, 0).tagged(&["NA", "Plain"]),
                Drawn::access(1, MemberKind::Read, 0).tagged(&["NA", "Plain"]),
            ],
            rf: vec![(STORE, LOAD)],
            co: vec![(INITIAL, STORE)],
        };
        let mut inputs = Inputs { events: 3, ..Inputs::default() };
        for input in self.inputs() {
            match input.kind {
                InputKind::Set => {
                    inputs.sets.insert(input.name.clone(), racing.set(input));
                }
                InputKind::Relation => {
                    inputs.relations.insert(input.name.clone(), racing.relation(input));
                }
            }
        }
        evaluate(self, &inputs).is_ok_and(|evaluation| !evaluation.allowed)
    }

    /// The model for programs in C: where it does not say what a data race is, with what C says.
    pub fn with_races_of_c(&self) -> Result<Model, Diagnostics> {
        let text = library::file(RACES_OF_C).unwrap_or_default();
        let mut files = self.files().to_vec();
        let mut statements = self.statements().to_vec();
        if !self.flags_races() {
            let parsed = parse_file(files.len() as u32, text);
            files.push(SourceFile::new(RACES_OF_C, text));
            match parsed {
                Ok(file) => statements.extend(file.statements),
                Err(problems) => return Err(diagnostics(&problems, &files)),
            }
        }
        let loaded = Loaded { title: self.title().map(str::to_string), files, statements };
        let mut model = Model::compile(self.name(), loaded, self.variants())?;
        model.is_builtin = self.is_builtin();
        model.languages = self.languages().clone();
        Ok(model)
    }
}

impl Checker<'_> {
    /// The pairs of events that race, in an execution that is allowed and complete. None where the
    /// model does not say so, or cannot be asked about single pairs.
    pub fn races(&mut self) -> Option<Relation> {
        let flags: Vec<usize> = self.model().race_flags().collect();
        let mut races = flags.into_iter().map(|flag| self.subject(flag));
        let mut all = races.next()??;
        for more in races {
            all.union_with(&more?);
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built_in(name: &str) -> std::sync::Arc<Model> {
        Model::builtin(name).expect("a model").expect("a right model")
    }

    #[test]
    fn racing_reads_are_left_out_by_the_model_of_2011_only() {
        for name in ["c11", "c11-mca"] {
            assert!(built_in(name).leaves_out_racing_reads(), "{name}");
        }
        for name in ["sc", "tso", "pso", "rmo", "ra", "rc11", "rc20", "imm", "aarch64", "power"] {
            assert!(!built_in(name).leaves_out_racing_reads(), "{name}");
        }
    }

    #[test]
    fn models_of_languages_flag_races_and_machines_do_not() {
        for name in ["sc", "ra", "rc11", "rc20", "c11", "rc11-mca", "c11-mca", "lkmm"] {
            assert!(built_in(name).flags_races(), "{name}");
        }
        for name in ["tso", "pso", "rmo", "imm", "aarch64", "power", "riscv", "arm"] {
            let model = built_in(name);
            assert!(!model.flags_races(), "{name}");
            let of_c = model.with_races_of_c().expect("a right model");
            assert!(of_c.flags_races() && of_c.is_builtin() && of_c.is_compiled(), "{name}");
            assert_eq!(of_c.axioms().len(), model.axioms().len() + 1, "{name}");
            assert_eq!(of_c.implies_coherence(), model.implies_coherence(), "{name}");
            assert_eq!(of_c.languages(), model.languages(), "{name}");
        }
    }
}
