// Frames that are pasted into a page that is a file: which of them its stacks answer, without a browser.
import { deflateSync } from 'node:zlib';
import { runAll, same, test } from './web/world.mjs';
import { carried, parts } from './web/paper.mjs';

/** @type {(offset: string, more?: object) => object} */
const frame = (offset, more = {}) => ({
  index: 0,
  inline_depth: 0,
  module: 'app.exe',
  offset,
  kind: 'return',
  function: 'main',
  file: 'a.c',
  line: 30,
  module_id: '11112222333344445555666677778888A',
  mvid: null,
  ...more,
});
const poke = { function: 'poke', line: 10 };
const top = frame('0x1005', { kind: 'interrupted', function: 'run', line: 12 });
const managed = { module: 'app.dll', method: '0x06000001', mvid: '{aaaabbbb-0000-0000-0000-00000000cccc}' };
// Rows of a thread: the truth, then one cell for each engine.
const rows = [
  [
    frame('0x1005', { kind: 'interrupted', inline_depth: 1, ...poke }),
    frame('0x1005', { kind: 'interrupted', function: 'other' }),
    null,
  ],
  [top, null, null],
  [frame('0x2005', { index: 1 }), frame('0x2005', { index: 1, function: 'of the dump' }), frame('0x9000')],
  [null, frame('0x3005', { index: 2, function: 'dump_only' }), null],
  [frame('0x7', { index: 2, ...managed, function: 'Method' }), null, null],
  [frame('0x5005', { index: 3, function: null }), null, null],
];
const engines = [
  { engine: 'offset:rtl', kind: 'offset', subject: true },
  { engine: 'dump', kind: 'dump', subject: true },
  { engine: 'judge:x', kind: 'judge', subject: false },
];
const document = {
  case: { engines },
  threads: [{ rows: rows.map((row) => [{ frame: null }, ...row.map((f) => ({ frame: f }))]) }],
};
const other = frame('0x6005', { function: 'first_build' });
const second = {
  case: { engines },
  threads: [
    ...[other, frame('0x6005', { function: 'second_build' })].map((f) => [f, null]),
    [null, frame('0x7005', { function: 'of the dump' })],
    [frame('0x7005', { function: 'of offsets' }), null],
    [null, frame('0x7005', { function: 'of the dump again' })],
  ].map((cells) => ({
    rows: [[null, ...cells, null].map((f) => ({ frame: f }))],
  })),
};
/** @type {(value: object) => string} */
const packed = (value) => deflateSync(JSON.stringify(value)).toString('base64');
carried['twinstack-data'] = {
  textContent: JSON.stringify({
    offline: { run: 7, names: {}, lists: {}, compared: [], runs: 1, runs_total: 1, cases: 2, cases_total: 2 },
    '/api/v1/runs/7/cases/a.ob2': packed(document),
    '/api/v1/runs/7/cases/b.ob2': packed(second),
    '/api/v1/runs/6/cases/a.ob2': packed({
      case: { engines },
      threads: [{ rows: [[{ frame: null }, { frame: frame('0x8005') }]] }],
    }),
  }),
};
const { known_frames: known } = await parts('known_frames');

/** What TEXT is answered: for each frame its function or why there is none.
 * @type {(text: string) => Promise<string[][]>} */
const names = async (text) =>
  (await known.resolveHere(text)).stacks.map((/** @type {{frames: any[]}} */ { frames }) =>
    frames.map((f) => f.function ?? f.note),
  );

const absent = 'not in this file';
test('a_frame_is_found_by_its_lookup_address', async () => {
  for (const [name, text, want] of /** @type {[string, string, string[][]][]} */ ([
    ['the first one was interrupted, with what is inlined into it', 'app.exe!0x1005', [['poke', 'run']]],
    [
      'a return address is looked up one byte earlier',
      'app.exe!0x1005\napp.exe!0x2005',
      [['poke', 'run', 'main']],
    ],
    ['that byte, interrupted', 'app.exe!0x2004', [['main']]],
    ['marked as interrupted', 'x.dll!0x1\napp.exe!0x1005@i', [[absent, 'poke', 'run']]],
    ['marked as a return address', 'app.exe!0x2005@r', [['main']]],
    ['the address itself is not it', 'app.exe!0x2005', [[absent]]],
    ['a return address after an interruption', 'x.dll!0x1\napp.exe!0x1005', [[absent, absent]]],
    ['in any letters', 'APP.exe!0x2004', [['main']]],
    ['another module', 'app.dll!0x2004', [[absent]]],
    ['what only the dump has', 'app.exe!0x3004', [['dump_only']]],
    ['what only a judge has', 'app.exe!0x8fff', [[absent]]],
    ['of another run', 'app.exe!0x8004', [[absent]]],
    ['what no engine names', 'app.exe!0x5004', [[absent]]],
    ['offsets come first, whatever was read before', 'app.exe!0x7004', [['of offsets']]],
    ['two builds', 'app.exe!0x6004', [['two builds in this file differ here']]],
    ['a method and its offset', 'app.dll!0x06000001+0x7', [['Method']]],
    ['another offset', 'app.dll!0x06000001+0x6', [[absent]]],
    ['its own build', 'app.exe!0x2004 {11112222-3333-4444-5555-666677778888A}', [['main']]],
    [
      'another build',
      'app.exe!0x2004 {11112222-3333-4444-5555-666677778888B}',
      [['only another build is in this file']],
    ],
    ['its own MVID', 'app.dll!0x06000001+0x7 {mvid:AAAABBBB-0000-0000-0000-00000000CCCC}', [['Method']]],
    [
      'another MVID',
      'app.dll!0x06000001+0x7 {mvid:AAAABBBB-0000-0000-0000-00000000CCCD}',
      [['only another build is in this file']],
    ],
    [
      'labels and comments',
      '# a\n> one\napp.exe!0x2004 # b\n\n>\napp.exe!0x1005\n> none',
      [['main'], ['poke', 'run']],
    ],
    ['nothing', '', []],
  ]))
    same(await names(text), want, name);
});

test('what_is_no_frame_has_its_place', async () => {
  const { stacks, errors, form, files } = await known.resolveHere(
    '> one\nno frame\napp.exe!0x1005\napp.exe!2005\n',
  );
  same([form, files, stacks.length], ['stack', [], 1], 'form');
  /** @type {(what: string, offset: number) => object} */
  const refused = (what, offset) => ({
    label: null,
    what,
    code: 'no_frame',
    offset,
    hint: 'a frame is module!0xoffset',
  });
  same(errors, [refused('"no frame"', 6), refused('"app.exe!2005"', 30)], 'errors');
  const [inner, physical] = stacks[0].frames;
  same(
    [stacks[0].label, inner.inlined, inner.found_by, physical.inlined, physical.found_by],
    ['one', true, 'inlined', false, 'given'],
    'frames',
  );
  same([inner.line, physical.line, physical.index, physical.offset], [10, 12, 0, '0x1005'], 'lines');
});

await runAll();
