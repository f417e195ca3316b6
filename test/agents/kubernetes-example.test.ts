import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { SpecInput } from '../../src/families/deployments/rules/normalise.ts'
import { parseManifests } from '../../src/manifest/index.ts'
import { CLUSTER_IMAGE, hasCluster } from '../testkit/cluster.ts'
import { soak } from '../testkit/soak.ts'
import { createWorld, USER } from '../testkit/world.ts'

const FOLDER = join(import.meta.dirname, '../../examples/kubernetes')

test('the web shop for a cluster can be planned', async () => {
  await using world = await createWorld()
  const parsed = parseManifests(await readFile(join(FOLDER, 'webshop.yaml'), 'utf8'))
  const [shop] = parsed.ok ? parsed.manifests : []
  const create = { project: 'default', name: 'shop', spec: (shop?.spec ?? {}) as SpecInput }
  const planned = await world.commands.planInstallation(USER, { create })
  const items = planned.ok ? planned.steps.filter(({ kind }) => kind === 'DEPLOY_ITEM') : planned.refusal
  expect(items).toHaveLength(7)
})

// A minute and more: its short form is the test of the deployer.
test.runIf(hasCluster() && soak(false, true))(
  'the example on a cluster creates, changes, mends and deletes a web shop, and leaves nothing',
  { timeout: 600_000 },
  async ({ signal }) => {
    const { PATH, HOME, KUBECONFIG } = process.env
    const child = spawn(process.execPath, [join(FOLDER, 'run.mjs'), CLUSTER_IMAGE], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH, HOME, KUBECONFIG },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    signal.addEventListener('abort', () => child.kill('SIGTERM'))
    const [code] = (await once(child, 'close')) as [number | null]
    expect({ code, output }).toMatchObject({ code: 0 })
    expect(output).toMatch(/its exports: \{"shopReplicas":2\}/)
    expect(output).toContain('<h1>Round the corner</h1>')
    expect(output).toMatch(/Deployment .*\/catalog has drifted, and is mended/)
    expect(output).toMatch(/Deployment .*\/gateway was gone: it is created again/)
    expect(output).toContain('Nothing is left.')
  },
)
