//! Assertions that hold by what their own function does before them, whoever calls it and whatever
//! memory holds: `a + b` behind `if (b > 0 && a > MAX - b) abort();`.
//!
//! Sets of values know nothing of two variables at once. So the function of an assertion is run by
//! itself, on terms: from where it begins and from the head of each of its loops, with any values of
//! its variables, up to the next head. What it reads from memory may be anything, but that in an atomic
//! section a place holds what was found or stored there before. Where the solver refutes that a way gets
//! to the assertion and fails, it never does. Where there is such a way, those that call the function
//! are run in its place, some calls up.
//!
//! That is verification by conditions of paths (C. Flanagan, J. Saxe, "Avoiding exponential explosion:
//! generating compact verification conditions", POPL 2001), with `true` for the invariant of each loop.
//! Each execution of the assertion is at the end of one of these ways: every execution of a function
//! begins where it begins, each cycle comes by the head of a loop, and what the ways assume of values is
//! true of all.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use parallax_control::Control;
use parallax_machine::{Code, Domain, Idle, Limits, Operation, Site, Thread, Truth};
use parallax_program::{
    BinaryOp, Bits, BlockId, Callee, Expr, Function, FunctionId, InstKind, Program, Terminator,
    UnaryOp,
};
use parallax_solver::{Answer, Blaster, Cadical, Literal, Solver, Term, Terms};

use crate::state::Place;

/// What is known of each assertion that was asked for.
pub struct Local<'p> {
    code: Code<'p>,
    known: HashMap<Place, bool>,
    /// Who calls each function by its name.
    callers: Vec<BTreeSet<FunctionId>>,
    /// Whether a function is also run in other ways: by its address, or as a thread.
    is_open: Vec<bool>,
    /// Where globals lie that are only accessed by their names: no pointer leads there.
    named: Vec<Range<u64>>,
    /// What may still be spent on all of them.
    left: u32,
}

/// Blocks that are run, for all assertions of a program, and for one from one function.
const MOST_BLOCKS: u32 = 40_000;
const MOST_AT_ONCE: u32 = 1_500;
/// So many calls up it is looked for a reason, and in so many functions at once.
const MOST_UP: u32 = 3;
const MOST_ROOTS: usize = 12;
/// Loops of functions that are called are followed for so many rounds.
const MOST_ROUNDS: u32 = 12;
/// What a block and what a question to the solver cost, in nominal nanoseconds.
const BLOCK: u64 = 10_000;
const QUESTION: u64 = 300_000;

const LIMITS: Limits =
    Limits { repeats: u32::MAX - 1, steps: 1 << 16, depth: 40, spins: false, idle: Idle::None };

impl<'p> Local<'p> {
    pub fn new(program: &'p Program) -> Local<'p> {
        let mut local = Local {
            code: Code::new(program),
            known: HashMap::new(),
            callers: vec![BTreeSet::new(); program.functions.len()],
            is_open: vec![false; program.functions.len()],
            named: Vec::new(),
            left: MOST_BLOCKS,
        };
        let starts = local.code.addresses().iter();
        let ranges = program.globals.iter().zip(starts).map(|(global, start)| {
            let end = start.saturating_add(global.size);
            *start..end
        });
        let shown = shown(program);
        let named = ranges.enumerate().filter(|(number, _)| !shown[*number]);
        local.named = named.map(|(_, range)| range).collect();
        for thread in &program.threads {
            local.is_open[thread.function.0 as usize] = true;
            thread.args.iter().for_each(|arg| local.open_all(arg));
        }
        for cell in program.globals.iter().flat_map(|global| &global.init) {
            local.open_all(&cell.value);
        }
        for (number, function) in program.functions.iter().enumerate() {
            let caller = FunctionId(number as u32);
            for block in &function.blocks {
                for inst in &block.insts {
                    inst.kind.for_each_expr(&mut |expr| local.open_all(expr));
                    match &inst.kind {
                        InstKind::Call { callee: Callee::Direct(callee), .. } => {
                            local.callers[callee.0 as usize].insert(caller);
                        }
                        InstKind::Spawn { callee: Callee::Direct(callee), .. } => {
                            local.is_open[callee.0 as usize] = true;
                        }
                        _ => {}
                    }
                }
                match &block.terminator {
                    Terminator::Branch { condition, .. } => local.open_all(condition),
                    Terminator::Return(Some(value)) => local.open_all(value),
                    _ => {}
                }
            }
        }
        local
    }

    /// Functions whose address is in an expression may be called by it.
    fn open_all(&mut self, expr: &Expr) {
        visit(expr, &mut |inner| {
            if let Expr::FunctionAddress(function) = inner {
                self.is_open[function.0 as usize] = true;
            }
        });
    }

    /// Whether an assertion is shown to hold wherever it is reached.
    pub fn holds(&mut self, place: Place, control: &Control<'_>) -> bool {
        if let Some(known) = self.known.get(&place) {
            return *known;
        }
        let holds = self.is_shown(place, control);
        self.known.insert(place, holds);
        holds
    }

    fn is_shown(&mut self, place: Place, control: &Control<'_>) -> bool {
        let mut roots = BTreeSet::from([FunctionId(place.function)]);
        for _ in 0..=MOST_UP {
            let mut next = BTreeSet::new();
            for root in roots {
                if self.holds_from(root, place, control) {
                    continue;
                }
                if self.is_open[root.0 as usize] || self.left == 0 {
                    return false;
                }
                next.extend(self.callers[root.0 as usize].iter().copied());
            }
            if next.is_empty() || next.len() > MOST_ROOTS {
                return next.is_empty();
            }
            roots = next;
        }
        false
    }

    /// Whether no way through a function, and what it calls, gets to an assertion that fails.
    fn holds_from(&mut self, root: FunctionId, place: Place, control: &Control<'_>) -> bool {
        let function = self.code.program.function(root);
        let heads = heads(function);
        let block = BlockId(place.block);
        let mut search = Search {
            code: &self.code,
            heads: &heads,
            named: &self.named,
            target: Site { function: FunctionId(place.function), block, index: place.index },
            values: Values::default(),
            solver: Cadical::new(),
            blaster: Blaster::new().within(control),
            control,
            left: self.left.min(MOST_AT_ONCE),
        };
        let before = search.left;
        let holds = search.run(root, function);
        self.left -= before - search.left;
        holds
    }
}

/// Which globals may be known by a pointer: all whose address is in more than where an access goes to.
fn shown(program: &Program) -> Vec<bool> {
    let mut shown = vec![false; program.globals.len()];
    let mut show = |expr: &Expr| {
        visit(expr, &mut |inner| {
            if let Expr::Address(global) = inner {
                shown[global.0 as usize] = true;
            }
        });
    };
    program.threads.iter().flat_map(|thread| &thread.args).for_each(&mut show);
    let cells = program.globals.iter().flat_map(|global| &global.init);
    cells.for_each(|cell| show(&cell.value));
    for block in program.functions.iter().flat_map(|function| &function.blocks) {
        for inst in &block.insts {
            let place = match &inst.kind {
                InstKind::Load { address, .. }
                | InstKind::Store { address, .. }
                | InstKind::Rmw { address, .. }
                | InstKind::Cas { address, .. } => Some(address).filter(|it| is_name(it)),
                _ => None,
            };
            inst.kind.for_each_expr(&mut |expr| {
                if place.is_none_or(|place| !std::ptr::eq(place, expr)) {
                    show(expr);
                }
            });
        }
        match &block.terminator {
            Terminator::Branch { condition, .. } => show(condition),
            Terminator::Return(Some(value)) => show(value),
            _ => {}
        }
    }
    shown
}

/// Whether an address is that of a global, or of a part of one.
fn is_name(address: &Expr) -> bool {
    match address {
        Expr::Address(_) => true,
        Expr::Binary(BinaryOp::Add, base, offset) => {
            matches!((&**base, &**offset), (Expr::Address(_), Expr::Const(_)))
        }
        _ => false,
    }
}

/// An expression and all that is in it.
fn visit(expr: &Expr, look: &mut dyn FnMut(&Expr)) {
    look(expr);
    match expr {
        Expr::Const(_) | Expr::Var(_) | Expr::Address(_) | Expr::FunctionAddress(_) => {}
        Expr::Unary(_, value)
        | Expr::Extract { value, .. }
        | Expr::ZeroExtend { value, .. }
        | Expr::SignExtend { value, .. } => visit(value, look),
        Expr::Binary(_, left, right) | Expr::Concat { high: left, low: right } => {
            visit(left, look);
            visit(right, look);
        }
        Expr::Select { condition, then, otherwise } => {
            visit(condition, look);
            visit(then, look);
            visit(otherwise, look);
        }
    }
}

/// Blocks that each cycle of a function comes by.
fn heads(function: &Function) -> BTreeSet<BlockId> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        Open,
        Done,
    }
    let mut seen = vec![Seen::No; function.blocks.len()];
    let mut heads = BTreeSet::new();
    let mut stack = vec![(0, 0)];
    while let Some((block, next)) = stack.pop() {
        let Some(body) = function.blocks.get(block) else { continue };
        seen[block] = Seen::Open;
        let targets = match &body.terminator {
            Terminator::Jump(target) => vec![*target],
            Terminator::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            _ => Vec::new(),
        };
        let Some(target) = targets.get(next) else {
            seen[block] = Seen::Done;
            continue;
        };
        stack.push((block, next + 1));
        match seen[target.0 as usize] {
            Seen::No => stack.push((target.0 as usize, 0)),
            Seen::Open => drop(heads.insert(*target)),
            Seen::Done => {}
        }
    }
    heads
}

/// A way through a function.
#[derive(Clone)]
struct Way {
    thread: Thread<Term>,
    /// What has to hold for it to be taken.
    guard: Vec<Term>,
    /// What is at some places, in an atomic section.
    section: Option<Vec<(Term, u32, Term)>>,
    /// Rounds of loops in functions that are called.
    rounds: u32,
}

struct Search<'a, 'p> {
    code: &'a Code<'p>,
    heads: &'a BTreeSet<BlockId>,
    named: &'a [Range<u64>],
    target: Site,
    values: Values,
    solver: Cadical,
    blaster: Blaster,
    control: &'a Control<'a>,
    left: u32,
}

/// The question is too hard, or there is a way to an assertion that fails.
struct Lost;

impl<'p> Search<'_, 'p> {
    fn run(&mut self, root: FunctionId, function: &Function) -> bool {
        let widths: Vec<u32> = function.vars.iter().map(|var| var.width).collect();
        let params = widths.iter().take(function.params as usize);
        let args = params.map(|width| self.values.terms.variable(*width)).collect();
        let mut open = vec![Way {
            thread: Thread::start(self.code, root, args, &mut self.values),
            guard: Vec::new(),
            section: None,
            rounds: 0,
        }];
        for head in self.heads {
            let site = Site { function: root, block: *head, index: 0 };
            let vars = widths.iter().map(|width| self.values.terms.variable(*width)).collect();
            let thread = Thread::standing(self.code, &[site], vec![vars]);
            open.push(Way { thread, guard: Vec::new(), section: None, rounds: 0 });
        }
        while let Some(way) = open.pop() {
            if self.advance(way, &mut open).is_err() {
                return false;
            }
        }
        true
    }

    /// Goes on up to the next block, or past the next operation.
    fn advance(&mut self, mut way: Way, open: &mut Vec<Way>) -> Result<(), Lost> {
        if self.left == 0 || self.control.reason().is_some() {
            return Err(Lost);
        }
        self.left -= 1;
        self.control.spend(BLOCK);
        let Some(operation) = way.thread.advance(self.code, &LIMITS, &mut self.values) else {
            let begins = way.thread.site().is_some_and(|site| self.code.begins_round(site));
            way.rounds += u32::from(begins);
            if way.rounds > MOST_ROUNDS {
                return Err(Lost);
            }
            self.go_on(way, open);
            return Ok(());
        };
        self.serve(way, operation, open)
    }

    /// Another way begins at each head of a loop.
    fn go_on(&self, way: Way, open: &mut Vec<Way>) {
        let mut stack = way.thread.stack();
        let outermost = (stack.next(), stack.next());
        let is_head = |site: Site| site.index == 0 && self.heads.contains(&site.block);
        if !matches!(outermost, (Some(site), None) if is_head(site)) {
            drop(stack);
            open.push(way);
        }
    }

    fn serve(
        &mut self,
        mut way: Way,
        operation: Operation<'p, Term>,
        open: &mut Vec<Way>,
    ) -> Result<(), Lost> {
        let pointers = self.code.program.pointer_width;
        let mut results: (Option<Term>, Option<Term>) = (None, None);
        match operation {
            Operation::Load { address, size, .. } => {
                results.0 = Some(self.load(&mut way, address, size.bytes()));
            }
            Operation::Store { address, value, size, .. } => {
                self.store(&mut way, address, size.bytes(), value);
            }
            Operation::Rmw { size, .. } | Operation::Cas { size, .. } => {
                way.section.iter_mut().for_each(Vec::clear);
                let old = self.values.terms.variable(size.bytes() * 8);
                results = (Some(old), Some(self.values.terms.variable(1)));
            }
            Operation::Fence { .. } | Operation::Join { .. } | Operation::Free { .. } => {}
            Operation::Spawn { .. } | Operation::ThreadId => {
                results.0 = Some(self.values.terms.variable(32));
            }
            Operation::Alloc { .. } | Operation::HeapSize { .. } => {
                results.0 = Some(self.values.terms.variable(pointers));
            }
            Operation::Nondet { width } | Operation::Undefined { width } => {
                results.0 = Some(self.values.terms.variable(width));
            }
            Operation::Choose { below } => {
                let value = self.values.terms.variable(self.values.terms.width(below));
                way.guard.push(self.values.terms.binary(BinaryOp::Ult, value, below));
                results.0 = Some(value);
            }
            Operation::Wait { condition } | Operation::Assume { condition } => {
                way.guard.push(condition);
            }
            Operation::Assert { condition, .. } => {
                if way.thread.site() == Some(self.target) {
                    let mut fails = way.guard.clone();
                    fails.push(self.values.terms.not(condition));
                    if self.is_possible(&fails)? {
                        return Err(Lost);
                    }
                }
                way.guard.push(condition);
            }
            Operation::AtomicBegin => way.section = Some(Vec::new()),
            Operation::AtomicEnd => way.section = None,
            Operation::Branch { condition } => return self.branch(way, condition, open),
            Operation::End => return Ok(()),
            Operation::LoadLinked { .. }
            | Operation::StoreConditional { .. }
            | Operation::Spin { .. }
            | Operation::Vain { .. }
            | Operation::Cut
            | Operation::Fault(_) => {
                return if self.is_possible(&way.guard)? { Err(Lost) } else { Ok(()) };
            }
        }
        if way.guard.last().is_some_and(|last| self.values.is(*last, false)) {
            return Ok(());
        }
        match results {
            (Some(first), second) => way.thread.results(self.code, first, second),
            (None, _) => way.thread.done(),
        }
        open.push(way);
        Ok(())
    }

    fn branch(&mut self, way: Way, condition: Term, open: &mut Vec<Way>) -> Result<(), Lost> {
        let fails = self.values.terms.not(condition);
        for (taken, side) in [(true, condition), (false, fails)] {
            let mut way = way.clone();
            way.guard.push(side);
            if self.is_possible(&way.guard)? {
                if !way.thread.branch(self.code, &LIMITS, taken, &mut self.values) {
                    return Err(Lost);
                }
                self.go_on(way, open);
            }
        }
        Ok(())
    }

    /// Whether conditions can hold together.
    fn is_possible(&mut self, conditions: &[Term]) -> Result<bool, Lost> {
        if conditions.iter().any(|condition| self.values.is(*condition, false)) {
            return Ok(false);
        }
        if conditions.iter().all(|condition| self.values.is(*condition, true)) {
            return Ok(true);
        }
        self.control.spend(QUESTION);
        let terms = &self.values.terms;
        let literal = |it: &Term| self.blaster.literal_of(terms, *it, &mut self.solver);
        let literals: Vec<Literal> = conditions.iter().map(literal).collect();
        match self.solver.solve(&literals, self.control) {
            Answer::Unsatisfiable => Ok(false),
            Answer::Satisfiable => Ok(true),
            Answer::Stopped(_) => Err(Lost),
        }
    }

    fn load(&mut self, way: &mut Way, address: Term, bytes: u32) -> Term {
        let found = way.section.iter().flatten();
        let found = found.rev().find(|(at, size, _)| *at == address && *size == bytes);
        if let Some((_, _, value)) = found {
            return *value;
        }
        let value = self.values.terms.variable(bytes * 8);
        if let Some(section) = &mut way.section {
            section.push((address, bytes, value));
        }
        value
    }

    /// What is known of other places stays known where both are numbers and apart, or where no pointer
    /// leads: an access that goes beyond its object is an error before anything that comes of it.
    fn store(&mut self, way: &mut Way, address: Term, bytes: u32, value: Term) {
        let Some(section) = &mut way.section else { return };
        let number = |term: Term| self.values.terms.as_constant(term).map(Bits::unsigned);
        section.retain(|(at, size, _)| match (number(*at), number(address)) {
            (Some(one), Some(two)) => {
                one + u128::from(*size) <= two || two + u128::from(bytes) <= one
            }
            (Some(one), None) => {
                self.named.iter().any(|range| range.contains(&u64::try_from(one).unwrap_or(0)))
            }
            _ => false,
        });
        section.push((address, bytes, value));
    }
}

/// Terms as a domain of values.
#[derive(Default)]
struct Values {
    terms: Terms,
}

impl Values {
    fn is(&self, term: Term, value: bool) -> bool {
        self.terms.as_constant(term).is_some_and(|bits| bits.is_zero() != value)
    }
}

impl Domain for Values {
    type Value = Term;

    const FOLLOWS_CONTROL: bool = false;

    fn constant(&mut self, bits: Bits) -> Term {
        match bits.is_undefined() {
            true => self.terms.variable(bits.width()),
            false => self.terms.constant(bits),
        }
    }

    fn unary(&mut self, op: UnaryOp, value: &Term) -> Term {
        self.terms.unary(op, *value)
    }

    fn binary(&mut self, op: BinaryOp, left: &Term, right: &Term) -> Term {
        self.terms.binary(op, *left, *right)
    }

    fn extract(&mut self, value: &Term, low: u32, width: u32) -> Term {
        self.terms.extract(*value, low, width)
    }

    fn concat(&mut self, high: &Term, low: &Term) -> Term {
        self.terms.concat(*high, *low)
    }

    fn zero_extend(&mut self, value: &Term, width: u32) -> Term {
        self.terms.zero_extend(*value, width)
    }

    fn sign_extend(&mut self, value: &Term, width: u32) -> Term {
        self.terms.sign_extend(*value, width)
    }

    fn select(&mut self, condition: &Term, then: &Term, otherwise: &Term) -> Term {
        self.terms.select(*condition, *then, *otherwise)
    }

    fn truth(&self, value: &Term) -> Truth {
        match self.known(value) {
            Some(bits) if bits.is_zero() => Truth::False,
            Some(_) => Truth::True,
            None => Truth::Undecided,
        }
    }

    fn same(&self, left: &Term, right: &Term) -> bool {
        left == right
    }

    fn known(&self, value: &Term) -> Option<Bits> {
        self.terms.as_constant(*value)
    }
}
