/* module.c: the mapped programs and libraries, so that addresses can be resolved after the run on any machine. */
#define _GNU_SOURCE
#include "base/loaded.h"
#include "base/map.h"
#include "base/memory.h"
#include "run/internal.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM (1u << 20) /* for new modules: about 8000 */

struct found {
    struct mpitx_run *run;
    uint8_t *at, *end;
};

struct module {
    struct run_module_body body;
    struct run_text path, build_id;
};

static bool loaded(const struct dl_phdr_info *info, const ElfW(Phdr) *part)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type == PT_LOAD && h->p_flags & PF_R && part->p_vaddr >= h->p_vaddr &&
            part->p_vaddr + part->p_memsz <= h->p_vaddr + h->p_memsz)
            return true;
    }
    return false;
}

const void *mpitx_run_build_id(const struct dl_phdr_info *info, uint32_t *bytes)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type != PT_NOTE || h->p_align > 4 || !loaded(info, h)) continue;
        const char *p = (const char *)(info->dlpi_addr + h->p_vaddr), *end = p + h->p_memsz;
        while ((size_t)(end - p) >= sizeof(ElfW(Nhdr))) {
            ElfW(Nhdr) n;
            memcpy(&n, p, sizeof n);
            size_t name = (n.n_namesz + 3u) & ~3u, desc = (n.n_descsz + 3u) & ~3u;
            p += sizeof n;
            if (name > (size_t)(end - p) || desc > (size_t)(end - p) - name) break;
            if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && memcmp(p, "GNU", 4) == 0) {
                *bytes = n.n_descsz;
                return p + name;
            }
            p += name + desc;
        }
    }
    *bytes = 0;
    return "";
}

/* Called under the loader's lock. */
static int copy_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    struct found *f = arg;
    char program[PATH_MAX];
    struct module m =
        {.body = {.start = UINT64_MAX, .bias = info->dlpi_addr}, .path = run_text_of(info->dlpi_name, RUN_MAX_TEXT)};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + h->p_vaddr;
        if (h->p_type != PT_LOAD) continue;
        m.body.start = start < m.body.start ? start : m.body.start;
        m.body.end = start + h->p_memsz > m.body.end ? start + h->p_memsz : m.body.end;
    }
    if (!m.path.n) { /* the program itself, which has no name in the loader */
        ssize_t n = readlink("/proc/self/exe", program, sizeof program);
        m.path = (struct run_text){program, n > 0 ? (uint32_t)n : 0};
    }
    m.build_id.s = mpitx_run_build_id(info, &m.build_id.n);
    size_t bytes = pad8(sizeof m.body + 8 + m.path.n + m.build_id.n);
    if (m.body.start >= m.body.end || sizeof bytes + bytes > (size_t)(f->end - f->at)) return 0;
    memcpy(f->at, &bytes, sizeof bytes);
    run_put_text(run_put_text(run_put(f->at + sizeof bytes, &m.body, sizeof m.body), m.path), m.build_id);
    f->at += sizeof bytes + bytes;
    return 0;
}

static int write_new(struct mpitx_run *run, const uint8_t *body, size_t bytes)
{
    uint64_t sum = (uint64_t)run_crc32c(0, body, bytes) << 32 | run_crc32c(1, body, bytes);
    for (uint32_t i = 0; i < run->module_count; i++)
        if (run->modules[i] == sum) return 0;
    if (run->module_count == RUN_MAX_MODULES) return MPITX_RUN_FULL;
    int rc = run_write_meta(run, RUN_META_MODULE, false, body, bytes, NULL, 0);
    if (!rc) run->modules[run->module_count++] = sum;
    return rc;
}

static int count_changes(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(uint64_t *)arg = (uint64_t)info->dlpi_adds + (uint64_t)info->dlpi_subs;
    return 1; /* the same for all modules */
}

void mpitx_run_follow_modules(struct mpitx_run *run)
{
    if (run_off(run)) return;
    uint64_t changes = 0;
    each_loaded(count_changes, &changes);
    if (__atomic_load_n(&run->module_changes, __ATOMIC_RELAXED) != changes && mpitx_run_modules(run) == 0)
        __atomic_store_n(&run->module_changes, changes, __ATOMIC_RELAXED);
}

int mpitx_run_modules(struct mpitx_run *run)
{
    if (run_off(run)) return MPITX_RUN_OFF;
    int saved = errno, rc = MPITX_RUN_BUSY;
    uint8_t *room = memory_map(ROOM, 0);
    if (!room) {
        errno = saved;
        return run_refuse(run, MPITX_RUN_FULL);
    }
    struct found f = {run, room, room + ROOM};
    each_loaded(copy_module, &f);
    if (run_try_lock_long(run)) {
        size_t bytes;
        rc = 0;
        for (const uint8_t *p = room; p < f.at && !rc; p += sizeof bytes + bytes) {
            memcpy(&bytes, p, sizeof bytes);
            rc = write_new(run, p + sizeof bytes, bytes);
        }
        run_unlock(run);
    }
    unmap_memory(room, ROOM);
    errno = saved;
    return rc ? run_refuse(run, rc) : 0;
}
