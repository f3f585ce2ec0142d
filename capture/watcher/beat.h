/* What a watched process shares with its watcher: a mapping named WATCH_BEAT_NAME with the process
 * id filled in. The process makes it before the watcher starts; a process without a heartbeat needs
 * no mapping. Both sides read and write single words. */
#ifndef CAPTURE_WATCHER_BEAT_H
#define CAPTURE_WATCHER_BEAT_H

#include <windows.h>

#define WATCH_BEAT_NAME L"Local\\twinstack-beat-%lu"
#define WATCH_EVENT_NAME L"Local\\twinstack-watch-%lu"

struct watch_beat {
    volatile LONG64 ticks;        /* QueryPerformanceCounter at the last beat; 0: paused   */
    volatile LONG thread_id;      /* that beats                                            */
    volatile LONG hang_ms;        /* a pause that counts as a hang; 0: no watch for hangs  */
    volatile LONG end_after_hang; /* end the process with CAPTURE_EXIT_HANG after a record */
};

#endif
