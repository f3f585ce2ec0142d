// Tests add axe-core to the pages, as a script.
interface Window {
  axe: { run(context: Document, options: object): Promise<{ violations: Violation[] }> };
}

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}
