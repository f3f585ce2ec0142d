/* process.h on Windows: programs that keep running. A thread reads the answers and another one
 * writes the questions, since anonymous pipes can only be waited for by reading and writing. */
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/limits.h"
#include "base/process_windows.h"
#include "base/thread.h"

enum { LOOK_MS = 50, BLOCK_BYTES = 65536 };

struct process {
    struct child child;
    struct thread *reader, *writer;
    SRWLOCK lock; /* of what follows */
    CONDITION_VARIABLE changed;
    struct pump out;
    bool ended;         /* its output is closed */
    bool writing, deaf; /* a question is being written; it takes no more of them */
    char *question;     /* malloc; the writer's while it is writing */
};

static void read_answers(void *context)
{
    struct process *p = context;
    char *block = malloc(BLOCK_BYTES);
    DWORD got = 0;

    while (block != NULL && ReadFile(p->child.output, block, BLOCK_BYTES, &got, NULL) && got > 0) {
        AcquireSRWLockExclusive(&p->lock);
        pump_add(&p->out, block, got);
        ReleaseSRWLockExclusive(&p->lock);
        WakeAllConditionVariable(&p->changed);
    }
    AcquireSRWLockExclusive(&p->lock);
    p->ended = true;
    ReleaseSRWLockExclusive(&p->lock);
    WakeAllConditionVariable(&p->changed);
    free(block);
}

static void write_question(void *context)
{
    struct process *p = context;
    const char *at = p->question;
    DWORD put = 0;
    bool fine = true;

    for (size_t left = strlen(at); left > 0 && fine; at += put, left -= put)
        fine = WriteFile(p->child.input, at, left > BLOCK_BYTES ? BLOCK_BYTES : (DWORD)left, &put,
                         NULL) != 0;
    AcquireSRWLockExclusive(&p->lock);
    p->writing = false;
    p->deaf |= !fine;
    ReleaseSRWLockExclusive(&p->lock);
    WakeAllConditionVariable(&p->changed);
}

enum status process_open(const struct process_request *request, struct process **out,
                         struct fault *fault)
{
    struct process *p = calloc(1, sizeof *p);

    *out = NULL;
    if (p == NULL)
        return fault_no_memory(fault, "program");
    InitializeSRWLock(&p->lock);
    InitializeConditionVariable(&p->changed);
    p->out.max = LIMIT_ANSWER_BYTES;
    if (child_open(request, false, &p->child, fault) == ERR_NONE &&
        (p->reader = thread_start(read_answers, p)) == NULL)
        (void)fault_no_memory(fault, "program");
    if (fault->code != ERR_NONE) {
        child_close(&p->child);
        free(p);
        return fault->code;
    }
    *out = p;
    return ERR_NONE;
}

static uint32_t count_lines(const struct pump *out, size_t *from)
{
    uint32_t lines = 0;
    for (; *from < out->bytes; (*from)++)
        lines += out->text[*from] == '\n';
    return lines;
}

/* Waits, with the lock held, until the answer has its lines. */
static enum status await_lines(struct process *p, uint32_t lines, uint64_t end_ns,
                               struct fault *fault)
{
    size_t seen = 0;

    for (uint32_t got = count_lines(&p->out, &seen); got < lines;
         got += count_lines(&p->out, &seen)) {
        if (clock_ns() >= end_ns)
            return fault_set(fault, ERR_TIMEOUT, FAULT_NO_OFFSET, "program");
        if (p->out.cut)
            return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "answer of a program");
        if (p->ended)
            return fault_set_hint(fault, ERR_IO, FAULT_NO_OFFSET, "program",
                                  "it ended before it had answered");
        if (p->deaf)
            return fault_set_hint(fault, ERR_IO, FAULT_NO_OFFSET, "program",
                                  "it takes no more questions");
        if (process_interrupted())
            return fault_set(fault, ERR_INTERRUPTED, FAULT_NO_OFFSET, "program");
        (void)SleepConditionVariableSRW(&p->changed, &p->lock, LOOK_MS, 0);
    }
    return ERR_NONE;
}

/* Gives QUESTION to the writer, once that has written the one before. False: it still writes that,
 * or there is no memory. */
static bool start_writing(struct process *p, const char *question, uint64_t end_ns)
{
    AcquireSRWLockExclusive(&p->lock);
    while (p->writing && !process_interrupted() && clock_ns() < end_ns)
        (void)SleepConditionVariableSRW(&p->changed, &p->lock, LOOK_MS, 0);
    const bool busy = p->writing;
    ReleaseSRWLockExclusive(&p->lock);
    if (busy)
        return false;
    thread_join(p->writer);
    free(p->question);
    p->writer = NULL;
    const size_t bytes = strlen(question) + 1;
    p->question = malloc(bytes);
    if (p->question == NULL)
        return false;
    memcpy(p->question, question, bytes);
    p->writing = true;
    p->writer = thread_start(write_question, p); /* from here on, WRITING is its own to clear */
    if (p->writer == NULL)
        p->writing = false;
    return p->writer != NULL;
}

enum status process_ask(struct process *process, const char *question, uint32_t lines,
                        uint32_t limit_ms, struct arena *keep, char **answer, struct fault *fault)
{
    const uint64_t end_ns = clock_ns() + (uint64_t)limit_ms * 1000000U;
    struct process *p = process;

    *answer = NULL;
    AcquireSRWLockExclusive(&p->lock);
    p->out.bytes = 0;
    ReleaseSRWLockExclusive(&p->lock);
    if (!start_writing(p, question, end_ns))
        return fault_set_hint(fault, ERR_IO, FAULT_NO_OFFSET, "program",
                              "it takes no more questions");
    AcquireSRWLockExclusive(&p->lock);
    if (await_lines(p, lines, end_ns, fault) == ERR_NONE) {
        *answer = arena_text(keep, p->out.text != NULL ? p->out.text : "", p->out.bytes);
        if (*answer == NULL)
            (void)fault_no_memory(fault, "answer of a program");
    }
    ReleaseSRWLockExclusive(&p->lock);
    return fault->code;
}

void process_end(struct process *process, struct process_ended *out)
{
    struct process *p = process;
    DWORD code = 0;

    if (p == NULL)
        return;
    AcquireSRWLockExclusive(&p->lock);
    const bool writing = p->writing; /* then it reads nothing, and would not see its input end */
    ReleaseSRWLockExclusive(&p->lock);
    if (!writing) {
        (void)CloseHandle(p->child.input);
        p->child.input = NULL;
        (void)WaitForSingleObject(p->child.info.hProcess, PROCESS_CLOSE_LIMIT_MS);
    }
    const bool ended = WaitForSingleObject(p->child.info.hProcess, 0) == WAIT_OBJECT_0;
    (void)TerminateJobObject(p->child.job, JOB_KILLED);
    (void)WaitForSingleObject(p->child.info.hProcess, INFINITE);
    (void)GetExitCodeProcess(p->child.info.hProcess, &code);
    if (out != NULL)
        *out = (struct process_ended){.exit_code = ended ? (int)(code & 0xFF) : -1};
    thread_join(p->writer);
    thread_join(p->reader);
    child_close(&p->child);
    free(p->out.text);
    free(p->question);
    free(p);
}

void process_close(struct process *process)
{
    process_end(process, NULL);
}
