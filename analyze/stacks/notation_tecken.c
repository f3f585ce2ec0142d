/* What Tecken, Mozilla's server of symbols, is asked: {jobs: [{memoryMap: [[debug file, debug id]],
 * stacks: [[[index of the image, offset], ...], ...]}]}; version 4 is a job alone. Offsets are
 * looked up as they are. Facts: tecken.readthedocs.io, "Symbolication". */
#include <string.h>

#include "stacks/json_documents.h"

static const cJSON *images_of(const cJSON *job)
{
    const cJSON *images = cJSON_GetObjectItemCaseSensitive(job, "memoryMap");
    return cJSON_IsArray(images) ? images : NULL;
}

static bool is_object(const cJSON *object)
{
    const cJSON *jobs = cJSON_GetObjectItemCaseSensitive(object, "jobs");
    return images_of(cJSON_IsArray(jobs) && jobs->child != NULL ? jobs->child : object) != NULL;
}

/* The number at INDEX of an array; FALLBACK: there is none that an offset can be. */
static uint64_t number_at(const cJSON *array, int index, uint64_t fallback)
{
    const cJSON *number = cJSON_GetArrayItem(array, index);
    return cJSON_IsNumber(number) && number->valuedouble >= 0 && number->valuedouble < 1e15
               ? (uint64_t)number->valuedouble
               : fallback;
}

static const char *text_at(const cJSON *array, int index)
{
    const cJSON *text = cJSON_GetArrayItem(array, index);
    return cJSON_IsString(text) ? text->valuestring : NULL;
}

static void read_walk(struct stack_input *input, const cJSON *walk, struct arena *keep,
                      struct stack_item *out)
{
    const cJSON *row;
    const cJSON *job = input->thread != NULL ? input->thread : input->object;
    if (input->facts.of != job)
        input->facts = (struct json_facts){.of = job, .images = images_of(job)};
    const struct json_images *images =
        json_images(input, input->facts.images, NULL, NULL, NULL, &out->fault);
    cJSON_ArrayForEach(row, walk)
    {
        if (out->fault.code != ERR_NONE)
            break;
        const struct json_image *image = json_image(images, number_at(row, 0, UINT64_MAX));
        const char *name = image != NULL ? text_at(image->object, 0) : NULL;
        struct frame frame = {.kind = PC_INTERRUPTED,
                              .found_by = FOUND_GIVEN,
                              .identity = IDENTITY_UNCHECKED,
                              .offset = number_at(row, 1, 0)};
        if (name != NULL)
            frame.module = spelled_image(input, name, NULL, text_at(image->object, 1));
        frame.module_name = frame.module != NULL ? frame.module->name : NULL;
        builder_add(&input->builder, frame);
    }
    json_end_walk(input, keep, &out->stack, &out->fault);
}

const struct notation notation_tecken = {
    .name = "questions to Tecken", .is_object = is_object, .read_walk = read_walk};
