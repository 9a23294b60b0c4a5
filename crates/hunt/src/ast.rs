//! Small concurrent programs, as the generator makes them and the shrinker cuts them.
//!
//! Every tree of this kind is a program of C that compiles, so that nothing that generator or
//! shrinker do can leave the language: numbers of variables are taken modulo how many there are,
//! objects of the library are declared where they are used.

/// Types of variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    U8,
    U16,
    U32,
    U64,
    /// The only one that overflows.
    I32,
}

impl Type {
    pub fn bytes(self) -> usize {
        match self {
            Type::U8 => 1,
            Type::U16 => 2,
            Type::U32 | Type::I32 => 4,
            Type::U64 => 8,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Type::U8 => "uint8_t",
            Type::U16 => "uint16_t",
            Type::U32 => "uint32_t",
            Type::U64 => "uint64_t",
            Type::I32 => "int32_t",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    Relaxed,
    Consume,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Order {
    pub const ALL: [Order; 6] = [
        Order::Relaxed,
        Order::Consume,
        Order::Acquire,
        Order::Release,
        Order::AcqRel,
        Order::SeqCst,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Order::Relaxed => "memory_order_relaxed",
            Order::Consume => "memory_order_consume",
            Order::Acquire => "memory_order_acquire",
            Order::Release => "memory_order_release",
            Order::AcqRel => "memory_order_acq_rel",
            Order::SeqCst => "memory_order_seq_cst",
        }
    }

    /// The nearest order that a load may have.
    pub fn of_load(self) -> Order {
        match self {
            Order::Release | Order::AcqRel => Order::Acquire,
            order => order,
        }
    }

    /// The nearest order that a store may have.
    pub fn of_store(self) -> Order {
        match self {
            Order::Consume | Order::Acquire | Order::AcqRel => Order::Release,
            order => order,
        }
    }
}

/// How a variable is declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    Atomic,
    Plain,
    Volatile,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    Scalar(Type),
    Array(Type, usize),
    /// Fields, some of them bit-fields.
    Struct(Vec<Field>),
    /// A word, its halves and its bytes: of 4 or 8 bytes.
    Union(Type),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    pub ty: Type,
    pub bits: Option<u8>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    pub shape: Shape,
    pub access: Access,
    pub init: u64,
    pub thread_local: bool,
    /// Whether main gives it its value, by `atomic_init` or a plain store.
    pub late: bool,
}

/// Something in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// A scalar, the first element or field, or the word of a union.
    Global(usize),
    /// An element of an array, or a field. The index stays within bounds if it is masked.
    Element { global: usize, index: Box<Expr>, masked: bool },
    /// Some bytes of a variable, as a number of that type.
    Part { global: usize, ty: Type, index: usize },
    /// What a pointer points to: a cell has an atomic half and a plain one.
    Cell { pointer: usize, atomic: bool },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    Div,
    Eq,
    Ne,
    Lt,
    Both,
    Either,
}

impl Op {
    pub fn sign(self) -> &'static str {
        match self {
            Op::Add => "+",
            Op::Sub => "-",
            Op::Mul => "*",
            Op::And => "&",
            Op::Or => "|",
            Op::Xor => "^",
            Op::Shl => "<<",
            Op::Div => "/",
            Op::Eq => "==",
            Op::Ne => "!=",
            Op::Lt => "<",
            Op::Both => "&&",
            Op::Either => "||",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr {
    Const(u64),
    Local(usize),
    /// The counter of the loop around, or zero.
    Counter,
    /// What the function was called or the thread was started with. In `main`, zero.
    Argument,
    /// What a thread ends with in a local variable. For `main`, after the joins.
    Result {
        thread: usize,
        local: usize,
    },
    /// What a variable holds in the end. For `main`, after the joins.
    Final(usize),
    Not(Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    /// Cut to a type.
    Cast(Type, Box<Expr>),
}

impl Expr {
    pub fn binary(op: Op, left: Expr, right: Expr) -> Expr {
        Expr::Binary(op, Box::new(left), Box::new(right))
    }

    pub fn equals(left: Expr, value: u64) -> Expr {
        Expr::binary(Op::Eq, left, Expr::Const(value))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RmwOp {
    Exchange,
    Add,
    Sub,
    And,
    Or,
    Xor,
}

impl RmwOp {
    pub fn name(self) -> &'static str {
        match self {
            RmwOp::Exchange => "exchange",
            RmwOp::Add => "fetch_add",
            RmwOp::Sub => "fetch_sub",
            RmwOp::And => "fetch_and",
            RmwOp::Or => "fetch_or",
            RmwOp::Xor => "fetch_xor",
        }
    }
}

/// How a loop that waits is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitStyle {
    /// `while (x != 1) …`
    While,
    /// `do { …; r = x; } while (r != 1);`
    Do,
    /// `for (;;) { if (x == 1) break; … }`
    Break,
    /// `r = x; while (r != 1) { …; r = x; }`
    Ahead,
    /// The same as `Do`, and each look is under a lock.
    Locked,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lock {
    Mutex(usize),
    Recursive,
    Checking,
    Spin,
    Reader,
    Writer,
    /// A semaphore that starts with one.
    Semaphore,
    /// C11's.
    Mtx,
    /// None but a section that nobody interrupts.
    Section,
}

/// What may be without a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Open {
    Variable,
    /// A member of a new object, looked at in a copy of it.
    Member,
    /// A bit-field beside one that is written …
    Beside,
    /// … and that one itself, which always has a value.
    Written,
}

impl Open {
    pub const PARTS: [Open; 3] = [Open::Member, Open::Beside, Open::Written];
}

/// An object of the library that a thread has for itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Own {
    Mutex,
    RwLock,
    Semaphore,
    Condition,
    Barrier,
}

impl Own {
    pub const ALL: [Own; 5] =
        [Own::Mutex, Own::RwLock, Own::Semaphore, Own::Condition, Own::Barrier];
}

/// What a thread does with an object of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OwnStep {
    Init,
    Use,
    Destroy,
    /// Looks at a word of its memory, before anything is there.
    Peek(usize),
}

/// How a function that is a thread's elsewhere is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Run {
    Call,
    /// Called through a table, at an index that depends on the argument.
    CallThroughTable,
    /// As a thread of the thread that runs it, which joins it at once.
    Thread,
    ThreadThroughTable,
}

impl Run {
    pub fn is_through_table(self) -> bool {
        matches!(self, Run::CallThroughTable | Run::ThreadThroughTable)
    }

    pub fn is_thread(self) -> bool {
        matches!(self, Run::Thread | Run::ThreadThroughTable)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stmt {
    Load {
        to: usize,
        from: Place,
        order: Order,
    },
    Store {
        to: Place,
        value: Expr,
        order: Order,
    },
    Rmw {
        to: usize,
        op: RmwOp,
        place: Place,
        value: Expr,
        order: Order,
    },
    Cas {
        ok: usize,
        old: usize,
        place: Place,
        expected: Expr,
        desired: Expr,
        weak: bool,
        success: Order,
        failure: Order,
    },
    Fence(Order),
    Set {
        to: usize,
        value: Expr,
    },
    /// Signed arithmetic, which may overflow.
    Signed {
        to: usize,
        op: Op,
        left: Expr,
        right: Expr,
    },
    Input {
        to: usize,
        ty: Type,
        below: Option<u64>,
    },
    /// An object of the library, on the stack or on the heap.
    Own {
        to: usize,
        kind: Own,
        on_heap: bool,
        steps: Vec<OwnStep>,
    },
    /// Arithmetic of floating-point numbers that gives a small number.
    Float {
        to: usize,
        left: Expr,
        right: Expr,
    },
    /// Runs the body of a thread that comes before this one, so that nothing calls itself.
    Run {
        to: usize,
        body: usize,
        argument: Expr,
        how: Run,
    },
    /// A function that calls itself so often, and gives back what it was given and that often one more.
    Call {
        to: usize,
        value: Expr,
        depth: u64,
    },
    /// What only gets a value if the condition holds, and is looked at in any case.
    Uninitialised {
        what: Open,
        to: usize,
        given: Expr,
        value: u64,
    },
    If {
        condition: Expr,
        then: Vec<Stmt>,
        other: Vec<Stmt>,
    },
    Wait {
        style: WaitStyle,
        to: usize,
        place: Place,
        order: Order,
        until: u64,
        body: Vec<Stmt>,
    },
    /// A compare-and-swap until it succeeds, which begins with a load and goes on with what it has found.
    Retry {
        to: usize,
        place: Place,
        op: Op,
        value: Expr,
        weak: bool,
        first: Order,
        order: Order,
        failure: Order,
    },
    Count {
        times: u64,
        body: Vec<Stmt>,
    },
    Locked {
        lock: Lock,
        attempt: bool,
        body: Vec<Stmt>,
    },
    Take(Lock),
    Give(Lock),
    /// `pthread_mutex_destroy`, and so on.
    Destroy(Lock),
    /// Waits on the condition variable until the flag is set; `patient` in a loop.
    Await {
        patient: bool,
        timed: bool,
    },
    Signal {
        all: bool,
        set: bool,
    },
    Barrier,
    Once,
    /// Memory of the heap, which starts as zero or as anything, and is open if its size is an input.
    Allocate {
        pointer: usize,
        zeroed: bool,
        open: bool,
    },
    Free(usize),
    /// `realloc` to a little more.
    Resize(usize),
    /// Shows a pointer to others.
    Publish {
        pointer: usize,
        order: Order,
    },
    /// Gets a pointer that was shown, and takes it away if asked to.
    Obtain {
        pointer: usize,
        order: Order,
        take: bool,
    },
    /// A pointer to a cell that is always there.
    Point {
        pointer: usize,
    },
    IfPointer {
        pointer: usize,
        then: Vec<Stmt>,
    },
    /// A pointer to a variable of a block.
    Scoped {
        pointer: usize,
        body: Vec<Stmt>,
    },
    /// `memcpy`, or an assignment, between two variables of the same type.
    Copy {
        to: usize,
        from: usize,
        by_call: bool,
    },
    /// `memset` of a variable.
    Fill {
        global: usize,
        byte: u8,
    },
    /// `memmove` of all of a variable but one byte, by one byte.
    Shift {
        global: usize,
        up: bool,
    },
    Assert(Expr),
    Assume(Expr),
    Return {
        by_call: bool,
    },
    Exit,
    Abort,
}

impl Stmt {
    /// The statements inside.
    pub fn bodies(&self) -> Vec<&Vec<Stmt>> {
        match self {
            Stmt::If { then, other, .. } => vec![then, other],
            Stmt::Wait { body, .. }
            | Stmt::Count { body, .. }
            | Stmt::Locked { body, .. }
            | Stmt::Scoped { body, .. } => vec![body],
            Stmt::IfPointer { then, .. } => vec![then],
            _ => Vec::new(),
        }
    }

    pub fn bodies_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Stmt::If { then, other, .. } => vec![then, other],
            Stmt::Wait { body, .. }
            | Stmt::Count { body, .. }
            | Stmt::Locked { body, .. }
            | Stmt::Scoped { body, .. } => vec![body],
            Stmt::IfPointer { then, .. } => vec![then],
            _ => Vec::new(),
        }
    }

    /// The expressions of the statement itself.
    pub fn expressions(&self) -> Vec<&Expr> {
        let place = self.place().and_then(|place| match place {
            Place::Element { index, .. } => Some(&**index),
            _ => None,
        });
        let own = match self {
            Stmt::Store { value, .. }
            | Stmt::Rmw { value, .. }
            | Stmt::Set { value, .. }
            | Stmt::Retry { value, .. } => vec![value],
            Stmt::Cas { expected, desired, .. } => vec![expected, desired],
            Stmt::Signed { left, right, .. } | Stmt::Float { left, right, .. } => {
                vec![left, right]
            }
            Stmt::Call { value, .. } | Stmt::Run { argument: value, .. } => vec![value],
            Stmt::Uninitialised { given, .. } => vec![given],
            Stmt::If { condition, .. } => vec![condition],
            Stmt::Assert(condition) | Stmt::Assume(condition) => vec![condition],
            _ => Vec::new(),
        };
        place.into_iter().chain(own).collect()
    }

    pub fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Stmt::Store { value, .. }
            | Stmt::Rmw { value, .. }
            | Stmt::Set { value, .. }
            | Stmt::Retry { value, .. } => vec![value],
            Stmt::Cas { expected, desired, .. } => vec![expected, desired],
            Stmt::Signed { left, right, .. } | Stmt::Float { left, right, .. } => {
                vec![left, right]
            }
            Stmt::Call { value, .. } | Stmt::Run { argument: value, .. } => vec![value],
            Stmt::Uninitialised { given, .. } => vec![given],
            Stmt::If { condition, .. } => vec![condition],
            Stmt::Assert(condition) | Stmt::Assume(condition) => vec![condition],
            _ => Vec::new(),
        }
    }

    /// The memory that it is about.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Stmt::Load { from: place, .. }
            | Stmt::Store { to: place, .. }
            | Stmt::Rmw { place, .. }
            | Stmt::Cas { place, .. }
            | Stmt::Wait { place, .. }
            | Stmt::Retry { place, .. } => Some(place),
            _ => None,
        }
    }

    pub fn place_mut(&mut self) -> Option<&mut Place> {
        match self {
            Stmt::Load { from: place, .. }
            | Stmt::Store { to: place, .. }
            | Stmt::Rmw { place, .. }
            | Stmt::Cas { place, .. }
            | Stmt::Wait { place, .. }
            | Stmt::Retry { place, .. } => Some(place),
            _ => None,
        }
    }

    pub fn orders_mut(&mut self) -> Vec<&mut Order> {
        match self {
            Stmt::Load { order, .. }
            | Stmt::Store { order, .. }
            | Stmt::Rmw { order, .. }
            | Stmt::Wait { order, .. }
            | Stmt::Publish { order, .. }
            | Stmt::Obtain { order, .. }
            | Stmt::Fence(order) => vec![order],
            Stmt::Cas { success, failure, .. } => vec![success, failure],
            Stmt::Retry { first, order, failure, .. } => vec![first, order, failure],
            _ => Vec::new(),
        }
    }
}

/// So many local variables each thread has, and so many pointers.
pub const LOCALS: usize = 4;
pub const POINTERS: usize = 2;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    pub globals: Vec<Global>,
    /// What threads do.
    pub bodies: Vec<Vec<Stmt>>,
    /// Which body each thread has.
    pub threads: Vec<usize>,
    /// What `main` does before it starts them, and after it has joined them.
    pub before: Vec<Stmt>,
    pub after: Vec<Stmt>,
    /// Whether nobody waits for the last thread.
    pub detached: bool,
    /// The types of local variables, for all threads.
    pub locals: [Type; LOCALS],
}

impl Program {
    /// All lists of statements that are not inside others.
    pub fn lists(&self) -> impl Iterator<Item = &Vec<Stmt>> {
        [&self.before].into_iter().chain(&self.bodies).chain([&self.after])
    }

    /// All statements, those inside others included.
    pub fn statements(&self) -> Vec<&Stmt> {
        let mut left: Vec<&Stmt> = self.lists().flatten().collect();
        let mut found = Vec::new();
        while let Some(statement) = left.pop() {
            found.push(statement);
            left.extend(statement.bodies().into_iter().flatten());
        }
        found
    }

    /// Whether something repeats: threads wait, try again or count.
    pub fn has_loops(&self) -> bool {
        self.statements().iter().any(|statement| {
            matches!(
                statement,
                Stmt::Wait { .. } | Stmt::Retry { .. } | Stmt::Await { .. } | Stmt::Count { .. }
            )
        })
    }
}
