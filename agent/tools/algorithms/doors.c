/* doors.c: the doors, in assembler. They work without prototypes: the functions behind them take integers and pointers. The
 * doors preserve the registers, and leave the stack as it is. */
#include "tools/algorithms/doors.h"

#include "chain/stubs.h"

uintptr_t (*algorithms_pass)(unsigned door, const uintptr_t *registers, const uintptr_t *stack, uintptr_t base);

#ifdef CHAIN_STUBS
#if defined(__x86_64__)
__asm__(".text\n.p2align 4\n"
        ".type algorithms_door_common, @function\n"
        "algorithms_door_common:\n.cfi_startproc\n"
        "push %rdi\n push %rsi\n push %rdx\n push %rcx\n push %r8\n push %r9\n push %rax\n"
        ".cfi_adjust_cfa_offset 56\n"
        "mov %r11d, %edi\n lea 8(%rsp), %rsi\n lea 64(%rsp), %rdx\n mov %rbp, %rcx\n call *algorithms_pass(%rip)\n mov %rax, %r11\n"
        "pop %rax\n pop %r9\n pop %r8\n pop %rcx\n pop %rdx\n pop %rsi\n pop %rdi\n.cfi_adjust_cfa_offset -56\n"
        "jmp *%r11\n.cfi_endproc\n"
        ".size algorithms_door_common, . - algorithms_door_common\n"
        ".p2align 4\n.globl algorithms_doors\n.hidden algorithms_doors\n.type algorithms_doors, @function\n"
        "algorithms_doors:\n.cfi_startproc\n"
        ".set .Ldoor, 0\n.rept 2048\n.p2align 4\n" CHAIN_LANDING "movl $.Ldoor, %r11d\n"
        "jmp algorithms_door_common\n.set .Ldoor, .Ldoor + 1\n.endr\n.cfi_endproc\n"
        ".size algorithms_doors, . - algorithms_doors\n");
#else
__asm__(".text\n.p2align 4\n"
        ".type algorithms_door_common, %function\n"
        "algorithms_door_common:\n.cfi_startproc\n"
        "stp x29, x30, [sp, #-96]!\n.cfi_adjust_cfa_offset 96\n.cfi_rel_offset x29, 0\n.cfi_rel_offset x30, 8\n"
        "stp x0, x1, [sp, #16]\n stp x2, x3, [sp, #32]\n stp x4, x5, [sp, #48]\n stp x6, x7, [sp, #64]\n"
        " str x8, [sp, #80]\n"
        "mov w0, w16\n add x1, sp, #16\n add x2, sp, #96\n mov x3, x29\n adrp x17, algorithms_pass\n ldr x17, [x17, #:lo12:algorithms_pass]\n blr x17\n mov x16, x0\n"
        "ldp x0, x1, [sp, #16]\n ldp x2, x3, [sp, #32]\n ldp x4, x5, [sp, #48]\n ldp x6, x7, [sp, #64]\n"
        " ldr x8, [sp, #80]\n"
        "ldp x29, x30, [sp], #96\n.cfi_restore x29\n.cfi_restore x30\n.cfi_adjust_cfa_offset -96\n"
        "br x16\n.cfi_endproc\n"
        ".size algorithms_door_common, . - algorithms_door_common\n"
        ".p2align 4\n.globl algorithms_doors\n.hidden algorithms_doors\n.type algorithms_doors, %function\n"
        "algorithms_doors:\n.cfi_startproc\n"
        ".set .Ldoor, 0\n.rept 2048\n.p2align 4\n" CHAIN_LANDING "mov w16, #.Ldoor\n"
        "b algorithms_door_common\n.set .Ldoor, .Ldoor + 1\n.endr\n.cfi_endproc\n"
        ".size algorithms_doors, . - algorithms_doors\n");
#endif
_Static_assert(ALGORITHMS_DOORS == 2048, "doors");

uintptr_t algorithms_door(unsigned number)
{
    extern char algorithms_doors[] __attribute__((visibility("hidden")));
    return (uintptr_t)(algorithms_doors + 16 * number);
}
#else
uintptr_t algorithms_door(unsigned number)
{
    (void)number;
    return 0;
}
#endif
