import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Repository } from '../../src/families/pipelines/agents/runtime/runtime.ts'
import { type GitServer, gitServer } from '../testkit/git-server.ts'
import { soak } from '../testkit/soak.ts'
import { until } from '../testkit/wait.ts'
import { type Conformance, kill, runAway, runToEnd } from './conformance.ts'
import { CLONE_HOSTS, clonesFrom, type Place, workload } from './place.ts'

/** The behaviour of every runtime with clones, and with files whose content is a secret. */

const of = (url: string, more: Partial<Repository> = {}): Repository => ({
  ...{ url, ref: null, depth: 1, path: null, credentials: null, problem: null },
  ...more,
})

const serve = (at: Place, credentials?: string): Promise<GitServer> =>
  gitServer({ ...(at.gitAddress ? { address: at.gitAddress } : {}), ...(credentials ? { credentials } : {}) })

export function cloneConformance({ openPlace, isSlow = false }: Conformance): void {
  const testIfFast = test.runIf(!isSlow || soak(false, true))

  test('a repository is cloned before the command, and its commit is told', async () => {
    await using at = await openPlace()
    await using server = await serve(at)
    const repository = server.create('app')
    const run = { mode: '100755', content: '#!/bin/sh\ncat deep/file; cat link; echo; ls -a\n' }
    const files = { 'run.sh': run, 'deep/file': 'built\n', link: { mode: '120000', content: 'deep/file' } }
    const commit = repository.commit(files)
    const runtime = await at.open({ clone: clonesFrom(server.host) })
    const one = workload(at, './run.sh', { clone: of(repository.url), files: [{ path: 'more', content: 'x' }] })
    const { lines, end, commits } = await runToEnd(runtime, one)
    expect(end, lines.join('\n')).toEqual({ how: 'EXITED', exitCode: 0, signal: null, commit })
    // One that ends at once may have ended before it was seen to run.
    expect(commits.filter((told) => told !== commit)).toEqual([])
    expect(lines.slice(0, 2)).toEqual(['STDOUT built', 'STDOUT built'])
    expect(lines).toEqual(expect.arrayContaining(['STDOUT .git', 'STDOUT more']))
    await runtime.remove(one.id, null)
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  })

  testIfFast(
    'a branch, a tag or a commit is cloned into a folder of its own, with as much history as it should have',
    async () => {
      await using at = await openPlace()
      await using server = await serve(at)
      const repository = server.create('app')
      const old = repository.commit({ file: 'old' })
      const tree = repository.git(['rev-parse', `${old}^{tree}`])
      const next = repository.git(['commit-tree', '-m', 'next', '-p', old, tree])
      repository.git(['update-ref', 'refs/heads/team/next', next])
      repository.git(['tag', '-a', '-m', 'one', 'v1', old])
      const runtime = await at.open({ clone: clonesFrom(server.host) })
      const commitOf = async (more: Partial<Repository>) => {
        const one = workload(at, 'ls; cat deep/app/.git/shallow', {
          clone: of(repository.url, { path: 'deep/app', ...more }),
        })
        const { lines, end } = await runToEnd(runtime, one)
        // Its two streams may arrive in either order.
        expect(lines).toContain('STDOUT deep')
        const commit = end?.how === 'EXITED' ? end.commit : null
        return { commit, isShallow: lines.includes(`STDOUT ${commit}`) }
      }
      expect(await commitOf({ ref: 'team/next' })).toEqual({ commit: next, isShallow: true })
      expect(await commitOf({ ref: 'team/next', depth: 0 })).toEqual({ commit: next, isShallow: false })
      expect(await commitOf({ ref: 'refs/heads/main' })).toMatchObject({ commit: old })
      expect(await commitOf({ ref: 'v1' })).toMatchObject({ commit: old })
      expect(await commitOf({ ref: old })).toMatchObject({ commit: old })
    },
  )

  test('the credentials of a repository reach its server, and nothing else', async () => {
    await using at = await openPlace()
    await using server = await serve(at, 'robot:marker+of/the token')
    const repository = server.create('private')
    const commit = repository.commit({ file: 'x' })
    const runtime = await at.open({ clone: clonesFrom(server.host) })
    const script =
      'env; cat .git/config; ls -a .git /tmp; cat /proc/*/environ /proc/*/cmdline 2> /dev/null; echo; echo all is "" said; sleep 1000'
    const one = workload(at, script, { clone: of(repository.url, { credentials: 'robot:marker+of/the token\n' }) })
    await runtime.start(one, 'receipt')
    const lines: string[] = []
    const commits: unknown[] = []
    const watching = runtime.watch(one.id, {
      signal: new AbortController().signal,
      onRunning: (found) => commits.push(found),
      onLine: (_, text) => lines.push(text),
    })
    await until(() => lines.includes('all is  said'), { what: 'all is printed' })
    expect(commits).toEqual([commit])
    expect(lines.join('\n')).toContain('url = ')
    expect(lines.join('\n')).not.toMatch(/marker|of%2Fthe/)
    expect(await at.describe(one.id)).not.toMatch(/marker|of%2Fthe/)
    expect(openedByAnybody()).not.toMatch(/marker\+of|of%2Fthe/)
    await runtime.remove(one.id, null)
    await watching
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
  })

  const refusals: readonly [string, Partial<Repository>, RegExp][] = [
    ['a ref that is not there', { ref: 'no-such-branch' }, /no-such-branch: it has no such ref/],
    ['a ref that is an option', { ref: '--upload-pack=touch /tmp/pwned' }, /must be a branch/],
    ['a repository that is not there', { url: '/other' }, /no such repository/],
    ['credentials that are wrong', { url: '/private', credentials: 'robot:marker' }, /wrong or missing/],
    ['a host that its runtime does not name', { url: 'https://example.com/app' }, /does not clone/],
    ['a protocol that runs programs', { url: 'ext::sh -c touch% /tmp/pwned' }, /does not clone/],
    ['what the server knows of', { problem: 'The project has no secret X.' }, /no secret X/],
  ]
  test.each(isSlow ? refusals.slice(0, 1) : refusals)(
    'it is not started with a clone of %s, and says why',
    async (_, more, message) => {
      await using at = await openPlace()
      await using server = await serve(at)
      await using closed = await serve(at, 'robot:right')
      server.create('app').commit({ file: 'x' })
      closed.create('private').commit({ file: 'x' })
      const runtime = await at.open({ clone: clonesFrom(server.host, closed.host) })
      const { url = '/app' } = more
      const whole = url.startsWith('/') ? `${url === '/private' ? closed.host : server.host}${url}` : url
      const one = workload(at, 'true', { clone: of(whole, { ...more, url: whole }) })
      const { end } = await runToEnd(runtime, one)
      expect(end).toMatchObject({ how: 'NOT_STARTED', code: 'CLONE_FAILED', message: expect.stringMatching(message) })
      expect(JSON.stringify(end)).not.toContain('marker')
      await runtime.remove(one.id, null)
      await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
    },
  )

  testIfFast('a hostile repository runs nothing, and leads nowhere', async () => {
    await using at = await openPlace()
    await using server = await serve(at)
    const repository = server.create('hostile')
    const outside = { mode: '120000', content: '/tmp' }
    repository.commit({
      '.gitattributes': '* filter=evil diff=evil merge=evil\n*.big filter=lfs\n',
      '.gitmodules': `[submodule "sub"]\n\tpath = sub\n\turl = ${server.host}/secret\n`,
      '.lfsconfig': `[lfs]\n\turl = ${server.host}/lfs\n`,
      'a.big': 'version https://git-lfs.github.com/spec/v1\n',
      sub: { mode: '160000', content: '1'.repeat(40) },
      out: outside,
      'hooks/post-checkout': { mode: '100755', content: '#!/bin/sh\ntouch /tmp/pwned\n' },
      file: 'plain\n',
    })
    const runtime = await at.open({ clone: clonesFrom(server.host) })
    const one = workload(at, 'cat file a.big; ls sub; ls .git/hooks 2> /dev/null; true', { clone: of(repository.url) })
    const { lines, end } = await runToEnd(runtime, one)
    expect(end).toMatchObject({ exitCode: 0 })
    expect(lines).toEqual(['STDOUT plain', 'STDOUT version https://git-lfs.github.com/spec/v1'])
    expect(server.requests.filter((path) => !path.startsWith('/hostile/'))).toEqual([])
    expect(readdirSync('/tmp')).not.toContain('pwned')
    // A file of the spec below a link of the repository stays in the workload's own world.
    const through = workload(at, 'true', { clone: of(repository.url), files: [{ path: 'out/pwned', content: 'x' }] })
    await runToEnd(runtime, through)
    expect(readdirSync('/tmp')).not.toContain('pwned')
  })

  testIfFast('a server that sends elsewhere is not followed', async () => {
    await using at = await openPlace()
    await using server = await serve(at)
    await using elsewhere = await serve(at)
    elsewhere.create('app').commit({ file: 'x' })
    server.answer((request, response) => response.writeHead(302, { location: `${elsewhere.host}${request.url}` }).end())
    const runtime = await at.open({ clone: clonesFrom(server.host) })
    const one = workload(at, 'true', { clone: of(`${server.host}/app`, { credentials: 'robot:marker' }) })
    expect((await runToEnd(runtime, one)).end).toMatchObject({ message: expect.stringMatching(/redirects/) })
    expect(elsewhere.requests).toEqual([])
  })

  testIfFast(
    'a repository that is too large, by its pack, its files or its trees, is given up',
    async () => {
      await using at = await openPlace()
      await using server = await serve(at)
      const runtime = await at.open({ clone: { ...clonesFrom(server.host), maxBytes: 4 * 1024 ** 2, seconds: 10 } })
      const random = Array.from({ length: 700_000 }, (_, i) => (i * 2_654_435_761) % 4_294_967_296).join('\n')
      const large = server.create('large')
      large.commit({ file: random })
      const files = server.create('files')
      files.commit(Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`f${i}`, `${i}`.repeat(500_000)])))
      const bomb = server.create('bomb')
      let entry = `100644 blob ${bomb.git(['hash-object', '-w', '--stdin'], 'x')}`
      for (let level = 0; level < 9; level += 1) {
        const lines = Array.from({ length: 10 }, (_, i) => `${entry}\t${i}\n`).join('')
        entry = `040000 tree ${bomb.git(['mktree'], lines)}`
      }
      bomb.git(['update-ref', 'refs/heads/main', bomb.git(['commit-tree', '-m', 'bomb', entry.split(' ')[2] ?? ''])])
      for (const { url } of [large, files, bomb]) {
        const one = workload(at, 'true', { clone: of(url) })
        const { end } = await runToEnd(runtime, one)
        expect(end).toMatchObject({ code: 'CLONE_FAILED', message: expect.stringMatching(/larger|longer|memory/) })
        await runtime.remove(one.id, null)
      }
      await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
    },
    120_000,
  )

  testIfFast('a clone that is stopped, or whose runtime is killed, leaves nothing', async () => {
    await using at = await openPlace()
    await using server = await serve(at)
    const repository = server.create('app')
    repository.commit({ file: 'x' })
    // The server never ends its answer.
    server.answer((_, response) => response.writeHead(200, { 'content-type': 'text/plain' }).write('0'))
    const runtime = await at.open({ clone: clonesFrom(server.host) })
    const stopping = new AbortController()
    const one = workload(at, 'true', { clone: of(repository.url, { credentials: 'robot:marker' }) })
    const starting = runtime.start(one, 'receipt', stopping.signal)
    await until(() => server.requests.length > 0, { what: 'the clone asks' })
    stopping.abort()
    // The clone of a pod is part of it, and goes with it.
    if (at.gitAddress) await starting
    else await expect(starting).rejects.toThrow()
    await runtime.remove(one.id, null)
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })

    await at.close()
    process.env[CLONE_HOSTS] = server.host
    try {
      const asked = server.requests.length
      const killed = runAway(at, one)
      await until(() => server.requests.length > asked, { what: 'the next clone asks' })
      await kill(killed.child)
    } finally {
      delete process.env[CLONE_HOSTS]
    }
    const next = await at.open({ clone: clonesFrom(server.host) })
    if (at.gitAddress) await next.remove(one.id, null)
    await until(() => !processesWith(server.host), { what: 'no process of Git is left' })
    server.answer(null)
    expect(await next.list()).toEqual([])
    await until(async () => (await at.leftovers()).length === 0, { what: 'nothing is left' })
    expect((await runToEnd(next, one)).end).toMatchObject({ exitCode: 0 })
  })

  test('a file whose content is a secret is no variable, and not in its folder', async () => {
    await using at = await openPlace()
    const runtime = await at.open()
    const script = 'cat deep/.npmrc; echo; env; cat "$PHASELINE_SECRETS/OTHER"'
    const one = workload(at, script, {
      secrets: { NPMRC: 'token=marker', OTHER: 'another' },
      files: [{ path: 'deep/.npmrc', content: '', secret: 'NPMRC' }],
    })
    const { lines, end } = await runToEnd(runtime, one)
    expect(end, lines.join('\n')).toMatchObject({ exitCode: 0 })
    expect(lines[0]).toBe('STDOUT ***')
    expect(lines.at(-1)).toBe('STDOUT ***')
    expect(lines.join('\n')).not.toMatch(/NPMRC|marker/)
    const without = workload(at, 'true', { files: [{ path: 'x', content: '', secret: 'NPMRC' }] })
    const refused = await runToEnd(runtime, without)
    expect(refused.end).toMatchObject({ how: 'NOT_STARTED', message: expect.stringContaining('no secret NPMRC') })
  })
}

/** Arguments and environments of all processes of this machine. */
const openedByAnybody = (): string =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => ['cmdline', 'environ'].map((name) => read(`/proc/${pid}/${name}`)))
    .join('\n')

const processesWith = (text: string): boolean =>
  readdirSync('/proc').some(
    (pid) =>
      /^\d+$/.test(pid) && /git/.test(read(`/proc/${pid}/cmdline`)) && read(`/proc/${pid}/cmdline`).includes(text),
  )

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
