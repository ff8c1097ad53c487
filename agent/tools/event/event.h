/* event.h: the library's MPI_T events (MPI-4.0, section 15.3.8) and PERUSE events (PERUSE 2.0), recorded in the run.
 *
 *     event.c   the tool: configuration, start and end
 *     types.c   event types: which are wanted, their elements, how they are declared in the run
 *     bind.c    registrations, one for each wanted type and object
 *     source.c  sources and their clocks
 *     application.c  the application's own registrations of events of PERUSE
 *     peruse.c  our registrations of these
 *     carrier.c  handles of the application that record for us
 *     record.c  what the library calls: events and dropped events
 *
 * The run gets the table "mpi_t events" with the counts of each event type, the table "mpi_t sources", and an event
 * type "mpi_t NAME" for each event type whose data are copied (docs/run-format.md). */
#ifndef MPITX_TOOLS_EVENT_H
#define MPITX_TOOLS_EVENT_H

#include <stdatomic.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "pvar/pvar.h"
#include "tools/tool.h"

#pragma GCC visibility push(hidden)

enum { EVENT_ELEMENTS = 64, EVENT_BYTES = 1024, EVENT_SLACK = 512, EVENT_SOURCES = 64, EVENT_REGISTRATIONS = 4096 };

/* The first fields of each recorded event. */
struct event_head {
    int64_t timestamp; /* ticks of the source */
    uint32_t source, object;
};

/* A row of the table "mpi_t events". The callbacks add to the counts; nobody else writes to them. */
struct event_row {
    struct mpitx_run_row head;
    uint32_t name, description;
    uint32_t bind, safety; /* of the registrations; 0: it could not be registered */
    uint64_t received, recorded, refused, dropped, late; /* late: after the registration was freed; not received */
    uint32_t reason;                                     /* why it is only counted; "": it is not */
};

struct event_element {
    uint16_t from, to, bytes; /* in the library's data, in our event */
};

struct event_type {
    int index, bind;
    int safety;     /* of the callbacks; 0: it cannot be registered */
    int run_type;   /* negative: only counted */
    bool unbound;   /* no object to try it with yet */
    uint32_t bytes; /* of the library's data */
    uint32_t element_count;
    struct event_element elements[EVENT_ELEMENTS];
    struct event_row *row;
    char *name;
};

extern struct event_type *event_types;
extern int event_type_count;
extern _Atomic(struct mpitx_run *) event_run; /* NULL: events are not recorded (any more) */
extern atomic_int event_inside;               /* callbacks that run now */

/* types.c */
bool event_wanted(void);
void event_read_patterns(void);
bool event_declare(void);                                  /* the tables */
void event_select(void);                                   /* finds the wanted types */
void event_try_new(int bind, union mpi_handle handle, bool known); /* tries untried types that are bound to it */
void event_note_unmatched(bool mpi_t); /* mpi_t: events of MPI_T can be suggested */
bool event_matches_peruse(const char *name); /* the same for both spellings */
bool event_suggests(void);            /* a literal pattern has matched nothing, so names are suggested */
void event_declare_patterns(void);

/* bind.c */
void event_bind(int bind, union mpi_handle handle, uint32_t object); /* all types bound to such an object */
void event_unbind(int bind, union mpi_handle handle);
void event_unbind_all(void);

/* source.c */
bool event_sources_declare(void);
void event_sources_begin(void);
void event_sources_end(void);
void event_source_time(int source, int64_t timestamp); /* counts steps back of an ordered source */
void event_source_dropped(int source, int64_t count);

/* peruse.c: only if the library has PERUSE */
bool event_peruse_select(void); /* false: no event of PERUSE is wanted */
void event_peruse_bind(union mpi_handle comm, uint32_t object, union mpi_handle original); /* 0: not a duplicate */
void event_peruse_unbind(union mpi_handle comm); /* 0: all */

/* record.c: a callback is between enter and leave. enter returns NULL if nothing is recorded at this time. */
struct mpitx_run *event_enter(uint64_t now);
bool event_write(struct mpitx_run *run, int type, uint64_t time, const void *event);
void event_leave(void);
void event_received(mpitx_handle instance, mpitx_handle registration, int safety, void *user_data);
void event_dropped(int64_t count, mpitx_handle registration, int source, int safety, void *user_data);
void event_thread_end(void);

/* What the callbacks of a registration get. Never freed, as a faulty library may call them later. */
struct event_registration {
    struct event_type *type;
    mpitx_handle handle; /* 0: freed */
    uint64_t object_handle;
    uint32_t object;
};

#pragma GCC visibility pop

#endif
