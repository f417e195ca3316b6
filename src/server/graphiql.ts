import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { renderGraphiQL } from '@graphql-yoga/render-graphiql'
import { EXAMPLE } from './graphiql-example.ts'
import { DIALOG, LIVE_OPTIONS, SCRIPT } from './graphiql-script.ts'
import { headersOf, ICON, MARK, type Page } from './page.ts'

/** GraphiQL from the package, with nothing from a CDN: 9 MB of HTML, rendered and compressed once, when first asked for. */

const OPTIONS = {
  title: 'Phaseline',
  logo: MARK,
  favicon: ICON,
  endpoint: '/graphql',
  // By POST also what streams: an address has room for short queries only, and is written into logs on its way.
  method: 'POST',
  // graphql-transport-ws, as all other clients of ours: a browser has six connections for streams over HTTP, for all tabs.
  subscriptionsProtocol: 'WS',
  // They go into local storage, which outlives the tab; the token has a better place.
  shouldPersistHeaders: false,
} as const

function render(): string {
  const html = renderGraphiQL(OPTIONS)
  const options = JSON.stringify(OPTIONS)
  const [script, root] = ['<script>', '<div id="root">']
  const at = html.lastIndexOf(options)
  const start = html.indexOf(script)
  if (at < 0 || start < 0 || !html.includes(root)) throw new Error('render-graphiql makes another page than it did')
  return [
    html.slice(0, start).replace(root, () => DIALOG + root),
    script,
    SCRIPT,
    html.slice(start + script.length, at),
    `{ ...${options}, ...${LIVE_OPTIONS}, query: startQuery(${JSON.stringify(EXAMPLE)}) }`,
    html.slice(at + options.length),
  ].join('')
}

let page: Promise<Page> | undefined
export function graphiqlPage(): Promise<Page> {
  page ??= makePage()
  return page
}

async function makePage(): Promise<Page> {
  const html = render()
  const more = ['worker-src blob:', 'font-src data:', "connect-src 'self'"]
  return {
    body: await promisify(gzip)(html),
    headers: {
      ...headersOf(html, { scripts: 'blob:', more, framedBy: "'self'" }),
      // In the dashboard it is within a page of ours.
      'x-frame-options': 'SAMEORIGIN',
      'content-encoding': 'gzip',
    },
  }
}
