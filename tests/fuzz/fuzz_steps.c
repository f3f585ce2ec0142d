/* The walk at every instruction: all its steps, and the result of each walker. */
#include "format/record/record_steps.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fault fault = FAULT_INIT;
    struct arena keep;
    struct steps steps;
    uint8_t word[8];

    arena_init(&keep, (size_t)64 << 20);
    if (steps_open(bytes_over(data, size, &fault), &keep, &steps) == ERR_NONE)
        while (steps_next(&steps)) {
            const struct step *step = &steps.step;
            (void)steps_read(&steps, step->regs.sp, word, sizeof word);
            (void)steps_read(&steps, step->regs.pc, word, sizeof word);
            for (uint32_t i = 0; i < step->walk_count; i++)
                for (uint32_t k = 0; k < step->walks[i].frame_count; k++)
                    (void)steps_walk_pc(step, &step->walks[i], k);
        }
    arena_free(&keep);
    return 0;
}
