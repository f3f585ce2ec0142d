#include "victims/victim.h"

enum { LIMIT_BYTES = 256 << 20, PIECE_BYTES = 1 << 20, PIECES = 1024 };

static int use(volatile char *piece)
{
    return HERE(piece[0] = 1) + 1;
}

static int take_all(void)
{
    int sum = 0;
    for (int i = 0; i < PIECES; i++)
        sum += HERE(use(VirtualAlloc(NULL, PIECE_BYTES, MEM_COMMIT, PAGE_READWRITE)));
    return sum;
}

SCENARIO(out_of_memory_job, .kind = KIND_CRASH, .group = "A2", .code = 0xC0000005,
         .not_on_wine = "Wine's jobs do not limit memory",
         .sentence = "A job limits the memory, piece after piece is taken, without a check: the "
                     "handler finds no memory either.")
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limit = {0};
    HANDLE job = CreateJobObjectW(NULL, NULL);
    limit.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_PROCESS_MEMORY;
    limit.ProcessMemoryLimit = LIMIT_BYTES;
    SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limit, sizeof limit);
    AssignProcessToJobObject(job, GetCurrentProcess());
    return HERE(take_all()) + 1;
}
