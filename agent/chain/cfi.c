/* cfi.c: executes the call frame instructions of DWARF, as far as they say where a frame and its caller's rbp are.
 * System V ABI for x86-64, sections 3.6 and 4.2.4. Everything is copied before it is read, as the stack belongs to
 * another thread, which may go on. */
#include "chain/cfi.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"

struct bases {
    void *text, *data, *function;
};

static const unsigned char *(*find_table)(void *address, struct bases *bases);

bool cfi_start(void)
{
    /* not linked: programs without it shall not load it */
    void *library = find_table ? NULL : dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library) find_table = (__typeof__(find_table))dlsym(library, "_Unwind_Find_FDE");
    return find_table != NULL;
}

#if defined(__x86_64__)

enum { BASE_POINTER = 6, STACK_POINTER = 7, RETURN_ADDRESS = 16, REMEMBERED = 8, MOST_ENTRY = 8192, MOST_COMMON = 256 };
enum { OP_BASE = 0x70 + BASE_POINTER, OP_DEREF = 0x06 };

/* Where the caller has a register: unchanged, on the stack at an offset from the frame or rbp, undefined, or
 * unknown. */
struct saved {
    enum { SAME, FRAME, BASE, UNDEFINED, ELSEWHERE } where;
    int64_t offset;
};

struct rule {
    uint64_t reg, offset;
    bool deref; /* the frame's address is stored there: a function that aligns its stack */
    struct saved base, address;
};

struct machine {
    const unsigned char *at, *end;
    uint64_t code_align, place, target; /* place: the instructions so far are about code from there */
    int64_t data_align;
    struct rule rule, initial, remembered[REMEMBERED];
    int depth;
    bool unknown; /* an instruction that this file does not know */
};

static uint64_t read_unsigned(struct machine *m)
{
    uint64_t value = 0;
    for (unsigned shift = 0; m->at < m->end; shift += 7) {
        unsigned char byte = *m->at++;
        if (shift < 64) value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
    m->unknown = true;
    return 0;
}

static int64_t read_signed(struct machine *m)
{
    const unsigned char *start = m->at;
    uint64_t value = read_unsigned(m);
    unsigned bits = 7 * (unsigned)(m->at - start);
    return bits < 64 && bits > 0 && (value >> (bits - 1) & 1) ? (int64_t)(value | ~UINT64_C(0) << bits)
                                                              : (int64_t)value;
}

static uint64_t read_fixed(struct machine *m, size_t bytes)
{
    uint64_t value = 0;
    if ((size_t)(m->end - m->at) < bytes) {
        m->unknown = true;
        return 0;
    }
    memcpy(&value, m->at, bytes);
    m->at += bytes;
    return value;
}

static void skip(struct machine *m, uint64_t bytes)
{
    if (bytes > (uint64_t)(m->end - m->at)) m->unknown = true;
    else m->at += bytes;
}

static struct saved *saved(struct rule *rule, uint64_t reg)
{
    static struct saved other;
    return reg == BASE_POINTER ? &rule->base : reg == RETURN_ADDRESS ? &rule->address : &other;
}

static void save(struct machine *m, uint64_t reg, int where, int64_t offset)
{
    *saved(&m->rule, reg) = (struct saved){where, offset};
}

static void restore(struct machine *m, uint64_t reg) { *saved(&m->rule, reg) = *saved(&m->initial, reg); }

/* An expression that is an offset from rbp and, if deref, the value there. Others are unknown. */
static bool read_expression(struct machine *m, bool deref, int64_t *offset)
{
    uint64_t bytes = read_unsigned(m);
    const unsigned char *start = m->at;
    bool known = bytes > 1 && m->at < m->end && *m->at == OP_BASE;
    if (known) {
        m->at++;
        *offset = read_signed(m);
        if (deref) known = m->at < m->end && *m->at++ == OP_DEREF;
        known &= m->at == start + bytes;
    }
    m->at = start;
    skip(m, bytes);
    return known;
}

static void step(struct machine *m)
{
    unsigned char code = *m->at++;
    uint64_t reg;
    int64_t offset = 0;
    switch (code >> 6) {
    case 1: m->place += (code & 63) * m->code_align; return;                               /* DW_CFA_advance_loc */
    case 2: save(m, code & 63, FRAME, (int64_t)read_unsigned(m) * m->data_align); return;  /* offset */
    case 3: restore(m, code & 63); return;                                                 /* restore */
    }
    switch (code) {
    case 0x00: return;                                                 /* nop */
    case 0x02: m->place += read_fixed(m, 1) * m->code_align; return;   /* advance_loc1 */
    case 0x03: m->place += read_fixed(m, 2) * m->code_align; return;
    case 0x04: m->place += read_fixed(m, 4) * m->code_align; return;
    case 0x05:                                                         /* offset_extended */
        reg = read_unsigned(m);
        save(m, reg, FRAME, (int64_t)read_unsigned(m) * m->data_align);
        return;
    case 0x06: restore(m, read_unsigned(m)); return;                   /* restore_extended */
    case 0x07: save(m, read_unsigned(m), UNDEFINED, 0); return;        /* undefined */
    case 0x08: save(m, read_unsigned(m), SAME, 0); return;             /* same_value */
    case 0x09: case 0x14:                                              /* register, val_offset */
        save(m, read_unsigned(m), ELSEWHERE, 0);
        read_unsigned(m);
        return;
    case 0x2e: read_unsigned(m); return;                               /* GNU_args_size */
    case 0x0a:                                                         /* remember_state */
        if (m->depth == REMEMBERED) break;
        m->remembered[m->depth++] = m->rule;
        return;
    case 0x0b:                                                         /* restore_state */
        if (m->depth == 0) break;
        m->rule = m->remembered[--m->depth];
        return;
    case 0x0c:                                                         /* def_cfa */
        m->rule.reg = read_unsigned(m);
        m->rule.offset = read_unsigned(m);
        m->rule.deref = false;
        return;
    case 0x0d:                                                         /* def_cfa_register */
        m->rule.reg = read_unsigned(m);
        m->rule.deref = false;
        return;
    case 0x0e: m->rule.offset = read_unsigned(m); return;              /* def_cfa_offset */
    case 0x0f:                                                         /* def_cfa_expression */
        m->rule.reg = read_expression(m, true, &offset) ? BASE_POINTER : UINT64_MAX;
        m->rule.offset = (uint64_t)offset;
        m->rule.deref = true;
        return;
    case 0x10:                                                         /* expression */
        reg = read_unsigned(m);
        save(m, reg, read_expression(m, false, &offset) ? BASE : ELSEWHERE, offset);
        return;
    case 0x16:                                                         /* val_expression */
        save(m, read_unsigned(m), ELSEWHERE, 0);
        skip(m, read_unsigned(m));
        return;
    case 0x11:                                                         /* offset_extended_sf */
        reg = read_unsigned(m);
        save(m, reg, FRAME, read_signed(m) * m->data_align);
        return;
    case 0x15:                                                         /* val_offset_sf */
        save(m, read_unsigned(m), ELSEWHERE, 0);
        read_signed(m);
        return;
    case 0x12:                                                         /* def_cfa_sf */
        m->rule.reg = read_unsigned(m);
        m->rule.offset = (uint64_t)(read_signed(m) * m->data_align);
        m->rule.deref = false;
        return;
    case 0x13: m->rule.offset = (uint64_t)(read_signed(m) * m->data_align); return;
    }
    m->unknown = true;
}

static void run(struct machine *m, const unsigned char *end)
{
    m->end = end;
    while (m->at < m->end && !m->unknown && m->place <= m->target) {
        struct rule before = m->rule;
        step(m);
        if (m->place > m->target) m->rule = before;
    }
}

/* Reads the head of a common entry. Returns how many bytes an address takes in its functions' entries; 0: unknown. */
static size_t read_head(struct machine *m)
{
    static const unsigned char sizes[16] =
        {[0x0] = 8, [0x2] = 2, [0x3] = 4, [0x4] = 8, [0xa] = 2, [0xb] = 4, [0xc] = 8};
    uint64_t version = read_fixed(m, 1), encoding = 0;
    const char *augmentation = (const char *)m->at;
    skip(m, strnlen(augmentation, (size_t)(m->end - m->at)) + 1);
    m->code_align = read_unsigned(m);
    m->data_align = read_signed(m);
    version == 1 ? read_fixed(m, 1) : read_unsigned(m);
    if (m->unknown || *augmentation++ != 'z') return 0;
    uint64_t length = read_unsigned(m);
    const unsigned char *instructions = m->at + length;
    for (; *augmentation; augmentation++) {
        if (*augmentation == 'R') encoding = read_fixed(m, 1);
        else if (*augmentation == 'L') read_fixed(m, 1);
        else if (*augmentation == 'P') skip(m, sizes[read_fixed(m, 1) & 15]);
        else return 0;
    }
    m->at = instructions;
    return m->unknown || instructions > m->end ? 0 : sizes[encoding & 15];
}

typedef bool read_function(uint64_t from, void *to, size_t bytes);

static bool read_mapped(uint64_t from, void *to, size_t bytes)
{
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return true;
}

static bool copy_entry(read_function *read, const unsigned char *from, unsigned char *to, uint32_t most,
                       uint32_t *bytes)
{
    if (!read((uintptr_t)from, bytes, 4) || *bytes < 4 || *bytes > most - 4) return false;
    *bytes += 4;
    return read((uintptr_t)from, to, *bytes);
}

/* The rule at the call that returns to an address, and where its function begins. */
static bool find_rule(uint64_t address, read_function *read, struct rule *rule, uint64_t *function)
{
    unsigned char entry[MOST_ENTRY], common[MOST_COMMON];
    struct bases bases;
    uint32_t bytes, back;
    const unsigned char *at = find_table ? find_table((void *)(uintptr_t)(address - 1), &bases) : NULL;
    if (!at || !copy_entry(read, at, entry, MOST_ENTRY, &bytes)) return false;
    const unsigned char *end = entry + bytes;
    memcpy(&back, entry + 4, 4);
    if (!copy_entry(read, at + 4 - back, common, MOST_COMMON, &bytes)) return false;
    struct machine m =
        {.at = common + 8, .end = common + bytes, .target = address - 1, .place = (uintptr_t)bases.function};
    size_t pointer = read_head(&m);
    if (pointer == 0) return false;
    run(&m, m.end);
    m.initial = m.rule;
    m.at = entry + 8;
    m.end = end;
    skip(&m, 2 * pointer);
    skip(&m, read_unsigned(&m));
    run(&m, end);
    *rule = m.rule;
    *function = (uintptr_t)bases.function;
    return !m.unknown;
}

static bool find_base(struct cfi_frame *frame, uint64_t at, const struct saved *saved)
{
    switch (saved->where) {
    case SAME: return frame->based;
    case FRAME: return memory_read(at + (uint64_t)saved->offset, &frame->base, sizeof frame->base);
    case BASE: return frame->based &&
        memory_read(frame->base + (uint64_t)saved->offset, &frame->base, sizeof frame->base);
    case UNDEFINED:
    case ELSEWHERE: break;
    }
    return false;
}

enum cfi_caller cfi_caller(struct cfi_frame *frame)
{
    struct rule rule;
    uint64_t at, address, function;
    if (!find_rule(frame->address, memory_read, &rule, &function)) return CFI_UNKNOWN;
    if (rule.address.where == UNDEFINED) return CFI_OUTERMOST;
    if (rule.reg != STACK_POINTER && (rule.reg != BASE_POINTER || !frame->based)) return CFI_UNKNOWN;
    at = (rule.reg == STACK_POINTER ? frame->pointer : frame->base) + rule.offset;
    if (rule.deref && !memory_read(at, &at, sizeof at)) return CFI_UNKNOWN;
    if (at <= frame->pointer || at % sizeof at || rule.address.where != FRAME ||
        !memory_read(at + (uint64_t)rule.address.offset, &address, sizeof address))
        return CFI_UNKNOWN;
    frame->based = find_base(frame, at, &rule.base);
    frame->pointer = at;
    frame->address = address;
    return address ? CFI_CALLER : CFI_OUTERMOST;
}

bool cfi_step(uint64_t address, struct cfi_step *step)
{
    struct rule rule;
    if (!find_rule(address, read_mapped, &rule, &step->function)) return false;
    step->based = rule.reg == BASE_POINTER;
    step->offset = (int64_t)rule.offset;
    step->saved = rule.base.where == FRAME ? rule.base.offset : 0;
    step->base_lost = rule.base.where != FRAME && rule.base.where != SAME;
    return !rule.deref && (step->based || rule.reg == STACK_POINTER) && rule.address.where == FRAME && rule.address.offset == -8;
}

bool cfi_first(struct cfi_frame *frame)
{
    /* on the wrapper's stack: the return address, and below it the caller's rbp, as wrappers have frame pointers */
    uint64_t address;
    if (!memory_read(frame->pointer - 8, &address, sizeof address) || address != frame->address) return false;
    frame->based = memory_read(frame->pointer - 16, &frame->base, sizeof frame->base);
    return true;
}

#else

bool cfi_step(uint64_t address, struct cfi_step *step)
{
    (void)address;
    (void)step;
    return false;
}

enum cfi_caller cfi_caller(struct cfi_frame *frame)
{
    (void)frame;
    return CFI_UNKNOWN;
}

bool cfi_first(struct cfi_frame *frame)
{
    frame->based = false;
    return true;
}

#endif
