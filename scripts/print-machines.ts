import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { type Machine, PHASE_CLASSES, type Transition } from '../src/core/machine.ts'
import { mermaid } from '../src/core/mermaid.ts'
import { families } from '../src/families/index.ts'

/** Writes docs/machines.md from the machine tables. With `--check`: writes nothing, and fails when the page is stale. */

const FILE = new URL('../docs/machines.md', import.meta.url)
const INTRODUCTION = `# The machines

Every phase that an object can be in, and who may move it from there. Written by \`scripts/print-machines.ts\` from the
tables in \`src/families/*/machines.ts\`: change those, not this page. The same tables are the guard of every phase
write, the answer of \`stateMachines\`, and the database's own trigger.

\`GONE\` means that the object no longer exists. In a final phase nothing is running and nothing will happen until
a request comes. The class of a phase and the verbs of a user are for clients: they draw and act on any kind
with them.`

const code = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ')

/** Rows that differ only in where they start share a line. */
function rowsOf(transitions: readonly Transition[]): readonly string[] {
  const lines = Map.groupBy(transitions, ({ actor, to, reason }) => `| ${actor} | \`${to}\` | ${reason} |`)
  return [...lines].map(([line, rows]) => `| ${code(rows.map(({ from }) => from))} ${line}`)
}

/** The classes that clients show: a phase that is not named is ACTIVE. */
function classLine({ classes }: Machine): string {
  const byClass = Map.groupBy(classes.keys(), (phase) => classes.get(phase))
  const named = PHASE_CLASSES.filter((name) => byClass.has(name))
  return `Classes: ${named.map((name) => `${name}: ${code(byClass.get(name) ?? [])}`).join('; ')}.`
}

function verbLines({ verbs, phases: all }: Machine): readonly string[] {
  if (verbs.length === 0) return []
  const lines = verbs.map(
    ({ kind, name, mutation, phases, flags }) =>
      `| \`${kind}\` | ${name} | \`${mutation}\` | ${code(flags.map((flag) => flag.name))} | ${phases.length === all.length ? 'any phase' : code(phases)} |`,
  )
  return [['| kind | a user may | mutation | flags | in |', '|---|---|---|---|---|', ...lines].join('\n')]
}

function section(machine: Machine): string {
  const { name, kinds, initial, final, transitions } = machine
  return [
    `### ${name}`,
    `Kinds: ${code(kinds)}. Initial: ${code([initial])}. Final: ${code(final)}.`,
    classLine(machine),
    ...verbLines(machine),
    ['| from | actor | to | what happens |', '|---|---|---|---|', ...rowsOf(transitions)].join('\n'),
    `\`\`\`mermaid\n${mermaid(machine)}\`\`\``,
  ].join('\n\n')
}

const sections = families.flatMap(({ name, machines }) => [`## ${name}`, ...machines.map(section)])
const page = `${[INTRODUCTION, ...sections].join('\n\n')}\n`

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
if (!values.check) await writeFile(FILE, page)
else if ((await readFile(FILE, 'utf8').catch(() => '')) !== page) {
  console.error('docs/machines.md is stale: run node scripts/print-machines.ts')
  process.exitCode = 1
}
