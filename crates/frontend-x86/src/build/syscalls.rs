//! System calls: by the instruction, and by the function `syscall` of the C library. What they
//! mean is written in the library (`system`, `futex`).

use iced_x86::Register;
use parallax_program::{AccessSize, Callee, Expr, InstKind, Terminator, VarId};

use super::body::Body;
use super::foreign::{At, INTEGERS};
use crate::lift::registers::{RAX, RCX, RDI, RDX, RSI, RSP};

const R8: VarId = VarId(8);
const R9: VarId = VarId(9);
const R10: VarId = VarId(10);
const R11: VarId = VarId(11);

/// What the library has for a system call; none where it is refused.
fn meaning(number: u64) -> Option<&'static str> {
    Some(match number {
        1 => "system.write",
        9 => "system.mmap",
        // mprotect, munmap, rt_sigprocmask, sched_yield, madvise, nanosleep, sched_setaffinity,
        // set_tid_address, clock_nanosleep, set_robust_list
        10 | 11 | 14 | 24 | 28 | 35 | 203 | 218 | 230 | 273 => "system.nothing",
        12 => "system.brk",
        39 => "system.getpid",
        60 => "system.exit",
        186 => "system.gettid",
        202 => "system.futex",
        204 => "system.sched_getaffinity",
        228 => "system.clock_gettime",
        231 => "_exit",
        324 => "system.membarrier",
        _ => return None,
    })
}

/// How the system calls them (asm/unistd_64.h); a hyphen stands for none.
const NAMES: &str = "\
    read write open close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction \
    rt_sigprocmask rt_sigreturn ioctl pread64 pwrite64 readv writev access pipe select \
    sched_yield mremap msync mincore madvise shmget shmat shmctl dup dup2 pause nanosleep \
    getitimer alarm setitimer getpid sendfile socket connect accept sendto recvfrom sendmsg \
    recvmsg shutdown bind listen getsockname getpeername socketpair setsockopt getsockopt \
    clone fork vfork execve exit wait4 kill uname semget semop semctl shmdt msgget msgsnd \
    msgrcv msgctl fcntl flock fsync fdatasync truncate ftruncate getdents getcwd chdir fchdir \
    rename mkdir rmdir creat link unlink symlink readlink chmod fchmod chown fchown lchown \
    umask gettimeofday getrlimit getrusage sysinfo times ptrace getuid syslog getgid setuid \
    setgid geteuid getegid setpgid getppid getpgrp setsid setreuid setregid getgroups \
    setgroups setresuid getresuid setresgid getresgid getpgid setfsuid setfsgid getsid capget \
    capset rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend sigaltstack utime mknod \
    uselib personality ustat statfs fstatfs sysfs getpriority setpriority sched_setparam \
    sched_getparam sched_setscheduler sched_getscheduler sched_get_priority_max \
    sched_get_priority_min sched_rr_get_interval mlock munlock mlockall munlockall vhangup \
    modify_ldt pivot_root _sysctl prctl arch_prctl adjtimex setrlimit chroot sync acct \
    settimeofday mount umount2 swapon swapoff reboot sethostname setdomainname iopl ioperm \
    create_module init_module delete_module get_kernel_syms query_module quotactl nfsservctl \
    getpmsg putpmsg afs_syscall tuxcall security gettid readahead setxattr lsetxattr fsetxattr \
    getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr \
    fremovexattr tkill time futex sched_setaffinity sched_getaffinity set_thread_area io_setup \
    io_destroy io_getevents io_submit io_cancel get_thread_area lookup_dcookie epoll_create \
    epoll_ctl_old epoll_wait_old remap_file_pages getdents64 set_tid_address restart_syscall \
    semtimedop fadvise64 timer_create timer_settime timer_gettime timer_getoverrun \
    timer_delete clock_settime clock_gettime clock_getres clock_nanosleep exit_group \
    epoll_wait epoll_ctl tgkill utimes vserver mbind set_mempolicy get_mempolicy mq_open \
    mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr kexec_load waitid add_key \
    request_key keyctl ioprio_set ioprio_get inotify_init inotify_add_watch inotify_rm_watch \
    migrate_pages openat mkdirat mknodat fchownat futimesat newfstatat unlinkat renameat \
    linkat symlinkat readlinkat fchmodat faccessat pselect6 ppoll unshare set_robust_list \
    get_robust_list splice tee sync_file_range vmsplice move_pages utimensat epoll_pwait \
    signalfd timerfd_create eventfd fallocate timerfd_settime timerfd_gettime accept4 \
    signalfd4 eventfd2 epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev rt_tgsigqueueinfo \
    perf_event_open recvmmsg fanotify_init fanotify_mark prlimit64 name_to_handle_at \
    open_by_handle_at clock_adjtime syncfs sendmmsg setns getcpu process_vm_readv \
    process_vm_writev kcmp finit_module sched_setattr sched_getattr renameat2 seccomp \
    getrandom memfd_create kexec_file_load bpf execveat userfaultfd membarrier mlock2 \
    copy_file_range preadv2 pwritev2 pkey_mprotect pkey_alloc pkey_free statx io_pgetevents \
    rseq";

/// For people.
fn described(number: u64) -> String {
    let position = usize::try_from(number).unwrap_or(usize::MAX);
    match NAMES.split(' ').nth(position).filter(|name| *name != "-") {
        Some(name) => format!("the system call {number} ({name})"),
        None => format!("the system call {number}"),
    }
}

impl Body<'_, '_> {
    /// The instruction `syscall`. True where nothing comes after it.
    pub fn system_call(&mut self) -> bool {
        let args = [RDI, RSI, RDX, R10, R8, R9].map(Expr::Var);
        let Some(result) = self.known_system_call(Register::RAX, &args) else {
            return true;
        };
        self.out.assign(RAX, result);
        // The processor keeps the next address and the flags there.
        self.out.assign(RCX, Expr::constant(64, 0));
        self.out.assign(R11, Expr::constant(64, 0));
        false
    }

    /// The function `syscall` of the C library. True where nothing comes after it.
    pub fn system_call_function(&mut self, at: At) -> bool {
        let mut args: Vec<Expr> = INTEGERS.iter().skip(1).map(|(var, _)| Expr::Var(*var)).collect();
        let above = if at == At::Entry { 8 } else { 0 };
        let last = Expr::Var(RSP) + Expr::constant(64, above);
        args.push(self.out.load(last, AccessSize::DOUBLE));
        let Some(result) = self.known_system_call(Register::RDI, &args) else {
            return true;
        };
        let dst = self.out.temporary(64);
        let callee = Callee::External("system.result".to_string());
        self.emit(InstKind::Call { dst: Some(dst), callee, args: vec![result] });
        self.lose_registers(Some((Expr::Var(dst), 64)), false);
        false
    }

    fn number(&self, register: Register) -> Expr {
        Expr::Var(if register == Register::RAX { RAX } else { RDI })
    }

    /// The result of the system call whose number is in a register; none where that is the end.
    fn known_system_call(&mut self, number: Register, args: &[Expr]) -> Option<Expr> {
        let Some(known) = self.constants.get(number) else {
            let all = [self.number(number)].into_iter().chain(args.iter().cloned());
            let dst = self.out.temporary(64);
            let callee = Callee::External("system.call".to_string());
            self.emit(InstKind::Call { dst: Some(dst), callee, args: all.collect() });
            return Some(Expr::Var(dst));
        };
        let found = meaning(known).and_then(|name| {
            let signature = self.builder.signatures.of(name)?;
            Some((name, signature))
        });
        let Some((name, signature)) = found else {
            self.refuse(described(known));
            return None;
        };
        let args = args.iter().zip(&signature.params);
        let args = args.map(|(arg, width)| arg.clone().resize(64, *width)).collect();
        let dst = signature.result.map(|width| self.out.temporary(width));
        let callee = Callee::External(name.to_string());
        self.emit(InstKind::Call { dst, callee, args });
        if dst.is_none() {
            self.out.builder().terminate(Terminator::Exit);
        }
        dst.map(Expr::Var)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_calls_have_names() {
        assert_eq!(described(0), "the system call 0 (read)");
        assert_eq!(described(202), "the system call 202 (futex)");
        assert_eq!(described(324), "the system call 324 (membarrier)");
        assert_eq!(described(1 << 40), "the system call 1099511627776");
    }
}
