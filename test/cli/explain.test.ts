import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Schema, Validator } from '@cfworker/json-schema'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { schemaOfDocuments } from '../../src/cli/manifests/document-schema.ts'
import { documentKindsOf } from '../../src/cli/program.ts'
import { families } from '../../src/families/index.ts'
import { fieldsBelow, taskSchema } from '../../src/manifest/index.ts'
import { commandLine } from './command.ts'

const { kinds } = await documentKindsOf(families)
const schema = schemaOfDocuments(kinds)
const names = (schema.properties?.kind?.enum ?? []).map(String)
const validator = new Validator(JSON.parse(JSON.stringify(schema)) as Schema, '7')
const command = commandLine({})

test('each field of each kind of documents is described, with null where a document takes it', () => {
  expect(names).toEqual([
    'Installation',
    'Project',
    'Schedule',
    'Limit',
    'Invariant',
    'NotificationRule',
    'Hook',
    'Task',
  ])
  for (const name of names) {
    const part = schema.definitions[name] ?? {}
    const fields = fieldsBelow(part, schema.definitions)
    expect(fields.length).toBeGreaterThan(5)
    expect(fields.filter(({ description, type }) => description === '' || type === '').map(({ path }) => path)).toEqual(
      [],
    )
  }
  const dependsOn = fieldsBelow(schema.definitions.Task ?? {}, schema.definitions).find(
    ({ path }) => path === 'jobs[].dependsOn',
  )
  expect([dependsOn?.type, dependsOn?.description]).toEqual(['list of text', expect.not.stringContaining('null')])
})

/** All that the examples apply or run, with its kind. */
const EXAMPLES = join(import.meta.dirname, '../../examples')
const examples = globSync('**/*.yaml', { cwd: EXAMPLES }).flatMap((file) =>
  parseAllDocuments(readFileSync(join(EXAMPLES, file), 'utf8'), { merge: true }).map((document) => ({
    file,
    document: document.toJS() as Record<string, unknown>,
  })),
)
const zodOf = ({ kind = 'Installation' }: Record<string, unknown>) =>
  kind === 'Task' ? taskSchema : kinds.find((one) => one.kind === kind)?.schema

test('an editor accepts what apply accepts, and refuses an unknown key wherever apply does', () => {
  const judged = examples.filter(({ document }) => zodOf(document)?.safeParse(document).success)
  expect(judged.length).toBeGreaterThan(10)
  let refused = 0
  for (const { file, document } of judged) {
    expect([file, validator.validate(document).errors]).toEqual([file, []])
    for (const changed of withUnknownKey(document)) {
      const issues = zodOf(changed)?.safeParse(changed).error?.issues ?? []
      const isUnknown = issues.some(({ code }) => code === 'unrecognized_keys' || code === 'invalid_union')
      if (isUnknown) refused += 1
      expect([file, changed, validator.validate(changed).valid]).toEqual([file, changed, issues.length === 0])
    }
  }
  expect(refused).toBeGreaterThan(50)
})

/** The document, with one more key at each of its places in turn. */
function withUnknownKey(document: unknown): Record<string, unknown>[] {
  const places: string[][] = []
  const walk = (value: unknown, path: string[]): void => {
    if (typeof value !== 'object' || value === null) return
    if (!Array.isArray(value)) places.push(path)
    for (const [key, inner] of Object.entries(value)) walk(inner, [...path, key])
  }
  walk(document, [])
  return places.map((path) => {
    const copy = structuredClone(document) as Record<string, unknown>
    const place = path.reduce<Record<string, unknown>>((at, key) => at[key] as Record<string, unknown>, copy)
    place.notAKey = 'text'
    return copy
  })
}

test('explain shows a kind, and a field with those below it, without a server', async () => {
  const { out, code } = await command('explain installation.spec.deployItems')
  expect([code, out.split('\n')[0]]).toEqual([0, 'Installation.spec.deployItems: list of objects'])
  expect(out).toMatch(/\n {2}dependsOn: list of text\n {6}Names of deploy items/)
  // Numbers stand for any entry.
  expect((await command('explain installations.spec.deployItems[0].retry')).out).toContain(
    '  attempts: whole number, required\n',
  )
  expect((await command('explain notification-rule')).out).toMatch(/^NotificationRule\n/)
  expect((await command('explain')).out).toBe(`${names.join('\n')}\n\nphaseline explain KIND shows its fields.\n`)
  const nested = (await command('explain installation --recursive')).out
  expect(nested).toMatch(/ {2}spec\.installations\[\]\.spec: object, required\n.*The same fields once more\./)
})

test('explain refuses what there is not, and says what there is', async () => {
  const wrong = await command('explain installation.spec.deployItem')
  expect([wrong.code, wrong.out]).toEqual([2, ''])
  expect(wrong.err).toContain('Installation has no field deployItem there. Did you mean deployItems?')
  expect((await command('explain deployItems')).err).toContain('Did you mean Installation.spec.deployItems')
  expect((await command('explain deployItem.retry')).err).toContain('Did you mean Installation.spec.deployItems.retry')
  expect((await command('explain pod')).err).toContain(`There is no kind pod of documents: ${names.join(', ')}.`)
  expect((await command('explain installation.name.first')).err).toContain('Nothing is below it.')
})

test('explain prints the JSON Schema, of all documents or of a part', async () => {
  expect(JSON.parse((await command('explain --json')).out)).toEqual(JSON.parse(JSON.stringify(schema)))
  const nested = JSON.parse((await command('explain installation.spec.installations --json')).out)
  const inner = new Validator(nested as Schema, '7')
  expect(inner.validate([{ name: 'a', spec: { installations: [{ name: 'b', spec: {} }] } }]).valid).toBe(true)
  expect(inner.validate([{ name: 'a', spec: { installations: [{ name: 'b', spec: { no: 1 } }] } }]).valid).toBe(false)
  const part = JSON.parse((await command('explain project.limits --json')).out)
  expect(Object.keys(part.properties ?? part.anyOf[0].properties)).toEqual(['maxWorkers', 'maxJobs', 'strategy'])
})
