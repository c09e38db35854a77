/* Preloaded, makes a process see a CPU that ends at AVX2: the kernel traps CPUID, and this hides newer sets.
 *
 * Linux with CPUID faulting (arch_prctl ARCH_SET_CPUID). The C library has looked at the CPU before; that is of no
 * matter to a matrix library, which looks when it is loaded. Exits with 77 where the CPU cannot trap.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { ARCH_SET_CPUID = 0x1012, NOT_POSSIBLE = 77 };

static long trap_cpuid(int is_trapped) { return syscall(SYS_arch_prctl, ARCH_SET_CPUID, !is_trapped); }

static void hide(uint32_t leaf, uint32_t part, uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d) {
    if (leaf != 7) return;
    if (part == 0) {
        *b &= ~(1u << 16 | 1u << 17 | 1u << 21 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 30 | 1u << 31); /* AVX-512 */
        *c &= ~(1u << 1 | 1u << 6 | 1u << 11 | 1u << 12 | 1u << 14);                                     /* VBMI, VNNI */
        *d &= ~(1u << 2 | 1u << 3 | 1u << 8 | 1u << 22 | 1u << 23 | 1u << 24 | 1u << 25);                /* FP16, AMX */
    }
    if (part == 1) *a &= ~(1u << 4 | 1u << 5 | 1u << 21 | 1u << 23), *d &= ~(1u << 4 | 1u << 5 | 1u << 10); /* AVX-VNNI */
}

static void answer(int signal, siginfo_t *info, void *context) {
    (void)info;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *at = (const uint8_t *)r[REG_RIP];
    if (at[0] != 0x0f || at[1] != 0xa2) { /* a true fault: let it happen again, and end the process */
        struct sigaction plain = {.sa_handler = SIG_DFL};
        sigaction(signal, &plain, NULL);
        return;
    }
    uint32_t leaf = r[REG_RAX], part = r[REG_RCX], a, b, c, d;
    trap_cpuid(0);
    __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(leaf), "c"(part));
    trap_cpuid(1);
    hide(leaf, part, &a, &b, &c, &d);
    r[REG_RAX] = a, r[REG_RBX] = b, r[REG_RCX] = c, r[REG_RDX] = d, r[REG_RIP] += 2;
}

__attribute__((constructor)) static void begin(void) {
    struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    if (trap_cpuid(1)) _exit(NOT_POSSIBLE);
}
