// Which run a page shows, and any other of the newest.
import { offline, useData } from '../api.js';
import { usePainted } from '../painted.js';
import { useQuery } from '../router.js';
import { Field, when } from '../ui.js';

export const NEWEST = 200;

/** @param {{run: number | null | undefined}} props the run that is shown; a file has only one */
export function RunPick({ run }) {
  const [, set] = useQuery();
  const { data } = useData(usePainted() && !offline ? '/api/v1/runs' : null, { limit: NEWEST });
  if (offline || !run) return null;
  const rows = (data?.runs ?? []).filter((each) => each.state !== 'running' && each.id !== run);
  /** @type {[number, string][]} */
  const choices = rows.map((each) => [each.id, `${each.id} · ${each.label} · ${when(each.started_ns)}`]);
  return (
    <span data-carrier>
      <Field label="run">
        <select onChange={(event) => set({ run: event.currentTarget.value }, false)}>
          {[[run, `${run}`], ...choices].map(([id, text]) => (
            <option key={id} value={id} selected={id === run}>
              {text}
            </option>
          ))}
        </select>
      </Field>
    </span>
  );
}
