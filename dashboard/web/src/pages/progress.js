// The progress of a run: cases judged of those it will have, the rate, the time left, and failures so far.
import { Link, duration, number, plural } from '../ui.js';

/** @param {{run: import('openapi').Run}} props nothing is shown for a run that is complete */
export function Progress({ run }) {
  const p = run.progress;
  if (!p || run.state === 'complete') return null;
  const running = run.state === 'running';
  const parts = [
    p.total > 0 ? `${number(p.judged)} of ${plural(p.total, 'case')}` : plural(p.judged, 'case'),
    running && p.captured > p.judged ? `${number(p.captured - p.judged)} captured and not yet judged` : '',
    running && p.cases_per_minute ? `${p.cases_per_minute.toFixed(0)} per minute` : '',
    running && p.left_ms !== null ? `about ${duration(p.left_ms * 1e6)} left` : '',
  ].filter(Boolean);
  return (
    <div class="progress flow middle" role="status">
      <progress max={Math.max(p.total, 1)} value={p.judged} aria-label="cases judged"></progress>{' '}
      <span>
        {running ? '' : 'The process that wrote this run has ended before the last case: '}
        {parts.join(' · ')} ·{' '}
        {p.failing > 0 ? (
          <Link class="wrong strong" to={`/runs/${run.id}/mismatches`}>
            {number(p.failing)} failing so far
          </Link>
        ) : (
          'none failing so far'
        )}
      </span>
    </div>
  );
}
