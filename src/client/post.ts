export interface Posting {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
}
export interface Answer {
  readonly status: number
  readonly text: string
}

/** Sends, and resolves to the whole answer; redirects are not followed. Rejects with what broke, or the signal's reason. */
export function post(posting: Posting, fetch?: typeof globalThis.fetch): Promise<Answer> {
  const http = fetch ? null : node(posting.url)
  return http ? postByNode(posting, http) : postByFetch(posting, fetch ?? globalThis.fetch)
}

type Http = Pick<typeof import('node:http'), 'request'>

/**
 * Node's own client where there is one: `fetch` costs several times as much, and what it leaves behind survives until the
 * whole heap is collected.
 */
function node({ protocol }: URL): Http | null {
  const { process } = globalThis as { process?: NodeJS.Process }
  return process?.getBuiltinModule?.(protocol === 'https:' ? 'node:https' : 'node:http') ?? null
}

async function postByFetch({ url, ...init }: Posting, fetch: typeof globalThis.fetch): Promise<Answer> {
  const response = await fetch(url.href, { ...init, method: 'POST', redirect: 'error' })
  return { status: response.status, text: await response.text() }
}

async function postByNode({ url, headers, body, signal }: Posting, { request }: Http): Promise<Answer> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const sent = request(url, { method: 'POST', headers: { ...headers } })
  const abort = (): void => {
    reject(signal.reason)
    sent.destroy()
  }
  signal.addEventListener('abort', abort)
  sent.on('error', reject)
  sent.on('response', (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      text += chunk
    })
    response.on('error', reject)
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
  })
  sent.end(body)
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
