import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Viewer } from '../../src/core/ports/viewer.ts'
import { bindCommands } from '../../src/families/command.ts'
import { projectCommands } from '../../src/projects/commands/index.ts'
import { createSealing } from '../../src/store/sealing.ts'
import { type Api, type Call, createApi } from '../graphql/api.ts'
import { gql } from '../testkit/gql.ts'
import { viewerOf } from '../testkit/viewers.ts'
import { USER } from '../testkit/world.ts'

let api: Api
beforeAll(async () => {
  api = await createApi()
})
afterAll(() => api[Symbol.asyncDispose]())

const MARKER = 'marker-5b1c7e'
const set = (name: string, value: string, project = 'default') =>
  api.world.projects.setSecret(USER, { project, name, value })
const createProject = (name: string) => api.world.projects.createProject(USER, { name })
const names = async (project = 'default') => {
  const { project: found } = await api.query(
    gql('query ($project: String!) { project(name: $project) { secrets { name updatedAt } } }'),
    { project },
  )
  return found?.secrets.map(({ name }) => name)
}
const sealedOf = async (name: string): Promise<Buffer> => {
  const { rows } = await api.world.pool.query('select sealed from secret where name = $1', [name])
  return rows[0].sealed
}
const projectId = async () =>
  (await api.world.pool.query<{ id: string }>(`select id from project where name = 'default'`)).rows[0]?.id ?? ''

describe('a secret', () => {
  test('is written over the API, listed by name and kept sealed', async () => {
    const server = await api.serve()
    const token = await api.token()
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({
        query:
          'mutation ($value: String!) { setSecret(input: { name: "WRITTEN", value: $value }) { __typename ... on Secret { name updatedAt } } }',
        variables: { value: MARKER },
      }),
    })
    expect(await response.json()).toEqual({
      data: {
        setSecret: { __typename: 'Secret', name: 'WRITTEN', updatedAt: api.world.clock.now().toISOString() },
      },
    })
    expect(await names()).toEqual(['WRITTEN'])
    const sealed = await sealedOf('WRITTEN')
    expect(sealed.includes(MARKER)).toBe(false)
    expect(api.world.sealing.open({ projectId: await projectId(), name: 'WRITTEN' }, sealed)).toBe(MARKER)
    await set('WRITTEN', 'another')
    const again = await sealedOf('WRITTEN')
    expect(api.world.sealing.open({ projectId: await projectId(), name: 'WRITTEN' }, again)).toBe('another')
  })

  test('of a wrong type is in no error, as a variable or within a document', async () => {
    const server = await api.serve()
    const token = await api.token()
    const set = 'setSecret(input: { name: "A", value: $value }) { __typename }'
    const withVariable = (type: string, body = set) => `mutation ($value: ${type}) { ${body} }`
    const whole = 'setSecret(input: $value) { __typename }'
    const literal = (value: string) => ({ query: `mutation { ${set.replace('$value', value)} }`, variables: {} })
    const requests = [
      ...[[MARKER, MARKER], { a: MARKER }, [[MARKER]]].map((value) => ({
        query: withVariable('String!'),
        variables: { value },
      })),
      ...[
        MARKER,
        { name: 'A', value: { deep: [MARKER] } },
        { value: MARKER },
        { name: 'A', value: MARKER, another: 1 },
        { name: 'A', value: MARKER, valu: 1 },
      ].map((value) => ({ query: withVariable('SetSecretInput!', whole), variables: { value } })),
      ...['Int', 'Boolean', 'Float', 'ID', 'WorkAction', 'JSON'].map((type) => ({
        query: withVariable(type),
        variables: { value: MARKER },
      })),
      ...[`["${MARKER}", "b"]`, `{ a: "${MARKER}" }`, `"a" "${MARKER}"`, `"""${MARKER}""" """b"""`].map(literal),
      { query: `mutation { setSecret(input: "${MARKER}") { __typename } }`, variables: {} },
      { query: `mutation { setSecret(input: { value: "${MARKER}" }) { __typename } }`, variables: {} },
      { query: `mutation { setSecret(input: { name: "A", valu: "${MARKER}" }) { __typename } }`, variables: {} },
      { query: `mutation ($value: String! = ["${MARKER}", 1]) { ${set} }`, variables: {} },
      { query: `mutation "${MARKER}" { ${set} }`, variables: {} },
      { query: `subscription ($value: Int) { phaseLog(after: $value) { through } }`, variables: { value: MARKER } },
    ]
    for (const accept of ['application/json', 'text/event-stream']) {
      for (const request of requests) {
        const response = await fetch(`${server.url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, accept },
          body: JSON.stringify(request),
        })
        const text = await response.text()
        expect(text, JSON.stringify(request)).toContain('"errors"')
        expect(text).not.toContain(MARKER)
      }
    }
    const { rows } = await api.world.pool.query(`select a::text from audit_event a where a::text like $1`, [
      `%${MARKER}%`,
    ])
    expect(rows).toEqual([])
  })

  test('is deleted once', async () => {
    await set('GONE', 'x')
    const remove = async () =>
      (
        await api.query(
          gql(`mutation { deleteSecret(input: { name: "GONE" }) {
            __typename ... on Error { code } ... on DeletedSecret { name project { name } }
          } }`),
        )
      ).deleteSecret
    expect(await remove()).toEqual({ __typename: 'DeletedSecret', name: 'GONE', project: { name: 'default' } })
    expect(await remove()).toEqual({ __typename: 'NotFoundError', code: 'NOT_FOUND' })
  })

  test.each([
    ['1A', MARKER, 'input.name'],
    ['PHASELINE_TOKEN', MARKER, 'input.name'],
    ['A-B', MARKER, 'input.name'],
    ['FINE', `${MARKER}\0`, 'input.value'],
    ['FINE', `${MARKER}\ud800`, 'input.value'],
    ['FINE', '', 'input.value'],
  ])('%s is refused without a word of what it is', async (name, value, path) => {
    const refused = await set(name, value)
    expect(refused).toMatchObject({ ok: false, refusal: { type: 'InvalidInputError', fields: [{ path }] } })
    expect(JSON.stringify(refused)).not.toContain(MARKER)
    expect(await names()).not.toContain(name)
  })

  test('without a key none can be set, and everything else works', async () => {
    const { clock, engineHost, pool } = api.world
    const sealing = createSealing([], clock)
    const { trees } = engineHost
    const parts = { trees, system: clock, pool, sealing, verbs: {}, limitsChanged: async () => {} }
    const keyless = bindCommands(parts, projectCommands)
    const refused = await keyless.setSecret(USER, { project: 'default', name: 'LATER', value: MARKER })
    expect(refused).toMatchObject({ refusal: { type: 'InvalidInputError', fields: [{ path: 'input.value' }] } })
    expect(JSON.stringify(refused)).toContain('PHASELINE_SECRET_KEY')
    expect(JSON.stringify(refused)).not.toContain(MARKER)
    await set('LATER', 'x')
    expect(await keyless.deleteSecret(USER, { project: 'default', name: 'LATER' })).toMatchObject({ ok: true })
    expect(await keyless.createProject(USER, { name: 'keyless' })).toMatchObject({ ok: true })
  })
})

describe('all secrets of a project', () => {
  test('have bounds in bytes, to the last one', async () => {
    await createProject('heavy')
    const each = 64 * 1024
    for (let i = 0; i < 8; i++) expect(await set(`S${i}`, 'x'.repeat(each), 'heavy')).toMatchObject({ ok: true })
    expect(await set('MORE', 'x', 'heavy')).toMatchObject({ refusal: { type: 'LimitError', limit: 512 * 1024 } })
    // One that is replaced does not count twice.
    expect(await set('S0', 'x'.repeat(each - 1), 'heavy')).toMatchObject({ ok: true })
    expect(await set('MORE', 'x', 'heavy')).toMatchObject({ ok: true })
    expect(await set('MORE', 'xx', 'heavy')).toMatchObject({ refusal: { type: 'LimitError' } })
  })

  test('have a bound in number, also with concurrent writes', async () => {
    await createProject('many')
    const answers = await Promise.all(Array.from({ length: 260 }, (_, i) => set(`S${i}`, 'x', 'many')))
    expect(answers.filter(({ ok }) => !ok)).toHaveLength(4)
    expect(answers.find(({ ok }) => !ok)).toMatchObject({ refusal: { type: 'LimitError', limit: 256 } })
    expect(await names('many')).toHaveLength(256)
  })
})

test('no token gets the role of workers', async () => {
  const refused = await api.query(
    gql(
      'mutation { createToken(input: { name: "w", role: WORKER }) { ... on InvalidInputError { fields { path } } } }',
    ),
  )
  expect(refused.createToken?.fields).toEqual([{ path: 'input.role' }])
  const posing: Viewer = viewerOf('WORKER', { actor: 'WORKER', projects: [v7()] })
  const calls: readonly Call[] = [
    gql('mutation { answer: createProject(input: { name: "w" }) { __typename } }'),
    gql('mutation { answer: updateProject(input: { name: "default" }) { __typename } }'),
    gql('mutation { answer: setSecret(input: { name: "W", value: "x" }) { __typename } }'),
    gql('mutation { answer: setDataObject(input: { name: "w", value: 1 }) { __typename } }'),
    gql('mutation { answer: createInstallation(input: { name: "w", spec: {} }) { __typename } }'),
    gql('mutation { answer: createToken(input: { name: "w", role: ADMIN }) { __typename } }'),
    gql('mutation { answer: claimWork(input: { instance: "w", types: ["process"] }) { __typename } }'),
    gql('mutation { answer: reportPhases(input: { reports: [] }) { __typename } }'),
    gql('mutation { answer: appendLogs(input: { lines: [] }) { __typename } }'),
  ]
  for (const call of calls) {
    const { answer } = await api.query(call, {}, posing)
    expect(answer?.__typename, call.valueOf()).toBe('ForbiddenError')
  }
})
