// The small parts that all pages share.  Text from dumps and symbols is hostile: it is only
// ever set as text, never as markup.
import { href } from './router.js';
import { Signs, signsIn } from './signs.js';

/** @type {Record<string, string[]>} glyph, class, meaning */
export const verdicts = {
  PASS: ['✓', 'pass', 'as expected'],
  FAIL: ['✗', 'fail', 'not as expected'],
  XFAIL: ['~', 'xfail', 'wrong, and accepted with a reason'],
  XPASS: ['!', 'xpass', 'right, though accepted as wrong'],
  FLAKY: ['≈', 'flaky', 'different from repeat to repeat'],
  ERROR: ['⚠', 'error', 'could not be judged'],
  UNSUPPORTED: ['⊘', 'unsupported', 'this host cannot show it'],
  NOT_CAPTURED_AS_EXPECTED: ['◌', 'calm', 'left nothing, as expected'],
};
/** @type {(word: string | null | undefined) => string[]} */
const fallback = (word) => ['·', 'other', word ?? ''];
/** @type {(word: string | null | undefined) => string[]} glyph, class, meaning */
export const verdictOf = (word) => verdicts[word?.replaceAll('-', '_') ?? ''] ?? fallback(word);
/** @type {(word: string) => boolean} */
export const failing = (word) => ['FAIL', 'XPASS', 'FLAKY', 'ERROR'].includes(word);

/** @type {(text: string | null | undefined) => string} */
export const words = (text) => (text ?? '').replaceAll('_', ' ').replaceAll('-', ' ').toLowerCase();

/** @param {{word: string, long?: boolean}} props */
export function Verdict({ word, long }) {
  const [glyph, kind] = verdictOf(word);
  return (
    <span class={`verdict v-${kind}`}>
      <span aria-hidden="true">{glyph}</span>
      {long ? [' ', <span>{words(word)}</span>] : <span class="sr">{words(word)}</span>}
    </span>
  );
}

const NAME_MAX = 300;
/** A name from a dump, its symbols or a report. One that would fill the page is cut, and the title has the
 *  whole; what turns its text around leaves what stands beside it as it is.
 *  @param {{text: string}} props */
export const Name = ({ text }) =>
  text.length <= NAME_MAX ? <bdi>{text}</bdi> : <bdi title={text}>{`${text.slice(0, NAME_MAX - 1)}…`}</bdi>;

/** Frames in one line, "a | b | c".
 *  @param {{text: string}} props */
export const Frames = ({ text }) =>
  text.split(' | ').map((frame, i) => [i > 0 && ' | ', <Name text={frame} />]);

/**
 * @typedef {{to: string, children?: import('preact').ComponentChildren}} Inside an address of these pages
 * @param {Inside & import('preact').JSX.AnchorHTMLAttributes} props
 */
export const Link = ({ to, children, ...rest }) => (
  <a href={href(to)} {...rest}>
    {children}
  </a>
);

/** @param {{kind?: string, title?: string, children?: import('preact').ComponentChildren}} props */
export const Chip = ({ kind = '', title, children }) => (
  <span class={`chip ${kind}`} title={title}>
    {children}
  </span>
);

// "12,345".  Not by toLocaleString(): its first call loads the data of all languages, which takes longer
// than the rest of a page.
/** @type {(value: number) => string} */
const grouped = (value) => String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
/**
 * Three digits, as the reports have them: "999.7 µs" is "1.00 ms".
 * @type {(value: number, units: string[]) => string}
 */
function scaled(value, units) {
  let unit = 0;
  for (; unit + 1 < units.length && value >= 999.5; unit++) value /= 1000;
  return `${unit === 0 || value >= 99.95 ? grouped(value) : value.toPrecision(3)} ${units[unit]}`;
}

/** @param {number | null | undefined} ns */
export function duration(ns) {
  if (ns === null || ns === undefined) return '–';
  if (ns < 120e9) return scaled(ns, ['ns', 'µs', 'ms', 's']);
  return `${Math.floor(ns / 60e9)} min ${Math.round((ns % 60e9) / 1e9)} s`;
}

/**
 * 230 KB are 230,000 bytes.
 * @param {number | null | undefined} count
 */
export const bytes = (count) => (count ? scaled(count, ['B', 'KB', 'MB', 'GB']) : '–');
/** @type {(value: number | null | undefined) => string} */
export const number = (value) => grouped(value ?? 0);
/**
 * @param {number} count
 * @param {string} one
 */
export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;
/**
 * Rounded down, as in reports and badges: what is not all is never "100 %", what is something never "0 %".
 * @type {(part: number, whole: number) => string}
 */
export const percent = (part, whole) =>
  !whole
    ? '–'
    : part === whole || part === 0
      ? `${(100 * part) / whole} %`
      : `${Math.max(0.1, Math.floor((1000 * part) / whole) / 10).toFixed(1)} %`;

/** A number with the digits that the text of RATIO has. @type {(ratio: number, value?: number) => string} */
export const digits = (ratio, value = ratio) => value.toFixed(ratio < 1.995 ? 2 : ratio < 99.5 ? 1 : 0);
/** @type {(ratio: number) => string} */
export const times = (ratio) => `${digits(ratio)}×`;

/** @param {number | null | undefined} ns since 1970 */
export function when(ns) {
  if (!ns) return '–';
  const text = new Date(ns / 1e6).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 16)}`;
}
/** The rule of reports (analyze/base/age.c). @param {number} ns since 1970 */
export function ago(ns) {
  const minutes = Math.max(0, Math.floor((Date.now() - ns / 1e6) / 60e3));
  if (minutes < 1) return 'under 1 min ago';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / 1440)} days ago`;
}

/** As long as in reports. @type {(of: {commit?: string | null}) => string | undefined} */
export const commitOf = ({ commit }) => commit?.slice(0, 12);

/**
 * What keeps a judged stack from being exact.
 * @param {import('openapi').Score} score
 */
export function wrongness(score) {
  const parts = [];
  if (score.right_frames < score.truth_frames)
    parts.push(`${score.right_frames} of ${score.truth_frames} frames right`);
  if (score.own_frames > score.right_frames) parts.push(`${score.own_frames - score.right_frames} wrong`);
  if (score.lines_right < score.lines_judged)
    parts.push(`${plural(score.lines_judged - score.lines_right, 'line')} off`);
  return parts.join(', ') || 'not exact';
}

/** @type {(c: {scenario: string, variant: string}) => string} */
export const caseName = (c) => `${c.scenario}.${c.variant}`;
/** Which repeat it is, as pages write it. @type {(c: {repeat?: number}) => string} */
export const repeatOf = ({ repeat }) => (repeat ? `#${repeat + 1}` : '');
/**
 * @typedef {{scenario: string, variant: string, repeat?: number}} Named
 * @type {(run: string | number, c: Named) => string}
 */
export const casePath = (run, c) =>
  `/runs/${run}/mismatches/${encodeURIComponent(caseName(c))}${c.repeat ? `?repeat=${c.repeat}` : ''}`;

/**
 * @typedef {import('preact').ComponentChildren} Children
 * @param {{title: Children, lead?: Children, actions?: Children, children?: Children}} props
 */
export function Page({ title, lead, actions, children }) {
  return (
    <div class="page">
      <header class="head">
        <div>
          <h1 tabindex={-1}>{title}</h1>
          {lead && <p class="lead dim">{lead}</p>}
        </div>
        {actions && <div class="actions flow middle">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/**
 * What is known of something: names, and what each is.
 * @param {{rows: Children[][], kind?: string, mono?: boolean}} props
 */
export const Pairs = ({ rows, kind = 'facts flow', mono }) => (
  <dl class={kind}>
    {rows.map(([name, value]) => (
      <div key={String(name)}>
        <dt>{name}</dt>
        <dd class={mono ? 'mono' : ''}>{value}</dd>
      </div>
    ))}
  </dl>
);

/** @param {{title: string, children?: Children}} props */
export const Empty = ({ title, children }) => (
  <div class="state">
    <h2>{title}</h2>
    <div>{children}</div>
  </div>
);

export function Loading() {
  return (
    <div class="loading" role="status">
      <span class="sr">Loading</span>
      {[0, 1, 2, 3, 4].map((i) => (
        <div class="bone" key={i}></div>
      ))}
    </div>
  );
}

/** @type {Record<string, (string | null)[]>} */
const explained = {
  unsupported: ['This program cannot read this database', 'Nothing was changed in it.'],
  absent: ['There is nothing here', 'The run, case or page that this address names is not in the database.'],
  offline: ['The server does not answer', null],
  not_carried: ['This file does not hold that', null],
  token: ['The token is missing', 'Open the address that `twinstack serve` printed: it carries the token.'],
};

/**
 * A title and a sentence.  A database of another schema states which of the two is the older one.
 * @param {import('./error.js').ApiError} error
 */
function explain(error) {
  if (error.key === 'unsupported' && error.reason === 'newer')
    return [
      'This database is newer than this program',
      'A newer twinstack wrote it, and nothing in it was changed. ' +
        'Update this program, or point --db at another file.',
    ];
  if (error.key === 'unsupported' && error.reason === 'older')
    return [
      'This database is older than this program',
      '`twinstack db upgrade` brings it up to date, ' +
        'and so does starting this server once with `--allow-write`.',
    ];
  return explained[error.key] ?? ['The request failed', null];
}

/** @param {{text: string}} props words with `commands` in them */
const Said = ({ text }) => text.split('`').map((part, i) => (i % 2 ? <Command>{part}</Command> : part));

/** @param {{error: import('./error.js').ApiError}} props */
export function Failure({ error }) {
  const [title, text] = explain(error);
  return (
    <div class="state bad" role="alert">
      <h2>{title}</h2>
      {error.key !== 'absent' && (
        <p>
          <Said text={error.message} />
        </p>
      )}
      {(text || error.hint) && (
        <p class="dim">
          <Said text={text ?? error.hint ?? ''} />
        </p>
      )}
      {!explained[error.key] && (
        <p class="dim small">
          For a report of this: error <code>{error.key}</code>
          {error.status ? `, HTTP status ${error.status}` : ''}.
        </p>
      )}
    </div>
  );
}

/**
 * The three states that every page's data has.
 * @template T
 * @param {{from: import('./api.js').Data<T>, children: (data: T) => Children}} props
 */
export function Loaded({ from, children }) {
  if (from.data === null && from.error) return <Failure error={from.error} />;
  if (from.data === null) return <Loading />;
  return (
    <>
      {from.error && (
        <p class="banner warn" role="status">
          Showing earlier data: {from.error.message}.
        </p>
      )}
      {children(from.data)}
    </>
  );
}

/** @param {Record<string, number>} counts by verdict */
const countRows = (counts) =>
  Object.keys(verdicts)
    .map((word) => ({ word, count: counts[word] ?? counts[word.replaceAll('_', '-')] ?? 0 }))
    .filter(({ count }) => count > 0);

/**
 * What the signs of these verdicts mean.
 * @param {{of: (string | null)[], about?: string}} props
 */
export const VerdictSigns = ({ of, about }) => (
  <Signs of={signsIn(verdicts, of.map(verdictOf))} about={about} />
);

/** The same for bars. @param {{of: Record<string, number>[]}} props */
export const CountsLegend = ({ of }) => (
  <VerdictSigns of={of.flatMap((counts) => countRows(counts).map(({ word }) => word))} />
);

/** @param {{verdicts: Record<string, number>, total: number}} props */
export function CountsBar({ verdicts: counts, total }) {
  const rows = countRows(counts);
  const label = rows.map(({ word, count }) => `${count} ${words(word)}`).join(', ');
  return (
    <span class="counts" role="img" aria-label={label || 'no cases yet'} title={label}>
      {rows.map(({ word, count }) => (
        <span
          key={word}
          class={`bar v-${verdictOf(word)[1]}`}
          style={{ flexGrow: Math.max(count, total / 40) }}
        >
          {verdictOf(word)[0]} {number(count)}
        </span>
      ))}
    </span>
  );
}

/**
 * What kind of run it is, where it is not plain: judged again, or of a reporter's stacks (`check --dumps`).
 * @param {{run: import('openapi').Run}} props
 */
export function RunKind({ run }) {
  const [, kind, of] = /^(regrade of|reporter) (.*)$/s.exec(run.label ?? '') ?? [];
  if (!kind) return null;
  if (kind === 'reporter')
    return (
      <>
        reporter <Name text={of} /> by its dumps ·{' '}
      </>
    );
  return (
    <>
      regrade of <Link to={`/runs/${of}`}>run {of}</Link> ·{' '}
    </>
  );
}

/**
 * What a list is filtered by, with its label above it, in a row of class "filters".
 * @param {{label: string, children: Children}} props
 */
export const Field = ({ label, children }) => (
  <label class="field dim small">
    <span>{label}</span>
    {children}
  </label>
);

/**
 * @typedef {{label: string, value: string | undefined, options: string[]}} Choice
 * @param {Choice & {onChange: (value: string) => void}} props
 */
export function Select({ label, value, options, onChange }) {
  return (
    <Field label={label}>
      <select value={value ?? ''} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">any</option>
        {options.map((option) => (
          <option key={option} value={option} selected={option === value}>
            {words(option)}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** @param {{value: string | undefined, onInput: (value: string | null) => void}} props null: it is empty */
export const SearchField = ({ value, onInput }) => (
  <Field label="search">
    <input
      type="search"
      value={value ?? ''}
      placeholder="scenario.variant"
      onInput={(event) => onInput(event.currentTarget.value || null)}
    />
  </Field>
);

/** @param {{children: Children}} props */
export const Command = ({ children }) => <code class="command">{children}</code>;

/**
 * Browsers have a clipboard object only at https and on this machine; elsewhere a selection is copied.
 * @param {string} text
 */
function copySelected(text) {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'sr';
  document.body.append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  return done;
}

/** @param {string} text */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

/**
 * What is wrong with a run, in words and counts, each of them a link.  notRun: builds without a case.
 * @param {{wrong: import('openapi').Wrong, run: number | string, short?: boolean,
 *   notRun?: string | null}} props
 */
export function Wrong({ wrong, run, short, notRun }) {
  /** @type {(query: string) => string} */
  const at = (query) => `/runs/${run}/mismatches?${query}`;
  if (wrong.total === 0)
    return (
      <>
        <span class="good" aria-hidden="true">
          ✓
        </span>{' '}
        {notRun ? 'Nothing is wrong in what was run.' : 'Nothing is wrong.'}
      </>
    );
  return (
    <span class="wrongs">
      <Link class="wrong strong" to={`/runs/${run}/mismatches`}>
        {number(wrong.total)} wrong
      </Link>
      {short ? (
        ''
      ) : (
        <>
          :{' '}
          {wrong.groups.map((group, i) => (
            <>
              {i ? ', ' : ''}
              <Link key={group.trouble} to={at(`trouble=${group.trouble}`)}>
                {number(group.cases)} {group.text}
              </Link>
            </>
          ))}
        </>
      )}
      {wrong.baseline ? (
        <>
          ;{' '}
          {wrong.new ? (
            <Link to={at('new=1')}>{number(wrong.new)} new since the baseline</Link>
          ) : (
            'none new since the baseline'
          )}
        </>
      ) : null}
      .
    </span>
  );
}
