// An example page: shows one word from the server.
import { useData } from '../api.js';
import { Loaded, Page } from '../ui.js';

export function Recipe() {
  const data = useData('/api/v1/recipe');
  return (
    <Page title="Recipe" lead="An example.">
      <Loaded from={data}>{(found) => <p>{found.hello}</p>}</Loaded>
    </Page>
  );
}
