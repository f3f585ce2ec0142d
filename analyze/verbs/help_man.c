/* Manual pages in the man macros of roff (man(7)), from the same tables as --help. */
#include <stdio.h>

#include "verbs/common.h"
#include "verbs/help_forms.h"

/* Prints TEXT so that roff takes no character of it as a command. */
static void print_roff(const char *text)
{
    bool at_start = true;

    for (; *text != '\0'; text++) {
        if (at_start && (*text == '.' || *text == '\''))
            (void)fputs("\\&", stdout);
        if (*text == '\\')
            (void)fputs("\\e", stdout);
        else if (*text == '-')
            (void)fputs("\\-", stdout);
        else
            (void)putchar(*text);
        at_start = *text == '\n';
    }
}

static void print_title(const char *name, const char *verb, const char *summary)
{
    (void)printf(".TH \"%s%s%s\" 1 \"\" \"twinstack %s\" \"User Commands\"\n.SH NAME\n", name,
                 verb != NULL ? "-" : "", verb != NULL ? verb : "", TWINSTACK_VERSION);
    print_roff("twinstack");
    if (verb != NULL)
        (void)printf("\\-%s", verb);
    (void)fputs(" \\- ", stdout);
    print_roff(summary);
    (void)putchar('\n');
}

/* Lines as they are: lists and examples. */
static void print_lines(const char *heading, const char *text)
{
    if (text == NULL)
        return;
    (void)printf(".SH %s\n.nf\n", heading);
    print_roff(text);
    (void)fputs("\n.fi\n", stdout);
}

static void print_item(const char *name, const char *argument, const char *help)
{
    (void)fputs(".TP\n\\fB", stdout);
    print_roff(name);
    (void)fputs("\\fR", stdout);
    if (argument != NULL) {
        (void)fputs(" \\fI", stdout);
        print_roff(argument);
        (void)fputs("\\fR", stdout);
    }
    (void)putchar('\n');
    print_roff(help);
    (void)putchar('\n');
}

static void print_synopsis(const struct verb *self)
{
    (void)fputs(".SH SYNOPSIS\n", stdout);
    if (self->subcommands == NULL) {
        (void)printf("\\fBtwinstack %s\\fR ", self->name);
        print_roff(self->usage);
        (void)putchar('\n');
    }
    for (const struct subcommand *s = self->subcommands; s != NULL && s->name != NULL; s++) {
        (void)printf("\\fBtwinstack %s %s\\fR ", self->name, s->name);
        print_roff(s->usage != NULL ? s->usage : "");
        (void)fputs("\n.br\n", stdout);
    }
}

void help_man(const struct verb *self, const struct option_row *rows, size_t row_count)
{
    print_title("twinstack", self->name, self->summary);
    print_synopsis(self);
    if (self->subcommands != NULL)
        (void)fputs(".SH SUBCOMMANDS\n", stdout);
    for (const struct subcommand *s = self->subcommands; s != NULL && s->name != NULL; s++)
        print_item(s->name, s->usage, s->summary);
    (void)fputs(".SH OPTIONS\n", stdout);
    for (size_t i = 0; i < row_count; i++) {
        char help[COMMON_HELP_BYTES];
        common_help(&rows[i], help, sizeof help);
        print_item(rows[i].name, rows[i].argument, help);
    }
    print_item("--help", NULL, "prints this as text");
    print_lines("DESCRIPTION", self->details);
    print_lines("EXIT STATUS", self->exits);
    (void)fputs(".SH SEE ALSO\n.BR twinstack (1)\n", stdout);
}

void help_man_of_all(void)
{
    print_title("twinstack", NULL,
                "crash stacks taken by dump and by offsets, resolved and compared");
    (void)fputs(".SH SYNOPSIS\n\\fBtwinstack\\fR \\fIVERB\\fR [\\fIOPTION\\fR...] "
                "[\\fIARGUMENT\\fR...]\n.SH DESCRIPTION\n",
                stdout);
    print_roff(HELP_WHAT_IT_IS);
    (void)fputs("\n.SH VERBS\nEach has a page of its own, twinstack\\-VERB(1).\n", stdout);
    const struct help_table table = help_verbs();
    for (size_t i = 0; i < table.count; i++)
        print_item(table.rows[i]->name, NULL, table.rows[i]->summary);
}
