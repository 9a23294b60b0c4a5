//! A model of the formula, read back as an execution of a litmus test.

use parallax_machine::Code;
use parallax_program::{Bits, Place};
use parallax_solver::Term;
use parallax_verdict::{Edges, Event as Shown, EventKind, Execution, StateValue};

use crate::encoding::Encoding;
use crate::event::{Dependency, Event, Kind};
use crate::question::Asked;

pub struct Witness<'a, 'p> {
    pub code: &'a Code<'p>,
    pub encoding: &'a Encoding,
}

impl Witness<'_, '_> {
    /// The execution of the solver's last model. `finals` are the values of what is asked for.
    pub fn execution(&self, asked: &Asked, finals: &[Term]) -> Execution {
        let order = self.numbers();
        let position = |event: usize| order.iter().position(|other| *other == event);
        let numbers: Vec<Option<u32>> = (0..self.encoding.structure.events.len())
            .map(|e| position(e).map(|p| p as u32))
            .collect();
        let edge = |(from, to): (usize, usize)| Some((numbers[from]?, numbers[to]?));
        let edges = |pairs: Vec<(usize, usize)>| -> Edges {
            let mut edges: Edges = pairs.into_iter().filter_map(edge).collect();
            edges.sort_unstable();
            edges.dedup();
            edges
        };
        let all = || order.iter().flat_map(|a| order.iter().map(move |b| (*a, *b)));
        let program = self.code.program;
        Execution {
            threads: program.threads.iter().map(|thread| thread.name.clone()).collect(),
            events: order.iter().map(|event| self.shown(*event)).collect(),
            po: edges(
                all().filter(|(a, b)| self.encoding.structure.in_program_order(*a, *b)).collect(),
            ),
            rf: edges(self.rf()),
            co: edges(all().filter(|pair| self.comes_before(*pair)).collect()),
            addr: edges(self.dependencies(|event| event.addr)),
            data: edges(self.dependencies(|event| event.data)),
            ctrl: edges(self.dependencies(|event| event.ctrl)),
            rmw: edges(self.pairs()),
            final_state: self.final_state(asked, finals),
            ..Execution::default()
        }
    }

    /// The events that happen: initial writes first, then thread by thread.
    fn numbers(&self) -> Vec<usize> {
        let events = self.encoding.structure.events.len();
        let happens = |event: &usize| {
            self.encoding.circuit.holds(self.encoding.executed[*event])
                && self.encoding.structure.events[*event].kind.is_visible()
        };
        let initial = self.encoding.structure.initials..events;
        let mut all: Vec<usize> = initial.chain(0..self.encoding.structure.initials).collect();
        all.retain(happens);
        all
    }

    fn rf(&self) -> Vec<(usize, usize)> {
        let reads = self.encoding.communication.sources.iter().enumerate();
        let taken = reads.flat_map(|(read, sources)| {
            let taken = sources.iter().filter(|(_, takes)| self.encoding.circuit.holds(*takes));
            taken.map(move |(write, _)| (*write, read))
        });
        taken.collect()
    }

    fn comes_before(&self, pair: (usize, usize)) -> bool {
        self.encoding
            .communication
            .order
            .get(&pair)
            .is_some_and(|before| self.encoding.circuit.holds(*before))
    }

    fn dependencies(&self, choose: impl Fn(&Event) -> Dependency) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for (to, event) in self.encoding.structure.events.iter().enumerate() {
            for (from, when) in self.encoding.values.members(choose(event).sources) {
                if !self.encoding.circuit.value(*when).is_zero() {
                    found.push((*from as usize, to));
                }
            }
        }
        found
    }

    fn pairs(&self) -> Vec<(usize, usize)> {
        let events = self.encoding.structure.events.iter().enumerate();
        let pairs = events.flat_map(|(write, event)| {
            let real =
                event.pairs.iter().filter(|pair| !self.encoding.circuit.value(pair.when).is_zero());
            real.map(move |pair| (pair.read as usize, write))
        });
        pairs.collect()
    }

    fn shown(&self, number: usize) -> Shown {
        let event = &self.encoding.structure.events[number];
        let source = &self.code.program.source;
        let (place, text) = match event.site.map(|site| self.code.span(site)) {
            Some(span) => {
                let text = source.text().get(span.start as usize..span.end as usize);
                (Some(source.location(span)), text.unwrap_or_default().to_string())
            }
            None => (None, String::new()),
        };
        let tags = match &event.tags.otherwise {
            Some((condition, otherwise)) if self.encoding.circuit.value(*condition).is_zero() => {
                otherwise
            }
            _ => &event.tags.tags,
        };
        let kind = self.kind(event);
        Shown { thread: event.thread, kind, tags: tags.clone(), place, text }
    }

    fn kind(&self, event: &Event) -> EventKind {
        let address = self.encoding.circuit.value(event.address).unsigned() as u64;
        let size = event.bytes;
        let (location, value) = (self.name(address), event.kind.value());
        let value = value.map_or(Bits::zero(1), |value| self.encoding.circuit.value(value));
        let shown = self.show(value, true);
        match event.kind {
            Kind::Read { .. } => EventKind::Read { location, address, size, value, shown },
            Kind::Write { .. } => EventKind::Write { location, address, size, value, shown },
            Kind::Fence => EventKind::Fence,
            Kind::Silent { .. } => EventKind::Choice { value },
        }
    }

    /// An address as people write it.
    fn name(&self, address: u64) -> String {
        let globals = self.code.program.globals.iter().zip(self.code.addresses());
        let mut before = globals.filter(|(global, start)| {
            let end = start.saturating_add(global.size.max(1)).saturating_add(0x800);
            (**start..end).contains(&address)
        });
        match before.next() {
            Some((global, start)) if *start == address => global.name.clone(),
            Some((global, start)) => format!("{}+{}", global.name, address - start),
            None => format!("{address:#x}"),
        }
    }

    /// A value as people write it.
    fn show(&self, bits: Bits, signed: bool) -> String {
        let mut globals = self.code.program.globals.iter().zip(self.code.addresses());
        let named = globals.find(|(_, start)| u128::from(**start) == bits.unsigned());
        match named {
            Some((global, _)) => global.name.clone(),
            None if signed => bits.to_signed().to_string(),
            None => bits.unsigned().to_string(),
        }
    }

    fn final_state(&self, asked: &Asked, finals: &[Term]) -> Vec<StateValue> {
        let shown = asked.observed.iter().zip(finals).take(asked.shown);
        let value = |(observable, term): (&parallax_program::Observable, &Term)| {
            let bits = self.encoding.circuit.value(*term);
            StateValue {
                name: observable.name.clone(),
                bits,
                shown: self.show(bits, observable.signed),
                in_memory: matches!(observable.place, Place::Memory { .. }),
            }
        };
        shown.map(value).collect()
    }
}
