import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { renderGraphiQL } from '@graphql-yoga/render-graphiql'
import { EXAMPLE } from './graphiql-example.ts'
import { headersOf, ICON, KEEP_TOKEN, MARK, type Page } from './page.ts'

/** GraphiQL from the package, with nothing from a CDN: 9 MB of HTML, rendered and compressed once, when first asked for. */

const OPTIONS = {
  title: 'Phaseline',
  logo: MARK,
  favicon: ICON,
  endpoint: '/graphql',
  // By POST also what streams: an address has room for short queries only, and is written into logs on its way.
  method: 'POST',
  // They go into local storage, which outlives the tab; the token has a better place.
  shouldPersistHeaders: false,
} as const

/** Asks for a token whenever the server wants one. What is typed into the headers editor goes first. */
const DIALOG = String.raw`<style>
  #token { border: 0; border-radius: 8px; padding: 1.5rem 2rem; box-shadow: 0 4px 32px #0006; font: 16px/1.5 system-ui, sans-serif; max-width: 28rem; }
  #token::backdrop { background: #0004; }
  #token h2 { margin: 0 0 .5rem; font-size: 1.2rem; }
  #token form { display: flex; gap: .5rem; margin-top: 1rem; }
  #token input { flex: 1; font: inherit; padding: .3rem .5rem; min-width: 0; }
  #token button { font: inherit; padding: .3rem .8rem; }
</style>
<dialog id="token" aria-labelledby="token-title">
  <h2 id="token-title">Your token, please</h2>
  <div id="token-why"></div>
  <form>
    <input type="password" aria-label="Token" autocomplete="off" required autofocus
      pattern="\s*[A-Za-z0-9_.~+\/=\-]{1,512}\s*" title="the token alone: letters, digits and . _ ~ + / = -">
    <button>Use it</button>
  </form>
</dialog>
`

const WITH_TOKEN = `${KEEP_TOKEN}
addEventListener('hashchange', () => {
  if (keepToken()) location.reload()
})
const dialog = document.getElementById('token')
dialog.querySelector('form').addEventListener('submit', (event) => {
  event.preventDefault()
  sessionStorage.setItem(TOKEN, dialog.querySelector('input').value.trim())
  location.reload()
})
const plainFetch = fetch
globalThis.fetch = async (address, init) => {
  const token = sessionStorage.getItem(TOKEN)
  const headers = new Headers(init?.headers)
  const own = headers.has('authorization')
  if (token && !own) headers.set('authorization', 'Bearer ' + token)
  const answer = await plainFetch(address, { ...init, headers })
  if (answer.status === 401 && !own && !dialog.open) {
    document.getElementById('token-why').textContent = token
      ? 'The server does not accept the one it was given.'
      : 'It is in the link that the server prints when it starts, or in PHASELINE_TOKEN. It is kept until you close this tab.'
    dialog.showModal()
  }
  return answer
}
// Without one it would open an empty tab on every second visit.
function startQuery(example) {
  return new URLSearchParams(location.search).get('query') || localStorage.getItem('graphiql:query') || example
}
`

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
    WITH_TOKEN,
    html.slice(start + script.length, at),
    `{ ...${options}, query: startQuery(${JSON.stringify(EXAMPLE)}) }`,
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
    headers: { ...headersOf(html, { scripts: 'blob:', more }), 'content-encoding': 'gzip' },
  }
}
