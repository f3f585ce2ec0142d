/* What a failure of SQLite means for the totals. */
#include <sqlite3.h>

#include "stream/totals_file.h"

static enum status status_of(int code)
{
    switch (code) {
    case SQLITE_NOMEM:
        return ERR_MEMORY;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return ERR_TIMEOUT;
    case SQLITE_NOTADB:
        return ERR_UNSUPPORTED;
    default:
        return ERR_IO;
    }
}

enum status totals_failed(struct totals *t, struct fault *fault)
{
    const int code = sqlite3_errcode(t->db) & 0xff;
    /* some of SQLite's writes report a full disk like any other error */
    const int more = sqlite3_extended_errcode(t->db);
    const bool is_full = code == SQLITE_FULL || more == SQLITE_IOERR_WRITE ||
                         more == SQLITE_IOERR_SHMSIZE || more == SQLITE_IOERR_SHMOPEN;
    const char *hint = "the database cannot be read or written";
    if (is_full)
        hint = "the disk is full";
    else if (code == SQLITE_NOTADB)
        hint = "the file is not a database";
    (void)fault_set_reason(fault, status_of(code), "totals", is_full ? FAULT_FULL : FAULT_NO_REASON,
                           hint);
    fault_set_path(fault, t->file);
    return fault->code;
}
