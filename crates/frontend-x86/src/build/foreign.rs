//! Calls of functions that are not in the program: arguments and results go through registers,
//! as the System V ABI has it (AMD64 supplement, 3.2.3). What such a function may leave in the
//! registers that it need not preserve is zero.

use iced_x86::Register;
use parallax_library::Signature;
use parallax_program::{
    AccessSize, Callee, Expr, Function, InstKind, Property, Tags, Terminator, VarId,
};

use super::Builder;
use super::body::Body;
use crate::code::FunctionCode;
use crate::lift::Sequence;
use crate::lift::registers::{DF, FS_BASE, RAX, RCX, RDI, RDX, RSI, RSP, STATUS, XMM0};

const R8: VarId = VarId(8);
const R9: VarId = VarId(9);
const R10: VarId = VarId(10);
const R11: VarId = VarId(11);

/// Where a foreign function is entered from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// A call, whose return address is not on the stack.
    Call,
    /// A jump, or a call by address: it is.
    Entry,
}

/// Where the first integers are.
pub const INTEGERS: [(VarId, Register); 6] = [
    (RDI, Register::RDI),
    (RSI, Register::RSI),
    (RDX, Register::RDX),
    (RCX, Register::RCX),
    (R8, Register::R8),
    (R9, Register::R9),
];

/// What is lost in a call, besides flags and vectors.
const LOST: [VarId; 9] = [RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11];

/// Functions that are given a meaning right where they are called.
const SPECIAL: [&str; 3] = ["__tls_get_addr", "__stack_chk_fail", "syscall"];

/// Other names for functions of the library, whose first arguments are the same.
const ALIASES: [(&str, &str); 17] = [
    ("__memcpy_chk", "memcpy"),
    ("__memmove_chk", "memmove"),
    ("__memset_chk", "memset"),
    ("__strcpy_chk", "strcpy"),
    ("__strncpy_chk", "strncpy"),
    ("__strcat_chk", "strcat"),
    ("__strncat_chk", "strncat"),
    ("__isoc23_strtoll", "strtoll"),
    ("__isoc23_strtoull", "strtoull"),
    ("__pthread_key_create", "pthread_key_create"),
    ("__sched_yield", "sched_yield"),
    ("__libc_malloc", "malloc"),
    ("mmap64", "mmap"),
    ("open64", "open"),
    ("index", "strchr"),
    ("rindex", "strrchr"),
    ("__cxa_thread_atexit_impl", "__cxa_thread_atexit"),
];

/// The name by which the library knows a function.
pub fn plain(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, plain)| plain)
}

/// Whether a foreign function of that name can be called.
pub fn is_known(library: &parallax_library::Signatures, name: &str) -> bool {
    SPECIAL.contains(&name) || library.has(plain(name))
}

/// Whether a call of the function never comes back.
pub fn never_returns(name: &str) -> bool {
    const NAMES: [&str; 22] = [
        "exit",
        "_exit",
        "_Exit",
        "quick_exit",
        "abort",
        "__assert_fail",
        "__assert",
        "__assert_perror_fail",
        "__stack_chk_fail",
        "__fortify_fail",
        "__chk_fail",
        "pthread_exit",
        "thrd_exit",
        "longjmp",
        "_longjmp",
        "siglongjmp",
        "__cxa_throw",
        "__cxa_rethrow",
        "__cxa_pure_virtual",
        "_Unwind_Resume",
        "_ZSt9terminatev",
        "__cxa_throw_bad_array_new_length",
    ];
    NAMES.contains(&name) || name.starts_with("_ZSt") && name.contains("__throw_")
}

/// Whether a function ends the thread that calls it, and no other.
pub fn ends_thread(name: &str) -> bool {
    matches!(name, "pthread_exit" | "thrd_exit")
}

/// Functions whose numbers are floating-point ones: the widths of their arguments.
fn takes_floats(name: &str) -> bool {
    matches!(name, "sqrt" | "sqrtf" | "fabs" | "fabsf" | "fmod" | "fmodf")
}

fn gives_float(name: &str) -> bool {
    takes_floats(name) || matches!(name, "__VERIFIER_nondet_float" | "__VERIFIER_nondet_double")
}

impl Builder<'_> {
    /// A function that is called where a foreign one is called by its address.
    pub fn stand_in(&mut self, address: u64, name: &str) -> Function {
        let unused = self.unused(&format!("{name}@plt"));
        let heading = self.listing.heading(&format!("{unused}:"));
        let mut out = Sequence::new(&unused);
        out.builder().at(heading);
        let code = FunctionCode::empty(address);
        let mut body = Body::new(self, out, &code);
        if !body.foreign_call(name, At::Entry) {
            body.out.assign(RSP, Expr::Var(RSP) + Expr::constant(64, 8));
            body.out.builder().terminate(Terminator::Return(None));
        }
        Function { address: Some(address), ..body.out.finish() }
    }
}

impl Body<'_, '_> {
    /// Calls a foreign function. True where nothing comes after that.
    pub fn foreign_call(&mut self, name: &str, at: At) -> bool {
        self.out.forget();
        match name {
            "__tls_get_addr" => self.thread_local_address(),
            "__stack_chk_fail" => self.fail("stack smashing detected", Property::Memory),
            // The end of failed assertions in most languages but C.
            "abort" => self.fail("abort is called", Property::Assert),
            "syscall" => return self.system_call_function(at),
            _ => return self.library_call(name),
        }
        never_returns(name)
    }

    fn library_call(&mut self, name: &str) -> bool {
        if let Some(text) = self.condition_text(name) {
            self.fail(&format!("assertion failed: {text}"), Property::Assert);
            return true;
        }
        if ends_thread(name) && self.builder.daemons {
            self.refuse_first_thread();
        }
        let plain = plain(name);
        let Some(signature) = self.builder.signatures.of(plain) else {
            let callee = Callee::External(name.to_string());
            self.emit(InstKind::Call { dst: None, callee, args: Vec::new() });
            self.out.builder().terminate(Terminator::Exit);
            return true;
        };
        let args = self.arguments(plain, &signature);
        let Some(args) = args else {
            self.refuse(format!("a call of '{name}', which has arguments on the stack"));
            return true;
        };
        let dst = signature.result.map(|width| self.out.temporary(width));
        let callee = Callee::External(plain.to_string());
        self.emit(InstKind::Call { dst, callee, args });
        let result = dst.zip(signature.result).map(|(dst, width)| (Expr::Var(dst), width));
        self.lose_registers(result, gives_float(plain));
        if never_returns(name) {
            self.out.builder().terminate(Terminator::Exit);
        }
        never_returns(name)
    }

    /// The first thread goes no further here: others would go on without it.
    fn refuse_first_thread(&mut self) {
        let me = self.out.temporary(32);
        self.emit(InstKind::ThreadId { dst: me });
        self.out.when(Expr::Var(me).eq(Expr::constant(32, 0)), |out| {
            let what = "the end of the first thread while others go on".to_string();
            out.builder().emit(InstKind::Unsupported { what });
        });
    }

    /// The text of the assertion that fails in a call of this function, where it is plain.
    fn condition_text(&self, name: &str) -> Option<String> {
        let asserts = matches!(name, "__assert_fail" | "__assert");
        let address = self.constants.get(Register::RDI).filter(|_| asserts)?;
        self.builder.image.text(address)
    }

    fn arguments(&self, name: &str, signature: &Signature) -> Option<Vec<Expr>> {
        let floats = takes_floats(name);
        let params = signature.params.iter().enumerate();
        let args = params.map(|(number, width)| match floats {
            true => Some(Expr::Var(VarId(XMM0.0 + number as u32)).extract(0, *width)),
            false => self.integer(number, *width),
        });
        args.collect()
    }

    /// The argument of that number, in so many bits.
    pub fn integer(&self, number: usize, width: u32) -> Option<Expr> {
        let (var, register) = INTEGERS.get(number)?;
        Some(match self.constants.get(*register) {
            Some(value) => Expr::constant(width, value.into()),
            None => Expr::Var(*var).resize(64, width),
        })
    }

    /// After a foreign function: its result, and zeros in what it need not preserve.
    pub fn lose_registers(&mut self, result: Option<(Expr, u32)>, is_float: bool) {
        let zero = |width| Expr::constant(width, 0);
        // The result may come from what is lost.
        let result = result.map(|(value, width)| (self.out.hold(width, value), width));
        for var in LOST {
            self.out.assign(var, zero(64));
        }
        for flag in STATUS.into_iter().chain([DF]) {
            self.out.assign(flag, zero(1));
        }
        for number in 0..16 {
            self.out.assign(VarId(XMM0.0 + number), zero(128));
        }
        match result {
            None => {}
            Some((value, width)) if is_float => {
                self.out.assign(XMM0, value.resize(width, 128));
            }
            Some((value, 128)) => {
                self.out.assign(RAX, value.clone().extract(0, 64));
                self.out.assign(RDX, value.extract(64, 64));
            }
            Some((value, width)) => self.out.assign(RAX, value.resize(width, 64)),
        }
    }

    /// The address of a thread-local variable, given its offset in memory.
    fn thread_local_address(&mut self) {
        let place = Expr::Var(RDI) + Expr::constant(64, 8);
        let offset = self.out.temporary(64);
        let (size, tags) = (AccessSize::DOUBLE, Tags::new(["COPY"]));
        self.emit(InstKind::Load { dst: offset, address: place, size, tags });
        let start = self.builder.image.thread_local.size;
        let address = Expr::Var(FS_BASE) - Expr::constant(64, start.into()) + Expr::Var(offset);
        self.lose_registers(Some((address, 64)), false);
    }
}
