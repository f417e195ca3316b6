import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { ask, payloadOf, present } from '../testkit/ask.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { gql } from '../testkit/gql.ts'
import { until } from '../testkit/wait.ts'
import { seriousFindings } from './axe.ts'
import { usePlace } from './place.ts'
import { visit } from './visit.ts'

const here = usePlace()

const CLAIM =
  gql(`mutation ClaimLeaving { claimWork(input: { instance: "leaving", types: ["leaving"], targets: ["leaving"], max: 1, leaseMs: 600000 }) {
  ... on ClaimedWork { items { fence objectId } } ... on Error { message }
} }`)

test('an event shows what it has left; a download is the artifact, whatever is in it', async () => {
  const { client, url, origin, token } = here.server
  const { secret } = await ask(client, MUTATIONS.createToken, {
    ...{ name: 'leaving', role: 'AGENT', actor: 'RUNTIME', types: ['leaving'] },
  })
  await ask(client, MUTATIONS.createProject, {
    name: 'leaving',
    workerTemplate: {
      ...{ runtime: 'leaving', image: 'x' },
      artifacts: [
        { name: 'report.html', path: 'report.html' },
        { name: 'coverage-of-all-packages-with-a-long-name', path: 'c' },
      ],
    },
  })
  const { events } = await ask(client, MUTATIONS.createEvent, { project: 'leaving', source: 'test', type: 'push' })
  const { id } = present(events[0])
  await using runtime = createClient({ url, token: secret })
  const item = await until(async () => payloadOf((await runtime.query(CLAIM)).claimWork).items[0], { what: 'its work' })
  const page = Buffer.from(`<script>document.title = 'hostile'</script>${'x'.repeat(300_000)}`)
  const write = (name: string, isFolder: boolean, content: Buffer) =>
    runtime.writeArtifact({
      ...item,
      name,
      isFolder,
      body: (async function* () {
        yield content
      })(),
    })
  await write('report.html', false, page)
  await write('coverage-of-all-packages-with-a-long-name', true, Buffer.alloc(3_000_000))

  for (const look of [{}, { dark: true }, { width: 390 }, { dark: true, width: 390 }]) {
    await using visited = await visit(here.browser, { origin, token }, `/tree/${id}?object=${id}`, look)
    const { page: tab, complaints } = visited
    const section = tab.getByRole('region', { name: 'Artifacts' })
    await section.waitFor()
    expect(await section.textContent()).toMatch(/report\.html 293\.0 KiB.*old.*left by worker.*expires.*SHA-256/)
    const download = tab.waitForEvent('download')
    await section.getByRole('button', { name: 'Download report.html' }).click()
    const file = await download
    expect(file.suggestedFilename()).toBe('report.html')
    const content = await readFile(await file.path())
    expect(createHash('sha256').update(content).digest('hex')).toBe(createHash('sha256').update(page).digest('hex'))
    expect(await seriousFindings(tab)).toEqual([])
    expect(complaints).toEqual([])
  }

  // Its address alone opens nothing: it needs a token, and is no page.
  await using visited = await visit(here.browser, { origin, token }, '/')
  const answer = await visited.page.goto(`${origin}/artifacts/${id}`)
  expect(answer?.status()).toBe(401)
})
