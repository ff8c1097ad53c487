#include "../fixtures/fakempi/fakempi.c"
