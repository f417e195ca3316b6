import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { buildSchema, type GraphQLInputType, parse, validate, validateInputValue } from 'graphql'
import { expect, test } from 'vitest'
import { createProgram } from '../src/cli/program.ts'
import { families } from '../src/families/index.ts'
import { parseManifests } from '../src/manifest/index.ts'

/** Type-checks each snippet as the documents show it. test/e2e/package.test.ts runs whole walks. */

const ROOT = join(import.meta.dirname, '..')
const documents = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file && existsSync(join(ROOT, file)) && !/^docs\/adr\/|CHANGELOG/.test(file))

interface Snippet {
  readonly where: string
  readonly text: string
}
const snippets = (language: string): readonly Snippet[] =>
  documents.flatMap((file) =>
    [
      ...readFileSync(join(ROOT, file), 'utf8').matchAll(
        new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm'),
      ),
    ].map(([, indent = '', text = '']) => ({ where: file, text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), '') })),
  )

/** The page of questions has its commands in a table. */
const questions: readonly Snippet[] = [
  ...readFileSync(join(ROOT, 'docs/questions.md'), 'utf8').matchAll(/`(phaseline [^`]*)`/g),
].map(([, text = '']) => ({ where: 'docs/questions.md', text }))

/** Words of a line of a shell, as far as documents have them. Null: it is none of ours. */
function argumentsIn(line: string): readonly string[] | null {
  const found =
    /(?:^|[;&|(]\s*|^\w+=\S*\s+)(?:npx (?:--yes )?phaseline|npm run phaseline --|phaseline) (?!COMMAND)([^;&|)]*)/.exec(
      line.replace(/\s+#.*$/, '').trim(),
    )
  if (!found) return null
  const words = [...(found[1] ?? '').replace(/\s[<>].*$/, '').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)]
  return words.map(([, double, single, bare]) => double ?? single ?? bare ?? '').filter((word) => word !== '…')
}

test('every command that a document shows has its options and arguments', async () => {
  const wrong: string[] = []
  const shown = [...snippets('sh'), ...questions].flatMap(({ where, text }) =>
    text
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .flatMap((line) => {
        const words = argumentsIn(line)
        return words ? [{ where, line, words }] : []
      }),
  )
  for (const { where, line, words } of shown) {
    const program = await programWithoutActions()
    await program.parseAsync(words, { from: 'user' }).catch((error: Error & { readonly code?: string }) => {
      if (!/^commander\.(help|version)/.test(error.code ?? '')) wrong.push(`${where}: ${line}: ${error.message}`)
    })
  }
  expect(wrong).toEqual([])
  // Otherwise nothing was read.
  expect(shown.length).toBeGreaterThan(60)
})

test('the page of the command line has every command', async () => {
  const page = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8')
  const leaves = (command: Command, path: string): readonly string[] =>
    command.commands.length === 0 ? [path] : command.commands.flatMap((each) => leaves(each, `${path} ${each.name()}`))
  const all = (await programWithoutActions()).commands.flatMap((each) => leaves(each, each.name()))
  expect(all.filter((path) => !new RegExp(`\`${path}[ \`\\[]`).test(page))).toEqual([])
})

async function programWithoutActions(): Promise<Command> {
  const quiet = { write: () => true }
  const program = await createProgram({ io: { stdout: quiet, stderr: quiet }, exitCode: 0 } as never, families)
  const silence = (command: Command): void => {
    if (command.commands.length === 0) command.action(() => undefined)
    for (const each of command.commands) silence(each)
  }
  silence(program)
  return program
}

const schema = buildSchema(readFileSync(join(ROOT, 'schema.graphql'), 'utf8'))

test('every operation that a document shows is one of the schema', () => {
  const shown = snippets('graphql').filter(({ text }) => /^(\{|query|mutation|subscription|fragment)/.test(text.trim()))
  const wrong = shown.flatMap(({ where, text }) => {
    try {
      return validate(schema, parse(text)).map(({ message }) => `${where}: ${message}`)
    } catch (error) {
      return [`${where}: ${(error as Error).message}\n${text}`]
    }
  })
  expect(wrong).toEqual([])
  expect(shown.length).toBeGreaterThan(5)
})

test('every manifest that a document shows is one', () => {
  const shown = snippets('yaml').filter(({ text }) => /^name: /m.test(text) && /^(spec|workerTemplate):/m.test(text))
  const wrong = shown.flatMap(({ where, text }) => {
    const parsed = parseManifests(text)
    return parsed.ok ? [] : [`${where}: ${JSON.stringify(parsed)}`]
  })
  expect(wrong).toEqual([])
  expect(shown.length).toBeGreaterThan(3)
})

/** In the place of examples/ci/phaseline.mjs: it keeps what the worker asks for, and each job succeeds. */
const RECORDER = `export const created = []
export const createJob = async (name, spec) => (created.push({ name, spec }), { id: name, name })
export const waitFor = async () => ({ phase: 'SUCCEEDED' })`

test('every worker that a document shows creates jobs that the schema takes', async () => {
  const workers = snippets('js').filter(({ text }) => text.includes("from './phaseline.mjs'"))
  const wrong: string[] = []
  for (const { where, text } of workers) {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'phaseline-snippet-'))
    const module = (name: string) => pathToFileURL(join(folder.path, name)).href
    await writeFile(join(folder.path, 'phaseline.mjs'), RECORDER)
    await writeFile(join(folder.path, 'pipeline.mjs'), text.replaceAll('console.log', 'void '))
    await import(module('pipeline.mjs'))
    const { created } = (await import(module('phaseline.mjs'))) as { readonly created: readonly unknown[] }
    expect(created.length, where).toBeGreaterThan(0)
    for (const job of created)
      validateInputValue(job, schema.getType('CreateJobInput') as GraphQLInputType, ({ message }, path) =>
        wrong.push(`${where}: ${path.join('.')}: ${message}`),
      )
  }
  expect(wrong).toEqual([])
  expect(workers.length).toBeGreaterThan(0)
})
