/* format.h: the bytes of a run directory (docs/run-format.md), little-endian throughout. */
#ifndef MPITX_RUN_FORMAT_H
#define MPITX_RUN_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "unsupported machine: the run format is little-endian"
#endif

#define RUN_FORMAT_VERSION 1

#define RUN_CHUNK_MAGIC 0x314b4e4843585001ull    /* 01 'P' 'X' 'C' 'H' 'N' 'K' '1' */
#define RUN_LIVE_MAGIC 0x3145564958504d01ull     /* 01 'M' 'P' 'X' 'I' 'V' 'E' '1' */
#define RUN_MANIFEST_MAGIC 0x31494e414d585001ull /* 01 'P' 'X' 'M' 'A' 'N' 'I' '1' */

#define RUN_LIVE_HEADER 4096 /* bytes before the first slot of a live file */

enum run_chunk_kind { RUN_KIND_META = 1, RUN_KIND_SAMPLES = 2, RUN_KIND_LAST = 3, RUN_KIND_EVENTS = 4,
                     RUN_KIND_TABLE = 5 };
enum run_chunk_state { RUN_SLOT_FREE = 0, RUN_SLOT_OPEN = 1, RUN_SLOT_SEALED = 2,
                      RUN_SLOT_TAKEN = 3 /* between free and open */ };

/* The head of every chunk; `used` bytes of records follow. */
struct run_chunk {
    uint64_t magic;
    uint16_t version, header_bytes;
    uint8_t kind, reserved0;
    uint16_t chain; /* events: chunks with the same number form a sequence */
    uint8_t run_id[16];
    uint64_t stream;      /* identifies one process's recording; random */
    uint64_t sequence;    /* of this stream's chunks, from 1 */
    int32_t rank;
    uint32_t capacity;    /* maximum of used */
    uint32_t used;        /* bytes of records; grows, with release order, while the state is open */
    uint32_t state;       /* enum run_chunk_state */
    uint64_t first_ticks; /* the base of the first records' times */
    uint64_t last_ticks;  /* of the last record; 0 while open */
    uint32_t records;     /* 0 while open */
    uint32_t crc;         /* CRC-32C of head and records, with this field 0; 0 while open */
};
_Static_assert(sizeof(struct run_chunk) == 88, "chunk head");
_Static_assert(offsetof(struct run_chunk, stream) == 32 && offsetof(struct run_chunk, used) == 56, "chunk head");
_Static_assert(offsetof(struct run_chunk, crc) == 84, "chunk head");

enum run_counter {
    RUN_SAMPLES,       /* recorded */
    RUN_MISSED,        /* due but not taken */
    RUN_LOST_BUSY,     /* taken, but another thread held the lock too long */
    RUN_LOST_FULL,     /* taken, but no chunk was free, as the disk was too slow or full */
    RUN_OVER_BUDGET,   /* taken, but max_size was used up */
    RUN_OVER_BYTES,    /* bytes that those would have needed */
    RUN_REFUSED,       /* declarations and notes that could not be written */
    RUN_APPEND_ERRORS, /* failed appends to the run directory, each tried again */
    RUN_INSTANTS,      /* how often the agent sampled */
    RUN_COST_NS,       /* time that took, estimated from one in sixteen */
    RUN_FAILED_TICKS,  /* when the append failed that caused losses; 0: never */
    RUN_FAILED_ERRNO,  /* the errno of that failure, Linux's */
    RUN_LOST_EVENTS,   /* events dropped */
    RUN_LOST_ROWS,     /* table rows dropped */
    RUN_OLD_EVENTS,    /* events that newer ones have replaced (keep the last) */
    RUN_OLD_TICKS,     /* the time of the newest of them */
    RUN_LACKS, /* how often the agent was refused what it needs: see struct agent_lacks, also for the next two */
    RUN_LACK_ERRNO,
    RUN_LACK_WHAT,
    RUN_COUNTERS,
};

/* The head of a live file, with the counters that must survive kill -9. Its further live files have none. */
struct run_live {
    uint64_t magic;
    uint16_t version, header_bytes;
    uint32_t chunk_bytes; /* bytes of a slot */
    uint8_t run_id[16];
    uint64_t stream;
    int32_t rank;
    uint32_t pid;
    uint32_t chunks; /* number of slots */
    uint32_t ended;  /* 1: an end record was written */
    uint64_t counter[RUN_COUNTERS];
};
_Static_assert(offsetof(struct run_live, counter) == 56, "live head");
_Static_assert(sizeof(struct run_live) <= RUN_LIVE_HEADER, "live head");

/* The owner of a live file, RUN_OWNER_AT bytes into it. The run directory follows without terminator. */
struct run_owner {
    uint64_t pid_start, pid_namespace; /* as in the manifest */
    uint32_t dir_bytes, reserved;
};
#define RUN_OWNER_AT 1024
_Static_assert(sizeof(struct run_live) <= RUN_OWNER_AT, "live head");
_Static_assert(sizeof(struct run_owner) == 24, "live owner");

/* A manifest says where a process's live file is. Host name and path follow without terminators. */
struct run_manifest {
    uint64_t magic;
    uint16_t version, header_bytes;
    uint32_t bytes; /* of the whole manifest */
    uint8_t run_id[16];
    uint64_t stream;
    int32_t rank;
    uint32_t pid;
    uint64_t pid_start;     /* field 22 of /proc/PID/stat; 0: unknown */
    uint64_t pid_namespace; /* inode of /proc/self/ns/pid; 0: unknown */
    uint32_t host_bytes, path_bytes;
    uint32_t crc; /* CRC-32C of the whole manifest with this field 0 */
    uint32_t reserved;
    char boot_id[40]; /* /proc/sys/kernel/random/boot_id as text; empty: unknown */
};
_Static_assert(offsetof(struct run_manifest, boot_id) == 80, "manifest");
_Static_assert(sizeof(struct run_manifest) == 120, "manifest");

/* Records of a meta chunk: this head, then the body. */
struct run_meta {
    uint32_t bytes; /* including head and padding; a multiple of 8 */
    uint16_t type, flags;
    uint64_t ticks;
};
_Static_assert(sizeof(struct run_meta) == 16, "meta record");

enum run_meta_type {
    RUN_META_HEADER = 1,
    RUN_META_CLOCK = 2,
    RUN_META_COLUMN = 3,
    RUN_META_SET = 4,
    RUN_META_STATUS = 5,
    RUN_META_OBJECT = 6,
    RUN_META_NOTE = 7,
    RUN_META_OUTCOME = 8,
    RUN_META_COUNTERS = 9,
    RUN_META_BASELINE = 10,
    RUN_META_END = 11,
    RUN_META_LAST = 13, /* 12 is written by mpitx recover */
    RUN_META_FUNCTIONS = 14,
    RUN_META_EVENT = 15,
    RUN_META_TABLE = 16,
    RUN_META_TEXT = 17,
    RUN_META_MODULE = 18,
    RUN_META_SPAWNED = 19, /* body: struct mpitx_run_spawned */
    RUN_META_LOSS = 20,
};

/* Records of chunks of samples and events. */
struct run_record {
    uint16_t words; /* length in units of 8 bytes, including this head */
    uint16_t tag;   /* RUN_TAG_BASE and so on, each with a 64-bit number; RUN_TAG_SET + a set's identifier, and
                     * RUN_TAG_STATUSES: a sample; RUN_TAG_SET + an event type's identifier: an event */
    uint32_t ticks; /* since the time base */
};
_Static_assert(sizeof(struct run_record) == 8, "sample record");

#define RUN_TAG_BASE 1u
#define RUN_TAG_THREAD 2u /* the following events are of this thread of the operating system */
#define RUN_TAG_LOST 3u   /* number of events dropped since the last one */
#define RUN_TAG_SET 16u
#define RUN_TAG_STATUSES 0x8000u
#define RUN_MAX_SETS 32000u

/* Bodies of fixed length. Strings (a 32-bit length and the bytes) and arrays follow. */
struct run_header_body {
    int32_t rank, size;
    uint32_t pid;
    int32_t thread_level, t_thread_level, clock;
    double ns_per_tick, clock_error_ns;
    uint64_t interval_ns;
    int64_t job_start_ns;
    int32_t mpi_version, mpi_subversion;
    uint64_t share; /* of max_size; 0: no bound */
    uint32_t policy, chunk_bytes;
};
_Static_assert(sizeof(struct run_header_body) == 80, "header body");

struct run_clock_body {
    int64_t monotonic_ns, real_ns;
    double error_ns;
};

/* The events of a chain that were lost after its last one. */
struct run_loss_body {
    uint32_t chain, thread;
    uint64_t events, until; /* until: ticks of the last one */
};

/* A set's newest row when samples are dropped. Statuses, padded, and the row follow. */
struct run_last_body {
    uint32_t set, has_statuses;
};

/* Name and fields follow. */
struct run_fields_body {
    uint32_t id, count, keys, bytes; /* bytes: of a table's row, or of an event without its head */
};

struct run_field_body {
    uint8_t type, meaning, merge, reserved;
    uint32_t count;
};

/* Path and build identifier follow. */
struct run_module_body {
    uint64_t start, end, bias;
};

/* Precedes the rows in a chunk, so that rows start at a cache line. */
struct run_table_head {
    uint32_t table, row_bytes;
    uint64_t reserved[4];
};
_Static_assert((sizeof(struct run_chunk) + sizeof(struct run_table_head)) % 64 == 0, "rows");

struct run_column_body {
    uint32_t id;
    int32_t var_class, datatype;
    uint32_t count, first;
    int32_t bind;
    uint64_t object;
    uint8_t as, labels, enum_flags, element_bytes;
    uint32_t label_count, item_count, reserved;
};
_Static_assert(sizeof(struct run_column_body) == 48, "column body");

#endif
