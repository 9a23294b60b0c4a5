/* Executes single instructions on the processor it runs on.
 *
 * Reads cases (registers, flags, memory, the bytes of one instruction) from standard input, and
 * writes how each left the machine to standard output. A case is entered and left by signals: the
 * handler of a trap puts the next case into the context that it returns to, with the trap flag
 * set, so that the processor traps again after one instruction. Handlers run on a stack of their
 * own, so that all registers, the stack pointer included, belong to the case. */

#define _GNU_SOURCE
#include <asm/prctl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096
#define CODE 0x2a5bc000ul
#define DATA 0x10000000ul
/* The part of the data page that a case says the content of, and gets back. */
#define WINDOW 0x600
#define WINDOW_SIZE 512
#define GS_BASE (DATA + 0x123)
#define TRAP_FLAG 0x100
/* Carry, parity, half-carry, zero, sign, direction, overflow. */
#define FLAGS 0xcd5
#define MOST_ROUNDS 1000

struct state {
    uint64_t general[16]; /* in the order of their numbers */
    uint64_t rip;
    uint64_t flags;
    uint8_t vector[16][16];
    uint8_t window[WINDOW_SIZE];
};

struct request {
    struct state state;
    uint8_t length;
    uint8_t bytes[15];
};

struct answer {
    struct state state;
    uint32_t signal;  /* the signal that ended it, 0 where the instruction was completed */
    uint32_t outside; /* whether it wrote outside of the window */
};

static const int NUMBERS[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15};

static struct request request;
static struct answer answer;
static int running;
static int rounds;
static uint8_t *data = (uint8_t *)DATA;
static uint8_t *code = (uint8_t *)CODE;

static int start(ucontext_t *context) {
    if (fread(&request, sizeof request, 1, stdin) != 1)
        return 0;
    memset(data, 0, PAGE);
    memcpy(data + WINDOW, request.state.window, WINDOW_SIZE);
    memset(code, 0xcc, 32);
    memcpy(code, request.bytes, request.length);
    greg_t *general = context->uc_mcontext.gregs;
    for (int i = 0; i < 16; i++)
        general[NUMBERS[i]] = (greg_t)request.state.general[i];
    general[REG_RIP] = CODE;
    general[REG_EFL] = (greg_t)((request.state.flags & FLAGS) | TRAP_FLAG | 0x202);
    memcpy(context->uc_mcontext.fpregs->_xmm, request.state.vector, sizeof request.state.vector);
    context->uc_mcontext.fpregs->mxcsr = 0x1f80;
    running = 1;
    rounds = 0;
    return 1;
}

static void finish(ucontext_t *context, int signal) {
    greg_t *general = context->uc_mcontext.gregs;
    for (int i = 0; i < 16; i++)
        answer.state.general[i] = (uint64_t)general[NUMBERS[i]];
    answer.state.rip = (uint64_t)general[REG_RIP];
    answer.state.flags = (uint64_t)general[REG_EFL] & FLAGS;
    memcpy(answer.state.vector, context->uc_mcontext.fpregs->_xmm, sizeof answer.state.vector);
    memcpy(answer.state.window, data + WINDOW, WINDOW_SIZE);
    answer.signal = (uint32_t)signal;
    answer.outside = 0;
    memset(data + WINDOW, 0, WINDOW_SIZE);
    for (int i = 0; i < PAGE; i++)
        answer.outside |= data[i] != 0;
    fwrite(&answer, sizeof answer, 1, stdout);
}

static void trapped(int signal, siginfo_t *info, void *pointer) {
    ucontext_t *context = pointer;
    (void)info;
    if (running) {
        /* A repeated string instruction traps after each round, before its end. */
        int again = signal == SIGTRAP && context->uc_mcontext.gregs[REG_RIP] == (greg_t)CODE;
        if (again && ++rounds < MOST_ROUNDS)
            return;
        finish(context, signal == SIGTRAP && !again ? 0 : signal);
    }
    if (!start(context)) {
        fflush(stdout);
        _exit(0);
    }
}

static void *map(unsigned long address, int protection) {
    void *there = mmap((void *)address, PAGE, protection,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (there != (void *)address) {
        perror("mmap");
        exit(1);
    }
    return there;
}

int main(void) {
    static uint8_t stack[1 << 16];
    map(CODE, PROT_READ | PROT_WRITE | PROT_EXEC);
    map(DATA, PROT_READ | PROT_WRITE);
    if (syscall(SYS_arch_prctl, ARCH_SET_GS, GS_BASE) != 0) {
        perror("arch_prctl");
        return 1;
    }
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&own, NULL);
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    action.sa_sigaction = trapped;
    int signals[] = {SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    raise(SIGTRAP);
    return 1;
}
