// The tabs of one browser share one stream of events: a browser has six connections to a server, which more
// tabs would take from each other.  One tab leads: it has the stream, and passes on what comes.  The others
// hear it at least as often as the server pings, and when they hear nothing, the first that notices leads.

/** @type {(ms: number) => Promise<void>} */
export const pause = (ms) =>
  new Promise((done) => {
    setTimeout(done, ms);
  });

const ANSWER_MS = 150; // until a leader has answered a new tab
const QUIET_MS = 6000; // the server pings every two seconds
const LOOK_MS = 1000;

/**
 * What tabs say: one that leads says that it STARTS, each event, the last one to a tab that ASKS, and that it
 * LEAVES.
 * @template T
 * @typedef {{from: number, event?: T | null, asks?: boolean, starts?: boolean, leaves?: boolean}} Said
 */

/**
 * Joins the tabs that have NAME in common.  HEARD gets the events of another tab; null: its stream is there.
 * @template T
 * @param {string} name
 * @param {(event: T | null) => void} heard
 */
export function joinTabs(name, heard) {
  const from = Math.random();
  const channel = new BroadcastChannel(name);
  /** @type {(said: Omit<Said<T>, 'from'>) => void} */
  const say = (said) => channel.postMessage({ from, ...said });
  let heardAt = -Infinity; // when another tab led
  /** @type {AbortController | null} */
  let leads = null; // this tab does, until it is aborted
  let last = /** @type {T | null} */ (null);

  /** @param {MessageEvent<Said<T>>} message */
  channel.onmessage = ({ data: said }) => {
    if (said.asks || (leads && said.from > from)) {
      if (leads && !said.leaves) say({ event: last }); // one that leads, too, ends when it hears this
      return;
    }
    if (said.leaves) {
      heardAt = -Infinity;
      return;
    }
    leads?.abort();
    heardAt = performance.now();
    if (!said.starts) heard(said.event ?? null);
  };
  window.addEventListener('pagehide', () => leads && say({ leaves: true }));

  return {
    /** Waits until no other tab leads, and makes this one lead.  The signal ends its stream. */
    async lead() {
      say({ asks: true });
      await pause(ANSWER_MS);
      while (performance.now() - heardAt < QUIET_MS) await pause(LOOK_MS * (0.5 + Math.random()));
      leads = new AbortController();
      last = null;
      say({ starts: true });
      return leads.signal;
    },
    /** @param {T | null} event null: nothing changed, but the stream is there */
    pass(event) {
      last = event ?? last;
      say({ event });
    },
    rest() {
      if (leads && !leads.signal.aborted) say({ leaves: true });
      leads = null;
    },
  };
}
