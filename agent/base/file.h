/* file.h: small files and folders of /proc and /sys, read without memory of their own. errno is kept. */
#ifndef MPITX_FILE_H
#define MPITX_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Reads a small file, ends it with 0 and returns its length, or -1. */
long file_read(const char *name, char *text, size_t size);

/* Calls a function with each line of a file, without the line feed; longer ones than 8 KiB are left out. False: it
 * cannot be read. One thread at a time. */
bool file_lines(const char *name, void (*line)(char *text));

/* Calls a function with the name of each entry of a folder until it returns false. False: it cannot be read. */
bool file_folder(const char *name, bool (*entry)(const char *name));

#pragma GCC visibility pop

#endif
