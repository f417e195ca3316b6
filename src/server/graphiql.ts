import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { renderGraphiQL } from '@graphql-yoga/render-graphiql'

/** GraphiQL from the package, with nothing from a CDN: 9 MB of HTML, rendered and compressed once, when first asked for. */

export interface Page {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
}

const OPTIONS = {
  title: 'Phaseline',
  endpoint: '/graphql',
  headers: '{\n  "authorization": "Bearer "\n}',
  defaultQuery:
    '# Put your token into the headers below, then run this.\nquery Viewer {\n  viewer { name role projects }\n}\n',
} as const

/** The printed link carries the token in its fragment, which never leaves the browser. */
const TOKEN_FROM_FRAGMENT = `function withToken(options) {
  const token = new URLSearchParams(location.hash.slice(1)).get('token')
  if (!token) return options
  history.replaceState(null, '', location.pathname + location.search)
  return { ...options, headers: JSON.stringify({ authorization: 'Bearer ' + token }, null, 2) }
}`

function render(): string {
  const html = renderGraphiQL(OPTIONS)
  const options = JSON.stringify(OPTIONS)
  const at = html.lastIndexOf(options)
  if (at < 0) throw new Error('render-graphiql no longer embeds its options as they are given')
  const before = html.slice(0, at).replace('<script>', `<script>${TOKEN_FROM_FRAGMENT}\n`)
  return `${before}withToken(${options})${html.slice(at + options.length)}`
}

/** Scripts are allowed by their hash, so that nothing that gets into the page could run. */
function policyOf(html: string): string {
  const start = html.indexOf('<script>') + '<script>'.length
  const hash = createHash('sha256')
    .update(html.slice(start, html.indexOf('</script>', start)))
    .digest('base64')
  return [
    "default-src 'none'",
    `script-src 'sha256-${hash}' blob:`,
    'worker-src blob:',
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

let page: Promise<Page> | undefined
export function graphiqlPage(): Promise<Page> {
  page ??= makePage()
  return page
}

async function makePage(): Promise<Page> {
  const html = render()
  return {
    body: await promisify(gzip)(html),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-encoding': 'gzip',
      'content-security-policy': policyOf(html),
      'cache-control': 'no-cache',
    },
  }
}
