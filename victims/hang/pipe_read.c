#include "victims/victim.h"

static int read_pipe(HANDLE pipe)
{
    char room[16];
    DWORD got = 0;
    return HERE_SYSTEM(ReadFile(pipe, room, sizeof room, &got, NULL)) + (int)got;
}

SCENARIO(pipe_read, .kind = KIND_HANG, .group = "A5",
         .sentence = "A read from a pipe that no process writes to: the wait is in the kernel.")
{
    HANDLE read_end, write_end;
    CreatePipe(&read_end, &write_end, NULL, 0);
    victim_ready();
    return HERE(read_pipe(read_end)) + 1;
}
