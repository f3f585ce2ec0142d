/* The images that a JSON document lists, by number and by address. */
#include "base/array.h"
#include "stacks/json_documents.h"

static int compare_starts(const void *left, const void *right)
{
    const struct json_image *const *a = left, *const *b = right;
    if ((*a)->start_va != (*b)->start_va)
        return (*a)->start_va < (*b)->start_va ? -1 : 1;
    return *a < *b ? -1 : *a > *b;
}

static struct json_images *read_images(struct stack_input *input, const cJSON *list,
                                       const char *start, const char *bytes, const char *last,
                                       struct fault *fault)
{
    struct json_images *images = ARENA_NEW(&input->scratch, struct json_images);
    const size_t count = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
    const cJSON *object;
    if (count > LIMIT_MODULES) {
        fault_set(fault, ERR_LIMIT, FAULT_NO_OFFSET, "images");
        return NULL;
    }
    if (images == NULL ||
        (images->items = ARENA_ARRAY(&input->scratch, count + 1, struct json_image)) == NULL ||
        (images->by_start = ARENA_ARRAY(&input->scratch, count + 1, struct json_image *)) == NULL) {
        fault_no_memory(fault, "images");
        return NULL;
    }
    images->list = list;
    cJSON_ArrayForEach(object, list)
    {
        struct json_image *image = &images->items[images->count];
        image->object = object;
        image->start_va = start != NULL ? json_get_hex(object, start, 0, fault) : 0;
        image->bytes = bytes != NULL ? json_get_uint(object, bytes, 0, fault) : 0;
        const uint64_t last_va = last != NULL ? json_get_hex(object, last, 0, fault) : 0;
        if (last_va > image->start_va)
            image->bytes = last_va - image->start_va + 1;
        images->by_start[images->count++] = image;
    }
    array_sort(images->by_start, images->count, sizeof *images->by_start, compare_starts);
    return images;
}

struct json_images *json_images(struct stack_input *input, const cJSON *list, const char *start,
                                const char *bytes, const char *last, struct fault *fault)
{
    if (input->images == NULL || input->images->list != list)
        input->images = read_images(input, list, start, bytes, last, fault);
    return input->images;
}

struct json_image *json_image(const struct json_images *images, uint64_t index)
{
    return images != NULL && index < images->count ? &images->items[index] : NULL;
}

struct json_image *json_image_at(const struct json_images *images, uint64_t va)
{
    uint32_t low = 0, high = images != NULL ? images->count : 0;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (images->by_start[middle]->start_va <= va)
            low = middle + 1;
        else
            high = middle;
    }
    struct json_image *image = low > 0 ? images->by_start[low - 1] : NULL;
    return image != NULL && (image->bytes == 0 || va - image->start_va < image->bytes) ? image
                                                                                       : NULL;
}
