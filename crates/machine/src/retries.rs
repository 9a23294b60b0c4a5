//! Weak compare-and-swaps whose failure for no reason only has the thread try again.
//!
//! A weak compare-and-swap may fail though it finds what it expects. Where the thread is then back
//! at the head of the loop that it is in, knowing what it knew there and having changed nothing,
//! the round was in vain. Take its events out of an execution: the thread does the same from there
//! on, nobody else notices, and memory models only lose order. What went wrong up to the failure
//! goes wrong without it. So such a compare-and-swap may as well be strong, for every property, and
//! no engine need look at its vain rounds one by one.
//!
//! The round may store to memory that is not shared, as a push onto a stack does with the node that
//! it pushes: a plain store that comes first in every round, whatever the round reads, is made again
//! before anyone may look, unless there is a data race. So these are for whoever looks for races.

use parallax_program::{
    BinaryOp, Bits, BlockId, Expr, Function, FunctionId, InstKind, Program, Terminator, UnaryOp,
    VarId,
};

use crate::loops::written;
use crate::{Code, Concrete, Domain, Truth};

/// Makes weak compare-and-swaps strong where that changes no answer; how many. With `stores`,
/// plain stores that each round repeats count as nothing.
pub fn settle(program: &mut Program, stores: bool) -> usize {
    let code = Code::new(program);
    let mut found = Vec::new();
    for number in 0..program.functions.len() {
        let function = FunctionId(number as u32);
        let body = program.function(function);
        for (block, index) in weak_swaps(body) {
            let round = Round::before(&code, function, block, index, stores);
            if round.is_some_and(|round| round.repeats_after(block, index)) {
                found.push((number, block, index));
            }
        }
    }
    for (function, block, index) in &found {
        let block = &mut program.functions[*function].blocks[block.0 as usize];
        if let InstKind::Cas { weak, .. } = &mut block.insts[*index].kind {
            *weak = false;
        }
    }
    found.len()
}

fn weak_swaps(body: &Function) -> Vec<(BlockId, usize)> {
    let blocks = (0..).map(BlockId).zip(&body.blocks);
    let insts = blocks.flat_map(|(block, inner)| {
        inner.insts.iter().enumerate().map(move |(index, inst)| (block, index, inst))
    });
    let is_weak = |kind: &InstKind| matches!(kind, InstKind::Cas { weak: true, .. });
    insts.filter(|(.., inst)| is_weak(&inst.kind)).map(|(block, index, _)| (block, index)).collect()
}

/// A round of a loop, followed from the head on one path. Values are expressions of what variables
/// held at the head.
struct Round<'c, 'p> {
    code: &'c Code<'p>,
    function: FunctionId,
    head: BlockId,
    vars: Vec<Expr>,
    symbolic: Symbolic,
}

impl<'c, 'p> Round<'c, 'p> {
    /// Instructions of a round that are followed.
    const LONGEST: usize = 1000;

    /// From the head of the loop to a compare-and-swap; None where more than one way leads there, or
    /// others notice what is on it.
    fn before(
        code: &'c Code<'p>,
        function: FunctionId,
        block: BlockId,
        index: usize,
        stores: bool,
    ) -> Option<Round<'c, 'p>> {
        let body = code.program.function(function);
        let path = only_path(code, function, block)?;
        let vars: Vec<Expr> =
            (0..body.vars.len()).map(|var| Expr::Var(VarId(var as u32))).collect();
        let symbolic = Symbolic { own: vars.len() as u32, next: vars.len() as u32 };
        let mut round = Round { code, function, head: *path.first()?, vars, symbolic };
        let (mut has_loaded, mut has_branched) = (false, false);
        for number in &path {
            let inner = &body.blocks[number.0 as usize];
            let end = if *number == block { index } else { inner.insts.len() };
            for inst in &inner.insts[..end] {
                match &inst.kind {
                    InstKind::Store { address, tags, .. } if stores && tags.contains("NA") => {
                        let address = round.eval(address);
                        if has_loaded || has_branched || round.symbolic.is_new(&address) {
                            return None;
                        }
                    }
                    InstKind::Load { tags, .. } => has_loaded |= tags.contains("NA"),
                    kind if !is_silent(kind) => return None,
                    _ => {}
                }
                round.pass(&inst.kind);
            }
            has_branched |= matches!(inner.terminator, Terminator::Branch { .. });
        }
        Some(round)
    }

    fn eval(&mut self, expr: &Expr) -> Expr {
        self.code.evaluate(expr, &self.vars, &mut self.symbolic)
    }

    fn pass(&mut self, kind: &InstKind) {
        if let InstKind::Assign { dst, value } = kind {
            self.vars[dst.0 as usize] = self.eval(value);
            return;
        }
        let (first, second) = written(kind);
        for var in first.into_iter().chain(second) {
            self.vars[var.0 as usize] = self.symbolic.anything();
        }
    }

    /// Whether the thread, when the compare-and-swap fails for no reason, goes back to the head
    /// without doing anything, and knows there what it knew.
    fn repeats_after(mut self, block: BlockId, index: usize) -> bool {
        let body = self.code.program.function(self.function);
        let swap = &body.blocks[block.0 as usize].insts[index].kind;
        let InstKind::Cas { dst, ok, expected, .. } = swap else {
            return false;
        };
        let found = self.eval(expected);
        if let Some(dst) = dst {
            self.vars[dst.0 as usize] = found;
        }
        if let Some(ok) = ok {
            self.vars[ok.0 as usize] = Expr::Const(Bits::bool(false));
        }
        let (mut number, mut from) = (block, index + 1);
        for _ in 0..Self::LONGEST {
            let inner = &body.blocks[number.0 as usize];
            for inst in &inner.insts[from..] {
                if !matches!(inst.kind, InstKind::Assign { .. }) {
                    return false;
                }
                self.pass(&inst.kind);
            }
            number = match &inner.terminator {
                Terminator::Jump(target) => *target,
                Terminator::Branch { condition, then, otherwise, .. } => {
                    let condition = self.eval(condition);
                    match self.symbolic.truth(&condition) {
                        Truth::True => *then,
                        Truth::False => *otherwise,
                        Truth::Undecided => return false,
                    }
                }
                Terminator::Return(_) | Terminator::Exit => return false,
            };
            from = 0;
            if number == self.head {
                return self.is_as_it_was();
            }
        }
        false
    }

    fn is_as_it_was(&self) -> bool {
        let body = self.code.program.function(self.function);
        let live = self.code.loops(self.function).head(self.head);
        let same = |var: &VarId| match &self.vars[var.0 as usize] {
            Expr::Var(value) => value == var,
            Expr::Const(value) => only_value(body, *var) == Some(*value),
            _ => false,
        };
        live.is_some_and(|live| live.iter().all(same))
    }
}

/// Whether others do not notice an instruction, and it leaves the thread no choice.
fn is_silent(kind: &InstKind) -> bool {
    matches!(
        kind,
        InstKind::Assign { .. }
            | InstKind::Load { .. }
            | InstKind::Fence { .. }
            | InstKind::ThreadId { .. }
            | InstKind::HeapSize { .. }
            | InstKind::Assert { .. }
    )
}

/// The blocks from the head of a loop to one in it, if there is no other way.
fn only_path(code: &Code<'_>, function: FunctionId, to: BlockId) -> Option<Vec<BlockId>> {
    let body = code.program.function(function);
    let mut path = vec![to];
    while code.loops(function).head(*path.last()?).is_none() {
        let last = *path.last()?;
        let leads = |block: &&BlockId| match &body.blocks[block.0 as usize].terminator {
            Terminator::Jump(target) => *target == last,
            Terminator::Branch { then, otherwise, .. } => *then == last || *otherwise == last,
            Terminator::Return(_) | Terminator::Exit => false,
        };
        let all: Vec<BlockId> = (0..body.blocks.len()).map(|block| BlockId(block as u32)).collect();
        let mut before = all.iter().filter(leads);
        let only = *before.next()?;
        if before.next().is_some() || path.contains(&only) || last.0 == 0 {
            return None;
        }
        path.push(only);
    }
    path.reverse();
    Some(path)
}

/// The value of a variable that is never given another one.
fn only_value(body: &Function, var: VarId) -> Option<Bits> {
    let insts = body.blocks.iter().flat_map(|block| &block.insts).map(|inst| &inst.kind);
    let writes = |kind: &&InstKind| {
        let (first, second) = written(kind);
        first == Some(var) || second == Some(var)
    };
    let mut values = insts.filter(writes).map(|kind| match kind {
        InstKind::Assign { value: Expr::Const(bits), .. } => Some(*bits),
        _ => None,
    });
    let value = values.next()??;
    (var.0 >= body.params && values.all(|other| other == Some(value))).then_some(value)
}

/// Expressions of variables, computed as far as they are known. Variables beyond those of the
/// function stand for values of which nothing is known.
struct Symbolic {
    own: u32,
    next: u32,
}

impl Symbolic {
    fn anything(&mut self) -> Expr {
        self.next += 1;
        Expr::Var(VarId(self.next - 1))
    }

    /// Whether a value is not determined by what was known at the head of the loop.
    fn is_new(&self, value: &Expr) -> bool {
        (self.own..self.next).any(|var| value.mentions(VarId(var)))
    }

    fn all_known<const N: usize>(values: [&Expr; N]) -> Option<[Bits; N]> {
        let known = values.map(|value| match value {
            Expr::Const(bits) => Some(*bits),
            _ => None,
        });
        known
            .iter()
            .all(Option::is_some)
            .then(|| known.map(|bits| bits.unwrap_or(Bits::bool(false))))
    }
}

impl Domain for Symbolic {
    type Value = Expr;

    const FOLLOWS_CONTROL: bool = false;

    fn constant(&mut self, bits: Bits) -> Expr {
        Expr::Const(bits)
    }

    fn unary(&mut self, op: UnaryOp, value: &Expr) -> Expr {
        match Self::all_known([value]) {
            Some([bits]) => Expr::Const(Concrete.unary(op, &bits)),
            None => Expr::unary(op, value.clone()),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Expr {
        match Self::all_known([left, right]) {
            Some([left, right]) => Expr::Const(Concrete.binary(op, &left, &right)),
            None => Expr::binary(op, left.clone(), right.clone()),
        }
    }

    fn extract(&mut self, value: &Expr, low: u32, width: u32) -> Expr {
        match Self::all_known([value]) {
            Some([bits]) => Expr::Const(bits.extract(low, width)),
            None => value.clone().extract(low, width),
        }
    }

    fn concat(&mut self, high: &Expr, low: &Expr) -> Expr {
        match Self::all_known([high, low]) {
            Some([high, low]) => Expr::Const(high.concat(low)),
            None => high.clone().concat(low.clone()),
        }
    }

    fn zero_extend(&mut self, value: &Expr, width: u32) -> Expr {
        match Self::all_known([value]) {
            Some([bits]) => Expr::Const(bits.zero_extend(width)),
            None => value.clone().zero_extend(width),
        }
    }

    fn sign_extend(&mut self, value: &Expr, width: u32) -> Expr {
        match Self::all_known([value]) {
            Some([bits]) => Expr::Const(bits.sign_extend(width)),
            None => value.clone().sign_extend(width),
        }
    }

    fn select(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Expr {
        match self.truth(condition) {
            Truth::True => then.clone(),
            Truth::False => otherwise.clone(),
            Truth::Undecided => condition.clone().select(then.clone(), otherwise.clone()),
        }
    }

    fn truth(&self, value: &Expr) -> Truth {
        match self.known(value) {
            Some(bits) if bits.is_zero() => Truth::False,
            Some(_) => Truth::True,
            None => Truth::Undecided,
        }
    }

    fn known(&self, value: &Expr) -> Option<Bits> {
        match value {
            Expr::Const(bits) => Some(*bits),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use parallax_program::parse_program;

    use super::*;

    /// How many weak compare-and-swaps of a function become strong, without stores and with them.
    fn settled(body: &str) -> [usize; 2] {
        let text = format!(
            "program p pointers 64\nglobal x: 8\nglobal y: 8\nfn f(n: 64, e: 64) {{\n\
             var o: 64, i: 64, ok: 1, t: 1\n{body}\n}}\n"
        );
        let program = parse_program("p", &text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
        [false, true].map(|stores| settle(&mut program.clone(), stores))
    }

    const SWAP: &str = "cas.weak.8 &x, o, n [A, SC] [A, SC] [A, SC]";

    #[test]
    fn those_that_only_retry_may_as_well_be_strong() {
        let again = "branch ok, end, loop\nend:\nreturn";
        // What was found is expected next time.
        let kept = format!("o = load.8 &x [A, SC]\nloop:\no, ok = {SWAP}\n{again}");
        assert_eq!(settled(&kept), [1, 1]);
        // It is looked up anew.
        let fresh = format!("loop:\no = load.8 &x [A, SC]\n_, ok = {SWAP}\n{again}");
        assert_eq!(settled(&fresh), [1, 1]);
        // The node of a stack is filled in each time.
        let push =
            format!("loop:\no = load.8 &x [A, SC]\nstore.8 n, o [NA]\n_, ok = {SWAP}\n{again}");
        assert_eq!(settled(&push), [0, 1]);
        // A constant is put back.
        let lock = "o = 0:64\nloop:\no, ok = cas.weak.8 &x, o, n [A, SC] [A, SC] [A, SC]\n\
                    branch ok, end, more\nmore:\no = 0:64\njump loop\nend:\nreturn";
        assert_eq!(settled(lock), [0, 0], "what is found counts as a value of its own");
        let lock = lock.replace("o, ok", "_, ok");
        assert_eq!(settled(&lock), [1, 1]);
    }

    #[test]
    fn those_whose_failure_shows_stay_weak() {
        let cases = [
            // There is no loop.
            format!("_, ok = {SWAP}"),
            // Attempts are counted, and the count is used.
            format!(
                "loop:\n_, ok = {SWAP}\ni = i + 1:64\nt = i == 3:64\nbranch ok | t, end, loop\nend:\nreturn"
            ),
            format!(
                "loop:\n_, ok = {SWAP}\nbranch ok, end, more\nmore:\ni = i + 1:64\njump loop\nend:\nstore.8 &y, i [A, SC]\nreturn"
            ),
            // Something is done after the failure.
            format!(
                "loop:\n_, ok = {SWAP}\nbranch ok, end, more\nmore:\ni = load.8 &y [NA]\njump loop\nend:\nreturn"
            ),
            // Others see the attempt.
            format!(
                "loop:\nstore.8 &y, 1:64 [A, RLX]\n_, ok = {SWAP}\nbranch ok, end, loop\nend:\nreturn"
            ),
            format!(
                "loop:\ni = load.8 &y [NA]\nstore.8 &y, i + 1:64 [NA]\n_, ok = {SWAP}\nbranch ok, end, loop\nend:\nreturn"
            ),
            format!(
                "loop:\ni = load.8 &x [A, RLX]\nstore.8 i, 1:64 [NA]\n_, ok = {SWAP}\nbranch ok, end, loop\nend:\nreturn"
            ),
            // The next attempt is another.
            format!(
                "loop:\n_, ok = {SWAP}\nbranch ok, end, more\nmore:\no = o + 1:64\njump loop\nend:\nreturn"
            ),
        ];
        for case in cases {
            assert_eq!(settled(&case), [0, 0], "{case}");
        }
    }
}
