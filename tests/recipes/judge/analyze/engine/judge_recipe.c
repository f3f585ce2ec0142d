/* judge:recipe, a program that prints one frame in the form of engine/README.md: `cat` of a text.
 */
#include "engine/judges.h"

static enum status prepare(const struct judge_work *w, struct judge_question *out)
{
    (void)w;
    out->input =
        "{\"schema_version\":1,\"version\":\"recipe 1\",\"threads\":[{\"id\":1,\"crashed\":true,"
        "\"left_out\":0,\"frames\":[{\"index\":0,\"inline_depth\":0,\"module\":\"victims-ob2.exe\","
        "\"offset\":\"0x1000\",\"function\":\"recipe\",\"file\":\"recipe.c\",\"line\":1}]}]}";
    return ERR_NONE;
}

static const char *const programs[] = {"cat", NULL};
static const char *const arguments[] = {NULL};

const struct judge judge_recipe = {
    .engine = {JUDGE_ENGINE, .name = "judge:recipe", .shares = "nothing: an outside program"},
    .programs = programs,
    .absent = "cat is not installed",
    .arguments = arguments,
    .prepare = prepare,
};
