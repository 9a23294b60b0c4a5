//! Which values may be addresses, and of what: a flow of places through variables and memory that
//! takes no notice of the order of instructions (L. Andersen, Program analysis and specialization for
//! the C programming language, 1994), with offsets.
//!
//! What is said here is never too little: guards are left out where it says that a value is
//! a number.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use parallax_program::{
    BlockId, Callee, Expr, Function, FunctionId, InstKind, Program, RmwOp, Shape, Span, Tags,
    Terminator,
};

use crate::reader::Reader;
use crate::value::{Base, Offset, Value};

/// An instruction, by its place in the program; the end of a block comes last.
pub type Site = (FunctionId, BlockId, usize);

/// What an instruction allocates. What a function returns of its own allocations is distinguished by the
/// calls, so that a function that wraps `malloc` does not make one object of all.
pub struct Made {
    pub align: u64,
    /// Where it is always the same.
    pub size: Option<u64>,
    shape: Option<Arc<Shape>>,
    home: FunctionId,
    /// How many calls it is distinguished by.
    depth: u32,
    /// The same objects, as those see them who know more or fewer of the calls.
    kin: Vec<u32>,
}

/// What was stored somewhere, if it may be an address.
pub struct Stored {
    pub offset: Offset,
    pub bytes: u64,
    value: Value,
}

pub struct Flow<'p> {
    pub program: &'p Program,
    pub made: Vec<Made>,
    sites: HashMap<Site, u32>,
    /// What calls return of what was made.
    returned: HashMap<(u32, Site), u32>,
    /// The variables of each function.
    pub vars: Vec<Vec<Value>>,
    results: Vec<Value>,
    reached: Vec<bool>,
    /// For each function, block and instruction (the last is the end of the block), whether it is the
    /// library's.
    linked: Vec<Vec<Vec<bool>>>,
    stored: BTreeMap<Base, Vec<Stored>>,
    has_stored: bool,
    /// Who has to look again.
    queue: VecDeque<FunctionId>,
    waits: Vec<bool>,
    callers: Vec<BTreeSet<FunctionId>>,
}

/// With more instructions that allocate, those that make the same are not distinguished; with many
/// more, none.
const MANY: usize = 512;

/// By so many calls an allocation is distinguished.
const DEEPEST: u32 = 2;

/// More places of one object are not distinguished: copies within it would go on for ever.
const MOST_STORED: usize = 64;

/// Copies of bytes, which leave everything at the place that it had in its object. What they do
/// with addresses is the same in every layout.
const COPIES: [&str; 2] = ["memory.copy", "memory.copy.down"];

/// The number by which the library knows an object again. It is another one in another layout, and
/// compared with nothing but itself.
const NUMBER: &str = "object.number";

impl<'p> Flow<'p> {
    pub fn of(program: &'p Program) -> Flow<'p> {
        let mut flow = Flow {
            program,
            made: Vec::new(),
            sites: HashMap::new(),
            returned: HashMap::new(),
            vars: program.functions.iter().map(|f| vec![Value::default(); f.vars.len()]).collect(),
            results: vec![Value::default(); program.functions.len()],
            reached: vec![false; program.functions.len()],
            linked: program.functions.iter().map(|function| linked(program, function)).collect(),
            stored: BTreeMap::new(),
            has_stored: false,
            queue: VecDeque::new(),
            waits: vec![false; program.functions.len()],
            callers: vec![BTreeSet::new(); program.functions.len()],
        };
        flow.find_allocations();
        flow.start();
        flow.settle();
        flow
    }

    /// Goes on until nothing new is learned.
    fn settle(&mut self) {
        loop {
            while let Some(function) = self.queue.pop_front() {
                self.waits[function.0 as usize] = false;
                self.function(function);
            }
            if !std::mem::take(&mut self.has_stored) {
                return;
            }
            for number in (0..self.reached.len()).filter(|number| self.reached[*number]) {
                self.queue.push_back(FunctionId(number as u32));
                self.waits[number] = true;
            }
        }
    }

    fn look_again(&mut self, function: FunctionId) {
        if !std::mem::replace(&mut self.waits[function.0 as usize], true) {
            self.queue.push_back(function);
        }
    }

    pub fn is_reached(&self, function: FunctionId) -> bool {
        self.reached[function.0 as usize]
    }

    /// Whether an instruction is the library's.
    pub fn is_linked(&self, (function, block, index): Site) -> bool {
        self.linked[function.0 as usize][block.0 as usize][index]
    }

    pub fn shape(&self, base: Base) -> Option<&Shape> {
        match base {
            Base::Global(global) => self.program.globals[global as usize].shape.as_ref(),
            Base::Made(made) => self.made[made as usize].shape.as_deref(),
            Base::Function(_) => None,
        }
    }

    /// What every address of such an object is a multiple of.
    pub fn align(&self, base: Base) -> u64 {
        match base {
            Base::Global(global) => u64::from(self.program.globals[global as usize].align).max(1),
            Base::Made(made) => self.made[made as usize].align,
            Base::Function(_) => 1,
        }
    }

    pub fn size(&self, base: Base) -> Option<u64> {
        match base {
            Base::Global(global) => Some(self.program.globals[global as usize].size),
            Base::Made(made) => self.made[made as usize].size,
            Base::Function(_) => None,
        }
    }

    fn find_allocations(&mut self) {
        let mut found: Vec<(Site, Made)> = Vec::new();
        for (number, function) in self.program.functions.iter().enumerate() {
            for (block, body) in function.blocks.iter().enumerate() {
                for (index, inst) in body.insts.iter().enumerate() {
                    let home = FunctionId(number as u32);
                    let made = made(&inst.kind, home);
                    found.extend(made.map(|made| ((home, BlockId(block as u32), index), made)));
                }
            }
        }
        let is_distinguished = found.len() <= MANY;
        let mut alike: HashMap<String, u32> = HashMap::new();
        for (site, mut made) in found {
            let next = self.made.len() as u32;
            let number = match is_distinguished {
                true => next,
                false => {
                    made.depth = DEEPEST;
                    let shape = if alike.len() < MANY { &made.shape } else { &None };
                    let size = made.size.filter(|_| shape.is_some());
                    *alike.entry(format!("{} {size:?} {shape:?}", made.align)).or_insert(next)
                }
            };
            self.sites.insert(site, number);
            if number == next {
                self.made.push(made);
            } else if let Some(first) = self.made.get_mut(number as usize) {
                first.size = first.size.filter(|size| made.size == Some(*size));
                first.shape = first.shape.take().filter(|shape| made.shape.as_ref() == Some(shape));
            }
        }
    }

    /// Initial threads, and what globals hold at first.
    fn start(&mut self) {
        let program = self.program;
        for (number, global) in program.globals.iter().enumerate() {
            for cell in &global.init {
                let value = Reader::constant(self, &cell.value);
                let offset = Offset::exact(cell.offset as i64);
                let bytes = u64::from(cell.width / 8);
                self.keep(Base::Global(number as u32), offset, bytes, &value);
            }
        }
        for thread in &program.threads {
            let args = thread.args.iter().map(|arg| Reader::constant(self, arg)).collect();
            self.enter(thread.function, args);
        }
    }

    fn enter(&mut self, function: FunctionId, args: Vec<Value>) {
        if !std::mem::replace(&mut self.reached[function.0 as usize], true) {
            self.look_again(function);
        }
        for (param, arg) in args.iter().enumerate() {
            self.join(function, param, arg);
        }
    }

    fn join(&mut self, function: FunctionId, var: usize, value: &Value) {
        let Some(old) = self.vars[function.0 as usize].get(var) else { return };
        let new = self.joined(old, value);
        if let Some(new) = new {
            self.vars[function.0 as usize][var] = new;
            self.look_again(function);
        }
    }

    /// Both; None if that is what there was.
    fn joined(&self, old: &Value, more: &Value) -> Option<Value> {
        let mut new = old.clone();
        new.number = match (old.number, more.number) {
            (Some(one), Some(two)) => Some(one.join(two)),
            (one, two) => one.or(two),
        };
        for (base, offset) in &more.places {
            let shape = self.shape(*base);
            let place = new.places.entry(*base).or_insert(*offset);
            *place = place.join(*offset, shape);
        }
        (new != *old).then_some(new)
    }

    pub fn both(&self, one: Value, two: &Value) -> Value {
        self.joined(&one, two).unwrap_or(one)
    }

    /// A value is stored at a place in an object.
    fn keep(&mut self, base: Base, offset: Offset, bytes: u64, value: &Value) {
        if value.is_number() {
            return;
        }
        let known = self.stored.entry(base).or_default();
        let offset = if known.len() < MOST_STORED { offset } else { Offset::ANY };
        let same = known.iter().position(|it| it.offset == offset && it.bytes == bytes);
        let Some(same) = same else {
            known.push(Stored { offset, bytes, value: value.clone() });
            self.has_stored = true;
            return;
        };
        let old = std::mem::take(&mut known[same].value);
        let new = self.joined(&old, value);
        self.has_stored |= new.is_some();
        if let Some(kept) = self.stored.get_mut(&base).and_then(|known| known.get_mut(same)) {
            kept.value = new.unwrap_or(old);
        }
    }

    fn store(&mut self, address: &Value, bytes: u64, value: &Value) {
        for (base, offset) in &address.places {
            self.keep(*base, *offset, bytes, value);
        }
    }

    /// What was stored in an object, and may be an address.
    fn stored_in(&self, base: Base) -> impl Iterator<Item = &Stored> {
        let kin = match base {
            Base::Made(made) => self.made[made as usize].kin.as_slice(),
            _ => &[],
        };
        let kin = kin.iter().map(|made| Base::Made(*made));
        [base].into_iter().chain(kin).filter_map(|base| self.stored.get(&base)).flatten()
    }

    /// The same, where an access may go. A view of a whole object may leave the array that it began in.
    pub fn stored_at(
        &self,
        base: Base,
        offset: Offset,
        bytes: u64,
    ) -> impl Iterator<Item = &Stored> {
        let offset = Offset { within: None, ..offset };
        self.stored_in(base).filter(move |it| it.offset.meets(it.bytes, offset, bytes))
    }

    /// What an access may read. Parts of addresses are numbers: a guard sees to it that they are not
    /// read, unless they are copied.
    pub fn loaded(&self, address: &Value, bytes: u64, copies: bool) -> Value {
        let mut value = Value::any_number();
        if bytes < self.pointer_bytes() && !copies {
            return value;
        }
        for (base, offset) in &address.places {
            for stored in self.stored_at(*base, *offset, bytes) {
                value = self.both(value, &stored.value);
            }
        }
        value
    }

    pub fn pointer_bytes(&self) -> u64 {
        u64::from(self.program.pointer_width / 8)
    }

    fn function(&mut self, id: FunctionId) {
        let program = self.program;
        let function: &Function = program.function(id);
        for (number, block) in function.blocks.iter().enumerate() {
            for (index, inst) in block.insts.iter().enumerate() {
                let site = (id, BlockId(number as u32), index);
                let linked = self.is_linked(site);
                self.instruction(site, &inst.kind, linked);
            }
            if let Terminator::Return(Some(value)) = &block.terminator {
                let linked = self.is_linked((id, BlockId(number as u32), block.insts.len()));
                let value = Reader::new(self, id, linked).value(value);
                let old = &self.results[id.0 as usize];
                if let Some(new) = self.joined(old, &value) {
                    self.results[id.0 as usize] = new;
                    let callers = self.callers[id.0 as usize].clone();
                    callers.into_iter().for_each(|caller| self.look_again(caller));
                }
            }
        }
    }

    fn instruction(&mut self, site: Site, kind: &'p InstKind, linked: bool) {
        let id = site.0;
        let read = |flow: &Self, expr: &Expr| Reader::new(flow, id, linked).value(expr);
        let (dst, value) = match kind {
            InstKind::Assign { dst, value } => (Some(*dst), read(self, value)),
            InstKind::Load { dst, address, size, tags }
            | InstKind::LoadLinked { dst, address, size, tags } => {
                let address = read(self, address);
                let value = self.loaded(&address, size.bytes().into(), is_copy(tags));
                (Some(*dst), value)
            }
            InstKind::Store { address, value, size, .. }
            | InstKind::StoreConditional { address, value, size, .. } => {
                let (address, value) = (read(self, address), read(self, value));
                self.store(&address, size.bytes().into(), &value);
                return;
            }
            InstKind::Rmw { dst, address, op, operand, size, .. } => {
                let (address, operand) = (read(self, address), read(self, operand));
                let old = self.loaded(&address, size.bytes().into(), false);
                let new = match op {
                    RmwOp::Swap => operand,
                    _ => self.both(old.clone(), &operand).blurred(),
                };
                self.store(&address, size.bytes().into(), &new);
                (*dst, old)
            }
            InstKind::Cas { dst, address, desired, size, .. } => {
                let (address, desired) = (read(self, address), read(self, desired));
                self.store(&address, size.bytes().into(), &desired);
                (*dst, self.loaded(&address, size.bytes().into(), false))
            }
            InstKind::Alloc { dst, .. } => {
                let Some(made) = self.sites.get(&site) else { return };
                (Some(*dst), Value::place(Base::Made(*made)))
            }
            InstKind::Spawn { callee, args, .. } => {
                self.transfer(site, callee, args, linked);
                return;
            }
            InstKind::Call { dst, callee, args } => {
                (*dst, self.transfer(site, callee, args, linked))
            }
            InstKind::ThreadId { dst }
            | InstKind::HeapSize { dst, .. }
            | InstKind::Choose { dst, .. }
            | InstKind::Nondet { dst } => (Some(*dst), Value::any_number()),
            _ => return,
        };
        if let Some(dst) = dst {
            self.join(id, dst.0 as usize, &value);
        }
    }

    /// A call; the result is what it may return.
    fn transfer(&mut self, site: Site, callee: &Callee, args: &[Expr], linked: bool) -> Value {
        let reader = Reader::new(self, site.0, linked);
        let args: Vec<Value> = args.iter().map(|arg| reader.value(arg)).collect();
        let targets: Vec<FunctionId> = match callee {
            Callee::Direct(function) => vec![*function],
            Callee::External(_) => Vec::new(),
            Callee::Indirect(address) => {
                let functions = reader.value(address).places.into_keys();
                let functions = functions.filter_map(|base| match base {
                    Base::Function(function) => Some(FunctionId(function)),
                    _ => None,
                });
                let fits = |function: &FunctionId| {
                    self.program.function(*function).params as usize == args.len()
                };
                functions.filter(fits).collect()
            }
        };
        let mut result = Value::any_number();
        for target in targets {
            if self.program.function(target).name == NUMBER {
                continue;
            }
            if COPIES.contains(&self.program.function(target).name.as_str()) {
                self.copy(&args);
                continue;
            }
            self.enter(target, args.clone());
            self.callers[target.0 as usize].insert(site.0);
            let returned = self.returned(target, site);
            result = self.both(result, &returned);
        }
        result
    }

    /// What a call returns. Of what the function has made itself, every call has its own.
    fn returned(&mut self, target: FunctionId, site: Site) -> Value {
        let Value { number, places } = self.results[target.0 as usize].clone();
        let own = |flow: &mut Self, base: Base| match base {
            Base::Made(made) if flow.made[made as usize].is_distinguished(target) => {
                Base::Made(flow.made_by_call(made, site))
            }
            _ => base,
        };
        let places = places.into_iter().map(|(base, offset)| (own(self, base), offset)).collect();
        Value { number, places }
    }

    fn made_by_call(&mut self, made: u32, site: Site) -> u32 {
        if let Some(known) = self.returned.get(&(made, site)) {
            return *known;
        }
        let own = self.made.len() as u32;
        let Made { align, size, ref shape, depth, ref kin, .. } = self.made[made as usize];
        let less: Vec<u32> = kin.iter().copied().filter(|it| self.is_outer(*it, depth)).collect();
        let kin: Vec<u32> = less.into_iter().chain([made]).collect();
        let (shape, home, depth) = (shape.clone(), site.0, depth + 1);
        for other in &kin {
            self.made[*other as usize].kin.push(own);
        }
        self.made.push(Made { align, size, shape, home, depth, kin });
        self.returned.insert((made, site), own);
        own
    }

    /// Whether what was made is distinguished by fewer calls than so many.
    fn is_outer(&self, made: u32, depth: u32) -> bool {
        self.made[made as usize].depth < depth
    }

    /// What one object holds, another one does from now on.
    fn copy(&mut self, args: &[Value]) {
        let [to, from, ..] = args else { return };
        let mut copies = Vec::new();
        for (source, at) in &from.places {
            for stored in self.stored_in(*source) {
                let inner = stored.offset.moved(at.stride.negated(), None);
                for (target, start) in &to.places {
                    let offset = match (at.stride.known(), start.stride.known()) {
                        (Some(_), Some(start)) => {
                            inner.moved(crate::stride::Stride::exact(start), None)
                        }
                        _ => Offset { within: None, ..inner.moved(start.stride, None) },
                    };
                    copies.push((*target, offset, stored.bytes, stored.value.clone()));
                }
            }
        }
        for (target, offset, bytes, value) in copies {
            self.keep(target, offset, bytes, &value);
        }
    }
}

impl Made {
    /// Whether a call of a function distinguishes what it returns of this.
    fn is_distinguished(&self, function: FunctionId) -> bool {
        self.home == function && self.depth < DEEPEST
    }
}

fn made(kind: &InstKind, home: FunctionId) -> Option<Made> {
    let InstKind::Alloc { size, align, shape, .. } = kind else {
        return None;
    };
    let size = match size {
        Expr::Const(size) => u64::try_from(size.unsigned()).ok(),
        _ => None,
    };
    let (align, shape) = (u64::from(*align).max(1), shape.clone());
    Some(Made { align, size, shape, home, depth: 0, kin: Vec::new() })
}

fn linked(program: &Program, function: &Function) -> Vec<Vec<bool>> {
    let is_linked = |span: Span| program.source.location(span).is_linked();
    let blocks = function.blocks.iter().map(|block| {
        let spans = block.insts.iter().map(|inst| inst.span).chain([block.terminator_span]);
        spans.map(is_linked).collect()
    });
    blocks.collect()
}

/// Whether what is read is only copied.
pub fn is_copy(tags: &Tags) -> bool {
    tags.contains("COPY")
}
