// The signs of these pages and what each means: beside what has them, and all of them in the glossary.

/** @typedef {string[]} Sign the sign, its class, its meaning, and its meaning at length where that differs */

/** How an engine did on a case, by its letter in the grid. @type {Record<string, Sign>} */
export const stacks = {
  x: ['✓', 'pass', 'exact', 'exact: function, file and line of every own frame are right'],
  a: ['≠', 'fail', 'right where the truth judges; elsewhere the two ways contradict each other'],
  w: ['✗', 'fail', 'wrong'],
  f: ['⚠', 'error', 'failed'],
  u: ['○', 'none', 'nothing to compare it with'],
  '-': ['·', 'none', 'no stack'],
};

/** How a frame compares with the truth or with another stack. @type {Record<string, Sign>} */
export const frames = {
  gap: ['', '', 'nothing here, and nothing was expected'],
  same: ['✓', '', 'agrees at every level'],
  line: ['≈', '', 'same function, another file or line'],
  function: ['✗', '', 'same place, another function'],
  physical: ['⊗', '', 'another address, module or kind'],
  missing: ['∅', '', 'missing: a frame is expected here'],
  extra: ['+', '', 'a frame that the other side does not have'],
  unjudged: ['', '', 'nothing to compare it with'],
};

/** Which stacks name a line of source: by the start of an engine's name. @type {Record<string, Sign>} */
export const lines = {
  truth: ['T', '', 'the truth names this line'],
  offset: ['O', '', 'a stack of offsets names it'],
  dump: ['D', '', 'a stack of the dump names it'],
  judge: ['J', '', 'a judge names it'],
};

/** Whether a hook saw a crash. @type {Record<string, Sign>} */
export const hooks = {
  met: ['✓', 'pass', 'as promised'],
  missed: ['✗', 'fail', 'promised, not seen'],
  more: ['+', 'flaky', 'seen, not promised'],
};

/** A time or a ratio. @type {Record<string, Sign>} */
export const times = {
  drift: ['!', 'flaky', 'the same way in other rounds took another time: no ratio to rely on'],
};

/** What named a frame. @type {Record<string, Sign>} */
export const symbols = {
  pdb: ['✓', 'pass', 'PDB of the right identity'],
  ppdb: ['✓', 'pass', 'portable PDB, or the metadata of the managed image'],
  dwarf: ['✓', 'pass', 'DWARF of its own image'],
  breakpad: ['✓', 'pass', 'Breakpad symbol file of the right identity'],
  csv: ['✓', 'pass', 'symbol table'],
  jit: ['✓', 'pass', 'name of generated code, stated with the stack'],
  'pdb-public': ['≈', 'flaky', 'public names only: no lines'],
  'breakpad-public': ['≈', 'flaky', 'public names only: no lines'],
  symtab: ['≈', 'flaky', 'symbol table of the image: no lines'],
  coff: ['≈', 'flaky', 'COFF symbols: no lines'],
  export: ['≈', 'flaky', 'nearest export'],
  nearest: ['≈', 'flaky', 'nearest symbol before the address, of unknown size'],
  mismatch: ['✗', 'fail', 'a PDB of another build: nothing was guessed from it'],
  none: ['⊘', 'unsupported', 'no symbol covers the address'],
};

/**
 * Those of TABLE that are in FOUND, each once.
 * @type {(table: Record<string, Sign>, found: Iterable<Sign | undefined>) => Sign[]}
 */
export function signsIn(table, found) {
  const there = new Set(found);
  return Object.values(table).filter((sign) => sign[0] && there.has(sign));
}

/**
 * The legend of what is on the page.
 * @param {{of: Sign[], about?: string}} props ABOUT: what has these signs
 */
export const Signs = ({ of, about }) =>
  of.length === 0 ? null : (
    <p class="legend flow dim small">
      {about && <b>{about}</b>}
      {of.map(([sign, , meaning, more = meaning]) => (
        <span key={sign + more}>
          {sign} {more}
        </span>
      ))}
    </p>
  );
