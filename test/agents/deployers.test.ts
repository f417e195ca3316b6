import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ResultOf } from '../../src/documents/typed-document.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { create, show } from '../testkit/mutations.ts'
import { until } from '../testkit/wait.ts'
import { gadgetFolder } from './gadget-folder.ts'

const ITEM = gql(`query ($path: [String!]!) {
  item: objectByPath(kind: DEPLOY_ITEM, path: $path) {
    phase error { code message } progress { step value total unit }
    logs(first: 50) { edges { node { stream text } } }
    ... on DeployItem { attempt exports }
  }
}`)
type Item = Extract<ResultOf<typeof ITEM>['item'], { readonly logs: object }>

describe('the built-in deployers of a real server', () => {
  it('run gadgets and mocks, report progress, stop on request, and survive a crash', async () => {
    await using folder = await gadgetFolder()
    await folder.add('copy', 'echo STEP Copying; echo PROGINFO 5 GiB; echo PROG 2.5; echo note >&2; echo EXPORT n 7')
    await folder.add('where', `printf 'EXPORT state "%s"\\n' "$PHASELINE_STATE"`)
    await folder.add('fail', 'echo STEP Trying; echo no luck >&2; exit 3')
    await folder.add('long', '[ "$2" = --abort ] && exec touch "$dir/cleaned"; echo STEP at it; exec sleep 1000')
    await using server = await startTestApp({ env: { PHASELINE_GADGETS: folder.path } })
    const { client } = server
    const deploy = (name: string, type: string, config: object) =>
      create(client, name, { deployItems: [{ name: 'it', type, config }] })
    const itemOf = async (root: string): Promise<Item | null> => {
      const path = [root, 'deploy-items', 'it']
      const { item } = await client.query(ITEM, { path })
      return item
    }
    const untilEnded = (id: string) => until(async () => (await show(client, id))?.finished, { what: 'it has ended' })

    const crashing = await deploy('crashing', 'mock', { crash: 1 })
    // It takes whatever its process has in hand along, until their leases end.
    await until(async () => (await itemOf('crashing'))?.phase === 'PROGRESSING', { what: 'it has crashed' })
    const long = await deploy('long', 'gadget', { gadget: 'long' })
    const [where, copy, fail, flaky] = await Promise.all([
      deploy('where', 'gadget', { gadget: 'where' }),
      deploy('copy', 'gadget', { gadget: 'copy' }),
      deploy('fail', 'gadget', { gadget: 'fail' }),
      deploy('flaky', 'mock', { failTimes: 2 }),
    ])
    await until(async () => (await itemOf('long'))?.progress, { what: 'the long one is at it' })
    await ask(client, MUTATIONS.cancelInstallation, { id: long })
    await Promise.all([crashing, long, where, copy, fail, flaky].map(untilEnded))

    expect(await itemOf('copy')).toMatchObject({ phase: 'SUCCEEDED', attempt: 1, exports: { n: 7 }, error: null })
    // In the data folder of the server, so that another server's gadgets have another one.
    expect((await itemOf('where'))?.exports).toEqual({ state: expect.stringMatching(/phaseline-server-\w+\/gadgets$/) })
    // Said just before its end.
    expect((await itemOf('copy'))?.progress).toEqual({ step: 'Copying', value: 2.5, total: 5, unit: 'GiB' })
    const lines = (await itemOf('copy'))?.logs.edges.map(({ node }) => `${node.stream} ${node.text}`)
    expect(lines?.sort()).toEqual(['STDERR note', 'STEP Copying'])
    const failure = { code: 'GADGET_FAILED', message: 'It ended with exit code 3.' }
    expect(await itemOf('fail')).toMatchObject({ phase: 'FAILED', error: failure })
    expect(await itemOf('flaky')).toMatchObject({ phase: 'SUCCEEDED', attempt: 3 })
    expect((await itemOf('long'))?.phase).toBe('ABORTED')
    expect(await show(client, long)).toMatchObject({ phase: 'ABORTED' })
    expect(existsSync(`${folder.path}/cleaned`)).toBe(true)
    const crashed = await itemOf('crashing')
    expect(crashed?.phase).toBe('SUCCEEDED')
    // A claim that is lost on its way counts, too.
    expect(crashed?.attempt).toBeGreaterThan(1)
  })
})
