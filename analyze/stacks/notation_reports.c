/* JSON whose frames state an address, and where its module was loaded, in the words of their
 * writer; a row for each of them:
 *
 *   MongoDB           BACKTRACE in its log, and what versions before 4.4 print
 *   MetricKit         Apple's diagnostics, where a frame holds its caller
 *   Swift             its backtracer with format=json
 *   KSCrash           and what is built on it
 *   App Center        logs of errors of Apple's systems
 *   Bugsnag           events of Apple's systems, and of Android's NDK
 *   Datadog           its crashtracker
 *   ABRT              core_backtrace, and reports that have one
 *   Crashlytics       rows of its export to BigQuery
 *   Backtrace         what its servers receive
 *   Raygun            entries of its clients
 *   Node              diagnostic reports
 *
 * Facts: MongoDB's "Log Messages" and SERVER-51239; Apple's MXCallStackTree; Swift's "Backtracing";
 * KSCrash's report schema; App Center's API, "AppleErrorLog"; Bugsnag's error reporting API;
 * libdatadog's RFC of crash reports; satyr's core_stacktrace; Firebase's "BigQuery export";
 * Backtrace's "Submit JSON"; Raygun's "Crash Reporting API"; Node's "Diagnostic report". */
#include <string.h>

#include "base/array.h"
#include "base/files.h"
#include "base/text.h"
#include "stacks/json_documents.h"

/* Places are names of members, joined by dots. A list on the way is each of its objects, and * each
 * member of an object. */
#define TREES_OF(DIAGNOSTICS) DIAGNOSTICS ".callStackTree.callStacks"
static const struct writer {
    const char *walks[8]; /* from the object to what has frames; "" is the object */
    const char *frames;   /* from there to the list of frames */
    const char *caller;   /* of a frame, a list of that one; NULL: the next in the list */
    const char *address, *base, *offset, *module, *identity, *function; /* of a frame, or NULL */
    const char *scope, *file, *line; /* of a frame: the class of `function`; or NULL */
    const char *sources; /* of the object: its members are called as `file` says, and have `path` */
    bool is_decimal;     /* so are numbers that are texts without 0x */
    const char *images;  /* from the object to a list of modules; NULL: frames say everything */
    const char *start, *bytes, *last, *name, *image_identity; /* of an image */
    const char *label, *number;                               /* of what has frames */
    const char *crashed;        /* of what has frames, true: it is that of the crashed thread */
    const char *crashed_number; /* of the object, the `number` of the crashed thread */
} writers[] = {
    {.walks = {"attr.bt"},
     .frames = "backtrace",
     .address = "a",
     .base = "b",
     .offset = "o",
     .function = "s",
     .images = "attr.bt.processInfo.somap",
     .start = "b",
     .name = "path",
     .image_identity = "buildId"},
    {.walks = {""},
     .frames = "backtrace",
     .address = "a",
     .base = "b",
     .offset = "o",
     .function = "s",
     .images = "processInfo.somap",
     .start = "b",
     .name = "path",
     .image_identity = "buildId"},
    {.walks = {TREES_OF("crashDiagnostics"), TREES_OF("hangDiagnostics"),
               TREES_OF("cpuExceptionDiagnostics"), TREES_OF("diskWriteExceptionDiagnostics"),
               TREES_OF("appLaunchDiagnostics"), "callStackTree.callStacks", "callStacks"},
     .frames = "callStackRootFrames",
     .caller = "subFrames",
     .address = "address",
     .offset = "offsetIntoBinaryTextSegment",
     .module = "binaryName",
     .identity = "binaryUUID",
     .crashed = "threadAttributed"},
    {.walks = {"threads"},
     .frames = "frames",
     .address = "address",
     .function = "symbol",
     .images = "images",
     .start = "baseAddress",
     .last = "endOfText",
     .name = "path",
     .image_identity = "buildId",
     .label = "name",
     .crashed = "crashed"},
    {.walks = {"crash.threads"},
     .frames = "backtrace.contents",
     .address = "instruction_addr",
     .base = "object_addr",
     .module = "object_name",
     .function = "symbol_name",
     .images = "binary_images",
     .start = "image_addr",
     .bytes = "image_size",
     .name = "name",
     .image_identity = "uuid",
     .label = "name",
     .number = "index",
     .crashed = "crashed"},
    {.walks = {"threads"},
     .frames = "frames",
     .address = "address",
     .images = "binaries",
     .start = "startAddress",
     .last = "endAddress",
     .name = "name",
     .image_identity = "id",
     .label = "name",
     .number = "id",
     .crashed_number = "errorThreadId"},
    {.walks = {"events.exceptions", "events.threads"},
     .frames = "stacktrace",
     .address = "frameAddress",
     .base = "machoLoadAddress",
     .module = "machoFile",
     .identity = "machoUUID",
     .function = "method",
     .label = "errorClass"},
    {.walks = {"events.exceptions", "events.threads"},
     .frames = "stacktrace",
     .address = "frameAddress",
     .base = "loadAddress",
     .module = "file",
     .identity = "codeIdentifier",
     .function = "method",
     .label = "errorClass"},
    {.walks = {"error", "error.threads"},
     .frames = "stack.frames",
     .address = "ip",
     .base = "module_base_address",
     .offset = "relative_address",
     .module = "path",
     .identity = "build_id",
     .function = "function",
     .file = "file",
     .line = "line",
     .label = "name",
     .crashed = "is_crash"},
    {.walks = {"stacktrace", "problem.stacktrace"},
     .frames = "frames",
     .address = "address",
     .offset = "build_id_offset",
     .module = "file_name",
     .identity = "build_id",
     .function = "function_name",
     .crashed = "crash_thread"},
    {.walks = {"threads"},
     .frames = "frames",
     .address = "address",
     .offset = "offset",
     .module = "library",
     .function = "symbol",
     .file = "file",
     .line = "line",
     .label = "thread_name",
     .crashed = "crashed"},
    {.walks = {"threads.*"},
     .frames = "stack",
     .address = "address",
     .module = "library",
     .function = "funcName",
     .file = "sourceCode",
     .line = "line",
     .sources = "sourceCode",
     .is_decimal = true,
     .label = "name",
     .crashed = "fault"},
    {.walks = {"details.error", "details.error.innerError", "details.error.innerErrors"},
     .frames = "stackTrace",
     .function = "methodName",
     .scope = "className",
     .file = "fileName",
     .line = "lineNumber",
     .label = "className"},
    {.walks = {""}, .frames = "nativeStack", .address = "pc", .function = "symbol"},
};

/* The stacks of an object. */
struct json_reports {
    const struct writer *writer;
    const cJSON *object, *images, *crashed; /* crashed: the number of that thread */
    const cJSON *sources;                   /* NULL: none, or too many for a look by each frame */
    const cJSON **walks;                    /* in scratch */
    uint32_t count, room, next;
};

static const cJSON *member(const cJSON *object, const char *name)
{
    const cJSON *item = name != NULL ? cJSON_GetObjectItemCaseSensitive(object, name) : NULL;
    return cJSON_IsNull(item) ? NULL : item;
}

/* The member that *PLACE names first; *PLACE is what follows it. */
static const cJSON *step(const cJSON *at, const char **place)
{
    char name[40] = "";
    const size_t bytes = strcspn(*place, ".");
    memcpy(name, *place, bytes < sizeof name ? bytes : sizeof name - 1);
    *place += bytes + ((*place)[bytes] == '.');
    return member(at, name);
}

static const cJSON *inside(const cJSON *at, const char *place)
{
    while (*place != '\0')
        at = step(at, &place);
    return at;
}

/* Calls VISIT with each object at PLACE until it returns true. */
typedef bool visit_fn(struct stack_input *input, struct json_reports *of, const cJSON *walk);
static bool visit_place(struct stack_input *input, struct json_reports *of, const cJSON *at,
                        const char *place, visit_fn *visit)
{
    const cJSON *item;
    while (*place != '\0' && *place != '*' && !cJSON_IsArray(at))
        at = step(at, &place);
    if (*place == '*' && cJSON_IsObject(at))
        place++;
    else if (!cJSON_IsArray(at))
        return cJSON_IsObject(at) && *place == '\0' && visit(input, of, at);
    cJSON_ArrayForEach(item, at)
    {
        if (cJSON_IsObject(item) && visit_place(input, of, item, place, visit))
            return true;
    }
    return false;
}

static bool visit_walks(struct stack_input *input, struct json_reports *of, visit_fn *visit)
{
    const char *const *places = of->writer->walks;
    for (size_t i = 0; i < COUNT_OF(of->writer->walks) && places[i] != NULL; i++)
        if (visit_place(input, of, of->object, places[i], visit))
            return true;
    return false;
}

/* True when a frame of WALK has what only this writer's frames have. */
static bool is_of(struct stack_input *input, struct json_reports *of, const cJSON *walk)
{
    const struct writer *writer = of->writer;
    const cJSON *frames = inside(walk, writer->frames), *frame;
    const char *place = writer->offset != NULL ? writer->offset : writer->base;
    (void)input;
    if (!cJSON_IsArray(frames))
        return false;
    cJSON_ArrayForEach(frame, frames)
    {
        const bool is_placed = place != NULL ? member(frame, place) != NULL
                                             : member(frame, writer->address) != NULL ||
                                                   member(frame, writer->function) != NULL;
        if (is_placed && (writer->module == NULL || member(frame, writer->module) != NULL))
            return true;
    }
    return false;
}

/* False: it is of none of them. */
static bool find_writer(const cJSON *object, struct json_reports *out)
{
    *out = (struct json_reports){.object = object};
    if (json_is_own(object))
        return false;
    for (size_t i = 0; i < COUNT_OF(writers); i++) {
        out->writer = &writers[i];
        if (out->writer->images != NULL) {
            out->images = inside(object, out->writer->images);
            if (!cJSON_IsArray(out->images))
                continue;
        }
        out->crashed = member(object, out->writer->crashed_number);
        if (visit_walks(NULL, out, is_of))
            return true;
    }
    return false;
}

static bool is_object(const cJSON *object)
{
    struct json_reports found;
    return find_writer(object, &found);
}

/* Stops when out of memory. */
static bool keep_walk(struct stack_input *input, struct json_reports *of, const cJSON *walk)
{
    if (!cJSON_IsArray(inside(walk, of->writer->frames)))
        return false;
    if (!ARENA_ROOM(&input->scratch, of->walks, of->room, (uint64_t)of->count + 1))
        return true;
    of->walks[of->count++] = walk;
    return false;
}

static const cJSON *next_walk(struct stack_input *input)
{
    struct json_reports *of = input->reports;
    return of->next < of->count ? of->walks[of->next++] : NULL;
}

static void begin(struct stack_input *input, struct fault *fault)
{
    enum { SOURCES_MAX = 1024 };
    input->reports = ARENA_NEW(&input->scratch, struct json_reports);
    if (input->reports == NULL || !find_writer(input->object, input->reports) ||
        visit_walks(input, input->reports, keep_walk))
        fault_no_memory(fault, "stacks of a report");
    if (fault->code != ERR_NONE || input->reports == NULL || input->reports->writer == NULL)
        return;
    input->reports->sources = member(input->object, input->reports->writer->sources);
    if (cJSON_GetArraySize(input->reports->sources) > SOURCES_MAX)
        input->reports->sources = NULL;
}

static uint64_t number_of(const struct writer *writer, const cJSON *from, const char *name,
                          struct fault *fault)
{
    const cJSON *item = member(from, name);
    uint64_t number;
    if (writer->is_decimal && cJSON_IsString(item) &&
        text_parse_uint(item->valuestring, strlen(item->valuestring), &number))
        return number;
    return item != NULL ? json_get_hex(from, name, 0, fault) : 0;
}

static const char *text_of(const cJSON *from, const char *name, struct arena *keep,
                           struct fault *fault)
{
    return name != NULL ? json_get_string(from, name, keep, fault) : NULL;
}

/* NAME, which may be a path, with an identity that is a UUID, the GUID and age of a PDB, or a build
 * id of ELF, of which the shortest ones look like the code id of a PE image and are left out. */
static const struct module *module_of(struct stack_input *input, const char *name, const char *id)
{
    enum { CODE_ID_DIGITS = 16, GUID_DIGITS = 32, GUID_AND_AGE = 40 };
    const size_t bytes = id != NULL ? strlen(id) : 0;
    const bool is_guid = bytes >= GUID_DIGITS && bytes < GUID_AND_AGE;
    if (name == NULL || name[0] == '\0')
        return NULL;
    return spelled_image(input, path_base(name), !is_guid && bytes > CODE_ID_DIGITS ? id : NULL,
                         is_guid ? id : NULL);
}

/* The image that is stated to be at BASE_VA, or, where that is 0 and sizes are stated, holds VA. */
static struct json_image *image_of(struct stack_input *input, uint64_t base_va, uint64_t va,
                                   struct fault *fault)
{
    const struct json_reports *of = input->reports;
    const struct writer *writer = of->writer;
    const bool has_sizes = writer->bytes != NULL || writer->last != NULL;
    if (writer->images == NULL || (base_va == 0 && !has_sizes))
        return NULL;
    struct json_image *image = json_image_at(
        json_images(input, of->images, writer->start, writer->bytes, writer->last, fault),
        base_va != 0 ? base_va : va);
    return image != NULL && (base_va == 0 || image->start_va == base_va) ? image : NULL;
}

/* Of the image, or as the frame states it. */
static const struct module *image_module(struct stack_input *input, struct json_image *image,
                                         const char *name, const cJSON *frame, struct arena *keep,
                                         struct fault *fault)
{
    const struct writer *writer = input->reports->writer;
    if (image != NULL && image->module == NULL)
        image->module =
            module_of(input, text_of(image->object, writer->name, &input->scratch, fault),
                      text_of(image->object, writer->image_identity, &input->scratch, fault));
    return image != NULL && image->module != NULL
               ? image->module
               : module_of(input, name, text_of(frame, writer->identity, keep, fault));
}

/* What the writer's frame says beside its place. False: it is no frame of its own. */
static bool is_frame(struct stack_input *input, const cJSON *from, struct frame *frame)
{
    const cJSON *kind = member(from, "kind"), *count = member(from, "count"); /* Swift's */
    if (cJSON_IsTrue(member(from, "inlined")))
        return false;
    if (!cJSON_IsString(kind))
        return true;
    if (strcmp(kind->valuestring, "omittedFrames") == 0 && cJSON_IsNumber(count) &&
        count->valuedouble >= 1 && count->valuedouble < UINT32_MAX)
        input->builder.left_out += (uint64_t)count->valuedouble;
    if (strcmp(kind->valuestring, "returnAddress") == 0)
        frame->kind = PC_RETURN;
    else
        frame->kind = PC_INTERRUPTED;
    return member(from, input->reports->writer->address) != NULL;
}

/* MetricKit's offset in the module. Some systems state the module's address in its place, which
 * begins a page; its difference from the frame's address is the offset, and begins none. */
static uint64_t offset_of_tree(uint64_t stated, uint64_t va)
{
    enum { PAGE = 0x1000 };
    return stated % PAGE == 0 && stated <= va && (va - stated) % PAGE != 0 ? va - stated : stated;
}

/* A frame that is known by its name; false: it has none. */
static bool name_frame(struct stack_input *input, const cJSON *from, const char *module,
                       struct arena *keep, struct frame *out, struct fault *fault)
{
    const struct writer *writer = input->reports->writer;
    const char *function = text_of(from, writer->function, keep, fault);
    const char *scope = text_of(from, writer->scope, keep, fault);
    const uint64_t line = number_of(writer, from, writer->line, fault);
    if (function == NULL || function[0] == '\0')
        return false;
    out->module_name = module != NULL && module[0] != '\0' ? path_base(module) : NULL;
    out->function =
        scope != NULL && scope[0] != '\0' ? arena_printf(keep, "%s.%s", scope, function) : function;
    out->note = NOTE_NAMED_BY_INPUT;
    out->file = text_of(from, writer->file, keep, fault);
    if (writer->sources != NULL && out->file != NULL)
        out->file = text_of(member(input->reports->sources, out->file), "path", keep, fault);
    out->line = out->file != NULL && line <= INT32_MAX ? (uint32_t)line : 0;
    return true;
}

static void read_frame(struct stack_input *input, const cJSON *from, struct arena *keep,
                       struct fault *fault)
{
    const struct writer *writer = input->reports->writer;
    struct frame frame = {.kind = input->builder.count == 0 ? PC_INTERRUPTED : PC_RETURN,
                          .found_by = FOUND_GIVEN,
                          .identity = IDENTITY_UNCHECKED};
    if (!is_frame(input, from, &frame))
        return;
    const bool has_offset = member(from, writer->offset) != NULL;
    const uint64_t stated = number_of(writer, from, writer->offset, fault);
    uint64_t base_va = number_of(writer, from, writer->base, fault);
    const char *name = text_of(from, writer->module, keep, fault);
    frame.pc_va = number_of(writer, from, writer->address, fault);
    struct json_image *image = image_of(input, base_va, frame.pc_va, fault);
    base_va = image != NULL ? image->start_va : base_va;
    if (frame.pc_va == 0 && base_va != 0 && has_offset)
        frame.pc_va = base_va + stated;
    if (has_offset || (base_va != 0 && base_va <= frame.pc_va)) {
        frame.module = image_module(input, image, name, from, keep, fault);
        frame.offset = has_offset ? stated : frame.pc_va - base_va;
        if (writer->caller != NULL)
            frame.offset = offset_of_tree(stated, frame.pc_va);
    }
    if (frame.module != NULL) {
        frame.module_name = frame.module->name;
    } else if (!name_frame(input, from, name, keep, &frame, fault) &&
               member(from, writer->address) == NULL && frame.pc_va == 0) {
        json_no_place(fault);
    }
    frame.offset = frame.module != NULL ? frame.offset : frame.pc_va;
    builder_add(&input->builder, frame);
}

static void read_frames(struct stack_input *input, const cJSON *walk, struct arena *keep,
                        struct fault *fault)
{
    const struct writer *writer = input->reports->writer;
    const cJSON *list = inside(walk, writer->frames);
    const cJSON *frame = list != NULL ? list->child : NULL;
    while (frame != NULL && fault->code == ERR_NONE) {
        read_frame(input, frame, keep, fault);
        if (writer->caller != NULL && frame->next != NULL)
            fault_set_hint(fault, ERR_UNSUPPORTED, FAULT_NO_OFFSET, "stack",
                           "its samples are a tree; only one of one branch is a stack");
        const cJSON *callers = member(frame, writer->caller);
        if (writer->caller == NULL)
            frame = frame->next;
        else
            frame = callers != NULL ? callers->child : NULL;
    }
}

static bool is_crashed(const struct stack_input *input, const cJSON *walk)
{
    const cJSON *crashed = input->reports->crashed;
    const cJSON *number = member(walk, input->reports->writer->number);
    return cJSON_IsTrue(member(walk, input->reports->writer->crashed)) ||
           (cJSON_IsNumber(number) && cJSON_IsNumber(crashed) &&
            number->valuedouble == crashed->valuedouble);
}

static void read_walk(struct stack_input *input, const cJSON *walk, struct arena *keep,
                      struct stack_item *out)
{
    const struct json_reports *of = input->reports;
    struct fault *fault = &out->fault;
    read_frames(input, walk, keep, fault);
    json_end_walk(input, keep, &out->stack, fault);
    out->crashed_first = true;
    out->stack.thread_name = text_of(walk, of->writer->label, keep, fault);
    out->stack.thread_id =
        (uint32_t)(of->writer->number != NULL ? json_get_uint(walk, of->writer->number, 0, fault)
                                              : of->next - 1);
    out->label = out->stack.label = out->stack.thread_name;
    if (out->label == NULL && of->count > 1)
        out->label = out->stack.label =
            arena_printf(keep, "thread %u", (unsigned)out->stack.thread_id);
    if (is_crashed(input, walk))
        out->stack.role = THREAD_ROLE_SUSPECT;
}

const struct notation notation_reports = {.name = "a crash reporter's JSON",
                                          .is_object = is_object,
                                          .begin = begin,
                                          .next_walk = next_walk,
                                          .read_walk = read_walk};
