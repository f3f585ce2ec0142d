// One word from the server, as the example of a page.
import { useData } from '../api.js';
import { Loaded, Page, html } from '../ui.js';

export function Recipe() {
  const data = useData('/api/v1/recipe');
  return html`<${Page} title="Recipe" lead="An example."><${Loaded} from=${data}>${(found) => html`<p>${found.hello}</p>`}</${Loaded}></${Page}>`;
}
