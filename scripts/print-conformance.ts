import { readFileSync } from 'node:fs'
import { VECTORS } from '../test/clients/agents/vectors.ts'
import { writeTable } from './write-table.ts'

/**
 * Writes the tables of what runtimes and agents are held to, in docs/runtimes.md and docs/agent-protocol.md. With `--check`: writes nothing,
 * and fails when one is stale.
 */

const RUNTIMES = ['process', 'container', 'kubernetes']
const FLAGS: Readonly<Record<string, string>> = {
  tellsErrorsApart: 'standard error is passed on as such',
  hasSecretVariables: 'secrets are variables, too, not files alone',
}

const read = (name: string): string => readFileSync(new URL(`../test/runtimes/${name}.ts`, import.meta.url), 'utf8')
const tests = RUNTIMES.map((name) => read(`${name}.test`))
const suite = [read('conformance'), read('clone-conformance'), read('services-conformance')].join('\n')

const has = (text: string, flag: string): boolean => text.includes(`${flag}: true`)
const titlesIn = (text: string): readonly (readonly [kind: string, title: string])[] =>
  [...text.matchAll(/^ {2}(test|testIfFast)\(\s*'([^']+)'/gm)].map(([, kind = '', title = '']) => [kind, title])
const rowOf = (title: string, cells: readonly string[]): string => `| ${title} | ${cells.join(' | ')} |`
const cellsOf = (isInLongForm: boolean): readonly string[] =>
  tests.map((text) => (isInLongForm && has(text, 'isSlow') ? 'long form' : 'yes'))

const caseRows = titlesIn(suite).map(([kind, title]) => rowOf(title, cellsOf(kind === 'testIfFast')))
const refusedRows = [...suite.matchAll(/\['([^']+)', \{.*, \/.*\/\]/g)].map(([line, what]) => {
  const isOfImages = line.includes('image:')
  const isOfCommands = line.includes('command: []')
  const cells = tests.map((text) =>
    (isOfImages && !has(text, 'hasImages')) || (isOfCommands && has(text, 'hasImages')) ? '–' : 'yes',
  )
  return rowOf(`it is not started with ${what}, and says why`, cells)
})
const flagRows = Object.entries(FLAGS).map(([flag, title]) =>
  rowOf(
    title,
    tests.map((text) => (has(text, flag) ? 'yes' : 'no')),
  ),
)

writeTable('docs/runtimes.md', {
  name: 'conformance',
  from: 'test/runtimes/conformance.ts',
  lines: [
    `| case | ${RUNTIMES.map((name) => `\`${name}\``).join(' | ')} |`,
    `|---|${RUNTIMES.map(() => '---|').join('')}`,
    ...caseRows,
    ...refusedRows,
    ...flagRows,
  ],
})

const LANGUAGES = ['TypeScript', 'Python', 'Go']
const AGENTS = '../clients/agents'
const agentCells = LANGUAGES.map((language) =>
  read(`${AGENTS}/${language.toLowerCase()}.test`).includes(`conformance('${language}')`) ? 'yes' : 'no',
)
const agentCases = [
  ...titlesIn(read(`${AGENTS}/conformance`)).map(([, title]) => title),
  ...VECTORS.failures.map(({ title, agent }) => `a claim is answered with ${title}: it ${agent}`),
]
writeTable('docs/agent-protocol.md', {
  name: 'agents',
  from: 'test/clients/agents/conformance.ts',
  lines: [
    `| case | ${LANGUAGES.join(' | ')} |`,
    `|---|${LANGUAGES.map(() => '---|').join('')}`,
    ...agentCases.map((title) => rowOf(title, agentCells)),
  ],
})
