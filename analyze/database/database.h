/* A connection to one file of SQLite: opening, versions of its schema, transactions, and what a
 * failure means. A room that keeps something in such a file states its schema, its statements and
 * its marks in a struct database_kind; no other file of the program opens one.
 *
 * A connection belongs to one thread. A file has one writer and any number of readers (WAL).
 * user_version is the version of the schema, application_id says whose file it is. */
#ifndef DATABASE_DATABASE_H
#define DATABASE_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

struct database_kind {
    const char *what; /* in faults */
    int32_t application_id;
    int32_t version;                 /* of the schema */
    const char *const *const *steps; /* step i, ended by NULL, upgrades version i to i + 1 */
    const char *const *texts;        /* of the statements that a query names */
    uint32_t text_count;
    const char *settings; /* of a connection that writes */
    /* What the fault is of a file that is damaged, is no database, is written by another program.
     */
    enum status damaged, foreign, busy;
};

struct database {
    const struct database_kind *kind;
    sqlite3 *db;
    sqlite3_stmt **statements;   /* of the kind's texts; each is prepared on its first use */
    char path[FAULT_PATH_BYTES]; /* as the user spelt it, for messages */
    int nested;                  /* depth of nested transactions, which act as one */
    int64_t tables, version, application_id; /* as the file was when it was opened */
};

/* Opens PATH, which is made when WRITING; OUT is to be closed in any case. The file is not changed
 * yet, since it may be another program's. Fails: ERR_IO (a full disk: FAULT_FULL); ERR_MEMORY; the
 * kind's DAMAGED, FOREIGN and BUSY. */
enum status database_open(struct database *out, const struct database_kind *kind, const char *path,
                          bool writing, struct fault *fault);
void database_close(struct database *d);

/* The file gets a log (WAL) and the connection the kind's settings. */
enum status database_start_writing(struct database *d, struct fault *fault);

/* Brings the schema to the kind's version, one transaction per step. Two programs may do so at
 * once. Fails: ERR_UNSUPPORTED (FAULT_NEWER) a newer one went further meanwhile. */
enum status database_upgrade(struct database *d, struct fault *fault);

/* Continues with a copy in memory: the file is not changed. */
enum status database_copy_to_memory(struct database *d, struct fault *fault);

/* Writes the log into the file, which has none from now on: it can be read in a folder that cannot
 * be written. No statement is at work. */
enum status database_end_log(struct database *d, struct fault *fault);

/* Statements without values and without rows, separated by semicolons. */
enum status database_run(struct database *d, const char *script, struct fault *fault);

enum status database_begin(struct database *d, struct fault *fault);
/* Commits when STATUS is ERR_NONE, else rolls back; returns the code of the fault. */
enum status database_end(struct database *d, enum status status, struct fault *fault);

/* What is read in between is of one moment. Without a transaction each query just takes its own
 * lock, so failures do not matter. */
void database_begin_reading(struct database *d);
void database_end_reading(struct database *d);

/* The id of the last row added; the rows that the last statement changed. */
uint64_t database_added(const struct database *d);
uint64_t database_changed(const struct database *d);

/* A number that is another one after each change, by whatever program. */
uint64_t database_changes(struct database *d);

/* SQLite's code as a fault. WHAT: NULL is the kind's. */
enum status database_fault(const struct database *d, int code, const char *what,
                           struct fault *fault);

#endif
