/* The document of the page `recipe`. */
#include "pages/view.h"

enum status view_recipe(const struct view_input *in, struct json *out, struct fault *fault)
{
    (void)in, (void)fault;
    json_object(out);
    json_key_string(out, "hello", "recipe");
    json_object_end(out);
    return ERR_NONE;
}
