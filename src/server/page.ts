import { createHash } from 'node:crypto'

/** What the pages have in common. They hold no data: whoever has a token gets the data through the API. */
export interface Page {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
}

/** Three nodes of a tree, the last one done. */
export const MARK =
  '<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32" viewBox="0 0 32 32" fill="none" stroke="#4b6bfb"' +
  ' stroke-width="2.5"><path d="M9 16h4q3 0 3-4t3-4h1M13 16q3 0 3 4t3 4h1"/><circle cx="6" cy="16" r="3.5"/>' +
  '<circle cx="24" cy="8" r="3.5"/><circle cx="24" cy="24" r="3.5" fill="#2fb67c" stroke="#2fb67c"/></svg>'

export const ICON = `data:image/svg+xml,${encodeURIComponent(MARK)}`

/**
 * The link that is printed at start carries the token in its fragment, which browsers send to nobody. It is moved from
 * there to the tab's session storage, so that it neither stays in the address nor outlives the tab.
 */
export const KEEP_TOKEN = String.raw`
const TOKEN = 'phaseline-token'
function keepToken() {
  const token = /[#&]token=([\w.~+\/=-]+)/.exec(location.hash)
  if (!token) return false
  sessionStorage.setItem(TOKEN, token[1])
  history.replaceState(history.state, '', location.pathname + location.search)
  return true
}
keepToken()
`

/** Of a page with one script, which is allowed by its hash: nothing else that gets into the page could run. */
export function headersOf(
  html: string,
  allowed: Readonly<{ scripts?: string; more?: readonly string[]; framedBy?: string }> = {},
) {
  const start = html.indexOf('<script>') + '<script>'.length
  const script = html.slice(start, html.indexOf('</script>', start))
  const hash = createHash('sha256').update(script).digest('base64')
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash}' ${allowed.scripts ?? ''}`.trim(),
    "style-src 'unsafe-inline'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${allowed.framedBy ?? "'none'"}`,
    ...(allowed.more ?? []),
  ]
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-cache',
  }
}
