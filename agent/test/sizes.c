/* sizes: Open MPI's predefined datatypes at random addresses of the library, one or two of them in the program (copied
 * symbols). Prints how many were forgotten. */
#include <stdio.h>
#include <stdlib.h>

#include "mpi/sizes.h"

enum { TYPES = 80, BYTES = 512, RUNS = 20000 };

uint32_t epochs[1];

static uint64_t page(uint64_t at) { return at + ((uint64_t)random() << 12); }

int main(void)
{
    int forgotten = 0, wrong = 0;
    for (int run = 0; run < RUNS; run++) {
        uint64_t types[TYPES], size, library = page(0x7f0000000000) + 0x1222e0, program = page(0x550000000000) + 0x4040;
        for (int i = 0; i < TYPES; i++) types[i] = library + (uint64_t)i * BYTES;
        types[run % TYPES] = program;
        types[run * 7 % TYPES] = program + BYTES;
        for (int i = 0; i < TYPES; i++) sizes_add_type(types[i], (uint64_t)i);
        for (int i = 0; i < TYPES; i++) {
            if (!sizes_find_type(types[i], &size)) forgotten++;
            else if (size != (uint64_t)i) wrong++;
        }
        for (int i = 0; i < TYPES; i++) sizes_remove_type(types[i]);
        for (int i = 0; i < TYPES; i++) wrong += sizes_find_type(types[i], &size);
    }
    printf("forgotten %d wrong %d\n", forgotten, wrong);
    return 0;
}
