import { expect, test } from 'vitest'
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
  await until(() => /"name":"shop"[^\n]*"GONE"/.test(shown()) && /deploy item +\S GONE/.test(shown()), {
    what: 'the end is printed',
  })
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
