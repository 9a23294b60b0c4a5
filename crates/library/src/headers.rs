//! Functions that a program brings along from a standard library: the templates and inline functions of its
//! headers. Nobody asks about their lines. So they are put in place of their
//! calls, and what they do is done there, by the function and at the place that a person has written.

use parallax_program::{
    Callee, Expr, Function, FunctionId, GlobalId, InstKind, Program, Terminator,
};

use crate::inline::{At, Places, inline};
use crate::rewrite;

/// Functions do not grow beyond that many instructions; what is left is called.
const LARGEST: usize = 6000;

/// Puts these functions in place of their calls, as far as they do not call themselves.
pub fn put_in_place(program: &mut Program, is_header: &[bool]) {
    let is_header = |number: usize| is_header.get(number).copied().unwrap_or(false);
    let count = program.functions.len();
    let (state, stays) = (vec![State::New; count], vec![false; count]);
    let mut bodies = Bodies { state, stays, is_header: &is_header };
    for number in 0..count {
        bodies.finish(program, number);
    }
    if (0..count).any(is_header) {
        empty_unreached(program, &is_header);
    }
}

/// Takes out the bodies of those functions of headers that nothing leads to any more. Who looks at whole
/// programs would take notice of them. All others may be called by the library.
fn empty_unreached(program: &mut Program, is_header: &dyn Fn(usize) -> bool) {
    let others = (0..program.functions.len()).filter(|number| !is_header(*number));
    let starts = program.threads.iter().map(|thread| thread.function);
    let mut reached = Reached {
        functions: vec![false; program.functions.len()],
        globals: vec![false; program.globals.len()],
        open: starts.chain(others.map(|number| FunctionId(number as u32))).collect(),
    };
    for thread in &program.threads {
        thread.args.iter().for_each(|arg| reached.see(program, arg));
    }
    while let Some(id) = reached.open.pop() {
        let is_new =
            reached.functions.get_mut(id.0 as usize).is_some_and(|it| !std::mem::replace(it, true));
        if is_new {
            reached.function(program, &program.functions[id.0 as usize]);
        }
    }
    for (function, is_reached) in program.functions.iter_mut().zip(reached.functions) {
        if !is_reached {
            function.vars.truncate(function.params as usize);
            function.blocks.truncate(1);
            for block in &mut function.blocks {
                block.insts.clear();
                block.terminator = Terminator::Exit;
            }
        }
    }
}

/// What the threads of a program come to.
struct Reached {
    functions: Vec<bool>,
    globals: Vec<bool>,
    open: Vec<FunctionId>,
}

impl Reached {
    fn function(&mut self, program: &Program, function: &Function) {
        for block in &function.blocks {
            for inst in &block.insts {
                if let InstKind::Call { callee: Callee::Direct(id), .. }
                | InstKind::Spawn { callee: Callee::Direct(id), .. } = &inst.kind
                {
                    self.open.push(*id);
                }
                inst.kind.for_each_expr(&mut |expr| self.see(program, expr));
            }
            match &block.terminator {
                Terminator::Branch { condition, .. } => self.see(program, condition),
                Terminator::Return(Some(value)) => self.see(program, value),
                _ => {}
            }
        }
    }

    fn see(&mut self, program: &Program, expr: &Expr) {
        let mut globals = Vec::new();
        self.addresses(expr, &mut globals);
        while let Some(id) = globals.pop() {
            let Some(known) = self.globals.get_mut(id.0 as usize) else { continue };
            if !std::mem::replace(known, true) {
                for cell in &program.global(id).init {
                    self.addresses(&cell.value, &mut globals);
                }
            }
        }
    }

    fn addresses(&mut self, expr: &Expr, globals: &mut Vec<GlobalId>) {
        rewrite::leaves(&mut expr.clone(), &mut |leaf| match leaf {
            Expr::Address(id) => globals.push(*id),
            Expr::FunctionAddress(id) => self.open.push(*id),
            _ => {}
        });
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// Its callees are being looked at: a call of it from there is one of itself.
    Open,
    Done,
}

struct Bodies<'a> {
    state: Vec<State>,
    /// Functions that call themselves, however indirectly.
    stays: Vec<bool>,
    is_header: &'a dyn Fn(usize) -> bool,
}

impl Bodies<'_> {
    /// Finishes a function, after those of headers that it calls.
    fn finish(&mut self, program: &mut Program, first: usize) {
        let mut open = vec![first];
        while let Some(number) = open.last().copied() {
            match self.state[number] {
                State::New => {
                    self.state[number] = State::Open;
                    for Call { callee, .. } in calls(&program.functions[number]) {
                        self.stays[callee] |= self.state[callee] == State::Open;
                        if (self.is_header)(callee) && self.state[callee] == State::New {
                            open.push(callee);
                        }
                    }
                }
                State::Open => {
                    open.pop();
                    self.put_in(program, number);
                    self.state[number] = State::Done;
                }
                State::Done => drop(open.pop()),
            }
        }
    }

    fn put_in(&self, program: &mut Program, number: usize) {
        let mut size = size(&program.functions[number]);
        let fits = |program: &Program, size: usize, call: &Call| {
            let body = self::size(&program.functions[call.callee]);
            (self.is_header)(call.callee)
                && !self.stays[call.callee]
                && self.state[call.callee] == State::Done
                && size + body <= LARGEST
        };
        let mut block = 0;
        while block < program.functions[number].blocks.len() {
            let mut from = 0;
            loop {
                let function = &program.functions[number];
                let found = calls_of(function, block, from).find(|it| fits(program, size, it));
                let Some(Call { at, callee }) = found else { break };
                let body = program.functions[callee].clone();
                size += self::size(&body);
                let caller = &mut program.functions[number];
                let InstKind::Call { dst, args, .. } = &caller.blocks[block].insts[at.index].kind
                else {
                    break;
                };
                let (dst, args) = (*dst, args.clone());
                inline(caller, at, body, args, dst, Places::OfTheCall);
                from = at.index;
            }
            block += 1;
        }
    }
}

/// A call of a function of the program.
struct Call {
    at: At,
    callee: usize,
}

fn calls(function: &Function) -> impl Iterator<Item = Call> {
    (0..function.blocks.len()).flat_map(move |block| calls_of(function, block, 0))
}

fn calls_of(function: &Function, block: usize, from: usize) -> impl Iterator<Item = Call> {
    let insts = function.blocks[block].insts.iter().enumerate().skip(from);
    insts.filter_map(move |(index, inst)| match &inst.kind {
        InstKind::Call { callee: Callee::Direct(id), .. } => {
            Some(Call { at: At { block, index }, callee: id.0 as usize })
        }
        _ => None,
    })
}

fn size(function: &Function) -> usize {
    function.blocks.iter().map(|block| block.insts.len() + 1).sum()
}

#[cfg(test)]
mod tests {
    use parallax_program::parse_program;

    use super::*;

    #[test]
    fn functions_of_headers_are_put_in_place_of_their_calls() {
        let text = "program p pointers 64\nfn main() {\n  call outer()\n  call loops()\n  return\n}\n\
                    fn outer() {\n  call inner()\n  call inner()\n  return\n}\n\
                    fn inner() {\n  fence [A, SC]\n  return\n}\n\
                    fn loops() {\n  call loops()\n  return\n}\nthread main = main()\n";
        let mut program = parse_program("p", text).unwrap();
        put_in_place(&mut program, &[false, true, true, true]);
        program.check().unwrap();
        let kinds = program.functions[0].blocks.iter().flat_map(|block| &block.insts);
        let mut fences = kinds.clone().filter(|inst| matches!(inst.kind, InstKind::Fence { .. }));
        let place = program.functions[0].blocks[0].insts[0].span;
        assert!(fences.all(|inst| inst.span == place));
        let left = kinds.filter(|inst| matches!(inst.kind, InstKind::Call { .. }));
        // The one that calls itself.
        assert_eq!(left.count(), 1);
    }
}
