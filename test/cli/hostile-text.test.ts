import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Output, printJson, printLine, printText, yamlPrinter } from '../../src/cli/terminal/io.ts'
import { painter, type Style } from '../../src/cli/terminal/paint.ts'
import { columns, pad, shorten } from '../../src/cli/terminal/text.ts'
import { createClient } from '../../src/client/index.ts'
import { startTestApp } from '../testkit/app.ts'
import { gql } from '../testkit/gql.ts'
import type { ReachableServer } from '../testkit/server.ts'
import { type CommandLine, commandLine, documents } from './command.ts'

/** Text from elsewhere, with what steers a terminal or deceives its reader. */
const HOSTILE =
  'E\u001b[2J\u001b]0;owned\u0007\u001b[32m\u009b31m\u202eDOC\u200b\u2066\r\nforged line\u2028\u{e0041}\u007f'
/** Characters that no output may contain; line ends and tabs are allowed. */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
const OWN_COLOURS = /\u001b\[(1|2|22|3[1-6]|39)m/g

const printed = (print: (out: Output) => void): string => {
  let text = ''
  const write = (more: string): void => {
    text += more
  }
  print({ write })
  return text
}
const printedYaml = async (): Promise<(value: unknown) => string> => {
  let text = ''
  const write = (more: string): void => {
    text += more
  }
  const print = await yamlPrinter({ write })
  return (value) => {
    text = ''
    print(value)
    return text
  }
}
const texts = fc.string({
  unit: fc.constantFrom(
    ...HOSTILE,
    '\u001b[',
    '\u001b[31m',
    '\u001b[1;1H',
    '\u001b]8;;http://x\u0007',
    'm',
    '3',
    ';',
    '日',
    '👩‍🚀',
    '\t',
    ' ',
  ),
})
const STYLES: readonly Style[] = ['red', 'green', 'yellow', 'cyan', 'magenta', 'dim', 'bold']

describe('the writer', () => {
  test('lets through its own sequences and no other, and one line stays one', () => {
    fc.assert(
      fc.property(texts, texts, fc.constantFrom(...STYLES), fc.boolean(), (inner, outer, style, on) => {
        const line = `${outer}${painter(on)(style, `a${inner}${painter(on)('bold', outer)}`)}${inner}`
        const shown = printed((out) => printLine(out, line))
        const colours = shown.match(OWN_COLOURS) ?? []
        expect(colours.length > 3).toBe(on)
        const bare = shown.replace(OWN_COLOURS, '')
        expect(bare.slice(0, -1)).not.toMatch(/\n/)
        expect(bare.replaceAll('👩‍🚀', '')).not.toMatch(HIDDEN)
      }),
    )
  })

  test('measures what it prints', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 40 }), (text, width) => {
        const shown = (fitted: string) => printed((out) => printText(out, fitted))
        expect(columns(shown(pad(text, width)))).toBe(width)
        expect(columns(shown(shorten(text, width)))).toBeLessThanOrEqual(width)
      }),
    )
  })

  test('writes texts of blanks and line breaks as they are', async () => {
    const yamlOf = await printedYaml()
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom(' ', '\n', '\t', 'a', '#'), maxLength: 8 })), (value) => {
        expect(parse(yamlOf({ value }))).toEqual({ value })
      }),
      { examples: [[[' \n']], [['\n \n', '  \n\n']]] },
    )
  })

  test('escapes in JSON and YAML, which changes no value', async () => {
    const yamlOf = await printedYaml()
    fc.assert(
      fc.property(fc.dictionary(texts, fc.oneof(texts, fc.array(texts))), (value) => {
        const json = printed((out) => printJson(out, value))
        expect(json.replaceAll('👩‍🚀', '')).not.toMatch(HIDDEN)
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)))
        const yaml = yamlOf(value)
        expect(yaml.replaceAll('👩‍🚀', '')).not.toMatch(HIDDEN)
        expect(parse(yaml)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })
})

describe('what an agent reports', () => {
  let stack: AsyncDisposableStack
  let server: ReachableServer
  let phaseline: CommandLine
  beforeAll(async () => {
    stack = new AsyncDisposableStack()
    server = stack.use(await startTestApp({ env: { PHASELINE_ROLES: 'gateway,engine' } }))
    phaseline = commandLine({ PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token })
    const spec = { deployItems: [{ name: 'item', type: 'hostile' }] }
    await phaseline('apply -f -', { stdin: JSON.stringify({ name: 'shop', spec }) })
    const { out: secret } = await phaseline('token create agent --role agent --type hostile -q')
    await using agent = createClient({ url: server.url, token: secret.trim() })
    const { claimWork } = await agent.query(
      gql(`mutation { claimWork(input: { instance: "one\\u001b[31m", types: ["hostile"], waitMs: 30000 }) {
        ... on ClaimedWork { items { fence } } ... on Error { message }
      } }`),
    )
    const fence = claimWork?.items?.[0]?.fence ?? ''
    expect(fence, claimWork?.message).not.toBe('')
    await agent.query(gql(`mutation ($input: AppendLogsInput!) { appendLogs(input: $input) { __typename } }`), {
      input: { lines: [{ fence, stream: 'STDOUT', text: `\t${HOSTILE}` }] },
    })
    await agent.query(gql(`mutation ($input: ReportPhasesInput!) { reportPhases(input: $input) { __typename } }`), {
      input: { reports: [{ fence, phase: 'FAILED', message: HOSTILE, error: { code: HOSTILE, message: HOSTILE } }] },
    })
  })
  afterAll(() => stack.disposeAsync())

  test.each([
    'tree shop',
    'watch shop',
    'get shop',
    'get shop/deploy-items/item --kind deploy-item',
    'get --failed',
    'log',
    'logs shop',
    'runs shop',
    'agents',
    `get shop${HOSTILE.replaceAll(' ', '')}`,
  ])('%j prints it without anything hidden, with colours and without', async (command) => {
    const plain = await phaseline(command)
    expect(plain.out + plain.err).not.toBe('')
    expect(plain.out + plain.err).not.toMatch(HIDDEN)
    expect(plain.out).not.toMatch(/^forged line/m)
    const env = { PHASELINE_URL: server.url, PHASELINE_TOKEN: server.token, FORCE_COLOR: '1' }
    const coloured = await phaseline(command, { env })
    expect((coloured.out + coloured.err).replace(OWN_COLOURS, '')).not.toMatch(HIDDEN)
    const json = await phaseline(`${command} --json`)
    expect(json.out + json.err).not.toMatch(HIDDEN)
  })

  test('is whole as a document', async () => {
    const { out } = await phaseline('get shop/deploy-items/item --kind deploy-item --json')
    expect(documents(out)).toMatchObject([{ error: { code: HOSTILE } }])
    const yaml = await phaseline('get shop/deploy-items/item --kind deploy-item -o yaml')
    expect(yaml.out).not.toMatch(HIDDEN)
    expect(parse(yaml.out)).toMatchObject({ error: { code: HOSTILE } })
  })
})
