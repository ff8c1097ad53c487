/* profile_phases.cc: the same in C++. */
#include "test/profile_phases.c"
