/* judge:recipe, a program that prints one frame in the form of engine/README.md: `cat` of a text.
 */
#include <string.h>

#include "engine/judge.h"
#include "engine/judges.h"

static enum status ask(const struct engine *self, const struct engine_input *in,
                       const struct judge_stage *stage, struct arena *keep,
                       struct engine_result *out, struct fault *fault)
{
    static const char answer[] =
        "{\"schema_version\":1,\"version\":\"recipe 1\",\"threads\":[{\"id\":1,\"crashed\":true,"
        "\"left_out\":0,\"frames\":[{\"index\":0,\"inline_depth\":0,\"module\":\"victims-ob2.exe\","
        "\"offset\":\"0x1000\",\"function\":\"recipe\",\"file\":\"recipe.c\",\"line\":1}]}]}";
    static const char *const argv[] = {"cat", NULL};
    struct process_result result;
    (void)in;
    if (judge_run(stage, argv, answer, strlen(answer), keep, &result, out, fault) != ERR_NONE)
        return fault->code;
    return judge_read_answer(result.output, result.output_bytes, self->name, keep, out, fault);
}

static enum status run(const struct engine *self, const struct engine_input *in, struct arena *keep,
                       struct engine_result *out, struct fault *fault)
{
    return judge_run_staged(self, in, ask, keep, out, fault);
}

const struct engine engine_judge_recipe = {
    .name = "judge:recipe",
    .kind = ENGINE_KIND_JUDGE,
    .shares = "nothing: an outside program",
    .available = judge_has_dump,
    .run = run,
};
