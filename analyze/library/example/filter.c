/* Resolves a stream of stacks, from standard input to one JSON object per line:
 *
 *     filter SYMBOLS < stacks.txt */
#include <stdio.h>
#include <twinstack.h>

static int resolve(struct twinstack_symbols *symbols, struct twinstack_input *input,
                   struct twinstack_batch *batch)
{
    enum twinstack_read more = TWINSTACK_READ_MORE;
    size_t bytes;

    while (more != TWINSTACK_READ_END) {
        more = twinstack_batch_read(batch, input, symbols);
        twinstack_batch_resolve(batch, symbols);
        if (twinstack_batch_write(batch, TWINSTACK_FORM_NDJSON, 0) != TWINSTACK_OK)
            return 3;
        const char *text = twinstack_batch_text(batch, 0, twinstack_batch_count(batch), &bytes);
        if (fwrite(text, 1, bytes, stdout) != bytes || fflush(stdout) != 0)
            return 3;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *paths[] = {argc > 1 ? argv[1] : NULL};
    const struct twinstack_options options = {
        .size = sizeof options, .paths = paths, .path_count = 1};
    struct twinstack_symbols *symbols = NULL;
    struct twinstack_input *input = NULL;
    struct twinstack_batch *batch = twinstack_batch_new();
    struct twinstack_error error = {.text = "out of memory"};
    int code = 3;

    if (argc != 2)
        return 2;
    if (batch != NULL && twinstack_open(&options, &symbols, &error) == TWINSTACK_OK &&
        twinstack_input_open("-", 0, &input, &error) == TWINSTACK_OK)
        code = resolve(symbols, input, batch);
    else
        fprintf(stderr, "%s\n", error.text);
    twinstack_batch_free(batch);
    twinstack_input_close(input);
    twinstack_close(symbols);
    return code;
}
