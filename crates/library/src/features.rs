//! What a program may make use of, as far as it shows before it runs: which variants of the
//! library's functions it needs. Erring on the safe side costs events, never answers.

use parallax_program::{AccessSize, Callee, Expr, Function, Global, InstKind, Program, Shape};

use crate::{Options, arrivals, atomics, fates, reuse};

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features {
    /// Mutexes that are not all normal.
    pub kinds: bool,
    /// Thread-specific data.
    pub keys: bool,
    /// Somebody may ask for the result of a thread.
    pub results: bool,
    /// Functions to be called at exit.
    pub atexit: bool,
    /// Objects of C++ to be destroyed at exit.
    pub destructors: bool,
    /// Calls for atomic accesses.
    pub atomics: bool,
    /// Condition variables wake threads for no reason.
    pub spurious: bool,
    /// Nobody asks who was the last to arrive at a barrier.
    pub unasked: bool,
    /// Aborting is no error.
    pub quiet: bool,
    /// Keys of thread-specific data are deleted.
    pub deletes: bool,
    /// Threads are detached, or may be joined twice.
    pub fates: bool,
    /// Somebody may join the first thread, with which the program ends.
    pub first: bool,
    /// Pointers have 32 bits.
    pub ilp32: bool,
    /// Mutexes that were used by their initialisers may be initialised …
    pub mutexes: bool,
    /// … condition variables …
    pub conds: bool,
    /// … read-write locks.
    pub rwlocks: bool,
}

impl Features {
    pub fn of(program: &Program, options: &Options) -> Features {
        let spurious = options.spurious_wakeups;
        let ilp32 = program.pointer_width == 32;
        let kinds = program.globals.iter().any(|global| holds_a_kind(global, ilp32));
        // In machine code every result is left in a register.
        let unasked = program.registers.is_empty()
            && program.functions.iter().any(|function| arrivals::waits(function).next().is_some())
            && program.functions.iter().all(arrivals::are_ignored);
        let quiet = !options.errors.abort;
        let mut features =
            Features { kinds, spurious, unasked, quiet, ilp32, ..Features::default() };
        program.functions.iter().for_each(|function| features.look_at(function));
        features.fates |= fates::may_be_decided_twice(program);
        // Machine code leaves them alone.
        features.destructors &= program.registers.is_empty();
        features.atexit |= features.destructors;
        features.first &= program.daemons;
        features.mutexes = reuse::may_be_initialised(program, &reuse::MUTEXES);
        features.conds = reuse::may_be_initialised(program, &reuse::CONDS);
        features.rwlocks = reuse::may_be_initialised(program, &reuse::RWLOCKS);
        features
    }

    /// The words by which functions ask for them.
    pub fn words(&self) -> impl Iterator<Item = &'static str> + use<> {
        let ending = self.results || self.keys;
        let all = [
            (self.kinds, "kinds"),
            (self.keys, "keys"),
            (self.results, "results"),
            (ending, "ending"),
            (self.destructors, "destructors"),
            (self.atexit, "atexit"),
            (self.spurious, "spurious"),
            (self.unasked, "unasked"),
            (self.quiet, "quiet"),
            (self.deletes, "deletes"),
            (self.fates, "fates"),
            (self.first, "first"),
            (self.ilp32, "ilp32"),
            (self.mutexes, "mutexes"),
            (self.conds, "conds"),
            (self.rwlocks, "rwlocks"),
        ];
        all.into_iter().filter(|(there, _)| *there).map(|(_, word)| word)
    }

    pub fn pointer_width(&self) -> u32 {
        if self.ilp32 { 32 } else { 64 }
    }

    fn look_at(&mut self, function: &Function) {
        self.kinds |= initialises_a_kind(function) || function.name.starts_with(RECURSIVE);
        for inst in function.blocks.iter().flat_map(|block| &block.insts) {
            let InstKind::Call { dst, callee: Callee::External(name), args } = &inst.kind else {
                continue;
            };
            let second = args.get(1).and_then(constant);
            match name.as_str() {
                "mtx_init" => self.kinds |= second.is_none_or(|kind| kind & 1 != 0),
                "pthread_mutexattr_settype" => {
                    self.kinds |= second.is_none_or(|kind| matches!(kind, 1 | 2));
                }
                "pthread_join" | "thrd_join" => self.results |= second != Some(0),
                "__VERIFIER_thread_join" => self.results |= dst.is_some(),
                "pthread_key_create" | "tss_create" => self.keys = true,
                "atexit" | "__VERIFIER_atexit" => self.atexit = true,
                "__cxa_atexit" | "__cxa_thread_atexit" => self.destructors = true,
                "pthread_key_delete" | "tss_delete" => self.deletes = true,
                "pthread_detach" | "thrd_detach" => self.fates = true,
                "pthread_self" | "thrd_current" | "__VERIFIER_thread_self" => self.first = true,
                "pthread_attr_setdetachstate" => self.fates |= second != Some(0),
                _ => self.atomics |= atomics::has(name),
            }
        }
    }
}

/// The constructor of libstdc++ that all of its recursive mutexes have in common.
const RECURSIVE: &str = "_ZNSt22__recursive_mutex_baseC";

fn constant(expr: &Expr) -> Option<u128> {
    match expr {
        Expr::Const(bits) => Some(bits.unsigned()),
        _ => None,
    }
}

/// Whether a function has a mutex among its variables, and stores what could be its kind: compilers
/// write out an initialiser that is mostly zero.
fn initialises_a_kind(function: &Function) -> bool {
    let insts = || function.blocks.iter().flat_map(|block| &block.insts);
    let has_mutex = insts().any(|inst| match &inst.kind {
        InstKind::Alloc { shape: Some(shape), .. } => has_field(shape, "__kind"),
        _ => false,
    });
    let stores_kind = |kind: &InstKind| match kind {
        InstKind::Store { value, size: AccessSize::WORD, .. } => {
            matches!(constant(value), Some(1 | 2))
        }
        _ => false,
    };
    has_mutex && insts().any(|inst| stores_kind(&inst.kind))
}

fn has_field(shape: &Shape, name: &str) -> bool {
    match shape {
        Shape::Scalar => false,
        Shape::Array { element, .. } => has_field(element, name),
        Shape::Struct { fields, .. } => {
            fields.iter().any(|field| field.name == name || has_field(&field.shape, name))
        }
    }
}

/// Where glibc's initialisers have the kind in a mutex, how many bytes that is all of, and how it is
/// aligned: where pointers have 64 and 32 bits.
const MUTEX: (usize, usize, usize) = (16, 40, 8);
const SHORT_MUTEX: (usize, usize, usize) = (12, 24, 4);
/// Of larger globals nothing is known.
const LARGEST: u64 = 1 << 20;

/// Whether some part of the object looks like an initialised recursive or error-checking
/// mutex: all zero but for the kind.
fn holds_a_kind(global: &Global, ilp32: bool) -> bool {
    let (place, size, align) = if ilp32 { SHORT_MUTEX } else { MUTEX };
    if global.size < size as u64 || global.init.is_empty() || global.constant {
        return false;
    }
    if global.size > LARGEST {
        return true;
    }
    let bytes = bytes(global);
    bytes.windows(size).step_by(align).any(|mutex| {
        let (before, rest) = mutex.split_at(place);
        let (kind, after) = rest.split_at(4);
        let zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
        zero(before) && zero(after) && matches!(kind, [1 | 2, 0, 0, 0])
    })
}

/// What the object holds at first; bytes of addresses are taken for 255.
pub(crate) fn bytes(global: &Global) -> Vec<u8> {
    let mut bytes = vec![0; global.size as usize];
    for cell in &global.init {
        let value = constant(&cell.value).unwrap_or(u128::MAX).to_le_bytes();
        let start = (cell.offset as usize).min(bytes.len());
        let places = bytes[start..].iter_mut().take(cell.width as usize / 8);
        places.zip(value).for_each(|(place, byte)| *place = byte);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parallax_program::{
        AllocKind, Cell, Field, FunctionBuilder, SourceFile, Tags, parse_program,
    };

    use super::*;

    fn kinds(program: &Program) -> bool {
        Features::of(program, &Options::default()).kinds
    }

    #[test]
    fn initialised_mutexes_are_found() {
        let cases = [(16, 1, true), (16, 2, true), (16, 3, false), (20, 1, false), (56, 1, true)];
        for (offset, kind, found) in cases {
            let mut program = Program::new("p", 64, SourceFile::new("p", ""));
            let mut global = Global::zeroed("m", 80, 8);
            global.init.push(Cell { offset, width: 32, value: Expr::constant(32, kind) });
            program.globals.push(global);
            assert_eq!(kinds(&program), found, "{kind} at {offset}");
        }
    }

    #[test]
    fn mutexes_among_the_variables_of_functions_are_found() {
        for (value, found) in [(1, true), (0, false)] {
            let mut builder = FunctionBuilder::new("f");
            let dst = builder.var("m", 64);
            let name = "__kind".to_string();
            let field = Field { name, offset: 16, size: 4, shape: Shape::Scalar };
            let shape = Shape::Struct { name: String::new(), fields: vec![field] };
            builder.emit(InstKind::Alloc {
                dst,
                size: Expr::constant(64, 40),
                align: 8,
                kind: AllocKind::Stack,
                zeroed: false,
                shape: Some(Arc::new(shape)),
            });
            builder.emit(InstKind::Store {
                address: Expr::Var(dst) + Expr::constant(64, 16),
                value: Expr::constant(32, value),
                size: AccessSize::WORD,
                tags: Tags::new(["NA"]),
            });
            let mut program = Program::new("p", 64, SourceFile::new("p", ""));
            program.functions.push(builder.finish());
            assert_eq!(kinds(&program), found, "{value}");
        }
    }

    #[test]
    fn what_is_asked_for_by_calls() {
        let words = |call: &str| {
            let start = "call extern pthread_create(v, v, v, v)";
            let text =
                format!("program p pointers 64\nfn f(v: 64, w: 32) {{\n  {start}\n  {call}\n}}\n");
            let program = parse_program("p", &text).unwrap();
            Features::of(&program, &Options::default()).words().collect::<Vec<_>>()
        };
        let load = "v = load.8 &t [NA]";
        let join = "call extern pthread_join(v, 0:64)";
        let more = "}\nglobal t: 8\nfn g() {";
        assert_eq!(words(&format!("{load}\n  {join}\n{more}")), Vec::<&str>::new());
        let asks = format!("{load}\n  call extern pthread_join(v, v)\n{more}");
        assert_eq!(words(&asks), ["results", "ending"]);
        assert_eq!(words("call extern tss_create(v, v)"), ["keys", "ending"]);
        assert_eq!(words("call extern mtx_init(v, 2:32)"), Vec::<&str>::new());
        assert_eq!(words("call extern mtx_init(v, w)"), ["kinds"]);
        assert_eq!(words("call extern pthread_mutexattr_settype(v, 1:32)"), ["kinds"]);
        assert_eq!(words("call extern atexit(v)"), ["atexit"]);
        assert_eq!(words("call extern pthread_key_delete(w)"), ["deletes"]);
        assert_eq!(words("call extern pthread_detach(v)"), ["fates"]);
        assert_eq!(words("call extern pthread_attr_setdetachstate(v, 0:32)"), Vec::<&str>::new());
        // Of a thread of which nothing is known; twice of the same; in a loop; by a function that is
        // called twice.
        assert_eq!(words(join), ["fates"]);
        assert_eq!(words(&format!("{load}\n  {join}\n  {load}\n  {join}\n{more}")), ["fates"]);
        assert_eq!(words(&format!("jump l\nl:\n  {load}\n  {join}\n  jump l\n{more}")), ["fates"]);
        let calls = format!("call g()\n  call g()\n{more}\n  var v: 64\n  {load}\n  {join}");
        assert_eq!(words(&calls), ["fates"]);
        let element = |index: &str| {
            format!(
                "w = 0:32\n  jump l\nl:\n  v = load.8 &t + zext({index}, 64) * 8:64 [NA]\n  {join}\n  \
                 w = w + 1:32\n  branch w <u 2:32, l, o\no:\n  return\n}}\nglobal t: 16\nfn g() {{"
            )
        };
        assert_eq!(words(&element("w")), Vec::<&str>::new());
        assert_eq!(words(&element("w & 1:32")), ["fates"]);
        assert_eq!(words("w = call extern pthread_barrier_wait(v)"), ["unasked"]);
        // A thread is started before each of these lines.
        let (init, lock) =
            ("call extern pthread_mutex_init(v, v)", "call extern pthread_mutex_lock(v)");
        assert_eq!(words(init), Vec::<&str>::new());
        assert_eq!(words(&format!("{init}\n  {lock}")), ["mutexes"]);
        let own = "v = call extern malloc(v)";
        assert_eq!(words(&format!("{lock}\n}}\nfn g(v: 64) {{\n  {init}")), Vec::<&str>::new());
        assert_eq!(
            words(&format!("{lock}\n  call g(v)\n}}\nfn g(v: 64) {{\n  {init}")),
            ["mutexes"]
        );
        assert_eq!(
            words(&format!("{lock}\n  call g(v)\n}}\nfn g(v: 64) {{\n  {own}\n  {init}")),
            Vec::<&str>::new()
        );
        let init = "call extern pthread_rwlock_init(v, v)";
        let used = "call extern pthread_rwlock_trywrlock(v)";
        assert_eq!(words(&format!("{used}\n  {init}")), ["rwlocks"]);
        let init = "call extern cnd_init(v)";
        assert_eq!(words(&format!("call extern cnd_signal(v)\n  {init}")), ["conds"]);
        let asks = "w = call extern pthread_barrier_wait(v)\n  assert w == 0:32, \"not the last\"";
        assert_eq!(words(asks), Vec::<&str>::new());
    }
}
