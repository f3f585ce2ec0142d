/* What the parts of the stack reader share; no other file includes this.
 *
 * A builder that outlives a call of stack_input_next() collects the frames, because a bad line is
 * returned while the stack around it continues. Text that is not interned stays in `scratch` and is
 * copied when the stack ends. */
#ifndef STACKS_STACK_READER_H
#define STACKS_STACK_READER_H

#include "base/limits.h"
#include "format/record/record.h"
#include "stacks/stack_input.h"
#include "stacks/stack_pattern.h"

enum {
    INPUT_BUILD_ID_BYTES = 129, /* hex digits of a build id, and a NUL */
    INPUT_BUFFER_BYTES = 1 << 18,
    INPUT_PROMPT_MS =
        50, /* how long to wait for a stack's next line before showing what has arrived */
    INPUT_NAMES_MAX = 1 << 14,  /* distinct module names that are kept permanently */
    INPUT_NAME_SLOTS = 1 << 15, /* a power of two, above the former             */
};

/* Collects one stack, keeping the first 768 and the last 256 frames. */
struct stack_builder {
    struct frame *frames; /* owned; LIMIT_FRAMES of them          */
    uint64_t count;       /* all frames received, kept or not     */
    uint64_t handed;      /* of those, already returned           */
    uint64_t before;      /* returned earlier, and forgotten      */
    uint64_t left_out;    /* further ones, as stated by the input */
    bool lost;            /* the line before was not understood: a place after it is of no frame */
};

struct stack_line {
    const char *at; /* borrowed from the buffer, not terminated */
    size_t bytes;
    uint64_t offset; /* in the stream */
    bool too_long;   /* only the start of the line is here */
};

/* A module of the load map. */
struct input_range {
    uint64_t start_va, end_va;
    const struct module *module;
};

/* Frames that only a line before them makes known. */
enum input_block {
    BLOCK_NONE,
    BLOCK_GO,
    BLOCK_RUST,
    BLOCK_PERF,
    BLOCK_UMDH,
    BLOCK_NAMES,
    BLOCK_CRASHRPT,
    BLOCK_RESOLVED, /* of our own text: names of inlined calls follow */
    BLOCK_PARAMETERS,
    BLOCK_RETURNS,   /* of WinDbg's k: a return address and the call site */
    BLOCK_ADDRESSES, /* module!0xADDRESS instead of an offset */
    /* From here on the innermost frame is the last one. */
    BLOCK_WPA,
    BLOCK_PYTHON,
    BLOCK_PYTHON_SOURCE, /* a line of the source may follow */
    BLOCK_PYTHON_MARKS   /* marks below that line may follow */
};

enum input_units { UNITS_BYTES, UNITS_UTF16_LITTLE, UNITS_UTF16_BIG };

/* What a thread in JSON, or an object without threads, says of each of its walks. They are looked
 * up once, since each look goes through all members. */
struct json_facts {
    const cJSON *of; /* NULL: none yet */
    uint64_t id;
    const char *name, *role; /* in scratch; NULL: not stated */
    const cJSON *images;     /* of a job of Tecken */
};

struct markup_module; /* notation_markup.c */

struct stack_input {
    FILE *stream;
    bool owns_stream, direct; /* direct: opened here, so that no other code reads it by stdio */
    bool prompt;
    bool one_walker;    /* see stack_input_one_walker() */
    const char *walker; /* borrowed */
    uint32_t left;
    const char *name;
    const struct notation *const *notations; /* the table, borrowed */
    const struct notation *notation;         /* of the stream; NULL: not known yet */
    bool understood;                         /* at least one item was read in it */

    char *buffer; /* owned; LIMIT_LINE_BYTES + 1 at most, grown on demand */
    uint32_t room;
    size_t start, end;
    uint64_t offset; /* in the stream, of buffer[start] */
    bool ended, broken, reported;
    enum input_units units; /* of the stream; the buffer has UTF-8 */
    uint32_t quotes;        /* how deep the line before was quoted (quoted.c) */
    bool is_text;           /* a lone CR ends a line: see input_is_text() */
    bool images_stated;     /* input_state_images() was called */
    bool is_apple;          /* a crash report of Apple: only numbered lines must be frames */
    uint8_t kernel;         /* of notation_kernel.c: where in a report the lines are */
    uint8_t rest[4];        /* of UTF-16: what is no whole character yet */
    uint32_t rest_bytes;

    struct arena arena;   /* owned: data that lives as long as the input */
    struct arena scratch; /* owned: of the stack being gathered     */
    struct stack_builder builder;
    const char *label;     /* of the stack being gathered, in scratch; NULL */
    bool has_label;        /* a header line was seen: an empty stack is returned too */
    struct module **names; /* interned modules by name and identity, open addressing */
    const struct module *
        *stated;    /* by the slot of a bare name: the module stated by `# module`; NULL: none */
    bool addresses; /* see stack_input_addresses() */
    bool mapped;    /* the text lists modules, which places the addresses after it */
    struct input_range *ranges; /* sorted, in arena */
    uint32_t range_count, range_room;
    const char *fault_module; /* of an event log's record, for its next line; NULL */
    uint64_t fault_va;        /* of a crashrpt.xml, for a later line; 0 */
    uint32_t fault_data;      /* of an event as XML: the data without names so far */
    bool fault_managed;       /* of an error report: its offset is one in IL */
    uint64_t fault_seventh;   /* its seventh parameter */
    uint32_t fault_codes;     /* of a record in any language: the lines with a number so far */
    bool after_signal;        /* gdb: the next frame was interrupted by a signal */
    bool in_parameters;       /* within the parameters that WinDbg's kP prints one per line */
    enum input_block block;   /* what a line before stated that lines are, until the stack ends */
    uint64_t first_index, last_index; /* of the stack's numbered frames; NO_THREAD: none was */
    bool rises;                       /* one of these numbers is above the one before */
    struct markup_module *markup;     /* by the numbers that markup gives modules, in the arena */
    uint32_t markup_count, markup_room;
    uint64_t *row_needs; /* of notation_spellings.c, in the arena; NULL: not found yet */
    bool named;          /* frames of this stack are as minidump_stackwalk -m prints them */
    uint64_t crashed_thread, thread_number; /* as such lines number threads; NO_THREAD: unknown */
    uint32_t name_count;

    /* JSON: the document being returned */
    cJSON *document;      /* owned */
    const cJSON *element; /* of it: what `object` is, or is in */
    uint64_t document_offset;
    const cJSON *object, *thread, *walk;  /* next to return, borrowed from document */
    const struct notation *const *reader; /* of `object` */
    const struct json_modules *modules;   /* of `object`, in scratch */
    struct json_facts facts;              /* of the thread or object of `walk` */
    const char *object_label;             /* of `object`, in scratch; NULL */
    uint64_t call_back; /* rust-minidump: from the address of a caller to that it returns to */
    struct json_reports *reports; /* its stacks, in scratch, of the notation `reports` */
    struct json_images *images;   /* the list that was read last, in scratch; NULL */
    const cJSON *suspect;         /* of its threads, the crashed one; NULL: unknown */
    const cJSON *more_walks;      /* of its next list, after that of `walk`; NULL: there is none */
    bool in_more;                 /* `walk` is one of those */
    bool many;                    /* the object has several stacks: labels tell them apart */

    struct record record; /* of the notation `record` */
    struct fault record_fault;
    uint32_t next_capture, next_stack;
};

/* Appends more of the stream to the buffer, which grows up to MAX bytes. False at the end of the
 * stream or when the buffer is full. */
bool input_fill(struct stack_input *input, size_t max);

/* Moves the unread bytes to the start of the buffer. */
void input_to_front(struct stack_input *input);

/* Drops BYTES from the front of the buffer. */
void input_skip(struct stack_input *input, size_t bytes);

/* Skips white space, reading more of the stream up to the limit of a line. Returns the first other
 * character, or NULL at the end. */
const char *input_after_space(struct stack_input *input, size_t from);

/* Reads the next line, without its end.  False at the end of the stream. */
bool input_read_line(struct stack_input *input, struct stack_line *out);

/* Takes the marks of a mail that quotes LINE off it. Lines after it count, as
 * far as they are in the buffer (quoted.c). */
void input_unquote(struct stack_input *input, struct stack_line *line);
/* Puts what can be read without waiting into the buffer if the next line may be quoted. */
void input_peek(struct stack_input *input);

/* Of a crash report of Apple, states the identities of all images, which come after the frames, as
 * far as the text has arrived and within 2 MiB (binary_images.c). */
void input_state_images(struct stack_input *input);

/* Reads the rest of the stream into input->arena, at most LIMIT_JSON_BYTES. Fails: ERR_LIMIT. */
enum status input_read_rest(struct stack_input *input, char **out, size_t *bytes,
                            struct fault *fault);

/* Copies the BYTES of an id as model/module.h spells it: the first UPPER digits in upper case, the
 * others in lower case. False: not hexadecimal digits, braces and dashes, or too many. */
bool input_copy_id(const char *text, size_t bytes, size_t upper, char *out, size_t room);

/* The module of that name, with the identity that a `# module` line stated for it, if any:
 * interned, or in scratch when the table is full; NULL when out of memory. */
const struct module *input_module(struct stack_input *input, const char *name, size_t bytes);

/* The module of that name and identity, either part of which may be empty. NULL: out of memory, or
 * an invalid id. */
const struct module *input_identified(struct stack_input *input, const char *name, size_t bytes,
                                      const char *code_id, size_t code_bytes, const char *debug_id,
                                      size_t debug_bytes);

/* From now on input_module() returns that identity for NAME. NULL: as above. */
const struct module *input_state_module(struct stack_input *input, const char *name, size_t bytes,
                                        const char *code_id, size_t code_bytes,
                                        const char *debug_id, size_t debug_bytes);

/* Adds BYTES from BASE_VA to the load map. False: an empty or impossible range, or no room. */
bool input_map_module(struct stack_input *input, const struct module *module, uint64_t base_va,
                      uint64_t bytes);
/* Finds the module of a frame of which only pc_va is known; without one the frame stays as it is.
 */
void input_map_frame(const struct stack_input *input, struct frame *frame);

/* What a line of another tool says, as a frame (spelled.c). */
struct pattern_text spelled_base_name(struct pattern_text path);
/* True for a line "> label" at AT; > also marks the current frame or line of a debugger. */
bool input_has_label(const char *at, const char *end);
/* TEXT without the blanks at its end. */
struct pattern_text spelled_trimmed(struct pattern_text text);
/* A copy in scratch; NULL: an empty text, or out of memory. */
const char *spelled_keep(struct stack_input *input, struct pattern_text text);
/* A frame at ADDRESS in a module whose base is unknown. */
void spelled_at(uint64_t address, struct frame *out);
/* A frame at an offset in a module, whose folder is left out. */
bool spelled_offset(struct stack_input *input, struct pattern_text module, uint64_t offset,
                    struct frame *out);
/* The place of a fault, as Windows reports it. Of the module "unknown" it is an address. */
bool spelled_fault(struct stack_input *input, const char *name, uint64_t offset, struct frame *out);
/* NAME without words and an address before it. */
struct pattern_text spelled_after_address(struct pattern_text name);
/* The module of that name and identity, or of that name alone where the identity is invalid. Either
 * id may be NULL. */
const struct module *spelled_image(struct stack_input *input, const char *name, const char *code_id,
                                   const char *debug_id);
/* A frame of a function without a stated offset in its module. */
bool spelled_named(struct stack_input *input, struct pattern_text module,
                   struct pattern_text function, struct frame *out);
/* True for 0x and at least four hexadecimal digits, or 8, 12 or 16 without 0x. */
bool spelled_address(struct pattern_text word);
/* True for a line that begins a stack, as one of COUNT patterns is. *THREAD: its number (%n), or
 * NO_THREAD. */
bool spelled_start(const char *const *rows, size_t count, struct pattern_text line,
                   uint64_t *thread);
/* LINE without the time at its start, and the level and the source after that. */
struct pattern_text spelled_after_time(struct pattern_text line);
/* LINE without what logs put before a frame: an index, times, a level, a source, an address. */
struct pattern_text spelled_after_prefix(struct pattern_text line);
/* "app+0x12". */
bool spelled_plus(struct stack_input *input, struct pattern_text r, struct frame *out);
/* Adds the frames of TEXT, whose other lines are passed over; nothing of what other texts stated
 * counts (notation_text.c). False: a second stack begins in it. */
bool text_read_value(struct stack_input *input, const char *text);
/* The frame that was added last, while it may still be changed; NULL: none. */
struct frame *builder_last(struct stack_builder *builder);
/* Adds a frame, whose index it sets. */
void builder_add(struct stack_builder *builder, struct frame frame);

/* Moves the collected frames that were not returned yet to KEEP as one stack. WHOLE: the stack ends
 * here, and the builder is empty afterwards. */
enum status builder_finish(struct stack_input *input, bool whole, struct arena *keep,
                           struct stack *out);

/* What is in the buffer, and all that follows, is text in UTF-16. False: out of memory. */
bool input_is_utf16(struct stack_input *input, enum input_units units);

/* What is in the buffer, and all that follows, is no record: a lone CR in it is read as LF. */
void input_is_text(struct stack_input *input);

/* After builder_finish() of a part: makes room for as many frames again. */
void builder_forget(struct stack_builder *builder);

/* Fills *out with a fault of this input. */
void item_fault(struct stack_input *input, struct stack_item *out, enum status code,
                uint64_t offset, const char *what, const char *hint);
/* With that of an input that ended too early: a read error, or an interruption by the user. */
void input_broken_fault(struct stack_input *input, struct stack_item *out);

#endif
