/* The files and lines of one unit; see dwarf.h and line_table.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/dwarf/line_table.h"

/* BYTES_PER_ROW: of a line program, about. */
enum { ROWS_MAX = 1 << 26, BYTES_PER_ROW = 4 };

/* Opcodes. */
enum {
    EXTENDED = 0,
    COPY = 1,
    ADVANCE_PC = 2,
    ADVANCE_LINE = 3,
    SET_FILE = 4,
    CONST_ADD_PC = 8,
    FIXED_ADVANCE_PC = 9,
    EXTENDED_END = 1,
    EXTENDED_SET_ADDRESS = 2,
};

/* The state machine that runs a line program. */
struct machine {
    const struct dwarf *dwarf;
    const struct line_table *table;
    struct dwarf_cursor c;
    uint64_t address, file;
    uint32_t line, operation, sequence;
    struct dwarf_row *rows; /* owned */
    uint32_t count, room;
    uint32_t sequence_start; /* number of its first row */
    bool failed;
};

static void reset(struct machine *m)
{
    m->address = 0;
    m->file = 1;
    m->line = 1;
    m->operation = 0;
}

static void advance(struct machine *m, uint64_t operations)
{
    if (m->table->operations <= 1) {
        m->address += operations * m->table->least_step;
        return;
    }
    const uint64_t all = m->operation + operations; /* several operations in an instruction */
    m->address += all / m->table->operations * m->table->least_step;
    m->operation = (uint32_t)(all % m->table->operations);
}

static void add_row(struct machine *m, bool ends)
{
    const struct object_debug *debug = m->dwarf->debug;
    const uint64_t offset = m->address - debug->base_va;

    if (m->address < debug->base_va || offset > UINT32_MAX || m->count == ROWS_MAX)
        return;
    m->failed = !ARRAY_ROOM(m->rows, m->room, (uint64_t)m->count + 1);
    if (m->failed)
        return;
    m->rows[m->count++] = (struct dwarf_row){
        .offset = (uint32_t)offset,
        .line = m->line,
        .file = m->file < UINT32_MAX ? (uint32_t)m->file : UINT32_MAX,
        .sequence = m->sequence & INT32_MAX,
        .ends = ends,
    };
}

/* A sequence that starts outside code was dropped by the linker. Rows at its end cover no byte; gcc
 * writes such a row after a function's last call when that call does not return. */
static void end_sequence(struct machine *m)
{
    const struct object_debug *debug = m->dwarf->debug;

    while (m->count > m->sequence_start &&
           debug->base_va + m->rows[m->count - 1].offset == m->address)
        m->count--;
    add_row(m, true);
    if (m->count > m->sequence_start && debug->code_count > 0 &&
        !object_is_code(debug, debug->base_va + m->rows[m->sequence_start].offset))
        m->count = m->sequence_start;
    m->sequence_start = m->count;
    m->sequence++;
    reset(m);
}

static void run_extended(struct machine *m)
{
    const uint64_t bytes = cursor_unsigned(&m->c);

    if (m->c.failed || bytes == 0 || bytes > cursor_left(&m->c)) {
        m->c.failed = m->c.failed || bytes > 0;
        return;
    }
    const uint8_t *end = m->c.at + bytes;
    const uint64_t opcode = cursor_fixed(&m->c, 1);
    if (opcode == EXTENDED_END) {
        end_sequence(m);
    } else if (opcode == EXTENDED_SET_ADDRESS && bytes - 1 <= 8) {
        m->address = cursor_fixed(&m->c, (uint32_t)bytes - 1);
        m->operation = 0;
    }
    m->c.at = end;
}

static void run_standard(struct machine *m, uint8_t opcode)
{
    const struct line_table *table = m->table;

    switch (opcode) {
    case COPY:
        add_row(m, false);
        break;
    case ADVANCE_PC:
        advance(m, cursor_unsigned(&m->c));
        break;
    case ADVANCE_LINE:
        m->line += (uint32_t)cursor_signed(&m->c);
        break;
    case SET_FILE:
        m->file = cursor_unsigned(&m->c);
        break;
    case CONST_ADD_PC:
        advance(m, (255U - table->first_special) / table->line_range);
        break;
    case FIXED_ADVANCE_PC:
        m->address += cursor_fixed(&m->c, 2);
        m->operation = 0;
        break;
    default:
        for (uint8_t i = 0; i < table->operand_counts[opcode - 1]; i++)
            (void)cursor_unsigned(&m->c);
        break;
    }
}

static void run_program(struct machine *m)
{
    const struct line_table *table = m->table;

    reset(m);
    while (m->c.at < m->c.end && !m->c.failed && !m->failed) {
        const uint8_t opcode = (uint8_t)cursor_fixed(&m->c, 1);
        if (opcode == EXTENDED) {
            run_extended(m);
        } else if (opcode < table->first_special) {
            run_standard(m, opcode);
        } else {
            const uint32_t special = (uint32_t)opcode - table->first_special;
            advance(m, special / table->line_range);
            m->line += (uint32_t)(table->line_base + (int32_t)(special % table->line_range));
            add_row(m, false);
        }
    }
    m->failed = m->failed || m->c.failed || m->count > m->sequence_start;
    m->count = m->sequence_start; /* a sequence without an end is damaged */
}

static int compare_rows(const void *left, const void *right)
{
    const struct dwarf_row *a = left;
    const struct dwarf_row *b = right;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return b->ends - a->ends; /* a row that starts at the same address replaces an end */
}

/* Compilers write most tables in the order of addresses. */
static bool is_sorted(const struct dwarf_row *rows, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (compare_rows(&rows[i - 1], &rows[i]) > 0)
            return false;
    return true;
}

void dwarf_read_lines(struct dwarf *dwarf, struct dwarf_unit *unit)
{
    struct dwarf_context *context = unit->skeleton;
    struct dwarf_entry root;
    struct line_table table;
    uint64_t offset;

    if (!dwarf_context_read(context, &root) || !dwarf_number(context, &root, AT_STMT_LIST, &offset))
        return;
    const char *folder = dwarf_text(context, &root, AT_COMP_DIR);
    const uint64_t bytes = context->object->sections[DEBUG_LINE].bytes;
    if (context->object->line_bytes > DWARF_SHARED * (bytes + DWARF_SHARED_LEAST) ||
        !line_table_open(context, offset, folder != NULL ? folder : "", &dwarf->arena, &table)) {
        context->damaged = true;
        return;
    }
    context->object->line_bytes += table.bytes;
    unit->files = table.files;
    unit->file_count = table.file_count;
    struct machine machine = {.dwarf = dwarf, .table = &table, .c = table.program};
    (void)ARRAY_ROOM(machine.rows, machine.room, cursor_left(&machine.c) / BYTES_PER_ROW);
    run_program(&machine);
    context->damaged = context->damaged || machine.failed;
    if (!is_sorted(machine.rows, machine.count))
        array_sort(machine.rows, machine.count, sizeof *machine.rows, compare_rows);
    unit->row_count = machine.count;
    unit->rows = ARRAY_FIT(machine.rows, machine.count);
}
