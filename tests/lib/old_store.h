/* Makes a database what version 13 or, after that, 12, 11 and 10 of the schema stored: for tests of
 * the upgrade. */
#ifndef TESTS_OLD_STORE_H
#define TESTS_OLD_STORE_H

#define UNDO_VERSION_22                                                                            \
    "ALTER TABLE finding DROP COLUMN fact_part; ALTER TABLE finding DROP COLUMN fact_input;"       \
    "ALTER TABLE finding DROP COLUMN fact_shift; PRAGMA user_version = 21;"

#define UNDO_VERSION_21                                                                            \
    "ALTER TABLE finding DROP COLUMN facts; ALTER TABLE finding DROP COLUMN fact_module;"          \
    "ALTER TABLE finding DROP COLUMN fact_file; ALTER TABLE finding DROP COLUMN fact_sought;"      \
    "ALTER TABLE finding DROP COLUMN fact_flaw; ALTER TABLE finding DROP COLUMN fact_left_by;"     \
    "ALTER TABLE finding DROP COLUMN fact_kinds; ALTER TABLE finding DROP COLUMN fact_more;"       \
    "PRAGMA user_version = 20;"

#define UNDO_VERSION_20 "DELETE FROM run_median WHERE figure = 'arch'; PRAGMA user_version = 19;"

#define UNDO_VERSION_19                                                                            \
    "DROP TRIGGER change_run_added; DROP TRIGGER change_run_ended; DROP TRIGGER"                   \
    " change_run_deleted; DROP TRIGGER change_baseline_added; DROP TRIGGER change_baseline_moved;" \
    "DROP TRIGGER change_baseline_deleted; DROP TABLE shown; DROP TABLE change;"                   \
    "PRAGMA user_version = 18;"

#define UNDO_VERSION_18 "ALTER TABLE evidence DROP COLUMN code_aligned; PRAGMA user_version = 17;"

#define UNDO_VERSION_17 "DROP TABLE bench_case; PRAGMA user_version = 16;"

#define UNDO_VERSION_16                                                                            \
    "ALTER TABLE crash_case DROP COLUMN record_gzip_bytes;"                                        \
    "ALTER TABLE crash_case DROP COLUMN record_zstd_bytes;"                                        \
    "ALTER TABLE crash_case DROP COLUMN dump_gzip_bytes;"                                          \
    "ALTER TABLE crash_case DROP COLUMN dump_zstd_bytes;"                                          \
    "ALTER TABLE crash_case DROP COLUMN dump_tuned_gzip_bytes;"                                    \
    "ALTER TABLE crash_case DROP COLUMN dump_tuned_zstd_bytes;"                                    \
    "PRAGMA user_version = 15;"

#define UNDO_VERSION_15                                                                            \
    "ALTER TABLE run_figure ADD COLUMN timed INTEGER; ALTER TABLE run_figure ADD COLUMN"           \
    " dump_ns REAL; ALTER TABLE run_figure ADD COLUMN offset_ns REAL;"                             \
    "ALTER TABLE way_cost DROP COLUMN first_ns; ALTER TABLE way_cost DROP COLUMN first_even_ns;"   \
    "ALTER TABLE way_cost DROP COLUMN first_odd_ns;"                                               \
    "PRAGMA user_version = 14;"

#define UNDO_VERSION_14                                                                            \
    "ALTER TABLE way_cost DROP COLUMN cold_even_ns; ALTER TABLE way_cost DROP COLUMN cold_odd_ns;" \
    "ALTER TABLE way_cost DROP COLUMN warm_even_ns; ALTER TABLE way_cost DROP COLUMN warm_odd_ns;" \
    "PRAGMA user_version = 13;"

#define UNDO_VERSION_13                                                                            \
    "ALTER TABLE claim DROP COLUMN top3; ALTER TABLE run_engine DROP COLUMN top3;"                 \
    "PRAGMA user_version = 12;"

/* MVIDs get lost. Modules that differ in nothing else cannot be undone. */
#define UNDO_VERSION_12                                                                            \
    "CREATE TABLE module_old ("                                                                    \
    " id INTEGER PRIMARY KEY, position INTEGER NOT NULL, name TEXT NOT NULL, path TEXT NOT NULL,"  \
    " pdb_name TEXT NOT NULL, code_id TEXT NOT NULL, debug_id TEXT NOT NULL,"                      \
    " base_va INTEGER NOT NULL, image_bytes INTEGER NOT NULL, loaded_at_ns INTEGER NOT NULL,"      \
    " unloaded_at_ns INTEGER NOT NULL,"                                                            \
    " UNIQUE (name, base_va, position, path, pdb_name, code_id, debug_id, image_bytes,"            \
    " loaded_at_ns, unloaded_at_ns)) STRICT;"                                                      \
    "INSERT INTO module_old SELECT id, position, name, path, pdb_name, code_id, debug_id,"         \
    " base_va, image_bytes, loaded_at_ns, unloaded_at_ns FROM module;"                             \
    "DROP TABLE module; ALTER TABLE module_old RENAME TO module;"                                  \
    "PRAGMA user_version = 11;"

#define UNDO_VERSION_11                                                                            \
    "CREATE TABLE frame ("                                                                         \
    " stack_id INTEGER NOT NULL REFERENCES stack ON DELETE CASCADE, position INTEGER NOT NULL,"    \
    " physical INTEGER, inline_depth INTEGER, kind INTEGER, found_by INTEGER, symbols INTEGER,"    \
    " class INTEGER, identity INTEGER, pc_va INTEGER, module INTEGER, module_name INTEGER,"        \
    " rva INTEGER, function INTEGER, file INTEGER, line INTEGER, distance INTEGER,"                \
    " compiland INTEGER, note INTEGER, row INTEGER, mark INTEGER, cause INTEGER,"                  \
    " PRIMARY KEY (stack_id, position)) STRICT, WITHOUT ROWID;"                                    \
    "INSERT INTO frame SELECT f.stack_id, f.position, f.physical, p.inline_depth, p.kind,"         \
    " p.found_by, p.symbols, p.class, p.identity, coalesce(f.pc_va, m.base_va + p.rva), f.module," \
    " nullif(p.module_name, 0), p.rva, nullif(p.function, 0), nullif(p.file, 0), p.line,"          \
    " p.distance, nullif(p.compiland, 0), nullif(p.note, 0), f.row, f.mark, f.cause"               \
    " FROM stack_frame f JOIN site p ON p.id = f.site LEFT JOIN module m ON m.id = f.module;"      \
    "DROP TABLE stack_frame; DROP TABLE site;"                                                     \
    "UPDATE claim SET shares = (SELECT value FROM text WHERE id = shares_text);"                   \
    "ALTER TABLE claim DROP COLUMN shares_text;"                                                   \
    "UPDATE finding SET evidence = (SELECT value FROM text WHERE id = evidence_text);"             \
    "ALTER TABLE finding DROP COLUMN evidence_text;"                                               \
    "PRAGMA user_version = 10;"

#endif
