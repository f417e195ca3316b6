import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { startTestApp } from '../testkit/app.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { type CommandLine, commandLine, documents } from './command.ts'
import { PLAYED, type PlayedRuntime, playRuntime } from './played-runtime.ts'

const TOKEN = 'the-command-lines-administrator'
const MARKER = 'c0nfid3ntial'

let stack: AsyncDisposableStack
let server: ReachableServer
let runtime: PlayedRuntime
let phaseline: CommandLine

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  server = stack.use(await startTestApp({ token: TOKEN }))
  phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: TOKEN })
  runtime = stack.use(await playRuntime(server))
  const manifest = { name: 'web', workerTemplate: { runtime: PLAYED, command: ['true'] } }
  expect(await phaseline('project apply -f -', { stdin: JSON.stringify(manifest) })).toMatchObject({ code: 0 })
})
afterAll(() => stack.disposeAsync())

/** Types at a terminal, which is told whether to show it. */
async function typed(args: string, keys: readonly (string | Buffer)[]) {
  const raw: boolean[] = []
  let shown = ''
  const out = { write: (text: string) => (shown += text) }
  const code = await run(args.split(' '), {
    env: { PHASELINE_URL: server.url, PHASELINE_TOKEN: TOKEN },
    stdin: Object.assign(Readable.from(keys), { isTTY: true, setRawMode: (on: boolean) => raw.push(on) }),
    ...{ stdout: out, stderr: out, signal: new AbortController().signal },
  })
  return { code, raw, shown }
}
async function secretsOfNextEvent(): Promise<Readonly<Record<string, string>>> {
  const { out } = await phaseline('event create --source s --type t --project web --json')
  const name = /"event-\d+"/.exec(out)?.[0].slice(1, -1)
  return (await runtime.start(`web/${name}`)).config.secrets
}

it('takes values from a pipe, less the one line end that echo adds, and hands them to workers only', async () => {
  const set = await phaseline('secret set web PIPED', { stdin: `${MARKER}\nsecond line\n\n` })
  expect(set).toEqual({ code: 0, out: 'web/PIPED set\n', err: '' })
  expect(await phaseline('secret set web EXACT', { stdin: ` ${MARKER}\r\n` })).toMatchObject({ code: 0 })
  expect(await secretsOfNextEvent()).toEqual({ PIPED: `${MARKER}\nsecond line\n`, EXACT: ` ${MARKER}` })

  const [listed] = documents((await phaseline('secret list web --json')).out)
  expect(listed).toEqual({
    project: 'web',
    secrets: ['EXACT', 'PIPED'].map((name) => ({ name, updatedAt: expect.stringMatching(/^2.*Z$/) })),
  })
  expect((await phaseline('secret list web')).out).toMatch(/^NAME +SINCE\nEXACT +\S+\nPIPED +\S+\n$/)
  expect(await phaseline('secret delete web EXACT')).toMatchObject({ code: 0, out: 'web/EXACT deleted\n' })
  expect(await phaseline('secret delete web EXACT')).toMatchObject({ code: 3 })
  expect(await secretsOfNextEvent()).toEqual({ PIPED: `${MARKER}\nsecond line\n` })
})

it('takes them from a terminal that shows nothing, with what was typed wrong taken back', async () => {
  const umlaut = Buffer.from('ü')
  const keys = ['wrong\u0015c0nf', 'xy\u007f\u007fid3ntial', umlaut.subarray(0, 1), umlaut.subarray(1), '\r']
  const set = await typed('secret set web TYPED', keys)
  expect(set).toMatchObject({ code: 0, raw: [true, false] })
  expect(set.shown).toBe('Value of web/TYPED (not shown): \nweb/TYPED set\n')
  expect(await secretsOfNextEvent()).toMatchObject({ TYPED: `${MARKER}ü` })

  const interrupted = await typed('secret set web TYPED', ['other', '\u0003'])
  expect(interrupted).toMatchObject({ code: 130, raw: [true, false] })
  const pasted = await typed('secret set web TYPED', ['first\rsecond\r'])
  expect([pasted.code, pasted.shown]).toMatchObject([2, expect.stringContaining('pipe it')])
  expect(await secretsOfNextEvent()).toMatchObject({ TYPED: `${MARKER}ü` })
})

it('reseals what older keys have sealed, and lists the keys without one', async () => {
  const resealed = await phaseline('secret reseal')
  expect(resealed).toMatchObject({ code: 0, err: '' })
  expect(resealed.out).toMatch(/^0 resealed\nKEY +SEALED +IS\n[0-9a-f]{8} +[1-9]\d* +newest\n$/)
  const [listed] = documents((await phaseline('secret reseal --json')).out)
  expect(listed).toMatchObject({ resealed: 0, keys: [{ newest: true, known: true }] })
})

it('refuses what is no value, and never repeats one', async () => {
  const attempts: [string, string | undefined][] = [
    ['secret set web EMPTY', undefined],
    ['secret set web EMPTY', '\n'],
    ['secret set web 1wrong', MARKER],
    ['secret set web NUL', `${MARKER}\0`],
    ['secret set web LONG', MARKER.repeat(10_000)],
    [`secret set web ARGUMENT ${MARKER}`, undefined],
    [`secret set web OPTION --value=${MARKER}`, undefined],
  ]
  for (const [args, stdin] of attempts) {
    expect(await phaseline(args, stdin === undefined ? {} : { stdin }), args).toMatchObject({ code: 2, out: '' })
  }
  expect(await phaseline('secret set nobodys NAME', { stdin: MARKER })).toMatchObject({ code: 3, out: '' })
  expect(await phaseline('secret list nobodys')).toMatchObject({ code: 3 })
  expect((await phaseline('secret list web')).out).not.toMatch(/EMPTY|wrong|NUL|LONG|ARGUMENT|OPTION/)
  expect(phaseline.transcript()).not.toContain(MARKER)
  expect(server.output()).not.toContain(MARKER)
})
