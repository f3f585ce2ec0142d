/* The schema, one step per version: a released step is never changed, only followed by another.
 *
 * Texts of frames are kept once (text), modules once per identity and address (module). An
 * alignment table is kept as the row of each frame, plus the gaps that carry a mark. */
#include "store/statements.h"

static const char *const version_1[] = {
    "CREATE TABLE run ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL UNIQUE, state TEXT NOT NULL,"
    " label TEXT, started_ns INTEGER NOT NULL, finished_ns INTEGER NOT NULL DEFAULT 0,"
    " commit_id TEXT, branch TEXT, platform TEXT, compiler TEXT, flags TEXT, cpu TEXT,"
    " command TEXT, known_text TEXT) STRICT",
    "CREATE TABLE run_note ("
    " run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, kind TEXT NOT NULL,"
    " position INTEGER NOT NULL, name TEXT NOT NULL, version TEXT,"
    " PRIMARY KEY (run_id, kind, position)) STRICT, WITHOUT ROWID",
    "CREATE TABLE run_verdict ("
    " run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, verdict TEXT NOT NULL,"
    " cases INTEGER NOT NULL, PRIMARY KEY (run_id, verdict)) STRICT, WITHOUT ROWID",
    "CREATE TABLE crash_case ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
    " scenario TEXT NOT NULL, variant TEXT NOT NULL, arch TEXT, kind TEXT,"
    " repeat INTEGER NOT NULL, folder TEXT, case_sha256 TEXT, expected_doors TEXT, got_doors TEXT,"
    " expected_code INTEGER, got_code INTEGER, expected_exit_code INTEGER, got_exit_code INTEGER,"
    " wall_ms INTEGER, walk_ns INTEGER, stop_walk_ns INTEGER, stop_dump_ns INTEGER,"
    " record_write_ns INTEGER, dump_write_ns INTEGER, record_bytes INTEGER, dump_bytes INTEGER,"
    " verdict TEXT NOT NULL, reason TEXT, right_engines TEXT, signature TEXT, known_id TEXT,"
    " has_truth INTEGER NOT NULL) STRICT",
    "CREATE INDEX case_of_run ON crash_case (run_id, id)",
    "CREATE INDEX case_by_name ON crash_case (scenario, variant, id)",
    "CREATE TABLE claim ("
    " case_id INTEGER NOT NULL REFERENCES crash_case ON DELETE CASCADE, position INTEGER NOT NULL,"
    " engine TEXT NOT NULL, shares TEXT, version TEXT, subject INTEGER NOT NULL,"
    " skipped INTEGER NOT NULL, why TEXT,"
    " open_ns INTEGER, unwind_ns INTEGER, load_ns INTEGER, resolve_ns INTEGER, total_ns INTEGER,"
    " peak_bytes INTEGER,"
    " state INTEGER NOT NULL, reason TEXT, judged INTEGER, exact INTEGER, top1 INTEGER,"
    " top5 INTEGER, reference INTEGER, truth_frames INTEGER, own_frames INTEGER,"
    " right_frames INTEGER, lines_judged INTEGER, lines_right INTEGER, inline_demanded INTEGER,"
    " inline_right INTEGER, physical_judged INTEGER, physical_same INTEGER,"
    " first_divergence INTEGER, frames INTEGER,"
    " PRIMARY KEY (case_id, position)) STRICT, WITHOUT ROWID",
    "CREATE TABLE thread ("
    " case_id INTEGER NOT NULL REFERENCES crash_case ON DELETE CASCADE, position INTEGER NOT NULL,"
    " thread_id INTEGER NOT NULL, name TEXT, role TEXT, truth INTEGER NOT NULL,"
    " reference INTEGER NOT NULL, row_count INTEGER NOT NULL,"
    " PRIMARY KEY (case_id, position)) STRICT, WITHOUT ROWID",
    "CREATE TABLE text (id INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE) STRICT",
    "CREATE TABLE module ("
    " id INTEGER PRIMARY KEY, position INTEGER NOT NULL, name TEXT NOT NULL, path TEXT NOT NULL,"
    " pdb_name TEXT NOT NULL, code_id TEXT NOT NULL, debug_id TEXT NOT NULL,"
    " base_va INTEGER NOT NULL, image_bytes INTEGER NOT NULL, loaded_at_ns INTEGER NOT NULL,"
    " unloaded_at_ns INTEGER NOT NULL,"
    " UNIQUE (name, base_va, position, path, pdb_name, code_id, debug_id, image_bytes,"
    " loaded_at_ns, unloaded_at_ns)) STRICT",
    "CREATE TABLE truth_thread ("
    " case_id INTEGER NOT NULL REFERENCES crash_case ON DELETE CASCADE, position INTEGER NOT NULL,"
    " thread_id INTEGER NOT NULL, role TEXT, PRIMARY KEY (case_id, position))"
    " STRICT, WITHOUT ROWID",
    "CREATE TABLE truth_frame ("
    " case_id INTEGER NOT NULL REFERENCES crash_case ON DELETE CASCADE, thread INTEGER NOT NULL,"
    " position INTEGER NOT NULL, function INTEGER, file INTEGER, line INTEGER, tail INTEGER,"
    " gap TEXT, gap_count INTEGER, row INTEGER, PRIMARY KEY (case_id, thread, position))"
    " STRICT, WITHOUT ROWID",
    "CREATE TABLE stack ("
    " id INTEGER PRIMARY KEY, case_id INTEGER NOT NULL REFERENCES crash_case ON DELETE CASCADE,"
    " claim INTEGER NOT NULL, position INTEGER NOT NULL, thread INTEGER, label TEXT,"
    " thread_id INTEGER, thread_name TEXT, role TEXT, state INTEGER, stop TEXT, left_out INTEGER,"
    " sample INTEGER, walk_ns INTEGER, stopped_ns INTEGER, open_ns INTEGER, unwind_ns INTEGER,"
    " load_ns INTEGER, resolve_ns INTEGER, total_ns INTEGER, peak_bytes INTEGER,"
    " frame_count INTEGER NOT NULL) STRICT",
    "CREATE INDEX stack_of_case ON stack (case_id, claim, position)",
    "CREATE TABLE frame ("
    " stack_id INTEGER NOT NULL REFERENCES stack ON DELETE CASCADE, position INTEGER NOT NULL,"
    " physical INTEGER, inline_depth INTEGER, kind INTEGER, found_by INTEGER, symbols INTEGER,"
    " class INTEGER, identity INTEGER, pc_va INTEGER, module INTEGER, module_name INTEGER,"
    " rva INTEGER, function INTEGER, file INTEGER, line INTEGER, distance INTEGER,"
    " compiland INTEGER, note INTEGER, row INTEGER, mark INTEGER, cause INTEGER,"
    " PRIMARY KEY (stack_id, position)) STRICT, WITHOUT ROWID",
    "CREATE TABLE gap ("
    " case_id INTEGER NOT NULL REFERENCES crash_case ON DELETE CASCADE, thread INTEGER NOT NULL,"
    " row INTEGER NOT NULL, side INTEGER NOT NULL, mark INTEGER NOT NULL, cause INTEGER NOT NULL,"
    " PRIMARY KEY (case_id, thread, row, side)) STRICT, WITHOUT ROWID",
    "CREATE TABLE finding ("
    " case_id INTEGER NOT NULL REFERENCES crash_case ON DELETE CASCADE, position INTEGER NOT NULL,"
    " level INTEGER NOT NULL, cause TEXT NOT NULL, engine TEXT NOT NULL, against TEXT NOT NULL,"
    " wrong TEXT, frame_a INTEGER, frame_b INTEGER, thread_id INTEGER, row INTEGER,"
    " fails INTEGER NOT NULL, evidence TEXT, PRIMARY KEY (case_id, position))"
    " STRICT, WITHOUT ROWID",
    "CREATE TABLE baseline (branch TEXT NOT NULL, platform TEXT NOT NULL,"
    " run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, PRIMARY KEY (branch, platform))"
    " STRICT, WITHOUT ROWID",
    "CREATE TABLE sample ("
    " run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, position INTEGER NOT NULL,"
    " subject TEXT NOT NULL, stage TEXT NOT NULL, cold INTEGER NOT NULL, round INTEGER NOT NULL,"
    " ns INTEGER NOT NULL, PRIMARY KEY (run_id, position)) STRICT, WITHOUT ROWID",
    NULL,
};

/* Things that were only on disk before: why each frame was found where it was, and the small files
 * that a case is based on, by content. And sums over a finished run, which never changes: pages
 * need them often, and a run has hundreds of thousands of frames. */
static const char *const version_2[] = {
    "CREATE TABLE evidence ("
    " stack_id INTEGER NOT NULL REFERENCES stack ON DELETE CASCADE, physical INTEGER NOT NULL,"
    " sp_va INTEGER, place TEXT, begin_rva INTEGER, end_rva INTEGER, unwind_va INTEGER,"
    " slot_va INTEGER, caller_sp_va INTEGER, steps INTEGER, code_before INTEGER,"
    " code_after INTEGER, PRIMARY KEY (stack_id, physical)) STRICT, WITHOUT ROWID",
    "CREATE TABLE artifact ("
    " id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL) STRICT",
    "CREATE TABLE case_artifact ("
    " case_id INTEGER NOT NULL REFERENCES crash_case ON DELETE CASCADE, position INTEGER NOT NULL,"
    " role TEXT NOT NULL, name TEXT NOT NULL, artifact INTEGER NOT NULL REFERENCES artifact,"
    " PRIMARY KEY (case_id, position)) STRICT, WITHOUT ROWID",
    "CREATE INDEX case_of_artifact ON case_artifact (artifact)",
    "CREATE TABLE run_engine ("
    " run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, position INTEGER NOT NULL,"
    " engine TEXT NOT NULL, shares TEXT, version TEXT, subject INTEGER NOT NULL,"
    " cases INTEGER, stacks INTEGER, skipped INTEGER, judged INTEGER, exact INTEGER, top1 INTEGER,"
    " top5 INTEGER, truth_frames INTEGER, own_frames INTEGER, right_frames INTEGER,"
    " lines_judged INTEGER, lines_right INTEGER, inline_demanded INTEGER, inline_right INTEGER,"
    " physical_judged INTEGER, physical_same INTEGER, divergent INTEGER, skip_reason TEXT,"
    " PRIMARY KEY (run_id, engine)) STRICT, WITHOUT ROWID",
    "CREATE TABLE run_cause ("
    " run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, cause TEXT NOT NULL,"
    " findings INTEGER NOT NULL, cases INTEGER NOT NULL, subject_findings INTEGER NOT NULL,"
    " PRIMARY KEY (run_id, cause)) STRICT, WITHOUT ROWID",
    "CREATE TABLE run_symbol ("
    " run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, module TEXT NOT NULL,"
    " code_id TEXT NOT NULL, debug_id TEXT NOT NULL, symbols INTEGER NOT NULL,"
    " frames INTEGER NOT NULL, inlined INTEGER NOT NULL,"
    " PRIMARY KEY (run_id, module, debug_id, code_id, symbols)) STRICT, WITHOUT ROWID",
    "CREATE TABLE run_figure ("
    " run_id INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE, expected INTEGER NOT NULL,"
    " captured INTEGER NOT NULL, timed INTEGER NOT NULL, dump_ns REAL, offset_ns REAL) STRICT",
    "CREATE INDEX case_in_run ON crash_case (run_id, scenario, variant, repeat)",
    NULL,
};

/* The cost of the tuned dump in the dying process, and of an engine that starts cold. */
static const char *const version_3[] = {
    "ALTER TABLE crash_case ADD COLUMN dump_tuned_ns INTEGER",
    "ALTER TABLE crash_case ADD COLUMN dump_tuned_bytes INTEGER",
    "ALTER TABLE claim ADD COLUMN cold_ns INTEGER",
    NULL,
};

/* The cost of captures on demand, and how late a hang was found. */
static const char *const version_4[] = {
    "ALTER TABLE crash_case ADD COLUMN capture_now_ns INTEGER",
    "ALTER TABLE crash_case ADD COLUMN hang_late_ns INTEGER",
    NULL,
};

/* Whose fault a difference is, and who says so. */
static const char *const version_5[] = {
    "ALTER TABLE finding ADD COLUMN blame TEXT",
    "ALTER TABLE finding ADD COLUMN witnesses TEXT",
    NULL,
};

/* How far a run is that has not ended, and which cases were captured in a crowd. */
static const char *const version_6[] = {
    "CREATE TABLE run_pace ("
    " run_id INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE, total INTEGER NOT NULL,"
    " captured INTEGER NOT NULL, had INTEGER NOT NULL, since_ns INTEGER NOT NULL,"
    " at_ns INTEGER NOT NULL) STRICT",
    "ALTER TABLE crash_case ADD COLUMN crowded INTEGER",
    NULL,
};

/* Medians over a run's cases, for trends: see SUM_MEDIANS in sql.c. */
static const char *const version_7[] = {
    "CREATE TABLE run_median ("
    " run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, figure TEXT NOT NULL,"
    " cases INTEGER NOT NULL, median REAL NOT NULL,"
    " PRIMARY KEY (run_id, figure)) STRICT, WITHOUT ROWID",
    NULL,
};

/* Where a difference is. */
static const char *const version_8[] = {
    "ALTER TABLE finding ADD COLUMN module TEXT",
    "ALTER TABLE finding ADD COLUMN function TEXT",
    NULL,
};

#define OLD_SITE                                                                                   \
    "coalesce(f.inline_depth, 0), coalesce(f.kind, 0), coalesce(f.found_by, 0),"                   \
    " coalesce(f.symbols, 0), coalesce(f.class, 0), coalesce(f.identity, 0),"                      \
    " coalesce(f.module_name, 0), coalesce(f.rva, 0), coalesce(f.function, 0),"                    \
    " coalesce(f.file, 0), coalesce(f.line, 0), coalesce(f.distance, 0),"                          \
    " coalesce(f.compiland, 0), coalesce(f.note, 0)"

/* How long a hanging thread was stopped until its stack was copied. */
static const char *const version_9[] = {
    "ALTER TABLE crash_case ADD COLUMN stop_copy_ns INTEGER",
    NULL,
};

/* What each way costs for the same stack (model/way.h), and how long a hang was stopped for the
 * tuned dump. */
static const char *const version_10[] = {
    "ALTER TABLE crash_case ADD COLUMN stop_tuned_ns INTEGER",
    "CREATE TABLE way_cost ("
    " case_id INTEGER NOT NULL REFERENCES crash_case ON DELETE CASCADE, way TEXT NOT NULL,"
    " frames INTEGER NOT NULL, same INTEGER NOT NULL, cold_ns INTEGER, cold_open_ns INTEGER,"
    " cold_unwind_ns INTEGER, cold_load_ns INTEGER, cold_resolve_ns INTEGER, cold_own_ns INTEGER,"
    " warm_ns INTEGER, warm_open_ns INTEGER, warm_unwind_ns INTEGER, warm_load_ns INTEGER,"
    " warm_resolve_ns INTEGER, warm_own_ns INTEGER,"
    " PRIMARY KEY (case_id, way)) STRICT, WITHOUT ROWID",
    NULL,
};

/* What repeats is kept once: of 164 frames that a case has, 9 are not in the same function at the
 * same offset as in another case. Addresses are left out where module and offset give them (NULL).
 * Files of cases are compressed; those that older versions stored have no plain_bytes and stay as
 * they are. */
static const char *const version_11[] = {
    "CREATE TABLE site ("
    " id INTEGER PRIMARY KEY, inline_depth INTEGER NOT NULL, kind INTEGER NOT NULL,"
    " found_by INTEGER NOT NULL, symbols INTEGER NOT NULL, class INTEGER NOT NULL,"
    " identity INTEGER NOT NULL, module_name INTEGER NOT NULL, rva INTEGER NOT NULL,"
    " function INTEGER NOT NULL, file INTEGER NOT NULL, line INTEGER NOT NULL,"
    " distance INTEGER NOT NULL, compiland INTEGER NOT NULL, note INTEGER NOT NULL,"
    " UNIQUE (rva, function, line, inline_depth, kind, found_by, symbols, class, identity,"
    " module_name, file, distance, compiland, note)) STRICT",
    "CREATE TABLE stack_frame ("
    " stack_id INTEGER NOT NULL REFERENCES stack ON DELETE CASCADE, position INTEGER NOT NULL,"
    " physical INTEGER, site INTEGER NOT NULL, module INTEGER, pc_va INTEGER, row INTEGER,"
    " mark INTEGER, cause INTEGER, PRIMARY KEY (stack_id, position)) STRICT, WITHOUT ROWID",
    "INSERT OR IGNORE INTO site (inline_depth, kind, found_by, symbols, class, identity,"
    " module_name, rva, function, file, line, distance, compiland, note)"
    " SELECT DISTINCT " OLD_SITE " FROM frame f",
    "INSERT INTO stack_frame SELECT f.stack_id, f.position, f.physical, s.id, f.module,"
    " CASE WHEN m.base_va + f.rva = f.pc_va AND m.base_va BETWEEN 0 AND 0x7fff000000000000"
    " AND f.rva BETWEEN 0 AND 0xffffffff THEN NULL ELSE coalesce(f.pc_va, 0) END,"
    " f.row, f.mark, f.cause FROM frame f LEFT JOIN module m ON m.id = f.module JOIN site s ON"
    " (s.inline_depth, s.kind, s.found_by, s.symbols, s.class, s.identity, s.module_name, s.rva,"
    " s.function, s.file, s.line, s.distance, s.compiland, s.note) = (" OLD_SITE ")",
    "DROP TABLE frame",
    "ALTER TABLE artifact ADD COLUMN plain_bytes INTEGER",
    "ALTER TABLE claim ADD COLUMN shares_text INTEGER",
    "ALTER TABLE finding ADD COLUMN evidence_text INTEGER",
    NULL,
};

/* The MVID of a managed module: two builds of one name may differ in nothing else, so it is a part
 * of what a module is, and SQLite changes such a constraint only by a new table. */
static const char *const version_12[] = {
    "CREATE TABLE module_now ("
    " id INTEGER PRIMARY KEY, position INTEGER NOT NULL, name TEXT NOT NULL, path TEXT NOT NULL,"
    " pdb_name TEXT NOT NULL, code_id TEXT NOT NULL, debug_id TEXT NOT NULL, mvid TEXT NOT NULL,"
    " base_va INTEGER NOT NULL, image_bytes INTEGER NOT NULL, loaded_at_ns INTEGER NOT NULL,"
    " unloaded_at_ns INTEGER NOT NULL,"
    " UNIQUE (name, base_va, position, path, pdb_name, code_id, debug_id, mvid, image_bytes,"
    " loaded_at_ns, unloaded_at_ns)) STRICT",
    "INSERT INTO module_now SELECT id, position, name, path, pdb_name, code_id, debug_id, '',"
    " base_va, image_bytes, loaded_at_ns, unloaded_at_ns FROM module",
    "DROP TABLE module",
    "ALTER TABLE module_now RENAME TO module",
    NULL,
};

/* How many of the innermost frames are right, in one more step. Older versions counted only one and
 * five: a stack that has one and not five may have three, and counts as one that has not. The sums
 * are made again. */
static const char *const version_13[] = {
    "ALTER TABLE claim ADD COLUMN top3 INTEGER",
    "ALTER TABLE run_engine ADD COLUMN top3 INTEGER",
    "UPDATE claim SET top3 = 1 WHERE top5 OR exact",
    "DELETE FROM run_engine",
    NULL,
};

/* Each way against itself: what its costs were in every other round. */
static const char *const version_14[] = {
    "ALTER TABLE way_cost ADD COLUMN cold_even_ns INTEGER",
    "ALTER TABLE way_cost ADD COLUMN cold_odd_ns INTEGER",
    "ALTER TABLE way_cost ADD COLUMN warm_even_ns INTEGER",
    "ALTER TABLE way_cost ADD COLUMN warm_odd_ns INTEGER",
    NULL,
};

/* The speed of a run is a ratio over pairs of one processor; the medians are made again. What each
 * way costs while no index exists. */
static const char *const version_15[] = {
    "ALTER TABLE way_cost ADD COLUMN first_ns INTEGER",
    "ALTER TABLE way_cost ADD COLUMN first_even_ns INTEGER",
    "ALTER TABLE way_cost ADD COLUMN first_odd_ns INTEGER",
    "ALTER TABLE run_figure DROP COLUMN timed",
    "ALTER TABLE run_figure DROP COLUMN dump_ns",
    "ALTER TABLE run_figure DROP COLUMN offset_ns",
    "DELETE FROM run_median",
    NULL,
};

/* How small record and dumps become: what keeping them costs. */
static const char *const version_16[] = {
    "ALTER TABLE crash_case ADD COLUMN record_gzip_bytes INTEGER",
    "ALTER TABLE crash_case ADD COLUMN record_zstd_bytes INTEGER",
    "ALTER TABLE crash_case ADD COLUMN dump_gzip_bytes INTEGER",
    "ALTER TABLE crash_case ADD COLUMN dump_zstd_bytes INTEGER",
    "ALTER TABLE crash_case ADD COLUMN dump_tuned_gzip_bytes INTEGER",
    "ALTER TABLE crash_case ADD COLUMN dump_tuned_zstd_bytes INTEGER",
    NULL,
};

/* What a bench measured of each case: its ratio varies with the cases, not with the rounds. */
static const char *const version_17[] = {
    "CREATE TABLE bench_case ("
    " run_id INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, position INTEGER NOT NULL,"
    " process INTEGER NOT NULL, scenario TEXT NOT NULL, variant TEXT NOT NULL,"
    " arch TEXT NOT NULL, kind TEXT NOT NULL, cold INTEGER NOT NULL, offset_ns INTEGER NOT NULL,"
    " dump_ns INTEGER NOT NULL, PRIMARY KEY (run_id, position)) STRICT, WITHOUT ROWID",
    NULL,
};

/* Whether the code around a frame's pc begins with an instruction: NULL in older versions, no. */
static const char *const version_18[] = {
    "ALTER TABLE evidence ADD COLUMN code_aligned INTEGER",
    NULL,
};

/* What pages show of the newest run, each text as of one number of changes. The triggers count
 * them, by whatever program: a run that ends or goes on again, one that is deleted, a baseline. A
 * run in progress changes nothing that is shown of others. */
#define COUNTS(NAME, EVENT)                                                                        \
    "CREATE TRIGGER change_" NAME " AFTER " EVENT                                                  \
    " BEGIN UPDATE change SET number = number + 1; END"
static const char *const version_19[] = {
    "CREATE TABLE change (number INTEGER NOT NULL) STRICT",
    "INSERT INTO change VALUES (1)",
    "CREATE TABLE shown (address TEXT PRIMARY KEY, program TEXT NOT NULL, change INTEGER NOT NULL,"
    " text BLOB NOT NULL, plain_bytes INTEGER) STRICT",
    COUNTS("run_added", "INSERT ON run WHEN new.state <> 'running'"),
    COUNTS("run_ended", "UPDATE ON run WHEN old.state <> 'running' OR new.state <> 'running'"),
    COUNTS("run_deleted", "DELETE ON run"),
    COUNTS("baseline_added", "INSERT ON baseline"),
    COUNTS("baseline_moved", "UPDATE ON baseline"),
    COUNTS("baseline_deleted", "DELETE ON baseline"),
    NULL,
};
#undef COUNTS

/* The medians of a run are of one processor, and say of which. */
static const char *const version_20[] = {
    "DELETE FROM run_median",
    NULL,
};

/* The facts of a finding by themselves. `facts`: 1; NULL in older versions, where they are in its
 * evidence alone. */
static const char *const version_21[] = {
    "ALTER TABLE finding ADD COLUMN facts INTEGER",
    "ALTER TABLE finding ADD COLUMN fact_module TEXT",
    "ALTER TABLE finding ADD COLUMN fact_file TEXT",
    "ALTER TABLE finding ADD COLUMN fact_sought TEXT",
    "ALTER TABLE finding ADD COLUMN fact_flaw TEXT",
    "ALTER TABLE finding ADD COLUMN fact_left_by TEXT",
    "ALTER TABLE finding ADD COLUMN fact_kinds INTEGER",
    "ALTER TABLE finding ADD COLUMN fact_more INTEGER",
    NULL,
};

/* What of symbols, of a record or of a dump is wrong. NULL in older versions: not stated. */
static const char *const version_22[] = {
    "ALTER TABLE finding ADD COLUMN fact_part INTEGER",
    "ALTER TABLE finding ADD COLUMN fact_input INTEGER",
    "ALTER TABLE finding ADD COLUMN fact_shift INTEGER",
    NULL,
};

const char *const *const store_migrations[STORE_SCHEMA_VERSION] = {
    version_1,  version_2,  version_3,  version_4,  version_5,  version_6,  version_7,  version_8,
    version_9,  version_10, version_11, version_12, version_13, version_14, version_15, version_16,
    version_17, version_18, version_19, version_20, version_21, version_22};
