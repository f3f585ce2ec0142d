// The code around a frame's pc: instructions where they are known, else bytes.

/** @type {(hex: string) => string} */
const spaced = (hex) => hex.replace(/../g, '$& ').trim();

/** @type {Record<string, [string, string]>} */
const marks = { pc: ['▸', 'the pc'], call: ['↵', 'calls, and returns to the pc'] };

/**
 * @param {{code: import('openapi').Code}} props
 */
const Lines = ({ code }) => (
  <div class="scrolls" tabindex={0} role="group" aria-label="Instructions around the pc">
    <table class="instructions mono">
      <thead class="sr">
        <tr>
          <th>mark</th>
          <th>address</th>
          <th>instruction</th>
          <th>bytes</th>
        </tr>
      </thead>
      <tbody>
        {code.lines.map(({ at, bytes, text, mark }) => (
          <tr key={at} class={mark ?? ''}>
            <td>
              {mark && (
                <>
                  <span aria-hidden="true">{marks[mark][0]}</span>
                  <span class="sr">{marks[mark][1]}</span>
                </>
              )}
            </td>
            <td class="dim">{at}</td>
            <td>{text}</td>
            <td class="dim">{bytes}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** @param {{evidence: import('openapi').Evidence | undefined}} props */
export function Instructions({ evidence }) {
  if (!evidence?.code_after && !evidence?.code_before) return null;
  const { code, code_before, code_after } = evidence;
  if (code)
    return (
      <>
        <h4>Code around the pc</h4>
        <Lines code={code} />
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
