/* doors.c: a second MPI library in the process.
 *
 * Plug-ins that are loaded with RTLD_LOCAL can each bring their own MPI library. Preloaded functions come first for all
 * of them, so the calls for every library arrive at the agent. The agent follows one library. A call from an object
 * that uses another library is passed to that library, and the object's references are changed so that its later calls
 * bypass the agent.
 *
 * This can only happen if MPI was loaded by dlopen. Then functions that may be called before MPI_Init check their
 * caller (a door); once there is a second library, all functions do. Doors preserve all registers: the wrappers were
 * compiled for one family's mpi.h, and another family's handles may be wider. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/agent.h"
#include "base/cancel.h"
#include "base/loaded.h"
#include "base/references.h"
#include "chain/internal.h"
#include "chain/stubs.h"

/* ---- doors: 16 bytes each, for MPI_X and PMPI_X in turn; they jump to the address that chain_door returns ---- */

#if defined(CHAIN_STUBS) && defined(__x86_64__)
__asm__(".text\n.p2align 4\n"
        ".type chain_door_common, @function\n"
        "chain_door_common:\n.cfi_startproc\n"
        "push %rdi\n push %rsi\n push %rdx\n push %rcx\n push %r8\n push %r9\n push %rax\n sub $128, %rsp\n"
        ".cfi_adjust_cfa_offset 184\n"
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7\n movaps %xmm\\n, 16*\\n(%rsp)\n.endr\n"
        "mov %r11d, %edi\n mov 184(%rsp), %rsi\n call chain_door\n mov %rax, %r11\n"
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7\n movaps 16*\\n(%rsp), %xmm\\n\n.endr\n add $128, %rsp\n"
        "pop %rax\n pop %r9\n pop %r8\n pop %rcx\n pop %rdx\n pop %rsi\n pop %rdi\n.cfi_adjust_cfa_offset -184\n"
        "jmp *%r11\n.cfi_endproc\n"
        ".p2align 4\n.globl chain_doors\n.hidden chain_doors\n.type chain_doors, @function\nchain_doors:\n"
        ".cfi_startproc\n"
        ".set .Ldoor, 0\n.rept " CHAIN_TEXT(CHAIN_DOORS) "\n.p2align 4\n" CHAIN_LANDING "movl $.Ldoor, %r11d\n"
        "jmp chain_door_common\n.set .Ldoor, .Ldoor + 1\n.endr\n.cfi_endproc\n");
#elif defined(CHAIN_STUBS)
__asm__(".text\n.p2align 4\n"
        ".type chain_door_common, %function\n"
        "chain_door_common:\n.cfi_startproc\n"
        "stp x29, x30, [sp, #-224]!\n.cfi_adjust_cfa_offset 224\n.cfi_rel_offset x29, 0\n.cfi_rel_offset x30, 8\n"
        "stp x0, x1, [sp, #16]\n stp x2, x3, [sp, #32]\n stp x4, x5, [sp, #48]\n stp x6, x7, [sp, #64]\n"
        " str x8, [sp, #80]\n"
        "stp q0, q1, [sp, #96]\n stp q2, q3, [sp, #128]\n stp q4, q5, [sp, #160]\n stp q6, q7, [sp, #192]\n"
        "mov w0, w16\n mov x1, x30\n bl chain_door\n mov x16, x0\n"
        "ldp x0, x1, [sp, #16]\n ldp x2, x3, [sp, #32]\n ldp x4, x5, [sp, #48]\n ldp x6, x7, [sp, #64]\n"
        " ldr x8, [sp, #80]\n"
        "ldp q0, q1, [sp, #96]\n ldp q2, q3, [sp, #128]\n ldp q4, q5, [sp, #160]\n ldp q6, q7, [sp, #192]\n"
        "ldp x29, x30, [sp], #224\n.cfi_restore x29\n.cfi_restore x30\n.cfi_adjust_cfa_offset -224\n"
        "br x16\n.cfi_endproc\n"
        ".p2align 4\n.globl chain_doors\n.hidden chain_doors\n.type chain_doors, %function\nchain_doors:\n"
        ".cfi_startproc\n"
        ".set .Ldoor, 0\n.rept " CHAIN_TEXT(CHAIN_DOORS) "\n.p2align 4\n" CHAIN_LANDING "mov w16, #.Ldoor\n"
        "b chain_door_common\n.set .Ldoor, .Ldoor + 1\n.endr\n.cfi_endproc\n");
#endif

#ifndef CHAIN_STUBS /* a second library's calls go to the first library */
void chain_watch_libraries(void) {}
#else
/* hidden: through the global offset table, aarch64 would link to the wrong address */
extern char chain_doors[] __attribute__((visibility("hidden")));

static bool second; /* there is a second library */

/* Functions that may be called before MPI_Init. */
static const char *const early_names[] = {"MPI_Init", "MPI_Init_thread", "MPI_Initialized", "MPI_Finalized",
                                          "MPI_Session_init", "MPI_T_init_thread", "MPI_Get_version",
                                          "MPI_Get_library_version", "MPI_Info_create", "MPI_Info_create_env",
                                          "MPI_Session_create_errhandler", "MPI_Abi_get_version", NULL};
/* ---- callers ---- */

enum { OURS = 16 };
static struct library_range ours[OURS]; /* known callers that use the followed library; other callers are looked up */
static unsigned ours_next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_ours(uintptr_t address)
{
    for (int i = 0; i < OURS; i++) {
        uintptr_t size = __atomic_load_n(&ours[i].size, __ATOMIC_ACQUIRE);
        if (address - __atomic_load_n(&ours[i].start, __ATOMIC_ACQUIRE) < size) return true;
    }
    return false;
}

static void remember(struct library_range range)
{
    struct library_range *place = &ours[ours_next++ % OURS];
    __atomic_store_n(&place->size, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&place->start, range.start, __ATOMIC_RELEASE);
    __atomic_store_n(&place->size, range.size, __ATOMIC_RELEASE);
}

struct caller {
    uintptr_t address;
    struct library_range range;
    char path[512];
};

static int find_caller(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    struct caller *caller = argument;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || caller->address - (info->dlpi_addr + part->p_vaddr) >= part->p_memsz) continue;
        caller->range = (struct library_range){info->dlpi_addr + part->p_vaddr, part->p_memsz};
        snprintf(caller->path, sizeof caller->path, "%s", info->dlpi_name ? info->dlpi_name : "");
        return 1;
    }
    return 0;
}

static void *init_of(void *handle) { return object_find(handle, "PMPI_Init"); }

/* ---- references ---- */

/* Redirects a reference from the agent's function to that which the object finds by itself. Slots are always set. */
static uintptr_t theirs_for(void *handle, const char *name, enum reference_kind kind, const uintptr_t *place)
{
    if (strncmp(name + (*name == 'P'), "MPI", 3) != 0) return 0;
    if (kind != REFERENCE_CALL && !object_is_agent(*place)) return 0;
    uintptr_t theirs = (uintptr_t)object_find(handle, name);
    return object_is_agent(theirs) ? 0 : theirs;
}

/* Makes an object that finds this MPI_Init by itself bypass the agent. */
static void bypass_object(const struct object *object, void *init)
{
    void *handle = object_open(object->path);
    if (!handle) return;
    if (init_of(handle) == init) references_change(object, theirs_for, handle);
    dlclose(handle);
}

/* ---- choosing the library ---- */

static void note_library(const char *library)
{
    static char noted[4][512];
    for (int i = 0; i < 4; i++) {
        if (strcmp(noted[i], library) == 0) return;
        if (noted[i][0]) continue;
        snprintf(noted[i], sizeof noted[i], "%s", library);
        agent_note("calls of %s are not counted: it is another MPI library in this process", library);
        return;
    }
}

/* The function of another library that this caller would call, or NULL if the caller uses the followed library. */
static void *other_library_function(uintptr_t address, int function, int shifted)
{
    struct caller caller = {.address = address};
    Dl_info library;
    void *handle = NULL, *init = NULL, *theirs = NULL;
    if (each_loaded(find_caller, &caller) && !object_is_agent(address)) handle = object_open(caller.path);
    if (handle) init = init_of(handle);
    if (init && !object_is_agent((uintptr_t)init) && dladdr(init, &library) && library.dli_fname &&
        !chain_follows(init, library.dli_fname)) {
        char name[64] = "P";
        snprintf(name + 1, sizeof name - 1, "%s", chain_functions[function].name);
        theirs = object_find(handle, name + !shifted);
        objects_each(bypass_object, init);
        note_library(library.dli_fname);
    }
    if (handle) dlclose(handle);
    if (!theirs && caller.range.size) remember(caller.range);
    return theirs;
}

__attribute__((used, visibility("hidden"))) chain_any_function *chain_door(unsigned door, const void *address)
{
    int function = (int)(door / 2), shifted = door % 2, saved = errno;
    void *theirs = NULL;
    if (!is_ours((uintptr_t)address)) {
        struct hold hold = hold_lock(&lock);
        theirs = other_library_function((uintptr_t)address, function, shifted);
        bool first = theirs && !second;
        if (first) {
            second = true;
            memset(chain_has_door, 1, CHAIN_DOORS / 2);
        }
        hold_unlock(&lock, hold);
        if (first) chain_set_targets();
    }
    if (!theirs && !chain_resolved) chain_resolve();
    errno = saved;
    return theirs ? (chain_any_function *)theirs : chain_target(function, shifted);
}

void chain_watch_libraries(void)
{
    if (!library_is_linked()) {
        chain_door_code = chain_doors;
        for (const char *const *name = early_names; *name; name++) {
            int function = chain_function_id(*name);
            if (function >= 0) chain_has_door[function] = 1;
        }
        chain_set_targets();
    }
    dlerror();
}
#endif
