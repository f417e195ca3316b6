import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTestApp } from '../testkit/app.ts'
import { until } from '../testkit/wait.ts'
import { commandLine } from './command.ts'

/** docs/how-to/production-after-staging.md, by its files and commands. */
const PAGE = new URL('../../docs/how-to/production-after-staging.md', import.meta.url)

test('the page of invariants does as it says', async () => {
  await using stack = new AsyncDisposableStack()
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'phaseline-after-')), (path) => rm(path, { recursive: true }))
  const server = stack.use(await startTestApp())
  const phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
  const page = await readFile(PAGE, 'utf8')
  const files = [...page.matchAll(/```yaml\n# (\S+)\n([\s\S]*?)```/g)]
  for (const [, name = '', text = ''] of files) await writeFile(join(folder, name), text)
  expect(files).toHaveLength(2)
  const commands = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, text = '']) =>
    text
      .trim()
      .split('\n')
      .map((line) =>
        line
          .replace(/ +#.*/, '')
          .replace(/^phaseline /, '')
          .replace('-f ', `-f ${folder}/`),
      ),
  )
  const run = async (line = '') => {
    const { code, out, err } = await phaseline(line.startsWith('invariant delete') ? `${line} --yes` : line)
    expect({ line, code, err }).toEqual({ line, code: 0, err: '' })
    return out
  }
  const [environments, production, get, staging, list, show, exported, remove] = commands
  expect(await run(environments)).toContain('invariant production/staging-first created\n')
  const [, waits = ''] = /```text\n(.*)\n```/.exec(page) ?? []
  expect(await run(production?.replace('apply', 'plan'))).toContain(waits.replace('waits for invariant: ', ''))
  await run(production)
  await until(async () => (await run(get)).replaceAll(/\s+/g, ' ').includes(waits), { what: 'the job waits' })
  await run(staging)
  await until(async () => /SUCCEEDED/.test(await run(get)), { what: 'the other job has begun' })
  // A promoted spec passes, and keeps the value of its import there.
  expect(await phaseline('promote staging/shop --to production --yes --wait')).toMatchObject({
    code: 0,
    err: expect.stringContaining('region stays "eu" in production'),
  })

  expect(await run(list)).toMatch(
    /^PROJECT +NAME +AFTER +SAME VALUES\nproduction +staging-first +staging\/\(the same name\)/,
  )
  expect(await run(show)).toMatch(/^after +staging\/\(the same name\)$/m)
  expect(await run(exported)).toBe(
    '---\nkind: Invariant\nname: staging-first\nproject: production\nafter:\n  project: staging\n',
  )
  expect(await run(environments)).toContain('invariant production/staging-first unchanged\n')
  expect(await run(remove)).toContain('production/staging-first deleted')
  expect((await phaseline('invariant list -A')).err).toContain('There is no invariant.')
  // Deleted with its project.
  await run(environments)
  await run('delete production/shop --yes --wait')
  await run('project delete production --yes')
  expect((await phaseline('invariant list -A')).err).toContain('There is no invariant.')
})
