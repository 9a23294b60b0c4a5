//! What all states of a program have in common.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use parallax_program::{
    Block, Function, Inst, InstKind, Program, Property, Slots, Terminator, VarId,
};

use super::fingerprint::Spread;
use super::local::Passage;
use super::marks::{Marks, MemoryKind};
use super::pages::Page;
use crate::live::Live;
use crate::{Code, Globals, Limits, Meter, Site};

/// What a user of the machine decides.
#[derive(Clone, Debug)]
pub struct SystemOptions {
    pub memory: MemoryKind,
    /// What inputs may be; None if programs with inputs are not followed.
    pub nondet: Option<(i128, i128)>,
    /// What is looked for. An error that nobody looks for is not one: what was never written is
    /// zero, locks can be given back by anybody.
    pub properties: Vec<Property>,
    /// Whether what no other thread can notice is part of the step before it. Otherwise every
    /// access is a step.
    pub merges: bool,
    /// Whether a thread stops after each instruction, those included that only it can notice. For
    /// people who watch; nothing is merged then.
    pub stops: bool,
    /// How many stores of one thread may wait.
    pub buffer: usize,
    /// Variables of the functions that threads start in, by thread, that are asked for when the
    /// thread has ended.
    pub observed: Vec<(u32, VarId)>,
}

impl Default for SystemOptions {
    fn default() -> SystemOptions {
        SystemOptions {
            memory: MemoryKind::Tso,
            nondet: None,
            properties: Property::ALL.to_vec(),
            merges: true,
            stops: false,
            buffer: 1024,
            observed: Vec::new(),
        }
    }
}

/// A program made ready for the operational machine.
pub struct Setup<'p> {
    pub code: Code<'p>,
    pub options: SystemOptions,
    pub(crate) limits: Limits,
    /// What threads compute alone.
    pub meter: Meter,
    pub(crate) live: Live,
    /// For each instruction of each block of each function.
    marks: Vec<Vec<Vec<[Marks; 3]>>>,
    pub(crate) globals: Globals,
    /// Contexts whose objects several threads use.
    shared: HashSet<u64>,
    /// The register that says where the stack ends, if what is below it is forgotten.
    stack_pointer: Option<usize>,
    /// For each function, whether it calls no other before it ends.
    is_leaf: Vec<bool>,
    /// Numbers of threads by parent and place among its children: the n-th thread that a thread
    /// spawns has the same number whatever else happens.
    children: RefCell<HashMap<(u32, u32), u32>>,
    passages: RefCell<HashMap<u128, Arc<Passage<'p>>, BuildHasherDefault<Spread>>>,
    /// Bytes that the passages take, about.
    passage_bytes: Cell<usize>,
}

impl<'p> Setup<'p> {
    pub(crate) const MOST_THREADS: usize = 1 << 11;
    /// What remembered passages may take.
    const PASSAGE_BYTES: usize = 1 << 29;

    /// None if the globals are too large.
    pub fn new(program: &'p Program, options: SystemOptions) -> Option<Setup<'p>> {
        let code = Code::new(program);
        let options = SystemOptions { merges: options.merges && !options.stops, ..options };
        let globals = Globals::new(&code)?;
        let block =
            |block: &Block| block.insts.iter().map(|inst| Marks::of_events(&inst.kind)).collect();
        let marks = program.functions.iter().map(|function| function.blocks.iter().map(block));
        let limits =
            Limits { repeats: u32::MAX - 1, steps: 10_000_000, depth: 1_000, ..Limits::default() };
        Some(Setup {
            limits,
            meter: Meter::default(),
            live: Live::of(program),
            marks: marks.map(Iterator::collect).collect(),
            globals,
            shared: HashSet::new(),
            stack_pointer: program.registers.iter().position(|register| register.name == "rsp"),
            is_leaf: program.functions.iter().map(is_leaf).collect(),
            children: RefCell::default(),
            passages: RefCell::default(),
            passage_bytes: Cell::new(0),
            code,
            options,
        })
    }

    /// Where objects lie that threads make.
    pub(crate) fn slots(&self) -> Slots {
        self.code.program.slots()
    }

    /// The objects that were made in a context are used by several threads. What was found out
    /// before is void: states must be made anew.
    pub fn share(&mut self, context: u64) {
        self.shared.insert(context);
        self.passages.borrow_mut().clear();
        self.passage_bytes.set(0);
    }

    /// Somebody reads what is below the end of the stack: it is kept from now on. What was found
    /// out before is void: states must be made anew.
    pub fn keep_stacks(&mut self) {
        self.stack_pointer = None;
        self.passages.borrow_mut().clear();
        self.passage_bytes.set(0);
    }

    /// The register that says where stacks end, if what is below is forgotten.
    pub(crate) fn stack_pointer(&self) -> Option<usize> {
        self.stack_pointer.filter(|_| self.options.merges)
    }

    /// How many bytes below the end of the stack a function may use: 128 where it calls no other
    /// (System V ABI, AMD64 supplement, section 3.2.2).
    pub(crate) fn red_zone(&self, site: Site) -> u64 {
        if self.is_leaf[site.function.0 as usize] { 128 } else { 0 }
    }

    pub(crate) fn is_private(&self, context: u64) -> bool {
        self.options.merges && !self.shared.contains(&context)
    }

    pub(crate) fn marks(&self, site: Option<Site>) -> [Marks; 3] {
        let Some(Site { function, block, index }) = site else {
            return Default::default();
        };
        let block = &self.marks[function.0 as usize][block.0 as usize];
        block.get(index as usize).copied().unwrap_or_default()
    }

    /// None where there are too many threads.
    pub(crate) fn child(&self, parent: u32, place: u32) -> Option<u32> {
        let mut children = self.children.borrow_mut();
        let next = (self.code.program.threads.len() + children.len()) as u32;
        let number = *children.entry((parent, place)).or_insert(next);
        ((number as usize) < Self::MOST_THREADS).then_some(number)
    }

    /// The thread that spawns a thread, if that has ever happened.
    pub fn parent(&self, child: u32) -> Option<u32> {
        let children = self.children.borrow();
        children.iter().find(|(_, number)| **number == child).map(|((parent, _), _)| *parent)
    }

    /// A passage that was found before, or else now.
    pub(crate) fn remember(
        &self,
        key: u128,
        find: impl FnOnce() -> Passage<'p>,
    ) -> Arc<Passage<'p>> {
        if let Some(known) = self.passages.borrow().get(&key) {
            return known.clone();
        }
        let passage = Arc::new(find());
        let mut passages = self.passages.borrow_mut();
        let bytes = self.passage_bytes.get() + passage.bytes();
        if bytes > Self::PASSAGE_BYTES {
            passages.clear();
        }
        self.passage_bytes.set(if passages.is_empty() { passage.bytes() } else { bytes });
        passages.insert(key, passage.clone());
        passage
    }

    /// What a page of globals holds at first.
    pub(crate) fn global_page(&self, number: u64) -> Page {
        let mut page = Page::zeroed(true);
        let start = number.saturating_mul(Page::SIZE);
        self.globals.fill(start, &mut page.bytes);
        page
    }
}

/// Whether a function calls no other but to end with it.
fn is_leaf(function: &Function) -> bool {
    let is_call = |inst: &Inst| matches!(inst.kind, InstKind::Call { .. });
    function.blocks.iter().all(|block| {
        let rest = match (&block.terminator, block.insts.split_last()) {
            (Terminator::Return(None), Some((last, rest))) if is_call(last) => rest,
            _ => &block.insts[..],
        };
        function.registers && !rest.iter().any(is_call)
    })
}
