// Pasted frames, answered from the stacks that a file carries: what was found at a lookup address
// of a module once is right there again.  What no carried stack holds is said, never guessed.
import { carriedCases } from './carried.js';

// A return address is looked up one byte earlier (the call), an interrupted one at itself, and so is an
// offset in the IL of a method.
/**
 * @typedef {import('openapi').Frame} Frame
 * @typedef {{module: string, method?: string, offset: string, kind: string, id?: string,
 *   byMvid?: boolean}} Pasted
 * @typedef {import('openapi').Asked} Asked
 * @typedef {{from: Asked, frames: Frame[] | null}} Known logical ones, innermost first; null: two builds
 *   differ
 */

/** @type {(frame: {module: string | null, method?: string, offset: string, kind: string}) => string} */
const lookup = ({ module, method, offset, kind }) =>
  `${module?.toLowerCase()}!${
    method ? `${Number(method)}+${Number(offset)}` : Number(offset) - (kind === 'return' ? 1 : 0)
  }`;

/** @type {(keyof Frame)[]} */
const compared = ['function', 'file', 'line', 'module_id', 'mvid'];
/** @type {(a: Frame[], b: Frame[]) => boolean} */
const same = (a, b) =>
  a.length === b.length && a.every((f, i) => compared.every((key) => f[key] === b[i][key]));

// The subjects' answers: lookup address -> {from, frames: logical ones, innermost first; null: two builds
// differ}.  The answer of an offset engine takes precedence.
/** @type {Map<string, Known> | null} */
let table = null;
async function learn() {
  /** @type {Map<string, Known>} */
  const found = new Map();
  /** @type {(from: Asked, frames: Frame[]) => void} */
  const add = (from, frames) => {
    const last = frames[frames.length - 1]; // the physical frame
    if (!last?.module || last.inline_depth !== 0 || frames.every((f) => f.function === null)) return;
    const key = lookup(last);
    const old = found.get(key);
    if (!old || (old.from.kind === 'dump' && from.kind !== 'dump')) found.set(key, { from, frames });
    else if (old.frames && old.from.engine === from.engine && !same(old.frames, frames)) old.frames = null;
  };
  for await (const { case: c, threads } of carriedCases())
    for (const thread of threads)
      c.engines.forEach((engine, i) => {
        if (!engine.subject) return;
        /** @type {Frame[]} */
        let group = [];
        for (const cell of thread.rows.map((row) => row[i + 1])) {
          const frame = /** @type {Frame | null} */ (cell.frame);
          if (!frame) continue;
          if (group.length && group[0].index !== frame.index) {
            add(engine, group);
            group = [];
          }
          group.push(frame);
        }
        add(engine, group);
      });
  return found;
}

// The text form: `> label`, `# comment`, module!0xHEX[@i|@r], module!0xTOKEN+0xIL, and after a frame
// {DEBUG_ID} or {mvid:GUID}, which is compared.  The first frame was interrupted.
/** @type {(id: string | null | undefined) => string | undefined} */
const plainId = (id) => id?.replace(/^mvid:|[-{}]/gi, '').toUpperCase();

/** @param {string} text */
function parse(text) {
  /** @type {{label: string | null, frames: Pasted[]}[]} */
  const stacks = [];
  const errors = [];
  let offset = 0;
  for (const line of text.split('\n')) {
    const said = line.replace(/#.*/, '').trim();
    const frame = /^(.+)!(?:(0x06[0-9a-f]{6})\+)?(0x[0-9a-f]{1,16})(@[ir])?(?:\s+\{(.*)\})?$/i.exec(said);
    if (said.startsWith('>')) stacks.push({ label: said.slice(1).trim() || null, frames: [] });
    else if (frame) {
      if (stacks.length === 0) stacks.push({ label: null, frames: [] });
      const { frames } = stacks[stacks.length - 1];
      const [, module, method, place, marked, id] = frame;
      const kind = (marked ? marked === '@r' : frames.length > 0) ? 'return' : 'interrupted';
      frames.push({ module, method, offset: place, kind, id: plainId(id), byMvid: /^mvid:/i.test(id ?? '') });
    } else if (said)
      errors.push({
        label: null,
        what: `"${said.slice(0, 80)}"`,
        code: 'no_frame',
        offset,
        hint: 'a frame is module!0xoffset',
      });
    offset += line.length + 1;
  }
  return { stacks: stacks.filter((stack) => stack.frames.length > 0), errors };
}

/** @type {(frame: Pasted, index: number, note: string) => Record<string, unknown>[]} */
const unknown = (frame, index, note) => [
  {
    ...frame,
    index,
    inlined: false,
    function: null,
    file: null,
    line: null,
    found_by: 'given',
    symbols: 'none',
    note,
  },
];

/** @param {string} text */
export async function resolveHere(text) {
  const { stacks, errors } = parse(text);
  const answers = (table ??= await learn());
  /** @type {(frame: Pasted, index: number) => Record<string, unknown>[]} */
  const answer = (frame, index) => {
    const found = answers.get(lookup(frame));
    if (!found) return unknown(frame, index, 'not in this file');
    const last = found.frames?.[found.frames.length - 1];
    const of = plainId(frame.byMvid ? last?.mvid : last?.module_id);
    if (frame.id && of && frame.id !== of) return unknown(frame, index, 'only another build is in this file');
    if (!found.frames) return unknown(frame, index, 'two builds in this file differ here');
    return found.frames.map((f) => ({
      ...f,
      index,
      inlined: f.inline_depth > 0,
      offset: frame.offset,
      found_by: f.inline_depth > 0 ? 'inlined' : 'given',
      note: null,
    }));
  };
  const whole = { thread_id: null, stop: null, left_out: 0 };
  return {
    form: /** @type {const} */ ('stack'),
    errors,
    files: [],
    modules: [],
    takes_symbols: false,
    stacks: stacks.map((stack) => ({ ...stack, ...whole, frames: stack.frames.flatMap(answer) })),
  };
}
