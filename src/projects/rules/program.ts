import { LIMITS } from '../../core/limits.ts'
import type { Problems } from '../../core/problems.ts'
import { bytesOf, checkText, checkVariable } from './names.ts'
import type { WorkloadSpec } from './spec.ts'

/** Rules for the program of a workload or of one of its services. */

type Program = Pick<WorkloadSpec, 'image' | 'command' | 'args'>
export type EnvInput = readonly { readonly name: string; readonly value: string }[]

/** Bytes altogether, well within the limits of Linux for arguments and environment. */
const TOTAL = { argv: 256 * 1024, env: 256 * 1024 } as const

/** Checks that the runtime knows what to run. */
export function checkProgram({ image, command }: Program, runtime: string, path: string, problems: Problems): void {
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

export function checkArgv({ command, args }: Program, path: string, problems: Problems): void {
  const argv = [...command, ...args]
  for (const [i, part] of command.entries()) checkText(part, `${path}.command.${i}`, problems)
  for (const [i, part] of args.entries()) checkText(part, `${path}.args.${i}`, problems)
  const where = `${path}.${args.length > 0 ? 'args' : 'command'}`
  if (argv.length > LIMITS.argv.max)
    problems.add(where, `command and args must not be more than ${LIMITS.argv.max} together`)
  if (sumOfBytes(argv) > TOTAL.argv) problems.add(where, `command and args must not have more than ${TOTAL.argv} bytes`)
}

export function envOf(env: EnvInput, path: string, problems: Problems): Readonly<Record<string, string>> {
  const names = new Set<string>()
  for (const [i, { name, value }] of env.entries()) {
    checkVariable(name, `${path}.${i}.name`, problems)
    checkText(value, `${path}.${i}.value`, problems)
    if (names.has(name)) problems.add(`${path}.${i}.name`, 'occurs twice')
    names.add(name)
  }
  if (sumOfBytes(env.flatMap(({ name, value }) => [name, value])) > TOTAL.env)
    problems.add(path, `must not have more than ${TOTAL.env} bytes altogether`)
  return Object.fromEntries(env.map(({ name, value }) => [name, value]))
}

export const sumOfBytes = (texts: readonly string[]): number => texts.reduce((bytes, text) => bytes + bytesOf(text), 0)
