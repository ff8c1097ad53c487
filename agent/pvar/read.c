/* read.c: reads the values of one instant. It calls the library's function directly, as the shim adds a tenth to a
 * sample's cost. */
#define _GNU_SOURCE
#include <string.h>

#include "binding/shim/family.h"
#include "node/node.h"
#include "pvar/pvar.h"
#include "tools/tally/virtual.h"

/* Handles a return code that differs from the last one. Calls the shim for a family-independent code. */
static void read_changed(struct pvar_group *g, struct pvar_reading *r, int code)
{
    int rc = pvar.table->pvar_read(pvar.session, r->handle, r->target);
    r->code = code;
    r->rc = rc;
    r->dead = rc == MPITX_ERR_INVALID_HANDLE || rc == MPITX_ERR_INVALID_INDEX || rc == MPITX_ERR_INVALID_SESSION ||
              rc == MPITX_ERR_NOT_INITIALIZED;
    if (rc == MPITX_SUCCESS)
        pvar_reading_status(g, r, MPITX_RUN_OK, "");
    else
        pvar_reading_status(g, r, r->dead ? MPITX_RUN_GONE : MPITX_RUN_ERROR, pvar_rc_name(rc));
}

bool pvar_stop_library(void)
{
    bool any = false;
    pvar.stopped = true;
    for (struct pvar_group *g = pvar.groups; g; g = g->next)
        for (struct pvar_reading *r = g->readings, *end = r + g->reading_count; r < end; r++) {
            if (r->virtual >= 0 || r->dead) continue;
            r->dead = any = true;
            pvar_reading_status(g, r, MPITX_RUN_ERROR, NULL);
        }
    return any;
}

static void read_node(struct pvar_group *g, struct pvar_reading *r)
{
    struct node_value value = node_value(r->variable->index);
    memcpy(r->target, &value.value, sizeof value.value);
    if (value.status == r->code) return;
    r->code = value.status;
    r->rc = value.reason ? MPITX_ERR_OTHER : MPITX_SUCCESS;
    pvar_reading_status(g, r, value.status, value.status == MPITX_RUN_RESET ? NULL : value.reason ? value.reason : "");
}

static inline void read_one(MPI_T_pvar_session session, struct pvar_group *g, struct pvar_reading *r, uint64_t now)
{
    if (__builtin_expect(r->virtual >= 0, 0)) {
        uint64_t value = virtual_read(r->virtual, now);
        memcpy(r->target, &value, sizeof value);
        const char *reason = virtual_at_most(r->virtual);
        if (__builtin_expect(reason && !r->code, 0)) {
            r->code = 1;
            pvar_reading_status(g, r, MPITX_RUN_AT_MOST, reason);
        }
        return;
    }
    if (r->dead || __builtin_expect(pvar.virtual_only, 0)) return;
    int code = ((__typeof__(MPI_T_pvar_read) *)pvar.read_routine)(session, (MPI_T_pvar_handle)r->handle, r->target);
    if (__builtin_expect(code != r->code, 0)) read_changed(g, r, code);
}

void pvar_read(struct pvar_group *g, uint64_t now)
{
    const MPI_T_pvar_session session = (MPI_T_pvar_session)pvar.session;
    for (struct pvar_reading *r = g->readings, *end = r + g->reading_count; r < end; r++)
        if (__builtin_expect(g->node, 0))
            read_node(g, r);
        else
            read_one(session, g, r, now);
}

/* ---- single values ---- */

#define ELEMENT(type) ((double)((const type *)(const void *)r->target)[i])

static double element(const struct pvar_reading *r, uint32_t i)
{
    bool is_signed = true;
    switch (r->variable->datatype) {
    case MPITX_TYPE_DOUBLE: return ELEMENT(double);
    case MPITX_TYPE_FLOAT: return ELEMENT(float);
    case MPITX_TYPE_UNSIGNED: case MPITX_TYPE_UNSIGNED_LONG: case MPITX_TYPE_UNSIGNED_LONG_LONG:
    case MPITX_TYPE_UINT32_T: case MPITX_TYPE_UINT64_T: case MPITX_TYPE_C_BOOL: case MPITX_TYPE_UNSIGNED_SHORT:
    case MPITX_TYPE_UNSIGNED_CHAR: case MPITX_TYPE_UINT8_T: case MPITX_TYPE_UINT16_T: case MPITX_TYPE_BYTE:
        is_signed = false;
    }
    switch (r->variable->size) {
    case 1: return is_signed ? ELEMENT(int8_t) : ELEMENT(uint8_t);
    case 2: return is_signed ? ELEMENT(int16_t) : ELEMENT(uint16_t);
    case 4: return is_signed ? ELEMENT(int32_t) : ELEMENT(uint32_t);
    case 8: return is_signed ? ELEMENT(int64_t) : ELEMENT(uint64_t);
    default: return __builtin_nan("");
    }
}

bool pvar_read_one(struct pvar_group *g, struct pvar_reading *r, uint64_t now)
{
    if (r->dead) return false;
    if (g->node) {
        bool sampled = pvar.node_read; /* by the sample that is being taken, if there is one */
        pvar.node_read = false;
        pvar_node_read(now, false);
        pvar.node_read = sampled;
        read_node(g, r);
        return r->rc == MPITX_SUCCESS;
    }
    read_one((MPI_T_pvar_session)pvar.session, g, r, now);
    return r->rc == MPITX_SUCCESS;
}

double pvar_element(const struct pvar_reading *r, uint32_t i)
{
    return i < r->count ? element(r, i) : __builtin_nan("");
}
