import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { LineCounter, parseAllDocuments } from 'yaml'
import { invalid } from '../../client-model/index.ts'
import { resolveAliases } from '../../manifest/resolve-aliases.ts'
import { printRefusal } from '../objects/refusal.ts'
import { EXIT, type ExitCode } from '../terminal/exit.ts'
import { type Io, printLine, printText } from '../terminal/io.ts'
import { readInput } from '../terminal/read-input.ts'
import { type Fields, ImportProblem, isMap } from './loose-values.ts'

/** A manifest, and what a person has to do or to decide: each with the part that it is about, or of the whole. */
export interface Imported {
  readonly yaml: string
  readonly left: readonly Left[]
}
export interface Left {
  readonly part: string | null
  readonly what: string
}
export interface ImportOptions {
  readonly output?: string
}

/** A command of `phaseline import`, which families share. It calls no server. */
export const importer = (group: Command, format: string): Command =>
  group.command(format).option('-o, --output <file>', 'a new file for the manifest (default: standard output)')

/** Writes the manifest, and prints what is left to a person. */
export async function runImport(
  io: Io,
  file: string,
  { output }: ImportOptions,
  read: () => Promise<Imported>,
): Promise<ExitCode> {
  const refuse = (why: string) => printRefusal(invalid(why), false, io.stdout, io.stderr)
  let imported: Imported
  try {
    imported = await read()
  } catch (error) {
    if (error instanceof ImportProblem) return refuse(`${file} cannot be imported: ${error.message}.`)
    throw error
  }
  if (output === undefined) printText(io.stdout, imported.yaml)
  else {
    try {
      await writeFile(output, imported.yaml, { flag: 'wx' })
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      return refuse(
        code === 'EEXIST' ? `${output} exists: name a new file.` : `${output} cannot be written: ${message}`,
      )
    }
  }
  for (const { part, what } of imported.left) printLine(io.stderr, part === null ? what : `${part}: ${what}`)
  return EXIT.ok
}

/** @throws ImportProblem */
export async function readText(file: string, io: Pick<Io, 'stdin'>): Promise<string> {
  const input = await readInput(file, io.stdin)
  if (input.ok) return input.text
  throw new ImportProblem(withoutStop(input.message))
}

/** The documents of a YAML text, each of them a map. @throws ImportProblem */
export function parseMaps(text: string, what: string): readonly Fields[] {
  return parseAll(text).flatMap((value) => {
    if (isMap(value)) return [value]
    if (value === null) return []
    throw new ImportProblem(`it is no ${what}`)
  })
}

/** The documents of a YAML text. @throws ImportProblem */
export function parseAll(text: string): readonly unknown[] {
  const lineCounter = new LineCounter()
  const documents = [...parseAllDocuments(text, { merge: true, prettyErrors: false, logLevel: 'error', lineCounter })]
  const [problem] = documents.flatMap((one) => (one.errors.length > 0 ? one.errors : resolveAliases(one)))
  if (problem) {
    const { line, col } = lineCounter.linePos(problem.pos[0])
    throw new ImportProblem(`${withoutStop(problem.message)} (line ${line}, column ${col})`)
  }
  return documents.map((document) => {
    try {
      return document.toJS()
    } catch (error) {
      throw new ImportProblem(withoutStop(error instanceof Error ? error.message : String(error)))
    }
  })
}

/** Lines of a comment in the manifest. */
export const commentOf = (left: readonly string[]): string =>
  left
    .flatMap((what) => what.split('\n'))
    .map((line) => ` ${line}`)
    .join('\n')

export const withoutStop = (sentence: string): string => sentence.replace(/\.$/, '')
