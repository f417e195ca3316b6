import { expect, test } from 'vitest'
import { watchList } from '../../src/cli/objects/watch-list.ts'
import { withSession } from '../../src/cli/session.ts'
import { ClientError } from '../../src/client/client-error.ts'
import type { Client } from '../../src/client/index.ts'
import { startTestApp } from '../testkit/app.ts'
import { until } from '../testkit/wait.ts'
import { commandLine, documents } from './command.ts'

test('get -w prints a list, then each change of what is listed or matches later, in their order', async () => {
  await using server = await startTestApp()
  const phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  const apply = async (name: string, app: string) =>
    await phaseline('apply -f - --wait', {
      stdin: JSON.stringify({ name, labels: { app }, spec: { deployItems: [{ name: 'db', type: 'mock' }] } }),
    })
  expect(await apply('shop', 'shop')).toMatchObject({ code: 0 })
  expect(await apply('other', 'other')).toMatchObject({ code: 0 })

  expect(await phaseline('get shop -w')).toMatchObject({
    code: 2,
    err: expect.stringContaining('phaseline watch shop'),
  })
  expect(await phaseline('get --failed -w')).toMatchObject({ code: 2 })

  const [start, ended] = [phaseline.transcript().length, new AbortController()]
  const { signal } = ended
  const watching = [
    phaseline('get -w -l app=shop --json', { signal }),
    phaseline('get --watch --kind deploy-item', { signal }),
    phaseline('get -f --phase progressing -o name', { signal }),
  ]
  const shown = () => phaseline.transcript().slice(start)
  await until(() => shown().includes('totalCount') && shown().includes('other/deploy-items/db'), {
    what: 'lists are there',
  })

  expect(await apply('shop-2', 'shop')).toMatchObject({ code: 0 })
  for (const name of ['other', 'shop']) expect(await phaseline(`reconcile ${name} --wait`)).toMatchObject({ code: 0 })
  expect(await phaseline('delete shop --yes --wait')).toMatchObject({ code: 0 })
  const isShown = () => /"name":"shop"[^\n]*"GONE"/.test(shown()) && /deploy item +\S GONE/.test(shown())
  // A watch that ends is an error, and need not be waited for.
  await Promise.race([until(isShown, { what: 'the end is printed' }), ...watching])
  expect(isShown(), shown()).toBe(true)
  ended.abort()
  const [json, lines, names] = await Promise.all(watching)

  const [list, ...changes] = documents(json?.out ?? '')
  expect([json?.code, list]).toMatchObject([130, { totalCount: 1, objects: [{ name: 'shop', phase: 'SUCCEEDED' }] }])
  const phasesOf = (wanted: string) => changes.filter(({ name }) => name === wanted).map(({ phase }) => phase)
  expect(new Set(changes.map(({ name }) => name))).toEqual(new Set(['shop', 'shop-2']))
  expect(phasesOf('shop-2').at(-1)).toBe('SUCCEEDED')
  const ofShop = phasesOf('shop')
  expect(ofShop.slice(0, 1)).not.toEqual(['SUCCEEDED'])
  expect([ofShop.includes('SUCCEEDED'), ofShop.at(-1)]).toEqual([true, 'GONE'])
  const sequences = changes.map(({ sequence }) => Number(sequence))
  expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))

  const [head = '', ...rows] = (lines?.out ?? '').trimEnd().split('\n')
  expect(head).toMatch(/^PROJECT +NAME +KIND +PHASE/)
  for (const row of rows) expect(row).toMatch(/^default +\S+\/db +deploy item +\S [A-Z_]+ /)
  expect(rows.filter((line) => line.includes('GONE'))).toHaveLength(1)

  // An object that matches no more is printed once.
  expect(names?.out.split('\n').filter((name) => name === 'default/shop-2')).toHaveLength(2)
})

test('a change whose object cannot be read at once is printed once it can', async () => {
  await using server = await startTestApp()
  const env = { PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token }
  const phaseline = commandLine(env)
  const ended = new AbortController()
  let [out, lost] = ['', 0]
  const stdout = { write: (text: string | Uint8Array) => (out += String(text)) }
  const stdin = (async function* () {})()
  const io = { env, stdin, stdout, stderr: stdout, signal: ended.signal }
  const watching = withSession(io, { format: 'name' }, async (session) => {
    const losing: Client = {
      ...session.client,
      query: async (document: never, ...rest: never[]) => {
        if (String(document).includes('WatchedObjects') && lost < 2) {
          lost += 1
          throw new ClientError('network', 'the connection is lost')
        }
        return await session.client.query(document, ...rest)
      },
    } as Client
    const filter = { project: null, kinds: null, phases: null, labels: [{ key: 'app', value: 'shop' }] }
    const roots = { nameContains: null, finished: null, rootsOnly: true }
    const { log } = await server.client.query<{ log: { endCursor: string } }>('{ log { endCursor } }' as never)
    const columns = { PROJECT: () => 'default', NAME: ({ name }: { readonly name: string }) => name }
    return await watchList(
      { ...session, client: losing },
      { filter: { ...filter, ...roots }, listed: [], after: log.endCursor, columns },
    )
  })
  const shop = { name: 'shop', labels: { app: 'shop' }, spec: { deployItems: [{ name: 'db', type: 'mock' }] } }
  expect(await phaseline('apply -f - --wait', { stdin: JSON.stringify(shop) })).toMatchObject({ code: 0 })
  await Promise.race([until(() => out.includes('default/shop\n'), { what: 'the change is printed' }), watching])
  ended.abort()
  // The interrupt may meet a read, as in a terminal.
  await watching.catch((error: Error) => expect(error.name).toBe('AbortError'))
  expect(lost).toBe(2)
})
