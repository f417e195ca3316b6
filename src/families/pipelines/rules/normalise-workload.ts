import { type LabelInput, labelsOf } from '../../../core/labels.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { Labels } from '../../../core/place.ts'
import type { Problems } from '../../../core/problems.ts'
import { bytesOf, checkFilePath, checkRuntime, checkText, checkVariable } from './names.ts'
import type { FileSpec, WorkloadSpec } from './spec.ts'

/** Converts API input to the spec of a workload: fills in defaults and reports problems by their path. */

/** The input from GraphQL, which has checked the types and the bounds. */
export interface WorkloadInput {
  readonly runtime?: string | null
  readonly image?: string | null
  readonly command?: readonly string[] | null
  readonly args?: readonly string[] | null
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null
  readonly files?: readonly FileSpec[] | null
  readonly timeoutMs?: number | null
  readonly workspace?: boolean | null
  readonly targetLabels?: readonly LabelInput[] | null
}

/** Bytes of one workload altogether, well within the limits of Linux for arguments and environment. */
const TOTAL = { argv: 256 * 1024, env: 256 * 1024, files: LIMITS.fileContent.max } as const
const MAX_MS = 2 ** 31 - 1

interface Defaults {
  /** For a job, the runtime of its worker. */
  readonly runtime: string
  /** For a job at that runtime, the labels of its worker. */
  readonly targetLabels?: Labels | undefined
}

export function normaliseWorkload(
  input: WorkloadInput,
  path: string,
  problems: Problems,
  defaults: Defaults,
): WorkloadSpec {
  const runtime = input.runtime ?? defaults.runtime
  const targetLabels = input.targetLabels
    ? labelsOf(input.targetLabels, problems, `${path}.targetLabels`)
    : runtime === defaults.runtime
      ? (defaults.targetLabels ?? {})
      : {}
  const spec: WorkloadSpec = {
    runtime,
    image: input.image ?? null,
    command: input.command ?? [],
    args: input.args ?? [],
    env: envOf(input.env ?? [], `${path}.env`, problems),
    files: filesOf(input.files ?? [], `${path}.files`, problems),
    timeoutMs: input.timeoutMs ?? null,
    workspace: input.workspace ?? false,
    // Absent in specs of before there were labels, with which new ones are compared.
    ...(Object.keys(targetLabels).length > 0 && { targetLabels }),
  }
  checkRuntime(spec.runtime, `${path}.runtime`, problems)
  checkProgram(spec, path, problems)
  checkArgv(spec, path, problems)
  const { timeoutMs } = spec
  if (timeoutMs !== null && !(Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= MAX_MS))
    problems.add(`${path}.timeoutMs`, `must be between 1 and ${MAX_MS} milliseconds`)
  return spec
}

/** Checks that the runtime knows what to run. */
function checkProgram({ runtime, image, command }: WorkloadSpec, path: string, problems: Problems): void {
  if (runtime === 'process') {
    if (!command[0]) problems.add(`${path}.command`, 'must name what is run: the runtime process has no images')
    if (image !== null) problems.add(`${path}.image`, 'must be left out: the runtime process has no images')
    return
  }
  if (image === null && command.length === 0)
    problems.add(`${path}.image`, 'must be given, or a command: there would be nothing to run')
  if (image === null) return
  if (image === '') problems.add(`${path}.image`, 'must not be empty')
  checkText(image, `${path}.image`, problems)
}

function checkArgv({ command, args }: WorkloadSpec, path: string, problems: Problems): void {
  const argv = [...command, ...args]
  for (const [i, part] of command.entries()) checkText(part, `${path}.command.${i}`, problems)
  for (const [i, part] of args.entries()) checkText(part, `${path}.args.${i}`, problems)
  const where = `${path}.${args.length > 0 ? 'args' : 'command'}`
  if (argv.length > LIMITS.argv.max)
    problems.add(where, `command and args must not be more than ${LIMITS.argv.max} together`)
  if (sum(argv) > TOTAL.argv) problems.add(where, `command and args must not have more than ${TOTAL.argv} bytes`)
}

function envOf(
  env: NonNullable<WorkloadInput['env']>,
  path: string,
  problems: Problems,
): Readonly<Record<string, string>> {
  const names = new Set<string>()
  for (const [i, { name, value }] of env.entries()) {
    checkVariable(name, `${path}.${i}.name`, problems)
    checkText(value, `${path}.${i}.value`, problems)
    if (names.has(name)) problems.add(`${path}.${i}.name`, 'occurs twice')
    names.add(name)
  }
  if (sum(env.flatMap(({ name, value }) => [name, value])) > TOTAL.env)
    problems.add(path, `must not have more than ${TOTAL.env} bytes altogether`)
  return Object.fromEntries(env.map(({ name, value }) => [name, value]))
}

function filesOf(files: readonly FileSpec[], path: string, problems: Problems): readonly FileSpec[] {
  const taken = new Set<string>()
  const folders = new Set<string>()
  for (const [i, file] of files.entries()) {
    checkFilePath(file.path, `${path}.${i}.path`, problems)
    checkText(file.content, `${path}.${i}.content`, problems)
    const above = foldersOf(file.path)
    if (taken.has(file.path)) problems.add(`${path}.${i}.path`, 'occurs twice')
    else if (folders.has(file.path) || above.some((folder) => taken.has(folder)))
      problems.add(`${path}.${i}.path`, 'a file and a folder have the same path')
    taken.add(file.path)
    for (const folder of above) folders.add(folder)
  }
  if (sum(files.map(({ content }) => content)) > TOTAL.files)
    problems.add(path, `must not have more than ${TOTAL.files} bytes altogether`)
  return files.map((file) => ({ path: file.path, content: file.content }))
}

/** The folders of a path: for `a/b/c`, `a` and `a/b`. */
const foldersOf = (path: string): readonly string[] => {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'))
}

const sum = (texts: readonly string[]): number => texts.reduce((bytes, text) => bytes + bytesOf(text), 0)
