//! Functions whose result is any value of its type, whatever that type is: inputs of verification
//! tasks, and, where that is asked for, functions that nobody defines.

use std::collections::BTreeSet;

use parallax_program::{Expr, Program};

/// Inputs are called so. What comes after says which type was meant; the type that the program
/// declares is the one that counts.
const INPUT: &str = "__VERIFIER_nondet_";

/// Inputs that are not any value of their type, or that are no values at all.
const OTHERS: [&str; 3] = ["bool", "_Bool", "memory"];

/// Whether a call without arguments is of an input.
pub(crate) fn is_input(name: &str, args: usize) -> bool {
    let rest = name.strip_prefix(INPUT);
    args == 0 && rest.is_some_and(|rest| !OTHERS.contains(&rest))
}

/// What functions of compilers and systems start with.
const PREFIXES: [&str; 13] = [
    "pthread_",
    "sem_",
    "thrd_",
    "mtx_",
    "cnd_",
    "tss_",
    "atomic_",
    "__VERIFIER_",
    "__PARALLAX_",
    "__builtin_",
    "__atomic_",
    "__sync_",
    "_Z",
];

/// Functions of C and POSIX that give what they give by a rule, write to memory, go elsewhere, or never
/// return. Where the library lacks them, any value would be too much, or too little.
#[rustfmt::skip]
const NAMES: [&str; 269] = [
    "setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "longjmp", "_longjmp", "siglongjmp", "fork",
    "vfork", "clone", "kill", "raise", "alarm", "tgkill", "syscall", "wait", "waitpid", "pause",
    "select", "pselect", "epoll_wait", "epoll_ctl", "pread", "readv", "recv", "recvfrom",
    "recvmsg", "accept", "pipe", "socketpair", "getline", "getdelim", "asprintf", "vasprintf",
    "qsort_r", "tsearch", "tfind", "tdelete", "twalk", "lfind", "lsearch", "hsearch", "bcopy",
    "swab", "stpncpy", "realpath", "getcwd", "gethostname", "ioctl", "fcntl", "mremap", "brk",
    "sbrk", "alloca", "dlopen", "memccpy", "memfrob", "memmem", "memrchr", "rawmemchr", "strtok",
    "strtok_r", "strsep", "strxfrm", "strftime", "strptime", "strfry", "strchrnul", "strcasestr",
    "strverscmp", "strsignal", "strlcpy", "strlcat", "strerror_r", "sigwait", "sigwaitinfo",
    "sigtimedwait", "sigsuspend", "sigpending", "sigqueue", "sigismember", "execv", "execve",
    "execvp", "execl", "execlp", "execle", "posix_spawn", "posix_openpt", "getrandom",
    "getentropy", "localtime_r", "gmtime_r", "ctime_r", "asctime_r", "stat", "fstat", "lstat",
    "uname", "sysinfo", "getrlimit", "setrlimit", "getrusage", "times", "getopt", "getopt_long",
    "basename", "dirname", "atof", "strtod", "strtof", "strtold",
    "strtoimax", "strtoumax", "imaxabs", "imaxdiv", "div", "ldiv", "lldiv", "mblen", "mbtowc",
    "wctomb", "mbstowcs", "wcstombs", "system", "setenv", "unsetenv", "putenv", "clearenv",
    "at_quick_exit", "fopen", "freopen", "fdopen", "tmpfile", "tmpnam", "remove", "rename", "gets",
    "ungetc", "fread", "fgetpos", "fseek", "fsetpos", "ftell", "fseeko", "ftello", "rewind",
    "clearerr", "feof", "sscanf", "__isoc99_sscanf", "__isoc23_sscanf", "vscanf", "vsscanf",
    "vfscanf", "scanf", "fscanf", "difftime", "mktime", "asctime", "ctime", "gmtime", "localtime",
    "setlocale", "localeconv", "cabs", "creal", "cimag", "conj", "carg", "isnan", "isinf",
    "finite", "signbit", "__isnan", "__isinf", "__finite", "__signbit", "__fpclassify", "__isnanf",
    "__isinff", "__signbitf", "__fpclassifyf", "nan", "nanf", "isalnum_l", "toascii", "wcslen",
    "wcscpy", "wcsncpy", "wcscat", "wcscmp", "wcschr", "wcsstr", "wmemcpy", "wmemmove", "wmemset",
    "wmemcmp", "wprintf", "iswalpha", "iswdigit", "towlower", "towupper", "drand48", "erand48",
    "nrand48", "mrand48", "jrand48", "lcong48", "seed48", "initstate", "setstate", "feclearexcept",
    "feraiseexcept", "fetestexcept", "fegetround", "fesetround", "va_start", "va_end",
    "__assert_rtn", "__stack_chk_fail", "__errno_location", "err", "errx", "warn", "warnx",
    "error", "getaddrinfo", "freeaddrinfo", "getnameinfo", "gethostbyname", "gethostbyname_r",
    "gethostbyaddr", "getservbyname", "inet_pton", "inet_ntop", "inet_aton", "getsockopt",
    "getsockname", "getpeername", "poll", "ppoll", "getpwnam", "getpwnam_r", "getpwuid",
    "getpwuid_r", "opendir", "readdir", "readdir_r", "glob", "regcomp", "regexec", "getitimer",
    "setitimer", "timer_create", "timer_settime", "signal", "sigaction", "scandir",
    "ftw", "nftw", "open_memstream", "fmemopen", "getgroups", "sigaltstack", "makecontext",
    "swapcontext", "getcontext", "setcontext",
];

/// Functions on numbers, which have relatives that end in `f` and `l`.
#[rustfmt::skip]
const NUMBERS: [&str; 67] = [
    "acos", "asin", "atan", "atan2", "cos", "sin", "tan", "acosh", "asinh", "atanh", "cosh",
    "sinh", "tanh", "exp", "exp2", "exp10", "expm1", "frexp", "ilogb", "ldexp", "log", "log10",
    "log1p", "log2", "logb", "modf", "scalbn", "scalbln", "cbrt", "fabs", "hypot", "pow", "sqrt",
    "erf", "erfc", "lgamma", "tgamma", "ceil", "floor", "nearbyint", "rint", "lrint", "llrint",
    "round", "lround", "llround", "trunc", "fmod", "remainder", "remquo", "copysign", "nextafter",
    "nexttoward", "fdim", "fmax", "fmin", "fma", "sincos", "drem", "significand", "gamma", "j0",
    "j1", "jn", "y0", "y1", "yn",
];

/// Whether nothing is known of a function by its name.
pub(crate) fn is_nobodys(name: &str) -> bool {
    let is_number = |name: &str| NUMBERS.contains(&name);
    let is_known = PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || NAMES.contains(&name)
        || is_number(name)
        || name.strip_suffix(['f', 'l']).is_some_and(is_number);
    !is_known
}

/// Whether a call hands over functions of the program, or an object that holds some: who gets them may
/// call them.
pub(crate) fn gets_functions(program: &Program, args: &[Expr]) -> bool {
    let mut open: Vec<&Expr> = args.iter().collect();
    let mut seen = BTreeSet::new();
    while let Some(expr) = open.pop() {
        match expr {
            Expr::FunctionAddress(_) => return true,
            Expr::Address(global) if seen.insert(*global) => {
                let global = program.globals.get(global.0 as usize);
                open.extend(global.into_iter().flat_map(|it| &it.init).map(|cell| &cell.value));
            }
            Expr::Const(_) | Expr::Var(_) | Expr::Address(_) => {}
            Expr::Unary(_, value)
            | Expr::Extract { value, .. }
            | Expr::ZeroExtend { value, .. }
            | Expr::SignExtend { value, .. } => open.push(value),
            Expr::Binary(_, left, right) | Expr::Concat { high: left, low: right } => {
                open.extend([&**left, right]);
            }
            Expr::Select { then, otherwise, .. } => open.extend([&**then, otherwise]),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_known_by_their_names() {
        assert!(is_input("__VERIFIER_nondet_u16", 0) && is_input("__VERIFIER_nondet_my_type", 0));
        assert!(!is_input("__VERIFIER_nondet_memory", 2) && !is_input("__VERIFIER_nondet_int", 1));
        assert!(!is_input("__VERIFIER_nondet_bool", 0) && !is_input("nondet_int", 0));
    }

    #[test]
    fn functions_of_systems_are_not_open() {
        assert!(is_nobodys("device_ready") && is_nobodys("string_of"));
        assert!(!is_nobodys("pthread_cancel") && !is_nobodys("longjmp") && !is_nobodys("floorf"));
    }
}
