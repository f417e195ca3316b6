import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { createTestDatabase, type TestDatabase } from '../testkit/postgres.ts'
import { freePort } from '../testkit/redis.ts'
import { startServer, type TestServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'
import { type CommandLine, commandLine, documents } from './command.ts'

const TOKEN = 'the-command-lines-administrator'
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

let stack: AsyncDisposableStack
let database: TestDatabase
let server: TestServer
let folder: string
let phaseline: CommandLine

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-cli-')), (path) => rm(path, { recursive: true }))
  database = stack.use(await createTestDatabase(2))
  // The server accepts only documents that it knows, so this proves that it knows all of the command line's.
  const env = { DATABASE_URL: database.url, PHASELINE_TRUSTED_DOCUMENTS: 'required' }
  server = stack.use(await startServer({ env, token: TOKEN }))
  phaseline = commandLine(connection())
})
afterAll(() => stack.disposeAsync())

const connection = () => ({ PHASELINE_URL: server.url, PHASELINE_TOKEN: TOKEN })

async function file(name: string, text: string | Buffer): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}
/** One installation with one item of the mock deployer. */
const manifest = (name: string, config: object = {}, more: object = {}): string =>
  JSON.stringify({ name, spec: { deployItems: [{ name: 'item', type: 'mock', config }] }, ...more })
const apply = (text: string, flags = '') => phaseline(`apply -f - ${flags}`.trim(), { stdin: text })

describe('apply', () => {
  const shop = (url: string): string => `
name: shop
labels: { team: web }
spec:
  deployItems:
    - { name: db, type: mock, config: { delayMs: 50, exports: { url: "${url}" } } }
    - { name: api, type: mock, config: { url: "\${deployItems.db.exports.url}" } }
  exports:
    - { name: databaseUrl, value: "\${deployItems.db.exports.url}" }
`
  it('plans, creates, leaves alone and updates, and waits for the job that it asked for', async () => {
    const path = await file('shop.yaml', shop('db://1'))
    for (const command of ['plan', 'apply --dry-run']) {
      const { code, out } = await phaseline(`${command} -f ${path} --json`)
      const [plan] = documents(out)
      expect([code, plan?.action, plan?.steps]).toMatchObject([0, 'create', { length: 4 }])
    }
    expect(await phaseline('get shop')).toMatchObject({ code: 3, err: expect.stringContaining('NOT_FOUND') })

    const created = await phaseline(`apply -f ${path} --wait --json`)
    const [first, ...followed] = documents(created.out)
    expect(created.code).toBe(0)
    expect(first).toEqual({
      ...{ kind: 'Installation', id: expect.stringMatching(UUID), name: 'shop', project: 'default' },
      ...{ phase: 'PROGRESSING', generation: 1, action: 'created' },
    })
    expect(followed.at(-1)).toEqual({ type: 'result', outcome: 'succeeded', phase: 'SUCCEEDED', error: null })
    // Each of the four once: as it was when it was first looked at, however late that is, or as it then changed.
    const { objects } = followed.find(({ type }) => type === 'snapshot') as { objects: { id: string; phase: string }[] }
    const before = objects.filter(({ phase }) => phase === 'SUCCEEDED').map(({ id }) => id)
    const then = followed.flatMap(({ type, to, objectId }) =>
      type === 'phase' && to === 'SUCCEEDED' ? [objectId] : [],
    )
    expect([...before, ...then].toSorted()).toEqual(objects.map(({ id }) => id).toSorted())
    expect(objects).toHaveLength(4)

    expect(await phaseline(`apply -f ${path} --no-reconcile`)).toEqual({
      ...{ code: 0, out: 'shop unchanged (generation 1)\n', err: '' },
    })
    const updated = await phaseline(`apply -f ${await file('shop.yaml', shop('db://2'))} --wait`)
    expect(updated.code).toBe(0)
    expect(updated.out).toContain('shop updated (generation 2)\n')
    expect(updated.out).toMatch(/shop succeeded: 4 ✓ done\n$/)
    const shown = (await phaseline('get shop')).out
    expect(shown).toMatch(/^exports +databaseUrl: db:\/\/2$/m)
    expect(shown).toMatch(/^spec\n {2}exports:\n {4}- name: databaseUrl\n/m)
    const item = (await phaseline('get shop/deploy-items/api')).out
    for (const line of [/^type +mock$/m, /^at +\S+ \S+$/m, /^attempt +1$/m, /^config\n {2}url: \$\{deployItems\.db/m])
      expect(item).toMatch(line)
    const { out } = await phaseline('data list --json')
    expect(documents(out)[0]?.dataObjects).toContainEqual(
      expect.objectContaining({ name: 'databaseUrl', value: 'db://2', exporter: { id: first?.id, name: 'shop' } }),
    )
  })

  it('reports where a file is wrong before anything is sent', async () => {
    const path = await file('wrong.yaml', 'name: wrong\nspec:\n  deployItems:\n    - name: db\n      typo: mock\n')
    const nowhere = { PHASELINE_URL: 'http://127.0.0.1:1/graphql', PHASELINE_TOKEN: TOKEN }
    const { code, out, err } = await phaseline(`apply -f ${path}`, { env: nowhere })
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(`${path}:4:7: spec.deployItems.0.type: `)
    expect(err).toContain(`${path}:5:7: spec.deployItems.0: `)
    expect(await phaseline(`apply -f ${join(folder, 'none.yaml')}`)).toMatchObject({ code: 2 })
  })

  it('takes several files, in their order, and all that is wrong with any of them at once', async () => {
    const a = await file('a.yaml', manifest('of-a'))
    const b = await file('b.yaml', `kind: Project\nname: of-b\n---\n${manifest('in-b')}`)
    const planned = await phaseline(`plan -f ${a} --file ${b} --json`)
    expect(documents(planned.out)).toMatchObject([
      { kind: 'Project', name: 'of-b', action: 'created', dryRun: true },
      { name: 'of-a', action: 'create' },
      { name: 'in-b', action: 'create' },
    ])
    const applied = await phaseline(`apply -f ${a} -f ${b} -f -`, { stdin: manifest('of-stdin') })
    expect(applied).toEqual({
      code: 0,
      out: `project of-b created\n${['of-a', 'in-b', 'of-stdin'].map((name) => `${name} created (generation 1)\n`).join('')}`,
      err: '',
    })

    const nowhere = { PHASELINE_URL: 'http://127.0.0.1:1/graphql', PHASELINE_TOKEN: TOKEN }
    const again = await file(
      'again.yaml',
      `# again\n${manifest('of-a', {}, { project: 'other' })}\n---\n${manifest('of-a')}\n---\nkind: Project\nname: of-b\n`,
    )
    const twice = await phaseline(`apply -f ${a} -f ${b} -f ${again}`, { env: nowhere })
    expect(twice).toMatchObject({ code: 2, out: '' })
    expect(twice.err).toContain(`${again}:4:9: default/of-a is described at ${a}:1:9 already`)
    expect(twice.err).toContain(`${again}:7:7: project of-b is described at ${b}:2:7 already`)
    expect(twice.err).not.toContain('other/of-a')

    const wrong = await file('wrong.yaml', 'name: wrong\n')
    const none = join(folder, 'none.yaml')
    const refused = await phaseline(`apply -f ${wrong} -f ${a} -f ${none} -f ${b}`, { env: nowhere })
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toContain(`${wrong} is not valid. Cannot read ${none}: `)
    expect(refused.err).toContain(`${wrong}:1:1: `)
    expect(await phaseline('apply -f - -f -', { env: nowhere, stdin: manifest('x') })).toMatchObject({
      ...{ code: 2, out: '', err: expect.stringContaining('Standard input') },
    })
    // A command for one value refuses a second one rather than replace the first.
    expect(await phaseline(`data set region -f ${a} -f ${b}`, { env: nowhere })).toMatchObject({
      ...{ code: 2, out: '', err: expect.stringContaining('only one file') },
    })
  })

  it('takes folders and patterns, and several files after one -f', async () => {
    for (const [name, text] of [
      ['env/b.yaml', manifest('env-b')],
      ['env/a.yml', manifest('env-a')],
      ['env/c.json', JSON.stringify({ name: 'env-c', spec: {} })],
      ['env/notes.txt', 'no manifest'],
      ['empty/notes.txt', ''],
    ] as const) {
      await mkdir(join(folder, dirname(name)), { recursive: true })
      await file(name, text)
    }
    const names = async (args: string) =>
      documents((await phaseline(`plan ${args} --json`)).out).map(({ name, error }) => name ?? error)
    const env = join(folder, 'env')
    expect(await names(`-f ${env}`)).toEqual(['env-a', 'env-b', 'env-c'])
    expect(await names(`-f ${env}/*.y*ml`)).toEqual(['env-a', 'env-b'])
    // As a shell passes on a pattern without quotes.
    expect(await names(`-f ${env}/c.json ${env}/b.yaml`)).toEqual(['env-c', 'env-b'])

    const nowhere = { PHASELINE_URL: 'http://127.0.0.1:1/graphql', PHASELINE_TOKEN: TOKEN }
    expect(await phaseline(`apply -f ${env}/*.toml ${join(folder, 'empty')}`, { env: nowhere })).toEqual({
      code: 2,
      out: '',
      err: `INVALID_INPUT: No file matches ${env}/*.toml. ${join(folder, 'empty')} holds no .yaml, .yml or .json file.\n`,
    })
  })

  it('says where in its file the server has found a mistake', async () => {
    const cyclic = 'name: cyclic\nspec:\n  deployItems:\n    - { name: a, type: mock, dependsOn: [a] }\n'
    const path = await file('cyclic.yaml', `${manifest('fine')}\n---\n${cyclic}`)
    for (const command of ['plan', 'apply']) {
      const refused = await phaseline(`${command} -f ${path}`)
      expect([command, refused.code]).toEqual([command, 2])
      expect(refused.err).toMatch(/cyclic\.yaml:\d+:\d+: input\.spec\.deployItems/)
    }
    const task = await file('wrong-task.yaml', 'name: wrong\njobs:\n  - { name: a, gadget: g, dependsOn: [b] }\n')
    expect((await phaseline(`task run -f ${task}`)).err).toMatch(/wrong-task\.yaml:3:\d+: input\.jobs/)
  })

  it('says why the server refuses, and goes on with the other documents', async () => {
    const cyclic = manifest('cyclic', {}).replace('"config"', '"dependsOn":["item"],"config"')
    await apply(manifest('leaving', { deleteDelayMs: 60_000 }), '--wait')
    await phaseline('delete leaving')
    const both = await apply([manifest('leaving', { delayMs: 1 }), manifest('other')].join('\n---\n'), '--json')
    expect(both.code).toBe(3)
    const inTheWay = { kind: 'INSTALLATION', name: 'leaving' }
    expect(documents(both.out)).toMatchObject([
      { error: { code: 'BUSY', object: inTheWay } },
      { name: 'other', action: 'created' },
    ])
    expect(await apply(manifest('foreign', {}, { project: 'nobodys' }))).toMatchObject({ code: 2, out: '' })
    const refused = await apply(cyclic)
    expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining('input.spec.deployItems') })
    expect(refused.err.match(/input\.spec\.deployItems/g)).toHaveLength(1)
  })

  it('keeps an installation from starting again with `ignored`', async () => {
    expect(await apply(manifest('quiet', {}, { ignored: true, description: 'a quiet one' }))).toMatchObject({ code: 0 })
    expect(await phaseline('watch quiet')).toMatchObject({ code: 0 })
    expect((await apply(manifest('quiet', { delayMs: 1 }))).out).toBe('quiet updated (generation 2)\n')
    expect(await phaseline('get quiet')).toMatchObject({
      err: '',
      out: expect.stringMatching(/description +a quiet one.+waits for +ignored: /s),
    })
    expect(await apply(manifest('quiet', { delayMs: 1 }, { ignored: false }), '--wait')).toMatchObject({ code: 0 })
  })
})

describe('a tree that fails', () => {
  it('ends with 1 and names the cause, whoever waits for it', async () => {
    const applied = await apply(manifest('broken', { fail: true }), '--wait')
    expect(applied.code).toBe(1)
    expect(applied.out).toContain('✗ broken/deploy-items/item: MOCK_FAILURE: ')
    expect(applied.out).toMatch(/broken failed: 3 ✗ failed\n$/)
    expect(await phaseline('watch broken')).toMatchObject({ code: 1 })
    expect(await phaseline('reconcile broken --mode force --wait')).toMatchObject({ code: 1 })
    const listed = documents((await phaseline('get --phase failed,aborted --name-contains roke --json')).out)[0]
    expect(listed).toMatchObject({ totalCount: 1, objects: [{ name: 'broken', error: { code: 'CHILDREN_FAILED' } }] })
    const other = documents((await phaseline('get --phase succeeded --name-contains roke --json')).out)[0]
    expect(other).toEqual({ totalCount: 0, objects: [] })
  })
})

describe('a path that the log prints', () => {
  const spec = { deployItems: ['first', 'second'].map((name) => ({ name, type: 'mock', config: { fail: true } })) }
  it('is found by get, without its kind', async () => {
    expect(await apply(JSON.stringify({ name: 'failing', spec }), '--wait')).toMatchObject({ code: 1 })
    const { out } = await phaseline('log failing --to failed --kinds deploy-item')
    const path = /default\/failing\/deploy-items\/second/.exec(out)?.[0] ?? ''
    expect(await phaseline(`get ${path}`)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^kind +deploy item$/m),
    })
    expect((await phaseline('get failing/deploy-items/second')).out).toMatch(/^phase +✗ FAILED/m)
    expect((await phaseline('get failing/deploy-items')).out).toMatch(/^path +failing\/deploy-items$/m)
  })

  it('is suggested for one that leads nowhere', async () => {
    const err = async (path: string): Promise<string> => (await phaseline(`get ${path}`)).err
    expect(await err('failing/second')).toContain('Did you mean failing/deploy-items/second?')
    expect(await err('default/second')).toContain('Did you mean failing/deploy-items/second?')
    expect(await err('failing/deploy-items/secnd')).toContain('Did you mean failing/deploy-items/second?')
    expect(await err('faling')).toContain('Did you mean failing?')
    expect(await err('secnod')).toContain('Did you mean failing/deploy-items/second?')
    expect(await err('nothing-like-it')).toMatch(/There is no object nothing-like-it that you may read\.\n$/)
    // A habit from elsewhere: a kind, or a project, stands where a name is expected.
    expect(await err('gadget-jobs')).toContain('`phaseline get --kind gadget-job` lists objects of this kind.')
    expect(await err('default')).toContain('default is a project: `--project default` names it.')
  })

  it('is asked about where several kinds have it', async () => {
    const twin = { installations: [{ name: 'deploy-items', spec: {} }], deployItems: spec.deployItems }
    await apply(JSON.stringify({ name: 'twin', spec: twin }), '--wait')
    const asked = await phaseline('get twin/deploy-items')
    expect([asked.code, asked.err]).toMatchObject([2, expect.stringMatching(/ambiguous.*execution.*Give --kind/)])
    expect(await phaseline('get twin/deploy-items --kind execution')).toMatchObject({ code: 0 })
  })

  it('comes from lists by itself: each name leads to its object, and nothing else is on stdout', async () => {
    const { out, err } = await phaseline('get --all -o name --limit 12')
    const names = out.trimEnd().split('\n')
    expect(names).toHaveLength(12)
    expect(err).toMatch(/^… and \d+ more \(--limit\)\n$/)
    for (const name of names) expect(await phaseline(`get ${name}`), name).toMatchObject({ code: 0 })
    const twins = (await phaseline('get --name-contains deploy-items --all -o name --limit 200')).out
    expect(twins).not.toContain('twin/deploy-items\n')
    const found = await phaseline('get --kind deploy-item --phase failed -o name')
    expect(found.out).toContain('default/failing/deploy-items/second\n')
    expect((await phaseline('get --kind deploy-item --phase failed --roots')).err).toMatch(
      /^Nothing matches among roots/,
    )
  })

  it('of a project that is not there is refused, also where nothing would match', async () => {
    const absent = { code: 3, err: 'NOT_FOUND: There is no project nowhere that you may read.\n' }
    for (const command of ['get', 'event list', 'log', 'logs', 'status'])
      expect(await phaseline(`${command} --project nowhere`), command).toMatchObject(absent)
    expect(await phaseline('event list --project default')).toMatchObject({ code: 0 })
  })
})

describe('plan', () => {
  it('says what would wait before it is created', async () => {
    const spec = {
      imports: [{ name: 'secretUrl' }],
      deployItems: ['a', 'b'].map((name) => ({ name, type: 'unheard-of' })),
    }
    const stdin = JSON.stringify({ name: 'foreseen', spec })
    const { code, out } = await phaseline('plan -f -', { stdin })
    expect(code).toBe(0)
    expect(out).toContain('As things are now, it would wait:\n')
    expect(out).not.toContain('it would fail')
    expect(out).toContain('○ foreseen: The import secretUrl has no value yet.\n')
    const agent = 'Waits for an agent of the type unheard-of, and none is connected.'
    expect(out).toContain(`○ foreseen/deploy-items/a: ${agent} (and 1 more)\n`)
    expect(out).toContain('These items bring code, which takes the role AUTHOR:\n')
    const brings = 'An item of the type unheard-of may bring a command on the machine of its deployer.'
    expect(out).toContain(`○ foreseen/deploy-items/a: ${brings} (and 1 more)\n`)
    const [plan] = documents((await phaseline('plan -f - --json', { stdin })).out)
    expect(plan?.broughtCode).toMatchObject([{ permitted: true }, { permitted: true }])
    expect(plan?.blockers).toMatchObject([{ reason: 'IMPORT' }, { reason: 'AGENT', objectCount: 2 }])
  })
})

describe('get --failed', () => {
  it('tells each cause once, not what failed because of it', async () => {
    const spec = {
      installations: ['a', 'b'].map((name) => ({
        name,
        spec: { deployItems: [{ name: 'x', type: 'mock', config: { fail: true } }] },
      })),
      deployItems: [{ name: 'top', type: 'mock', config: { fail: true } }],
    }
    await phaseline('project create causes')
    expect(await apply(JSON.stringify({ name: 'three', project: 'causes', spec }), '--wait')).toMatchObject({ code: 1 })
    const [failed] = documents((await phaseline('get --failed --project causes --json')).out)
    expect(failed?.totalCount).toBe(3)
    const paths = (failed?.objects ?? []) as readonly { readonly path: string }[]
    expect(paths.map(({ path }) => path).sort()).toEqual([
      'three/a/deploy-items/x',
      'three/b/deploy-items/x',
      'three/deploy-items/top',
    ])
    const { out } = await phaseline('get --failed --project causes')
    expect(out).toMatch(/^✗ causes\/three\/\S+ {2}deploy item, .* ago: MOCK_FAILURE: .*\(and 2 more in this tree\)\n$/)
    const names = (await phaseline('get --failed --project causes -o name')).out.trimEnd().split('\n')
    expect(names.toSorted()).toEqual([...paths.map(({ path }) => `causes/${path}`)].toSorted())
    for (const name of names) expect(await phaseline(`get ${name}`)).toMatchObject({ code: 0 })
    for (const other of ['--kind installation', '--name-contains nothing', '--label a=b'])
      expect(await phaseline(`get --failed --project causes ${other}`)).toMatchObject({ err: 'Nothing has failed.\n' })
    expect((await phaseline('get --failed --project causes --limit 2')).err).toBe('… and 1 more (--limit)\n')
    expect(await phaseline('get --failed --project nowhere')).toMatchObject({
      ...{ code: 0, out: '', err: 'Nothing has failed.\n' },
    })
  })
})

describe('the log', () => {
  it('is searched on the server, by words, time, kinds and actors', async () => {
    await apply(manifest('sought'), '--wait')
    const found = async (options: string) => documents((await phaseline(`log --json ${options}`)).out)
    const all = await found('--since 1h --search sought')
    expect(all.length).toBeGreaterThan(4)
    expect(new Set(all.map(({ path }) => path))).toEqual(
      new Set(['sought', 'sought/deploy-items', 'sought/deploy-items/item']),
    )
    expect(await found('--search sought/deploy-items/item --kind deploy-item --to succeeded')).toMatchObject([
      { path: 'sought/deploy-items/item', to: 'SUCCEEDED' },
    ])
    expect(await found('--search sought --actors user --since 1h')).toEqual(all.filter(({ actor }) => actor === 'USER'))
    const moment = String(all.at(-1)?.at)
    expect(await found(`--search sought --since ${moment}`)).toEqual(all.filter(({ at }) => String(at) >= moment))
    expect(await found(`--search sought --until ${moment}`)).toEqual(all.filter(({ at }) => String(at) < moment))
    expect(await found('--search sought --since 1h --limit 2')).toEqual(all.slice(-2))
    expect(await phaseline('log --search no-such-thing')).toMatchObject({
      code: 0,
      err: 'Nothing in the log matches.\n',
    })
    expect(await phaseline('log --since someday')).toMatchObject({ code: 2 })
    // For longer than there are dates: everything.
    expect(await found('--search sought --since 999999999d')).toEqual(all)
    expect(await phaseline('log --actors nobody')).toMatchObject({
      code: 2,
      err: expect.stringContaining('no actor nobody'),
    })
    expect(await phaseline('log --until 1h --follow')).toMatchObject({ code: 2 })
  })
})

describe('edit', () => {
  const edit = (script: string) =>
    commandLine({ ...connection(), PATH: process.env.PATH ?? '', EDITOR: `sh -c '${script}'` })
  const generationOf = async () => documents((await phaseline('get edited --json')).out)[0]?.generation

  it('applies what was saved, and changes nothing when nothing was', async () => {
    await apply(manifest('edited', {}, { labels: { a: 'b' } }), '--wait')
    expect((await edit('true')('edit edited')).out).toBe('edited unchanged (generation 1)\n')
    const saved = await edit('sed -i s/item/part/ $0')('edit edited --wait')
    expect(saved).toMatchObject({ code: 0, out: expect.stringMatching(/^edited updated \(generation 2\)/) })
    expect(await phaseline('get edited/deploy-items/part')).toMatchObject({ code: 0 })
    expect((await edit('exit 3')('edit edited')).err).toContain('ended with exit code 3: nothing was applied')
    expect(await generationOf()).toBe(2)
  })

  it('changes nothing, and begins no job, when what was saved means the same', async () => {
    await apply(manifest('same'), '--wait')
    const state = async () => {
      const [{ jobId, generation, revision } = {}] = documents((await phaseline('get same --json')).out)
      return { jobId, generation, revision }
    }
    const before = await state()
    const comment = edit('echo "# a comment" >> $0')
    expect(await comment('edit same')).toEqual({ code: 0, out: 'same unchanged (generation 1)\n', err: '' })
    const [result, ...more] = documents((await comment('edit same --json')).out)
    expect([result, more]).toEqual([expect.objectContaining({ name: 'same', action: 'unchanged', generation: 1 }), []])
    expect(documents((await edit('true')('edit same --json')).out)).toEqual([result])
    expect(await state()).toEqual(before)
  })

  it('opens a text with mistakes again at a terminal, until it is applied or left as it is', async () => {
    await apply(manifest('reopened'), '--wait')
    const atTerminal = async (script: string) => {
      const printed = { out: '', err: '' }
      const sink = (name: 'out' | 'err') => ({ write: (text: string | Uint8Array) => (printed[name] += text) })
      const stdin = { isTTY: true, async *[Symbol.asyncIterator]() {} }
      const env = { ...connection(), PATH: process.env.PATH ?? '', EDITOR: `sh -c '${script}'` }
      const { signal } = new AbortController()
      const code = await run(['edit', 'reopened'], { stdin, stdout: sink('out'), stderr: sink('err'), env, signal })
      return { code, ...printed }
    }
    const mend = 'sed -i "s/kind:/type:/; s/item/part/" $0'
    const mended = await atTerminal(
      `if grep -q "^# Refused: .*:6:.*kind" $0; then ${mend}; else sed -i s/type:/kind:/ $0; fi`,
    )
    expect(mended).toEqual({
      ...{ code: 0, out: 'reopened updated (generation 2)\n' },
      err: expect.stringMatching(/installation\.yaml:6:\d+: .*Unrecognized key: "kind"/),
    })
    const left = await atTerminal('sed -i s/type:/kind:/ $0')
    expect(left).toMatchObject({ code: 2, out: '', err: expect.stringContaining('Your text is in') })
    const file = /Your text is in (\S+):/.exec(left.err)?.[1] ?? ''
    expect(await readFile(file, 'utf8')).toContain('kind: mock')
    await rm(dirname(file), { recursive: true })
  })

  it('keeps standard output for its result, whatever the editor prints', async () => {
    await apply(manifest('noisy'), '--wait')
    await using editing = edit('echo noise; sed -i s/item/part/ $0').spawn('edit noisy')
    expect(await editing.exit).toBe(0)
    expect([editing.out(), editing.err()]).toEqual(['noisy updated (generation 2)\n', 'noise\n'])
  })

  it('keeps the text that cannot be applied, with the line of its mistake', async () => {
    await apply(manifest('kept'), '--wait')
    const { code, err } = await edit('sed -i s/type:/kind:/ $0')('edit kept')
    expect(code).toBe(2)
    const file = /Your text is in (\S+):/.exec(err)?.[1] ?? ''
    expect(err).toMatch(/installation\.yaml:\d+:\d+/)
    expect(await readFile(file, 'utf8')).toContain('kind: mock')
    await rm(dirname(file), { recursive: true })
    expect(await phaseline('edit kept/deploy-items')).toMatchObject({ code: 2 })
  })

  it('overwrites nothing that somebody else has changed meanwhile', async () => {
    await apply(manifest('raced'), '--wait')
    const [opened, go] = [join(folder, 'opened'), join(folder, 'go')]
    const editing = edit(`echo "# more" >> $0; touch ${opened}; until [ -e ${go} ]; do sleep 0.02; done`)('edit raced')
    await until(() => existsSync(opened), { what: 'the editor is open' })
    await apply(manifest('raced', { delayMs: 2 }))
    await file('go', '')
    const { code, err } = await editing
    expect([code, err]).toEqual([3, expect.stringContaining('Somebody else has changed it meanwhile')])
    // To apply it as it is would take back what the other one has changed.
    expect(err).toMatch(/: phaseline diff -f \S+ shows what it would take back, and phaseline runs raced by whom\.\n$/)
    expect(err).not.toContain('phaseline apply')
    await rm(dirname(/Your text is in (\S+):/.exec(err)?.[1] ?? ''), { recursive: true })
  })
})

describe('retry', () => {
  it('runs again what failed, by the path of any part, and nothing else', async () => {
    const item = (name: string, config: object = {}) => ({ name, type: 'mock', config })
    const spec = { deployItems: [item('good'), item('bad', { fail: true })] }
    expect(await apply(JSON.stringify({ name: 'half', spec }), '--wait')).toMatchObject({ code: 1 })
    const [before] = documents((await phaseline('log half --json --limit 1')).out)
    const retried = await phaseline('retry half/deploy-items/bad --wait')
    expect(retried).toMatchObject({ code: 1, out: expect.stringMatching(/^half runs again what failed\n/) })
    // The root tells what is at the bottom of it, in one line.
    expect((await phaseline('get half')).out).toMatch(/^root cause +half\/deploy-items\/bad: MOCK_FAILURE: /m)
    expect((await phaseline('get half/deploy-items/bad')).out).not.toContain('root cause')
    const { out } = await phaseline(`log half --after ${before?.sequence} --json --to init --kinds deploy-item`)
    expect(documents(out)).toMatchObject([{ name: 'bad' }])
  })

  it('is refused where nothing has failed', async () => {
    await apply(manifest('whole'), '--wait')
    expect(await phaseline('retry whole')).toEqual({
      code: 2,
      out: '',
      err: 'INVALID_INPUT: whole is SUCCEEDED: only what is FAILED or ABORTED can be retried.\n',
    })
  })
})

describe('reconcile', () => {
  it('runs again what the mode says, of roots only', async () => {
    await apply(manifest('again', {}, { labels: { tier: 'x' } }), '--wait')
    const head = async (): Promise<unknown> =>
      documents((await phaseline('log again --json --limit 1')).out)[0]?.sequence
    const before = await head()
    expect(await phaseline('reconcile again --mode if-changed --wait')).toMatchObject({ code: 0 })
    expect(await head()).toBe(before)
    const standard = await phaseline('reconcile again --wait --json')
    const [asked] = documents(standard.out)
    expect([standard.code, asked]).toMatchObject([
      0,
      { id: expect.stringMatching(UUID), jobId: expect.stringMatching(UUID) },
    ])
    const { out } = await phaseline(`log again --after ${before} --json --to succeeded --kinds deploy-item`)
    expect(documents(out)).toMatchObject([{ name: 'item', by: 'built-in', rejected: false }])

    const listed = documents((await phaseline('get --label tier=x --all --json')).out)[0]
    expect(listed).toMatchObject({ totalCount: 1, objects: [{ id: asked?.id, kind: 'INSTALLATION' }] })
    expect((await phaseline('get -A -l tier=x -o name')).out).toBe('default/again\n')
    expect((await phaseline('get -l tier=x,tier=y')).err).toContain('Nothing matches')
    expect(await phaseline('reconcile again/deploy-items --kind execution')).toMatchObject({ code: 3 })
    expect(await phaseline('reconcile again --mode sometimes')).toMatchObject({ code: 2 })
  })
})

describe('a tree that hangs', () => {
  it('is watched line by line, shown as it is and was, cancelled and deleted', async () => {
    await apply(manifest('stuck', { hang: true }))
    await using watching = phaseline.spawn('watch stuck')
    await watching.shows('stuck ')
    await expect
      .poll(async () => (await phaseline('get --phase progressing --all --name-contains item')).out)
      .toMatch(/\bitem\b/)
    const { out } = await phaseline('tree stuck')
    expect(out.split('\n').map((line) => line.replace(/ +[\d.ms]+$/, ''))).toEqual([
      '▶ stuck            installation  PROGRESSING',
      '└─ ▶ deploy-items  execution     PROGRESSING',
      '   └─ ▶ item       deploy item   PROGRESSING',
      '3 objects: 3 ▶ active',
      '',
    ])
    const unfinished = documents((await phaseline('get --unfinished --name-contains stuck --all --json')).out)[0]
    expect(unfinished).toMatchObject({ totalCount: 1 })

    const cancelled = await phaseline('cancel stuck --wait --reason enough')
    expect(cancelled.code).toBe(0)
    expect(cancelled.out).toMatch(/stuck stopped: 3 ■ stopped\n$/)
    expect(await watching.exit).toBe(1)
    expect(watching.out()).toMatch(/stuck stopped: 3 ■ stopped\n$/)
    expect(watching.out()).not.toContain('\u001b')

    const again = await phaseline('cancel stuck')
    expect(again).toMatchObject({ code: 3, out: '', err: expect.stringContaining('TRANSITION') })
    const log = documents((await phaseline('log stuck --json --rejected')).out)
    const first = log[0]?.sequence
    expect(log.at(-1)).toMatchObject({ rejected: true, by: 'admin' })
    expect((await phaseline(`tree stuck --at ${first}`)).out).toMatch(/^○ stuck +installation +PENDING\n1 object: /)
    expect(await phaseline('tree stuck --at 999999')).toMatchObject({ code: 3 })
    // A moment ago it was as it is.
    expect((await phaseline(`tree stuck --at ${new Date().toISOString()} --json`)).out).toContain('"phase":"ABORTED"')

    const deleted = await phaseline('delete stuck --wait')
    expect([deleted.code, deleted.out]).toMatchObject([0, expect.stringMatching(/stuck gone: nothing left\n$/)])
    expect(await phaseline('delete stuck')).toMatchObject({ code: 3 })
  })
})

describe('data', () => {
  it('is set, read and deleted, and wakes who waits for it', async () => {
    const importer = { name: 'importer', spec: { imports: [{ name: 'region' }] } }
    await apply(JSON.stringify(importer))
    await using watching = phaseline.spawn('watch importer')
    await watching.shows('importer waits for import: ')
    expect(await phaseline('data set region eu --text')).toMatchObject({ code: 0, out: 'default/region set\n' })
    expect(await watching.exit).toBe(0)

    const path = await file('region.json', '{"name": "eu"}')
    expect(await phaseline(`data set region -f ${path} --json`)).toMatchObject({ code: 0 })
    expect((await phaseline('data list')).out).toMatch(/^region +a user .*\{"name":"eu"\}$/m)
    for (const value of ['{eu', '1e400', '[1e400]', '9007199254740993'])
      expect(await phaseline(`data set region ${value}`)).toMatchObject({ code: 2 })
    const latin1 = await file('latin1.json', Buffer.from('"caf\xe9"', 'latin1'))
    for (const call of [`data set region -f ${latin1}`, `plan -f ${latin1}`])
      expect(await phaseline(call)).toMatchObject({ code: 2, err: expect.stringContaining('is not UTF-8 text') })
    expect((await phaseline('data list')).out).toContain('{"name":"eu"}')
    // The importer has to let go of it first.
    await phaseline('delete importer --wait')
    expect(await phaseline('data delete region')).toMatchObject({ code: 0 })
    expect(await phaseline('data delete region')).toMatchObject({ code: 3 })
    expect(await phaseline('data list --project nobodys')).toMatchObject({ code: 3 })
  })
})

describe('machines', () => {
  it('are printed as tables, diagrams and JSON', async () => {
    const { code, out } = await phaseline('machines deploy-item')
    expect([code, out]).toMatchObject([0, expect.stringMatching(/^ +PROGRESSING +DEPLOYER +SUCCEEDED +\S/m)])
    expect((await phaseline('machines execution --mermaid')).out).toMatch(/^stateDiagram-v2\n {2}\[\*\] --> PENDING\n/)
    expect(documents((await phaseline('machines --json')).out)[0]).toContainEqual(
      expect.objectContaining({ name: 'installation', initial: 'PENDING' }),
    )
    expect(await phaseline('machines nonsense')).toMatchObject({ code: 2 })
  })
})

describe('without an answer', () => {
  it('ends with 4 when nothing listens or the token is wrong', async () => {
    const nobody = { PHASELINE_URL: `http://127.0.0.1:${await freePort()}/graphql`, PHASELINE_TOKEN: TOKEN }
    expect(await phaseline('get', { env: nobody })).toMatchObject({ code: 4, out: '' })
    const wrong = { PHASELINE_URL: server.url, PHASELINE_TOKEN: 'not-the-token' }
    for (const args of ['get', 'log --follow', 'watch quiet']) {
      expect(await phaseline(args, { env: wrong }), args).toMatchObject({ code: 4, out: '' })
    }
    const { code, out } = await phaseline('get --json', { env: wrong })
    expect([code, documents(out)[0]]).toMatchObject([4, { error: { code: 'UNAUTHORIZED' } }])
  })
})

describe('a place that the log has lost', () => {
  it('is told, and the log goes on; a watch reads the tree again', async () => {
    await apply(manifest('calm'), '--wait')
    await using following = phaseline.spawn('log calm --after 999999 --follow --json')
    await using watching = phaseline.spawn('watch calm --keep')
    await watching.shows('calm 3 ✓ done')
    await expect.poll(() => following.err()).toContain('999999')
    const processes = execFileSync('ps', ['-axww', '-o', 'args='], { encoding: 'utf8' })
    expect(processes).toContain('watch calm --keep')
    expect(processes).not.toContain(TOKEN)

    // While the watch sleeps its server goes, another one works on, and the log is pruned.
    watching.kill('SIGSTOP')
    await server.kill()
    await server.start()
    await apply(manifest('calm', { fail: true }), '--wait')
    await following.shows('"to":"FAILED"')
    await database.pool.query(`update log_meta set floor_seq = (
      select max(first_seq + n - 2) from log_batch where first_seq is not null)`)
    watching.kill('SIGCONT')
    await watching.shows('Read again: calm 3 ✗ failed')

    const pruned = await phaseline('log --after 1 --json')
    expect(pruned).toMatchObject({ code: 0, err: expect.stringContaining('not what follows 1:') })
    expect(documents(pruned.out)).toMatchObject([{ to: 'FAILED', name: 'calm' }])
    await apply(manifest('calm'))
    await watching.shows('✓ calm  COMPLETING → SUCCEEDED')
    const rest = await phaseline('log --after 1 --json --limit 2')
    expect(documents(rest.out)).toHaveLength(2)

    for (const process of [watching, following]) process.kill('SIGINT')
    expect(await Promise.all([watching.exit, following.exit])).toEqual([130, 130])
    for (const line of documents(following.out())) expect(line).toMatchObject({ rootId: expect.stringMatching(UUID) })
  })
})

it('never prints its token, not even one that was given where none belongs', async () => {
  expect(await phaseline(`get --token=${TOKEN}`)).toMatchObject({ code: 2 })
  expect(phaseline.transcript().length).toBeGreaterThan(1_000)
  expect(phaseline.transcript()).not.toContain(TOKEN)
})
