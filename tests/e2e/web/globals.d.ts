// What tests add to the pages: axe-core, as a script.
interface Window {
  axe: { run(context: Document, options: object): Promise<{ violations: Violation[] }> };
}

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}
