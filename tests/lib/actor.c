/* A program that runs the commands in its first argument, one per line, so that tests need no
 * shell; see `usage`. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/files.h"
#include "base/process.h"
#include "base/thread.h"

static const char usage[] =
    "usage: actor SCRIPT [ARGUMENT...], one command per line of SCRIPT\n"
    "       actor do COMMAND WORD, one command, where an argument cannot hold a space\n"
    "  out TEXT, err TEXT   write a line\n"
    "  cat                  copy the input to the output\n"
    "  echo BYTES           the same line by line, each after that many bytes on the other output\n"
    "  line, skip           copy one line of the input; read one\n"
    "  part TEXT            write the beginning of a line\n"
    "  show FILE            copy a file to the output\n"
    "  env NAME             write a variable's value\n"
    "  args                 write the arguments in a line of errors, with blanks between\n"
    "  zeros BYTES          write that many NUL bytes\n"
    "  hold BYTES           touch that much memory\n"
    "  deaf                 close the input\n"
    "  sleep SECONDS        wait\n"
    "  interrupted CODE     be interrupted, and poll no more; CODE is for that end\n"
    "  spawn SECONDS        start another that waits\n"
    "  outcome TEXT         write FOLDER/outcome.json; FOLDER follows --out in the arguments\n"
    "  record [TEXT]        write a record as the capture names it; no text: it stays empty\n"
    "  once CODE            end with CODE when asked for the first time\n"
    "  exit CODE            end\n";

static const char *self, *out_folder = ".";
static char **arguments;

static void put_zeros(long count)
{
    static const char zeros[1 << 16];
    for (long some; count > 0; count -= some) {
        some = count < (long)sizeof zeros ? count : (long)sizeof zeros;
        (void)fwrite(zeros, 1, (size_t)some, stdout);
    }
}

static void copy(FILE *in)
{
    for (int c = getc(in); c != EOF; c = getc(in))
        (void)putchar(c);
}

static void skip(void)
{
    for (int c = getchar(); c != EOF && c != '\n';)
        c = getchar();
}

static bool copy_line(void)
{
    int c = getchar();
    const bool is_line = c != EOF;
    for (; c != EOF && c != '\n'; c = getchar())
        (void)putchar(c);
    if (is_line)
        (void)putchar('\n');
    (void)fflush(stdout);
    return is_line;
}

static void echo(long bytes)
{
    do {
        for (long i = 0; i < bytes; i++)
            (void)putc('.', stderr);
    } while (copy_line());
}

static void show(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (in != NULL) {
        copy(in);
        (void)fclose(in);
    }
}

static void hold(size_t bytes)
{
    volatile char *block = malloc(bytes);
    for (size_t i = 0; block != NULL && i < bytes; i += 1024)
        block[i] = 1;
}

static void spawn(const char *seconds)
{
    char script[64];
    (void)snprintf(script, sizeof script, "sleep %s", seconds);
    const char *argv[] = {self, script, NULL};
    const struct process_request request = {.argv = argv, .limit_ms = 60000};
    struct process_result result;
    struct fault fault = FAULT_INIT;
    struct arena keep;
    arena_init(&keep, 0);
    (void)process_run(&request, &keep, &result, &fault);
}

static void be_interrupted(int code)
{
    process_catch_interrupts_until(code);
    (void)raise(SIGINT);
    for (;;)
        thread_sleep_ms(1000);
}

static void write_file(const char *name, const char *text)
{
    char path[4300];
    (void)snprintf(path, sizeof path, "%s/%s", out_folder, name);
    FILE *out = fopen(path, "wb");
    if (out != NULL) {
        (void)fprintf(out, text[0] != '\0' ? "%s\n" : "%s", text);
        (void)fclose(out);
    }
}

static bool is_first_time(void)
{
    char path[4300];
    struct fault fault = FAULT_INIT;
    (void)snprintf(path, sizeof path, "%s/../lost", out_folder);
    return !path_is_folder(path) && folder_make(path, &fault) == ERR_NONE;
}

static void put_arguments(void)
{
    for (char **word = arguments; *word != NULL; word++)
        (void)fprintf(stderr, "%s%s", *word, word[1] != NULL ? " " : "\n");
}

static void act(const char *verb, const char *rest)
{
    if (strcmp(verb, "out") == 0)
        (void)printf("%s\n", rest);
    else if (strcmp(verb, "err") == 0)
        (void)fprintf(stderr, "%s\n", rest);
    else if (strcmp(verb, "args") == 0)
        put_arguments();
    else if (strcmp(verb, "cat") == 0)
        copy(stdin);
    else if (strcmp(verb, "echo") == 0)
        echo(atol(rest));
    else if (strcmp(verb, "line") == 0)
        (void)copy_line();
    else if (strcmp(verb, "skip") == 0)
        skip();
    else if (strcmp(verb, "part") == 0)
        (void)printf("%s", rest);
    else if (strcmp(verb, "env") == 0)
        (void)printf("%s\n", getenv(rest) != NULL ? getenv(rest) : "");
    else if (strcmp(verb, "zeros") == 0)
        put_zeros(atol(rest));
    else if (strcmp(verb, "hold") == 0)
        hold((size_t)atol(rest));
    else if (strcmp(verb, "deaf") == 0)
        (void)fclose(stdin);
    else if (strcmp(verb, "sleep") == 0)
        thread_sleep_ms((uint32_t)atol(rest) * 1000);
    else if (strcmp(verb, "interrupted") == 0)
        be_interrupted(atoi(rest));
    else if (strcmp(verb, "spawn") == 0)
        spawn(rest);
    else if (strcmp(verb, "show") == 0)
        show(rest);
    else if (strcmp(verb, "outcome") == 0)
        write_file("outcome.json", rest);
    else if (strcmp(verb, "record") == 0)
        write_file("capture-20260101-000000-000-7.rec", rest);
    else if (strcmp(verb, "exit") == 0 || (strcmp(verb, "once") == 0 && is_first_time()))
        exit(atoi(rest));
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    process_prepare();
    if (argc < 2) {
        (void)fputs(usage, stderr);
        return 2;
    }
    self = argv[0];
    arguments = argv + 2;
    if (strcmp(argv[1], "do") == 0) {
        act(argc > 2 ? argv[2] : "", argc > 3 ? argv[3] : "");
        return 0;
    }
    for (int i = 2; i + 1 < argc; i++)
        if (strcmp(argv[i], "--out") == 0)
            out_folder = argv[i + 1];
    for (char *line = argv[1]; line != NULL;) {
        char *next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        char *space = strchr(line, ' ');
        if (space != NULL)
            *space++ = '\0';
        act(line, space != NULL ? space : "");
        line = next;
    }
    return 0;
}
