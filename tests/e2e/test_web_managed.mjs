// A managed case whose portable PDB has SourceLink and embedded sources: from files on disk to its page.
import {
  becomes,
  browser,
  changeAnswers,
  check,
  closePage,
  fetchData,
  holds,
  must,
  openPage,
  root,
  runAll,
  same,
  scratch,
  seed,
  serve,
  settled,
  shot,
  test,
  twinstack,
} from './web/world.mjs';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {{data: import('openapi').Answers['/api/v1/runs/{run}/cases/{case}']}} Body */

const corpus = join(root, 'corpus/managed');
const MVID = '07FE8BD5-A86F-45F5-98D2-E6726C218944'; // of corpus/managed/shapes.dll
const SOURCE = 'Z:/src/shapes.cs';
const LINE = 44;
/** @type {string} */
const debugId =
  /"debug_id": *"(\w+)"/.exec(
    String(twinstack('symbols', 'list', '--json', join(corpus, 'shapes.pdb'))),
  )?.[1] ?? '';

/**
 * A copy of PDB, a portable PDB with SourceLink, whose SourceLink is JSON.  Its "#Blob" heap goes to the end
 * of the file, where the new blob is added to it; one row leads to the old one.
 * @type {(pdb: Buffer, json: string) => Buffer}
 */
function withSourceLink(pdb, json) {
  /** @type {Map<string, {at: number, offset: number, bytes: number}>} */
  const streams = new Map();
  let at = 16 + pdb.readUInt32LE(12) + 4;
  for (let n = pdb.readUInt16LE(at - 2); n > 0; n--) {
    const end = pdb.indexOf(0, at + 8);
    const name = pdb.toString('latin1', at + 8, end);
    streams.set(name, { at, offset: pdb.readUInt32LE(at), bytes: pdb.readUInt32LE(at + 4) });
    at = at + 8 + (Math.floor((end - at - 8) / 4) + 1) * 4;
  }
  const blobs = must(streams.get('#Blob'));
  const tables = must(streams.get('#~'));
  const heap = pdb.subarray(blobs.offset, blobs.offset + blobs.bytes);
  const text = Buffer.from(json);
  const old = heap.indexOf('{"documents"') - 1; // it is shorter than 128 bytes, so its size is one byte
  const size = Buffer.alloc(4);
  size.writeUInt32BE(0xc0000000 + text.length);
  const moved = Buffer.concat([pdb, heap, size, text]);
  moved.writeUInt32LE(pdb.length, blobs.at);
  moved.writeUInt32LE(heap.length + 4 + text.length, blobs.at + 4);
  // The row of CustomDebugInformation, three columns of two bytes: module 1, a GUID, the blob.
  const rows = [];
  for (let row = tables.offset; row + 6 <= tables.offset + tables.bytes; row++)
    if (pdb.readUInt16LE(row) === ((1 << 5) | 7) && pdb.readUInt16LE(row + 4) === old) rows.push(row);
  same(rows.length, 1, 'rows that lead to the SourceLink');
  moved.writeUInt16LE(heap.length, rows[0] + 4);
  return moved;
}

const LONG = 'a'.repeat(5000);
// What SourceLink says, and the address that the page may lead to.
const links = /** @type {[string, string, string | null][]} */ ([
  ['plain', 'https://example.invalid/raw/*', 'https://example.invalid/raw/shapes.cs'],
  ['query', 'https://example.invalid/raw?path=*&v=1', 'https://example.invalid/raw?path=shapes.cs&v=1'],
  ['long', `https://example.invalid/${LONG}/*`, `https://example.invalid/${LONG}/shapes.cs`],
  [
    'quote',
    "https://example.invalid/'onerror='hacked=1/*",
    "https://example.invalid/'onerror='hacked=1/shapes.cs",
  ],
  ['script', 'javascript:hacked=1//*', null],
  ['loud_script', 'JaVaScRiPt:hacked=1//*', null],
  ['script_after_newline', '\njavascript:hacked=1//*', null],
  ['data', 'data:text/html,<script>hacked=1</script>*', null],
  ['no_scheme', 'example.invalid/raw/*', null],
  ['relative', '//example.invalid/raw/*', null],
  ['no_host', 'https:///raw/*', null],
  ['quotes', 'https://example.invalid/"onmouseover="hacked=1/*', null],
  ['tag', 'https://example.invalid/<img src=x onerror=hacked=1>/*', null],
  ['control', 'https://example.invalid/\u0001/*', null],
]);

/**
 * The number of a run with one case of two frames of shapes.dll, judged with SYMBOLS, in database DB.
 * @type {(db: string, name: string, symbols: string) => number}
 */
function judged(db, name, symbols) {
  const stack = scratch(`${name}.txt`);
  const out = scratch('cases');
  const frames = [
    `shapes.dll!0x06000009+0x14 {mvid:${MVID}}`,
    `shapes.dll!0x06000012+0x6 {${debugId}}`,
    `shapes.dll!0x06000014+0x82 {${debugId}}`,
    `shapes.dll!0x0600001b+0x2f {${debugId}}`,
  ];
  writeFileSync(stack, `${frames.join('\n')}\n`);
  twinstack('case', 'import', '--stack', stack, '--own', 'shapes.dll', '--name', name, '--out', out);
  process.env.SEED_FOLDER = join(out, `${name}.imported`);
  const seeded = seed(db, 1, 1, 0);
  delete process.env.SEED_FOLDER;
  twinstack('regrade', '1', '--db', seeded, '--symbols', symbols, '--exit-zero', '--progress', 'none');
  return 2;
}

/**
 * The frames of the resolved stacks on PAGE, as [method and offset, function] each, after TEXT was pasted.
 * @type {(page: import('./web/world.mjs').Page, text: string) => Promise<string[][]>}
 */
async function pasted(page, text) {
  await page.locator('textarea').fill(text);
  await page.getByRole('button', { name: 'Resolve', exact: true }).click();
  const lines = text.trim().split('\n').length;
  await becomes(() => page.locator('.panel tbody tr').count(), lines, 'rows of the answer');
  return page
    .locator('.panel tbody tr')
    .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText)));
}

const chromium = await browser();

test('source_link_and_embedded_source_of_a_managed_case_are_on_its_page', async () => {
  const run = judged('managed.db', 'plain', corpus);
  const server = await serve('--db', scratch('managed.db'));
  const route = { run, case: 'plain.imported' };
  const body = await fetchData(server.base, '/api/v1/runs/{run}/cases/{case}', route);
  const link = must(body.artifacts.find((a) => a.role === 'source_link'));
  same(
    [link.name, link.url],
    [SOURCE, 'https://example.invalid/raw/0123456789abcdef0123456789abcdef01234567/shapes.cs'],
    'the artifact',
  );
  const cells = body.threads[0].rows.flat().filter((cell) => cell.frame);
  const frame = /** @type {import('openapi').Frame} */ (must(cells[0].frame));
  same(
    [frame.function, frame.line, frame.method, frame.class],
    ['Shapes::Throws', LINE, '0x6000009', 'own'],
    'the frame',
  );
  const frames = cells.map((cell) => /** @type {import('openapi').Frame} */ (cell.frame));
  same([...new Set(frames.map((f) => f.module_id))], [null, debugId], 'identities: an MVID alone, and a PDB');
  same([...new Set(frames.map((f) => f.mvid))], [MVID, undefined], 'the MVID, where it is known');
  for (const viewport of [
    { width: 1280, height: 860 },
    { width: 390, height: 844 },
  ]) {
    const address = `${server.base}/runs/${run}/mismatches/plain.imported?frame=0`;
    const page = await openPage(chromium, address, { viewport });
    await settled(page);
    const web = page.locator('.source h3 a', { hasText: 'source on the web' });
    await becomes(() => web.getAttribute('href'), link.url, 'the link');
    const want = readFileSync(join(corpus, 'shapes.cs'), 'utf8').split(/\r?\n/)[LINE - 1].trim();
    same(
      await page.locator('tbody .tag').allTextContents(),
      ['async', 'iterator'],
      'methods whose state machine is on the stack',
    );
    const shown = must(await page.locator('.source').first().textContent());
    check(shown.includes(want), `"${want}" of the embedded source is not in ${shown}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    same(wide, 0, `over the edge at ${viewport.width} px`);
    await page.goto(address.replace('frame=0', 'frame=1'));
    await settled(page);
    check((await page.locator('main').innerText()).includes(debugId), 'the id of the module');
    await shot(page, `managed-source-${viewport.width}`);
    same(page.complaints, [], 'complaints');
    await closePage(page);
  }
  await server.stop();
});

test('pasted_frames_of_managed_code_are_answered_by_a_file_without_a_server', async () => {
  const run = judged('pasted.db', 'pasted', corpus);
  const file = scratch('pasted.html');
  twinstack('report', String(run), '--db', scratch('pasted.db'), '--html', file);
  const page = await openPage(chromium, `file://${file}#/resolve`);
  await settled(page);
  const rows = await pasted(
    page,
    'shapes.dll!0x06000009+0x14\nshapes.dll!0x06000012+0x6\nshapes.dll!0x06000010+0x6\nshapes.dll!0x7\n',
  );
  const said = rows.map((cells) => cells.join(' ').replace(/\s+/g, ' '));
  same(said.length, 4, `rows: ${JSON.stringify(said)}`);
  check(/Shapes::Throws shapes\.cs:44 shapes\.dll!0x0?6000009\+0x14/.test(said[0]), said[0]);
  check(/Shapes::Main shapes\.cs:96 shapes\.dll!0x0?6000012\+0x6/.test(said[1]), said[1]);
  check(said[2].includes('not in this file'), `another method at the same offset: ${said[2]}`);
  check(said[3].includes('not in this file'), `native code at the same offset: ${said[3]}`);
  const builds = await pasted(
    page,
    [
      ...['mvid:' + MVID, debugId.toLowerCase(), `${'0'.repeat(32)}1`].map((id) => `0x06000012+0x6 {${id}}`),
      ...['mvid:' + MVID.toLowerCase(), `mvid:${'0'.repeat(32)}`].map((id) => `0x06000009+0x14 {${id}}`),
    ]
      .map((frame) => `shapes.dll!${frame}\n`)
      .join(''),
  );
  same(
    builds.map((cells) => /Shapes::\w+|another build/.exec(cells.join(' '))?.[0]),
    ['Shapes::Main', 'Shapes::Main', 'another build', 'Shapes::Throws', 'another build'],
    'identities of pasted frames',
  );
  same(page.complaints, [], 'complaints');
  await closePage(page);
});

test('causes_of_managed_code_and_a_refused_snapshot_are_in_words', async () => {
  const run = judged('causes.db', 'causes', corpus);
  const server = await serve('--db', scratch('causes.db'));
  const words = 'snapshot refused: UNSAFE (0x80131360)';
  const address = `${server.base}/runs/${run}/mismatches/causes.imported`;
  for (const viewport of [
    { width: 1280, height: 860 },
    { width: 390, height: 844 },
  ]) {
    const colorScheme = viewport.width === 390 ? 'dark' : 'light';
    const page = await openPage(chromium, 'about:blank', { viewport, colorScheme });
    for (const cause of ['inlined_by_jit', 'hijacked', 'no_token', 'snapshot_refused']) {
      await page.unrouteAll();
      await changeAnswers(page, '**/cases/causes.imported', (/** @type {Body} */ body) => {
        const { engines } = body.data.case;
        const [thread] = body.data.threads;
        const snapshot = engines.findIndex((engine) => engine.engine === 'offset:snapshot');
        thread.stacks[snapshot] = { ...must(thread.stacks[snapshot]), state: 'failed', stop: words };
        const cell = thread.rows[0][1 + engines.findIndex((engine) => engine.engine === 'offset:rtl')];
        Object.assign(cell, { mark: 'extra', cause });
        return body;
      });
      await page.goto(address);
      await settled(page);
      check(
        /** @type {string} */ (await page.locator('#row-0').textContent()).includes(
          cause.replaceAll('_', ' '),
        ),
        cause,
      );
    }
    await page.getByRole('button', { name: 'offset:snapshot' }).first().click();
    await holds(async () => (await page.locator('main table').first().innerText()).includes(words), words);
    await shot(page, `managed-causes-${viewport.width}`);
    same(
      await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth),
      0,
      'over the edge',
    );
    same(page.complaints, [], 'complaints');
    await closePage(page);
  }
  await server.stop();
});

test('hostile_source_links_lead_nowhere_and_run_nothing', async () => {
  const pdb = readFileSync(join(corpus, 'shapes.pdb'));
  for (const [name, url, want] of links) {
    const symbols = scratch(`symbols-${name}`);
    mkdirSync(symbols);
    cpSync(join(corpus, 'shapes.dll'), join(symbols, 'shapes.dll'));
    const json = JSON.stringify({ documents: { 'Z:\\src\\*': url } });
    writeFileSync(join(symbols, 'shapes.pdb'), withSourceLink(pdb, json));
    const run = judged(`link-${name}.db`, name, symbols);
    const server = await serve('--db', scratch(`link-${name}.db`));
    const route = { run, case: `${name}.imported` };
    const body = await fetchData(server.base, '/api/v1/runs/{run}/cases/{case}', route);
    same(body.artifacts.find((a) => a.role === 'source_link')?.url ?? null, want, `${name}: the artifact`);
    const viewport = { width: 390, height: 844 };
    const address = `${server.base}/runs/${run}/mismatches/${name}.imported?frame=0`;
    const page = await openPage(chromium, address, { viewport });
    await settled(page);
    check((await page.locator('.source').count()) > 0, `${name}: the source is shown`);
    const hrefs = await page.locator('a').evaluateAll((all) => all.map((a) => a.getAttribute('href')));
    same(
      hrefs.filter((href) => href?.includes('example.invalid') || /script:|data:/i.test(href ?? '')),
      want ? [want] : [],
      `${name}: links of the page`,
    );
    const state = await page.evaluate(() => ({
      ran: 'hacked' in window,
      handlers: document.querySelectorAll('[onmouseover],[onerror]').length,
      over: document.documentElement.scrollWidth - window.innerWidth,
    }));
    same(state, { ran: false, handlers: 0, over: 0 }, name);
    same(page.complaints, [], `${name}: complaints`);
    await closePage(page);
    await server.stop();
  }
});

await runAll();
