// The stack of a frame as a ruler: what an unwinder found where.

/** @typedef {{slot: string, engine: string}} Other the return slot of another walk that parts here */

/**
 * The stack of a frame, lowest address first: the registers that its codes saved, its return slot, those of
 * OTHERS, and what lies between.
 * @param {import('openapi').Evidence} evidence
 * @param {Other[]} others
 */
function stackOf({ sp, return_slot, steps }, others) {
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
  for (const { slot, engine } of others)
    slots.push({ at: BigInt(slot), bytes: 8n, text: `return address of ${engine}` });
  let end = BigInt(sp ?? return_slot ?? 0);
  return slots
    .filter((slot) => return_slot && slot.at >= end)
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .flatMap((slot) => {
      const gap = { at: end, bytes: slot.at - end, text: `${slot.at - end} bytes` };
      end = slot.at + slot.bytes > end ? slot.at + slot.bytes : end;
      return gap.bytes > 0n ? [gap, slot] : [slot];
    });
}

/**
 * The stack as a ruler of words: a row for each slot, and one for what lies between, which grows with it.
 * LEADS: where the return address leads.  OTHERS: walks that part from this one here.
 * @param {{evidence: import('openapi').Evidence, leads: string, others?: Other[]}} props
 */
export const Ruler = ({ evidence, leads, others = [] }) => (
  <ol class="ruler mono" aria-label={`Stack, up to the return address ${leads}`}>
    {stackOf(evidence, others).map(({ at, bytes, text }, i) => (
      <li key={i} style={{ minHeight: `${1.2 + Math.log2(Number(bytes) / 8) / 3}em` }}>
        <span class="dim">0x{at.toString(16)}</span>{' '}
        {text === 'return address' ? (
          <b>{`${text} ${leads}`}</b>
        ) : text.startsWith('return address') ? (
          <b class="other">{text}</b>
        ) : (
          text
        )}
      </li>
    ))}
  </ol>
);

/**
 * The last frame of a column before row AT.
 * @param {import('openapi').Thread} thread
 * @param {number} at
 * @param {number} column
 */
export const lastOf = ({ rows }, at, column) =>
  /** @type {import('openapi').Frame | undefined} */ (
    rows.slice(0, at).findLast((row) => row[column].frame)?.[column].frame
  );

/**
 * @param {import('openapi').ClaimedStack | null} stack
 * @param {number} index of the physical frame
 */
export const evidenceOf = (stack, index) => stack?.evidence.find((e) => e.index === index);

/**
 * The return slots of the other shown walks that leave the same frame as COLUMN before row AT, if not by the
 * same slot.
 * @param {import('openapi').Thread} thread
 * @param {number} at
 * @param {number} column
 * @param {number[]} columns
 * @param {import('openapi').Asked[]} engines
 * @returns {Other[]}
 */
export function otherSlots(thread, at, column, columns, engines) {
  const mine = lastOf(thread, at, column + 1);
  const slot = mine && evidenceOf(thread.stacks[column], mine.index)?.return_slot;
  return columns.flatMap((i) => {
    const last = lastOf(thread, at, i + 1);
    const other = last && evidenceOf(thread.stacks[i], last.index)?.return_slot;
    const same = last?.module === mine?.module && last?.offset === mine?.offset;
    return i !== column && slot && other && same && other !== slot
      ? [{ slot: other, engine: engines[i].engine }]
      : [];
  });
}
