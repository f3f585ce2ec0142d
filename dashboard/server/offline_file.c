/* Joins the data of a run, the description of the API, and the embedded pages into one file. */
#include "server/offline_file.h"

#include <stdlib.h>

#include "base/array.h"
#include "pages/offline.h"
#include "server/routes.h"
#include "web/web.h"

static const char description[] = "/api/v1/openapi.json";

static enum status write_data(struct store *store, uint64_t run_id, struct json *out,
                              struct fault *fault)
{
    struct json list;
    size_t bytes = 0;
    const struct web_asset *openapi = web_asset_find(description);

    json_to_text(&list, false);
    endpoints_write(&list);
    char *endpoints = json_take(&list, &bytes);
    if (endpoints == NULL || openapi == NULL) {
        free(endpoints);
        return fault_no_memory(fault, "list of routes");
    }
    const struct view_extra extras[] = {
        {"/api/v1/endpoints", endpoints, bytes},
        {description, (const char *)openapi->plain, openapi->plain_bytes},
    };
    const struct view_offline asked = {
        .run_id = run_id, .extras = extras, .extra_count = COUNT_OF(extras)};
    enum status status = view_write_offline(store, &asked, out, fault);
    free(endpoints);
    return status;
}

enum status dashboard_offline_page(struct store *store, uint64_t run_id, FILE *out,
                                   struct fault *fault)
{
    struct json j;
    size_t bytes = 0;

    json_to_text(&j, false);
    enum status status = write_data(store, run_id, &j, fault);
    char *text = json_take(&j, &bytes);
    if (status == ERR_NONE && text == NULL)
        status = fault_no_memory(fault, "data of the offline page");
    if (status == ERR_NONE)
        status = web_offline_page(out, text, bytes, fault);
    free(text);
    return status;
}
