/* Joins the data of a run and the embedded pages into one file. */
#include "dashboard/offline.h"

#include <stdlib.h>

#include "view/view.h"
#include "web/web.h"

enum status dashboard_offline_page(struct store *store, uint64_t run_id, uint32_t cases_max,
                                   const char *known_text, FILE *out, struct fault *fault)
{
    struct json j;
    size_t bytes = 0;

    json_to_text(&j, false);
    enum status status = view_write_offline(store, run_id, cases_max, known_text, &j, fault);
    char *text = json_take(&j, &bytes);
    if (status == ERR_NONE && text == NULL)
        status = fault_set(fault, ERR_MEMORY, FAULT_NO_OFFSET, "data of the offline page");
    if (status == ERR_NONE)
        status = web_offline_page(out, text, bytes, fault);
    free(text);
    return status;
}
