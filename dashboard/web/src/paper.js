// What a page is shown on. On paper nothing can be opened, so that what is folded on the screen is there.
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

/** Whether the page is being printed. */
export function usePaper() {
  const [paper, set] = useState(false);
  useLayoutEffect(() => {
    const begin = () => set(true);
    const end = () => set(false);
    addEventListener('beforeprint', begin);
    addEventListener('afterprint', end);
    return () => {
      removeEventListener('beforeprint', begin);
      removeEventListener('afterprint', end);
    };
  }, []);
  return paper;
}

/** Whether the window is narrow, as style/narrow.css has it. */
export function useNarrow() {
  const [query] = useState(() => matchMedia('(max-width: 860px)'));
  const [narrow, set] = useState(query.matches);
  useEffect(() => {
    const look = () => set(query.matches);
    look();
    query.addEventListener('change', look);
    return () => query.removeEventListener('change', look);
  }, []);
  return narrow;
}
