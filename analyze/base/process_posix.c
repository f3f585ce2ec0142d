/* process.h on POSIX systems. The child gets a process group of its own, so that the time limit and
 * an interrupt also end every process that it started. */
#define _DEFAULT_SOURCE
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/processor.h"
#include "base/text.h"

/* By how much a child's peak may be wrong: it includes the memory inherited before exec. */
enum { INHERITED_MAX_BYTES = 32 << 20, TICK_MS = 20 };

static volatile sig_atomic_t interrupted;

static volatile sig_atomic_t ends, end_code;

static void on_interrupt(int number)
{
    (void)number;
    const struct itimerval limit = {.it_value.tv_usec =
                                        (suseconds_t)PROCESS_INTERRUPT_LIMIT_MS * 1000};
    if (ends && !interrupted)
        (void)setitimer(ITIMER_REAL, &limit, NULL);
    interrupted = 1;
}

static void on_alarm(int number)
{
    (void)number;
    _exit(end_code);
}

bool process_redirect_output(FILE *to)
{
    return fflush(stdout) == 0 && dup2(fileno(to), STDOUT_FILENO) >= 0;
}

void process_catch_interrupts(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

void process_catch_interrupts_until(int exit_code)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    (void)sigemptyset(&action.sa_mask);
    end_code = exit_code;
    ends = sigaction(SIGALRM, &action, NULL) == 0;
    process_catch_interrupts();
}

/* Ignores SIGPIPE: a program that does not read its input must not end this process. */
static void outlive_closed_pipes(void)
{
    struct sigaction now;
    if (sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        (void)signal(SIGPIPE, SIG_IGN);
}

bool process_interrupted(void)
{
    return interrupted != 0;
}

char *process_find(const char *name, struct arena *keep)
{
    if (strchr(name, '/') != NULL)
        return access(name, X_OK) == 0 ? arena_string(keep, name) : NULL;
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        const size_t length = strcspn(path, ":");
        char *full = arena_printf(keep, "%.*s/%s", (int)length, path, name);
        if (full == NULL)
            return NULL;
        if (access(full, X_OK) == 0 && path_is_file(full))
            return full;
        path += length + (path[length] == ':');
    }
    return NULL;
}

/* One end of a pipe that is read or written while the child runs. */
struct pump {
    int fd;
    char *text; /* allocated with malloc() while it grows */
    size_t bytes, room, max;
    bool cut;
};

static void pump_read(struct pump *p)
{
    char block[65536];
    const ssize_t got = read(p->fd, block, sizeof block);

    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0) {
        (void)close(p->fd);
        p->fd = -1;
        return;
    }
    size_t bytes = (size_t)got;
    if (bytes > p->max - p->bytes) {
        bytes = p->max - p->bytes;
        p->cut = true;
    }
    if (p->room - p->bytes < bytes) {
        const size_t room = array_next_room(p->room, p->bytes + bytes, 1);
        char *wider = room != 0 ? realloc(p->text, room) : NULL;
        if (wider == NULL) {
            p->cut = true;
            return;
        }
        p->text = wider;
        p->room = room;
    }
    if (bytes > 0)
        memcpy(p->text + p->bytes, block, bytes);
    p->bytes += bytes;
}

static void pump_write(int *fd, const char **at, size_t *left)
{
    const ssize_t put = write(*fd, *at, *left);
    if (put < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (put > 0) {
        *at += put;
        *left -= (size_t)put;
    }
    if (put < 0 || *left == 0) { /* a child may ignore its input: not an error */
        (void)close(*fd);
        *fd = -1;
    }
}

struct child {
    const struct process_request *request; /* NULL: it keeps running */
    bool despite_interrupt;
    pid_t pid;
    int input;
    struct pump out, err;
    const char *input_at;
    size_t input_left;
};

static _Noreturn void child_become(const struct process_request *request, const char *program,
                                   int processor, const int pipes[6])
{
    processor_stay(processor);
    (void)setpgid(0, 0);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_DFL);
    if (dup2(pipes[0], 0) < 0 || dup2(pipes[3], 1) < 0 || dup2(pipes[5], 2) < 0)
        _exit(127);
    if (request->folder != NULL && chdir(request->folder) != 0)
        _exit(127);
    const struct rlimit memory = {(rlim_t)request->memory_max_bytes,
                                  (rlim_t)request->memory_max_bytes};
    if (request->memory_max_bytes != 0 && setrlimit(RLIMIT_DATA, &memory) != 0)
        _exit(127);
    for (size_t i = 0; request->environment != NULL && request->environment[i] != NULL; i++) {
        /* putenv keeps the pointer and never writes through it */
        union {
            const char *in;
            char *out;
        } row = {request->environment[i]};
        (void)putenv(row.out);
    }
    union {
        const char *const *in;
        char *const *out;
    } argv = {request->argv};
    (void)execv(program, argv.out);
    _exit(127);
}

static bool pipes_open(int pipes[6])
{
    for (int i = 0; i < 6; i++)
        pipes[i] = -1;
    for (int i = 0; i < 6; i += 2) {
        if (pipe(pipes + i) != 0)
            return false;
        (void)fcntl(pipes[i], F_SETFD, FD_CLOEXEC);
        (void)fcntl(pipes[i + 1], F_SETFD, FD_CLOEXEC);
    }
    return true;
}

static void pipes_close(const int pipes[6])
{
    for (int i = 0; i < 6; i++)
        if (pipes[i] >= 0)
            (void)close(pipes[i]);
}

static bool child_stopped(const struct child *c)
{
    return !c->despite_interrupt && process_interrupted();
}

/* No other thread may fork between the creation of the pipes and the fork. A child that inherits
 * the write end of another child's pipe would keep that pipe's reader waiting. */
static pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER;

static bool child_start(const struct process_request *request, const char *program, struct child *c)
{
    int pipes[6]; /* input read, write; output read, write; errors read, write */
    const int processor = processor_number(request->processor);

    (void)pthread_mutex_lock(&forking);
    const bool opened = pipes_open(pipes);
    c->pid = opened ? fork() : -1;
    if (c->pid != 0)
        (void)pthread_mutex_unlock(&forking);
    if (c->pid < 0) {
        pipes_close(pipes);
        return false;
    }
    if (c->pid == 0)
        child_become(request, program, processor, pipes);
    (void)setpgid(c->pid, c->pid);
    (void)close(pipes[0]);
    (void)close(pipes[3]);
    (void)close(pipes[5]);
    c->input = pipes[1];
    c->out.fd = pipes[2];
    c->err.fd = pipes[4];
    c->input_at = request->input;
    c->input_left = request->input_bytes;
    if (c->input_left == 0) {
        (void)close(c->input);
        c->input = -1;
    } else {
        (void)fcntl(c->input, F_SETFL, O_NONBLOCK);
    }
    return true;
}

/* Transfers input and output until both outputs are closed, the time limit passes or the user
 * interrupts. */
static bool child_pump(struct child *c, uint64_t end_ns)
{
    const bool ticks = c->request->while_running != NULL;
    const int longest_ms = ticks ? TICK_MS : 250;

    while (c->out.fd >= 0 || c->err.fd >= 0) {
        if (ticks)
            c->request->while_running(c->request->context);
        const uint64_t now = clock_ns();
        if (now >= end_ns)
            return false;
        const uint64_t wait_ms = (end_ns - now) / 1000000U + 1;
        struct pollfd set[3] = {
            {c->out.fd, POLLIN, 0}, {c->err.fd, POLLIN, 0}, {c->input, POLLOUT, 0}};
        const int ready = poll(set, 3, wait_ms < (uint64_t)longest_ms ? (int)wait_ms : longest_ms);
        if (child_stopped(c))
            return false;
        if (ready <= 0)
            continue;
        if (set[0].revents != 0)
            pump_read(&c->out);
        if (set[1].revents != 0)
            pump_read(&c->err);
        if (set[2].revents != 0)
            pump_write(&c->input, &c->input_at, &c->input_left);
    }
    return true;
}

/* The outputs may close before the process ends: keep waiting, within the time limit. */
static bool child_wait(const struct child *c, uint64_t end_ns, int *state, struct rusage *usage)
{
    for (;;) {
        const pid_t got = wait4(c->pid, state, WNOHANG, usage);
        if (got == c->pid)
            return true;
        if ((got < 0 && errno != EINTR) || clock_ns() >= end_ns || child_stopped(c))
            return false;
        (void)poll(NULL, 0, 1);
    }
}

static int exit_code_of(int state)
{
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

static char *pump_finish(struct pump *p, struct arena *keep, size_t *bytes)
{
    if (p->fd >= 0)
        (void)close(p->fd);
    char *text = arena_text(keep, p->text != NULL ? p->text : "", p->bytes);
    *bytes = text != NULL ? p->bytes : 0;
    free(p->text);
    return text;
}

enum status process_run(const struct process_request *request, struct arena *keep,
                        struct process_result *out, struct fault *fault)
{
    const uint64_t start_ns = clock_ns(), held_bytes = memory_held_bytes();
    const uint64_t limit_ms = request->limit_ms != 0 ? request->limit_ms : 60000;
    const uint64_t end_ns = start_ns + limit_ms * 1000000U;
    struct child c;
    struct rusage usage;
    int state = 0;

    memset(out, 0, sizeof *out);
    memset(&c, 0, sizeof c);
    memset(&usage, 0, sizeof usage);
    c.request = request;
    c.despite_interrupt = request->despite_interrupt;
    const char *program = process_find(request->argv[0], keep);
    if (program == NULL) {
        fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "program", "not found in PATH");
        fault_set_path(fault, request->argv[0]);
        return fault->code;
    }
    c.out.max = c.err.max =
        request->output_max_bytes != 0 ? request->output_max_bytes : (size_t)64 << 20;
    if (request->input_bytes > 0)
        outlive_closed_pipes();
    if (!child_start(request, program, &c))
        return fault_set_lasting(fault, ERR_IO, FAULT_NO_OFFSET, "program start",
                                 fault_errno_hint(errno));
    if (!child_pump(&c, end_ns) || !child_wait(&c, end_ns, &state, &usage)) {
        out->timed_out = !child_stopped(&c);
        (void)kill(-c.pid, SIGKILL);
        (void)kill(c.pid, SIGKILL);
        while (wait4(c.pid, &state, 0, &usage) < 0 && errno == EINTR) {
        }
    }
    if (c.input >= 0)
        (void)close(c.input);
    out->output = pump_finish(&c.out, keep, &out->output_bytes);
    out->errors = pump_finish(&c.err, keep, &out->errors_bytes);
    out->output_cut = c.out.cut;
    out->exit_code = exit_code_of(state);
    out->wall_ns = clock_ns() - start_ns;
    out->peak_bytes = (uint64_t)usage.ru_maxrss * 1024U;
    /* The system's figure is approximate: up to an eighth more still counts as inherited. */
    if (held_bytes > INHERITED_MAX_BYTES && out->peak_bytes <= held_bytes + held_bytes / 8)
        out->peak_bytes = 0;
    if (out->output == NULL || out->errors == NULL)
        return fault_no_memory(fault, "program output");
    if (child_stopped(&c))
        return fault_set(fault, ERR_INTERRUPTED, FAULT_NO_OFFSET, "program");
    return ERR_NONE;
}

/* ---- programs that keep running -------------------------------------------------------- */

struct process {
    struct child child;
};

enum status process_open(const struct process_request *request, struct process **out,
                         struct fault *fault)
{
    struct process_request lasting = *request;
    struct arena scratch;

    *out = NULL;
    struct process *process = calloc(1, sizeof *process);
    if (process == NULL)
        return fault_no_memory(fault, "program");
    arena_init(&scratch, 0);
    lasting.input = "";
    lasting.input_bytes = 1; /* keeps its input open */
    const char *program = process_find(request->argv[0], &scratch);
    outlive_closed_pipes();
    if (program == NULL) {
        fault_set_hint(fault, ERR_ABSENT, FAULT_NO_OFFSET, "program", "not found in PATH");
        fault_set_path(fault, request->argv[0]);
    } else if (!child_start(&lasting, program, &process->child)) {
        fault_set_lasting(fault, ERR_IO, FAULT_NO_OFFSET, "program start", fault_errno_hint(errno));
    }
    arena_free(&scratch);
    if (fault->code != ERR_NONE) {
        free(process);
        return fault->code;
    }
    process->child.out.max = process->child.err.max = LIMIT_ANSWER_BYTES;
    *out = process;
    return ERR_NONE;
}

static uint32_t count_lines(const struct pump *p, size_t *from)
{
    uint32_t lines = 0;
    for (; *from < p->bytes; (*from)++)
        lines += p->text[*from] == '\n';
    return lines;
}

/* Keeps the end of what it writes to its standard error. */
static void read_words(struct pump *err)
{
    pump_read(err);
    if (err->bytes < PROCESS_WORDS_BYTES)
        return;
    const size_t kept = PROCESS_WORDS_BYTES - 1;
    memmove(err->text, err->text + err->bytes - kept, kept);
    err->bytes = kept;
}

/* Transfers until the answer has its lines. */
static enum status converse(struct child *c, uint32_t lines, uint64_t end_ns, struct fault *fault)
{
    size_t seen = 0;
    for (uint32_t read = 0; read < lines; read += count_lines(&c->out, &seen)) {
        const uint64_t now = clock_ns();
        if (now >= end_ns)
            return fault_set(fault, ERR_TIMEOUT, FAULT_NO_OFFSET, "program");
        if (c->out.fd < 0)
            return fault_set_hint(fault, ERR_IO, FAULT_NO_OFFSET, "program",
                                  "it ended before it had answered");
        if (c->out.cut)
            return fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "answer of a program");
        const uint64_t wait_ms = (end_ns - now) / 1000000U + 1;
        struct pollfd set[3] = {{c->out.fd, POLLIN, 0},
                                {c->err.fd, POLLIN, 0},
                                {c->input_left > 0 ? c->input : -1, POLLOUT, 0}};
        const int ready = poll(set, 3, wait_ms < 250 ? (int)wait_ms : 250);
        if (child_stopped(c))
            return fault_set(fault, ERR_INTERRUPTED, FAULT_NO_OFFSET, "program");
        if (ready <= 0)
            continue;
        if (set[0].revents != 0)
            pump_read(&c->out);
        if (set[1].revents != 0)
            read_words(&c->err);
        if (set[2].revents != 0) {
            const ssize_t put = write(c->input, c->input_at, c->input_left);
            if (put > 0) {
                c->input_at += put;
                c->input_left -= (size_t)put;
            } else if (errno != EINTR && errno != EAGAIN) {
                return fault_set_hint(fault, ERR_IO, FAULT_NO_OFFSET, "program",
                                      "it takes no more questions");
            }
        }
    }
    return ERR_NONE;
}

enum status process_ask(struct process *process, const char *question, uint32_t lines,
                        uint32_t limit_ms, struct arena *keep, char **answer, struct fault *fault)
{
    struct child *c = &process->child;

    *answer = NULL;
    c->out.bytes = 0;
    c->input_at = question;
    c->input_left = strlen(question);
    if (converse(c, lines, clock_ns() + (uint64_t)limit_ms * 1000000U, fault) != ERR_NONE)
        return fault->code;
    *answer = arena_text(keep, c->out.text != NULL ? c->out.text : "", c->out.bytes);
    return *answer != NULL ? ERR_NONE : fault_no_memory(fault, "answer of a program");
}

static void say_how_it_ended(struct child *c, int exit_code, uint64_t peak_bytes,
                             struct process_ended *out)
{
    struct pollfd more = {c->err.fd, POLLIN, 0};
    while (c->err.fd >= 0 && poll(&more, 1, 0) > 0)
        read_words(&c->err);
    out->exit_code = exit_code;
    out->peak_bytes = peak_bytes;
    (void)snprintf(out->words, sizeof out->words, "%.*s", (int)c->err.bytes,
                   c->err.text != NULL ? c->err.text : "");
}

void process_end(struct process *process, struct process_ended *out)
{
    if (process == NULL)
        return;
    struct child *c = &process->child;
    struct rusage usage;
    int state = 0;

    memset(&usage, 0, sizeof usage);
    (void)close(c->input);
    const bool ended =
        child_wait(c, clock_ns() + (uint64_t)PROCESS_CLOSE_LIMIT_MS * 1000000U, &state, &usage);
    if (!ended) {
        (void)kill(-c->pid, SIGKILL);
        (void)kill(c->pid, SIGKILL);
        while (wait4(c->pid, &state, 0, &usage) < 0 && errno == EINTR) {
        }
    }
    if (out != NULL)
        say_how_it_ended(c, ended ? exit_code_of(state) : -1, (uint64_t)usage.ru_maxrss * 1024U,
                         out);
    if (c->out.fd >= 0)
        (void)close(c->out.fd);
    if (c->err.fd >= 0)
        (void)close(c->err.fd);
    free(c->out.text);
    free(c->err.text);
    free(process);
}

void process_close(struct process *process)
{
    process_end(process, NULL);
}

void process_name_self(char out[PROCESS_NAME_BYTES])
{
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    (void)snprintf(out, PROCESS_NAME_BYTES, "%ld@%s", (long)getpid(), host);
}

const char *process_program(struct arena *keep)
{
    char path[4096];
    const ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - 1);
    if (bytes <= 0 || (size_t)bytes >= sizeof path - 1)
        return NULL;
    path[bytes] = '\0';
    return arena_string(keep, path);
}

/* The identity of a process from /proc; empty where there is no /proc. */
static void read_program_name(long id, char out[64])
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/comm", id);
    FILE *file = fopen(path, "rb");
    const size_t bytes = file != NULL ? fread(out, 1, 63, file) : 0;
    out[bytes] = '\0';
    if (file != NULL)
        (void)fclose(file);
}

/* True for a process that has ended, but that its parent has not waited for. */
static bool is_zombie(long id)
{
    char path[64], text[512];
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", id);
    FILE *file = fopen(path, "rb");
    const size_t bytes = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file != NULL)
        (void)fclose(file);
    text[bytes] = '\0';
    const char *end = strrchr(text, ')'); /* of the program's name, which may contain anything */
    return end != NULL && (strncmp(end, ") Z", 3) == 0 || strncmp(end, ") X", 3) == 0);
}

enum process_life process_life_of(const char *name)
{
    char self[PROCESS_NAME_BYTES], ours[64], theirs[64];
    const size_t digits = name != NULL ? strcspn(name, "@") : 0;
    uint64_t id = 0;

    process_name_self(self);
    if (digits == 0 || strcmp(name + digits, strchr(self, '@')) != 0 ||
        !text_parse_uint(name, digits, &id) || id == 0 || id > INT32_MAX)
        return PROCESS_UNKNOWN;
    if ((kill((pid_t)id, 0) != 0 && errno == ESRCH) || is_zombie((long)id))
        return PROCESS_GONE;
    read_program_name((long)getpid(), ours); /* another process may have this PID by now */
    read_program_name((long)id, theirs);
    return theirs[0] != '\0' && strcmp(ours, theirs) != 0 ? PROCESS_GONE : PROCESS_ALIVE;
}
