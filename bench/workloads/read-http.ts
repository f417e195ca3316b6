import { Agent, request } from 'node:http'

/** A request over HTTP, the same one again and again. */
export interface Target {
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
  /** A GraphQL request as text. Absent: a GET of the path. */
  readonly body?: string
  readonly path?: string
}
export interface Load {
  readonly requests: number
  readonly ms: number
}

export const bodyOf = (query: string, variables: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({ query, variables })

/** So many connections, each with one request at a time, for so long. Bodies are read and thrown away. */
export async function load(
  target: Target,
  connections: number,
  ms: number,
  answered: (ms: number) => void = () => {},
): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const since = performance.now()
  let requests = 0
  const work = async (): Promise<void> => {
    while (performance.now() - since < ms) {
      const sentAt = performance.now()
      await send(target, agent, () => {})
      answered(performance.now() - sentAt)
      requests += 1
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
  agent.destroy()
  return { requests, ms: performance.now() - since }
}

/** The answer's data; throws when there is none, or an error with it. */
export async function ask<T>(target: Target): Promise<T> {
  const agent = new Agent({ keepAlive: false })
  const chunks: Buffer[] = []
  await send(target, agent, (chunk) => chunks.push(chunk))
  const { data, errors } = JSON.parse(Buffer.concat(chunks).toString()) as { data?: T; errors?: unknown }
  if (!data || errors) throw new Error(JSON.stringify(errors).slice(0, 1_000))
  return data
}

function send(
  { port, headers, body, path = '/graphql' }: Target,
  agent: Agent,
  onChunk: (chunk: Buffer) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        agent,
        port,
        host: '127.0.0.1',
        path,
        ...(body === undefined
          ? { headers }
          : {
              method: 'POST',
              headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
            }),
      },
      (response) => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`))
        response.on('data', onChunk)
        response.on('end', resolve)
        response.on('error', reject)
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
