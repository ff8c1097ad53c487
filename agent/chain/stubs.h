/* stubs.h: the wrappers that jump, in assembler. They preserve all registers and the stack, so their targets see the
 * application's arguments (however many), return address and stack. Included by wrappers.c.
 *
 *     chain_stub NAME, PLACE   an exported function: jumps to chain_targets + PLACE
 *     chain_countdowns         STRIDE bytes for each place of chain_targets: count down, then jump to
 *                              chain_after_countdown, or to the function that records if the countdown has run out or
 *                              there is an alert
 *
 * On other processors the exported functions are the functions that record, and only their flags change. */
#ifndef MPITX_STUBS_H
#define MPITX_STUBS_H

#if defined(__x86_64__) && defined(__LP64__) && !defined(CHAIN_NO_STUBS)
#define CHAIN_STUBS 1
#define CHAIN_STRIDE 48
#if defined(__CET__) && (__CET__ & 1)
#define CHAIN_LANDING "endbr64\n"
#else
#define CHAIN_LANDING ""
#endif
#define CHAIN_TYPE "@function"
#define CHAIN_JUMP(table, place) "jmp *" table "+" place "(%rip)\n"
/* r11 is free here, and calls do not preserve the condition flags. 4 is offsetof(struct chain_thread, countdown). */
#define CHAIN_COUNT_DOWN                                                                                               \
    "mov chain_thread@gottpoff(%rip), %r11\n decl %fs:4(%r11)\n mov %fs:4(%r11), %r11d\n"                              \
    "or chain_alert_sign(%rip), %r11d\n js 1f\n"
#elif defined(__aarch64__) && !defined(CHAIN_NO_STUBS)
#define CHAIN_STUBS 1
#define CHAIN_STRIDE 80
#if defined(__ARM_FEATURE_BTI_DEFAULT)
#define CHAIN_LANDING "hint #34\n" /* bti c */
#else
#define CHAIN_LANDING ""
#endif
#define CHAIN_TYPE "%function"
#define CHAIN_JUMP(table, place) "adrp x16, " table "+" place "\n ldr x16, [x16, #:lo12:" table "+" place "]\n br x16\n"
/* x16 and x17 are reserved for linkers, so they are free here. */
#define CHAIN_COUNT_DOWN                                                                                               \
    "adrp x16, :gottprel:chain_thread\n ldr x16, [x16, #:gottprel_lo12:chain_thread]\n mrs x17, tpidr_el0\n"           \
    "add x16, x16, x17\n ldr w17, [x16, #4]\n sub w17, w17, #1\n str w17, [x16, #4]\n"                                 \
    "adrp x16, chain_alert_sign\n ldr w16, [x16, #:lo12:chain_alert_sign]\n orr w17, w17, w16\n tbnz w17, #31, 1f\n"
#endif

#define CHAIN_DOORS 2048 /* see doors.c */

#ifdef CHAIN_STUBS
#define CHAIN_TEXT_(x) #x
#define CHAIN_TEXT(x) CHAIN_TEXT_(x)

#define CHAIN_STUB_MACRO                                                                                               \
    ".macro chain_stub name, place\n.p2align 4\n.globl \\name\n.type \\name, " CHAIN_TYPE "\n\\name:\n"                \
    ".cfi_startproc\n" CHAIN_LANDING CHAIN_JUMP("chain_targets", "\\place") ".cfi_endproc\n"                           \
    ".size \\name, . - \\name\n.endm\n"

#define CHAIN_COUNTDOWNS(count)                                                                                        \
    ".p2align 4\n.globl chain_countdowns\n.hidden chain_countdowns\n.type chain_countdowns, " CHAIN_TYPE "\n"          \
    "chain_countdowns:\n.cfi_startproc\n.set .Lplace, 0\n.rept 2 * (" count ")\n" CHAIN_LANDING CHAIN_COUNT_DOWN       \
    CHAIN_JUMP("chain_after_countdown", ".Lplace") "1: " CHAIN_JUMP("chain_records", ".Lplace")                        \
    ".set .Lplace, .Lplace + 8\n.org chain_countdowns + " CHAIN_TEXT(CHAIN_STRIDE) " * .Lplace / 8\n.endr\n"           \
    ".cfi_endproc\n.size chain_countdowns, . - chain_countdowns\n"

#define CHAIN_ASSEMBLER(count, stubs) \
    __asm__(".pushsection .text\n" CHAIN_STUB_MACRO stubs CHAIN_COUNTDOWNS(CHAIN_TEXT(count)) ".popsection\n")
#define CHAIN_STUB(name, function) "chain_stub " #name ", 16*" #function "\nchain_stub P" #name ", 16*" #function "+8\n"
#define CHAIN_RECORD(type, name) static type record_##name
#define CHAIN_RECORDS(name) {(chain_any_function *)record_##name, (chain_any_function *)record_P##name}
#define CHAIN_STATES(name) {(chain_any_function *)state_##name, (chain_any_function *)state_P##name}
#else
#define CHAIN_ASSEMBLER(count, stubs) _Static_assert(count > 0, "functions")
#define CHAIN_STUB(name, function)
#define CHAIN_RECORD(type, name) EXPORT type name
#define CHAIN_RECORDS(name) {(chain_any_function *)name, (chain_any_function *)P##name}
#define CHAIN_STATES(name) {0, 0}
#endif

#endif
