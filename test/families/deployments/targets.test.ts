import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { takesTarget } from '../../../src/core/claimant.ts'
import type { Viewer } from '../../../src/core/ports/viewer.ts'
import type { TargetSelector } from '../../../src/core/target.ts'
import { targetsOf } from '../../../src/engine/agents/access.ts'
import { bindDeployments } from '../../../src/families/deployments/commands/index.ts'
import type { SetTarget } from '../../../src/families/deployments/commands/targets.ts'
import type { SpecInput } from '../../../src/families/deployments/rules/normalise.ts'
import {
  DEFAULT_SETTINGS,
  installationInput,
  type Manifest,
  parseManifests,
  writeManifest,
} from '../../../src/manifest/index.ts'
import { readYaml } from '../../../src/manifest/read-yaml.ts'
import { createSealing } from '../../../src/store/sealing.ts'
import { loadTargetFacts } from '../../../src/store/targets.ts'
import { type Api, createApi } from '../../graphql/api.ts'
import { payloadOf, present } from '../../testkit/ask.ts'
import { expr, refusal } from '../../testkit/deployments.ts'
import { gql } from '../../testkit/gql.ts'
import { kubeconfig } from '../../testkit/kubeconfig.ts'
import { viewerOf, viewerWith } from '../../testkit/viewers.ts'
import { until } from '../../testkit/wait.ts'
import { DEPLOYER, USER } from '../../testkit/world.ts'

const MARKER = 'marker-7c1e0a9d'

let api: Api
beforeEach(async () => {
  api = await createApi()
})
afterEach(() => api[Symbol.asyncDispose]())

const set = (target: Omit<SetTarget, 'project'> & { readonly project?: string }) =>
  api.world.commands.setTarget(USER, { project: 'default', ...target })
const projectId = async (): Promise<string> =>
  (await api.world.pool.query<{ id: string }>("select id from project where name = 'default'")).rows[0]?.id ?? ''
const remove = (name: string) => api.world.commands.deleteTarget(USER, { project: 'default', name })
const item = (name: string, target?: string) => ({ name, type: 'mock', ...(target === undefined ? {} : { target }) })

const LIST = gql(`query ($filter: TargetFilter, $first: Int, $after: String) {
  targets(filter: $filter, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { id name type description hasCredentials generation labels { key value } project { name } uses(first: 10) { totalCount edges { node { itemCount root { name } } } } } }
  }
}`)
const listed = async (filter: object = {}) =>
  present((await api.query(LIST, { filter })).targets).edges.map(({ node }) => node)
const NODE = gql('query ($id: ID!) { node(id: $id) { __typename ... on Target { name } } }')
const CLAIM = gql(`mutation ($input: ClaimWorkInput!) { answer: claimWork(input: $input) {
  ... on ClaimedWork { items { name target targetCredentials { targetId targetType generation secret } } }
  ... on Error { code message }
} }`)
const claim = async (input: object = {}, viewer: Viewer = DEPLOYER) =>
  payloadOf((await api.query(CLAIM, { input: { instance: 'it', types: ['mock'], max: 100, ...input } }, viewer)).answer)
    .items
const names = (items: readonly { readonly name: string }[]) => items.map(({ name }) => name).toSorted()

describe('a target', () => {
  test('is set in parts, counts its changes and is listed by type and labels', async () => {
    await set({ name: 'eu', type: 'kubernetes', labels: [{ key: 'region', value: 'eu' }], credentials: kubeconfig() })
    await set({ name: 'us', type: 'kubernetes', labels: [{ key: 'region', value: 'us' }], description: 'New York' })
    await set({ name: 'box', type: 'container', labels: [{ key: 'region', value: 'eu' }] })
    expect(await listed()).toMatchObject([
      { name: 'box', type: 'container', hasCredentials: false, generation: 1 },
      { name: 'eu', type: 'kubernetes', hasCredentials: true, labels: [{ key: 'region', value: 'eu' }] },
      { name: 'us', description: 'New York', project: { name: 'default' } },
    ])
    expect(names(await listed({ type: 'kubernetes' }))).toEqual(['eu', 'us'])
    expect(names(await listed({ labels: [{ key: 'region', value: 'eu' }] }))).toEqual(['box', 'eu'])
    expect(names(await listed({ project: 'other' }))).toEqual([])
    const before = present((await listed()).find(({ name }) => name === 'eu'))
    await set({ name: 'eu', description: 'Frankfurt' })
    await set({ name: 'eu', description: 'Frankfurt' })
    const [eu] = await listed({ type: 'kubernetes' })
    expect(eu).toEqual({ ...before, description: 'Frankfurt', generation: 2 })
    await set({ name: 'eu', credentials: null })
    expect((await listed({ type: 'kubernetes' }))[0]).toMatchObject({ hasCredentials: false, generation: 3 })
    expect(await api.query(NODE, { id: before.id })).toEqual({ node: { __typename: 'Target', name: 'eu' } })
    const first = present((await api.query(LIST, { first: 2 })).targets)
    const second = present((await api.query(LIST, { first: 2, after: first.pageInfo.endCursor })).targets)
    expect(names([...first.edges, ...second.edges].map(({ node }) => node))).toEqual(['box', 'eu', 'us'])
    expect(first.totalCount).toBe(3)
  })

  test('is refused without a type, with another generation, and with a name that is none', async () => {
    expect(await refusal(set({ name: 'new' }))).toMatchObject({ fields: [{ path: 'input.type' }] })
    expect(await refusal(set({ name: '../etc', type: 'kubernetes' }))).toMatchObject({
      fields: [{ path: 'input.name' }],
    })
    await set({ name: 'new', type: 'container', expectedGeneration: 0 })
    expect(await refusal(set({ name: 'new', description: 'x', expectedGeneration: 0 }))).toMatchObject({
      code: 'GENERATION_MISMATCH',
    })
    await set({ name: 'new', description: 'x', expectedGeneration: 1 })
  })

  test.each([
    [kubeconfig({ user: { token: undefined, exec: { command: MARKER } } }), /user\.exec runs a program/],
    [
      kubeconfig({ user: { token: undefined, 'auth-provider': { name: MARKER } } }),
      /user\.auth-provider runs a program/,
    ],
    [kubeconfig({ user: { token: undefined, tokenFile: `/${MARKER}` } }), /user\.tokenFile is a file of one machine/],
    [kubeconfig({ user: { 'client-key': `/${MARKER}` } }), /user\.client-key is a file/],
    [kubeconfig({ cluster: { 'certificate-authority': `/${MARKER}` } }), /certificate-authority is a file/],
    [kubeconfig({ cluster: { 'insecure-skip-tls-verify': true } }), /insecure-skip-tls-verify would send/],
    [kubeconfig({ cluster: { 'proxy-url': `http://${MARKER}` } }), /proxy-url/],
    [kubeconfig({ cluster: { server: `http://${MARKER}` } }), /must begin with https/],
    [kubeconfig({ cluster: { server: `https://${MARKER}:${MARKER}@it` } }), /an address and a path/],
    [kubeconfig({ user: { 'as-user-extra': MARKER } }), /the user has a field that targets do not take/],
    [kubeconfig({ user: { token: undefined } }), /neither a token nor a certificate/],
    [`users: [{"${MARKER}": "x", "${MARKER}": "y"`, /not valid YAML/],
    [`${MARKER}: &a [*b]`, /not valid YAML|no current context/],
    [MARKER, /no current context/],
  ])('of the type kubernetes takes no credentials that are not whole in themselves: %#', async (credentials, why) => {
    const refused = await refusal(set({ name: 'eu', type: 'kubernetes', credentials }))
    expect(refused.message).toMatch(why)
    expect(JSON.stringify(refused)).not.toContain(MARKER)
    // Credentials of other types are of any form.
    expect(await set({ name: 'own', type: 'own', credentials })).toMatchObject({ ok: true })
  })

  test('is not taken without a key on the server, and bounded in number and bytes', async () => {
    const { world } = api
    const keyless = bindDeployments({
      ...{ trees: world.engineHost.trees, system: world.clock, pool: world.pool, sandbox: {} as never },
      ...{ sealing: createSealing([], world.clock), editorTypes: new Set<string>() },
    })
    const given = { project: 'default', name: 'eu', type: 'own', credentials: MARKER }
    expect(await refusal(keyless.setTarget(USER, given))).toMatchObject({ fields: [{ path: 'input.credentials' }] })
    await world.pool.query(`insert into target select gen_random_uuid(), id, 't' || n, 'own', '{}', '', null, 1, now(), now()
      from project, generate_series(1, 999) n where project.name = 'default'`)
    expect(await set({ name: 'last', type: 'own' })).toMatchObject({ ok: true })
    expect(await refusal(set({ name: 'more', type: 'own' }))).toMatchObject({ type: 'LimitError', limit: 1_000 })
    await world.pool.query(`update target set sealed = decode(repeat('00', 16_384 + 33), 'hex')`)
    expect(await refusal(set({ name: 'last', credentials: 'x'.repeat(500_000) }))).toMatchObject({ type: 'LimitError' })
  })

  test('stays while items are there, and goes after them', async () => {
    await set({ name: 'eu', type: 'own' })
    const id = await api.world.create('shop', { deployItems: [item('a', 'eu'), item('b', 'eu'), item('c')] })
    expect(await listed()).toMatchObject([
      { uses: { totalCount: 1, edges: [{ node: { itemCount: 2, root: { name: 'shop' } } }] } },
    ])
    expect(await refusal(remove('eu'))).toMatchObject({
      code: 'IN_USE',
      message: expect.stringMatching(/a of shop|b of shop/),
    })
    await api.world.cancel(id)
    await api.world.remove(id, { withoutUninstall: true })
    await api.world.settle()
    expect(await remove('eu')).toMatchObject({ ok: true })
    expect(await refusal(remove('eu'))).toMatchObject({ type: 'NotFoundError' })
  })
})

describe('credentials', () => {
  test('go with claimed work to those who ask for them, each claim gets the present ones, and the audit names them', async () => {
    await set({ name: 'eu', type: 'own', credentials: MARKER })
    await set({ name: 'none', type: 'own' })
    await api.world.create('shop', {
      deployItems: [item('a', 'eu'), item('b', 'elsewhere'), item('c'), item('d', 'none')],
    })
    const given = new Map((await claim()).map(({ name, targetCredentials }) => [name, targetCredentials]))
    expect(given.get('a')).toMatchObject({ targetType: 'own', generation: 1, secret: MARKER })
    expect([given.get('b'), given.get('c')]).toEqual([null, null])
    expect(given.get('d')).toMatchObject({ secret: null })
    const noted = () =>
      api.world.pool.query("select object_name as name, fields from audit_event where operation = 'claimWork'")
    await until(async () => (await noted()).rowCount === 1, { what: 'the event of the audit' })
    expect((await noted()).rows).toEqual([{ name: 'a', fields: ['target/eu'] }])
    await set({ name: 'eu', credentials: 'rotated' })
    await api.world.create('blog', { deployItems: [item('e', 'eu')] })
    expect((await claim())[0]?.targetCredentials).toMatchObject({ generation: 2, secret: 'rotated' })
  })

  test('are where they are sealed for, and nowhere else', async () => {
    await set({ name: 'eu', type: 'own', credentials: MARKER })
    await set({ name: 'us', type: 'own', credentials: 'other' })
    await api.world.pool.query(
      `update target t set sealed = (select sealed from target where name = 'eu') where name = 'us'`,
    )
    await api.world.create('shop', { deployItems: [item('a', 'us')] })
    expect((await claim())[0]?.targetCredentials).toMatchObject({ secret: null })
    const { rows } = await api.world.pool.query<{ text: string }>('select t::text as text from target t')
    for (const { text } of rows) {
      expect(text).not.toContain(MARKER)
      expect(text).not.toContain(Buffer.from(MARKER).toString('hex'))
    }
  })

  test('are in no error of a request, as a variable or within a document', async () => {
    const server = await api.serve()
    const token = await api.token()
    const document = (type: string) =>
      `mutation ($value: ${type}) { setTarget(input: { name: "a", type: "own", credentials: $value }) { __typename } }`
    const requests = [
      ...[[MARKER], { a: MARKER }].map((value) => ({ query: document('String'), variables: { value } })),
      { query: document('Int'), variables: { value: MARKER } },
      { query: `mutation { setTarget(input: { name: "a", credentials: ["${MARKER}"] }) { __typename } }` },
    ]
    for (const request of requests) {
      const response = await fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify(request),
      })
      const text = await response.text()
      expect(text).toContain('"errors"')
      expect(text).not.toContain(MARKER)
    }
    const { rows } = await api.world.pool.query('select a::text from audit_event a where a::text like $1', [
      `%${MARKER}%`,
    ])
    expect(rows).toEqual([])
  })
})

describe('a deployer', () => {
  const selector = (type: string | null, labels: Readonly<Record<string, string>> = {}) => ({
    targetSelector: { type, labels: Object.entries(labels).map(([key, value]) => ({ key, value })) },
  })
  beforeEach(async () => {
    await set({ name: 'eu', type: 'own', labels: [{ key: 'region', value: 'eu' }] })
    await set({ name: 'us', type: 'own', labels: [{ key: 'region', value: 'us' }] })
    await set({ name: 'box', type: 'container' })
    await api.world.create('shop', {
      deployItems: ['eu', 'us', 'box', 'nowhere', undefined].map((target) => item(target ?? 'any', target)),
    })
  })

  test('that selects takes what it selects, and nothing else unless it says so', async () => {
    expect(names(await claim(selector('own', { region: 'eu' })))).toEqual(['eu'])
    expect(names(await claim({ ...selector('container'), targets: ['nowhere'] }))).toEqual(['any', 'box', 'nowhere'])
    expect(names(await claim(selector(null, { region: 'us' })))).toEqual(['us'])
  })
  test('takes of what it selects only what its token allows', async () => {
    expect(names(await claim(selector('own'), { ...DEPLOYER, targets: ['us', 'box'] }))).toEqual(['us'])
    expect(names(await claim(selector('own'), { ...DEPLOYER, targets: [] }))).toEqual([])
  })
  test('that selects whatever there is, is refused', async () => {
    await expect(claim(selector(null))).rejects.toThrow(/must have a type, or labels/)
  })
  test('that selects gets work that comes up while it waits, and blockers know whom it serves', async () => {
    expect(names(await claim(selector('own')))).toEqual(['eu', 'us'])
    const waits = api.world.engineHost.agents.claim(DEPLOYER, {
      ...{ instance: 'it', types: ['mock'], targets: null, max: 1, leaseMs: 30_000, waitMs: 5_000 },
      targetSelector: { type: 'own', labels: {} },
    })
    await api.world.create('later', { deployItems: [item('later', 'us')] })
    const claimed = await waits
    expect(claimed.ok && names(claimed.items)).toEqual(['later'])
    await api.world.create('blocked', { deployItems: [item('x', 'us'), item('y', 'box'), item('z')] })
    const { objects } = await api.query(
      gql(
        '{ objects(filter: { kinds: [DEPLOY_ITEM], nameContains: "" }) { edges { node { name blockedBy { ... on AgentBlocker { connected } } } } } }',
      ),
    )
    const connected = (objects?.edges ?? []).flatMap(({ node }) =>
      ['x', 'y', 'z'].includes(node.name) ? [[node.name, node.blockedBy[0]]] : [],
    )
    expect(Object.fromEntries(connected)).toEqual({
      x: { connected: true },
      y: { connected: false },
      z: { connected: false },
    })
    const served = await api.query(
      gql(
        '{ targets { edges { node { name servingAgents { totalCount edges { node { targetSelector { type } } } } } } } }',
      ),
    )
    const counts = served.targets?.edges.map(({ node }) => [
      node.name,
      node.servingAgents?.totalCount,
      node.servingAgents?.edges.length,
    ])
    expect(counts).toEqual([
      ['box', 0, 0],
      ['eu', 1, 1],
      ['us', 1, 1],
    ])
    const { agents } = await api.query(
      gql('{ agents { edges { node { targets targetSelector { type labels { key value } } } } } }'),
    )
    expect(agents?.edges[0]?.node).toEqual({ targets: null, targetSelector: { type: 'own', labels: [] } })
  })
  test('takes by the statement what it takes by the rule, whatever it names and selects', async () => {
    const facts = new Map((await loadTargetFacts(api.world.pool, await projectId())).map((one) => [one.name, one]))
    const places = ['eu', 'us', 'box', 'nowhere', null]
    await api.world.create('all', {
      deployItems: places.map((target) => ({ ...item(`of-${target}`, target ?? undefined), type: `of-${target}` })),
    })
    const lists = [null, [], ['eu'], ['nowhere', 'box']]
    const selectors = [
      null,
      ...[{ region: 'eu' }, {}].flatMap((labels) => ['own', null].map((type) => ({ type, labels }))),
    ] as readonly (TargetSelector | null)[]
    for (const targets of lists)
      for (const targetSelector of selectors)
        for (const within of lists) {
          const viewer = { ...DEPLOYER, targets: within }
          const found = await api.world.engineHost.agents.waiting(
            viewer,
            places.map((target) => `of-${target}`),
            targets,
            targetSelector,
          )
          const claimed = targetsOf(viewer, { targets, targetSelector })
          const taken = places.filter((target) =>
            takesTarget(claimed, { target, targetFacts: target === null ? null : (facts.get(target) ?? null) }),
          )
          expect([targets, targetSelector, within, found.map(({ type }) => type)]).toEqual([
            ...[targets, targetSelector, within],
            taken.map((target) => `of-${target}`).toSorted(),
          ])
        }
  })
  test('of another project gets nothing of this one', async () => {
    const other = viewerOf('AGENT', { name: 'other', actor: 'DEPLOYER', projects: [] })
    expect(
      await claim(selector('own'), { ...other, grants: [{ role: 'AGENT', projectId: other.principalId }] }),
    ).toEqual([])
  })
})

describe('a selector', () => {
  const label = (region: string) => [{ key: 'region', value: region }]
  const eu = { type: 'own', labels: label('eu') }
  const see = async (...path: string[]) => {
    const { object } = await api.query(
      gql(
        'query ($path: [String!]!) { object: objectByPath(kind: DEPLOY_ITEM, path: $path) { phase ... on DeployItem { target } } }',
      ),
      { path: ['shop', ...path] },
    )
    return object
  }
  const plan = async (id: string, spec: SpecInput) => {
    const planned = await api.world.commands.planInstallation(USER, { update: { id, spec } })
    if (!planned.ok) throw new Error(planned.refusal.message)
    const { steps, blockers } = planned
    return {
      steps: steps
        .filter(({ kind }) => kind === 'DEPLOY_ITEM')
        .map(({ action, name, target }) => `${action} ${name} ${target}`),
      blockers: blockers.map(({ reason, message }) => `${reason} ${message}`),
    }
  }
  beforeEach(async () => {
    await set({ name: 'fra', type: 'own', labels: label('eu') })
    await set({ name: 'nyc', type: 'own', labels: label('us') })
  })

  test('chooses the only target that it selects, for all items that say nothing else, and the choice stays', async () => {
    const spec: SpecInput = {
      targetSelector: eu,
      deployItems: [item('a'), { ...item('b'), targetSelector: { labels: label('us') } }, item('c', 'word')],
      installations: [
        { name: 'in', spec: { deployItems: [item('d')] } },
        { name: 'own', spec: { target: 'other', deployItems: [item('e')] } },
      ],
    }
    const id = await api.world.create('shop', spec)
    const chosen = async () =>
      Promise.all([
        ...['a', 'b', 'c'].map((name) => see('deploy-items', name)),
        ...[
          ['in', 'd'],
          ['own', 'e'],
        ].map(([at = '', name = '']) => see(at, 'deploy-items', name)),
      ])
    await api.world.work()
    expect((await chosen()).map((one) => one?.target)).toEqual(['fra', 'nyc', 'word', 'fra', 'other'])
    // Until the next job, others may come.
    await set({ name: 'fra', labels: [] })
    await set({ name: 'ber', type: 'own', labels: label('eu') })
    expect((await see('deploy-items', 'a'))?.target).toBe('fra')
    expect(await plan(id, spec)).toEqual({
      steps: expect.arrayContaining([
        'DELETE a fra',
        'CREATE a ber',
        'RUN b nyc',
        'RUN c word',
        'DELETE d fra',
        'CREATE d ber',
      ]),
      blockers: [],
    })
    // An item is deleted where it is, first.
    await api.world.reconcile(id)
    const actions: string[] = []
    await api.world.work(({ action, name, target }) => {
      actions.push(`${action} ${name} ${target}`)
      return action === 'DELETE' ? { phase: 'GONE' } : { phase: 'SUCCEEDED' }
    })
    expect(actions.indexOf('DELETE a fra')).toBeLessThan(actions.indexOf('RECONCILE a ber'))
    expect(actions).toEqual(expect.arrayContaining(['RECONCILE b nyc', 'DELETE d fra', 'RECONCILE d ber']))
    expect((await see('deploy-items', 'a'))?.target).toBe('ber')
    const shown = await api.query(
      gql(
        'query ($id: ID!) { object(id: $id) { ... on Installation { spec installationSpec { targetSelector { type labels { value } } deployItems { target targetSelector { type } } } } } }',
      ),
      { id },
    )
    expect(shown.object).toMatchObject({
      installationSpec: {
        targetSelector: { type: 'own', labels: [{ value: 'eu' }] },
        deployItems: [
          { target: null, targetSelector: { type: 'own' } },
          { targetSelector: { type: null } },
          { target: 'word' },
        ],
      },
    })
    // A stored spec is an input with the same meaning.
    expect(await plan(id, present(shown.object as { spec: SpecInput }).spec)).toMatchObject({
      steps: ['RUN d ber', 'RUN e other', 'RUN a ber', 'RUN b nyc', 'RUN c word'],
    })
  })

  test('that selects none or several fails the job, and names what there is', async () => {
    const of = (labels: object[]) =>
      ({ deployItems: [{ ...item('a'), targetSelector: { type: 'own', labels } }] }) as SpecInput
    const id = await api.world.create('shop', of(label('asia')))
    const none =
      'No target of the project has type own, region=asia. Others are fra (type own, region=eu), nyc (type own, region=us).'
    expect(await api.world.see('shop', 'deploy-items')).toMatchObject({
      phase: 'FAILED',
      error: { code: 'TARGET', message: `The item a: ${none}` },
    })
    expect(await api.world.see('shop')).toMatchObject({ phase: 'FAILED' })
    expect((await plan(id, of(label('asia')))).blockers).toEqual([`TARGET ${none}`])
    await set({ name: 'ber', type: 'own', labels: label('eu') })
    await api.world.update(id, of(label('eu')))
    const several = 'Several targets of the project have type own, region=eu: ber, fra.'
    expect(await api.world.see('shop', 'deploy-items')).toMatchObject({ error: { message: `The item a: ${several}` } })
    expect((await plan(id, of(label('eu')))).blockers).toEqual([`TARGET ${several}`])
    // It may have been put right meanwhile.
    await set({ name: 'ber', labels: label('asia') })
    await api.world.reconcile(id)
    expect(await api.world.work()).toEqual(['a'])
    expect((await see('deploy-items', 'a'))?.target).toBe('fra')
  })

  test('is refused without type and labels, beside a target, and with an expression', async () => {
    const create = (targeted: object) =>
      refusal(
        api.world.commands.createInstallation(USER, {
          ...{ project: 'default', name: 'no', reconcile: false },
          spec: { deployItems: [{ ...item('a'), ...targeted }] },
        }),
      )
    const at = 'input.spec.deployItems.0'
    expect((await create({ targetSelector: {} })).fields).toMatchObject([{ path: `${at}.targetSelector` }])
    expect((await create({ target: 'eu', targetSelector: eu })).fields).toMatchObject([
      { path: `${at}.targetSelector` },
    ])
    expect((await create({ targetSelector: { type: expr('imports.x') } })).fields).toMatchObject([
      { path: `${at}.targetSelector` },
      { path: `${at}.targetSelector.type` },
    ])
    expect((await create({ targetSelector: { labels: [{ key: '-', value: 'x' }] } })).fields).toMatchObject([
      { path: `${at}.targetSelector.labels.0.key` },
    ])
  })

  test('of an item that brings code is changed by authors only', async () => {
    const code = (region: string): SpecInput => ({
      deployItems: [{ name: 'a', type: 'gadget', config: { gadget: 'x' }, targetSelector: { labels: label(region) } }],
    })
    const id = await api.world.create('shop', code('eu'), false)
    const editor = viewerWith([{ role: 'EDITOR', projectId: null }])
    const change = (region: string) =>
      api.world.commands.updateInstallation(editor, { id, spec: code(region), reconcile: false })
    expect(await change('eu')).toMatchObject({ ok: true })
    expect(await refusal(change('us'))).toMatchObject({ type: 'ForbiddenError' })
  })

  test('of a manifest comes back as it was written', async () => {
    const manifest = {
      name: 'shop',
      spec: {
        targetSelector: { type: 'own', labels: { region: 'eu' } },
        installations: [{ name: 'in', spec: { deployItems: [item('d')] } }],
        deployItems: [item('a'), { ...item('b'), targetSelector: { labels: { region: 'us' } } }, item('c', 'word')],
      },
    }
    const parsed = parseManifests(JSON.stringify(manifest))
    const [read] = parsed.ok ? parsed.manifests : []
    const { spec } = installationInput(present(read) as Manifest)
    const id = await api.world.create('shop', spec as SpecInput, false)
    const { object } = await api.query(gql('query ($id: ID!) { object(id: $id) { ... on Installation { spec } } }'), {
      id,
    })
    const shown = present(object as { spec: unknown })
    const written = writeManifest({
      ...DEFAULT_SETTINGS,
      name: 'shop',
      project: 'default',
      spec: shown.spec,
      labels: [],
    })
    expect(readYaml(written).toJS()).toEqual(manifest)
  })
})
