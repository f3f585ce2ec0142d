// Tests the API without a browser, and what takes longer than test_web_answers.mjs: packed answers, sources,
// badges, writes, live streams, the data of the offline page, and the speed of views on large databases.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ask,
  check,
  failure,
  fetchData,
  inDays,
  must,
  root,
  runAll,
  same,
  scratch,
  seed,
  serve,
  slowness,
  soak,
  test,
  twinstack,
} from './web/world.mjs';
/** @import { CaseLine, Written } from 'openapi' */

const db = seed('api.db', 12, 24, 0);
const server = await serve('--db', db);
/** @type {(path: string, headers?: Record<string, string>) => Promise<Response>} */
const get = (path, headers = {}) => fetch(server.base + path, { headers });

test('large_answers_are_compressed_for_who_takes_it', async () => {
  /** @type {(encoding: Record<string, string>) => ReturnType<typeof ask>} */
  const take = (encoding) =>
    ask(server.base, '/api/v1/runs/12/cases?limit=1000', {
      headers: { Host: new URL(server.base).host, ...encoding },
    });
  const [plain, packed, refused] = await Promise.all([
    take({}),
    take({ 'Accept-Encoding': 'gzip, br' }),
    take({ 'Accept-Encoding': 'gzip;q=0' }),
  ]);
  same(
    [
      plain.headers['content-encoding'],
      refused.headers['content-encoding'],
      packed.headers['content-encoding'],
    ],
    [undefined, undefined, 'gzip'],
    'encodings',
  );
  check(
    Number(packed.headers['content-length']) * 5 < Number(plain.headers['content-length']),
    `${packed.headers['content-length']} of ${plain.headers['content-length']} bytes`,
  );
  same(
    [packed.headers.etag, packed.headers.vary, packed.headers['x-data-version']],
    [plain.headers.etag, 'Accept-Encoding', plain.headers['x-data-version']],
    'one document',
  );
  same((await (await get('/api/v1/runs/12/cases?limit=1000')).json()).data.total, 24, 'it unpacks');
});

test('a_row_is_explained_and_its_source_is_kept', async () => {
  const at = { run: 3, case: 'inline_chain.ob2' };
  const explain = '/api/v1/runs/{run}/cases/{case}/explain';
  const { engines } = await fetchData(server.base, explain, { ...at, frame: 3 });
  const dump = must(engines.find((e) => e.engine === 'dump'));
  const [frame, reached] = [must(dump.frame), must(dump.reached)];
  same([frame.kind, frame.found_by, reached.steps.length], ['return', 'unwind', 3], "the dump engine's row");
  same(
    Number(dump.lookup_offset) + 1,
    Number(frame.offset),
    'a return address is looked up one byte earlier',
  );
  same(
    reached.steps.map((s) => s.had_run),
    [true, true, false],
    'which codes had run',
  );
  check(must(engines.find((e) => e.engine === 'offset:rtl')).reached === null, 'no engine borrows evidence');
  same(
    (await get('/api/v1/runs/3/cases/inline_chain.ob2/explain?frame=999')).status,
    404,
    'a row that is not there',
  );
  const { artifacts } = await fetchData(server.base, '/api/v1/runs/{run}/cases/{case}', at);
  const answer = await get(`/api/v1/artifacts/${artifacts[0].sha256}`);
  const text = await answer.text();
  same(
    [answer.status, answer.headers.get('content-type'), Buffer.byteLength(text)],
    [200, 'text/plain; charset=utf-8', artifacts[0].bytes],
    'the source',
  );
  check(
    text.includes('</script>') && answer.headers.get('cache-control')?.includes('immutable'),
    'as it is, for ever',
  );
  for (const name of ['0'.repeat(64), '..%2f..%2fetc%2fpasswd', 'etc', artifacts[0].sha256.toUpperCase()])
    same((await get(`/api/v1/artifacts/${name}`)).status, 404, name);
});

test('badges_are_json_and_pictures', async () => {
  for (const metric of ['verdict', 'exact', 'f1', 'capture_rate', 'speed_ratio']) {
    const json = await (await get(`/badge/${metric}.json`)).json();
    const answer = await get(`/badge/${metric}.svg`);
    const svg = await answer.text();
    same([answer.status, answer.headers.get('content-type')], [200, 'image/svg+xml'], metric);
    check(
      svg.startsWith('<svg ') &&
        svg.includes(`aria-label="${json.label}: ${json.message}"`) &&
        !/script|on\w+=/.test(svg),
      svg,
    );
  }
  same((await get('/badge/exact.gif')).status, 404, 'another form');
  same((await get('/badge/mood.svg')).status, 400, 'another metric');
});

test('acceptances_are_written_to_the_file_and_taken_out', async () => {
  const file = scratch('known.txt');
  const kept = '# by hand\n[other]\nscope: x.*\ncause: dump=truncated\nreason: old\nexpires: 2030-01-01\n';
  writeFileSync(file, kept);
  const writing = await serve('--db', db, '--allow-write', '--known', file);
  /** @type {Record<string, string>} */
  const json = { 'Content-Type': 'application/json', 'X-Token': writing.token };
  /** @type {(body: unknown, headers?: Record<string, string>) => Promise<Response>} */
  const post = (body, headers = json) =>
    fetch(`${writing.base}/api/v1/known`, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  /** @type {(id: string, headers?: Record<string, string>) => Promise<Response>} */
  const drop = (id, headers = { 'X-Token': writing.token }) =>
    fetch(`${writing.base}/api/v1/known/${id}`, { method: 'DELETE', headers });
  /** @param {string} verdict */
  const firstOf = async (verdict) =>
    (await fetchData(server.base, '/api/v1/runs/{run}/cases', { run: 12, verdict, limit: 1 })).cases[0];
  const [failing, passing] = [await firstOf('FAIL'), await firstOf('PASS')];
  /** @type {(c: CaseLine) => string} */
  const name = (c) => `${c.scenario}.${c.variant}`;
  const good = { run: 12, case: name(failing), reason: 'known "well"', expires: inDays(90) };
  same((await post(good, { 'Content-Type': 'application/json' })).status, 401, 'no token');
  same((await post(good, { ...json, Origin: 'http://evil.example' })).status, 403, "another site's page");
  same((await post(good, { ...json, 'Content-Type': 'text/plain' })).status, 415, 'a form');
  same((await post('{')).status, 422, 'no JSON');
  same((await post({ ...good, reason: 'two\n[lines]' })).status, 400, 'a reason of two lines');
  same((await post({ ...good, expires: 'never' })).status, 422, 'no day');
  same((await post({ ...good, case: name(passing) })).status, 400, 'a case that passes');
  same((await post({ ...good, case: 'no_such.ob2' })).status, 404, 'no case');
  same(readFileSync(file, 'utf8'), kept, 'nothing was written');
  /** @type {{data: Written['/api/v1/known']}} */
  const { data } = await (await post(good)).json();
  same((await post(good)).status, 400, 'the same once more');
  same(readFileSync(file, 'utf8'), kept + data.added, 'one block more');
  check(
    data.added.includes(`expires: ${inDays(90)}`) && data.added.includes(`scope: ${name(failing)}`),
    data.added,
  );
  const { items } = await fetchData(writing.base, '/api/v1/known');
  same(
    items.map((k) => k.id),
    ['other', name(failing)],
    'seen at once',
  );
  same((await drop(encodeURIComponent(name(failing)), {})).status, 401, 'no token');
  same((await drop('nobody')).status, 404, 'no such id');
  same((await drop(encodeURIComponent(name(failing)))).status, 200, 'taken out');
  check(
    readFileSync(file, 'utf8').startsWith(kept.trimEnd()) && !readFileSync(file, 'utf8').includes('2031'),
    'the rest stays',
  );
  const bare = await serve('--db', db, '--allow-write');
  same(
    (
      await fetch(`${bare.base}/api/v1/known`, {
        method: 'POST',
        headers: { ...json, 'X-Token': bare.token },
        body: JSON.stringify(good),
      })
    ).status,
    400,
    'no file is named',
  );
  await bare.stop();
  await writing.stop();
});

test('a_newer_database_is_said_and_not_touched', async () => {
  const file = seed('newer.db', 1, 2, 0);
  const before = readFileSync(file);
  before.writeUInt32BE(99, 60); // user_version, in the header
  writeFileSync(file, before);
  const newer = await serve('--db', file);
  const answer = await fetch(`${newer.base}/api/v1/overview`);
  /** @type {import('openapi').Error} */
  const { error } = await answer.json();
  same([answer.status, error.key, error.reason], [422, 'unsupported', 'newer'], 'the answer');
  check(must(error.hint).includes('newer'), `${error.hint}`);
  check(readFileSync(file).equals(before), 'not a byte changed');
  await newer.stop();
});

test('a_published_database_is_served_from_a_folder_that_nobody_writes', async () => {
  const folder = scratch('published');
  mkdirSync(folder);
  twinstack('db', 'publish', '--db', db, join(folder, 'runs.db'));
  const before = readFileSync(join(folder, 'runs.db'));
  chmodSync(join(folder, 'runs.db'), 0o444);
  chmodSync(folder, 0o555);
  const published = await serve('--db', join(folder, 'runs.db'));
  for (const path of [
    'overview',
    'runs',
    'runs/12',
    'runs/12/cases',
    'runs/12/cases/inline_chain.ob2',
    'cases/inline_chain/ob2',
    'compare?a=1&b=12',
    'timing',
    'hooks',
    'runs/12/queue',
    'signatures',
    'known',
    'symbols',
  ]) {
    const [here, there] = await Promise.all(
      [published, server].map(
        async (from) => (await (await fetch(`${from.base}/api/v1/${path}`)).json()).data,
      ),
    );
    same(here, there, path);
  }
  await published.stop();
  chmodSync(folder, 0o755);
  same(readdirSync(folder), ['runs.db'], 'nothing beside it');
  check(readFileSync(join(folder, 'runs.db')).equals(before), 'not a byte changed');
});

test('streams_tell_changes_and_are_capped', async () => {
  const ends = [];
  const streams = [];
  for (let i = 0; i < 33; i++) {
    const stop = new AbortController();
    ends.push(stop);
    streams.push(await fetch(`${server.base}/api/v1/events`, { signal: stop.signal }));
  }
  same(
    streams.map((s) => s.status),
    [...Array.from({ length: 32 }, () => 200), 204],
    '32 streams',
  );
  const reader = must(streams[0].body).getReader();
  let text = '';
  while (!/data: .*\n/.test(text)) text += Buffer.from(must((await reader.read()).value)).toString();
  const { version } = JSON.parse(must(/data: (.*)/.exec(text))[1]);
  same((await get('/api/v1/runs')).headers.get('x-data-version'), version, 'versions of event and answer');
  for (const stop of ends) stop.abort();
  for (let tries = 0; ; tries++) {
    const stop = new AbortController();
    const { status } = await fetch(`${server.base}/api/v1/events`, { signal: stop.signal });
    stop.abort();
    if (status === 200) break;
    check(tries < 40 * slowness, 'streams of readers that left come free again');
    await new Promise((done) => setTimeout(done, 250));
  }
});

test('two_offline_pages_are_equal_and_closed', async () => {
  try {
    twinstack('report', '12', '--db', db, '--html', scratch('a.html'));
  } catch (error) {
    const { status, stderr } = failure(error);
    check(status === 1, String(stderr));
  }
  try {
    twinstack('report', '12', '--db', db, '--html', scratch('b.html'));
  } catch (error) {
    const { status, stderr } = failure(error);
    check(status === 1, String(stderr));
  }
  const page = readFileSync(scratch('a.html'), 'utf8');
  check(page === readFileSync(scratch('b.html'), 'utf8'), 'same run, same bytes');
  check(!/<(?:link|script|img)[^>]+(?:src|href)="(?!data:)/.test(page), 'nothing is fetched');
});

test('two_builds_of_the_pages_are_equal_and_small', () => {
  const web = `${root}/dashboard/web`;
  for (const name of ['one', 'two'])
    execFileSync(process.execPath, [
      `${web}/build.mjs`,
      '--source',
      web,
      '--modules',
      `${web}/node_modules`,
      '--out',
      scratch(name),
      '--version',
      '0.1.0',
    ]);
  for (const file of ['web_assets.c', 'sizes.txt'])
    check(
      readFileSync(`${scratch('one')}/${file}`).equals(readFileSync(`${scratch('two')}/${file}`)),
      `${file} differs`,
    );
  const total = Number(must(/total gzip (\d+)/.exec(readFileSync(`${scratch('one')}/sizes.txt`, 'utf8')))[1]);
  console.log(`     ${total} bytes gzip`);
  check(total > 10000 && total <= 120 * 1024, `${total} bytes gzip`);
  const found = spawnSync(
    'grep',
    ['-rlE', 'dangerouslySetInnerHTML|innerHTML|eval\\(|new Function', `${web}/src`],
    { encoding: 'utf8' },
  );
  same([found.status, found.stdout], [1, ''], 'sources that make markup or code of strings');
});

// In a soak 1,000 runs and 10,000 cases, 2,000 of them in one run.
test('views_of_large_databases_take_under_300_ms', async () => {
  const large = await serve('--db', soak ? seed('large.db', 1000, 8, 2000) : seed('large.db', 250, 8, 500));
  const runs = '/api/v1/runs/1';
  const slow = [];
  for (const path of [
    '/api/v1/overview',
    '/api/v1/runs?limit=50',
    runs,
    `${runs}/cases?limit=200`,
    `${runs}/queue`,
    '/api/v1/overview?run=1',
    `${runs}/cases?verdict=FAIL&limit=50`,
    `${runs}/cases?cause=inline_only`,
    `${runs}/cases?search=spin`,
    `${runs}/cases/null_write.ob2`,
    '/api/v1/cases/null_write/ob2',
    '/api/v1/compare?a=1&b=2',
    '/api/v1/trend?metric=dump_write_ns&limit=1000',
    '/api/v1/timing?run=1',
    '/api/v1/hooks?run=1',
    '/api/v1/signatures?run=1',
    '/api/v1/symbols?run=1',
    '/api/v1/known',
  ]) {
    let took = Infinity;
    let status = 0;
    for (let i = 0; i < 3; i++) {
      // The minimum leaves out other load on the machine.  Each address is new, so no answer is cached.
      const start = performance.now();
      const answer = await fetch(`${large.base}${path}${path.includes('?') ? '&' : '?'}${'&'.repeat(i)}`);
      await answer.text();
      ({ status } = answer);
      took = Math.min(took, performance.now() - start);
    }
    console.log(`     ${took.toFixed(0).padStart(5)} ms  ${path}`);
    same(status, 200, path);
    if (took > 300 * slowness) slow.push(`${path} ${took.toFixed(0)} ms`);
  }
  same(slow, [], 'slow views');
});

await runAll();
