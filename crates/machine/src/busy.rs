//! Loops that do more in a round than to look at one place.
//!
//! A round of a waiting loop that changes nothing can be left out of an execution, but not what goes
//! wrong in it: an access that races, or that comes after the end of its object. The access by which
//! a round begins is made again in the next one. So only loops with several accesses matter, where
//! one of them is not atomic, or is to an object that somebody may free.

use parallax_program::{Callee, Expr, InstKind, Program, Tags};

use crate::loops::Loops;

/// What some instructions access.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Accesses {
    /// How many, two standing for more.
    count: u8,
    /// Whether one of them can go wrong.
    can_fail: bool,
}

impl Accesses {
    const ANY: Accesses = Accesses { count: 2, can_fail: true };

    fn add(&mut self, more: Accesses) {
        self.count = (self.count + more.count).min(2);
        self.can_fail |= more.can_fail;
    }
}

/// For each function and block, whether it is in a busy loop.
pub(crate) fn busy(program: &Program, loops: &[Loops]) -> Vec<Vec<bool>> {
    let blocks = program.functions.iter().flat_map(|function| &function.blocks);
    let mut insts = blocks.flat_map(|block| &block.insts);
    let frees = insts.any(|inst| matches!(inst.kind, InstKind::Free { .. }));
    let functions = of_functions(program, frees);
    let of = |number: usize| {
        let body = &program.functions[number];
        let mut components = vec![Accesses::default(); body.blocks.len()];
        let component = |block: usize| loops[number].component(block);
        for (index, block) in body.blocks.iter().enumerate() {
            let Some(own) = component(index).and_then(|own| components.get_mut(own)) else {
                continue;
            };
            block.insts.iter().for_each(|inst| own.add(accesses(&inst.kind, frees, &functions)));
        }
        let is_busy = |block: usize| {
            let own = component(block).and_then(|own| components.get(own));
            own.is_some_and(|own| *own == Accesses::ANY)
        };
        (0..body.blocks.len()).map(is_busy).collect()
    };
    (0..program.functions.len()).map(of).collect()
}

/// What each function accesses, by itself and in what it calls. Who calls a function is looked at again
/// where that function accesses more than was known, which happens thrice at most.
fn of_functions(program: &Program, frees: bool) -> Vec<Accesses> {
    let insts = |number: usize| program.functions[number].blocks.iter().flat_map(|it| &it.insts);
    let mut callers = vec![Vec::new(); program.functions.len()];
    for caller in 0..program.functions.len() {
        for inst in insts(caller) {
            if let InstKind::Call { callee: Callee::Direct(callee), .. } = &inst.kind
                && let Some(callers) = callers.get_mut(callee.0 as usize)
            {
                callers.push(caller);
            }
        }
    }
    let mut functions = vec![Accesses::default(); program.functions.len()];
    let mut open: Vec<usize> = (0..program.functions.len()).collect();
    while let Some(number) = open.pop() {
        let mut all = Accesses::default();
        insts(number).for_each(|inst| all.add(accesses(&inst.kind, frees, &functions)));
        if functions[number] != all {
            functions[number] = all;
            open.extend(&callers[number]);
        }
    }
    functions
}

/// What an instruction accesses; `frees` says whether there is an object that may be freed.
fn accesses(kind: &InstKind, frees: bool, functions: &[Accesses]) -> Accesses {
    let one = |address: &Expr, tags: &[&Tags]| Accesses {
        count: 1,
        can_fail: frees && !is_in_global(address) || tags.iter().any(|tags| tags.contains("NA")),
    };
    match kind {
        InstKind::Load { address, tags, .. }
        | InstKind::Store { address, tags, .. }
        | InstKind::LoadLinked { address, tags, .. }
        | InstKind::StoreConditional { address, tags, .. } => one(address, &[tags]),
        InstKind::Rmw { address, read_tags, write_tags, .. }
        | InstKind::Cas { address, read_tags, write_tags, .. } => {
            one(address, &[read_tags, write_tags])
        }
        InstKind::Call { callee: Callee::Direct(function), .. } => {
            functions.get(function.0 as usize).copied().unwrap_or(Accesses::ANY)
        }
        InstKind::Call { .. } => Accesses::ANY,
        _ => Accesses::default(),
    }
}

/// Whether an address is always in the same global, which nobody frees.
fn is_in_global(address: &Expr) -> bool {
    match address {
        Expr::Address(_) => true,
        Expr::Binary(_, start, offset) => is_in_global(start) && matches!(**offset, Expr::Const(_)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use parallax_program::parse_program;

    use crate::Code;

    #[test]
    fn a_loop_is_busy_if_it_does_more_than_to_look() {
        for (body, frees, expected) in [
            ("r = load.4 &x [A]", true, false),
            ("r = load.4 &x [A]\nr = load.4 &y [A]", true, false),
            ("r = load.4 &x [NA]", true, false),
            ("r = load.4 &x [A]\nr = load.4 &y [NA]", false, true),
            ("r = load.4 p [A]", true, false),
            ("r = load.4 &x [A]\nr = load.4 p [A]", true, true),
            ("r = load.4 &x [A]\nr = load.4 p [A]", false, false),
            ("r = load.4 &x [A]\ncall looks()", false, true),
            ("r = load.4 &x [A]\ncall asks()", false, true),
        ] {
            let free = if frees { "free.heap p\n" } else { "" };
            let text = format!(
                "program p pointers 64\nglobal x: 4\nglobal y: 4\nfn asks() {{\ncall looks()\n}}\n\
                 fn looks() {{\nvar r: 32\nr = load.4 &y [NA]\n}}\nfn f(p: 64) {{\nvar r: 32\njump again\nagain:\n{body}\n\
                 branch r == 0:32, again, end\nend:\n{free}return\n}}\n"
            );
            let program = parse_program("p", &text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
            let busy = Code::new(&program).busy[2].clone();
            assert_eq!(busy, [false, expected, false], "{body} {frees}");
        }
    }
}
