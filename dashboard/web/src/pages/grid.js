// The grid of a run: scenarios by variants, the whole run at once.  Only the lines in view are in the page.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useData } from '../api.js';
import { useQuery, withQuery } from '../router.js';
import {
  Empty,
  Link,
  Loaded,
  SearchField,
  Select,
  VerdictSigns,
  casePath,
  number,
  plural,
  verdictOf,
  verdicts,
  words,
} from '../ui.js';
import { usePaper } from '../paper.js';
import { Signs, signsIn, stacks as marks } from '../signs.js';
import { Table } from '../table.js';
import { decode, different, fitting, fullFirst, toLines, toRows } from './grid_model.js';

/**
 * @typedef {import('./grid_model.js').GridData} GridData
 * @typedef {import('./grid_model.js').GridLine} GridLine
 * @typedef {import('./grid_model.js').GridCell} GridCell
 * @typedef {import('./grid_model.js').GridCase} GridCase
 * @typedef {{name: string, at: number}} Engine AT: its place in the marks of a case
 * @typedef {{subjects: Engine[], references: Engine[], all: boolean, openAll: () => void}} Engines ALL: each
 *   reference engine has its own column
 */

/** @type {Record<string, string>} */
const titles = { crash: 'Crashes', hang: 'Hangs', calm: 'Healthy programs', stacks: 'Stacks given by hand' };
const LINE = { comfortable: 34, compact: 26 }; // pixels, as --row in style/grid.css
const OVERSCAN = 6; // lines above and below what is in view

/** @type {(letter: string | undefined) => string[]} */
const meaning = (letter) => marks[letter ?? '-'] ?? marks['-'];

/**
 * For sighted readers; the names of cells say the same in words.
 * @param {{letter: string | undefined, engine: string, large?: boolean}} props
 */
function Mark({ letter, engine, large = false }) {
  const [glyph, kind, text] = meaning(letter);
  return (
    <span
      class={`tick dim small t-${kind} ${large ? 'large' : ''}`}
      title={`${engine}: ${text}`}
      aria-hidden="true"
    >
      {glyph}
    </span>
  );
}

/**
 * The cases of a line in the variant at AT: of a fold, those of all its rows.
 * @type {(line: GridLine, at: number) => GridCase[]}
 */
const casesAt = (line, at) => line.rows.flatMap((each) => each.cells[at]?.worst ?? []);

/**
 * How many stacks of reference engines are exact; of several cases, in that in which the fewest are.
 * @param {GridCase[]} all
 */
function shareOf(all) {
  const [least, ...more] = all
    .map((c) => c.references)
    .filter((r) => r.percent !== null)
    .sort((a, b) => Number(a.percent) - Number(b.percent));
  if (!least) return null;
  const same = more.every((r) => r.exact === least.exact && r.judged === least.judged);
  return {
    share: `${same ? '' : '≥'}${least.exact}/${least.judged}`,
    text: `${same ? '' : 'at least '}${least.exact} of ${least.judged} reference stacks exact`,
  };
}

/**
 * The reference engines: a mark each, or how many of their stacks are exact.
 * @param {{all: GridCase[], engines: Engines}} props
 */
function References({ all, engines }) {
  const { references } = engines;
  if (references.length === 0) return null;
  if (engines.all)
    return references.map((e) => <Mark key={e.name} letter={all[0].marks[e.at]} engine={e.name} />);
  const { share, text } = shareOf(all) ?? {};
  if (!share) return <span class="refs"></span>;
  return (
    <button
      class="refs bare dim"
      title={`${text}: show each`}
      aria-label={`${share}: ${text}, show each`}
      onClick={engines.openAll}
    >
      {share}
    </button>
  );
}

/**
 * @param {{run: number, cell: GridCell | null, variant: string, engines: Engines, all: GridCase[],
 *   link: boolean}} props
 */
function Cell({ run, cell, variant, engines, all, link }) {
  if (!cell) return null;
  const c = cell.worst;
  const [glyph, kind] = verdictOf(c.verdict);
  const shown = engines.all ? [...engines.subjects, ...engines.references] : engines.subjects;
  const said = shown.map((e) => `${e.name} ${meaning(c.marks[e.at])[2]}`).join(', ');
  const name = `${c.scenario}.${variant}: ${words(c.verdict)}; ${said}`;
  const inside = (
    <>
      <span class={`verdict v-${kind}`} aria-hidden="true">
        {glyph}
      </span>
      {engines.subjects.map((e) => (
        <Mark key={e.name} letter={c.marks[e.at]} engine={e.name} large />
      ))}
      {cell.repeats > 1 && (
        <span class="repeats dim small" aria-hidden="true">
          ×{cell.repeats}
        </span>
      )}
    </>
  );
  return (
    <span class="inner">
      {link ? (
        <Link
          class="subjects"
          aria-label={name}
          to={casePath(run, { scenario: c.scenario, variant, repeat: c.repeat })}
        >
          {inside}
        </Link>
      ) : (
        <span class="subjects" role="img" aria-label={name}>
          {inside}
        </span>
      )}
      <References all={all} engines={engines} />
    </span>
  );
}

/** @type {(cell: GridCell | null) => {class: string, title?: string}} */
const colours = (cell) =>
  cell
    ? { class: `gridcell g-${cell.worst.group} ${cell.fits ? '' : 'faded'}` }
    : { class: 'gridcell none', title: 'not in this run' };

/** @param {{variant: string, engines: Engines}} props */
const Head = ({ variant, engines }) => (
  <>
    <span class="variant">{variant}</span>
    <span class="heads" aria-hidden="true">
      <span class="upright">verdict</span>
      {engines.subjects.map((e) => (
        <span key={e.name} class="upright strong large">
          {e.name}
        </span>
      ))}
      {engines.all ? (
        engines.references.map((e) => (
          <span key={e.name} class="upright">
            {e.name}
          </span>
        ))
      ) : (
        <span class="upright refs">reference</span>
      )}
    </span>
  </>
);

/** @param {{line: GridLine, toggle: (key: string) => void}} props */
function Name({ line, toggle }) {
  if (line.type === 'kind')
    return (
      <span>
        {titles[line.kind] ?? words(line.kind)} <span class="dim">{plural(line.count, 'scenario')}</span>
      </span>
    );
  const { scenario } = line.row;
  if (line.type !== 'fold') return <bdi>{scenario}</bdi>;
  return (
    <button class="unfold bare cut" aria-expanded={line.open} onClick={() => toggle(line.key)}>
      <span aria-hidden="true">{line.open ? '▾' : '▸'}</span> {number(line.count)} alike
      <span class="dim">: {scenario} …</span>
    </button>
  );
}

/**
 * Which of COUNT lines of HEIGHT pixels are in view in BOX; all of them on PAPER.
 * @param {import('preact').RefObject<HTMLElement>} box
 * @param {number} count
 * @param {number} height
 * @param {boolean} paper
 */
function useWindow(box, count, height, paper) {
  const [view, setView] = useState({ first: 0, last: 60 });
  useEffect(() => {
    const at = /** @type {HTMLElement} */ (box.current);
    const look = () => {
      const first = Math.max(0, Math.floor(at.scrollTop / height) - OVERSCAN);
      const last = Math.ceil((at.scrollTop + at.clientHeight) / height) + OVERSCAN;
      setView((old) => (old.first === first && old.last === last ? old : { first, last }));
    };
    const size = new ResizeObserver(look);
    size.observe(at);
    at.addEventListener('scroll', look, { passive: true });
    return () => {
      size.disconnect();
      at.removeEventListener('scroll', look);
    };
  }, [height]);
  if (paper) return { first: 0, last: count };
  const last = Math.min(count, view.last);
  return { first: Math.min(view.first, last), last };
}

/** @param {{run: number, lines: GridLine[], variants: string[], engines: Engines, compact: boolean,
 *   toggle: (key: string) => void, paper: boolean}} props */
function Lines({ run, lines, variants, engines, compact, toggle, paper }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const height = compact ? LINE.compact : LINE.comfortable;
  /** @type {import('../table.js').Column<GridLine>[]} */
  const columns = [
    {
      head: 'scenario',
      names: true,
      cell: (line) => <Name line={line} toggle={toggle} />,
      attributes: (line) =>
        line.type === 'kind'
          ? { colSpan: variants.length + 1, scope: 'colgroup' }
          : { class: 'mono', title: line.row.scenario },
    },
    ...variants.map((variant, i) => ({
      head: <Head variant={variant} engines={engines} />,
      cell: (/** @type {GridLine} */ line) => (
        <Cell
          {...{ run, variant, engines }}
          cell={line.row.cells[i]}
          link={line.type !== 'fold'}
          all={casesAt(line, i)}
        />
      ),
      attributes: (/** @type {GridLine} */ line) => colours(line.row.cells[i]),
    })),
  ];
  return (
    <Table
      label="Cases"
      kind={`grid ${compact ? 'compact' : ''} ${engines.all ? 'all' : ''}`}
      rows={lines}
      columns={columns}
      part={{ ...useWindow(box, lines.length, height, paper), height, box }}
      attributes={({ type, inside }) => ({
        class: type === 'kind' ? 'group' : `${type === 'fold' ? 'fold' : ''} ${inside ? 'inside' : ''}`,
      })}
    />
  );
}

/**
 * @param {{data: GridData, cases: GridCase[], query: Record<string, string | undefined>,
 *   set: (changes: Record<string, string | null>) => void}} props
 */
function Filters({ data, cases, query, set }) {
  const used = useMemo(
    () => ({
      verdict: Object.keys(verdicts)
        .map((word) => (word === 'NOT_CAPTURED_AS_EXPECTED' ? word.replaceAll('_', '-') : word))
        .filter((word) => cases.some((c) => c.verdict === word)),
      kind: different(cases.map((c) => c.kind)),
      group: different(cases.map((c) => c.group)),
      cause: different(cases.flatMap((c) => c.causes)),
      hook: different(cases.flatMap((c) => c.hooks)),
    }),
    [cases],
  );
  const engine = data.engines.map((e) => e.engine);
  /** @type {Record<string, string>} */
  const labels = { engine: 'wrong engine' };
  return (
    <div class="filters flow">
      <SearchField value={query.search} onInput={(search) => set({ search })} />
      {Object.entries({ ...used, engine })
        .filter(([name, options]) => options.length > 1 || query[name])
        .map(([name, options]) => (
          <Select
            key={name}
            label={labels[name] ?? name}
            value={query[name]}
            options={options}
            onChange={(word) => set({ [name]: word })}
          />
        ))}
    </div>
  );
}

/**
 * @param {{query: Record<string, string | undefined>, set: (changes: Record<string, string | null>) => void,
 *   engines: Engines}} props
 */
function Switches({ query, set, engines }) {
  /** @type {(name: string, value: string) => () => void} */
  const toggle = (name, value) => () => set({ [name]: query[name] === value ? null : value });
  return (
    <span class="toggles" role="group" aria-label="Show">
      <button
        class="toggle dim small"
        aria-pressed={query.density === 'compact'}
        onClick={toggle('density', 'compact')}
      >
        compact
      </button>
      <button class="toggle dim small" aria-pressed={query.fold !== '0'} onClick={toggle('fold', '0')}>
        fold rows that are alike
      </button>
      {engines.references.length > 0 && (
        <button class="toggle dim small" aria-pressed={engines.all} onClick={toggle('references', '1')}>
          each reference engine
        </button>
      )}
    </span>
  );
}

/**
 * The signs that are there; of a run that is WATCHED, those that may come, so that nothing moves.
 * @param {{lines: GridLine[], engines: Engines, watched: boolean}} props
 */
function Legend({ lines, engines, watched }) {
  const rows = lines.filter(({ type }) => type !== 'kind');
  const cells = rows.flatMap(({ row }) => row.cells).flatMap((cell) => cell ?? []);
  const columns = engines.all ? [...engines.subjects, ...engines.references] : engines.subjects;
  const shares =
    engines.all || engines.references.length === 0
      ? []
      : rows.flatMap((line) => line.row.cells.map((_, at) => shareOf(casesAt(line, at))?.share ?? ''));
  const more = [
    (watched || shares.some(Boolean)) && ['2/3', '', 'two of three stacks of reference engines are exact'],
    shares.some((share) => share[0] === '≥') && ['≥2/3', '', 'at least so many in each row of a fold'],
    (watched || cells.some((cell) => cell.repeats > 1)) && ['×2', '', 'the worse of two repeats'],
  ];
  return (
    <>
      <VerdictSigns
        about="First the verdict:"
        of={watched ? Object.keys(verdicts) : cells.map(({ worst }) => worst.verdict)}
      />
      <Signs
        about={engines.all ? 'then the engines:' : 'then the engines under test:'}
        of={[
          ...signsIn(
            marks,
            watched
              ? Object.values(marks)
              : cells.flatMap(({ worst }) => columns.map(({ at }) => meaning(worst.marks[at]))),
          ),
          ...more.filter((sign) => sign !== false),
        ]}
      />
    </>
  );
}

/** @param {{data: GridData, running: boolean}} props */
function Shown({ data: given, running }) {
  // Columns keep their places while cases come in.
  const data = useMemo(() => (running ? given : fullFirst(given)), [given, running]);
  const [query, set] = useQuery();
  const [watched] = useState(running);
  const [open, setOpen] = useState(/** @type {Set<string>} */ (new Set()));
  const cases = useMemo(() => decode(data), [data]);
  const { search, verdict, kind, group, cause, engine, hook } = query;
  const filters = [search, verdict, kind, group, query.new, cause, engine, hook].join('\n');
  const rows = useMemo(() => toRows(cases, data.variants.length, fitting(query, data)), [cases, filters]);
  const paper = usePaper();
  const fold = query.fold !== '0' && !paper;
  const place = data.engines.map((e, at) => ({ name: e.engine, at, subject: e.subject }));
  const engines = {
    subjects: place.filter((e) => e.subject),
    references: place.filter((e) => !e.subject && cases.some((c) => c.marks[e.at] !== '-')),
    all: query.references === '1',
    openAll: () => set({ references: '1' }),
  };
  const columns = engines.all ? place : engines.subjects;
  const letters = columns.map((e) => e.at);
  const lines = useMemo(
    () => toLines(rows, { running, fold, open, letters }),
    [rows, running, fold, open, letters.join()],
  );
  /** @type {(key: string) => void} */
  const toggle = (key) => {
    const now = new Set(open);
    if (!now.delete(key)) now.add(key);
    setOpen(now);
  };
  const shown = rows.reduce((sum, row) => sum + row.fits, 0);
  return (
    <>
      <Filters {...{ data, cases, query, set }} />
      <div class="tools flow middle">
        <Switches {...{ query, set, engines }} />
        <span class="dim small" role="status">
          {shown === cases.length
            ? plural(cases.length, 'case')
            : `${number(shown)} of ${plural(cases.length, 'case')}`}{' '}
          in {plural(rows.length, 'scenario')}
          {running ? ', the newest first' : ''}
        </span>
      </div>
      {useMemo(
        () => (
          <Legend lines={lines} engines={engines} watched={watched} />
        ),
        [lines, engines.all],
      )}
      {rows.length === 0 ? (
        <Empty title="No case fits">
          <p>Change the filters above.</p>
        </Empty>
      ) : (
        <Lines
          {...{ run: data.run, lines, variants: data.variants, engines, toggle, paper }}
          compact={query.density === 'compact'}
        />
      )}
    </>
  );
}

/** @param {{run: number, running: boolean}} props */
export function Grid({ run, running }) {
  const data = useData('/api/v1/runs/{run}/grid', { run });
  return (
    <Loaded from={data}>
      {(found) =>
        found.total === 0 ? (
          <Empty title="No case yet">
            <p>
              {running ? (
                'The first one appears here as soon as it is judged.'
              ) : (
                <>
                  This run has none. What a bench measured is on the page{' '}
                  <Link to={withQuery('/timing', { run })}>Timing</Link>.
                </>
              )}
            </p>
          </Empty>
        ) : (
          <Shown data={found} running={running} />
        )
      }
    </Loaded>
  );
}
