//! Random small programs, for comparing ways of enumerating their executions.

use proptest::prelude::*;

use parallax_program::{
    AccessSize, Cell, Expr, FunctionBuilder, FunctionId, Global, GlobalId, InstKind, Observable,
    Place, Program, Prop, Quantifier, Question, RmwOp, SourceFile, Span, Tags, Terminator,
    ThreadStart, VarId,
};

/// A statement of a random thread; registers and locations by number.
#[derive(Clone, Debug)]
pub enum Statement {
    Store {
        location: u32,
        value: u128,
        strong: bool,
    },
    /// Stores a register plus one, a genuine dependency.
    Copy {
        location: u32,
        register: usize,
    },
    /// Stores a constant that depends on a register in form only.
    Fake {
        location: u32,
        register: usize,
    },
    Load {
        location: u32,
        register: usize,
        strong: bool,
    },
    Add {
        location: u32,
        register: usize,
    },
    Cas {
        location: u32,
        register: usize,
    },
    Linked {
        location: u32,
        register: usize,
    },
    /// Gives the other register a constant that the register picks.
    Select {
        register: usize,
    },
    /// Runs the rest of the thread only where the register is not zero.
    Guard {
        register: usize,
    },
    Fence,
    /// Accesses where a register points: its lowest bit says which of two locations.
    LoadAt {
        pointer: usize,
        register: usize,
    },
    StoreAt {
        pointer: usize,
        value: u128,
    },
    AddAt {
        pointer: usize,
        register: usize,
    },
    /// A linked pair that is only one where the register points to the location.
    LinkedAt {
        pointer: usize,
        location: u32,
        register: usize,
    },
    /// Accesses to one half of a location.
    LoadHalf {
        location: u32,
        half: u64,
        register: usize,
    },
    StoreHalf {
        location: u32,
        half: u64,
        value: u128,
    },
    AddHalf {
        location: u32,
        half: u64,
    },
}

const REGISTERS: usize = 2;
pub const LOCATIONS: u32 = 2;

fn statement() -> impl Strategy<Value = Statement> {
    let location = 0..LOCATIONS;
    let register = 0..REGISTERS;
    prop_oneof![
        4 => (location.clone(), 1u128..3, any::<bool>())
            .prop_map(|(location, value, strong)| Statement::Store { location, value, strong }),
        4 => (location.clone(), register.clone(), any::<bool>())
            .prop_map(|(location, register, strong)| Statement::Load { location, register, strong }),
        1 => (location.clone(), register.clone())
            .prop_map(|(location, register)| Statement::Copy { location, register }),
        1 => (location.clone(), register.clone())
            .prop_map(|(location, register)| Statement::Fake { location, register }),
        1 => (location.clone(), register.clone())
            .prop_map(|(location, register)| Statement::Add { location, register }),
        1 => (location.clone(), register.clone())
            .prop_map(|(location, register)| Statement::Cas { location, register }),
        1 => (location, register.clone())
            .prop_map(|(location, register)| Statement::Linked { location, register }),
        1 => register.clone().prop_map(|register| Statement::Select { register }),
        1 => register.prop_map(|register| Statement::Guard { register }),
        1 => Just(Statement::Fence),
    ]
}

fn through_pointer() -> impl Strategy<Value = Statement> {
    let (location, register) = (0..LOCATIONS, 0..REGISTERS);
    let two = || (0..REGISTERS, 0..REGISTERS);
    prop_oneof![
        2 => two().prop_map(|(pointer, register)| Statement::LoadAt { pointer, register }),
        2 => (register.clone(), 1u128..3)
            .prop_map(|(pointer, value)| Statement::StoreAt { pointer, value }),
        1 => two().prop_map(|(pointer, register)| Statement::AddAt { pointer, register }),
        1 => (two(), location).prop_map(|((pointer, register), location)| {
            Statement::LinkedAt { pointer, location, register }
        }),
    ]
}

fn half_access() -> impl Strategy<Value = Statement> {
    let (location, half, register) = (0..LOCATIONS, 0..2u64, 0..REGISTERS);
    prop_oneof![
        2 => (location.clone(), half.clone(), register)
            .prop_map(|(location, half, register)| Statement::LoadHalf { location, half, register }),
        2 => (location.clone(), half.clone(), 1u128..3)
            .prop_map(|(location, half, value)| Statement::StoreHalf { location, half, value }),
        1 => (location, half).prop_map(|(location, half)| Statement::AddHalf { location, half }),
    ]
}

/// Two or three threads, with so many statements at most.
fn threads_of(
    statement: impl Strategy<Value = Statement>,
    most: usize,
) -> impl Strategy<Value = Vec<Vec<Statement>>> {
    let threads = prop::collection::vec(prop::collection::vec(statement, 1..4), 2..4);
    threads.prop_filter("small", move |threads| threads.iter().map(Vec::len).sum::<usize>() <= most)
}

/// Accesses to words at constant addresses.
pub fn threads() -> impl Strategy<Value = Vec<Vec<Statement>>> {
    threads_of(statement(), 7)
}

/// Some accesses have addresses that depend on reads.
pub fn threads_with_pointers() -> impl Strategy<Value = Vec<Vec<Statement>>> {
    threads_of(prop_oneof![2 => statement(), 1 => through_pointer()], 6)
}

/// Some accesses are to halves of words.
pub fn threads_with_halves() -> impl Strategy<Value = Vec<Vec<Statement>>> {
    threads_of(prop_oneof![1 => statement(), 1 => half_access()], 5)
}

/// How an architecture tags strong accesses and fences.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    pub plain: &'static [&'static str],
    pub strong_load: &'static [&'static str],
    pub strong_store: &'static [&'static str],
    pub fence: &'static [&'static str],
}

/// The program, with everything observed.
pub fn build(threads: &[Vec<Statement>], dialect: Dialect) -> (Program, Question) {
    let mut program = Program::new("random", 64, SourceFile::new("random", &" ".repeat(64)));
    for location in 0..LOCATIONS {
        let name = ["x", "y", "z"][location as usize].to_string();
        let init = vec![Cell { offset: 0, width: 32, value: Expr::constant(32, 0) }];
        program.globals.push(Global { init, ..Global::zeroed(&name, 4, 4) });
    }
    let mut locations = Vec::new();
    for (number, statements) in threads.iter().enumerate() {
        let (function, registers) = thread(number, statements, dialect);
        program.functions.push(function.finish());
        let (name, function) = (format!("P{number}"), FunctionId(number as u32));
        program.threads.push(ThreadStart { name, function, args: Vec::new() });
        for (index, var) in registers.into_iter().enumerate() {
            let place = Place::Variable { thread: number as u32, var, width: 32 };
            locations.push(Observable { name: format!("{number}:r{index}"), place, signed: true });
        }
    }
    for location in 0..LOCATIONS {
        let (global, size) = (GlobalId(location), AccessSize::WORD);
        let place = Place::Memory { global, offset: 0, size };
        locations.push(Observable { name: format!("l{location}"), place, signed: true });
    }
    let question = Question {
        quantifier: Quantifier::Exists,
        prop: Prop::True,
        text: "exists (true)".to_string(),
        locations,
        filter: None,
    };
    (program, question)
}

fn thread(
    number: usize,
    statements: &[Statement],
    dialect: Dialect,
) -> (FunctionBuilder, Vec<VarId>) {
    let mut f = FunctionBuilder::new(&format!("P{number}"));
    let registers: Vec<VarId> = (0..REGISTERS).map(|i| f.var(&format!("r{i}"), 32)).collect();
    let end = f.new_block("end");
    let size = AccessSize::WORD;
    let tags = |names: &[&'static str]| Tags::new(names.iter().copied());
    let at = |location: &u32| Expr::Address(GlobalId(*location));
    let pointed = |register: &usize| {
        let bit = Expr::Var(registers[*register]).extract(0, 1);
        bit.select(at(&1), at(&0))
    };
    let half_of =
        |location: &u32, half: &u64| at(location) + Expr::constant(64, u128::from(half * 2));
    for (index, statement) in statements.iter().enumerate() {
        // Every statement stands in a place of its own, and the two halves of a linked pair
        // in two.
        let place = number * 16 + index * 2;
        f.at(Span::new(place, place + 1));
        let (plain, constant) = (tags(dialect.plain), |value| Expr::constant(32, value));
        match statement {
            Statement::Store { location, value, strong } => f.emit(InstKind::Store {
                address: at(location),
                value: constant(*value),
                size,
                tags: if *strong { tags(dialect.strong_store) } else { plain },
            }),
            Statement::Copy { location, register } => f.emit(InstKind::Store {
                address: at(location),
                value: Expr::Var(registers[*register]) + constant(1),
                size,
                tags: plain,
            }),
            Statement::Fake { location, register } => {
                let value = Expr::Var(registers[*register]);
                f.emit(InstKind::Store {
                    address: at(location),
                    value: (value.clone() ^ value) + constant(1),
                    size,
                    tags: plain,
                });
            }
            Statement::Load { location, register, strong } => f.emit(InstKind::Load {
                dst: registers[*register],
                address: at(location),
                size,
                tags: if *strong { tags(dialect.strong_load) } else { plain },
            }),
            Statement::Add { location, register } => f.emit(InstKind::Rmw {
                dst: Some(registers[*register]),
                address: at(location),
                op: RmwOp::Add,
                operand: constant(1),
                size,
                read_tags: plain.clone(),
                write_tags: plain,
            }),
            Statement::Cas { location, register } => f.emit(InstKind::Cas {
                dst: Some(registers[*register]),
                ok: None,
                address: at(location),
                expected: constant(0),
                desired: constant(2),
                size,
                read_tags: plain.clone(),
                write_tags: plain.clone(),
                fail_tags: plain,
                weak: false,
            }),
            Statement::Linked { location, register } => {
                let status = f.temp(1);
                let (address, value) = (at(location), constant(2));
                f.emit(InstKind::LoadLinked {
                    dst: registers[*register],
                    address: address.clone(),
                    size,
                    tags: plain.clone(),
                });
                f.at(Span::new(place + 1, place + 2));
                let tags = plain;
                f.emit(InstKind::StoreConditional { status, address, value, size, tags });
            }
            Statement::Select { register } => {
                let other = registers[REGISTERS - 1 - register];
                let (one, two) = (f.new_block("one"), f.new_block("two"));
                let join = f.new_block("join");
                f.terminate(Terminator::Branch {
                    condition: Expr::Var(registers[*register]).eq(constant(1)),
                    then: one,
                    otherwise: two,
                    join: Some(join),
                });
                for (arm, value) in [(one, 1), (two, 2)] {
                    f.enter(arm);
                    f.assign(other, constant(value));
                    f.terminate(Terminator::Jump(join));
                }
                f.enter(join);
            }
            Statement::Guard { register } => {
                f.branch(Expr::Var(registers[*register]).eq(constant(0)), end);
            }
            Statement::Fence => f.emit(InstKind::Fence { tags: tags(dialect.fence) }),
            Statement::LoadAt { pointer, register } => f.emit(InstKind::Load {
                dst: registers[*register],
                address: pointed(pointer),
                size,
                tags: plain,
            }),
            Statement::StoreAt { pointer, value } => f.emit(InstKind::Store {
                address: pointed(pointer),
                value: constant(*value),
                size,
                tags: plain,
            }),
            Statement::AddAt { pointer, register } => f.emit(InstKind::Rmw {
                dst: Some(registers[*register]),
                address: pointed(pointer),
                op: RmwOp::Add,
                operand: constant(1),
                size,
                read_tags: plain.clone(),
                write_tags: plain,
            }),
            Statement::LinkedAt { pointer, location, register } => {
                let (status, to) = (f.temp(1), pointed(pointer));
                f.emit(InstKind::LoadLinked {
                    dst: registers[*register],
                    address: at(location),
                    size,
                    tags: plain.clone(),
                });
                f.at(Span::new(place + 1, place + 2));
                f.emit(InstKind::StoreConditional {
                    status,
                    address: to,
                    value: constant(2),
                    size,
                    tags: plain,
                });
            }
            Statement::LoadHalf { location, half, register } => {
                let loaded = f.temp(16);
                f.emit(InstKind::Load {
                    dst: loaded,
                    address: half_of(location, half),
                    size: AccessSize::HALF,
                    tags: plain,
                });
                f.assign(registers[*register], Expr::Var(loaded).zero_extend(32));
            }
            Statement::StoreHalf { location, half, value } => f.emit(InstKind::Store {
                address: half_of(location, half),
                value: Expr::constant(16, *value),
                size: AccessSize::HALF,
                tags: plain,
            }),
            Statement::AddHalf { location, half } => f.emit(InstKind::Rmw {
                dst: None,
                address: half_of(location, half),
                op: RmwOp::Add,
                operand: Expr::constant(16, 1),
                size: AccessSize::HALF,
                read_tags: plain.clone(),
                write_tags: plain,
            }),
        }
    }
    f.enter(end);
    (f, registers)
}
