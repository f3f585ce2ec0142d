/* The symbol index: a file made once from a PDB or an image with other symbols. It answers an
 * address in one or two cache misses. Position independent and checksummed; used through one
 * read-only mapping by any number of threads and processes. Answers are exactly those of
 * pdb_lookup() or symbol_object_lookup().
 *
 * An index belongs to one file (size, time of change), one spelling of names and one
 * version of this code; any mismatch means that it is rebuilt. Builders write a temporary file and
 * rename it, so that several may run at once. */
#ifndef SYMBOL_INDEX_H
#define SYMBOL_INDEX_H

#include <stdint.h>

#include "base/files.h"
#include "format/pdb/pdb.h"
#include "symbol/pieces.h"
#include "symbol/symbol_store.h"

struct symbol_index;

enum { SYMBOL_INDEX_VERSION = 19 }; /* of the layout, and of what its readers answer */

/* What an index is for. */
struct symbol_index_key {
    uint64_t file_bytes, file_modified_ns; /* of that file */
    enum symbol_names names;
    bool is_image;       /* not a PDB */
    uint64_t companions; /* of an image: symbol_object_companions() */
};
struct symbol_index_key symbol_index_key(const struct file_map *file, enum symbol_names names);

/* Opens the index at PATH if it is for KEY. Fails: ERR_ABSENT; ERR_MISMATCH of another file,
 * spelling or version; ERR_MALFORMED, ERR_TRUNCATED damaged. After any of these, build a new one.
 */
enum status symbol_index_open_key(const char *path, const struct symbol_index_key *key,
                                  struct symbol_index **out, struct fault *fault);

/* The same for the index of a PDB. */
enum status symbol_index_open(const char *path, const struct file_map *pdb_file,
                              enum symbol_names names, struct symbol_index **out,
                              struct fault *fault);
void symbol_index_close(struct symbol_index *index);

/* The time of change of the index file when it was opened, as in struct file_map. */
uint64_t symbol_index_written_ns(const struct symbol_index *index);

struct symbol_index_cost {
    uint64_t build_ns;
    uint64_t index_bytes, ranges, nodes;
    uint32_t threads;
};

/* Builds the index of PDB (opened over PDB_FILE) and writes it to PATH.  THREADS 0: as many as
 * this process may use.  COST may be NULL.  Fails: ERR_IO, ERR_MEMORY, ERR_LIMIT. */
enum status symbol_index_build(const struct pdb *pdb, const struct file_map *pdb_file,
                               enum symbol_names names, uint32_t threads, const char *path,
                               struct symbol_index_cost *cost, struct fault *fault);

/* Verifies the checksum of the whole file. Opening does so only for small files, where it is cheap;
 * at worst damage in a large file gives wrong names, never a crash. Fails: ERR_MALFORMED. */
enum status symbol_index_verify(const struct symbol_index *index, struct fault *fault);

/* Builds the index of any other file: calls the lookup for each range of its code. The rest as
 * above; ERR_LIMIT also when a line number is too large, or a piece has more frames than an answer;
 * ERR_MALFORMED when some of what applies is not readable. Fails: as above. */
enum status symbol_index_build_pieces(const struct code_pieces *pieces,
                                      const struct symbol_index_key *key, const char *path,
                                      struct symbol_index_cost *cost, struct fault *fault);

/* The code that an index covers: from *first_rva to before *end_rva. Elsewhere the file itself must
 * be asked, except that a PDB has nothing there. symbol_index_covers() is true where it need not.
 */
void symbol_index_range(const struct symbol_index *index, uint32_t *first_rva, uint64_t *end_rva);
bool symbol_index_covers(const struct symbol_index *index, uint32_t rva);

/* As pdb_lookup(); safe from several threads.  Strings live as long as the index. */
uint32_t symbol_index_lookup(const struct symbol_index *index, uint32_t rva,
                             struct symbol_frame out[SYMBOL_FRAMES_MAX]);

#endif
