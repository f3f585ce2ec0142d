/* Every SQL statement.  Parameters are bound, and columns read, in the order written here. */
#include "model/known.h"
#include "store/statements.h"

/* Of the lists of model/fields.h. */
#define COLUMN(KIND, NAME, SUM) ", " #NAME
#define COLUMN_OF_C(KIND, NAME, SUM) ", c." #NAME
#define PARAMETER(KIND, NAME, SUM) ", ?"

#define RUN_COLUMNS                                                                                \
    "id, uuid, state, label, started_ns, finished_ns, commit_id, branch, platform, compiler,"      \
    " flags, cpu, command, known_text"

#define RUN_FILTER                                                                                 \
    "(?1 IS NULL OR branch = ?1) AND (?2 IS NULL OR platform = ?2) AND (?3 IS NULL OR label = ?3)" \
    " AND (?4 OR state <> 'running')"

#define CASE_COLUMNS                                                                               \
    "c.id, c.run_id, c.scenario, c.variant, c.arch, c.kind, c.repeat, c.folder, c.case_sha256,"    \
    " c.expected_doors, c.got_doors, c.expected_code, c.got_code, c.expected_exit_code,"           \
    " c.got_exit_code, c.wall_ms" CASE_TIMING_FIELDS(                                              \
        COLUMN_OF_C) ","                                                                           \
                     " c.verdict, c.reason, c.right_engines, c.signature, c.known_id, c.has_truth"

#define WAY_COLUMNS                                                                                \
    "way, frames, same, cold_ns, cold_open_ns, cold_unwind_ns, cold_load_ns, cold_resolve_ns,"     \
    " cold_own_ns, cold_even_ns, cold_odd_ns, warm_ns, warm_open_ns, warm_unwind_ns,"              \
    " warm_load_ns, warm_resolve_ns, warm_own_ns, warm_even_ns, warm_odd_ns, first_ns,"            \
    " first_even_ns, first_odd_ns"

/* What claims and findings say is kept once; older versions kept it in each row. */
#define SHARES "coalesce(k.shares, (SELECT value FROM text WHERE id = k.shares_text))"

/* What a comparison needs of every case. */
#define SIDE_COLUMNS "c.id, scenario, variant, kind, repeat, verdict, signature, has_truth, reason"

/* ?2: the runs whose process was killed, ",7,9," */
#define ENDED "(state <> 'running' OR instr(?2, ',' || id || ',') > 0)"

/* The facts of the findings f and s. */
#define FACT_OF_F(NAME) ", f.fact_" #NAME
#define FACT_OF_S(NAME) ", s.fact_" #NAME
#define NUMBER_OF_F(TYPE, NAME) FACT_OF_F(NAME)
#define NUMBER_OF_S(TYPE, NAME) FACT_OF_S(NAME)
#define FACTS_OF_f "f.facts" FINDING_FACTS(FACT_OF_F, NUMBER_OF_F)
#define FACTS_OF_s "s.facts" FINDING_FACTS(FACT_OF_S, NUMBER_OF_S)

/* The findings by which a failing case is in its groups: see findings_deciding(). */
#define FINDING_COLUMNS(F)                                                                         \
    #F ".cause, " #F ".engine, coalesce(" #F ".evidence,"                                          \
       " (SELECT value FROM text WHERE id = " #F ".evidence_text)), " #F ".blame, " #F             \
       ".module, " #F ".function, " #F ".level, " #F ".against, " #F ".wrong, " #F ".frame_a, " #F \
       ".frame_b, " FACTS_OF_##F
#define OF_SYMBOLS(F)                                                                              \
    #F ".blame = 'symbols (shared)' AND " #F                                                       \
       ".cause NOT IN ('symbols_missing', 'symbols_mismatch') AND " #F ".frame_a >= 0 AND " #F     \
       ".level <> 0"
#define OF_STEP(F) #F ".blame LIKE 'walk of %' AND " #F ".cause = 'wrong_step'"
#define DECIDING(COLUMN)                                                                           \
    " (SELECT w." COLUMN " FROM finding w WHERE w.case_id = c.id AND w.fails AND w.thread_id IS"   \
    "   (SELECT v.thread_id FROM finding v WHERE v.case_id = c.id AND v.fails"                     \
    "    ORDER BY v.position LIMIT 1)"                                                             \
    "  ORDER BY w.row, w.position LIMIT 1)"
#define BEYOND                                                                                     \
    " CASE WHEN instr(c.reason, '" KNOWN_BEYOND "') = 1 THEN"                                      \
    " (SELECT b.position FROM finding b WHERE b.case_id = c.id AND b.fails"                        \
    "  AND b.cause <> " DECIDING("cause") " ORDER BY b.position LIMIT 1) END"
#define DECIDING_FINDING                                                                           \
    FINDING_COLUMNS(f)                                                                             \
    ", " FINDING_COLUMNS(                                                                          \
        s) " FROM crash_case c"                                                                    \
           " LEFT JOIN finding f ON c.signature IS NOT NULL AND f.case_id = "                      \
           "c.id AND f.position ="                                                                 \
           " coalesce(" BEYOND "," DECIDING(                                                       \
               "position") ")"                                                                     \
                           " LEFT JOIN finding s ON s.case_id = f.case_id AND "                    \
                           "s.position ="                                                          \
                           " (SELECT w.position FROM finding w WHERE w.case_id "                   \
                           "= f.case_id AND w.fails"                                               \
                           "  AND w.thread_id IS f.thread_id AND f.position "                      \
                           "= " DECIDING("position") "  AND (" OF_SYMBOLS(f) " AND " OF_STEP(      \
                               w) " OR " OF_STEP(f) " AND"                                         \
                                                    " " OF_SYMBOLS(                                \
                                                        w) ")"                                     \
                                                           "  ORDER BY w.row, w.position LIMIT 1)" \
                                                           " WHERE run_id = ?"

#define CASE_FILTER                                                                                \
    "(?1 IS NULL OR c.run_id = ?1) AND (?2 IS NULL OR c.scenario = ?2)"                            \
    " AND (?3 IS NULL OR c.variant = ?3) AND (?4 IS NULL OR c.kind = ?4)"                          \
    " AND (?5 IS NULL OR c.verdict = ?5)"                                                          \
    " AND (?6 IS NULL OR EXISTS (SELECT 1 FROM finding f WHERE f.case_id = c.id AND f.cause = "    \
    "?6))"                                                                                         \
    " AND (?7 IS NULL OR instr(c.scenario || '.' || c.variant ||"                                  \
    " CASE WHEN c.repeat > 0 THEN '#' || (c.repeat + 1) ELSE '' END, ?7) > 0)"                     \
    " AND (?1 IS NOT NULL OR EXISTS (SELECT 1 FROM run r WHERE r.id = c.run_id"                    \
    "      AND r.state <> 'running'))"

/* Parameters of every trend: ?1 scenario, ?2 variant, ?3 limit, ?4 branch, ?5 platform, ?6 the last
 * run or 0, ?7 the figure.  By start, since an imported run may be older than its number says. */
#define TREND_FILTER                                                                               \
    " r.state = 'complete' AND (?4 IS NULL OR r.branch = ?4)"                                      \
    " AND (?5 IS NULL OR r.platform = ?5) AND (?6 = 0 OR r.id <= ?6)"
#define TREND_ORDER " ORDER BY r.started_ns DESC, r.id DESC LIMIT ?3"
#define TREND_COLUMNS                                                                              \
    "r.id, r.started_ns, r.commit_id, r.branch, r.platform,"                                       \
    " (SELECT sum(v.cases) FROM run_verdict v WHERE v.run_id = r.id)"

/* Trends of whole runs read the newest runs only; trends of one case read all runs, since a run may
 * lack the case and the index finds it. */
#define TREND_RUNS                                                                                 \
    TREND_FILTER                                                                                   \
    " AND (?1 IS NOT NULL OR r.id IN (SELECT r.id FROM run r WHERE" TREND_FILTER TREND_ORDER "))"
#define TREND_CASE " (?1 IS NULL OR c.scenario = ?1) AND (?2 IS NULL OR c.variant = ?2)"

#define SUM_OF_NONE(NAME) ""
#define SUM_OF_COUNT(NAME) ", sum(k." #NAME ")"
#define SUM_OF_FRAMES(NAME) ", sum(k." #NAME ")"
#define SUM_OF_JUDGED(NAME) ", sum(k.judged AND k." #NAME ")"
#define SUM_OF(KIND, NAME, SUM) SUM_OF_##SUM(NAME)
#define SUMMED_NONE(NAME) ""
#define SUMMED_COUNT(NAME) ", " #NAME
#define SUMMED_FRAMES(NAME) ", " #NAME
#define SUMMED_JUDGED(NAME) ", " #NAME
#define SUMMED(KIND, NAME, SUM) SUMMED_##SUM(NAME)
#define ENGINE_SUM_COLUMNS                                                                         \
    "run_id, position, engine, shares, version, subject, cases, stacks, "                          \
    "skipped" ENGINE_SCORE_FIELDS(SUMMED) ", skip_reason"

/* Sums over a run's cases. For a finished run they are stored; for one that has not ended they are
 * computed on demand, with the same expressions. */
#define SUM_ENGINES                                                                                \
    "SELECT c.run_id, min(k.position) position, k.engine, max(" SHARES "),"                        \
    " CASE WHEN count(DISTINCT k.version) > 2 THEN '" ENGINE_VERSIONS_SEVERAL "'"                  \
    " WHEN min(k.version) <> max(k.version) THEN min(k.version) || '" ENGINE_VERSIONS_AND          \
    "' || max(k.version)"                                                                          \
    " WHEN k.engine = 'dump' AND sum(k.version IS NULL AND k.frames > 0) > 0"                      \
    " THEN max(k.version) || '" ENGINE_VERSIONS_AND ENGINE_VERSIONS_UNNAMED                        \
    "' ELSE max(k.version) END,"                                                                   \
    " max(k.subject), count(*),"                                                                   \
    " sum(k.state = 0 AND k.frames > 0), sum(k.state = 4)" ENGINE_SCORE_FIELDS(                    \
        SUM_OF) ", min(CASE WHEN k.state <> 0 THEN k.reason END)"                                  \
                " FROM crash_case c JOIN claim k ON k.case_id = c.id WHERE c.run_id = ? GROUP BY " \
                "k.engine"

#define SUM_CAUSES                                                                                 \
    "SELECT c.run_id, f.cause, count(*) findings, count(DISTINCT f.case_id),"                      \
    " sum(EXISTS (SELECT 1 FROM claim k WHERE k.case_id = f.case_id AND k.engine = f.engine"       \
    " AND k.subject))"                                                                             \
    " FROM finding f JOIN crash_case c ON c.id = f.case_id WHERE c.run_id = ? GROUP BY f.cause"

/* grouped by number first, since a run has many frames and few modules; judges are excluded, since
 * they do not say where their symbols are from */
#define SUM_SYMBOLS                                                                                \
    "SELECT n.run_id, m.name, m.code_id, m.debug_id, n.symbols, sum(n.frames), sum(n.inlined)"     \
    " FROM (SELECT c.run_id, f.module, p.symbols, count(*) frames, sum(p.inline_depth > 0)"        \
    " inlined FROM crash_case c JOIN claim k ON k.case_id = c.id AND k.engine NOT GLOB 'judge:*'"  \
    " JOIN stack s ON s.case_id = c.id AND s.claim = k.position JOIN stack_frame f"                \
    " ON f.stack_id = s.id JOIN site p ON p.id = f.site"                                           \
    " WHERE c.run_id = ? AND f.module IS NOT NULL"                                                 \
    " GROUP BY f.module, p.symbols) n JOIN module m ON m.id = n.module"                            \
    " GROUP BY m.name, m.code_id, m.debug_id, n.symbols"

/* run_case_is_to_capture(), run_case_is_captured(): of all of a run, those that were. */
#define IF_true(TEXT) TEXT
#define IF_false(TEXT) ""
#define OR_VERDICT(NAME, WORD, FAILS, CAPTURES) IF_##CAPTURES(", '" WORD "'")
#define TO_CAPTURE "c.kind <> 'calm' AND c.verdict IN (''" VERDICTS(OR_VERDICT) ")"
#define COUNT_CAPTURES                                                                             \
    "count(*), count(CASE WHEN c.record_bytes > 0 OR c.dump_bytes > 0 THEN 1 END)"

/* The numbers of case C that trends take medians of; FIGURE is an expression that gives the name.
 * Times do not count where the case ran in a crowd. */
#define CLAIM_TIME(engine, column)                                                                 \
    "(SELECT k." column " FROM claim k WHERE k.case_id = c.id AND k.engine = '" engine             \
    "' AND k.state = 0 AND k.frames > 0)"

/* What a case has of a way for the same frames, as the samples of the reports
 * (figure_sample_take()), whose ratio this must be. Older runs have no costs of ways. */
#define OF_WAY(number, way, of_claim)                                                              \
    "CASE WHEN EXISTS (SELECT 1 FROM way_cost w WHERE w.case_id = c.id)"                           \
    " THEN (SELECT w." number                                                                      \
    " FROM way_cost w WHERE w.case_id = c.id AND w.same AND w.way = " way ") ELSE " of_claim       \
    " END"
#define WAY_TIME(way, of_claim) OF_WAY("cold_ns", way, of_claim)
/* In a calm process: 1 if the dump has NUMBER, and 2 if the offsets have it. */
#define WAYS_WITH(number)                                                                          \
    "CASE WHEN c.crowded THEN 0 ELSE (SELECT total(CASE k.engine WHEN '" ENGINE_NAME_DUMP          \
    "' THEN 1 ELSE 2 END) FROM claim k WHERE k.case_id = c.id AND k.engine IN ('" ENGINE_NAME_DUMP \
    "', '" ENGINE_NAME_OFFSET "') AND k.state = 0 AND k.frames > 0 AND k.total_ns > 0"             \
    " AND " OF_WAY(number,                                                                         \
                   "CASE k.engine WHEN '" ENGINE_NAME_DUMP "' THEN 'dump' ELSE 'offset' "          \
                   "END",                                                                          \
                   "k." number) " > 0) END"
#define BOTH_WAYS WAYS_WITH("cold_ns") " = 3"
#define FIGURE_NONE(NAME) ""
#define FIGURE_WHEN(NAME) " WHEN '" #NAME "' THEN c." #NAME
#define FIGURE_NAME(NAME) ", ('" #NAME "')"
#define WHEN_NONE FIGURE_NONE
#define WHEN_SIZE FIGURE_WHEN
#define WHEN_TIME FIGURE_WHEN
#define NAME_NONE FIGURE_NONE
#define NAME_SIZE FIGURE_NAME
#define NAME_TIME FIGURE_NAME
#define FIGURE_OF_CASE(KIND, NAME, SUM) WHEN_##SUM(NAME)
#define FIGURE_LISTED(KIND, NAME, SUM) NAME_##SUM(NAME)
#define WHEN(name, value) " WHEN '" name "' THEN " value
#define OF_BACK_END                                                                                \
    WHEN("offset_cold_ns", CLAIM_TIME(ENGINE_NAME_OFFSET, "cold_ns"))                              \
    WHEN("dump_cold_ns", CLAIM_TIME(ENGINE_NAME_DUMP, "cold_ns"))                                  \
    WHEN("offset_ns", CLAIM_TIME(ENGINE_NAME_OFFSET, "total_ns"))                                  \
    WHEN("dump_ns", CLAIM_TIME(ENGINE_NAME_DUMP, "total_ns"))
#define OF_PAIRS                                                                                   \
    WHEN("paired_offset_ns", WAY_TIME("'offset'", CLAIM_TIME(ENGINE_NAME_OFFSET, "cold_ns")))      \
    WHEN("paired_dump_ns", WAY_TIME("'dump'", CLAIM_TIME(ENGINE_NAME_DUMP, "cold_ns")))
#define PAIR_VALUE(figure) "CASE WHEN " BOTH_WAYS " THEN CASE " figure OF_PAIRS " END END"
#define FIGURE_VALUE(figure)                                                                       \
    "nullif(CASE WHEN NOT coalesce(c.crowded, 0) OR " figure " GLOB '*_bytes' THEN CASE " figure   \
    CASE_TIMING_FIELDS(FIGURE_OF_CASE) OF_BACK_END " ELSE " PAIR_VALUE(figure) " END END, 0)"
#define FIGURE_NAMES                                                                               \
    "(VALUES ('offset_cold_ns'), ('dump_cold_ns'), ('offset_ns'), ('dump_ns'),"                    \
    " ('paired_offset_ns'), ('paired_dump_ns')" CASE_TIMING_FIELDS(FIGURE_LISTED) ")"

/* Medians, as in the reports: one cold case would distort a mean. They do not mix processors: a
 * program of 32 bits has other dumps. A run's are of the one with the least rank, as
 * processors_add() has it (study/figures.c): 5 times what its cases have, and its place. */
#define ARCH_WHEN(place, id, name) " WHEN '" name "' THEN " #place
#define ARCH_PLACE "CASE c.arch" CPU_ORDER(ARCH_WHEN) " ELSE 4 END"
#define RANK                                                                                       \
    "(5 * min(CASE " WAYS_WITH("frames") " WHEN 3 THEN 0 WHEN 1 THEN 1 + 2 * (c.arch <> 'x86')"    \
                                         " ELSE 3 END, 3 - coalesce(c.record_bytes > 0 OR"         \
                                         " c.dump_bytes > 0, 0)) + " ARCH_PLACE ")"
#define OF_PLACE " LEFT JOIN run_median a ON a.run_id = r.id AND a.figure = 'arch'"

/* Selects KEY, the processor's place, "cases" and "median" for each KEY of NUMBERS, which has the
 * columns of KEY, "value" and "rank". Beside a min() the columns are those of its row. */
#define MEDIANS(key, numbers)                                                                      \
    "SELECT * FROM (SELECT " key ", min(rank) % 5 AS place, cases, median FROM (SELECT " key       \
    ", min(rank) AS rank, count(value) AS cases, median(value) AS median FROM (" numbers           \
    ") GROUP BY " key ", rank % 5) GROUP BY " key ") WHERE cases > 0"

/* 'cases' is there for every run that has its sums, whatever was measured; 'arch' has the place. */
#define SUM_MEDIANS                                                                                \
    "WITH first(place) AS (SELECT coalesce(min(" RANK ") % 5, 4) FROM crash_case c"                \
    " WHERE c.run_id = ?1) SELECT ?1, figure, count(*), median(value) FROM"                        \
    " (SELECT f.column1 AS figure, " FIGURE_VALUE(                                                 \
        "f.column1") " AS value FROM crash_case c JOIN " FIGURE_NAMES                              \
                     " f WHERE c.run_id = ?1 AND " ARCH_PLACE " = (SELECT place FROM first))"      \
                     " WHERE value IS NOT NULL GROUP BY figure UNION ALL"                          \
                     " SELECT ?1, 'cases', count(*), count(*) FROM crash_case WHERE run_id = ?1"   \
                     " UNION ALL SELECT ?1, 'arch', 1, place FROM first"

/* The two figures whose ratio is the speed, side by side. */
#define PAIR_COLUMNS                                                                               \
    "max(cases), place, max(CASE WHEN figure = 'paired_dump_ns' THEN median END),"                 \
    " max(CASE WHEN figure = 'paired_offset_ns' THEN median END), id"

const char *const store_sql[SQL_COUNT] = {
    /* ---- writing ---- */
    [SQL_ADD_RUN] =
        "INSERT INTO run (uuid, state, label, started_ns, commit_id, branch, platform,"
        " compiler, flags, cpu, command, known_text)"
        " VALUES (coalesce(?, lower(hex(randomblob(16)))), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_ADD_RUN_NOTE] = "INSERT OR REPLACE INTO run_note VALUES (?, ?, ?, ?, ?)",
    [SQL_ADD_VERDICT] = "INSERT INTO run_verdict VALUES (?, ?, ?)"
                        " ON CONFLICT DO UPDATE SET cases = cases + excluded.cases",
    [SQL_PUT_PACE] = "INSERT OR REPLACE INTO run_pace VALUES (?, ?, ?, ?, ?, ?)",
    [SQL_FINISH_RUN] =
        "UPDATE run SET state = ?, finished_ns = ? WHERE id = ? AND state = 'running'",
    [SQL_RUN_STATE] = "SELECT state FROM run WHERE id = ?",
    [SQL_SET_STATE] = "UPDATE run SET state = ? WHERE id = ?",
    [SQL_ADD_CASE] =
        "INSERT INTO crash_case (run_id, scenario, variant, arch, kind, repeat, folder, "
        "case_sha256,"
        " expected_doors, got_doors, expected_code, got_code, expected_exit_code, got_exit_code,"
        " wall_ms" CASE_TIMING_FIELDS(
            COLUMN) ", verdict, reason,"
                    " right_engines, signature, known_id, has_truth)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?" CASE_TIMING_FIELDS(
                        PARAMETER) ", ?, ?, ?, ?, ?, ?)",
    [SQL_ADD_WAY] = "INSERT INTO way_cost (case_id, " WAY_COLUMNS
                    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
                    " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_ADD_CLAIM] =
        "INSERT INTO claim (case_id, position, engine, shares, version, subject, skipped, why,"
        " open_ns, unwind_ns, load_ns, resolve_ns, total_ns, peak_bytes, state,"
        " reason" ENGINE_SCORE_FIELDS(COLUMN) ", cold_ns, shares_text) VALUES (?, ?, ?, ?, ?, ?, ?,"
                                              " ?, ?, ?, ?, ?, ?, ?, ?, ?" ENGINE_SCORE_FIELDS(
                                                  PARAMETER) ", ?, ?)",
    [SQL_ADD_THREAD] = "INSERT INTO thread VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_ADD_TRUTH_THREAD] = "INSERT INTO truth_thread VALUES (?, ?, ?, ?)",
    [SQL_ADD_TRUTH_FRAME] = "INSERT INTO truth_frame VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_ADD_STACK] =
        "INSERT INTO stack (case_id, claim, position, thread, label, thread_id, thread_name, role,"
        " state, stop, left_out, sample, walk_ns, stopped_ns, open_ns, unwind_ns, load_ns,"
        " resolve_ns, total_ns, peak_bytes, frame_count)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_ADD_FRAME] = "INSERT INTO stack_frame VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_ADD_SITE] = "INSERT INTO site (inline_depth, kind, found_by, symbols, class, identity,"
                     " module_name, rva, function, file, line, distance, compiland, note)"
                     " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_FIND_SITE] = "SELECT id FROM site WHERE inline_depth = ? AND kind = ? AND found_by = ?"
                      " AND symbols = ? AND class = ? AND identity = ? AND module_name = ?"
                      " AND rva = ? AND function = ? AND file = ? AND line = ? AND distance = ?"
                      " AND compiland = ? AND note = ?",
    [SQL_ADD_GAP] = "INSERT INTO gap VALUES (?, ?, ?, ?, ?, ?)",
    [SQL_ADD_FINDING] =
        "INSERT INTO finding VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
        " ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_ADD_EVIDENCE] = "INSERT INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_ADD_ARTIFACT] = "INSERT OR IGNORE INTO artifact (sha256, bytes, plain_bytes)"
                         " VALUES (?, ?, ?)",
    [SQL_FIND_ARTIFACT] = "SELECT id FROM artifact WHERE sha256 = ?",
    [SQL_ADD_CASE_ARTIFACT] = "INSERT INTO case_artifact VALUES (?, ?, ?, ?, ?)",
    [SQL_SUM_ENGINES] = "INSERT OR REPLACE INTO run_engine (" ENGINE_SUM_COLUMNS ") " SUM_ENGINES,
    [SQL_SUM_CAUSES] = "INSERT OR REPLACE INTO run_cause " SUM_CAUSES,
    [SQL_SUM_SYMBOLS] = "INSERT OR REPLACE INTO run_symbol " SUM_SYMBOLS,
    [SQL_SUM_FIGURES] = "INSERT OR REPLACE INTO run_figure SELECT ?1, " COUNT_CAPTURES
                        " FROM crash_case c WHERE c.run_id = ?1 AND " TO_CAPTURE,
    [SQL_COUNT_CAPTURES] = "SELECT " COUNT_CAPTURES " FROM crash_case c"
                           " WHERE c.run_id = ? AND " TO_CAPTURE,
    /* Those of a run that goes on may be of another processor, which lacks some of them. */
    [SQL_FORGET_MEDIANS] = "DELETE FROM run_median WHERE run_id = ?",
    [SQL_SUM_MEDIANS] = "INSERT INTO run_median " SUM_MEDIANS,
    [SQL_RUNS_WITHOUT_SUMS] = "SELECT id FROM run WHERE state <> 'running'"
                              " AND id NOT IN (SELECT run_id FROM run_median) LIMIT 256",
    [SQL_ADD_TEXT] = "INSERT OR IGNORE INTO text (value) VALUES (?)",
    [SQL_READ_TEXT] = "SELECT value FROM text WHERE id = ?",
    [SQL_FIND_TEXT] = "SELECT id FROM text WHERE value = ?",
    [SQL_ADD_MODULE] = "INSERT OR IGNORE INTO module (position, name, path, pdb_name, code_id,"
                       " debug_id, mvid, base_va, image_bytes, loaded_at_ns, unloaded_at_ns)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [SQL_FIND_MODULE] =
        "SELECT id FROM module WHERE position = ? AND name = ? AND path = ?"
        " AND pdb_name = ? AND code_id = ? AND debug_id = ? AND mvid = ? AND base_va = ?"
        " AND image_bytes = ? AND loaded_at_ns = ? AND unloaded_at_ns = ?",
    [SQL_CASE_VERDICT] = "SELECT c.run_id, c.verdict, r.state FROM crash_case c"
                         " JOIN run r ON r.id = c.run_id WHERE c.id = ?",
    [SQL_SET_VERDICT] = "UPDATE crash_case SET verdict = ?, reason = ?, known_id = ? WHERE id = ?",
    [SQL_DELETE_RUN] = "DELETE FROM run WHERE id = ?",

    /* ---- runs ---- */
    [SQL_LIST_RUNS] = "SELECT " RUN_COLUMNS " FROM run WHERE " RUN_FILTER
                      " AND (?5 = 0 OR id < ?5) ORDER BY id DESC LIMIT ?6",
    [SQL_LIST_RUNS_UP] =
        "SELECT " RUN_COLUMNS " FROM run WHERE " RUN_FILTER " AND id > ?5 ORDER BY id LIMIT ?6",
    [SQL_COUNT_RUNS] = "SELECT count(*) FROM run WHERE " RUN_FILTER,
    [SQL_READ_RUN] = "SELECT " RUN_COLUMNS " FROM run WHERE id = ?",
    [SQL_READ_RUN_NOTES] = "SELECT name, version FROM run_note WHERE run_id = ? AND kind = ?"
                           " ORDER BY position",
    [SQL_RUNNING_PROCESSES] = "SELECT r.id, n.name FROM run r JOIN run_note n ON n.run_id = r.id"
                              " AND n.kind = 'process' WHERE r.state = 'running' ORDER BY r.id",
    [SQL_READ_RUN_VERDICTS] = "SELECT verdict, cases FROM run_verdict WHERE run_id = ?",
    [SQL_READ_PACE] = "SELECT total, captured, had, since_ns, at_ns FROM run_pace WHERE run_id = ?",
    [SQL_FIND_RUN_UUID] = "SELECT id FROM run WHERE substr(uuid, 1, length(?1)) = ?1"
                          " ORDER BY id LIMIT 2",
    /* a bench has no cases and is left out; a run that was stopped before its first case counts */
    [SQL_FIND_RUN_LATEST] = "SELECT id FROM run WHERE " ENDED " AND (label = '" RUN_LABEL_RUN "'"
                            " OR EXISTS (SELECT 1 FROM crash_case c WHERE c.run_id = run.id))"
                            " ORDER BY started_ns DESC, id DESC LIMIT 1 OFFSET ?1",
    [SQL_FIND_RUN_NAMED] = "SELECT id FROM run WHERE " ENDED " AND (label = '" RUN_LABEL_RUN "'"
                           " OR EXISTS (SELECT 1 FROM crash_case c WHERE c.run_id = run.id))"
                           " AND (branch = ?1 OR (length(?1) >= 7"
                           " AND substr(commit_id, 1, length(?1)) = ?1))"
                           " ORDER BY started_ns DESC, id DESC LIMIT 1",

    /* ---- cases ---- */
    [SQL_LIST_CASE_IDS] = "SELECT repeat, id FROM crash_case WHERE run_id = ?"
                          " ORDER BY scenario, variant, repeat, id",
    [SQL_LIST_CASES] = "SELECT " CASE_COLUMNS " FROM crash_case c WHERE " CASE_FILTER
                       " AND c.id > ?8 ORDER BY c.id LIMIT ?9",
    [SQL_LIST_CASES_DOWN] = "SELECT " CASE_COLUMNS " FROM crash_case c WHERE " CASE_FILTER
                            " AND (?8 = 0 OR c.id < ?8) ORDER BY c.id DESC LIMIT ?9",
    [SQL_COUNT_CASES] = "SELECT count(*) FROM crash_case c WHERE " CASE_FILTER,
    [SQL_READ_CASE] = "SELECT " CASE_COLUMNS " FROM crash_case c WHERE c.id BETWEEN ? AND ?"
                      " ORDER BY c.id",
    [SQL_READ_CLAIMS] =
        "SELECT case_id, engine, k.shares, k.shares_text, version, subject, skipped, why, open_ns, "
        "unwind_ns,"
        " load_ns, resolve_ns, total_ns, peak_bytes, state, reason" ENGINE_SCORE_FIELDS(
            COLUMN) ", cold_ns"
                    " FROM claim k WHERE case_id BETWEEN ? AND ? ORDER BY case_id, position",
    [SQL_READ_WAYS] = "SELECT case_id, " WAY_COLUMNS " FROM way_cost WHERE case_id BETWEEN ? AND ?"
                      " ORDER BY case_id, way",
    [SQL_READ_FINDINGS] =
        "SELECT case_id, level, cause, engine, against, wrong, frame_a, frame_b,"
        " thread_id, row, fails, evidence, evidence_text, blame, witnesses, module,"
        " function, " FACTS_OF_f " FROM finding f"
        " WHERE case_id BETWEEN ? AND ? ORDER BY case_id, position",
    [SQL_READ_THREADS] = "SELECT thread_id, name, role, truth, reference, row_count FROM thread"
                         " WHERE case_id = ? ORDER BY position",
    [SQL_READ_TRUTH_THREADS] = "SELECT thread_id, role,"
                               " (SELECT count(*) FROM truth_frame f WHERE f.case_id = t.case_id"
                               "  AND f.thread = t.position)"
                               " FROM truth_thread t WHERE case_id = ? ORDER BY position",
    [SQL_READ_TRUTH_FRAMES] = "SELECT a.value, b.value, line, tail, gap, gap_count, row"
                              " FROM truth_frame LEFT JOIN text a ON a.id = function"
                              " LEFT JOIN text b ON b.id = file"
                              " WHERE case_id = ? AND thread = ? ORDER BY position",
    [SQL_READ_STACKS] =
        "SELECT id, claim, thread, label, thread_id, thread_name, role, state, stop,"
        " left_out, sample, walk_ns, stopped_ns, open_ns, unwind_ns, load_ns,"
        " resolve_ns, total_ns, peak_bytes, frame_count FROM stack"
        " WHERE case_id = ? ORDER BY claim, position",
    [SQL_READ_FRAMES] =
        "SELECT f.physical, p.inline_depth, p.kind, p.found_by, p.symbols, p.class, p.identity,"
        " coalesce(f.pc_va, m.base_va + p.rva), p.rva, a.value, b.value, p.line, p.distance,"
        " c.value, d.value, e.value, f.row,"
        " f.mark, f.cause, m.id, m.position, m.name, m.path, m.pdb_name, m.code_id, m.debug_id,"
        " m.mvid, m.base_va, m.image_bytes, m.loaded_at_ns, m.unloaded_at_ns"
        " FROM stack_frame f JOIN site p ON p.id = f.site LEFT JOIN text a ON a.id = p.function"
        " LEFT JOIN text b ON b.id = p.file LEFT JOIN text c ON c.id = p.compiland"
        " LEFT JOIN text d ON d.id = p.note LEFT JOIN text e ON e.id = p.module_name LEFT JOIN "
        "module m ON m.id = f.module"
        " WHERE f.stack_id = ? ORDER BY f.position",
    [SQL_READ_GAPS] = "SELECT row, side, mark, cause FROM gap WHERE case_id = ? AND thread = ?",
    [SQL_READ_EVIDENCE] =
        "SELECT physical, sp_va, place, begin_rva, end_rva, unwind_va, slot_va, caller_sp_va,"
        " a.value, b.value, c.value, code_aligned FROM evidence e LEFT JOIN text a ON a.id = "
        "e.steps"
        " LEFT JOIN text b ON b.id = e.code_before LEFT JOIN text c ON c.id = e.code_after"
        " WHERE e.stack_id = ? ORDER BY physical",
    [SQL_READ_CASE_ARTIFACTS] =
        "SELECT c.role, c.name, a.sha256, a.bytes, a.plain_bytes FROM case_artifact c"
        " JOIN artifact a ON a.id = c.artifact WHERE c.case_id = ? ORDER BY c.position",
    [SQL_READ_ARTIFACT] = "SELECT c.role, c.name, a.sha256, a.bytes, a.plain_bytes FROM artifact a"
                          " JOIN case_artifact c ON c.artifact = a.id WHERE a.sha256 = ? LIMIT 1",
    [SQL_READ_OUTCOMES] =
        "SELECT c.id, scenario, variant, repeat, verdict, reason, right_engines, signature,"
        " known_id, folder, " DECIDING_FINDING
        " AND (c.signature IS NOT NULL OR c.verdict = 'XFAIL') ORDER BY c.id",
    [SQL_READ_VERDICTS] =
        "SELECT " SIDE_COLUMNS " FROM crash_case c WHERE run_id = ? ORDER BY c.id",
    [SQL_READ_SIDE] = "SELECT " SIDE_COLUMNS ", folder, " DECIDING_FINDING " ORDER BY c.id",
    [SQL_READ_SIDE_TIMES] = "SELECT c.id, k.engine, k.subject, k.state, k.total_ns, k.frames"
                            " FROM crash_case c JOIN claim k ON k.case_id = c.id"
                            " WHERE c.run_id = ? ORDER BY c.id, k.position",
    [SQL_READ_SIDE_STACKS] = "SELECT c.id, k.engine, k.subject, k.state, k.total_ns, k.frames"
                             " FROM crash_case c JOIN claim k ON k.case_id = c.id"
                             " WHERE c.run_id = ? AND k.subject ORDER BY c.id, k.position",
    [SQL_READ_HISTORY] =
        "SELECT r.id, r.commit_id, c.verdict FROM crash_case c JOIN run r ON r.id = c.run_id"
        " WHERE c.scenario = ?1 AND c.variant = ?2 AND c.repeat = ?3 AND r.id <= ?4"
        " AND r.branch IS ?5 AND (r.state = 'complete' OR r.id = ?4)"
        " ORDER BY r.id DESC LIMIT 1000",
    [SQL_FIND_CASE] = "SELECT id FROM crash_case WHERE run_id = ? AND scenario = ? AND variant = ?"
                      " AND repeat = ?",

    /* ---- figures ---- */
    [SQL_READ_ENGINES] =
        "SELECT " ENGINE_SUM_COLUMNS " FROM run_engine WHERE run_id = ? ORDER BY position, engine",
    [SQL_COUNT_ENGINES] = SUM_ENGINES " ORDER BY position, k.engine",
    [SQL_READ_CAUSES] = "SELECT * FROM run_cause WHERE run_id = ? ORDER BY findings DESC, cause",
    [SQL_COUNT_CAUSES] = SUM_CAUSES " ORDER BY findings DESC, f.cause",
    [SQL_READ_HOOKS] =
        "SELECT id, scenario, variant, repeat, expected_doors, got_doors, verdict, kind"
        " FROM crash_case WHERE run_id = ? ORDER BY scenario, variant, repeat",
    [SQL_READ_SYMBOLS] = "SELECT * FROM run_symbol WHERE run_id = ?"
                         " ORDER BY module, debug_id, symbols",
    [SQL_COUNT_SYMBOLS] = SUM_SYMBOLS " ORDER BY m.name, m.debug_id, n.symbols",
    [SQL_TREND_RUN_SCORES] =
        "SELECT " TREND_COLUMNS ", sum(e.judged), sum(e.exact), sum(e.truth_frames),"
        " sum(e.own_frames), sum(e.right_frames) FROM run r"
        " LEFT JOIN run_engine e ON e.run_id = r.id AND e.subject"
        " WHERE" TREND_FILTER " GROUP BY r.id" TREND_ORDER,
    [SQL_TREND_RUN_CASES] = "SELECT " TREND_COLUMNS ", f.expected, f.captured FROM run r"
                            " JOIN run_figure f ON f.run_id = r.id"
                            " WHERE" TREND_FILTER TREND_ORDER,
    [SQL_TREND_RUN_COST] =
        "SELECT " TREND_COLUMNS
        ", coalesce(d.cases, 0), coalesce(a.median, 4), d.median, o.median FROM run r" OF_PLACE
        " LEFT JOIN run_median d ON d.run_id = r.id AND d.figure = 'paired_dump_ns'"
        " LEFT JOIN run_median o ON o.run_id = r.id AND o.figure = 'paired_offset_ns'"
        " WHERE" TREND_FILTER TREND_ORDER,
    [SQL_TREND_RUN_MEDIAN] =
        "SELECT " TREND_COLUMNS
        ", coalesce(m.cases, 0), coalesce(a.median, 4), m.median FROM run r" OF_PLACE
        " LEFT JOIN run_median m ON m.run_id = r.id AND m.figure = ?7 WHERE" TREND_FILTER
            TREND_ORDER,
    [SQL_TREND_SCORES] =
        "SELECT " TREND_COLUMNS ", sum(k.judged), sum(k.exact), sum(k.truth_frames),"
        " sum(k.own_frames), sum(k.right_frames)"
        " FROM run r JOIN crash_case c ON c.run_id = r.id JOIN claim k ON k.case_id = c.id"
        " WHERE" TREND_RUNS " AND k.subject AND" TREND_CASE " GROUP BY r.id" TREND_ORDER,
    [SQL_TREND_CASES] =
        "SELECT " TREND_COLUMNS ", " COUNT_CAPTURES
        " FROM run r JOIN crash_case c ON c.run_id = r.id"
        " WHERE" TREND_RUNS " AND " TO_CAPTURE " AND" TREND_CASE " GROUP BY r.id" TREND_ORDER,
    [SQL_TREND_COST] =
        "SELECT " TREND_COLUMNS ", n.* FROM run r JOIN (SELECT " PAIR_COLUMNS " FROM (" MEDIANS(
            "id, figure",
            "SELECT r.id, f.column1 AS figure, " PAIR_VALUE(
                "f.column1") " AS value, " RANK
                             " AS rank FROM run r JOIN crash_case c ON c.run_id = r.id"
                             " JOIN (VALUES ('paired_dump_ns'), ('paired_offset_ns')) f"
                             " WHERE" TREND_RUNS
                             " AND" TREND_CASE) ") GROUP BY id) n ON n.id = r.id WHERE" TREND_FILTER
            TREND_ORDER,
    [SQL_TREND_MEDIAN] =
        "SELECT " TREND_COLUMNS ", n.cases, n.place, n.median FROM run r JOIN (" MEDIANS(
            "id", "SELECT r.id, " FIGURE_VALUE(
                      "?7") " AS value, " RANK " AS rank FROM run r JOIN crash_case c"
                            " ON c.run_id = r.id WHERE" TREND_RUNS
                            " AND" TREND_CASE) ") n ON n.id = r.id WHERE" TREND_FILTER TREND_ORDER,
    [SQL_LIST_BRANCHES] = "SELECT DISTINCT branch FROM run WHERE state = 'complete'"
                          " AND branch IS NOT NULL ORDER BY branch LIMIT 100",
    [SQL_LIST_PLATFORMS] = "SELECT DISTINCT platform FROM run WHERE state = 'complete'"
                           " AND platform IS NOT NULL ORDER BY platform LIMIT 100",

    /* ---- baseline, samples, pruning ---- */
    [SQL_SET_BASELINE] = "INSERT INTO baseline VALUES (coalesce(?, ''), coalesce(?, ''), ?)"
                         " ON CONFLICT DO UPDATE SET run_id = excluded.run_id",
    [SQL_CLEAR_BASELINE] = "DELETE FROM baseline WHERE branch = coalesce(?, '')"
                           " AND platform = coalesce(?, '')",
    [SQL_LIST_BASELINES] = "SELECT b.branch, b.platform, r.uuid FROM baseline b"
                           " JOIN run r ON r.id = b.run_id",
    [SQL_ADD_BASELINE] = "INSERT OR IGNORE INTO baseline"
                         " SELECT ?1, ?2, id FROM run WHERE uuid = ?3",
    [SQL_GET_BASELINE] = "SELECT run_id FROM baseline WHERE branch IN (coalesce(?1, ''), '')"
                         " AND platform IN (coalesce(?2, ''), '')"
                         " ORDER BY branch = '', platform = '' LIMIT 1",
    [SQL_ADD_SAMPLE] = "INSERT INTO sample VALUES (?1, (SELECT count(*) FROM sample"
                       " WHERE run_id = ?1), ?2, ?3, ?4, ?5, ?6)",
    [SQL_READ_SAMPLES] = "SELECT subject, stage, cold, round, ns FROM sample WHERE run_id = ?"
                         " ORDER BY position",
    [SQL_ADD_BENCH_CASE] = "INSERT INTO bench_case VALUES (?1, (SELECT count(*) FROM bench_case"
                           " WHERE run_id = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [SQL_READ_BENCH_CASES] = "SELECT process, scenario, variant, arch, kind, cold, offset_ns,"
                             " dump_ns FROM bench_case WHERE run_id = ? ORDER BY position",
    [SQL_PRUNE_LIST] = "SELECT id FROM run WHERE state <> 'running'"
                       " AND id NOT IN (SELECT run_id FROM baseline)"
                       " ORDER BY id DESC LIMIT -1 OFFSET ?",
    [SQL_PUBLISH] = "VACUUM INTO ?",

    /* ---- what pages show ---- */
    [SQL_COUNT_CHANGES] = "SELECT number FROM change",
    [SQL_HAS_SHOWN] = "SELECT 1 FROM run WHERE state = 'running' UNION ALL SELECT 1 FROM shown"
                      " WHERE program = ? AND change = (SELECT number FROM change) LIMIT 1",
    [SQL_READ_SHOWN] = "SELECT text, plain_bytes FROM shown WHERE address = ? AND program = ?"
                       " AND change IN (?, ?) AND coalesce(plain_bytes, length(text)) <= ?",
    /* the rest of a run never changes; a bench of its commit may come later */
    [SQL_READ_BASIS] =
        "SELECT id, state, uuid || ' ' || finished_ns FROM run WHERE id <= ?1"
        " OR ?2 AND id IN (SELECT run_id FROM baseline) OR label = '" RUN_LABEL_BENCH "' AND"
        " commit_id = (SELECT commit_id FROM run WHERE id = ?1) ORDER BY id",
    [SQL_READ_BASELINES] = "SELECT run_id, quote(branch) || quote(platform) FROM baseline"
                           " ORDER BY branch, platform",
    /* the texts of one run have its number in their address: /api/v1/runs/7/grid, ...?run=7 */
    [SQL_CLEAR_SHOWN] =
        "DELETE FROM shown WHERE program <> ? OR change < 0 AND CAST(substr(address, CASE WHEN"
        " address GLOB '/api/v1/runs/*' THEN 14 ELSE instr(address, 'run=') + 4 END) AS INTEGER)"
        " NOT IN (SELECT id FROM run)",
    [SQL_CLEAR_NOW_SHOWN] = "DELETE FROM shown WHERE change >= 0",
    [SQL_ADD_SHOWN] = "INSERT OR REPLACE INTO shown VALUES (?, ?, ?, ?, ?)",
};
