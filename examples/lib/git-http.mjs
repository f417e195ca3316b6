import { spawn } from 'node:child_process'
import { createServer } from 'node:http'

/** Git repositories of this machine over HTTP: the `git http-backend` of this machine behind a small server. */

/** Answers a request for a repository below the folder. Returns the process that does so. */
export function answerGit(folder, env, request, response) {
  const { pathname, search } = new URL(request.url ?? '/', 'http://git')
  const child = spawn('git', ['http-backend'], {
    env: {
      ...env,
      ...{ GIT_PROJECT_ROOT: folder, GIT_HTTP_EXPORT_ALL: '1', REQUEST_METHOD: request.method, PATH_INFO: pathname },
      ...{ QUERY_STRING: search.slice(1), CONTENT_TYPE: request.headers['content-type'] ?? '' },
      ...{ HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '' },
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.stdin.on('error', () => {})
  request.pipe(child.stdin)
  let head = Buffer.alloc(0)
  let hasHead = false
  child.stdout.on('data', (chunk) => {
    if (hasHead) return void response.write(chunk)
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    hasHead = true
    const lines = head.subarray(0, end).toString().split('\r\n')
    const { Status: status = '200', ...headers } = Object.fromEntries(lines.map((line) => line.split(': ')))
    response.writeHead(Number.parseInt(status, 10), headers)
    response.write(head.subarray(end + 4))
  })
  child.stdout.on('end', () => response.end())
  return child
}

/** Serves the repositories below a folder on all addresses of this machine, until `end`, an AsyncDisposableStack. Returns the port. */
export async function serveGit(folder, end) {
  const { PATH } = process.env
  const server = createServer((request, response) => answerGit(folder, { PATH }, request, response))
  await new Promise((resolve) => server.listen(0, '0.0.0.0', resolve))
  end.defer(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return server.address().port
}
