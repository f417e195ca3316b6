import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { until } from '../testkit/wait.ts'
import { type CommandLine, commandLine, documents } from './command.ts'

/** `--set` and `--values` of `apply`, `plan` and `diff`. */

let stack: AsyncDisposableStack
let phaseline: CommandLine
let folder: string
beforeAll(async () => {
  stack = new AsyncDisposableStack()
  folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-values-')), (path) => rm(path, { recursive: true }))
  const server = stack.use(await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } }))
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  await writeFile(join(folder, 'shop.yaml'), SHOP)
})
afterAll(() => stack.disposeAsync())

const SHOP = `name: shop
spec:
  imports:
    - name: image
      schema: { type: string }
    - { name: replicas, schema: { type: integer, default: 1 } }
    - { name: hosts, schema: { type: array } }
    - { name: free, required: false }
    - { name: password, required: false, schema: { type: string, writeOnly: true } }
  exports:
    - name: all
      value: ["\${imports.image}", "\${imports.replicas}", "\${imports.hosts}", "\${imports.free}"]
`
const file = (name: string): string => join(folder, name)
const shop = (command: string, flags: string) => phaseline(`${command} -f ${file('shop.yaml')} ${flags}`)
const exported = async () => documents((await phaseline('get shop --json')).out)[0]?.exports

test('values are typed by the schema, and --set goes before a file', async () => {
  await writeFile(file('values.yaml'), 'image: shop:1\nhosts: [a, b]\nfree: { deep: true }\n')
  const flags = `--values ${file('values.yaml')} --set image=1.10 --set replicas=3`
  expect(await shop('apply', `${flags} --wait`)).toMatchObject({ code: 0, err: '' })
  expect(await exported()).toEqual({ all: ['1.10', 3, ['a', 'b'], { deep: true }] })
  expect((await shop('plan', flags)).out).toBe('shop unchanged: nothing would run\n')
  expect((await shop('diff', flags.replace('replicas=3', 'free=[1]'))).out.split('\n')).toEqual([
    'shop: 1 to update',
    '- imports.replicas.value: 3',
    '~ imports.free.value: {"deep":true} → "[1]"',
    '',
  ])
  // The output of `export` has the values, so it is the whole description.
  const { out } = await phaseline('export shop')
  expect((await phaseline('plan -f -', { stdin: out })).out).toBe('shop unchanged: nothing would run\n')
})

test('a value that is wrong, or for nothing, is refused with its place', async () => {
  const refusal = async (flags: string) => {
    const { code, err } = await shop('plan', flags)
    expect(code).toBe(2)
    return err.replaceAll(`${folder}/`, '')
  }
  expect(await refusal('--set replicas=many')).toContain(
    'shop.yaml:6:7: spec.imports.1: --set replicas: must be of the type integer, in JSON',
  )
  // The server judges what is JSON.
  expect(await refusal('--set replicas=1.5')).toMatch(/shop\.yaml:6:7: .*replicas: the value does not satisfy #\/type/)
  expect(await refusal('--set imagee=x')).toContain(
    '--set imagee: no root installation imports imagee. Did you mean image?',
  )
  await writeFile(file('wrong.yaml'), 'image: shop:1\nreplica: 3\n')
  expect(await refusal(`--values ${file('wrong.yaml')}`)).toContain(
    'wrong.yaml:2:10: replica: no root installation imports replica. Did you mean replicas?',
  )
  await writeFile(file('wrong.yaml'), '- image\n')
  expect(await refusal(`--values ${file('wrong.yaml')}`)).toContain('wrong.yaml:1:1')
  const secret = await refusal('--set password=hidden')
  expect(secret).toContain('is a secret by its schema (writeOnly)')
  expect(secret).not.toContain('hidden')
  // The value is refused before anything is sent: nothing listens there.
  const nobody = { env: { PHASELINE_URL: 'http://127.0.0.1:1/graphql', PHASELINE_TOKEN: 'any' } }
  expect(await phaseline(`plan -f ${file('shop.yaml')} --set password=hidden`, nobody)).toMatchObject({
    ...{ code: 2, err: expect.stringContaining('is a secret by its schema (writeOnly)') },
  })
  expect(await phaseline('diff shop --set image=x')).toMatchObject({ code: 2 })
})

test('a list that --set gives makes an item of each entry, which get names', async () => {
  const imports = [{ name: 'regions', schema: { type: 'array' } }]
  const deployItems = [{ name: 'web', type: 'nobody-takes', forEach: '${imports.regions}' }]
  await writeFile(file('fleet.json'), JSON.stringify({ name: 'fleet', spec: { imports, deployItems } }))
  expect(await phaseline(`apply -f ${file('fleet.json')} --set regions=["eu","us"]`)).toMatchObject({ code: 0 })
  const { out } = await until(
    async () => {
      const shown = await phaseline('get fleet/deploy-items/web-us')
      return shown.code === 0 ? shown : null
    },
    { what: 'the job has made its items' },
  )
  expect(out).toMatch(/^made of +the entry us of web$/m)
})
