// On paper nothing can be opened, so that what is folded on the screen is there.
import { useLayoutEffect, useState } from 'preact/hooks';

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
