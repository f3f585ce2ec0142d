/* The embedded pages and what belongs to them. */
#include "dashboard/assets.h"

#include "dashboard/answer.h"
#include "web/web.h"

int answer_page(struct exchange *x)
{
    return answer_asset(x, x->route != NULL ? 200 : 404, web_asset_find("/"));
}

int answer_embedded(struct exchange *x)
{
    const struct web_asset *asset = web_asset_find(x->path);
    if (asset == NULL)
        return answer_error(x, 404, "absent", "There is no such asset in this build",
                            "load the page again");
    return answer_asset(x, 200, asset);
}
