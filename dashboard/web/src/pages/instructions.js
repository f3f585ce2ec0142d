// The code around a frame's pc: instructions where they are known, else bytes.
import { Table } from '../table.js';

/** @type {(hex: string) => string} */
const spaced = (hex) => hex.replace(/../g, '$& ').trim();

/** @type {Record<string, [string, string]>} */
const marks = { pc: ['▸', 'the pc'], call: ['↵', 'calls, and returns to the pc'] };

/** @type {import('../table.js').Column<import('openapi').Code['lines'][number]>[]} */
const columns = [
  {
    head: 'mark',
    cell: ({ mark }) =>
      mark && [<span aria-hidden="true">{marks[mark][0]}</span>, <span class="sr">{marks[mark][1]}</span>],
  },
  { head: 'address', cell: (line) => line.at, kind: 'dim' },
  { head: 'instruction', cell: (line) => line.text },
  { head: 'bytes', cell: (line) => line.bytes, kind: 'dim' },
];

/** @param {{evidence: import('openapi').Evidence | undefined}} props */
export function Instructions({ evidence }) {
  if (!evidence?.code_after && !evidence?.code_before) return null;
  const { code, code_before, code_after } = evidence;
  if (code)
    return (
      <>
        <h4>Code around the pc</h4>
        <Table
          label="Instructions around the pc"
          kind="instructions mono"
          bare
          rows={code.lines}
          columns={columns}
          id={(line) => line.at}
          attributes={({ mark }) => ({ class: mark ?? '' })}
        />
        {code.note && <p class="warned small">≈ {code.note}.</p>}
      </>
    );
  return (
    <>
      <h4>Bytes around the pc</h4>
      <p class="bytes mono">
        <span class="dim">{code_before ? spaced(code_before) : '…'}</span>{' '}
        <b title="pc">{spaced(code_after ?? '')}</b>
      </p>
      <p class="dim small">
        Bytes alone: it is not known that an instruction begins at the pc, because the begin of the function
        is not known, or decoding from there does not lead to the pc.
      </p>
    </>
  );
}
