import { headersOf, ICON, KEEP_TOKEN, MARK, type Page } from './page.ts'

/** `/`, until a dashboard takes its place. It holds no data and needs no token, but hands one on to GraphiQL. */
const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Phaseline</title>
<link rel="icon" href="${ICON}">
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem; color: #222; }
  h1 { display: flex; align-items: center; gap: .5rem; }
  code { background: #eee; padding: 0 .3em; border-radius: 3px; }
  button { font: inherit; padding: .1rem .6rem; }
  @media (prefers-color-scheme: dark) { body { background: #111; color: #ddd; } code { background: #333; } a { color: #8cf; } }
</style>
<h1>${MARK} Phaseline</h1>
<p>One GraphQL API for trees of dependent work.</p>
<ul>
  <li><a href="/graphql">GraphiQL</a>: try the API here. <span id="without">It asks for your token.</span></li>
  <li><code>/graphql</code>: HTTP, server-sent events and <code>graphql-transport-ws</code>, with
    <code>Authorization: Bearer …</code>.</li>
  <li><a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a>, <code>/metrics</code> (with a token).</li>
</ul>
<p id="with" hidden>Your token is kept until you close this tab. <button>Forget it</button></p>
<script>${KEEP_TOKEN}
function show() {
  const has = sessionStorage.getItem(TOKEN) !== null
  document.getElementById('with').hidden = !has
  document.getElementById('without').hidden = has
}
show()
document.querySelector('button').addEventListener('click', () => {
  sessionStorage.removeItem(TOKEN)
  show()
})
addEventListener('hashchange', () => {
  if (keepToken()) show()
})
</script>
</html>
`

export const landingPage: Page = { body: Buffer.from(HTML), headers: headersOf(HTML) }
