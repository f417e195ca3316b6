import { type ChildProcess, execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A Git server on this machine: the `git http-backend` of this machine behind a small server. */
export interface GitServer extends AsyncDisposable {
  /** As `--clone-hosts` names it. */
  readonly host: string
  /** Makes an empty repository. */
  create(name: string): Repository
  /** Answers requests from now on with this; null: as Git does. */
  answer(how: ((request: IncomingMessage, response: ServerResponse) => void) | null): void
  /** Paths of all requests. */
  readonly requests: readonly string[]
  /** The value of each `Authorization` header. */
  readonly authorizations: readonly string[]
}
export interface Repository {
  readonly url: string
  readonly folder: string
  /** Runs Git in it, and returns what it prints. */
  git(args: readonly string[], input?: string | Buffer): string
  /** Commits files, with a mode such as 120000 for a link, on a branch, without history. Returns the commit. */
  commit(
    files: Readonly<Record<string, string | { readonly mode: string; readonly content: string }>>,
    branch?: string,
  ): string
}

export interface GitServerOptions {
  /** The address under which clients reach it; another one than loopback may come and go with them. */
  readonly address?: string
  /** `user:password` that it asks for. */
  readonly credentials?: string
}

const { answerGit } = (await import(join(import.meta.dirname, '../../examples/lib/git-http.mjs'))) as {
  answerGit(folder: string, env: object, request: IncomingMessage, response: ServerResponse): ChildProcess
}
const LOOPBACK = '127.0.0.1'
const ENV = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  ...{ GIT_AUTHOR_NAME: 'test', GIT_AUTHOR_EMAIL: 'test@example.com' },
  ...{ GIT_COMMITTER_NAME: 'test', GIT_COMMITTER_EMAIL: 'test@example.com' },
}

export async function gitServer({ address = LOOPBACK, credentials }: GitServerOptions = {}): Promise<GitServer> {
  const root = await mkdtemp(join(tmpdir(), 'phaseline-git-'))
  const requests: string[] = []
  const authorizations: string[] = []
  const running = new Set<ChildProcess>()
  let answer: ((request: IncomingMessage, response: ServerResponse) => void) | null = null
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    const { authorization } = request.headers
    if (authorization) authorizations.push(authorization)
    const expected = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`
    if (expected && authorization !== expected)
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('who are you?')
    if (answer) return answer(request, response)
    running.add(answerGit(root, ENV, request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, address === LOOPBACK ? LOOPBACK : '0.0.0.0', resolve))
  const { port } = server.address() as AddressInfo
  const host = `http://${address}:${port}`
  return {
    ...{ host, requests, authorizations },
    answer(how) {
      answer = how
    },
    create: (name) => repositoryIn(join(root, name), `${host}/${name}`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      for (const child of running) child.kill('SIGKILL')
      await rm(root, { recursive: true, force: true })
    },
  }
}

function repositoryIn(folder: string, url: string): Repository {
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', folder], { env: ENV })
  const git = (args: readonly string[], input: string | Buffer = ''): string =>
    execFileSync('git', ['-C', folder, ...args], { env: ENV, input, encoding: 'utf8', maxBuffer: 2 ** 28 }).trim()
  return {
    ...{ url, folder, git },
    commit(files, branch = 'main') {
      const entries = Object.entries(files).map(([path, file]) => {
        const { mode, content } = typeof file === 'string' ? { mode: '100644', content: file } : file
        const id = mode === '160000' ? content : git(['hash-object', '-w', '--stdin'], content)
        return `${mode} ${id}\t${path}\n`
      })
      const index = { ...ENV, GIT_INDEX_FILE: join(folder, 'test-index') }
      const inIndex = (args: readonly string[], input = ''): string =>
        execFileSync('git', ['-C', folder, ...args], { env: index, input, encoding: 'utf8' }).trim()
      inIndex(['read-tree', '--empty'])
      inIndex(['update-index', '--index-info'], entries.join(''))
      const commit = git(['commit-tree', '-m', 'test', inIndex(['write-tree'])])
      git(['update-ref', `refs/heads/${branch}`, commit])
      return commit
    },
  }
}
