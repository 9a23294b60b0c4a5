//! Threads that end from within. `pthread_exit` ends the lives of the variables of every function that
//! the thread is in, and not only of the one that calls it. So functions from which a thread may end
//! are put in place of their calls, as far as a caller has variables in memory; what is alive where
//! the thread ends is then known in one function.

use std::collections::HashSet;

use parallax_program::{
    AllocKind, Block, BlockId, Callee, Expr, Function, FunctionId, Inst, InstKind, Program,
    Terminator, VarId,
};

use crate::inline::{At, Places, inline};
use crate::{adapt, rewrite};

/// Functions that end the thread that calls them.
const ENDS: [&str; 3] = ["pthread_exit", "thrd_exit", "__VERIFIER_thread_exit"];

/// Functions that start threads, and which argument is the routine: it has no caller.
const STARTS: [(&str, usize); 6] = [
    ("pthread_create", 2),
    ("pthread_create.int", 2),
    ("thrd_create", 1),
    ("thrd_create.int", 1),
    ("__VERIFIER_thread_create", 1),
    ("__VERIFIER_thread_create_symmetric", 1),
];

/// Functions do not grow beyond that many instructions.
const LARGEST: usize = 20_000;

/// Machine code has one stack for each thread, and a program may have such functions of its own.
pub(crate) fn end_lives(program: &mut Program) {
    let is_own = |function: &Function| ENDS.contains(&function.name.as_str());
    if !program.registers.is_empty() || program.functions.iter().any(is_own) {
        return;
    }
    let mut exits = Exits::of(program);
    if !exits.leaving.contains(&true) {
        return;
    }
    if exits.matter(program) {
        for function in exits.callees_first(program) {
            exits.take_apart(program, function);
            exits.put_in(program, function);
        }
        exits.refuse_what_is_left(program);
    }
    program.functions.iter_mut().for_each(end_objects);
}

struct Exits {
    /// The functions from which the thread may end.
    leaving: Vec<bool>,
    /// Functions that may be called through pointers.
    taken: Vec<bool>,
    /// Those whose calls stay: they call themselves, or are too large.
    staying: Vec<bool>,
}

impl Exits {
    fn of(program: &Program) -> Exits {
        let leaving = program.functions.iter().map(|function| calls(function).any(is_end));
        let leaving: Vec<bool> = leaving.collect();
        let staying = vec![false; leaving.len()];
        let mut exits = Exits { leaving, taken: taken(program), staying };
        loop {
            let more = |(number, function): (usize, &Function)| {
                exits.leaving[number] || !exits.called(program, function).is_empty()
            };
            let leaving: Vec<bool> = program.functions.iter().enumerate().map(more).collect();
            if leaving == exits.leaving {
                return exits;
            }
            exits.leaving = leaving;
        }
    }

    /// Whether a function with variables in memory calls one from which the thread may end.
    fn matter(&self, program: &Program) -> bool {
        let callers = program.functions.iter().filter(|f| !self.called(program, f).is_empty());
        callers.into_iter().any(|function| !objects(function).is_empty())
    }

    /// The functions that a function calls and from which the thread may end.
    fn called(&self, program: &Program, function: &Function) -> Vec<usize> {
        let targets = calls(function).flat_map(|call| self.targets(program, function, call));
        targets.collect()
    }

    /// What a call may be of, among the functions from which the thread may end.
    fn targets(&self, program: &Program, caller: &Function, call: &InstKind) -> Vec<usize> {
        match call {
            InstKind::Call { callee: Callee::Indirect(_), dst, args } => {
                let is_target = |number: &usize| {
                    let function = &program.functions[*number];
                    self.leaving[*number]
                        && self.taken[*number]
                        && fits(function, caller, *dst, args, program.pointer_width)
                };
                (0..self.leaving.len()).filter(is_target).collect()
            }
            call => direct(call).filter(|number| self.leaving[*number]).into_iter().collect(),
        }
    }

    /// Functions from which the thread may end, each after those that it calls. Those that call
    /// themselves, however indirectly, stay as they are.
    fn callees_first(&mut self, program: &Program) -> Vec<usize> {
        let (mut order, mut open) = (Vec::new(), Vec::new());
        for number in (0..self.leaving.len()).filter(|number| self.leaving[*number]) {
            let mut seen = HashSet::new();
            open.extend(self.called(program, &program.functions[number]));
            while let Some(next) = open.pop() {
                self.staying[number] |= next == number;
                if seen.insert(next) {
                    open.extend(self.called(program, &program.functions[next]));
                }
            }
            order.push((seen.len(), number));
        }
        // Who calls another calls at least one function more, unless both call themselves.
        order.sort_unstable();
        order.into_iter().map(|(_, number)| number).collect()
    }

    /// Makes direct calls of calls through pointers, for those that matter.
    fn take_apart(&self, program: &mut Program, number: usize) {
        let function = &program.functions[number];
        let mut found = Vec::new();
        for (block, body) in function.blocks.iter().enumerate() {
            for (index, inst) in body.insts.iter().enumerate() {
                if matches!(inst.kind, InstKind::Call { callee: Callee::Indirect(_), .. }) {
                    let targets = self.targets(program, function, &inst.kind);
                    found.push((At { block, index }, targets));
                }
            }
        }
        // The last first: what comes before a call stays where it is.
        for (mut at, targets) in found.into_iter().rev() {
            for target in targets {
                at = split(&mut program.functions[number], at, target);
            }
        }
    }

    /// Puts what a function calls in place of the calls.
    fn put_in(&mut self, program: &mut Program, number: usize) {
        let mut block = 0;
        while block < program.functions[number].blocks.len() {
            let insts = &program.functions[number].blocks[block].insts;
            let found = insts.iter().enumerate().find_map(|(index, inst)| {
                let InstKind::Call { dst, callee: Callee::Direct(id), args } = &inst.kind else {
                    return None;
                };
                let callee = id.0 as usize;
                let is_it = self.leaving[callee] && !self.staying[callee] && callee != number;
                is_it.then(|| (index, callee, args.clone(), *dst))
            });
            let Some((index, callee, args, dst)) = found else {
                block += 1;
                continue;
            };
            let body = program.functions[callee].clone();
            if size(&program.functions[number]) + size(&body) > LARGEST {
                self.staying[callee] = true;
                continue;
            }
            let caller = &mut program.functions[number];
            inline(caller, At { block, index }, body, args, dst, Places::ItsOwn);
        }
    }

    /// What is still called does not know what its callers have.
    fn refuse_what_is_left(&self, program: &mut Program) {
        let left = program.functions.iter().flat_map(calls).filter_map(direct);
        let left: HashSet<usize> = left.filter(|number| self.leaving[*number]).collect();
        for number in left {
            for block in &mut program.functions[number].blocks {
                if let Some(index) = block.insts.iter().position(|inst| is_end(&inst.kind)) {
                    let what = "the end of a thread in a recursive or very large function whose \
                                callers have variables";
                    let kind = InstKind::Unsupported { what: what.to_string() };
                    block.insts.insert(index, Inst { kind, span: block.insts[index].span });
                }
            }
        }
    }
}

/// Ends the lives of a function's variables where the thread ends. A variable that is not alive has
/// the address 0, which may be freed at any time.
fn end_objects(function: &mut Function) {
    let objects = objects(function);
    if objects.is_empty() || !calls(function).any(is_end) {
        return;
    }
    for block in &mut function.blocks {
        let insts = std::mem::take(&mut block.insts);
        for inst in insts {
            let span = inst.span;
            if is_end(&inst.kind) {
                let ends = objects.iter().rev().map(|(object, _)| {
                    let address = Expr::Var(*object);
                    Inst { kind: InstKind::Free { address, kind: AllocKind::Stack }, span }
                });
                block.insts.extend(ends);
            }
            let ended = match &inst.kind {
                InstKind::Free { address: Expr::Var(object), kind: AllocKind::Stack } => {
                    objects.iter().find(|(known, _)| known == object)
                }
                _ => None,
            };
            block.insts.push(inst);
            if let Some((dst, width)) = ended.copied() {
                let kind = InstKind::Assign { dst, value: Expr::constant(width, 0) };
                block.insts.push(Inst { kind, span });
            }
        }
    }
}

/// The variables that hold the addresses of a function's objects, in order, and their widths.
fn objects(function: &Function) -> Vec<(VarId, u32)> {
    let mut objects: Vec<(VarId, u32)> = Vec::new();
    for inst in function.blocks.iter().flat_map(|block| &block.insts) {
        if let InstKind::Alloc { dst, kind: AllocKind::Stack, .. } = &inst.kind
            && !objects.iter().any(|(known, _)| known == dst)
        {
            objects.push((*dst, function.vars[dst.0 as usize].width));
        }
    }
    objects
}

fn calls(function: &Function) -> impl Iterator<Item = &InstKind> {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    insts.map(|inst| &inst.kind).filter(|kind| matches!(kind, InstKind::Call { .. }))
}

fn is_end(kind: &InstKind) -> bool {
    matches!(kind, InstKind::Call { callee: Callee::External(name), .. } if ENDS.contains(&name.as_str()))
}

/// The function that a call is of, where that is known.
fn direct(kind: &InstKind) -> Option<usize> {
    match kind {
        InstKind::Call { callee: Callee::Direct(id), .. } => Some(id.0 as usize),
        _ => None,
    }
}

fn size(function: &Function) -> usize {
    function.blocks.iter().map(|block| block.insts.len() + 1).sum()
}

/// Whether a function can be what a call through a pointer leads to.
fn fits(
    function: &Function,
    caller: &Function,
    dst: Option<VarId>,
    args: &[Expr],
    pointer: u32,
) -> bool {
    let params = &function.vars[..function.params as usize];
    let mut pairs = params.iter().zip(args);
    let result = dst.map(|dst| caller.vars[dst.0 as usize].width);
    params.len() == args.len()
        && pairs.all(|(param, arg)| adapt::width(arg, &caller.vars, pointer) == param.width)
        && (result.is_none() || result == function.result)
}

/// Functions whose address is used for something else than starting a thread.
fn taken(program: &Program) -> Vec<bool> {
    let mut taken = vec![false; program.functions.len()];
    let mut see = |expr: &Expr| {
        rewrite::leaves(&mut expr.clone(), &mut |leaf| {
            if let Expr::FunctionAddress(id) = leaf
                && let Some(taken) = taken.get_mut(id.0 as usize)
            {
                *taken = true;
            }
        });
    };
    program.globals.iter().flat_map(|global| &global.init).for_each(|cell| see(&cell.value));
    for block in program.functions.iter().flat_map(|function| &function.blocks) {
        for inst in &block.insts {
            let routine = routine(&inst.kind);
            inst.kind.for_each_expr(&mut |expr| {
                if !routine.is_some_and(|routine| std::ptr::eq(routine, expr)) {
                    see(expr);
                }
            });
        }
        match &block.terminator {
            Terminator::Branch { condition, .. } => see(condition),
            Terminator::Return(Some(value)) => see(value),
            _ => {}
        }
    }
    taken
}

/// What a call starts a thread with.
fn routine(kind: &InstKind) -> Option<&Expr> {
    let InstKind::Call { callee: Callee::External(name), args, .. } = kind else {
        return None;
    };
    let (_, position) = STARTS.iter().find(|(known, _)| known == name)?;
    args.get(*position)
}

/// Calls a function directly where that is what the pointer leads to. Gives the place of the call that
/// is left.
fn split(function: &mut Function, at: At, target: usize) -> At {
    let block = &mut function.blocks[at.block];
    let mut calls = block.insts.split_off(at.index);
    let rest = calls.split_off(1);
    let mut direct = calls.clone();
    let mut condition = Expr::constant(1, 0);
    for inst in &mut direct {
        if let InstKind::Call { callee, .. } = &mut inst.kind {
            let id = FunctionId(target as u32);
            if let Callee::Indirect(pointer) = std::mem::replace(callee, Callee::Direct(id)) {
                condition = pointer.eq(Expr::FunctionAddress(id));
            }
        }
    }
    let span = calls.first().map_or(block.terminator_span, |call| call.span);
    let first = function.blocks.len();
    let [then, otherwise, after] = [0, 1, 2].map(|more| BlockId((first + more) as u32));
    let branch = Terminator::Branch { condition, then, otherwise, join: Some(after) };
    let block = &mut function.blocks[at.block];
    let terminator = std::mem::replace(&mut block.terminator, branch);
    let terminator_span = std::mem::replace(&mut block.terminator_span, span);
    let part = |label: &str, insts: Vec<Inst>| Block {
        label: format!("{label}.{first}"),
        insts,
        terminator: Terminator::Jump(after),
        terminator_span: span,
    };
    function.blocks.push(part("direct", direct));
    function.blocks.push(part("other", calls));
    function.blocks.push(Block { terminator, terminator_span, ..part("after", rest) });
    At { block: first + 1, index: 0 }
}
