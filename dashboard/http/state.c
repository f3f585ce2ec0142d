/* The state of a running server: see state.h. */
#include "http/state.h"

bool dashboard_is_stopping(struct dashboard *d)
{
    mutex_lock(d->lock);
    bool stopping = d->stopping;
    mutex_unlock(d->lock);
    return stopping;
}
