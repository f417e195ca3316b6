import { expect, it } from 'vitest'
import { appName, namespaceName } from '../../../../src/families/edge/agents/kubernetes/names.ts'
import { planApp } from '../../../../src/families/edge/agents/kubernetes/plan-app.ts'
import { readAppSpec, readClusterSpec } from '../../../../src/families/edge/agents/kubernetes/read-spec.ts'

const problemOf = (read: () => unknown): string => {
  try {
    read()
    return ''
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    return `${code}: ${message}`
  }
}
const appProblem = (spec: unknown, isRootAllowed = false) => problemOf(() => readAppSpec(spec, isRootAllowed))

it('refuses specs by their fields', () => {
  expect(appProblem({ image: 'a:1', ports: [{ port: 80 }], env: { A: '${b}' } })).toBe('')
  expect(appProblem({})).toMatch(/^SPEC_INVALID: spec: .*image/)
  expect(appProblem({ image: 'a:1', ports: [{ port: 0 }], replicas: '2', colour: 'red' })).toMatch(
    /^SPEC_INVALID: (?=.*spec\.ports\.0\.port: )(?=.*spec\.replicas: )(?=.*spec\.colour: there is no such setting)/,
  )
  // No expression is resolved here, so a text with one is judged like any other.
  expect(appProblem({ image: '${ imports.image }' })).toMatch(/^SPEC_INVALID: spec\.image: /)
  expect(appProblem({ image: 'a:1', env: { '1A': 'b' } })).toMatch(/^SPEC_INVALID: spec\.env/)
  expect(appProblem({ image: 'a:1', env: { A: 'x'.repeat(32_000), B: 'x'.repeat(32_000) } })).toMatch(
    /60000 characters/,
  )
  expect(appProblem({ image: 'a:1', readinessProbe: {} })).toMatch(/spec\.readinessProbe: needs one of/)
  expect(appProblem({ image: 'a:1', resources: { limits: { memory: '1 GB' } } })).toMatch(
    /spec\.resources\.limits\.memory/,
  )
  for (const root of [{ security: 'root-allowed' }, { runAsUser: 0 }]) {
    expect(appProblem({ image: 'a:1', ...root })).toMatch(/^SPEC_INVALID: spec\.(security|runAsUser): /)
  }
  expect(appProblem({ image: 'a:1', security: 'root-allowed', runAsUser: 0 }, true)).toBe('')
  for (const cluster of ['../prod', '/etc/kubernetes/admin.conf', '.hidden', '${x}', 3])
    expect(problemOf(() => readClusterSpec({ cluster }))).toMatch(/^SPEC_INVALID: spec\.cluster: /)
  expect(problemOf(() => readClusterSpec({ quota: { pods: -1 } }))).toMatch(/spec\.quota\.pods/)
})

it('makes names that are unique and allowed', () => {
  const berlin = { id: 'one', name: 'Berlin_Mitte' }
  const names = [
    ...['db', 'DB', 'd_b', 'd-b', '_db', 'db-', 'x'.repeat(63)].map((name) => namespaceName(berlin, name)),
    namespaceName({ ...berlin, id: 'two' }, 'db'),
    namespaceName({ id: 'one', name: '_' }, '__'),
  ]
  expect(names[0]).toMatch(/^phaseline-berlin-mitte-db-[0-9a-f]{10}$/)
  const apps = ['web', 'Web', 'WEB', 'w_eb', 'w-eb', 'web-', '_web', '1web', 'x'.repeat(63), appName('Web')].map(
    appName,
  )
  expect(apps[0]).toBe('web')
  for (const all of [names, apps]) {
    expect(new Set(all).size).toBe(all.length)
    for (const name of all) expect(name).toMatch(/^[a-z][a-z0-9-]{0,61}[a-z0-9]$/)
  }
})

it('plans pods that may do what the standard `restricted` allows, and literal texts', () => {
  const record = { objectId: 'o', operationId: 'p', specRevision: 3, phase: 'READY', previous: null } as const
  const spec = { image: 'a:1', command: ['echo', '$(HOME) $$'], env: { A: '$B' }, ports: [{ port: 80 }, { port: 81 }] }
  const plan = planApp(
    { cloudletId: 'c', path: ['db', 'web'], namespace: 'ns', record: { ...record, spec } },
    'restricted',
  )
  expect(plan.anchor.manifest).toMatchObject({
    metadata: {
      labels: { 'phaseline.io/object': 'o', 'phaseline.io/operation': 'p', 'phaseline.io/spec-revision': '3' },
    },
    spec: {
      template: {
        spec: {
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              command: ['echo', '$$(HOME) $$$$'],
              env: [{ name: 'A', value: '$$B' }],
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
            },
          ],
        },
      },
    },
  })
  expect(plan.parts(plan.anchor.manifest)[0]?.manifest.spec?.ports).toMatchObject([
    { name: 'tcp-80' },
    { name: 'tcp-81' },
  ])
})
