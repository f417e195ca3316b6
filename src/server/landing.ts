import type { Page } from './graphiql.ts'

/** `/`, until a dashboard takes its place. It holds no data and needs no token. */
const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Phaseline</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem; color: #222; }
  code { background: #eee; padding: 0 .3em; border-radius: 3px; }
  @media (prefers-color-scheme: dark) { body { background: #111; color: #ddd; } code { background: #333; } a { color: #8cf; } }
</style>
<h1>Phaseline</h1>
<p>One GraphQL API for trees of dependent work.</p>
<ul>
  <li><a href="/graphiql">GraphiQL</a>: try the API here, with your token.</li>
  <li><code>/graphql</code>: HTTP, server-sent events and <code>graphql-transport-ws</code>, with
    <code>Authorization: Bearer …</code>.</li>
  <li><a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a>, <code>/metrics</code> (with a token).</li>
</ul>
</html>
`

export const landingPage: Page = {
  body: Buffer.from(HTML),
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'cache-control': 'no-cache',
  },
}
