import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { type GitServer, gitServer, type Repository } from '../testkit/git-server.ts'
import { gql } from '../testkit/gql.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { type CommandLine, commandLine, documents } from './command.ts'

const CREDENTIALS = 'robot:the-password-of-the-robot'

let stack: AsyncDisposableStack
let server: ReachableServer
let hub: GitServer
let phaseline: CommandLine
/** The folder for temporary files of followers that are processes of their own. */
let temporary: string

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  server = stack.use(await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } }))
  hub = stack.use(await gitServer({ credentials: CREDENTIALS }))
  temporary = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-sync-')), (path) => rm(path, { recursive: true }))
  phaseline = commandLine({
    ...{ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token, TMPDIR: temporary },
    ...{ PHASELINE_GIT_CREDENTIALS: CREDENTIALS, LEAKED: 'a-secret-of-the-agent' },
  })
})
afterAll(async () => {
  expect(phaseline.transcript()).not.toMatch(/password-of-the-robot|secret-of-the-agent/)
  await stack.disposeAsync()
})

const installation = (name: string, value: string, more = ''): string =>
  `name: ${name}\nlabels: { from: git }\nspec: { exports: [{ name: ${name}, value: ${value} }] }\n${more}`
const schedule = (name: string, cron = '30 2 * * *'): string =>
  `kind: Schedule\nname: ${name}\nlabels: { from: git }\nwhen: { cron: "${cron}" }\nrun: { createEvent: { source: cron, type: night } }\n`

/** A project, and a repository of it. */
async function prepare(project: string): Promise<{ readonly repository: Repository; readonly line: string }> {
  expect(await phaseline(`project create ${project}`)).toMatchObject({ code: 0 })
  const repository = hub.create(project)
  const line = `git-sync --repository ${repository.url} --clone-hosts ${hub.host} --project ${project} --ref main --path env`
  return { repository, line }
}

interface Seen {
  readonly kind: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly generation: number
}
const LIST = gql(`query Seen($filter: ObjectFilter) {
  objects(filter: $filter, first: 100) { edges { node {
    kind name deletionRequestedAt labels { key value }
    ... on Installation { generation } ... on Schedule { generation }
  } } }
}`)
/** The roots of a project that stay, by name. */
async function objectsOf(project: string): Promise<Readonly<Record<string, Seen>>> {
  const { objects } = await server.client.query<{
    objects: {
      edges: {
        node: Omit<Seen, 'labels'> & { deletionRequestedAt: string | null; labels: { key: string; value: string }[] }
      }[]
    }
  }>(LIST as never, { filter: { project, kinds: ['INSTALLATION', 'SCHEDULE'], rootsOnly: true } } as never)
  return Object.fromEntries(
    objects.edges
      .filter(({ node }) => node.deletionRequestedAt === null)
      .map(({ node }) => [
        node.name,
        { ...node, labels: Object.fromEntries(node.labels.map(({ key, value }) => [key, value])) },
      ]),
  )
}

test('each commit is applied, and only what it changes is written and names it', async () => {
  const { repository, line } = await prepare('pulled')
  const first = repository.commit({
    'env/a.yaml': `${installation('shop', 'red')}---\n${schedule('nightly')}`,
    'env/b.yaml': installation('blog', 'green'),
    'env/deeper/c.yaml': installation('deeper', 'of another folder'),
    'other.yaml': 'nobody: reads this',
  })
  const ran = await phaseline(`${line} --once`)
  expect(ran).toMatchObject({ code: 0, err: '' })
  expect(ran.out.trimEnd().split('\n')).toEqual([
    'pulled/shop created (generation 1)',
    'pulled/blog created (generation 1)',
    expect.stringMatching(/^schedule pulled\/nightly created, now ACTIVE/),
    `commit ${first}: 3 created`,
  ])
  const before = await objectsOf('pulled')
  expect(Object.keys(before).toSorted()).toEqual(['blog', 'nightly', 'shop'])
  for (const { labels } of Object.values(before)) expect(labels).toEqual({ from: 'git', 'git-commit': first })

  const second = repository.commit({
    'env/a.yaml': `${installation('shop', 'blue')}---\n${schedule('nightly')}`,
    'env/b.yaml': installation('blog', 'green'),
  })
  const again = await phaseline(`${line} --once --json`)
  expect(documents(again.out)).toEqual([
    expect.objectContaining({ name: 'shop', action: 'updated', commit: second, drift: false }),
    expect.objectContaining({ name: 'blog', action: 'unchanged' }),
    expect.objectContaining({ name: 'nightly', action: 'unchanged' }),
    expect.objectContaining({ commit: second, created: 0, updated: 1, unchanged: 2, deleted: 0, refused: 0 }),
  ])
  const after = await objectsOf('pulled')
  expect(after.shop).toMatchObject({ generation: 2, labels: { from: 'git', 'git-commit': second } })
  expect({ blog: after.blog, nightly: after.nightly }).toEqual({ blog: before.blog, nightly: before.nightly })

  // No write at all: the audit has none.
  const writes = async () => (await phaseline('audit list --project pulled --json')).out
  const written = await writes()
  expect(await phaseline(`${line} --once`)).toMatchObject({ code: 0, err: '' })
  expect(await writes()).toBe(written)

  repository.git(['tag', '-a', '-m', 'a release', 'v1', first])
  const planned = await phaseline(`${line.replace('--ref main', '--ref v1')} --once --dry-run`)
  expect(planned).toMatchObject({ code: 0, err: '' })
  expect((await objectsOf('pulled')).shop?.generation).toBe(2)
})

test('what has gone is pruned, and nothing while a file cannot be read or an object is refused', async () => {
  const { repository, line } = await prepare('pruned')
  const prune = `${line} --once --prune --selector from=git`
  const all = { 'env/a.yaml': installation('kept', 'red'), 'env/b.yaml': installation('gone', 'green') }
  repository.commit({ ...all, 'env/c.yaml': schedule('tick') })
  expect(await phaseline(prune)).toMatchObject({ code: 0, err: '' })
  expect(await phaseline('apply -f - --project pruned', { stdin: 'name: mine\nspec: {}\n' })).toMatchObject({ code: 0 })

  const broken = repository.commit({
    'env/a.yaml': installation('kept', 'blue'),
    'env/b.yaml': `${installation('other', 'grey')}---\nname: gone\nspecc: {}\n`,
  })
  const refused = await phaseline(prune)
  expect(refused).toMatchObject({ code: 2, err: expect.stringMatching(/env\/b\.yaml:.*specc/s) })
  expect(refused.err).toContain('Nothing is pruned')
  expect(refused.err).not.toContain(tmpdir())
  expect(refused.out.trimEnd().split('\n')).toEqual([
    'pruned/kept updated (generation 2)',
    `commit ${broken}: 1 updated, 1 refused`,
  ])
  expect(Object.keys(await objectsOf('pruned')).toSorted()).toEqual(['gone', 'kept', 'mine', 'tick'])

  // A folder without documents says nothing of what is to go, and neither does one that is not there.
  for (const files of [{ 'env/readme.md': 'text' }, { 'else/a.yaml': installation('kept', 'red') }]) {
    repository.commit(files)
    expect(await phaseline(prune)).toMatchObject({ code: 2 })
  }
  const twice = { 'env/a.yaml': installation('kept', 'red'), 'env/b.yaml': installation('kept', 'green') }
  repository.commit(twice)
  expect(await phaseline(prune)).toMatchObject({ code: 2, err: expect.stringContaining('described at') })
  repository.commit({
    'env/a.yaml': installation('kept', 'blue'),
    'env/d.yaml': 'name: twin\nspec: { exports: [{ name: kept, value: 1 }] }\n',
  })
  expect(await phaseline(prune)).toMatchObject({ code: 2, err: expect.stringContaining('exported by kept already') })
  expect(Object.keys(await objectsOf('pruned')).toSorted()).toEqual(['gone', 'kept', 'mine', 'tick'])

  const mended = repository.commit({ 'env/a.yaml': installation('kept', 'blue') })
  const pruned = await phaseline(prune)
  expect(pruned).toMatchObject({ code: 0, err: '' })
  expect(pruned.out).toContain(`commit ${mended}: 1 unchanged, 2 deleted`)
  await until(
    async () =>
      Object.keys(await objectsOf('pruned'))
        .toSorted()
        .join() === 'kept,mine',
    {
      what: 'only what is described or not selected is left',
    },
  )
})

test('nothing outside of the folder is read, no hidden variable, and no repository that is not permitted', async () => {
  const { repository, line } = await prepare('safe')
  const outside = join(process.env.TMPDIR ?? tmpdir(), `outside-${process.pid}.yaml`)
  await writeFile(outside, installation('outside', 'red'))
  using _ = { [Symbol.dispose]: () => void rm(outside, { force: true }) }
  const link = (content: string) => ({ mode: '120000', content })
  const hook =
    'kind: Hook\nname: leak\nformat: GENERIC\nsignature: { header: X }\nevent: { source: acme, type: push }\n'
  repository.commit({
    'env/good.yaml': installation('good', 'red'),
    'env/link.yaml': link(outside),
    'env/up.yaml': link('../base.yaml'),
    'env/hook.yaml': `${hook}secrets: [{ name: first, env: LEAKED }]\n`,
    'env/inside.yaml': link('good.txt'),
    'env/good.txt': installation('inside', 'red'),
    'base.yaml': installation('base', 'red'),
    away: link(tmpdir()),
    '.gitmodules': '[submodule "x"]\n path = x\n url = http://127.0.0.1:1/x\n',
  })
  const ran = await phaseline(`${line} --once`)
  expect(ran).toMatchObject({ code: 2 })
  for (const said of ['env/link.yaml is a link', 'env/up.yaml is a link', 'LEAKED, which is not set'])
    expect(ran.err).toContain(said)
  expect(Object.keys(await objectsOf('safe')).toSorted()).toEqual(['good', 'inside'])
  for (const path of ['away', '..', '../..']) {
    const refused = await phaseline(`${line.replace('--path env', `--path ${path}`)} --once`)
    expect({ path, code: refused.code, out: refused.out }).toMatchObject({ path, code: 2 })
    expect(Object.keys(await objectsOf('safe')).toSorted()).toEqual(['good', 'inside'])
  }

  for (const [options, message] of [
    [`--repository ${repository.url}`, /--clone-hosts does not permit/],
    ['--repository https://robot:the-password-of-the-robot@example.com/app', /must not hold credentials/],
    [`--repository ${repository.url} --clone-hosts ${hub.host} --ref --upload-pack=x`, /--ref must be/],
    ['--repository file:///etc', /--clone-hosts/],
    [`--repository ${repository.url} --prune`, /--selector/],
    [`--repository ${repository.url} --interval 1ms`, /1s to 24h/],
  ] as const)
    expect(await phaseline(`git-sync ${options} --once`)).toMatchObject({
      code: 2,
      err: expect.stringMatching(message),
    })
  const wrong = await phaseline(`${line} --once`, {
    env: { PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token, PHASELINE_GIT_CREDENTIALS: 'robot:wrong-guess' },
  })
  expect(wrong).toMatchObject({ code: 4, out: '', err: expect.stringContaining('credentials are wrong or missing') })
  expect(wrong.err).not.toContain('wrong-guess')
})

test('a follower heals drift, follows a force-push, outlives an outage and ends in order', async () => {
  const { repository, line } = await prepare('followed')
  const first = repository.commit({ 'env/a.yaml': installation('shop', 'red') })
  await using follower = phaseline.spawn(`${line} --interval 1s --heal 1s --prune --selector from=git`)
  await follower.shows(`commit ${first}: 1 created`)

  const stdin = installation('shop', 'changed-by-hand').replace('from: git', 'from: git, by: hand')
  expect(await phaseline('apply -f - --project followed', { stdin })).toMatchObject({ code: 0 })
  await follower.shows('drift: followed/shop updated (generation 3)')
  await follower.shows(`commit ${first}: 1 updated`)
  expect((await objectsOf('followed')).shop?.labels).toEqual({ from: 'git', 'git-commit': first })

  hub.answer((_, response) => void response.writeHead(503).end())
  await until(() => follower.err().includes('CLONE_FAILED'), { what: 'the repository is away' })
  expect(await phaseline('apply -f - --project followed', { stdin })).toMatchObject({ code: 0 })
  await follower.shows('drift: followed/shop updated (generation 5)')
  // It has no ancestor in common with the first one.
  const second = repository.commit({ 'env/b.yaml': installation('blog', 'green') })
  hub.answer(null)
  await follower.shows(`commit ${second}: 1 created, 1 deleted`)
  await until(async () => Object.keys(await objectsOf('followed')).join() === 'blog', { what: 'the shop is gone' })

  follower.kill('SIGTERM')
  expect(await follower.exit).toBe(0)
  expect(await readdir(temporary)).toEqual([])
})
