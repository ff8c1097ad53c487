/* cfi.c: executes the call frame instructions of DWARF, as far as they say where a frame is. System V ABI for x86-64, section 4.2.4. */
#include "chain/cfi.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct bases {
    void *text, *data, *function;
};

static const unsigned char *(*find_table)(void *address, struct bases *bases);

bool cfi_start(void)
{
    void *library = find_table ? NULL : dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL); /* not linked: programs without it shall not load it */
    if (library) find_table = (__typeof__(find_table))dlsym(library, "_Unwind_Find_FDE");
    return find_table != NULL;
}

#if defined(__x86_64__)

enum { STACK_POINTER = 7, REMEMBERED = 8 };

struct rule {
    uint64_t reg, offset;
};

struct machine {
    const unsigned char *at, *end;
    uint64_t code_align, place, target; /* place: the instructions so far are about code from there */
    int64_t data_align;
    struct rule rule, remembered[REMEMBERED];
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
    return bits < 64 && bits > 0 && (value >> (bits - 1) & 1) ? (int64_t)(value | ~UINT64_C(0) << bits) : (int64_t)value;
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

static void step(struct machine *m)
{
    unsigned char code = *m->at++;
    switch (code >> 6) {
    case 1: m->place += (code & 63) * m->code_align; return; /* DW_CFA_advance_loc */
    case 2: read_unsigned(m); return;                        /* offset */
    case 3: return;                                          /* restore */
    }
    switch (code) {
    case 0x00: return;                                                 /* nop */
    case 0x02: m->place += read_fixed(m, 1) * m->code_align; return;   /* advance_loc1 */
    case 0x03: m->place += read_fixed(m, 2) * m->code_align; return;
    case 0x04: m->place += read_fixed(m, 4) * m->code_align; return;
    case 0x05: case 0x09: case 0x14:                                   /* offset_extended, register, val_offset */
        read_unsigned(m);
        read_unsigned(m);
        return;
    case 0x06: case 0x07: case 0x08: case 0x2e: read_unsigned(m); return; /* restore_extended, undefined, same_value, GNU_args_size */
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
        return;
    case 0x0d: m->rule.reg = read_unsigned(m); return;                 /* def_cfa_register */
    case 0x0e: m->rule.offset = read_unsigned(m); return;              /* def_cfa_offset */
    case 0x0f:                                                         /* def_cfa_expression */
        m->rule.reg = UINT64_MAX;
        skip(m, read_unsigned(m));
        return;
    case 0x10: case 0x16:                                              /* expression, val_expression */
        read_unsigned(m);
        skip(m, read_unsigned(m));
        return;
    case 0x11: case 0x15:                                              /* offset_extended_sf, val_offset_sf */
        read_unsigned(m);
        read_signed(m);
        return;
    case 0x12:                                                         /* def_cfa_sf */
        m->rule.reg = read_unsigned(m);
        m->rule.offset = (uint64_t)(read_signed(m) * m->data_align);
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

/* Reads the head of a common entry, and returns how many bytes an address takes in its functions' entries; 0: unknown. */
static size_t read_head(struct machine *m)
{
    static const unsigned char sizes[16] = {[0x0] = 8, [0x2] = 2, [0x3] = 4, [0x4] = 8, [0xa] = 2, [0xb] = 4, [0xc] = 8};
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

uintptr_t cfi_frame_size(uintptr_t address)
{
    struct bases bases;
    const unsigned char *entry = find_table ? find_table((void *)(address - 1), &bases) : NULL, *common, *end;
    uint32_t length, back;
    if (!entry) return 0;
    memcpy(&length, entry, 4);
    memcpy(&back, entry + 4, 4);
    end = entry + 4 + length;
    common = entry + 4 - back;
    if (length == UINT32_MAX) return 0;
    memcpy(&length, common, 4);
    struct machine m = {.at = common + 8, .end = common + 4 + length, .target = address - 1, .place = (uintptr_t)bases.function};
    size_t pointer = read_head(&m);
    if (pointer == 0) return 0;
    run(&m, m.end);
    m.at = entry + 8;
    m.end = end;
    skip(&m, 2 * pointer);
    skip(&m, read_unsigned(&m));
    run(&m, end);
    return !m.unknown && m.rule.reg == STACK_POINTER && m.rule.offset < UINT16_MAX ? m.rule.offset : 0;
}

#else

uintptr_t cfi_frame_size(uintptr_t address)
{
    (void)address;
    return 0;
}

#endif
