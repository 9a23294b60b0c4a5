//! Which variables still matter where a thread stands.
//!
//! Two threads that stand at the same instructions with the same values in all variables that are
//! *truly live* there (see [`crate::loops`]) do the same from there on, whatever the others hold.
//! Variables are local to their function, but for the registers that a thread keeps across calls:
//! for these the question goes through calls and returns. What is live at the end of a function is
//! what is live behind some call of it, and what is live before a call is what is live at the
//! beginning of the called function; the least solution is found by iteration (S. Muchnick,
//! Advanced compiler design and implementation, 1997, section 19.2, calls it the meet over all
//! paths, realisable or not).

use std::collections::HashSet;
use std::ops::Range;

use parallax_program::{
    Block, BlockId, Callee, Expr, Function, FunctionId, InstKind, Program, Terminator,
};

use crate::Site;
use crate::loops::written;

/// For each instruction at which a thread can stand, the variables that matter.
pub struct Live {
    /// By function, block and position; for a call, those that matter while it lasts.
    sites: Vec<Vec<Vec<Box<[u32]>>>>,
    /// By function, block and position: for calls in functions that see the registers, which of
    /// these matter after the call.
    behind: Vec<Vec<Vec<Box<[u32]>>>>,
    /// The registers that matter to functions called by those that do not see them.
    blind: Box<[u32]>,
    /// Read-modify-writes whose results matter to nobody.
    unused: HashSet<Site>,
}

impl Live {
    pub fn of(program: &Program) -> Live {
        let mut analysis = Analysis::new(program);
        while analysis.round() {}
        let mut live = Live {
            sites: Vec::new(),
            behind: Vec::new(),
            blind: Box::default(),
            unused: HashSet::new(),
        };
        for number in 0..program.functions.len() {
            let (sites, behind) = analysis.sites(number);
            live.sites.push(sites);
            live.behind.push(behind);
            analysis.add_unused(number, &mut live.unused);
        }
        live.blind = analysis.blind_entry.members();
        live
    }

    /// The variables that matter to a thread that stands there.
    pub fn at(&self, site: Site) -> &[u32] {
        self.find(&self.sites, site)
    }

    /// Whether an instruction is a read-modify-write whose result matters to nobody.
    pub fn is_unused(&self, site: Site) -> bool {
        self.unused.contains(&site)
    }

    /// The registers that matter when the call at a place comes back.
    pub(crate) fn registers_behind(&self, site: Site) -> &[u32] {
        self.find(&self.behind, site)
    }

    /// The registers that matter though nobody who sees them waits for them.
    pub(crate) fn registers_of_callbacks(&self) -> &[u32] {
        &self.blind
    }

    fn find<'a>(&'a self, table: &'a [Vec<Vec<Box<[u32]>>>], site: Site) -> &'a [u32] {
        let Site { function, block, index } = site;
        let block = &table[function.0 as usize][block.0 as usize];
        block.get(index as usize).map_or(&[], |vars| vars)
    }
}

/// A set of small numbers.
#[derive(Clone, PartialEq, Eq, Default)]
struct Set(Vec<u64>);

impl Set {
    fn new(size: usize) -> Set {
        Set(vec![0; size.div_ceil(64)])
    }

    fn insert(&mut self, member: usize) {
        self.0[member / 64] |= 1 << (member % 64);
    }

    fn remove(&mut self, member: usize) {
        self.0[member / 64] &= !(1 << (member % 64));
    }

    fn contains(&self, member: usize) -> bool {
        self.0[member / 64] & 1 << (member % 64) != 0
    }

    fn add(&mut self, other: &Set) -> bool {
        let mut changed = false;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            changed |= *more & !*word != 0;
            *word |= more;
        }
        changed
    }

    fn members(&self) -> Box<[u32]> {
        let all = 0..self.0.len() * 64;
        all.filter(|member| self.contains(*member)).map(|member| member as u32).collect()
    }
}

struct Analysis<'p> {
    program: &'p Program,
    /// For each function and block, what is live where it begins.
    blocks: Vec<Vec<Set>>,
    /// For each function, the registers that are live at its beginning, and at its end.
    entry: Vec<Set>,
    end: Vec<Set>,
    /// Those of all functions that see registers and are called by some that does not.
    blind_entry: Set,
    /// Those that are live behind calls of functions that do not see them.
    blind_end: Set,
}

impl<'p> Analysis<'p> {
    fn new(program: &'p Program) -> Analysis<'p> {
        let registers = || Set::new(program.registers.len());
        let all = || program.functions.iter().map(|_| registers()).collect();
        let blocks =
            |function: &Function| vec![Set::new(function.vars.len()); function.blocks.len()];
        Analysis {
            program,
            blocks: program.functions.iter().map(blocks).collect(),
            entry: all(),
            end: all(),
            blind_entry: registers(),
            blind_end: registers(),
        }
    }

    fn registers(&self, function: &Function) -> Range<usize> {
        let first = function.params as usize;
        let count = if function.registers { self.program.registers.len() } else { 0 };
        first..first + count
    }

    /// One pass over all functions. False if nothing is new.
    fn round(&mut self) -> bool {
        let mut changed = false;
        for (number, function) in self.program.functions.iter().enumerate() {
            let mut again = true;
            while again {
                again = false;
                for (index, block) in function.blocks.iter().enumerate().rev() {
                    let live = self.walk(number, function, block, &mut |_, _, _| {});
                    again |= self.blocks[number][index].add(&live);
                }
                changed |= again;
            }
            let registers = self.registers(function);
            let mut entry = Set::new(self.program.registers.len());
            if let Some(first) = self.blocks[number].first() {
                for register in registers.clone().filter(|register| first.contains(*register)) {
                    entry.insert(register - registers.start);
                }
            }
            changed |= self.entry[number].add(&entry);
            changed |= self.calls(number, function);
        }
        changed
    }

    /// Passes to the called functions what their callers want to know.
    fn calls(&mut self, number: usize, function: &'p Function) -> bool {
        let registers = self.registers(function);
        let mut passed = Vec::new();
        for block in &function.blocks {
            self.walk(number, function, block, &mut |_, kind, live| {
                if let InstKind::Call { callee, .. } = kind {
                    let mut behind = Set::new(registers.len());
                    let among = registers.clone().filter(|register| live.contains(*register));
                    among.for_each(|register| behind.insert(register - registers.start));
                    passed.push((callee, behind));
                }
            });
        }
        let mut changed = false;
        for (callee, behind) in passed {
            for target in self.targets(callee) {
                let sees = self.program.functions[target].registers;
                changed |= match (function.registers, sees) {
                    (true, true) => self.end[target].add(&behind),
                    (true, false) => self.blind_end.add(&behind),
                    (false, true) => {
                        let entry = self.blind_entry.add(&self.entry[target]);
                        let behind = self.blind_end.clone();
                        let end = self.end[target].add(&behind);
                        entry | end | self.blind_end.add(&self.blind_entry)
                    }
                    (false, false) => false,
                };
            }
        }
        changed
    }

    fn targets(&self, callee: &Callee) -> Range<usize> {
        match callee {
            Callee::Direct(function) => function.0 as usize..function.0 as usize + 1,
            Callee::Indirect(_) => 0..self.program.functions.len(),
            Callee::External(_) => 0..0,
        }
    }

    /// What is live at the beginning of a block. On the way, `visit` sees for each instruction what
    /// is live behind it.
    fn walk(
        &self,
        number: usize,
        function: &'p Function,
        block: &'p Block,
        visit: &mut dyn FnMut(usize, &'p InstKind, &Set),
    ) -> Set {
        let mut live = self.at_end(number, function, block);
        for (index, inst) in block.insts.iter().enumerate().rev() {
            visit(index, &inst.kind, &live);
            self.pass(function, &inst.kind, &mut live);
        }
        live
    }

    fn at_end(&self, number: usize, function: &Function, block: &Block) -> Set {
        let mut live = Set::new(function.vars.len());
        let blocks = &self.blocks[number];
        match &block.terminator {
            Terminator::Jump(target) => live.clone_from(&blocks[target.0 as usize]),
            Terminator::Branch { condition, then, otherwise, .. } => {
                live.clone_from(&blocks[then.0 as usize]);
                live.add(&blocks[otherwise.0 as usize]);
                use_vars(condition, &mut live);
            }
            Terminator::Return(value) => {
                value.iter().for_each(|value| use_vars(value, &mut live));
                let registers = self.registers(function);
                for register in registers.clone() {
                    if self.end[number].contains(register - registers.start) {
                        live.insert(register);
                    }
                }
            }
            Terminator::Exit => {}
        }
        live
    }

    /// From behind an instruction to before it.
    fn pass(&self, function: &Function, kind: &InstKind, live: &mut Set) {
        if let InstKind::Assign { dst, .. } = kind
            && !live.contains(dst.0 as usize)
        {
            return;
        }
        let (first, second) = written(kind);
        first.into_iter().chain(second).for_each(|var| live.remove(var.0 as usize));
        if let InstKind::Call { callee, .. } = kind {
            self.pass_call(function, callee, live);
        }
        kind.for_each_expr(&mut |expr| use_vars(expr, live));
    }

    fn pass_call(&self, function: &Function, callee: &Callee, live: &mut Set) {
        let registers = self.registers(function);
        if registers.is_empty() {
            return;
        }
        let mut wanted = Set::new(registers.len());
        for target in self.targets(callee) {
            if self.program.functions[target].registers {
                wanted.add(&self.entry[target]);
                continue;
            }
            wanted.add(&self.blind_entry);
            let behind = registers.clone().filter(|register| live.contains(*register));
            behind.for_each(|register| wanted.insert(register - registers.start));
        }
        for register in registers.clone() {
            match wanted.contains(register - registers.start) {
                true => live.insert(register),
                false => live.remove(register),
            }
        }
    }

    fn add_unused(&self, number: usize, unused: &mut HashSet<Site>) {
        let function = &self.program.functions[number];
        for (place, block) in function.blocks.iter().enumerate() {
            self.walk(number, function, block, &mut |index, kind, live| {
                if let InstKind::Rmw { dst, .. } = kind
                    && dst.is_none_or(|dst| !live.contains(dst.0 as usize))
                {
                    let (function, block) = (FunctionId(number as u32), BlockId(place as u32));
                    unused.insert(Site { function, block, index: index as u32 });
                }
            });
        }
    }

    /// The tables of one function, see [`Live`].
    #[allow(clippy::type_complexity)]
    fn sites(&self, number: usize) -> (Vec<Vec<Box<[u32]>>>, Vec<Vec<Box<[u32]>>>) {
        let function = &self.program.functions[number];
        let registers = self.registers(function);
        let (mut sites, mut behind) = (Vec::new(), Vec::new());
        for block in &function.blocks {
            let mut here = vec![Box::default(); block.insts.len()];
            let mut after = vec![Box::default(); block.insts.len()];
            self.walk(number, function, block, &mut |index, kind, live| {
                let mut live = live.clone();
                match kind {
                    InstKind::Assign { .. } => return,
                    InstKind::Call { dst, .. } => {
                        let of_registers =
                            registers.clone().filter(|register| live.contains(*register));
                        after[index] =
                            of_registers.map(|var| (var - registers.start) as u32).collect();
                        registers.clone().for_each(|register| live.remove(register));
                        dst.iter().for_each(|dst| live.remove(dst.0 as usize));
                    }
                    visible => self.pass(function, visible, &mut live),
                }
                here[index] = live.members();
            });
            sites.push(here);
            behind.push(after);
        }
        (sites, behind)
    }
}

fn use_vars(expr: &Expr, live: &mut Set) {
    match expr {
        Expr::Const(_) | Expr::Address(_) | Expr::FunctionAddress(_) => {}
        Expr::Var(var) => live.insert(var.0 as usize),
        Expr::Unary(_, value)
        | Expr::Extract { value, .. }
        | Expr::ZeroExtend { value, .. }
        | Expr::SignExtend { value, .. } => use_vars(value, live),
        Expr::Binary(_, left, right) => {
            use_vars(left, live);
            use_vars(right, live);
        }
        Expr::Concat { high, low } => {
            use_vars(high, live);
            use_vars(low, live);
        }
        Expr::Select { condition, then, otherwise } => {
            use_vars(condition, live);
            use_vars(then, live);
            use_vars(otherwise, live);
        }
    }
}

#[cfg(test)]
mod tests {
    use parallax_program::{BlockId, FunctionId, parse_program};

    use super::*;

    fn site(function: u32, block: u32, index: u32) -> Site {
        Site { function: FunctionId(function), block: BlockId(block), index }
    }

    #[test]
    fn what_is_not_used_again_does_not_matter() {
        let text = "program p pointers 64\nglobal x: 4\nfn f(n: 32) {\nvar r: 32, s: 32\n\
                    r = load.4 &x\ns = load.4 &x\nstore.4 &x, r + n\n}\n";
        let program = parse_program("p", text).expect("a program");
        let live = Live::of(&program);
        assert_eq!(live.at(site(0, 0, 0)), [0]);
        assert_eq!(live.at(site(0, 0, 1)), [0, 1]);
        assert_eq!(live.at(site(0, 0, 2)), [0, 1]);
    }

    #[test]
    fn registers_matter_as_far_as_callers_ask_for_them() {
        let text = "program p pointers 64\nregisters a: 32, b: 32, c: 32\nglobal x: 4\n\
            fn main() registers {\nc = 1:32\ncall inner()\nstore.4 &x, a\n}\n\
            fn inner() registers {\na = load.4 &x\nb = load.4 &x\nstore.4 &x, c\nreturn\n}\n";
        let program = parse_program("p", text).expect("a program");
        let live = Live::of(&program);
        // Before the first load only c; at the store also a, which the caller stores.
        assert_eq!(live.at(site(1, 0, 0)), [2]);
        assert_eq!(live.at(site(1, 0, 2)), [0, 2]);
        assert_eq!(live.at(site(0, 0, 1)), []);
        assert_eq!(live.registers_behind(site(0, 0, 1)), [0]);
    }
}
