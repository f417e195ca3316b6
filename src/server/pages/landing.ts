import { createHash } from 'node:crypto'
import type { Page } from './page.ts'

/** Three nodes of a tree, the last one done. */
const MARK =
  '<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32" viewBox="0 0 32 32" fill="none" stroke="#4b6bfb"' +
  ' stroke-width="2.5"><path d="M9 16h4q3 0 3-4t3-4h1M13 16q3 0 3 4t3 4h1"/><circle cx="6" cy="16" r="3.5"/>' +
  '<circle cx="24" cy="8" r="3.5"/><circle cx="24" cy="24" r="3.5" fill="#2fb67c" stroke="#2fb67c"/></svg>'

/** The link that the server prints has the token in its fragment, which must not stay in the address. */
const SCRIPT = 'if (location.hash) history.replaceState(null, "", location.pathname)'

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Phaseline</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(MARK)}">
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem; color: #222; }
  h1 { display: flex; align-items: center; gap: .5rem; }
  code { background: #eee; padding: 0 .3em; border-radius: 3px; }
  @media (prefers-color-scheme: dark) { body { background: #111; color: #ddd; } code { background: #333; } a { color: #8cf; } }
</style>
<h1>${MARK} Phaseline</h1>
<p>One GraphQL API for trees of dependent work.</p>
<ul>
  <li>The dashboard and GraphiQL are not built: run <code>npm run build:web</code>, then start the server again.</li>
  <li><code>/graphql</code>: HTTP, server-sent events and <code>graphql-transport-ws</code>, with
    <code>Authorization: Bearer …</code>.</li>
  <li><a href="/livez">/livez</a>, <a href="/readyz">/readyz</a>, <code>/metrics</code> (with an administrator's token).</li>
</ul>
<script>${SCRIPT}</script>
</html>
`

const POLICY = [
  "default-src 'none'",
  `script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`,
  "style-src 'unsafe-inline'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
]

/** The page at `/`, `/graphql` and `/graphiql` while the dashboard is not built. It needs no token. */
export const landingPage: Page = {
  body: Buffer.from(HTML),
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY.join('; '),
    'cache-control': 'no-cache',
  },
}
