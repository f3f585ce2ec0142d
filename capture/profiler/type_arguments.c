/* See type_arguments.h. Runs in callbacks of the runtime, on managed threads; takes no lock. */
#include "capture/profiler/type_arguments.h"

#include "capture/profiler/clr.h"

enum { TYPES_MAX = 32, NESTING_MAX = 8 };

#define ASK PROFILER_ASK

void *profiler_metadata(void *info, uintptr_t module)
{
    static const GUID import = {
        0x7dac8207, 0xd3ae, 0x4c75, {0x9b, 0x67, 0x92, 0x80, 0x1a, 0x49, 0x7d, 0x44}};
    void *metadata = NULL;
    return ASK(info, CLR_INFO_GET_MODULE_METADATA, module, 0u, &import, &metadata) == S_OK
               ? metadata
               : NULL;
}

void profiler_release(void *metadata)
{
    (void)((ULONG(STDMETHODCALLTYPE *)(void *))(*(void ***)metadata)[2])(metadata);
}

static void add_char(struct profiler_types *types, WCHAR unit)
{
    types->whole = types->whole && types->bytes < PROFILER_TYPES_BYTES - 1 && unit > ' ' &&
                   unit < 0x7F && unit != ';';
    if (types->whole)
        types->text[types->bytes++] = (char)unit;
}

/* "Space.Outer/Inner`1". */
static void add_definition(struct profiler_types *types, void *metadata, uint32_t token,
                           int nesting)
{
    WCHAR name[PROFILER_TYPES_BYTES];
    uint32_t outer = 0;
    ULONG units = 0;
    name[0] = 0;
    if (nesting < NESTING_MAX &&
        ASK(metadata, CLR_METADATA_GET_NESTED_CLASS_PROPS, token, &outer) == S_OK && outer != 0) {
        add_definition(types, metadata, outer, nesting + 1);
        add_char(types, L'/');
    }
    if (ASK(metadata, CLR_METADATA_GET_TYPE_DEF_PROPS, token, name, (ULONG)PROFILER_TYPES_BYTES,
            &units, NULL, NULL) != S_OK ||
        name[0] == 0 || units >= PROFILER_TYPES_BYTES)
        types->whole = false;
    for (uint32_t i = 0; types->whole && name[i] != 0; i++)
        add_char(types, name[i]);
}

static void add_types(void *info, struct profiler_types *types, const uintptr_t *classes,
                      uint32_t count, int nesting);

/* Arrays are reference types, whose code is shared: as arguments they do not occur. */
static void add_type(void *info, struct profiler_types *types, uintptr_t class, int nesting)
{
    uintptr_t module = 0, arguments[TYPES_MAX];
    uint32_t token = 0, count = 0;
    if (nesting >= NESTING_MAX || class == 0 ||
        ASK(info, CLR_INFO_GET_CLASS_ID_INFO2, class, &module, &token, NULL, (uint32_t)TYPES_MAX,
            &count, arguments) != S_OK ||
        count > TYPES_MAX) {
        types->whole = false;
        return;
    }
    void *metadata = profiler_metadata(info, module);
    if (metadata == NULL) {
        types->whole = false;
        return;
    }
    add_definition(types, metadata, token, 0);
    profiler_release(metadata);
    if (count == 0)
        return;
    add_char(types, L'<');
    add_types(info, types, arguments, count, nesting + 1);
    add_char(types, L'>');
}

static void add_types(void *info, struct profiler_types *types, const uintptr_t *classes,
                      uint32_t count, int nesting)
{
    for (uint32_t i = 0; types->whole && i < count; i++) {
        if (i > 0)
            add_char(types, L',');
        add_type(info, types, classes[i], nesting);
    }
}

const char *profiler_type_arguments(void *info, uintptr_t function, uintptr_t class,
                                    struct profiler_types *types)
{
    uintptr_t of_type[TYPES_MAX], of_method[TYPES_MAX], module = 0, known = 0;
    uint32_t type_count = 0, method_count = 0, token = 0;
    types->bytes = 0;
    types->whole = true;
    if (ASK(info, CLR_INFO_GET_FUNCTION_INFO2, function, (uintptr_t)0, &known, &module, &token,
            (uint32_t)TYPES_MAX, &method_count, of_method) != S_OK)
        return NULL;
    if (known != 0)
        class = known;
    if (class != 0 && ASK(info, CLR_INFO_GET_CLASS_ID_INFO2, class, &module, &token, NULL,
                          (uint32_t)TYPES_MAX, &type_count, of_type) != S_OK)
        return NULL;
    if (type_count + method_count == 0 || type_count > TYPES_MAX || method_count > TYPES_MAX)
        return NULL;
    add_types(info, types, of_type, type_count, 0);
    if (types->whole && types->bytes < PROFILER_TYPES_BYTES - 1)
        types->text[types->bytes++] = ';';
    add_types(info, types, of_method, method_count, 0);
    types->text[types->bytes] = 0;
    return types->whole ? types->text : NULL;
}
