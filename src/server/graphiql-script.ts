import { KEEP_TOKEN } from './page.ts'

/** What GraphiQL gets beside what is in the package. */

/** Asks for a token whenever the server wants one. What is typed into the headers editor goes first. */
export const DIALOG = String.raw`<style>
  #token { border: 0; border-radius: 8px; padding: 1.5rem 2rem; box-shadow: 0 4px 32px #0006; font: 16px/1.5 system-ui, sans-serif; max-width: 28rem; }
  #token::backdrop { background: #0004; }
  #token h2 { margin: 0 0 .5rem; font-size: 1.2rem; }
  #token form { display: flex; gap: .5rem; margin-top: 1rem; }
  #token input { flex: 1; font: inherit; padding: .3rem .5rem; min-width: 0; }
  #token button { font: inherit; padding: .3rem .8rem; }
  @media (max-width: 700px) {
    .graphiql-container #graphiql-session { flex-direction: column; min-height: 0; }
    #graphiql-session > .graphiql-editors, #graphiql-session > .graphiql-response { min-height: 0; overflow: hidden; }
    .graphiql-container .graphiql-sidebar { padding: 4px; width: auto; }
    .graphiql-container .graphiql-sessions { margin: 4px; margin-left: 0; }
    #graphiql-session > .graphiql-horizontal-drag-bar, .graphiql-container .graphiql-logo { display: none; }
    .graphiql-container .graphiql-query-editor { padding: 8px; }
  }
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

export const SCRIPT = `${KEEP_TOKEN}
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

// A socket has no headers: the token goes along when it is opened. Those of the editor go first here, too.
let headersText = ''
function connectionParams() {
  const token = sessionStorage.getItem(TOKEN)
  return { ...(token ? { authorization: 'Bearer ' + token } : {}), ...typedHeaders() }
}
function typedHeaders() {
  try {
    return Object.fromEntries(Object.entries(JSON.parse(headersText)).map(([name, value]) => [name.toLowerCase(), value]))
  } catch {
    return {}
  }
}
function noteTab({ tabs, activeTabIndex }) {
  headersText = tabs[activeTabIndex]?.headers ?? ''
}

// Light or dark as the dashboard; what is typed is kept when the page is loaded again for it.
const THEME = 'phaseline-theme'
addEventListener('storage', ({ key }) => {
  if (key === THEME) setTimeout(() => location.reload(), KEPT_MS)
})
// What is typed is stored by GraphiQL so much later.
const KEPT_MS = 700

// The dashboard gives examples: each in a tab of its own, as if somebody had pasted it there.
addEventListener('message', ({ origin, source, data }) => {
  if (origin === location.origin && source === parent && typeof data?.operation === 'string') openTab(data.operation)
})
async function openTab(operation) {
  const add = await found(() => document.querySelector('.graphiql-tab-add'))
  add?.click()
  // Never over what somebody has typed: only into a tab that is empty.
  const input = add && (await found(() => shownText() === '' && document.querySelector(EDITOR + ' textarea')))
  if (!input) return setTimeout(() => location.replace('?query=' + encodeURIComponent(operation)), KEPT_MS)
  const clipboardData = new DataTransfer()
  clipboardData.setData('text/plain', operation)
  input.focus()
  input.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
}
const EDITOR = '.graphiql-query-editor .monaco-editor'
const shownText = () => document.querySelector(EDITOR + ' .view-lines')?.textContent.trim()
async function found(find) {
  const end = performance.now() + FOUND_WITHIN_MS
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    const one = find()
    if (one || performance.now() > end) return one || null
  }
}
const FOUND_WITHIN_MS = 5_000
`

/** Options that are no plain data. */
export const LIVE_OPTIONS =
  "{ connectionParams, onTabChange: noteTab, onEditHeaders: (text) => { headersText = text }, forcedTheme: localStorage.getItem(THEME) ?? 'system' }"
