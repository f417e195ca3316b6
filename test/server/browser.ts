import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'

/** Debian's chromium, spoken to in its own protocol. */
export interface Browser extends AsyncDisposable {
  open(url: string): Promise<Page>
}
export interface Page {
  evaluate<T>(expression: string): Promise<T>
  /** Addresses that it asked for. */
  requests(): readonly string[]
  /** Uncaught errors, and what its content security policy has refused. */
  problems(): readonly string[]
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: any
  readonly result?: any
  readonly error?: { readonly message: string }
  readonly sessionId?: string
}

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  '--remote-debugging-port=0',
]

const HINT = 'The tests need chromium. Install it, e.g.: sudo apt-get install -y chromium'

/** Installs it where that can be done; fails with the one line to run elsewhere. Nothing is skipped. */
function ensureChromium(): void {
  if (spawnSync('chromium', ['--version', '--no-sandbox']).status === 0) return
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) throw new Error(HINT)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('apt-get', ['update'], { stdio: 'ignore', env })
  const { status } = spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], {
    stdio: 'ignore',
    env,
  })
  if (status !== 0) throw new Error(HINT)
}

export async function openBrowser(): Promise<Browser> {
  ensureChromium()
  const data = await mkdtemp(join(tmpdir(), 'phaseline-chromium-'))
  const child = spawn('chromium', [...FLAGS, `--user-data-dir=${data}`], { stdio: ['ignore', 'ignore', 'pipe'] })
  const endpoint = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.once('error', () => reject(new Error(HINT)))
    child.once('exit', (code) => reject(new Error(`chromium ended with ${code}: ${output}`)))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const [, found] = /DevTools listening on (ws:\S+)/.exec(output) ?? []
      if (found) resolve(found)
    })
  })
  const socket = new WebSocket(endpoint, { maxPayload: 256 * 1024 * 1024 })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const waiting = new Map<number, (message: Message) => void>()
  const listeners = new Set<(message: Message) => void>()
  socket.on('message', (raw) => {
    const message = JSON.parse(String(raw)) as Message
    if (message.id === undefined) for (const listener of listeners) listener(message)
    else waiting.get(message.id)?.(message)
  })
  let last = 0
  const send = (method: string, params: object = {}, sessionId?: string): Promise<any> =>
    new Promise((resolve, reject) => {
      const id = ++last
      waiting.set(id, ({ result, error }) => {
        waiting.delete(id)
        if (error) reject(new Error(`${method}: ${error.message}`))
        else resolve(result)
      })
      socket.send(JSON.stringify({ id, method, params, sessionId }))
    })

  return {
    async open(url) {
      const { targetId } = await send('Target.createTarget', { url: 'about:blank' })
      const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true })
      const requests: string[] = []
      const problems: string[] = []
      listeners.add(({ method, params, sessionId: from }) => {
        if (from !== sessionId) return
        if (method === 'Network.requestWillBeSent') requests.push(params.request.url)
        if (method === 'Runtime.exceptionThrown')
          problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text)
        if (method === 'Log.entryAdded' && params.entry.level === 'error') problems.push(params.entry.text)
      })
      for (const domain of ['Network', 'Runtime', 'Log', 'Page']) await send(`${domain}.enable`, {}, sessionId)
      await send('Page.navigate', { url }, sessionId)
      return {
        async evaluate(expression) {
          const { result, exceptionDetails } = await send(
            'Runtime.evaluate',
            { expression, returnByValue: true },
            sessionId,
          )
          if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
          return result.value
        },
        requests: () => requests,
        problems: () => problems,
      }
    },
    async [Symbol.asyncDispose]() {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      socket.close()
      child.kill('SIGTERM')
      await gone
      await rm(data, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
