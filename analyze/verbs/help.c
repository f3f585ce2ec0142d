/* The help of verbs as text; other forms are in help_man.c and help_shell.c. */
#include "verbs/help.h"

#include "base/array.h"
#include "verbs/common.h"

static void print_usage(const struct verb *self)
{
    if (self->subcommands == NULL)
        (void)printf("usage: twinstack %s %s\n%s\n", self->name, self->usage, self->summary);
    for (const struct subcommand *s = self->subcommands; s != NULL && s->name != NULL; s++)
        (void)printf("%s twinstack %s %s%s%s\n", s == self->subcommands ? "usage:" : "      ",
                     self->name, s->name, s->usage != NULL ? " " : "",
                     s->usage != NULL ? s->usage : "");
    if (self->subcommands == NULL)
        return;
    (void)printf("%s\n\nsubcommands:\n", self->summary);
    for (const struct subcommand *s = self->subcommands; s->name != NULL; s++)
        (void)printf("  %-26s %s\n", s->name, s->summary);
}

static void print_text(const struct verb *self, const struct option_row *rows, size_t row_count)
{
    print_usage(self);
    (void)fputs("\noptions:\n", stdout);
    for (size_t i = 0; i < row_count; i++) {
        char left[64], help[COMMON_HELP_BYTES];
        common_help(&rows[i], help, sizeof help);
        (void)snprintf(left, sizeof left, "%s%s%s", rows[i].name, rows[i].argument ? " " : "",
                       rows[i].argument ? rows[i].argument : "");
        (void)printf("  %-26s %s\n", left, help);
    }
    (void)printf("  %-26s %s\n", "--help", "this text");
    if (self->details != NULL)
        (void)printf("\n%s\n", self->details);
    if (self->exits != NULL)
        (void)printf("\nexit codes:\n%s\n", self->exits);
}

static help_form *wanted = print_text;
static struct help_table about;

void help_print(const struct verb *self, const struct option_row *rows, size_t row_count)
{
    wanted(self, rows, row_count);
}

void help_of(const struct verb *verb, help_form *form)
{
    char help[] = "--help";
    char *argv[] = {help, NULL};

    wanted = form != NULL ? form : print_text;
    (void)verb->run(verb, 1, argv);
    wanted = print_text;
}

void help_about(struct help_table table)
{
    about = table;
}

struct help_table help_verbs(void)
{
    return about;
}

void help_list(FILE *out)
{
    (void)fputs("usage: twinstack VERB [OPTION...] [ARGUMENT...]\n" HELP_WHAT_IT_IS "\n\nverbs:\n",
                out);
    for (size_t i = 0; i < about.count; i++)
        (void)fprintf(out, "  %-12s %s\n", about.rows[i]->name, about.rows[i]->summary);
    (void)fputs("\n`twinstack VERB --help` prints a verb's options, examples and exit codes.\n",
                out);
}

void help_tasks(FILE *out)
{
    static const struct {
        const char *task, *command;
    } tasks[] = {
        {"names for module!0xoffset stacks", "twinstack resolve --symbols DIR stacks.txt"},
        {"the stacks of a minidump", "twinstack dump --stacks --symbols DIR crash.dmp"},
        {"both ways of a case compared", "twinstack check CASE"},
        {"every sample crash, both ways", "twinstack run"},
        {"runs and mismatches in a browser", "twinstack serve"},
    };
    (void)fputs("usage: twinstack VERB [OPTION...] [ARGUMENT...]\n" HELP_WHAT_IT_IS "\n\n", out);
    for (size_t i = 0; i < COUNT_OF(tasks); i++)
        (void)fprintf(out, "  %-34s %s\n", tasks[i].task, tasks[i].command);
    (void)fputs("\n`twinstack help` lists all verbs, `twinstack VERB --help` explains one.\n", out);
}
