/* Writes a minidump as JSON: everything in its streams. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "format/minidump/dump_values.h"

static void write_place(struct json *j, const char *key, struct minidump_place place)
{
    json_key(j, key);
    if (place.bytes == 0) {
        json_null(j);
        return;
    }
    json_object(j);
    json_key_hex(j, "offset", place.foff);
    json_key_uint(j, "bytes", place.bytes);
    json_object_end(j);
}

/* Writes an identity or a version: "" and 0 mean unknown. */
static void key_known(struct json *j, const char *key, const char *text)
{
    json_key_string(j, key, text != NULL && text[0] != '\0' ? text : NULL);
}

static void key_version(struct json *j, const char *key, uint64_t version)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "%u.%u.%u.%u", (unsigned)(version >> 48),
                   (unsigned)(version >> 32 & 0xffff), (unsigned)(version >> 16 & 0xffff),
                   (unsigned)(version & 0xffff));
    json_key_string(j, key, version != 0 ? text : NULL);
}

static void write_streams(struct json *j, const struct minidump *d)
{
    uint64_t shown = 0;
    json_key_array(j, "streams");
    for (uint32_t i = 0; i < d->stream_count; i++) {
        const struct minidump_stream *stream = &d->streams[i];
        json_object(j);
        json_key_hex(j, "type", stream->type);
        json_key_string(j, "name", minidump_stream_name(stream->type));
        json_key_hex(j, "offset", stream->place.foff);
        json_key_uint(j, "bytes", stream->place.bytes);
        json_key(j, "fault");
        if (stream->fault.code == ERR_NONE) {
            json_null(j);
        } else {
            json_object(j);
            json_key_string(j, "code", fault_code_name(stream->fault.code));
            json_key_string(j, "what", stream->fault.what);
            json_key_hex_if(j, "offset", stream->fault.offset,
                            stream->fault.offset != FAULT_NO_OFFSET);
            json_object_end(j);
        }
        json_key_string(j, "reported_in", stream->json_member);
        json_key(j, "content");
        minidump_write_content(j, d, stream, &shown);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_system(struct json *j, const struct minidump *d)
{
    const struct minidump_system *s = &d->system;
    json_key(j, "system");
    if (!s->present) {
        json_null(j);
        return;
    }
    char version[48];
    (void)snprintf(version, sizeof(version), "%" PRIu32 ".%" PRIu32 ".%" PRIu32, s->major, s->minor,
                   s->build);
    json_object(j);
    json_key_string(j, "cpu", cpu_name(d->cpu));
    json_key_string(j, "context_cpu", cpu_name(d->dump_cpu));
    json_key_uint(j, "architecture", s->architecture);
    json_key_uint(j, "level", s->level);
    json_key_uint(j, "revision", s->revision);
    json_key_uint(j, "processors", s->processors);
    json_key_uint(j, "product_type", s->product_type);
    json_key_uint(j, "platform", s->platform);
    json_key_string(j, "version", version);
    json_key_string(j, "service_pack", s->service_pack);
    json_key_uint(j, "suite", s->suite);
    key_known(j, "vendor", s->vendor);
    json_key_array(j, "cpu_features");
    for (size_t i = 0; d->dump_cpu == CPU_X86 && i < 3; i++)
        json_hex(j, s->cpu_features[i]);
    for (size_t i = 0; d->dump_cpu != CPU_X86 && i < 2; i++)
        json_hex(j, s->processor_features[i]);
    json_array_end(j);
    json_object_end(j);
}

static void write_misc(struct json *j, const struct minidump_misc *m)
{
    json_key(j, "process");
    if (!m->present) {
        json_null(j);
        return;
    }
    const struct {
        const char *key;
        uint32_t flag; /* MINIDUMP_MISC*_: the field was filled */
        uint32_t value;
    } numbers[] = {
        {"id", 1, m->process_id},
        {"create_time", 2, m->create_time},
        {"user_s", 2, m->user_s},
        {"kernel_s", 2, m->kernel_s},
        {"max_mhz", 4, m->max_mhz},
        {"current_mhz", 4, m->current_mhz},
        {"limit_mhz", 4, m->limit_mhz},
        {"integrity_level", 0x10, m->integrity_level},
        {"execute_flags", 0x20, m->execute_flags},
        {"protected_process", 0x80, m->protected_process},
        {"cookie", 0x200, m->process_cookie},
    };
    json_object(j);
    json_key_hex(j, "flags", m->flags);
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        if ((m->flags & numbers[i].flag) == 0)
            json_key_null(j, numbers[i].key);
        else if (numbers[i].flag >= 0x10)
            json_key_hex(j, numbers[i].key, numbers[i].value);
        else
            json_key_uint(j, numbers[i].key, numbers[i].value);
    }
    json_key(j, "bias_minutes");
    if ((m->flags & 0x40) != 0)
        json_int(j, m->bias_minutes);
    else
        json_null(j);
    key_known(j, "time_zone", m->time_zone);
    key_known(j, "build", m->build);
    key_known(j, "debugger_build", m->debugger_build);
    json_key_hex(j, "xstate_features", m->xstate_features);
    json_object_end(j);
}

static void write_exception(struct json *j, const struct minidump *d)
{
    const struct minidump_exception *e = &d->exception;
    json_key(j, "exception");
    if (!e->present) {
        json_null(j);
        return;
    }
    json_object(j);
    json_key_uint(j, "thread_id", e->thread_id);
    json_key_hex(j, "code", e->code);
    json_key_string(j, "name", minidump_code_name(d));
    json_key_hex(j, "flags", e->flags);
    json_key_hex(j, "record", e->record_va);
    json_key_hex(j, "address", e->address_va);
    json_key_array(j, "information");
    for (uint32_t i = 0; i < e->info_count; i++)
        json_hex(j, e->info[i]);
    json_array_end(j);
    write_place(j, "context", e->context);
    json_object_end(j);
}

static void write_annotations(struct json *j, const struct minidump_text *rows, uint32_t count)
{
    json_key_array(j, "annotations");
    for (uint32_t i = 0; i < count; i++) {
        json_object(j);
        json_key_string(j, "key", rows[i].key);
        json_key_uint(j, "type", rows[i].type);
        json_key_string(j, "value", rows[i].value);
        json_object_end(j);
    }
    json_array_end(j);
}

static void module_head(struct json *j, const struct module *m)
{
    json_key_uint(j, "index", m->index);
    json_key_string(j, "name", m->name);
    json_key_string(j, "path", m->path);
    json_key_hex(j, "base", m->base_va);
    json_key_hex(j, "size", m->image_bytes);
    key_known(j, "code_id", m->code_id);
    key_known(j, "debug_id", m->debug_id);
    json_key_string(j, "pdb", m->pdb_name);
}

static void write_modules(struct json *j, const struct minidump *d)
{
    json_key_array(j, "modules");
    for (uint32_t i = 0; i < d->module_count; i++) {
        const struct minidump_module *row = &d->modules[i];
        json_object(j);
        module_head(j, &row->module);
        json_key_string(j, "codeview", row->codeview);
        json_key_string(j, "build_id", row->build_id);
        write_place(j, "codeview_record", row->codeview_place);
        write_place(j, "misc_record", row->misc_place);
        json_key_hex(j, "timestamp", row->timestamp);
        json_key_hex(j, "checksum", row->checksum);
        key_version(j, "file_version", row->file_version);
        key_version(j, "product_version", row->product_version);
        json_key_hex(j, "file_flags", row->file_flags);
        json_key_hex(j, "file_os", row->file_os);
        json_key_hex(j, "file_type", row->file_type);
        write_annotations(j, row->annotations, row->annotation_count);
        json_object_end(j);
    }
    json_array_end(j);
    json_key_array(j, "unloaded_modules");
    for (uint32_t i = 0; i < d->unloaded_count; i++) {
        json_object(j);
        module_head(j, &d->unloaded[i].module);
        json_key_hex(j, "timestamp", d->unloaded[i].timestamp);
        json_key_hex(j, "checksum", d->unloaded[i].checksum);
        json_object_end(j);
    }
    json_array_end(j);
    json_key_uint(j, "unloaded_modules_listed", d->unloaded_listed);
}

static void write_thread_info(struct json *j, const struct minidump_thread *t)
{
    json_key(j, "info");
    if (!t->has_info) {
        json_null(j);
        return;
    }
    json_object(j);
    json_key_hex(j, "dump_flags", t->dump_flags);
    json_key_hex(j, "dump_error", t->dump_error);
    json_key_hex(j, "exit_status", t->exit_status);
    json_key_uint(j, "create_time", t->create_time);
    json_key_uint(j, "exit_time", t->exit_time);
    json_key_uint(j, "kernel_time", t->kernel_time);
    json_key_uint(j, "user_time", t->user_time);
    json_key_hex(j, "start", t->start_va);
    json_key_hex(j, "affinity", t->affinity);
    json_object_end(j);
}

static void write_registers(struct json *j, const struct minidump *d,
                            const struct minidump_thread *t)
{
    struct registers regs;
    struct fault fault = FAULT_INIT;
    bool wow64;
    json_key(j, "registers");
    if (minidump_thread_registers(d, t, &regs, &wow64, &fault) != ERR_NONE) {
        json_null(j);
        return;
    }
    json_object(j);
    json_key_string(j, "cpu", cpu_name(regs.cpu));
    json_key_bool(j, "wow64", wow64);
    json_key_hex(j, "pc", regs.pc);
    json_key_hex(j, "sp", regs.sp);
    json_key_hex(j, "flags", regs.flags);
    json_key_hex_known(j, "ssp", regs.shadow_sp);
    for (uint32_t i = 0; i < register_count(regs.cpu); i++)
        if (!register_is_sp(regs.cpu, i))
            json_key_hex(j, register_name(regs.cpu, i), regs.r[i]);
    json_object_end(j);
}

static void write_threads(struct json *j, const struct minidump *d)
{
    json_key_array(j, "threads");
    for (uint32_t i = 0; i < d->thread_count; i++) {
        const struct minidump_thread *t = &d->threads[i];
        json_object(j);
        json_key_uint(j, "id", t->id);
        json_key_string(j, "name", t->name);
        json_key_string(j, "role", thread_role_name(t->role, NULL));
        json_key_uint(j, "suspend_count", t->suspend_count);
        json_key_uint(j, "priority_class", t->priority_class);
        json_key_uint(j, "priority", t->priority);
        json_key_hex(j, "teb", t->teb_va);
        json_key_hex(j, "stack_start", t->stack_start_va);
        write_place(j, "stack", t->stack);
        write_place(j, "context", t->context);
        write_place(j, "backing_store", t->backing_store);
        write_registers(j, d, t);
        write_thread_info(j, t);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_memory(struct json *j, const struct minidump *d)
{
    uint64_t total = 0;
    json_key_object(j, "memory");
    json_key_uint(j, "listed", d->memory_listed);
    json_key_array(j, "ranges");
    for (uint32_t i = 0; i < d->memory_count; i++) {
        json_object(j);
        json_key_hex(j, "start", d->memory[i].start_va);
        json_key_uint(j, "bytes", d->memory[i].place.bytes);
        json_key_hex(j, "offset", d->memory[i].place.foff);
        json_object_end(j);
        total += d->memory[i].place.bytes;
    }
    json_array_end(j);
    json_key_uint(j, "bytes", total);
    json_object_end(j);
    json_key_array(j, "memory_regions");
    for (uint32_t i = 0; i < d->region_count; i++) {
        const struct minidump_region *r = &d->regions[i];
        json_object(j);
        json_key_hex(j, "base", r->base_va);
        json_key_hex(j, "allocation_base", r->allocation_base_va);
        json_key_hex(j, "allocation_protection", r->allocation_protection);
        json_key_hex(j, "bytes", r->bytes);
        json_key_hex(j, "state", r->state);
        json_key_hex(j, "protection", r->protection);
        json_key_hex(j, "type", r->type);
        json_object_end(j);
    }
    json_array_end(j);
}

static void write_handles(struct json *j, const struct minidump *d)
{
    json_key_array(j, "handles");
    for (uint32_t i = 0; i < d->handle_count; i++) {
        const struct minidump_handle *h = &d->handles[i];
        json_object(j);
        json_key_hex(j, "handle", h->handle);
        json_key_string(j, "type", h->type);
        json_key_string(j, "name", h->name);
        json_key_hex(j, "attributes", h->attributes);
        json_key_hex(j, "access", h->access);
        json_key_uint(j, "handle_count", h->handle_count);
        json_key_uint(j, "pointer_count", h->pointer_count);
        json_object_end(j);
    }
    json_array_end(j);
    json_key_array(j, "function_tables");
    for (uint32_t i = 0; i < d->table_count; i++) {
        const struct minidump_function_table *t = &d->tables[i];
        json_object(j);
        json_key_hex(j, "start", t->start_va);
        json_key_hex(j, "end", t->end_va);
        json_key_hex(j, "base", t->base_va);
        json_key_uint(j, "entries", t->entry_count);
        json_object_end(j);
    }
    json_array_end(j);
    json_key_array(j, "tokens");
    for (uint32_t i = 0; i < d->token_count; i++) {
        json_object(j);
        json_key_uint(j, "id", d->tokens[i].id);
        json_key_hex(j, "handle", d->tokens[i].handle);
        json_key_uint(j, "bytes", d->tokens[i].bytes);
        json_object_end(j);
    }
    json_array_end(j);
}

/* The first number of a stream that has that name; NULL: none. */
static const struct minidump_value *number_of(const struct minidump_stream *stream,
                                              const char *name)
{
    for (uint32_t i = 0; i < stream->value_count; i++)
        if (stream->values[i].kind == VALUE_UINT && strcmp(stream->values[i].key, name) == 0)
            return &stream->values[i];
    return NULL;
}

/* What a reader looks for first of the stream of TYPE; all of it is in the stream's content. */
static void write_counters(struct json *j, const struct minidump *d, uint32_t type, const char *key,
                           const char *const *names, size_t count)
{
    const struct minidump_stream *stream = NULL;
    for (uint32_t i = 0; i < d->stream_count && stream == NULL; i++)
        if (d->streams[i].type == type && d->streams[i].value_count > 0)
            stream = &d->streams[i];
    json_key(j, key);
    if (stream == NULL) {
        json_null(j);
        return;
    }
    json_object(j);
    for (size_t i = 0; i < count; i++) {
        const struct minidump_value *value = number_of(stream, names[i]);
        json_key_uint_if(j, names[i], value != NULL ? value->number : 0, value != NULL);
    }
    json_object_end(j);
}

static void write_memory_counters(struct json *j, const struct minidump *d)
{
    static const char *const system[] = {"page_bytes", "physical_pages", "available_pages",
                                         "committed_pages", "commit_limit_pages"};
    static const char *const process[] = {
        "revision",       "page_faults",         "peak_working_set_bytes", "working_set_bytes",
        "pagefile_bytes", "peak_pagefile_bytes", "private_bytes",          "virtual_bytes"};
    write_counters(j, d, STREAM_SYSTEM_MEMORY_INFO, "system_memory", system, COUNT_OF(system));
    write_counters(j, d, STREAM_PROCESS_VM_COUNTERS, "vm_counters", process, COUNT_OF(process));
}

static void write_reporters(struct json *j, const struct minidump *d)
{
    json_key(j, "breakpad");
    if (d->breakpad.present || d->breakpad.assert_expression != NULL) {
        const struct minidump_breakpad *b = &d->breakpad;
        json_object(j);
        json_key_uint(j, "validity", b->validity);
        json_key_uint(j, "dump_thread_id", b->dump_thread_id);
        json_key_uint(j, "requesting_thread_id", b->requesting_thread_id);
        json_key_string(j, "assertion", b->assert_expression);
        json_key_string(j, "assertion_function", b->assert_function);
        json_key_string(j, "assertion_file", b->assert_file);
        json_key_uint(j, "assertion_line", b->assert_line);
        json_key_uint(j, "assertion_type", b->assert_type);
        json_object_end(j);
    } else {
        json_null(j);
    }
    json_key(j, "crashpad");
    if (d->crashpad.present) {
        json_object(j);
        json_key_uint(j, "version", d->crashpad.version);
        json_key_string(j, "report_id", d->crashpad.report_id);
        json_key_string(j, "client_id", d->crashpad.client_id);
        json_key_hex(j, "address_mask", d->crashpad.address_mask);
        write_annotations(j, d->crashpad.annotations, d->crashpad.annotation_count);
        json_object_end(j);
    } else {
        json_null(j);
    }
    json_key_array(j, "texts");
    for (uint32_t i = 0; i < d->text_count; i++) {
        json_object(j);
        json_key_string(j, "stream", d->texts[i].key);
        json_key_string(j, "text", d->texts[i].value);
        json_object_end(j);
    }
    json_array_end(j);
    json_key(j, "capture");
    if (d->user != NULL)
        record_write_json(j, d->user);
    else
        json_null(j);
    json_key_string(j, "comment", d->comment);
}

void minidump_write_json(struct json *j, const struct minidump *d)
{
    const char *why;
    json_object(j);
    json_key_uint(j, "schema_version", 1);
    json_key_uint(j, "bytes", d->data_bytes);
    json_key_hex(j, "version", d->version);
    json_key_uint(j, "timestamp", d->timestamp);
    json_key_hex(j, "checksum", d->checksum);
    json_key_hex(j, "flags", d->flags);
    json_key_bool(j, "partial", d->partial);
    json_key_uint(j, "suspect", minidump_suspect(d, &why));
    json_key_string(j, "suspect_from", why);
    write_streams(j, d);
    write_system(j, d);
    write_misc(j, &d->misc);
    write_exception(j, d);
    write_threads(j, d);
    write_modules(j, d);
    write_memory(j, d);
    write_handles(j, d);
    write_memory_counters(j, d);
    write_reporters(j, d);
    json_object_end(j);
}
