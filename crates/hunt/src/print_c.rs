//! A program as C.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::ast::{
    Access, Expr, Field, Global, LOCALS, Lock, Op, Open, Order, Own, OwnStep, POINTERS, Place,
    Program, RmwOp, Run, Shape, Stmt, Type, WaitStyle,
};

/// The whole program.
pub fn print(program: &Program) -> String {
    let mut body = String::new();
    let mut printer = Printer { program, text: &mut body, depth: 1, counters: 0, thread: None };
    printer.table();
    for (number, statements) in program.bodies.iter().enumerate() {
        printer.function(number, statements);
    }
    printer.main();
    let mut text = String::from(HEADERS);
    for (condition, line) in DECLARATIONS {
        if condition.iter().any(|word| body.contains(word)) {
            text += line;
        }
    }
    let is_open = |statement: &&Stmt| {
        matches!(statement, Stmt::Input { .. } | Stmt::Allocate { open: true, .. })
    };
    if program.statements().iter().any(is_open) {
        text += "extern unsigned char __VERIFIER_nondet_uchar(void);\n\
                 extern unsigned short __VERIFIER_nondet_ushort(void);\n\
                 extern unsigned __VERIFIER_nondet_uint(void);\n\
                 extern unsigned long long __VERIFIER_nondet_ulonglong(void);\n\
                 extern int __VERIFIER_nondet_int(void);\n";
    }
    for (number, global) in program.globals.iter().enumerate() {
        declare(&mut text, number, global);
    }
    for (thread, local) in results(program) {
        let ty = program.locals[local % LOCALS].name();
        let _ = writeln!(text, "{ty} t{thread}_r{local};");
    }
    if body.contains("pthread_once(") {
        let _ = writeln!(text, "uint32_t started;\nvoid start(void) {{ started = started + 1; }}");
    }
    text + &body
}

const HEADERS: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
                       #include <stdint.h>\n#include <stdlib.h>\n";

/// What is declared where these words are used.
const DECLARATIONS: [(&[&str], &str); 17] = [
    (&["memcpy(", "memset(", "memmove("], "#include <string.h>\n"),
    (&["&sem", "sem_t"], "#include <semaphore.h>\n"),
    (&["&mtx"], "#include <threads.h>\n"),
    (&["__VERIFIER_assume"], "extern void __VERIFIER_assume(int);\n"),
    (
        &["__VERIFIER_atomic"],
        "extern void __VERIFIER_atomic_begin(void);\nextern void __VERIFIER_atomic_end(void);\n",
    ),
    (
        &["deeper("],
        "uint32_t deeper(uint32_t x, uint32_t n) { return n == 0 ? x : deeper(x + 1, n - 1); }\n",
    ),
    (&["struct part"], "struct part { uint32_t a : 3, b : 5; uint32_t c; };\n"),
    (&["struct cell"], "struct cell { _Atomic uint32_t a; uint32_t n; };\n"),
    (&["&shown"], "_Atomic(struct cell *) shown;\n"),
    (&["&cell0"], "struct cell cell0;\n"),
    (&["&m0"], "pthread_mutex_t m0 = PTHREAD_MUTEX_INITIALIZER;\nuint32_t ready;\n"),
    (&["&m1"], "pthread_mutex_t m1 = PTHREAD_MUTEX_INITIALIZER;\n"),
    (&["&recursive"], "pthread_mutex_t recursive;\n"),
    (&["&checking"], "pthread_mutex_t checking;\n"),
    (&["&cond"], "pthread_cond_t cond = PTHREAD_COND_INITIALIZER;\n"),
    (&["&rw"], "pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;\n"),
    (&["&once"], "pthread_once_t once = PTHREAD_ONCE_INIT;\n"),
];

/// The local variables of threads that somebody asks for after the joins.
pub fn results(program: &Program) -> BTreeSet<(usize, usize)> {
    let mut found = BTreeSet::new();
    for statement in program.statements() {
        for expression in statement.expressions() {
            find_results(expression, &mut found);
        }
    }
    found.retain(|(thread, _)| *thread < program.bodies.len());
    found
}

fn find_results(expression: &Expr, found: &mut BTreeSet<(usize, usize)>) {
    match expression {
        Expr::Result { thread, local } => {
            found.insert((*thread, *local % LOCALS));
        }
        Expr::Not(inner) | Expr::Cast(_, inner) => find_results(inner, found),
        Expr::Binary(_, left, right) => {
            find_results(left, found);
            find_results(right, found);
        }
        _ => {}
    }
}

fn qualifier(access: Access) -> &'static str {
    match access {
        Access::Atomic => "_Atomic ",
        Access::Plain => "",
        Access::Volatile => "volatile ",
    }
}

fn declare(text: &mut String, number: usize, global: &Global) {
    let storage = if global.thread_local { "_Thread_local " } else { "" };
    let how = qualifier(global.access);
    let init = if global.late { 0 } else { global.init };
    let _ = match &global.shape {
        Shape::Scalar(ty) => {
            let init = constant(*ty, init);
            writeln!(text, "{storage}{how}{} x{number} = {init};", ty.name())
        }
        Shape::Array(ty, length) => {
            let init = constant(*ty, init);
            writeln!(text, "{storage}{how}{} x{number}[{length}] = {{{init}}};", ty.name())
        }
        Shape::Struct(fields) => {
            let fields: String = (0..).zip(fields).map(|(n, f)| field(n, *f, how)).collect();
            writeln!(text, "{storage}struct s{number} {{ {fields}}} x{number};")
        }
        Shape::Union(ty) => {
            let (halves, bytes) = (ty.bytes() / 2, ty.bytes());
            writeln!(
                text,
                "{storage}union u{number} {{ {how}{} w; {how}uint16_t h[{halves}]; \
                 {how}uint8_t b[{bytes}]; }} x{number} = {{{init}u}};",
                ty.name()
            )
        }
    };
}

fn field(number: usize, field: Field, how: &str) -> String {
    match field.bits {
        Some(bits) => format!("{} f{number} : {bits}; ", field.ty.name()),
        None => format!("{how}{} f{number}; ", field.ty.name()),
    }
}

/// A constant of a type.
fn constant(ty: Type, value: u64) -> String {
    match ty {
        Type::U8 => format!("{}", value as u8),
        Type::U16 => format!("{}", value as u16),
        Type::U32 => format!("{}u", value as u32),
        Type::U64 => format!("{value}ull"),
        Type::I32 if value as i32 == i32::MIN => "(-2147483647 - 1)".to_string(),
        Type::I32 => format!("{}", value as i32),
    }
}

/// A place in the text, and whether accesses to it are atomic.
struct Named {
    text: String,
    is_atomic: bool,
}

struct Printer<'a> {
    program: &'a Program,
    text: &'a mut String,
    depth: usize,
    /// Loops around that count.
    counters: usize,
    /// None for `main`.
    thread: Option<usize>,
}

impl Printer<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "  ".repeat(self.depth));
    }

    /// Whether functions are called or threads are started through a table.
    fn has_table(&self) -> bool {
        let all = self.program.statements();
        all.iter()
            .any(|statement| matches!(statement, Stmt::Run { how, .. } if how.is_through_table()))
    }

    fn table(&mut self) {
        let count = self.program.bodies.len();
        if count == 0 || !self.has_table() {
            return;
        }
        let names: Vec<String> = (0..count).map(|number| format!("thread{number}")).collect();
        for name in &names {
            let _ = writeln!(self.text, "void *{name}(void *);");
        }
        let _ = writeln!(self.text, "void *(*table[])(void *) = {{{}}};", names.join(", "));
    }

    /// Runs a function above this one.
    fn run(&mut self, to: usize, body: usize, argument: &Expr, how: Run) {
        let above = self.thread.unwrap_or(self.program.bodies.len());
        let Some(body) = body.checked_rem(above) else { return };
        let (to, argument) = (self.local(to), self.expression(argument));
        let argument = format!("(void *)(uintptr_t)({argument})");
        let function = match how.is_through_table() {
            true => format!("table[((uintptr_t){argument} + {body}) % {above}]"),
            false => format!("thread{body}"),
        };
        if how.is_thread() {
            self.line(&format!(
                "{{ pthread_t t; void *got; pthread_create(&t, 0, {function}, {argument}); \
                 pthread_join(t, &got); {to} = (uintptr_t)got; }}"
            ));
        } else {
            self.line(&format!("{to} = (uintptr_t){function}({argument});"));
        }
    }

    /// What the function of a thread returns: something only where somebody asks for it.
    fn returned(&self) -> &'static str {
        let all = self.program.statements();
        match all.iter().any(|statement| matches!(statement, Stmt::Run { .. })) {
            true => "(void *)(uintptr_t)r0",
            false => "0",
        }
    }

    fn function(&mut self, number: usize, statements: &[Stmt]) {
        let _ = writeln!(self.text, "void *thread{number}(void *argument) {{");
        self.thread = Some(number);
        self.declare_locals(&[statements]);
        self.all(statements);
        self.results();
        self.line(&format!("return {};", self.returned()));
        let _ = writeln!(self.text, "}}");
    }

    /// What others may ask for.
    fn results(&mut self) {
        let Some(number) = self.thread else { return };
        for (thread, local) in results(self.program) {
            if thread == number {
                self.line(&format!("t{thread}_r{local} = r{local};"));
            }
        }
    }

    fn declare_locals(&mut self, lists: &[&[Stmt]]) {
        let mut draft = String::new();
        let mut printer = Printer {
            program: self.program,
            text: &mut draft,
            depth: 0,
            counters: 0,
            thread: self.thread,
        };
        lists.iter().for_each(|list| printer.all(list));
        printer.results();
        draft += self.returned();
        let is_used = |name: &str| {
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            draft.split(|c| !is_word(c)).any(|word| word == name)
        };
        for local in 0..LOCALS {
            if is_used(&format!("r{local}")) {
                let ty = self.program.locals[local].name();
                self.line(&format!("{ty} r{local} = 0;"));
            }
        }
        for pointer in 0..POINTERS {
            if is_used(&format!("p{pointer}")) {
                self.line(&format!("struct cell *p{pointer} = 0;"));
            }
        }
    }

    fn main(&mut self) {
        let program = self.program;
        let uses = |text: &str, word: &str| text.contains(word);
        let rest = self.text.clone();
        let mut setup = Vec::new();
        let mut globals = String::new();
        let mut own = String::new();
        let mut printer = Printer { program, text: &mut own, depth: 1, counters: 0, thread: None };
        printer.all(&program.before);
        printer.all(&program.after);
        let all = rest.clone() + &own;
        let waiting = program.threads.iter();
        let waiting =
            waiting.filter(|body| program.bodies.get(**body).is_some_and(|list| has_barrier(list)));
        if uses(&all, "&barrier") {
            globals += "pthread_barrier_t barrier;\n";
            setup.push(format!("pthread_barrier_init(&barrier, 0, {});", waiting.count().max(1)));
        }
        if uses(&all, "&spin") {
            globals += "pthread_spinlock_t spin;\n";
            setup.push("pthread_spin_init(&spin, 0);".to_string());
        }
        if uses(&all, "&sem") {
            globals += "sem_t sem;\n";
            setup.push("sem_init(&sem, 0, 1);".to_string());
        }
        if uses(&all, "&mtx") {
            globals += "mtx_t mtx;\n";
            setup.push("mtx_init(&mtx, mtx_plain);".to_string());
        }
        for (kind, constant) in [("recursive", "RECURSIVE"), ("checking", "ERRORCHECK")] {
            if uses(&all, &format!("&{kind}")) {
                setup
                    .push("{ pthread_mutexattr_t kind; pthread_mutexattr_init(&kind);".to_string());
                setup
                    .push(format!("  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_{constant});"));
                setup.push(format!("  pthread_mutex_init(&{kind}, &kind); }}"));
            }
        }
        self.text.insert_str(0, &globals);
        let _ = writeln!(self.text, "int main(void) {{");
        self.thread = None;
        self.declare_locals(&[&program.before, &program.after]);
        setup.iter().for_each(|line| self.line(line));
        self.initialise();
        self.all(&program.before);
        let count = program.threads.len();
        if count > 0 {
            self.line(&format!("pthread_t t[{count}];"));
        }
        let has_argument = rest.contains("(uintptr_t)argument");
        for (thread, body) in program.threads.iter().enumerate() {
            let function = match self.has_table() && thread % 2 == 1 {
                true => format!("table[{body}]"),
                false => format!("thread{body}"),
            };
            let argument =
                if has_argument { format!("(void *){}", thread + 1) } else { "0".into() };
            self.line(&format!("pthread_create(&t[{thread}], 0, {function}, {argument});"));
        }
        for thread in 0..count {
            let call = match program.detached && thread + 1 == count {
                true => format!("pthread_detach(t[{thread}]);"),
                false => format!("pthread_join(t[{thread}], 0);"),
            };
            self.line(&call);
        }
        self.all(&program.after);
        self.line("return 0;");
        let _ = writeln!(self.text, "}}");
    }

    /// Variables that get their values from `main`.
    fn initialise(&mut self) {
        for (number, global) in self.program.globals.iter().enumerate() {
            let Shape::Scalar(ty) = global.shape else { continue };
            if !global.late || global.thread_local {
                continue;
            }
            let value = constant(ty, global.init);
            match global.access {
                Access::Atomic => self.line(&format!("atomic_init(&x{number}, {value});")),
                _ => self.line(&format!("x{number} = {value};")),
            }
        }
    }

    fn all(&mut self, statements: &[Stmt]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn block(&mut self, opening: &str, statements: &[Stmt], closing: &str) {
        self.line(opening);
        self.depth += 1;
        self.all(statements);
        self.depth -= 1;
        self.line(closing);
    }

    fn local(&self, local: usize) -> String {
        format!("r{}", local % LOCALS)
    }

    fn pointer(&self, pointer: usize) -> String {
        format!("p{}", pointer % POINTERS)
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Load { to, from, order } => {
                let (to, value) = (self.local(*to), self.load(from, *order));
                self.line(&format!("{to} = {value};"));
            }
            Stmt::Store { to, value, order } => {
                let (to, value) = (self.place(to), self.expression(value));
                self.store(&to, &value, *order);
            }
            Stmt::Rmw { to, op, place, value, order } => {
                let (to, place) = (self.local(*to), self.place(place));
                let value = self.expression(value);
                self.update(&to, *op, &place, &value, *order);
            }
            Stmt::Cas { .. } => self.compare_and_swap(statement),
            Stmt::Fence(order) => {
                let order = if *order == Order::Relaxed { Order::Acquire } else { *order };
                self.line(&format!("atomic_thread_fence({});", order.name()));
            }
            Stmt::Set { to, value } => {
                let (to, value) = (self.local(*to), self.expression(value));
                self.line(&format!("{to} = {value};"));
            }
            Stmt::Signed { to, op, left, right } => {
                let (to, left) = (self.local(*to), self.expression(left));
                let (op, right) = (op.sign(), self.expression(right));
                self.line(&format!("{to} = (int32_t)({left}) {op} (int32_t)({right});"));
            }
            Stmt::Input { to, ty, below } => self.input(*to, *ty, *below),
            Stmt::Own { to, kind, on_heap, steps } => self.own(*to, *kind, *on_heap, steps),
            Stmt::Float { to, left, right } => {
                let (to, left, right) =
                    (self.local(*to), self.expression(left), self.expression(right));
                let (left, right) = (format!("({left}) % 16"), format!("({right}) % 16"));
                self.line(&format!(
                    "{to} = (uint32_t)((float)({left}) * 0.5f + (double)({right}));"
                ));
            }
            Stmt::Call { to, value, depth } => {
                let (to, value) = (self.local(*to), self.expression(value));
                self.line(&format!("{to} = deeper({value}, {depth});"));
            }
            Stmt::Run { to, body, argument, how } => self.run(*to, *body, argument, *how),
            Stmt::Uninitialised { what, to, given, value } => {
                let (to, given) = (self.local(*to), self.expression(given));
                self.line(&uninitialised(*what, to, &given, *value));
            }
            Stmt::If { condition, then, other } => {
                let condition = self.expression(condition);
                let closing = if other.is_empty() { "}" } else { "} else {" };
                self.block(&format!("if ({condition}) {{"), then, closing);
                if !other.is_empty() {
                    self.depth += 1;
                    self.all(other);
                    self.depth -= 1;
                    self.line("}");
                }
            }
            Stmt::Wait { .. } => self.wait(statement),
            Stmt::Retry { .. } => self.retry(statement),
            Stmt::Count { times, body } => {
                let counter = format!("i{}", self.counters);
                self.counters += 1;
                let opening =
                    format!("for (int {counter} = 0; {counter} < {times}; {counter}++) {{");
                self.block(&opening, body, "}");
                self.counters -= 1;
            }
            Stmt::Locked { lock, attempt, body } => {
                let (take, attempt_it, give) = calls(*lock);
                if *attempt {
                    self.line(&format!("if ({attempt_it}) {{"));
                } else {
                    self.line(&format!("{take};"));
                }
                self.depth += usize::from(*attempt);
                self.all(body);
                self.line(&format!("{give};"));
                self.depth -= usize::from(*attempt);
                if *attempt {
                    self.line("}");
                }
            }
            Stmt::Take(lock) => self.line(&format!("{};", calls(*lock).0)),
            Stmt::Give(lock) => self.line(&format!("{};", calls(*lock).2)),
            Stmt::Destroy(lock) => self.line(destruction(*lock)),
            Stmt::Await { patient, timed } => self.wait_for_condition(*patient, *timed),
            Stmt::Signal { all, set } => {
                let wake = if *all { "broadcast" } else { "signal" };
                let set = if *set { " ready = 1;" } else { "" };
                self.line(&format!(
                    "pthread_mutex_lock(&m0);{set} pthread_cond_{wake}(&cond); \
                     pthread_mutex_unlock(&m0);"
                ));
            }
            Stmt::Barrier => self.line("pthread_barrier_wait(&barrier);"),
            Stmt::Once => self.line("pthread_once(&once, start);"),
            Stmt::Allocate { .. }
            | Stmt::Free(_)
            | Stmt::Resize(_)
            | Stmt::Publish { .. }
            | Stmt::Obtain { .. }
            | Stmt::Point { .. }
            | Stmt::IfPointer { .. }
            | Stmt::Scoped { .. } => self.about_pointers(statement),
            Stmt::Copy { to, from, by_call } => self.copy(*to, *from, *by_call),
            Stmt::Fill { global, byte } => {
                let number = global % self.program.globals.len().max(1);
                let is_plain =
                    self.program.globals.get(number).is_some_and(|g| g.access == Access::Plain);
                if is_plain {
                    self.line(&format!("memset(&x{number}, {byte}, sizeof x{number});"));
                }
            }
            Stmt::Shift { global, up } => {
                let number = global % self.program.globals.len().max(1);
                let is_plain =
                    self.program.globals.get(number).is_some_and(|g| g.access == Access::Plain);
                if is_plain {
                    let (to, from) = if *up { (1, 0) } else { (0, 1) };
                    self.line(&format!(
                        "memmove((char *)&x{number} + {to}, (char *)&x{number} + {from}, \
                         sizeof x{number} - 1);"
                    ));
                }
            }
            Stmt::Assert(condition) => {
                let condition = self.expression(condition);
                self.line(&format!("assert({condition});"));
            }
            Stmt::Assume(condition) => {
                let condition = self.expression(condition);
                self.line(&format!("__VERIFIER_assume({condition});"));
            }
            Stmt::Return { by_call } => self.leave(*by_call),
            Stmt::Exit => self.line("exit(0);"),
            Stmt::Abort => self.line("abort();"),
        }
    }

    fn leave(&mut self, by_call: bool) {
        if self.thread.is_none() {
            return self.line("return 0;");
        }
        let value = self.returned();
        self.line(&match by_call {
            true => format!("pthread_exit({value});"),
            false => format!("return {value};"),
        });
    }

    fn load(&self, place: &Place, order: Order) -> String {
        let Named { text, is_atomic } = self.place(place);
        match is_atomic {
            true => format!("atomic_load_explicit(&{text}, {})", order.of_load().name()),
            false => text,
        }
    }

    fn store(&mut self, to: &Named, value: &str, order: Order) {
        let Named { text, is_atomic } = to;
        match is_atomic {
            true => {
                let order = order.of_store().name();
                self.line(&format!("atomic_store_explicit(&{text}, {value}, {order});"));
            }
            false => self.line(&format!("{text} = {value};")),
        }
    }

    /// Of what is not atomic, a read and a write.
    fn update(&mut self, to: &str, op: RmwOp, place: &Named, value: &str, order: Order) {
        let Named { text, is_atomic } = place;
        let name = op.name();
        if *is_atomic {
            let order = order.name();
            self.line(&format!("{to} = atomic_{name}_explicit(&{text}, {value}, {order});"));
            return;
        }
        let sum = match op {
            RmwOp::Exchange => value.to_string(),
            RmwOp::Add => format!("{to} + ({value})"),
            RmwOp::Sub => format!("{to} - ({value})"),
            RmwOp::And => format!("{to} & ({value})"),
            RmwOp::Or => format!("{to} | ({value})"),
            RmwOp::Xor => format!("{to} ^ ({value})"),
        };
        self.line(&format!("{to} = {text}; {text} = {sum};"));
    }

    fn compare_and_swap(&mut self, statement: &Stmt) {
        let Stmt::Cas { ok, old, place, expected, desired, weak, success, failure } = statement
        else {
            return;
        };
        let (ok, old) = (self.local(*ok), self.local(*old));
        let ty = self.type_of(place);
        let Named { text, is_atomic } = self.place(place);
        let (expected, desired) = (self.expression(expected), self.expression(desired));
        if !is_atomic {
            let line = format!("{old} = {text}; {ok} = {old} == {expected};");
            return self.line(&format!("{line} if ({ok}) {text} = {desired};"));
        }
        let kind = if *weak { "weak" } else { "strong" };
        let (success, failure) = (success.name(), failure_order(*failure).name());
        self.line(&format!(
            "{{ {} e = {expected}; {ok} = atomic_compare_exchange_{kind}_explicit(&{text}, &e, \
             {desired}, {success}, {failure}); {old} = e; }}",
            ty.name()
        ));
    }

    fn input(&mut self, to: usize, ty: Type, below: Option<u64>) {
        let name = match ty {
            Type::U8 => "uchar",
            Type::U16 => "ushort",
            Type::U32 => "uint",
            Type::U64 => "ulonglong",
            Type::I32 => "int",
        };
        let to = self.local(to);
        self.line(&format!("{to} = __VERIFIER_nondet_{name}();"));
        if let Some(below) = below {
            self.line(&format!("__VERIFIER_assume({to} < {below});"));
        }
    }

    fn wait(&mut self, statement: &Stmt) {
        let Stmt::Wait { style, to, place, order, until, body } = statement else { return };
        let (to, load) = (self.local(*to), self.load(place, *order));
        match style {
            WaitStyle::While if body.is_empty() => {
                self.line(&format!("while (({to} = {load}) != {until}) ;"));
            }
            WaitStyle::While => {
                self.block(&format!("while (({to} = {load}) != {until}) {{"), body, "}");
            }
            WaitStyle::Do => {
                let closing = format!("  {to} = {load}; }} while ({to} != {until});");
                self.block("do {", body, &closing);
            }
            WaitStyle::Break => {
                self.line("for (;;) {");
                self.depth += 1;
                self.line(&format!("{to} = {load};"));
                self.line(&format!("if ({to} == {until}) break;"));
                self.all(body);
                self.depth -= 1;
                self.line("}");
            }
            WaitStyle::Ahead => {
                self.line(&format!("{to} = {load};"));
                let closing = format!("  {to} = {load}; }}");
                self.block(&format!("while ({to} != {until}) {{"), body, &closing);
            }
            WaitStyle::Locked => {
                let (take, _, give) = calls(Lock::Mutex(1));
                let closing =
                    format!("  {take}; {to} = {load}; {give}; }} while ({to} != {until});");
                self.block("do {", body, &closing);
            }
        }
    }

    fn retry(&mut self, statement: &Stmt) {
        let Stmt::Retry { to, place, op, value, weak, first, order, failure } = statement else {
            return;
        };
        let ty = self.type_of(place);
        let load = self.load(place, *first);
        let Named { text, is_atomic } = self.place(place);
        let (to, value) = (self.local(*to), self.expression(value));
        let sign = op.sign();
        if !is_atomic {
            return self.line(&format!("{to} = {text}; {text} = {to} {sign} ({value});"));
        }
        let kind = if *weak { "weak" } else { "strong" };
        let (order, failure) = (order.name(), failure_order(*failure).name());
        self.line(&format!(
            "{{ {} e = {load}; while (!atomic_compare_exchange_{kind}_explicit(&{text}, &e, e \
             {sign} ({value}), {order}, {failure})) ; {to} = e; }}",
            ty.name()
        ));
    }

    fn wait_for_condition(&mut self, patient: bool, timed: bool) {
        let wait = match timed {
            false => "pthread_cond_wait(&cond, &m0);",
            true => "{ struct timespec end = {0}; pthread_cond_timedwait(&cond, &m0, &end); }",
        };
        // A loop around a wait that may end at any time repeats for ever.
        let repeat = if patient && !timed { "while" } else { "if" };
        self.line(&format!(
            "pthread_mutex_lock(&m0); {repeat} (!ready) {wait} pthread_mutex_unlock(&m0);"
        ));
    }

    fn about_pointers(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Allocate { pointer, zeroed, open } => {
                let pointer = self.pointer(*pointer);
                let call = if *zeroed { "calloc(1, " } else { "malloc(" };
                let size =
                    if *open { "4 * __VERIFIER_nondet_uchar()" } else { "sizeof(struct cell)" };
                self.line(&format!("{pointer} = {call}{size});"));
            }
            Stmt::Free(pointer) => {
                let pointer = self.pointer(*pointer);
                self.line(&format!("free({pointer});"));
            }
            Stmt::Resize(pointer) => {
                let pointer = self.pointer(*pointer);
                self.line(&format!("{pointer} = realloc({pointer}, 4 + sizeof(struct cell));"));
            }
            Stmt::Publish { pointer, order } => {
                let (pointer, order) = (self.pointer(*pointer), order.of_store().name());
                self.line(&format!("atomic_store_explicit(&shown, {pointer}, {order});"));
            }
            Stmt::Obtain { pointer, order, take: false } => {
                let (pointer, order) = (self.pointer(*pointer), order.of_load().name());
                self.line(&format!("{pointer} = atomic_load_explicit(&shown, {order});"));
            }
            Stmt::Obtain { pointer, order, take: true } => {
                let (pointer, order) = (self.pointer(*pointer), order.name());
                self.line(&format!("{pointer} = atomic_exchange_explicit(&shown, 0, {order});"));
            }
            Stmt::Point { pointer } => {
                let pointer = self.pointer(*pointer);
                self.line(&format!("{pointer} = &cell0;"));
            }
            Stmt::IfPointer { pointer, then } => {
                let pointer = self.pointer(*pointer);
                self.block(&format!("if ({pointer}) {{"), then, "}");
            }
            Stmt::Scoped { pointer, body } => {
                let pointer = self.pointer(*pointer);
                let opening = format!("{{ struct cell own = {{1, 2}}; {pointer} = &own;");
                self.block(&opening, body, "}");
            }
            _ => {}
        }
    }

    fn own(&mut self, to: usize, kind: Own, on_heap: bool, steps: &[OwnStep]) {
        let (ty, init, uses, destroy) = match kind {
            Own::Mutex => (
                "pthread_mutex_t",
                "pthread_mutex_init(o, 0)",
                "pthread_mutex_lock(o); pthread_mutex_unlock(o)",
                "pthread_mutex_destroy(o)",
            ),
            Own::RwLock => (
                "pthread_rwlock_t",
                "pthread_rwlock_init(o, 0)",
                "pthread_rwlock_rdlock(o); pthread_rwlock_unlock(o)",
                "pthread_rwlock_destroy(o)",
            ),
            Own::Semaphore => ("sem_t", "sem_init(o, 0, 0)", "sem_post(o)", "sem_destroy(o)"),
            Own::Condition => (
                "pthread_cond_t",
                "pthread_cond_init(o, 0)",
                "pthread_cond_signal(o)",
                "pthread_cond_destroy(o)",
            ),
            Own::Barrier => (
                "pthread_barrier_t",
                "pthread_barrier_init(o, 0, 1)",
                "pthread_barrier_wait(o)",
                "pthread_barrier_destroy(o)",
            ),
        };
        let mut text = match on_heap {
            true => format!("{{ {ty} *o = malloc(sizeof *o); "),
            false => format!("{{ {ty} own, *o = &own; "),
        };
        for step in steps {
            text += &match step {
                OwnStep::Init => format!("{init}; "),
                OwnStep::Use => format!("{uses}; "),
                OwnStep::Destroy => format!("{destroy}; "),
                OwnStep::Peek(word) => {
                    format!("{} = ((uint32_t *)o)[{word}]; ", self.local(to))
                }
            };
        }
        text += if on_heap { "free(o); }" } else { "}" };
        self.line(&text);
    }

    fn copy(&mut self, to: usize, from: usize, by_call: bool) {
        let globals = &self.program.globals;
        let count = globals.len().max(1);
        let (to, from) = (to % count, from % count);
        let (Some(target), Some(source)) = (globals.get(to), globals.get(from)) else { return };
        let is_plain = target.access == Access::Plain && source.access == Access::Plain;
        if !is_plain || target.shape != source.shape {
            return;
        }
        // Types with names of their own and arrays cannot be assigned.
        let assignable = matches!(target.shape, Shape::Scalar(_)) || to == from;
        match by_call || !assignable {
            true => self.line(&format!("memcpy(&x{to}, &x{from}, sizeof x{to});")),
            false => self.line(&format!("x{to} = x{from};")),
        }
    }

    fn type_of(&self, place: &Place) -> Type {
        let global =
            |number: &usize| self.program.globals.get(number % self.program.globals.len().max(1));
        let ty = match place {
            Place::Cell { .. } => None,
            Place::Part { ty, global: number, index } => {
                global(number).map(|global| part_type(global, *ty, *index))
            }
            Place::Global(number) => global(number).map(first_type),
            Place::Element { global: number, .. } => global(number).map(first_type),
        };
        ty.unwrap_or(Type::U32)
    }

    fn place(&self, place: &Place) -> Named {
        let count = self.program.globals.len().max(1);
        let plain = |text: String| Named { text, is_atomic: false };
        let (number, how) = match place {
            Place::Cell { pointer, atomic } => {
                let half = if *atomic { "a" } else { "n" };
                let text = format!("{}->{half}", self.pointer(*pointer));
                return Named { text, is_atomic: *atomic };
            }
            Place::Global(number)
            | Place::Element { global: number, .. }
            | Place::Part { global: number, .. } => (number % count, place),
        };
        let Some(global) = self.program.globals.get(number) else {
            return plain("errno".to_string());
        };
        let is_atomic = global.access == Access::Atomic;
        let text = match (&global.shape, how) {
            (Shape::Scalar(ty), Place::Part { ty: part, index, .. })
                if part.bytes() < ty.bytes() =>
            {
                let (how, name) = (qualifier(global.access), part.name());
                let index = index % (ty.bytes() / part.bytes());
                format!("(({how}{name} *)&x{number})[{index}]")
            }
            (Shape::Scalar(_), _) => format!("x{number}"),
            (Shape::Array(_, length), Place::Element { index, masked, .. }) => {
                let index = self.expression(index);
                match masked {
                    true => format!("x{number}[({index}) % {length}u]"),
                    false => format!("x{number}[{index}]"),
                }
            }
            (Shape::Array(..), Place::Part { index, .. }) if *index == 1 => format!("x{number}[1]"),
            (Shape::Array(..), _) => format!("x{number}[0]"),
            (Shape::Struct(fields), how) => {
                let field = match how {
                    Place::Part { index, .. } => index % fields.len(),
                    _ => 0,
                };
                let is_bits = fields.get(field).is_some_and(|field| field.bits.is_some());
                let text = format!("x{number}.f{field}");
                return Named { text, is_atomic: is_atomic && !is_bits };
            }
            (Shape::Union(ty), Place::Part { ty: part, index, .. }) => match part {
                Type::U8 => format!("x{number}.b[{}]", index % ty.bytes()),
                Type::U16 => format!("x{number}.h[{}]", index % (ty.bytes() / 2)),
                _ => format!("x{number}.w"),
            },
            (Shape::Union(_), _) => format!("x{number}.w"),
        };
        Named { text, is_atomic }
    }

    fn expression(&self, expression: &Expr) -> String {
        match expression {
            Expr::Const(value) if *value > u64::from(u32::MAX) => format!("{value}ul"),
            Expr::Const(value) if *value > 0x7fff_ffff => format!("{value}u"),
            Expr::Const(value) => format!("{value}"),
            Expr::Local(local) => self.local(*local),
            Expr::Counter => match self.counters.checked_sub(1) {
                Some(counter) => format!("i{counter}"),
                None => "0".to_string(),
            },
            Expr::Argument if self.thread.is_some() => "(uint32_t)(uintptr_t)argument".to_string(),
            Expr::Argument => "0".to_string(),
            Expr::Result { thread, local } if *thread < self.program.bodies.len() => {
                format!("t{thread}_r{}", local % LOCALS)
            }
            Expr::Result { .. } => "0".to_string(),
            Expr::Final(global) => self.load(&Place::Global(*global), Order::Relaxed),
            Expr::Not(inner) => format!("!({})", self.expression(inner)),
            Expr::Binary(op, left, right) => {
                let (left, right) = (self.operand(left), self.operand(right));
                match op {
                    Op::Shl => format!("{left} << ({right} & 7)"),
                    Op::Div => format!("{left} / ({right} | 1)"),
                    _ => format!("{left} {} {right}", op.sign()),
                }
            }
            Expr::Cast(ty, inner) => format!("({})({})", ty.name(), self.expression(inner)),
        }
    }

    fn operand(&self, expression: &Expr) -> String {
        match expression {
            Expr::Binary(..) => format!("({})", self.expression(expression)),
            _ => self.expression(expression),
        }
    }
}

/// The orders that a failing compare-and-swap may have.
pub fn failure_order(order: Order) -> Order {
    match order {
        Order::Release => Order::Relaxed,
        Order::AcqRel | Order::Consume => Order::Acquire,
        order => order,
    }
}

/// The type of the first number in a variable.
fn first_type(global: &Global) -> Type {
    match &global.shape {
        Shape::Scalar(ty) | Shape::Array(ty, _) | Shape::Union(ty) => *ty,
        Shape::Struct(fields) => fields.first().map_or(Type::U32, |field| field.ty),
    }
}

/// Of a part. What is not larger is taken as a whole.
fn part_type(global: &Global, part: Type, index: usize) -> Type {
    match &global.shape {
        Shape::Scalar(ty) | Shape::Union(ty) if part.bytes() < ty.bytes() => part,
        Shape::Struct(fields) => {
            fields.get(index % fields.len().max(1)).map_or(Type::U32, |field| field.ty)
        }
        _ => first_type(global),
    }
}

fn has_barrier(statements: &[Stmt]) -> bool {
    statements.iter().any(|statement| {
        matches!(statement, Stmt::Barrier)
            || statement.bodies().into_iter().any(|body| has_barrier(body))
    })
}

/// How a lock is taken, tried (an expression that says whether it was) and given back.
fn calls(lock: Lock) -> (&'static str, &'static str, &'static str) {
    match lock {
        Lock::Mutex(number) if number % 2 == 0 => (
            "pthread_mutex_lock(&m0)",
            "pthread_mutex_trylock(&m0) == 0",
            "pthread_mutex_unlock(&m0)",
        ),
        Lock::Mutex(_) => (
            "pthread_mutex_lock(&m1)",
            "pthread_mutex_trylock(&m1) == 0",
            "pthread_mutex_unlock(&m1)",
        ),
        Lock::Recursive => (
            "pthread_mutex_lock(&recursive)",
            "pthread_mutex_trylock(&recursive) == 0",
            "pthread_mutex_unlock(&recursive)",
        ),
        Lock::Checking => (
            "pthread_mutex_lock(&checking)",
            "pthread_mutex_trylock(&checking) == 0",
            "pthread_mutex_unlock(&checking)",
        ),
        Lock::Spin => (
            "pthread_spin_lock(&spin)",
            "pthread_spin_trylock(&spin) == 0",
            "pthread_spin_unlock(&spin)",
        ),
        Lock::Reader => (
            "pthread_rwlock_rdlock(&rw)",
            "pthread_rwlock_tryrdlock(&rw) == 0",
            "pthread_rwlock_unlock(&rw)",
        ),
        Lock::Writer => (
            "pthread_rwlock_wrlock(&rw)",
            "pthread_rwlock_trywrlock(&rw) == 0",
            "pthread_rwlock_unlock(&rw)",
        ),
        Lock::Semaphore => ("sem_wait(&sem)", "sem_trywait(&sem) == 0", "sem_post(&sem)"),
        Lock::Section => ("__VERIFIER_atomic_begin()", "1", "__VERIFIER_atomic_end()"),
        Lock::Mtx => ("mtx_lock(&mtx)", "mtx_trylock(&mtx) == thrd_success", "mtx_unlock(&mtx)"),
    }
}

/// How the life of a lock ends; there is no end of atomic sections.
fn destruction(lock: Lock) -> &'static str {
    match lock {
        Lock::Mutex(number) if number % 2 == 0 => "pthread_mutex_destroy(&m0);",
        Lock::Mutex(_) => "pthread_mutex_destroy(&m1);",
        Lock::Recursive => "pthread_mutex_destroy(&recursive);",
        Lock::Checking => "pthread_mutex_destroy(&checking);",
        Lock::Spin => "pthread_spin_destroy(&spin);",
        Lock::Reader | Lock::Writer => "pthread_rwlock_destroy(&rw);",
        Lock::Semaphore => "sem_destroy(&sem);",
        Lock::Mtx => "mtx_destroy(&mtx);",
        Lock::Section => ";",
    }
}

/// What has a value only if a condition holds, and is looked at.
fn uninitialised(what: Open, to: String, given: &str, value: u64) -> String {
    let read = match what {
        Open::Variable => {
            return format!("{{ uint32_t u; if ({given}) u = {value}; {to} = u; }}");
        }
        Open::Member => "struct part q; memcpy(&q, o, sizeof q); RESULT = q.c",
        Open::Beside => "RESULT = o->b",
        Open::Written => "RESULT = o->a",
    };
    let given_one = if what == Open::Member { 'c' } else { 'b' };
    let read = read.replace("RESULT", &to);
    format!(
        "{{ struct part *o = malloc(sizeof *o); o->a = 1; if ({given}) o->{given_one} = {value} & 3; {read}; free(o); }}"
    )
}
