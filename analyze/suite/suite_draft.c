/* What a draft lacks, and the line that it becomes: see suite_add.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/text.h"
#include "suite/suite_draft.h"

enum { SUITE_ID_BYTES_MAX = 400 };

#define TRUTH_WORDS                                                                                \
    "\"truth\": {\"level\": \"must\", \"frames\": [...]}, {\"level\": \"may\", \"accepted\": "     \
    "[[...], ...]} or {\"level\": \"unknown\"}; a frame has "

static const char *text_of(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    return text != NULL && text[0] != 0 ? text : NULL;
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; text != NULL && *words != NULL; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static bool has_letters(const char *text, const char *letters)
{
    return text != NULL && text[0] != 0 && text[strspn(text, letters)] == 0;
}

static bool is_hex(const char *text)
{
    return text != NULL && strncmp(text, "0x", 2) == 0 && has_letters(text + 2, "0123456789abcdef");
}

static bool has_id(const cJSON *draft)
{
    const char *id = text_of(draft, "id"), *prefix = suite_draft_kind(draft)->prefix;
    return id != NULL && strlen(id) < SUITE_ID_BYTES_MAX &&
           strncmp(id, prefix, strlen(prefix)) == 0 && strstr(id, "//") == NULL &&
           id[strlen(id) - 1] != '/' &&
           has_letters(id + strlen(prefix), "abcdefghijklmnopqrstuvwxyz0123456789-/");
}

static bool has_kind(const cJSON *draft)
{
    return is_one_of(text_of(draft, "kind"),
                     (const char *const[]){"address", "moment", "dump", NULL});
}

static bool has_place(const cJSON *draft)
{
    return is_one_of(text_of(draft, "processor"),
                     (const char *const[]){"x64", "arm64", "x86", "arm", NULL}) &&
           text_of(draft, "shape") != NULL && text_of(draft, "position") != NULL;
}

static bool has_rule(const cJSON *draft)
{
    const cJSON *rule = cJSON_GetObjectItemCaseSensitive(draft, "rule");
    const cJSON *address = cJSON_GetObjectItemCaseSensitive(rule, "address");
    const char *url = cJSON_GetStringValue(address);
    return is_one_of(text_of(rule, "kind"),
                     (const char *const[]){"page", "standard", "vendor source", "thread",
                                           "executed", NULL}) &&
           text_of(rule, "name") != NULL &&
           (cJSON_IsNull(address) || (url != NULL && strncmp(url, "https://", 8) == 0));
}

static bool has_capability(const cJSON *draft)
{
    const char *capability = text_of(draft, "capability"), *cpu = text_of(draft, "processor");
    const char *prefix = suite_draft_kind(draft)->prefix;
    const size_t length = strlen(prefix) - 1;
    if (prefix[0] == 'a')
        return is_one_of(capability,
                         (const char *const[]){"addresses.pdb", "addresses.dwarf", NULL});
    return capability != NULL && cpu != NULL && strncmp(capability, prefix, length) == 0 &&
           capability[length] == '.' && strcmp(capability + length + 1, cpu) == 0;
}

static bool has_given(const cJSON *draft)
{
    return suite_draft_kind(draft)->has_given(draft);
}

/* ---- an address ------------------------------------------------------------------------ */

static bool address_has_given(const cJSON *draft)
{
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(draft, "given");
    return (text_of(given, "image") != NULL || text_of(given, "symbols") != NULL) &&
           is_hex(text_of(given, "rva")) &&
           is_one_of(text_of(given, "lookup"),
                     (const char *const[]){"interrupted", "return", NULL});
}

static bool is_known(const cJSON *frame, const char *key)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(frame, key);
    return member != NULL && !cJSON_IsNull(member);
}

/* A frame of which nothing is known would accept any answer. */
static bool address_has_frames(const cJSON *draft, const cJSON *frames)
{
    const cJSON *frame;
    (void)draft;
    cJSON_ArrayForEach(frame, frames)
    {
        if (!cJSON_HasObjectItem(frame, "function") || !cJSON_HasObjectItem(frame, "file") ||
            !cJSON_HasObjectItem(frame, "line") || !cJSON_HasObjectItem(frame, "inlined") ||
            !(is_known(frame, "function") || is_known(frame, "file") || is_known(frame, "line")))
            return false;
    }
    return cJSON_IsArray(frames);
}

/* ---- a moment -------------------------------------------------------------------------- */

/* What a processor calls its instruction and stack pointers; NULL: no moments of it. */
static const char *const *pointers_of(const cJSON *draft)
{
    static const char *const rows[][3] = {
        {"x64", "rip", "rsp"}, {"arm64", "pc", "sp"}, {"x86", "eip", "esp"}};
    const char *cpu = text_of(draft, "processor");
    for (size_t i = 0; cpu != NULL && i < COUNT_OF(rows); i++)
        if (strcmp(rows[i][0], cpu) == 0)
            return rows[i] + 1;
    return NULL;
}

static bool each_has_hex(const cJSON *list, const char *first, const char *second)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (!is_hex(text_of(item, first)) || !is_hex(text_of(item, second)))
            return false;
    }
    return cJSON_IsArray(list);
}

static bool has_stack(const cJSON *stack)
{
    const cJSON *part;
    cJSON_ArrayForEach(part, stack)
    {
        const char *bytes = text_of(part, "bytes");
        if (!is_hex(text_of(part, "at")) || !has_letters(bytes, "0123456789abcdef") ||
            strlen(bytes) % 2 != 0)
            return false;
    }
    return cJSON_GetArraySize(stack) > 0;
}

static bool moment_has_given(const cJSON *draft)
{
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(draft, "given");
    const cJSON *registers = cJSON_GetObjectItemCaseSensitive(given, "registers");
    const cJSON *modules = cJSON_GetObjectItemCaseSensitive(given, "modules"), *item;
    const char *const *pointers = pointers_of(draft);
    cJSON_ArrayForEach(item, registers)
    {
        if (!is_hex(cJSON_GetStringValue(item)))
            return false;
    }
    cJSON_ArrayForEach(item, modules)
    {
        if (text_of(item, "path") == NULL)
            return false;
    }
    return pointers != NULL && text_of(registers, pointers[0]) != NULL &&
           text_of(registers, pointers[1]) != NULL &&
           has_stack(cJSON_GetObjectItemCaseSensitive(given, "stack")) &&
           cJSON_GetArraySize(modules) > 0 && each_has_hex(modules, "base", "size");
}

static uint64_t number_of(const cJSON *object, const char *key)
{
    const char *text = text_of(object, key);
    return text != NULL ? strtoull(text, NULL, 16) : 0;
}

static bool is_in_a_module(const cJSON *modules, uint64_t ip)
{
    const cJSON *module;
    cJSON_ArrayForEach(module, modules)
    {
        if (ip - number_of(module, "base") < number_of(module, "size"))
            return true;
    }
    return false;
}

/* The first frame is the moment. What is outside of the images cannot be unwound by anybody. */
static bool moment_has_frames(const cJSON *draft, const cJSON *frames)
{
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(draft, "given"), *frame;
    const cJSON *registers = cJSON_GetObjectItemCaseSensitive(given, "registers");
    const cJSON *modules = cJSON_GetObjectItemCaseSensitive(given, "modules");
    const cJSON *first = cJSON_GetArrayItem(frames, 0);
    const char *const *pointers = pointers_of(draft);
    if (pointers == NULL || cJSON_GetArraySize(frames) == 0 || !each_has_hex(frames, "ip", "sp"))
        return false;
    cJSON_ArrayForEach(frame, frames)
    {
        if (!is_in_a_module(modules, number_of(frame, "ip")))
            return false;
    }
    return number_of(first, "ip") == number_of(registers, pointers[0]) &&
           number_of(first, "sp") == number_of(registers, pointers[1]);
}

/* ---- a dump ---------------------------------------------------------------------------- */

static bool is_number_of_32_bits(const cJSON *item)
{
    return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble <= UINT32_MAX &&
           item->valuedouble == (double)(uint32_t)item->valuedouble;
}

static bool dump_has_given(const cJSON *draft)
{
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(draft, "given");
    const cJSON *symbols = cJSON_GetObjectItemCaseSensitive(given, "symbols");
    return text_of(given, "dump") != NULL &&
           (cJSON_IsNull(symbols) || text_of(given, "symbols") != NULL) &&
           is_number_of_32_bits(cJSON_GetObjectItemCaseSensitive(given, "thread")) &&
           !cJSON_HasObjectItem(draft, "threads");
}

/* That the first is where the thread is, and each in an image, is asked of what reads the dump. */
static bool dump_has_frames(const cJSON *draft, const cJSON *frames)
{
    (void)draft;
    return cJSON_GetArraySize(frames) > 0 && each_has_hex(frames, "ip", "sp");
}

/* What a thread states itself goes before what the draft states of all. */
static bool put_member(cJSON *of, const cJSON *from, const char *key, const char *as)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(from, key);
    cJSON *copy = member != NULL ? cJSON_Duplicate(member, true) : NULL;
    if (member == NULL)
        return true;
    cJSON_DeleteItemFromObjectCaseSensitive(of, as);
    return copy != NULL && cJSON_AddItemToObject(of, as, copy);
}

static cJSON *thread_case(const cJSON *draft, const cJSON *thread, int number)
{
    static const char *const members[] = {"position", "truth", "known_by"};
    cJSON *one = cJSON_Duplicate(draft, true);
    const char *id = text_of(draft, "id");
    char numbered[SUITE_ID_BYTES_MAX + 16];
    bool made = one != NULL;
    if (made && id != NULL && strlen(id) < SUITE_ID_BYTES_MAX) {
        (void)snprintf(numbered, sizeof numbered, "%s/%d", id, number);
        made = cJSON_ReplaceItemInObjectCaseSensitive(one, "id", cJSON_CreateString(numbered));
    }
    if (made)
        cJSON_DeleteItemFromObjectCaseSensitive(one, "threads");
    for (size_t i = 0; made && i < COUNT_OF(members); i++)
        made = put_member(one, thread, members[i], members[i]);
    cJSON *given = cJSON_GetObjectItemCaseSensitive(one, "given");
    if (made && cJSON_IsObject(given))
        made = put_member(given, thread, "thread", "thread");
    if (made)
        return one;
    cJSON_Delete(one);
    return NULL;
}

cJSON *suite_draft_cases(const cJSON *draft)
{
    const cJSON *threads = cJSON_GetObjectItemCaseSensitive(draft, "threads"), *thread;
    const bool several =
        suite_draft_kind(draft)->prefix[0] == 'd' && cJSON_GetArraySize(threads) > 0;
    cJSON *cases = cJSON_CreateArray();
    bool made = cases != NULL;
    int number = 0;
    if (made && !several)
        made = cJSON_AddItemToArray(cases, cJSON_Duplicate(draft, true));
    if (several)
        cJSON_ArrayForEach(thread, threads)
        {
            made = made && cJSON_AddItemToArray(cases, thread_case(draft, thread, number));
            number++;
        }
    if (made)
        return cases;
    cJSON_Delete(cases);
    return NULL;
}

/* ---- any ------------------------------------------------------------------------------- */

const struct draft_kind *suite_draft_kind(const cJSON *draft)
{
    static const struct draft_kind kinds[] = {
        {"address", "addresses/", "programs", "addresses/added.ndjson", address_has_given,
         address_has_frames, false},
        {"moment", "moments/", "images", "moments/added.ndjson", moment_has_given,
         moment_has_frames, false},
        {"dump", "dumps/", "dumps", "dumps/added.ndjson", dump_has_given, dump_has_frames, true},
    };
    const char *word = text_of(draft, "kind");
    for (size_t i = 0; word != NULL && i < COUNT_OF(kinds); i++)
        if (strcmp(kinds[i].name, word) == 0)
            return &kinds[i];
    return &kinds[0];
}

static bool has_truth(const cJSON *draft)
{
    const cJSON *truth = cJSON_GetObjectItemCaseSensitive(draft, "truth");
    const cJSON *frames = cJSON_GetObjectItemCaseSensitive(truth, "frames");
    const cJSON *accepted = cJSON_GetObjectItemCaseSensitive(truth, "accepted"), *one;
    const char *level = text_of(truth, "level");
    bool (*const has_frames)(const cJSON *of, const cJSON *walk) =
        suite_draft_kind(draft)->has_frames;
    if (level == NULL)
        return false;
    if (strcmp(level, "must") == 0)
        return cJSON_GetArraySize(frames) > 0 && has_frames(draft, frames);
    if (strcmp(level, "unknown") == 0)
        return frames == NULL && accepted == NULL;
    cJSON_ArrayForEach(one, accepted)
    {
        if (!has_frames(draft, one))
            return false;
    }
    return strcmp(level, "may") == 0 && cJSON_GetArraySize(accepted) > 0;
}

/* What two witnesses that share their code have in common: their maker, or the name up to a
 * version. */
static const char *code_of(const char *name, size_t *length)
{
    static const struct {
        const char *start, *maker;
    } makers[] = {{"llvm-", "LLVM"},
                  {"lldb", "LLVM"},
                  {"LLDB", "LLVM"},
                  {"Microsoft's ", "Microsoft"},
                  {"Wine's ", "Wine"}};
    *length = strlen(name);
    for (size_t i = 0; i < COUNT_OF(makers); i++)
        if (strncmp(name, makers[i].start, strlen(makers[i].start)) == 0) {
            *length = strlen(makers[i].maker);
            return makers[i].maker;
        }
    for (const char *p = strchr(name, ' '); p != NULL; p = strchr(p + 1, ' '))
        if (p[1] >= '0' && p[1] <= '9') {
            *length = (size_t)(p - name);
            break;
        }
    return name;
}

static bool shares_code(const cJSON *one, const cJSON *other)
{
    size_t length = 0, other_length = 0;
    const char *code = code_of(text_or_empty(cJSON_GetStringValue(one)), &length);
    const char *other_code = code_of(text_or_empty(cJSON_GetStringValue(other)), &other_length);
    return length == other_length && memcmp(code, other_code, length) == 0;
}

/* Two that share no code for a must; a walk of ours would only agree with itself. */
static bool has_witnesses(const cJSON *draft)
{
    const cJSON *witnesses = cJSON_GetObjectItemCaseSensitive(draft, "known_by"), *one, *other;
    const char *level = text_of(cJSON_GetObjectItemCaseSensitive(draft, "truth"), "level");
    const int least = level != NULL && strcmp(level, "must") != 0 ? 1 : 2;
    int codes = 0;
    cJSON_ArrayForEach(one, witnesses)
    {
        const char *name = cJSON_GetStringValue(one);
        bool is_new = true;
        if (name == NULL || name[0] == 0 || strncmp(name, "twinstack", 9) == 0)
            return false;
        for (other = one->next; other != NULL; other = other->next) {
            if (cJSON_Compare(one, other, true) != 0)
                return false;
            is_new = is_new && !shares_code(one, other);
        }
        codes += is_new;
    }
    return cJSON_IsArray(witnesses) && codes >= least;
}

static bool has_licence(const cJSON *draft)
{
    return text_of(draft, "licence") != NULL;
}

/* Whether each of the CASES has the fact. */
static bool all_have(const cJSON *cases, bool (*has)(const cJSON *draft))
{
    const cJSON *one;
    cJSON_ArrayForEach(one, cases)
    {
        if (!has(one))
            return false;
    }
    return true;
}

const char *const *suite_draft_missing(const cJSON *draft, struct arena *keep, uint32_t *count)
{
    enum { ADDRESS, MOMENT, DUMP, KINDS };
    static const struct {
        bool (*has)(const cJSON *draft);
        const char *words[KINDS]; /* NULL: as those of an address */
    } facts[] = {
        {has_kind, {"\"kind\": \"address\", \"moment\" or \"dump\""}},
        {has_id,
         {"\"id\": a path of its own, \"addresses/x64/inline/issue-123\", of lower-case letters, "
          "digits and hyphens",
          "\"id\": a path of its own, \"moments/x64/push/issue-123\", of lower-case letters, "
          "digits and hyphens",
          "\"id\": a path of its own, \"dumps/x64/pieces/issue-123\", of lower-case letters, "
          "digits and hyphens"}},
        {has_place, {"\"processor\" (x64, arm64, x86, arm), \"shape\" and \"position\": texts"}},
        {has_given,
         {"\"given\": {\"image\": FILE, \"symbols\": FILE or null, \"rva\": \"0x...\", \"lookup\": "
          "\"interrupted\" or \"return\"}",
          "\"given\": {\"registers\": {\"rip\": \"0x...\", \"rsp\": ...}, \"stack\": [{\"at\": "
          "\"0x...\", \"bytes\": hexadecimal}], "
          "\"modules\": [{\"path\": FILE, \"base\": \"0x...\", \"size\": \"0x...\"}]}",
          "\"given\": {\"dump\": FILE, \"symbols\": DIR or null, \"thread\": its id}, or the "
          "thread in each of \"threads\""}},
        {has_capability,
         {"\"capability\": \"addresses.pdb\" or \"addresses.dwarf\"",
          "\"capability\": \"moments.\" and the processor",
          "\"capability\": \"dumps.\" and the processor"}},
        {has_truth,
         {TRUTH_WORDS "\"function\", \"file\", \"line\", \"inlined\"",
          TRUTH_WORDS "\"ip\" and \"sp\", the first those of the registers, and each is in one of "
                      "the modules",
          TRUTH_WORDS "\"ip\" and \"sp\", the first those of the thread"}},
        {has_rule,
         {"\"rule\": {\"kind\": \"page\", \"standard\", \"vendor source\", \"thread\" or "
          "\"executed\", \"name\": what decides, "
          "\"address\": \"https://...\" or null}"}},
        {has_witnesses,
         {"\"known_by\": two witnesses of a must that share no code, one of any other, none of "
          "them "
          "twinstack and none twice"}},
        {has_licence, {"\"licence\": of its files, \"MIT\""}},
    };
    static const char initials[KINDS] = {'a', 'm', 'd'};
    int kind = ADDRESS;
    while (kind < KINDS - 1 && initials[kind] != suite_draft_kind(draft)->prefix[0])
        kind++;
    const char **missing = ARENA_ARRAY(keep, COUNT_OF(facts), const char *);
    cJSON *cases = suite_draft_cases(draft);
    *count = 0;
    for (size_t i = 0; missing != NULL && cases != NULL && i < COUNT_OF(facts); i++)
        if (!all_have(cases, facts[i].has))
            missing[(*count)++] =
                facts[i].words[kind] != NULL ? facts[i].words[kind] : facts[i].words[ADDRESS];
    if (cases == NULL)
        missing = NULL;
    cJSON_Delete(cases);
    return missing;
}

/* The schema has lists of names only. */
static bool list_names(cJSON *frames)
{
    static const char *const keys[] = {"function", "file"};
    cJSON *frame;
    cJSON_ArrayForEach(frame, frames)
    {
        for (size_t i = 0; i < COUNT_OF(keys); i++) {
            cJSON *name = cJSON_GetObjectItemCaseSensitive(frame, keys[i]);
            cJSON *list = cJSON_IsString(name) ? cJSON_CreateArray() : NULL;
            if (!cJSON_IsString(name))
                continue;
            if (list == NULL ||
                !cJSON_AddItemToArray(list, cJSON_CreateString(name->valuestring)) ||
                !cJSON_ReplaceItemInObjectCaseSensitive(frame, keys[i], list))
                return false;
        }
    }
    return true;
}

const char *suite_draft_line(cJSON *draft, struct arena *keep, struct fault *fault)
{
    static const char *const members[] = {
        "id",     "kind", "processor",  "shape", "position", "rule",    "needs", "conflicts_with",
        "issues", "os",   "capability", "given", "truth",    "known_by"};
    cJSON *truth = cJSON_GetObjectItemCaseSensitive(draft, "truth"), *walk;
    cJSON *line = cJSON_CreateObject();
    const char *kept = NULL;
    bool made = line != NULL && list_names(cJSON_GetObjectItemCaseSensitive(truth, "frames"));

    cJSON_ArrayForEach(walk, cJSON_GetObjectItemCaseSensitive(truth, "accepted"))
    {
        made = made && list_names(walk);
    }
    for (size_t i = 0; made && i < COUNT_OF(members); i++) {
        cJSON *member = cJSON_GetObjectItemCaseSensitive(draft, members[i]);
        if (member != NULL)
            made = cJSON_AddItemReferenceToObject(line, members[i], member) != 0;
        else if (strcmp(members[i], "os") == 0)
            made = cJSON_AddNullToObject(line, members[i]) != NULL;
        else
            made = cJSON_AddArrayToObject(line, members[i]) != NULL;
    }
    char *text = made ? cJSON_PrintUnformatted(line) : NULL;
    if (text != NULL)
        kept = arena_printf(keep, "%s\n", text);
    if (kept == NULL)
        (void)fault_no_memory(fault, "case");
    cJSON_free(text);
    cJSON_Delete(line);
    return kept;
}
