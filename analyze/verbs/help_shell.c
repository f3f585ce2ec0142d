/* Completion scripts for bash, zsh and fish, from the same tables as --help: verbs, subcommands,
 * options, and the values of options that take one of a few words. */
#include <stdio.h>
#include <string.h>

#include "verbs/common.h"
#include "verbs/help_forms.h"

/* "auto|never|always": the words that an option takes; false for files, numbers and the like. */
static bool takes_words(const struct option_row *row)
{
    return row->argument != NULL && strchr(row->argument, '|') != NULL &&
           strspn(row->argument, "abcdefghijklmnopqrstuvwxyz0123456789-|") == strlen(row->argument);
}

static void print_words(const char *alternatives)
{
    for (; *alternatives != '\0'; alternatives++)
        (void)putchar(*alternatives == '|' ? ' ' : *alternatives);
}

/* TEXT inside single quotes, with a backslash before each character of SPECIAL. */
static void print_quoted(const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            (void)fputs("'\\''", stdout);
        else if (strchr(special, *text) != NULL)
            (void)printf("\\%c", *text);
        else
            (void)putchar(*text);
    }
}

static void print_help(const struct option_row *row, const char *special)
{
    char help[COMMON_HELP_BYTES];
    common_help(row, help, sizeof help);
    print_quoted(help, special);
}

static bool takes_value(const struct option_row *row)
{
    return row->kind != OPTION_FLAG && row->kind != OPTION_FLAG_OR_FILE;
}

static void print_names(const struct subcommand *subcommands)
{
    for (const struct subcommand *s = subcommands; s != NULL && s->name != NULL; s++)
        (void)printf("%s%s", s == subcommands ? "" : " ", s->name);
}

/* bash: sets the variables of the function that help_bash prints. */
static void bash_verb(const struct verb *self, const struct option_row *rows, size_t row_count)
{
    (void)printf("  %s)\n    subcommands='", self->name);
    print_names(self->subcommands);
    (void)fputs("' options='--help", stdout);
    for (size_t i = 0; i < row_count; i++)
        (void)printf(" %s", rows[i].name);
    (void)fputs("'\n    case $before in\n", stdout);
    for (size_t i = 0; i < row_count; i++) {
        if (!takes_value(&rows[i]))
            continue;
        (void)printf("    %s) takes=%s", rows[i].name,
                     takes_words(&rows[i]) ? "words values='" : "file");
        if (takes_words(&rows[i])) {
            print_words(rows[i].argument);
            (void)putchar('\'');
        }
        (void)fputs(" ;;\n", stdout);
    }
    (void)fputs("    esac ;;\n", stdout);
}

void help_bash(void)
{
    const struct help_table table = help_verbs();

    (void)fputs("# Completion for bash, printed by `twinstack completion bash`.\n"
                "_twinstack() {\n"
                "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                "  local subcommands='' options='' takes='' values=''\n"
                "  case ${COMP_WORDS[1]} in\n",
                stdout);
    for (size_t i = 0; i < table.count; i++)
        help_of(table.rows[i], bash_verb);
    (void)fputs("  esac\n"
                "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
                "    values='",
                stdout);
    for (size_t i = 0; i < table.count; i++)
        (void)printf("%s ", table.rows[i]->name);
    (void)fputs("--help --version'\n"
                "  elif [ \"$takes\" = file ]; then\n"
                "    values=''\n"
                "  elif [ -z \"$takes\" ] && [[ $word == -* ]]; then\n"
                "    values=$options\n"
                "  elif [ -z \"$takes\" ] && [ \"$COMP_CWORD\" = 2 ]; then\n"
                "    values=$subcommands\n"
                "  fi\n"
                "  # With no word to offer, bash completes file names.\n"
                "  mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\")\n"
                "}\n"
                "complete -o default -F _twinstack twinstack\n",
                stdout);
}

#define ZSH_SPECIAL "[]:\\"

static void zsh_verb(const struct verb *self, const struct option_row *rows, size_t row_count)
{
    (void)printf("  %s)\n    _arguments -S '--help[this text]'", self->name);
    for (size_t i = 0; i < row_count; i++) {
        (void)printf(" \\\n      '%s%s[",
                     rows[i].kind == OPTION_LIST || rows[i].kind == OPTION_COMMAS ? "*" : "",
                     rows[i].name);
        print_help(&rows[i], ZSH_SPECIAL);
        (void)putchar(']');
        if (takes_value(&rows[i])) {
            (void)putchar(':');
            print_quoted(rows[i].argument != NULL ? rows[i].argument : "", ZSH_SPECIAL);
            (void)fputs(takes_words(&rows[i]) ? ":(" : ":_files", stdout);
            if (takes_words(&rows[i])) {
                print_words(rows[i].argument);
                (void)putchar(')');
            }
        }
        (void)putchar('\'');
    }
    if (self->subcommands != NULL) {
        (void)fputs(" \\\n      '1:subcommand:(", stdout);
        print_names(self->subcommands);
        (void)fputs(")'", stdout);
    }
    (void)fputs(" \\\n      '*:file:_files' ;;\n", stdout);
}

void help_zsh(void)
{
    const struct help_table table = help_verbs();

    (void)fputs("#compdef twinstack\n"
                "# Completion for zsh, printed by `twinstack completion zsh`.\n"
                "_twinstack() {\n"
                "  if (( CURRENT == 2 )); then\n"
                "    local -a verbs=(",
                stdout);
    for (size_t i = 0; i < table.count; i++) {
        (void)printf("\n      '%s:", table.rows[i]->name);
        print_quoted(table.rows[i]->summary, ":\\");
        (void)putchar('\'');
    }
    (void)fputs("\n    )\n    _describe verb verbs\n    return\n  fi\n"
                "  shift words\n  (( CURRENT-- ))\n  case $words[1] in\n",
                stdout);
    for (size_t i = 0; i < table.count; i++)
        help_of(table.rows[i], zsh_verb);
    (void)fputs("  esac\n}\ncompdef _twinstack twinstack\n", stdout);
}

static void fish_line(const char *verb)
{
    (void)printf("complete -c twinstack -n '__fish_seen_subcommand_from %s'", verb);
}

static void fish_verb(const struct verb *self, const struct option_row *rows, size_t row_count)
{
    (void)printf("complete -c twinstack -f -n __fish_use_subcommand -a %s -d '", self->name);
    print_quoted(self->summary, "\\");
    (void)fputs("'\n", stdout);
    for (const struct subcommand *s = self->subcommands; s != NULL && s->name != NULL; s++) {
        fish_line(self->name);
        (void)printf(" -a %s -d '", s->name);
        print_quoted(s->summary, "\\");
        (void)fputs("'\n", stdout);
    }
    for (size_t i = 0; i < row_count; i++) {
        const bool is_long = rows[i].name[1] == '-';
        fish_line(self->name);
        (void)printf(" -%c %s", is_long ? 'l' : 's', rows[i].name + (is_long ? 2 : 1));
        if (takes_words(&rows[i])) {
            (void)fputs(" -x -a '", stdout);
            print_words(rows[i].argument);
            (void)putchar('\'');
        } else if (takes_value(&rows[i])) {
            (void)fputs(" -r", stdout);
        }
        (void)fputs(" -d '", stdout);
        print_help(&rows[i], "\\");
        (void)fputs("'\n", stdout);
    }
}

void help_fish(void)
{
    const struct help_table table = help_verbs();

    (void)fputs("# Completion for fish, printed by `twinstack completion fish`.\n", stdout);
    for (size_t i = 0; i < table.count; i++)
        help_of(table.rows[i], fish_verb);
}
