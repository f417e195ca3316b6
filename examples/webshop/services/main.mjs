import { readFile, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { HttpError } from '../lib/http.mjs'

/**
 * The process of one service: `node main.mjs <name>`. It listens on loopback only, says where in its port file, and
 * ends by itself when the state folder does not name it any more.
 */
const { instance, port, settings, identity, portFile } = JSON.parse(process.env.SERVICE ?? '{}')
const name = process.argv[2]
const MAX_BODY = 64 * 1024
const LOOK_MS = 1_000

const { createService } = await import(`./${name}.mjs`)
const service = await createService(settings)

const server = createServer(async (request, response) => {
  try {
    await handle(request, response)
  } catch (error) {
    const status = error instanceof HttpError ? error.status : 500
    if (status === 500) process.stderr.write(`${request.method} ${request.url}: ${error.stack}\n`)
    if (!response.headersSent) sendJson(response, status, { error: error.message })
    else response.destroy()
  }
})

async function handle(request, response) {
  const { host = '' } = request.headers
  // A page of another origin whose name resolves to this machine must not reach it.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host)) throw new HttpError(403, 'This is for this machine only.')
  const url = new URL(request.url ?? '/', `http://${host}`)
  if (url.pathname === '/healthz')
    return sendJson(response, 200, { name, instance, upMs: Math.round(performance.now()) })
  const body = request.method === 'GET' ? undefined : await readJsonBody(request)
  const answer = await service({ method: request.method ?? 'GET', path: url.pathname, query: url.searchParams, body })
  if (answer === undefined) throw new HttpError(404, 'There is no such thing.')
  if (answer?.type === undefined) return sendJson(response, 200, answer)
  response.writeHead(200, { 'content-type': answer.type, 'x-content-type-options': 'nosniff', ...answer.headers })
  response.end(answer.content)
}

function sendJson(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' })
  response.end(JSON.stringify(value))
}

async function readJsonBody(request) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BODY) throw new HttpError(413, 'That is too much.')
    chunks.push(chunk)
  }
  if (size === 0) return undefined
  // Forms of other origins cannot send this type.
  if (!request.headers['content-type']?.startsWith('application/json')) throw new HttpError(415, 'JSON only.')
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    throw new HttpError(400, 'This is not JSON.')
  }
}

const listen = (wanted) =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(wanted, '127.0.0.1', () => resolve(server.address().port))
  })

async function isWanted() {
  try {
    return JSON.parse(await readFile(identity, 'utf8')).instance === instance
  } catch {
    return false
  }
}

// The port that it had before, unless another process has it by now.
const listening = await listen(port).catch(() => listen(0))
for (let waited = 0; waited < 2_000 && !(await isWanted()); waited += 20) await new Promise((r) => setTimeout(r, 20))
if (!(await isWanted())) process.exit(0)
await writeFile(`${portFile}.tmp`, JSON.stringify({ port: listening, instance }), { mode: 0o600 })
await rename(`${portFile}.tmp`, portFile)

setInterval(async () => {
  if (!(await isWanted())) process.exit(0)
}, LOOK_MS)
process.once('SIGTERM', () => {
  server.close(() => process.exit(0))
  server.closeIdleConnections()
  setTimeout(() => process.exit(0), 500)
})
