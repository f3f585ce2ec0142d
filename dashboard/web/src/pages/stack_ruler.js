// The stack of a frame as a ruler: what an unwinder found where.

/**
 * The stack of a frame, lowest address first: the registers that its codes saved, its return slot, and what
 * lies between.
 * @param {import('openapi').Evidence} evidence
 */
function stackOf({ sp, return_slot, steps }) {
  const undone = steps.filter((step) => step.had_run).map(({ text }) => text);
  let at = BigInt(return_slot ?? 0);
  const slots = [{ at, bytes: 8n, text: 'return address' }];
  for (const text of undone.toReversed()) {
    const [, bytes, register] = /ALLOC_\w+ (\d+)|PUSH_NONVOL (\w+)/.exec(text) ?? [];
    at -= BigInt(register ? 8 : (bytes ?? 0));
    if (register) slots.push({ at, bytes: 8n, text: `${register}, saved` });
  }
  for (const text of undone) {
    const [, register, offset] = /SAVE_\w+ (\w+) at \+(\w+)/.exec(text) ?? [];
    if (register)
      slots.push({
        at: at + BigInt(offset),
        bytes: register.startsWith('xmm') ? 16n : 8n,
        text: `${register}, saved`,
      });
  }
  let end = BigInt(sp ?? 0);
  return slots
    .filter((slot) => return_slot && slot.at >= end)
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .flatMap((slot) => {
      const gap = { at: end, bytes: slot.at - end, text: `${slot.at - end} bytes` };
      end = slot.at + slot.bytes;
      return gap.bytes > 0n ? [gap, slot] : [slot];
    });
}

/**
 * The stack as a ruler of words: a row for each slot, and one for what lies between, which grows with it.
 * LEADS: where the return address leads.
 * @param {{evidence: import('openapi').Evidence, leads: string}} props
 */
export const Ruler = ({ evidence, leads }) => (
  <ol class="ruler mono" aria-label={`Stack, up to the return address ${leads}`}>
    {stackOf(evidence).map(({ at, bytes, text }, i) => (
      <li key={i} style={{ minHeight: `${1.2 + Math.log2(Number(bytes) / 8) / 3}em` }}>
        <span class="dim">0x{at.toString(16)}</span>{' '}
        {text === 'return address' ? <b>{`${text} ${leads}`}</b> : text}
      </li>
    ))}
  </ol>
);
