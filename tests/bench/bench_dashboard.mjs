// Measures the views of the dashboard on a large database, which seed_store makes: 1,000 runs of 10 cases and
// one run of 10,000.  Prints the time of the first request for each view and the minimum of the next four,
// which the server has.  Then what the first visitor of a newest run of 100,000 cases waits for: answers that
// are made, and those that are kept in the database (`twinstack db upgrade` writes them).
// Also measures how long it takes to write the file that needs no server, and the size of that file.
//
//   node tests/bench/bench_dashboard.mjs        (TWINSTACK_BUILD names the build folder)
import { statSync } from 'node:fs';
import { runAll, same, scratch, seed, serve, test, twinstack } from '../e2e/web/world.mjs';

const run = '/api/v1/runs/1';
const views = [
  '/api/v1/overview',
  '/api/v1/runs?limit=50',
  run,
  `${run}/cases?limit=200`,
  `${run}/cases?verdict=FAIL&limit=50`,
  `${run}/cases?cause=inline_only&limit=50`,
  `${run}/cases?search=spin&limit=200`,
  `${run}/cases/null_write.ob2`,
  `${run}/cases/null_write.ob2/explain?frame=3`,
  '/api/v1/cases/null_write/ob2',
  '/api/v1/compare?a=1&b=2',
  '/api/v1/compare?a=1&b=1',
  '/api/v1/timing?run=1',
  '/api/v1/hooks?run=1',
  '/api/v1/signatures?run=1',
  '/api/v1/symbols?run=1',
  '/api/v1/known',
  '/api/v1/trend?metric=f1&scenario=spin',
];

const db = seed('bench.db', 1000, 10, 10000);

test('one_file', () => {
  for (const [word, what] of [
    ['1', 'the run of 10,000 cases'],
    ['latest', 'a run of 10 cases, each with 1,000 runs of history'],
  ]) {
    const start = performance.now();
    twinstack('report', word, '--db', db, '--html', scratch('one.html'), '--exit-zero');
    const seconds = ((performance.now() - start) / 1e3).toFixed(1);
    console.log(`${what}: ${seconds} s, ${(statSync(scratch('one.html')).size / 1e6).toFixed(1)} MB`);
  }
});

/**
 * The time of a request, and the size of its answer.
 * @type {(url: string) => Promise<[number, number]>}
 */
async function ask(url) {
  const start = performance.now();
  const answer = await fetch(url);
  const bytes = (await answer.arrayBuffer()).byteLength;
  same(answer.status, 200, url);
  return [performance.now() - start, bytes];
}

test('views', async () => {
  const server = await serve('--db', db);
  const slow = [];
  console.log('| view | first ms | again ms | kB |\n|---|---|---|---|');
  for (const path of views) {
    const [first, bytes] = await ask(server.base + path);
    const again = [];
    while (again.length < 4) again.push((await ask(server.base + path))[0]);
    const figures = [first, Math.min(...again), bytes / 1000].map((figure) => figure.toFixed(0));
    console.log(`| ${[path, ...figures].join(' | ')} |`);
    if (first > 300) slow.push(path);
  }
  await server.stop();
  same(slow, [], 'views over 300 ms');
});

const newest = [
  '/api/v1/overview',
  '/api/v1/runs/latest',
  `${run}/grid`,
  '/api/v1/runs/latest/queue?limit=50',
  '/api/v1/timing?limit=125',
  '/api/v1/hooks?limit=50',
  '/api/v1/signatures',
  '/metrics',
  '/badge/exact.svg',
];

test('first_visitor_of_100000_cases', async () => {
  const large = seed('large.db', 20, 10, 100000, 'newest');
  /** @type {number[][]} */
  const took = [];
  for (const kept of [false, true]) {
    if (kept) twinstack('db', 'upgrade', '--db', large);
    for (const [i, path] of newest.entries()) {
      const server = await serve('--db', large);
      (took[i] ??= []).push((await ask(server.base + path))[0]);
      await server.stop();
    }
  }
  console.log('| answer | made, ms | kept, ms |\n|---|---|---|');
  for (const [i, path] of newest.entries())
    console.log(`| ${[path, ...took[i].map((ms) => ms.toFixed(0))].join(' | ')} |`);
  same(
    newest.filter((_, i) => took[i][1] > 300),
    [],
    'kept, and over 300 ms',
  );
});

await runAll();
