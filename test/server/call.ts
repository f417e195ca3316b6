import { request } from 'node:http'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
  json(): any
}

/** One request with exactly these headers: fetch would not let a test choose Host and Origin. */
export function call(
  port: number,
  path: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const { statusCode: status = 0, headers: got } = response
        resolve({ status, headers: got, body: text, json: () => JSON.parse(text) })
      })
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

export const post = (
  port: number,
  token: string | null,
  query: string,
  headers: Record<string, string> = {},
  variables?: object,
) =>
  call(port, '/graphql', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify({ query, variables }),
  })

/** A metric of a server, by its name and its first labels; all series of it together. */
export async function metric({ port }: { readonly port: number }, token: string, name: string): Promise<number> {
  const { body } = await call(port, '/metrics', { headers: { authorization: `Bearer ${token}` } })
  const values = body
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name.slice(0, -1)},`))
    .map((line) => Number(line.slice(line.lastIndexOf(' '))))
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0)
}
/** How many clients a server has refused for a reason, and where it is given, because of whose share. */
export const refusals = (
  server: { readonly port: number },
  token: string,
  reason: string,
  share?: string,
): Promise<number> =>
  metric(server, token, `phaseline_refusals_total{reason="${reason}"${share === undefined ? '' : `,share="${share}"`}}`)
