/* A contestant to start from: cc example.c -lcjson. It follows rbp; put your unwinder in step(). */
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uintmax_t number(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(object, name));
    return text != NULL ? strtoull(text, NULL, 16) : 0;
}

/* Reads 8 bytes of the stack. For code and tables: "modules" has each image's path, base, size. */
static bool read_memory(const cJSON *given, uintmax_t at, uintmax_t *out)
{
    const cJSON *part;
    cJSON_ArrayForEach(part, cJSON_GetObjectItem(given, "stack"))
    {
        const char *hex = cJSON_GetStringValue(cJSON_GetObjectItem(part, "bytes"));
        const uintmax_t from = at - number(part, "at");
        if (hex == NULL || from + 8 > strlen(hex) / 2 || from + 8 < 8)
            continue;
        *out = 0;
        for (uintmax_t i = 8; i-- > 0;) {
            const char digits[3] = {hex[2 * (from + i)], hex[2 * (from + i) + 1], 0};
            *out = *out << 8 | strtoull(digits, NULL, 16);
        }
        return true;
    }
    return false;
}

/* One frame up; false: the walk ends. */
static bool step(const cJSON *given, uintmax_t *ip, uintmax_t *sp, uintmax_t *fp)
{
    *sp = *fp + 16;
    return read_memory(given, *sp - 8, ip) && read_memory(given, *sp - 16, fp) && *ip != 0;
}

int main(void)
{
    static char line[1 << 20];
    while (fgets(line, sizeof line, stdin) != NULL) {
        cJSON *ask = cJSON_Parse(line), *given = cJSON_GetObjectItem(ask, "given");
        const cJSON *now = cJSON_GetObjectItem(given, "registers");
        const char *id = cJSON_GetStringValue(cJSON_GetObjectItem(ask, "id"));
        uintmax_t ip = number(now, "rip"), sp = number(now, "rsp"), fp = number(now, "rbp");
        if (id == NULL)
            printf("{\"name\":\"example\",\"version\":\"1\",\"can\":[\"moments.x64\"]}");
        else
            printf("{\"id\":\"%s\",\"frames\":[", id);
        for (int i = 0; id != NULL && (i == 0 || (i < 64 && step(given, &ip, &sp, &fp))); i++)
            printf("%s{\"ip\":\"%#jx\",\"sp\":\"%#jx\"}", &","[i == 0], ip, sp);
        puts(id != NULL ? "]}" : "");
        cJSON_Delete(ask);
        fflush(stdout);
    }
}
