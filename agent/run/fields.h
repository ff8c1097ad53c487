/* fields.h: words for the fields of events and tables (struct mpitx_run_field), and how many they are. */
#ifndef MPITX_RUN_FIELDS_H
#define MPITX_RUN_FIELDS_H

#include "run/run.h"

#define NUMBER(field, kind, ...) {.name = field, .type = MPITX_RUN_##kind, __VA_ARGS__}
#define NAMED(field, ...) NUMBER(field, U32, .meaning = MPITX_RUN_TEXT, __VA_ARGS__)
#define ADDRESS(field, ...) NUMBER(field, U64, .meaning = MPITX_RUN_ADDRESS, __VA_ARGS__)
#define TIME(field, ...) NUMBER(field, U64, .meaning = MPITX_RUN_TIME, __VA_ARGS__)
#define TICKS(field, ...) NUMBER(field, U64, .unit = "ticks", __VA_ARGS__)
#define NANOSECONDS(field) NUMBER(field, U64, .unit = "ns")
#define BYTES(field) NUMBER(field, U64, .unit = "B")

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

#endif
