/* Reports that are JSON, with the members that their writers publish: the module and its offset
 * where the frame or the list of images says both, else the function or the address. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "stack_text.h"
#include "stacks/stack_input.h"
#include "test.h"

static const struct {
    const char *name, *text, *want;
} rows[] = {
    {"MongoDB's log, whose images state no size",
     "{\"t\":{\"$date\":\"2025-12-25T22:56:19.580+00:00\"},\"s\":\"I\",\"c\":\"CONTROL\",\"id"
     "\":31380,\"ctx\":\"main\",\"msg\":\"BACKTRACE\",\"attr\":{\"bt\":{\"backtrace\":[{\"a\":"
     "\"5629CADC1D47\",\"b\":\"5629C0ED9000\",\"o\":\"9EE8D47\",\"s\":\"_ZN5mongo15printStackT"
     "raceEv\",\"C\":\"mongo::printStackTrace()\",\"s+\":\"37\"},{\"a\":\"7EFE804F9330\",\"b\""
     ":\"7EFE804B4000\",\"o\":\"45330\"},{\"a\":\"5629CADA0F30\"}],\"processInfo\":{\"mongodbV"
     "ersion\":\"8.0.4\",\"somap\":[{\"b\":\"5629C0ED9000\",\"path\":\"/usr/bin/mongod\",\"elf"
     "Type\":3,\"buildId\":\"AD76D9C0A8C11D27\"},{\"b\":\"7EFE804B4000\",\"path\":\"/lib/x86_6"
     "4-linux-gnu/libc.so.6\",\"elfType\":3}]}}}}\n",
     "-: mongod!0x9ee8d47@i libc.so.6!0x45330@r ?!0x5629cada0f30@r\n"},
    {"MongoDB before 4.4, whose program has no path",
     "{\"backtrace\":[{\"b\":\"400000\",\"o\":\"FBD3B7\",\"s\":\"_ZN5mongo15printStackTraceERS"
     "o\"},{\"b\":\"7F00B0000000\",\"o\":\"10330\"}],\"processInfo\":{\"somap\":[{\"elfType\":"
     "2,\"b\":\"400000\"},{\"b\":\"7F00B0000000\",\"path\":\"/lib64/libpthread.so.0\",\"elfTyp"
     "e\":3}]}}\n",
     "-: ?!_ZN5mongo15printStackTraceERSo!0x13bd3b7@i libpthread.so.0!0x10330@r\n"},
    {"MetricKit's tree",
     "{\"callStackPerThread\":true,\"callStacks\":[{\"threadAttributed\":false,\"callStackRoot"
     "Frames\":[{\"binaryUUID\":\"77A62F2E-8212-30F3-84C1-E8497440ACF8\",\"offsetIntoBinaryTex"
     "tSegment\":6948,\"sampleCount\":1,\"binaryName\":\"libdyld.dylib\",\"address\":717080861"
     "2}]},{\"threadAttributed\":true,\"callStackRootFrames\":[{\"binaryUUID\":\"70B89F27-1634"
     "-3580-A695-57CDB41D7743\",\"offsetIntoBinaryTextSegment\":165304,\"sampleCount\":1,\"sub"
     "Frames\":[{\"binaryUUID\":\"77A62F2E-8212-30F3-84C1-E8497440ACF8\",\"offsetIntoBinaryTex"
     "tSegment\":6948,\"sampleCount\":1,\"binaryName\":\"libdyld.dylib\",\"address\":717080861"
     "2}],\"binaryName\":\"MetricKitTestApp\",\"address\":7170766264}]}]}\n",
     "thread 0: libdyld.dylib!0x1b24@i{,77A62F2E821230F384C1E8497440ACF80}\nthread 1 (crashed)"
     ": MetricKitTestApp!0x285b8@i{,70B89F2716343580A69557CDB41D77430} libdyld.dylib!0x1b24@r{"
     ",77A62F2E821230F384C1E8497440ACF80}\n"},
    {"MetricKit's diagnostics, a crash and a hang",
     "{\"timeStampBegin\":\"2020-10-01 00:00:00\",\"crashDiagnostics\":[{\"version\":\"1.0.0\""
     ",\"callStackTree\":{\"callStacks\":[{\"threadAttributed\":true,\"callStackRootFrames\":["
     "{\"binaryUUID\":\"70B89F27-1634-3580-A695-57CDB41D7743\",\"offsetIntoBinaryTextSegment\""
     ":165304,\"sampleCount\":1,\"subFrames\":[{\"binaryUUID\":\"77A62F2E-8212-30F3-84C1-E8497"
     "440ACF8\",\"offsetIntoBinaryTextSegment\":6948,\"sampleCount\":1,\"binaryName\":\"libdyl"
     "d.dylib\",\"address\":7170808612}],\"binaryName\":\"MetricKitTestApp\",\"address\":71707"
     "66264}]}]}}],\"hangDiagnostics\":[{\"callStackTree\":{\"callStacks\":[{\"callStackRootFr"
     "ames\":[{\"binaryUUID\":\"70B89F27-1634-3580-A695-57CDB41D7743\",\"offsetIntoBinaryTextS"
     "egment\":165304,\"sampleCount\":1,\"subFrames\":[{\"binaryUUID\":\"77A62F2E-8212-30F3-84"
     "C1-E8497440ACF8\",\"offsetIntoBinaryTextSegment\":6948,\"sampleCount\":1,\"binaryName\":"
     "\"libdyld.dylib\",\"address\":7170808612}],\"binaryName\":\"MetricKitTestApp\",\"address"
     "\":7170766264}]}]}}]}\n",
     "thread 0 (crashed): MetricKitTestApp!0x285b8@i{,70B89F2716343580A69557CDB41D77430} libdy"
     "ld.dylib!0x1b24@r{,77A62F2E821230F384C1E8497440ACF80}\nthread 1: MetricKitTestApp!0x285b"
     "8@i{,70B89F2716343580A69557CDB41D77430} libdyld.dylib!0x1b24@r{,77A62F2E821230F384C1E849"
     "7440ACF80}\n"},
    {"MetricKit with the address of the image for the offset",
     "{\"callStacks\":[{\"callStackRootFrames\":[{\"binaryUUID\":\"70B89F27-1634-3580-A695-57C"
     "DB41D7743\",\"offsetIntoBinaryTextSegment\":7977906176,\"sampleCount\":1,\"binaryName\":"
     "\"libsystem_pthread.dylib\",\"address\":7977912628}]}]}\n",
     "-: libsystem_pthread.dylib!0x1934@i{,70B89F2716343580A69557CDB41D77430}\n"},
    {"MetricKit, samples of two branches are no stack",
     "{\"callStacks\":[{\"callStackRootFrames\":[{\"binaryUUID\":\"70B89F27-1634-3580-A695-57C"
     "DB41D7743\",\"offsetIntoBinaryTextSegment\":4096,\"sampleCount\":1,\"subFrames\":[{\"bin"
     "aryUUID\":\"70B89F27-1634-3580-A695-57CDB41D7743\",\"offsetIntoBinaryTextSegment\":1,\"s"
     "ampleCount\":1,\"binaryName\":\"b\",\"address\":4097},{\"binaryUUID\":\"70B89F27-1634-35"
     "80-A695-57CDB41D7743\",\"offsetIntoBinaryTextSegment\":1,\"sampleCount\":1,\"binaryName"
     "\":\"c\",\"address\":4097}],\"binaryName\":\"a\",\"address\":8192}]},{\"callStackRootFra"
     "mes\":[{\"binaryUUID\":\"70B89F27-1634-3580-A695-57CDB41D7743\",\"offsetIntoBinaryTextSe"
     "gment\":16,\"sampleCount\":1,\"binaryName\":\"a\",\"address\":4112}]}]}\n",
     "thread 0: !unsupported@0\nthread 1: a!0x10@i{,70B89F2716343580A69557CDB41D77430}\n"},
    {"Swift's backtracer",
     "{\"timestamp\":\"2026-05-21T23:51:47.905791Z\",\"kind\":\"crashReport\",\"threads\":[{\""
     "crashed\":true,\"registers\":{},\"frames\":[{\"kind\":\"programCounter\",\"address\":\"0"
     "x0000aaaaaaaa1804\",\"inlined\":true,\"symbol\":\"g\",\"image\":\"myservice\"},{\"kind\""
     ":\"programCounter\",\"address\":\"0x0000aaaaaaaa1804\",\"symbol\":\"$s9myservice\",\"off"
     "set\":180,\"image\":\"myservice\"},{\"kind\":\"returnAddress\",\"address\":\"0x0000aaaaa"
     "aaa11a8\"},{\"kind\":\"asyncResumePoint\",\"address\":\"0x0000aaaaaaaa1218\"},{\"kind\":"
     "\"omittedFrames\",\"count\":3},{\"kind\":\"returnAddress\",\"address\":\"0x0000bbbb00000"
     "000\"},{\"kind\":\"truncated\"}]}],\"images\":[{\"name\":\"myservice\",\"buildId\":\"06b"
     "835b6531c5086c472cc7c15b89c97ea973e71\",\"path\":\"/srv/.build/myservice\",\"baseAddres"
     "s\":\"0x0000aaaaaaaa0000\",\"endOfText\":\"0x0000aaaaaaaa70e8\"}]}\n",
     "- (crashed): myservice!0x1804@i myservice!0x11a8@r myservice!0x1218@i ?!0xbbbb00000000@r"
     " left 3\n"},
    {"KSCrash",
     "{\"report\":{\"version\":\"3.2.0\"},\"binary_images\":[{\"image_vmaddr\":4294967296,\"im"
     "age_addr\":4294967296,\"image_size\":16384,\"name\":\"/var/App.app/App\",\"uuid\":\"70B8"
     "9F27-1634-3580-A695-57CDB41D7743\"}],\"crash\":{\"error\":{\"type\":\"mach\"},\"threads"
     "\":[{\"index\":0,\"crashed\":false,\"backtrace\":{\"contents\":[{\"instruction_addr\":42"
     "94971392,\"object_addr\":4294967296,\"object_name\":\"App\",\"symbol_name\":\"f\"}]}},{"
     "\"index\":7,\"crashed\":true,\"backtrace\":{\"skipped\":0,\"contents\":[{\"instruction_a"
     "ddr\":6442455296,\"object_addr\":6442450944,\"object_name\":\"libswiftCore.dylib\"},{\"i"
     "nstruction_addr\":0,\"object_addr\":0,\"object_name\":null}]}}]}}\n",
     "thread 0: App!0x1000@i{,70B89F2716343580A69557CDB41D77430}\nthread 7 (crashed): libswift"
     "Core.dylib!0x1100@i ?!0x0@r\n"},
    {"App Center",
     "{\"type\":\"appleError\",\"errorThreadId\":3,\"threads\":[{\"id\":0,\"frames\":[{\"addre"
     "ss\":\"0x0000000104388010\",\"code\":\"0x104388000 + 16\"}]},{\"id\":3,\"frames\":[{\"ad"
     "dress\":\"0x0000000104413fff\",\"code\":\"\"},{\"address\":\"0x0000000104414000\",\"code"
     "\":\"\"}]}],\"binaries\":[{\"id\":\"d449e33d-7e74-379d-8b79-15ee104ed1df\",\"startAddres"
     "s\":\"0x0000000104388000\",\"endAddress\":\"0x0000000104413fff\",\"name\":\"CrashProbeiO"
     "S\",\"path\":\"/var/CrashProbeiOS.app/CrashProbeiOS\"}]}\n",
     "thread 0: CrashProbeiOS!0x10@i{,D449E33D7E74379D8B7915EE104ED1DF0}\nthread 3 (crashed): "
     "CrashProbeiOS!0x8bfff@i{,D449E33D7E74379D8B7915EE104ED1DF0} ?!0x104414000@r\n"},
    {"Bugsnag of Apple's systems",
     "{\"events\":[{\"exceptions\":[{\"errorClass\":\"SIGSEGV\",\"stacktrace\":[{\"method\":\""
     "f\",\"machoFile\":\"/a/App\",\"machoUUID\":\"70B89F27-1634-3580-A695-57CDB41D7743\",\"fr"
     "ameAddress\":\"0x10b5756bf\",\"symbolAddress\":\"0x10b574fa0\",\"machoLoadAddress\":\"0x"
     "10b54b000\",\"machoVMAddress\":\"0x100000000\",\"isPC\":true}]}],\"threads\":[{\"id\":\""
     "1\",\"stacktrace\":[{\"machoFile\":\"/a/App\",\"frameAddress\":\"0x10b54b001\",\"machoLo"
     "adAddress\":\"0x10b54b000\"}]}]}]}\n",
     "SIGSEGV: App!0x2a6bf@i{,70B89F2716343580A69557CDB41D77430}\nthread 1: App!0x1@i\n"},
    {"Bugsnag of the NDK",
     "{\"events\":[{\"exceptions\":[{\"errorClass\":\"SIGILL\",\"stacktrace\":[{\"frameAddress"
     "\":\"0x7000001020\",\"symbolAddress\":\"0x7000001000\",\"loadAddress\":\"0x7000000000\","
     "\"lineNumber\":4128,\"file\":\"/data/app/libx.so\",\"method\":\"crash\"},{\"frameAddress"
     "\":\"0x12\",\"method\":\"g\",\"file\":\"\"}]}]}]}\n",
     "SIGILL: libx.so!0x1020@i ?!g!0x12@r\n"},
    {"Datadog's crashtracker",
     "{\"data_schema_version\":\"1.4\",\"error\":{\"is_crash\":true,\"stack\":{\"format\":\"Da"
     "tadog Crashtracker 1.0\",\"frames\":[{\"ip\":\"0x00007f7e11d3a2b0\",\"function\":\"main"
     "\",\"path\":\"/usr/bin/myapp\",\"relative_address\":\"0x1a2b0\",\"build_id\":\"abcdef123"
     "4567890abcdef12\",\"build_id_type\":\"GNU\"},{\"ip\":\"0x7ff600001020\",\"module_base_ad"
     "dress\":\"0x7ff600000000\",\"path\":\"C:\\\\a.exe\",\"build_id\":\"3249D99D0C4049318610F"
     "4E4FB0B69361\"},{\"ip\":\"0x42\"}]},\"threads\":[{\"crashed\":false,\"name\":\"w\",\"sta"
     "ck\":{\"frames\":[]}}]}}\n",
     "thread 0 (crashed): myapp!0x1a2b0@i a.exe!0x1020@r{,3249D99D0C4049318610F4E4FB0B69361} ?"
     "!0x42@r\nw:\n"},
    {"ABRT's core_backtrace",
     "{\"signal\":11,\"executable\":\"/usr/bin/sleep\",\"stacktrace\":[{\"frames\":[{\"address"
     "\":2}]},{\"crash_thread\":true,\"frames\":[{\"build_id\":\"5f6632d75fd027f5b7b410787f3f0"
     "6c6bf73eee6\",\"build_id_offset\":767024,\"file_name\":\"/lib64/libc.so.6\",\"address\":"
     "251315074096,\"function_name\":\"__nanosleep\"},{\"build_id_offset\":16567,\"file_name\""
     ":\"/usr/bin/sleep\",\"address\":4210871},{\"address\":2}]}]}\n",
     "thread 0: ?!0x2@i\nthread 1 (crashed): libc.so.6!0xbb430@i sleep!0x40b7@r ?!0x2@r\n"},
    {"and what it sends",
     "{\"ureport_version\":2,\"problem\":{\"type\":\"core\",\"stacktrace\":[{\"crash_thread\":"
     "true,\"frames\":[{\"build_id\":\"5f6632d75fd027f5b7b410787f3f06c6bf73eee6\",\"build_id_o"
     "ffset\":767024,\"file_name\":\"/lib64/libc.so.6\",\"address\":251315074096,\"function_na"
     "me\":\"__nanosleep\"}]}]}}\n",
     "- (crashed): libc.so.6!0xbb430@i\n"},
    {"Crashlytics' export",
     "{\"platform\":\"IOS\",\"threads\":[{\"crashed\":true,\"thread_name\":\"main\",\"frames\""
     ":[{\"line\":0,\"file\":\"<c>\",\"symbol\":\"main\",\"offset\":123,\"address\":4295298000"
     ",\"library\":\"App\",\"blamed\":true},{\"symbol\":\"g\",\"library\":\"B\",\"offset\":nul"
     "l}]}]}\n",
     "main (crashed): App!0x7b@i B!g!0x0@r\n"},
    {"of a row for a frame that has no place",
     "{\"threads\":[{\"frames\":[{\"library\":\"App\",\"offset\":1},{\"library\":\"App\"}]}]}"
     "\n",
     "-: !malformed@0\n"},
    {"frames of our own form without a place", "{\"frames\":[{\"instruction\":\"0x10\"}]}\n",
     "-: !malformed@0\n"},
    {"a frame of Sentry without a place",
     "{\"stacktrace\":{\"frames\":[{\"function\":\"f\"},{\"in_app\":true}]}}\n",
     "-: !malformed@0\n"},
    {"and with a file alone, as of JavaScript",
     "{\"stacktrace\":{\"frames\":[{\"filename\":\"a.js\",\"lineno\":3}]}}\n",
     "-: ?!0x0@i(a.js:3)\n"},
    {"a frame of rust-minidump without a place",
     "{\"crash_info\":{},\"threads\":[{\"frames\":[{\"frame\":0,\"module\":\"a.exe\",\"offset"
     "\":null}]}]}\n",
     "-: !malformed@0\n"},
    {"and with a function alone",
     "{\"crash_info\":{},\"threads\":[{\"frames\":[{\"offset\":\"0x10\"},{\"function\":\"g\"}]"
     "}]}\n",
     "-: ?!0x10@i ?!g!0x0@r\n"},
    {"a frame of createdump without a place",
     "{\"payload\":{\"threads\":[{\"stack_frames\":[{\"is_managed\":\"false\"}]}]}}\n",
     "thread 0: !malformed@0\n"},
    {"a frame of Apple with a symbol alone",
     "{\"usedImages\":[{\"name\":\"a\"}],\"threads\":[{\"frames\":[{\"symbol\":\"f\"}]}]}\n",
     "-: !malformed@0\n"},
    {"a frame of Mozilla without a place",
     "{\"modules\":[{\"filename\":\"a.exe\",\"base_addr\":\"0x1000\"}],\"threads\":[{\"frames"
     "\":[{\"ip\":\"0x1010\",\"module_index\":0},{\"module_index\":0}]}]}\n",
     "-: !malformed@0\n"},
    {"what only looks like one",
     "{\"backtrace\":[{\"a\":\"1\"}],\"callStacks\":[{\"callStackRootFrames\":{}}],\"threads\""
     ":{\"frames\":[]},\"crash\":{\"threads\":[[[[]]],1]},\"events\":[[]],\"error\":[]}\n",
     "-: !malformed@0\n"},
    {"Windows' event by PowerShell",
     "{\"Id\":1000,\"ProviderName\":\"Application Error\",\"Message\":\"Faulting application n"
     "ame: app.exe, version: 1.0.0.0, time stamp: 0x5ab38077\\r\\nFaulting module name: ntdll."
     "dll, version: 10.0.19041.1, time stamp: 0x7b5414ec\\r\\nException code: 0xc0000005\\r\\n"
     "Fault offset: 0x0000000000012345\\r\\nFaulting process id: 0x1234\\r\\n\"}\n",
     "-: ntdll.dll!0x12345@i\n"},
    {"and by Winlogbeat, twice",
     "{\"message\":\"Faulting application name: app.exe, version: 1.0.0.0, time stamp: 0x5ab38"
     "077\\r\\nFaulting module name: ntdll.dll, version: 10.0.19041.1, time stamp: 0x7b5414ec"
     "\\r\\nException code: 0xc0000005\\r\\nFault offset: 0x0000000000012346\\r\\nFaulting pro"
     "cess id: 0x1234\\r\\n\",\"winlog\":{\"event_id\":\"1000\",\"event_data\":{\"param1\":\"a"
     "pp.exe\",\"param4\":\"KERNELBASE.dll\",\"param8\":\"000000000003e24a\"}}}\n",
     "-: KERNELBASE.dll!0x3e24a@i\n"},
    {"and by evtx_dump",
     "{\"Event\":{\"System\":{\"EventID\":1000},\"EventData\":{\"Data\":{\"#text\":[\"app.exe"
     "\",\"1.0.0.0\",\"5ab38077\",\"ntdll.dll\",\"10.0.1.1\",\"7b5414ec\",\"c0000005\",\"00000"
     "00000012345\",\"1234\"]}}}}\n",
     "-: ntdll.dll!0x12345@i\n"},
    {"and of Windows 11",
     "{\"Event\":{\"EventData\":{\"AppName\":\"app.exe\",\"ModuleName\":\"ntdll.dll\",\"Faulti"
     "ngOffset\":\"12347\"}}}\n",
     "-: ntdll.dll!0x12347@i\n"},
    {"an event without a fault",
     "{\"Id\":7036,\"Message\":\"The service entered the running state.\"}\n", "-: !malformed@0\n"},
    {"Datadog's error with a text",
     "{\"error\":{\"stack\":\"0   App   0x0000000100001020 0x100000000 + 4128\\n1   App   0x00"
     "00000100002020 0x100000000 + 8224\"}}\n",
     "-: App!0x1020@i App!0x2020@r\n"},
    {"a text of several stacks",
     "{\"data\":{\"body\":{\"crash_report\":{\"raw\":\"Incident Identifier: x\\nThread 0 Crash"
     "ed:\\n0   App   0x0000000100001020 0x100000000 + 4128\\n\\nThread 1:\\n0   App   0x00000"
     "00100001020 0x100000000 + 4128\\n\"}}}}\n",
     "-: !unsupported@0\n"},
    {"a text with a label in it", "{\"message\":\"app.exe!0x10\\n> x\\napp.exe!0x20\"}\n",
     "-: !unsupported@0\n"},
    {"a message beside a stack of another form",
     "{\"message\":\"app.exe+0x10\",\"stackTrace\":[{\"m\":1}]}\n", "-: !malformed@0\n"},
    {"OpenTelemetry",
     "{\"attributes\":{\"exception.type\":\"X\",\"exception.stacktrace\":\"app.exe!0x10\\n# mo"
     "dule app.exe - x\\nat f\\n\\t#1 0x7f12 in g (/lib/x.so+0x30)\"}}\n",
     "-: app.exe!0x10@i x.so!0x30@i\n"},
};

TEST(stack_input_reads_reports_of_other_services)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        CHECK_STR(stack_text(rows[i].text, strlen(rows[i].text)), rows[i].want);
    }
}

/* Each look for a member goes through those before it: 100,000 looks into an object, a thread, a
 * job or an image with as many members took minutes. */
TEST(stack_input_looks_once_for_what_all_stacks_share)
{
    enum { COUNT = 100000, ROOM = 64 * COUNT, SECONDS = 15 };
    static const struct {
        const char *name, *head, *between, *item, *tail;
    } cases[] = {
        {"threads of an object", "{", "\"threads\":[", "{\"frames\":[]}", "]}"},
        {"stacks of an object", "{", "\"stacks\":[", "{\"frames\":[]}", "]}"},
        {"stacks of a thread", "{\"threads\":[{", "\"stacks\":[", "{\"frames\":[]}", "]}]}"},
        {"rust-minidump", "{", "\"crash_info\":{},\"threads\":[", "{\"frames\":[]}", "]}"},
        {"frames of Sentry", "{", "\"stacktrace\":{\"frames\":[", "{\"instruction_addr\":1}",
         "]}}"},
        {"an image of Sentry", "{\"debug_meta\":{\"images\":[{\"image_addr\":1,",
         "\"code_file\":\"a\"}]},\"stacktrace\":{\"frames\":[", "{\"instruction_addr\":1}", "]}}"},
        {"Symbolicator", "{", "\"modules\":[],\"stacktraces\":[", "{\"frames\":[]}", "]}"},
        {"threads of Apple", "{", "\"usedImages\":[],\"threads\":[", "{}", "]}"},
        {"an image of Apple", "{\"usedImages\":[{", "\"name\":\"a\"}],\"threads\":[{\"frames\":[",
         "{\"imageOffset\":1,\"imageIndex\":0}", "]}]}"},
        {"a job of Tecken", "{\"jobs\":[{", "\"memoryMap\":[],\"stacks\":[", "[]", "]}]}"},
        {"threads of KSCrash", "{\"binary_images\":[],", "\"crash\":{\"threads\":[",
         "{\"backtrace\":{\"contents\":[{\"instruction_addr\":2,\"object_addr\":1,"
         "\"object_name\":\"a\"}]}}",
         "]}}"},
        {"an image of App Center", "{\"binaries\":[{\"startAddress\":1,\"endAddress\":9,",
         "\"name\":\"a\"}],\"threads\":[{\"frames\":[", "{\"address\":1}", "]}]}"},
    };
    char *text = malloc(ROOM + 200);
    REQUIRE(text != NULL);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct stack_item item;
        struct arena keep;
        size_t bytes = (size_t)snprintf(text, 200, "%s", cases[i].head);
        for (size_t k = 0; k < COUNT; k++)
            bytes += (size_t)snprintf(text + bytes, 8, "\"x\":0,");
        bytes += (size_t)snprintf(text + bytes, 200, "%s", cases[i].between);
        for (size_t k = 0; k < COUNT && bytes < ROOM - 200; k++)
            bytes += (size_t)snprintf(text + bytes, 200, "%s%s", k > 0 ? "," : "", cases[i].item);
        bytes += (size_t)snprintf(text + bytes, 200, "%s", cases[i].tail);
        test_row(cases[i].name);
        struct stack_input *input = stack_text_open(text, bytes);
        const clock_t start = clock();
        arena_init(&keep, 0);
        while (stack_input_next(input, &keep, &item)) {
            CHECK_EQ(item.fault.code, ERR_NONE);
            arena_reset(&keep);
        }
        CHECK((clock() - start) / CLOCKS_PER_SEC < SECONDS);
        arena_free(&keep);
        stack_input_close(input);
    }
    free(text);
}
