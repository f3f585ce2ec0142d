/* The table of views. */
#include "pages/table.h"

#include "base/array.h"

#define PAGE(...)
#define VIEW(address, summary, write, query) {address, summary, write, query},
const struct view views[] = {
#include "pages/pages.def"
};
#undef VIEW
#undef PAGE

const size_t view_count = COUNT_OF(views);
