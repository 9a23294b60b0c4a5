//! Functions whose result is any value of its type, whatever that type is: inputs of verification
//! tasks, and, where that is asked for, functions that nobody defines.

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

/// Functions of systems start so, or are called so, that do more than to give a value: they write to
/// memory, wait, go elsewhere, or never return. Where the library lacks them nobody knows what
/// they do.
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
const NAMES: [&str; 96] = [
    "setjmp",
    "_setjmp",
    "sigsetjmp",
    "__sigsetjmp",
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "fork",
    "vfork",
    "clone",
    "kill",
    "raise",
    "alarm",
    "tgkill",
    "syscall",
    "wait",
    "waitpid",
    "pause",
    "select",
    "pselect",
    "epoll_wait",
    "pread",
    "readv",
    "recv",
    "recvfrom",
    "recvmsg",
    "accept",
    "pipe",
    "socketpair",
    "gets",
    "getline",
    "getdelim",
    "fread",
    "vscanf",
    "vsscanf",
    "vfscanf",
    "sscanf",
    "asprintf",
    "vasprintf",
    "qsort_r",
    "tsearch",
    "lfind",
    "lsearch",
    "bcopy",
    "swab",
    "stpncpy",
    "realpath",
    "getcwd",
    "gethostname",
    "ioctl",
    "fcntl",
    "mremap",
    "brk",
    "sbrk",
    "alloca",
    "dlopen",
    "memccpy",
    "memfrob",
    "strtok",
    "strtok_r",
    "strsep",
    "strxfrm",
    "strftime",
    "strfry",
    "sigwait",
    "sigwaitinfo",
    "sigtimedwait",
    "sigsuspend",
    "sigpending",
    "sigqueue",
    "execv",
    "execve",
    "execvp",
    "execl",
    "execlp",
    "execle",
    "posix_spawn",
    "wmemcpy",
    "wmemmove",
    "wmemset",
    "wcscpy",
    "wcsncpy",
    "wcscat",
    "sprintf_s",
    "modf",
    "frexp",
    "remquo",
    "sincos",
    "nanosleep_r",
    "localtime_r",
    "gmtime_r",
    "ctime_r",
    "asctime_r",
    "strerror_r",
    "getrandom",
    "getentropy",
];

/// Whether nothing is known of a function by its name.
pub(crate) fn is_nobodys(name: &str) -> bool {
    let is_systems =
        PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || NAMES.contains(&name);
    !is_systems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_told_by_their_names() {
        assert!(is_input("__VERIFIER_nondet_u16", 0) && is_input("__VERIFIER_nondet_my_type", 0));
        assert!(!is_input("__VERIFIER_nondet_memory", 2) && !is_input("__VERIFIER_nondet_int", 1));
        assert!(!is_input("__VERIFIER_nondet_bool", 0) && !is_input("nondet_int", 0));
    }

    #[test]
    fn functions_of_systems_are_not_open() {
        assert!(is_nobodys("device_ready") && is_nobodys("string_of"));
        assert!(!is_nobodys("pthread_cancel") && !is_nobodys("longjmp"));
    }
}
