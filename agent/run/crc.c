/* crc.c: CRC-32C of eight bytes at a time, with the processor's instruction if it has one. */
#include "run/internal.h"

#if defined __x86_64__ && !defined RUN_CRC_TABLE /* defined by tests of the table */
#define CRC_INSTRUCTION
#include <cpuid.h>
#endif

static uint32_t crc_table[8][256];
#ifdef CRC_INSTRUCTION
static bool crc_instruction;
#endif
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static void make_crc_table(void)
{
#ifdef CRC_INSTRUCTION
    unsigned eax, ebx, ecx, edx;
    crc_instruction = __get_cpuid(1, &eax, &ebx, &ecx, &edx) && ecx & bit_SSE4_2;
#endif
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
        crc_table[0][i] = c;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 1; k < 8; k++)
            crc_table[k][i] = crc_table[k - 1][i] >> 8 ^ crc_table[0][crc_table[k - 1][i] & 255];
}

void run_crc_start(void) { pthread_once(&crc_once, make_crc_table); }

uint32_t run_crc32c(uint32_t before, const void *data, size_t n)
{
    const uint8_t *p = data;
    uint32_t c = ~before;
#ifdef CRC_INSTRUCTION
    uint64_t sum = c;
    for (; crc_instruction && n >= 8; n -= 8, p += 8) {
        uint64_t x;
        memcpy(&x, p, 8);
        __asm__("crc32q %1, %0" : "+r"(sum) : "r"(x));
    }
    c = (uint32_t)sum;
#endif
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t x;
        memcpy(&x, p, 8);
        x ^= c;
        c = crc_table[7][x & 255] ^ crc_table[6][x >> 8 & 255] ^ crc_table[5][x >> 16 & 255] ^
            crc_table[4][x >> 24 & 255] ^ crc_table[3][x >> 32 & 255] ^ crc_table[2][x >> 40 & 255] ^
            crc_table[1][x >> 48 & 255] ^ crc_table[0][x >> 56];
    }
    for (; n; n--, p++) c = c >> 8 ^ crc_table[0][(c ^ *p) & 255];
    return ~c;
}
