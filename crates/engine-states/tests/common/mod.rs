//! Programs, and the final states that the engine finds of them.
#![allow(dead_code)]

use std::collections::BTreeSet;

use parallax_engine_states::{Options, Over, Path, Reduction, SearchCounts, Sight, visit};
use parallax_machine::system::{MemoryKind, System};
use parallax_program::{
    AccessSize, GlobalId, Observable, Place, Program, Prop, Quantifier, Question, VarId,
    parse_program,
};

pub const MACHINES: [MemoryKind; 3] = [MemoryKind::Sc, MemoryKind::Tso, MemoryKind::Pso];

pub fn parsed(text: &str) -> Program {
    parse_program("p", text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

/// A program of threads that each run one function, on the given globals of four bytes.
pub fn program(globals: &[&str], threads: &[&str]) -> Program {
    let mut text = String::from("program p pointers 64\n");
    globals.iter().for_each(|name| text += &format!("global {name}: 4\n"));
    text += "global q: 8\nfn helper(c: 32) {\nvar r: 32\nr = load.4 &";
    text += globals[0];
    text += "\nstore.4 &";
    text += globals[0];
    text += ", c\n}\n";
    for (number, body) in threads.iter().enumerate() {
        let vars = (0..4).map(|r| format!("r{r}: 32")).collect::<Vec<_>>().join(", ");
        let more = "ok: 1, b: 8, n: 32, p: 64";
        text += &format!("fn P{number}() {{\nvar {vars}, {more}\n{body}\nreturn\n}}\n");
    }
    for number in 0..threads.len() {
        text += &format!("thread P{number} = P{number}()\n");
    }
    parsed(&text)
}

/// All final states, as fingerprints and as the values of some places; whether there is a trap.
#[derive(Default, Debug, PartialEq, Eq)]
pub struct Finals {
    pub fingerprints: BTreeSet<u128>,
    pub values: BTreeSet<Vec<u128>>,
    pub blocked: u64,
    pub has_trap: bool,
    pub places: Vec<Place>,
}

impl<'s, 'p> Sight<'s, 'p> for Finals {
    fn state(
        &mut self,
        system: &System<'s, 'p>,
        is_final: bool,
        _: &[u32],
        _: Path<'_>,
    ) -> Result<(), Over> {
        if is_final {
            self.fingerprints.insert(system.fingerprint());
            let ended = (0..system.thread_count()).all(|thread| system.has_ended(thread));
            if ended {
                let value = |place| system.observed(place).expect("a value").unsigned();
                self.values.insert(self.places.iter().map(value).collect());
            } else {
                self.blocked += 1;
            }
        }
        Ok(())
    }

    fn trap(&mut self, _: &System<'s, 'p>, _: Path<'_>) -> Result<(), Over> {
        self.has_trap = true;
        Ok(())
    }
}

/// The variables r0 to r3 of each thread.
pub fn registers(program: &Program) -> Vec<(u32, VarId)> {
    let threads = 0..program.threads.len() as u32;
    threads.flat_map(|thread| (0..4).map(move |var| (thread, VarId(var)))).collect()
}

pub fn globals(program: &Program) -> Vec<Place> {
    let is_word = |number: &u32| program.globals[*number as usize].size == 4;
    let numbers = (0..program.globals.len() as u32).filter(is_word);
    let place =
        |number| Place::Memory { global: GlobalId(number), offset: 0, size: AccessSize::WORD };
    numbers.map(place).collect()
}

/// Asks for the values of some places.
pub fn question(places: &[Place]) -> Question {
    let observable =
        |place: &Place| Observable { name: String::new(), place: place.clone(), signed: false };
    Question {
        quantifier: Quantifier::Exists,
        prop: Prop::True,
        text: String::new(),
        locations: places.iter().map(observable).collect(),
        filter: None,
    }
}

pub fn finals(
    program: &Program,
    memory: MemoryKind,
    reduction: Reduction,
    observed: &[(u32, VarId)],
    places: &[Place],
) -> (Finals, SearchCounts) {
    let variable =
        |(thread, var): &(u32, VarId)| Place::Variable { thread: *thread, var: *var, width: 32 };
    let question = question(&observed.iter().map(variable).collect::<Vec<_>>());
    let options = Options { reduction, question: Some(question), ..Options::default() };
    let sight = || Finals { places: places.to_vec(), ..Finals::default() };
    visit(program, memory, &options, sight).expect("a program").expect("a whole search")
}
